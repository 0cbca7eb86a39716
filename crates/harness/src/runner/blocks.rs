//! One worker process per task: jobs composed, answers taken.

use crate::block_size::{BlockSize, LEAD_IN};
use crate::counting::calls_in;
use crate::drivers::Drivers;
use crate::interrupt::Interrupt;
use crate::job::{self, Answer, BlockTask, Job, Task};
use crate::worker_process::WorkerCommand;
use crate::{HarnessError, sequence};
use std::path::{Path, PathBuf};
use stowplan_model::{
    At, BlockKind, Cell, CellId, HarnessCost, Inspected, Measurement, PayloadSource,
    STRACE_VARIABLE, Settings, StoreSpec, Verification, Want, Workload,
};

/// Where a cell's data lies.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) instance: PathBuf,
    /// None for data that someone brought along.
    pub(crate) dataset: Option<PathBuf>,
    /// None where there is no dataset.
    pub(crate) versions: Option<PathBuf>,
}

/// Which part of which sequence a block visits, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot<'a> {
    pub(crate) sequence: &'a Path,
    pub(crate) first: u64,
    pub(crate) version: u32,
    pub(crate) payloads: PayloadSource,
    pub(crate) round: u32,
    pub(crate) position: u32,
}

/// Starts workers.
pub(crate) struct Blocks<'a> {
    command: Commands<'a>,
    interrupt: &'a Interrupt,
    work: &'a Path,
}

/// How workers are started.
#[derive(Clone, Copy)]
enum Commands<'a> {
    /// All by this one, which hosts the stores that are built in.
    One(&'a WorkerCommand),
    /// As the driver of their cell asks for, or by another command that has the driver's in it.
    OfDrivers(&'a Drivers, Option<&'a WorkerCommand>),
}

impl<'a> Blocks<'a> {
    /// All workers are started by one command, which hosts the stores that are built in.
    pub(crate) fn new(
        command: &'a WorkerCommand,
        interrupt: &'a Interrupt,
        work: &'a Path,
    ) -> Self {
        Self {
            command: Commands::One(command),
            interrupt,
            work,
        }
    }

    /// Workers are started by the drivers of their cells.
    pub(crate) fn of(drivers: &'a Drivers, interrupt: &'a Interrupt, work: &'a Path) -> Self {
        Self {
            command: Commands::OfDrivers(drivers, None),
            interrupt,
            work,
        }
    }

