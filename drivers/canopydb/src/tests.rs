//! The suite of key-value engines, and what the engine itself finds in a store.

use crate::KIND;
use canopydb::Environment;
use std::path::Path;
use stowplan_stores::{Buffer, Key, Store, suite};

/// All that sync are steps of one test, because sync calls are counted for the whole process.
#[test]
fn it_conforms_with_every_setting_and_behaves_as_key_value_engines_do() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = suite::conforms_and_behaves(
        KIND,
        &[
            "key=text,sync=on",
            "wal=off,checkpoint=1MiB",
            "compression=none,sync=on",
        ],
        &["", "wal=off"],
        directory.path(),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_was_stored_is_read_by_canopydb_itself() {
    let combinations = ["", "key=text,sync=on", "wal=off,compression=none"];
    let directory = tempfile::tempdir().unwrap();
    let wrong =
        suite::read_by_the_engine_itself(KIND, &combinations, directory.path(), |directory, _| {
            let environment = Environment::new(directory.join("db")).unwrap();
            let database = environment.get_database("kv").unwrap().unwrap();
            let reading = database.begin_read().unwrap();
            let tree = reading.get_tree(b"kv").unwrap().unwrap();
            let items = tree.iter().unwrap().map(Result::unwrap);
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

/// canopydb reserves room for the values as they are and keeps it, until its file is compacted.
#[test]
fn compressed_values_are_read_back_and_take_less_room_once_compacted() {
    let bytes = ["lz4", "none"].map(|compression| {
        let given = format!("compression={compression}");
        let directory = tempfile::tempdir().unwrap();
        let store = create(&given, directory.path());
        let mut connection = store.connect().unwrap();
        let mut session = connection.session().unwrap();
        for key in 0..40 {
            session.insert(Key(key), &[1; 100_000]).unwrap();
        }
        drop(session);
        connection.close().unwrap();
        store.checkpoint().unwrap();
        drop(store);
        {
            let environment = Environment::new(directory.path().join("db")).unwrap();
            let database = environment.get_database("kv").unwrap().unwrap();
            database.compact().unwrap();
        }
        let store = KIND
            .open(directory.path(), &suite::settings(KIND, &given).unwrap())
            .unwrap();
        let mut connection = store.connect().unwrap();
        let mut session = connection.session().unwrap();
        let mut buffer = Buffer::with_capacity(8).unwrap();
        for key in 0..40 {
            session.read_into(Key(key), &mut buffer).unwrap();
            assert_eq!(buffer.bytes(), [1; 100_000]);
        }
        store.footprint().unwrap().allocated_bytes
    });
    assert!(2 * bytes[0] < bytes[1], "{bytes:?}");
}
