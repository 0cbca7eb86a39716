use super::*;
use crate::{Buffer, Found};
use stowplan_model::Value;

fn settings(read: &str) -> Settings {
    let mut settings = Settings::default();
    settings.set("read", Value::Word(read.to_owned()));
    settings
}

/// A store of the keys 1 and 2, closed.
fn built(directory: &Path) {
    let store = Flat.create(directory, &settings("pread")).unwrap();
    let mut connection = store.connect().unwrap();
    let mut session = connection.session().unwrap();
    session.insert(Key(1), &[1; 5000]).unwrap();
    session.insert(Key(2), &[2; 5000]).unwrap();
    drop(session);
    connection.close().unwrap();
}

#[test]
fn a_file_that_was_shortened_is_refused_when_opened_and_told_when_read() {
    let directory = tempfile::tempdir().unwrap();
    built(directory.path());
    let store = Flat.open(directory.path(), &settings("pread")).unwrap();
    let values = File::options()
        .write(true)
        .open(directory.path().join(VALUES_FILE));
    values.unwrap().set_len(6000).unwrap();
    let mut connection = store.connect().unwrap();
    let mut session = connection.session().unwrap();
    let mut buffer = Buffer::with_capacity(16).unwrap();
    let found = session.read_into(Key(1), &mut buffer).unwrap();
    assert_eq!(found, Found::Bytes(5000));
    let error = session.read_into(Key(2), &mut buffer).unwrap_err();
    assert!(error.to_string().contains("1000 of its 5000"), "{error}");
    let error = Flat
        .open(directory.path(), &settings("mmap"))
        .err()
        .unwrap();
    assert!(error.to_string().contains("6000 bytes"), "{error}");
}

#[test]
fn a_mapping_follows_a_file_that_grows() {
    let directory = tempfile::tempdir().unwrap();
    built(directory.path());
    let store = Flat.open(directory.path(), &settings("mmap")).unwrap();
    let mut connection = store.connect().unwrap();
    let mut session = connection.session().unwrap();
    session.insert(Key(3), &[3; 9000]).unwrap();
    let mut lent = Vec::new();
    session
        .read_in_place(Key(3), &mut |value| lent = value.to_vec())
        .unwrap();
    assert_eq!(lent, [3; 9000]);
}

#[test]
fn an_empty_value_at_the_end_of_the_file_is_a_value() {
    for read in ["pread", "mmap"] {
        let directory = tempfile::tempdir().unwrap();
        let store = Flat.create(directory.path(), &settings(read)).unwrap();
        let mut connection = store.connect().unwrap();
        let mut session = connection.session().unwrap();
        session.insert(Key(1), b"").unwrap();
        let mut buffer = Buffer::with_capacity(16).unwrap();
        let found = session.read_into(Key(1), &mut buffer).unwrap();
        assert_eq!(found, Found::Bytes(0), "{read}");
    }
}
