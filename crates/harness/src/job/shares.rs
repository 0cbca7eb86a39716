//! A block as its driver gets it: the steps of each thread, and files for them.

use super::deal::deal;
use super::expected::Expected;
use super::payloads::{Versions, Written, parts};
use super::worker::Worker;
use super::{BlockTask, Job, Values};
use crate::HarnessError;
use crate::shared_file::SharedFile;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use stowplan_dataset::sequence::{RawStep, Sequence, Step, Window, file_of, len, slices, steps};
use stowplan_model::{
    FromDriver, Measured, PayloadSource, Run, Settings, Share, ToDriver, Workload,
};

/// The steps of a block, dealt to its threads.
pub(super) struct Shares<'v> {
    threads: Vec<Thread>,
    values: &'v Values,
    payloads: PayloadSource,
}

/// Where the steps of one thread lie.
struct Dealt {
    sequence: Sequence,
    path: PathBuf,
    /// From which step on.
    first: u64,
    lead_in: u64,
    operations: u64,
    /// The sequence, where it is this thread's alone.
    _file: Option<SharedFile>,
}

impl Dealt {
    /// A sequence of its own: its lead-in and its timed steps.
    fn new(lead_in: &[RawStep], timed: &[RawStep]) -> Result<Self, HarnessError> {
        let windows: [Window<'_>; 2] = [[lead_in, &[]], [timed, &[]]];
        let mut file = SharedFile::create()?;
        // A sequence has one step at least; this one is never done.
        let nothing = [Step::reading(1, 0).encode()];
        let written = match windows.iter().map(len).sum::<u64>() {
            0 => file_of(&[[&nothing, &[]]]),
            _ => file_of(&windows),
        };
        let put = (&mut file.file()).write_all(&written);
        file.checked(put)?;
        Ok(Self {
            sequence: Sequence::open(file.path())?,
            path: file.path().to_owned(),
            first: 0,
            lead_in: lead_in.len() as u64,
            operations: timed.len() as u64,
            _file: Some(file),
        })
    }

    fn windows(&self) -> Result<[Window<'_>; 2], HarnessError> {
        let timed = self.first.saturating_add(self.lead_in);
        Ok([
            self.sequence.window(self.first, self.lead_in)?,
            self.sequence.window(timed, self.operations)?,
        ])
    }
}

/// What one thread does.
struct Thread {
    dealt: Dealt,
    versions: Versions,
    written: Written,
    parts: Vec<u64>,
    latencies: Option<SharedFile>,
}

impl Thread {
    /// With the values of its first part written.
    fn new(
        dealt: Dealt,
        workload: &Workload,
        (source, values): (PayloadSource, &Values),
        versions: Versions,
        parts: Vec<u64>,
    ) -> Result<Self, HarnessError> {
        let [lead_in, timed] = &dealt.windows()?;
        let written = Written::of(workload, source, values, [lead_in, timed], &parts)?;
        let thread = Self {
            dealt,
            versions,
            written,
            parts,
            latencies: None,
        };
        thread.write_part(0, values)?;
        Ok(thread)
    }

    /// Writes the values of a part; with the first one those of the lead-in.
    fn write_part(&self, number: usize, values: &Values) -> Result<(), HarnessError> {
        let [lead_in, timed] = self.dealt.windows()?;
        let before: u64 = self.parts.iter().take(number).sum();
        let index = |steps: u64| usize::try_from(steps).unwrap_or(usize::MAX);
        let length = match (self.parts.get(number), self.parts.is_empty()) {
            (Some(length), _) => *length,
            (None, true) => self.dealt.operations,
            // The others have more parts.
            (None, false) => return Ok(()),
        };
        let part = slices(&timed, &(index(before)..index(before + length)));
        if number == 0 {
            let both = steps(&lead_in).chain(steps(&part));
            return self.written.write(both, &self.versions, 0, values);
        }
        let first = index(self.dealt.lead_in + before);
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
    ) -> Result<Self, HarnessError> {
        let threads = usize::try_from(job.workload.threads).unwrap_or(1).max(1);
        // Data that someone brought along is visited as they like.
        let repeats = job.workload.order.repeats() || job.dataset.is_none();
        let whole = Dealt {
            sequence: Sequence::open(&task.sequence)?,
            path: task.sequence.clone(),
            first,
            lead_in,
            operations: task.operations,
            _file: None,
        };
        let dealt = if threads == 1 {
            vec![whole]
        } else {
            let windows = whole.windows()?;
            let [lead_ins, timed] = windows.map(|window| deal(&window, &job.workload, threads));
            let both = lead_ins.iter().zip(&timed);
            both.map(|(lead_in, timed)| Dealt::new(lead_in, timed))
                .collect::<Result<_, _>>()?
        };
        let shares = (0u32..).zip(dealt).map(|(number, dealt)| {
            let [lead_in, timed] = dealt.windows()?;
            let parts = parts(job, task.payloads, &timed, threads);
            let all = steps(&lead_in).chain(steps(&timed));
            let versions = Versions::new(task.version, number, repeats, all);
            let payloads = (task.payloads, values);
            let mut thread = Thread::new(dealt, &job.workload, payloads, versions, parts)?;
            if task.latencies {
                thread.latencies = Some(SharedFile::create()?);
            }
            Ok(thread)
        });
        Ok(Self {
            threads: shares.collect::<Result<_, HarnessError>>()?,
            values,
            payloads: task.payloads,
        })
    }

