//! What is in memory, what the connections and the carrier share of it, and the carrier itself.

use super::{STORE, Window};
use crate::sqlite::base::Base;
use crate::sqlite::failed;
use crate::turns::{Turn, Turns};
use crate::{Result, StoreError};
use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::iter;
use std::mem::take;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// How long a transaction that is open keeps others waiting.
const TURN_WAIT: Duration = Duration::from_secs(10);

/// How soon a failed carry-over is tried again, unless somebody waits for it.
const RETRY: Duration = Duration::from_millis(100);

/// A value that was set; nothing where the key was deleted, whatever lies below.
pub(super) type Change = Option<Arc<[u8]>>;

/// Changes by key.
#[derive(Default)]
pub(super) struct Layer {
    pub(super) rows: BTreeMap<i64, Change>,
    /// How often something was changed, and the bytes of the values that were written.
    changes: u64,
    bytes: u64,
    /// When the first of them was committed.
    since: Option<Instant>,
}

impl Layer {
    pub(super) fn put(&mut self, key: i64, value: Option<&[u8]>) {
        self.rows.insert(key, value.map(Arc::from));
        self.changes += 1;
        self.bytes += value.map_or(0, |value| value.len() as u64);
    }

    fn is_full(&self, window: &Window) -> bool {
        self.changes >= window.changes || self.bytes >= window.bytes
    }
}

/// Why an attempt to carry a layer over failed.
struct Fault {
    reason: String,
    retry: Instant,
}

/// What the lock protects.
#[derive(Default)]
struct State {
    /// Takes the writes.
    active: Layer,
    /// Is being carried over.
    other: Option<Arc<Layer>>,
    /// Changes that were ever committed, and those of them that are on disk.
    accepted: u64,
    carried: u64,
    /// Why the last one failed, if it did.
    fault: Option<Fault>,
    /// Whether the store is going, and the carrier with it.
    stopping: bool,
}

impl State {
    /// For messages: how many changes would be lost now, and why they are not on disk.
    fn in_memory_only(&self, action: &str, fault: &Fault) -> StoreError {
        let changes = match self.accepted - self.carried {
            1 => "1 change is".to_owned(),
            n => format!("{n} changes are"),
        };
        let detail = format!("{changes} in memory only, as {}", fault.reason);
        StoreError::engine(action, detail)
    }

    /// While the disk refuses, nothing more is acknowledged.
    fn refuse_after_fault(&self) -> Result<()> {
        match &self.fault {
            None => Ok(()),
            Some(fault) => Err(self.in_memory_only("write", fault)),
        }
    }

    /// How long a layer need not be carried over yet; nothing where the store goes. After a failed attempt, the
    /// next one is later.
    fn left(&self, window: &Window) -> Option<Duration> {
        let due = match (&self.fault, self.active.since) {
            _ if self.stopping => return None,
            (Some(fault), _) => fault.retry,
            (None, None) => return Some(Duration::MAX),
            (None, Some(_)) if self.active.is_full(window) => return Some(Duration::ZERO),
            (None, Some(since)) => since + window.age,
        };
        Some(due.saturating_duration_since(Instant::now()))
    }
}

/// What a store's connections and its carrier share.
pub(super) struct Shared {
    pub(super) base: Base,
    window: Window,
    turns: Turns,
    state: Mutex<State>,
    /// The carrier has something to do, or to end.
    work: Condvar,
    /// An attempt to carry over has begun, which makes room, or ended.
    freed: Condvar,
    /// One at a time carries over, or looks at the files on disk: the carrier, or whoever wants
    /// everything there.
    pub(super) carrying: Mutex<()>,
    /// Committed changes that are in a layer: while there are none, reads need no lock.
    buffered: AtomicU64,
}

impl Shared {
    pub(super) fn new(base: Base, window: Window) -> Self {
        Self {
            base,
            window,
            turns: Turns::of(TURN_WAIT),
            state: Mutex::default(),
            work: Condvar::new(),
            freed: Condvar::new(),
            carrying: Mutex::new(()),
            buffered: AtomicU64::new(0),
        }
    }

