//! The worker: one process, one job, one answer.
//!
//! Everything that can be prepared is prepared before `ready`: the store is open, the operation
//! sequence and the payloads are in memory, the destination buffer is touched. Between `go` and
//! the last timestamp nothing runs but the lead-in and the measured operations.

use crate::accounting::{Accounting, Usage};
use crate::block::{self, Done, Payloads, Timing, Window, bytes_of, run_block};
use crate::dataset::Dataset;
use crate::sequence::{Sequence, Step};
use crate::{HarnessError, disk, page_cache, platform, versions};
use std::io::{BufRead, Write};
use std::path::Path;
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use stowplan_model::{
    BlockKind, BlockTask, CacheState, Delivery, FromWorker, Job, Measurement, PROTOCOL_NAME,
    PROTOCOL_VERSION, Residency, Settings, Task, ToWorker, Verification, WallBreakdown, Workload,
    decode, encode,
};
use stowplan_stores::registry::{self, Resolved};
use stowplan_stores::{Access, Buffer, Connection, Found, Key, Session, Store, StoreError};

/// Values between two progress messages.
const PROGRESS_EVERY: u64 = 2_000;

/// Runs one worker: greets, takes a job, does it, answers. Failures of the job are answered, not
/// returned.
///
/// # Errors
/// The parent is gone, or says what is no message.
pub fn worker(input: &mut dyn BufRead, output: &mut dyn Write) -> Result<(), HarnessError> {
    platform::die_with_parent();
    let mut wire = Wire { input, output };
    wire.say(&FromWorker::Hello {
        protocol: PROTOCOL_NAME.to_owned(),
        version: PROTOCOL_VERSION,
        tool: env!("CARGO_PKG_VERSION").to_owned(),
    })?;
    let job = match wire.hear()? {
        Some(ToWorker::Prepare(job)) => job,
        Some(ToWorker::Go) => return Err(HarnessError::invalid("'go' came before 'prepare'")),
        Some(ToWorker::Bye) | None => return Ok(()),
    };
    let answer = match perform(&job, &mut wire) {
        Ok(answer) => answer,
        Err(error) => FromWorker::Failed {
            message: error.to_string(),
        },
    };
    wire.say(&answer)?;
    wire.hear().map(|_| ())
}

/// The worker's end of the protocol.
struct Wire<'a> {
    input: &'a mut dyn BufRead,
    output: &'a mut dyn Write,
}

impl Wire<'_> {
    fn say(&mut self, message: &FromWorker) -> Result<(), HarnessError> {
        let mut line = encode(message);
        line.push('\n');
        self.output
            .write_all(line.as_bytes())
            .and_then(|()| self.output.flush())
            .map_err(HarnessError::io("answer", Path::new("the parent process")))
    }

    /// The next message; nothing if the parent is gone.
    fn hear(&mut self) -> Result<Option<ToWorker>, HarnessError> {
        let mut line = String::new();
        let read = self
            .input
            .read_line(&mut line)
            .map_err(HarnessError::io("hear", Path::new("the parent process")))?;
        if read == 0 {
            return Ok(None);
        }
        decode(&line)
            .map(Some)
            .map_err(|error| HarnessError::invalid(error.to_string()))
    }

    /// Says that everything is prepared and waits for `go`.
    fn ready(&mut self, effective: Settings) -> Result<(), HarnessError> {
        self.say(&FromWorker::Ready { effective })?;
        match self.hear()? {
            Some(ToWorker::Go) => Ok(()),
            _ => Err(HarnessError::invalid("'go' was expected")),
        }
    }
}

fn perform(job: &Job, wire: &mut Wire<'_>) -> Result<FromWorker, HarnessError> {
    // The budget only fills a `cache` setting that a job leaves open, and a job spells out all.
    let resolved = registry::resolve(&job.store, 0)?;
    match &job.task {
        Task::Build => build(job, &resolved, wire),
        Task::Verify => verify(job, &resolved, wire),
        Task::Measure(task) => measure(job, task, &resolved, wire),
    }
}

// --- build ---------------------------------------------------------------------------------------

fn build(job: &Job, resolved: &Resolved, wire: &mut Wire<'_>) -> Result<FromWorker, HarnessError> {
    let dataset = Dataset::open(&job.dataset)?;
    let store = resolved.kind.create(&job.instance, &resolved.settings)?;
    wire.ready(resolved.settings.clone())?;
    let threads = if resolved.capabilities.parallel_writers {
        cpus().min(4)
    } else {
        1
    };
    load_in_parallel(&*store, &dataset, threads, wire)?;
    store.checkpoint()?;
    drop(store);
    versions::reset(&job.versions, dataset.count())?;
    disk::sync_filesystem(&job.instance)?;
    Ok(FromWorker::Built {
        values: dataset.count(),
        bytes: dataset.total_bytes(),
    })
}

