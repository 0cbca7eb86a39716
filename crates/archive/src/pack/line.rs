//! The line from the walk over the readers to the writer.
//!
//! A reader takes the next batch of what the walk finds and hands it on in parts; the writer takes
//! batches in the order of the walk, whoever read them. Bytes between them are bounded.

use super::budget::Budget;
use super::write::Rows;
use super::{Pack, Packed, told};
use crate::error::{Fault, Refusal, Refusals};
use crate::source::{Beside, Item, Source};
use crate::walk::{Found, Walk};
use crate::{ArchiveError, Watch};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Entries of a batch.
const BATCH: usize = 64;
/// A part of a batch is handed on when it holds so many bytes.
const PART: u64 = 1 << 20;
/// What an entry costs beside its bytes.
const ENTRY: u64 = 512;

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

/// The walk, as readers share it.
struct Walking {
    walk: Walk,
    batches: u64,
}

/// Some of a batch.
#[derive(Debug, Default)]
struct Part {
    batch: u64,
    items: Vec<Item>,
    refused: Refusals,
    taken: u64,
    is_last: bool,
}

type Handed = Result<Part, ArchiveError>;

impl Line<'_> {
    /// Writes everything into a new archive at `made`.
    pub(super) fn run(self, made: &Path) -> Result<Packed, ArchiveError> {
        let walking = Mutex::new(Walking {
            walk: self.walk,
            batches: 0,
        });
        let budget = Budget::default();
        let rows = Rows::create(made, self.pack, self.page_size, self.beside.is_some())?;
        let (hand, handed) = mpsc::channel();
        let (watch, total) = (self.watch, self.total);
        let read = |hand: Sender<Handed>| {
            let source = Source::of(
                &self.pack.source,
                self.scratch,
                self.pack.store,
                self.beside,
            );
            let reader = source.map(|source| Reader {
                source,
                walking: &walking,
                budget: &budget,
                hand: &hand,
            });
            if let Err(error) = reader.and_then(|mut reader| reader.read_all()) {
                // Nobody hears it if the writer ended before.
                let _ = hand.send(Err(error));
            }
        };
        thread::scope(|scope| {
            let mut started = 0;
            for _ in 0..self.pack.threads.get() {
                let hand = hand.clone();
                let started_one = thread::Builder::new().spawn_scoped(scope, || read(hand));
                started += usize::from(started_one.is_ok());
            }
            drop(hand);
            let written = match started {
                0 => Err(ArchiveError::invalid(
                    "the system grants no thread; try again later",
                )),
                _ => write_all(rows, &handed, &budget, watch, total),
            };
            budget.stop();
            written
        })
    }
}

/// Takes parts until every reader ended.
fn write_all(
    mut rows: Rows,
    handed: &Receiver<Handed>,
    budget: &Budget,
    watch: &dyn Watch,
    total: u64,
) -> Result<Packed, ArchiveError> {
    let mut waiting: BTreeMap<u64, VecDeque<Part>> = BTreeMap::new();
    let mut next = 0;
    for part in handed {
        let part = part?;
        waiting.entry(part.batch).or_default().push_back(part);
        while let Some(part) = waiting.get_mut(&next).and_then(VecDeque::pop_front) {
            if watch.interrupted() {
                return Err(ArchiveError::Interrupted);
            }
            let (taken, is_last) = (part.taken, part.is_last);
            rows.refuse(part.refused);
            for item in part.items {
                rows.write(item)?;
            }
            if is_last {
                waiting.remove(&next);
                next += 1;
            }
            budget.give(taken, next);
            watch.progress(rows.done().min(total), total);
        }
    }
    rows.finish()
}

struct Reader<'a> {
    source: Source,
    walking: &'a Mutex<Walking>,
    budget: &'a Budget,
    hand: &'a Sender<Handed>,
}

impl Reader<'_> {
    fn read_all(&mut self) -> Result<(), ArchiveError> {
        while !self.budget.stopped() {
            let Some((found, part)) = self.next_batch()? else {
                break;
            };
            self.read_batch(found, part)?;
        }
        Ok(())
    }

    /// The next batch, with what the walk refused on the way.
    fn next_batch(&self) -> Result<Option<(Vec<Found>, Part)>, ArchiveError> {
        let mut walking = self.walking.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::with_capacity(BATCH);
        let mut part = Part {
            batch: walking.batches,
            ..Part::default()
        };
        while found.len() < BATCH {
            match walking.walk.next(&mut part.refused)? {
                Some(next) => found.push(next),
                None => break,
            }
        }
        if found.is_empty() && part.refused.is_empty() {
            return Ok(None);
        }
        walking.batches += 1;
        Ok(Some((found, part)))
    }

    fn read_batch(&mut self, found: Vec<Found>, mut part: Part) -> Result<(), ArchiveError> {
        let batch = part.batch;
        let budget = self.budget;
        for found in found {
            let taken = &mut part.taken;
            let mut room = |bytes: u64| match budget.take(batch, bytes) {
                true => {
                    *taken += bytes;
                    Ok(())
                }
                false => Err(Fault::Fatal(ArchiveError::Interrupted)),
            };
            let read = room(ENTRY).and_then(|()| self.source.read(&found, &mut room));
            match read {
                Ok(item) => part.items.push(item),
                Err(Fault::Entry(why)) => part.refused.add(Refusal::new(told(&found.path), why)),
                Err(Fault::Fatal(error)) => return Err(error),
            }
            if part.taken >= PART {
                let next = Part {
                    batch,
                    ..Part::default()
                };
                self.hand_on(std::mem::replace(&mut part, next));
            }
        }
        part.is_last = true;
        self.hand_on(part);
        Ok(())
    }

    fn hand_on(&self, part: Part) {
        // The writer ended if nobody takes it, and then all ends.
        let _ = self.hand.send(Ok(part));
    }
}
