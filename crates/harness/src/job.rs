//! What a worker is had to do for a run: build a store, check it, time a block. The parent's side of
//! each: files that the worker reads are written here, and what it says is checked here.

mod block;
mod build;
mod cold;
mod outside;
mod shares;
mod told;
mod verify;
mod worker;

use crate::disk::Identity;
use crate::drivers::{Drivers, Resolved};
use crate::interrupt::Interrupt;
use crate::shared_file::SharedFile;
use crate::worker_process::WorkerCommand;
use crate::{HarnessError, Progress, Result, place};
use block::Block;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stowplan_dataset::{Dataset, Generator};
use stowplan_model::{
    BlockKind, Cell, CellId, Content, DatasetSpec, Delivery, Inspected, Measurement, PayloadSource,
    Scanned, Settings, SizeDistribution, StoreSpec, ToDriver, Verification, Want, Workload,
};
use worker::Worker;

/// Where a cell's data lies.
#[derive(Debug, Clone)]
pub(crate) struct CellPaths {
    /// Directory of the built store; for data that someone brought along, their own place.
    pub(crate) instance: PathBuf,
    /// Directory of the dataset; none for data that someone brought along, of which only keys and
    /// sizes are known.
    pub(crate) dataset: Option<PathBuf>,
    /// File of versions; none where there is no dataset.
    pub(crate) versions: Option<PathBuf>,
}

impl CellPaths {
    /// Those of data that someone brought along.
    pub(crate) fn brought_along(place: &Path) -> Self {
        Self {
            instance: place.to_owned(),
            dataset: None,
            versions: None,
        }
    }
}

/// A cell as workers of its driver are told of it, each of which does one thing and ends. An error says that it
/// fails, or that what it did is not what it should be.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    /// The cell.
    pub(crate) cell: CellId,
    /// Its store as its driver calls it, with every setting spelled out.
    pub(crate) store: StoreSpec,
    /// What is done.
    pub(crate) workload: Workload,
    /// What stands between the store and its files while a block is timed.
    pub(crate) scanned: Scanned,
    /// Where its data lies.
    pub(crate) paths: CellPaths,
    /// Whether the data is there once the store is closed.
    pub(crate) persistent: bool,
    /// Whether the store keeps no values, so that there are none to check.
    pub(crate) keeps_nothing: bool,
    /// Whether its driver does a block in parts.
    pub(crate) parts: bool,
    /// How workers are started.
    pub(crate) command: WorkerCommand,
    /// What ends them early.
    pub(crate) interrupt: Interrupt,
}

/// How many values of a store are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Every one.
    All,
    /// Some, at equal distances: whether this way of reading is right.
    Sample,
}

/// Which block is to be timed.
#[derive(Debug, Clone)]
pub(crate) struct BlockTask {
    /// What it is for.
    pub(crate) block: BlockKind,
    /// Whether each operation is timed, beside the block.
    pub(crate) latencies: bool,
    /// The operation sequence.
    pub(crate) sequence: PathBuf,
    /// First operation of the lead-in, an index into the sequence (which is cyclic).
    pub(crate) first: u64,
    /// Operations of the lead-in; the timed ones follow.
    pub(crate) lead_in: u64,
    /// Timed operations.
    pub(crate) operations: u64,
    /// Version that overwritten values get.
    pub(crate) version: u32,
    /// Where the bytes come from that are written.
    pub(crate) payloads: PayloadSource,
    /// Round, from 0.
    pub(crate) round: u32,
    /// Position within the round, from 0.
    pub(crate) position: u32,
}

impl BlockTask {
    /// A block of so many operations from the beginning of a sequence on, whatever round it is of.
    pub(crate) fn new(block: BlockKind, sequence: &Path, lead_in: u64, operations: u64) -> Self {
        Self {
            block,
            latencies: block == BlockKind::Latency,
            sequence: sequence.to_owned(),
            first: 0,
            lead_in,
            operations,
            version: 1,
            payloads: PayloadSource::Prepared,
            round: 0,
            position: 0,
        }
    }
}

/// What a driver reported beside what it measured.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    /// Settings as the engine reports them.
    pub(crate) effective: Settings,
    /// From `go` to the answer as the parent saw it, reduced to the share of the timed operations.
    pub(crate) waited: Duration,
}

impl Job {
    /// That of a cell, by the driver that hosts its store.
    pub(crate) fn of(
        cell: &Cell,
        paths: CellPaths,
        drivers: &Drivers,
        interrupt: &Interrupt,
    ) -> Result<Self> {
        let resolved = Resolved {
            kind: drivers.kind(&cell.store)?,
            settings: cell.settings.clone(),
            capabilities: cell.capabilities.clone(),
        };
        let (id, workload) = (cell.id.clone(), cell.workload.clone());
        let by = (drivers.command_of(&cell.driver)?, interrupt);
        Ok(Self {
            scanned: cell.scanned,
            ..Self::new(id, &resolved, workload, paths, by)
        })
    }

    /// That of a store as it was resolved.
    pub(crate) fn new(
        cell: CellId,
        resolved: &Resolved,
        workload: Workload,
        paths: CellPaths,
        (command, interrupt): (&WorkerCommand, &Interrupt),
    ) -> Self {
        Self {
            cell,
            store: StoreSpec::spelled_out(&resolved.kind.name, &resolved.settings),
            workload,
            scanned: Scanned::No,
            paths,
            persistent: resolved.capabilities.persistent,
            keeps_nothing: resolved.kind.keeps_nothing,
            parts: resolved.kind.parts,
            command: command.clone(),
            interrupt: interrupt.clone(),
        }
    }

