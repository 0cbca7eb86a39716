//! A disk that refuses.

use super::{
    ENDLESS, allow_changes, disk, on_disk, read, refuse_changes, scan, store, wait_until,
    with_session,
};
use std::process::Command;
use std::time::Duration;
use stowplan_stores::{Access, Key, Session};

/// The message of the next write that is refused, which is soon.
fn refusal(session: &mut dyn Session) -> String {
    let mut message = String::new();
    wait_until("refused", || match session.insert(Key(1000), b"x") {
        Ok(()) => {
            // Where this is refused, so is the next insert.
            let _ = session.delete(Key(1000));
            false
        }
        Err(error) => {
            message = error.to_string();
            true
        }
    });
    assert!(!message.contains('\n'), "{message}");
    message
}

#[test]
fn while_the_disk_refuses_writes_are_refused_and_reads_go_on_and_then_everything_arrives() {
    with_session(
        "window_rows=10,window_ms=20",
        |directory, store, session| {
            session.insert(Key(1), b"before").unwrap();
            store.checkpoint().unwrap();
            refuse_changes(directory, "1");
            for key in 2..8 {
                session.insert(Key(key), b"kept").unwrap();
            }
            session.delete(Key(1)).unwrap();
            let message = refusal(session);
            assert!(message.starts_with("cannot write: "), "{message}");
            assert!(message.contains("in memory only"), "{message}");
            assert!(message.contains("no room left"), "{message}");
            assert!(session.begin(Access::Write).is_err());
            assert!(session.delete(Key(2)).is_err());
            for key in 2..8 {
                assert_eq!(read(session, key).unwrap(), b"kept");
            }
            assert_eq!(on_disk(directory).into_keys().collect::<Vec<_>>(), [1]);
            allow_changes(directory);
            // Nobody asks for it: it is tried again.
            wait_until("carried over", || on_disk(directory).len() >= 6);
            let kept: Vec<_> = (2..8).map(|key| (key, b"kept".to_vec())).collect();
            wait_until("allowed", || session.insert(Key(9), b"after").is_ok());
            store.checkpoint().unwrap();
            assert_eq!(scan(session, 0, 6), kept);
            assert_eq!(on_disk(directory).get(&1), None);
            assert_eq!(on_disk(directory)[&9], b"after");
        },
    );
}

#[test]
fn a_carry_over_that_fails_in_the_middle_leaves_nothing_of_itself_on_disk() {
    with_session(ENDLESS, |directory, store, session| {
        refuse_changes(directory, "NEW.k=700");
        session.begin(Access::Write).unwrap();
        for key in 0..1000 {
            session.insert(Key(key), b"x").unwrap();
        }
        session.commit().unwrap();
        let message = store.checkpoint().unwrap_err().to_string();
        assert!(
            message.contains("1000 changes are in memory only"),
            "{message}"
        );
        assert!(message.contains("key 700"), "{message}");
        assert_eq!(on_disk(directory).len(), 0);
        allow_changes(directory);
        store.checkpoint().unwrap();
        assert_eq!(on_disk(directory).len(), 1000);
    });
}

#[test]
fn a_transaction_that_meets_a_refusal_at_its_commit_is_undone() {
    let directory = crate::place::in_memory();
    let store = store(directory.path(), "window_rows=3,window_ms=86400000");
    let mut session = store.connect().unwrap();
    let lock = disk(directory.path());
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    for key in 1..=3 {
        session.insert(Key(key), b"kept").unwrap();
    }
    // The carrier waits for the lock by now, and gives up while the transaction is open.
    session.begin(Access::Write).unwrap();
    session.insert(Key(4), b"undone").unwrap();
    session.overwrite(Key(1), b"undone").unwrap();
    assert!(store.checkpoint().is_err());
    let message = session.commit().unwrap_err().to_string();
    assert!(
        message.contains("3 changes are in memory only"),
        "{message}"
    );
    assert_eq!(read(&mut *session, 4), None);
    assert_eq!(read(&mut *session, 1).unwrap(), b"kept");
    lock.execute_batch("ROLLBACK").unwrap();
    session.close().unwrap();
    store.close().unwrap();
    let content = on_disk(directory.path());
    assert_eq!(content.len(), 3);
    assert!(content.values().all(|value| value == b"kept"));
}

