//! Timing one block.

use super::cold::Cold;
use super::outside::{self, reduced};
use super::shares::Shares;
use super::told::{Latencies, Told, run_delay};
use super::worker::{Drain, Worker};
use super::{BlockTask, Job, Reported, Values, no_dataset};
use crate::busy::{self, Busy};
use crate::environment::device_counters;
use crate::plan::{METADATA_COLD, ROOT_ONLY};
use crate::scanner::Scanner;
use crate::{HarnessError, disk, page_cache};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stowplan_dataset::sequence::{Window, len, steps};
use stowplan_dataset::versions;
use stowplan_model::{
    Action, BlockKind, CacheState, Delivery, DeviceCounters, Inspected, Measured, Measurement,
    NeighbourKind, Neighbours, Operation, PayloadSource, SERVER_CPU, Scanned, Usage, Want,
    Workload,
};

/// Has a worker time a block, and checks and completes what it says. `place` is the store's, which
/// nobody may put another thing in the place of.
pub(super) fn measure(
    job: &Job,
    task: &BlockTask,
    worker: &mut Worker,
    place: Option<&disk::Identity<'_>>,
) -> Result<(Measurement, Reported), HarnessError> {
    let values = job.values()?;
    let fresh = job.workload.changes_keys();
    // Of a store of its own, from the first step on: a rising order begins with the smallest key.
    let begin = if fresh {
        (0, 0)
    } else {
        (task.first, task.lead_in)
    };
    let block = Block {
        job,
        task,
        shares: Shares::of(job, task, begin, &values)?,
        values: &values,
        fresh,
    };
    block.measure(worker, place)
}

/// A block and what it is done with.
struct Block<'a> {
    job: &'a Job,
    task: &'a BlockTask,
    shares: Shares<'a>,
    values: &'a Values,
    /// It has a store of its own, because it changes which keys there are.
    fresh: bool,
}

/// What was read around a block.
struct Readings {
    usage: Usage,
    device: Option<DeviceCounters>,
    /// CPU time of the server that the run has started.
    server_ns: Option<u64>,
}

