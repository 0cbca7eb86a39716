//! The conformance suite with each setting in turn, and what the engine itself finds in a store.
//!
//! Sync calls are counted for the whole process, so one test runs after the other: all that sync
//! are steps of one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::path::Path;
use std::sync::Once;
use stowplan_stores::registry::{self, Resolved};
use stowplan_stores::{
    Access, Found, Key, KeyForm, SYNC_CALLS_COUNTED, Session, Store, conformance,
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
