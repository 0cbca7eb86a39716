//! The counting pass: one block of each cell that a ladder or a claim is about, or that reads from
//! storage, never timed.

use super::blocks::{BlockSize, Spot};
use super::{Event, Runner, Sequences};
use crate::counting::{self, Counter};
use crate::{HarnessError, sequence};
use std::collections::{BTreeMap, BTreeSet};
use stowplan_model::{
    Cell, CellId, Comparison, Measurement, PayloadSource, Record, Role, Study, Warning, WarningKind,
};

/// A round that is none: its keys are no other round's.
const ROUND: u32 = u32::MAX - 1;

impl Runner<'_> {
    /// Counts what an operation of each cell does, where the study takes its cost apart or reads
    /// from storage.
    pub(super) fn count_calls(
        &mut self,
        comparison: &Comparison,
        sizes: &BTreeMap<CellId, BlockSize>,
    ) -> Result<(), HarnessError> {
        if !is_explained(&self.plan.study, comparison) {
            return Ok(());
        }
        let counter = match self.counter.take() {
            Some(counter) => counter,
            None => {
                let counter = Counter::find();
                self.warn_of_counter(&counter)?;
                counter
            }
        };
        let counted = self.count_cells(comparison, sizes, &counter);
        self.counter = Some(counter);
        counted
    }

    fn count_cells(
        &mut self,
        comparison: &Comparison,
        sizes: &BTreeMap<CellId, BlockSize>,
        counter: &Counter,
    ) -> Result<(), HarnessError> {
        let sequences = self.write_sequences(comparison, ROUND, sizes)?;
        let seed = sequence::seed(self.options.seed, &format!("{}/count", comparison.id), 0);
        let mut first = seed % self.count(&comparison.cells[0].dataset).max(1);
        let cells: Vec<&Cell> = comparison
            .cells
            .iter()
            .filter(|cell| cell.role != Role::Control && cell.workload.threads == 1)
            .collect();
        for (done, cell) in cells.iter().enumerate() {
            let Some(size) = sizes.get(&cell.id) else {
                continue;
            };
            if self.skipped(cell) || self.earlier.counted(cell) {
                continue;
            }
            self.observer.event(Event::Preparing {
                what: &format!("counting system calls: {}", cell.label),
                done: done as u64,
                total: cells.len() as u64,
            });
            let size = match cell.workload.changes_keys() {
                true => *size,
                false => size.at_most(self.most_counted(cell)),
            };
            self.count_cell(cell, size, counter, &sequences, first)?;
            first += size.steps();
        }
        Ok(())
    }

    fn count_cell(
        &mut self,
        cell: &Cell,
        size: BlockSize,
        counter: &Counter,
        sequences: &Sequences,
        first: u64,
    ) -> Result<(), HarnessError> {
        let spot = Spot {
            sequence: sequences.of(cell),
            first: if cell.workload.changes_keys() {
                0
            } else {
                first
            },
            version: self.instances.next_version(cell),
            payloads: PayloadSource::Prepared,
            round: 0,
            position: 0,
        };
        let place = self.instances.place(cell);
        let counted = self.blocks.count(cell, &place, size, counter, &spot);
        match counted {
            Ok(measurement) => {
                self.warn_of_lost_calls(cell, counter, &measurement)?;
                self.log.append(&Record::Measurement(measurement))
            }
            // What was measured of the cell stands.
            Err(error) if error.is_of_a_store() => self.warn(Warning {
                kind: WarningKind::Other,
                message: format!("What {} does could not be counted: {error}", cell.id),
                advice: "Its times stand.".to_owned(),
            }),
            Err(error) => Err(error),
        }
    }

    /// Looks where values lie that are read from storage, or whose cost is taken apart: once for
    /// each store.
    pub(super) fn look_where_values_lie(
        &mut self,
        comparison: &Comparison,
    ) -> Result<(), HarnessError> {
        let wanted = is_explained(&self.plan.study, comparison);
        let mut seen = BTreeSet::new();
        for cell in comparison.cells.iter().filter(|_| wanted) {
            let own = cell.workload.changes_keys();
            if own || self.skipped(cell) || !seen.insert(&cell.instance) {
                continue;
            }
            match self.instances.placement(cell) {
                Ok(placement) => self.log.append_all(placement.map(Record::Placement))?,
                Err(error) => self.warn(Warning {
                    kind: WarningKind::Other,
                    message: format!("Where the values of {} lie is not known: {error}", cell.id),
                    advice: "Its times stand.".to_owned(),
                })?,
            }
        }
        Ok(())
    }

    fn most_counted(&self, cell: &Cell) -> u64 {
        let spec = self.plan.datasets.get(&cell.dataset);
        counting::most_operations(spec.map_or(0, |spec| spec.size.mean()))
    }

    fn warn_of_counter(&mut self, counter: &Counter) -> Result<(), HarnessError> {
        let Counter::Missing(why) = counter else {
            return Ok(());
        };
        self.warn(Warning {
            kind: WarningKind::Other,
            message: format!("System calls are not counted ({why})."),
            advice: "Install strace, or run it as root; times and ladders do not need it."
                .to_owned(),
        })
    }

    fn warn_of_lost_calls(
        &mut self,
        cell: &Cell,
        counter: &Counter,
        counted: &Measurement,
    ) -> Result<(), HarnessError> {
        if counted.system_calls.is_some() || matches!(counter, Counter::Missing(_)) {
            return Ok(());
        }
        self.warn(Warning {
            kind: WarningKind::Other,
            message: format!("System calls of {} were not counted whole.", cell.id),
            advice: "Its times stand; with larger values fewer operations per block help."
                .to_owned(),
        })
    }
}

/// Whether a ladder or a claim of the study is about this comparison, or it reads from storage.
fn is_explained(study: &Study, comparison: &Comparison) -> bool {
    let ladders = study.ladders.iter().map(|ladder| &ladder.comparison);
    let claims = study.hypotheses.iter().map(|claim| &claim.comparison);
    let cold = |cell: &Cell| cell.workload.cache.is_cold();
    ladders.chain(claims).any(|id| *id == comparison.id) || comparison.cells.iter().any(cold)
}
