//! Several threads, each with its own connection: what was acknowledged is there, no value is
//! torn, no update is lost, and whoever was in the way of another is told by a conflict.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use stowplan_model::{Capabilities, Operation};
use stowplan_stores::{Access, Buffer, Found, Key, Session, Store, StoreError, registry};

const THREADS: u64 = 4;
/// Keys that every thread overwrites: 1 to this.
const SHARED: u64 = 10;
/// Counts transactions.
const COUNTER: u64 = 999;
const STEPS: u64 = 120;

/// What one thread knows: the values of its own keys, and what it last wrote to the shared ones.
#[derive(Default)]
struct Known {
    own: BTreeMap<u64, Option<String>>,
    shared: BTreeMap<u64, String>,
    counted: u64,
    conflicts: u64,
}

/// Text that tells whether it is whole; its size differs from version to version only where a
/// store can resize.
fn value(thread: u64, version: u64, resizes: bool) -> String {
    let times = if resizes { 20 + version % 300 } else { 100 };
    format!("[{thread:03}:{version:07}]").repeat(times as usize)
}

fn assert_whole(bytes: &[u8], resizes: bool) {
    let text = std::str::from_utf8(bytes).unwrap();
    let number = |range: std::ops::Range<usize>| text[range].parse().unwrap();
    assert_eq!(text, value(number(1..4), number(5..12), resizes));
}

/// Repeats what met a conflict, undone; any other error is none of the store's promises.
fn insist<T>(
    session: &mut dyn Session,
    conflicts: &mut u64,
    undo: bool,
    mut work: impl FnMut(&mut dyn Session) -> Result<T, StoreError>,
) -> T {
    loop {
        match work(session) {
            Err(error) if error.is_conflict() => {
                *conflicts += 1;
                if undo {
                    session.rollback().unwrap();
                }
                thread::yield_now();
            }
            done => return done.unwrap(),
        }
    }
}

fn read(session: &mut dyn Session, key: u64) -> Result<Option<Vec<u8>>, StoreError> {
    let mut buffer = Buffer::with_capacity(0)?;
    let found = session.read_into(Key(key), &mut buffer)?;
    Ok((found != Found::Missing).then(|| buffer.bytes().to_vec()))
}

/// Adds one to the counter and writes two shared keys, as one transaction.
fn count_up(session: &mut dyn Session, keys: [u64; 2], value: &str) -> Result<(), StoreError> {
    session.begin(Access::Write)?;
    let counted = read(session, COUNTER)?.unwrap();
    let counted: u64 = std::str::from_utf8(&counted).unwrap().parse().unwrap();
    session.overwrite(Key(COUNTER), format!("{:08}", counted + 1).as_bytes())?;
    for key in keys {
        session.overwrite(Key(key), value.as_bytes())?;
    }
    session.commit()
}

/// One thread's work, drawn from `seed`. It begins when all have their sessions: who connects while
/// others write may be kept waiting too long, and be told by a conflict.
fn work(store: &dyn Store, can: &Capabilities, start: &Barrier, thread: u64, seed: u64) -> Known {
    let mut random = Random(seed.wrapping_mul(2 * thread + 1) | 1);
    let mut session = store.connect().unwrap();
    let session = &mut *session;
    start.wait();
    let mut known = Known::default();
    let mut conflicts = 0;
    for version in 1..=STEPS {
        let text = value(thread, version, can.resizes);
        let key = 1 + random.below(SHARED);
        match random.below(6) {
            0 => {
                let found = insist(session, &mut conflicts, false, |s| {
                    s.overwrite(Key(key), text.as_bytes())
                });
                assert_eq!(found, Found::Bytes(text.len()));
                known.shared.insert(key, text);
            }
            1 if can.transactions => {
                let keys = [key, 1 + key % SHARED];
                insist(session, &mut conflicts, true, |s| count_up(s, keys, &text));
                known.counted += 1;
                for key in keys {
                    known.shared.insert(key, text.clone());
                }
            }
            2 | 3 => {
                let own = 1000 * (thread + 1) + version;
                insist(session, &mut conflicts, false, |s| {
                    s.insert(Key(own), text.as_bytes())
                });
                known.own.insert(own, Some(text));
            }
            4 if can.operations.contains(&Operation::Delete) => {
                let Some((own, there)) = known.own.iter_mut().find(|(_, v)| v.is_some()) else {
                    continue;
                };
                let deleted = insist(session, &mut conflicts, false, |s| s.delete(Key(*own)));
                assert!(deleted && there.take().is_some());
            }
            _ => {
                let bytes = insist(session, &mut conflicts, false, |s| read(s, key));
                if can.durability.atomic || can.transactions {
                    assert_whole(&bytes.unwrap(), can.resizes);
                }
            }
        }
    }
    known.conflicts = conflicts;
    known
}

