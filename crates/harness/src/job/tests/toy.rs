//! A store whose writers are in each other's way, and that can have a flaw. Its disk is memory, too.

use crate::worker_process::WorkerCommand;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use stowplan_model::{
    Capabilities, Delivery, Durability, DurabilityClaim, Operation, Setting, SettingKind, Settings,
    StoreSpec, Value,
};
use stowplan_stores::registry::{self, Kinds, ResolveError, Resolved};
use stowplan_stores::{
    Access, Buffer, COMMITS_COUNTED, Counters, Found, Key, Kind, Result, Session, Store,
    StoreError, Visit,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    None,
    /// It says that it removed a value, and keeps it.
    LosesDeletes,
    /// It keeps the bytes that were there.
    LosesOverwrites,
    /// It removes the next value as well.
    DeletesTwo,
    /// It forgets what was written last when it is closed.
    ForgetsAtClosing,
    /// It commits once more than it is told.
    CommitsMore,
    /// Once its table was dropped, it fails in a way that has nothing to do with that.
    BreaksWithoutTable,
    /// An overwrite or insert of this key fails.
    Fails(u64),
    /// The same panics.
    Panics(u64),
}

type Values = BTreeMap<u64, Vec<u8>>;

/// This test program as a driver: see [`serves`].
pub(super) fn command() -> WorkerCommand {
    let program = std::env::current_exe().unwrap();
    // What the tests' runner says does not belong to the protocol.
    let script = format!(
        "STOWPLAN_TEST_DRIVER=1 exec \"$0\" --exact {}::serves --nocapture 3>&1 >/dev/null",
        module_path!().split_once("::").unwrap().1
    );
    WorkerCommand::new("/bin/sh", &["-c", &script, program.to_str().unwrap()])
}

/// No test: it plays the driver for those that start this program again.
#[test]
fn serves() {
    if std::env::var_os("STOWPLAN_TEST_DRIVER").is_none() {
        return;
    }
    let mut output = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/fd/3")
        .unwrap();
    let mut input = std::io::BufReader::new(std::io::stdin());
    let kinds = kinds();
    stowplan_driver::serve(&mut input, &mut output, "tests", Kinds::of(&kinds)).unwrap();
}

/// The stores of the tests' driver: those that are built in, and the toy.
fn kinds() -> Vec<&'static Kind> {
    registry::BUILT_IN.every().chain([&TOY]).collect()
}

/// A store of the tests' driver.
pub(super) fn resolve(spec: &StoreSpec) -> std::result::Result<Resolved, ResolveError> {
    Kinds::of(&kinds()).resolve(spec, 1 << 20)
}

const FLAW: &str = "flaw";

static SETTINGS: &[Setting] = &[Setting {
    name: FLAW,
    kind: SettingKind::Text { secret: false },
    default: "none",
    help: "what is wrong with it",
    shapes_layout: false,
}];

impl Flaw {
    fn of(settings: &Settings) -> Self {
        let Some(Value::Word(flaw)) = settings.get(FLAW) else {
            return Self::None;
        };
        let key = || flaw.rsplit('-').next().unwrap().parse().unwrap();
        match flaw.as_str() {
            "none" => Self::None,
            "loses-deletes" => Self::LosesDeletes,
            "loses-overwrites" => Self::LosesOverwrites,
            "deletes-two" => Self::DeletesTwo,
            "forgets-at-closing" => Self::ForgetsAtClosing,
            "commits-more" => Self::CommitsMore,
            "breaks-without-table" => Self::BreaksWithoutTable,
            fails if fails.starts_with("fails") => Self::Fails(key()),
            _ => Self::Panics(key()),
        }
    }
}

/// What a closed store left.
fn file_in(directory: &Path) -> PathBuf {
    directory.join("toy")
}

fn read_values(directory: &Path) -> Values {
    let bytes = std::fs::read(file_in(directory)).unwrap_or_default();
    let mut rest = &bytes[..];
    let mut values = Values::new();
    let number = |rest: &mut &[u8]| {
        let (number, behind) = rest.split_first_chunk().unwrap();
        *rest = behind;
        u64::from_le_bytes(*number)
    };
    while !rest.is_empty() {
        let key = number(&mut rest);
        let length = usize::try_from(number(&mut rest)).unwrap();
        let (value, behind) = rest.split_at(length);
        values.insert(key, value.to_vec());
        rest = behind;
    }
    values
}

fn write_values(directory: &Path, values: &Values) {
    let mut bytes = Vec::new();
    for (key, value) in values {
        bytes.extend(key.to_le_bytes());
        bytes.extend((value.len() as u64).to_le_bytes());
        bytes.extend(value);
    }
    // Its directory may be gone by now.
    let _ = std::fs::write(file_in(directory), bytes);
}

static TOY: Kind = Kind::new(
    ("toy", "for tests", SETTINGS),
    &|_| {
        Ok(Capabilities {
            operations: vec![Operation::Read, Operation::Overwrite],
            deliveries: vec![Delivery::Copy, Delivery::InPlace],
            transactions: true,
            resizes: true,
            durability: DurabilityClaim {
                class: Durability::None,
                atomic: false,
                delayed: false,
            },
            threads: true,
            parallel_writers: false,
            persistent: true,
            evictable: false,
            mapped: false,
            syncs_per_commit: 0,
            largest_value: None,
        })
    },
    &|directory, settings, new| {
        if new {
            write_values(directory, &Values::new());
        }
        Ok(Box::new(Memory {
            flaw: Flaw::of(settings),
            directory: directory.to_owned(),
            values: Mutex::new(read_values(directory)),
            without_table: AtomicBool::new(false),
            writer: AtomicBool::new(false),
            commits: AtomicU64::new(0),
        }))
    },
);

