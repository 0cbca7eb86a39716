//! Whether a driver does what the protocol asks for: the same tasks that a run gives it, on a small
//! dataset, with every answer checked.

use super::{Drivers, Resolved};
use crate::HarnessError;
use crate::interrupt::Interrupt;
use crate::job::{BlockTask, Extent, Host, Job, bytes_of};
use crate::worker_process::{Servers, asked};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stowplan_dataset::sequence::{Sequence, steps};
use stowplan_dataset::{Dataset, materialise, sequence, versions};
use stowplan_model::{
    AccessOrder, At, BlockKind, CellId, Content, DatasetSpec, Measurement, Mix, Operation,
    PayloadSource, PerTransaction, SizeDistribution, StoreSpec, Want, Workload,
};

/// Values of the dataset.
const VALUES: u64 = 200;

/// Bytes of a large value.
const LARGE: u64 = 1 << 20;

/// The longest of the values that all else is checked with, where the store takes it, bytes.
const LONGEST: u64 = 9_000;

/// Reads of the shortest block that is compared with the parent's clock.
const CLOCKED_FROM: u64 = 2_000;

/// Of the longest: a loop that reads nothing takes some nanoseconds for each.
const CLOCKED_AT_MOST: u64 = CLOCKED_FROM << 10;

/// Blocks that are compared at most. What a busy machine takes between them is not always the same; what a
/// wrong clock leaves out is.
const CLOCKED_TIMES: usize = 8;

/// A block that lasts so long has no other work beside which its operations are few, on a busy machine either.
const CLOCKED_FOR: Duration = Duration::from_secs(2);

/// What one check found.
#[derive(Debug)]
pub struct Outcome {
    /// What should be, as a sentence.
    pub check: &'static str,
    /// Whether it is so.
    pub verdict: Verdict,
}

/// Whether what should be is so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Passed,
    /// The store says that it cannot do so: its words.
    LeftOut(String),
    /// It is not: what was instead.
    Failed(String),
}

/// What should be, as a sentence; what the store must be able to do for that; and the attempt.
type Check<'b> = (
    &'static str,
    Need,
    fn(&Bench<'b>) -> Result<(), HarnessError>,
);

/// What a store must be able to do by its own words, or else the check is left out.
enum Need {
    Nothing,
    /// Without it the check is not even named.
    Server,
    /// Its data is there once it is closed.
    Persistence,
    /// Values of so many bytes.
    Bytes(u64),
    Threads,
    Workload(fn() -> Workload),
}

/// What is asked of every store; of the last, where it makes something elsewhere.
fn checks<'b>() -> Vec<Check<'b>> {
    vec![
        (
            "what was loaded is there for another process",
            Need::Persistence,
            Bench::loaded,
        ),
        ("values may be empty", Need::Nothing, Bench::small_values),
        (
            "values may be large",
            Need::Bytes(LARGE),
            Bench::large_values,
        ),
        (
            "a key that is not there is told",
            Need::Persistence,
            Bench::unknown_key,
        ),
        (
            "a block that does not find what it should fails",
            Need::Persistence,
            Bench::unfit,
        ),
        (
            "reads are timed, in order and at random",
            Need::Workload(Workload::default),
            Bench::reads,
        ),
        (
            "reads of small transactions are timed",
            Need::Workload(Workload::default),
            Bench::small_transactions,
        ),
        (
            "the time that is told is the time that passes",
            Need::Workload(Workload::default),
            Bench::honest_clock,
        ),
        (
            "latencies are told, one for each operation",
            Need::Workload(Workload::default),
            Bench::latencies,
        ),
        (
            "what was overwritten is there afterwards, and nothing else changed",
            Need::Workload(overwrites),
            Bench::overwrites,
        ),
        (
            "inserts fill a new store",
            Need::Workload(inserts),
            |bench| bench.changes(inserts(), VALUES),
        ),
        (
            "what was deleted is gone, and nothing else",
            Need::Workload(deletes),
            |bench| bench.changes(deletes(), VALUES),
        ),
        (
            "scans visit values by rising key",
            Need::Workload(scans),
            |bench| bench.timed(&scans(), BlockKind::Ratio),
        ),
        (
            "bytes are told of scans, in a mix too, and of nothing else",
            Need::Workload(reads_and_scans),
            |bench| bench.timed(&reads_and_scans(), BlockKind::Ratio),
        ),
        (
            "a mix leaves what its steps say",
            Need::Workload(mix),
            |bench| bench.changes(mix(), 120),
        ),
        (
            "several threads do together what one would",
            Need::Threads,
            Bench::threads,
        ),
        (
            "what lies where can be asked",
            Need::Persistence,
            Bench::inspected,
        ),
        (
            "a place without a store is a failure in words",
            Need::Persistence,
            Bench::nowhere,
        ),
        (
            "what it made elsewhere can be removed",
            Need::Server,
            Bench::removed,
        ),
    ]
}