fn check(session: &mut dyn Session, can: &Capabilities, known: &[Known]) {
    let counted: u64 = known.iter().map(|known| known.counted).sum();
    let counter = read(session, COUNTER).unwrap().unwrap();
    assert_eq!(counter, format!("{counted:08}").as_bytes());
    for (key, value) in known.iter().flat_map(|known| &known.own) {
        let there = read(session, *key).unwrap();
        assert!(
            there.as_deref() == value.as_ref().map(String::as_bytes),
            "{key}"
        );
    }
    for key in 1..=SHARED {
        let there = read(session, key).unwrap().unwrap();
        assert_whole(&there, can.resizes);
        let mut last = known.iter().filter_map(|known| known.shared.get(&key));
        let written = known.iter().any(|known| known.shared.contains_key(&key));
        assert!(!written || last.any(|v| v.as_bytes() == there), "{key}");
    }
}

/// Runs the threads on a new store; returns how many conflicts there were.
fn run(spec: &str, directory: &Path, seed: u64) -> u64 {
    let resolved = registry::resolve(&spec.parse().unwrap(), 1 << 20).unwrap();
    let can = &resolved.capabilities;
    assert!(can.threads, "{spec}");
    let made = resolved.kind.create(directory, &resolved.settings).unwrap();
    let store = &*made;
    // Kept: a shared database in memory ends with its last connection.
    let mut connection = store.connect().unwrap();
    connection.insert(Key(COUNTER), b"00000000").unwrap();
    for key in 1..=SHARED {
        let text = value(0, 0, can.resizes);
        connection.insert(Key(key), text.as_bytes()).unwrap();
    }
    let start = &Barrier::new(THREADS as usize);
    let known: Vec<Known> = thread::scope(|scope| {
        let one = |thread| scope.spawn(move || work(store, can, start, thread, seed));
        let threads: Vec<_> = (1..=THREADS).map(one).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    check(&mut *connection, can, &known);
    connection.close().unwrap();
    made.close().unwrap();
    if can.persistent {
        let store = resolved.kind.open(directory, &resolved.settings).unwrap();
        let mut connection = store.connect().unwrap();
        check(&mut *connection, can, &known);
    }
    known.iter().map(|known| known.conflicts).sum()
}

#[test]
fn what_threads_acknowledged_is_there_and_whole() {
    let seed = seed();
    println!("STOWPLAN_SEED={seed}");
    for spec in [
        "sqlite:journal=wal,synchronous=normal",
        "sqlite:journal=wal,synchronous=off,busy_timeout=0,autocheckpoint=5",
        "sqlite:journal=delete,synchronous=off",
        "sqlite:journal=delete,synchronous=off,busy_timeout=0,statement=each",
        "sqlite:journal=truncate,synchronous=full,cache=0",
        "sqlite:location=shared",
        "sqlite:location=shared,statement=each,cache=0",
        "sqlite:journal=wal,synchronous=off,key=text,rowid=off,columns=3,column_type=text",
        "sqlite-buffered:window_rows=20,synchronous=off",
        "files:write=rename",
        "files:write=rename,layout=tree",
        "files-indexed:write=rename,journal=wal,synchronous=off",
        "files-indexed:write=rename,journal=delete,synchronous=off,busy_timeout=1",
        "flat",
        "flat:read=mmap",
    ] {
        let directory = crate::place::in_memory();
        let conflicts = run(spec, directory.path(), seed);
        println!("{spec}: {conflicts} conflicts");
    }
}

/// What each of several threads gets from the same operation at the same time.
fn at_once<T: Send>(
    store: &dyn Store,
    operation: impl Fn(u64, &mut dyn Session) -> T + Sync,
) -> Vec<T> {
    let start = &Barrier::new(THREADS as usize);
    let operation = &operation;
    thread::scope(|scope| {
        let one = |thread| {
            scope.spawn(move || {
                let mut session = store.connect().unwrap();
                start.wait();
                operation(thread, &mut *session)
            })
        };
        let threads: Vec<_> = (0..THREADS).map(one).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    })
}

#[test]
fn of_several_threads_that_add_or_delete_the_same_key_one_does() {
    for spec in [
        "files",
        "files:layout=tree",
        "files-indexed:synchronous=off",
        "sqlite:synchronous=off",
        "sqlite:synchronous=off,journal=wal",
        "flat",
    ] {
        let resolved = registry::resolve(&spec.parse().unwrap(), 1 << 20).unwrap();
        let directory = crate::place::in_memory();
        let store = &*resolved
            .kind
            .create(directory.path(), &resolved.settings)
            .unwrap();
        for key in 1..=20 {
            let inserted = at_once(store, |thread, session| {
                session.insert(Key(key), format!("{thread}").repeat(5000).as_bytes())
            });
            let mut by = inserted.iter().enumerate().filter(|(_, i)| i.is_ok());
            let (winner, _) = by.next().unwrap();
            assert!(by.next().is_none(), "{spec}: inserted twice");
            for error in inserted.iter().filter_map(|i| i.as_ref().err()) {
                assert!(matches!(error, StoreError::KeyExists { .. }), "{error}");
            }
            let mut connection = store.connect().unwrap();
            let there = read(&mut *connection, key).unwrap();
            assert_eq!(there.unwrap(), format!("{winner}").repeat(5000).as_bytes());
            let deleted = at_once(store, |_, session| session.delete(Key(key)).unwrap());
            let by = deleted.iter().filter(|deleted| **deleted);
            assert_eq!(by.count(), 1, "{spec}: {deleted:?}");
        }
    }
}

#[test]
fn an_overwrite_does_not_bring_back_what_another_thread_deletes() {
    for spec in [
        "files:write=rename",
        "files-indexed:write=rename,synchronous=off",
    ] {
        let resolved = registry::resolve(&spec.parse().unwrap(), 1 << 20).unwrap();
        let directory = crate::place::in_memory();
        let store = &*resolved
            .kind
            .create(directory.path(), &resolved.settings)
            .unwrap();
        let mut session = store.connect().unwrap();
        for key in 1..=100 {
            session.insert(Key(key), b"old").unwrap();
            let found = at_once(store, |thread, session| match thread {
                0 => session.delete(Key(key)).unwrap(),
                _ => session.overwrite(Key(key), b"new").unwrap() != Found::Missing,
            });
            assert!(found[0], "{spec}");
            assert_eq!(read(&mut *session, key).unwrap(), None, "{spec}: {found:?}");
        }
    }
}

/// Random numbers from a seed (xorshift64*).
struct Random(u64);

impl Random {
    /// One below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % end
    }
}

/// A seed that differs from run to run, unless `STOWPLAN_SEED` gives it.
fn seed() -> u64 {
    let given = std::env::var("STOWPLAN_SEED").ok();
    given.map_or_else(
        || {
            let now = std::time::UNIX_EPOCH.elapsed().unwrap();
            u64::from(now.subsec_nanos()) | 1
        },
        |seed| seed.parse().unwrap(),
    )
}
