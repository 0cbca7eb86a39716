//! What is found out by doing it: all of it together takes about half a second, or a little longer
//! where syncs are slow.

use crate::{HarnessError, page_cache, platform};
use std::hint::{black_box, spin_loop};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use stowplan_model::Residency;

/// Readings of the clock in a batch, and batches.
const READINGS: u32 = 1_000;
const BATCHES: usize = 20;
/// Readings after which a clock that has not moved is too coarse.
const MOST_READINGS: u32 = 200_000;
/// Syncs that are timed, unless they take longer than this together.
const SYNCS: usize = 20;
const SYNCING_FOR: Duration = Duration::from_millis(500);
/// Bytes that each of them has to keep.
const SYNCED_BYTES: usize = 4096;
/// Size of the file that is evicted.
const EVICTED_BYTES: usize = 1 << 20;

/// Spins, and says in which share of that time this thread waited for a CPU; nothing where the
/// system does not tell.
pub(super) fn waiting_share(time: Duration) -> Option<f64> {
    let before = platform::run_delay_ns()?;
    let start = Instant::now();
    while start.elapsed() < time {
        spin_loop();
    }
    let waited = platform::run_delay_ns()?.saturating_sub(before);
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    Some(waited as f64 / start.elapsed().as_nanos().max(1) as f64)
}

/// The clock that everything is timed by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Clock {
    /// Nanoseconds to read it once.
    pub(super) cost_ns: f64,
    /// By how many nanoseconds it moves at least; nothing if it was not seen to move.
    pub(super) step_ns: Option<u64>,
}

pub(super) fn clock() -> Clock {
    let batch = || {
        let start = Instant::now();
        for _ in 0..READINGS {
            black_box(Instant::now());
        }
        nanoseconds(start.elapsed())
    };
    // The shortest: whatever else runs only adds to it.
    let shortest = (0..BATCHES).map(|_| batch()).min().unwrap_or(0);
    #[expect(clippy::cast_precision_loss, reason = "a batch takes microseconds")]
    let cost_ns = shortest as f64 / f64::from(READINGS);
    Clock {
        cost_ns,
        step_ns: smallest_step(),
    }
}

fn smallest_step() -> Option<u64> {
    let mut smallest: Option<u64> = None;
    let mut last = Instant::now();
    for reading in 0..MOST_READINGS {
        let now = Instant::now();
        let step = nanoseconds(now - last);
        if step > 0 {
            smallest = Some(smallest.map_or(step, |known| known.min(step)));
        }
        last = now;
        if smallest.is_some() && reading >= READINGS {
            break;
        }
    }
    smallest
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// What a directory's file system does.
#[derive(Debug, Default)]
pub(super) struct Disk {
    /// Nanoseconds for each append and sync, shortest first.
    syncs_ns: Vec<u64>,
    /// What stayed in the page cache of a file that was evicted; nothing where that cannot be
    /// seen.
    pub(super) evicted: Option<Residency>,
}

impl Disk {
    /// The fast tenth, the middle and the slow tenth.
    pub(super) fn syncs(&self) -> Option<[u64; 3]> {
        let last = self.syncs_ns.len().checked_sub(1)?;
        Some([last / 10, last / 2, last - last / 10].map(|index| self.syncs_ns[index]))
    }

    #[cfg(test)]
    pub(super) fn made_up(mut syncs_ns: Vec<u64>, evicted: Option<Residency>) -> Self {
        syncs_ns.sort_unstable();
        Self { syncs_ns, evicted }
    }
}

fn temporary(directory: &Path) -> Result<tempfile::NamedTempFile, HarnessError> {
    tempfile::Builder::new()
        .prefix(".stowplan-doctor-")
        .tempfile_in(directory)
        // The kind only: the text names the file, which means nothing to anyone.
        .map_err(|error| {
            HarnessError::io("write to", directory)(std::io::Error::from(error.kind()))
        })
}

/// Writes a small file, which it removes.
pub(super) fn disk(directory: &Path) -> Result<Disk, HarnessError> {
    // Not one without a name: some file systems need not keep what nobody could find again.
    let mut file = temporary(directory)?;
    let mut syncs_ns = Vec::with_capacity(SYNCS);
    let begin = Instant::now();
    while syncs_ns.len() < SYNCS && begin.elapsed() < SYNCING_FOR {
        let start = Instant::now();
        let written = file.write_all(&[1; SYNCED_BYTES]);
        written
            .and_then(|()| file.as_file().sync_data())
            .map_err(HarnessError::io("write to", directory))?;
        syncs_ns.push(nanoseconds(start.elapsed()));
    }
    syncs_ns.sort_unstable();
    let filled = file.write_all(&vec![1; EVICTED_BYTES]);
    filled.map_err(HarnessError::io("write to", directory))?;
    let evicted = page_cache::evict(&[file.path()])
        .and_then(|()| page_cache::residency(&[file.path()]))
        .ok()
        .flatten();
    Ok(Disk { syncs_ns, evicted })
}

/// What it takes to open a small file, shortest of several times.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening {
    /// To open it, read it and close it, in nanoseconds.
    pub(super) open_ns: u64,
    /// To find it without opening it, which asks nobody.
    pub(super) look_up_ns: u64,
}

