//! A block as its driver gets it: the steps of each thread, and files for them.

use super::verify::Expected;
use super::worker::Worker;
use super::{BlockTask, Job, Values};
use crate::shared_file::SharedFile;
use crate::{HarnessError, Result};
use std::collections::{HashMap, HashSet};
use std::io::{Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use stowplan_dataset::payloads::{self, Versions};
use stowplan_dataset::sequence::{RawStep, Sequence, Step, Window, file_of, slices, steps};
use stowplan_model::{
    Action, FromDriver, Measured, Operation, PayloadSource, Payloads, PerTransaction, Run,
    Settings, Share, ToDriver, Workload,
};

/// The most memory that the values of a part take, of all threads together. Tests have few values, and
/// blocks of several parts nevertheless.
const MOST_PREPARED_BYTES: usize = if cfg!(test) { 64 << 10 } else { 128 << 20 };

/// The steps of a block, dealt to its threads.
pub(super) struct Shares {
    threads: Vec<Thread>,
    payloads: PayloadSource,
}

/// What one thread does, as its driver is told of it.
struct Thread {
    share: Share,
    sequence: Sequence,
    versions: Versions,
    /// The values that are generated for it, part by part; nothing where it writes none, or the dataset's own.
    generated: Option<SharedFile>,
    /// Other files that its share names.
    kept: Vec<SharedFile>,
}

impl Thread {
    /// One that does a part of a sequence, and writes nothing yet.
    fn of(path: &Path, first: u64, lead_in: u64, operations: u64) -> Result<Self> {
        Ok(Self {
            share: Share {
                sequence: path.to_owned(),
                first,
                lead_in,
                operations,
                ..Share::default()
            },
            sequence: Sequence::open(path)?,
            versions: Versions::all(0),
            generated: None,
            kept: Vec::new(),
        })
    }

    /// One with a sequence of its own: its lead-in and its timed steps.
    fn dealt(lead_in: &[RawStep], timed: &[RawStep]) -> Result<Self> {
        let mut file = SharedFile::create()?;
        // A sequence has one step at least; this one is never done.
        let nothing = [Step::reading(1, 0).encode()];
        let written = match lead_in.len() + timed.len() {
            0 => file_of(&[[&nothing, &[]]]),
            _ => file_of(&[[lead_in, &[]], [timed, &[]]]),
        };
        let put = (&mut file.file()).write_all(&written);
        file.checked(put)?;
        let mut thread = Self::of(file.path(), 0, lead_in.len() as u64, timed.len() as u64)?;
        thread.kept.push(file);
        Ok(thread)
    }

    fn windows(&self) -> Result<[Window<'_>; 2]> {
        let timed = self.share.first.saturating_add(self.share.lead_in);
        Ok([
            self.sequence.window(self.share.first, self.share.lead_in)?,
            self.sequence.window(timed, self.share.operations)?,
        ])
    }

    /// Its steps, with those of its lead-in.
    fn steps(&self) -> Result<impl DoubleEndedIterator<Item = Step> + '_> {
        let [lead_in, timed] = self.windows()?;
        Ok(steps(&lead_in).chain(steps(&timed)))
    }

    /// Prepares the values that it writes, of these versions and in parts of so many steps, and writes those of the
    /// first part. One that writes none, or draws them itself, needs no more.
    fn writing(
        &mut self,
        workload: &Workload,
        (source, values): (PayloadSource, &Values),
        versions: Versions,
        parts: Vec<u64>,
    ) -> Result<()> {
        (self.versions, self.share.parts) = (versions, parts);
        let puts = workload.pattern().iter().any(|action| action.puts());
        if !puts || workload.is_about_tables() || source == PayloadSource::Timed {
            return Ok(());
        }
        let (file, offsets) = match &values.dataset {
            Some(dataset) if workload.operation == Operation::Insert => {
                let offsets = self.steps()?.map(|step| dataset.offset(step.key));
                (dataset.values_file(), SharedFile::of_numbers(offsets)?)
            }
            _ => {
                let Share { lead_in, parts, .. } = &self.share;
                let (offsets, end) = payloads::layout(&self.windows()?, *lead_in, parts);
                let file = SharedFile::of_length(end.max(1))?;
                let path = file.path().to_owned();
                self.generated = Some(file);
                (path, SharedFile::of_numbers(offsets.into_iter())?)
            }
        };
        self.share.payloads = Some(Payloads {
            values: file,
            offsets: offsets.path().to_owned(),
        });
        self.kept.push(offsets);
        self.write_part(0, values)
    }

    /// Writes the values of a part; with the first one those of the lead-in.
    fn write_part(&self, number: usize, values: &Values) -> Result<()> {
        let Share {
            lead_in,
            operations,
            parts,
            ..
        } = &self.share;
        let whole = [*operations];
        let parts = if parts.is_empty() { &whole[..] } else { parts };
        // Others may have more parts.
        let Some((generated, length)) = self.generated.as_ref().zip(parts.get(number)) else {
            return Ok(());
        };
        let index = |steps: u64| usize::try_from(steps).unwrap_or(usize::MAX);
        let before: u64 = parts.iter().take(number).sum();
        let [leading, timed] = self.windows()?;
        let part = slices(&timed, &(index(before)..index(before + length)));
        let (windows, first) = match number {
            0 => (&[leading, part][..], 0),
            _ => (&[part][..], index(lead_in + before)),
        };
        let mut file = generated.file();
        let fill = |key, version, out: &mut [u8]| values.fill(key, version, out);
        let written = file
            .rewind()
            .and_then(|()| payloads::write(&mut file, windows, &self.versions, first, &fill));
        written.map_err(HarnessError::io("write", generated.path()))
    }

    /// Has it take latencies.
    fn taking_latencies(&mut self) -> Result<()> {
        let file = SharedFile::create()?;
        self.share.latencies = Some(file.path().to_owned());
        self.kept.push(file);
        Ok(())
    }
}

