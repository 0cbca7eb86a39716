use super::super::*;
use crate::testing::{self, message, read, settings};
use crate::{Access, Found, Key, Session, StoreError, sync_calls};
use std::fs;
use std::path::Path;
use stowplan_model::Value;

fn with_store(pairs: &[(&str, &str)], test: impl FnOnce(&Path, &mut dyn Session)) {
    testing::with_session(INDEXED, pairs, test);
}

/// Runs `test` in a session that holds the keys 1 to 3, each with 5,000 bytes of its number.
fn with_session(pairs: &[(&str, &str)], test: impl FnOnce(&Path, &mut dyn Session)) {
    testing::with_session(INDEXED, pairs, |directory, session| {
        testing::fill(session);
        test(directory, session);
    });
}

/// Changes the database behind the store's back.
fn run_sql(directory: &Path, sql: &str) {
    let database = rusqlite::Connection::open(directory.join("index.db")).unwrap();
    database.execute_batch(sql).unwrap();
}

/// The file names below `blobs`, sorted.
fn file_names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory.join("blobs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_database_holds_the_names_and_the_files_lie_below_blobs_as_the_layout_says() {
    for (layout, name) in [("dir", "000002"), ("tree", "00/00/02")] {
        with_session(&[("layout", layout)], |directory, _| {
            let database = rusqlite::Connection::open(directory.join("index.db")).unwrap();
            let row: String = database
                .query_row("SELECT name FROM kv WHERE k=2", [], |row| row.get(0))
                .unwrap();
            assert_eq!(row, name);
            let content = fs::read(directory.join("blobs").join(name)).unwrap();
            assert_eq!(content, [2; 5000]);
        });
    }
}

#[test]
fn the_name_in_the_database_decides_which_file_is_meant() {
    for how in ["plain", "stdio"] {
        with_session(&[("read", how)], |directory, session| {
            let blobs = directory.join("blobs");
            fs::rename(blobs.join("000001"), blobs.join("777777")).unwrap();
            run_sql(directory, "UPDATE kv SET name='777777' WHERE k=1");
            assert_eq!(read(session, 1).unwrap().unwrap(), [1; 5000], "{how}");
            session.overwrite(Key(1), b"new").unwrap();
            assert_eq!(fs::read(blobs.join("777777")).unwrap(), b"new");
            let mut scanned = Vec::new();
            session
                .scan(Key(1), 1, &mut |_, value| scanned = value.to_vec())
                .unwrap();
            assert_eq!(scanned, b"new");
            assert!(session.delete(Key(1)).unwrap());
            assert_eq!(file_names(directory), ["000002", "000003"]);
        });
    }
}

#[test]
fn a_row_that_names_no_file_of_the_layout_is_damaged_and_nothing_is_touched() {
    for hostile in [
        "'../victim'",
        "'../../victim'",
        "'/etc/passwd'",
        "'00/00/01'",
        "'000001/'",
        "'.tmp-1-1'",
        "''",
        "'000001' || char(0)",
        "printf('%.*c', 5000, 'x')",
    ] {
        with_session(&[], |directory, session| {
            let victim = directory.join("victim");
            fs::write(&victim, b"precious").unwrap();
            run_sql(
                directory,
                &format!("UPDATE kv SET name={hostile} WHERE k=1"),
            );
            for error in [
                read(session, 1).unwrap_err(),
                session.overwrite(Key(1), b"x").unwrap_err(),
                session.delete(Key(1)).unwrap_err(),
                session.insert(Key(1), b"x").unwrap_err(),
                session.scan(Key(1), 1, &mut |_, _| ()).unwrap_err(),
            ] {
                assert!(
                    matches!(error, StoreError::Damaged { key: 1, .. }),
                    "{error}"
                );
                let message = error.to_string();
                assert!(message.len() < 200 && !message.contains('\n'), "{message}");
            }
            assert_eq!(fs::read(&victim).unwrap(), b"precious");
            assert_eq!(file_names(directory), ["000001", "000002", "000003"]);
            assert_eq!(read(session, 2).unwrap().unwrap(), [2; 5000]);
        });
    }
}

