//! The suite of key-value engines, and what the engine itself finds in a store.

use crate::KIND;
use libmdbx::{Database, DatabaseOptions, NoWriteMap};
use std::path::Path;
use stowplan_stores::{Access, Found, Key, KeyForm, Store, suite};

/// All that sync are steps of one test, because sync calls are counted for the whole process.
#[test]
fn it_conforms_with_every_setting_and_behaves_as_key_value_engines_do() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = suite::conforms_and_behaves(
        KIND,
        &[
            "durability=no-meta,writemap=on",
            "durability=safe-no-sync,writemap=on",
            "durability=utterly-no-sync,writemap=on",
            "key=text,page_size=65536",
        ],
        &["", "writemap=on"],
        directory.path(),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_was_stored_is_read_by_the_crate_libmdbx() {
    let combinations = ["", "key=text,durability=safe-no-sync", "writemap=on"];
    let directory = tempfile::tempdir().unwrap();
    let wrong = suite::read_by_the_engine_itself(
        KIND,
        &combinations,
        directory.path(),
        |directory, form| {
            let options = DatabaseOptions {
                max_tables: Some(1),
                ..DatabaseOptions::default()
            };
            let database = Database::<NoWriteMap>::open_with_options(directory, options).unwrap();
            let reading = database.begin_ro_txn().unwrap();
            let table = reading.open_table(Some("kv")).unwrap();
            let mut cursor = reading.cursor(&table).unwrap();
            let items = cursor.iter_start::<Vec<u8>, Vec<u8>>().map(Result::unwrap);
            // Numbers are in the machine's own order of bytes.
            let key = |bytes: Vec<u8>| match form {
                KeyForm::Integer => {
                    let number = u64::from_ne_bytes(bytes.try_into().unwrap());
                    number.to_be_bytes().to_vec()
                }
                KeyForm::Text => bytes,
            };
            items.map(|(bytes, value)| (key(bytes), value)).collect()
        },
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn create(given: &str, directory: &Path) -> Box<dyn Store> {
    let settings = suite::settings(KIND, given).unwrap();
    KIND.create(directory, &settings).unwrap()
}

#[test]
fn a_second_writer_on_the_same_thread_is_a_conflict_instead_of_a_wait_without_end() {
    let directory = tempfile::tempdir().unwrap();
    let store = create("", directory.path());
    let (mut first, mut second) = (store.connect().unwrap(), store.connect().unwrap());
    first.begin(Access::Write).unwrap();
    let error = second.begin(Access::Write).unwrap_err();
    assert!(error.is_conflict(), "{error}");
    first.commit().unwrap();
    second.begin(Access::Write).unwrap();
    second.commit().unwrap();
}

#[test]
fn a_database_that_is_full_says_which_setting_helps() {
    let directory = tempfile::tempdir().unwrap();
    let store = create("max_size=64MiB", directory.path());
    let mut session = store.connect().unwrap();
    let error = session.insert(Key(1), &vec![1; 80 << 20]).unwrap_err();
    assert!(error.to_string().contains("max_size"), "{error}");
    session.insert(Key(1), &[1; 5000]).unwrap();
}

#[test]
fn a_transaction_that_an_error_has_undone_is_not_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let store = create("max_size=64MiB", directory.path());
    let mut session = store.connect().unwrap();
    session.begin(Access::Write).unwrap();
    session.insert(Key(1), b"one").unwrap();
    let error = session.insert(Key(2), &vec![1; 80 << 20]).unwrap_err();
    assert!(error.to_string().contains("max_size"), "{error}");
    let error = session.commit().unwrap_err();
    assert!(error.to_string().contains("was undone"), "{error}");
    assert_eq!(session.overwrite(Key(1), b"1").unwrap(), Found::Missing);
    session.insert(Key(1), b"again").unwrap();
}
