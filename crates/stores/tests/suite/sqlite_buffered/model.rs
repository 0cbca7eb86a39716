//! Random operations against a map, with carry-overs, failing disks and reopening at random
//! moments.

use super::{Content, Random, allow_changes, on_disk, read, refuse_changes, scan, seed, store};
use std::path::Path;
use std::time::Duration;
use stowplan_stores::{Access, Found, Key, Result, Session, Store, StoreError};

const KEYS: u64 = 30;
const SESSIONS: usize = 3;
const EPOCHS: usize = 60;
const STEPS: usize = 250;

/// Windows that end by rows, by time, by bytes, all the time and never.
const WINDOWS: [&str; 5] = [
    "window_rows=1,window_ms=1",
    "window_rows=7,window_ms=10000",
    "window_rows=1000000,window_ms=2",
    "window_rows=1000000,window_ms=10000,window_bytes=2000",
    "window_rows=20,window_ms=3,statement=each",
];

/// What a failure that the test brought about says.
const INJECTED: &str = "in memory only";

struct Epoch<'a> {
    random: &'a mut Random,
    directory: &'a Path,
    store: &'a dyn Store,
    /// What is committed.
    committed: &'a mut Content,
    /// What the open transaction sees, and whose it is.
    open: Option<(usize, Content)>,
    /// Sessions within a read transaction.
    reading: [bool; SESSIONS],
    refusing: bool,
    refusals: &'a mut u32,
}

