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
    let store = KIND.create(directory, &settings("pread")).unwrap();
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
    let store = KIND.open(directory.path(), &settings("pread")).unwrap();
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
    let error = KIND
        .open(directory.path(), &settings("mmap"))
        .err()
        .unwrap();
    assert!(error.to_string().contains("6000 bytes"), "{error}");
}

#[test]
fn a_mapping_follows_a_file_that_grows() {
    let directory = tempfile::tempdir().unwrap();
    built(directory.path());
    let store = KIND.open(directory.path(), &settings("mmap")).unwrap();
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
        let store = KIND.create(directory.path(), &settings(read)).unwrap();
        let mut connection = store.connect().unwrap();
        let mut session = connection.session().unwrap();
        session.insert(Key(1), b"").unwrap();
        let mut buffer = Buffer::with_capacity(16).unwrap();
        let found = session.read_into(Key(1), &mut buffer).unwrap();
        assert_eq!(found, Found::Bytes(0), "{read}");
    }
}

#[test]
fn a_deleted_value_leaves_its_key_in_the_file_and_is_gone_when_it_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    built(directory.path());
    let bytes = || File::open(directory.path().join(VALUES_FILE)).unwrap();
    let store = KIND.open(directory.path(), &settings("pread")).unwrap();
    let mut connection = store.connect().unwrap();
    let mut session = connection.session().unwrap();
    assert!(session.delete(Key(2)).unwrap());
    assert!(!session.delete(Key(2)).unwrap());
    let mut mark = [0; 8];
    bytes().read_exact_at(&mut mark, 10_000).unwrap();
    assert_eq!(bytes().metadata().unwrap().len(), 10_008);
    assert_eq!(u64::from_le_bytes(mark), 2);
    drop(session);
    connection.close().unwrap();
    drop(store);
    let store = KIND.open(directory.path(), &settings("pread")).unwrap();
    let mut connection = store.connect().unwrap();
    let mut session = connection.session().unwrap();
    let mut buffer = Buffer::with_capacity(16).unwrap();
    let mut read = |key| session.read_into(Key(key), &mut buffer).unwrap();
    assert_eq!((read(1), read(2)), (Found::Bytes(5000), Found::Missing));
}

#[test]
fn what_is_synced_lies_in_blocks_that_the_file_has_and_nothing_is_lost_by_that() {
    let directory = tempfile::tempdir().unwrap();
    let mut settings = settings("mmap");
    settings.set("sync", Value::Word("commit".to_owned()));
    let store = KIND.create(directory.path(), &settings).unwrap();
    let value = |key: u64| vec![u8::try_from(key % 251).unwrap(); 10_000];
    // Some have room, some begin where room is made, and one is larger than any room.
    let large = vec![7; 3 << 20];
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (store, large) = (&store, &large);
            scope.spawn(move || {
                let mut connection = store.connect().unwrap();
                let mut session = connection.session().unwrap();
                for key in (0..40).map(|n| 100 * thread + n) {
                    session.insert(Key(key), &value(key)).unwrap();
                }
                session.insert(Key(100 * thread + 99), large).unwrap();
            });
        }
    });
    store.checkpoint().unwrap();
    let path = directory.path().join(VALUES_FILE);
    let length = path.metadata().unwrap().len();
    assert!(length > 4 * (40 * 10_000 + (3 << 20)), "{length}");
    drop(store);
    let store = KIND.open(directory.path(), &settings).unwrap();
    let mut connection = store.connect().unwrap();
    let mut session = connection.session().unwrap();
    let mut buffer = Buffer::with_capacity(16).unwrap();
    for key in (0..4).flat_map(|thread| (0..40).map(move |n| 100 * thread + n)) {
        session.read_into(Key(key), &mut buffer).unwrap();
        assert_eq!(buffer.bytes(), value(key), "{key}");
    }
    for thread in 0..4 {
        session
            .read_into(Key(100 * thread + 99), &mut buffer)
            .unwrap();
        assert_eq!(buffer.bytes(), large);
    }
}
