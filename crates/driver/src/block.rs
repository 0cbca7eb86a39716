//! The measured loop.
//!
//! One loop for every operation and both kinds of timing, specialised by the compiler, so that
//! a ratio block holds nothing but the operations and a latency block one clock reading each.

mod clock;
mod payloads;
mod retry;
mod run;

pub(crate) use clock::{Latencies, Schedule, Timing};
pub(crate) use payloads::Payloads;

use crate::{DriverError, Result};
use clock::{Clock, NoClock};
use run::Loop;
pub(crate) use run::writing_transactions;
use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use stowplan_dataset::sequence::{Step, len, slices};
pub(crate) use stowplan_dataset::sequence::{Window, steps};
use stowplan_model::{Action, Delivery, Operation, Workload};
use stowplan_stores::{Access, Buffer, Found, Key, Session, StoreError};

/// A window cut into parts of so many steps each; none given: it is one part.
pub(crate) fn parts<'a>(window: &Window<'a>, lengths: &[u64]) -> Result<Vec<Window<'a>>> {
    if lengths.is_empty() {
        return Ok(vec![*window]);
    }
    if lengths.iter().sum::<u64>() != len(window) {
        return Err(DriverError::invalid(
            "the parts are not the whole of the block",
        ));
    }
    let mut from = 0;
    let mut cut = |length: &u64| {
        let to = from + usize::try_from(*length).unwrap_or(usize::MAX);
        let part = slices(window, &(from..to));
        from = to;
        part
    };
    Ok(lengths.iter().map(&mut cut).collect())
}

/// What a block did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Bytes that scans visited; of all else the steps say them.
    pub(crate) bytes: u64,
    /// Transactions committed.
    pub(crate) commits: u64,
    /// Transactions that the engine refused because of another one, and that were tried again.
    pub(crate) conflicts: u64,
    /// The commit at the end of a block, of a transaction that was not full, nanoseconds.
    pub(crate) last_commit_ns: u64,
}

/// The operations of a block, whose steps may be given in parts: transactions go over their ends.
pub(crate) struct Block<'a> {
    run: Loop<'a>,
    workload: &'a Workload,
    buffer: &'a mut Buffer,
}

impl<'a> Block<'a> {
    /// `stop`: set when another thread of the block has failed.
    pub(crate) fn new(
        session: &'a mut dyn Session,
        workload: &'a Workload,
        buffer: &'a mut Buffer,
        stop: Option<&'a AtomicBool>,
    ) -> Self {
        Self {
            run: Loop {
                session,
                group: workload.group(),
                stop,
                last: false,
                whole: workload.threads > 1,
                open: 0,
                done: Done::default(),
            },
            workload,
            buffer,
        }
    }

    /// Runs the operations of a window; after the last one of a block, commits what is open.
    pub(crate) fn part(
        &mut self,
        window: &Window<'_>,
        payloads: &mut Payloads,
        timing: &mut Timing<'_>,
        last: bool,
    ) -> Result<()> {
        self.run.last = last;
        match timing {
            Timing::Ends => self.with(window, payloads, &mut NoClock)?,
            Timing::EachOperation(latencies) => {
                self.with(window, payloads, &mut latencies.clock())?;
            }
            Timing::Scheduled(latencies, schedule) => {
                self.with(window, payloads, &mut latencies.scheduled(*schedule))?;
            }
        }
        if last && self.run.open > 0 {
            self.run.commit(true)?;
        }
        Ok(())
    }

    /// What was done up to now.
    pub(crate) fn done(&self) -> Done {
        self.run.done
    }

    fn with<C: Clock>(
        &mut self,
        window: &Window<'_>,
        payloads: &mut Payloads,
        clock: &mut C,
    ) -> Result<()> {
        let Self {
            run,
            workload,
            buffer,
        } = self;
        let group = run.group;
        match (workload.operation, workload.delivery) {
            (Operation::Read, Delivery::Copy) => {
                run.over(window, READS, clock, |session, _, step| {
                    expect(step, session.read_into(Key(step.key), buffer)?)
                })
            }
            (Operation::Read, Delivery::InPlace) => {
                run.over(window, READS, clock, |session, _, step| {
                    expect(step, session.read_in_place(Key(step.key), &mut touch)?)
                })
            }
            (Operation::Overwrite, _) => run.over(window, WRITES, clock, |session, index, step| {
                overwrite(session, step, payloads.get(index, step))
            }),
            (Operation::Insert, _) if workload.rows_per_statement.is_some_and(|rows| rows > 1) => {
                run.statements(window, workload, payloads, clock)
            }
            (Operation::Insert, _) => run.over(window, WRITES, clock, |session, index, step| {
                insert(session, step, payloads.get(index, step))
            }),
            (Operation::Delete, _) => run.over(window, WRITES, clock, |session, _, step| {
                delete(session, step)
            }),
            (Operation::Scan, delivery) => run.over(window, READS, clock, |session, _, step| {
                scan(session, buffer, delivery, step)
            }),
            (Operation::Mix, delivery) => run.over(window, None, clock, |session, index, step| {
                match step.action {
                    Action::Read => read(session, buffer, delivery, step),
                    Action::Overwrite => overwrite(session, step, payloads.get(index, step)),
                    Action::Modify => {
                        let value = payloads.get(index, step);
                        modify(session, buffer, step, value, group == 0)
                    }
                    Action::Insert => insert(session, step, payloads.get(index, step)),
                    Action::Delete => delete(session, step),
                    Action::Scan => scan(session, buffer, delivery, step),
                }
            }),
            (Operation::CreateTable, _) => run.over(window, WRITES, clock, |session, _, _| {
                session.create_table().map(|()| SAID_BY_THE_STEP)
            }),
            (Operation::DropTable, _) => run.over(window, WRITES, clock, |session, _, _| {
                session.drop_table().map(|()| SAID_BY_THE_STEP)
            }),
        }
    }
}

