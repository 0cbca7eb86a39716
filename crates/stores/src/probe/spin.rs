//! A store of known cost, for calibrating the harness and for testing searches.
//!
//! It is another store (the flat one, or the one that does nothing), each of whose reads and
//! overwrites is drawn out by a busy wait until it has lasted as long as its settings say for a
//! value of that size. What the other store takes counts towards that time.
//!
//! The time is that of the whole call, though the clock can only be read within it. What lies before the first
//! reading was taken and after the last one was, and by how much a turn of the waiting loop overshoots on
//! average, is measured when a session begins; the wait is shorter by as much.
//!
//! What lasts so long is wall time, a wait for a CPU included. Corrected time, which subtracts that
//! wait, can therefore be below the cost: by less than one operation for each time that the thread
//! lost its CPU.

use super::{NullSession, ProbeStore};
use crate::flat::{FlatSession, FlatStore};
use crate::options::{Described, number, refuse};
use crate::{Buffer, Found, Key, Result, Session, StoreError, Visit, choice, options};
use std::fs::File;
use std::hint::{black_box, spin_loop};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Up to a second: what is longer was meant as another unit.
const fn nanoseconds(help: &'static str) -> Described<u64> {
    number(0, 1_000_000_000, "0", help)
}

choice! {
    /// The store that does the work.
    pub(super) enum Below {
        Flat = "flat",
        Null = "null",
    }
}

options! {
    /// The settings, typed.
    pub(super) struct Options if Self::go_together {
        base: u64 =
            nanoseconds("nanoseconds that every read and overwrite lasts, whatever the value's size"),
        per_kib: u64 = nanoseconds(
            "nanoseconds that it lasts more per 1,024 bytes of the value, in proportion",
        ),
        on: Below = Below::setting(
            Below::Flat,
            "the store that does the work: the flat one, or none, whose values are all empty",
        )
        .shapes_layout(),
        opens: u64 = number(
            0,
            1000,
            "0",
            "how often every read and overwrite also opens and closes the flat store's file, beyond its time",
        ),
    }
}

impl Options {
    pub(super) fn is_flat(&self) -> bool {
        self.on == Below::Flat
    }

    /// How long an operation on a value of `bytes` bytes lasts; a fraction of a nanosecond is dropped.
    fn cost(self, bytes: usize) -> Duration {
        let share = u128::from(self.per_kib) * bytes as u128 / 1024;
        let share = u64::try_from(share).unwrap_or(u64::MAX);
        Duration::from_nanos(self.base.saturating_add(share))
    }

    fn go_together(&self) -> Result<()> {
        refuse! {
            self.opens > 0 && !self.is_flat() => "combine opens with on=null",
                "there is no file to open; use on=flat";
        }
        Ok(())
    }
}

/// Runs `work` and waits until it has lasted as long as `until` says for its value, a missing one of no bytes.
/// An error is not waited for.
#[inline]
fn spend(
    until: impl FnOnce(usize) -> Duration,
    work: impl FnOnce() -> Result<Found>,
) -> Result<Found> {
    let started = Instant::now();
    let found = work()?;
    let until = until(match found {
        Found::Bytes(bytes) => bytes,
        Found::Missing => 0,
    });
    while started.elapsed() < until {
        spin_loop();
    }
    Ok(found)
}

/// What a call lasts beyond the time that it waits for, on average of a batch, here and now; the least of many
/// batches, for a busy machine only adds to one.
fn measured_excess() -> Duration {
    const BATCHES: usize = 30;
    const CALLS: u32 = 200;
    const WAIT: Duration = Duration::from_nanos(500);
    let batch = || {
        let started = Instant::now();
        for _ in 0..CALLS {
            let _ = spend(|_| black_box(WAIT), || black_box(Ok(Found::Missing)));
        }
        (started.elapsed() / CALLS).saturating_sub(WAIT)
    };
    let batches = std::iter::repeat_with(batch).take(BATCHES);
    batches.min().unwrap_or_default()
}

pub(super) struct SpinSession<'s> {
    below: Box<dyn Session + 's>,
    options: Options,
    file: Option<PathBuf>,
    excess: Duration,
}

impl<'s> SpinSession<'s> {
    pub(super) fn new(store: &'s ProbeStore, options: Options) -> Result<Self> {
        let empty = NullSession {
            value: Vec::new(),
            readings: 0,
        };
        Ok(Self {
            below: match &store.flat {
                Some(flat) => Box::new(FlatSession::of(flat)?),
                None => Box::new(empty),
            },
            options,
            file: store.flat.as_ref().map(FlatStore::path),
            excess: measured_excess(),
        })
    }

