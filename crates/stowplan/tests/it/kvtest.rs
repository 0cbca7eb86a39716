//! `init`, `stat` and `export`: what they make is whole, and what kvtest makes they take.

use crate::bench::{Bench, entries, until};
use crate::ending::signal;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// A database as kvtest makes it, with these rows.
fn database(bench: &Bench, name: &str, rows: &str) {
    let connection = Connection::open(bench.path(name)).unwrap();
    connection
        .execute_batch(&format!(
            "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB); INSERT INTO kv(k,v) {rows};"
        ))
        .unwrap();
}

/// Rows of kvtest: keys from 1 on, random blobs.
fn random(count: u32, bytes: u32) -> String {
    format!(
        "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<{count})
         SELECT x, randomblob({bytes}+random()%100) FROM c"
    )
}

fn values(path: &Path) -> BTreeMap<u64, Vec<u8>> {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection.prepare("SELECT k, v FROM kv").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)));
    rows.unwrap()
        .map(|row| row.unwrap())
        .map(|(key, value)| (key.unsigned_abs(), value))
        .collect()
}

/// The files below a directory by their names.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn a_new_database_is_one_that_sqlite_and_kvtest_read() {
    let bench = Bench::new();
    bench
        .run("kvtest init x.db --count 500 --size 3k --variance 1k --pagesize 1024")
        .exits(0);
    let connection = Connection::open(bench.path("x.db")).unwrap();
    let ask = |sql: &str| {
        connection
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    assert_eq!(ask("SELECT count(*) FROM kv WHERE typeof(v)='blob'"), 500);
    assert_eq!(ask("SELECT min(k)=1 AND max(k)=500 FROM kv"), 1);
    assert!(ask("SELECT min(length(v)) FROM kv") < 2_100);
    assert!(ask("SELECT max(length(v)) FROM kv") > 3_900);
    assert_eq!(
        ask("SELECT min(length(v))>=2000 AND max(length(v))<=4000 FROM kv"),
        1
    );
    assert_eq!(ask("PRAGMA page_size"), 1024);
    let table = "SELECT sql='CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)' FROM sqlite_schema";
    assert_eq!(ask(table), 1);
    let header = fs::read(bench.path("x.db")).unwrap();
    assert_eq!(header[18..20], [1, 1], "a plain rollback journal");
    assert_eq!(entries(&bench.path("")), ["small.toml", "x.db"]);
}

#[test]
fn a_seed_makes_the_same_database_and_another_seed_another() {
    let bench = Bench::new();
    let make = |name: &str, seed: &str| {
        let run = bench.run(&["kvtest", "init", name, "-count", "50", "-seed", seed, "-q"]);
        assert_eq!((run.exits(0).stdout(), run.stderr()), Default::default());
        values(&bench.path(name))
    };
    let first = make("a.db", "1");
    assert_eq!(first, make("b.db", "1"));
    assert_ne!(first, make("c.db", "2"));
    assert!(first.values().all(|value| value.len() == 10_000));
}

#[test]
fn a_variance_as_large_as_the_size_makes_no_empty_value() {
    let bench = Bench::new();
    for (name, rule) in [("ours.db", ""), ("kvtest.db", "--as-kvtest")] {
        let line = format!("kvtest init {name} --count 2000 --size 3 --variance 3 {rule}");
        bench.run(&line).exits(0);
        let lengths: Vec<_> = values(&bench.path(name)).values().map(Vec::len).collect();
        assert_eq!(lengths.iter().min(), Some(&1), "{name}");
        assert_eq!(lengths.iter().max(), Some(&6), "{name}");
    }
}

#[test]
fn a_database_is_not_made_beside_what_is_left_of_another() {
    for suffix in ["-wal", "-journal", "-shm"] {
        let bench = Bench::new();
        let left = format!("new.db{suffix}");
        bench.write(&left, "old");
        bench.run("kvtest init new.db").refuses(&left);
        assert_eq!(entries(&bench.path("")), [left.as_str(), "small.toml"]);
    }
}

#[test]
fn every_value_becomes_a_file_of_its_name_in_both_layouts() {
    let bench = Bench::new();
    let gaps = "VALUES(1,x'01'),(99,x''),(100,x'64'),(101,x'65'),(12345,zeroblob(70000)),
                (999999,'text'),(1000000,x'0f'),(9000000000,x'10')";
    database(&bench, "x.db", gaps);
    bench.run("kvtest export x.db dir").exits(0);
    bench.run("kvtest export x.db tree --tree -q").exits(0);
    let values = values_of_blobs(&bench.path("x.db"));
    let named = |name: fn(u64) -> String| -> BTreeMap<String, Vec<u8>> {
        values
            .iter()
            .map(|(key, value)| (name(*key), value.clone()))
            .collect()
    };
    let dir = named(|key| format!("{key:06}"));
    let tree = named(|key| {
        format!(
            "{:02}/{:02}/{:02}",
            key / 10_000,
            key / 100 % 100,
            key % 100
        )
    });
    assert_eq!(files(&bench.path("dir")), dir);
    assert_eq!(files(&bench.path("tree")), tree);
    assert_eq!(
        entries(&bench.path("")),
        ["dir", "small.toml", "tree", "x.db"]
    );
}