/// Cuts the timed steps of a thread into parts, between which the clock stands still while values are
/// generated: memory stays bounded however much is written. `threads` do so at a time; where they are
/// several, parts end where transactions do: one that is open between two parts could keep another
/// thread from reaching the end of its own, and both would wait for ever. What is one transaction is
/// then prepared whole. Nothing: it is one part.
fn parts(job: &Job, source: PayloadSource, window: &Window<'_>, threads: usize) -> Vec<u64> {
    let generated = job.workload.operation != Operation::Insert || job.paths.dataset.is_none();
    if !job.parts || !generated || source == PayloadSource::Timed || job.workload.is_about_tables()
    {
        return Vec::new();
    }
    let unit = match threads {
        0 | 1 => 1,
        _ => usize::try_from(job.workload.group().max(1)).unwrap_or(usize::MAX),
    };
    let cut = payloads::cut(window, (MOST_PREPARED_BYTES / threads.max(1)) as u64, unit);
    if cut.len() > 1 { cut } else { Vec::new() }
}

impl Shares {
    /// Those of a block: `first` and `lead_in` say where it lies in its sequence.
    pub(super) fn of(
        worker: &Worker<'_>,
        task: &BlockTask,
        (first, lead_in): (u64, u64),
    ) -> Result<Self> {
        let Worker { job, values, .. } = *worker;
        let threads = usize::try_from(job.workload.threads).unwrap_or(1).max(1);
        // Data that someone brought along is visited as they like.
        let repeats = job.workload.order.repeats() || values.dataset.is_none();
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
        let mut shares = Self {
            threads: dealt,
            payloads: task.payloads,
        };
        for (number, thread) in (0u32..).zip(&mut shares.threads) {
            let parts = parts(job, task.payloads, &thread.windows()?[1], threads);
            let versions = Versions::new(task.version, number, repeats, &thread.windows()?);
            thread.writing(&job.workload, (task.payloads, values), versions, parts)?;
            if task.latencies {
                thread.taking_latencies()?;
            }
        }
        Ok(shares)
    }

    /// Has the driver make the block ready; returns the settings that the engine reports.
    pub(super) fn ready(
        &self,
        workload: &Workload,
        worker: &mut Worker<'_>,
        counting: bool,
    ) -> Result<Settings> {
        let largest = worker.values.dataset.as_ref().filter(|_| workload.scans());
        worker.ready(&ToDriver::Run(Run {
            at: worker.at.clone(),
            workload: workload.clone(),
            threads: self.threads.iter().map(|t| t.share.clone()).collect(),
            payloads: self.payloads,
            largest: largest.map_or(0, |dataset| dataset.largest() as u64),
            counting,
        }))
    }

    /// Has it do the block, part by part; with how long that was waited for, without the values of parts.
    pub(super) fn go(&self, worker: &mut Worker<'_>) -> Result<(Measured, Duration)> {
        let mut waited = Duration::ZERO;
        let shares = self.threads.iter().map(|thread| &thread.share);
        let steps = shares
            .clone()
            .map(|s| s.lead_in.saturating_add(s.operations));
        let steps = steps.fold(0, u64::saturating_add);
        let limits = worker.process.patience.silent(steps);
        let parts = shares.map(|share| share.parts.len());
        let parts = parts.max().unwrap_or(0).max(1);
        for part in 1..=parts {
            let began = Instant::now();
            let answer = worker.go(limits)?;
            waited += began.elapsed();
            match answer {
                FromDriver::Measured(measured) if part == parts => return Ok((measured, waited)),
                FromDriver::Part if part < parts => {
                    let mut threads = self.threads.iter();
                    threads.try_for_each(|thread| thread.write_part(part, worker.values))?;
                }
                other => return Err(worker.process.unexpected(&other)),
            }
        }
        Err(HarnessError::invalid("a block has one part at least"))
    }