    /// Asks what lies where of the store at rest.
    pub(crate) fn inspect(&self, keys: &[u64], want: Want) -> Result<Inspected> {
        let keys = SharedFile::of_numbers(keys.iter().copied())?;
        self.with_worker(|worker| worker.inspect(Some(&keys), want))
    }

    /// Whether keys are there, by what the driver dumps; they come with the sizes that they are thought to
    /// have.
    pub(crate) fn there(&self, keys: &[(u64, u32)]) -> Result<Vec<bool>> {
        let mut there = Vec::new();
        let mut see = |_, value: Option<&[u8]>| there.push(value.is_some());
        self.with_worker(|worker| worker.show(keys, Delivery::Copy, &mut see))?;
        Ok(there)
    }

    /// Has the driver remove what lies elsewhere of the stores that were made below the place.
    pub(crate) fn remove_below(&self) -> Result<()> {
        self.with_worker(|worker| worker.does(ToDriver::Remove))
    }

    /// Builds the store in its directory, which exists and is empty: loads the whole dataset into it. Returns
    /// values and their bytes.
    pub(crate) fn build(&self, progress: Progress<'_>) -> Result<(u64, u64)> {
        self.with_worker(|worker| worker.build(progress))
    }

    /// Reads values untimed and compares them with what they must be.
    pub(crate) fn verify(&self, extent: Extent) -> Result<Verification> {
        self.with_worker(|worker| worker.verify(extent))
    }

    /// Times one block. One that changes which keys there are has a store of its own.
    pub(crate) fn measure(&self, task: &BlockTask) -> Result<(Measurement, Reported)> {
        let apart = !self.scanned.is_no();
        let block = |worker: &mut Worker<'_>, guard: Option<&Identity<'_>>| {
            Block::of(worker, task)?.measure(guard)
        };
        if !self.workload.changes_keys() {
            return self.at(&self.paths.instance, apart, block);
        }
        let store = &self.paths.instance;
        let own = store.join(format!("block-{}", std::process::id()));
        // On the file system of the store, which need not be that of the work directory.
        place::make_directory(store.parent().unwrap_or(Path::new(".")), &own)?;
        let measured = self.at(&own, apart, block);
        // A store whose table is a directory has removed it when it dropped its table.
        let removed = place::remove(&own);
        // A failure says more than what went wrong afterwards.
        let measured = measured?;
        removed.map(|()| measured)
    }

    /// Has a worker of its own do something to the store where it lies.
    fn with_worker<T>(&self, task: impl FnOnce(&mut Worker<'_>) -> Result<T>) -> Result<T> {
        self.at(&self.paths.instance, false, |worker, _| task(worker))
    }

    /// Has a worker of its own do something at a place, which nobody may put another thing in the place of; `apart`:
    /// which is a mount of its own to it. What fails is a failure of the store.
    fn at<T>(
        &self,
        place: &Path,
        apart: bool,
        tasks: impl FnOnce(&mut Worker<'_>, Option<&Identity<'_>>) -> Result<T>,
    ) -> Result<T> {
        // Engines follow links; what a run made is none.
        let is_ours = self.paths.dataset.is_some() && place == self.paths.instance;
        let guard = is_ours.then(|| Identity::of(place)).transpose()?;
        let values = Values::of(self).map_err(HarnessError::of_a_store)?;
        let command = WorkerCommand {
            mount: apart.then(|| place.to_owned()),
            ..self.command.clone()
        };
        let mut worker = Worker::start(self, &values, place, &command)?;
        let done = tasks(&mut worker, guard.as_ref()).map_err(HarnessError::of_a_store)?;
        worker.process.end()?;
        Ok(done)
    }
}

/// What is known of the values of a job's store.
struct Values {
    /// Everything; nothing of what someone brought along but what is written here.
    dataset: Option<Dataset>,
    generator: Generator,
}

impl Values {
    fn of(job: &Job) -> Result<Self> {
        if let Some(directory) = &job.paths.dataset {
            let dataset = Dataset::open(directory)?;
            return Ok(Self {
                generator: dataset.generator().clone(),
                dataset: Some(dataset),
            });
        }
        let foreign = DatasetSpec {
            count: 1,
            size: SizeDistribution::Fixed { bytes: 0 },
            content: Content::Random,
            seed: 0,
            from: None,
        };
        Ok(Self {
            dataset: None,
            generator: Generator::new(&foreign)?,
        })
    }

    /// # Errors
    /// Someone brought them along.
    fn whole(&self) -> Result<&Dataset> {
        let none = || HarnessError::invalid("this task needs a dataset, and the job names none");
        self.dataset.as_ref().ok_or_else(none)
    }

    /// The bytes of a value as they came, if this is the version of them.
    fn as_loaded(&self, key: u64, version: u32) -> Option<&[u8]> {
        let dataset = self.dataset.as_ref().filter(|_| version == 0)?;
        (key <= dataset.count()).then(|| dataset.value(key))
    }

    /// Whether these are the bytes of a version of a value.
    fn right(&self, key: u64, version: u32, bytes: &[u8]) -> bool {
        match self.as_loaded(key, version) {
            Some(value) => bytes == value,
            None => self.generator.filled(key, version, bytes),
        }
    }

    /// Puts the bytes of a version of a value into `out`.
    fn fill(&self, key: u64, version: u32, out: &mut [u8]) {
        match self.as_loaded(key, version) {
            Some(value) if value.len() == out.len() => out.copy_from_slice(value),
            _ => self.generator.fill(key, version, out),
        }
    }
}

#[cfg(test)]
mod tests;
