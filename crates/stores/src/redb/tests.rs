use super::*;
use crate::testing::{created, message, read, settings};
use crate::{Key, Store};
use std::fs;
use std::path::Path;

fn found(store: &dyn Store, key: u64) -> bool {
    let mut session = store.connect().unwrap();
    read(&mut *session, key).unwrap().is_some()
}

/// What a crash at this moment would leave: redb is asked nothing.
fn found_after_a_crash(directory: &Path, key: u64) -> bool {
    let left = tempfile::tempdir().unwrap();
    fs::copy(directory.join(DATABASE), left.path().join(DATABASE)).unwrap();
    let store = KIND.open(left.path(), &settings(KIND, &[])).unwrap();
    found(&*store, key)
}

#[test]
fn a_durable_commit_is_on_disk_at_once_and_any_other_by_a_checkpoint_or_by_closing() {
    let (directory, store) = created(KIND, &[]);
    let mut session = store.connect().unwrap();
    session.insert(Key(1), &[1; 100]).unwrap();
    assert!(found_after_a_crash(directory.path(), 1));
    let (directory, store) = created(KIND, &[("durability", "none")]);
    let mut connection = store.connect().unwrap();
    {
        let session = &mut *connection;
        session.insert(Key(1), &[1; 100]).unwrap();
        assert!(!found_after_a_crash(directory.path(), 1));
        store.checkpoint().unwrap();
        assert!(found_after_a_crash(directory.path(), 1));
        session.insert(Key(2), &[2; 100]).unwrap();
        assert!(!found_after_a_crash(directory.path(), 2));
    }
    connection.close().unwrap();
    store.close().unwrap();
    assert!(found_after_a_crash(directory.path(), 2));
}

#[test]
fn keys_of_another_form_are_refused_by_name() {
    for (kept, asked) in [("text", "integer"), ("integer", "text")] {
        let (directory, store) = created(KIND, &[("key", kept)]);
        drop(store);
        let asked = settings(KIND, &[("key", asked)]);
        let message = message(KIND.open(directory.path(), &asked));
        assert!(message.contains(&format!("key={kept}")), "{message}");
    }
}

#[test]
fn nothing_is_made_where_something_is_and_nothing_opened_where_nothing_is() {
    let directory = tempfile::tempdir().unwrap();
    let text = message(KIND.open(directory.path(), &settings(KIND, &[])));
    assert!(text.contains(DATABASE), "{text}");
    fs::write(directory.path().join(DATABASE), b"something").unwrap();
    let text = message(KIND.create(directory.path(), &settings(KIND, &[])));
    assert!(text.contains(DATABASE), "{text}");
    let text = message(KIND.open(directory.path(), &settings(KIND, &[])));
    assert!(text.contains(DATABASE), "{text}");
}

#[test]
fn what_is_not_written_is_not_committed_in_two_phases() {
    let settings = settings(KIND, &[("durability", "none"), ("quick_repair", "on")]);
    let message = message(KIND.capabilities(&settings));
    assert!(message.contains("quick_repair off"), "{message}");
}

#[test]
fn the_version_that_is_told_is_the_one_that_is_built() {
    let asked = format!("redb = \"={ENGINE_VERSION}\"");
    assert!(include_str!("../../Cargo.toml").contains(&asked));
}
