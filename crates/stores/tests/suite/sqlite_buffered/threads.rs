//! Several connections at the same time.

use super::{on_disk, read, scan, store};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{self, ScopedJoinHandle};
use stowplan_stores::{Access, Key, Store};

/// Windows that make the layers change places all the time.
const SETTINGS: [&str; 2] = [
    "window_rows=7,window_ms=1,synchronous=off",
    "window_rows=100,window_ms=3",
];

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap())
}

/// Adds one to the values of keys 1 and 2, in one transaction.
fn count_up(store: &dyn Store, times: u64) {
    let mut session = store.connect().unwrap();
    for _ in 0..times {
        session.begin(Access::Write).unwrap();
        for key in 1..=2 {
            let next = number(&read(&mut *session, key).unwrap()) + 1;
            session.overwrite(Key(key), &next.to_le_bytes()).unwrap();
        }
        session.commit().unwrap();
    }
}

/// Adds rows of its own, and deletes every other.
fn come_and_go(store: &dyn Store, first: u64, rows: u64) {
    let mut session = store.connect().unwrap();
    for key in first..first + rows {
        session.insert(Key(key), &key.to_le_bytes()).unwrap();
        if key % 2 == 1 {
            session.delete(Key(key)).unwrap();
        }
    }
}

/// Watches the counters until `done`: none ever goes back, and the second, which is counted up
/// after the first, is never ahead of what the first is later.
fn watch(store: &dyn Store, within_transactions: bool, done: &AtomicBool) -> u64 {
    let mut session = store.connect().unwrap();
    let (mut last, mut reads) = (0, 0);
    while !done.load(SeqCst) {
        if within_transactions {
            session.begin(Access::Read).unwrap();
        }
        for _ in 0..10 {
            let second = number(&read(&mut *session, 2).unwrap());
            let first = number(&read(&mut *session, 1).unwrap());
            assert!(last <= second && second <= first, "{last} {second} {first}");
            last = first;
            reads += 1;
        }
        if within_transactions {
            session.commit().unwrap();
        }
    }
    reads
}

#[test]
fn writers_take_turns_and_readers_see_no_half_transaction_and_nothing_go_back() {
    for settings in SETTINGS {
        let directory = crate::place::in_memory();
        let store = store(directory.path(), settings);
        {
            let mut session = store.connect().unwrap();
            for key in 1..=2 {
                session.insert(Key(key), &0_u64.to_le_bytes()).unwrap();
            }
        }
        let (done, shared) = (&AtomicBool::new(false), &*store);
        thread::scope(|scope| {
            let readers: Vec<_> = [false, true]
                .map(|within| scope.spawn(move || watch(shared, within, done)))
                .into();
            let mut writers: Vec<_> = (0..2)
                .map(|_| scope.spawn(move || count_up(shared, 1000)))
                .collect();
            writers.push(scope.spawn(move || come_and_go(shared, 10, 1000)));
            let written: Vec<_> = writers.into_iter().map(ScopedJoinHandle::join).collect();
            done.store(true, SeqCst);
            assert!(written.iter().all(Result::is_ok), "{settings}");
            for reader in readers {
                assert!(reader.join().unwrap() > 0);
            }
        });
        store.close().unwrap();
        let content = on_disk(directory.path());
        assert_eq!(content.len(), 2 + 500, "{settings}");
        assert_eq!(number(&content[&1]), 2000, "{settings}");
        assert_eq!(number(&content[&2]), 2000, "{settings}");
    }
}

#[test]
fn a_reader_sees_nothing_of_a_transaction_before_it_is_committed() {
    let directory = crate::place::in_memory();
    let store = store(directory.path(), super::ENDLESS);
    let mut first = store.connect().unwrap();
    let writer = &mut *first;
    writer.insert(Key(1), b"old").unwrap();
    writer.begin(Access::Write).unwrap();
    writer.overwrite(Key(1), b"new").unwrap();
    writer.insert(Key(2), b"new").unwrap();
    let mut second = store.connect().unwrap();
    let reader = &mut *second;
    assert_eq!(read(&mut *reader, 1).unwrap(), b"old");
    assert_eq!(scan(&mut *reader, 0, 9), [(1, b"old".to_vec())]);
    assert_eq!(read(&mut *writer, 1).unwrap(), b"new");
    writer.commit().unwrap();
    assert_eq!(read(&mut *reader, 1).unwrap(), b"new");
    assert_eq!(scan(&mut *reader, 0, 9).len(), 2);
}
