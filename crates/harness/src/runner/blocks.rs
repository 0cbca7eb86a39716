//! One worker process per task: jobs composed, answers taken.

use crate::counting::{Counter, LOOKED_ON, calls_in};
use crate::interrupt::Interrupt;
use crate::worker_process::{WorkerCommand, WorkerProcess};
use crate::{HarnessError, sequence};
use std::path::{Path, PathBuf};
use std::time::Duration;
use stowplan_model::{
    BlockKind, BlockTask, CacheState, Cell, CellId, FromWorker, HarnessCost, Job, Measurement,
    PayloadSource, PerTransaction, Settings, StoreSpec, Task, Verification, Workload, encode,
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
pub(crate) struct BlockSize {
    pub(crate) lead_in: u64,
    pub(crate) operations: u64,
    writes: bool,
}

impl BlockSize {
    /// The size of a first, short trial.
    pub(crate) fn trial(cell: &Cell, count: u64, cache_bytes: u64) -> Self {
        let (lead_in, operations) = if waits_for_disk(cell) {
            (5, 50)
        } else {
            (filling_all(cell, cache_bytes), OPERATIONS.0)
        };
        Self::within(cell, lead_in, operations, count)
    }

    /// Just that.
    pub(crate) fn exactly(cell: &Cell, lead_in: u64, operations: u64) -> Self {
        Self {
            lead_in,
            operations,
            writes: cell.workload.operation.writes(),
        }
    }

    /// The size that a block had.
    pub(crate) fn of(cell: &Cell, block: &Measurement) -> Self {
        Self {
            lead_in: block.lead_in_operations,
            operations: block.operations,
            writes: cell.workload.operation.writes(),
        }
    }

    /// The size where the workload fixes it.
    pub(crate) fn given(cell: &Cell, count: u64) -> Option<Self> {
        let operations = u64::from(cell.workload.operations?);
        let lead_in = match (cell.workload.cache, waits_for_disk(cell)) {
            // The block has a store of its own, from its first operation on.
            _ if cell.workload.changes_keys() => 0,
            (CacheState::Cold | CacheState::MetadataCold | CacheState::AsFound, _) => 0,
            (CacheState::Warm, true) => LEAD_IN / 25,
            (CacheState::Warm, false) => LEAD_IN,
        };
        Some(Self {
            // No longer than two blocks: of large values few make one, and 500 would take more
            // of the disk's time than the block itself.
            lead_in: lead_in
                .min((2 * operations).max(20))
                .min(most(cell, count).saturating_sub(operations)),
            operations: operations.min(most(cell, count)),
            writes: cell.workload.operation.writes(),
        })
    }

    /// The size at which a block lasts about 25 ms, judged by a trial.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a choice of size"
    )]
    pub(crate) fn from_trial(
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
            CacheState::Cold | CacheState::MetadataCold | CacheState::AsFound => 0,
            // Lasts no longer than two blocks.
            CacheState::Warm => filling_all(cell, cache_bytes).min((2 * fitting).max(20)),
        };
        Self::within(cell, lead_in, operations, count)
    }

    /// A latency block: the same, but overwrites are fewer.
    pub(crate) fn for_latency(self) -> Self {
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

    /// The same with no more operations than this.
    pub(crate) fn at_most(self, operations: u64) -> Self {
        Self {
            operations: self.operations.min(operations),
            ..self
        }
    }

    /// The most steps that blocks of a cell can have, lead-in included, before any was tried.
    pub(crate) fn most_steps(cell: &Cell, count: u64, cache_bytes: u64) -> u64 {
        match Self::given(cell, count) {
            Some(given) => given.steps(),
            None => filling_all(cell, cache_bytes) + OPERATIONS.1,
        }
    }

    /// Its operations and those of its lead-in.
    pub(crate) fn steps(self) -> u64 {
        self.lead_in + self.operations
    }

    /// A block visits no key twice unless its order does, and its lead-in comes first: of a small
    /// dataset at most a third goes to the lead-in, and the rest bounds the block.
    fn within(cell: &Cell, lead_in: u64, operations: u64, count: u64) -> Self {
        let count = most(cell, count);
        let lead_in = lead_in.min(count / 3);
        Self {
            lead_in,
            operations: operations.min(count.saturating_sub(lead_in)),
            writes: cell.workload.operation.writes(),
        }
    }
}