    /// Waits for the turn to write, and for room.
    ///
    /// # Errors
    /// The last carry-over failed, or another transaction lasts too long.
    pub(super) fn take_turn(&self) -> Result<Turn<'_>> {
        loop {
            let turn = self.turns.take()?;
            let mut state = self.state.lock();
            state.refuse_after_fault()?;
            if !state.active.is_full(&self.window) {
                return Ok(turn);
            }
            // Others wait for room too, however long a carry-over takes, and not for whoever waits.
            drop(turn);
            self.freed.wait_for(&mut state, TURN_WAIT);
            state.refuse_after_fault()?;
        }
    }

    /// What the layers have of a key: nothing where the disk decides.
    pub(super) fn change(&self, key: i64) -> Option<Change> {
        if self.buffered.load(SeqCst) == 0 {
            return None;
        }
        let state = self.state.lock();
        let below = || state.other.as_ref()?.rows.get(&key);
        state.active.rows.get(&key).or_else(below).cloned()
    }

    /// The changes from `from` on of both layers and of `own`, which lies above them, by rising
    /// key until so many values were set.
    pub(super) fn changes(
        &self,
        own: Option<&Layer>,
        from: i64,
        limit: usize,
    ) -> Vec<(i64, Change)> {
        let state = self.state.lock();
        let layers = own
            .into_iter()
            .chain(iter::once(&state.active))
            .chain(state.other.as_deref());
        let mut ranges: Vec<_> = layers
            .map(|layer| layer.rows.range(from..).peekable())
            .collect();
        let (mut changes, mut set) = (Vec::new(), 0);
        while set < limit {
            let keys = ranges.iter_mut().filter_map(|range| range.peek());
            let Some(key) = keys.map(|(key, _)| **key).min() else {
                break;
            };
            // The first is of the layer above, and hides the others.
            let of_key = ranges.iter_mut();
            let of_key = of_key.filter_map(|range| range.next_if(|(k, _)| **k == key));
            let change = of_key
                .map(|(_, change)| change.clone())
                .reduce(|top, _| top);
            set += usize::from(matches!(change, Some(Some(_))));
            changes.extend(change.map(|change| (key, change)));
        }
        changes
    }

    /// Acknowledges what a transaction has changed.
    ///
    /// # Errors
    /// The last carry-over failed.
    pub(super) fn commit(&self, changed: Layer) -> Result<()> {
        let mut state = self.state.lock();
        state.refuse_after_fault()?;
        if changed.changes == 0 {
            return Ok(());
        }
        state.accepted += changed.changes;
        self.buffered.store(state.accepted - state.carried, SeqCst);
        let active = &mut state.active;
        let first = active.since.is_none();
        active.since.get_or_insert_with(Instant::now);
        active.changes += changed.changes;
        active.bytes += changed.bytes;
        active.rows.extend(changed.rows);
        // The carrier has to set its alarm, or to work.
        if first || active.is_full(&self.window) {
            self.work.notify_one();
        }
        Ok(())
    }

    /// Brings every change that is committed now to the disk.
    ///
    /// # Errors
    /// An attempt failed. The message says how many changes are in memory only; they stay there.
    pub(super) fn drain(&self, action: &str) -> Result<()> {
        let target = self.state.lock().accepted;
        let mut link = None;
        while self.state.lock().carried < target {
            self.carry_layer(&mut link);
            let state = self.state.lock();
            if let Some(fault) = &state.fault {
                let action = format!("{action} with everything on disk");
                return Err(state.in_memory_only(&action, fault));
            }
        }
        Ok(())
    }

    /// Has the carrier end.
    pub(super) fn stop(&self) {
        self.state.lock().stopping = true;
        self.work.notify_one();
    }

    /// The carrier: carries one layer after the other to the disk until the store goes.
    pub(super) fn carry(&self) {
        let mut link = None;
        loop {
            let mut state = self.state.lock();
            let Some(left) = state.left(&self.window) else {
                return;
            };
            if left > Duration::ZERO {
                self.work.wait_for(&mut state, left);
                continue;
            }
            drop(state);
            self.carry_layer(&mut link);
        }
    }

    /// Carries the layer over that an attempt before did not, or else the one that takes the writes, if there
    /// is anything in it. What becomes of it is in the state.
    fn carry_layer(&self, link: &mut Option<Connection>) {
        let _alone = self.carrying.lock();
        let mut state = self.state.lock();
        let State { active, other, .. } = &mut *state;
        if other.is_none() && active.changes == 0 {
            return;
        }
        let layer = Arc::clone(other.get_or_insert_with(|| Arc::new(take(active))));
        self.freed.notify_all();
        drop(state);
        let carried = self.carry_over(&layer, link);
        state = self.state.lock();
        if let Err(error) = carried {
            // Closing undoes the transaction, and the next attempt finds the file anew.
            *link = None;
            state.fault = Some(Fault {
                reason: error.of(STORE).to_string(),
                retry: Instant::now() + RETRY,
            });
            // The carrier tries again, whoever tried: nobody can commit before.
            self.work.notify_one();
        } else {
            state.carried += layer.changes;
            self.buffered.store(state.accepted - state.carried, SeqCst);
            (state.other, state.fault) = (None, None);
        }
        self.freed.notify_all();
    }

    /// Makes every change of a layer on disk in one transaction, by rising key: neighbours share
    /// pages.
    fn carry_over(&self, layer: &Layer, link: &mut Option<Connection>) -> Result<()> {
        let connection = match link {
            Some(connection) => connection,
            None => link.insert(self.base.connection()?),
        };
        let run = |text: &str| {
            let ran = connection.execute_batch(text);
            ran.map_err(|e| failed(format!("{text} in a carry-over"), &e))
        };
        run("BEGIN IMMEDIATE")?;
        for (key, change) in &layer.rows {
            let prepared = connection.prepare_cached(match change {
                Some(_) => "REPLACE INTO kv(k,v) VALUES(?1,?2)",
                None => "DELETE FROM kv WHERE k=?1",
            });
            let changed = prepared.and_then(|mut statement| match change {
                Some(value) => statement.execute((key, &value[..])),
                None => statement.execute([key]),
            });
            changed.map_err(|e| failed(format!("carry over key {key}"), &e))?;
        }
        run("COMMIT")
    }
}
