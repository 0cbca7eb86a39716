//! The line from the walk over the readers to the writer.
//!
//! A reader takes the next batch of what the walk finds, and hands it on in parts by a channel of that batch's own.
//! The writer gets these channels in the order of the walk, whoever reads. A reader waits where its batch's
//! channel is full, and the walk where too many batches wait, so what is between them is bounded.

use super::write::Rows;
use super::{Pack, Packed};
use crate::error::{Fault, Refusal, Refusals};
use crate::names::stored_name;
use crate::rows::threads;
use crate::source::{Beside, Body, Item, Source};
use crate::walk::Walk;
use crate::{ArchiveError, Watch};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Entries of a batch.
const BATCH: usize = 64;
/// A part of a batch is handed on when it holds so many bytes, or an open file.
const PART: usize = 1 << 20;
/// Parts of a batch that wait for the writer.
const WAITING: usize = 2;

/// Some of a batch: what the walk refused, and what was read.
type Part = (Refusals, Vec<Result<Item, Refusal>>);
/// Where parts of a batch go, and where they come from.
type Hand = SyncSender<Result<Part, ArchiveError>>;
type Parts = Receiver<Result<Part, ArchiveError>>;

/// Everything that a run of the line needs.
pub(super) struct Line<'a> {
    pub(super) pack: &'a Pack,
    pub(super) page_size: u32,
    pub(super) scratch: &'a Path,
    pub(super) beside: Option<&'a Beside>,
    pub(super) walk: Mutex<Walk>,
    pub(super) total: u64,
    pub(super) watch: &'a dyn Watch,
}

impl Line<'_> {
    /// Writes everything into a new archive at `made`.
    pub(super) fn run(&self, made: &Path) -> Result<Packed, ArchiveError> {
        let Self { pack, watch, .. } = *self;
        let mut rows = Rows::create(made, pack, self.page_size, self.beside.is_some())?;
        let (batches, in_order) = sync_channel(threads());
        let source = |_| Source::of(&pack.source, self.scratch, pack.store, self.beside);
        let sources = (0..threads()).map(source);
        let sources = sources.collect::<Result<Vec<_>, ArchiveError>>()?;
        thread::scope(|scope| {
            let mut started = false;
            for source in sources {
                let batches = batches.clone();
                let read = move || self.read(source, batches);
                started |= thread::Builder::new().spawn_scoped(scope, read).is_ok();
            }
            drop(batches);
            if !started {
                let why = "the system grants no thread; try again later";
                return Err(ArchiveError::invalid(why));
            }
            // Readers end when the channels that they hand on by do.
            for part in in_order.into_iter().flatten() {
                if watch.interrupted() {
                    return Err(ArchiveError::Interrupted);
                }
                let (refused, items) = part?;
                rows.refuse(refused);
                items.into_iter().try_for_each(|item| rows.put(item))?;
                watch.progress(rows.done().min(self.total), self.total);
            }
            rows.finish()
        })
    }

    /// Reads batch after batch until the walk ends, the writer does, or something fails.
    fn read(&self, mut source: Source, batches: SyncSender<Parts>) {
        while let Some((hand, walked)) = self.next(&batches) {
            let hand_on = |part| hand.send(Ok(part)).map_err(|_| ArchiveError::Interrupted);
            // Nobody takes a part if the writer ended, and then all ends.
            if let Err(error) = walked.and_then(|batch| batch.read(&mut source, &hand_on)) {
                let _ = hand.send(Err(error));
                return;
            }
        }
    }

    /// The next batch, and where its parts go; nothing after the last, or if the writer ended.
    fn next(&self, batches: &SyncSender<Parts>) -> Option<(Hand, Result<Batch, ArchiveError>)> {
        let (hand, parts) = sync_channel(WAITING);
        let mut walk = self.walk.lock();
        let batch = Batch::of(&mut walk);
        let is_over = batch.as_ref().is_ok_and(Batch::is_empty);
        // Within the lock: the order of the walk is that of the channels.
        (!is_over && batches.send(parts).is_ok()).then_some((hand, batch))
    }
}

/// What the walk found, and what it could not.
#[derive(Default)]
struct Batch {
    found: Vec<crate::walk::Found>,
    refused: Refusals,
}

impl Batch {
    fn of(walk: &mut Walk) -> Result<Self, ArchiveError> {
        let mut batch = Self::default();
        while batch.found.len() < BATCH
            && let Some(next) = walk.next(&mut batch.refused)?
        {
            batch.found.push(next);
        }
        Ok(batch)
    }

    fn is_empty(&self) -> bool {
        self.found.is_empty() && self.refused.is_empty()
    }

    fn read(
        self,
        source: &mut Source,
        hand_on: &dyn Fn(Part) -> Result<(), ArchiveError>,
    ) -> Result<(), ArchiveError> {
        let mut part = (self.refused, Vec::new());
        let mut bytes = 0;
        for found in self.found {
            let item = match source.read(&found) {
                Ok(item) => Ok(item),
                Err(Fault::Entry(why)) => Err(Refusal::new(stored_name(&found.path), why)),
                Err(Fault::Fatal(error)) => return Err(error),
            };
            bytes += match item.as_ref().map(|item| &item.body) {
                Ok(Body::Bytes(bytes)) => bytes.len(),
                Ok(Body::Spool(..) | Body::File(_)) => PART,
                _ => 0,
            };
            part.1.push(item);
            if bytes >= PART {
                hand_on(std::mem::take(&mut part))?;
                bytes = 0;
            }
        }
        hand_on(part)
    }
}