fn cpus() -> u64 {
    thread::available_parallelism().map_or(1, |n| n.get() as u64)
}

/// Loads the dataset by several threads, each a contiguous part of the keys.
fn load_in_parallel(
    store: &dyn Store,
    dataset: &Dataset,
    threads: u64,
    wire: &mut Wire<'_>,
) -> Result<(), HarnessError> {
    let total = dataset.count();
    if threads <= 1 {
        let mut connection = store.connect()?;
        load(&mut *connection, dataset, 1..=total, &mut |done| {
            wire.say(&FromWorker::Progress { done, total })
        })?;
        return Ok(connection.close()?);
    }
    let (progress, reports) = std::sync::mpsc::channel::<u64>();
    thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|part| {
                let progress = progress.clone();
                let keys = part * total / threads + 1..=(part + 1) * total / threads;
                scope.spawn(move || -> Result<(), HarnessError> {
                    let mut connection = store.connect()?;
                    let mut before = 0;
                    load(&mut *connection, dataset, keys, &mut |done| {
                        let _ = progress.send(done - before);
                        before = done;
                        Ok(())
                    })?;
                    Ok(connection.close()?)
                })
            })
            .collect();
        drop(progress);
        let mut done = 0;
        for more in reports {
            done += more;
            wire.say(&FromWorker::Progress { done, total })?;
        }
        parts.into_iter().try_for_each(|part| {
            part.join()
                .unwrap_or_else(|_| Err(HarnessError::invalid("a loading thread panicked")))
        })
    })
}

/// Loads some keys of the dataset in one transaction.
fn load(
    connection: &mut dyn Connection,
    dataset: &Dataset,
    keys: std::ops::RangeInclusive<u64>,
    progress: &mut dyn FnMut(u64) -> Result<(), HarnessError>,
) -> Result<(), HarnessError> {
    let mut session = connection.session()?;
    session.begin(Access::Write)?;
    let mut done = 0;
    for key in keys {
        session.insert(Key(key), dataset.value(key))?;
        done += 1;
        if done % PROGRESS_EVERY == 0 {
            progress(done)?;
        }
    }
    session.commit()?;
    progress(done)
}

// --- verify --------------------------------------------------------------------------------------

fn verify(job: &Job, resolved: &Resolved, wire: &mut Wire<'_>) -> Result<FromWorker, HarnessError> {
    let dataset = Dataset::open(&job.dataset)?;
    let versions = if resolved.capabilities.persistent {
        versions::read(&job.versions, dataset.count())?
    } else {
        vec![0; usize::try_from(dataset.count()).unwrap_or(usize::MAX)]
    };
    let store = open_store(job, resolved)?;
    let mut connection = store.connect()?;
    if needs_loading(resolved) {
        load(&mut *connection, &dataset, 1..=dataset.count(), &mut |_| {
            Ok(())
        })?;
    }
    let effective = connection.effective_settings()?;
    let mut session = connection.session()?;
    wire.ready(effective)?;
    let mut checker = Checker {
        buffer: Buffer::with_capacity(dataset.largest())?,
        dataset: &dataset,
        store: resolved.kind.name(),
    };
    session.begin(Access::Read)?;
    let mut overwritten = 0;
    for (key, version) in (1..=dataset.count()).zip(&versions) {
        checker.check(&mut *session, job.workload.delivery, key, *version)?;
        overwritten += u64::from(*version > 0);
        if key % PROGRESS_EVERY == 0 {
            wire.say(&FromWorker::Progress {
                done: key,
                total: dataset.count(),
            })?;
        }
    }
    session.commit()?;
    drop(session);
    connection.close()?;
    Ok(FromWorker::Verified(Verification {
        cell: job.cell.clone(),
        values: dataset.count(),
        bytes: dataset.total_bytes(),
        overwritten,
    }))
}

/// Reads values and compares them byte for byte with what they must be.
struct Checker<'a> {
    dataset: &'a Dataset,
    buffer: Buffer,
    store: &'static str,
}

impl Checker<'_> {
    fn check(
        &mut self,
        session: &mut dyn Session,
        delivery: Delivery,
        key: u64,
        version: u32,
    ) -> Result<(), HarnessError> {
        let (dataset, generator) = (self.dataset, self.dataset.generator());
        let right = |bytes: &[u8]| match version {
            0 => bytes == dataset.value(key),
            _ => generator.matches(key, version, bytes),
        };
        let mut good = false;
        let found = match delivery {
            Delivery::Copy => {
                let found = session.read_into(Key(key), &mut self.buffer)?;
                good = right(self.buffer.bytes());
                found
            }
            Delivery::InPlace => {
                session.read_in_place(Key(key), &mut |bytes| good = right(bytes))?
            }
        };
        let detail = match found {
            Found::Missing => "it is missing".to_owned(),
            Found::Bytes(_) if good => return Ok(()),
            Found::Bytes(n) if n != dataset.size(key) => {
                format!("it has {n} bytes instead of {}", dataset.size(key))
            }
            Found::Bytes(_) => format!("its bytes are not those of version {version}"),
        };
        Err(StoreError::Damaged {
            store: self.store,
            key,
            detail,
        }
        .into())
    }
}

