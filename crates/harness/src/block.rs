//! The measured loop.
//!
//! One loop for every operation and both kinds of timing, specialised by the compiler, so that
//! a ratio block holds nothing but the operations and a latency block one clock reading each.

use crate::HarnessError;
use crate::dataset::{Dataset, Generator};
use crate::sequence::{RawStep, Step};
use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use std::hint::black_box;
use std::time::Instant;
use stowplan_model::{Delivery, Operation, PerTransaction, Workload};
use stowplan_stores::{Access, Buffer, Found, Key, Session, StoreError};

/// The steps of a block: one slice of a sequence, and another where it goes over the end.
pub(crate) type Window<'a> = [&'a [RawStep]; 2];

/// Number of steps.
pub(crate) fn len(window: &Window<'_>) -> u64 {
    window.iter().map(|part| part.len() as u64).sum()
}

/// Size of the largest value, in bytes.
pub(crate) fn bytes_of(window: &Window<'_>) -> usize {
    steps(window)
        .map(|step| step.bytes as usize)
        .max()
        .unwrap_or(0)
}

#[inline]
fn steps<'a>(window: &'a Window<'_>) -> impl Iterator<Item = Step> + 'a {
    window.iter().copied().flatten().map(Step::decode)
}

/// Prepared values begin on a page.
const PAYLOAD_ALIGNMENT: usize = 4096;

/// Where the clock is read.
pub(crate) enum Timing<'a> {
    /// At the ends only, by the caller.
    Ends,
    /// Once per operation, chained: the end of one is the start of the next.
    EachOperation(&'a mut Histogram<u64>),
}

/// What a block did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Bytes delivered or written.
    pub(crate) bytes: u64,
    /// Transactions committed.
    pub(crate) commits: u64,
    /// The commit of a block that is one transaction, nanoseconds.
    pub(crate) last_commit_ns: u64,
}

/// The operations of a block, whose steps may be given in parts: transactions go over their ends.
pub(crate) struct Block<'a> {
    session: &'a mut dyn Session,
    workload: &'a Workload,
    buffer: &'a mut Buffer,
    /// Operations of the transaction that is open.
    open: u64,
    done: Done,
}

impl<'a> Block<'a> {
    pub(crate) fn new(
        session: &'a mut dyn Session,
        workload: &'a Workload,
        buffer: &'a mut Buffer,
    ) -> Self {
        Self {
            session,
            workload,
            buffer,
            open: 0,
            done: Done::default(),
        }
    }

    /// Runs the operations of a window.
    pub(crate) fn part(
        &mut self,
        window: &Window<'_>,
        payloads: &mut Payloads,
        timing: &mut Timing<'_>,
    ) -> Result<(), HarnessError> {
        match timing {
            Timing::Ends => self.with(window, payloads, &mut NoClock),
            Timing::EachOperation(histogram) => {
                let mut clock = ChainedClock {
                    last: Instant::now(),
                    histogram,
                };
                self.with(window, payloads, &mut clock)
            }
        }
    }

    /// Commits what is open.
    pub(crate) fn finish(&mut self) -> Result<(), HarnessError> {
        if self.open > 0 {
            let committing = Instant::now();
            self.session.commit()?;
            let elapsed = committing.elapsed().as_nanos();
            self.done.last_commit_ns = u64::try_from(elapsed).unwrap_or(u64::MAX);
            self.done.commits += 1;
            self.open = 0;
        }
        Ok(())
    }

    /// What was done up to now.
    pub(crate) fn done(&self) -> Done {
        self.done
    }

    fn with<C: Clock>(
        &mut self,
        window: &Window<'_>,
        payloads: &mut Payloads,
        clock: &mut C,
    ) -> Result<(), HarnessError> {
        let Self {
            session,
            workload,
            buffer,
            open,
            done,
        } = self;
        let mut run = Loop {
            session: &mut **session,
            per: workload.per_transaction,
            open,
            done,
        };
        match (workload.operation, workload.delivery) {
            (Operation::Read, Delivery::Copy) => {
                run.over(window, Access::Read, clock, |session, _, step| {
                    expect(step, session.read_into(Key(step.key), buffer)?)
                })
            }
            (Operation::Read, Delivery::InPlace) => {
                run.over(window, Access::Read, clock, |session, _, step| {
                    expect(step, session.read_in_place(Key(step.key), &mut touch)?)
                })
            }
            (Operation::Overwrite, _) => {
                run.over(window, Access::Write, clock, |session, index, step| {
                    let value = payloads.get(index, step);
                    expect(step, session.overwrite(Key(step.key), value)?)
                })
            }
            (Operation::Insert, _) if workload.rows_per_statement.is_some_and(|rows| rows > 1) => {
                run.statements(window, workload, payloads, clock)
            }
            (Operation::Insert, _) => {
                run.over(window, Access::Write, clock, |session, index, step| {
                    let value = payloads.get(index, step);
                    session.insert(Key(step.key), value)?;
                    Ok(value.len() as u64)
                })
            }
            (Operation::Mix, _) => {
                run.over(window, Access::Write, clock, |session, index, step| {
                    let found = if step.action.puts() {
                        session.overwrite(Key(step.key), payloads.get(index, step))?
                    } else {
                        session.read_into(Key(step.key), buffer)?
                    };
                    expect(step, found)
                })
            }
            (operation, _) => Err(HarnessError::invalid(format!(
                "a {operation} workload cannot be run yet"
            ))),
        }
    }
}

