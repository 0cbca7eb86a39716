//! The loop itself: steps, transaction by transaction.

use super::clock::{Clock, NoClock};
use super::payloads::Payloads;
use super::retry::{Retry, not_stopped};
use super::{Done, Window, steps};
use crate::platform::elapsed_ns;
use crate::{DriverError, Result};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use stowplan_dataset::sequence::{Step, slices};
use stowplan_model::{Action, Operation, Workload};
use stowplan_stores::{Access, Key, Session, StoreError};

/// Steps between two looks at whether the block goes on.
const BATCH: usize = 64;

/// What is done to a step; it returns the bytes that it tells of itself.
pub(super) trait Operate:
    FnMut(&mut dyn Session, usize, &Step) -> Result<u64, StoreError>
{
}

impl<F: FnMut(&mut dyn Session, usize, &Step) -> Result<u64, StoreError>> Operate for F {}

/// The loop, and what it carries from one part to the next.
pub(super) struct Loop<'a> {
    pub(super) session: &'a mut dyn Session,
    /// Operations of a transaction; 0: each is one of its own, without a beginning or an end.
    pub(super) group: u64,
    pub(super) stop: Option<&'a AtomicBool>,
    /// Nothing follows.
    pub(super) last: bool,
    /// Beginning a transaction belongs to its first operation, committing it to its last one: there
    /// several threads wait for each other. With one thread both belong to none.
    pub(super) whole: bool,
    /// Operations of the transaction that is open.
    pub(super) open: u64,
    pub(super) done: Done,
}

/// The steps of one transaction within a part, or some that are transactions of their own.
struct Piece<'w, 'a> {
    window: &'w Window<'a>,
    steps: Range<usize>,
    access: Access,
    /// It ends with the last of its steps.
    closes: bool,
    /// It has fewer operations than it could have.
    short: bool,
}

