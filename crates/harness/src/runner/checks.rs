//! Values that are read back and compared: of several stores at a time.
//!
//! Nothing else goes on meanwhile: no block is timed, and no store is built, for what a build takes decides
//! whether there is another one.

use crate::HarnessError;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
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
    /// disk, which each check loads anew.
    Apart,
}

impl Alone {
    fn on(cell: &Cell) -> Self {
        match cell.capabilities.persistent && cell.driver.is_empty() {
            true => Self::Store(cell.instance.clone()),
            false => Self::Apart,
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
}

impl State {
    /// The first that no other one is in the way of.
    fn take(&mut self) -> Option<Waiting> {
        let free = |waiting: &Waiting| !self.used.contains(&waiting.alone);
        let at = self.waiting.iter().position(free)?;
        let taken = self.waiting.remove(at)?;
        self.used.insert(taken.alone.clone());
        Some(taken)
    }
}

/// Checks that are to be done.
#[derive(Default)]
pub(super) struct Checks {
    state: Mutex<State>,
    changed: Condvar,
    /// Whose failure each would be.
    cells: Vec<Cell>,
    /// Values in all.
    values: u64,
    /// Values that were compared, of all checks.
    compared: AtomicU64,
}

impl Checks {
    /// Adds a check of the store of `on`, of so many values; what is wrong with it is a failure of `cell`.
    pub(super) fn add(&mut self, cell: &Cell, on: &Cell, values: u64, check: Check) {
        let waiting = Waiting {
            number: self.cells.len(),
            alone: Alone::on(on),
            check,
        };
        self.cells.push(cell.clone());
        self.values = self.values.saturating_add(values);
        self.state().waiting.push_back(waiting);
    }

    /// Does them, as many at a time as there are CPUs; what came of each, in the order in which they were
    /// added.
    pub(super) fn done(mut self, progress: &mut dyn FnMut(u64, u64)) -> Vec<(Cell, Checked)> {
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        let wanted = cpus.min(MOST).min(self.cells.len());
        thread::scope(|scope| {
            let serve = || self.serve();
            let granted =
                (0..wanted).map_while(|_| thread::Builder::new().spawn_scoped(scope, serve).ok());
            if granted.count() == 0 {
                self.serve();
            }
            while self.wait_a_moment() {
                progress(self.compared.load(Ordering::Relaxed), self.values);
            }
        });
        if !self.cells.is_empty() {
            progress(self.values, self.values);
        }
        let found = std::mem::take(&mut self.state().found);
        let cells = std::mem::take(&mut self.cells).into_iter();
        cells.zip(found.into_values()).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits a moment for all of them; whether some are not done.
    fn wait_a_moment(&self) -> bool {
        let going_on = |state: &mut State| state.found.len() < self.cells.len();
        let waited = self
            .changed
            .wait_timeout_while(self.state(), TICK, going_on);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        going_on(&mut state)
    }

    /// Waits for the next check that may begin; nothing once there is none.
    fn next(&self) -> Option<Waiting> {
        let mut state = self.state();
        loop {
            if let Some(next) = state.take() {
                return Some(next);
            }
            if state.waiting.is_empty() {
                return None;
            }
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
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
            state
                .found
                .insert(next.number, found.unwrap_or_else(|_| panicked()));
            state.used.remove(&next.alone);
            self.changed.notify_all();
        }
    }
}

fn panicked() -> Checked {
    let message =
        "a thread of stowplan that compared its values panicked, which is a mistake in stowplan";
    Err(HarnessError::worker(message, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_size::tests::cell;
    use std::sync::Arc;
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
            (
                "apart: memory",
                cell("sqlite:location=memory,journal=memory"),
            ),
        ];
        for (name, on) in &cells {
            checks.add(on, on, 1, noting(name, &under_way));
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
    fn a_check_that_panics_fails_its_own_cell_and_the_others_are_done() {
        let mut checks = Checks::default();
        let cells = ["files", "flat", "sqlite", "files:layout=tree"].map(cell);
        for on in &cells {
            checks.add(on, on, 1, Box::new(|_| panic!("it was to panic")));
        }
        let last = cell("files:layout=dir");
        checks.add(&last, &last, 1, Box::new(|_| Ok(verification("last"))));
        let found = checks.done(&mut |_, _| ());
        let failed = found.iter().filter(|(_, found)| found.is_err()).count();
        assert_eq!((found.len(), failed), (5, 4));
        found[4].1.as_ref().unwrap();
    }
}
