use super::*;
use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use std::fs;
use stowplan_dataset::{self as dataset, sequence, versions};
use stowplan_model::{AccessOrder, CacheState, Delivery, Mix, Operation, PerTransaction};

mod changing;
mod threads;
mod toy;

/// Values in the dataset.
const COUNT: u64 = 40;

/// A job, and what of it is to be done.
#[derive(Clone)]
struct Job {
    whole: super::Job,
    task: Task,
}

impl std::ops::Deref for Job {
    type Target = super::Job;
    fn deref(&self) -> &super::Job {
        &self.whole
    }
}

impl std::ops::DerefMut for Job {
    fn deref_mut(&mut self) -> &mut super::Job {
        &mut self.whole
    }
}

#[derive(Clone)]
enum Task {
    Measure(BlockTask),
    Verify(Extent),
    Build,
}

#[derive(Debug)]
enum Answer {
    Measured(Box<Measurement>),
    Verified(Verification),
    Built { values: u64, bytes: u64 },
}

/// What came of a job.
fn answered(job: &Job) -> Result<Answer> {
    Ok(match &job.task {
        Task::Measure(task) => Answer::Measured(Box::new(job.measure(task)?.0)),
        Task::Verify(extent) => Answer::Verified(job.verify(*extent)?),
        Task::Build => {
            let (values, bytes) = job.build(&mut |_, _| ())?;
            Answer::Built { values, bytes }
        }
    })
}

fn answer(job: Job) -> Answer {
    answered(&job).unwrap()
}

fn failure(job: Job) -> String {
    let error = answered(&job).unwrap_err();
    assert!(error.is_of_a_store(), "{error}");
    error.to_string()
}

fn ordered(order: AccessOrder) -> Workload {
    Workload {
        order,
        ..Workload::default()
    }
}

/// A work directory with a dataset, a sequence in ascending order, and one store.
struct Lab {
    work: tempfile::TempDir,
    dataset: Dataset,
    spec: StoreSpec,
    /// What it holds ends with its worker.
    forgets: bool,
}

impl Lab {
    fn new(spec: &str) -> Self {
        Self::with(spec, COUNT, 9_000)
    }

    fn with(spec: &str, count: u64, largest: u64) -> Self {
        let work = tempfile::tempdir().unwrap();
        let size = SizeDistribution::Uniform {
            min: 8,
            max: largest,
        };
        let description = DatasetSpec {
            count,
            size,
            content: Content::Random,
            seed: 3,
            from: None,
        };
        let path = work.path().join("dataset");
        let dataset = dataset::materialise(&description, &path, &mut |_| ()).unwrap();
        sequence::write(
            &work.path().join("sequence"),
            &dataset,
            &ordered(AccessOrder::Ascending),
            count,
            0,
            sequence::Part::ALL,
        )
        .unwrap();
        fs::create_dir(work.path().join("store")).unwrap();
        let resolved = toy::resolve(&spec.parse().unwrap()).unwrap();
        Self {
            forgets: !resolved.capabilities.persistent,
            work,
            dataset,
            spec: StoreSpec::spelled_out(resolved.kind.name(), &resolved.settings),
        }
    }

    /// One whose store is built.
    fn built(spec: &str) -> Self {
        let lab = Self::new(spec);
        let built = answer(lab.job(Task::Build));
        assert!(matches!(built, Answer::Built { .. }), "{built:?}");
        lab
    }

