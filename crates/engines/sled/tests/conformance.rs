//! The conformance suite with each setting in turn, and what the engine itself finds in a store.
//!
//! Sync calls are counted for the whole process, so one test runs after the other: all that sync
//! are steps of one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Barrier, Once};
use std::thread;
use std::time::Duration;
use stowplan_stores::registry::{self, Resolved};
use stowplan_stores::{
    Access, Buffer, Found, Key, KeyForm, SYNC_CALLS_COUNTED, Session, Store, conformance,
};

const NAME: &str = "sled";

fn resolved(spec: &str) -> Resolved {
    static REGISTER: Once = Once::new();
    REGISTER.call_once(|| registry::register(vec![stowplan_sled::KIND], Vec::new()));
    registry::resolve(&spec.parse().unwrap(), 4 << 20).unwrap()
}

fn create(spec: &str, directory: &Path) -> Box<dyn Store> {
    let resolved = resolved(spec);
    resolved.kind.create(directory, &resolved.settings).unwrap()
}

#[test]
fn it_conforms_with_every_setting_and_syncs_as_often_as_declared() {
    let mut wrong = Vec::new();
    let pairs = ["key=text,flush=commit", "mode=high-throughput,flush=commit"];
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
fn what_was_stored_is_read_by_sled_itself() {
    for (spec, form) in [
        ("sled", KeyForm::Integer),
        ("sled:key=text,flush=commit", KeyForm::Text),
        ("sled:mode=high-throughput", KeyForm::Integer),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let store = create(spec, directory.path());
        fill_and_close(&*store);
        let database = sled::open(directory.path().join("db")).unwrap();
        let tree = database.open_tree("kv").unwrap();
        let get = |key| tree.get(form.bytes(Key(key))).unwrap();
        assert_eq!(get(1).unwrap().as_ref(), [7; 5000], "{spec}");
        assert_eq!(get(2).unwrap().as_ref(), b"second", "{spec}");
        assert_eq!(get(3), None, "{spec}");
        assert_eq!(tree.len(), 2, "{spec}");
    }
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

/// sled has no snapshots, so whoever would change something waits.
#[test]
fn a_transaction_for_reading_sees_one_state_from_its_beginning_to_its_end() {
    let directory = tempfile::tempdir().unwrap();
    let store = &*create(NAME, directory.path());
    let (mut reader, mut other) = (store.connect().unwrap(), store.connect().unwrap());
    let (mut reader, mut other) = (reader.session().unwrap(), other.session().unwrap());
    fill(&mut *reader);
    let (begun, changed) = (&Barrier::new(2), &AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut connection = store.connect().unwrap();
            let mut session = connection.session().unwrap();
            begun.wait();
            session.overwrite(Key(2), b"new").unwrap();
            changed.store(true, SeqCst);
        });
        reader.begin(Access::Read).unwrap();
        other.begin(Access::Read).unwrap();
        begun.wait();
        for _ in 0..20 {
            thread::sleep(Duration::from_millis(2));
            assert_eq!(read(&mut *reader, 2).unwrap(), b"second");
            assert_eq!(read(&mut *other, 2).unwrap(), b"second");
        }
        assert!(!changed.load(SeqCst));
        assert!(reader.insert(Key(5), b"").is_err());
        other.commit().unwrap();
        reader.commit().unwrap();
    });
    assert_eq!(read(&mut *reader, 2).unwrap(), b"new");
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
    seen.clear();
    let mut show = |key: Key, value: &[u8]| seen.push((key.0, value.to_vec()));
    session.scan(Key(2), 1, &mut show).unwrap();
    assert_eq!(seen, [(4, b"four".to_vec())]);
    session.commit().unwrap();
    assert_eq!(read(&mut *session, 1).unwrap(), b"again");
    assert_eq!(read(&mut *session, 2), None);
}

/// Single operations do not wait for each other, and none undoes what another has done.
#[test]
fn of_several_threads_that_add_or_delete_the_same_key_one_does() {
    const THREADS: usize = 4;
    let directory = tempfile::tempdir().unwrap();
    let store = &*create("sled", directory.path());
    for key in 1..=20 {
        let start = &Barrier::new(THREADS);
        let done: Vec<(bool, bool)> = thread::scope(|scope| {
            let one = |_| {
                scope.spawn(move || {
                    let mut connection = store.connect().unwrap();
                    let mut session = connection.session().unwrap();
                    start.wait();
                    let inserted = session.insert(Key(key), &[1; 3000]).is_ok();
                    start.wait();
                    let deleted = session.delete(Key(key)).unwrap_or(false);
                    (inserted, deleted)
                })
            };
            let threads: Vec<_> = (0..THREADS).map(one).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        let count = |of: fn(&(bool, bool)) -> bool| done.iter().filter(|d| of(d)).count();
        assert_eq!(count(|(inserted, _)| *inserted), 1, "{done:?}");
        assert_eq!(count(|(_, deleted)| *deleted), 1, "{done:?}");
        let mut connection = store.connect().unwrap();
        assert_eq!(read(&mut *connection.session().unwrap(), key), None);
    }
}

/// Threads of sled's keep its lock a little longer.
#[test]
fn what_was_closed_can_be_opened_again_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let Resolved { kind, settings, .. } = resolved("sled:flush=commit");
    let mut store = kind.create(directory.path(), &settings).unwrap();
    for key in 0..100 {
        let mut connection = store.connect().unwrap();
        let inserted = connection.session().unwrap().insert(Key(key), &[1; 3000]);
        inserted.unwrap();
        connection.close().unwrap();
        store = kind.open(directory.path(), &settings).unwrap();
    }
}

#[test]
fn a_database_that_another_has_open_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let Resolved { kind, settings, .. } = resolved(NAME);
    let store = kind.create(directory.path(), &settings).unwrap();
    let connection = store.connect().unwrap();
    let error = kind.open(directory.path(), &settings).err().unwrap();
    assert!(error.to_string().contains("another process"), "{error}");
    connection.close().unwrap();
}
