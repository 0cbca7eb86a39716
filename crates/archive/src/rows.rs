//! All rows of an archive, dealt to several threads.

use crate::error::Refusal;
use crate::misplaced::Misplaced;
use crate::read::Reader;
use crate::sqlar::{Archive, Entry, Rows};
use crate::{ArchiveError, Watch};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Rows that a thread takes at once: neighbours in the tree, mostly.
const RANGE: u32 = 64;

/// What of the archive is still to be taken.
#[derive(Debug, Clone, Copy)]
enum Left {
    InsideFrom(i64),
    Outside,
    Nothing,
}

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
    work: &(dyn Fn(&mut S, &mut Reader, Row) -> Result<(), ArchiveError> + Sync),
) -> Result<Vec<S>, ArchiveError> {
    let deal = Deal {
        archive,
        misplaced: Misplaced::of(&Archive::open(archive)?)?,
        left: Mutex::new(Left::InsideFrom(i64::MIN)),
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
        ends.extend(others.into_iter().map(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        }));
        ends.into_iter().collect()
    })
}

/// A row, as an entry or as the reason why it is none.
pub(crate) type Row = Result<Entry, Refusal>;

struct Deal<'a> {
    archive: &'a Path,
    misplaced: Misplaced,
    left: Mutex<Left>,
    failed: AtomicBool,
    done: AtomicU64,
    watch: &'a dyn Watch,
}

impl Deal<'_> {
    fn take_part<S>(
        &self,
        begin: &dyn Fn() -> Result<S, ArchiveError>,
        work: &dyn Fn(&mut S, &mut Reader, Row) -> Result<(), ArchiveError>,
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
        work: &dyn Fn(&mut S, &mut Reader, Row) -> Result<(), ArchiveError>,
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
    fn next(&self, reader: &Reader) -> Result<Option<Vec<Row>>, ArchiveError> {
        let archive = reader.archive();
        let mut rows = Vec::new();
        let mut keep = |row| {
            rows.push(row);
            Ok(())
        };
        let mut left = self.left();
        if self.failed.load(Relaxed) {
            return Ok(None);
        }
        if let Left::InsideFrom(from) = *left {
            if let Some(to) = archive.end_of_range(from, RANGE)? {
                *left = to.checked_add(1).map_or(Left::Outside, Left::InsideFrom);
                drop(left);
                archive.inside(Rows::Range(from, to), &mut keep)?;
                return Ok(Some(rows));
            }
            *left = Left::Outside;
        }
        if let Left::Outside = *left {
            *left = Left::Nothing;
            drop(left);
            archive.outside(Rows::ByName, &mut keep)?;
            return Ok(Some(rows));
        }
        Ok(None)
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