    fn path(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    fn job(&self, task: Task) -> Job {
        let whole = super::Job {
            cell: CellId("c/x".to_owned()),
            store: self.spec.clone(),
            workload: Workload {
                operation: Operation::Read,
                order: AccessOrder::Ascending,
                per_transaction: PerTransaction::All,
                delivery: Delivery::Copy,
                cache: CacheState::Warm,
                ..Workload::default()
            },
            scanned: Scanned::No,
            paths: CellPaths {
                instance: self.path("store"),
                dataset: Some(self.path("dataset")),
                versions: Some(self.path("versions")),
            },
            persistent: !self.forgets,
            keeps_nothing: false,
            parts: true,
            command: toy::command(),
            interrupt: Interrupt::never(),
        };
        Job { whole, task }
    }

    fn block(&self, block: BlockKind, first: u64, lead_in: u64, operations: u64) -> BlockTask {
        BlockTask {
            block,
            latencies: block == BlockKind::Latency,
            sequence: self.path("sequence"),
            first,
            lead_in,
            operations,
            payloads: PayloadSource::Prepared,
            version: 1,
            round: 4,
            position: 2,
        }
    }

    fn reads(&self, block: BlockKind, first: u64, lead_in: u64, operations: u64) -> Job {
        self.job(Task::Measure(self.block(block, first, lead_in, operations)))
    }

    fn writes(&self, first: u64, lead_in: u64, operations: u64) -> Job {
        let mut job = self.reads(BlockKind::Ratio, first, lead_in, operations);
        job.workload.operation = Operation::Overwrite;
        self.drawn(job, self.dataset.count())
    }

    /// The job with a sequence of so many steps, drawn for its workload.
    fn drawn(&self, mut job: Job, steps: u64) -> Job {
        let Task::Measure(task) = &mut job.task else {
            panic!("it measures");
        };
        task.sequence = self.path(&format!("sequence-{}", job.whole.workload.operation));
        sequence::write(
            &task.sequence,
            &self.dataset,
            &job.whole.workload,
            steps,
            7,
            sequence::Part::ALL,
        )
        .unwrap();
        job
    }

    fn measured(&self, job: Job) -> Measurement {
        match answer(job) {
            Answer::Measured(measurement) => *measurement,
            other => panic!("{other:?}"),
        }
    }

    /// How many values a check of all finds overwritten.
    fn overwritten(&self) -> u64 {
        match answer(self.job(Task::Verify(Extent::All))) {
            Answer::Verified(found) => {
                assert_eq!(found.cell, CellId("c/x".to_owned()));
                let (count, bytes) = (self.dataset.count(), self.dataset.total_bytes());
                assert_eq!((found.values, found.bytes), (count, bytes));
                found.overwritten
            }
            other => panic!("{other:?}"),
        }
    }

    /// Bytes of the values of these keys.
    fn bytes(&self, keys: impl Iterator<Item = u64>) -> u64 {
        keys.map(|key| self.dataset.size(key) as u64).sum()
    }
}

#[test]
fn a_damaged_sequence_and_one_that_is_too_short_fail_the_block() {
    let lab = Lab::built("files");
    let message = failure(lab.reads(BlockKind::Ratio, 0, 0, COUNT + 1));
    assert!(message.contains("does not fit"), "{message}");
    let path = lab.path("sequence");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 3]).unwrap();
    let message = failure(lab.reads(BlockKind::Ratio, 0, 2, 5));
    assert!(message.contains("sequence is damaged"), "{message}");
}

#[test]
fn a_sequence_with_a_wrong_size_or_an_unknown_key_fails_the_block() {
    let lab = Lab::built("flat");
    let path = lab.path("sequence");
    sequence::write_steps(
        &path,
        COUNT,
        &ordered(AccessOrder::Ascending),
        COUNT,
        0,
        |_| 3,
    )
    .unwrap();
    let message = failure(lab.reads(BlockKind::Ratio, 0, 0, 5));
    assert!(message.contains("value 1 is damaged"), "{message}");
    assert!(message.contains("instead of 3"), "{message}");
    let size = |key| lab.dataset.size(u64::min(key, COUNT));
    sequence::write_steps(
        &path,
        COUNT + 1,
        &ordered(AccessOrder::Descending),
        COUNT + 1,
        0,
        size,
    )
    .unwrap();
    let message = failure(lab.reads(BlockKind::Ratio, 0, 0, 5));
    assert!(
        message.contains("value 41 is damaged: it is missing"),
        "{message}"
    );
}

#[test]
fn files_and_flat_stores_are_built_measured_and_verified() {
    for spec in ["files:layout=tree", "flat:read=mmap"] {
        let lab = Lab::new(spec);
        let built = answer(lab.job(Task::Build));
        let Answer::Built { values, bytes } = built else {
            panic!("{built:?}");
        };
        assert_eq!((values, bytes), (COUNT, lab.dataset.total_bytes()));
        assert_eq!(lab.overwritten(), 0, "{spec}");

        let read = lab.measured(lab.reads(BlockKind::Ratio, 30, 4, 20));
        assert_eq!(read.cell.0, "c/x");
        assert_eq!((read.round, read.position), (4, 2));
        assert_eq!((read.operations, read.lead_in_operations), (20, 4));
        let visited = (35..=40).chain(1..=14);
        assert_eq!(
            read.bytes,
            lab.bytes(visited),
            "cyclic, without the lead-in"
        );
        assert_eq!((read.commits, &read.latency), (1, &None));
        assert!(read.wall_ns > 0 && read.outside.lead_in_ns > 0);
        assert_eq!(read.outside.drain_ns, 0, "reads leave nothing to drain");
        assert_eq!(lab.overwritten(), 0, "{spec}");

        let written = lab.measured(lab.writes(30, 4, 20));
        assert_eq!(written.bytes, read.bytes);
        assert!(written.outside.drain_ns > 0);
        assert_eq!(lab.overwritten(), 24, "{spec}: the lead-in's too");
        let versions = versions::read(&lab.path("versions"), COUNT).unwrap();
        let expected = (1..=COUNT).map(|key| u32::from(!(15..=30).contains(&key)));
        assert_eq!(versions, expected.collect::<Vec<_>>());
    }
}

