//! A store of known cost, for calibrating the harness and for testing searches.
//!
//! It is the flat store, each of whose reads and overwrites is drawn out by a busy wait until it
//! has lasted as long as its settings say for a value of that size.
//!
//! What lasts so long is wall time, a wait for a CPU included. Corrected time, which subtracts that
//! wait, can therefore be below the cost: by less than one operation for each time that the thread
//! lost its CPU.

use crate::flat::Flat;
use crate::{
    Access, Buffer, Connection, Counters, Found, Key, Result, Session, Store, StoreError, StoreKind,
};
use std::hint::spin_loop;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stowplan_model::{Capabilities, Footprint, Setting, SettingKind, Settings};

const STORE: &str = "spin";

/// See the module. Never listed: its figures are those it was told.
pub(crate) struct Spin;

/// Up to a second: what is longer was meant as another unit.
const NANOSECONDS: SettingKind = SettingKind::Integer {
    min: 0,
    max: 1_000_000_000,
};

const SETTINGS: &[Setting] = &[
    Setting {
        name: "base",
        kind: NANOSECONDS,
        default: "0",
        help: "nanoseconds that every read and overwrite lasts, whatever the value's size",
        shapes_layout: false,
    },
    Setting {
        name: "per_kib",
        kind: NANOSECONDS,
        default: "0",
        help: "nanoseconds that it lasts more per 1,024 bytes of the value, in proportion",
        shapes_layout: false,
    },
];

/// How long operations last.
#[derive(Debug, Clone, Copy)]
struct Cost {
    base: u64,
    per_kib: u64,
}

impl Cost {
    fn from_settings(settings: &Settings) -> Self {
        Self {
            base: settings.number("base"),
            per_kib: settings.number("per_kib"),
        }
    }

    /// Of an operation on a value of `bytes` bytes; a fraction of a nanosecond is dropped.
    fn of(self, bytes: usize) -> Duration {
        let share = u128::from(self.per_kib) * bytes as u128 / 1024;
        let share = u64::try_from(share).unwrap_or(u64::MAX);
        Duration::from_nanos(self.base.saturating_add(share))
    }

    /// Runs `work` and waits until it has lasted its time, which its own work counts towards. A
    /// value that is missing has no bytes; an error is not waited for.
    fn spend(self, work: impl FnOnce() -> Result<Found>) -> Result<Found> {
        let started = Instant::now();
        let found = work().map_err(ours)?;
        let bytes = match found {
            Found::Bytes(bytes) => bytes,
            Found::Missing => 0,
        };
        let cost = self.of(bytes);
        while started.elapsed() < cost {
            spin_loop();
        }
        Ok(found)
    }
}

/// An error of the flat store, under this store's name.
fn ours(error: StoreError) -> StoreError {
    error.of(STORE)
}

impl StoreKind for Spin {
    fn name(&self) -> &'static str {
        STORE
    }

    fn about(&self) -> &'static str {
        "the flat store, made to last a known time; calibrates the harness and tests searches"
    }

    fn settings(&self) -> &'static [Setting] {
        SETTINGS
    }

    fn capabilities(&self, settings: &Settings) -> Result<Capabilities> {
        Flat.capabilities(settings).map_err(ours)
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        wrap(Flat.create(directory, settings), settings)
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        wrap(Flat.open(directory, settings), settings)
    }
}

fn wrap(flat: Result<Box<dyn Store>>, settings: &Settings) -> Result<Box<dyn Store>> {
    Ok(Box::new(SpinStore {
        flat: flat.map_err(ours)?,
        cost: Cost::from_settings(settings),
    }))
}

struct SpinStore {
    flat: Box<dyn Store>,
    cost: Cost,
}

impl Store for SpinStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        Ok(Box::new(SpinConnection {
            flat: self.flat.connect().map_err(ours)?,
            cost: self.cost,
        }))
    }

    fn footprint(&self) -> Result<Footprint> {
        self.flat.footprint().map_err(ours)
    }

    fn data_files(&self, keys: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        self.flat.data_files(keys)
    }

    fn checkpoint(&self) -> Result<()> {
        self.flat.checkpoint().map_err(ours)
    }
}

struct SpinConnection<'s> {
    flat: Box<dyn Connection + 's>,
    cost: Cost,
}

