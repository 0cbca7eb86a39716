use super::*;
use crate::testing::{created, message, read, settings, with_session};

/// A store of the keys 1 and 2, closed.
fn built() -> tempfile::TempDir {
    let (directory, store) = created(KIND, &[]);
    let mut session = store.connect().unwrap();
    session.insert(Key(1), &[1; 5000]).unwrap();
    session.insert(Key(2), &[2; 5000]).unwrap();
    session.close().unwrap();
    directory
}

fn opened(directory: &Path, read: &str) -> Result<Box<dyn Store>> {
    KIND.open(directory, &settings(KIND, &[("read", read)]))
}

#[test]
fn a_file_that_was_shortened_is_refused_when_opened_and_told_when_read() {
    let directory = built();
    let store = opened(directory.path(), "pread").unwrap();
    let values = File::options()
        .write(true)
        .open(directory.path().join(VALUES_FILE));
    values.unwrap().set_len(6000).unwrap();
    let mut session = store.connect().unwrap();
    assert_eq!(read(&mut *session, 1).unwrap().unwrap(), [1; 5000]);
    let error = message(read(&mut *session, 2));
    assert!(error.contains("1000 of its 5000"), "{error}");
    let error = message(opened(directory.path(), "mmap"));
    assert!(error.contains("6000 bytes"), "{error}");
}

#[test]
fn a_mapping_follows_a_file_that_grows() {
    let directory = built();
    let store = opened(directory.path(), "mmap").unwrap();
    let mut session = store.connect().unwrap();
    session.insert(Key(3), &[3; 9000]).unwrap();
    let mut lent = Vec::new();
    session
        .read_in_place(Key(3), &mut |value| lent = value.to_vec())
        .unwrap();
    assert_eq!(lent, [3; 9000]);
}

#[test]
fn an_empty_value_at_the_end_of_the_file_is_a_value() {
    for way in ["pread", "mmap"] {
        with_session(KIND, &[("read", way)], |_, session| {
            session.insert(Key(1), b"").unwrap();
            assert_eq!(read(session, 1).unwrap().unwrap(), b"", "{way}");
        });
    }
}

#[test]
fn a_deleted_value_leaves_its_key_in_the_file_and_is_gone_when_it_is_opened_again() {
    let directory = built();
    let bytes = || File::open(directory.path().join(VALUES_FILE)).unwrap();
    let store = opened(directory.path(), "pread").unwrap();
    let mut session = store.connect().unwrap();
    assert!(session.delete(Key(2)).unwrap());
    assert!(!session.delete(Key(2)).unwrap());
    let mut mark = [0; 8];
    bytes().read_exact_at(&mut mark, 10_000).unwrap();
    assert_eq!(bytes().metadata().unwrap().len(), 10_008);
    assert_eq!(u64::from_le_bytes(mark), 2);
    session.close().unwrap();
    drop(store);
    let store = opened(directory.path(), "pread").unwrap();
    let mut session = store.connect().unwrap();
    assert_eq!(read(&mut *session, 1).unwrap().unwrap(), [1; 5000]);
    assert_eq!(read(&mut *session, 2).unwrap(), None);
}

#[test]
fn what_is_synced_lies_in_blocks_that_the_file_has_and_nothing_is_lost_by_that() {
    let given = [("read", "mmap"), ("sync", "commit")];
    let (directory, store) = created(KIND, &given);
    let value = |key: u64| vec![u8::try_from(key % 251).unwrap(); 10_000];
    // Some have room, some begin where room is made, and one is larger than any room.
    let large = vec![7; 3 << 20];
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (store, large) = (&store, &large);
            scope.spawn(move || {
                let mut session = store.connect().unwrap();
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
    let store = KIND
        .open(directory.path(), &settings(KIND, &given))
        .unwrap();
    let mut session = store.connect().unwrap();
    let mut held = |key| read(&mut *session, key).unwrap().unwrap();
    for thread in 0..4 {
        for key in (0..40).map(|n| 100 * thread + n) {
            assert_eq!(held(key), value(key), "{key}");
        }
        assert_eq!(held(100 * thread + 99), large);
    }
}
