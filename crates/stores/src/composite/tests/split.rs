use super::super::SPLIT;
use crate::conformance::subject::{expect_missing, expect_value};
use crate::registry::resolve;
use crate::testing::created;
use crate::{Access, Found, Key, Session};
use std::path::Path;

/// Runs `work` in a new store with a limit of 1,000 bytes, and then `look` in its directory.
fn in_store(work: impl FnOnce(&mut dyn Session), look: impl FnOnce(&Path)) {
    let (directory, store) = created(SPLIT, &[("inline_limit", "1000")]);
    let mut connection = store.connect().unwrap();
    work(&mut *connection);
    connection.close().unwrap();
    look(directory.path());
}

fn files(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory.join("files")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn expect(session: &mut dyn Session, key: u64, value: &[u8]) {
    assert!(expect_value(session, key, value).is_ok(), "{key}");
}

#[test]
fn values_up_to_the_limit_are_rows_and_larger_ones_files() {
    let insert = |session: &mut dyn Session| {
        for (key, bytes) in [(1, 0), (2, 1_000), (3, 1_001), (4, 50_000)] {
            session.insert(Key(key), &vec![7; bytes]).unwrap();
            expect(session, key, &vec![7; bytes]);
        }
    };
    in_store(insert, |directory| {
        assert_eq!(files(directory), ["000003", "000004"]);
        let database = rusqlite::Connection::open(directory.join("kv.db")).unwrap();
        let rows: i64 = database
            .query_row("SELECT count(*) FROM kv", [], |row| row.get(0))
            .unwrap();
        assert_eq!(rows, 2);
    });
}

#[test]
fn a_value_that_grows_or_shrinks_beyond_the_limit_is_in_one_place_afterwards() {
    for transaction in [false, true] {
        let move_both = |session: &mut dyn Session| {
            session.insert(Key(1), &[1; 10]).unwrap();
            session.insert(Key(2), &[2; 5_000]).unwrap();
            if transaction {
                session.begin(Access::Write).unwrap();
            }
            // There and back again, within one transaction too.
            for (key, sizes) in [(1, [4_000, 20, 6_000]), (2, [5, 3_000, 30])] {
                for bytes in sizes {
                    let value = vec![9; bytes];
                    let found = session.overwrite(Key(key), &value).unwrap();
                    assert_eq!(found, Found::Bytes(bytes));
                    expect(session, key, &value);
                }
            }
            if transaction {
                session.commit().unwrap();
            }
            expect(session, 1, &[9; 6_000]);
            expect(session, 2, &[9; 30]);
        };
        in_store(move_both, |directory| {
            assert_eq!(files(directory), ["000001"], "transaction: {transaction}");
        });
    }
}

#[test]
fn the_file_that_a_crash_left_beside_a_row_does_not_become_the_value() {
    let (directory, store) = created(SPLIT, &[("inline_limit", "1000")]);
    let mut session = store.connect().unwrap();
    for key in 1..=3 {
        session.insert(Key(key), &[1; 10]).unwrap();
        std::fs::write(
            directory.path().join("files").join(format!("00000{key}")),
            "old",
        )
        .unwrap();
        expect(&mut *session, key, &[1; 10]);
    }
    assert!(session.delete(Key(1)).unwrap());
    assert!(expect_missing(&mut *session, 1).is_ok());
    session.overwrite(Key(2), &[2; 2_000]).unwrap();
    expect(&mut *session, 2, &[2; 2_000]);
    assert!(session.insert(Key(3), &[3; 2_000]).is_err());
    assert_eq!(
        session.overwrite(Key(9), &[3; 2_000]).unwrap(),
        Found::Missing
    );
}

#[test]
fn a_store_promises_what_its_weaker_part_does() {
    let claim = |settings: &str| {
        let spec = format!("split:{settings}").parse().unwrap();
        resolve(&spec, 1 << 20)
            .unwrap()
            .capabilities
            .durability
            .to_string()
    };
    let durable = "write=rename,fsync=directory,journal=wal,synchronous=full";
    assert_eq!(claim(durable), "durable, atomic");
    assert_eq!(claim("journal=wal,synchronous=full"), "none");
    assert_eq!(
        claim("write=rename,fsync=directory,journal=wal,synchronous=normal"),
        "process-crash, atomic"
    );
    assert_eq!(
        claim("write=rename,fsync=file,journal=wal,synchronous=full"),
        "process-crash, atomic"
    );
}

/// The harness compares that count with what it committed.
#[test]
fn commits_are_not_told_as_the_database_counts_them_since_files_need_none() {
    let insert = |session: &mut dyn Session| {
        for (key, bytes) in [(1, 10), (2, 5_000)] {
            session.insert(Key(key), &vec![7; bytes]).unwrap();
        }
        let counters = session.counters().unwrap();
        assert!(!counters.contains_key(crate::COMMITS_COUNTED));
        assert!(counters.contains_key("Page cache hits"));
    };
    in_store(insert, |_| ());
}
