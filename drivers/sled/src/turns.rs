//! Whose turn it is.
//!
//! sled has neither snapshots nor transactions that last longer than a call. So that what a
//! transaction of several operations reads stays as it is, it keeps others from changing anything.
//! Changes on their own go on beside each other, and reads on their own ask nobody.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What somebody does meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// One change on its own.
    Change,
    /// A transaction that reads.
    Read,
    /// A transaction that writes.
    Write,
}

/// Grants turns.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    taken: Mutex<Taken>,
    ended: Condvar,
}

/// Turns of one kind, and how many.
#[derive(Debug, Default)]
struct Taken {
    turn: Option<Turn>,
    number: usize,
    waiting: usize,
}

impl Taken {
    fn admits(&self, turn: Turn) -> bool {
        self.number == 0 || (self.turn == Some(turn) && turn != Turn::Write)
    }
}

/// A turn; ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Taking<'t>(&'t Turns);

impl Turns {
    /// Waits until nobody does what cannot go on beside it.
    pub(crate) fn take(&self, turn: Turn) -> Taking<'_> {
        let mut taken = self.lock();
        while !taken.admits(turn) {
            taken.waiting += 1;
            taken = self
                .ended
                .wait(taken)
                .unwrap_or_else(PoisonError::into_inner);
            taken.waiting -= 1;
        }
        taken.turn = Some(turn);
        taken.number += 1;
        Taking(self)
    }

    /// It only ever changes as a whole, so one that a panic left is sound.
    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        let mut taken = self.0.lock();
        taken.number -= 1;
        if taken.number == 0 && taken.waiting > 0 {
            self.0.ended.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    /// Whether `second` is granted while `first` is taken; it must be, afterwards.
    fn beside(first: Turn, second: Turn) -> bool {
        let turns = Turns::default();
        let taking = turns.take(first);
        thread::scope(|scope| {
            let (granted, answer) = mpsc::channel();
            let turns = &turns;
            scope.spawn(move || {
                let _taking = turns.take(second);
                let _ = granted.send(());
            });
            // One that is granted is granted at once; nothing here depends on how long it takes one
            // that is not to be refused.
            let at_once = answer.recv_timeout(Duration::from_millis(300)).is_ok();
            drop(taking);
            assert!(at_once || answer.recv_timeout(Duration::from_secs(60)).is_ok());
            at_once
        })
    }

    #[test]
    fn changes_and_reading_transactions_go_on_beside_their_like_only() {
        for first in [Turn::Change, Turn::Read, Turn::Write] {
            for second in [Turn::Change, Turn::Read, Turn::Write] {
                let alike = first == second && first != Turn::Write;
                assert_eq!(beside(first, second), alike, "{first:?} {second:?}");
            }
        }
    }
}
