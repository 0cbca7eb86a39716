//! A block as its driver gets it: the steps of each thread, and files for them.

use super::deal::deal;
use super::expected::Expected;
use super::payloads::{Versions, Written, parts};
use super::worker::Worker;
use super::{BlockTask, Job, Values};
use crate::HarnessError;
use crate::shared_file::SharedFile;
use std::io::Write;
use std::path::{Path, PathBuf};
use stowplan_dataset::sequence::{RawStep, Sequence, Step, Window, file_of, len, slices, steps};
use stowplan_model::{
    BlockKind, FromDriver, Measured, PayloadSource, Run, Settings, Share, ToDriver, Workload,
};

/// The steps of a block, dealt to its threads.
pub(super) struct Shares<'v> {
    threads: Vec<Thread>,
    values: &'v Values,
    payloads: PayloadSource,
}

/// What one thread does.
struct Thread {
    sequence: Sequence,
    /// Where it lies, and from which step on.
    path: PathBuf,
    first: u64,
    lead_in: u64,
    operations: u64,
    versions: Versions,
    written: Written,
    parts: Vec<u64>,
    latencies: Option<SharedFile>,
    /// The sequence, where it is this thread's alone.
    _own: Option<SharedFile>,
}

impl Thread {
    fn windows(&self) -> Result<[Window<'_>; 2], HarnessError> {
        let timed = self.first.saturating_add(self.lead_in);
        Ok([
            self.sequence.window(self.first, self.lead_in)?,
            self.sequence.window(timed, self.operations)?,
        ])
    }

    /// Writes the values of a part; with the first one those of the lead-in.
    fn write_part(&self, number: usize, values: &Values) -> Result<(), HarnessError> {
        let [lead_in, timed] = self.windows()?;
        let before: u64 = self.parts.iter().take(number).sum();
        let index = |steps: u64| usize::try_from(steps).unwrap_or(usize::MAX);
        let length = match (self.parts.get(number), self.parts.is_empty()) {
            (Some(length), _) => *length,
            (None, true) => self.operations,
            // The others have more parts.
            (None, false) => return Ok(()),
        };
        let part = slices(&timed, &(index(before)..index(before + length)));
        if number == 0 {
            let both = steps(&lead_in).chain(steps(&part));
            return self.written.write(both, &self.versions, 0, values);
        }
        let first = index(self.lead_in + before);
        self.written
            .write(steps(&part), &self.versions, first, values)
    }
}

impl<'v> Shares<'v> {
    /// Those of a block: `first` and `lead_in` say where it lies in its sequence.
    pub(super) fn of(
        job: &Job,
        task: &BlockTask,
        (first, lead_in): (u64, u64),
        values: &'v Values,
        work: &Path,
    ) -> Result<Self, HarnessError> {
        let sequence = Sequence::open(&task.sequence)?;
        let threads = usize::try_from(job.workload.threads).unwrap_or(1).max(1);
        // Data that someone brought along is visited as they like.
        let repeats = job.workload.order.repeats() || job.dataset.is_none();
        let mut shares = Vec::with_capacity(threads);
        if threads == 1 {
            shares.push((
                sequence,
                task.sequence.clone(),
                first,
                lead_in,
                task.operations,
                None,
            ));
        } else {
            let lead_ins = sequence.window(first, lead_in)?;
            let timed = sequence.window(first.saturating_add(lead_in), task.operations)?;
            let dealt = [lead_ins, timed].map(|window| deal(&window, &job.workload, threads));
            let [lead_ins, timed] = dealt;
            for (lead_in, timed) in lead_ins.into_iter().zip(timed) {
                shares.push(own_sequence(&lead_in, &timed, work)?);
            }
        }
        let latencies = task.block == BlockKind::Latency;
        let shares = (0u32..).zip(shares).map(|(number, share)| {
            let (sequence, path, first, lead_in, operations, own) = share;
            let windows = [
                sequence.window(first, lead_in)?,
                sequence.window(first.saturating_add(lead_in), operations)?,
            ];
            let [before, timed] = &windows;
            let parts = parts(job, task.payloads, timed, threads);
            let all = steps(before).chain(steps(timed));
            let versions = Versions::new(task.version, number, repeats, all);
            let written = Written::of(
                &job.workload,
                task.payloads,
                values,
                [before, timed],
                &parts,
                work,
            )?;
            let thread = Thread {
                path,
                first,
                lead_in,
                operations,
                versions,
                written,
                parts,
                latencies: latencies.then(|| SharedFile::create(work)).transpose()?,
                _own: own,
                sequence,
            };
            thread.write_part(0, values)?;
            Ok(thread)
        });
        Ok(Self {
            threads: shares.collect::<Result<_, HarnessError>>()?,
            values,
            payloads: task.payloads,
        })
    }

    /// The block as the driver is told of it.
    fn task(&self, workload: &Workload, worker: &Worker<'_>, counting: bool) -> ToDriver {
        let share = |thread: &Thread| Share {
            sequence: thread.path.clone(),
            first: thread.first,
            lead_in: thread.lead_in,
            operations: thread.operations,
            payloads: thread.written.files(),
            parts: thread.parts.clone(),
            latencies: thread.latencies.as_ref().map(|file| file.path().to_owned()),
        };
        let largest = self.values.dataset().filter(|_| workload.scans());
        ToDriver::Run(Run {
            at: worker.at.clone(),
            workload: workload.clone(),
            threads: self.threads.iter().map(share).collect(),
            payloads: self.payloads,
            largest: largest.map_or(0, |dataset| dataset.largest() as u64),
            counting,
        })
    }

