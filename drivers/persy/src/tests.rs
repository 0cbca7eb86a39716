//! The suite of key-value engines, and what the engine itself finds in a store.

use crate::KIND;
use persy::{Config, Persy, PersyId};
use stowplan_stores::{KeyForm, suite};

/// All that sync are steps of one test, because sync calls are counted for the whole process.
#[test]
fn it_conforms_with_every_setting_and_behaves_as_key_value_engines_do() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = suite::conforms_and_behaves(KIND, &["key=text,cache=0"], &[""], directory.path());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_was_stored_is_read_by_persy_itself() {
    let combinations = ["", "key=text"];
    let directory = tempfile::tempdir().unwrap();
    let wrong = suite::read_by_the_engine_itself(
        KIND,
        &combinations,
        directory.path(),
        |directory, form| {
            let database = Persy::open(directory.join("kv.persy"), Config::new()).unwrap();
            let value = |ids: &mut dyn Iterator<Item = PersyId>| {
                let id = ids.next().unwrap();
                database.read("kv", &id).unwrap().unwrap()
            };
            match form {
                KeyForm::Integer => {
                    let items = database.range::<u64, PersyId, _>("kv", ..).unwrap();
                    items
                        .map(|(key, mut ids)| (key.to_be_bytes().to_vec(), value(&mut ids)))
                        .collect()
                }
                KeyForm::Text => {
                    let items = database.range::<String, PersyId, _>("kv", ..).unwrap();
                    items
                        .map(|(key, mut ids)| (key.into_bytes(), value(&mut ids)))
                        .collect()
                }
            }
        },
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
