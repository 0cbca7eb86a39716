//! The suite of key-value engines, for those of this crate; their settings are in `every_store`.

use heed::types::Bytes;
use heed::{CommitOrAbort, EnvOpenOptions};
use redb::{ReadableDatabase as _, ReadableTable as _, TableDefinition};
use std::path::Path;
use stowplan_stores::{KeyForm, Kind, registry, suite};

fn kind(name: &str) -> &'static Kind {
    registry::find(name).unwrap()
}

#[test]
fn they_behave_as_key_value_engines_do() {
    for (name, combinations) in [
        ("redb", ["", "key=text", "durability=none"]),
        ("lmdb", ["", "key=text", "database=named"]),
        ("fjall", ["", "key=text", "separation=on"]),
    ] {
        let directory = crate::place::in_memory();
        let wrong = suite::behaviour(kind(name), &combinations, directory.path());
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

type Items = Vec<(Vec<u8>, Vec<u8>)>;

fn read_by(name: &str, combinations: &[&str], read: impl Fn(&Path, KeyForm) -> Items) {
    let directory = crate::place::in_memory();
    let wrong = suite::read_by_the_engine_itself(kind(name), combinations, directory.path(), read);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_was_stored_is_read_by_redb_itself() {
    read_by("redb", &["", "key=text"], |directory, form| {
        let database = redb::Database::open(directory.join("kv.redb")).unwrap();
        let transaction = database.begin_read().unwrap();
        match form {
            KeyForm::Integer => {
                let table = TableDefinition::<u64, &[u8]>::new("kv");
                let table = transaction.open_table(table).unwrap();
                let items = table.iter().unwrap().map(Result::unwrap);
                items
                    .map(|(k, v)| (k.value().to_be_bytes().to_vec(), v.value().to_vec()))
                    .collect()
            }
            KeyForm::Text => {
                let table = TableDefinition::<&[u8], &[u8]>::new("kv");
                let table = transaction.open_table(table).unwrap();
                let items = table.iter().unwrap().map(Result::unwrap);
                items
                    .map(|(k, v)| (k.value().to_vec(), v.value().to_vec()))
                    .collect()
            }
        }
    });
}

#[test]
fn what_was_stored_is_read_by_lmdb_itself() {
    read_by("lmdb", &["", "key=text", "sync=none"], |directory, form| {
        #[expect(
            unsafe_code,
            reason = "LMDB maps its file, and nobody else changes it here"
        )]
        // SAFETY: see the reason.
        let env = unsafe { EnvOpenOptions::new().open(directory) }.unwrap();
        let database = env
            .open_databases_and_commit(env.read_txn().unwrap(), |opener, transaction| {
                opener
                    .open_database::<Bytes, Bytes>(transaction, None)
                    .map(CommitOrAbort::<_, ()>::Commit)
            })
            .unwrap()
            .unwrap_commit()
            .unwrap();
        let transaction = env.read_txn().unwrap();
        // Numbers are in the machine's own order of bytes.
        let key = |bytes: &[u8]| match form {
            KeyForm::Integer => {
                let number = u64::from_ne_bytes(bytes.try_into().unwrap());
                number.to_be_bytes().to_vec()
            }
            KeyForm::Text => bytes.to_vec(),
        };
        let items = database.iter(&transaction).unwrap().map(Result::unwrap);
        items.map(|(k, v)| (key(k), v.to_vec())).collect()
    });
}

#[test]
fn what_was_stored_is_read_by_fjall_itself() {
    let combinations = ["", "key=text,compression=none,separation=on"];
    read_by("fjall", &combinations, |directory, _| {
        let database = fjall::Database::builder(directory.join("db"))
            .open()
            .unwrap();
        let keyspace = database.keyspace("kv", Default::default).unwrap();
        let items = keyspace.iter().map(|item| item.into_inner().unwrap());
        items.map(|(k, v)| (k.to_vec(), v.to_vec())).collect()
    });
}

/// An engine whose table has one value too many, and a combination of settings that is refused.
#[test]
fn what_is_wrong_is_told() {
    let directory = crate::place::in_memory();
    let (redb, path) = (kind("redb"), directory.path());
    let wrong = suite::read_by_the_engine_itself(redb, &["key=text"], path, |_, _| {
        vec![(vec![1], vec![2])]
    });
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(wrong[0].contains("[(1, 1)]"), "{wrong:?}");
    let refused = ["durability=none,two_phase=on"];
    let wrong = suite::behaviour(redb, &refused, path);
    assert!(wrong[0].contains("two_phase"), "{wrong:?}");
}