impl Loop<'_> {
    /// Runs steps that are all of one kind of `access`, or of several (none). As an application would, it announces
    /// transactions that read as such; one that goes on in another part may write there.
    pub(super) fn over(
        &mut self,
        window: &Window<'_>,
        access: Option<Access>,
        clock: &mut impl Clock,
        mut operation: impl Operate,
    ) -> Result<()> {
        let total = window[0].len() + window[1].len();
        let mut from = 0;
        while from < total {
            not_stopped(self.stop)?;
            let alone = self.group == 0;
            let room = match alone {
                true => BATCH,
                false => usize::try_from(self.group - self.open).unwrap_or(usize::MAX),
            };
            let to = from + room.min(total - from);
            let full = alone || self.open + (to - from) as u64 == self.group;
            let closes = !alone && (full || (self.last && to == total));
            let only_reads = || {
                let mut steps = slices(window, &(from..to)).into_iter().flatten();
                closes && steps.all(|raw| reads(Step::decode(raw).action))
            };
            let piece = Piece {
                window,
                access: access.unwrap_or_else(|| match only_reads() {
                    true => Access::Read,
                    false => Access::Write,
                }),
                steps: from..to,
                closes,
                short: !full,
            };
            self.piece(piece, clock, &mut operation)?;
            from = to;
        }
        Ok(())
    }

    /// One transaction, again from its first step on where another one is in its way; of steps alone, from the one
    /// on that was refused.
    fn piece(
        &mut self,
        mut piece: Piece<'_, '_>,
        clock: &mut impl Clock,
        operation: &mut impl Operate,
    ) -> Result<()> {
        let (alone, began_before) = (self.group == 0, self.open > 0);
        let mut retry = Retry::default();
        // The first step whose time is still to be taken: it bears that of all attempts.
        let mut untimed = piece.steps.start;
        while let Err(error) = self.attempt(&piece, &mut untimed, clock, operation) {
            if alone && untimed > piece.steps.start {
                piece.steps.start = untimed;
                retry = Retry::default();
            }
            if error.is_conflict() && began_before {
                return Err(DriverError::invalid(format!(
                    "{error}; the transaction is too large to be tried again, so measure fewer operations per transaction"
                )));
            }
            retry.wait(error, self.stop)?;
            self.done.conflicts += 1;
        }
        Ok(())
    }

    /// One attempt at a transaction, of which nothing is left after a conflict; or steps that are transactions of
    /// their own, up to the first that fails.
    fn attempt(
        &mut self,
        piece: &Piece<'_, '_>,
        untimed: &mut usize,
        clock: &mut impl Clock,
        operation: &mut impl Operate,
    ) -> Result<(), StoreError> {
        let Range { start, end } = piece.steps;
        let alone = self.group == 0;
        let begins = !alone && self.open == 0;
        if begins {
            self.session.begin(piece.access)?;
            if *untimed == start && !self.whole {
                clock.resume();
            }
        }
        let (ran, bytes) = self.steps(piece, untimed, clock, operation);
        if alone {
            self.done.bytes += bytes;
            self.done.commits += (*untimed - start) as u64;
            return ran;
        }
        if let Err(error) = ran {
            if error.is_conflict() && begins {
                self.session.rollback()?;
            }
            return Err(error);
        }
        if piece.closes {
            self.commit(piece.short)?;
            if self.whole && start < end {
                clock.operation();
            }
        } else {
            self.open += (end - start) as u64;
        }
        self.done.bytes += bytes;
        Ok(())
    }

    /// The steps of one attempt, and the bytes that they told: those whose time was taken before run again without the
    /// clock. Where the commit belongs to the last one, its time is left for the caller to take.
    #[inline]
    fn steps(
        &mut self,
        piece: &Piece<'_, '_>,
        untimed: &mut usize,
        clock: &mut impl Clock,
        operation: &mut impl Operate,
    ) -> (Result<(), StoreError>, u64) {
        let Range { start, end } = piece.steps;
        let (session, window) = (&mut *self.session, piece.window);
        let timed_to = match self.whole && piece.closes {
            true => end.saturating_sub(1).max(start),
            false => end,
        };
        let (mut bytes, mut index) = (0, start);
        let again = start..*untimed;
        let ran = each(
            session,
            window,
            again,
            &mut NoClock,
            operation,
            (&mut index, &mut bytes),
        )
        .and_then(|()| {
            each(
                session,
                window,
                *untimed..timed_to,
                clock,
                operation,
                (untimed, &mut bytes),
            )
        })
        .and_then(|()| {
            let rest = timed_to..end;
            each(
                session,
                window,
                rest,
                &mut NoClock,
                operation,
                (&mut index, &mut bytes),
            )
        });
        (ran, bytes)
    }

    /// Commits; the time of a last one that is short of operations is told apart.
    pub(super) fn commit(&mut self, short: bool) -> Result<(), StoreError> {
        let committing = short.then(Instant::now);
        if let Err(error) = self.session.commit() {
            if error.is_conflict() {
                // Some engines have ended it by refusing, and then there is nothing to undo.
                let _ = self.session.rollback();
            }
            return Err(error);
        }
        if let Some(committing) = committing {
            self.done.last_commit_ns = elapsed_ns(committing);
        }
        self.done.commits += 1;
        self.open = 0;
        Ok(())
    }

    /// Inserts several rows by each statement.
    pub(super) fn statements(
        &mut self,
        window: &Window<'_>,
        workload: &Workload,
        payloads: &Payloads,
        clock: &mut impl Clock,
    ) -> Result<()> {
        let rows = workload.rows_per_statement.unwrap_or(1).max(1) as usize;
        let group = self.group.max(1);
        let most = window.iter().map(|part| part.len()).max().unwrap_or(0);
        // Made once: between two statements nothing is allocated.
        let mut values: Vec<(Key, &[u8])> = Vec::with_capacity(rows.min(most));
        let mut index = 0;
        for part in window {
            for chunk in part.chunks(rows) {
                if group > 1 && self.open == 0 {
                    self.session.begin(Access::Write)?;
                    clock.resume();
                }
                values.clear();
                for step in chunk.iter().map(Step::decode) {
                    values.push((Key(step.key), payloads.prepared(index, &step)));
                    index += 1;
                }
                self.session.insert_many(&values)?;
                clock.operation();
                self.open += chunk.len() as u64;
                if group > 1 && self.open >= group {
                    self.session.commit()?;
                }
                if self.open >= group {
                    self.done.commits += 1;
                    self.open = 0;
                }
            }
        }
        Ok(())
    }
}

/// Does each of some steps, up to the first that fails, where `reached` is left; adds the bytes that they tell.
#[inline]
fn each(
    session: &mut dyn Session,
    window: &Window<'_>,
    range: Range<usize>,
    clock: &mut impl Clock,
    operation: &mut impl Operate,
    (reached, bytes): (&mut usize, &mut u64),
) -> Result<(), StoreError> {
    let (mut index, mut sum) = (range.start, 0);
    for slice in slices(window, &range) {
        for raw in slice {
            let step = Step::decode(raw);
            clock.begin();
            match operation(session, index, &step) {
                Ok(more) => sum += more,
                Err(error) => {
                    (*reached, *bytes) = (index, *bytes + sum);
                    return Err(error);
                }
            }
            clock.operation();
            index += 1;
        }
    }
    (*reached, *bytes) = (index, *bytes + sum);
    Ok(())
}

fn reads(action: Action) -> bool {
    matches!(action, Action::Read | Action::Scan)
}

/// How many transactions of a thread's steps write something: an engine counts those.
pub(crate) fn writing_transactions(workload: &Workload, window: &Window<'_>) -> u64 {
    let writes: Vec<bool> = steps(window).map(|step| !reads(step.action)).collect();
    let group = usize::try_from(workload.group().max(1)).unwrap_or(usize::MAX);
    let statement = match workload.operation {
        Operation::Insert => workload.rows_per_statement.unwrap_or(1).max(1) as usize,
        _ => 1,
    };
    // A transaction ends with the statement that fills it.
    let group = group
        .checked_next_multiple_of(statement)
        .unwrap_or(usize::MAX);
    let transactions = writes.chunks(group);
    transactions.filter(|group| group.contains(&true)).count() as u64
}
