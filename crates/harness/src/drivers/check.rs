//! Whether a driver does what the protocol asks for: the same tasks that a run gives it, on a small
//! dataset, with every answer checked.

use super::{Drivers, Resolved};
use crate::HarnessError;
use crate::interrupt::Interrupt;
use crate::job::{self, Answer, BlockTask, Job, Task};
use std::path::{Path, PathBuf};
use stowplan_dataset::{Dataset, materialise, sequence, versions};
use stowplan_model::{
    AccessOrder, At, BlockKind, CellId, Content, DatasetSpec, Measurement, Mix, Operation,
    PayloadSource, PerTransaction, SizeDistribution, StoreSpec, Want, Workload,
};

/// Values of the dataset.
const VALUES: u64 = 200;

/// What one check found.
#[derive(Debug)]
pub struct Outcome {
    /// What should be, as a sentence.
    pub check: &'static str,
    /// What was instead.
    pub failure: Option<String>,
}

type Check<'b> = (&'static str, fn(&Bench<'b>) -> Result<(), HarnessError>);

/// What is asked of every store; what it cannot do by its own words is left out.
fn checks<'b>() -> Vec<Check<'b>> {
    vec![
        (
            "what was loaded is there for another process",
            Bench::loaded,
        ),
        ("values may be empty, or large", Bench::sizes),
        ("a key that is not there is told", Bench::unknown_key),
        ("reads are timed, in order and at random", Bench::reads),
        (
            "reads of small transactions are timed",
            Bench::small_transactions,
        ),
        (
            "latencies are told, one for each operation",
            Bench::latencies,
        ),
        (
            "what was overwritten is there afterwards, and nothing else changed",
            Bench::overwrites,
        ),
        ("inserts fill a new store", Bench::inserts),
        ("what was deleted is gone, and nothing else", Bench::deletes),
        ("scans visit values by rising key", Bench::scans),
        ("a mix leaves what its steps say", Bench::mixes),
        ("several threads do together what one would", Bench::threads),
        ("what lies where can be asked", Bench::inspected),
        (
            "a place without a store is a failure in words",
            Bench::nowhere,
        ),
    ]
}

/// A store and the files to try it on.
struct Bench<'a> {
    drivers: &'a Drivers,
    spec: &'a StoreSpec,
    resolved: Resolved,
    work: &'a Path,
}

