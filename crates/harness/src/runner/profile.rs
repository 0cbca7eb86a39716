//! Flame graphs: blocks of each cell under `perf`, never timed.

use super::blocks::Spot;
use super::{Event, Runner, Sequences};
use crate::block_size::BlockSize;
use crate::profile::{Profiler, Stacks, draw, write};
use crate::{HarnessError, sequence};
use std::collections::BTreeMap;
use stowplan_model::{
    BlockKind, Cell, CellId, Comparison, PayloadSource, Role, Warning, WarningKind,
};

/// A round that is none: its keys are no other round's.
const ROUND: u32 = u32::MAX - 2;
/// So much time of operations gives some thousand samples.
const ENOUGH_NS: u64 = 1_000_000_000;
/// The most blocks for that; each takes a worker of its own.
const BLOCKS: u32 = 10;

impl Runner<'_> {
    /// Looks for `perf` where flame graphs are wanted, and says what is missing.
    pub(super) fn find_profiler(&mut self) -> Result<Option<Profiler>, HarnessError> {
        if self.options.profile.is_none() {
            return Ok(None);
        }
        match Profiler::find(&self.options.work) {
            Ok(profiler) => {
                if !profiler.sees_kernel() {
                    self.warn(Warning {
                        kind: WarningKind::Other,
                        message: "Flame graphs show nothing of the kernel: this process may not look into it.".to_owned(),
                        advice: "Run it as root, or allow it: sudo sysctl kernel.perf_event_paranoid=1".to_owned(),
                    })?;
                }
                Ok(Some(profiler))
            }
            Err(why) => {
                self.warn(Warning {
                    kind: WarningKind::Other,
                    message: format!("No flame graphs are drawn ({why})."),
                    advice: "Install perf (package linux-perf or linux-tools), and allow it: sudo sysctl kernel.perf_event_paranoid=1; times and ladders do not need it.".to_owned(),
                })?;
                Ok(None)
            }
        }
    }

    /// Draws a flame graph of each cell of which something is said.
    pub(super) fn profile(
        &mut self,
        comparison: &Comparison,
        sizes: &BTreeMap<CellId, BlockSize>,
    ) -> Result<(), HarnessError> {
        let Some(profiler) = self.profiler.clone() else {
            return Ok(());
        };
        let Some(directory) = self.options.profile.clone() else {
            return Ok(());
        };
        let sequences = self.write_sequences(comparison, ROUND, sizes)?;
        let said = |cell: &&Cell| !matches!(cell.role, Role::Control | Role::Part);
        let cells: Vec<&Cell> = comparison.cells.iter().filter(said).collect();
        for (done, cell) in cells.iter().enumerate() {
            let Some(size) = sizes.get(&cell.id).filter(|_| !self.skipped(cell)) else {
                continue;
            };
            self.observer.event(Event::Preparing {
                what: &format!("flame graph: {}", cell.label),
                done: done as u64,
                total: cells.len() as u64,
            });
            let name = format!("profile-{}-{}", comparison.id, cell.key);
            let folded = directory.join(format!("{name}.folded"));
            let svg = directory.join(format!("{name}.svg"));
            let drawn = self
                .stacks_of(cell, *size, &profiler, &sequences)
                .and_then(|stacks| {
                    let samples: u64 = stacks.values().sum();
                    let kernel = match profiler.sees_kernel() {
                        true => "",
                        false => ", without the kernel's time",
                    };
                    let subtitle = format!("{samples} samples of its operations{kernel}");
                    let title = format!("{}: {}", comparison.title, cell.label);
                    write(&stacks, &folded)?;
                    draw(&folded, &title, &subtitle, &svg)
                });
            match drawn {
                Ok(()) => {}
                Err(HarnessError::Interrupted) => return Err(HarnessError::Interrupted),
                // What was measured of the cell stands.
                Err(error) => self.warn(Warning {
                    kind: WarningKind::Other,
                    message: format!("There is no flame graph of {}: {error}", cell.id),
                    advice: "Its times stand.".to_owned(),
                })?,
            }
        }
        Ok(())
    }

    /// Samples of a cell's operations, of as many blocks as give enough of them.
    fn stacks_of(
        &mut self,
        cell: &Cell,
        size: BlockSize,
        profiler: &Profiler,
        sequences: &Sequences,
    ) -> Result<Stacks, HarnessError> {
        let options = self.options;
        let command = options.drivers.command(&cell.store)?;
        let command = profiler.around(command, &options.work);
        let blocks = self.blocks.by(&command);
        let size = self.longest(cell, size);
        let seed = sequence::seed(options.seed, &format!("{}/profile", cell.id), 0);
        let mut first = seed % self.count(&cell.dataset).max(1);
        let mut stacks = Stacks::new();
        let mut lasted = 0;
        for position in 0..BLOCKS {
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
                position,
            };
            first += size.steps();
            let place = self.instances.place(cell);
            let (block, _) = blocks.measure(cell, &place, size, BlockKind::Pilot, &spot)?;
            for (stack, samples) in profiler.stacks(&options.work)? {
                *stacks.entry(stack).or_default() += samples;
            }
            lasted += block.wall_ns;
            if lasted >= ENOUGH_NS {
                break;
            }
        }
        if stacks.is_empty() {
            return Err(HarnessError::invalid(
                "no sample fell into its operations, or their functions have no names",
            ));
        }
        Ok(stacks)
    }

    /// A block that goes once through the dataset, where no key may come twice and nothing is written.
    fn longest(&self, cell: &Cell, size: BlockSize) -> BlockSize {
        let workload = &cell.workload;
        if workload.order.repeats() || workload.operation.writes() || workload.cache.is_cold() {
            return size;
        }
        let most = self.count(&cell.dataset).saturating_sub(size.lead_in);
        BlockSize::exactly(cell, size.lead_in, most.max(size.operations))
    }
}