impl Block<'_> {
    fn measure(
        &self,
        worker: &mut Worker,
        place: Option<&disk::Identity<'_>>,
    ) -> Result<(Measurement, Reported), HarnessError> {
        let Self { job, task, .. } = self;
        self.fill(worker)?;
        let cold = self.make_cold(worker)?;
        let counting = task.block == BlockKind::Counting;
        let scanner = self.scanner(worker)?;
        // Where latencies are not taken, the time of the block counts, which would be the rate's.
        let rate = job.workload.rate.filter(|_| task.latencies);
        let workload = Workload {
            rate,
            ..job.workload.clone()
        };
        let effective = self.shares.ready(&workload, worker, counting)?;
        if let (Scanned::Read, Some(cold)) = (job.scanned, &cold) {
            cold.require_still_cold()?;
        }
        place.map_or(Ok(()), disk::Identity::require_unchanged)?;
        let started_unix_ms = unix_ms();
        // What drops a table may remove it.
        let lies = job.persistent.then(|| crate::place::of(&worker.at.place));
        let beside = self.beside()?;
        let before = self.read(worker);
        let (measured, waited) = self.shares.go(worker)?;
        let after = self.read(worker);
        beside.map_or(Ok(()), left_alone)?;
        let scanner = scanner.map(Scanner::end).transpose()?;
        self.believe(&measured, waited, worker)?;
        let cold = cold.map(Cold::after).transpose()?;
        let mut measurement = self.measurement(&measured, &before, &after, worker)?;
        measurement.started_unix_ms = started_unix_ms;
        measurement.place = lies.flatten();
        measurement.scanner = scanner;
        if let Some((residency, metadata_reads)) = cold {
            measurement.residency = Some(residency);
            measurement.metadata_reads = metadata_reads;
        }
        self.bring_to_rest(worker, &mut measurement)?;
        let reported = Reported {
            effective,
            waited: waited.mul_f64(self.shares.timed_share()),
        };
        Ok((measurement, reported))
    }

    /// Makes the store that the block has for itself, and the one that forgets on closing; loads it
    /// unless the block begins with nothing, and brings it to rest.
    fn fill(&self, worker: &mut Worker) -> Result<(), HarnessError> {
        let Self { job, fresh, .. } = self;
        if !fresh && job.persistent {
            return Ok(());
        }
        worker.create()?;
        let dataset = match self.values.dataset() {
            Some(dataset) if !(*fresh && job.workload.begins_empty()) => dataset,
            None if *fresh => return Err(no_dataset()),
            _ => return Ok(()),
        };
        worker.load(dataset, &mut |_, _| ())?;
        if job.persistent {
            worker.rest(true)?;
            if job.workload.cache == CacheState::Warm {
                page_cache::warm(&[&worker.at.place])?;
            }
        }
        Ok(())
    }

    /// Takes what the block's operations read out of memory, and proves that it is gone.
    fn make_cold(&self, worker: &mut Worker) -> Result<Option<Cold>, HarnessError> {
        let cache = self.job.workload.cache;
        match cache {
            CacheState::Warm | CacheState::AsFound => return Ok(None),
            // Said before anything is evicted.
            CacheState::AllCold if !page_cache::may_drop_everything() => {
                return Err(HarnessError::invalid(ROOT_ONLY));
            }
            CacheState::Cold | CacheState::AllCold => {}
            // Of a run that an earlier version began.
            CacheState::MetadataCold => return Err(HarnessError::invalid(METADATA_COLD)),
        }
        let windows = self.shares.timed()?;
        let keys = windows.iter().flat_map(steps).map(|step| step.key);
        let files = worker.files(keys)?;
        Cold::make(files, &worker.at.place, cache, worker.process.id()).map(Some)
    }

    /// Starts the neighbours of the block that are processes; all of them are busy then.
    fn beside(&self) -> Result<Option<Busy>, HarnessError> {
        let beside = self.job.workload.beside;
        let processes = beside.filter(|beside| beside.kind == NeighbourKind::Processes);
        let start = |beside: Neighbours| {
            Busy::start(&busy::command(beside.memory)?, beside.compute_threads)
        };
        processes.map(start).transpose()
    }

    /// Starts the scanner that is asked before the worker opens a file of its store.
    fn scanner(&self, worker: &Worker) -> Result<Option<Scanner>, HarnessError> {
        let scanned = self.job.scanned;
        let (id, place) = (worker.process.id(), &worker.at.place);
        let scans = !scanned.is_no();
        scans
            .then(|| Scanner::start(scanned, id, place))
            .transpose()
    }

    fn read(&self, worker: &Worker) -> Readings {
        let counting = self.task.block == BlockKind::Counting;
        Readings {
            usage: outside::usage(worker.process.id()),
            device: counting
                .then(|| device_counters(&worker.at.place))
                .flatten(),
            server_ns: worker.server.and_then(outside::family_cpu_ns),
        }
    }

    /// Refuses times that cannot be true.
    fn believe(
        &self,
        measured: &Measured,
        waited: Duration,
        worker: &mut Worker,
    ) -> Result<(), HarnessError> {
        let timed = self.shares.timed()?;
        // What is written may be kept without being copied.
        let reads = self.job.workload.operation == Operation::Read;
        let told = Told {
            wall_ns: measured.wall_ns,
            thread_cpu_ns: measured.usage.thread_cpu_ns,
            waited,
            operations: self.task.operations,
            threads: self.job.workload.threads,
            delivered: if reads { bytes_of(&timed) } else { 0 },
            keeps_nothing: self.job.keeps_nothing,
        };
        told.impossible()
            .map_or(Ok(()), |why| Err(worker.process.failed(&why)))
    }

    /// The record of what was measured.
    fn measurement(
        &self,
        measured: &Measured,
        before: &Readings,
        after: &Readings,
        worker: &mut Worker,
    ) -> Result<Measurement, HarnessError> {
        let Self { job, task, .. } = self;
        let share = self.shares.timed_share();
        let (usage, read_from_outside) =
            outside::completed(measured.usage, before.usage, after.usage, share);
        let device = before.device.as_ref().zip(after.device.as_ref());
        let mut counters = measured.counters.clone();
        if let Some((before, after)) = before.server_ns.zip(after.server_ns) {
            let grown = reduced(after.saturating_sub(before), share);
            counters.insert(SERVER_CPU.to_owned(), grown);
        }
        let (latency, latencies) = self.latencies(worker)?;
        let timed = self.shares.timed()?;
        Ok(Measurement {
            cell: job.cell.clone(),
            round: task.round,
            position: task.position,
            block: task.block,
            operations: task.operations,
            lead_in_operations: if self.fresh { 0 } else { task.lead_in },
            bytes: self.bytes(measured.bytes.unwrap_or(0), &timed)?,
            commits: measured
                .commits
                .unwrap_or_else(|| self.transactions(&timed)),
            conflicts: measured.conflicts,
            wall_ns: measured.wall_ns,
            run_delay_ns: usage
                .run_delay_ns
                .map(|delay| run_delay(delay, measured.wall_ns, measured.usage.thread_cpu_ns)),
            thread_cpu_ns: usage.thread_cpu_ns.unwrap_or(0),
            process_cpu_ns: usage.process_cpu_ns.unwrap_or(0),
            user_ns: usage.user_ns.unwrap_or(0),
            system_ns: usage.system_ns.unwrap_or(0),
            minor_faults: usage.minor_faults.unwrap_or(0),
            major_faults: usage.major_faults.unwrap_or(0),
            voluntary_switches: usage.voluntary_switches.unwrap_or(0),
            involuntary_switches: usage.involuntary_switches.unwrap_or(0),
            in_blocks: usage.in_blocks.unwrap_or(0),
            out_blocks: usage.out_blocks.unwrap_or(0),
            io: usage.io,
            peak_memory_bytes: usage.peak_memory_bytes.filter(|_| !self.shares_memory()),
            read_from_outside,
            syncs: measured.syncs,
            outside: measured.outside,
            drain_write_bytes: measured.drain_write_bytes,
            counters,
            system_calls: None,
            device: device.map(|(before, after)| device_between(before, after, share)),
            latency,
            latencies,
            ..Measurement::default()
        })
    }

    /// Bytes that the steps say (a table has none), and what was told of scans.
    fn bytes(&self, told: u64, timed: &[Window<'_>]) -> Result<u64, HarnessError> {
        let workload = &self.job.workload;
        let scans = workload.operation == Operation::Scan
            || workload.mix.as_ref().is_some_and(|mix| mix.scan > 0);
        if told > 0 && !scans {
            let why = format!(
                "it told {told} bytes of scans where there was none, as older drivers do: build it anew"
            );
            return Err(HarnessError::worker(&why, ""));
        }
        let said = match workload.is_about_tables() {
            true => 0,
            false => bytes_of(timed),
        };
        Ok(told.saturating_add(said))
    }

    /// Whether what neighbours stream through is memory of the worker too.
    fn shares_memory(&self) -> bool {
        let beside = self.job.workload.beside;
        beside.is_some_and(|beside| beside.memory && beside.kind == NeighbourKind::Threads)
    }

    /// The histograms of a block that takes latencies.
    fn latencies(
        &self,
        worker: &mut Worker,
    ) -> Result<(Option<String>, BTreeMap<Action, String>), HarnessError> {
        if !self.task.latencies {
            return Ok((None, BTreeMap::new()));
        }
        let mut latencies = Latencies::new(self.job.workload.operation == Operation::Mix)?;
        for (bytes, window) in self.shares.latencies()? {
            latencies.add(&bytes, steps(&window).map(|step| step.action))?;
        }
        let statement = match self.job.workload.operation {
            Operation::Insert => u64::from(self.job.workload.rows_per_statement.unwrap_or(1)),
            _ => 1,
        };
        let asked = self.task.operations;
        if !(asked.div_ceil(statement.max(1))..=asked).contains(&latencies.count()) {
            return Err(worker.process.failed(&format!(
                "the worker told {} latencies of {asked} operations",
                latencies.count()
            )));
        }
        let (all, of) = latencies.texts()?;
        Ok((Some(all), of))
    }

    /// How many transactions the timed steps are.
    fn transactions(&self, timed: &[Window<'_>]) -> u64 {
        let group = self.job.workload.group().max(1);
        timed.iter().map(|window| len(window).div_ceil(group)).sum()
    }

    /// Brings what was written to rest, and looks at what is there.
    fn bring_to_rest(
        &self,
        worker: &mut Worker,
        measurement: &mut Measurement,
    ) -> Result<(), HarnessError> {
        let Self { job, fresh, .. } = self;
        let writes = job.workload.operation.writes();
        if !writes {
            measurement.outside.drain_ns = 0;
            measurement.drain_write_bytes = None;
            return Ok(());
        }
        if job.workload.is_about_tables() {
            return self.bring_table_to_rest(worker, measurement);
        }
        if !job.persistent {
            self.examine(worker, measurement)?;
        }
        // Data that someone brought along may be in use: of that, closing checkpoints what can be.
        let drain = worker.rest(job.paths.dataset.is_some())?;
        add(measurement, drain);
        if !job.persistent {
            return Ok(());
        }
        if *fresh {
            // Before anything is done to it again.
            let found = worker.inspect(None, vec![Want::Footprint])?;
            let below = || Ok::<_, HarnessError>(disk::below(&worker.at.place)?.0);
            measurement.footprint = Some(found.footprint.map_or_else(below, Ok)?);
        }
        self.examine(worker, measurement)
    }

    /// Compares what the store holds with what it must be: of a store of the block's own all of it in
    /// the first round, a sample of what was changed in others. Another one is checked after the last
    /// round; until then it is written down which versions were given.
    fn examine(
        &self,
        worker: &mut Worker,
        measurement: &mut Measurement,
    ) -> Result<(), HarnessError> {
        let Self {
            job, task, fresh, ..
        } = self;
        let known = task.payloads == PayloadSource::Prepared && !job.keeps_nothing;
        let mut expected = self.shares.expected()?;
        if *fresh {
            let all = task.round == 0;
            if let Some(dataset) = self
                .values
                .dataset()
                .filter(|_| all && !job.workload.begins_empty())
            {
                let bytes = |key| u32::try_from(dataset.size(key)).unwrap_or(u32::MAX);
                expected.add_untouched((1..=dataset.count()).map(|key| (key, bytes(key))));
            }
            expected.check(self.values, worker, all)?;
            let Inspected {
                page_fill,
                index_fill,
                ..
            } = worker.inspect(None, vec![Want::PageFill])?;
            measurement.page_fill = page_fill;
            measurement.index_fill = index_fill;
            return Ok(());
        }
        if !known {
            return Ok(());
        }
        if !job.persistent || job.paths.dataset.is_none() {
            return expected.check(self.values, worker, true);
        }
        if let Some(path) = &job.paths.versions {
            let given = expected.versions(self.values, worker)?;
            versions::update(path, given.into_iter())?;
        }
        Ok(())
    }

    /// A table that was made is empty; of one that was dropped nothing can be read.
    fn bring_table_to_rest(
        &self,
        worker: &mut Worker,
        measurement: &mut Measurement,
    ) -> Result<(), HarnessError> {
        let creates = self.job.workload.operation == Operation::CreateTable;
        // A store without a table need not open again.
        let closes_first = creates && self.job.persistent;
        if !closes_first {
            check_table(worker, creates)?;
        }
        let drain = worker.rest(true)?;
        add(measurement, drain);
        if closes_first {
            check_table(worker, creates)?;
        }
        Ok(())
    }
}

/// Ends the neighbours of a block that is over.
fn left_alone(mut beside: Busy) -> Result<(), HarnessError> {
    match beside.all_run() {
        true => Ok(()),
        false => Err(HarnessError::invalid(
            "a process that was to be busy beside the block ended before it did; nothing is known of it",
        )),
    }
}

fn check_table(worker: &mut Worker, creates: bool) -> Result<(), HarnessError> {
    let mut there = false;
    worker.values(&[(1, 0)], Delivery::Copy, &mut |_| (), &mut |_, value| {
        there = value.is_some();
    })?;
    let (done, wrong) = match creates {
        _ if !there => return Ok(()),
        true => ("made", "is not empty"),
        false => ("dropped", "is still there"),
    };
    let store = worker.at.store.kind.clone();
    Err(worker
        .process
        .failed(&format!("{store}: the table was {done} and {wrong}")))
}

/// Milliseconds since the Unix epoch, for records only: this clock can jump.
fn unix_ms() -> u64 {
    let age = SystemTime::now().duration_since(UNIX_EPOCH);
    age.map_or(0, |age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX))
}