fn overwrites() -> Workload {
    Workload {
        operation: Operation::Overwrite,
        ..Workload::default()
    }
}

fn inserts() -> Workload {
    Workload {
        operation: Operation::Insert,
        ..Workload::default()
    }
}

fn deletes() -> Workload {
    Workload {
        operation: Operation::Delete,
        per_transaction: PerTransaction::Operations(10),
        ..Workload::default()
    }
}

fn scans() -> Workload {
    Workload {
        operation: Operation::Scan,
        order: AccessOrder::Uniform,
        ..Workload::default()
    }
}

fn reads_and_scans() -> Workload {
    Workload {
        operation: Operation::Mix,
        mix: Some(Mix {
            read: 1,
            scan: 1,
            ..Mix::default()
        }),
        ..scans()
    }
}

fn mix() -> Workload {
    Workload {
        operation: Operation::Mix,
        order: AccessOrder::Uniform,
        per_transaction: PerTransaction::Operations(5),
        mix: Some(Mix {
            read: 3,
            overwrite: 3,
            modify: 1,
            insert: 2,
            delete: 1,
            ..Mix::default()
        }),
        ..Workload::default()
    }
}

/// A store and the files to try it on.
struct Bench<'a> {
    host: Host,
    spec: &'a StoreSpec,
    resolved: Resolved,
    work: &'a Path,
}

/// Tries a store of a driver in an empty directory, beside the server that it asks for, as a run starts it.
///
/// # Errors
/// There is no such driver or store, it cannot be asked, its server does not come up, or the machine refuses; what the driver does
/// wrong is an outcome.
pub fn check(
    drivers: &Drivers,
    spec: &StoreSpec,
    work: &Path,
) -> Result<Vec<Outcome>, HarnessError> {
    let resolved = drivers.resolve(spec, 1 << 20)?;
    let mut servers = Servers::of(drivers.environment());
    for variable in asked(std::iter::once(&resolved.settings)) {
        servers.start(&variable, &BTreeMap::new(), work, &Interrupt::never())?;
    }
    let host = Host {
        command: drivers.command(spec)?.clone(),
        interrupt: Interrupt::never(),
    };
    let bench = Bench {
        host,
        spec,
        resolved,
        work,
    };
    let mut checks = checks();
    checks.retain(|(_, need, _)| bench.resolved.kind.elsewhere || !matches!(need, Need::Server));
    checks
        .into_iter()
        .map(|check| bench.outcome(check))
        .collect()
}

/// A store that is built, in a directory of its own.
struct Built {
    directory: tempfile::TempDir,
    dataset: Dataset,
}

impl Built {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

impl<'b> Bench<'b> {
    fn outcome(&self, (check, needs, run): Check<'b>) -> Result<Outcome, HarnessError> {
        let verdict = match self.lacks(&needs) {
            Some(why) => Verdict::LeftOut(why),
            None => match run(self) {
                Ok(()) => Verdict::Passed,
                Err(HarnessError::Interrupted) => return Err(HarnessError::Interrupted),
                Err(error) => Verdict::Failed(told(error)),
            },
        };
        Ok(Outcome { check, verdict })
    }

