//! One worker process per task: jobs composed, answers taken.

use crate::interrupt::Interrupt;
use crate::worker_process::{WorkerCommand, WorkerProcess};
use crate::{HarnessError, sequence};
use std::path::{Path, PathBuf};
use stowplan_model::{
    AccessOrder, BlockKind, BlockTask, CacheState, Cell, CellId, Delivery, FromWorker, HarnessCost,
    Job, Measurement, Operation, PerTransaction, Settings, StoreSpec, Task, Verification, Workload,
    encode,
};

/// How long a block should last, nanoseconds of corrected time (R4).
const BLOCK_NS: f64 = 25e6;
/// Bounds on the operations of a block (R4).
const OPERATIONS: (u64, u64) = (1_000, 10_000);
/// The same where every operation waits for the disk.
const SYNCED_OPERATIONS: u64 = 200;
/// Operations of the lead-in (R4), where they do not last much longer than a block.
const LEAD_IN: u64 = 500;
/// Operations of a latency block of overwrites: enough for p99.9, and no more of the disk's time.
const LATENCY_WRITES: u64 = 2_000;

/// Operations of a block and of its lead-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockSize {
    pub(super) lead_in: u64,
    pub(super) operations: u64,
    writes: bool,
}

impl BlockSize {
    /// The size of a first, short trial.
    pub(super) fn trial(cell: &Cell, count: u64, cache_bytes: u64) -> Self {
        let (lead_in, operations) = if waits_for_disk(cell) {
            (5, 50)
        } else {
            (filling(cache_bytes), OPERATIONS.0)
        };
        Self::within(cell, lead_in, operations, count)
    }

    /// The size where the workload fixes it.
    pub(super) fn given(cell: &Cell, count: u64) -> Option<Self> {
        let operations = u64::from(cell.workload.operations?);
        let lead_in = match (cell.workload.cache, waits_for_disk(cell)) {
            (CacheState::Cold, _) => 0,
            (CacheState::Warm, true) => LEAD_IN / 25,
            (CacheState::Warm, false) => LEAD_IN,
        };
        Some(Self::within(cell, lead_in, operations, count))
    }

    /// The size at which a block lasts about 25 ms, judged by a trial.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a choice of size"
    )]
    pub(super) fn from_trial(
        cell: &Cell,
        trial: &Measurement,
        count: u64,
        cache_bytes: u64,
    ) -> Self {
        let time = trial.corrected_ns().unwrap_or(trial.wall_ns).max(1) as f64;
        let each = time / trial.operations.max(1) as f64;
        let fitting = (BLOCK_NS / each) as u64;
        let least = if waits_for_disk(cell) {
            SYNCED_OPERATIONS
        } else {
            OPERATIONS.0
        };
        let operations = fitting.clamp(least, OPERATIONS.1);
        let lead_in = match cell.workload.cache {
            CacheState::Cold => 0,
            // Lasts no longer than two blocks.
            CacheState::Warm => filling(cache_bytes).min((2 * fitting).max(20)),
        };
        Self::within(cell, lead_in, operations, count)
    }

    /// A latency block: the same, but overwrites are fewer.
    pub(super) fn for_latency(self) -> Self {
        let most = if self.writes {
            LATENCY_WRITES
        } else {
            u64::MAX
        };
        Self {
            operations: self.operations.min(most),
            ..self
        }
    }

    /// A block visits no key twice.
    fn within(cell: &Cell, lead_in: u64, operations: u64, count: u64) -> Self {
        let operations = operations.min(count);
        let writes = cell.workload.operation.writes();
        Self {
            lead_in: lead_in.min(count - operations),
            operations,
            writes,
        }
    }
}

/// Operations that fill a store's private cache: each brings in one page of it at least. With a
/// cache of 4 MB the first thousand SELECTs took twice the time of later ones here.
fn filling(cache_bytes: u64) -> u64 {
    LEAD_IN.max(cache_bytes / 4096 * 5 / 4)
}

/// Whether each operation waits for the disk.
fn waits_for_disk(cell: &Cell) -> bool {
    let synced = cell.capabilities.syncs_per_commit > 0
        && cell.workload.operation.writes()
        && cell.workload.per_transaction != PerTransaction::All;
    synced || cell.workload.cache == CacheState::Cold
}

/// Where a cell's data lies.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) instance: PathBuf,
    pub(super) dataset: PathBuf,
    pub(super) versions: PathBuf,
}

