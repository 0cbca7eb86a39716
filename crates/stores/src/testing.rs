//! What the tests of several stores do.

use crate::{Buffer, Found, Key, Kind, Result, Session, Store};
use std::collections::BTreeMap;
use std::path::Path;
use stowplan_model::Settings;

/// Every setting of a kind, some of them as given.
pub(crate) fn settings(kind: &Kind, given: &[(&str, &str)]) -> Settings {
    let given = given
        .iter()
        .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
    let given: BTreeMap<String, String> = given.collect();
    Settings::resolve(kind.settings(), &given).unwrap()
}

/// A new store in a directory that lives as long.
pub(crate) fn created(kind: &Kind, given: &[(&str, &str)]) -> (tempfile::TempDir, Box<dyn Store>) {
    let directory = tempfile::tempdir().unwrap();
    let store = kind.create(directory.path(), &settings(kind, given));
    (directory, store.unwrap())
}

/// Runs `test` in a session of a new store, which is empty, and tells its directory.
pub(crate) fn with_session(
    kind: &Kind,
    given: &[(&str, &str)],
    test: impl FnOnce(&Path, &mut dyn Session),
) {
    let (directory, store) = created(kind, given);
    test(directory.path(), &mut *store.connect().unwrap());
}

/// Adds the keys 1 to 3, each with 5,000 bytes of its number.
pub(crate) fn fill(session: &mut dyn Session) {
    for key in 1..=3 {
        session.insert(Key(key), &[key as u8; 5000]).unwrap();
    }
}

/// What a key has, if it is there.
pub(crate) fn read(session: &mut dyn Session, key: u64) -> Result<Option<Vec<u8>>> {
    let mut buffer = Buffer::with_capacity(5000)?;
    Ok(match session.read_into(Key(key), &mut buffer)? {
        Found::Bytes(_) => Some(buffer.bytes().to_vec()),
        Found::Missing => None,
    })
}

/// What is said of what was refused, which is one line.
pub(crate) fn message<T>(refused: Result<T>) -> String {
    let message = refused.err().unwrap().to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}
