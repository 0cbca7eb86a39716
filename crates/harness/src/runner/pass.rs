//! What is found out about cells once their rounds are over, and never timed: which system calls an
//! operation makes, where values lie.

use super::{Event, Runner};
use crate::HarnessError;
use crate::block_size::BlockSize;
use std::collections::BTreeMap;
use stowplan_model::{Cell, CellId, Comparison, Record};

/// A pass over the cells of a comparison.
pub(super) trait Pass {
    /// What it does, for a progress display: `counting system calls`.
    const DOES: &'static str;

    /// Whether it is about a cell.
    fn wants(&mut self, runner: &Runner<'_>, cell: &Cell) -> bool;

    /// What it finds out of a cell whose blocks have this size, for the result; nothing where there is
    /// nothing, or it lies elsewhere.
    fn examine(
        &mut self,
        runner: &mut Runner<'_>,
        cell: &Cell,
        size: BlockSize,
    ) -> Result<Option<Record>, HarnessError>;

    /// What is lacking where that fails, in a sentence that the reason ends.
    fn lacking(cell: &Cell) -> String;
}

impl Runner<'_> {
    /// Goes over the cells that did not fail. What cannot be found out is a warning: what was measured
    /// of the cell stands. A disk without room ends the run, which can go on later.
    pub(super) fn pass<P: Pass>(
        &mut self,
        comparison: &Comparison,
        sizes: &BTreeMap<CellId, BlockSize>,
        mut pass: P,
    ) -> Result<(), HarnessError> {
        let cells = comparison.cells.iter();
        let cells: Vec<(&Cell, BlockSize)> = cells
            .filter(|cell| !self.skipped(cell) && pass.wants(self, cell))
            .filter_map(|cell| Some((cell, *sizes.get(&cell.id)?)))
            .collect();
        for (done, (cell, size)) in (0..).zip(&cells) {
            self.observer.event(Event::Preparing {
                what: &format!("{}: {}", P::DOES, cell.label),
                done,
                total: cells.len() as u64,
            });
            match pass.examine(self, cell, *size) {
                Ok(found) => self.log.append_all(found)?,
                Err(_) if self.options.interrupt.raised() => return Err(HarnessError::Interrupted),
                Err(error) if error.is_lack_of_room() => return Err(error),
                Err(error) => {
                    self.remark(format!("{}: {error}", P::lacking(cell)), "Its times stand.")?;
                }
            }
        }
        Ok(())
    }
}