fn values_of_blobs(path: &Path) -> BTreeMap<u64, Vec<u8>> {
    Connection::open(path)
        .unwrap()
        .execute("UPDATE kv SET v=CAST(v AS BLOB)", [])
        .unwrap();
    values(path)
}

#[test]
fn many_values_are_exported_without_one_missing() {
    let bench = Bench::new();
    database(&bench, "x.db", &random(3_000, 500));
    fs::create_dir(bench.path("dir")).unwrap();
    bench.run("kvtest export x.db tree -tree").exits(0);
    assert_eq!(files(&bench.path("tree")).len(), 3_000);
    bench.run("kvtest export x.db dir").exits(0);
    let files = files(&bench.path("dir"));
    let values = values(&bench.path("x.db"));
    assert!(files.values().eq(values.values()) && files.len() == 3_000);
}

#[test]
fn a_directory_with_something_in_it_is_refused() {
    let bench = Bench::new();
    database(&bench, "x.db", &random(3, 500));
    fs::create_dir(bench.path("mine")).unwrap();
    bench.write("mine/letter", "dear");
    bench
        .run("kvtest export x.db mine")
        .refuses("is not empty; choose another directory");
    bench
        .run("kvtest export x.db small.toml")
        .refuses("not a directory");
    bench.run("kvtest export mine out").refuses("mine");
    assert_eq!(entries(&bench.path("mine")), ["letter"]);
}

#[test]
fn what_no_file_can_hold_ends_the_export_by_its_key_and_leaves_nothing() {
    let bench = Bench::new();
    for (row, told) in [
        ("(-7,x'00')", "key -7"),
        ("(0,x'00')", "key 0"),
        ("(2800,NULL)", "value 2800"),
        ("(2801,5)", "value 2801"),
    ] {
        database(&bench, "x.db", &random(2_700, 10));
        Connection::open(bench.path("x.db"))
            .unwrap()
            .execute(&format!("INSERT INTO kv VALUES{row}"), [])
            .unwrap();
        let run = bench.run("kvtest export x.db out");
        run.exits(1).warns(told);
        assert_eq!(entries(&bench.path("")), ["small.toml", "x.db"]);
        fs::remove_file(bench.path("x.db")).unwrap();
    }
}

#[test]
fn stat_begins_with_the_lines_of_kvtest() {
    let bench = Bench::new();
    database(
        &bench,
        "x.db",
        "VALUES(1,zeroblob(10)),(2,x''),(5,zeroblob(9001))",
    );
    let before = fs::read(bench.path("x.db")).unwrap();
    let run = bench.run("stat x.db");
    let expected = "\
Number of entries:         3
Average value size:     3003
Minimum value size:        0
Maximum value size:     9001
Page-size:              4096
Page-count:                4
Freelist-count:            0
Integrity-check:    ok
";
    assert!(
        run.exits(0).stdout().starts_with(expected),
        "{}",
        run.stdout()
    );
    run.fits();
    assert_eq!(fs::read(bench.path("x.db")).unwrap(), before);
    let vacuum = bench.run("stat x.db -vacuum");
    assert!(
        vacuum
            .exits(0)
            .stdout()
            .starts_with("Vacuuming....       done\nNumber of entries:")
    );
}

#[test]
fn a_directory_and_a_tree_are_stated_like_their_database() {
    let bench = Bench::new();
    database(&bench, "x.db", &random(200, 5_000));
    let first_lines = |place: &str| {
        let text = bench.run(&["stat", place]).exits(0).stdout();
        text.lines().take(4).collect::<Vec<_>>().join("\n")
    };
    let histogram = |place: &str| {
        let text = bench.run(&["stat", place]).exits(0).stdout();
        assert!(text.lines().count() <= 40, "{text}");
        let figure = text.split_once("Value sizes").unwrap().1;
        figure
            .split_once("As datasets for a study file: --verbose.")
            .unwrap()
            .0
            .to_owned()
    };
    bench.run("kvtest export x.db dir").exits(0);
    bench.run("kvtest export x.db tree --tree").exits(0);
    for place in ["dir", "tree"] {
        assert_eq!(first_lines(place), first_lines("x.db"));
        assert_eq!(histogram(place), histogram("x.db"));
    }
    bench.run("stat tree").prints("200 files in 5 directories");
    bench.run("stat dir --vacuum").refuses("leave --vacuum out");
}

#[test]
fn stat_as_json_is_one_document() {
    let bench = Bench::new();
    database(&bench, "x.db", "VALUES(1,zeroblob(10)),(3,zeroblob(30))");
    let document = bench.run("stat x.db --json --vacuum").exits(0).json();
    assert_eq!(document["survey"]["bytes"], 40);
    assert_eq!(document["pages"]["integrity"][0], "ok");
    assert_eq!(document["held"], "database");
}