    /// The same, but started by a command that has the one of a driver in it.
    pub(crate) fn by<'b>(&self, command: &'b WorkerCommand) -> Blocks<'b>
    where
        'a: 'b,
    {
        Blocks {
            command: match self.command {
                Commands::One(_) => Commands::One(command),
                Commands::OfDrivers(drivers, _) => Commands::OfDrivers(drivers, Some(command)),
            },
            interrupt: self.interrupt,
            work: self.work,
        }
    }

    /// The settings of a cell's store that shape its layout, and defaults for the others.
    pub(crate) fn layout_only(&self, cell: &Cell) -> Result<Settings, HarnessError> {
        match self.command {
            Commands::One(_) => Ok(cell.settings.clone()),
            Commands::OfDrivers(drivers, _) => {
                let kind = drivers.kind(&cell.store)?;
                let layout = cell.settings.layout(&kind.settings);
                let given = StoreSpec::spelled_out(cell.store.name(), &layout).settings;
                Settings::resolve(&kind.settings, &given)
                    .map_err(|error| HarnessError::invalid(error.to_string()))
            }
        }
    }

    fn command_for(&self, store: &StoreSpec) -> Result<&'a WorkerCommand, HarnessError> {
        match self.command {
            Commands::One(command) | Commands::OfDrivers(_, Some(command)) => Ok(command),
            Commands::OfDrivers(drivers, None) => drivers.command(store),
        }
    }

    /// Times one block; also returns the settings that the engine reports.
    pub(crate) fn measure(
        &self,
        cell: &Cell,
        place: &Place,
        size: BlockSize,
        block: BlockKind,
        spot: &Spot<'_>,
    ) -> Result<(Measurement, Settings), HarnessError> {
        let task = Task::Measure(BlockTask {
            block,
            sequence: spot.sequence.to_owned(),
            first: spot.first,
            lead_in: size.lead_in,
            operations: size.operations,
            version: spot.version,
            payloads: spot.payloads,
            round: spot.round,
            position: spot.position,
        });
        match self.perform(&self.job(cell, place, task)?, cell, &mut |_, _| ())? {
            Answer::Measured(measurement, effective) => Ok((*measurement, effective)),
            other => Err(out_of_turn(&other)),
        }
    }

    /// Counts what one block does; its times mean nothing.
    pub(crate) fn count(
        &self,
        cell: &Cell,
        place: &Place,
        size: BlockSize,
        strace: Option<&Path>,
        spot: &Spot<'_>,
    ) -> Result<Measurement, HarnessError> {
        let Some(strace) = strace else {
            let (counted, _) = self.measure(cell, place, size, BlockKind::Counting, spot)?;
            return Ok(counted);
        };
        let written = self.work.join("strace.txt");
        let command = under_strace(strace, &written, self.command_for(&cell.store)?);
        let counting = self.by(&command);
        let (counted, _) = counting.measure(cell, place, size, BlockKind::Counting, spot)?;
        let text = std::fs::read(&written).map_err(HarnessError::io("read", &written))?;
        std::fs::remove_file(&written).map_err(HarnessError::io("remove", &written))?;
        Ok(Measurement {
            system_calls: calls_in(&String::from_utf8_lossy(&text)),
            ..counted
        })
    }

    /// Checks every value of a cell's store.
    pub(crate) fn verify(
        &self,
        cell: &Cell,
        place: &Place,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Verification, HarnessError> {
        match self.perform(&self.job(cell, place, Task::Verify)?, cell, progress)? {
            Answer::Verified(verification) => Ok(verification),
            other => Err(out_of_turn(&other)),
        }
    }

    /// Builds a store of these settings for a cell; returns values and their bytes.
    pub(crate) fn build(
        &self,
        cell: &Cell,
        settings: &Settings,
        place: &Place,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(u64, u64), HarnessError> {
        let job = Job {
            store: StoreSpec::spelled_out(cell.store.name(), settings),
            ..self.job(cell, place, Task::Build)?
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
        place: &Place,
        keys: &[u64],
        want: Want,
    ) -> Result<Inspected, HarnessError> {
        let command = self.command_for(&cell.store)?;
        let at = At {
            store: StoreSpec::spelled_out(cell.store.name(), &cell.settings),
            place: place.instance.clone(),
        };
        job::inspect(at, keys, want, command, self.interrupt, self.work)
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
        let job = Job {
            cell: CellId("harness/null".to_owned()),
            store: null.clone(),
            workload: Workload::default(),
            instance: self.work.to_owned(),
            dataset: None,
            versions: None,
            persistent: true,
            keeps_nothing: true,
            parts: false,
            task: Task::Measure(BlockTask {
                block,
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
        let command = self.command_for(&null.of_driver(driver))?;
        match job::perform(&job, command, self.interrupt, self.work, &mut |_, _| ())? {
            Answer::Measured(m, _) => {
                let time = m.corrected_ns().unwrap_or(m.wall_ns);
                Ok(time as f64 / m.operations.max(1) as f64)
            }
            other => Err(out_of_turn(&other)),
        }
    }

    fn job(&self, cell: &Cell, place: &Place, task: Task) -> Result<Job, HarnessError> {
        let (keeps_nothing, parts) = match self.command {
            Commands::One(_) => (false, true),
            Commands::OfDrivers(drivers, _) => {
                let kind = drivers.kind(&cell.store)?;
                (kind.keeps_nothing, kind.parts)
            }
        };
        Ok(Job {
            cell: cell.id.clone(),
            store: StoreSpec::spelled_out(cell.store.name(), &cell.settings),
            workload: cell.workload.clone(),
            instance: place.instance.clone(),
            dataset: place.dataset.clone(),
            versions: place.versions.clone(),
            persistent: cell.capabilities.persistent,
            keeps_nothing,
            parts,
            task,
        })
    }

    fn perform(
        &self,
        job: &Job,
        cell: &Cell,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Answer, HarnessError> {
        let command = self.command_for(&cell.store)?;
        job::perform(job, command, self.interrupt, self.work, progress)
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
        let work = tempfile::tempdir().unwrap();
        let blocks = Blocks::new(&command, &interrupt, work.path());
        let error = blocks.harness_cost("", 1).unwrap_err().to_string();
        assert!(
            error.starts_with("cannot start worker /nowhere/worker"),
            "{error}"
        );
    }
}
