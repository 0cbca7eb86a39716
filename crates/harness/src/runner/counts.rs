//! The counting pass: one block of each cell that a ladder or a claim is about, or that reads from
//! storage, never timed.

use super::blocks::Spot;
use super::{Event, Runner, Sequences};
use crate::block_size::BlockSize;
use crate::counting;
use crate::{HarnessError, sequence};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
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
        self.count_cells(comparison, sizes)
    }

    fn count_cells(
        &mut self,
        comparison: &Comparison,
        sizes: &BTreeMap<CellId, BlockSize>,
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
            self.count_cell(cell, size, &sequences, first)?;
            first += size.steps();
        }
        Ok(())
    }

    fn count_cell(
        &mut self,
        cell: &Cell,
        size: BlockSize,
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
        let counted = self.blocks.count(cell, &place, size, None, &spot);
        let counted = match counted {
            Ok(counted) if counted.system_calls.is_none() => match self.strace()? {
                Some(strace) => {
                    let version = self.instances.next_version(cell);
                    let spot = Spot { version, ..spot };
                    self.blocks.count(cell, &place, size, Some(&strace), &spot)
                }
                None => Ok(counted),
            },
            counted => counted,
        };
        match counted {
            Ok(measurement) => {
                self.warn_of_lost_calls(cell, &measurement)?;
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

    /// What counts where a driver cannot; says once where there is no such thing.
    fn strace(&mut self) -> Result<Option<PathBuf>, HarnessError> {
        let strace = match self.strace.take() {
            Some(strace) => strace,
            None => {
                let found = counting::find_strace();
                if let Err(why) = &found {
                    self.warn(Warning {
                        kind: WarningKind::Other,
                        message: format!(
                            "System calls are not counted (drivers cannot do so here; {why})."
                        ),
                        advice:
                            "Install strace, or run it as root; times and ladders do not need it."
                                .to_owned(),
                    })?;
                }
                found.ok()
            }
        };
        self.strace = Some(strace.clone());
        Ok(strace)
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
            match self.instances.placement(cell, &self.blocks) {
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

    fn warn_of_lost_calls(
        &mut self,
        cell: &Cell,
        counted: &Measurement,
    ) -> Result<(), HarnessError> {
        if counted.system_calls.is_some() || matches!(self.strace, Some(None)) {
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