/// What the driver did of it already (its threads closed their connections), and the rest.
fn add(measurement: &mut Measurement, drain: Drain) {
    measurement.outside.drain_ns += drain.ns;
    measurement.drain_write_bytes = drain
        .write_bytes
        .map(|bytes| bytes + measurement.drain_write_bytes.unwrap_or(0));
}

/// Bytes that steps deliver or write, where they say it: scans do not.
pub(crate) fn bytes_of(timed: &[Window<'_>]) -> u64 {
    let bytes = |action, bytes: u32| match action {
        Action::Delete | Action::Scan => 0,
        Action::Modify => 2 * u64::from(bytes),
        Action::Read | Action::Overwrite | Action::Insert => u64::from(bytes),
    };
    let steps = timed.iter().flat_map(steps);
    steps.map(|step| bytes(step.action, step.bytes)).sum()
}

fn device_between(before: &DeviceCounters, after: &DeviceCounters, share: f64) -> DeviceCounters {
    let grown = |field: fn(&DeviceCounters) -> u64| {
        reduced(field(after).saturating_sub(field(before)), share)
    };
    let flushes = after.flushes.zip(before.flushes);
    DeviceCounters {
        device: after.device.clone(),
        reads: grown(|d| d.reads),
        read_bytes: grown(|d| d.read_bytes),
        writes: grown(|d| d.writes),
        written_bytes: grown(|d| d.written_bytes),
        flushes: flushes.map(|(after, before)| reduced(after.saturating_sub(before), share)),
    }
}