// --- measure -------------------------------------------------------------------------------------

fn open_store(job: &Job, resolved: &Resolved) -> Result<Box<dyn Store>, HarnessError> {
    let open = if resolved.capabilities.persistent {
        resolved.kind.open(&job.instance, &resolved.settings)
    } else {
        resolved.kind.create(&job.instance, &resolved.settings)
    };
    Ok(open?)
}

fn measure(
    job: &Job,
    task: &BlockTask,
    resolved: &Resolved,
    wire: &mut Wire<'_>,
) -> Result<FromWorker, HarnessError> {
    let sequence = Sequence::open(&task.sequence)?;
    let lead_in = sequence.window(task.first, task.lead_in)?;
    let timed = sequence.window(task.first + task.lead_in, task.operations)?;
    let lead_in_payloads = payloads(job, task, &lead_in)?;
    let timed_payloads = payloads(job, task, &timed)?;
    let store = open_store(job, resolved)?;
    let residency = match job.workload.cache {
        CacheState::Cold => Some(make_cold(&*store, &timed)?),
        CacheState::Warm => None,
    };

    let opening = Instant::now();
    let mut connection = store.connect()?;
    let open_ns = nanoseconds(opening);
    if needs_loading(resolved) {
        let dataset = Dataset::open(&job.dataset)?;
        load(&mut *connection, &dataset, 1..=dataset.count(), &mut |_| {
            Ok(())
        })?;
    }
    let effective = connection.effective_settings()?;
    let mut operator = Operator {
        session: connection.session()?,
        workload: &job.workload,
        buffer: Buffer::with_capacity(bytes_of(&lead_in).max(bytes_of(&timed)))?,
    };
    if job.workload.cache == CacheState::Warm && !job.workload.operation.writes() {
        operator.enter_mapped_pages(&lead_in, &job.instance)?;
    }
    wire.ready(effective)?;

    let leading = Instant::now();
    operator.run(&lead_in, &lead_in_payloads, Timing::Ends)?;
    let lead_in_ns = nanoseconds(leading);
    let mut measurement = operator.time(task.block, &timed, &timed_payloads)?;

    if job.workload.operation.writes() && needs_loading(resolved) {
        // Nobody can look later at what this store holds.
        operator.check(job, resolved, task.version, &timed)?;
    }
    drop(operator);
    let drain_ns = end(job, &*store, connection)?;
    if job.workload.operation.writes() && resolved.capabilities.persistent {
        let steps = lead_in.iter().chain(&timed).copied().flatten();
        let keys = steps.map(|raw| Step::decode(raw).key);
        versions::update(&job.versions, keys, task.version)?;
    }
    measurement.outside = WallBreakdown {
        open_ns,
        lead_in_ns,
        drain_ns,
        ..measurement.outside
    };
    Ok(FromWorker::Measured(Measurement {
        cell: job.cell.clone(),
        round: task.round,
        position: task.position,
        lead_in_operations: task.lead_in,
        residency,
        ..measurement
    }))
}

/// What a window of writes will write; nothing for reads.
fn payloads(job: &Job, task: &BlockTask, window: &Window<'_>) -> Result<Payloads, HarnessError> {
    if !job.workload.operation.writes() {
        return Ok(Payloads::default());
    }
    let dataset = Dataset::open(&job.dataset)?;
    Payloads::prepare(dataset.generator(), window, task.version)
}

/// A session with what its operations need.
struct Operator<'a> {
    session: Box<dyn Session + 'a>,
    workload: &'a Workload,
    buffer: Buffer,
}