/// Operations that fill a store's private cache: each brings in one page of it at least. With a
/// cache of 4 MB the first thousand SELECTs took twice the time of later ones here.
#[must_use]
pub fn filling(cache_bytes: u64) -> u64 {
    LEAD_IN.max(cache_bytes / 4096 * 5 / 4)
}

/// The same for each of a cell's threads: each has a cache of its own.
fn filling_all(cell: &Cell, cache_bytes: u64) -> u64 {
    filling(cache_bytes).saturating_mul(u64::from(cell.workload.threads))
}

/// The most steps for which a dataset of `count` values suffices; where keys may repeat or are new,
/// any number of them.
fn most(cell: &Cell, count: u64) -> u64 {
    if cell.workload.order.repeats() || cell.workload.changes_keys() {
        u64::MAX
    } else {
        count
    }
}

/// Whether each operation waits for the disk.
fn waits_for_disk(cell: &Cell) -> bool {
    let synced = cell.capabilities.syncs_per_commit > 0
        && cell.workload.operation.writes()
        && cell.workload.per_transaction != PerTransaction::All;
    synced || cell.workload.cache.is_cold()
}

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
    command: &'a WorkerCommand,
    interrupt: &'a Interrupt,
    work: &'a Path,
}

impl<'a> Blocks<'a> {
    pub(crate) fn new(
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
    pub(crate) fn measure(
        &self,
        cell: &Cell,
        place: &Place,
        size: BlockSize,
        block: BlockKind,
        spot: &Spot<'_>,
    ) -> Result<(Measurement, Settings), HarnessError> {
        let task = BlockTask {
            block,
            sequence: spot.sequence.to_owned(),
            first: spot.first,
            lead_in: size.lead_in,
            operations: size.operations,
            version: spot.version,
            payloads: spot.payloads,
            round: spot.round,
            position: spot.position,
        };
        match self.task(
            job(cell, place, Task::Measure(task.clone())),
            0,
            &mut |_, _| (),
        )? {
            (FromWorker::Measured(measurement), effective) => {
                check_answer(&measurement, cell, &task)?;
                Ok((measurement, effective))
            }
            (other, _) => Err(out_of_turn(&other)),
        }
    }

    /// Counts what one block does; its times mean nothing.
    pub(crate) fn count(
        &self,
        cell: &Cell,
        place: &Place,
        size: BlockSize,
        counter: &Counter,
        spot: &Spot<'_>,
    ) -> Result<Measurement, HarnessError> {
        let Counter::Strace(strace) = counter else {
            let (counted, _) = self.measure(cell, place, size, BlockKind::Counting, spot)?;
            return Ok(counted);
        };
        let written = self.work.join("strace.txt");
        let command = under_strace(strace, &written, self.command);
        let looked_on = Blocks::new(&command, self.interrupt, self.work);
        let (counted, _) = looked_on.measure(cell, place, size, BlockKind::Counting, spot)?;
        let text = std::fs::read(&written).map_err(HarnessError::io("read", &written))?;
        std::fs::remove_file(&written).map_err(HarnessError::io("remove", &written))?;
        Ok(Measurement {
            system_calls: calls_in(&String::from_utf8_lossy(&text)),
            ..counted
        })
    }

    /// Checks every value of a cell's store, which holds so many.
    pub(crate) fn verify(
        &self,
        cell: &Cell,
        place: &Place,
        values: u64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Verification, HarnessError> {
        match self.task(job(cell, place, Task::Verify), values, progress)? {
            (FromWorker::Verified(verification), _) => Ok(verification),
            (other, _) => Err(out_of_turn(&other)),
        }
    }

    /// Builds a store of so many values; returns values and their bytes.
    pub(crate) fn build(
        &self,
        cell: &Cell,
        store: StoreSpec,
        place: &Place,
        values: u64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(u64, u64), HarnessError> {
        let job = Job {
            store,
            ..job(cell, place, Task::Build)
        };
        match self.task(job, values, progress)? {
            (FromWorker::Built { values, bytes }, _) => Ok((values, bytes)),
            (other, _) => Err(out_of_turn(&other)),
        }
    }

    /// The cost of the harness per operation: the whole worker path with a store that does
    /// nothing.
    pub(crate) fn harness_cost(&self, seed: u64) -> Result<HarnessCost, HarnessError> {
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
            workload: Workload::default(),
            instance: nowhere,
            dataset: None,
            versions: None,
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
        match self.task(job, 0, &mut |_, _| ())? {
            (FromWorker::Measured(m), _) => {
                let time = m.corrected_ns().unwrap_or(m.wall_ns);
                Ok(time as f64 / m.operations.max(1) as f64)
            }
            (other, _) => Err(out_of_turn(&other)),
        }
    }

    /// Has a worker do a job whose store holds so many values.
    fn task(
        &self,
        job: Job,
        values: u64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(FromWorker, Settings), HarnessError> {
        let mut worker = WorkerProcess::start(self.command, self.interrupt)?;
        let (silence, most) = self.patience_for(&job, values);
        let effective = worker.prepare(job)?;
        Ok((worker.go(silence, most, progress)?, effective))
    }

    /// How long a task may take without a word, and in all. Building and checking report progress;
    /// a block is silent as a whole.
    fn patience_for(&self, job: &Job, values: u64) -> (Duration, Duration) {
        let patience = &self.command.patience;
        match &job.task {
            Task::Build | Task::Verify => {
                // To grow old, a store deletes a value and inserts it again.
                let times = 1 + 2 * u64::from(job.workload.age);
                let most = patience.in_all(values.saturating_mul(times));
                (patience.silence, most)
            }
            Task::Measure(task) => {
                let most = patience.in_all(task.lead_in.saturating_add(task.operations));
                (most, most)
            }
        }
    }
}

/// The same worker with `strace` around it, which writes what it sees to a file.
fn under_strace(strace: &Path, written: &Path, command: &WorkerCommand) -> WorkerCommand {
    let path = |path: &Path| path.display().to_string();
    let mut arguments = ["-f", "-qq", "-s", "0", "-E"].map(str::to_owned).to_vec();
    arguments.extend([format!("{LOOKED_ON}=1"), "-o".to_owned(), path(written)]);
    arguments.extend(["--".to_owned(), path(&command.program)]);
    arguments.extend(command.arguments.iter().cloned());
    WorkerCommand {
        program: strace.to_owned(),
        arguments,
        ..command.clone()
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

/// Refuses a measurement of something else than what was asked for: recorded, it would be taken
/// for a block of another cell or round.
fn check_answer(measured: &Measurement, cell: &Cell, task: &BlockTask) -> Result<(), HarnessError> {
    let refused = |what: &str, is: &dyn std::fmt::Display, asked: &dyn std::fmt::Display| {
        let message = format!("the worker measured {what} {is} where {asked} was asked for");
        Err(HarnessError::worker(&message, ""))
    };
    let numbers = [
        ("round", u64::from(measured.round), u64::from(task.round)),
        (
            "position",
            u64::from(measured.position),
            u64::from(task.position),
        ),
        ("operations", measured.operations, task.operations),
        (
            "lead-in operations",
            measured.lead_in_operations,
            task.lead_in,
        ),
    ];
    if measured.cell != cell.id {
        return refused("the cell", &measured.cell, &cell.id);
    }
    if measured.block != task.block {
        let name = |block: BlockKind| encode(&block);
        return refused("a block", &name(measured.block), &name(task.block));
    }
    if let Some((what, is, asked)) = numbers.into_iter().find(|(_, is, asked)| is != asked) {
        return refused(what, &is, &asked);
    }
    if measured.wall_ns == 0 {
        return refused("a time of", &"0 ns", &"some time");
    }
    Ok(())
}

fn out_of_turn(message: &FromWorker) -> HarnessError {
    let text: String = encode(message).chars().take(120).collect();
    HarnessError::worker(&format!("the worker answered out of turn: {text}"), "")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use stowplan_model::{Operation, Role};
    use stowplan_stores::registry;

    const MANY: u64 = 100_000;

    /// A cell that reads, warm, in one transaction, as many operations as fit.
    pub(in crate::runner) fn cell(spec: &str) -> Cell {
        let store: StoreSpec = spec.parse().unwrap();
        let resolved = registry::resolve(&store, 4 << 20).unwrap();
        let layout = resolved.settings.layout(resolved.kind.settings());
        Cell {
            id: CellId("c/x".to_owned()),
            key: "x".to_owned(),
            label: spec.to_owned(),
            role: Role::Candidate,
            instance: format!("{}.{layout}", store.kind),
            store,
            settings: resolved.settings,
            capabilities: resolved.capabilities,
            workload: Workload::default(),
            dataset: "blobs".to_owned(),
            published_seconds: None,
        }
    }

    /// One that overwrites.
    pub(in crate::runner) fn writing(spec: &str, per: PerTransaction) -> Cell {
        let mut cell = cell(spec);
        cell.workload.operation = Operation::Overwrite;
        cell.workload.per_transaction = per;
        cell
    }

    /// One whose every operation waits for the disk.
    fn syncing() -> Cell {
        writing(
            "files:write=rename,fsync=directory",
            PerTransaction::Operations(1),
        )
    }

    fn cold() -> Cell {
        let mut cell = cell("files");
        cell.workload.cache = CacheState::Cold;
        cell
    }

    fn with_operations(mut cell: Cell, operations: u32) -> Cell {
        cell.workload.operations = Some(operations);
        cell
    }

    /// A trial of 1,000 operations that took so long each.
    fn trial(each_ns: u64) -> Measurement {
        Measurement {
            operations: 1_000,
            wall_ns: each_ns * 1_000,
            ..Measurement::default()
        }
    }

    fn sized(cell: &Cell, each_ns: u64, count: u64, cache_bytes: u64) -> (u64, u64) {
        let size = BlockSize::from_trial(cell, &trial(each_ns), count, cache_bytes);
        (size.lead_in, size.operations)
    }

    #[test]
    fn a_block_lasts_25_ms_within_1_000_and_10_000_operations() {
        let operations = |each_ns| sized(&cell("files"), each_ns, MANY, 0).1;
        assert_eq!(operations(5_000), 5_000);
        assert_eq!(operations(10_000), 2_500);
        assert_eq!(operations(100), 10_000);
        assert_eq!(operations(1_000_000), 1_000);
    }

    #[test]
    fn blocks_that_wait_for_the_disk_may_be_as_short_as_200() {
        let appended = writing("files:write=rename,fsync=directory", PerTransaction::All);
        let unsynced = writing("files", PerTransaction::Operations(1));
        for (cell, least) in [
            (syncing(), 200),
            (cold(), 200),
            (appended, 1_000),
            (unsynced, 1_000),
            (cell("files:write=rename,fsync=directory"), 1_000),
        ] {
            let operations = |each_ns| sized(&cell, each_ns, MANY, 0).1;
            assert_eq!(operations(5_000_000), least, "{:?}", cell.workload);
            assert_eq!(operations(10_000), 2_500);
            assert_eq!(operations(10), 10_000);
        }
    }

    #[test]
    fn a_trial_is_judged_by_its_time_without_waiting_for_a_cpu() {
        let delayed = Measurement {
            run_delay_ns: Some(5_000_000),
            ..trial(10_000)
        };
        let size = BlockSize::from_trial(&cell("files"), &delayed, MANY, 0);
        assert_eq!(size.operations, 5_000);
    }

    #[test]
    fn a_trial_of_nothing_gives_a_block_all_the_same() {
        let size = BlockSize::from_trial(&cell("files"), &Measurement::default(), MANY, 0);
        assert_eq!(size.operations, 10_000);
    }

    #[test]
    fn a_block_and_its_lead_in_visit_no_value_twice() {
        let all = [cell("files"), syncing(), cold()];
        for cell in &all {
            for count in [1, 7, 50, 199, 200, 700, 1_200, 10_000, 10_300] {
                for each_ns in [1, 5_000, 40_000_000] {
                    let sizes = [
                        BlockSize::trial(cell, count, 4 << 20),
                        BlockSize::from_trial(cell, &trial(each_ns), count, 4 << 20),
                        BlockSize::given(&with_operations(cell.clone(), 300), count).unwrap(),
                    ];
                    for size in sizes {
                        assert!(size.operations >= 1, "{count} {size:?}");
                        assert!(size.lead_in + size.operations <= count, "{count} {size:?}");
                    }
                }
            }
        }
        assert_eq!(sized(&cell("files"), 100, 10_300, 0), (500, 9_800));
        assert_eq!(sized(&cell("files"), 100, 900, 0), (300, 600));
    }

    #[test]
    fn the_lead_in_fills_the_cache_but_lasts_no_longer_than_two_blocks() {
        let lead_in = |each_ns, cache_bytes| sized(&cell("sqlite"), each_ns, MANY, cache_bytes).0;
        assert_eq!(lead_in(5_000, 0), 500);
        assert_eq!(lead_in(5_000, 4 << 20), 1_280);
        assert_eq!(lead_in(100_000, 4 << 20), 500, "two blocks of 250");
        assert_eq!(lead_in(1_000_000, 0), 50, "two blocks of 25");
        assert_eq!(lead_in(20_000_000, 0), 20, "but 20 at least");
        assert_eq!(sized(&cold(), 100_000, MANY, 4 << 20).0, 0);
    }

    #[test]
    fn where_keys_repeat_a_block_may_be_longer_than_the_dataset() {
        let mut zipfian = cell("files");
        zipfian.workload.order = stowplan_model::AccessOrder::Zipfian;
        assert_eq!(sized(&zipfian, 100, 50, 0), (500, 10_000));
        let given = BlockSize::given(&with_operations(zipfian.clone(), 300), 50).unwrap();
        assert_eq!((given.lead_in, given.operations), (500, 300));
        let trial = BlockSize::trial(&zipfian, 50, 0);
        assert!(trial.steps() <= BlockSize::most_steps(&zipfian, 50, 0));
        assert_eq!(BlockSize::most_steps(&zipfian, 50, 0), 10_500);
    }

    #[test]
    fn a_store_of_a_blocks_own_has_no_lead_in() {
        let mut delete = with_operations(cell("files"), 50);
        delete.workload.operation = Operation::Delete;
        let size = BlockSize::given(&delete, 50).unwrap();
        assert_eq!((size.lead_in, size.operations), (0, 50));
        assert_eq!(BlockSize::most_steps(&delete, 50, 0), 50);
    }

    #[test]
    fn each_thread_fills_a_cache_of_its_own() {
        let mut four = cell("sqlite");
        four.workload.threads = 4;
        assert_eq!(BlockSize::trial(&four, MANY, 4 << 20).lead_in, 4 * 1_280);
        assert_eq!(sized(&four, 5_000, MANY, 4 << 20).0, 4 * 1_280);
    }

    #[test]
    fn a_trial_is_short_where_operations_wait_for_the_disk() {
        let size = |cell: &Cell| {
            let size = BlockSize::trial(cell, MANY, 4 << 20);
            (size.lead_in, size.operations)
        };
        assert_eq!(size(&cell("sqlite")), (1_280, 1_000));
        assert_eq!(size(&syncing()), (5, 50));
        assert_eq!(size(&cold()), (5, 50));
    }

    #[test]
    fn a_fixed_number_of_operations_is_taken_as_it_is() {
        assert_eq!(BlockSize::given(&cell("files"), MANY), None);
        let given = |cell, operations, count| {
            let size = BlockSize::given(&with_operations(cell, operations), count).unwrap();
            (size.lead_in, size.operations)
        };
        assert_eq!(given(cell("files"), 30_000, MANY), (500, 30_000));
        assert_eq!(given(cell("files"), 100, MANY), (200, 100), "two blocks");
        assert_eq!(given(cell("files"), 3, MANY), (20, 3), "but 20 at least");
        assert_eq!(given(syncing(), 100, MANY), (20, 100));
        assert_eq!(given(cold(), 300, MANY), (0, 300));
        assert_eq!(given(cell("files"), 300, 300), (0, 300));
    }

    #[test]
    fn latency_blocks_of_overwrites_have_2_000_operations_at_most() {
        let write = writing("files", PerTransaction::All);
        let latency = |cell: &Cell, operations| {
            let cell = with_operations(cell.clone(), operations);
            let size = BlockSize::given(&cell, MANY).unwrap().for_latency();
            (size.lead_in, size.operations)
        };
        assert_eq!(latency(&write, 10_000), (500, 2_000));
        assert_eq!(latency(&write, 300), (500, 300));
        assert_eq!(latency(&cell("files"), 10_000), (500, 10_000));
    }

    #[test]
    fn a_job_spells_out_every_setting_of_its_store() {
        let place = Place {
            instance: "/i".into(),
            dataset: Some("/d".into()),
            versions: Some("/v".into()),
        };
        let job = job(&cell("files:layout=tree"), &place, Task::Verify);
        let settings: Vec<_> = job.store.settings.into_iter().collect();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            settings,
            [
                pair("buffer", "reused"),
                pair("fsync", "off"),
                pair("layout", "tree"),
                pair("open", "directory"),
                pair("read", "plain"),
                pair("stat", "fstat"),
                pair("write", "truncate")
            ]
        );
        assert_eq!(job.instance, Path::new("/i"));
        assert_eq!(job.dataset.as_deref(), Some(Path::new("/d")));
        assert_eq!(job.versions.as_deref(), Some(Path::new("/v")));
    }

    #[test]
    fn an_answer_out_of_turn_is_told_in_short() {
        let message = out_of_turn(&FromWorker::Failed {
            message: "x".repeat(10_000),
        })
        .to_string();
        assert!(message.starts_with("the worker answered out of turn: {\"failed\""));
        assert!(message.len() < 200, "{}", message.len());
    }

    #[test]
    fn a_measurement_of_something_else_is_refused() {
        let cell = cell("files");
        let task = BlockTask {
            block: BlockKind::Ratio,
            sequence: PathBuf::new(),
            first: 3,
            lead_in: 2,
            operations: 5,
            version: 0,
            payloads: PayloadSource::Prepared,
            round: 7,
            position: 1,
        };
        let right = Measurement {
            cell: cell.id.clone(),
            block: BlockKind::Ratio,
            round: 7,
            position: 1,
            operations: 5,
            lead_in_operations: 2,
            wall_ns: 1,
            ..Measurement::default()
        };
        check_answer(&right, &cell, &task).unwrap();
        type Change = fn(&mut Measurement);
        let wrong: [(&str, Change); 7] = [
            ("the cell c/y where c/x was", |m| {
                m.cell.0 = "c/y".to_owned();
            }),
            ("a block \"pilot\" where", |m| m.block = BlockKind::Pilot),
            ("round 8 where 7", |m| m.round = 8),
            ("position 0", |m| m.position = 0),
            ("operations 4 where 5", |m| m.operations = 4),
            ("lead-in operations 0", |m| m.lead_in_operations = 0),
            ("a time of 0 ns", |m| m.wall_ns = 0),
        ];
        for (told, change) in wrong {
            let mut measured = right.clone();
            change(&mut measured);
            let error = check_answer(&measured, &cell, &task).unwrap_err();
            assert!(error.is_of_a_store());
            assert!(error.to_string().contains(told), "{error}");
        }
    }

    #[test]
    fn a_worker_that_cannot_be_started_is_an_error_that_names_it() {
        let command = WorkerCommand::new("/nowhere/worker", &[]);
        let interrupt = Interrupt::never();
        let work = tempfile::tempdir().unwrap();
        let blocks = Blocks::new(&command, &interrupt, work.path());
        let error = blocks.harness_cost(1).unwrap_err().to_string();
        assert!(
            error.starts_with("cannot start worker /nowhere/worker"),
            "{error}"
        );
    }
}