    /// Has the store below do something, and waits until that has lasted its time.
    fn spend(
        &mut self,
        work: impl FnOnce(&mut (dyn Session + 's)) -> Result<Found>,
    ) -> Result<Found> {
        if let Some(file) = &self.file {
            for _ in 0..self.options.opens {
                File::open(file).map_err(|e| StoreError::io("open", file)(e))?;
            }
        }
        let (below, options, excess) = (&mut *self.below, self.options, self.excess);
        let until = |bytes| options.cost(bytes).saturating_sub(excess);
        spend(until, || work(below))
    }
}

impl Session for SpinSession<'_> {
    fn close(self: Box<Self>) -> Result<()> {
        self.below.close()
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        self.spend(|below| below.read_into(key, buffer))
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        self.spend(|below| below.read_in_place(key, visit))
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        self.spend(|below| below.overwrite(key, value))
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        self.below.insert(key, value)
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        self.below.delete(key)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        self.below.scan(from, limit, visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::SPIN;
    use crate::registry;
    use std::path::Path;

    /// Runs `test` on a session of a store of `spec`, with 10,240 bytes under key 1.
    fn with_session(spec: &str, test: impl FnOnce(&mut dyn Session)) {
        let resolved = registry::resolve(&spec.parse().unwrap(), 0).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let store = SPIN.create(directory.path(), &resolved.settings).unwrap();
        let mut session = store.connect().unwrap();
        session.insert(Key(1), &[1; 10_240]).unwrap();
        test(&mut *session);
    }

    /// The shortest of a few runs, for a busy machine only adds to a run, and the one in the middle,
    /// for some make up for what the one before overshot.
    fn shortest_and_median(mut run: impl FnMut()) -> (Duration, Duration) {
        let timed = || {
            let started = Instant::now();
            run();
            started.elapsed()
        };
        let mut runs: Vec<Duration> = std::iter::repeat_with(timed).take(20).collect();
        runs.sort_unstable();
        (runs[0], runs[10])
    }

    fn options(base: u64, per_kib: u64, opens: u64) -> Options {
        Options {
            base,
            per_kib,
            on: Below::Flat,
            opens,
        }
    }

    #[test]
    fn a_cost_is_the_base_and_a_share_of_each_kib() {
        let cost = |base, per_kib, bytes| options(base, per_kib, 0).cost(bytes).as_nanos();
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
            let (shortest_read, read) = shortest_and_median(|| {
                let found = session.read_into(Key(1), &mut buffer).unwrap();
                assert_eq!(found, Found::Bytes(10_240));
            });
            let least = cost - Duration::from_micros(1);
            assert!(read >= least, "{read:?}");
            let (shortest_overwrite, overwrite) = shortest_and_median(|| {
                session.overwrite(Key(1), &[2; 10_240]).unwrap();
            });
            assert!(overwrite >= least, "{overwrite:?}");
            let (_, missing) = shortest_and_median(|| {
                session.read_into(Key(2), &mut buffer).unwrap();
            });
            assert!(missing >= Duration::from_micros(299), "{missing:?}");
            // The flat store's own work counts towards the cost, and nothing follows it.
            for whole in [shortest_read, shortest_overwrite] {
                assert!(whole < cost * 2, "{whole:?}");
            }
        });
    }

    /// What calls last that do nothing, nanoseconds of wall time on average.
    fn mean_of_calls(excess: Duration, base: u64, calls: u32) -> f64 {
        let started = Instant::now();
        for _ in 0..calls {
            let until = |_| Duration::from_nanos(base).saturating_sub(excess);
            spend(until, || Ok(Found::Bytes(0))).unwrap();
        }
        started.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
    }

    #[test]
    fn calls_last_their_time_on_average_though_each_overshoots() {
        // A build without optimisation takes long for what is neither reading nor waiting.
        let (short, long) = if cfg!(debug_assertions) {
            (200.0, 1_000.0)
        } else {
            (30.0, 30.0)
        };
        for base in [500_u32, 5_000] {
            let mut means: Vec<f64> = (0..20)
                .map(|_| mean_of_calls(measured_excess(), u64::from(base), 500))
                .collect();
            means.sort_unstable_by(f64::total_cmp);
            // A busy machine only adds; what one mean lacks, by chance, the others do not.
            let base = f64::from(base);
            assert!(means[10] >= base - short, "{base}: {means:?}");
            assert!(means[0] < base + long, "{base}: {means:?}");
        }
    }

    #[test]
    fn on_the_store_that_does_nothing_values_are_empty_and_last_as_long() {
        let resolved = registry::resolve(&"spin:base=200000,on=null".parse().unwrap(), 0).unwrap();
        let store = SPIN
            .create(Path::new("/nowhere"), &resolved.settings)
            .unwrap();
        let mut session = store.connect().unwrap();
        let mut buffer = Buffer::with_capacity(1).unwrap();
        let (_, read) = shortest_and_median(|| {
            let found = session.read_into(Key(1), &mut buffer).unwrap();
            assert_eq!(found, Found::Bytes(0));
        });
        assert!(read >= Duration::from_micros(199), "{read:?}");
    }

    #[test]
    fn the_file_is_opened_as_often_as_the_settings_say_besides() {
        with_session("spin:opens=3", |session| {
            let mut buffer = Buffer::with_capacity(10_240).unwrap();
            session.read_into(Key(1), &mut buffer).unwrap();
            assert_eq!(buffer.bytes(), [1; 10_240]);
        });
        // Nothing can be told of opening from outside but that it fails where there is no such file.
        let directory = tempfile::tempdir().unwrap();
        for (opens, succeeds) in [(0, true), (2, false)] {
            let empty = NullSession {
                value: Vec::new(),
                readings: 0,
            };
            let mut session = SpinSession {
                below: Box::new(empty),
                options: options(0, 0, opens),
                file: Some(directory.path().join("none")),
                excess: Duration::ZERO,
            };
            assert_eq!(session.overwrite(Key(1), b"x").is_ok(), succeeds);
        }
        let spec = "spin:opens=1,on=null".parse().unwrap();
        let message = registry::resolve(&spec, 0).unwrap_err().to_string();
        assert!(message.contains("on=flat"), "{message}");
    }

    #[test]
    fn values_are_those_of_the_flat_store_and_errors_take_the_name_of_whoever_opened_it() {
        with_session("spin:base=10", |session| {
            let mut buffer = Buffer::with_capacity(10_240).unwrap();
            session.read_into(Key(1), &mut buffer).unwrap();
            assert_eq!(buffer.bytes(), [1; 10_240]);
            let error = session.overwrite(Key(1), b"short").unwrap_err().of("spin");
            assert!(error.to_string().starts_with("spin cannot"), "{error}");
        });
    }
}