#[test]
fn a_latency_block_carries_a_histogram_of_its_timed_operations_and_a_pilot_none() {
    let lab = Lab::built("flat:read=mmap");
    let mut job = lab.reads(BlockKind::Latency, 0, 5, 30);
    job.workload.delivery = Delivery::InPlace;
    let measurement = lab.measured(job);
    assert_eq!(measurement.block, BlockKind::Latency);
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(measurement.latency.unwrap())
        .unwrap();
    let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
    assert_eq!(histogram.len(), 30);
    let pilot = lab.measured(lab.reads(BlockKind::Pilot, 0, 0, 3));
    assert_eq!((pilot.block, pilot.latency), (BlockKind::Pilot, None));
}

#[test]
fn verify_names_a_value_that_was_changed_cut_or_lost() {
    let lab = Lab::built("files:layout=dir");
    let path = lab.path("store/000003");
    let whole = fs::read(&path).unwrap();
    assert_eq!(whole, lab.dataset.value(3));
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&path, &changed).unwrap();
    let message = failure(lab.job(Task::Verify(Extent::All)));
    assert!(
        message.contains("value 3 is damaged: its bytes are not those of version 0"),
        "{message}"
    );
    fs::write(&path, &whole[1..]).unwrap();
    let message = failure(lab.job(Task::Verify(Extent::All)));
    let expected = format!(
        "value 3 is damaged: it has {} bytes instead of {}",
        whole.len() - 1,
        whole.len()
    );
    assert!(message.contains(&expected), "{message}");
    fs::remove_file(&path).unwrap();
    let message = failure(lab.job(Task::Verify(Extent::All)));
    assert!(
        message.contains("value 3 is damaged: it is missing"),
        "{message}"
    );
    fs::write(&path, &whole).unwrap();
    assert_eq!(lab.overwritten(), 0);
}

#[test]
fn verify_catches_a_version_that_is_stale_and_one_that_nobody_wrote() {
    for (spec, delivery) in [
        ("files", Delivery::Copy),
        ("flat:read=mmap", Delivery::InPlace),
    ] {
        let lab = Lab::built(spec);
        let mut job = lab.job(Task::Verify(Extent::All));
        job.workload.delivery = delivery;
        let versions = lab.path("versions");
        versions::update(&versions, [(17, 2)].into_iter()).unwrap();
        let message = failure(job.clone());
        assert!(
            message.contains("value 17 is damaged: its bytes are not those of version 2"),
            "a lost write: {message}"
        );
        versions::reset(&versions, COUNT, 0).unwrap();
        lab.measured(lab.writes(20, 0, 1));
        versions::reset(&versions, COUNT, 0).unwrap();
        let message = failure(job);
        assert!(
            message.contains("value 21 is damaged: its bytes are not those of version 0"),
            "a write that nobody asked for: {message}"
        );
        versions::reset(&versions, COUNT - 1, 0).unwrap();
        let message = failure(lab.job(Task::Verify(Extent::All)));
        assert!(message.contains("versions is damaged"), "{message}");
    }
}

#[test]
fn a_store_in_memory_is_loaded_by_each_worker_anew() {
    let lab = Lab::new("sqlite:location=memory,journal=memory");
    let read = lab.measured(lab.reads(BlockKind::Ratio, 0, 2, 20));
    assert_eq!(read.bytes, lab.bytes(3..=22));
    let written = lab.measured(lab.writes(0, 0, 20));
    assert_eq!(written.operations, 20);
    assert_eq!(
        lab.overwritten(),
        0,
        "what was written ended with its worker"
    );
    assert!(!lab.path("versions").exists());
}

#[test]
fn the_store_that_does_nothing_is_timed_without_a_dataset() {
    let mut lab = Lab::new("flat");
    lab.spec = "null".parse().unwrap();
    sequence::write_steps(
        &lab.path("sequence"),
        100,
        &Workload::default(),
        100,
        1,
        |_| 1,
    )
    .unwrap();
    let mut job = lab.reads(BlockKind::Ratio, 0, 10, 90);
    job.paths.dataset = None;
    let measurement = lab.measured(job);
    assert_eq!((measurement.operations, measurement.bytes), (90, 90));
}

/// A job on the store alone, as if someone had brought it along.
fn foreign(mut job: Job) -> Job {
    job.paths.dataset = None;
    job.paths.versions = None;
    job
}

