//! The conformance suite with each setting in turn, and what the engine itself finds in a store.
//!
//! Sync calls are counted for the whole process, so one test runs after the other: all that sync
//! are steps of one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::path::Path;
use std::sync::Once;
use stowplan_stores::registry::{self, Resolved};
use stowplan_stores::{
    Access, Buffer, Found, Key, KeyForm, SYNC_CALLS_COUNTED, Session, Store, conformance,
};

const NAME: &str = "rocksdb";

fn resolved(spec: &str) -> Resolved {
    static REGISTER: Once = Once::new();
    REGISTER.call_once(|| registry::register(vec![stowplan_rocksdb::KIND], Vec::new()));
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
        "sync=on,separation=on",
        "wal=off,separation=on,compression=none",
        "key=text,bloom_bits=10",
        "separation=on,separation_threshold=1",
    ]
    .map(|pair| format!("{NAME}:{pair}"));
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
fn what_was_stored_is_read_by_rocksdb_itself() {
    for (spec, form) in [
        ("rocksdb", KeyForm::Integer),
        ("rocksdb:key=text,separation=on", KeyForm::Text),
        ("rocksdb:wal=off,compression=none", KeyForm::Integer),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let store = create(spec, directory.path());
        fill_and_close(&*store);
        let options = rocksdb::Options::default();
        let path = directory.path().join("db");
        let database = rocksdb::DB::open_cf(&options, path, ["kv"]).unwrap();
        let family = database.cf_handle("kv").unwrap();
        let get = |key| database.get_cf(family, form.bytes(Key(key))).unwrap();
        assert_eq!(get(1).unwrap(), [7; 5000], "{spec}");
        assert_eq!(get(2).unwrap(), b"second", "{spec}");
        assert_eq!(get(3), None, "{spec}");
        let all = database.iterator_cf(family, rocksdb::IteratorMode::Start);
        assert_eq!(all.count(), 2, "{spec}");
    }
}

#[test]
fn of_two_transactions_that_conflict_the_later_one_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let store = create(NAME, directory.path());
    let (mut first, mut second) = (store.connect().unwrap(), store.connect().unwrap());
    let (mut first, mut second) = (first.session().unwrap(), second.session().unwrap());
    fill(&mut *first);
    first.begin(Access::Write).unwrap();
    second.begin(Access::Write).unwrap();
    first.overwrite(Key(1), b"first").unwrap();
    second.overwrite(Key(1), b"second").unwrap();
    first.commit().unwrap();
    let error = second.commit().unwrap_err();
    assert!(error.is_conflict(), "{error}");
    assert_eq!(second.overwrite(Key(1), b"again").unwrap(), Found::Bytes(5));
}

#[test]
fn a_sync_of_a_log_that_is_not_there_is_refused() {
    let spec = "rocksdb:sync=on,wal=off".parse().unwrap();
    resolved(NAME);
    let error = registry::resolve(&spec, 4 << 20).unwrap_err().to_string();
    assert!(error.contains("use wal=on"), "{error}");
}

/// Reads key 1 in some way and writes key 2, while another changes key 1.
fn reads_one_and_writes_two(read: impl Fn(&mut dyn Session) -> Vec<u8>) {
    let directory = tempfile::tempdir().unwrap();
    let store = create(NAME, directory.path());
    let (mut first, mut second) = (store.connect().unwrap(), store.connect().unwrap());
    let (mut first, mut second) = (first.session().unwrap(), second.session().unwrap());
    fill(&mut *first);
    let before = read(&mut *first);
    first.begin(Access::Write).unwrap();
    assert_eq!(read(&mut *first), before);
    second.overwrite(Key(1), b"changed").unwrap();
    assert_eq!(read(&mut *first), before);
    first.overwrite(Key(2), b"from what was read").unwrap();
    let error = first.commit().unwrap_err();
    assert!(error.is_conflict(), "{error}");
    first.begin(Access::Write).unwrap();
    assert_eq!(read(&mut *first), b"changed");
    first.overwrite(Key(2), b"again").unwrap();
    first.commit().unwrap();
}

#[test]
fn what_a_transaction_has_read_and_another_changes_is_a_conflict() {
    reads_one_and_writes_two(|session| {
        let mut buffer = Buffer::with_capacity(8).unwrap();
        session.read_into(Key(1), &mut buffer).unwrap();
        buffer.bytes().to_vec()
    });
    reads_one_and_writes_two(|session| {
        let mut seen = Vec::new();
        let mut show = |value: &[u8]| seen = value.to_vec();
        session.read_in_place(Key(1), &mut show).unwrap();
        seen
    });
    reads_one_and_writes_two(|session| {
        let mut seen = Vec::new();
        let mut show = |_: Key, value: &[u8]| seen = value.to_vec();
        session.scan(Key(1), 1, &mut show).unwrap();
        seen
    });
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
    let mut buffer = Buffer::with_capacity(8).unwrap();
    reader.read_into(Key(2), &mut buffer).unwrap();
    assert_eq!(buffer.bytes(), b"second");
    reader.commit().unwrap();
    reader.read_into(Key(2), &mut buffer).unwrap();
    assert_eq!(buffer.bytes(), b"new");
}