#[test]
fn closing_says_how_many_changes_are_in_memory_only_and_they_are_not_given_up() {
    let directory = crate::place::in_memory();
    let store = store(directory.path(), ENDLESS);
    let mut first = store.connect().unwrap();
    for key in 1..=37 {
        first.insert(Key(key), b"x").unwrap();
    }
    refuse_changes(directory.path(), "1");
    first.close().unwrap();
    let message = store.checkpoint().unwrap_err().to_string();
    assert!(
        message.starts_with("cannot checkpoint with everything on disk: 37 changes "),
        "{message}"
    );
    assert!(message.contains("no room left"), "{message}");
    let mut second = store.connect().unwrap();
    assert_eq!(read(&mut *second, 37).unwrap(), b"x");
    allow_changes(directory.path());
    second.close().unwrap();
    store.close().unwrap();
    assert_eq!(on_disk(directory.path()).len(), 37);
}

#[test]
fn a_lock_that_another_process_holds_is_waited_for_and_then_named() {
    with_session(ENDLESS, |directory, store, session| {
        session.insert(Key(1), b"x").unwrap();
        let holder = disk(directory);
        holder.execute_batch("BEGIN IMMEDIATE").unwrap();
        let message = store.checkpoint().unwrap_err().to_string();
        assert!(message.contains("1 change is in memory only"), "{message}");
        assert!(message.contains("holds the lock"), "{message}");
        assert!(session.insert(Key(2), b"x").is_err());
        holder.execute_batch("ROLLBACK").unwrap();
        store.checkpoint().unwrap();
        session.insert(Key(2), b"x").unwrap();
        // A lock that does not last is no failure.
        holder.execute_batch("BEGIN IMMEDIATE").unwrap();
        let releasing = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            holder.execute_batch("ROLLBACK").unwrap();
        });
        store.checkpoint().unwrap();
        releasing.join().unwrap();
        assert_eq!(on_disk(directory).len(), 2);
    });
}

/// Set in the process that has a limit on the size of its files.
const LIMITED: &str = "STOWPLAN_LIMITED_PROCESS";

#[test]
fn a_disk_that_is_full_loses_nothing_and_takes_everything_once_there_is_room() {
    if std::env::var_os(LIMITED).is_some() {
        println!("refused: {}", fill_the_disk());
        return;
    }
    // The limit is the whole process's, so it has one of its own; SIGXFSZ would end it.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -S -f 2048; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg("sqlite_buffered::faults::a_disk_that_is_full_loses_nothing_and_takes_everything_once_there_is_room")
        .env(LIMITED, "1")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{errors}");
    assert!(told.contains("refused: cannot write"), "{told}\n{errors}");
}

/// Runs where no file can grow beyond 1 or 2 MiB: `ulimit -f` counts in blocks of 512 or 1,024
/// bytes. Returns what the first refused write was told.
fn fill_the_disk() -> String {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let mut message = String::new();
    with_session("window_rows=20,window_ms=5", |directory, store, session| {
        let value = |key: u64| vec![key as u8; 10_000];
        let mut taken = 0;
        message = loop {
            match session.insert(Key(taken), &value(taken)) {
                Ok(()) => taken += 1,
                Err(error) => break error.to_string(),
            }
            assert!(taken < 100_000, "the disk is never full");
        };
        assert!(message.contains("in memory only"), "{message}");
        assert!(store.checkpoint().is_err());
        assert!((on_disk(directory).len() as u64) < taken);
        let limit = getrlimit(Resource::Fsize);
        setrlimit(
            Resource::Fsize,
            Rlimit {
                current: limit.maximum,
                ..limit
            },
        )
        .unwrap();
        store.checkpoint().unwrap();
        let content = on_disk(directory);
        assert_eq!(content.len() as u64, taken);
        assert!(content.iter().all(|(key, bytes)| *bytes == value(*key)));
    });
    message
}
