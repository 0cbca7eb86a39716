use super::*;
use crate::testing::{created, message, read, settings, with_session};
use crate::{Access, Key};
use std::fs;

#[test]
fn a_full_map_is_an_error_that_says_so_and_harms_nothing() {
    for write_map in ["off", "on"] {
        let given = [
            ("map_size", "64MiB"),
            ("write_map", write_map),
            ("sync", "none"),
        ];
        with_session(KIND, &given, |_, session| {
            let value = vec![1; 10 << 20];
            session.insert(Key(1), &value).unwrap();
            session.begin(Access::Write).unwrap();
            let full = (2..100).try_for_each(|key| session.insert(Key(key), &value));
            let message = message(full);
            assert!(message.contains("larger map_size"), "{message}");
            session.rollback().unwrap();
            session.overwrite(Key(1), &value[1..]).unwrap();
            assert!(read(session, 1).unwrap().unwrap() == value[1..]);
        });
    }
}

#[test]
fn the_hole_behind_a_writable_map_is_not_counted_and_not_left() {
    let (directory, store) = created(KIND, &[("write_map", "on"), ("sync", "none")]);
    let mut connection = store.connect().unwrap();
    connection.insert(Key(1), &[1; 100_000]).unwrap();
    let length = || fs::metadata(directory.path().join(DATA)).unwrap().len();
    let plausible = 100_000..1_000_000;
    assert_eq!(length(), 64 << 30);
    let footprint = store.footprint().unwrap();
    assert!(
        plausible.contains(&footprint.apparent_bytes),
        "{footprint:?}"
    );
    connection.close().unwrap();
    store.close().unwrap();
    assert!(plausible.contains(&length()), "{}", length());
}

/// Pages that are mapped stay in the page cache, whatever it is told.
#[test]
fn the_file_is_mapped_from_the_first_session_to_the_end_of_the_store() {
    let (directory, store) = created(KIND, &[]);
    drop(store);
    let store = KIND.open(directory.path(), &settings(KIND, &[])).unwrap();
    let path = fs::canonicalize(directory.path()).unwrap().join(DATA);
    let mapped = || {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        maps.contains(path.to_str().unwrap())
    };
    assert!(!mapped());
    let connection = store.connect().unwrap();
    assert!(mapped());
    connection.close().unwrap();
    store.close().unwrap();
    assert!(!mapped());
}

#[test]
fn a_database_is_not_dropped_beside_another_connection() {
    let (_directory, store) = created(KIND, &[("database", "named")]);
    let (mut one, two) = (store.connect().unwrap(), store.connect().unwrap());
    let refused = message(one.drop_table());
    assert!(refused.contains("another session"), "{refused}");
    two.close().unwrap();
    let mut session = one;
    session.drop_table().unwrap();
    let refused = message(session.insert(Key(1), b"value"));
    assert!(refused.contains("dropped"), "{refused}");
    session.create_table().unwrap();
    session.insert(Key(1), b"value").unwrap();
}

#[test]
fn settings_and_places_that_do_not_go_are_refused_by_name() {
    let refused = message(KIND.capabilities(&settings(KIND, &[("sync", "map-async")])));
    assert!(refused.contains("write_map=on"), "{refused}");
    let directory = tempfile::tempdir().unwrap();
    let refused = message(KIND.open(directory.path(), &settings(KIND, &[])));
    assert!(refused.contains(DATA), "{refused}");
    assert!(!directory.path().join(DATA).exists());
    fs::write(directory.path().join(DATA), [7; 10_000]).unwrap();
    let refused = message(KIND.create(directory.path(), &settings(KIND, &[])));
    assert!(refused.contains(DATA), "{refused}");
    let refused = message(KIND.open(directory.path(), &settings(KIND, &[])));
    assert!(refused.contains("not an LMDB database"), "{refused}");
}
