//! What is tested of every key-value engine, said once: for the tests of the crate that has one.
//!
//! What belongs here: what holds of all of them, and more than the conformance suite asks of any
//! store. What does not: what only one promises, which its own tests have.
//!
//! Each function returns what was wrong, a line each; nothing if all was right. Sync calls are
//! counted for the whole process, so [`every_setting`] has to run alone: in a test binary of its
//! own, or as its first step.

use crate::conformance::subject::{
    Complaint, Outcome, ensure, expect, expect_missing, expect_value,
};
use crate::conformance::threads::{in_thread, joined};
use crate::registry::{Resolved, resolve_kind};
use crate::{
    Access, Buffer, Found, Key, KeyForm, Kind, SYNC_CALLS_COUNTED, Session, Store, StoreError,
    conformance,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;
use stowplan_model::{Settings, StoreSpec};

/// For a cache: less than some of the values take.
const MEMORY_BUDGET: u64 = 4 << 20;

/// What [`fill`] leaves.
const FIRST: [u8; 5000] = [7; 5000];
const SECOND: &[u8] = b"second";

/// [`every_setting`] with one list of combinations, and then, in the same test because it syncs too,
/// [`behaviour`] with the other.
#[must_use]
pub fn conforms_and_behaves(
    kind: &'static Kind,
    combinations: &[&str],
    behaving: &[&str],
    directory: &Path,
) -> Vec<String> {
    let mut wrong = every_setting(kind, combinations, directory);
    wrong.extend(behaviour(kind, behaving, directory));
    wrong
}

/// The conformance suite with each value of each setting and with some combinations of settings
/// (`key=text,sync=on`), and whether commits sync as often as declared. Stores are made below
/// `directory`, which must exist and be empty.
#[must_use]
pub fn every_setting(kind: &'static Kind, combinations: &[&str], directory: &Path) -> Vec<String> {
    let each = conformance::each_setting(kind).into_iter();
    // What excludes another setting's default is refused.
    let each = each.filter_map(|spec| resolve_kind(kind, &spec, MEMORY_BUDGET).ok());
    let combined = combinations.iter().map(|settings| resolved(kind, settings));
    let mut wrong = Vec::new();
    for (number, resolved) in each.map(Ok).chain(combined).enumerate() {
        let checked = resolved.and_then(|resolved| {
            let below = Below::new(&directory.join(number.to_string()))?;
            conforms(&resolved, &below, &mut wrong)?;
            below.remove()
        });
        wrong.extend(checked.err().map(|complaint| complaint.0));
    }
    wrong
}

/// What holds of every engine with transactions, with each of these combinations of settings (``""``
/// for none).
#[must_use]
pub fn behaviour(kind: &'static Kind, combinations: &[&str], directory: &Path) -> Vec<String> {
    type Check = fn(&dyn Store) -> Outcome;
    let checks: [(&str, Check); 5] = [
        ("a table that was dropped", a_dropped_table_says_so),
        ("a transaction that reads", one_state_is_read),
        ("a transaction that writes", own_changes_are_read),
        ("a transaction that was left open", what_is_left_is_undone),
        ("the same key by several threads", one_of_several_succeeds),
    ];
    let mut wrong = Vec::new();
    for settings in combinations {
        for (what, check) in checks {
            let checked = with_store(kind, settings, directory, |store, _, _| check(&*store));
            let complaint = checked.err().map(|complaint| complaint.0);
            wrong.extend(complaint.map(|why| format!("{}:{settings}: {what}: {why}", kind.name())));
        }
    }
    wrong
}

/// Whether the engine itself, asked without the adapter, finds what was stored with each of these
/// combinations of settings: `read` opens the store in a directory and returns every key, as
/// [`KeyForm::bytes`] makes it, with its value.
#[must_use]
pub fn read_by_the_engine_itself(
    kind: &'static Kind,
    combinations: &[&str],
    directory: &Path,
    read: impl Fn(&Path, KeyForm) -> Vec<(Vec<u8>, Vec<u8>)>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for settings in combinations {
        let checked = with_store(kind, settings, directory, |store, directory, form| {
            let mut session = store.connect()?;
            fill(&mut *session)?;
            session.close()?;
            store.close()?;
            let bytes = |key| form.bytes(Key(key)).as_ref().to_vec();
            let stored = [(bytes(1), FIRST.to_vec()), (bytes(2), SECOND.to_vec())];
            let found = BTreeMap::from_iter(read(directory, form));
            ensure(found == BTreeMap::from(stored), || {
                let sizes: Vec<_> = found.iter().map(|(k, v)| (k.len(), v.len())).collect();
                format!("the engine has keys and values of these bytes: {sizes:?}")
            })
        });
        let complaint = checked.err().map(|complaint| complaint.0);
        wrong.extend(complaint.map(|why| format!("{}:{settings}: {why}", kind.name())));
    }
    wrong
}

/// Every setting of a kind, some of them as given (`key=text,sync=on`).
///
/// # Errors
/// An unknown setting, a value that is not accepted, or settings that exclude each other: which.
pub fn settings(kind: &'static Kind, given: &str) -> Result<Settings, String> {
    let resolved = resolved(kind, given).map_err(|complaint| complaint.0)?;
    Ok(resolved.settings)
}

fn resolved(kind: &'static Kind, settings: &str) -> Outcome<Resolved> {
    let spec: StoreSpec = match settings {
        "" => kind.name().parse(),
        settings => format!("{}:{settings}", kind.name()).parse(),
    }
    .map_err(|e| Complaint(format!("{settings}: {e}")))?;
    resolve_kind(kind, &spec, MEMORY_BUDGET).map_err(|e| Complaint(e.to_string()))
}

/// A directory for one store.
struct Below(PathBuf);

impl Below {
    fn new(path: &Path) -> Outcome<Self> {
        std::fs::create_dir(path)?;
        Ok(Self(path.to_owned()))
    }

    /// A part of it, which is made.
    fn part(&self, name: &str) -> Outcome<PathBuf> {
        let part = self.0.join(name);
        std::fs::create_dir(&part)?;
        Ok(part)
    }

    /// Removes what was made. A failed check leaves it for the reader.
    fn remove(self) -> Outcome {
        Ok(std::fs::remove_dir_all(self.0)?)
    }
}

fn with_store(
    kind: &'static Kind,
    settings: &str,
    directory: &Path,
    check: impl FnOnce(Box<dyn Store>, &Path, KeyForm) -> Outcome,
) -> Outcome {
    let resolved = resolved(kind, settings)?;
    let below = Below::new(&directory.join("store"))?;
    let store = kind.create(&below.0, &resolved.settings)?;
    let form = KeyForm::of(&resolved.settings)?;
    let checked = check(store, &below.0, form);
    below.remove()?;
    checked
}

fn conforms(resolved: &Resolved, below: &Below, wrong: &mut Vec<String>) -> Outcome {
    let Resolved {
        kind,
        settings,
        capabilities,
    } = resolved;
    let failures = conformance::check(kind, settings, &below.part("checks")?);
    let failures = failures
        .iter()
        .map(|failure| format!("{resolved:?}: {failure}"));
    wrong.extend(failures);
    let declared = u64::from(capabilities.syncs_per_commit);
    let fewest = conformance::fewest_syncs(kind, settings, &below.part("syncs")?)?;
    ensure(!SYNC_CALLS_COUNTED || declared == fewest, || {
        format!("{resolved:?}: {declared} syncs declared, {fewest} seen")
    })
}

/// Three keys, of which the second is overwritten and the third deleted.
fn fill(session: &mut dyn Session) -> Outcome {
    session.insert(Key(1), &FIRST)?;
    session.insert(Key(2), b"two")?;
    session.overwrite(Key(2), SECOND)?;
    session.insert(Key(3), b"gone")?;
    session.delete(Key(3))?;
    Ok(())
}

fn a_dropped_table_says_so(store: &dyn Store) -> Outcome {
    let mut session = store.connect()?;
    fill(&mut *session)?;
    match session.drop_table() {
        Err(StoreError::Unsupported { .. }) => return Ok(()),
        dropped => dropped?,
    }
    let mut buffer = Buffer::with_capacity(0)?;
    let refused = session.read_into(Key(1), &mut buffer).err();
    ensure(refused.is_some_and(|e| e.is_no_table()), || {
        "a read does not say that there is no table".to_owned()
    })?;
    ensure(session.drop_table().is_err(), || {
        "it was dropped twice".to_owned()
    })?;
    session.create_table()?;
    expect(session.overwrite(Key(1), b"one")?, Found::Missing, || {
        "overwriting in a new table".to_owned()
    })?;
    fill(&mut *session)
}

/// Whether others may change something meanwhile or have to wait, what is read stays as it is.
fn one_state_is_read(store: &dyn Store) -> Outcome {
    let mut session = store.connect()?;
    fill(&mut *session)?;
    let (begun, ended) = (Barrier::new(2), AtomicBool::new(false));
    let outcomes = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let changed = in_thread(store, &begun, change_all);
            ended.store(true, SeqCst);
            changed
        });
        let read = session.begin(Access::Read);
        begun.wait();
        let read = read
            .map_err(Complaint::from)
            .and_then(|()| stays_as_it_was(&mut *session, &ended));
        [read, joined(writer.join())]
    });
    outcomes.into_iter().collect::<Outcome>()?;
    expect_value(&mut *session, 2, b"new")?;
    expect_value(&mut *session, 4, b"later")?;
    expect_missing(&mut *session, 1)
}