#[test]
fn a_row_whose_file_is_missing_is_damaged_and_not_a_missing_key() {
    for pairs in [
        [("read", "plain"), ("write", "truncate")],
        [("read", "stdio"), ("write", "in-place")],
        [("read", "plain"), ("write", "rename")],
    ] {
        with_session(&pairs, |directory, session| {
            fs::remove_file(directory.join("blobs").join("000001")).unwrap();
            for error in [
                read(session, 1).unwrap_err(),
                session.overwrite(Key(1), b"x").unwrap_err(),
                session.scan(Key(0), 9, &mut |_, _| ()).unwrap_err(),
                session.delete(Key(1)).unwrap_err(),
            ] {
                assert!(
                    matches!(error, StoreError::Damaged { key: 1, .. }),
                    "{error}"
                );
                assert!(error.to_string().contains("000001"), "{error}");
            }
            assert_eq!(file_names(directory), ["000002", "000003"]);
        });
    }
}

#[test]
fn a_file_without_a_row_is_no_value_and_is_taken_over_by_an_insert() {
    for write in ["truncate", "in-place", "rename"] {
        with_session(&[("write", write)], |directory, session| {
            fs::write(directory.join("blobs").join("000009"), [7; 9000]).unwrap();
            assert_eq!(read(session, 9).unwrap(), None);
            assert_eq!(session.overwrite(Key(9), b"x").unwrap(), Found::Missing);
            session.insert(Key(9), &[9; 100]).unwrap();
            assert_eq!(read(session, 9).unwrap().unwrap(), [9; 100]);
        });
    }
}

#[test]
fn an_insert_does_not_take_the_file_of_another_key() {
    with_session(&[], |directory, session| {
        run_sql(directory, "UPDATE kv SET k=9 WHERE k=1");
        let error = session.insert(Key(1), b"x").unwrap_err();
        assert!(error.to_string().contains("belongs to key 9"), "{error}");
        assert_eq!(read(session, 9).unwrap().unwrap(), [1; 5000]);
        assert_eq!(read(session, 1).unwrap(), None);
    });
}

#[test]
fn a_transaction_that_was_abandoned_leaves_no_row_without_its_file() {
    let (directory, store) = testing::created(INDEXED, &[]);
    let mut session = store.connect().unwrap();
    session.insert(Key(1), &[1; 5000]).unwrap();
    session.insert(Key(2), &[2; 5000]).unwrap();
    session.begin(Access::Write).unwrap();
    session.delete(Key(1)).unwrap();
    session.delete(Key(2)).unwrap();
    session.insert(Key(2), &[22; 5000]).unwrap();
    session.insert(Key(3), &[3; 5000]).unwrap();
    assert_eq!(read(&mut *session, 1).unwrap(), None);
    drop(session);
    let mut session = store.connect().unwrap();
    assert_eq!(read(&mut *session, 1).unwrap().unwrap(), [1; 5000]);
    assert!(read(&mut *session, 2).unwrap().is_some());
    assert_eq!(read(&mut *session, 3).unwrap(), None);
    session.insert(Key(3), &[33; 5000]).unwrap();
    let names = file_names(directory.path());
    assert_eq!(names, ["000001", "000002", "000003"]);
}

#[test]
fn files_of_deleted_rows_go_with_the_commit_unless_they_were_inserted_again() {
    with_session(&[], |directory, session| {
        session.begin(Access::Write).unwrap();
        session.delete(Key(1)).unwrap();
        session.delete(Key(2)).unwrap();
        session.insert(Key(2), b"again").unwrap();
        assert_eq!(file_names(directory), ["000001", "000002", "000003"]);
        session.commit().unwrap();
        assert_eq!(file_names(directory), ["000002", "000003"]);
        assert_eq!(read(session, 2).unwrap().unwrap(), b"again");
        session.delete(Key(2)).unwrap();
        assert_eq!(file_names(directory), ["000003"]);
    });
}

#[test]
fn look_ups_share_the_transaction_around_them_and_nothing_is_rolled_back() {
    with_session(&[("journal", "wal")], |directory, session| {
        session.begin(Access::Read).unwrap();
        assert!(read(session, 1).unwrap().is_some());
        // A row that vanishes meanwhile is still there for a transaction that began before.
        run_sql(directory, "DELETE FROM kv WHERE k=2");
        assert!(read(session, 2).unwrap().is_some());
        let error = session.rollback().unwrap_err();
        assert!(error.to_string().contains("no transactions"), "{error}");
        session.commit().unwrap();
        assert_eq!(read(session, 2).unwrap(), None);
    });
}

