//! The conformance suite with each setting in turn, and what the engine itself finds in a store.
//!
//! Sync calls are counted for the whole process, so one test runs after the other: all that sync
//! are steps of one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use canopydb::Environment;
use std::path::Path;
use std::sync::Once;
use stowplan_stores::registry::{self, Resolved};
use stowplan_stores::{
    Access, Buffer, Found, Key, KeyForm, SYNC_CALLS_COUNTED, Session, Store, conformance,
};

const NAME: &str = "canopydb";

fn resolved(spec: &str) -> Resolved {
    static REGISTER: Once = Once::new();
    REGISTER.call_once(|| registry::register(vec![stowplan_canopydb::KIND], Vec::new()));
    registry::resolve(&spec.parse().unwrap(), 4 << 20).unwrap()
}

fn create(spec: &str, directory: &Path) -> Box<dyn Store> {
    let resolved = resolved(spec);
    resolved.kind.create(directory, &resolved.settings).unwrap()
}

#[test]
fn it_conforms_with_every_setting_and_syncs_as_often_as_declared() {
    let mut wrong = Vec::new();
    let pairs = [
        "key=text,sync=on",
        "wal=off,checkpoint=1MiB",
        "compression=none,sync=on",
    ];
    let pairs = pairs.map(|pair| format!("{NAME}:{pair}"));
    let each = conformance::each_setting(resolved(NAME).kind);
    for spec in each.iter().map(ToString::to_string).chain(pairs) {
        let Resolved {
            kind,
            settings,
            capabilities,
        } = resolved(&spec);
        let directory = tempfile::tempdir().unwrap();
        let failures = conformance::check(kind, &settings, directory.path());
        wrong.extend(failures.iter().map(|failure| format!("{spec}: {failure}")));
        let declared = u64::from(capabilities.syncs_per_commit);
        let directory = tempfile::tempdir().unwrap();
        let fewest = conformance::fewest_syncs(kind, &settings, directory.path()).unwrap();
        if SYNC_CALLS_COUNTED && declared != fewest {
            wrong.push(format!("{spec}: {declared} syncs declared, {fewest} seen"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn fill(session: &mut dyn Session) {
    session.insert(Key(1), &[7; 5000]).unwrap();
    session.insert(Key(2), b"two").unwrap();
    session.overwrite(Key(2), b"second").unwrap();
    session.insert(Key(3), b"gone").unwrap();
    session.delete(Key(3)).unwrap();
}

fn fill_and_close(store: &dyn Store) {
    let mut connection = store.connect().unwrap();
    fill(&mut *connection.session().unwrap());
    connection.close().unwrap();
}

fn read(session: &mut dyn Session, key: u64) -> Option<Vec<u8>> {
    let mut buffer = Buffer::with_capacity(8).unwrap();
    let found = session.read_into(Key(key), &mut buffer).unwrap();
    (found != Found::Missing).then(|| buffer.bytes().to_vec())
}

#[test]
fn what_was_stored_is_read_by_canopydb_itself() {
    for (spec, form) in [
        ("canopydb", KeyForm::Integer),
        ("canopydb:key=text,sync=on", KeyForm::Text),
        ("canopydb:wal=off,compression=none", KeyForm::Integer),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let store = create(spec, directory.path());
        fill_and_close(&*store);
        let environment = Environment::new(directory.path().join("db")).unwrap();
        let database = environment.get_database("kv").unwrap().unwrap();
        let reading = database.begin_read().unwrap();
        let tree = reading.get_tree(b"kv").unwrap().unwrap();
        let get = |key| tree.get(form.bytes(Key(key)).as_ref()).unwrap();
        assert_eq!(get(1).unwrap().as_ref(), [7; 5000], "{spec}");
        assert_eq!(get(2).unwrap().as_ref(), b"second", "{spec}");
        assert!(get(3).is_none(), "{spec}");
        assert_eq!(tree.len(), 2, "{spec}");
    }
}

#[test]
fn a_sync_of_a_log_that_is_not_there_is_refused() {
    let spec = "canopydb:sync=on,wal=off".parse().unwrap();
    resolved(NAME);
    let error = registry::resolve(&spec, 4 << 20).unwrap_err().to_string();
    assert!(error.contains("use wal=on"), "{error}");
}

/// canopydb reserves room for the values as they are and keeps it, until its file is compacted.
#[test]
fn compressed_values_are_read_back_and_take_less_room_once_compacted() {
    let bytes = ["lz4", "none"].map(|compression| {
        let spec = format!("canopydb:compression={compression}");
        let directory = tempfile::tempdir().unwrap();
        let store = create(&spec, directory.path());
        let mut connection = store.connect().unwrap();
        let mut session = connection.session().unwrap();
        for key in 0..40 {
            session.insert(Key(key), &[1; 100_000]).unwrap();
        }
        drop(session);
        connection.close().unwrap();
        store.checkpoint().unwrap();
        drop(store);
        {
            let environment = Environment::new(directory.path().join("db")).unwrap();
            let database = environment.get_database("kv").unwrap().unwrap();
            database.compact().unwrap();
        }
        let Resolved { kind, settings, .. } = resolved(&spec);
        let store = kind.open(directory.path(), &settings).unwrap();
        let mut connection = store.connect().unwrap();
        let mut session = connection.session().unwrap();
        assert!((0..40).all(|key| read(&mut *session, key).unwrap() == [1; 100_000]));
        store.footprint().unwrap().allocated_bytes
    });
    assert!(2 * bytes[0] < bytes[1], "{bytes:?}");
}

#[test]
fn a_table_can_be_dropped_and_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let store = create(NAME, directory.path());
    let mut connection = store.connect().unwrap();
    let mut session = connection.session().unwrap();
    fill(&mut *session);
    session.drop_table().unwrap();
    let error = session.insert(Key(1), b"one").unwrap_err().to_string();
    assert!(error.contains("create it first"), "{error}");
    assert!(session.drop_table().is_err());
    session.create_table().unwrap();
    assert_eq!(session.overwrite(Key(1), b"one").unwrap(), Found::Missing);
    fill(&mut *session);
}

#[test]
fn a_transaction_for_reading_sees_the_state_in_which_it_began() {
    let directory = tempfile::tempdir().unwrap();
    let store = create(NAME, directory.path());
    let (mut reader, mut writer) = (store.connect().unwrap(), store.connect().unwrap());
    let (mut reader, mut writer) = (reader.session().unwrap(), writer.session().unwrap());
    fill(&mut *writer);
    reader.begin(Access::Read).unwrap();
    writer.overwrite(Key(2), b"new").unwrap();
    writer.delete(Key(1)).unwrap();
    writer.insert(Key(4), b"later").unwrap();
    assert_eq!(read(&mut *reader, 2).unwrap(), b"second");
    assert_eq!(read(&mut *reader, 1).unwrap(), [7; 5000]);
    assert_eq!(read(&mut *reader, 4), None);
    let mut seen = Vec::new();
    let mut show = |key: Key, value: &[u8]| seen.push((key.0, value.len()));
    reader.scan(Key(0), 9, &mut show).unwrap();
    assert_eq!(seen, [(1, 5000), (2, 6)]);
    assert!(reader.insert(Key(5), b"").is_err());
    reader.commit().unwrap();
    assert_eq!(read(&mut *reader, 2).unwrap(), b"new");
    assert_eq!(read(&mut *reader, 1), None);
}

#[test]
fn a_transaction_that_writes_reads_and_scans_its_own_changes() {
    let directory = tempfile::tempdir().unwrap();
    let store = create(NAME, directory.path());
    let mut connection = store.connect().unwrap();
    let mut session = connection.session().unwrap();
    fill(&mut *session);
    session.begin(Access::Write).unwrap();
    session.delete(Key(1)).unwrap();
    session.insert(Key(1), b"again").unwrap();
    session.delete(Key(2)).unwrap();
    session.insert(Key(4), b"four").unwrap();
    assert!(session.insert(Key(4), b"twice").is_err());
    let mut seen = Vec::new();
    let mut show = |key: Key, value: &[u8]| seen.push((key.0, value.to_vec()));
    session.scan(Key(1), 9, &mut show).unwrap();
    assert_eq!(seen, [(1, b"again".to_vec()), (4, b"four".to_vec())]);
    session.commit().unwrap();
    assert_eq!(read(&mut *session, 1).unwrap(), b"again");
    assert_eq!(read(&mut *session, 2), None);
}
