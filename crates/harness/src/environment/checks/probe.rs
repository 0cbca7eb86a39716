//! What is found out by doing it: all of it together takes about half a second, or a little longer
//! where syncs are slow.

use crate::{HarnessError, Result, page_cache, platform};
use std::hint::spin_loop;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use stowplan_model::Residency;

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

/// Writes a small file, which it removes.
pub(super) fn disk(directory: &Path) -> Result<Disk> {
    // Not one without a name: some file systems need not keep what nobody could find again.
    let mut file = tempfile::Builder::new()
        .prefix(".stowplan-doctor-")
        .tempfile_in(directory)
        // The kind only: the text names the file, which means nothing to anyone.
        .map_err(|error| {
            HarnessError::io("write to", directory)(std::io::Error::from(error.kind()))
        })?;
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

#[cfg(test)]
mod tests {
    use super::*;

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
