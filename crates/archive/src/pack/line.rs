//! The line from the walk over the readers to the writer.
//!
//! A reader takes the next batch of what the walk finds, and hands it on in parts by a channel of that batch's own.
//! The writer gets these channels in the order of the walk, whoever reads. A reader waits where its batch's
//! channel is full, and the walk where too many batches wait, so what is between them is bounded.

use super::write::Rows;
use super::{Pack, Packed, told};
use crate::error::{Fault, Refusal, Refusals};
use crate::source::{Beside, Body, Item, Source};
use crate::walk::{Found, Walk};
use crate::{ArchiveError, Watch};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Entries of a batch.
const BATCH: usize = 64;
/// A part of a batch is handed on when it holds so many bytes, or an open file.
const PART: usize = 1 << 20;
/// Parts of a batch that wait for the writer.
const WAITING: usize = 2;

/// Everything that a run of the line needs.
pub(super) struct Line<'a> {
    pub(super) pack: &'a Pack,
    pub(super) page_size: u32,
    pub(super) scratch: &'a Path,
    pub(super) beside: Option<&'a Beside>,
    pub(super) walk: Walk,
    pub(super) total: u64,
    pub(super) watch: &'a dyn Watch,
}

/// Some of a batch.
#[derive(Debug, Default)]
struct Part {
    items: Vec<Item>,
    refused: Refusals,
    bytes: usize,
}

type Parts = Receiver<Result<Part, ArchiveError>>;
type Hand = SyncSender<Result<Part, ArchiveError>>;

impl Line<'_> {
    /// Writes everything into a new archive at `made`.
    pub(super) fn run(self, made: &Path) -> Result<Packed, ArchiveError> {
        let Self { pack, beside, .. } = self;
        let rows = Rows::create(made, pack, self.page_size, beside.is_some())?;
        let walk = Mutex::new(self.walk);
        let (batches, in_order) = sync_channel(pack.threads.get());
        let read = |batches: SyncSender<Parts>| match Source::of(
            &pack.source,
            self.scratch,
            pack.store,
            beside,
        ) {
            Ok(source) => read_all(source, &walk, &batches),
            Err(error) => fail(&batches, error),
        };
        thread::scope(|scope| {
            let mut started = 0;
            for _ in 0..pack.threads.get() {
                let batches = batches.clone();
                let started_one = thread::Builder::new().spawn_scoped(scope, || read(batches));
                started += usize::from(started_one.is_ok());
            }
            drop(batches);
            match started {
                0 => Err(ArchiveError::invalid(
                    "the system grants no thread; try again later",
                )),
                _ => write_all(rows, in_order, self.watch, self.total),
            }
        })
    }
}

/// Takes batches until every reader ended. Readers end when their channels do.
fn write_all(
    mut rows: Rows,
    batches: Receiver<Parts>,
    watch: &dyn Watch,
    total: u64,
) -> Result<Packed, ArchiveError> {
    for part in batches.into_iter().flatten() {
        let part = part?;
        if watch.interrupted() {
            return Err(ArchiveError::Interrupted);
        }
        rows.refuse(part.refused);
        for item in part.items {
            rows.write(item)?;
        }
        watch.progress(rows.done().min(total), total);
    }
    rows.finish()
}

/// Has the writer end with an error; nobody hears it if that ended before.
fn fail(batches: &SyncSender<Parts>, error: ArchiveError) {
    let (hand, parts) = sync_channel(1);
    let _ = hand.send(Err(error));
    let _ = batches.send(parts);
}

/// Reads batch after batch until the walk ends, the writer does, or something fails.
fn read_all(mut source: Source, walk: &Mutex<Walk>, batches: &SyncSender<Parts>) {
    loop {
        let mut part = Part::default();
        let (hand, parts) = sync_channel(WAITING);
        let found = {
            let mut walk = walk.lock().unwrap_or_else(PoisonError::into_inner);
            let found = next_batch(&mut walk, &mut part.refused);
            let is_over = found.as_ref().is_ok_and(Vec::is_empty) && part.refused.is_empty();
            // Within the lock: the order of the walk is that of the channels.
            if is_over || batches.send(parts).is_err() {
                return;
            }
            found
        };
        let read = found.and_then(|found| read_batch(&mut source, found, part, &hand));
        if let Err(error) = read {
            let _ = hand.send(Err(error));
            return;
        }
    }
}

fn next_batch(walk: &mut Walk, refused: &mut Refusals) -> Result<Vec<Found>, ArchiveError> {
    let mut found = Vec::with_capacity(BATCH);
    while found.len() < BATCH {
        match walk.next(refused)? {
            Some(next) => found.push(next),
            None => break,
        }
    }
    Ok(found)
}

fn read_batch(
    source: &mut Source,
    found: Vec<Found>,
    mut part: Part,
    hand: &Hand,
) -> Result<(), ArchiveError> {
    // Nobody takes a part if the writer ended, and then all ends.
    let hand_on = |part| hand.send(Ok(part)).map_err(|_| ArchiveError::Interrupted);
    for found in found {
        match source.read(&found) {
            Ok(item) => {
                part.bytes += match &item.body {
                    Body::Bytes(bytes) => bytes.len(),
                    Body::Spool(..) | Body::File(_) => PART,
                    Body::None | Body::Link(_) | Body::Outside => 0,
                };
                part.items.push(item);
            }
            Err(Fault::Entry(why)) => part.refused.add(Refusal::new(told(&found.path), why)),
            Err(Fault::Fatal(error)) => return Err(error),
        }
        if part.bytes >= PART {
            hand_on(std::mem::take(&mut part))?;
        }
    }
    hand_on(part)
}