fn change_all(session: &mut dyn Session) -> Outcome {
    session.overwrite(Key(2), b"new")?;
    session.delete(Key(1))?;
    session.insert(Key(4), b"later")?;
    Ok(())
}

/// Reads until some time after the writer has ended, or for as long as it may be waiting.
fn stays_as_it_was(session: &mut dyn Session, ended: &AtomicBool) -> Outcome {
    for _ in 0..20 {
        let last = ended.load(SeqCst);
        expect_value(session, 1, &FIRST)?;
        expect_value(session, 2, SECOND)?;
        expect_missing(session, 4)?;
        let mut seen = Vec::new();
        session.scan(Key(0), 9, &mut |key, value| seen.push((key.0, value.len())))?;
        seen.sort_unstable();
        expect(seen, vec![(1, 5000), (2, 6)], || "a scan".to_owned())?;
        if last {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    ensure(session.insert(Key(5), b"").is_err(), || {
        "it wrote".to_owned()
    })?;
    Ok(session.commit()?)
}

fn own_changes_are_read(store: &dyn Store) -> Outcome {
    let mut session = store.connect()?;
    fill(&mut *session)?;
    session.begin(Access::Write)?;
    session.delete(Key(1))?;
    session.insert(Key(1), b"again")?;
    session.delete(Key(2))?;
    session.insert(Key(4), b"four")?;
    ensure(session.insert(Key(4), b"twice").is_err(), || {
        "key 4 was inserted twice".to_owned()
    })?;
    let mut seen = BTreeMap::new();
    session.scan(Key(0), 9, &mut |key, value| {
        seen.insert(key.0, value.to_vec());
    })?;
    let expected = BTreeMap::from([(1, b"again".to_vec()), (4, b"four".to_vec())]);
    ensure(seen == expected, || {
        format!("a scan has the keys {:?}", seen.keys())
    })?;
    session.commit()?;
    expect_value(&mut *session, 1, b"again")?;
    expect_missing(&mut *session, 2)
}

/// A session that ends within a transaction undoes it, and keeps nobody waiting.
fn what_is_left_is_undone(store: &dyn Store) -> Outcome {
    let mut session = store.connect()?;
    fill(&mut *session)?;
    session.close()?;
    for _ in 0..2 {
        let mut session = store.connect()?;
        session.begin(Access::Write)?;
        session.delete(Key(1))?;
        session.overwrite(Key(2), b"left")?;
        session.insert(Key(4), b"left")?;
    }
    let mut session = store.connect()?;
    expect_value(&mut *session, 1, &FIRST)?;
    expect_value(&mut *session, 2, SECOND)?;
    expect_missing(&mut *session, 4)
}

/// Of several threads that add, and that delete, the same key at the same time, one does.
fn one_of_several_succeeds(store: &dyn Store) -> Outcome {
    const KEYS: u64 = 10;
    // So that the engine stays open.
    let connection = store.connect()?;
    for key in 1..=KEYS {
        let inserted = at_once(store, |session| {
            session.insert(Key(key), &[1; 3000]).is_ok()
        })?;
        let deleted = at_once(store, |session| session.delete(Key(key)).unwrap_or(false))?;
        ensure((inserted, deleted) == (1, 1), || {
            format!("{inserted} of {THREADS} added key {key}, and {deleted} deleted it")
        })?;
    }
    Ok(connection.close()?)
}

const THREADS: usize = 4;

/// How many of several threads succeed in what they do at the same time.
fn at_once(store: &dyn Store, work: impl Fn(&mut dyn Session) -> bool + Sync) -> Outcome<usize> {
    let (begun, succeeded) = (Barrier::new(THREADS), AtomicUsize::new(0));
    let one = || {
        in_thread(store, &begun, |session| {
            succeeded.fetch_add(usize::from(work(session)), SeqCst);
            Ok(())
        })
    };
    let outcomes: Vec<Outcome> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(one)).collect();
        threads.into_iter().map(|t| joined(t.join())).collect()
    });
    outcomes.into_iter().collect::<Outcome>()?;
    Ok(succeeded.load(SeqCst))
}
