use super::*;
use crate::Key;
use crate::options::StoreOptions as _;
use crate::testing::{created, read, settings};
use options::{ENGINE_VERSION, Options};

#[test]
fn the_version_that_is_named_is_the_one_that_is_built_in() {
    let manifest = include_str!("../../Cargo.toml");
    assert!(manifest.contains(&format!("fjall = \"={ENGINE_VERSION}\"")));
}

#[test]
fn a_keyspace_can_be_dropped_and_made_again_and_its_files_go_with_it() {
    let (directory, store) = created(KIND, &[]);
    let mut session = store.connect().unwrap();
    session.insert(Key(1), b"one").unwrap();
    let keyspaces = directory.path().join("db/keyspaces");
    let before = std::fs::read_dir(&keyspaces).unwrap().count();
    session.drop_table().unwrap();
    let after = std::fs::read_dir(&keyspaces).unwrap().count();
    assert_eq!(after + 1, before);
    let error = session.insert(Key(1), b"one").unwrap_err().to_string();
    assert!(error.contains("create it first"), "{error}");
    assert!(session.drop_table().is_err());
    session.create_table().unwrap();
    assert_eq!(read(&mut *session, 1).unwrap(), None);
    session.insert(Key(1), b"new").unwrap();
}

#[test]
fn the_empty_journal_of_a_new_store_takes_no_room() {
    let (_directory, store) = created(KIND, &[]);
    let bytes = store.footprint().unwrap().apparent_bytes;
    assert!(bytes < 100_000, "{bytes}");
}

/// Tables of the first level are merged by compactions, which fjall queues after each flush.
#[test]
fn after_a_checkpoint_no_compaction_is_left() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options::from_settings(&settings(KIND, &[])).unwrap();
    let database = Database::open_or_make(directory.path(), &options).unwrap();
    let keyspace = database.make_keyspace(&options).unwrap();
    for round in 0..12_u8 {
        for key in 0..200_u64 {
            let key = key.to_be_bytes();
            keyspace.inner().insert(key, [round; 1000]).unwrap();
        }
        database.settle(&keyspace).unwrap();
        let ended = database.0.inner().compactions_completed();
        let tables = keyspace.inner().table_count();
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert_eq!(database.0.inner().compactions_completed(), ended, "{round}");
        assert_eq!(keyspace.inner().table_count(), tables, "{round}");
        assert_eq!(keyspace.inner().sealed_memtable_count(), 0, "{round}");
    }
}

/// Seeing that nothing more comes takes a while, which is no work of the store.
#[test]
fn what_is_only_watched_after_the_last_activity_is_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options::from_settings(&settings(KIND, &[])).unwrap();
    let database = Database::open_or_make(directory.path(), &options).unwrap();
    let keyspace = database.make_keyspace(&options).unwrap();
    let (before, began) = (crate::watched(), std::time::Instant::now());
    database.settle(&keyspace).unwrap();
    let (took, watched) = (began.elapsed(), crate::watched() - before);
    // Other tests of this process may watch meanwhile.
    assert!(watched >= super::engine::POLL * (super::engine::QUIET_POLLS - 1));
    assert!(took >= super::engine::POLL * super::engine::QUIET_POLLS);
}