    /// What the store says of itself that keeps a check from being made.
    fn lacks(&self, need: &Need) -> Option<String> {
        let can = &self.resolved.capabilities;
        let is_read = matches!(need, Need::Workload(of) if of().operation == Operation::Read);
        if self.resolved.kind.keeps_nothing && !is_read {
            return Some("it keeps nothing, and is read only".to_owned());
        }
        match need {
            Need::Nothing | Need::Server => None,
            Need::Persistence => {
                let why = "what it holds is gone once it is closed";
                (!can.persistent).then(|| why.to_owned())
            }
            Need::Bytes(bytes) => {
                let largest = can.largest_value.filter(|largest| largest < bytes)?;
                Some(format!("no value is longer than {largest} bytes"))
            }
            Need::Threads => (!can.threads).then(|| "one thread at a time uses it".to_owned()),
            Need::Workload(workload) => {
                let missing = can.missing(&workload())?;
                let operations: Vec<&str> = can.operations.iter().map(|o| o.name()).collect();
                let (missing, operations) = (missing.name(), operations.join(", "));
                Some(format!(
                    "'{missing}' is none of its operations: {operations}"
                ))
            }
        }
    }

    /// A dataset, and an empty directory for a store.
    fn prepared(&self, count: u64, size: SizeDistribution) -> Result<Built, HarnessError> {
        let directory = tempfile::tempdir_in(self.work)
            .map_err(HarnessError::io("create a directory in", self.work))?;
        let spec = DatasetSpec {
            count,
            size,
            content: Content::Random,
            seed: 1,
            from: None,
        };
        let dataset = materialise(&spec, &directory.path().join("dataset"), &mut |_| ())?;
        let store = directory.path().join("store");
        std::fs::create_dir(&store).map_err(HarnessError::io("create directory", &store))?;
        Ok(Built { directory, dataset })
    }

    fn usual(&self) -> Result<Built, HarnessError> {
        let largest = self.resolved.capabilities.largest_value;
        let max = largest.map_or(LONGEST, |largest| largest.clamp(1, LONGEST));
        self.prepared(VALUES, SizeDistribution::Uniform { min: 1, max })
    }

    fn built(&self) -> Result<Built, HarnessError> {
        let built = self.usual()?;
        self.build(&built)?;
        Ok(built)
    }

    fn job(&self, built: &Built, mut workload: Workload) -> Job {
        let deliveries = &self.resolved.capabilities.deliveries;
        if !deliveries.contains(&workload.delivery) {
            workload.delivery = deliveries.first().copied().unwrap_or_default();
        }
        Job {
            cell: CellId("check".to_owned()),
            store: StoreSpec::spelled_out(self.spec.name(), &self.resolved.settings),
            workload,
            scanned: Default::default(),
            instance: built.path("store"),
            dataset: Some(built.path("dataset")),
            versions: Some(built.path("versions")),
            persistent: self.resolved.capabilities.persistent,
            keeps_nothing: self.resolved.kind.keeps_nothing,
            parts: self.resolved.kind.parts,
        }
    }

    fn build(&self, built: &Built) -> Result<(), HarnessError> {
        if !self.resolved.capabilities.persistent {
            return Ok(versions::reset(
                &built.path("versions"),
                built.dataset.count(),
                0,
            )?);
        }
        let job = self.job(built, Workload::default());
        job.build(&self.host, &mut |_, _| ()).map(drop)
    }

    fn verify(&self, built: &Built) -> Result<(), HarnessError> {
        let job = self.job(built, Workload::default());
        let verified = job.verify(Extent::All, &self.host, &mut |_, _| ());
        verified.map(drop)
    }

    /// Has a block of a workload timed.
    fn block(
        &self,
        built: &Built,
        workload: Workload,
        kind: BlockKind,
        operations: u64,
    ) -> Result<Measurement, HarnessError> {
        let (measurement, _) = self.waited_for(built, workload, kind, operations)?;
        Ok(measurement)
    }