/// Which part of which sequence a block visits, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot<'a> {
    pub(super) sequence: &'a Path,
    pub(super) first: u64,
    pub(super) version: u32,
    pub(super) round: u32,
    pub(super) position: u32,
}

/// Starts workers.
pub(super) struct Blocks<'a> {
    command: &'a WorkerCommand,
    interrupt: &'a Interrupt,
    work: &'a Path,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(
        command: &'a WorkerCommand,
        interrupt: &'a Interrupt,
        work: &'a Path,
    ) -> Self {
        Self {
            command,
            interrupt,
            work,
        }
    }

    /// Times one block; also returns the settings that the engine reports.
    pub(super) fn measure(
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
            round: spot.round,
            position: spot.position,
        });
        match self.task(job(cell, place, task), &mut |_, _| ())? {
            (FromWorker::Measured(measurement), effective) => Ok((measurement, effective)),
            (other, _) => Err(out_of_turn(&other)),
        }
    }

    /// Checks every value of a cell's store.
    pub(super) fn verify(
        &self,
        cell: &Cell,
        place: &Place,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Verification, HarnessError> {
        match self.task(job(cell, place, Task::Verify), progress)? {
            (FromWorker::Verified(verification), _) => Ok(verification),
            (other, _) => Err(out_of_turn(&other)),
        }
    }

    /// Builds a store; returns values and their bytes.
    pub(super) fn build(
        &self,
        cell: &Cell,
        store: StoreSpec,
        place: &Place,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(u64, u64), HarnessError> {
        let job = Job {
            store,
            ..job(cell, place, Task::Build)
        };
        match self.task(job, progress)? {
            (FromWorker::Built { values, bytes }, _) => Ok((values, bytes)),
            (other, _) => Err(out_of_turn(&other)),
        }
    }

    /// The cost of the harness per operation: the whole worker path with a store that does
    /// nothing.
    pub(super) fn harness_cost(&self, seed: u64) -> Result<HarnessCost, HarnessError> {
        const BLOCKS: u32 = 5;
        const OPERATIONS: u64 = 100_000;
        let sequence = self.work.join("sequence.bin");
        sequence::write_steps(&sequence, OPERATIONS, AccessOrder::Random, seed, |_| 1)?;
        let cost = |block| -> Result<f64, HarnessError> {
            let mut blocks = (0..BLOCKS)
                .map(|round| self.null_block(&sequence, block, OPERATIONS, round))
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
        sequence: &Path,
        block: BlockKind,
        operations: u64,
        round: u32,
    ) -> Result<f64, HarnessError> {
        let nowhere = self.work.to_owned();
        let job = Job {
            cell: CellId("harness/null".to_owned()),
            store: StoreSpec {
                kind: "null".to_owned(),
                settings: Default::default(),
            },
            workload: Workload {
                operation: Operation::Read,
                order: AccessOrder::Random,
                per_transaction: PerTransaction::All,
                delivery: Delivery::Copy,
                cache: CacheState::Warm,
                operations: None,
            },
            instance: nowhere.clone(),
            dataset: nowhere.clone(),
            versions: nowhere,
            task: Task::Measure(BlockTask {
                block,
                sequence: sequence.to_owned(),
                first: 0,
                lead_in: LEAD_IN,
                operations: operations - LEAD_IN,
                version: 0,
                round,
                position: 0,
            }),
        };
        match self.task(job, &mut |_, _| ())? {
            (FromWorker::Measured(m), _) => {
                let time = m.corrected_ns().unwrap_or(m.wall_ns);
                Ok(time as f64 / m.operations.max(1) as f64)
            }
            (other, _) => Err(out_of_turn(&other)),
        }
    }

    fn task(
        &self,
        job: Job,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(FromWorker, Settings), HarnessError> {
        let mut worker = WorkerProcess::start(self.command, self.interrupt)?;
        let effective = worker.prepare(job)?;
        Ok((worker.go(progress)?, effective))
    }
}

fn job(cell: &Cell, place: &Place, task: Task) -> Job {
    Job {
        cell: cell.id.clone(),
        store: StoreSpec::spelled_out(&cell.store.kind, &cell.settings),
        workload: cell.workload.clone(),
        instance: place.instance.clone(),
        dataset: place.dataset.clone(),
        versions: place.versions.clone(),
        task,
    }
}

fn out_of_turn(message: &FromWorker) -> HarnessError {
    let text: String = encode(message).chars().take(120).collect();
    HarnessError::worker(&format!("the worker answered out of turn: {text}"), "")
}
