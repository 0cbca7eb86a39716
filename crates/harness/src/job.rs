//! What a worker is had to do for a run: build a store, check it, time a block. The parent's side of
//! each: files that the worker reads are written here, and what it says is checked here.

mod block;
mod build;
mod cold;
mod deal;
mod expected;
mod latencies;
mod outside;
mod payloads;
mod shares;
mod told;
mod verify;
mod worker;

pub(crate) use block::bytes_of;

use crate::disk::Identity;
use crate::interrupt::Interrupt;
use crate::shared_file::SharedFile;
use crate::worker_process::WorkerCommand;
use crate::{HarnessError, place};
use std::path::{Path, PathBuf};
use std::time::Duration;
use stowplan_dataset::{Dataset, Generator};
use stowplan_model::{
    At, BlockKind, CellId, Content, DatasetSpec, Delivery, Inspected, Measurement, PayloadSource,
    Scanned, Settings, SizeDistribution, StoreSpec, Verification, Want, Workload,
};
use worker::Worker;

/// A cell as its worker is told of it.
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
    /// Directory of the built store; for data that someone brought along, their own place.
    pub(crate) instance: PathBuf,
    /// Directory of the dataset; none for data that someone brought along, of which only keys and
    /// sizes are known.
    pub(crate) dataset: Option<PathBuf>,
    /// File of versions; none where there is no dataset.
    pub(crate) versions: Option<PathBuf>,
    /// Whether the data is there once the store is closed.
    pub(crate) persistent: bool,
    /// Whether the store keeps no values, so that there are none to check.
    pub(crate) keeps_nothing: bool,
    /// Whether its driver does a block in parts.
    pub(crate) parts: bool,
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

/// What a driver reported beside what it measured.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    /// Settings as the engine reports them.
    pub(crate) effective: Settings,
    /// From `go` to the answer as the parent saw it, reduced to the share of the timed operations.
    pub(crate) waited: Duration,
}

/// How the worker of a job is started, and what ends it early.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    pub(crate) command: WorkerCommand,
    pub(crate) interrupt: Interrupt,
}

/// Each has a worker of its own do something; an error says that it fails, or that what it did is not what
/// it should be.
impl Host {
    fn serve<T>(
        &self,
        at: At,
        tasks: impl FnOnce(&mut Worker) -> Result<T, HarnessError>,
    ) -> Result<T, HarnessError> {
        let mut worker = Worker::start(&self.command, &self.interrupt, at)?;
        let done = tasks(&mut worker)?;
        worker.process.end()?;
        Ok(done)
    }

    /// Asks what lies where of a store at rest.
    pub(crate) fn inspect(
        &self,
        at: At,
        keys: &[u64],
        want: Want,
    ) -> Result<Inspected, HarnessError> {
        self.serve(at, |worker| {
            let keys = SharedFile::of_numbers(keys.iter().copied())?;
            worker.inspect(Some(&keys), vec![want])
        })
    }

    /// Whether keys are there, by what the driver dumps; they come with the sizes that they are thought to
    /// have.
    pub(crate) fn there(&self, at: At, keys: &[(u64, u32)]) -> Result<Vec<bool>, HarnessError> {
        let mut there = Vec::new();
        self.serve(at, |worker| {
            worker.values(keys, Delivery::Copy, &mut |_| (), &mut |_, value| {
                there.push(value.is_some());
            })
        })?;
        Ok(there)
    }

    /// Has the driver remove what lies elsewhere of the stores that were made below a place.
    pub(crate) fn remove_below(&self, at: At) -> Result<(), HarnessError> {
        self.serve(at, |worker| {
            worker.remove_below()?;
            Ok(())
        })
    }
}