    /// The same, with how long it was waited for.
    fn waited_for(
        &self,
        built: &Built,
        workload: Workload,
        kind: BlockKind,
        operations: u64,
    ) -> Result<(Measurement, Duration), HarnessError> {
        let path = built.path("sequence");
        let lead_in = if workload.changes_keys() { 0 } else { 20 };
        let records = match workload.order.repeats() || workload.changes_keys() {
            true => lead_in + operations,
            false => built.dataset.count(),
        };
        sequence::write(
            &path,
            &built.dataset,
            &workload,
            records,
            1,
            sequence::Part::ALL,
        )?;
        let expected = bytes_by_steps(&built.dataset, &path, lead_in, operations)?;
        let task = BlockTask {
            block: kind,
            latencies: kind == BlockKind::Latency,
            sequence: path,
            first: 0,
            lead_in,
            operations,
            version: 1,
            payloads: PayloadSource::Prepared,
            round: 0,
            position: 0,
        };
        let (block, reported) = self.job(built, workload).measure(&task, &self.host)?;
        if block.bytes == expected {
            return Ok((block, reported.waited));
        }
        let why = format!(
            "by the bytes that it told of scans the block has {}, and by its steps {expected}",
            block.bytes
        );
        Err(HarnessError::worker(&why, ""))
    }

    fn loaded(&self) -> Result<(), HarnessError> {
        self.verify(&self.built()?)
    }

    fn small_values(&self) -> Result<(), HarnessError> {
        self.kept(20, SizeDistribution::Uniform { min: 0, max: 2 })
    }

    fn large_values(&self) -> Result<(), HarnessError> {
        self.kept(3, SizeDistribution::Fixed { bytes: LARGE })
    }

    /// Values of other sizes than usual are there afterwards.
    fn kept(&self, count: u64, size: SizeDistribution) -> Result<(), HarnessError> {
        let built = self.prepared(count, size)?;
        self.build(&built)?;
        self.verify(&built)
    }

    fn unknown_key(&self) -> Result<(), HarnessError> {
        let built = self.built()?;
        let keys = [(1, 9_000), (VALUES + 7, 0)];
        let there = self.host.there(self.at(built.path("store")), &keys)?;
        match there[..] {
            [true, false] => Ok(()),
            _ => Err(HarnessError::worker(
                "a key that was never loaded has a value, or the first one has none",
                "",
            )),
        }
    }

    /// Reads by the steps of another dataset, whose values have other sizes, or which has other keys too.
    fn unfit(&self) -> Result<(), HarnessError> {
        for (count, bytes) in [(VALUES, 0), (20 * VALUES, 10)] {
            let other = self.prepared(count, SizeDistribution::Fixed { bytes })?;
            let unfit = Built {
                directory: self.built()?.directory,
                dataset: other.dataset,
            };
            match self.block(&unfit, Workload::default(), BlockKind::Ratio, 100) {
                Err(HarnessError::Worker { .. }) => {}
                Err(error) => return Err(error),
                Ok(_) => {
                    let why = "it measured a block that was to read what is not there";
                    return Err(HarnessError::worker(why, ""));
                }
            }
        }
        Ok(())
    }

    fn at(&self, place: PathBuf) -> At {
        At {
            store: StoreSpec::spelled_out(self.spec.name(), &self.resolved.settings),
            place,
        }
    }

    fn timed(&self, workload: &Workload, kind: BlockKind) -> Result<(), HarnessError> {
        let built = self.built()?;
        let block = self.block(&built, workload.clone(), kind, 100)?;
        let told = block.latency.is_some();
        if told != (kind == BlockKind::Latency) {
            return Err(HarnessError::worker(
                "latencies are there or not as asked",
                "",
            ));
        }
        Ok(())
    }

    fn reads(&self) -> Result<(), HarnessError> {
        for order in [
            AccessOrder::Ascending,
            AccessOrder::Random,
            AccessOrder::Zipfian,
        ] {
            let workload = Workload {
                order,
                ..Workload::default()
            };
            self.timed(&workload, BlockKind::Ratio)?;
        }
        Ok(())
    }

    /// Between `go` and the answer there is more than what is timed, but it does not grow with the
    /// operations: of a block that lasts long, most is theirs.
    fn honest_clock(&self) -> Result<(), HarnessError> {
        let workload = Workload {
            order: AccessOrder::Uniform,
            ..Workload::default()
        };
        let built = self.built()?;
        let more = |operations: &u64| Some((operations * 4).min(CLOCKED_AT_MOST));
        let sizes = std::iter::successors(Some(CLOCKED_FROM), more).take(CLOCKED_TIMES);
        let mut wrong = String::new();
        for operations in sizes {
            let block = self.waited_for(&built, workload.clone(), BlockKind::Ratio, operations)?;
            let (told, waited) = (Duration::from_nanos(block.0.wall_ns), block.1);
            if told >= waited / 2 {
                return Ok(());
            }
            wrong = format!(
                "it told {:.1} ms for {operations} reads that it took {:.1} ms to answer",
                told.as_secs_f64() * 1e3,
                waited.as_secs_f64() * 1e3
            );
            if waited >= CLOCKED_FOR {
                break;
            }
        }
        Err(HarnessError::worker(&wrong, ""))
    }

