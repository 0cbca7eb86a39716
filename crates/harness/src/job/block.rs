//! Timing one block.

use super::cold::Cold;
use super::outside::{self, reduced};
use super::shares::Shares;
use super::told::{Latencies, Told, run_delay};
use super::worker::{Drain, Worker};
use super::{BlockTask, Extent, Job, Reported};
use crate::busy::{self, Busy};
use crate::environment::device_counters;
use crate::plan::{METADATA_COLD, ROOT_ONLY};
use crate::scanner::Scanner;
use crate::{HarnessError, Result, disk, page_cache};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stowplan_dataset::sequence::{Window, bytes_of, len, steps};
use stowplan_dataset::versions;
use stowplan_model::{
    Action, BlockKind, CacheState, Delivery, DeviceCounters, Measured, Measurement, NeighbourKind,
    Operation, PayloadSource, SERVER_CPU, Scanned, ToDriver, Usage, Want, Workload,
};

/// A block that a worker does, and what it is done with.
pub(super) struct Block<'b, 'j> {
    worker: &'b mut Worker<'j>,
    job: &'j Job,
    task: &'b BlockTask,
    shares: Shares,
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

impl<'b, 'j> Block<'b, 'j> {
    pub(super) fn of(worker: &'b mut Worker<'j>, task: &'b BlockTask) -> Result<Self> {
        let fresh = worker.job.workload.changes_keys();
        // Of a store of its own, from the first step on: a rising order begins with the smallest key.
        let begin = if fresh {
            (0, 0)
        } else {
            (task.first, task.lead_in)
        };
        Ok(Self {
            job: worker.job,
            task,
            shares: Shares::of(worker, task, begin)?,
            worker,
            fresh,
        })
    }

    /// Has it timed, and checks and completes what the worker says. `place` is the store's, which nobody may put
    /// another thing in the place of.
    pub(super) fn measure(
        mut self,
        place: Option<&disk::Identity<'_>>,
    ) -> Result<(Measurement, Reported)> {
        let (job, task) = (self.job, self.task);
        self.fill()?;
        let cold = self.make_cold()?;
        let counting = task.block == BlockKind::Counting;
        let (id, at) = (self.worker.process.id(), self.worker.at.place.clone());
        // It is asked before the worker opens a file of its store.
        let scanned = (!job.scanned.is_no()).then(|| Scanner::start(job.scanned, id, &at));
        let scanner = scanned.transpose()?;
        // Where latencies are not taken, the time of the block counts, which would be the rate's.
        let rate = job.workload.rate.filter(|_| task.latencies);
        let workload = Workload {
            rate,
            ..job.workload.clone()
        };
        let effective = self.shares.ready(&workload, self.worker, counting)?;
        if let (Scanned::Read, Some(cold)) = (job.scanned, &cold) {
            cold.require_still_cold()?;
        }
        place.map_or(Ok(()), disk::Identity::require_unchanged)?;
        let started_unix_ms = unix_ms();
        // What drops a table may remove it.
        let lies = job.persistent.then(|| crate::place::of(&at));
        let beside = self.beside()?;
        let before = self.read();
        let (measured, waited) = self.shares.go(self.worker)?;
        let after = self.read();
        if beside.is_some_and(|mut beside| !beside.all_run()) {
            return Err(HarnessError::invalid(
                "a process that was to be busy beside the block ended before it did; nothing is known of it",
            ));
        }
        let scanner = scanner.map(Scanner::end).transpose()?;
        self.believe(&measured, waited)?;
        let cold = cold.map(Cold::after).transpose()?;
        let mut measurement = self.measurement(&measured, &before, &after)?;
        measurement.started_unix_ms = started_unix_ms;
        measurement.place = lies.flatten();
        measurement.scanner = scanner;
        if let Some((residency, metadata_reads)) = cold {
            measurement.residency = Some(residency);
            measurement.metadata_reads = metadata_reads;
        }
        self.bring_to_rest(&mut measurement)?;
        let reported = Reported {
            effective,
            waited: waited.mul_f64(self.shares.timed_share()),
        };
        Ok((measurement, reported))
    }

