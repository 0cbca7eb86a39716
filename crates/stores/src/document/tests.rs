use super::*;
use crate::{Access, Key, Store, registry, suite};
use std::fs;
use std::path::Path;

fn open(spec: &str, directory: &Path, new: bool) -> crate::Result<Box<dyn Store>> {
    let resolved = registry::resolve(&spec.parse().unwrap(), 0).unwrap();
    match new {
        true => resolved.kind.create(directory, &resolved.settings),
        false => resolved.kind.open(directory, &resolved.settings),
    }
}

fn put(store: &dyn Store, key: u64, value: &[u8]) -> crate::Result<()> {
    let mut connection = store.connect()?;
    let put = connection.session()?.insert(Key(key), value);
    connection.close().and(put)
}

#[test]
fn it_behaves_as_every_engine_with_transactions_does() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = suite::behaviour(KIND, &["", "format=binary"], directory.path());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn claims_are_those_of_a_temporary_file_that_is_renamed() {
    let claim = |fsync: &str| {
        let spec = format!("document:fsync={fsync}").parse().unwrap();
        let resolved = registry::resolve(&spec, 0).unwrap();
        resolved.capabilities.durability.to_string()
    };
    assert_eq!(claim("off"), "process-crash, atomic");
    assert_eq!(claim("file"), "consistent, atomic");
    assert_eq!(claim("directory"), "durable, atomic");
}

#[test]
fn the_document_is_what_any_program_reads() {
    let directory = tempfile::tempdir().unwrap();
    let store = open("document", directory.path(), true).unwrap();
    put(&*store, 7, b"a value").unwrap();
    let text = fs::read_to_string(directory.path().join("document/values")).unwrap();
    assert_eq!(text, r#"{"7":"a value"}"#);
}

#[test]
fn a_document_of_the_other_format_is_refused_with_its_path() {
    for (made, opened) in [("json", "binary"), ("binary", "json")] {
        let directory = tempfile::tempdir().unwrap();
        let spec = |format: &str| format!("document:format={format}");
        drop(open(&spec(made), directory.path(), true).unwrap());
        let error = open(&spec(opened), directory.path(), false).err().unwrap();
        assert!(error.to_string().contains("document/values"), "{error}");
    }
}

#[test]
fn a_commit_that_cannot_be_written_changes_nothing_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let store = open("document", directory.path(), true).unwrap();
    put(&*store, 1, b"first").unwrap();
    // A directory is where the new document would go.
    let temporary = directory.path().join("document/values.new");
    fs::create_dir(&temporary).unwrap();
    let error = put(&*store, 2, b"second").unwrap_err().to_string();
    assert!(error.contains("values.new"), "{error}");
    fs::remove_dir(&temporary).unwrap();
    let mut connection = store.connect().unwrap();
    let mut session = connection.session().unwrap();
    let mut keys = Vec::new();
    let mut visit = |key: Key, _: &[u8]| keys.push(key.0);
    session.scan(Key(0), 9, &mut visit).unwrap();
    assert_eq!(keys, [1]);
}

#[test]
fn what_is_left_of_a_transaction_that_is_dropped_is_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let store = open("document", directory.path(), true).unwrap();
    put(&*store, 1, b"first").unwrap();
    let mut connection = store.connect().unwrap();
    let mut session = connection.session().unwrap();
    session.begin(Access::Write).unwrap();
    session.overwrite(Key(1), b"other").unwrap();
    session.delete(Key(1)).unwrap();
    drop(session);
    let mut session = connection.session().unwrap();
    let mut shown = Vec::new();
    let mut visit = |value: &[u8]| shown = value.to_vec();
    session.read_in_place(Key(1), &mut visit).unwrap();
    assert_eq!(shown, b"first");
}
