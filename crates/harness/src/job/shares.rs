//! A block as its driver gets it: the steps of each thread, and files for them.

use super::payloads::{Versions, Written, parts};
use super::verify::Expected;
use super::worker::Worker;
use super::{BlockTask, Job, Values};
use crate::HarnessError;
use crate::shared_file::SharedFile;
use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stowplan_dataset::sequence::{RawStep, Sequence, Step, Window, file_of, len, slices, steps};
use stowplan_model::{
    Action, FromDriver, Measured, PayloadSource, PerTransaction, Run, Settings, Share, ToDriver,
    Workload,
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
    path: PathBuf,
    /// From which step on.
    first: u64,
    lead_in: u64,
    operations: u64,
    /// The sequence, where it is this thread's alone.
    _file: Option<SharedFile>,
    versions: Versions,
    written: Written,
    parts: Vec<u64>,
    latencies: Option<SharedFile>,
}

impl Thread {
    /// One that does a part of a sequence, and writes nothing yet.
    fn of(path: &Path, first: u64, lead_in: u64, operations: u64) -> Result<Self, HarnessError> {
        Ok(Self {
            sequence: Sequence::open(path)?,
            path: path.to_owned(),
            first,
            lead_in,
            operations,
            _file: None,
            versions: Versions::all(0),
            written: Written::Nothing,
            parts: Vec::new(),
            latencies: None,
        })
    }

    /// One with a sequence of its own: its lead-in and its timed steps.
    fn dealt(lead_in: &[RawStep], timed: &[RawStep]) -> Result<Self, HarnessError> {
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
        let (lead_in, timed) = (lead_in.len() as u64, timed.len() as u64);
        let whole = Self::of(file.path(), 0, lead_in, timed)?;
        Ok(Self {
            _file: Some(file),
            ..whole
        })
    }

    fn windows(&self) -> Result<[Window<'_>; 2], HarnessError> {
        let timed = self.first.saturating_add(self.lead_in);
        Ok([
            self.sequence.window(self.first, self.lead_in)?,
            self.sequence.window(timed, self.operations)?,
        ])
    }

