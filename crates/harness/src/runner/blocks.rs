//! One worker process per task: jobs composed, answers taken.

use super::checks::Check;
use crate::block_size::LEAD_IN;
use crate::counting::calls_in;
use crate::drivers::Drivers;
use crate::interrupt::Interrupt;
use crate::job::{self, Answer, BlockTask, Extent, Job, Reported, Task};
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

/// Puts another program around a worker.
type Wrapper<'a> = &'a dyn Fn(&WorkerCommand) -> WorkerCommand;

/// Starts workers, each by the driver of its cell.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<'a> {
    drivers: &'a Drivers,
    wrapper: Option<Wrapper<'a>>,
    interrupt: &'a Interrupt,
    work: &'a Path,
}

impl<'a> Blocks<'a> {
    pub(crate) fn new(drivers: &'a Drivers, interrupt: &'a Interrupt, work: &'a Path) -> Self {
        Self {
            drivers,
            wrapper: None,
            interrupt,
            work,
        }
    }

    /// The same workers, with another program around each.
    pub(crate) fn wrapped<'b>(self, wrapper: Wrapper<'b>) -> Blocks<'b>
    where
        'a: 'b,
    {
        Blocks {
            wrapper: Some(wrapper),
            ..self
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

    fn command(&self, driver: &str) -> Result<WorkerCommand, HarnessError> {
        let command = self.drivers.command_of(driver)?;
        Ok(match self.wrapper {
            Some(wrapper) => wrapper(command),
            None => command.clone(),
        })
    }

    /// Times one block.
    pub(crate) fn measure(
        &self,
        cell: &Cell,
        paths: &CellPaths,
        task: BlockTask,
    ) -> Result<(Measurement, Reported), HarnessError> {
        let job = self.job(cell, paths, Task::Measure(task))?;
        match self.perform(&job, cell, &mut |_, _| ())? {
            Answer::Measured(measurement, reported) => Ok((*measurement, reported)),
            other => Err(out_of_turn(&other)),
        }
    }

    /// Has `strace` count the system calls of one block, whose times mean nothing; where they are not
    /// there, why.
    pub(crate) fn traced(
        &self,
        strace: &Path,
        cell: &Cell,
        paths: &CellPaths,
        task: BlockTask,
    ) -> Result<(Measurement, Option<String>), HarnessError> {
        let written = self.work.join("strace.txt");
        let wrapper = |command: &WorkerCommand| under_strace(strace, &written, command);
        let (counted, _) = self.wrapped(&wrapper).measure(cell, paths, task)?;
        let text = std::fs::read(&written).map_err(HarnessError::io("read", &written))?;
        std::fs::remove_file(&written).map_err(HarnessError::io("remove", &written))?;
        let (system_calls, lost) = match calls_in(&String::from_utf8_lossy(&text)) {
            Ok(calls) => (Some(calls), None),
            Err(why) => (None, Some(why.to_owned())),
        };
        let counted = Measurement {
            system_calls,
            ..counted
        };
        Ok((counted, lost))
    }

    /// Reading values of a cell's store and comparing them, by whichever thread.
    pub(super) fn check(
        &self,
        cell: &Cell,
        paths: &CellPaths,
        extent: Extent,
    ) -> Result<Check, HarnessError> {
        let job = self.job(cell, paths, Task::Verify(extent))?;
        let command = self.command(&cell.driver)?;
        let (interrupt, work) = (self.interrupt.clone(), self.work.to_owned());
        Ok(Box::new(move |progress| {
            match job::perform(&job, &command, &interrupt, &work, progress)? {
                Answer::Verified(verification) => Ok(verification),
                other => Err(out_of_turn(&other)),
            }
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
            ..self.job(cell, paths, Task::Build)?
        };
        match self.perform(&job, cell, progress)? {
            Answer::Built { values, bytes } => Ok((values, bytes)),
            other => Err(out_of_turn(&other)),
        }
    }

    /// Asks the driver of a cell's store what lies where, at rest.
    pub(crate) fn inspect(
        &self,
        cell: &Cell,
        paths: &CellPaths,
        keys: &[u64],
        want: Want,
    ) -> Result<Inspected, HarnessError> {
        let command = self.command(&cell.driver)?;
        let at = At {
            store: StoreSpec::spelled_out(cell.store.name(), &cell.settings),
            place: paths.instance.clone(),
        };
        job::inspect(at, keys, want, &command, self.interrupt, self.work)
    }

    /// The cost of the harness per operation: the whole worker path with a store of a driver that does
    /// nothing.
    pub(crate) fn harness_cost(
        &self,
        driver: &str,
        seed: u64,
    ) -> Result<HarnessCost, HarnessError> {
        const BLOCKS: u32 = 5;
        const OPERATIONS: u64 = 100_000;
        let sequence = self.work.join("sequence.bin");
        sequence::write_steps(
            &sequence,
            OPERATIONS,
            &Workload::default(),
            OPERATIONS,
            seed,
            |_| 1,
        )?;
        let cost = |block| -> Result<f64, HarnessError> {
            let mut blocks = (0..BLOCKS)
                .map(|round| self.null_block(driver, &sequence, block, OPERATIONS, round))
                .collect::<Result<Vec<f64>, _>>()?;
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

    /// Nanoseconds per operation of one block with the store that does nothing.
    #[expect(clippy::cast_precision_loss, reason = "a time per operation")]
    fn null_block(
        &self,
        driver: &str,
        sequence: &Path,
        block: BlockKind,
        operations: u64,
        round: u32,
    ) -> Result<f64, HarnessError> {
        let null = StoreSpec {
            kind: "null".to_owned(),
            settings: Default::default(),
        };
        // In its defaults, as its cells are.
        let resolved = self.drivers.resolve_alone(&null.of_driver(driver))?;
        let job = Job {
            cell: CellId("harness/null".to_owned()),
            store: StoreSpec::spelled_out("null", &resolved.settings),
            workload: Workload::default(),
            scanned: Scanned::No,
            instance: self.work.to_owned(),
            dataset: None,
            versions: None,
            persistent: true,
            keeps_nothing: true,
            parts: false,
            task: Task::Measure(BlockTask {
                block,
                latencies: block == BlockKind::Latency,
                sequence: sequence.to_owned(),
                first: 0,
                lead_in: LEAD_IN,
                operations: operations - LEAD_IN,
                version: 0,
                payloads: PayloadSource::Prepared,
                round,
                position: 0,
            }),
        };
        let command = self.command(driver)?;
        match job::perform(&job, &command, self.interrupt, self.work, &mut |_, _| ())? {
            Answer::Measured(m, _) => {
                let time = m.corrected_ns().unwrap_or(m.wall_ns);
                Ok(time as f64 / m.operations.max(1) as f64)
            }
            other => Err(out_of_turn(&other)),
        }
    }

    fn job(&self, cell: &Cell, paths: &CellPaths, task: Task) -> Result<Job, HarnessError> {
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
            task,
        })
    }

    fn perform(
        &self,
        job: &Job,
        cell: &Cell,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Answer, HarnessError> {
        let command = self.command(&cell.driver)?;
        job::perform(job, &command, self.interrupt, self.work, progress)
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

fn out_of_turn(answer: &Answer) -> HarnessError {
    HarnessError::worker(&format!("another task was done: {answer:?}"), "")
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