#[test]
fn a_damaged_database_is_stated_with_its_faults_and_not_exported() {
    let bench = Bench::new();
    database(
        &bench,
        "x.db",
        &random(100, 5_000).replace("random()%100", "0"),
    );
    let mut file = fs::OpenOptions::new()
        .write(true)
        .open(bench.path("x.db"))
        .unwrap();
    file.seek(SeekFrom::Start(4096 * 20)).unwrap();
    file.write_all(&[0x5a; 4096 * 8]).unwrap();
    let run = bench.run("stat x.db");
    run.exits(1)
        .prints("Integrity-check:    *** in database main ***");
    bench.run("kvtest export x.db out").refuses("malformed");
    assert_eq!(entries(&bench.path("")), ["small.toml", "x.db"]);
}

#[test]
fn places_that_hold_nothing_are_told_in_one_line() {
    let bench = Bench::new();
    bench.write("empty", "");
    fs::create_dir(bench.path("bare")).unwrap();
    for (place, told) in [
        ("nowhere", "nowhere"),
        ("empty", "the file is empty"),
        ("small.toml", "not an SQLite database"),
        ("bare", "no files named like 000001"),
    ] {
        // Any directory can be looked at, also one that holds nothing.
        if place != "bare" {
            bench.run(&["stat", place]).refuses(told);
        }
        bench.run(&["kvtest", "export", place, "out"]).refuses(told);
    }
    bench.run("stat bare").prints("0 files in 1 directory");
    assert!(!bench.path("out").exists());
}

#[test]
fn ctrl_c_leaves_neither_a_database_nor_a_directory() {
    let bench = Bench::new();
    let interrupted = |line: &str| {
        let mut child = bench.silently(line);
        until(|| (!left(&bench).is_empty()).then_some(()));
        signal(&child, "-INT");
        assert_eq!(child.wait().unwrap().code(), Some(130), "{line}");
    };
    interrupted("kvtest init new.db --count 200k");
    assert_eq!(entries(&bench.path("")), ["small.toml"]);
    bench.run("kvtest init x.db --count 20k --size 1k").exits(0);
    interrupted("kvtest export x.db out");
    assert_eq!(entries(&bench.path("")), ["small.toml", "x.db"]);
}

/// What is made under a name of its own until it is whole.
fn left(bench: &Bench) -> Vec<String> {
    let mut names = entries(&bench.path(""));
    names.retain(|name| name.starts_with(".stowplan-"));
    names
}

#[test]
fn what_a_killed_init_or_export_left_goes_with_the_next_one() {
    let bench = Bench::new();
    bench.run("kvtest init x.db --count 20k --size 1k").exits(0);
    for killed in ["kvtest init new.db --count 200k", "kvtest export x.db new"] {
        let mut child = bench.silently(killed);
        wait_for_files(&bench);
        signal(&child, "-KILL");
        child.wait().unwrap();
        assert!(!left(&bench).is_empty());
        bench.run("kvtest init y.db --count 3").exits(0);
        assert!(left(&bench).is_empty());
        fs::remove_file(bench.path("y.db")).unwrap();
    }
}

/// Waits until an export has begun to write files.
fn wait_for_files(bench: &Bench) {
    until(|| {
        let directory = bench.path(left(bench).first()?);
        fs::read_dir(directory).ok()?.next().map(drop)
    });
}

#[test]
fn what_is_written_during_an_export_is_not_in_it() {
    for journal in ["wal", "delete"] {
        let bench = Bench::new();
        database(&bench, "x.db", &random(20_000, 500));
        let writer = Connection::open(bench.path("x.db")).unwrap();
        writer.pragma_update(None, "journal_mode", journal).unwrap();
        writer.close().unwrap();
        let before = values(&bench.path("x.db"));
        let mut child = bench.silently("kvtest export x.db out -q");
        wait_for_files(&bench);
        let writer = Connection::open(bench.path("x.db")).unwrap();
        writer.busy_timeout(std::time::Duration::ZERO).unwrap();
        // It may be refused: without a log, a reader keeps others from writing.
        let _ = writer.execute_batch(
            "UPDATE kv SET v=x'00'; PRAGMA wal_checkpoint(PASSIVE);
             PRAGMA wal_checkpoint(TRUNCATE)",
        );
        assert_eq!(child.wait().unwrap().code(), Some(0), "{journal}");
        let files = files(&bench.path("out"));
        assert!(files.values().eq(before.values()), "{journal}");
    }
}

#[test]
fn looking_at_a_database_in_wal_mode_leaves_nothing_beside_it() {
    let bench = Bench::new();
    database(&bench, "x.db", &random(20, 500));
    let writer = Connection::open(bench.path("x.db")).unwrap();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    writer.close().unwrap();
    let before = fs::read(bench.path("x.db")).unwrap();
    bench.run("stat x.db").exits(0);
    bench.run("kvtest export x.db out").exits(0);
    bench.run("kvtest export x.db out").refuses("is not empty");
    assert_eq!(entries(&bench.path("")), ["out", "small.toml", "x.db"]);
    assert_eq!(fs::read(bench.path("x.db")).unwrap(), before);
}