    /// With the values of its first part written, which are of these versions.
    fn writing(
        mut self,
        workload: &Workload,
        (source, values): (PayloadSource, &Values),
        versions: Versions,
        parts: Vec<u64>,
    ) -> Result<Self, HarnessError> {
        let [lead_in, timed] = &self.windows()?;
        self.written = Written::of(workload, source, values, [lead_in, timed], &parts)?;
        (self.versions, self.parts) = (versions, parts);
        self.write_part(0, values)?;
        Ok(self)
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
    ) -> Result<Self, HarnessError> {
        let threads = usize::try_from(job.workload.threads).unwrap_or(1).max(1);
        // Data that someone brought along is visited as they like.
        let repeats = job.workload.order.repeats() || job.paths.dataset.is_none();
        let whole = Thread::of(&task.sequence, first, lead_in, task.operations)?;
        let dealt = if threads == 1 {
            vec![whole]
        } else {
            let windows = whole.windows()?;
            let [lead_ins, timed] = windows.map(|window| deal(&window, &job.workload, threads));
            let both = lead_ins.iter().zip(&timed);
            both.map(|(lead_in, timed)| Thread::dealt(lead_in, timed))
                .collect::<Result<_, _>>()?
        };
        let shares = (0u32..).zip(dealt).map(|(number, thread)| {
            let [lead_in, timed] = thread.windows()?;
            let parts = parts(job, task.payloads, &timed, threads);
            let all = steps(&lead_in).chain(steps(&timed));
            let versions = Versions::new(task.version, number, repeats, all);
            let payloads = (task.payloads, values);
            let mut thread = thread.writing(&job.workload, payloads, versions, parts)?;
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
        let steps = self.threads.iter();
        let steps = steps.map(|thread| thread.lead_in.saturating_add(thread.operations));
        steps.fold(0, u64::saturating_add)
    }

    /// The share of the timed operations among those that are done between `go` and the answer: of
    /// several threads, each has run its lead-in before.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub(super) fn timed_share(&self) -> f64 {
        match &self.threads[..] {
            [thread] => {
                thread.operations as f64 / (thread.lead_in + thread.operations).max(1) as f64
            }
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

/// Has a worker give values another version, untimed, in one transaction.
pub(super) fn replace(
    workload: &Workload,
    values: &Values,
    steps: &[Step],
    version: u32,
    worker: &mut Worker,
) -> Result<(), HarnessError> {
    let raw: Vec<RawStep> = steps.iter().map(|step| step.encode()).collect();
    let (payloads, versions) = ((PayloadSource::Prepared, values), Versions::all(version));
    let thread = Thread::dealt(&[], &raw)?;
    let thread = thread.writing(workload, payloads, versions, Vec::new())?;
    let shares = Shares {
        threads: vec![thread],
        values,
        payloads: PayloadSource::Prepared,
    };
    shares.ready(workload, worker, false)?;
    shares.go(worker).map(|_| ())
}

/// Deals the steps of a window to so many threads: transaction by transaction, each to the thread
/// that has the fewest steps (with equal transactions: one after the other). Steps on a key that is
/// inserted or deleted all go to the thread that gets the first of them, so that their order holds.
fn deal(window: &Window<'_>, workload: &Workload, threads: usize) -> Vec<Vec<RawStep>> {
    let changed: HashSet<u64> = steps(window)
        .filter(|step| matches!(step.action, Action::Insert | Action::Delete))
        .map(|step| step.key)
        .collect();
    // Where all is one transaction, each thread has one.
    let group = match workload.per_transaction {
        PerTransaction::All => 1,
        PerTransaction::Operations(_) => workload.group().max(1),
    };
    let mut owners: HashMap<u64, usize> = HashMap::new();
    let mut shares: Vec<Vec<RawStep>> = vec![Vec::new(); threads.max(1)];
    let mut next = 0;
    let raws = window.iter().copied().flatten();
    for (index, (raw, step)) in (0u64..).zip(raws.zip(steps(window))) {
        if index % group == 0 {
            next = fewest(&shares);
        }
        let thread = if changed.contains(&step.key) {
            *owners.entry(step.key).or_insert(next)
        } else {
            next
        };
        shares[thread].push(*raw);
    }
    shares
}

fn fewest(shares: &[Vec<RawStep>]) -> usize {
    let numbered = shares.iter().map(Vec::len).enumerate();
    numbered
        .min_by_key(|(_, length)| *length)
        .map_or(0, |(thread, _)| thread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stowplan_dataset::sequence::{Step, write_steps};
    use stowplan_model::{AccessOrder, Mix, Operation};

    fn drawn(workload: &Workload, count: u64, steps: u64, seed: u64) -> Vec<RawStep> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s");
        write_steps(&path, count, workload, steps, seed, |_| 1).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        bytes[16..].as_chunks().0.to_vec()
    }

    fn sorted(steps: impl IntoIterator<Item = RawStep>) -> Vec<RawStep> {
        let mut steps: Vec<RawStep> = steps.into_iter().collect();
        steps.sort_unstable();
        steps
    }

    proptest! {
        #[test]
        fn every_step_is_dealt_once_and_the_life_of_a_key_lies_with_one_thread_in_order(
            order in prop::sample::select(vec![
                AccessOrder::Random, AccessOrder::Zipfian, AccessOrder::Latest,
                AccessOrder::Lifecycle,
            ]),
            per in 1u32..9, threads in 1usize..7, seed: u64,
        ) {
            let workload = Workload {
                operation: Operation::Mix,
                order,
                per_transaction: PerTransaction::Operations(per),
                mix: Some(Mix { read: 2, overwrite: 3, insert: 1, delete: 1, ..Mix::default() }),
                ..Workload::default()
            };
            let all = drawn(&workload, 300, 200, seed);
            let shares = deal(&[&all[..90], &all[90..]], &workload, threads);
            prop_assert_eq!(shares.len(), threads);
            prop_assert_eq!(sorted(shares.iter().flatten().copied()), sorted(all.clone()));
            let changed = |step: &Step| matches!(step.action, Action::Insert | Action::Delete);
            for key in all.iter().map(Step::decode).filter(changed).map(|step| step.key) {
                let of_key = |steps: &[RawStep]| -> Vec<RawStep> {
                    steps.iter().copied().filter(|raw| Step::decode(raw).key == key).collect()
                };
                let whole = of_key(&all);
                prop_assert!(shares.iter().any(|share| of_key(share) == whole), "key {}", key);
            }
        }
    }

    #[test]
    fn transactions_of_equal_length_go_round() {
        let workload = Workload {
            per_transaction: PerTransaction::Operations(2),
            order: AccessOrder::Ascending,
            ..Workload::default()
        };
        let all = drawn(&workload, 12, 12, 0);
        let shares = deal(&[&all, &[]], &workload, 3);
        let keys = |share: &[RawStep]| -> Vec<u64> {
            share.iter().map(|raw| Step::decode(raw).key).collect()
        };
        assert_eq!(keys(&shares[0]), [1, 2, 7, 8]);
        assert_eq!(keys(&shares[1]), [3, 4, 9, 10]);
        assert_eq!(keys(&shares[2]), [5, 6, 11, 12]);
    }

    #[test]
    fn lives_are_shared_evenly() {
        let workload = Workload {
            operation: Operation::Mix,
            order: AccessOrder::Lifecycle,
            per_transaction: PerTransaction::Operations(1),
            mix: Some(Mix {
                overwrite: 10,
                insert: 1,
                delete: 1,
                ..Mix::default()
            }),
            ..Workload::default()
        };
        let all = drawn(&workload, 40, 40 * 12, 0);
        for share in deal(&[&all, &[]], &workload, 4) {
            assert_eq!(share.len(), 120);
        }
    }
}