/// Tries a store of a driver in an empty directory.
///
/// # Errors
/// There is no such driver or store, it cannot be asked, or the machine refuses; what the driver does
/// wrong is an outcome.
pub fn check(
    drivers: &Drivers,
    spec: &StoreSpec,
    work: &Path,
) -> Result<Vec<Outcome>, HarnessError> {
    let bench = Bench {
        drivers,
        spec,
        resolved: drivers.resolve(spec, 1 << 20)?,
        work,
    };
    let bench = &bench;
    checks()
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
    fn outcome(&self, (check, run): Check<'b>) -> Result<Outcome, HarnessError> {
        match run(self) {
            Ok(()) => Ok(Outcome {
                check,
                failure: None,
            }),
            Err(HarnessError::Interrupted) => Err(HarnessError::Interrupted),
            Err(error) => {
                let (message, stderr) = error.split();
                let failure = match stderr.lines().last() {
                    Some(said) => format!("{message} ({said})"),
                    None => message,
                };
                Ok(Outcome {
                    check,
                    failure: Some(failure),
                })
            }
        }
    }

    fn can(&self, operation: Operation) -> bool {
        self.resolved.capabilities.operations.contains(&operation)
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
        };
        let dataset = materialise(&spec, &directory.path().join("dataset"), 1, &|_| ())?;
        let store = directory.path().join("store");
        std::fs::create_dir(&store).map_err(HarnessError::io("create directory", &store))?;
        Ok(Built { directory, dataset })
    }

    fn usual(&self) -> Result<Built, HarnessError> {
        self.prepared(VALUES, SizeDistribution::Uniform { min: 1, max: 9_000 })
    }

    fn built(&self) -> Result<Built, HarnessError> {
        let built = self.usual()?;
        self.build(&built)?;
        Ok(built)
    }

    fn job(&self, built: &Built, workload: Workload, task: Task) -> Job {
        Job {
            cell: CellId("check".to_owned()),
            store: StoreSpec::spelled_out(self.spec.name(), &self.resolved.settings),
            workload,
            instance: built.path("store"),
            dataset: Some(built.path("dataset")),
            versions: Some(built.path("versions")),
            persistent: self.resolved.capabilities.persistent,
            keeps_nothing: self.resolved.kind.keeps_nothing,
            parts: self.resolved.kind.parts,
            task,
        }
    }

    fn perform(&self, job: &Job) -> Result<Answer, HarnessError> {
        let command = self.drivers.command(self.spec.driver())?;
        job::perform(job, command, &Interrupt::never(), self.work, &mut |_, _| ())
    }

    fn build(&self, built: &Built) -> Result<(), HarnessError> {
        if !self.resolved.capabilities.persistent {
            return Ok(versions::reset(
                &built.path("versions"),
                built.dataset.count(),
                0,
            )?);
        }
        let job = self.job(built, Workload::default(), Task::Build);
        self.perform(&job).map(|_| ())
    }

    fn verify(&self, built: &Built) -> Result<(), HarnessError> {
        let job = self.job(built, Workload::default(), Task::Verify);
        self.perform(&job).map(|_| ())
    }

    /// Has a block of a workload timed.
    fn block(
        &self,
        built: &Built,
        workload: Workload,
        kind: BlockKind,
        operations: u64,
    ) -> Result<Measurement, HarnessError> {
        let path = built.path("sequence");
        let lead_in = if workload.changes_keys() { 0 } else { 20 };
        let steps = match workload.order.repeats() || workload.changes_keys() {
            true => lead_in + operations,
            false => built.dataset.count(),
        };
        sequence::write(&path, &built.dataset, &workload, steps, 1)?;
        let task = Task::Measure(BlockTask {
            block: kind,
            sequence: path,
            first: 0,
            lead_in,
            operations,
            version: 1,
            payloads: PayloadSource::Prepared,
            round: 0,
            position: 0,
        });
        match self.perform(&self.job(built, workload, task))? {
            Answer::Measured(measurement, _) => Ok(*measurement),
            other => Err(HarnessError::worker(&format!("it answered {other:?}"), "")),
        }
    }

    fn loaded(&self) -> Result<(), HarnessError> {
        self.verify(&self.built()?)
    }

    fn sizes(&self) -> Result<(), HarnessError> {
        for (count, size) in [
            (20, SizeDistribution::Uniform { min: 0, max: 2 }),
            (3, SizeDistribution::Fixed { bytes: 1 << 20 }),
        ] {
            let largest = self.resolved.capabilities.largest_value;
            if largest.is_some_and(|largest| size.mean() > largest) {
                continue;
            }
            let built = self.prepared(count, size)?;
            self.build(&built)?;
            self.verify(&built)?;
        }
        Ok(())
    }

    fn unknown_key(&self) -> Result<(), HarnessError> {
        let built = self.built()?;
        if !self.resolved.capabilities.persistent {
            return Ok(());
        }
        let command = self.drivers.command(self.spec.driver())?;
        let keys = [(1, 9_000), (VALUES + 7, 0)];
        let there = job::there(self.at(&built), &keys, command, self.work)?;
        match there[..] {
            [true, false] => Ok(()),
            _ => Err(HarnessError::worker(
                "a key that was never loaded has a value, or the first one has none",
                "",
            )),
        }
    }

    fn at(&self, built: &Built) -> At {
        At {
            store: StoreSpec::spelled_out(self.spec.name(), &self.resolved.settings),
            place: built.path("store"),
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
        if !self.can(Operation::Overwrite) {
            return Ok(());
        }
        for per in [PerTransaction::All, PerTransaction::Operations(1)] {
            let built = self.built()?;
            let workload = Workload {
                operation: Operation::Overwrite,
                per_transaction: per,
                ..Workload::default()
            };
            self.block(&built, workload, BlockKind::Ratio, 100)?;
            self.verify(&built)?;
        }
        Ok(())
    }

    /// A block that changes which keys there are, which is checked whole.
    fn changes(&self, workload: Workload) -> Result<(), HarnessError> {
        if self.resolved.capabilities.missing(&workload).is_some() {
            return Ok(());
        }
        let built = self.usual()?;
        let operations = if workload.operation == Operation::Mix {
            120
        } else {
            VALUES
        };
        self.block(&built, workload, BlockKind::Ratio, operations)
            .map(|_| ())
    }

    fn inserts(&self) -> Result<(), HarnessError> {
        self.changes(Workload {
            operation: Operation::Insert,
            ..Workload::default()
        })
    }

    fn deletes(&self) -> Result<(), HarnessError> {
        self.changes(Workload {
            operation: Operation::Delete,
            per_transaction: PerTransaction::Operations(10),
            ..Workload::default()
        })
    }

    fn mixes(&self) -> Result<(), HarnessError> {
        self.changes(Workload {
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
        })
    }

    fn scans(&self) -> Result<(), HarnessError> {
        if !self.can(Operation::Scan) {
            return Ok(());
        }
        let workload = Workload {
            operation: Operation::Scan,
            order: AccessOrder::Uniform,
            ..Workload::default()
        };
        self.timed(&workload, BlockKind::Ratio)
    }

    fn threads(&self) -> Result<(), HarnessError> {
        if !self.resolved.capabilities.threads {
            return Ok(());
        }
        let workload = Workload {
            threads: 3,
            ..Workload::default()
        };
        self.timed(&workload, BlockKind::Latency)
    }

    fn inspected(&self) -> Result<(), HarnessError> {
        let built = self.built()?;
        if !self.resolved.capabilities.persistent {
            return Ok(());
        }
        let command = self.drivers.command(self.spec.driver())?;
        for want in [Want::Footprint, Want::Files, Want::Pieces] {
            let interrupt = Interrupt::never();
            let found = job::inspect(
                self.at(&built),
                &[1, 2],
                want,
                command,
                &interrupt,
                self.work,
            )?;
            for file in found.files.iter().flatten() {
                if !file.is_file() {
                    let why = format!("it names {}, which is no file", file.display());
                    return Err(HarnessError::worker(&why, ""));
                }
            }
        }
        Ok(())
    }

    /// Nobody asks for that in a run; but whatever goes wrong in one, words help.
    fn nowhere(&self) -> Result<(), HarnessError> {
        if !self.resolved.capabilities.persistent {
            return Ok(());
        }
        let command = self.drivers.command(self.spec.driver())?;
        let at = At {
            place: self.work.join("nowhere"),
            store: StoreSpec::spelled_out(self.spec.name(), &self.resolved.settings),
        };
        match job::there(at, &[(1, 1)], command, self.work) {
            Err(HarnessError::Worker { message, .. })
                if !message.starts_with("the worker") && !message.is_empty() =>
            {
                Ok(())
            }
            Err(HarnessError::Worker { message, .. }) => Err(HarnessError::worker(
                &format!("it did not say 'failed', but: {message}"),
                "",
            )),
            Err(error) => Err(error),
            Ok(_) => Err(HarnessError::worker(
                "it found a store where there is none",
                "",
            )),
        }
    }
}
