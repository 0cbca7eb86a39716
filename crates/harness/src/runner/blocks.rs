//! One worker process per task: jobs composed, answers taken.

use crate::block_size::LEAD_IN;
use crate::counting::calls_in;
use crate::drivers::{Drivers, Resolved};
use crate::interrupt::Interrupt;
use crate::job::{BlockTask, CellPaths, Job};
use crate::worker_process::WorkerCommand;
use crate::{HarnessError, Result, sequence};
use std::path::Path;
use stowplan_model::{
    BlockKind, Cell, CellId, HarnessCost, Measurement, STRACE_VARIABLE, Settings, StoreSpec,
    Workload,
};

/// Starts workers, each by the driver of its cell.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<'a> {
    drivers: &'a Drivers,
    interrupt: &'a Interrupt,
    pub(super) work: &'a Path,
}

impl<'a> Blocks<'a> {
    pub(crate) fn new(drivers: &'a Drivers, interrupt: &'a Interrupt, work: &'a Path) -> Self {
        Self {
            drivers,
            interrupt,
            work,
        }
    }

    /// The settings of a cell's store that shape its layout, and defaults for the others.
    pub(crate) fn layout_only(&self, cell: &Cell) -> Result<Settings> {
        let kind = self.drivers.kind(&cell.store)?;
        let layout = cell.settings.layout(&kind.settings);
        let given = StoreSpec::spelled_out(cell.store.name(), &layout).settings;
        Settings::resolve(&kind.settings, &given)
            .map_err(|error| HarnessError::invalid(error.to_string()))
    }

    /// A cell as its workers are told of it.
    pub(crate) fn job(&self, cell: &Cell, paths: CellPaths) -> Result<Job> {
        let resolved = Resolved {
            kind: self.drivers.kind(&cell.store)?,
            settings: cell.settings.clone(),
            capabilities: cell.capabilities.clone(),
        };
        let by = (self.drivers.command_of(&cell.driver)?, self.interrupt);
        let job = Job::new(cell.id.clone(), &resolved, cell.workload.clone(), paths, by);
        Ok(Job {
            scanned: cell.scanned,
            ..job
        })
    }

    /// Has `strace` count the system calls of one block, whose times mean nothing; where they are not
    /// there, why.
    pub(crate) fn traced(
        &self,
        strace: &Path,
        mut job: Job,
        task: &BlockTask,
    ) -> Result<(Measurement, Option<String>)> {
        let written = self.work.join("strace.txt");
        job.command = under_strace(strace, &written, &job.command);
        let (mut counted, _) = job.measure(task)?;
        let text = std::fs::read(&written).map_err(HarnessError::io("read", &written))?;
        std::fs::remove_file(&written).map_err(HarnessError::io("remove", &written))?;
        let calls = calls_in(&String::from_utf8_lossy(&text));
        let lost = calls.as_ref().err().map(ToString::to_string);
        counted.system_calls = calls.ok();
        Ok((counted, lost))
    }

    /// The cost of the harness per operation: the whole worker path with a store of a driver that does
    /// nothing.
    #[expect(clippy::cast_precision_loss, reason = "a time per operation")]
    pub(crate) fn harness_cost(&self, driver: &str, seed: u64) -> Result<HarnessCost> {
        const BLOCKS: u32 = 5;
        const OPERATIONS: u64 = 100_000;
        let (workload, count) = (Workload::default(), OPERATIONS);
        let sequence = self.work.join("sequence.bin");
        sequence::write_steps(&sequence, count, &workload, count, seed, |_| 1)?;
        let null = StoreSpec {
            kind: "null".to_owned(),
            settings: Default::default(),
        };
        // In its defaults, as its cells are.
        let resolved = self.drivers.resolve(&null.of_driver(driver), None)?;
        let cell = CellId("harness/null".to_owned());
        let paths = CellPaths::brought_along(self.work);
        let by = (self.drivers.command_of(driver)?, self.interrupt);
        let job = Job {
            keeps_nothing: true,
            parts: false,
            persistent: true,
            ..Job::new(cell, &resolved, workload, paths, by)
        };
        let block = |block, round| {
            let task = BlockTask {
                round,
                ..BlockTask::new(block, &sequence, LEAD_IN, OPERATIONS - LEAD_IN)
            };
            let (block, _) = job.measure(&task)?;
            let time = block.corrected_ns().unwrap_or(block.wall_ns);
            Ok(time as f64 / block.operations.max(1) as f64)
        };
        let cost = |kind| -> Result<f64> {
            let blocks = (0..BLOCKS).map(|round| block(kind, round));
            let mut blocks = blocks.collect::<Result<Vec<f64>>>()?;
            blocks.sort_by(f64::total_cmp);
            Ok(blocks[blocks.len() / 2])
        };
        Ok(HarnessCost {
            ratio_ns: cost(BlockKind::Ratio)?,
            latency_ns: cost(BlockKind::Latency)?,
            blocks: BLOCKS,
            operations: OPERATIONS,
        })
    }
}

/// Puts `strace` around a worker, which writes what it sees to a file.
fn under_strace(strace: &Path, written: &Path, command: &WorkerCommand) -> WorkerCommand {
    let path = |path: &Path| path.display().to_string();
    let mark = format!("{STRACE_VARIABLE}=1");
    let (written, program) = (path(written), path(&command.program));
    let of_strace = [
        "-f", "-qq", "-s", "0", "-E", &mark, "-o", &written, "--", &program,
    ];
    let arguments = of_strace.into_iter().map(str::to_owned);
    WorkerCommand {
        program: strace.to_owned(),
        arguments: arguments.chain(command.arguments.iter().cloned()).collect(),
        ..command.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_cannot_be_started_is_an_error_that_names_it() {
        let command = WorkerCommand::new("/nowhere/worker", &[]);
        let interrupt = Interrupt::never();
        let drivers = Drivers::new(command, interrupt.clone());
        let work = tempfile::tempdir().unwrap();
        let blocks = Blocks::new(&drivers, &interrupt, work.path());
        let error = blocks.harness_cost("", 1).unwrap_err().to_string();
        assert!(
            error.starts_with("cannot start worker /nowhere/worker"),
            "{error}"
        );
    }

    #[test]
    fn what_a_driver_costs_is_asked_of_its_null_in_its_defaults() {
        let work = tempfile::tempdir().unwrap();
        let heard = work.path().join("heard");
        let script = r#"
echo '{"hello":{"protocol":"stowplan-driver","version":4,"tool":""}}'
while read -r line; do
  echo "$line" >> "$0"
  case $line in
    *describe*) echo '{"described":{"kinds":[{"name":"null","about":"","settings":[{"name":"warm_up","kind":{"integer":{"min":0,"max":9}},"default":"7","help":""}]}]}}' ;;
    *) echo '{"failed":{"message":"enough"}}' ;;
  esac
done"#;
        let command = WorkerCommand::new("/bin/sh", &["-c", script, heard.to_str().unwrap()]);
        let interrupt = Interrupt::never();
        let mut drivers = Drivers::new(WorkerCommand::new("/nowhere", &[]), interrupt.clone());
        drivers.add("toy", command);
        let blocks = Blocks::new(&drivers, &interrupt, work.path());
        let error = blocks.harness_cost("toy", 1).unwrap_err().to_string();
        assert!(error.contains("enough"), "{error}");
        let heard = std::fs::read_to_string(heard).unwrap();
        let run = heard
            .lines()
            .find(|line| line.contains(r#"{"run""#))
            .unwrap();
        assert!(run.contains(r#""store":"null:warm_up=7""#), "{run}");
    }
}