/// Writes a small file, which it removes, and opens it some hundred times.
pub(super) fn opening(directory: &Path) -> Result<Opening, HarnessError> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    let file = temporary(directory)?;
    let refused = || HarnessError::io("open a file in", directory);
    std::fs::write(file.path(), [1; SYNCED_BYTES]).map_err(refused())?;
    let find = OFlags::PATH | OFlags::CLOEXEC;
    let look_up = || openat(CWD, file.path(), find, Mode::empty()).map(drop);
    let look_up_ns = shortest(&mut || Ok(look_up()?)).map_err(refused())?;
    let mut read = || std::fs::read(file.path()).map(|bytes| drop(black_box(bytes)));
    Ok(Opening {
        open_ns: shortest(&mut read).map_err(refused())?,
        look_up_ns,
    })
}

/// Nanoseconds of an act, in the shortest of some batches: whatever else runs only adds to it. It takes a
/// quarter of a second at most.
fn shortest(act: &mut dyn FnMut() -> std::io::Result<()>) -> std::io::Result<u64> {
    const OF_A_BATCH: u32 = 50;
    let (began, mut shortest) = (Instant::now(), u64::MAX);
    for batch in 0..BATCHES {
        if batch > 0 && began.elapsed() > SYNCING_FOR / 2 {
            break;
        }
        let start = Instant::now();
        for _ in 0..OF_A_BATCH {
            act()?;
        }
        shortest = shortest.min(nanoseconds(start.elapsed() / OF_A_BATCH));
    }
    Ok(shortest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_costs_something_and_moves() {
        let clock = clock();
        assert!(clock.cost_ns > 0.0 && clock.step_ns.is_some(), "{clock:?}");
    }

    #[test]
    fn a_spin_waits_for_a_share_of_its_time() {
        let share = waiting_share(Duration::from_millis(20));
        assert!(
            share.is_none_or(|share| (0.0..=1.0).contains(&share)),
            "{share:?}"
        );
    }

    #[test]
    fn the_probe_of_a_disk_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let disk = disk(directory.path()).unwrap();
        let [fast, middle, slow] = disk.syncs().unwrap();
        assert!(0 < fast && fast <= middle && middle <= slow);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn to_open_and_read_a_file_takes_longer_than_to_find_it_and_nothing_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let opening = opening(directory.path()).unwrap();
        assert!(0 < opening.look_up_ns && opening.look_up_ns < opening.open_ns);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn where_nothing_can_be_written_the_place_is_named_and_no_temporary() {
        let error = disk(Path::new("/proc")).unwrap_err().to_string();
        assert!(
            error.contains("/proc") && !error.contains("doctor"),
            "{error}"
        );
    }

    #[test]
    fn of_one_sync_all_tenths_are_that_one() {
        let one = Disk::made_up(vec![7], None);
        assert_eq!(one.syncs(), Some([7, 7, 7]));
        assert_eq!(Disk::default().syncs(), None);
        let many = Disk::made_up((0..21).rev().collect(), None);
        assert_eq!(many.syncs(), Some([2, 10, 18]));
    }
}
