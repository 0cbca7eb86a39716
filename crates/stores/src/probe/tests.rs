use super::*;
use crate::options::{OptionValue as _, StoreOptions as _};
use crate::probe::PRIMITIVE;
use crate::testing::{created, settings};
use crate::{Access, Buffer, Found, sync_calls};
use std::fs;
use stowplan_model::{SettingKind, Value};

const KEYS: u64 = 100;
const BYTES: usize = 10_000;

/// Runs `test` on a session that makes this call, with keys 1 to 100 of 10,000 bytes each.
fn with_session(call: &str, test: impl FnOnce(&Path, &mut dyn Session)) {
    let (directory, store) = created(PRIMITIVE, &[]);
    let mut session = store.connect().unwrap();
    for key in 1..=KEYS {
        session.insert(Key(key), &value(key)).unwrap();
    }
    session.close().unwrap();
    let asked = settings(PRIMITIVE, &[("call", call)]);
    let store = PRIMITIVE.open(directory.path(), &asked).unwrap();
    let mut connection = store.connect().unwrap();
    test(directory.path(), &mut *connection);
}

fn value(key: u64) -> Vec<u8> {
    vec![key as u8; BYTES]
}

#[test]
fn every_call_does_what_it_can_be_a_part_of_and_refuses_the_rest() {
    let SettingKind::Choice(names) = Options::SETTINGS[0].kind else {
        unreachable!();
    };
    for name in names {
        let call = Call::from_value(&Value::Word((*name).to_owned())).unwrap();
        with_session(name, |_, session| {
            let can = |operation| call.operations().contains(&operation);
            let mut buffer = Buffer::with_capacity(BYTES).unwrap();
            for key in [1, 50, KEYS] {
                let read = session.read_into(Key(key), &mut buffer);
                assert_eq!(read.is_ok(), can(Operation::Read), "{name}");
                assert_eq!(read.unwrap_or(Found::Bytes(BYTES)), Found::Bytes(BYTES));
                let lent = session.read_in_place(Key(key), &mut |_| panic!("{name} lends"));
                assert_eq!(lent.is_ok(), can(Operation::Read), "{name}");
                let overwritten = session.overwrite(Key(key), &value(key + 1));
                assert_eq!(overwritten.is_ok(), can(Operation::Overwrite), "{name}");
            }
            if can(Operation::Read) {
                let missing = session.read_into(Key(KEYS + 1), &mut buffer).unwrap();
                assert_eq!(missing, Found::Missing, "{name}");
            }
            assert!(session.delete(Key(1)).is_err());
            assert!(session.scan(Key(1), 1, &mut |_, _| ()).is_err());
        });
    }
}

#[test]
fn what_is_copied_is_the_value_or_bytes_of_the_same_place() {
    for (call, expected) in [("pread", 77), ("memcpy", 77), ("memcpy-cached", 1)] {
        with_session(call, |_, session| {
            let mut buffer = Buffer::with_capacity(BYTES).unwrap();
            session.read_into(Key(77), &mut buffer).unwrap();
            assert_eq!(buffer.bytes(), vec![expected; BYTES], "{call}");
        });
    }
}

#[test]
fn writes_are_written_and_synced_where_the_call_says_so() {
    for (call, syncs) in [("pwrite", false), ("fdatasync", true)] {
        with_session(call, |directory, session| {
            let before = sync_calls();
            session.begin(Access::Write).unwrap();
            session.overwrite(Key(2), &value(8)).unwrap();
            session.overwrite(Key(1), &value(9)).unwrap();
            // Other tests sync meanwhile.
            assert!(!syncs || sync_calls().since(&before).total() >= 2, "{call}");
            session.commit().unwrap();
            let values = fs::read(directory.join("values.bin")).unwrap();
            assert_eq!(values[..BYTES], value(9), "{call}");
        });
    }
    with_session("open-close", |directory, session| {
        session.overwrite(Key(1), &value(9)).unwrap();
        let values = fs::read(directory.join("values.bin")).unwrap();
        assert_eq!(values[..BYTES], value(1));
    });
}

#[test]
fn opening_and_looking_up_is_done_to_the_file_of_the_key() {
    for call in ["open-close", "open-close-path", "stat"] {
        with_session(call, |directory, session| {
            let mut buffer = Buffer::with_capacity(0).unwrap();
            fs::remove_file(directory.join("files/000007")).unwrap();
            session.read_into(Key(8), &mut buffer).unwrap();
            let error = session.read_into(Key(7), &mut buffer).unwrap_err();
            assert!(error.to_string().contains("files/000007"), "{error}");
        });
    }
}

/// Minor faults of this thread up to now (proc_pid_stat(5), field 10).
fn faults_of_this_thread() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/stat").ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    fields.split_whitespace().nth(7)?.parse().ok()
}

#[test]
fn each_touch_is_one_page_fault() {
    with_session("page-fault", |_, session| {
        let mut buffer = Buffer::with_capacity(0).unwrap();
        session.read_into(Key(1), &mut buffer).unwrap();
        let Some(before) = faults_of_this_thread() else {
            eprintln!("not tested: the system does not count this thread's page faults");
            return;
        };
        const TOUCHED: u64 = 2_000;
        for key in 0..TOUCHED {
            session.read_into(Key(1 + key % KEYS), &mut buffer).unwrap();
        }
        let faults = faults_of_this_thread().unwrap() - before;
        // A system that maps more around a fault has fewer.
        let each = TOUCHED - TOUCHED / 10..=TOUCHED + TOUCHED / 10;
        assert!(each.contains(&faults), "{faults} of {TOUCHED}");
    });
}
