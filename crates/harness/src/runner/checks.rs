//! Values that are read back and compared: of several stores at a time.
//!
//! Nothing else goes on meanwhile: no block is timed, and no store is built, for what a build takes decides
//! whether there is another one.

use crate::{HarnessError, Progress, Result};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use stowplan_model::{Cell, Verification};

/// The most checks at a time: each holds some megabytes, and two processes that take turns.
const MOST: usize = 8;

/// How often is told how far they are.
const TICK: Duration = Duration::from_millis(5);

/// What came of a check.
pub(super) type Checked = Result<Verification>;

/// A check; it tells how many values it has compared, and of how many.
pub(super) type Check = Box<dyn FnOnce(Progress<'_>) -> Checked + Send>;

/// What no two checks use at a time.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
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

/// Checks that are to be done.
#[derive(Default)]
pub(super) struct Checks {
    /// Of those that no two are done of at a time, each with its number.
    apart: BTreeMap<Alone, Vec<(usize, Check)>>,
    /// Whose failure each would be.
    cells: Vec<Cell>,
    /// Values in all.
    values: u64,
}

impl Checks {
    /// Adds a check of the store of `on`, of so many values; what is wrong with it is a failure of `cell`.
    pub(super) fn add(&mut self, cell: &Cell, on: &Cell, values: u64, check: Check) {
        let one_by_one = self.apart.entry(Alone::on(on)).or_default();
        one_by_one.push((self.cells.len(), check));
        self.cells.push(cell.clone());
        self.values = self.values.saturating_add(values);
    }

    /// Does them, as many at a time as there are CPUs; what came of each, in the order in which they were
    /// added.
    pub(super) fn done(self, progress: Progress<'_>) -> Vec<(Cell, Checked)> {
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        let wanted = cpus.min(MOST).min(self.apart.len());
        let waiting = Mutex::new(self.apart.into_values());
        let (found, compared) = (Mutex::new(BTreeMap::new()), AtomicU64::new(0));
        let serve = || {
            while let Some(one_by_one) = next(&waiting) {
                for (number, check) in one_by_one {
                    let checked = counted(check, &compared);
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.insert(number, checked);
                }
            }
        };
        thread::scope(|scope| {
            let threads =
                (0..wanted).map_while(|_| thread::Builder::new().spawn_scoped(scope, serve).ok());
            let threads: Vec<_> = threads.collect();
            if threads.is_empty() {
                serve();
            }
            while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
                thread::sleep(TICK);
                progress(compared.load(Ordering::Relaxed), self.values);
            }
        });
        if !self.cells.is_empty() {
            progress(self.values, self.values);
        }
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.cells.into_iter().zip(found.into_values()).collect()
    }
}

fn next<T>(waiting: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
    waiting.next()
}

/// Does a check that adds to the values compared so far. One that panics shall not keep the others waiting.
fn counted(check: Check, compared: &AtomicU64) -> Checked {
    let mut before = 0;
    let progress = &mut |done: u64, _| {
        compared.fetch_add(done.saturating_sub(before), Ordering::Relaxed);
        before = done;
    };
    catch_unwind(AssertUnwindSafe(|| check(progress))).unwrap_or_else(|_| panicked())
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