    /// Makes the store that the block has for itself, and the one that forgets on closing; loads it
    /// unless the block begins with nothing, and brings it to rest.
    fn fill(&mut self) -> Result<()> {
        let (job, fresh) = (self.job, self.fresh);
        if !fresh && job.persistent {
            return Ok(());
        }
        let values = self.worker.values;
        let dataset = match fresh {
            true => Some(values.whole()?).filter(|_| !job.workload.begins_empty()),
            false => values.dataset.as_ref(),
        };
        let Some(dataset) = dataset else {
            return self.worker.does(ToDriver::Create);
        };
        self.worker.load(dataset, &mut |_, _| ())?;
        if job.persistent {
            self.worker.rest(true)?;
            if job.workload.cache == CacheState::Warm {
                page_cache::warm(&[&self.worker.at.place])?;
            }
        }
        Ok(())
    }

    /// Takes what the block's operations read out of memory, and proves that it is gone.
    fn make_cold(&mut self) -> Result<Option<Cold>> {
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
        let files = self.worker.files(keys)?;
        let Worker { at, process, .. } = &*self.worker;
        Cold::make(files, &at.place, cache, process.id()).map(Some)
    }

    /// Starts the neighbours of the block that are processes; all of them are busy then.
    fn beside(&self) -> Result<Option<Busy>> {
        let beside = self.job.workload.beside;
        let processes = beside.filter(|beside| beside.kind == NeighbourKind::Processes);
        processes
            .map(|beside| Busy::start(&busy::command(beside.memory)?, beside.compute_threads))
            .transpose()
    }

    fn read(&self) -> Readings {
        let counting = self.task.block == BlockKind::Counting;
        let device = counting.then(|| device_counters(&self.worker.at.place));
        Readings {
            usage: outside::usage(self.worker.process.id()),
            device: device.flatten(),
            server_ns: self.worker.server.and_then(outside::family_cpu_ns),
        }
    }

    /// Refuses times that cannot be true.
    fn believe(&mut self, measured: &Measured, waited: Duration) -> Result<()> {
        // What is written may be kept without being copied.
        let delivered = match self.job.workload.operation {
            Operation::Read => bytes_of(&self.shares.timed()?),
            _ => 0,
        };
        let told = Told {
            wall_ns: measured.wall_ns,
            thread_cpu_ns: measured.usage.thread_cpu_ns,
            waited,
            operations: self.task.operations,
            threads: self.job.workload.threads,
            delivered,
            keeps_nothing: self.job.keeps_nothing,
        };
        match told.impossible() {
            None => Ok(()),
            Some(why) => Err(self.worker.process.failed(&why)),
        }
    }

