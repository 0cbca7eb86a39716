//! All rows of an archive, dealt to several threads.

use crate::error::{Fault, Refusals};
use crate::misplaced::Misplaced;
use crate::read::Reader;
use crate::sqlar::{Archive, DEALT, Entry};
use crate::{ArchiveError, Watch};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::thread::{self, ScopedJoinHandle};

/// More threads wait for each other in the file system, and for the one that writes.
const THREADS_MAX: usize = 8;
/// How many threads work on an archive.
pub(crate) fn threads() -> usize {
    thread::available_parallelism().map_or(1, |processors| processors.get().min(THREADS_MAX))
}

/// Does `work` with every entry of an archive, inside it and beside it. Each thread has a reader and a state of
/// its own. Returns the rows that are none, cannot stand where they say, or that `work` refused.
///
/// # Errors
/// The archive cannot be read, `work` fails, or `watch` wants it to end.
pub(crate) fn each_row<S>(
    archive: &Path,
    watch: &dyn Watch,
    begin: &(dyn Fn() -> Result<S, ArchiveError> + Sync),
    work: &(dyn Fn(&mut S, &mut Reader, &Entry) -> Result<(), Fault> + Sync),
) -> Result<Refusals, ArchiveError> {
    let deal = Deal {
        archive,
        misplaced: Misplaced::of(&Archive::open(archive)?)?,
        hands: threads() as u32,
        next: AtomicU32::new(0),
        refused: Mutex::default(),
        failed: AtomicBool::new(false),
        done: AtomicU64::new(0),
        watch,
    };
    let take_part = || {
        let part = deal.work_off(begin, work);
        deal.failed.fetch_or(part.is_err(), Relaxed);
        part
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads())
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, take_part).ok())
            .collect();
        // This thread works too, alone where the system grants no others.
        let own = take_part();
        others.into_iter().map(joined).fold(own, Result::and)
    })?;
    Ok(deal.refused.into_inner())
}

/// What a thread came to; a panic goes on here.
pub(crate) fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

struct Deal<'a> {
    archive: &'a Path,
    misplaced: Misplaced,
    /// In how many hands the rows are dealt: the same for all threads, whatever the system grants meanwhile.
    hands: u32,
    /// The number of the hand that nobody has taken.
    next: AtomicU32,
    refused: Mutex<Refusals>,
    failed: AtomicBool,
    done: AtomicU64,
    watch: &'a dyn Watch,
}

impl Deal<'_> {
    /// Takes hand after hand: of so many rows as there are threads one, neighbours in the tree mostly.
    fn work_off<S>(
        &self,
        begin: &dyn Fn() -> Result<S, ArchiveError>,
        work: &dyn Fn(&mut S, &mut Reader, &Entry) -> Result<(), Fault>,
    ) -> Result<(), ArchiveError> {
        // Rows are listed while values are read.
        let (listed, mut reader) = (Archive::open(self.archive)?, Reader::open(self.archive)?);
        let (total, mut state) = (listed.count()?, begin()?);
        let hands = self.hands;
        let (mut hand, mut asked) = (self.next.fetch_add(1, Relaxed), false);
        while hand < hands {
            for outside in [false, true] {
                let dealt = listed.rows(outside, DEALT, &[&hands, &hand], &mut |row| {
                    asked = asked || self.watch.interrupted();
                    if asked || self.failed.load(Relaxed) {
                        return Err(ArchiveError::Interrupted);
                    }
                    match row.and_then(|entry| self.misplaced.admit(entry)) {
                        Ok(entry) => work(&mut state, &mut reader, &entry)
                            .or_else(|fault| fault.told(&entry.name, &mut self.refused.lock()))?,
                        Err(refusal) => self.refused.lock().add(refusal),
                    }
                    let done = self.done.fetch_add(1, Relaxed) + 1;
                    if done.is_multiple_of(16) {
                        self.watch.progress(done.min(total), total);
                    }
                    Ok(())
                });
                match dealt {
                    // Whoever failed tells why.
                    Err(ArchiveError::Interrupted) if !asked => return Ok(()),
                    dealt => dealt?,
                }
            }
            hand = self.next.fetch_add(1, Relaxed);
        }
        Ok(())
    }
}
