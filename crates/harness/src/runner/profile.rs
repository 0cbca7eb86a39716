//! Flame graphs: blocks of each cell under `perf`, never timed.

use super::pass::Pass;
use super::{Runner, Sequences};
use crate::block_size::BlockSize;
use crate::job::BlockTask;
use crate::profile::{Profiler, Stacks, draw, write};
use crate::worker_process::WorkerCommand;
use crate::{HarnessError, sequence};
use std::collections::BTreeMap;
use std::path::Path;
use stowplan_model::{BlockKind, Cell, CellId, Comparison, Record, Role};

/// A round that is none: its keys are no other round's.
const ROUND: u32 = u32::MAX - 2;
/// So much time of operations gives some thousand samples.
const ENOUGH_NS: u64 = 1_000_000_000;
/// The most blocks for that; each takes a worker of its own.
const BLOCKS: u32 = 10;

/// A flame graph of each cell.
struct FlameGraphs<'a> {
    profiler: Profiler,
    directory: &'a Path,
    comparison: &'a Comparison,
    sequences: Sequences,
}

impl Pass for FlameGraphs<'_> {
    const DOES: &'static str = "flame graph";

    fn wants(&mut self, _: &Runner<'_>, cell: &Cell) -> bool {
        !matches!(cell.role, Role::Control | Role::Part)
    }

    fn examine(
        &mut self,
        runner: &mut Runner<'_>,
        cell: &Cell,
        size: BlockSize,
    ) -> Result<Option<Record>, HarnessError> {
        let stacks = runner.stacks_of(cell, size, &self.profiler, &self.sequences)?;
        let samples: u64 = stacks.values().sum();
        let kernel = match self.profiler.sees_kernel() {
            true => "",
            false => ", without the kernel's time",
        };
        let subtitle = format!("{samples} samples of its operations{kernel}");
        let title = format!("{}: {}", self.comparison.title, cell.label);
        let file = |ending: &str| {
            let name = format!("profile-{}-{}.{ending}", self.comparison.id, cell.key);
            self.directory.join(name)
        };
        let folded = file("folded");
        write(&stacks, &folded)?;
        draw(&folded, &title, &subtitle, &file("svg"))?;
        Ok(None)
    }

    fn lacking(cell: &Cell) -> String {
        format!("There is no flame graph of {}", cell.id)
    }
}

impl Runner<'_> {
    /// Looks for `perf` where flame graphs are wanted, and says what is missing.
    pub(super) fn find_profiler(&mut self) -> Result<Option<Profiler>, HarnessError> {
        if self.options.profile.is_none() {
            return Ok(None);
        }
        match Profiler::find(&self.options.work) {
            Ok(profiler) => {
                if !profiler.sees_kernel() {
                    self.remark("Flame graphs show nothing of the kernel: this process may not look into it.".to_owned(), "Run it as root, or allow it: sudo sysctl kernel.perf_event_paranoid=1")?;
                }
                Ok(Some(profiler))
            }
            Err(why) => {
                self.remark(format!("No flame graphs are drawn ({why})."), "Install perf (package linux-perf or linux-tools), and allow it: sudo sysctl kernel.perf_event_paranoid=1; times and ladders do not need it.")?;
                Ok(None)
            }
        }
    }

    /// Draws a flame graph of each cell of which the report says something.
    pub(super) fn profile(
        &mut self,
        comparison: &Comparison,
        sizes: &BTreeMap<CellId, BlockSize>,
    ) -> Result<(), HarnessError> {
        let Some((profiler, directory)) = self.profiler.clone().zip(self.options.profile.as_ref())
        else {
            return Ok(());
        };
        let flame_graphs = FlameGraphs {
            sequences: self.write_sequences(comparison, ROUND, sizes)?,
            profiler,
            directory,
            comparison,
        };
        self.pass(comparison, sizes, flame_graphs)
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
        let wrapper = |command: &WorkerCommand| profiler.around(command, &options.work);
        let blocks = self.blocks.wrapped(&wrapper);
        let size = self.longest(cell, size);
        let seed = sequence::seed(options.seed, &format!("{}/profile", cell.id), 0);
        let mut first = seed % self.count(&cell.dataset).max(1);
        let mut stacks = Stacks::new();
        let mut lasted = 0;
        for position in 0..BLOCKS {
            let task = BlockTask {
                position,
                ..self.task(cell, sequences, BlockKind::Pilot, size, first)
            };
            first += size.steps();
            let (block, _) = blocks.measure(cell, &self.instances.paths(cell), task)?;
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