impl Epoch<'_> {
    /// What a session should see: any number of them may read, but only one can while a
    /// transaction is open.
    fn expected(&mut self) -> &mut Content {
        match &mut self.open {
            Some((_, content)) => content,
            None => self.committed,
        }
    }

    /// A session that may act now.
    fn pick(&mut self) -> usize {
        match &self.open {
            Some((session, _)) => *session,
            None => self.random.below(SESSIONS as u64) as usize,
        }
    }

    fn value(&mut self) -> Vec<u8> {
        let bytes = match self.random.below(20) {
            0 => 6000,
            1 => 0,
            _ => self.random.below(200),
        };
        let content = self.random.below(256) as u8;
        vec![content; bytes as usize]
    }

    /// The outcome, unless the disk that refuses is why there is none.
    #[track_caller]
    fn done<T>(&mut self, outcome: Result<T>) -> Option<T> {
        match outcome {
            Ok(done) => Some(done),
            Err(error) if error.to_string().contains(INJECTED) => {
                *self.refusals += 1;
                None
            }
            Err(error) => panic_with(&error),
        }
    }

    fn step(&mut self, sessions: &mut [Box<dyn Session + '_>]) {
        let picked = self.pick();
        let session = &mut *sessions[picked];
        match self.random.below(100) {
            0..50 if !self.reading[picked] => self.change(session),
            0..70 => self.look(session),
            70..78 => self.look_at_many(session),
            78..90 => self.turn(session, picked),
            90..93 => self.check_point(sessions),
            93..96 => self.trip(),
            _ => std::thread::sleep(Duration::from_micros(self.random.below(3000))),
        }
    }

    fn change(&mut self, session: &mut dyn Session) {
        let key = self.random.below(KEYS);
        let value = self.value();
        let present = self.expected().get(&key).map(Vec::len);
        match self.random.below(3) {
            0 => self.insert(session, key, value, present),
            1 => {
                let outcome = session.overwrite(Key(key), &value);
                if let Some(found) = self.done(outcome) {
                    assert_eq!(found, sized(present.map(|_| value.len())));
                    if present.is_some() {
                        self.expected().insert(key, value);
                    }
                }
            }
            _ => {
                let outcome = session.delete(Key(key));
                if let Some(deleted) = self.done(outcome) {
                    assert_eq!(deleted, present.is_some());
                    self.expected().remove(&key);
                }
            }
        }
    }

    fn insert(
        &mut self,
        session: &mut dyn Session,
        key: u64,
        value: Vec<u8>,
        present: Option<usize>,
    ) {
        match session.insert(Key(key), &value) {
            Err(StoreError::KeyExists { .. }) => assert!(present.is_some(), "key {key}"),
            outcome => {
                if self.done(outcome).is_some() {
                    assert_eq!(present, None, "key {key}");
                    self.expected().insert(key, value);
                }
            }
        }
    }

    fn look(&mut self, session: &mut dyn Session) {
        let key = self.random.below(KEYS);
        let expected = self.expected().get(&key).cloned();
        assert_eq!(read(session, key), expected, "key {key}");
        let mut lent = None;
        let found = session.read_in_place(Key(key), &mut |value| lent = Some(value.to_vec()));
        assert_eq!(found.unwrap(), sized(expected.as_ref().map(Vec::len)));
        assert_eq!(lent, expected, "key {key} in place");
    }

    fn look_at_many(&mut self, session: &mut dyn Session) {
        let from = self.random.below(KEYS + 3);
        let limit = match self.random.below(3) {
            0 => usize::MAX,
            _ => self.random.below(KEYS) as usize,
        };
        let rows = self.expected().range(from..).take(limit);
        let expected: Vec<_> = rows.map(|(key, value)| (*key, value.clone())).collect();
        assert_eq!(scan(session, from, limit), expected, "from {from}, {limit}");
    }

    /// Begins or ends a transaction.
    fn turn(&mut self, session: &mut dyn Session, picked: usize) {
        if self.reading[picked] {
            session.commit().unwrap();
            self.reading[picked] = false;
        } else if let Some((_, content)) = self.open.take() {
            if self.random.below(3) == 0 {
                session.rollback().unwrap();
            } else if self.done(session.commit()).is_some() {
                *self.committed = content;
            }
        } else if self.random.below(3) == 0 {
            session.begin(Access::Read).unwrap();
            self.reading[picked] = true;
        } else if self.done(session.begin(Access::Write)).is_some() {
            self.open = Some((picked, self.committed.clone()));
        }
    }

    /// A checkpoint needs the end of whatever else goes on.
    fn check_point(&mut self, sessions: &mut [Box<dyn Session + '_>]) {
        if self.open.is_some() {
            return;
        }
        for (reading, session) in self.reading.iter_mut().zip(sessions) {
            if std::mem::take(reading) {
                session.commit().unwrap();
            }
        }
        let outcome = self.store.checkpoint();
        match outcome {
            Err(_) if self.refusing => {}
            outcome => {
                outcome.unwrap();
                assert_eq!(on_disk(self.directory), *self.committed);
            }
        }
    }

    /// Has the disk begin or cease to refuse.
    fn trip(&mut self) {
        if self.refusing {
            allow_changes(self.directory);
        } else {
            refuse_changes(
                self.directory,
                &format!("NEW.k>={}", self.random.below(KEYS)),
            );
        }
        self.refusing = !self.refusing;
    }
}

#[expect(clippy::panic, reason = "a test that cannot go on says where")]
#[track_caller]
fn panic_with(error: &StoreError) -> ! {
    panic!("{error}")
}

fn sized(bytes: Option<usize>) -> Found {
    bytes.map_or(Found::Missing, Found::Bytes)
}

/// Opens the store, works with it for a while, and closes it or lets it go; returns how often a
/// write was refused.
fn run_epoch(random: &mut Random, directory: &Path, committed: &mut Content) -> u32 {
    let window = WINDOWS[random.below(WINDOWS.len() as u64) as usize];
    let store = store(directory, &format!("{window},synchronous=off"));
    let mut sessions: Vec<_> = (0..SESSIONS).map(|_| store.connect().unwrap()).collect();
    let mut refusals = 0;
    {
        let mut epoch = Epoch {
            random,
            directory,
            store: &*store,
            committed,
            open: None,
            reading: [false; SESSIONS],
            refusing: false,
            refusals: &mut refusals,
        };
        for _ in 0..STEPS {
            epoch.step(&mut sessions);
        }
        if epoch.refusing {
            allow_changes(directory);
        }
    }
    // Whatever transaction is open ends with its session.
    drop(sessions);
    match random.below(2) {
        0 => store.close().unwrap(),
        _ => drop(store),
    }
    assert_eq!(on_disk(directory), *committed);
    refusals
}

#[test]
fn the_store_does_what_a_map_does_whatever_happens_below() {
    let seed = seed();
    // Shown where the test fails.
    println!("STOWPLAN_SEED={seed}");
    let mut random = Random(seed);
    let directory = crate::place::in_memory();
    let mut committed = Content::new();
    let mut refusals = 0;
    for _ in 0..EPOCHS {
        refusals += run_epoch(&mut random, directory.path(), &mut committed);
    }
    assert!(refusals > 0, "the disk never refused anything");
}
