//! The measured loop.
//!
//! One loop for every operation and both kinds of timing, specialised by the compiler for the latter, so
//! that a ratio block holds nothing but the operations and a latency block one clock reading each.

mod clock;
mod payloads;
mod retry;
mod run;

pub(crate) use clock::{Latencies, Schedule, Timing};
pub(crate) use payloads::Payloads;
pub(crate) use run::{Block, writing_transactions};

use crate::{DriverError, Result};
use std::hint::black_box;
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

/// What is done to the steps of a block.
struct Operations<'a> {
    session: &'a mut dyn Session,
    workload: &'a Workload,
    buffer: &'a mut Buffer,
    /// What every step does, unless each says so.
    action: Option<Action>,
}

/// The bytes that an operation tells of itself: only a scan visits what its step does not say.
const SAID_BY_THE_STEP: u64 = 0;

impl Operations<'_> {
    /// Does a step, which has this number in its window; returns the bytes that it tells of itself.
    #[inline]
    fn one(
        &mut self,
        index: usize,
        step: &Step,
        payloads: &mut Payloads,
    ) -> Result<u64, StoreError> {
        match self.workload.operation {
            Operation::CreateTable => self.session.create_table()?,
            Operation::DropTable => self.session.drop_table()?,
            _ => return self.action(index, step, payloads),
        }
        Ok(SAID_BY_THE_STEP)
    }

    #[inline]
    fn action(
        &mut self,
        index: usize,
        step: &Step,
        payloads: &mut Payloads,
    ) -> Result<u64, StoreError> {
        match self.action.unwrap_or(step.action) {
            Action::Read => self.read(step),
            Action::Overwrite => self.overwrite(step, payloads.get(index, step)),
            Action::Modify => self.modify(step, payloads.get(index, step)),
            Action::Insert => {
                let value = payloads.get(index, step);
                self.session.insert(Key(step.key), value)?;
                Ok(SAID_BY_THE_STEP)
            }
            Action::Delete => match self.session.delete(Key(step.key))? {
                true => Ok(SAID_BY_THE_STEP),
                false => Err(surprise(step, Found::Missing)),
            },
            Action::Scan => self.scan(step),
        }
    }

    #[inline]
    fn read(&mut self, step: &Step) -> Result<u64, StoreError> {
        let found = match self.workload.delivery {
            Delivery::Copy => self.session.read_into(Key(step.key), self.buffer)?,
            Delivery::InPlace => self.session.read_in_place(Key(step.key), &mut touch)?,
        };
        expect(step, found)
    }

    #[inline]
    fn overwrite(&mut self, step: &Step, value: &[u8]) -> Result<u64, StoreError> {
        expect(step, self.session.overwrite(Key(step.key), value)?)
    }

    /// Reads a value and then replaces it, both in one transaction: in that which is open, if the workload
    /// has such ones.
    fn modify(&mut self, step: &Step, value: &[u8]) -> Result<u64, StoreError> {
        if self.workload.group() > 0 {
            return self.read_and_overwrite(step, value);
        }
        self.session.begin(Access::Write)?;
        let done = self.read_and_overwrite(step, value);
        let done = done.and_then(|bytes| self.session.commit().map(|()| bytes));
        if done.is_err() {
            // What went wrong first is what there is to say.
            let _ = self.session.rollback();
        }
        done
    }

    fn read_and_overwrite(&mut self, step: &Step, value: &[u8]) -> Result<u64, StoreError> {
        expect(step, self.session.read_into(Key(step.key), self.buffer)?)?;
        self.overwrite(step, value)
    }

    /// Visits values from a key on: one at least, and no more than the step says. Returns their bytes.
    #[inline]
    fn scan(&mut self, step: &Step) -> Result<u64, StoreError> {
        let (delivery, buffer) = (self.workload.delivery, &mut *self.buffer);
        let most = usize::from(step.rows);
        let mut bytes = 0;
        let mut copied = Ok(());
        let visited = self.session.scan(Key(step.key), most, &mut |_, value| {
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
        match (1..=most).contains(&visited) {
            true => Ok(bytes),
            false => Err(wrong_scan(step, visited)),
        }
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
