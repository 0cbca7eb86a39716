//! What was written by SQLite, damaged.

use crate::hostile;
use proptest::prelude::*;
use proptest::test_runner::Config;
use rusqlite::Connection;
use std::fs;
use std::sync::LazyLock;

/// Failures are printed with what led to them, and leave no file behind.
fn cases(cases: u32) -> Config {
    Config {
        failure_persistence: None,
        ..Config::with_cases(cases)
    }
}

/// Bytes of which a few are replaced, at places of the file's beginning as often as at any.
fn damage() -> impl Strategy<Value = Vec<(usize, u8)>> {
    let place = prop_oneof![0usize..160, any::<usize>()];
    prop::collection::vec((place, any::<u8>()), 1..8)
}

fn damaged(whole: &[u8], damage: &[(usize, u8)], length: usize) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for (at, byte) in damage {
        let at = at % bytes.len();
        bytes[at] = *byte;
    }
    bytes.truncate(length.max(1));
    bytes
}

/// What SQLite calls a database, with values from small ones to some with overflow pages.
static DATABASE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    made(
        "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB);
        INSERT INTO kv VALUES(1, x''), (2, 'text'), (7, zeroblob(3000)), (8, randomblob(40));",
    )
});

fn made(sql: &str) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    let connection = Connection::open(&path).unwrap();
    let set = format!("PRAGMA page_size=512; {sql}");
    connection.execute_batch(&set).unwrap();
    drop(connection);
    fs::read(path).unwrap()
}

fn looked_at(bytes: &[u8]) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    fs::write(&path, bytes).unwrap();
    let taken = hostile::database(&path);
    assert_eq!(fs::read(&path).unwrap(), bytes, "looking changes nothing");
    let left: Vec<_> = fs::read_dir(&directory).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "and leaves nothing behind: {left:?}");
    taken
}

#[test]
fn a_log_that_the_header_promises_is_not_left_behind_whichever_version_says_so() {
    for versions in [[1, 2], [2, 1], [2, 2]] {
        let mut bytes = DATABASE.clone();
        bytes[18..20].copy_from_slice(&versions);
        looked_at(&bytes);
    }
}

#[test]
fn databases_of_any_make_are_looked_at_or_refused() {
    assert!(looked_at(&DATABASE));
    let table = "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB";
    for (sql, taken) in [
        ("CREATE VIEW kv AS SELECT 1 AS k, x'00' AS v", false),
        ("CREATE VIRTUAL TABLE kv USING fts5(k, v)", false),
        (
            &*format!("{table}); INSERT INTO kv VALUES(-1, x'00'), (0, 1)"),
            true,
        ),
        (
            &*format!("{table}); INSERT INTO kv VALUES(1, NULL), (2, 2.5)"),
            true,
        ),
        (
            &*format!("{table}); INSERT INTO kv VALUES(9223372036854775807, x'00')"),
            true,
        ),
        // The names of what is asked for, taken by the file.
        (
            &*format!(
                "{table}); CREATE TABLE dbstat(pagetype, pgsize, unused); INSERT INTO dbstat VALUES('leaf', 'x', 9), ('leaf', 1, 2)"
            ),
            true,
        ),
        (
            &*format!("{table}); CREATE TABLE pragma_table_info(a)"),
            false,
        ),
        (
            &*format!("PRAGMA encoding='UTF-16'; {table}); INSERT INTO kv VALUES(1, 'ab')"),
            true,
        ),
        (
            &*format!("{table}, g AS (zeroblob(1000000000)) UNIQUE)"),
            true,
        ),
        (&*format!("{table}, CHECK(length(v) < 5000))"), true),
        (
            &*format!(
                "{table}); CREATE TRIGGER t AFTER INSERT ON kv BEGIN SELECT load_extension('x'); END"
            ),
            true,
        ),
    ] {
        assert_eq!(looked_at(&made(sql)), taken, "{sql}");
    }
}

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn a_damaged_database_is_told_or_looked_at_and_never_changed(
        damage in damage(), length in prop_oneof![3 => Just(usize::MAX), 1 => 1usize..8000]
    ) {
        looked_at(&damaged(&DATABASE, &damage, length));
    }
}
