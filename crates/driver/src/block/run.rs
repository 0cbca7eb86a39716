//! The loop itself: steps, transaction by transaction.

use super::clock::{Clock, NoClock, Timing};
use super::payloads::Payloads;
use super::retry::{Retry, not_stopped};
use super::{Done, Operations, Window, steps};
use crate::timing::nanoseconds;
use crate::{DriverError, Result};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use stowplan_dataset::sequence::{Step, slices};
use stowplan_model::{Action, Operation, Workload};
use stowplan_stores::{Access, Buffer, Key, Session, StoreError};

/// Steps between two looks at whether the block goes on.
const BATCH: usize = 64;

/// The operations of a block, whose steps may be given in parts: transactions go over their ends.
pub(crate) struct Block<'a> {
    operations: Operations<'a>,
    /// Operations of a transaction; 0: each is one of its own, without a beginning or an end.
    group: u64,
    stop: Option<&'a AtomicBool>,
    /// Nothing follows.
    last: bool,
    /// Beginning a transaction belongs to its first operation, committing it to its last one: there
    /// several threads wait for each other. With one thread both belong to none.
    whole: bool,
    /// Operations of the transaction that is open.
    open: u64,
    done: Done,
}

/// A step that failed.
struct Failed {
    index: usize,
    error: StoreError,
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

impl<'a> Block<'a> {
    /// `stop`: set when another thread of the block has failed.
    pub(crate) fn new(
        session: &'a mut dyn Session,
        workload: &'a Workload,
        buffer: &'a mut Buffer,
        stop: Option<&'a AtomicBool>,
    ) -> Self {
        let is_mix = workload.operation == Operation::Mix;
        let actions = workload.pattern();
        Self {
            operations: Operations {
                session,
                workload,
                buffer,
                action: actions.first().filter(|_| !is_mix).copied(),
            },
            group: workload.group(),
            stop,
            last: false,
            whole: workload.threads > 1,
            open: 0,
            done: Done::default(),
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
        self.last = last;
        match timing {
            Timing::Ends => self.with(window, payloads, &mut NoClock)?,
            Timing::EachOperation(latencies) => {
                self.with(window, payloads, &mut latencies.clock())?;
            }
            Timing::Scheduled(latencies, schedule) => {
                self.with(window, payloads, &mut latencies.scheduled(*schedule))?;
            }
        }
        if last && self.open > 0 {
            self.commit(true)?;
        }
        Ok(())
    }

    /// What was done up to now.
    pub(crate) fn done(&self) -> Done {
        self.done
    }

    fn with(
        &mut self,
        window: &Window<'_>,
        payloads: &mut Payloads,
        clock: &mut impl Clock,
    ) -> Result<()> {
        match rows_of_a_statement(self.operations.workload) {
            1 => self.run(window, payloads, clock),
            rows => self.statements(window, rows, payloads, clock),
        }
    }

    /// What a transaction of these steps is begun for. As an application would, a mix announces transactions
    /// that read as such; one that goes on in another part may write there.
    fn access(&self, window: &Window<'_>, range: &Range<usize>, closes: bool) -> Access {
        let reads = match self.operations.workload.operation {
            Operation::Mix => {
                let mut steps = slices(window, range).into_iter().flatten();
                closes && steps.all(|raw| reads(Step::decode(raw).action))
            }
            operation => !operation.writes(),
        };
        if reads { Access::Read } else { Access::Write }
    }

    fn run(
        &mut self,
        window: &Window<'_>,
        payloads: &mut Payloads,
        clock: &mut impl Clock,
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
            let closes = full || (self.last && to == total);
            let piece = Piece {
                window,
                access: self.access(window, &(from..to), closes && !alone),
                steps: from..to,
                closes,
                short: !full,
            };
            self.piece(&piece, payloads, clock)?;
            from = to;
        }
        Ok(())
    }

