//! The suite of key-value engines, and what the engine itself finds in a store.

use crate::KIND;
use stowplan_stores::{Key, suite};

/// All that sync are steps of one test, because sync calls are counted for the whole process.
#[test]
fn it_conforms_with_every_setting_and_behaves_as_key_value_engines_do() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = suite::conforms_and_behaves(
        KIND,
        &["key=text,flush=commit", "mode=high-throughput,flush=commit"],
        &["", "flush=commit"],
        directory.path(),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_was_stored_is_read_by_sled_itself() {
    let combinations = ["", "key=text,flush=commit", "mode=high-throughput"];
    let directory = tempfile::tempdir().unwrap();
    let wrong =
        suite::read_by_the_engine_itself(KIND, &combinations, directory.path(), |directory, _| {
            let database = sled::open(directory.join("db")).unwrap();
            let items = database.open_tree("kv").unwrap().iter().map(Result::unwrap);
            items
                .map(|(key, value)| (key.to_vec(), value.to_vec()))
                .collect()
        });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Threads of sled's keep its lock a little longer.
#[test]
fn what_was_closed_can_be_opened_again_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let settings = suite::settings(KIND, "flush=commit").unwrap();
    let mut store = KIND.create(directory.path(), &settings).unwrap();
    for key in 0..100 {
        let mut connection = store.connect().unwrap();
        let inserted = connection.session().unwrap().insert(Key(key), &[1; 3000]);
        inserted.unwrap();
        connection.close().unwrap();
        store = KIND.open(directory.path(), &settings).unwrap();
    }
}

#[test]
fn a_database_that_another_has_open_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let settings = suite::settings(KIND, "").unwrap();
    let store = KIND.create(directory.path(), &settings).unwrap();
    let connection = store.connect().unwrap();
    let error = KIND.open(directory.path(), &settings).err().unwrap();
    assert!(error.to_string().contains("another process"), "{error}");
    connection.close().unwrap();
}
