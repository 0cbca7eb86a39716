//! Values that are read back and compared: of several stores at a time, and beside the building of
//! others.
//!
//! Nothing is timed while a check is under way: whoever begins some also waits for them.

use crate::HarnessError;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use stowplan_model::{Cell, Verification};

/// The most checks at a time: each holds some megabytes, and two processes that take turns.
const MOST: usize = 8;

/// How often is told how far they are.
const TICK: Duration = Duration::from_millis(20);

/// What came of a check.
pub(super) type Checked = Result<Verification, HarnessError>;

/// A check; it tells how many values it has compared, and of how many.
pub(super) type Check = Box<dyn FnOnce(&mut dyn FnMut(u64, u64)) -> Checked + Send>;

/// What no two checks use at a time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Alone {
    /// A store that was built: many an engine lets one process open it.
    Store(String),
    /// Somebody's program, which need not bear another one beside it, and room for a store that is not on
    /// disk, which each check loads anew: not while stores are built either.
    All,
}

impl Alone {
    fn on(cell: &Cell) -> Self {
        match cell.capabilities.persistent && cell.driver.is_empty() {
            true => Self::Store(cell.instance.clone()),
            false => Self::All,
        }
    }
}

struct Waiting {
    number: usize,
    alone: Alone,
    check: Check,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    used: BTreeSet<Alone>,
    found: BTreeMap<usize, Checked>,
    /// Nothing is built any more, and no further check is begun.
    is_last: bool,
}