/// The fewest syncs of some runs, and of many more while they are not as few as expected: other tests of this process
/// may sync at the same time, some of them without a pause.
fn fewest_syncs(expected: u64, mut run: impl FnMut(u64)) -> u64 {
    let mut fewest = u64::MAX;
    for i in 0..5000 {
        let before = sync_calls();
        run(i);
        fewest = fewest.min(sync_calls().since(&before).total());
        if i >= 20 && fewest <= expected {
            break;
        }
    }
    fewest
}

#[test]
fn an_insert_syncs_the_new_name_too_and_an_overwrite_the_file_alone() {
    for (fsync, inserts, overwrites) in [("off", 0, 0), ("file", 2, 1)] {
        let pairs = [("fsync", fsync), ("synchronous", "off")];
        with_session(&pairs, |_, session| {
            let inserted = fewest_syncs(inserts, |i| session.insert(Key(100 + i), b"a").unwrap());
            assert_eq!(inserted, inserts, "{fsync}");
            let overwritten = fewest_syncs(overwrites, |_| {
                session.overwrite(Key(100), b"b").unwrap();
            });
            assert_eq!(overwritten, overwrites, "{fsync}");
        });
    }
}

#[test]
fn the_claim_is_that_of_the_files_unless_the_database_promises_less() {
    let claim = |pairs: &[(&str, &str)]| {
        let capabilities = INDEXED.capabilities(&settings(INDEXED, pairs)).unwrap();
        capabilities.durability.to_string()
    };
    let renamed = |fsync, journal, synchronous| {
        claim(&[
            ("write", "rename"),
            ("fsync", fsync),
            ("journal", journal),
            ("synchronous", synchronous),
        ])
    };
    assert_eq!(claim(&[("write", "in-place"), ("fsync", "file")]), "none");
    assert_eq!(renamed("off", "wal", "full"), "process-crash, atomic");
    assert_eq!(renamed("file", "wal", "full"), "process-crash, atomic");
    assert_eq!(renamed("directory", "wal", "full"), "durable, atomic");
    assert_eq!(
        renamed("directory", "delete", "full"),
        "process-crash, atomic"
    );
    assert_eq!(renamed("directory", "wal", "off"), "process-crash, atomic");
    assert_eq!(renamed("directory", "off", "full"), "none, atomic");
}

#[test]
fn settings_that_exclude_each_other_bear_the_name_of_this_store() {
    let asked = settings(INDEXED, &[("write", "in-place"), ("fsync", "directory")]);
    let message = message(INDEXED.capabilities(&asked));
    assert!(message.starts_with("files-indexed cannot"), "{message}");
}

#[test]
fn settings_of_the_database_are_read_back_from_sqlite() {
    with_store(&[("journal", "wal"), ("mmap", "1TiB")], |_, connection| {
        let effective = connection.effective_settings().unwrap();
        assert_eq!(effective.word("journal"), "wal");
        assert_ne!(effective.get("mmap"), Some(&Value::Number(1 << 40)));
        assert_eq!(effective.get("write"), None);
        assert_eq!(effective.get("locking"), None);
    });
}

#[test]
fn a_look_up_again_hits_the_cache_of_the_database() {
    with_session(&[("cache", "1MiB")], |_, session| {
        read(session, 1).unwrap();
        let before = session.counters().unwrap()["Page cache hits"];
        read(session, 1).unwrap();
        assert!(session.counters().unwrap()["Page cache hits"] > before);
    });
}

#[test]
fn what_is_no_such_store_is_named_and_not_opened() {
    let open_error = |directory: &Path| message(INDEXED.open(directory, &settings(INDEXED, &[])));
    let directory = tempfile::tempdir().unwrap();
    assert!(open_error(directory.path()).contains("blobs"));
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), directory.path().join("blobs")).unwrap();
    let message = open_error(directory.path());
    assert!(message.contains("Not a directory"), "{message}");
    fs::remove_file(directory.path().join("blobs")).unwrap();
    fs::create_dir(directory.path().join("blobs")).unwrap();
    let message = open_error(directory.path());
    assert!(message.contains("index.db"), "{message}");
    run_sql(directory.path(), "CREATE TABLE other(x)");
    let message = open_error(directory.path());
    assert!(
        message.contains("no table kv(k INTEGER PRIMARY KEY, name"),
        "{message}"
    );
    fs::create_dir(directory.path().join("blobs/00")).unwrap();
    let message = open_error(directory.path());
    assert!(message.starts_with("files-indexed cannot"), "{message}");
    assert!(message.contains("layout=tree"), "{message}");
}