    /// Has the driver make the block ready; returns the settings that the engine reports.
    pub(super) fn ready(
        &self,
        workload: &Workload,
        worker: &mut Worker<'_>,
        counting: bool,
    ) -> Result<Settings, HarnessError> {
        let task = self.task(workload, worker, counting);
        worker.ready(&task)
    }

    /// Has it do the block, part by part.
    pub(super) fn go(&self, worker: &mut Worker<'_>) -> Result<Measured, HarnessError> {
        let limits = worker.patience.silent(self.steps_to_do());
        let parts = self.threads.iter().map(|thread| thread.parts.len());
        let parts = parts.max().unwrap_or(0).max(1);
        for part in 1..=parts {
            match worker.go(limits)? {
                FromDriver::Measured(measured) if part == parts => return Ok(measured),
                FromDriver::Part if part < parts => {
                    let mut threads = self.threads.iter();
                    threads.try_for_each(|thread| thread.write_part(part, self.values))?;
                }
                other => return Err(worker.unexpected(&other)),
            }
        }
        Err(HarnessError::invalid("a block has one part at least"))
    }

    fn steps_to_do(&self) -> u64 {
        let steps = self
            .threads
            .iter()
            .map(|t| t.lead_in.saturating_add(t.operations));
        steps.fold(0, u64::saturating_add)
    }

    /// The share of the timed operations among those that are done between `go` and the answer: of
    /// several threads, each has run its lead-in before.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub(super) fn timed_share(&self) -> f64 {
        match &self.threads[..] {
            [one] => one.operations as f64 / (one.lead_in + one.operations).max(1) as f64,
            _ => 1.0,
        }
    }

    /// The timed steps of all threads, one after the other.
    pub(super) fn timed(&self) -> Result<Vec<Window<'_>>, HarnessError> {
        let windows = self.threads.iter().map(|thread| Ok(thread.windows()?[1]));
        windows.collect()
    }

    /// What each thread wrote of its latencies, with its timed steps.
    pub(super) fn latencies(&self) -> Result<Vec<(Vec<u8>, Window<'_>)>, HarnessError> {
        let mut all = Vec::new();
        for thread in &self.threads {
            let Some(file) = &thread.latencies else {
                continue;
            };
            let bytes = std::fs::read(file.path());
            let bytes = bytes.map_err(HarnessError::io("read", file.path()))?;
            all.push((bytes, thread.windows()?[1]));
        }
        Ok(all)
    }

    /// What must be in the store afterwards of the values that the steps changed.
    pub(super) fn expected(&self) -> Result<Expected, HarnessError> {
        let mut expected = Expected::default();
        for thread in &self.threads {
            let [lead_in, timed] = thread.windows()?;
            expected.add(steps(&lead_in).chain(steps(&timed)), &thread.versions);
        }
        Ok(expected)
    }
}

type Dealt = (Sequence, PathBuf, u64, u64, u64, Option<SharedFile>);

/// The sequence of one thread: its lead-in and its timed steps.
fn own_sequence(
    lead_in: &[RawStep],
    timed: &[RawStep],
    work: &Path,
) -> Result<Dealt, HarnessError> {
    let windows: [Window<'_>; 2] = [[lead_in, &[]], [timed, &[]]];
    let mut file = SharedFile::create(work)?;
    // A sequence has one step at least; this one is never done.
    let nothing = [Step::reading(1, 0).encode()];
    let written = match windows.iter().map(len).sum::<u64>() {
        0 => file_of(&[[&nothing, &[]]]),
        _ => file_of(&windows),
    };
    let put = (&mut file.file()).write_all(&written);
    file.checked(put)?;
    Ok((
        Sequence::open(file.path())?,
        file.path().to_owned(),
        0,
        lead_in.len() as u64,
        timed.len() as u64,
        Some(file),
    ))
}

/// Has a worker give values another version, untimed, in one transaction.
pub(super) fn replace(
    workload: &Workload,
    values: &Values,
    steps: &[Step],
    version: u32,
    worker: &mut Worker<'_>,
) -> Result<(), HarnessError> {
    let raw: Vec<RawStep> = steps.iter().map(|step| step.encode()).collect();
    let (sequence, path, first, lead_in, operations, own) = own_sequence(&[], &raw, worker.work)?;
    let window = sequence.window(0, operations)?;
    let written = Written::of(
        workload,
        PayloadSource::Prepared,
        values,
        [&[&[], &[]], &window],
        &[],
        worker.work,
    )?;
    let thread = Thread {
        path,
        first,
        lead_in,
        operations,
        versions: Versions::all(version),
        written,
        parts: Vec::new(),
        latencies: None,
        _own: own,
        sequence,
    };
    thread.write_part(0, values)?;
    let shares = Shares {
        threads: vec![thread],
        values,
        payloads: PayloadSource::Prepared,
    };
    shares.ready(workload, worker, false)?;
    shares.go(worker).map(|_| ())
}
