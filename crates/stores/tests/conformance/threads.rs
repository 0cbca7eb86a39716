//! Checks of stores that several threads may use at the same time.

use super::subject::{Complaint, Outcome, Subject, ensure, expect_value, fill, value};
use crate::{Access, Buffer, Found, Key, Result, Session, Store};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

/// Keys that are read while they are written.
const KEYS: u64 = 4;

/// How often each of them is overwritten.
const VERSIONS: u64 = 3;

/// Above the size of a page, so that a value has parts.
const BYTES: usize = 6000;

const READERS: usize = 2;

const WRITERS: u64 = 3;

/// Changes that each writer makes to a value of all.
const CHANGES: u64 = 5;

/// How long a transaction is tried again: many times as long as a sync takes on a busy disk.
const LIMIT: Duration = Duration::from_secs(60);

/// Before a transaction is tried again, and before everything is read again: who reads without a
/// pause may keep a writer out for good.
const PAUSE: Duration = Duration::from_micros(500);

/// Values stay whole for those who read while one thread writes; where replacing a value is not
/// atomic, they need to be whole only afterwards.
pub(super) fn readers_beside_a_writer(subject: &Subject<'_>) -> Outcome {
    if !subject.capabilities.threads {
        return Ok(());
    }
    let store = subject.create()?;
    // What ends with its last connection stays for this one.
    let mut first = store.connect()?;
    fill(&mut *first, KEYS, BYTES)?;
    let whole = subject.capabilities.durability.atomic;
    let (written, begun) = (AtomicBool::new(false), Barrier::new(READERS + 1));
    let outcomes: Vec<Outcome> = thread::scope(|scope| {
        let read = || {
            in_thread(&*store, &begun, |session| {
                read_until(session, whole, &written)
            })
        };
        let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(read)).collect();
        let writer = scope.spawn(|| in_thread(&*store, &begun, write_versions));
        let wrote = joined(writer.join());
        written.store(true, SeqCst);
        let readers = readers.into_iter().map(|reader| joined(reader.join()));
        readers.chain([wrote]).collect()
    });
    outcomes.into_iter().collect::<Outcome>()?;
    expect_versions(&mut *first)?;
    Ok(first.close()?)
}

fn write_versions(session: &mut dyn Session) -> Outcome {
    for version in 1..=VERSIONS {
        for key in 1..=KEYS {
            let value = value(key, version, BYTES);
            transaction(session, Access::Write, |session| {
                session.overwrite(Key(key), &value)
            })?;
        }
    }
    Ok(())
}

fn expect_versions(session: &mut dyn Session) -> Outcome {
    (1..=KEYS).try_for_each(|key| expect_value(session, key, &value(key, VERSIONS, BYTES)))
}

