use super::*;
use crate::testing::{created, message, settings};
use crate::{Key, Store, registry, suite};
use std::fs;

fn put(store: &dyn Store, key: u64, value: &[u8]) -> crate::Result<()> {
    let mut connection = store.connect()?;
    let put = connection.insert(Key(key), value);
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
    let (directory, store) = created(KIND, &[]);
    put(&*store, 7, b"a value").unwrap();
    let text = fs::read_to_string(directory.path().join("document/values")).unwrap();
    assert_eq!(text, r#"{"7":"a value"}"#);
}

#[test]
fn a_document_of_the_other_format_is_refused_with_its_path() {
    for (made, opened) in [("json", "binary"), ("binary", "json")] {
        let (directory, store) = created(KIND, &[("format", made)]);
        drop(store);
        let other = settings(KIND, &[("format", opened)]);
        let error = message(KIND.open(directory.path(), &other));
        assert!(error.contains("document/values"), "{error}");
    }
}

#[test]
fn a_commit_that_cannot_be_written_changes_nothing_and_leaves_nothing() {
    let (directory, store) = created(KIND, &[]);
    put(&*store, 1, b"first").unwrap();
    // A directory is where the new document would go.
    let temporary = directory.path().join("document/values.new");
    fs::create_dir(&temporary).unwrap();
    let error = put(&*store, 2, b"second").unwrap_err().to_string();
    assert!(error.contains("values.new"), "{error}");
    fs::remove_dir(&temporary).unwrap();
    let mut session = store.connect().unwrap();
    let mut keys = Vec::new();
    let mut visit = |key: Key, _: &[u8]| keys.push(key.0);
    session.scan(Key(0), 9, &mut visit).unwrap();
    assert_eq!(keys, [1]);
}
