//! The two layers, whose turn it is to write, and how far the disk has got: what the lock of a
//! [`Coordinator`](super::coordinator::Coordinator) protects.

use super::layer::{Entry, Layer, Volume};
use super::{STORE, Window};
use crate::sqlite::options::Statements;
use crate::{Result, StoreError};
use std::mem;
use std::time::{Duration, Instant};

/// What the lock protects.
pub(super) struct State {
    /// Takes the writes.
    pub(super) active: Layer,
    /// Is empty, or is being carried over.
    pub(super) other: Layer,
    /// Whether `other` is to be carried over.
    pub(super) carrying: bool,
    /// Whether an attempt to do so is going on.
    pub(super) running: bool,
    /// Whose turn it is to write.
    pub(super) turn: Option<Holder>,
    /// Changes that were ever committed, and those of them that are on disk.
    pub(super) accepted: u64,
    pub(super) carried: u64,
    /// Attempts to carry a layer over, counted when they begin.
    pub(super) attempts: u64,
    /// Why the last attempt failed, if it did.
    pub(super) fault: Option<Fault>,
    /// Whether someone waits for what is in memory to be on disk.
    pub(super) pressed: bool,
    /// Whether the carrier waits for the end of a turn.
    pub(super) held_up: bool,
    /// Threads that wait for the end of a turn or of an attempt.
    pub(super) waiting: usize,
    /// Whether the store is going: the carrier makes a last attempt and ends.
    pub(super) stopping: bool,
}

/// The connection whose turn it is to write.
pub(super) struct Holder {
    pub(super) connection: u64,
    pub(super) since: Instant,
    /// Whether it is between `begin` and `commit`.
    pub(super) explicit: bool,
    /// What it has changed so far, not yet committed.
    pub(super) volume: Volume,
}

/// Why an attempt to carry a layer over failed.
pub(super) struct Fault {
    pub(super) attempt: u64,
    pub(super) reason: String,
}

/// What the carrier does next.
pub(super) enum Step {
    CarryOver,
    Wait(Option<Duration>),
    End,
}

impl Layer {
    pub(super) fn is_full(&self, window: &Window) -> bool {
        self.volume.changes >= window.changes || self.volume.bytes >= window.bytes
    }
}

impl State {
    pub(super) fn new(statements: Statements) -> Result<Self> {
        Ok(Self {
            active: Layer::new(statements)?,
            other: Layer::new(statements)?,
            carrying: false,
            running: false,
            turn: None,
            accepted: 0,
            carried: 0,
            attempts: 0,
            fault: None,
            pressed: false,
            held_up: false,
            waiting: 0,
            stopping: false,
        })
    }

    /// Committed changes that are in memory only.
    pub(super) fn in_memory(&self) -> u64 {
        self.accepted - self.carried
    }

    /// For messages: how many changes would be lost now, and why they are not on disk.
    pub(super) fn in_memory_only(&self, fault: &Fault) -> String {
        let changes = match self.in_memory() {
            1 => "1 change is".to_owned(),
            n => format!("{n} changes are"),
        };
        format!("{changes} in memory only, as {}", fault.reason)
    }

    /// While the disk refuses, nothing more is acknowledged.
    pub(super) fn refuse_after_fault(&self) -> Result<()> {
        match &self.fault {
            None => Ok(()),
            Some(fault) => Err(StoreError::Engine {
                store: STORE,
                action: "write".to_owned(),
                detail: self.in_memory_only(fault),
            }),
        }
    }

    /// Whether a transaction has changes that another connection must not see yet.
    pub(super) fn hides_changes_from(&self, connection: u64) -> bool {
        self.turn
            .as_ref()
            .is_some_and(|holder| holder.connection != connection && holder.volume.changes > 0)
    }

    /// Asks the layers from the top down, until one knows.
    pub(super) fn look_up(&self, mut ask: impl FnMut(&Layer) -> Result<Entry>) -> Result<Entry> {
        match ask(&self.active)? {
            Entry::Nothing if self.carrying => ask(&self.other),
            entry => Ok(entry),
        }
    }

    /// Has the layers change places, if there is something to carry over and the other one is
    /// free. Only between two turns.
    pub(super) fn swap(&mut self) -> bool {
        if self.carrying || self.active.is_empty() {
            return false;
        }
        mem::swap(&mut self.active, &mut self.other);
        self.carrying = true;
        true
    }

    /// What the carrier does now. After a failed attempt, the next one is not before `retry`
    /// unless someone waits for it.
    pub(super) fn step(&mut self, window: &Window, retry: Option<Instant>) -> Step {
        let pressed = self.pressed || self.stopping;
        let until = |then: Instant| then.saturating_duration_since(Instant::now());
        if self.carrying {
            return match retry.map(until) {
                Some(left) if !pressed && left > Duration::ZERO => Step::Wait(Some(left)),
                _ => Step::CarryOver,
            };
        }
        let Some(since) = self.active.since else {
            return if self.stopping {
                Step::End
            } else {
                Step::Wait(None)
            };
        };
        let left = until(since + window.age);
        if !pressed && left > Duration::ZERO && !self.active.is_full(window) {
            return Step::Wait(Some(left));
        }
        if self.turn.is_some() {
            self.held_up = true;
            return Step::Wait(None);
        }
        self.swap();
        Step::CarryOver
    }

    /// Counts what the turn has changed as committed.
    pub(super) fn accept(&mut self) {
        let Some(volume) = self.turn.as_ref().map(|holder| holder.volume) else {
            return;
        };
        if volume.changes == 0 {
            return;
        }
        self.active.volume += volume;
        self.active.since.get_or_insert_with(Instant::now);
        self.accepted += volume.changes;
    }

    /// Changes a row for the connection whose turn it is.
    pub(super) fn put(&mut self, key: i64, value: Option<&[u8]>) -> Result<()> {
        self.active.put(key, value)?;
        if let Some(holder) = &mut self.turn {
            holder.volume += Volume {
                changes: 1,
                bytes: value.map_or(0, |value| value.len() as u64),
            };
        }
        Ok(())
    }
}
