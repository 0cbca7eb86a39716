//! Datasets and stores of a comparison: made and read back before its rounds, read back and weighed after them, and
//! removed when no later one uses them.

use super::checks::Checks;
use super::clock::{DATASETS, REMOVAL, STORES, VERIFICATION};
use super::{Runner, preparing, writers};
use crate::plan::uses;
use crate::{HarnessError, Result};
use std::collections::BTreeSet;
use stowplan_model::{CacheState, Cell, Comparison, Record, built_alike};

impl Runner<'_> {
    /// Builds what a comparison needs and is not there yet, and reads it back.
    pub(super) fn prepare(&mut self, comparison: &Comparison) -> Result<()> {
        self.during(REMOVAL, |runner| runner.forget_used(comparison))?;
        loop {
            let mut checks = Checks::default();
            for cell in &comparison.cells {
                if self.skipped(cell) {
                    continue;
                }
                if let Err(error) = self.prepare_cell(cell, &mut checks) {
                    self.cell_failed(cell, error)?;
                }
            }
            let mut doubted = false;
            self.settle(checks, &mut |runner, cell, error| {
                // The build may be wrong, or this way of reading it: others are to see all of it.
                doubted |= runner.pool.of_mut(cell).doubt();
                doubted |= runner.pool.of_mut(&cell.on_second()).doubt();
                runner.cell_failed(cell, error)
            })?;
            if !doubted {
                return Ok(());
            }
        }
    }

    /// Removes stores that are no longer what cells are to find: they are built anew.
    pub(super) fn forget_used(&mut self, comparison: &Comparison) -> Result<()> {
        let cells = comparison.cells.iter();
        for cell in cells.flat_map(Cell::on_both) {
            if self.pool.of(&cell).is_there && !self.pool.serves(&cell) {
                self.pool.forget(&cell)?;
            }
        }
        Ok(())
    }

    pub(super) fn prepare_cell(&mut self, cell: &Cell, checks: &mut Checks) -> Result<()> {
        if let Some(error) = self.options.drivers.failure(&cell.store) {
            return Err(error);
        }
        self.pool.root(cell)?;
        self.during(DATASETS, |runner| runner.prepare_dataset(&cell.dataset))?;
        self.prepare_instance(cell)?;
        self.check_build(cell, cell, checks)?;
        self.prepare_second(cell, checks)
    }

    pub(super) fn prepare_dataset(&mut self, name: &str) -> Result<()> {
        let spec = self.plan.datasets.get(name);
        let spec =
            spec.ok_or_else(|| HarnessError::invalid(format!("the plan has no dataset '{name}'")))?;
        let told = preparing(self.observer, format!("dataset {name}"));
        let record = self.pool.dataset(name, spec, &mut { told })?;
        self.record_all(record.map(Record::Preparation))
    }

    pub(super) fn prepare_instance(&mut self, cell: &Cell) -> Result<()> {
        let (built, footprint) = self.during(STORES, |runner| {
            let what = format!("building {}", cell.instance);
            let progress = &mut preparing(runner.observer, what);
            let built = runner.pool.build(cell, progress)?;
            // A second build takes as much, and so does what is built alike.
            let alike = built_alike(&cell.instance);
            let known = cell.is_on_second() || runner.recorded.weighed.contains(alike);
            let unknown = built.is_some() && !known;
            let footprint = unknown.then(|| runner.pool.footprint(cell, false));
            Ok::<_, HarnessError>((built, footprint.transpose()?.flatten()))
        })?;
        self.record_all(built.map(Record::Preparation))?;
        self.record_all(footprint.map(Record::Footprint))
    }

    /// Builds a store again that a failure may have damaged. Where that fails too (its server may be
    /// gone), those that share it will fail by themselves.
    pub(super) fn prepare_again(&mut self, cell: &Cell) -> Result<()> {
        match self.prepare_instance(cell) {
            Err(error) if error.is_of_a_store() && !error.is_lack_of_room() => Ok(()),
            prepared => prepared,
        }
    }

    /// Has values of a store read, untimed, and compared as `on` reads them: all of them once, and some for
    /// each further setting or delivery. A store that keeps no values has none to compare. What is wrong is
    /// a failure of `cell`.
    pub(super) fn check(&mut self, cell: &Cell, on: &Cell, checks: &mut Checks) -> Result<()> {
        if self.options.drivers.kind(&on.store)?.keeps_nothing {
            return Ok(());
        }
        let Some(extent) = self.pool.take_check(on) else {
            return Ok(());
        };
        let job = self.pool.job(on)?;
        checks.add(cell, on, Box::new(move || job.verify(extent)));
        Ok(())
    }

    /// Does checks, and records what was compared. `failed` hears of cells that one of them fails.
    pub(super) fn settle(
        &mut self,
        checks: Checks,
        failed: &mut dyn FnMut(&mut Self, &Cell, HarnessError) -> Result<()>,
    ) -> Result<()> {
        let checked = self.during(VERIFICATION, |runner| {
            let stores = checks.len() as u64;
            let mut told = preparing(runner.observer, "checking every value".to_owned());
            let mut tell = |done| (stores > 0).then(|| told(done, stores));
            tell(0);
            let checked = checks.done();
            tell(stores);
            checked
        });
        for (cell, found) in checked {
            match found {
                Ok(found) => {
                    self.record(Record::Verification(found))?;
                }
                // One failure of a cell is enough.
                Err(_) if self.skipped(&cell) => {}
                Err(error) => failed(self, &cell, error)?,
            }
        }
        Ok(())
    }

    /// After the rounds: every value of stores that were written to is checked, and their
    /// footprint taken again.
    pub(super) fn finish(&mut self, comparison: &Comparison) -> Result<()> {
        let mut checks = Checks::default();
        for cell in writers(comparison) {
            if self.skipped(cell) {
                continue;
            }
            for on in self.builds_of(cell) {
                if let Err(error) = self.check(cell, &on, &mut checks) {
                    self.cell_failed(cell, error)?;
                }
            }
        }
        // Whose values are wrong cannot be said of a build to which several write.
        self.settle(checks, &mut |runner, cell, error| {
            let all: Vec<&Cell> = comparison.cells.iter().collect();
            runner.all_on_it_failed(&all, cell, error)
        })?;
        let mut weighed = BTreeSet::new();
        for cell in writers(comparison) {
            if self.skipped(cell) || !weighed.insert(&cell.instance) {
                continue;
            }
            match self.pool.footprint(cell, true) {
                Ok(footprint) => self.record_all(footprint.map(Record::Footprint))?,
                Err(error) => self.cell_failed(cell, error)?,
            }
        }
        Ok(())
    }

    /// Notes which stores were evicted: they are built anew once they are to be warm. How pages came
    /// into the page cache matters, for the kernel keeps them in units whose size depends on it: overwriting a tenth of a 1 GB
    /// database took 12 µs a value as built, 17 to 26 µs after cold reads and a warm-up, 65 µs
    /// after reading it in order with a read-ahead of 8 MiB. Where memory was emptied, every store was
    /// evicted.
    pub(super) fn note_evictions(&mut self, comparison: &Comparison) {
        let all_cold = |cell: &Cell| cell.workload.cache == CacheState::AllCold;
        let is_cold = |cell: &&Cell| cell.workload.cache.is_cold();
        let evicted: Vec<&Cell> = match comparison.cells.iter().any(all_cold) {
            true => self.plan.cells().collect(),
            false => comparison.cells.iter().filter(is_cold).collect(),
        };
        for cell in evicted {
            self.pool.of_mut(cell).is_evicted = true;
            if !cell.workload.cache.is_cold() {
                self.pool.of_mut(&cell.on_second()).is_evicted = true;
            }
        }
    }

    /// Removes what this comparison used and no later one does, so that a study of many sizes
    /// needs no more room than its largest one.
    pub(super) fn release_unused(&mut self, comparison: &Comparison, index: usize) -> Result<()> {
        if self.options.keep {
            return Ok(());
        }
        let later = self.later(index);
        let (datasets, instances) = uses(&later);
        let cells = comparison.cells.iter();
        let unused = cells.filter(|cell| !instances.contains_key(&*cell.instance));
        for cell in unused.flat_map(Cell::on_both) {
            self.pool.forget(&cell)?;
        }
        for cell in &comparison.cells {
            if !datasets.contains_key(&*cell.dataset) && !self.may_be_needed(&cell.dataset) {
                self.pool.release_dataset(&cell.dataset)?;
            }
        }
        Ok(())
    }

    /// Whether what follows may use a dataset that cannot be made again: values that somebody brought along.
    pub(super) fn may_be_needed(&self, dataset: &str) -> bool {
        let spec = self.plan.datasets.get(dataset);
        // Time that is left goes to comparisons that were measured before.
        let gone_back_to = self.options.budget.is_some();
        (self.expected > 0 || gone_back_to) && spec.is_some_and(|spec| spec.from.is_some())
    }
}