impl Operator<'_> {
    fn run(
        &mut self,
        window: &Window<'_>,
        payloads: &Payloads,
        timing: Timing<'_>,
    ) -> Result<Done, HarnessError> {
        run_block(
            &mut *self.session,
            self.workload,
            window,
            payloads,
            &mut self.buffer,
            timing,
        )
    }

    /// Brings the page tables into the state of a process that has run for a while: one read, so
    /// that the engine has mapped its file if it maps it at all, then every page of it.
    fn enter_mapped_pages(
        &mut self,
        window: &Window<'_>,
        instance: &Path,
    ) -> Result<(), HarnessError> {
        let [steps, _] = *window;
        let one = &steps[..steps.len().min(1)];
        self.run(&[one, &[]], &Payloads::default(), Timing::Ends)?;
        platform::populate_mappings(instance);
        Ok(())
    }

    /// Reads what a window has written and compares it with what it must be.
    fn check(
        &mut self,
        job: &Job,
        resolved: &Resolved,
        version: u32,
        window: &Window<'_>,
    ) -> Result<(), HarnessError> {
        let dataset = Dataset::open(&job.dataset)?;
        let mut checker = Checker {
            buffer: Buffer::with_capacity(dataset.largest())?,
            dataset: &dataset,
            store: resolved.kind.name(),
        };
        window
            .iter()
            .copied()
            .flatten()
            .map(|raw| Step::decode(raw).key)
            .try_for_each(|key| checker.check(&mut *self.session, Delivery::Copy, key, version))
    }

    /// Times a window.
    fn time(
        &mut self,
        block: BlockKind,
        window: &Window<'_>,
        payloads: &Payloads,
    ) -> Result<Measurement, HarnessError> {
        let mut histogram = block::new_histogram()?;
        let timing = match block {
            BlockKind::Latency => Timing::EachOperation(&mut histogram),
            BlockKind::Ratio | BlockKind::Pilot => Timing::Ends,
        };
        let accounting = Accounting::of_this_thread();
        let started_unix_ms = unix_ms();
        let syncs = stowplan_stores::sync_calls();
        let begin = accounting.begin();
        let done = self.run(window, payloads, timing);
        let usage = accounting.end(&begin);
        let syncs = stowplan_stores::sync_calls().since(&syncs);
        let done = done?;
        let latency = match block {
            BlockKind::Latency => Some(block::serialise(&histogram)?),
            BlockKind::Ratio | BlockKind::Pilot => None,
        };
        Ok(Measurement {
            block,
            operations: block::len(window),
            bytes: done.bytes,
            commits: done.commits,
            syncs,
            outside: WallBreakdown {
                last_commit_ns: done.last_commit_ns,
                ..WallBreakdown::default()
            },
            latency,
            started_unix_ms,
            ..measurement_of(&usage)
        })
    }
}

/// Closes a store; after writes brings its data to rest and tells how long that took.
fn end(
    job: &Job,
    store: &dyn Store,
    connection: Box<dyn Connection + '_>,
) -> Result<u64, HarnessError> {
    if job.workload.operation.writes() {
        return drain(job, store, connection);
    }
    connection.close()?;
    Ok(0)
}

/// A store that forgets on closing is loaded by each worker anew.
fn needs_loading(resolved: &Resolved) -> bool {
    !resolved.capabilities.persistent
}

/// The part of a measurement that the accounting gives.
fn measurement_of(usage: &Usage) -> Measurement {
    Measurement {
        wall_ns: usage.wall_ns,
        run_delay_ns: usage.run_delay_ns,
        thread_cpu_ns: usage.thread_cpu_ns,
        process_cpu_ns: usage.process_cpu_ns,
        user_ns: usage.user_ns,
        system_ns: usage.system_ns,
        minor_faults: usage.minor_faults,
        major_faults: usage.major_faults,
        voluntary_switches: usage.voluntary_switches,
        involuntary_switches: usage.involuntary_switches,
        in_blocks: usage.in_blocks,
        out_blocks: usage.out_blocks,
        io: usage.io,
        peak_memory_bytes: usage.peak_memory_bytes,
        ..Measurement::default()
    }
}

/// Evicts the data of these operations from the page cache and proves that it is gone.
fn make_cold(store: &dyn Store, window: &Window<'_>) -> Result<Residency, HarnessError> {
    let mut keys = window
        .iter()
        .copied()
        .flatten()
        .map(|raw| Key(Step::decode(raw).key));
    let files = store.data_files(&mut keys);
    page_cache::evict(&files)?;
    let Some(residency) = page_cache::residency(&files)? else {
        return Err(HarnessError::invalid(
            "cold reads cannot be verified here: neither cachestat nor mincore works; \
             measure warm ones (--cache-state warm)",
        ));
    };
    if residency.resident_pages > 0 {
        return Err(HarnessError::invalid(format!(
            "{} of {} pages stayed in the page cache after eviction, so a cold read is not \
             possible here (a file system in memory, or another process maps the data); measure \
             warm ones (--cache-state warm) or choose another work directory (--work)",
            residency.resident_pages, residency.checked_pages
        )));
    }
    Ok(residency)
}

/// Brings written data to rest: closing, the store's checkpoint, `syncfs` (R10). Nanoseconds.
fn drain(
    job: &Job,
    store: &dyn Store,
    connection: Box<dyn Connection + '_>,
) -> Result<u64, HarnessError> {
    let draining = Instant::now();
    // Closed first: an exclusive connection lets nobody else checkpoint.
    connection.close()?;
    store.checkpoint()?;
    if job.instance.is_dir() {
        disk::sync_filesystem(&job.instance)?;
    }
    Ok(nanoseconds(draining))
}

fn nanoseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn unix_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