const READS: Option<Access> = Some(Access::Read);
const WRITES: Option<Access> = Some(Access::Write);

/// The bytes that an operation tells of itself: only a scan visits what its step does not say.
const SAID_BY_THE_STEP: u64 = 0;

#[inline]
fn read(
    session: &mut dyn Session,
    buffer: &mut Buffer,
    delivery: Delivery,
    step: &Step,
) -> Result<u64, StoreError> {
    let found = match delivery {
        Delivery::Copy => session.read_into(Key(step.key), buffer)?,
        Delivery::InPlace => session.read_in_place(Key(step.key), &mut touch)?,
    };
    expect(step, found)
}

#[inline]
fn overwrite(session: &mut dyn Session, step: &Step, value: &[u8]) -> Result<u64, StoreError> {
    expect(step, session.overwrite(Key(step.key), value)?)
}

#[inline]
fn insert(session: &mut dyn Session, step: &Step, value: &[u8]) -> Result<u64, StoreError> {
    session.insert(Key(step.key), value)?;
    Ok(SAID_BY_THE_STEP)
}

/// Reads a value and then replaces it, both in one transaction; `alone`: none is open.
fn modify(
    session: &mut dyn Session,
    buffer: &mut Buffer,
    step: &Step,
    value: &[u8],
    alone: bool,
) -> Result<u64, StoreError> {
    if !alone {
        expect(step, session.read_into(Key(step.key), buffer)?)?;
        return overwrite(session, step, value);
    }
    session.begin(Access::Write)?;
    let done = modify(session, buffer, step, value, false)
        .and_then(|bytes| session.commit().map(|()| bytes));
    if done.is_err() {
        // What went wrong first is what there is to say.
        let _ = session.rollback();
    }
    done
}

/// Removes a value, which must be there.
#[inline]
fn delete(session: &mut dyn Session, step: &Step) -> Result<u64, StoreError> {
    match session.delete(Key(step.key))? {
        true => Ok(SAID_BY_THE_STEP),
        false => Err(surprise(step, Found::Missing)),
    }
}

/// Visits values from a key on: one at least, and no more than the step says. Returns their bytes.
#[inline]
fn scan(
    session: &mut dyn Session,
    buffer: &mut Buffer,
    delivery: Delivery,
    step: &Step,
) -> Result<u64, StoreError> {
    let most = usize::from(step.rows);
    let mut bytes = 0;
    let mut copied = Ok(());
    let visited = session.scan(Key(step.key), most, &mut |_, value| {
        bytes += value.len() as u64;
        match delivery {
            Delivery::InPlace => touch(value),
            Delivery::Copy => {
                let copy = buffer.copy_from(value);
                if copied.is_ok() {
                    copied = copy;
                }
            }
        }
    })?;
    copied?;
    if (1..=most).contains(&visited) {
        Ok(bytes)
    } else {
        Err(wrong_scan(step, visited))
    }
}

#[cold]
fn wrong_scan(step: &Step, visited: usize) -> StoreError {
    let detail = format!(
        "a scan from it on visited {visited} values instead of 1 to {}",
        step.rows
    );
    StoreError::damaged(Key(step.key), detail)
}

/// The value must be there with its size: a miss or a short value is an error, never a fast
/// operation.
#[inline]
fn expect(step: &Step, found: Found) -> Result<u64, StoreError> {
    match found {
        Found::Bytes(bytes) if bytes as u64 == u64::from(step.bytes) => Ok(SAID_BY_THE_STEP),
        found => Err(surprise(step, found)),
    }
}

#[cold]
fn surprise(step: &Step, found: Found) -> StoreError {
    let detail = match found {
        Found::Missing => "it is missing".to_owned(),
        Found::Bytes(bytes) => format!("it has {bytes} bytes instead of {}", step.bytes),
    };
    StoreError::damaged(Key(step.key), detail)
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

#[cfg(test)]
mod tests;
