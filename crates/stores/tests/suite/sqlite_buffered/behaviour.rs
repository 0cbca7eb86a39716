//! What the three layers make of single operations.

use super::{ENDLESS, on_disk, read, scan, store, wait_until, with_session};
use std::time::{Duration, Instant};
use stowplan_stores::{Access, Found, Key, Session, StoreError, registry};

/// Puts key 1 on disk only, 2 in memory only, 3 on disk and overwritten in memory, 4 on disk and
/// deleted in memory, 5 deleted and inserted again.
fn spread(session: &mut dyn Session, carry_over: &dyn Fn()) {
    for key in [1, 3, 4, 5] {
        session.insert(Key(key), b"disk").unwrap();
    }
    carry_over();
    session.insert(Key(2), b"memory").unwrap();
    session.overwrite(Key(3), b"changed").unwrap();
    session.delete(Key(4)).unwrap();
    session.delete(Key(5)).unwrap();
    session.insert(Key(5), b"again").unwrap();
}

const SPREAD: [(u64, &[u8]); 4] = [(1, b"disk"), (2, b"memory"), (3, b"changed"), (5, b"again")];

fn spread_out() -> Vec<(u64, Vec<u8>)> {
    SPREAD.map(|(key, value)| (key, value.to_vec())).to_vec()
}

#[test]
fn a_commit_is_in_memory_at_first_and_on_disk_after_a_checkpoint() {
    with_session(ENDLESS, |directory, store, session| {
        session.insert(Key(1), b"one").unwrap();
        assert_eq!(on_disk(directory).len(), 0);
        assert_eq!(read(session, 1).unwrap(), b"one");
        store.checkpoint().unwrap();
        assert_eq!(on_disk(directory)[&1], b"one");
        assert_eq!(read(session, 1).unwrap(), b"one");
    });
}

#[test]
fn reads_and_scans_see_the_disk_through_what_was_changed_since() {
    with_session(ENDLESS, |_, store, session| {
        spread(session, &|| store.checkpoint().unwrap());
        for (key, value) in SPREAD {
            assert_eq!(read(session, key).unwrap(), value);
        }
        assert_eq!(read(session, 4), None);
        let rows = spread_out();
        assert_eq!(scan(session, 0, usize::MAX), rows);
        for from in 0..=6 {
            for limit in 0..=5 {
                let expected: Vec<_> = rows.iter().filter(|(key, _)| *key >= from).collect();
                let scanned = scan(session, from, limit);
                assert!(scanned.iter().eq(expected.into_iter().take(limit)));
            }
        }
    });
}

#[test]
fn changes_find_or_miss_a_key_wherever_it_lies() {
    for carried_over in [false, true] {
        with_session(ENDLESS, |_, store, session| {
            spread(session, &|| store.checkpoint().unwrap());
            if carried_over {
                store.checkpoint().unwrap();
            }
            for (key, value) in SPREAD {
                let error = session.insert(Key(key), b"x").unwrap_err();
                assert!(matches!(error, StoreError::KeyExists { .. }), "{error}");
                assert_eq!(read(session, key).unwrap(), value);
            }
            assert_eq!(session.overwrite(Key(4), b"x").unwrap(), Found::Missing);
            assert!(!session.delete(Key(4)).unwrap());
            assert_eq!(read(session, 4), None);
            for (key, value) in SPREAD {
                let bytes = Found::Bytes(value.len());
                assert_eq!(session.overwrite(Key(key), b"xy").unwrap(), Found::Bytes(2));
                assert_eq!(session.overwrite(Key(key), value).unwrap(), bytes);
                assert!(session.delete(Key(key)).unwrap());
            }
            assert_eq!(scan(session, 0, 9), []);
            session.insert(Key(4), b"back").unwrap();
            store.checkpoint().unwrap();
            assert_eq!(scan(session, 0, 9), [(4, b"back".to_vec())]);
        });
    }
}

#[test]
fn a_scan_of_many_changes_in_both_layers_and_on_disk_is_in_order_and_complete() {
    with_session(ENDLESS, |_, store, session| {
        session.begin(Access::Write).unwrap();
        for key in 0..2000 {
            session.insert(Key(key), b"old").unwrap();
        }
        session.commit().unwrap();
        store.checkpoint().unwrap();
        let mut expected: Vec<_> = (0..2000).map(|key| (key, b"old".to_vec())).collect();
        for key in (0..2000).step_by(2) {
            session.overwrite(Key(key), b"new").unwrap();
            expected[key as usize].1 = b"new".to_vec();
        }
        for key in 300..900 {
            session.delete(Key(key)).unwrap();
        }
        expected.retain(|(key, _)| !(300..900).contains(key));
        assert_eq!(scan(session, 0, usize::MAX), expected);
        assert_eq!(scan(session, 250, 100), expected[250..350]);
    });
}

#[test]
fn a_layer_goes_to_disk_when_it_is_full_and_not_before() {
    for settings in [
        "window_rows=10,window_ms=86400000",
        "window_bytes=1000,window_ms=86400000",
    ] {
        with_session(settings, |directory, _, session| {
            for key in 0..9 {
                session.insert(Key(key), &[7; 100]).unwrap();
            }
            std::thread::sleep(Duration::from_millis(50));
            assert_eq!(on_disk(directory).len(), 0, "{settings}");
            session.insert(Key(9), &[7; 100]).unwrap();
            wait_until("on disk", || on_disk(directory).len() == 10);
        });
    }
}