#[test]
fn data_that_someone_brought_along_is_read_and_overwritten_without_a_dataset() {
    let lab = Lab::built("files");
    let read = lab.measured(foreign(lab.reads(BlockKind::Ratio, 0, 3, 20)));
    assert_eq!((read.operations, read.lead_in_operations), (20, 3));
    let write = lab.measured(foreign(lab.writes(5, 0, 20)));
    assert_eq!(write.operations, 20);
    let message = failure(foreign(lab.job(Task::Verify(Extent::All))));
    assert_eq!(message, "this task needs a dataset, and the job names none");
}

#[test]
fn bytes_drawn_within_the_time_are_written_and_not_checked() {
    let lab = Lab::built("sqlite");
    let mut job = foreign(lab.writes(0, 0, 10));
    let Task::Measure(task) = &mut job.task else {
        panic!("it measures");
    };
    task.payloads = PayloadSource::Timed;
    assert_eq!(lab.measured(job).operations, 10);
    let message = failure(lab.job(Task::Verify(Extent::All)));
    assert!(
        message.contains("its bytes are not those of version 0"),
        "{message}"
    );
}

#[test]
fn a_store_that_grew_old_holds_every_value_at_the_version_of_its_age() {
    for spec in ["files:write=rename", "sqlite", "files-indexed:layout=tree"] {
        let lab = Lab::new(spec);
        let aged = |task| {
            let mut job = lab.job(task);
            job.workload.age = 3;
            job
        };
        let built = answer(aged(Task::Build));
        assert!(matches!(built, Answer::Built { .. }), "{built:?}");
        assert_eq!(lab.overwritten(), COUNT, "{spec}");
        let versions = versions::read(&lab.path("versions"), COUNT).unwrap();
        assert!(versions.iter().all(|version| *version == 3));
    }
}

#[test]
fn a_mix_raises_the_versions_of_what_it_overwrote_only() {
    let lab = Lab::built("sqlite:journal=wal,synchronous=off");
    let mut job = lab.writes(0, 0, 40);
    job.workload.operation = Operation::Mix;
    job.workload.mix = Some(Mix {
        read: 3,
        overwrite: 1,
        ..Mix::default()
    });
    let measured = lab.measured(lab.drawn(job, COUNT));
    assert_eq!((measured.operations, measured.commits), (40, 1));
    assert_eq!(lab.overwritten(), 10);
}

/// Inserts 40 values, so many by each statement and transaction.
fn inserted(lab: &Lab, per: PerTransaction, rows: Option<u32>) -> Measurement {
    let mut job = lab.writes(0, 0, 40);
    job.workload.operation = Operation::Insert;
    job.workload.per_transaction = per;
    job.workload.rows_per_statement = rows;
    lab.measured(lab.drawn(job, 40))
}

#[test]
fn inserts_fill_an_empty_store_that_is_gone_afterwards() {
    for spec in [
        "sqlite",
        "sqlite:location=memory,journal=memory",
        "sqlite:location=shared,journal=memory",
        "sqlite:location=temp,journal=memory,statement=each",
        "files:layout=tree",
        "files-indexed",
        "flat",
    ] {
        let lab = Lab::new(spec);
        for _ in 0..2 {
            let block = inserted(&lab, PerTransaction::All, None);
            assert_eq!(
                (block.operations, block.bytes),
                (40, lab.bytes(1..=40)),
                "{spec}"
            );
            assert_eq!(
                fs::read_dir(lab.path("store")).unwrap().count(),
                0,
                "{spec}"
            );
            let on_disk = block
                .footprint
                .is_some_and(|f| f.apparent_bytes >= lab.bytes(1..=40));
            assert_eq!(
                on_disk,
                !spec.contains("location"),
                "{spec}: {:?}",
                block.footprint
            );
            if spec.starts_with("sqlite") {
                let fill = block.page_fill.unwrap();
                assert!(fill > 0.1 && fill <= 1.0, "{spec}: {fill}");
            }
        }
    }
}

#[test]
fn commits_of_inserts_are_those_that_the_engine_counts() {
    let lab = Lab::new("sqlite:synchronous=off");
    for (per, rows, commits) in [
        (PerTransaction::All, None, 1),
        (PerTransaction::Operations(1), None, 40),
        (PerTransaction::Operations(16), None, 3),
        (PerTransaction::All, Some(7), 1),
        (PerTransaction::Operations(1), Some(7), 6),
        (PerTransaction::Operations(14), Some(7), 3),
    ] {
        let block = inserted(&lab, per, rows);
        assert_eq!(block.commits, commits, "{per}, {rows:?}");
        assert_eq!(block.counters["Commits"], commits, "{per}, {rows:?}");
    }
}