impl Drop for Memory {
    fn drop(&mut self) {
        let mut values = std::mem::take(&mut *self.values());
        if self.flaw == Flaw::ForgetsAtClosing {
            values.pop_last();
        }
        write_values(&self.directory, &values);
    }
}

struct Memory {
    flaw: Flaw,
    directory: PathBuf,
    values: Mutex<Values>,
    without_table: AtomicBool,
    /// Somebody is in a transaction that writes.
    writer: AtomicBool,
    commits: AtomicU64,
}

impl Memory {
    fn values(&self) -> MutexGuard<'_, Values> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Memory {
    fn connect(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(Talk {
            store: self,
            undo: None,
            commits: 0,
        }))
    }
}

struct Talk<'s> {
    store: &'s Memory,
    /// What was there before, of a transaction that is open.
    undo: Option<Vec<(u64, Option<Vec<u8>>)>>,
    commits: u64,
}

impl Talk<'_> {
    /// Changes a value; what was there before.
    fn put(&mut self, key: Key, value: Option<&[u8]>) -> Result<Option<Vec<u8>>> {
        let alone = self.undo.is_none();
        if alone {
            self.begin(Access::Write)?;
        }
        let mut values = self.store.values();
        let before = match value {
            Some(value) => values.insert(key.0, value.to_vec()),
            None => values.remove(&key.0),
        };
        drop(values);
        if let Some(undo) = &mut self.undo {
            undo.push((key.0, before.clone()));
        }
        if alone {
            self.commit()?;
        }
        Ok(before)
    }

    fn trip(&self, key: Key) -> Result<()> {
        match self.store.flaw {
            Flaw::Fails(bad) if bad == key.0 => Err(StoreError::damaged(key, "by design")),
            Flaw::Panics(bad) if bad == key.0 => panic!("by design"),
            _ => Ok(()),
        }
    }
}

fn found(value: Option<&Vec<u8>>) -> Found {
    value.map_or(Found::Missing, |value| Found::Bytes(value.len()))
}

impl Session for Talk<'_> {
    fn begin(&mut self, access: Access) -> Result<()> {
        if access == Access::Write && self.store.writer.swap(true, Ordering::SeqCst) {
            return Err(StoreError::Conflict {
                store: "toy",
                action: "begin".to_owned(),
                detail: "another one writes".to_owned(),
            });
        }
        if access == Access::Write {
            self.undo = Some(Vec::new());
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        if self.undo.take().is_some() {
            self.commits += 1 + u64::from(self.store.flaw == Flaw::CommitsMore);
            self.store.commits.fetch_add(1, Ordering::SeqCst);
            self.store.writer.store(false, Ordering::SeqCst);
        }
        Ok(())
    }

    fn rollback(&mut self) -> Result<()> {
        let undo = self.undo.take().unwrap_or_default();
        for (key, before) in undo.into_iter().rev() {
            match before {
                Some(value) => self.store.values().insert(key, value),
                None => self.store.values().remove(&key),
            };
        }
        self.store.writer.store(false, Ordering::SeqCst);
        Ok(())
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        if self.store.without_table.load(Ordering::SeqCst) {
            return Err(match self.store.flaw {
                Flaw::BreaksWithoutTable => StoreError::damaged(key, "by design"),
                _ => StoreError::no_table("read"),
            });
        }
        let values = self.store.values();
        if let Some(value) = values.get(&key.0) {
            buffer.copy_from(value)?;
        }
        Ok(found(values.get(&key.0)))
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        let values = self.store.values();
        values
            .get(&key.0)
            .into_iter()
            .for_each(|value| visit(value));
        Ok(found(values.get(&key.0)))
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        self.trip(key)?;
        match self.put(key, Some(value))? {
            None => Ok(()),
            Some(_) => Err(StoreError::key_exists(key)),
        }
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        self.trip(key)?;
        let there = self.store.values().get(&key.0).cloned();
        match there {
            None => Ok(Found::Missing),
            Some(old) if self.store.flaw == Flaw::LosesOverwrites => {
                self.put(key, Some(&old))?;
                Ok(Found::Bytes(value.len()))
            }
            Some(_) => {
                self.put(key, Some(value))?;
                Ok(Found::Bytes(value.len()))
            }
        }
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        let there = self.store.values().get(&key.0).cloned();
        match (there, self.store.flaw) {
            (None, _) => Ok(false),
            (Some(value), Flaw::LosesDeletes) => {
                self.put(key, Some(&value))?;
                Ok(true)
            }
            (Some(_), flaw) => {
                self.put(key, None)?;
                if flaw == Flaw::DeletesTwo {
                    let next = self.store.values().range(key.0..).next().map(|(k, _)| *k);
                    if let Some(next) = next {
                        self.store.values().remove(&next);
                    }
                }
                Ok(true)
            }
        }
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let values = self.store.values();
        let some = values.range(from.0..).take(limit);
        Ok(some.map(|(key, value)| visit(Key(*key), value)).count())
    }

    fn create_table(&mut self) -> Result<()> {
        self.store.without_table.store(false, Ordering::SeqCst);
        Ok(())
    }

    fn drop_table(&mut self) -> Result<()> {
        self.store.values().clear();
        self.store.without_table.store(true, Ordering::SeqCst);
        self.commits += 1;
        Ok(())
    }

    fn counters(&mut self) -> Result<Counters> {
        Ok(Counters::from([(COMMITS_COUNTED.to_owned(), self.commits)]))
    }
}
