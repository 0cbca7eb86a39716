use super::*;
use crate::{Access, Buffer, Found, Key, Result, Store};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use stowplan_model::Settings;

fn settings(given: &[(&str, &str)]) -> Settings {
    let given: BTreeMap<String, String> = given
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Settings::resolve(KIND.settings(), &given).unwrap()
}

fn found(store: &dyn Store, key: u64) -> Found {
    let mut connection = store.connect().unwrap();
    let mut buffer = Buffer::with_capacity(16).unwrap();
    let mut session = connection.session().unwrap();
    session.read_into(Key(key), &mut buffer).unwrap()
}

/// What a crash at this moment would leave: redb is asked nothing.
fn found_after_a_crash(directory: &Path, key: u64) -> Found {
    let left = tempfile::tempdir().unwrap();
    fs::copy(directory.join(DATABASE), left.path().join(DATABASE)).unwrap();
    let store = KIND.open(left.path(), &settings(&[])).unwrap();
    found(&*store, key)
}

#[test]
fn what_is_not_durable_reaches_the_disk_by_a_checkpoint_or_by_closing() {
    let directory = tempfile::tempdir().unwrap();
    let settings = settings(&[("durability", "none")]);
    let store = KIND.create(directory.path(), &settings).unwrap();
    let mut connection = store.connect().unwrap();
    {
        let mut session = connection.session().unwrap();
        session.insert(Key(1), &[1; 100]).unwrap();
        assert_eq!(found_after_a_crash(directory.path(), 1), Found::Missing);
        store.checkpoint().unwrap();
        assert_eq!(found_after_a_crash(directory.path(), 1), Found::Bytes(100));
        session.insert(Key(2), &[2; 100]).unwrap();
        assert_eq!(found_after_a_crash(directory.path(), 2), Found::Missing);
    }
    connection.close().unwrap();
    assert_eq!(found_after_a_crash(directory.path(), 2), Found::Bytes(100));
    store.checkpoint().unwrap();
}

#[test]
fn a_durable_commit_is_on_disk_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let store = KIND.create(directory.path(), &settings(&[])).unwrap();
    let mut connection = store.connect().unwrap();
    let mut session = connection.session().unwrap();
    session.insert(Key(1), &[1; 100]).unwrap();
    assert_eq!(found_after_a_crash(directory.path(), 1), Found::Bytes(100));
}

#[test]
fn a_transaction_that_was_left_open_is_undone_and_keeps_nobody_waiting() {
    let directory = tempfile::tempdir().unwrap();
    let store = KIND.create(directory.path(), &settings(&[])).unwrap();
    let mut connection = store.connect().unwrap();
    for _ in 0..2 {
        let mut session = connection.session().unwrap();
        session.begin(Access::Write).unwrap();
        session.insert(Key(1), b"left").unwrap();
    }
    connection.close().unwrap();
    assert_eq!(found(&*store, 1), Found::Missing);
}

#[test]
fn keys_of_another_form_are_refused_by_name() {
    for (kept, asked) in [("text", "integer"), ("integer", "text")] {
        let directory = tempfile::tempdir().unwrap();
        drop(KIND.create(directory.path(), &settings(&[("key", kept)])));
        let opened = KIND.open(directory.path(), &settings(&[("key", asked)]));
        let message = opened.err().unwrap().to_string();
        assert!(message.contains(&format!("key={kept}")), "{message}");
    }
}

#[test]
fn nothing_is_made_where_something_is_and_nothing_opened_where_nothing_is() {
    let directory = tempfile::tempdir().unwrap();
    let message = |opened: Result<Box<dyn Store>>| opened.err().unwrap().to_string();
    let text = message(KIND.open(directory.path(), &settings(&[])));
    assert!(text.contains(DATABASE), "{text}");
    fs::write(directory.path().join(DATABASE), b"something").unwrap();
    let text = message(KIND.create(directory.path(), &settings(&[])));
    assert!(text.contains(DATABASE), "{text}");
    let text = message(KIND.open(directory.path(), &settings(&[])));
    assert!(text.contains(DATABASE) && !text.contains('\n'), "{text}");
}

#[test]
fn what_is_not_written_is_not_committed_in_two_phases() {
    let settings = settings(&[("durability", "none"), ("quick_repair", "on")]);
    let message = KIND.capabilities(&settings).unwrap_err().to_string();
    assert!(message.contains("quick_repair off"), "{message}");
}

#[test]
fn the_version_that_is_told_is_the_one_that_is_built() {
    let asked = format!("redb = \"={ENGINE_VERSION}\"");
    assert!(include_str!("../../Cargo.toml").contains(&asked));
}
