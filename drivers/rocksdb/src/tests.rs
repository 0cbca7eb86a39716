//! The suite of key-value engines, and what the engine itself finds in a store.

use crate::KIND;
use rocksdb::{DB, IteratorMode, Options};
use std::path::Path;
use stowplan_stores::{Access, Buffer, Found, Key, Session, Store, suite};

/// All that sync are steps of one test, because sync calls are counted for the whole process.
#[test]
fn it_conforms_with_every_setting_and_behaves_as_key_value_engines_do() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = suite::conforms_and_behaves(
        KIND,
        &[
            "sync=on,separation=on",
            "wal=off,separation=on,compression=none",
            "key=text,bloom_bits=10",
            "separation=on,separation_threshold=1",
        ],
        &["", "separation=on"],
        directory.path(),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_was_stored_is_read_by_rocksdb_itself() {
    let combinations = ["", "key=text,separation=on", "wal=off,compression=none"];
    let directory = tempfile::tempdir().unwrap();
    let wrong =
        suite::read_by_the_engine_itself(KIND, &combinations, directory.path(), |directory, _| {
            let database = DB::open_cf(&Options::default(), directory.join("db"), ["kv"]).unwrap();
            let family = database.cf_handle("kv").unwrap();
            let items = database
                .iterator_cf(family, IteratorMode::Start)
                .map(Result::unwrap);
            items
                .map(|(key, value)| (key.to_vec(), value.to_vec()))
                .collect()
        });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn create(given: &str, directory: &Path) -> Box<dyn Store> {
    let settings = suite::settings(KIND, given).unwrap();
    KIND.create(directory, &settings).unwrap()
}

#[test]
fn a_sync_of_a_log_that_is_not_there_is_refused() {
    let error = suite::settings(KIND, "sync=on,wal=off").unwrap_err();
    assert!(error.contains("use wal=on"), "{error}");
}

#[test]
fn of_two_transactions_that_conflict_the_later_one_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let store = create("", directory.path());
    let (mut first, mut second) = (store.connect().unwrap(), store.connect().unwrap());
    first.insert(Key(1), b"one").unwrap();
    first.insert(Key(2), b"two").unwrap();
    first.begin(Access::Write).unwrap();
    second.begin(Access::Write).unwrap();
    first.overwrite(Key(1), b"first").unwrap();
    second.overwrite(Key(1), b"second").unwrap();
    first.commit().unwrap();
    let error = second.commit().unwrap_err();
    assert!(error.is_conflict(), "{error}");
    assert_eq!(second.overwrite(Key(1), b"again").unwrap(), Found::Bytes(5));
}

/// Reads key 1 in some way and writes key 2, while another changes key 1.
fn reads_one_and_writes_two(read: impl Fn(&mut dyn Session) -> Vec<u8>) {
    let directory = tempfile::tempdir().unwrap();
    let store = create("", directory.path());
    let (mut first, mut second) = (store.connect().unwrap(), store.connect().unwrap());
    first.insert(Key(1), b"one").unwrap();
    first.insert(Key(2), b"two").unwrap();
    let before = read(&mut *first);
    first.begin(Access::Write).unwrap();
    assert_eq!(read(&mut *first), before);
    second.overwrite(Key(1), b"changed").unwrap();
    assert_eq!(read(&mut *first), before);
    first.overwrite(Key(2), b"from what was read").unwrap();
    let error = first.commit().unwrap_err();
    assert!(error.is_conflict(), "{error}");
    first.begin(Access::Write).unwrap();
    assert_eq!(read(&mut *first), b"changed");
    first.overwrite(Key(2), b"again").unwrap();
    first.commit().unwrap();
}

#[test]
fn what_a_transaction_has_read_and_another_changes_is_a_conflict() {
    reads_one_and_writes_two(|session| {
        let mut buffer = Buffer::with_capacity(8).unwrap();
        session.read_into(Key(1), &mut buffer).unwrap();
        buffer.bytes().to_vec()
    });
    reads_one_and_writes_two(|session| {
        let mut seen = Vec::new();
        let mut show = |value: &[u8]| seen = value.to_vec();
        session.read_in_place(Key(1), &mut show).unwrap();
        seen
    });
    reads_one_and_writes_two(|session| {
        let mut seen = Vec::new();
        let mut show = |_: Key, value: &[u8]| seen = value.to_vec();
        session.scan(Key(1), 1, &mut show).unwrap();
        seen
    });
}