    /// The share of the timed operations among those that are done between `go` and the answer: of
    /// several threads, each has run its lead-in before.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub(super) fn timed_share(&self) -> f64 {
        match &self.threads[..] {
            [Thread { share, .. }] => {
                share.operations as f64 / (share.lead_in + share.operations).max(1) as f64
            }
            _ => 1.0,
        }
    }

    /// The timed steps of all threads, one after the other.
    pub(super) fn timed(&self) -> Result<Vec<Window<'_>>> {
        let windows = self.threads.iter().map(|thread| Ok(thread.windows()?[1]));
        windows.collect()
    }

    /// What each thread wrote of its latencies, with its timed steps.
    pub(super) fn latencies(&self) -> impl Iterator<Item = Result<(Vec<u8>, Window<'_>)>> {
        self.threads.iter().filter_map(|thread| {
            let file = thread.share.latencies.as_ref()?;
            let bytes = std::fs::read(file).map_err(HarnessError::io("read", file));
            Some(bytes.and_then(|bytes| Ok((bytes, thread.windows()?[1]))))
        })
    }

    /// What must be in the store afterwards of the values that the steps changed.
    pub(super) fn expected(&self) -> Result<Expected> {
        let mut expected = Expected::default();
        for thread in &self.threads {
            expected.add(thread.steps()?, &thread.versions);
        }
        Ok(expected)
    }
}

impl Worker<'_> {
    /// Has it give values another version, untimed, in one transaction.
    pub(super) fn replace(
        &mut self,
        workload: &Workload,
        steps: &[RawStep],
        version: u32,
    ) -> Result<()> {
        let payloads = PayloadSource::Prepared;
        let (source, versions) = ((payloads, self.values), Versions::all(version));
        let mut thread = Thread::dealt(&[], steps)?;
        thread.writing(workload, source, versions, Vec::new())?;
        let shares = Shares {
            threads: vec![thread],
            payloads,
        };
        shares.ready(workload, self, false)?;
        shares.go(self).map(|_| ())
    }
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
            let fewest = (0..shares.len()).min_by_key(|thread| shares[*thread].len());
            next = fewest.unwrap_or(0);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stowplan_dataset::Generator;
    use stowplan_dataset::sequence::write_steps;
    use stowplan_model::{AccessOrder, Content, DatasetSpec, Mix, SizeDistribution};

    #[test]
    fn payloads_are_the_generators_bytes_of_the_version_large_ones_on_page_boundaries() {
        let spec = DatasetSpec {
            count: 12,
            size: SizeDistribution::Uniform {
                min: 1,
                max: 10_000,
            },
            content: Content::Random,
            seed: 5,
            from: None,
        };
        let values = Values {
            dataset: None,
            generator: Generator::new(&spec).unwrap(),
        };
        let overwriting = |key| {
            let size = u32::try_from(values.generator.size(key)).unwrap();
            let action = Action::Overwrite;
            let step = Step {
                action,
                ..Step::reading(key, size)
            };
            step.encode()
        };
        let steps: Vec<_> = (1..=12).map(overwriting).collect();
        let workload = Workload {
            operation: Operation::Overwrite,
            ..Workload::default()
        };
        let mut thread = Thread::dealt(&[], &steps).unwrap();
        let source = (PayloadSource::Prepared, &values);
        let written = thread.writing(&workload, source, Versions::all(9), Vec::new());
        written.unwrap();
        let files = thread.share.payloads.as_ref().unwrap();
        let bytes = std::fs::read(&files.values).unwrap();
        let offsets = std::fs::read(&files.offsets).unwrap();
        let offsets = offsets.as_chunks().0.iter().map(|o| u64::from_le_bytes(*o));
        for (key, offset) in (1..=12).zip(offsets) {
            let length = values.generator.size(key);
            let start = usize::try_from(offset).unwrap();
            let value = &bytes[start..start + length];
            assert!(values.generator.matches(key, 9, value), "key {key}");
            assert!(length < 8 || !values.generator.matches(key, 8, value));
            let unit = if length < 4096 { 64 } else { 4096 };
            assert!(start.is_multiple_of(unit), "{key}");
        }
    }

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