    /// The record of what was measured.
    fn measurement(
        &mut self,
        measured: &Measured,
        before: &Readings,
        after: &Readings,
    ) -> Result<Measurement> {
        let (latency, latencies) = self.latencies()?;
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
        let timed = self.shares.timed()?;
        let group = job.workload.group().max(1);
        let transactions = timed.iter().map(|window| len(window).div_ceil(group));
        // What neighbours stream through is memory of the worker too.
        let streams = job.workload.beside.filter(|beside| beside.memory);
        let alone = streams.is_none_or(|beside| beside.kind != NeighbourKind::Threads);
        Ok(Measurement {
            cell: job.cell.clone(),
            round: task.round,
            position: task.position,
            block: task.block,
            operations: task.operations,
            lead_in_operations: if self.fresh { 0 } else { task.lead_in },
            bytes: bytes(&job.workload, measured.bytes.unwrap_or(0), &timed)?,
            commits: measured.commits.unwrap_or_else(|| transactions.sum()),
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
            peak_memory_bytes: usage.peak_memory_bytes.filter(|_| alone),
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

    /// The histograms of a block that takes latencies.
    fn latencies(&mut self) -> Result<(Option<String>, BTreeMap<Action, String>)> {
        if !self.task.latencies {
            return Ok((None, BTreeMap::new()));
        }
        let workload = &self.job.workload;
        let mix = workload.pattern();
        let is_mix = workload.operation == Operation::Mix;
        let mut latencies = Latencies::new(if is_mix { &mix } else { &[] })?;
        for told in self.shares.latencies() {
            let (bytes, window) = told?;
            latencies.add(&bytes, steps(&window).map(|step| step.action));
        }
        let statement = match workload.operation {
            Operation::Insert => u64::from(workload.rows_per_statement.unwrap_or(1)),
            _ => 1,
        };
        let (told, asked) = (latencies.count(), self.task.operations);
        if !(asked.div_ceil(statement.max(1))..=asked).contains(&told) {
            let why = format!("the worker told {told} latencies of {asked} operations");
            return Err(self.worker.process.failed(&why));
        }
        let (all, of) = latencies.texts()?;
        Ok((Some(all), of))
    }

    /// Brings what was written to rest, and looks at what is there.
    fn bring_to_rest(&mut self, measurement: &mut Measurement) -> Result<()> {
        let job = self.job;
        if !job.workload.operation.writes() {
            measurement.outside.drain_ns = 0;
            measurement.drain_write_bytes = None;
            return Ok(());
        }
        // A table that was made is empty; of one that was dropped nothing can be read. A store without a table
        // need not open again.
        let makes = job.workload.operation == Operation::CreateTable;
        let closes_first = job.persistent && (makes || !job.workload.is_about_tables());
        if !closes_first {
            self.examine(measurement)?;
        }
        // Data that someone brought along may be in use: of that, closing checkpoints what can be.
        let ours = job.workload.is_about_tables() || job.paths.dataset.is_some();
        add(measurement, self.worker.rest(ours)?);
        if !closes_first {
            return Ok(());
        }
        if self.fresh && !makes {
            // Before anything is done to it again.
            let found = self.worker.inspect(None, Want::Footprint)?;
            let below = || Ok::<_, HarnessError>(disk::below(&self.worker.at.place)?.0);
            measurement.footprint = Some(found.footprint.map_or_else(below, Ok)?);
        }
        self.examine(measurement)
    }

    /// Compares what the store holds with what it must be: of a store of the block's own all of it in
    /// the first round, a sample of what was changed in others. Another one is checked after the last
    /// round; until then it is written down which versions were given.
    fn examine(&mut self, measurement: &mut Measurement) -> Result<()> {
        let (job, task) = (self.job, self.task);
        if job.workload.is_about_tables() {
            return self.check_table();
        }
        let mut expected = self.shares.expected()?;
        if self.fresh {
            let extent = match task.round {
                0 => Extent::All,
                _ => Extent::Sample,
            };
            let begun = !job.workload.begins_empty() && extent == Extent::All;
            if let Some(dataset) = self.worker.values.dataset.as_ref().filter(|_| begun) {
                let bytes = |key| u32::try_from(dataset.size(key)).unwrap_or(u32::MAX);
                expected.add_untouched((1..=dataset.count()).map(|key| (key, bytes(key))));
            }
            expected.check(self.worker, extent)?;
            let found = self.worker.inspect(None, Want::PageFill)?;
            (measurement.page_fill, measurement.index_fill) = (found.page_fill, found.index_fill);
            return Ok(());
        }
        if task.payloads != PayloadSource::Prepared || job.keeps_nothing {
            return Ok(());
        }
        if !job.persistent || job.paths.dataset.is_none() {
            return expected.check(self.worker, Extent::All);
        }
        if let Some(path) = &job.paths.versions {
            let given = expected.versions(self.worker)?;
            versions::update(path, given.into_iter())?;
        }
        Ok(())
    }

    /// A table that was made or dropped holds nothing.
    fn check_table(&mut self) -> Result<()> {
        let mut there = false;
        let mut see = |_, value: Option<&[u8]>| there = value.is_some();
        self.worker.show(&[(1, 0)], Delivery::Copy, &mut see)?;
        match self.job.workload.operation {
            _ if !there => Ok(()),
            Operation::CreateTable => Err(self.worker.wrong("the table was made and is not empty")),
            _ => Err(self
                .worker
                .wrong("the table was dropped and is still there")),
        }
    }
}

/// Bytes that the steps say (a table has none), and what was told of scans.
fn bytes(workload: &Workload, told: u64, timed: &[Window<'_>]) -> Result<u64> {
    if told > 0 && !workload.scans() {
        let why = format!(
            "it told {told} bytes of scans where there was none, as older drivers do: build it anew"
        );
        return Err(HarnessError::worker(&why, ""));
    }
    let said = if workload.is_about_tables() {
        0
    } else {
        bytes_of(timed)
    };
    Ok(told.saturating_add(said))
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