/// The loop itself, and what it carries from one part to the next.
struct Loop<'a> {
    session: &'a mut dyn Session,
    per: PerTransaction,
    open: &'a mut u64,
    done: &'a mut Done,
}

impl Loop<'_> {
    /// Inserts several rows by each statement.
    fn statements<C: Clock>(
        &mut self,
        window: &Window<'_>,
        workload: &Workload,
        payloads: &Payloads,
        clock: &mut C,
    ) -> Result<(), HarnessError> {
        let Payloads::Stored(dataset) = payloads else {
            return Err(HarnessError::invalid("rows are inserted from a dataset"));
        };
        let rows = workload.rows_per_statement.unwrap_or(1).max(1) as usize;
        let group = match self.per {
            PerTransaction::All => u64::MAX,
            PerTransaction::Operations(n) => u64::from(n),
        };
        // Made once: between two statements nothing is allocated.
        let mut values: Vec<(Key, &[u8])> = Vec::with_capacity(rows);
        for part in window {
            for chunk in part.chunks(rows) {
                if group > 1 && *self.open == 0 {
                    self.session.begin(Access::Write)?;
                    clock.resume();
                }
                let keys = chunk.iter().map(|raw| Step::decode(raw).key);
                values.clear();
                values.extend(keys.map(|key| (Key(key), dataset.value(key))));
                self.session.insert_many(&values)?;
                self.done.bytes += values.iter().map(|(_, v)| v.len() as u64).sum::<u64>();
                clock.operation();
                *self.open += chunk.len() as u64;
                if group > 1 && *self.open >= group {
                    self.session.commit()?;
                }
                if *self.open >= group {
                    self.done.commits += 1;
                    *self.open = 0;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn over<C: Clock>(
        &mut self,
        window: &Window<'_>,
        access: Access,
        clock: &mut C,
        mut operation: impl FnMut(&mut dyn Session, usize, &Step) -> Result<u64, StoreError>,
    ) -> Result<(), HarnessError> {
        // 0: outside `begin` … `commit` each operation is a transaction of its own.
        let group = match self.per {
            PerTransaction::All => u64::MAX,
            PerTransaction::Operations(1) => 0,
            PerTransaction::Operations(n) => u64::from(n),
        };
        let mut bytes = 0;
        let mut open = *self.open;
        for (index, step) in steps(window).enumerate() {
            if group > 0 && open == 0 {
                self.session.begin(access)?;
                clock.resume();
            }
            bytes += operation(self.session, index, &step)?;
            clock.operation();
            if group > 0 {
                open += 1;
                if open == group {
                    self.session.commit()?;
                    self.done.commits += 1;
                    open = 0;
                }
            }
        }
        self.done.bytes += bytes;
        *self.open = open;
        if group == 0 {
            self.done.commits += len(window);
        }
        Ok(())
    }
}

/// The value must be there with its size: a miss or a short value is an error, never a fast
/// operation.
#[inline]
fn expect(step: &Step, found: Found) -> Result<u64, StoreError> {
    match found {
        Found::Bytes(bytes) if bytes as u64 == u64::from(step.bytes) => Ok(bytes as u64),
        found => Err(surprise(step, found)),
    }
}

#[cold]
fn surprise(step: &Step, found: Found) -> StoreError {
    let detail = match found {
        Found::Missing => "it is missing".to_owned(),
        Found::Bytes(bytes) => format!("it has {bytes} bytes instead of {}", step.bytes),
    };
    StoreError::Damaged {
        store: "store",
        key: step.key,
        detail,
    }
}

/// Touches every cache line of a lent value, so that lending is not cheaper than looking.
#[inline]
fn touch(bytes: &[u8]) {
    let sum = bytes
        .iter()
        .step_by(64)
        .fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    black_box(sum);
}

/// What is told to the clock.
trait Clock {
    /// An operation has ended.
    fn operation(&mut self);
    /// What lay between, a transaction's beginning or end, belongs to no operation.
    fn resume(&mut self);
}

struct NoClock;

impl Clock for NoClock {
    #[inline]
    fn operation(&mut self) {}
    #[inline]
    fn resume(&mut self) {}
}

struct ChainedClock<'a> {
    last: Instant,
    histogram: &'a mut Histogram<u64>,
}

impl Clock for ChainedClock<'_> {
    #[inline]
    fn operation(&mut self) {
        let now = Instant::now();
        let elapsed = u64::try_from((now - self.last).as_nanos()).unwrap_or(u64::MAX);
        self.histogram.saturating_record(elapsed);
        self.last = now;
    }

    #[inline]
    fn resume(&mut self) {
        self.last = Instant::now();
    }
}

/// A histogram from 1 ns to one minute with three digits.
pub(crate) fn new_histogram() -> Result<Histogram<u64>, HarnessError> {
    Histogram::new_with_bounds(1, 60_000_000_000, 3)
        .map_err(|error| HarnessError::invalid(format!("cannot make a histogram: {error}")))
}

/// The histogram as text: HDR V2 in base64.
pub(crate) fn serialise(histogram: &Histogram<u64>) -> Result<String, HarnessError> {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(histogram, &mut bytes)
        .map_err(|error| HarnessError::invalid(format!("cannot write a histogram: {error:?}")))?;
    Ok(base64::engine::general_purpose::STANDARD.encode(bytes))
}

/// The values that a window writes.
pub(crate) enum Payloads {
    /// None: it reads.
    None,
    /// Generated beforehand, each on a page boundary as the destination of reads is.
    Prepared {
        memory: memmap2::Mmap,
        /// Begin and length of each.
        ranges: Vec<(usize, usize)>,
    },
    /// Drawn one by one while the clock runs.
    Timed(Vec<u8>),
    /// Those of a dataset, where they lie.
    Stored(Dataset),
}

impl Payloads {
    pub(crate) fn prepare(
        generator: &Generator,
        operation: Operation,
        window: &Window<'_>,
        version: u32,
    ) -> Result<Self, HarnessError> {
        let mut ranges = Vec::new();
        let mut end = 0;
        for step in steps(window) {
            let bytes = payload_bytes(operation, &step);
            ranges.push((end, bytes));
            end += bytes.next_multiple_of(PAYLOAD_ALIGNMENT);
        }
        let memory_error = |error| {
            HarnessError::invalid(format!(
                "cannot get {end} bytes of memory for the values to write: {error}; free some, or measure smaller values"
            ))
        };
        let mut memory = memmap2::MmapMut::map_anon(end.max(1)).map_err(memory_error)?;
        for (step, (start, bytes)) in steps(window).zip(&ranges) {
            generator.fill(step.key, version, &mut memory[*start..start + bytes]);
        }
        let memory = memory.make_read_only().map_err(memory_error)?;
        Ok(Self::Prepared { memory, ranges })
    }

    #[inline]
    fn get(&mut self, index: usize, step: &Step) -> &[u8] {
        match self {
            Self::None => &[],
            Self::Prepared { memory, ranges } => {
                let (start, bytes) = ranges[index];
                &memory[start..start + bytes]
            }
            Self::Stored(dataset) => dataset.value(step.key),
            Self::Timed(buffer) => {
                let bytes = step.bytes as usize;
                if buffer.len() < bytes {
                    buffer.resize(bytes, 0);
                }
                stowplan_stores::randomness(&mut buffer[..bytes]);
                &buffer[..bytes]
            }
        }
    }
}

/// How many bytes a step writes.
fn payload_bytes(operation: Operation, step: &Step) -> usize {
    if writes(operation, step) {
        step.bytes as usize
    } else {
        0
    }
}

/// Whether an operation writes at a step.
pub(crate) fn writes(operation: Operation, step: &Step) -> bool {
    match operation {
        Operation::Overwrite | Operation::Insert => true,
        Operation::Mix => step.action.puts(),
        _ => false,
    }
}

/// Cuts a window into parts whose prepared values take no more than `most` bytes of memory each,
/// one value at least.
pub(crate) fn parts<'a>(window: &Window<'a>, most: usize) -> Vec<Window<'a>> {
    let mut parts = Vec::new();
    for slice in window {
        let mut rest = *slice;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |raw: &&RawStep| {
                bytes += (Step::decode(raw).bytes as usize).next_multiple_of(PAYLOAD_ALIGNMENT);
                bytes <= most
            };
            let count = rest.iter().take_while(fits).count().max(1);
            let (part, after) = rest.split_at(count);
            parts.push([part, &[][..]]);
            rest = after;
        }
    }
    parts
}

#[cfg(test)]
mod tests;