    fn small_transactions(&self) -> Result<(), HarnessError> {
        for operations in [1, 7] {
            let workload = Workload {
                per_transaction: PerTransaction::Operations(operations),
                ..Workload::default()
            };
            self.timed(&workload, BlockKind::Ratio)?;
        }
        Ok(())
    }

    fn latencies(&self) -> Result<(), HarnessError> {
        self.timed(&Workload::default(), BlockKind::Latency)
    }

    fn overwrites(&self) -> Result<(), HarnessError> {
        for per in [PerTransaction::All, PerTransaction::Operations(1)] {
            let built = self.built()?;
            let workload = Workload {
                per_transaction: per,
                ..overwrites()
            };
            self.block(&built, workload, BlockKind::Ratio, 100)?;
            self.verify(&built)?;
        }
        Ok(())
    }

    /// A block that changes which keys there are, which is checked whole.
    fn changes(&self, workload: Workload, operations: u64) -> Result<(), HarnessError> {
        let built = self.usual()?;
        self.block(&built, workload, BlockKind::Ratio, operations)
            .map(|_| ())
    }

    fn threads(&self) -> Result<(), HarnessError> {
        let workload = Workload {
            threads: 3,
            ..Workload::default()
        };
        self.timed(&workload, BlockKind::Latency)
    }

    fn inspected(&self) -> Result<(), HarnessError> {
        let built = self.built()?;
        for want in [Want::Footprint, Want::Files, Want::Pieces] {
            let at = self.at(built.path("store"));
            let found = self.host.inspect(at, &[1, 2], want)?;
            for file in found.files.iter().flatten() {
                if !file.is_file() {
                    let why = format!("it names {}, which is no file", file.display());
                    return Err(HarnessError::worker(&why, ""));
                }
            }
        }
        Ok(())
    }

    fn removed(&self) -> Result<(), HarnessError> {
        self.host.remove_below(self.at(self.work.to_owned()))
    }

    /// Nobody asks for that in a run; but whatever goes wrong in one, words help.
    fn nowhere(&self) -> Result<(), HarnessError> {
        let at = self.at(self.work.join("nowhere"));
        // How this program's own words about a driver begin.
        let ours = ["the worker", "driver '"];
        match self.host.there(at, &[(1, 1)]) {
            Err(HarnessError::Worker { message, .. })
                if !ours.iter().any(|begin| message.starts_with(begin)) && !message.is_empty() =>
            {
                Ok(())
            }
            Err(HarnessError::Worker { message, .. }) => Err(HarnessError::worker(
                &format!("it did not say 'failed', but: {message}"),
                "",
            )),
            Err(error) => Err(error),
            Ok(_) => Err(HarnessError::worker(
                "it answered 'dump' as if there were a store, and not 'failed'",
                "",
            )),
        }
    }
}

/// Bytes that a block delivers or writes, by its steps. What it scans is the dataset.
fn bytes_by_steps(
    dataset: &Dataset,
    path: &Path,
    first: u64,
    operations: u64,
) -> Result<u64, HarnessError> {
    let sequence = Sequence::open(path)?;
    let timed = sequence.window(first, operations)?;
    let visited = steps(&timed).flat_map(|step| {
        let keys = step.key..=dataset.count();
        keys.take(usize::from(step.rows))
            .map(|key| dataset.size(key) as u64)
    });
    Ok(bytes_of(&[timed]) + visited.sum::<u64>())
}

/// What was wrong, with the last that the driver said about it.
fn told(error: HarnessError) -> String {
    let (message, stderr) = error.split();
    match stderr.lines().last() {
        Some(said) => format!("{message} ({said})"),
        None => message,
    }
}
