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
    Access, Found, Key, KeyForm, SYNC_CALLS_COUNTED, Session, Store, conformance, sync_calls,
};

const NAME: &str = "mdbx";

fn resolved(spec: &str) -> Resolved {
    static REGISTER: Once = Once::new();
    REGISTER.call_once(|| registry::register(vec![stowplan_mdbx::KIND], Vec::new()));
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
        "durability=no-meta,writemap=on",
        "durability=safe-no-sync,writemap=on",
        "durability=utterly-no-sync,writemap=on",
        "key=text,page_size=65536",
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
fn what_was_stored_is_read_by_the_crate_libmdbx() {
    for (spec, form) in [
        ("mdbx", KeyForm::Integer),
        ("mdbx:key=text,durability=safe-no-sync", KeyForm::Text),
        ("mdbx:writemap=on", KeyForm::Integer),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let store = create(spec, directory.path());
        fill_and_close(&*store);
        let options = libmdbx::DatabaseOptions {
            max_tables: Some(1),
            ..Default::default()
        };
        let database: libmdbx::Database<libmdbx::NoWriteMap> =
            libmdbx::Database::open_with_options(directory.path(), options).unwrap();
        let reading = database.begin_ro_txn().unwrap();
        let table = reading.open_table(Some("kv")).unwrap();
        let get = |key: u64| -> Option<Vec<u8>> {
            match form {
                KeyForm::Integer => reading.get(&table, key.to_ne_bytes()),
                KeyForm::Text => reading.get(&table, form.bytes(Key(key))),
            }
            .unwrap()
        };
        assert_eq!(get(1).unwrap(), [7; 5000], "{spec}");
        assert_eq!(get(2).unwrap(), b"second", "{spec}");
        assert_eq!(get(3), None, "{spec}");
        assert_eq!(reading.table_stat(&table).unwrap().entries(), 2, "{spec}");
    }
}

#[test]
fn a_second_writer_on_the_same_thread_is_a_conflict_instead_of_a_wait_without_end() {
    let directory = tempfile::tempdir().unwrap();
    let store = create(NAME, directory.path());
    let (mut first, mut second) = (store.connect().unwrap(), store.connect().unwrap());
    let (mut first, mut second) = (first.session().unwrap(), second.session().unwrap());
    first.begin(Access::Write).unwrap();
    let error = second.begin(Access::Write).unwrap_err();
    assert!(error.is_conflict(), "{error}");
    first.commit().unwrap();
    second.begin(Access::Write).unwrap();
    second.commit().unwrap();
}

#[test]
fn a_database_that_is_full_says_which_setting_helps() {
    let directory = tempfile::tempdir().unwrap();
    let store = create("mdbx:max_size=64MiB", directory.path());
    let mut connection = store.connect().unwrap();
    let mut session = connection.session().unwrap();
    let error = session.insert(Key(1), &vec![1; 80 << 20]).unwrap_err();
    assert!(error.to_string().contains("max_size"), "{error}");
    session.insert(Key(1), &[1; 5000]).unwrap();
}

#[test]
fn a_transaction_that_an_error_has_undone_is_not_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let store = create("mdbx:max_size=64MiB", directory.path());
    let mut connection = store.connect().unwrap();
    let mut session = connection.session().unwrap();
    session.begin(Access::Write).unwrap();
    session.insert(Key(1), b"one").unwrap();
    let error = session.insert(Key(2), &vec![1; 80 << 20]).unwrap_err();
    assert!(error.to_string().contains("max_size"), "{error}");
    let error = session.commit().unwrap_err();
    assert!(error.to_string().contains("was undone"), "{error}");
    assert_eq!(session.overwrite(Key(1), b"1").unwrap(), Found::Missing);
    session.insert(Key(1), b"again").unwrap();
}

#[test]
fn several_values_are_added_by_one_commit_or_not_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let store = create("mdbx", directory.path());
    let mut connection = store.connect().unwrap();
    let mut session = connection.session().unwrap();
    session.insert(Key(3), b"three").unwrap();
    let rows: [(Key, &[u8]); 3] = [(Key(1), b"1"), (Key(2), b"2"), (Key(3), b"3")];
    assert!(session.insert_many(&rows).is_err());
    assert_eq!(session.overwrite(Key(1), b"one").unwrap(), Found::Missing);
    session.insert_many(&rows[..2]).unwrap();
    assert_eq!(session.overwrite(Key(2), b"two").unwrap(), Found::Bytes(3));
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
