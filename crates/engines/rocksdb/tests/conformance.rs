//! The conformance suite with each setting in turn, and what the engine itself finds in a store.
//!
//! Sync calls are counted for the whole process, so one test runs after the other: all that sync
//! are steps of one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Once;
use stowplan_model::SettingKind;
use stowplan_stores::registry::{self, Resolved};
use stowplan_stores::{
    Access, Buffer, Found, Key, KeyForm, SYNC_CALLS_COUNTED, Session, Store, conformance,
    sync_calls,
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

/// Each setting in turn at each of its values (ranges at their ends), the others at their defaults.
fn one_setting_at_a_time() -> BTreeSet<String> {
    let mut specs = BTreeSet::from([NAME.to_owned()]);
    for setting in resolved(NAME).kind.settings() {
        let values: Vec<String> = match &setting.kind {
            SettingKind::Flag => vec!["on".to_owned(), "off".to_owned()],
            SettingKind::Choice(words) => words.iter().map(|w| (*w).to_owned()).collect(),
            SettingKind::Bytes { min, max, .. } => [*min, (*max).min(64 << 20)]
                .map(|bytes| bytes.to_string())
                .to_vec(),
            SettingKind::Integer { min, max } => [min, max].map(u64::to_string).to_vec(),
        };
        specs.extend(
            values
                .iter()
                .map(|v| format!("{NAME}:{}={v}", setting.name)),
        );
    }
    specs
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
    for spec in one_setting_at_a_time().into_iter().chain(pairs) {
        let resolved = resolved(&spec);
        let directory = tempfile::tempdir().unwrap();
        let failures = conformance::check(resolved.kind, &resolved.settings, directory.path());
        wrong.extend(failures.iter().map(|failure| format!("{spec}: {failure}")));
        let declared = u64::from(resolved.capabilities.syncs_per_commit);
        let fewest = fewest_syncs(&spec);
        if SYNC_CALLS_COUNTED && declared != fewest {
            wrong.push(format!("{spec}: {declared} syncs declared, {fewest} seen"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The fewest syncs that any commit of an overwrite made.
fn fewest_syncs(spec: &str) -> u64 {
    let directory = tempfile::tempdir().unwrap();
    let store = create(spec, directory.path());
    let mut connection = store.connect().unwrap();
    let mut session = connection.session().unwrap();
    let sizes = [100, 5000, 300_000];
    for (key, bytes) in (1..).zip(sizes) {
        session.insert(Key(key), &vec![0; bytes]).unwrap();
    }
    let mut fewest = u64::MAX;
    for (key, bytes) in (1..).zip(sizes) {
        for version in 1..=6 {
            let before = sync_calls();
            if version % 2 == 0 {
                session.begin(Access::Write).unwrap();
            }
            let found = session.overwrite(Key(key), &vec![version; bytes]).unwrap();
            if version % 2 == 0 {
                session.commit().unwrap();
            }
            assert_eq!(found, Found::Bytes(bytes));
            fewest = fewest.min(sync_calls().since(&before).total());
        }
    }
    fewest
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
fn opening_does_not_make_what_is_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let resolved = resolved(NAME);
    let opened = resolved.kind.open(directory.path(), &resolved.settings);
    let error = opened.err().unwrap().to_string();
    assert!(error.contains("cannot open"), "{error}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
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

#[test]
fn several_values_are_added_by_one_commit_or_not_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let store = create("rocksdb:sync=on", directory.path());
    let mut connection = store.connect().unwrap();
    let mut session = connection.session().unwrap();
    session.insert(Key(3), b"three").unwrap();
    let rows: [(Key, &[u8]); 3] = [(Key(1), b"1"), (Key(2), b"2"), (Key(3), b"3")];
    assert!(session.insert_many(&rows).is_err());
    assert_eq!(session.overwrite(Key(1), b"one").unwrap(), Found::Missing);
    session.insert_many(&rows[..2]).unwrap();
    assert_eq!(session.overwrite(Key(2), b"two").unwrap(), Found::Bytes(3));
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

#[test]
fn keys_of_another_form_are_refused_as_soon_as_there_are_any() {
    for (kept, asked, why) in [
        ("text", "integer", "36 bytes, and key=integer 8"),
        ("integer", "text", "8 bytes, and key=text 36"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        fill_and_close(&*create(&format!("{NAME}:key={kept}"), directory.path()));
        let open = |form: &str| {
            let resolved = resolved(&format!("{NAME}:key={form}"));
            resolved.kind.open(directory.path(), &resolved.settings)
        };
        let error = open(asked).err().unwrap();
        assert!(error.to_string().contains(why), "{error}");
        open(kept).unwrap();
    }
}

#[test]
fn a_database_that_is_there_is_not_taken_for_a_new_one() {
    let directory = tempfile::tempdir().unwrap();
    drop(create(NAME, directory.path()));
    let resolved = resolved(NAME);
    let created = resolved.kind.create(directory.path(), &resolved.settings);
    let error = created.err().unwrap().to_string();
    assert!(error.contains("cannot create"), "{error}");
}
