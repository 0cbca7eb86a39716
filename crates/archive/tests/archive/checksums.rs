//! Values carry a checksum, whoever changes them by SQL takes it away, and damage is found.

use crate::bench::{Bench, noise};
use rusqlite::Connection;
use std::fs;
use stowplan_archive::{Add, CHECKSUM_TABLE, Pack, Reader, Remove, TABLE, Verified, find};

fn packed() -> Bench {
    let bench = Bench::new();
    bench.tree();
    bench.write("from/large", noise(17 << 20));
    let stored = Pack {
        store: true,
        ..bench.packing()
    };
    stored.run(&()).unwrap();
    bench
}

fn verified(bench: &Bench) -> Verified {
    bench.verify()
}

fn sql(bench: &Bench, sql: &str) {
    let database = Connection::open(bench.at("x.sqlar")).unwrap();
    database.execute_batch(sql).unwrap();
}

/// Names of values that have one, or should.
fn names(bench: &Bench, from: &str) -> Vec<String> {
    let database = Connection::open(bench.at("x.sqlar")).unwrap();
    let mut statement = database
        .prepare(&format!("SELECT name FROM {from} ORDER BY name"))
        .unwrap();
    let names = statement.query_map([], |row| row.get(0)).unwrap();
    names.map(Result::unwrap).collect()
}

/// Flips a bit where these bytes stand in the archive.
fn damage(bench: &Bench, value: &[u8]) {
    let mut bytes = bench.read("x.sqlar");
    let at = bytes
        .windows(value.len())
        .position(|found| found == value)
        .unwrap();
    bytes[at] ^= 1;
    fs::write(bench.at("x.sqlar"), bytes).unwrap();
}

#[test]
fn a_flipped_bit_of_a_stored_value_is_found_whatever_reads_it() {
    for (name, size) in [("sub.txt", 27), ("large", 17 << 20), ("link", 5)] {
        let bench = packed();
        assert!(verified(&bench).is_whole());
        let value = match name {
            "large" => noise(17 << 20)[4_096..4_128].to_vec(),
            "link" => b"a.txt".to_vec(),
            _ => b"sorts before".to_vec(),
        };
        // A link's target is the name of a file as well, whose rows come before.
        let place = if name == "link" {
            [&b"link"[..], &[]].concat()
        } else {
            Vec::new()
        };
        match place.is_empty() {
            true => damage(&bench, &value),
            false => sql_past_triggers(
                &bench,
                "UPDATE sqlar SET data = 'b.txt' WHERE name = 'link'",
            ),
        }
        let found = verified(&bench);
        assert_eq!(found.refused.count, 1, "{name}: {found:?}");
        assert_eq!(found.refused.named[0].name, name);
        assert!(found.refused.named[0].why.contains("checksum"), "{found:?}");
        let unpacked = bench.unpack().unwrap();
        assert_eq!(unpacked.refused.named, found.refused.named);
        assert!(bench.at("back").join(name).symlink_metadata().is_err());
        let mut reader = Reader::open(&bench.at("x.sqlar")).unwrap();
        let entry = find(reader.archive(), name).unwrap();
        assert_eq!(entry.size, size);
        let told = reader.write_to(&entry, &mut std::io::sink()).unwrap_err();
        assert!(told.to_string().contains("damaged"), "{told}");
    }
}

/// As damage would, which fires no trigger.
fn sql_past_triggers(bench: &Bench, change: &str) {
    let triggers = names(bench, "sqlite_schema WHERE type = 'trigger'");
    assert_eq!(triggers.len(), 4);
    let drop: String = triggers
        .iter()
        .map(|name| format!("DROP TRIGGER {name};"))
        .collect();
    sql(bench, &format!("{drop} {change}"));
}

#[test]
fn what_another_program_changes_by_sql_has_no_checksum_any_more_and_is_unpacked() {
    let bench = packed();
    assert_eq!(verified(&bench).unchecked, 0);
    sql(&bench, "UPDATE sqlar SET data = x'32' WHERE name = 'one'");
    sql(
        &bench,
        "REPLACE INTO sqlar VALUES('a.txt', 33188, 0, 3, 'new'), ('more', 33188, 0, 4, 'more')",
    );
    sql(&bench, "UPDATE sqlar SET name = 'moved' WHERE name = '-rf'");
    sql(
        &bench,
        "UPDATE OR REPLACE sqlar SET name = 'large' WHERE name = 'sub.txt'",
    );
    let found = verified(&bench);
    assert!(found.is_whole(), "{found:?}");
    assert_eq!(found.unchecked, 5, "one, a.txt, more, moved, large");
    let with = names(&bench, "sqlar_crc32");
    assert!(
        !with.iter().any(|name| name == "sub.txt" || name == "-rf"),
        "{with:?}"
    );
    bench.unpack().unwrap();
    assert_eq!(bench.read("back/one"), b"2");
    assert_eq!(bench.read("back/a.txt"), b"new");
}

#[test]
fn what_is_added_and_removed_keeps_the_checksums_in_step() {
    let bench = packed();
    bench.write("from/one", "another one");
    bench.write("from/new", "new ".repeat(99));
    let add = Add {
        archive: bench.at("x.sqlar"),
        base: bench.at("from"),
        paths: ["one", "new", "sub"].map(str::to_owned).into(),
        store: false,
    };
    add.run(&()).unwrap();
    let remove = Remove {
        archive: bench.at("x.sqlar"),
        names: ["a.txt", "large"].map(str::to_owned).into(),
        recursive: false,
    };
    remove.run().unwrap();
    assert_eq!(
        names(&bench, "sqlar_crc32"),
        names(&bench, "sqlar WHERE length(data) > 0")
    );
    let found = verified(&bench);
    assert!(found.is_whole() && found.unchecked == 0, "{found:?}");
}

#[test]
fn an_archive_of_others_is_whole_and_how_many_values_have_no_checksum_is_known() {
    let rows = "INSERT INTO sqlar VALUES('a', 33188, 0, 1, 'x'), ('empty', 33188, 0, 0, ''),
                ('l', 41471, 0, -1, 'a'), ('d', 16877, 0, 0, NULL)";
    for (more, unchecked) in [
        (String::new(), 2),
        // Another table of that name is nobody's checksums.
        ("CREATE TABLE sqlar_crc32(name, other)".to_owned(), 2),
        (
            "CREATE VIEW sqlar_crc32 AS SELECT name, 1 AS crc32 FROM sqlar".to_owned(),
            2,
        ),
        (
            format!("{CHECKSUM_TABLE}; INSERT INTO sqlar_crc32 VALUES('a', 'text')"),
            2,
        ),
        (
            format!("{CHECKSUM_TABLE}; INSERT INTO sqlar_crc32 VALUES('a', 2363233923)"),
            1,
        ),
    ] {
        let bench = Bench::new();
        sql(&bench, &format!("{TABLE}; {rows}; {more}"));
        let found = verified(&bench);
        assert!(found.is_whole(), "{more}: {found:?}");
        assert_eq!((found.entries, found.unchecked), (4, unchecked), "{more}");
        assert_eq!(bench.unpack().unwrap().refused.count, 0);
    }
}