    /// One transaction, again from its first step on where another one is in its way; of steps alone, from the one
    /// on that was refused.
    fn piece(
        &mut self,
        piece: &Piece<'_, '_>,
        payloads: &mut Payloads,
        clock: &mut impl Clock,
    ) -> Result<()> {
        let (alone, began_before) = (self.group == 0, self.open > 0);
        let mut retry = Retry::default();
        // The first step whose time is still to be taken: it bears that of all attempts.
        let mut untimed = piece.steps.start;
        loop {
            let before = untimed;
            let attempted = match alone {
                true => self.singly(piece, &mut untimed, payloads, clock),
                false => self.attempt(piece, &mut untimed, payloads, clock),
            };
            let Err(error) = attempted else {
                return Ok(());
            };
            if alone && untimed > before {
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
    }

    /// Steps that are transactions of their own, up to the first that fails.
    fn singly(
        &mut self,
        piece: &Piece<'_, '_>,
        untimed: &mut usize,
        payloads: &mut Payloads,
        clock: &mut impl Clock,
    ) -> Result<(), StoreError> {
        let rest = *untimed..piece.steps.end;
        let mut bytes = 0;
        let ran = self.each(piece.window, &rest, payloads, clock, &mut bytes);
        self.done.bytes += bytes;
        *untimed = ran
            .as_ref()
            .map_or_else(|failed| failed.index, |()| rest.end);
        self.done.commits += (*untimed - rest.start) as u64;
        ran.map_err(|failed| failed.error)
    }

    /// One attempt at a transaction; after a conflict nothing of it is left.
    fn attempt(
        &mut self,
        piece: &Piece<'_, '_>,
        untimed: &mut usize,
        payloads: &mut Payloads,
        clock: &mut impl Clock,
    ) -> Result<(), StoreError> {
        let Range { start, end } = piece.steps;
        let begins = self.open == 0;
        if begins {
            self.operations.session.begin(piece.access)?;
            if *untimed == start && !self.whole {
                clock.resume();
            }
        }
        let mut bytes = 0;
        let ran = self.steps(piece, untimed, payloads, clock, &mut bytes);
        if let Err(Failed { error, .. }) = ran {
            if error.is_conflict() && begins {
                self.operations.session.rollback()?;
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

    /// The steps of one attempt: those whose time was taken before run again without the clock. Where
    /// the commit belongs to the last one, its time is left for the caller to take.
    fn steps(
        &mut self,
        piece: &Piece<'_, '_>,
        untimed: &mut usize,
        payloads: &mut Payloads,
        clock: &mut impl Clock,
        bytes: &mut u64,
    ) -> Result<(), Failed> {
        let Range { start, end } = piece.steps;
        let window = piece.window;
        let timed_to = match self.whole && piece.closes {
            true => end.saturating_sub(1).max(start),
            false => end,
        };
        let (again, timed) = (start..*untimed, *untimed..timed_to);
        self.each(window, &again, payloads, &mut NoClock, bytes)?;
        self.each(window, &timed, payloads, clock, bytes)
            .inspect_err(|failed| *untimed = failed.index)?;
        *untimed = timed_to;
        let rest = timed_to..end;
        self.each(window, &rest, payloads, &mut NoClock, bytes)
    }

    /// Does each of some steps, up to the first that fails.
    #[inline]
    fn each(
        &mut self,
        window: &Window<'_>,
        range: &Range<usize>,
        payloads: &mut Payloads,
        clock: &mut impl Clock,
        bytes: &mut u64,
    ) -> Result<(), Failed> {
        let mut index = range.start;
        for slice in slices(window, range) {
            for raw in slice {
                let step = Step::decode(raw);
                clock.begin();
                match self.operations.one(index, &step, payloads) {
                    Ok(more) => *bytes += more,
                    Err(error) => return Err(Failed { index, error }),
                }
                clock.operation();
                index += 1;
            }
        }
        Ok(())
    }

    /// Commits; the time of a last one that is short of operations is told apart.
    fn commit(&mut self, short: bool) -> Result<(), StoreError> {
        let committing = short.then(Instant::now);
        if let Err(error) = self.operations.session.commit() {
            if error.is_conflict() {
                // Some engines have ended it by refusing, and then there is nothing to undo.
                let _ = self.operations.session.rollback();
            }
            return Err(error);
        }
        if let Some(committing) = committing {
            self.done.last_commit_ns = nanoseconds(committing);
        }
        self.done.commits += 1;
        self.open = 0;
        Ok(())
    }

    /// Inserts several rows by each statement.
    fn statements(
        &mut self,
        window: &Window<'_>,
        rows: usize,
        payloads: &Payloads,
        clock: &mut impl Clock,
    ) -> Result<()> {
        let group = self.group.max(1);
        let most = window.iter().map(|part| part.len()).max().unwrap_or(0);
        // Made once: between two statements nothing is allocated.
        let mut values: Vec<(Key, &[u8])> = Vec::with_capacity(rows.min(most));
        let mut index = 0;
        for part in window {
            for chunk in part.chunks(rows) {
                if group > 1 && self.open == 0 {
                    self.operations.session.begin(Access::Write)?;
                    clock.resume();
                }
                values.clear();
                for step in chunk.iter().map(Step::decode) {
                    values.push((Key(step.key), payloads.prepared(index, &step)));
                    index += 1;
                }
                self.operations.session.insert_many(&values)?;
                clock.operation();
                self.open += chunk.len() as u64;
                if group > 1 && self.open >= group {
                    self.operations.session.commit()?;
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

/// Rows that a statement adds; 1 where none adds several.
fn rows_of_a_statement(workload: &Workload) -> usize {
    match workload.operation {
        Operation::Insert => workload.rows_per_statement.unwrap_or(1).max(1) as usize,
        _ => 1,
    }
}

fn reads(action: Action) -> bool {
    matches!(action, Action::Read | Action::Scan)
}

/// How many transactions of a thread's steps write something: an engine counts those.
pub(crate) fn writing_transactions(workload: &Workload, window: &Window<'_>) -> u64 {
    let writes: Vec<bool> = steps(window).map(|step| !reads(step.action)).collect();
    let group = usize::try_from(workload.group().max(1)).unwrap_or(usize::MAX);
    let statement = rows_of_a_statement(workload);
    // A transaction ends with the statement that fills it.
    let group = group
        .checked_next_multiple_of(statement)
        .unwrap_or(usize::MAX);
    let transactions = writes.chunks(group);
    transactions.filter(|group| group.contains(&true)).count() as u64
}