impl State {
    /// The first that nothing stands in the way of.
    fn take(&mut self) -> Option<Waiting> {
        let free = |waiting: &Waiting| {
            !self.used.contains(&waiting.alone) && (self.is_last || waiting.alone != Alone::All)
        };
        let at = self.waiting.iter().position(free)?;
        let taken = self.waiting.remove(at)?;
        self.used.insert(taken.alone.clone());
        Some(taken)
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Values that were compared, of all checks.
    compared: AtomicU64,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next check that may begin; nothing once there will be none.
    fn next(&self) -> Option<Waiting> {
        let mut state = self.state();
        loop {
            if let Some(next) = state.take() {
                return Some(next);
            }
            if state.is_last && state.waiting.is_empty() {
                return None;
            }
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits a moment for so many checks to be over; whether some are not.
    fn wait_for(&self, checks: usize) -> bool {
        let going_on = |state: &mut State| state.found.len() < checks;
        let waited = self
            .changed
            .wait_timeout_while(self.state(), TICK, going_on);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.found.len() < checks
    }

    fn serve(&self) {
        while let Some(next) = self.next() {
            let mut before = 0;
            let progress = &mut |done: u64, _| {
                let more = done.saturating_sub(before);
                self.compared.fetch_add(more, Ordering::Relaxed);
                before = done;
            };
            // One that panics shall not keep the others waiting.
            let found = catch_unwind(AssertUnwindSafe(|| (next.check)(progress)));
            let mut state = self.state();
            state.found.insert(next.number, found.unwrap_or_else(|_| panicked()));
            state.used.remove(&next.alone);
            self.changed.notify_all();
        }
    }
}

fn panicked() -> Checked {
    let message = "a thread of stowplan that compared its values panicked, which is a mistake in stowplan";
    Err(HarnessError::worker(message, ""))
}

/// Checks that were begun. Those that nobody waits for are given up when this is dropped; none goes on
/// afterwards.
#[derive(Default)]
pub(super) struct Checks {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Whose failure each would be.
    cells: Vec<Cell>,
    /// Values in all.
    values: u64,
}

impl Checks {
    /// Begins to check the store of `on`, of so many values, as soon as a CPU is free; what is wrong with
    /// it is a failure of `cell`.
    pub(super) fn begin(&mut self, cell: &Cell, on: &Cell, values: u64, check: Check) {
        let waiting = Waiting {
            number: self.cells.len(),
            alone: Alone::on(on),
            check,
        };
        self.cells.push(cell.clone());
        self.values = self.values.saturating_add(values);
        self.shared.state().waiting.push_back(waiting);
        self.shared.changed.notify_all();
        let most = thread::available_parallelism().map_or(1, |n| n.get().min(MOST));
        if self.threads.len() < most {
            let shared = Arc::clone(&self.shared);
            let granted = thread::Builder::new().spawn(move || shared.serve());
            self.threads.extend(granted);
        }
    }

    /// Waits for all of them; what came of each, in the order in which they were begun.
    pub(super) fn done(mut self, progress: &mut dyn FnMut(u64, u64)) -> Vec<(Cell, Checked)> {
        self.close();
        while self.shared.wait_for(self.cells.len()) {
            progress(self.shared.compared.load(Ordering::Relaxed), self.values);
            if self.threads.is_empty() {
                // The system grants none.
                self.shared.serve();
            }
        }
        if !self.cells.is_empty() {
            progress(self.values, self.values);
        }
        let found = std::mem::take(&mut self.shared.state().found);
        let cells = std::mem::take(&mut self.cells).into_iter();
        cells.zip(found.into_values()).collect()
    }

    /// No further one is begun, and nothing is built any more.
    fn close(&self) {
        self.shared.state().is_last = true;
        self.shared.changed.notify_all();
    }
}

impl Drop for Checks {
    fn drop(&mut self) {
        self.shared.state().waiting.clear();
        self.close();
        for thread in self.threads.drain(..) {
            // What it came to is not asked for any more.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_size::tests::cell;
    use stowplan_model::CellId;

    fn verification(name: &str) -> Verification {
        Verification {
            cell: CellId(name.to_owned()),
            values: 1,
            bytes: 1,
            overwritten: 0,
        }
    }

    /// A check that says which of those named here are under way while it is.
    fn noting(name: &'static str, under_way: &Arc<Mutex<Vec<Vec<&'static str>>>>) -> Check {
        let under_way = Arc::clone(under_way);
        Box::new(move |progress| {
            let now = |change: &dyn Fn(&mut Vec<&'static str>)| {
                let mut all = under_way.lock().unwrap();
                let mut now = all.last().cloned().unwrap_or_default();
                change(&mut now);
                all.push(now);
            };
            now(&|names| names.push(name));
            thread::sleep(Duration::from_millis(20));
            progress(1, 1);
            now(&|names| names.retain(|other| *other != name));
            Ok(verification(name))
        })
    }

    #[test]
    fn no_two_checks_of_one_store_are_under_way_at_a_time_nor_of_drivers_and_in_memory() {
        let mut checks = Checks::default();
        let under_way = Arc::default();
        let driver = |spec| Cell {
            driver: "other".to_owned(),
            ..cell(spec)
        };
        let cells = [
            ("store", cell("files")),
            ("store again", cell("files:read=stdio")),
            ("apart: a driver", driver("flat")),
            ("apart: the same", driver("files")),
            ("apart: memory", cell("sqlite:location=memory,journal=memory")),
        ];
        for (name, on) in &cells {
            checks.begin(on, on, 1, noting(name, &under_way));
        }
        let mut last = (0, 0);
        let found = checks.done(&mut |done, total| last = (done, total));
        assert_eq!(last, (5, 5));
        let order: Vec<String> = found
            .into_iter()
            .map(|(_, found)| found.unwrap().cell.0)
            .collect();
        assert_eq!(order, cells.map(|(name, _)| name));
        for names in under_way.lock().unwrap().iter() {
            for kind in ["store", "apart"] {
                let alike = names.iter().filter(|name| name.starts_with(kind)).count();
                assert!(alike <= 1, "{names:?}");
            }
        }
    }

    #[test]
    fn a_foreign_driver_does_not_read_back_while_stores_are_built() {
        let mut state = State::default();
        let mut wait = |number, alone| {
            state.waiting.push_back(Waiting {
                number,
                alone,
                check: Box::new(|_| Ok(verification(""))),
            });
        };
        wait(0, Alone::All);
        wait(1, Alone::Store("d.files".to_owned()));
        let taken = |state: &mut State| state.take().map(|waiting| waiting.number);
        assert_eq!((taken(&mut state), taken(&mut state)), (Some(1), None));
        state.is_last = true;
        assert_eq!(taken(&mut state), Some(0));
    }

    #[test]
    fn a_check_that_panics_fails_its_own_cell_and_the_others_are_done() {
        let mut checks = Checks::default();
        let cells = ["files", "flat", "sqlite", "files:layout=tree"].map(cell);
        for on in &cells {
            checks.begin(on, on, 1, Box::new(|_| panic!("it was to panic")));
        }
        let last = cell("files:layout=dir");
        checks.begin(&last, &last, 1, Box::new(|_| Ok(verification("last"))));
        let found = checks.done(&mut |_, _| ());
        let failed = found.iter().filter(|(_, found)| found.is_err()).count();
        assert_eq!((found.len(), failed), (5, 4));
        found[4].1.as_ref().unwrap();
    }

    #[test]
    fn nothing_goes_on_once_those_who_began_it_gave_up() {
        let ran = Arc::new(AtomicU64::new(0));
        let mut checks = Checks::default();
        let on = cell("files");
        for _ in 0..50 {
            let ran = Arc::clone(&ran);
            let check = move || {
                thread::sleep(Duration::from_millis(20));
                ran.fetch_add(1, Ordering::Relaxed);
                Ok(verification(""))
            };
            checks.begin(&on, &on, 1, Box::new(move |_| check()));
        }
        drop(checks);
        let ended = ran.load(Ordering::Relaxed);
        assert!(ended < 50, "{ended}");
        thread::sleep(Duration::from_millis(60));
        assert_eq!(ran.load(Ordering::Relaxed), ended);
    }
}
