//! All rows of an archive, dealt to several threads.

use crate::misplaced::Misplaced;
use crate::read::Reader;
use crate::sqlar::{Archive, Listed, Rows};
use crate::{ArchiveError, Watch};
use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{self, ScopedJoinHandle};

/// Rows that a thread takes at once: neighbours in the tree, mostly.
const RANGE: u32 = 64;

/// Does `work` with every row of an archive, inside it and beside it; what cannot stand where it says comes as
/// the reason why. Each thread has a reader and a state of its own; the states are handed back.
///
/// # Errors
/// The archive cannot be read, `work` fails, or `watch` wants it to end.
pub(crate) fn each_row<S: Send>(
    archive: &Path,
    threads: NonZeroUsize,
    watch: &dyn Watch,
    begin: &(dyn Fn() -> Result<S, ArchiveError> + Sync),
    work: &(dyn Fn(&mut S, &mut Reader, Listed) -> Result<(), ArchiveError> + Sync),
) -> Result<Vec<S>, ArchiveError> {
    let deal = Deal {
        archive,
        misplaced: Misplaced::of(&Archive::open(archive)?)?,
        left: Mutex::new(Some((false, i64::MIN))),
        failed: AtomicBool::new(false),
        done: AtomicU64::new(0),
        watch,
    };
    let deal = &deal;
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads.get())
            .map_while(|_| {
                let work = move || deal.take_part(begin, work);
                thread::Builder::new().spawn_scoped(scope, work).ok()
            })
            .collect();
        // This thread works too, alone where the system grants no others.
        let mut ends = vec![deal.take_part(begin, work)];
        ends.extend(others.into_iter().map(joined));
        ends.into_iter().collect()
    })
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
    /// Whether what is next lies beside the archive, and its first row.
    left: Mutex<Option<(bool, i64)>>,
    failed: AtomicBool,
    done: AtomicU64,
    watch: &'a dyn Watch,
}

impl Deal<'_> {
    fn take_part<S>(
        &self,
        begin: &dyn Fn() -> Result<S, ArchiveError>,
        work: &dyn Fn(&mut S, &mut Reader, Listed) -> Result<(), ArchiveError>,
    ) -> Result<S, ArchiveError> {
        let part = self.work_off(begin, work);
        if part.is_err() {
            self.failed.store(true, Relaxed);
        }
        part
    }

    fn work_off<S>(
        &self,
        begin: &dyn Fn() -> Result<S, ArchiveError>,
        work: &dyn Fn(&mut S, &mut Reader, Listed) -> Result<(), ArchiveError>,
    ) -> Result<S, ArchiveError> {
        let mut reader = Reader::open(self.archive)?;
        let total = reader.archive().count()?;
        let mut state = begin()?;
        while let Some(rows) = self.next(&reader)? {
            for row in rows {
                if self.watch.interrupted() {
                    return Err(ArchiveError::Interrupted);
                }
                let row = row.and_then(|entry| self.misplaced.admit(entry));
                work(&mut state, &mut reader, row)?;
                let done = self.done.fetch_add(1, Relaxed) + 1;
                if done.is_multiple_of(16) {
                    self.watch.progress(done.min(total), total);
                }
            }
        }
        Ok(state)
    }

    /// The next rows that nobody took.
    fn next(&self, reader: &Reader) -> Result<Option<Vec<Listed>>, ArchiveError> {
        let archive = reader.archive();
        let mut left = self.left.lock();
        while !self.failed.load(Relaxed)
            && let Some((outside, from)) = *left
        {
            let end = archive.end_of_range(outside, from, RANGE)?;
            let next = end.and_then(|end| Some((outside, end.checked_add(1)?)));
            *left = next.or((!outside).then_some((true, i64::MIN)));
            let Some(end) = end else { continue };
            drop(left);
            let mut rows = Vec::new();
            archive.rows(outside, Rows::Range(from, end), &mut |row| {
                rows.push(row);
                Ok(())
            })?;
            return Ok(Some(rows));
        }
        Ok(None)
    }
}