impl Job {
    /// Builds the store in the instance directory, which exists and is empty: loads the whole dataset into it.
    /// Returns values and their bytes.
    pub(crate) fn build(
        &self,
        host: &Host,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(u64, u64), HarnessError> {
        self.serve(host, &self.instance, false, |worker, _| {
            build::build(self, worker, progress)
        })
    }

    /// Reads values untimed and compares them with what they must be.
    pub(crate) fn verify(
        &self,
        extent: Extent,
        host: &Host,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Verification, HarnessError> {
        self.serve(host, &self.instance, false, |worker, _| {
            verify::verify(self, extent, worker, progress)
        })
    }

    /// Times one block. One that changes which keys there are has a store of its own.
    pub(crate) fn measure(
        &self,
        task: &BlockTask,
        host: &Host,
    ) -> Result<(Measurement, Reported), HarnessError> {
        let apart = !self.scanned.is_no();
        let block = |worker: &mut Worker, guard: Option<&Identity<'_>>| {
            block::measure(self, task, worker, guard)
        };
        if !self.workload.changes_keys() {
            return self.serve(host, &self.instance, apart, block);
        }
        let mut own = BlockDirectory::make(self)?;
        let measured = self.serve(host, &own.path, apart, block)?;
        own.remove()?;
        Ok(measured)
    }

    /// A worker of its own at a place; `apart`: which is a mount of its own to it.
    fn serve<T>(
        &self,
        host: &Host,
        place: &Path,
        apart: bool,
        tasks: impl FnOnce(&mut Worker, Option<&Identity<'_>>) -> Result<T, HarnessError>,
    ) -> Result<T, HarnessError> {
        // Engines follow links; what a run made is none.
        let is_ours = self.dataset.is_some() && place == self.instance;
        let guard = is_ours.then(|| Identity::of(place)).transpose()?;
        let mut host = host.clone();
        host.command.mount = apart.then(|| place.to_owned());
        let at = At {
            store: self.store.clone(),
            place: place.to_owned(),
        };
        host.serve(at, |worker| {
            tasks(worker, guard.as_ref()).map_err(HarnessError::of_a_store)
        })
    }

    /// The dataset of a job that needs one.
    fn dataset(&self) -> Result<Dataset, HarnessError> {
        let directory = self.dataset.as_deref().ok_or_else(no_dataset)?;
        Ok(Dataset::open(directory)?)
    }
}

/// The directory of a store that is there for one block.
struct BlockDirectory {
    path: PathBuf,
    there: bool,
}

impl BlockDirectory {
    fn make(job: &Job) -> Result<Self, HarnessError> {
        let path = job.instance.join(format!("block-{}", std::process::id()));
        // On the file system of the store, which need not be that of the work directory.
        place::make_directory(job.instance.parent().unwrap_or(Path::new(".")), &path)?;
        Ok(Self { path, there: true })
    }

    /// A store whose table is a directory has removed it when it dropped its table.
    fn remove(&mut self) -> Result<(), HarnessError> {
        self.there = false;
        place::remove(&self.path)
    }
}

impl Drop for BlockDirectory {
    /// After a failure, which says more than what may go wrong here.
    fn drop(&mut self) {
        if self.there {
            let _ = self.remove();
        }
    }
}

fn no_dataset() -> HarnessError {
    HarnessError::invalid("this task needs a dataset, and the job names none")
}

/// What is known of the values of a job's store.
enum Values {
    /// Everything.
    Dataset(Box<Dataset>),
    /// Someone brought them along: only what is written here is known.
    Foreign(Generator),
}

impl Values {
    fn of(job: &Job) -> Result<Self, HarnessError> {
        if job.dataset.is_some() {
            return Ok(Self::Dataset(Box::new(job.dataset()?)));
        }
        let spec = DatasetSpec {
            count: 1,
            size: SizeDistribution::Fixed { bytes: 0 },
            content: Content::Random,
            seed: 0,
            from: None,
        };
        Ok(Self::Foreign(Generator::new(&spec)?))
    }

    fn dataset(&self) -> Option<&Dataset> {
        match self {
            Self::Dataset(dataset) => Some(dataset),
            Self::Foreign(_) => None,
        }
    }

    fn generator(&self) -> &Generator {
        match self {
            Self::Dataset(dataset) => dataset.generator(),
            Self::Foreign(generator) => generator,
        }
    }

    /// Whether these are the bytes of a version of a value.
    fn right(&self, key: u64, version: u32, bytes: &[u8]) -> bool {
        match (self, version) {
            (Self::Dataset(dataset), 0) if key <= dataset.count() => bytes == dataset.value(key),
            _ => self.generator().filled(key, version, bytes),
        }
    }

    /// Puts the bytes of a version of a value into `out`.
    fn fill(&self, key: u64, version: u32, out: &mut [u8]) {
        match (self, version) {
            (Self::Dataset(dataset), 0)
                if key <= dataset.count() && dataset.size(key) == out.len() =>
            {
                out.copy_from_slice(dataset.value(key));
            }
            _ => self.generator().fill(key, version, out),
        }
    }
}

#[cfg(test)]
mod tests;
