//! Values that are read back and compared: of several stores at a time.
//!
//! Nothing else goes on meanwhile: no block is timed, and no store is built, for what a build takes decides
//! whether there is another one.

use crate::walk::each_by;
use crate::{HarnessError, Result};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use stowplan_model::{Cell, Verification};

/// The most checks at a time: each holds some megabytes, and two processes that take turns.
const MOST: usize = 8;

/// What came of a check.
pub(super) type Checked = Result<Verification>;

/// A check.
pub(super) type Check = Box<dyn FnOnce() -> Checked + Send>;

/// Checks that are to be done.
#[derive(Default)]
pub(super) struct Checks {
    /// Those of which no two are done at a time, each with its number and with the cell whose failure it would be: of
    /// a store that was built, which many an engine lets one process open; and, under no name, of somebody's programs,
    /// which need not bear another one beside them, and of stores in memory, which each check loads anew.
    apart: BTreeMap<String, Vec<(usize, Cell, Check)>>,
    added: usize,
}

impl Checks {
    /// Adds a check of the store of `on`; what is wrong with it is a failure of `cell`.
    pub(super) fn add(&mut self, cell: &Cell, on: &Cell, check: Check) {
        let has_files = on.capabilities.persistent && on.driver.is_empty();
        let alone = if has_files { &*on.instance } else { "" };
        let one_by_one = self.apart.entry(alone.to_owned()).or_default();
        one_by_one.push((self.added, cell.clone(), check));
        self.added += 1;
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.added
    }

    /// Does them, as many at a time as there are CPUs; what came of each, in the order in which they were
    /// added.
    pub(super) fn done(self) -> Vec<(Cell, Checked)> {
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        let apart: Vec<_> = self.apart.into_values().map(Mutex::new).collect();
        let found = Mutex::new(BTreeMap::new());
        let ended = each_by(cpus.min(MOST), &apart, |one_by_one| {
            for (number, cell, check) in std::mem::take(&mut *lock(one_by_one)) {
                // One that panics shall not keep the others from theirs.
                let checked = catch_unwind(AssertUnwindSafe(check));
                let checked = checked.unwrap_or_else(|_| Err(panicked()));
                lock(&found).insert(number, (cell, checked));
            }
            Ok(())
        });
        debug_assert!(ended.is_ok(), "no check ends the others");
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.into_values().collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn panicked() -> HarnessError {
    let message =
        "a thread of stowplan that compared its values panicked, which is a mistake in stowplan";
    HarnessError::worker(message, "")
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
        Box::new(move || {
            let now = |change: &dyn Fn(&mut Vec<&'static str>)| {
                let mut all = under_way.lock().unwrap();
                let mut now = all.last().cloned().unwrap_or_default();
                change(&mut now);
                all.push(now);
            };
            now(&|names| names.push(name));
            thread::sleep(std::time::Duration::from_millis(20));
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
            checks.add(on, on, noting(name, &under_way));
        }
        assert_eq!(checks.len(), 5);
        let found = checks.done();
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
            checks.add(on, on, Box::new(|| panic!("it was to panic")));
        }
        let last = cell("files:layout=dir");
        checks.add(&last, &last, Box::new(|| Ok(verification("last"))));
        let found = checks.done();
        let failed = found.iter().filter(|(_, found)| found.is_err()).count();
        assert_eq!((found.len(), failed), (5, 4));
        found[4].1.as_ref().unwrap();
    }
}
