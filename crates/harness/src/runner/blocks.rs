//! One worker process per task: jobs composed, answers taken.

use super::checks::Check;
use crate::block_size::LEAD_IN;
use crate::counting::calls_in;
use crate::drivers::Drivers;
use crate::interrupt::Interrupt;
use crate::job::{BlockTask, Extent, Host, Job, Reported};
use crate::worker_process::WorkerCommand;
use crate::{HarnessError, sequence};
use std::path::{Path, PathBuf};
use stowplan_model::{
    At, BlockKind, Cell, CellId, HarnessCost, Inspected, Measurement, PayloadSource,
    STRACE_VARIABLE, Scanned, Settings, StoreSpec, Want, Workload,
};

/// Where a cell's data lies.
#[derive(Debug, Clone)]
pub(crate) struct CellPaths {
    pub(crate) instance: PathBuf,
    /// None for data that someone brought along.
    pub(crate) dataset: Option<PathBuf>,
    /// None where there is no dataset.
    pub(crate) versions: Option<PathBuf>,
}

/// Starts workers, each by the driver of its cell.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<'a> {
    drivers: &'a Drivers,
    interrupt: &'a Interrupt,
    work: &'a Path,
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
    pub(crate) fn layout_only(&self, cell: &Cell) -> Result<Settings, HarnessError> {
        let kind = self.drivers.kind(&cell.store)?;
        let layout = cell.settings.layout(&kind.settings);
        let given = StoreSpec::spelled_out(cell.store.name(), &layout).settings;
        Settings::resolve(&kind.settings, &given)
            .map_err(|error| HarnessError::invalid(error.to_string()))
    }

    fn host(&self, driver: &str) -> Result<Host, HarnessError> {
        Ok(Host {
            command: self.drivers.command_of(driver)?.clone(),
            interrupt: self.interrupt.clone(),
        })
    }

    /// Times one block.
    pub(crate) fn measure(
        &self,
        cell: &Cell,
        paths: &CellPaths,
        task: &BlockTask,
    ) -> Result<(Measurement, Reported), HarnessError> {
        self.job(cell, paths)?
            .measure(task, &self.host(&cell.driver)?)
    }

    /// Has `strace` count the system calls of one block, whose times mean nothing; where they are not
    /// there, why.
    pub(crate) fn traced(
        &self,
        strace: &Path,
        cell: &Cell,
        paths: &CellPaths,
        task: &BlockTask,
    ) -> Result<(Measurement, Option<String>), HarnessError> {
        let written = self.work.join("strace.txt");
        let mut host = self.host(&cell.driver)?;
        host.command = under_strace(strace, &written, &host.command);
        let (mut counted, _) = self.job(cell, paths)?.measure(task, &host)?;
        let text = std::fs::read(&written).map_err(HarnessError::io("read", &written))?;
        std::fs::remove_file(&written).map_err(HarnessError::io("remove", &written))?;
        let calls = calls_in(&String::from_utf8_lossy(&text));
        let lost = calls.as_ref().err().map(ToString::to_string);
        counted.system_calls = calls.ok();
        Ok((counted, lost))
    }

    /// Reading values of a cell's store and comparing them, by whichever thread.
    pub(super) fn check(
        &self,
        cell: &Cell,
        paths: &CellPaths,
        extent: Extent,
    ) -> Result<Check, HarnessError> {
        let (job, host) = (self.job(cell, paths)?, self.host(&cell.driver)?);
        Ok(Box::new(move |progress| {
            job.verify(extent, &host, progress)
        }))
    }

    /// Builds a store of these settings for a cell; returns values and their bytes.
    pub(crate) fn build(
        &self,
        cell: &Cell,
        settings: &Settings,
        paths: &CellPaths,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(u64, u64), HarnessError> {
        let job = Job {
            store: StoreSpec::spelled_out(cell.store.name(), settings),
            ..self.job(cell, paths)?
        };
        job.build(&self.host(&cell.driver)?, progress)
    }

    /// Asks the driver of a cell's store what lies where, at rest.
    pub(crate) fn inspect(
        &self,
        cell: &Cell,
        paths: &CellPaths,
        keys: &[u64],
        want: Want,
    ) -> Result<Inspected, HarnessError> {
        let at = At {
            store: StoreSpec::spelled_out(cell.store.name(), &cell.settings),
            place: paths.instance.clone(),
        };
        self.host(&cell.driver)?.inspect(at, keys, want)
    }

    /// The cost of the harness per operation: the whole worker path with a store of a driver that does
    /// nothing.
    #[expect(clippy::cast_precision_loss, reason = "a time per operation")]
    pub(crate) fn harness_cost(
        &self,
        driver: &str,
        seed: u64,
    ) -> Result<HarnessCost, HarnessError> {
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
        let resolved = self.drivers.resolve_alone(&null.of_driver(driver))?;
        let job = Job {
            cell: CellId("harness/null".to_owned()),
            store: StoreSpec::spelled_out("null", &resolved.settings),
            workload,
            scanned: Scanned::No,
            instance: self.work.to_owned(),
            dataset: None,
            versions: None,
            persistent: true,
            keeps_nothing: true,
            parts: false,
        };
        let host = self.host(driver)?;
        let block = |block, round| {
            let task = BlockTask {
                block,
                latencies: block == BlockKind::Latency,
                sequence: sequence.clone(),
                first: 0,
                lead_in: LEAD_IN,
                operations: OPERATIONS - LEAD_IN,
                version: 0,
                payloads: PayloadSource::Prepared,
                round,
                position: 0,
            };
            let (block, _) = job.measure(&task, &host)?;
            let time = block.corrected_ns().unwrap_or(block.wall_ns);
            Ok(time as f64 / block.operations.max(1) as f64)
        };
        let cost = |kind| -> Result<f64, HarnessError> {
            let blocks = (0..BLOCKS).map(|round| block(kind, round));
            let mut blocks = blocks.collect::<Result<Vec<f64>, HarnessError>>()?;
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

    fn job(&self, cell: &Cell, paths: &CellPaths) -> Result<Job, HarnessError> {
        let kind = self.drivers.kind(&cell.store)?;
        Ok(Job {
            cell: cell.id.clone(),
            store: StoreSpec::spelled_out(cell.store.name(), &cell.settings),
            workload: cell.workload.clone(),
            scanned: cell.scanned,
            instance: paths.instance.clone(),
            dataset: paths.dataset.clone(),
            versions: paths.versions.clone(),
            persistent: cell.capabilities.persistent,
            keeps_nothing: kind.keeps_nothing,
            parts: kind.parts,
        })
    }
}

/// The same worker with `strace` around it, which writes what it sees to a file.
fn under_strace(strace: &Path, written: &Path, command: &WorkerCommand) -> WorkerCommand {
    let path = |path: &Path| path.display().to_string();
    let mut arguments = ["-f", "-qq", "-s", "0", "-E"].map(str::to_owned).to_vec();
    arguments.extend([
        format!("{STRACE_VARIABLE}=1"),
        "-o".to_owned(),
        path(written),
    ]);
    arguments.extend(["--".to_owned(), path(&command.program)]);
    arguments.extend(command.arguments.iter().cloned());
    WorkerCommand {
        program: strace.to_owned(),
        arguments,
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
