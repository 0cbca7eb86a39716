//! Counting what an operation does, and looking where values lie: of cells that a ladder or a claim is
//! about, or that read from storage.

use super::pass::Pass;
use super::{Runner, Sequences};
use crate::block_size::BlockSize;
use crate::counting;
use crate::{HarnessError, sequence};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use stowplan_model::{BlockKind, Cell, CellId, Comparison, Record, Role, Study};

/// A round that is none: its keys are no other round's.
const ROUND: u32 = u32::MAX - 1;

/// One block of each cell whose system calls are counted.
struct Counting {
    sequences: Sequences,
    /// The first step of the next block.
    first: u64,
}

impl Pass for Counting {
    const DOES: &'static str = "counting system calls";

    fn wants(&mut self, runner: &Runner<'_>, cell: &Cell) -> bool {
        let counted = runner.earlier.counted(cell);
        let is_one = cell.role != Role::Control && cell.workload.threads == 1;
        is_one && !counted && !runner.time_is_over()
    }

    fn examine(
        &mut self,
        runner: &mut Runner<'_>,
        cell: &Cell,
        size: BlockSize,
    ) -> Result<Option<Record>, HarnessError> {
        let size = match cell.workload.changes_keys() {
            true => size,
            false => size.at_most(runner.most_counted(cell)),
        };
        let first = self.first;
        self.first += size.steps();
        let task = runner.task(cell, &self.sequences, BlockKind::Counting, size, first);
        let paths = runner.instances.paths(cell);
        let Some(strace) = runner.strace()? else {
            let (counted, _) = runner.blocks.measure(cell, &paths, task)?;
            return Ok(Some(Record::Measurement(counted)));
        };
        let (counted, lost) = runner.blocks.traced(&strace, cell, &paths, task)?;
        if let Some(why) = lost {
            let message = format!("System calls of {} are not counted: {why}.", cell.id);
            runner.remark(message, "Its times stand.")?;
        }
        Ok(Some(Record::Measurement(counted)))
    }

    fn lacking(cell: &Cell) -> String {
        format!("What {} does could not be counted", cell.id)
    }
}

/// Where the values of each store lie.
#[derive(Default)]
struct Placement {
    /// The stores that were looked at.
    seen: BTreeSet<String>,
}

impl Pass for Placement {
    const DOES: &'static str = "looking where values lie";

    fn wants(&mut self, _: &Runner<'_>, cell: &Cell) -> bool {
        !cell.workload.changes_keys() && self.seen.insert(cell.instance.clone())
    }

    fn examine(
        &mut self,
        runner: &mut Runner<'_>,
        cell: &Cell,
        _: BlockSize,
    ) -> Result<Option<Record>, HarnessError> {
        let placement = runner.instances.placement(cell, &runner.blocks)?;
        Ok(placement.map(Record::Placement))
    }

    fn lacking(cell: &Cell) -> String {
        format!("Where the values of {} lie is not known", cell.id)
    }
}

impl Runner<'_> {
    /// Counts what an operation of each cell does, and looks where its values lie, where the study
    /// takes its cost apart or reads from storage.
    pub(super) fn explain(
        &mut self,
        comparison: &Comparison,
        sizes: &BTreeMap<CellId, BlockSize>,
    ) -> Result<(), HarnessError> {
        if !is_explained(&self.plan.study, comparison) {
            return Ok(());
        }
        let seed = sequence::seed(self.options.seed, &format!("{}/count", comparison.id), 0);
        let counting = Counting {
            sequences: self.write_sequences(comparison, ROUND, sizes)?,
            first: seed % self.count(&comparison.cells[0].dataset).max(1),
        };
        self.pass(comparison, sizes, counting)?;
        self.pass(comparison, sizes, Placement::default())
    }

    /// What counts system calls; says once where there is no such thing.
    fn strace(&mut self) -> Result<Option<PathBuf>, HarnessError> {
        if let Some(known) = &self.strace {
            return Ok(known.clone());
        }
        let found = counting::find_strace();
        if let Err(why) = &found {
            self.remark(
                format!("System calls are not counted ({why})."),
                "Install strace; times and ladders do not need it.",
            )?;
        }
        Ok(self.strace.insert(found.ok()).clone())
    }

    fn most_counted(&self, cell: &Cell) -> u64 {
        let spec = self.plan.datasets.get(&cell.dataset);
        counting::most_operations(spec.map_or(0, |spec| spec.size.mean()))
    }
}

/// Whether a ladder of the study or a claim about costs is about this comparison, or it reads from
/// storage.
fn is_explained(study: &Study, comparison: &Comparison) -> bool {
    let ladders = study.ladders.iter().map(|ladder| &ladder.comparison);
    let claims = study.claims.iter();
    let claims = claims.filter_map(|claim| claim.comparison.as_ref());
    let cold = |cell: &Cell| cell.workload.cache.is_cold();
    ladders.chain(claims).any(|id| *id == comparison.id) || comparison.cells.iter().any(cold)
}