#[test]
fn a_layer_goes_to_disk_when_its_first_change_is_old_and_not_before() {
    with_session(
        "window_rows=1000000000,window_ms=300",
        |directory, _, session| {
            let begun = Instant::now();
            for key in 0..5 {
                session.insert(Key(key), b"x").unwrap();
                std::thread::sleep(Duration::from_millis(10));
            }
            let content = on_disk(directory).len();
            assert!(content == 0 || begun.elapsed() > Duration::from_millis(300));
            wait_until("on disk", || on_disk(directory).len() == 5);
            assert!(begun.elapsed() >= Duration::from_millis(300));
            // The alarm is set again for what comes later.
            session.delete(Key(0)).unwrap();
            wait_until("gone from disk", || on_disk(directory).len() == 4);
        },
    );
}

#[test]
fn a_transaction_is_carried_over_as_a_whole_however_long_it_is() {
    with_session("window_rows=10,window_ms=1", |directory, _, session| {
        for round in 0..20 {
            session.begin(Access::Write).unwrap();
            for key in 0..25 {
                session.insert(Key(round * 25 + key), b"x").unwrap();
                let there = on_disk(directory).len();
                assert_eq!(there % 25, 0, "{there} rows on disk");
            }
            session.commit().unwrap();
        }
        wait_until("on disk", || on_disk(directory).len() == 500);
    });
}

#[test]
fn an_abandoned_transaction_leaves_nothing_and_lets_others_write() {
    let directory = crate::place::in_memory();
    let store = store(directory.path(), ENDLESS);
    let mut first = store.connect().unwrap();
    let mut second = store.connect().unwrap();
    first.begin(Access::Write).unwrap();
    first.insert(Key(1), b"one").unwrap();
    drop(first);
    assert_eq!(read(&mut *second, 1), None);
    second.insert(Key(1), b"two").unwrap();
    second.close().unwrap();
    store.close().unwrap();
    assert_eq!(on_disk(directory.path())[&1], b"two");
}

#[test]
fn a_read_transaction_sees_what_is_carried_over_after_it_began() {
    let directory = crate::place::in_memory();
    let store = store(directory.path(), "window_rows=1");
    let mut first = store.connect().unwrap();
    let reader = &mut *first;
    let mut second = store.connect().unwrap();
    let writer = &mut *second;
    writer.insert(Key(0), b"x").unwrap();
    reader.begin(Access::Read).unwrap();
    for key in 1..50 {
        assert_eq!(read(&mut *reader, key), None);
        writer.insert(Key(key), b"x").unwrap();
        assert_eq!(read(&mut *reader, key).unwrap(), b"x");
        wait_until("on disk", || on_disk(directory.path()).contains_key(&key));
        assert_eq!(read(&mut *reader, key).unwrap(), b"x");
        assert_eq!(scan(&mut *reader, 0, 99).len() as u64, key + 1);
    }
    reader.commit().unwrap();
}

#[test]
fn a_transaction_is_not_begun_twice_and_one_that_reads_does_not_write() {
    with_session(ENDLESS, |_, _, session| {
        session.begin(Access::Read).unwrap();
        assert!(session.begin(Access::Write).is_err());
        let error = session.insert(Key(1), b"x").unwrap_err();
        assert!(error.to_string().contains("reading only"), "{error}");
        session.commit().unwrap();
        session.insert(Key(1), b"x").unwrap();
    });
}

#[test]
fn closing_the_store_carries_everything_over_and_so_does_dropping_it() {
    let directory = crate::place::in_memory();
    for keys in [1, 2] {
        let store = store(directory.path(), ENDLESS);
        let mut session = store.connect().unwrap();
        session.insert(Key(keys), b"x").unwrap();
        session.close().unwrap();
        assert_eq!(on_disk(directory.path()).len() as u64, keys - 1);
        match keys {
            1 => store.close().unwrap(),
            _ => drop(store),
        }
        assert_eq!(on_disk(directory.path()).len() as u64, keys);
    }
}

#[test]
fn the_thread_and_its_connection_end_with_the_store() {
    let directory = crate::place::in_memory();
    let open_files = || {
        let files = std::fs::read_dir("/proc/self/fd").unwrap();
        let targets = files.filter_map(|file| std::fs::read_link(file.unwrap().path()).ok());
        let below = targets.filter(|target| target.starts_with(directory.path()));
        below.count()
    };
    let store = store(directory.path(), "window_rows=1");
    let mut session = store.connect().unwrap();
    session.insert(Key(1), b"x").unwrap();
    // Whoever closes would carry it over, if the thread had not.
    wait_until("carried over", || on_disk(directory.path()).len() == 1);
    session.close().unwrap();
    assert!(open_files() > 0);
    drop(store);
    assert_eq!(open_files(), 0);
}

#[test]
fn a_delayed_class_is_claimed_where_the_disk_keeps_a_prefix_and_only_the_log_is_offered() {
    let resolved = |settings: &str| {
        let spec = format!("sqlite-buffered:{settings}").parse().unwrap();
        registry::resolve(&spec, 1 << 20)
    };
    for (synchronous, claim) in [
        ("off", "none, atomic, delayed"),
        ("normal", "consistent, atomic, delayed"),
        ("full", "consistent, atomic, delayed"),
        ("extra", "consistent, atomic, delayed"),
    ] {
        let settings = format!("journal=wal,synchronous={synchronous}");
        let can = resolved(&settings).unwrap().capabilities;
        assert_eq!(can.durability.to_string(), claim, "{settings}");
        assert_eq!(can.syncs_per_commit, 0);
    }
    let message = resolved("journal=delete").unwrap_err().to_string();
    assert!(
        message.contains("'journal' cannot be 'delete'"),
        "{message}"
    );
    assert!(message.contains("wal"), "{message}");
}
