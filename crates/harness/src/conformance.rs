//! Whether a driver does what the protocol asks for: the same tasks that a run gives it, on a small
//! dataset, with every answer checked.

use crate::drivers::{Drivers, Resolved};
use crate::interrupt::Interrupt;
use crate::job::{BlockTask, CellPaths, Extent, Job};
use crate::worker_process::{Servers, WorkerCommand, asked};
use crate::{HarnessError, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stowplan_dataset::sequence::{Sequence, bytes_of, steps};
use stowplan_dataset::{Dataset, materialise, sequence, versions};
use stowplan_model::{
    AccessOrder, BlockKind, CellId, Content, DatasetSpec, Measurement, Mix, Operation,
    PerTransaction, SizeDistribution, StoreSpec, Want, Workload,
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

/// A workload that does one thing.
fn doing(operation: Operation) -> Workload {
    Workload {
        operation,
        ..Workload::default()
    }
}

fn scans() -> Workload {
    Workload {
        order: AccessOrder::Uniform,
        ..doing(Operation::Scan)
    }
}

fn mixed(mix: Mix) -> Workload {
    Workload {
        operation: Operation::Mix,
        mix: Some(mix),
        ..scans()
    }
}

/// The workload with so many operations a transaction.
fn by(operations: u32, workload: Workload) -> Workload {
    Workload {
        per_transaction: PerTransaction::Operations(operations),
        ..workload
    }
}

impl<E: Into<HarnessError>> From<E> for Verdict {
    /// What was wrong, with the last that the driver said about it.
    fn from(error: E) -> Self {
        let (message, stderr) = error.into().split();
        Self::Failed(match stderr.lines().last() {
            Some(said) => format!("{message} ({said})"),
            None => message,
        })
    }
}

/// What a check has if it does not end with another verdict than that it passed.
type Done<T = ()> = Result<T, Verdict>;

fn left_out<T>(why: impl Into<String>) -> Done<T> {
    Err(Verdict::LeftOut(why.into()))
}

fn wrong<T>(why: impl Into<String>) -> Done<T> {
    Err(Verdict::Failed(why.into()))
}

/// What should be, as a sentence, and the attempt.
type Check = (&'static str, fn(&Bench) -> Done);

/// What is asked of every store.
const CHECKS: [Check; 18] = [
    ("what was loaded is there for another process", |bench| {
        bench.require_persistence()?;
        bench.verify(&bench.built()?)
    }),
    ("values may be empty", |bench| {
        bench.kept(20, SizeDistribution::Uniform { min: 0, max: 2 })
    }),
    ("values may be large", |bench| {
        bench.kept(3, SizeDistribution::Fixed { bytes: LARGE })
    }),
    ("a key that is not there is told", Bench::unknown_key),
    (
        "a block that does not find what it should fails",
        Bench::unfit,
    ),
    ("reads are timed, in order and at random", |bench| {
        use AccessOrder::{Ascending, Random, Zipfian};
        let reads = |order| Workload {
            order,
            ..Workload::default()
        };
        let mut orders = [Ascending, Random, Zipfian].into_iter();
        orders.try_for_each(|order| bench.timed(reads(order), BlockKind::Ratio))
    }),
    ("reads of small transactions are timed", |bench| {
        let mut sizes = [1, 7].into_iter();
        sizes.try_for_each(|n| bench.timed(by(n, Workload::default()), BlockKind::Ratio))
    }),
    (
        "the time that is told is the time that passes",
        Bench::honest_clock,
    ),
    ("latencies are told, one for each operation", |bench| {
        bench.timed(Workload::default(), BlockKind::Latency)
    }),
    (
        "what was overwritten is there afterwards, and nothing else changed",
        |bench| {
            let overwrites = doing(Operation::Overwrite);
            bench.overwritten(overwrites.clone())?;
            bench.overwritten(by(1, overwrites))
        },
    ),
    ("inserts fill a new store", |bench| {
        bench.changed(doing(Operation::Insert), VALUES)
    }),
    ("what was deleted is gone, and nothing else", |bench| {
        bench.changed(by(10, doing(Operation::Delete)), VALUES)
    }),
    ("scans visit values by rising key", |bench| {
        bench.timed(scans(), BlockKind::Ratio)
    }),
    (
        "bytes are told of scans, in a mix too, and of nothing else",
        |bench| {
            let mix = Mix {
                read: 1,
                scan: 1,
                ..Mix::default()
            };
            bench.timed(mixed(mix), BlockKind::Ratio)
        },
    ),
    ("a mix leaves what its steps say", |bench| {
        let mix = Mix {
            read: 3,
            overwrite: 3,
            modify: 1,
            insert: 2,
            delete: 1,
            scan: 0,
        };
        bench.changed(by(5, mixed(mix)), 120)
    }),
    ("several threads do together what one would", |bench| {
        let workload = Workload {
            threads: 3,
            ..Workload::default()
        };
        bench.timed(workload, BlockKind::Latency)
    }),
    ("what lies where can be asked", Bench::inspected),
    (
        "a place without a store is a failure in words",
        Bench::nowhere,
    ),
];

/// What is asked of a store that makes something elsewhere.
const REMOVED: Check = ("what it made elsewhere can be removed", |bench| {
    Ok(bench.job(&bench.work, Workload::default()).remove_below()?)
});

/// A store and the files to try it on.
struct Bench {
    command: WorkerCommand,
    resolved: Resolved,
    work: PathBuf,
}

/// Tries a store of a driver in an empty directory, beside the server that it asks for, as a run starts it.
///
/// # Errors
/// There is no such driver or store, it cannot be asked, its server does not come up, or the machine refuses; what the driver does
/// wrong is an outcome.
pub fn check(drivers: &Drivers, spec: &StoreSpec, work: &Path) -> Result<Vec<Outcome>> {
    let resolved = drivers.resolve(spec, Some(1 << 20))?;
    let mut servers = Servers::of(drivers.environment());
    for variable in asked(std::iter::once(&resolved.settings)) {
        servers.start(&variable, &BTreeMap::new(), work, &Interrupt::never())?;
    }
    let bench = Bench {
        command: drivers.command(spec)?.clone(),
        resolved,
        work: work.to_owned(),
    };
    let removed = bench.resolved.kind.elsewhere.then_some(REMOVED);
    let checks = CHECKS.into_iter().chain(removed);
    let outcome = |(check, run): Check| Outcome {
        check,
        verdict: run(&bench).err().unwrap_or(Verdict::Passed),
    };
    Ok(checks.map(outcome).collect())
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

impl Bench {
    fn require_values(&self) -> Done {
        match self.resolved.kind.keeps_nothing {
            true => left_out("it keeps nothing, and is read only"),
            false => Ok(()),
        }
    }

    fn require_persistence(&self) -> Done {
        self.require_values()?;
        match self.resolved.capabilities.persistent {
            true => Ok(()),
            false => left_out("what it holds is gone once it is closed"),
        }
    }

    /// Refuses a workload that the store by its own words cannot do.
    fn require(&self, workload: &Workload) -> Done {
        let can = &self.resolved.capabilities;
        if workload.operation != Operation::Read || workload.threads > 1 {
            self.require_values()?;
        }
        if workload.threads > 1 && !can.threads {
            return left_out("one thread at a time uses it");
        }
        let operations: Vec<&str> = can.operations.iter().map(|o| o.name()).collect();
        can.missing(workload).map_or(Ok(()), |missing| {
            let operations = operations.join(", ");
            left_out(format!(
                "'{missing}' is none of its operations: {operations}"
            ))
        })
    }

    /// A dataset, and an empty directory for a store.
    fn prepared(&self, count: u64, size: SizeDistribution) -> Done<Built> {
        let directory = tempfile::tempdir_in(&self.work)
            .map_err(HarnessError::io("create a directory in", &self.work))?;
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

    fn usual(&self) -> Done<Built> {
        let largest = self.resolved.capabilities.largest_value;
        let max = largest.map_or(LONGEST, |largest| largest.clamp(1, LONGEST));
        self.prepared(VALUES, SizeDistribution::Uniform { min: 1, max })
    }

    fn built(&self) -> Done<Built> {
        let built = self.usual()?;
        self.build(&built)?;
        Ok(built)
    }

    /// The store at a place without a dataset.
    fn job(&self, place: &Path, workload: Workload) -> Job {
        self.job_at(CellPaths::brought_along(place), workload)
    }

    fn job_on(&self, built: &Built, workload: Workload) -> Job {
        let paths = CellPaths {
            instance: built.path("store"),
            dataset: Some(built.path("dataset")),
            versions: Some(built.path("versions")),
        };
        self.job_at(paths, workload)
    }

    fn job_at(&self, paths: CellPaths, mut workload: Workload) -> Job {
        let deliveries = &self.resolved.capabilities.deliveries;
        if !deliveries.contains(&workload.delivery) {
            workload.delivery = deliveries.first().copied().unwrap_or_default();
        }
        let by = (&self.command, &Interrupt::never());
        Job::new(
            CellId("check".to_owned()),
            &self.resolved,
            workload,
            paths,
            by,
        )
    }

    fn build(&self, built: &Built) -> Done {
        if !self.resolved.capabilities.persistent {
            let count = built.dataset.count();
            return Ok(versions::reset(&built.path("versions"), count, 0)?);
        }
        let job = self.job_on(built, Workload::default());
        job.build(&mut |_, _| ())?;
        Ok(())
    }

    fn verify(&self, built: &Built) -> Done {
        let job = self.job_on(built, Workload::default());
        job.verify(Extent::All)?;
        Ok(())
    }

    /// Has a block of a workload timed; with how long it was waited for.
    fn block(
        &self,
        built: &Built,
        workload: Workload,
        kind: BlockKind,
        operations: u64,
    ) -> Result<(Measurement, Duration)> {
        let path = built.path("sequence");
        let lead_in = if workload.changes_keys() { 0 } else { 20 };
        let records = match workload.order.repeats() || workload.changes_keys() {
            true => lead_in + operations,
            false => built.dataset.count(),
        };
        let part = sequence::Part::ALL;
        sequence::write(&path, &built.dataset, &workload, records, 1, part)?;
        let expected = bytes_by_steps(&built.dataset, &path, lead_in, operations)?;
        let task = BlockTask::new(kind, &path, lead_in, operations);
        let (block, reported) = self.job_on(built, workload).measure(&task)?;
        if block.bytes == expected {
            return Ok((block, reported.waited));
        }
        let why = format!(
            "by the bytes that it told of scans the block has {}, and by its steps {expected}",
            block.bytes
        );
        Err(HarnessError::worker(&why, ""))
    }

    /// Values of other sizes than usual are there afterwards.
    fn kept(&self, count: u64, size: SizeDistribution) -> Done {
        self.require_values()?;
        let largest = self.resolved.capabilities.largest_value;
        if let Some(largest) = largest.filter(|largest| *largest < size.largest()) {
            return left_out(format!("no value is longer than {largest} bytes"));
        }
        let built = self.prepared(count, size)?;
        self.build(&built)?;
        self.verify(&built)
    }

    fn unknown_key(&self) -> Done {
        self.require_persistence()?;
        let built = self.built()?;
        let job = self.job_on(&built, Workload::default());
        match job.there(&[(1, 9_000), (VALUES + 7, 0)])?[..] {
            [true, false] => Ok(()),
            _ => wrong("a key that was never loaded has a value, or the first one has none"),
        }
    }

    /// Reads by the steps of another dataset, whose values have other sizes, or which has other keys too.
    fn unfit(&self) -> Done {
        self.require_persistence()?;
        for (count, bytes) in [(VALUES, 0), (20 * VALUES, 10)] {
            let other = self.prepared(count, SizeDistribution::Fixed { bytes })?;
            let unfit = Built {
                directory: self.built()?.directory,
                dataset: other.dataset,
            };
            let measured = self.block(&unfit, Workload::default(), BlockKind::Ratio, 100);
            said_failed(
                measured,
                "it measured a block that was to read what is not there",
            )?;
        }
        Ok(())
    }

    fn timed(&self, workload: Workload, kind: BlockKind) -> Done {
        self.require(&workload)?;
        let (block, _) = self.block(&self.built()?, workload, kind, 100)?;
        match block.latency.is_some() == (kind == BlockKind::Latency) {
            true => Ok(()),
            false => wrong("latencies are there or not as asked"),
        }
    }

    /// Between `go` and the answer there is more than what is timed, but it does not grow with the
    /// operations: of a block that lasts long, most is theirs.
    fn honest_clock(&self) -> Done {
        let workload = Workload {
            order: AccessOrder::Uniform,
            ..Workload::default()
        };
        self.require(&workload)?;
        let built = self.built()?;
        let more = |operations: &u64| Some((operations * 4).min(CLOCKED_AT_MOST));
        let sizes = std::iter::successors(Some(CLOCKED_FROM), more).take(CLOCKED_TIMES);
        let mut why = String::new();
        for operations in sizes {
            let (block, waited) =
                self.block(&built, workload.clone(), BlockKind::Ratio, operations)?;
            let told = Duration::from_nanos(block.wall_ns);
            if told >= waited / 2 {
                return Ok(());
            }
            why = format!(
                "it told {:.1} ms for {operations} reads that it took {:.1} ms to answer",
                told.as_secs_f64() * 1e3,
                waited.as_secs_f64() * 1e3
            );
            if waited >= CLOCKED_FOR {
                break;
            }
        }
        wrong(why)
    }

    fn overwritten(&self, workload: Workload) -> Done {
        self.require(&workload)?;
        let built = self.built()?;
        self.block(&built, workload, BlockKind::Ratio, 100)?;
        self.verify(&built)
    }

    /// A block that changes which keys there are, which is checked whole.
    fn changed(&self, workload: Workload, operations: u64) -> Done {
        self.require(&workload)?;
        let built = self.usual()?;
        self.block(&built, workload, BlockKind::Ratio, operations)?;
        Ok(())
    }

    fn inspected(&self) -> Done {
        self.require_persistence()?;
        let built = self.built()?;
        let job = self.job_on(&built, Workload::default());
        for want in [Want::Footprint, Want::Files] {
            let found = job.inspect(&[1, 2], want)?;
            let mut files = found.files.iter().flatten();
            if let Some(file) = files.find(|file| !file.is_file()) {
                return wrong(format!("it names {}, which is no file", file.display()));
            }
        }
        Ok(())
    }

    /// Nobody asks for that in a run; but whatever goes wrong in one, words help.
    fn nowhere(&self) -> Done {
        self.require_persistence()?;
        let job = self.job(&self.work.join("nowhere"), Workload::default());
        let why = "it answered 'dump' as if there were a store, and not 'failed'";
        said_failed(job.there(&[(1, 1)]), why)
    }
}

/// Passes where a driver said `failed` in words of its own, which `otherwise` says of one that did not.
fn said_failed<T>(answer: Result<T>, otherwise: &str) -> Done {
    // How this program's own words about a driver begin.
    let ours = ["the worker", "driver '"];
    let is_ours = |message: &str| ours.iter().any(|begin| message.starts_with(begin));
    match answer {
        Err(HarnessError::Worker { message, .. }) => {
            match message.is_empty() || is_ours(&message) {
                true => wrong(format!("it did not say 'failed', but: {message}")),
                false => Ok(()),
            }
        }
        Err(error) => Err(error.into()),
        Ok(_) => wrong(otherwise),
    }
}

/// Bytes that a block delivers or writes, by its steps. What it scans is the dataset.
fn bytes_by_steps(dataset: &Dataset, path: &Path, first: u64, operations: u64) -> Result<u64> {
    let sequence = Sequence::open(path)?;
    let timed = sequence.window(first, operations)?;
    let visited = steps(&timed).flat_map(|step| {
        let keys = step.key..=dataset.count();
        keys.take(usize::from(step.rows))
            .map(|key| dataset.size(key) as u64)
    });
    Ok(bytes_of(&[timed]) + visited.sum::<u64>())
}