impl Connection for SpinConnection<'_> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(SpinSession {
            flat: self.flat.session().map_err(ours)?,
            cost: self.cost,
        }))
    }

    /// The flat store hands back the settings that it was given, and was given these.
    fn effective_settings(&self) -> Result<Settings> {
        self.flat.effective_settings().map_err(ours)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.flat.close().map_err(ours)
    }
}

struct SpinSession<'c> {
    flat: Box<dyn Session + 'c>,
    cost: Cost,
}

impl Session for SpinSession<'_> {
    fn begin(&mut self, access: Access) -> Result<()> {
        self.flat.begin(access).map_err(ours)
    }

    fn commit(&mut self) -> Result<()> {
        self.flat.commit().map_err(ours)
    }

    fn rollback(&mut self) -> Result<()> {
        self.flat.rollback().map_err(ours)
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        self.cost.spend(|| self.flat.read_into(key, buffer))
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        self.cost.spend(|| self.flat.read_in_place(key, visit))
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        self.flat.insert(key, value).map_err(ours)
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        self.cost.spend(|| self.flat.overwrite(key, value))
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        self.flat.delete(key).map_err(ours)
    }

    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        self.flat.scan(from, limit, visit).map_err(ours)
    }

    fn counters(&mut self) -> Result<Counters> {
        self.flat.counters().map_err(ours)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    /// Runs `test` on a session of a store of `spec`, with 10,240 bytes under key 1.
    fn with_session(spec: &str, test: impl FnOnce(&mut dyn Session)) {
        let resolved = registry::resolve(&spec.parse().unwrap(), 0).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let store = Spin.create(directory.path(), &resolved.settings).unwrap();
        let mut connection = store.connect().unwrap();
        let mut session = connection.session().unwrap();
        session.insert(Key(1), &[1; 10_240]).unwrap();
        test(&mut *session);
    }

    /// The shortest of a few runs: a busy machine only adds to a run.
    fn shortest(mut run: impl FnMut()) -> Duration {
        let timed = || {
            let started = Instant::now();
            run();
            started.elapsed()
        };
        std::iter::repeat_with(timed)
            .take(20)
            .min()
            .unwrap_or_default()
    }

    #[test]
    fn a_cost_is_the_base_and_a_share_of_each_kib() {
        let cost = |base, per_kib, bytes| Cost { base, per_kib }.of(bytes).as_nanos();
        assert_eq!(cost(500, 0, 1 << 20), 500);
        assert_eq!(cost(0, 100, 10_240), 1000);
        // A tenth of a nanosecond per byte adds up, though no whole one per KiB would.
        assert_eq!(cost(7, 100, 1_024_000), 100_007);
        assert_eq!(cost(0, 100, 1023), 99);
        let longest = cost(1_000_000_000, 1_000_000_000, usize::MAX);
        assert_eq!(longest, u128::from(u64::MAX));
    }

    #[test]
    fn no_read_and_no_overwrite_lasts_less_than_its_cost() {
        with_session("spin:base=300000,per_kib=20000", |session| {
            let mut buffer = Buffer::with_capacity(10_240).unwrap();
            let cost = Duration::from_micros(500);
            let read = shortest(|| {
                let found = session.read_into(Key(1), &mut buffer).unwrap();
                assert_eq!(found, Found::Bytes(10_240));
            });
            assert!(read >= cost, "{read:?}");
            let overwrite = shortest(|| {
                session.overwrite(Key(1), &[2; 10_240]).unwrap();
            });
            assert!(overwrite >= cost, "{overwrite:?}");
            let missing = shortest(|| {
                session.read_into(Key(2), &mut buffer).unwrap();
            });
            assert!(missing >= Duration::from_micros(300), "{missing:?}");
            // The flat store's own work counts towards the cost, and nothing follows it.
            for whole in [read, overwrite] {
                assert!(whole < cost * 2, "{whole:?}");
            }
        });
    }

    #[test]
    fn values_are_those_of_the_flat_store_and_errors_bear_the_own_name() {
        with_session("spin:base=10", |session| {
            let mut buffer = Buffer::with_capacity(10_240).unwrap();
            session.read_into(Key(1), &mut buffer).unwrap();
            assert_eq!(buffer.bytes(), [1; 10_240]);
            let error = session.overwrite(Key(1), b"short").unwrap_err();
            assert!(error.to_string().starts_with("spin cannot"), "{error}");
        });
    }
}
