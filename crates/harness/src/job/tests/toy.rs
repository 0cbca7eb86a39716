//! A store whose writers are in each other's way, and that can have a flaw. Its disk is memory, too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stowplan_model::{
    Capabilities, Delivery, Durability, DurabilityClaim, Footprint, Operation, Setting, Settings,
};
use stowplan_stores::registry::Resolved;
use stowplan_stores::{
    Access, Buffer, COMMITS_COUNTED, Connection, Counters, Found, Key, Result, Session, Store,
    StoreError, StoreKind,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
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

pub(super) struct Toy {
    flaw: Flaw,
    /// What closed stores left, by directory.
    disk: Disk,
}

type Disk = Arc<Mutex<BTreeMap<PathBuf, Values>>>;

/// The toy as the registry would give it.
pub(super) fn toy(flaw: Flaw) -> Resolved {
    let kind: &'static Toy = Box::leak(Box::new(Toy {
        flaw,
        disk: Disk::default(),
    }));
    Resolved {
        kind,
        settings: Settings::default(),
        capabilities: kind.capabilities(&Settings::default()).unwrap(),
    }
}

impl StoreKind for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn about(&self) -> &'static str {
        "for tests"
    }

    fn settings(&self) -> &'static [Setting] {
        &[]
    }

    fn capabilities(&self, _: &Settings) -> Result<Capabilities> {
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
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        self.disk.lock().unwrap().remove(directory);
        self.open(directory, settings)
    }

    fn open(&self, directory: &Path, _: &Settings) -> Result<Box<dyn Store>> {
        let disk = self.disk.lock().unwrap();
        let values = disk.get(directory).cloned().unwrap_or_default();
        Ok(Box::new(Memory {
            flaw: self.flaw,
            disk: Arc::clone(&self.disk),
            directory: directory.to_owned(),
            values: Mutex::new(values),
            without_table: AtomicBool::new(false),
            writer: AtomicBool::new(false),
            commits: AtomicU64::new(0),
        }))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let mut values = std::mem::take(&mut *self.values());
        if self.flaw == Flaw::ForgetsAtClosing {
            values.pop_last();
        }
        let mut disk = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
        disk.insert(self.directory.clone(), values);
    }
}

struct Memory {
    flaw: Flaw,
    disk: Disk,
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
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        Ok(Box::new(Link(self)))
    }

    fn footprint(&self) -> Result<Footprint> {
        Ok(Footprint::default())
    }

    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        Vec::new()
    }

    fn checkpoint(&self) -> Result<()> {
        Ok(())
    }
}

struct Link<'s>(&'s Memory);

impl Connection for Link<'_> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(Talk {
            store: self.0,
            undo: None,
            commits: 0,
        }))
    }

    fn effective_settings(&self) -> Result<Settings> {
        Ok(Settings::default())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
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
            Flaw::Fails(bad) if bad == key.0 => Err(StoreError::damaged("toy", key, "by design")),
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
                Flaw::BreaksWithoutTable => StoreError::damaged("toy", key, "by design"),
                _ => StoreError::no_table("toy", "read"),
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
            Some(_) => Err(StoreError::key_exists("toy", key)),
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

    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
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