/// Reads all keys again and again until `written`, and complains of what is no version.
fn read_until(session: &mut dyn Session, whole: bool, written: &AtomicBool) -> Outcome {
    let versions: Vec<Vec<Vec<u8>>> = (1..=KEYS)
        .map(|key| (0..=VERSIONS).map(|v| value(key, v, BYTES)).collect())
        .collect();
    let mut buffer = Buffer::with_capacity(BYTES)?;
    while !written.load(SeqCst) {
        for (key, versions) in (1..).zip(&versions) {
            let read = transaction(session, Access::Read, |session| {
                session.read_into(Key(key), &mut buffer)
            });
            if !whole {
                continue;
            }
            let found = read?;
            ensure(found == Found::Bytes(BYTES), || {
                format!("key {key}, read while it was written: {found:?} of {BYTES} bytes")
            })?;
            ensure(versions.iter().any(|v| v == buffer.bytes()), || {
                format!("key {key}, read while it was written, is none of its versions")
            })?;
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}

/// What several threads write arrives: values of their own, and, where there are transactions,
/// changes that each makes to what another has left.
pub(super) fn writers(subject: &Subject<'_>) -> Outcome {
    if !subject.capabilities.threads {
        return Ok(());
    }
    let store = subject.create()?;
    let mut first = store.connect()?;
    first.insert(Key(1), &counted(0))?;
    let shares = subject.capabilities.transactions && subject.capabilities.durability.atomic;
    let begun = Barrier::new(usize::try_from(WRITERS).unwrap_or(1));
    let outcome = thread::scope(|scope| {
        let write = |writer| {
            let (store, begun) = (&*store, &begun);
            move || {
                in_thread(store, begun, |session| {
                    insert_own(session, writer)?;
                    (0..CHANGES)
                        .filter(|_| shares)
                        .try_for_each(|_| count(session))
                })
            }
        };
        let writers: Vec<_> = (1..=WRITERS).map(|w| scope.spawn(write(w))).collect();
        let outcomes: Vec<Outcome> = writers.into_iter().map(|w| joined(w.join())).collect();
        outcomes.into_iter().collect::<Outcome>()
    });
    outcome?;
    expect_written(&mut *first, shares)?;
    first.close()?;
    if subject.capabilities.persistent {
        drop(store);
        let store = subject.open()?;
        subject.with_session(&*store, |session| expect_written(session, shares))?;
    }
    Ok(())
}

/// The keys of one writer.
fn own_keys(writer: u64) -> impl Iterator<Item = u64> {
    (0..CHANGES).map(move |n| 100 * writer + n)
}

fn insert_own(session: &mut dyn Session, writer: u64) -> Outcome {
    for key in own_keys(writer) {
        let value = value(key, 0, BYTES);
        transaction(session, Access::Write, |session| {
            session.insert(Key(key), &value)
        })?;
    }
    Ok(())
}

/// Adds 1 to what key 1 counts, in one transaction.
fn count(session: &mut dyn Session) -> Outcome {
    let mut buffer = Buffer::with_capacity(8)?;
    let overwritten = transaction(session, Access::Write, |session| {
        session.read_into(Key(1), &mut buffer)?;
        // Long enough for another thread to read the same, where nothing keeps it from that.
        thread::sleep(PAUSE);
        session.overwrite(Key(1), &counted(count_of(buffer.bytes()) + 1))
    })?;
    ensure(overwritten == Found::Bytes(8), || {
        format!("key 1, which all threads count in: {overwritten:?}")
    })
}

fn counted(count: u64) -> [u8; 8] {
    count.to_le_bytes()
}

fn count_of(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(u64::MAX - 1, u64::from_le_bytes)
}

fn expect_written(session: &mut dyn Session, shares: bool) -> Outcome {
    for key in (1..=WRITERS).flat_map(own_keys) {
        expect_value(session, key, &value(key, 0, BYTES))?;
    }
    let mut buffer = Buffer::with_capacity(8)?;
    session.read_into(Key(1), &mut buffer)?;
    let (count, expected) = (count_of(buffer.bytes()), WRITERS * CHANGES);
    ensure(!shares || count == expected, || {
        format!("{WRITERS} threads counted {expected} times, and the count is {count}")
    })
}

/// Runs `work` in a transaction, and again for as long as another connection is in the way.
fn transaction<T>(
    session: &mut dyn Session,
    access: Access,
    mut work: impl FnMut(&mut dyn Session) -> Result<T>,
) -> Outcome<T> {
    let begun = Instant::now();
    while begun.elapsed() < LIMIT {
        let done = session.begin(access).and_then(|()| {
            let done = work(session)?;
            session.commit()?;
            Ok(done)
        });
        if done.is_err() {
            end(session);
        }
        match done {
            Err(error) if error.is_conflict() => thread::sleep(PAUSE),
            done => return Ok(done?),
        }
    }
    Err(Complaint(format!(
        "a transaction was in conflict for {} seconds, and never got through",
        LIMIT.as_secs()
    )))
}

/// Ends what may be open after an error, so that it is in nobody's way: by committing where
/// nothing can be undone. If it was refused when it was to begin, there is nothing to end.
fn end(session: &mut dyn Session) {
    if session.rollback().is_err() {
        let _ = session.commit();
    }
}

/// Runs `work` with a connection of this thread's own, when all threads have one.
pub(crate) fn in_thread(
    store: &dyn Store,
    begun: &Barrier,
    work: impl FnOnce(&mut dyn Session) -> Outcome,
) -> Outcome {
    let connection = store.connect();
    begun.wait();
    let mut connection = connection?;
    let outcome = work(&mut *connection);
    let closed = connection.close();
    outcome?;
    Ok(closed?)
}

pub(crate) fn joined(outcome: thread::Result<Outcome>) -> Outcome {
    outcome.unwrap_or_else(|_| Err(Complaint("a thread panicked".to_owned())))
}