    /// The block as the driver is told of it.
    fn task(&self, workload: &Workload, worker: &Worker, counting: bool) -> ToDriver {
        let share = |thread: &Thread| Share {
            sequence: thread.dealt.path.clone(),
            first: thread.dealt.first,
            lead_in: thread.dealt.lead_in,
            operations: thread.dealt.operations,
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
        worker: &mut Worker,
        counting: bool,
    ) -> Result<Settings, HarnessError> {
        let task = self.task(workload, worker, counting);
        worker.ready(&task)
    }

    /// Has it do the block, part by part; with how long that was waited for, without the values of parts.
    pub(super) fn go(&self, worker: &mut Worker) -> Result<(Measured, Duration), HarnessError> {
        let mut waited = Duration::ZERO;
        let limits = worker.patience.silent(self.steps_to_do());
        let parts = self.threads.iter().map(|thread| thread.parts.len());
        let parts = parts.max().unwrap_or(0).max(1);
        for part in 1..=parts {
            let began = Instant::now();
            let answer = worker.go(limits)?;
            waited += began.elapsed();
            match answer {
                FromDriver::Measured(measured) if part == parts => return Ok((measured, waited)),
                FromDriver::Part if part < parts => {
                    let mut threads = self.threads.iter();
                    threads.try_for_each(|thread| thread.write_part(part, self.values))?;
                }
                other => return Err(worker.process.unexpected(&other)),
            }
        }
        Err(HarnessError::invalid("a block has one part at least"))
    }

    fn steps_to_do(&self) -> u64 {
        let threads = self.threads.iter().map(|thread| &thread.dealt);
        let steps = threads.map(|dealt| dealt.lead_in.saturating_add(dealt.operations));
        steps.fold(0, u64::saturating_add)
    }

    /// The share of the timed operations among those that are done between `go` and the answer: of
    /// several threads, each has run its lead-in before.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub(super) fn timed_share(&self) -> f64 {
        match &self.threads[..] {
            [Thread { dealt, .. }] => {
                dealt.operations as f64 / (dealt.lead_in + dealt.operations).max(1) as f64
            }
            _ => 1.0,
        }
    }

    /// The timed steps of all threads, one after the other.
    pub(super) fn timed(&self) -> Result<Vec<Window<'_>>, HarnessError> {
        let windows = self
            .threads
            .iter()
            .map(|thread| Ok(thread.dealt.windows()?[1]));
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
            all.push((bytes, thread.dealt.windows()?[1]));
        }
        Ok(all)
    }

    /// What must be in the store afterwards of the values that the steps changed.
    pub(super) fn expected(&self) -> Result<Expected, HarnessError> {
        let mut expected = Expected::default();
        for thread in &self.threads {
            let [lead_in, timed] = thread.dealt.windows()?;
            expected.add(steps(&lead_in).chain(steps(&timed)), &thread.versions);
        }
        Ok(expected)
    }
}

/// Has a worker give values another version, untimed, in one transaction.
pub(super) fn replace(
    workload: &Workload,
    values: &Values,
    steps: &[Step],
    version: u32,
    worker: &mut Worker,
) -> Result<(), HarnessError> {
    let raw: Vec<RawStep> = steps.iter().map(|step| step.encode()).collect();
    let dealt = Dealt::new(&[], &raw)?;
    let (payloads, versions) = ((PayloadSource::Prepared, values), Versions::all(version));
    let thread = Thread::new(dealt, workload, payloads, versions, Vec::new())?;
    let shares = Shares {
        threads: vec![thread],
        values,
        payloads: PayloadSource::Prepared,
    };
    shares.ready(workload, worker, false)?;
    shares.go(worker).map(|_| ())
}
