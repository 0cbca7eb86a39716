//! What the connections of a store and its carrier share, and how they wait for each other.

use super::layer::{Entry, Layer, Piece, Volume};
use super::state::{Fault, Holder, State, Step};
use super::{Options, STORE, Window};
use crate::sqlite::base::Base;
use crate::sqlite::options::Statements;
use crate::{Result, StoreError};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{
    Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use std::time::{Duration, Instant};

/// A transaction that is open for longer keeps nobody waiting: whoever needs it to end gets an
/// error. Without a limit, a thread with two connections could wait for itself.
const TURN_WAIT: Duration = Duration::from_secs(10);

/// What a store's connections and its carrier share.
pub(super) struct Coordinator {
    pub(super) base: Base,
    pub(super) statements: Statements,
    pub(super) readers_apart: bool,
    window: Window,
    state: Mutex<State>,
    /// The carrier has something to do, or to end.
    work: Condvar,
    /// A turn or an attempt to carry over has ended.
    freed: Condvar,
    /// Committed changes that are in a layer: while there are none, reads need no lock.
    buffered: AtomicU64,
    /// How often a layer was carried over. It changes before that layer is emptied, so a
    /// snapshot of the disk taken after it was read has whatever has left the layers by then.
    generation: AtomicU64,
    /// The connections that were ever made: each has a number of its own.
    connections: AtomicU64,
    /// Whose turn it is at the database on disk, where its readers and its writer get in each
    /// other's way. SQLite's own locks would have to be polled for, and whoever is held up for
    /// long enough would be refused.
    disk: RwLock<()>,
}

impl Coordinator {
    pub(super) fn new(base: Base, options: &Options) -> Result<Self> {
        let statements = options.database.pragmas.statement;
        Ok(Self {
            base,
            statements,
            readers_apart: options.readers_apart,
            window: options.window,
            state: Mutex::new(State::new(statements)?),
            work: Condvar::new(),
            freed: Condvar::new(),
            buffered: AtomicU64::new(0),
            generation: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            disk: RwLock::new(()),
        })
    }

    /// Keeps the carrier from the database on disk, where it would be in the way. Nobody may
    /// wait for a turn meanwhile: its holder may wait for the disk.
    pub(super) fn reading_disk(&self) -> Option<RwLockReadGuard<'_, ()>> {
        let guard = || self.disk.read().unwrap_or_else(PoisonError::into_inner);
        (!self.readers_apart).then(guard)
    }

    /// Keeps readers from the database on disk, where they would be in the way.
    pub(super) fn writing_disk(&self) -> Option<RwLockWriteGuard<'_, ()>> {
        let guard = || self.disk.write().unwrap_or_else(PoisonError::into_inner);
        (!self.readers_apart).then(guard)
    }

    /// The number of a new connection.
    pub(super) fn number_connection(&self) -> u64 {
        self.connections.fetch_add(1, SeqCst)
    }

    /// Committed changes that are in memory only.
    pub(super) fn buffered(&self) -> u64 {
        self.buffered.load(SeqCst)
    }

    /// How often a layer was carried over.
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(SeqCst)
    }

    /// Nothing panics between two changes that belong together, so a poisoned state is whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a turn or an attempt has ended, or for `limit`.
    fn wait<'h>(
        &'h self,
        mut state: MutexGuard<'h, State>,
        limit: Duration,
    ) -> MutexGuard<'h, State> {
        state.waiting += 1;
        let waited = self.freed.wait_timeout(state, limit);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        state
    }

    /// Waits as [`Self::wait`], unless the turn that is to end has lasted too long already.
    fn wait_for_turn<'h>(
        &'h self,
        state: MutexGuard<'h, State>,
        action: &str,
    ) -> Result<MutexGuard<'h, State>> {
        let lasted = state.turn.as_ref().map(|holder| holder.since.elapsed());
        match TURN_WAIT.checked_sub(lasted.unwrap_or_default()) {
            Some(left) => Ok(self.wait(state, left)),
            None => Err(StoreError::Engine {
                store: STORE,
                action: action.to_owned(),
                detail: format!(
                    "another connection has had a transaction open for {} s",
                    TURN_WAIT.as_secs()
                ),
            }),
        }
    }

    /// Waits for the turn to write, and for room.
    ///
    /// # Errors
    /// The last carry-over failed, or another transaction lasts too long.
    pub(super) fn take_turn(&self, connection: u64, explicit: bool) -> Result<Turn<'_>> {
        let mut state = self.lock();
        loop {
            state.refuse_after_fault()?;
            if state.turn.is_none() && !state.active.is_full(&self.window) {
                break;
            }
            state = self.wait_for_turn(state, "write")?;
        }
        if explicit {
            state.active.begin()?;
        }
        state.turn = Some(Holder {
            connection,
            since: Instant::now(),
            explicit,
            volume: Volume::default(),
        });
        Ok(Turn { coordinator: self })
    }

    /// Shows what the layers have of a key to a connection, which waits while another's
    /// transaction has changes that are not committed.
    pub(super) fn visit(
        &self,
        connection: u64,
        key: i64,
        visit: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<Entry> {
        let state = self.readable(connection)?;
        state.look_up(|layer| layer.visit(key, visit))
    }

    /// The size of what the layers have of a key.
    pub(super) fn size(&self, connection: u64, key: i64) -> Result<Entry> {
        let state = self.readable(connection)?;
        state.look_up(|layer| layer.size(key))
    }

    /// Copies of the changes from `from` on in the layer that takes the writes, and in the one
    /// that is carried over.
    pub(super) fn pieces(&self, connection: u64, from: i64, most: usize) -> Result<[Piece; 2]> {
        let state = self.readable(connection)?;
        Ok([
            state.active.piece(from, most)?,
            state.other.piece(from, most)?,
        ])
    }

    fn readable(&self, connection: u64) -> Result<MutexGuard<'_, State>> {
        let mut state = self.lock();
        while state.hides_changes_from(connection) {
            state = self.wait_for_turn(state, "read")?;
        }
        Ok(state)
    }

    /// Ends a turn. The layers change places if it is time, before the next writer comes.
    fn end_turn(&self, mut state: MutexGuard<'_, State>) {
        let Some(holder) = state.turn.take() else {
            return;
        };
        let first =
            !state.active.is_empty() && holder.volume.changes == state.active.volume.changes;
        let due = state.held_up || state.active.is_full(&self.window);
        let swapped = due && state.swap();
        // A wake-up is a system call: it is made where the carrier has to set its alarm or work.
        if first || swapped || state.held_up {
            state.held_up = false;
            self.work.notify_one();
        }
        if state.waiting > 0 {
            self.freed.notify_all();
        }
    }

    /// Waits until every change that is committed now is on disk.
    ///
    /// # Errors
    /// An attempt that began after the call failed, or a transaction is open for too long. The
    /// message says how many changes are in memory only; they stay there.
    pub(super) fn drain(&self, action: &str) -> Result<()> {
        let mut state = self.lock();
        let (target, earlier) = (state.accepted, state.attempts);
        while state.carried < target {
            if let Some(fault) = state.fault.as_ref().filter(|f| f.attempt > earlier) {
                return Err(StoreError::Engine {
                    store: STORE,
                    action: format!("{action} with everything on disk"),
                    detail: state.in_memory_only(fault),
                });
            }
            state.pressed = true;
            self.work.notify_one();
            state = self.wait_for_turn(state, action)?;
        }
        state.pressed = false;
        Ok(())
    }

    /// Runs `work` while no layer is being carried over.
    pub(super) fn beside_carrier<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut state = self.lock();
        while state.running {
            state = self.wait(state, TURN_WAIT);
        }
        work()
    }

    /// Has the carrier make a last attempt and end.
    pub(super) fn stop(&self) {
        self.lock().stopping = true;
        self.work.notify_one();
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    /// Waits until a layer is to be carried over (see [`State::step`]), and counts the attempt;
    /// false when the carrier is to end.
    pub(super) fn next_attempt(&self, retry: Option<Instant>) -> bool {
        let mut state = self.lock();
        loop {
            state = match state.step(&self.window, retry) {
                Step::CarryOver => {
                    state.attempts += 1;
                    state.running = true;
                    state.pressed = false;
                    return true;
                }
                Step::End => return false,
                Step::Wait(None) => {
                    let waited = self.work.wait(state);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
                Step::Wait(Some(limit)) => {
                    let waited = self.work.wait_timeout(state, limit);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            }
        }
    }

    /// A piece of the layer that is being carried over.
    pub(super) fn piece_to_carry(&self, from: i64, most: usize) -> Result<Piece> {
        self.lock().other.piece(from, most)
    }

    /// The layer is on disk: `empty` takes its place.
    pub(super) fn carried_over(&self, empty: Layer) {
        let mut state = self.lock();
        let full = mem::replace(&mut state.other, empty);
        state.carried += full.volume.changes;
        self.generation.fetch_add(1, SeqCst);
        self.buffered.store(state.in_memory(), SeqCst);
        state.carrying = false;
        state.fault = None;
        self.end_attempt(state);
        // Freeing its memory takes time, and nobody needs to wait for that.
        drop(full);
    }

    /// The layer stays where it is, until it is tried again.
    pub(super) fn not_carried_over(&self, error: &StoreError) {
        let mut state = self.lock();
        state.fault = Some(Fault {
            attempt: state.attempts,
            reason: error.to_string(),
        });
        self.end_attempt(state);
    }

    fn end_attempt(&self, mut state: MutexGuard<'_, State>) {
        state.running = false;
        if state.waiting > 0 {
            self.freed.notify_all();
        }
    }
}

/// The turn to write. It ends when this is dropped; a transaction that was not committed by then
/// is undone.
pub(super) struct Turn<'h> {
    coordinator: &'h Coordinator,
}

impl Turn<'_> {
    /// Changes a row within a transaction.
    pub(super) fn put(&self, key: i64, value: Option<&[u8]>) -> Result<()> {
        self.coordinator.lock().put(key, value)
    }

    /// Changes a row as a transaction of its own.
    pub(super) fn put_alone(self, key: i64, value: Option<&[u8]>) -> Result<()> {
        let mut state = self.coordinator.lock();
        state.refuse_after_fault()?;
        state.put(key, value)?;
        self.acknowledge(state);
        Ok(())
    }

    /// Commits the transaction. After an error it is undone.
    pub(super) fn commit(self) -> Result<()> {
        let state = self.coordinator.lock();
        state.refuse_after_fault()?;
        state.active.commit()?;
        self.acknowledge(state);
        Ok(())
    }

    pub(super) fn roll_back(self) -> Result<()> {
        self.coordinator.lock().active.roll_back()
    }

    fn acknowledge(self, mut state: MutexGuard<'_, State>) {
        state.accept();
        self.coordinator.buffered.store(state.in_memory(), SeqCst);
        self.coordinator.end_turn(state);
        // It has ended already.
        mem::forget(self);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.coordinator.lock();
        if state.turn.as_ref().is_some_and(|holder| holder.explicit) {
            // Nothing can be told here. Where this fails, the next BEGIN fails too, and tells.
            let _ = state.active.roll_back();
        }
        if let Some(holder) = &mut state.turn {
            holder.volume = Volume::default();
        }
        self.coordinator.end_turn(state);
    }
}
