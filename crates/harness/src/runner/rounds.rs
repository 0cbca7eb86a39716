//! Rounds of a comparison: sizes of its blocks, sequences, and block after block until it is decided.

use super::clock::{COUNTING, Deadline, PILOTS, ROUNDS, STORES, VERIFICATION};
use super::recorded::Standing;
use super::spoiled::{ATTEMPTS, attempt};
use super::{BlockSize, Ended, Event, Runner, SPARE_ROUNDS};
use crate::block_size::{equal_blocks, equal_transactions};
use crate::job::BlockTask;
use crate::random::Random;
use crate::{Result, sequence};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use stowplan_analysis::LOOKS;
use stowplan_dataset::sequence::Part;
use stowplan_model::{
    BlockKind, CacheState, Cell, CellId, Comparison, Contrast, EffectiveSettings, Measurement,
    Record, Role, Settings, Warning, WarningKind,
};

/// From this time of an operation on, nanoseconds, ratio blocks take latencies themselves: reading the
/// clock for each operation costs some 40 ns, 0.2% of that.
const SLOW_NS: u64 = 20_000;

/// The rounds of a comparison in this session.
pub(super) struct Course {
    sizes: BTreeMap<CellId, BlockSize>,
    /// The number of the first.
    first: u32,
    /// How many were measured to their end.
    done: u32,
    /// How many may be.
    most: u32,
    began: Instant,
    deadline: Option<Deadline>,
    /// Whether the last round was not measured to its end, because the time of the session was.
    is_broken_off: bool,
    /// After how many rounds stores were built anew the last time.
    rebuilt: Option<u32>,
    /// Seconds that each was thought to take.
    each_seconds: f64,
    /// Seconds that the comparisons to come are thought to take.
    later_seconds: f64,
}

/// A step of a comparison.
enum Step {
    /// Its stores are built anew.
    Rebuild,
    Round,
    End(Ended),
}

impl Runner<'_> {
    /// Rounds until every contrast is decided, the cap is reached, or the time is over.
    pub(super) fn compare(&mut self, comparison: &Comparison, index: usize) -> Result<Ended> {
        let mut course = self.course(comparison, index)?;
        let ended = loop {
            let standing = self.standing(comparison);
            self.observer.event(Event::SoFar {
                comparison,
                known: &standing.known,
            });
            match self.next_step(comparison, &course, &standing) {
                Step::Rebuild => {
                    let active = active(comparison, &standing.open);
                    self.rebuild(comparison, &active, course.done == 0)?;
                    course.rebuilt = Some(course.done);
                }
                Step::Round => self.during(ROUNDS, |runner| {
                    runner.round(comparison, &mut course, &standing)?;
                    runner.log.settle()
                })?,
                Step::End(ended) => break ended,
            }
        };
        self.during(COUNTING, |runner| runner.explain(comparison, &course.sizes))?;
        self.during(VERIFICATION, |runner| runner.finish(comparison))?;
        self.note_evictions(comparison);
        Ok(ended)
    }

    /// Prepares the rounds of a comparison: its stores are in memory, and its blocks have their sizes.
    fn course(&mut self, comparison: &Comparison, index: usize) -> Result<Course> {
        self.during(STORES, |runner| runner.pool.warm(comparison))?;
        let sizes = self.during(PILOTS, |runner| runner.block_sizes(comparison))?;
        self.warn_of_short_blocks(comparison, &sizes)?;
        let lacking = self.cap(comparison) - self.standing(comparison).counted;
        Ok(Course {
            sizes,
            first: self.recorded.next_round(comparison),
            done: 0,
            most: lacking.saturating_add(SPARE_ROUNDS),
            deadline: self.deadline(comparison, index),
            began: Instant::now(),
            is_broken_off: false,
            rebuilt: None,
            each_seconds: self.rounds_seconds(std::slice::from_ref(comparison), 1),
            later_seconds: self.rounds_seconds(&self.later(index), LOOKS[0]),
        })
    }

    /// Decides what is done next, by what was recorded of a comparison and by the time.
    fn next_step(&self, comparison: &Comparison, course: &Course, standing: &Standing) -> Step {
        let rebuilt = course.rebuilt == Some(course.done);
        match () {
            () if standing.is_over() || course.done == course.most => Step::End(Ended::Decided),
            () if course.is_broken_off => Step::End(Ended::Budget),
            // What was decided before stores were built stands: their time is not that of a round.
            () if !rebuilt && self.is_late(comparison, course, standing) => {
                Step::End(Ended::Budget)
            }
            () if !rebuilt && self.wants_builds(comparison, course.done) => Step::Rebuild,
            () => Step::Round,
        }
    }

    /// Whether a round that would be begun now would end too late, or the last of the ten that the first look needs.
    fn is_late(&self, comparison: &Comparison, course: &Course, standing: &Standing) -> bool {
        let one = course.began.elapsed() / course.done.max(1);
        let first_look = LOOKS[0].min(self.cap(comparison));
        let needed = match course.done {
            0 | 1 => one,
            _ => one * first_look.saturating_sub(standing.counted).max(1),
        };
        let deadline = course.deadline.as_ref();
        let is_past =
            |deadline: &Deadline| Instant::now() + needed >= deadline.after(standing.counted);
        let round = self.known_round(active(comparison, &standing.open));
        deadline.is_some_and(is_past) || !ends_in_time(self.time_left(), round)
    }

    /// How long a round of cells takes, as far as they were measured in this session.
    pub(super) fn known_round<'c>(&self, cells: impl IntoIterator<Item = &'c Cell>) -> Duration {
        let known = cells.into_iter().filter_map(|cell| self.took.get(&cell.id));
        known.sum()
    }

    /// Where a comparison stands by the record.
    pub(super) fn standing(&self, comparison: &Comparison) -> Standing {
        self.recorded.standing(comparison, &self.options.rule)
    }

    /// The most rounds of a comparison.
    pub(super) fn cap(&self, comparison: &Comparison) -> u32 {
        comparison.max_rounds.min(self.options.rule.max_rounds)
    }

    /// How many operations a block of each cell holds (R4).
    pub(super) fn block_sizes(
        &mut self,
        comparison: &Comparison,
    ) -> Result<BTreeMap<CellId, BlockSize>> {
        let mut sizes: BTreeMap<CellId, BlockSize> = BTreeMap::new();
        // Nanoseconds of an operation, by a pilot.
        let mut each: BTreeMap<CellId, f64> = BTreeMap::new();
        let sequences = self.write_sequences(comparison, u32::MAX, &sizes)?;
        for cell in &comparison.cells {
            if self.skipped(cell) {
                continue;
            }
            // The control does exactly what the baseline does.
            let baseline = comparison.with_role(Role::Baseline);
            let baseline = baseline.filter(|_| cell.role == Role::Control);
            let same = baseline.and_then(|baseline| {
                let size = sizes.get(&baseline.id).copied()?;
                Some((size, each.get(&baseline.id).copied()))
            });
            let known = same.or_else(|| Some((self.recorded.size(cell)?, None)));
            match known.map_or_else(|| self.pilot(cell, &sequences), Ok) {
                Ok((size, took)) => {
                    sizes.insert(cell.id.clone(), size);
                    each.extend(took.map(|took| (cell.id.clone(), took)));
                }
                Err(error) => self.cell_failed(cell, error)?,
            }
        }
        let first = comparison.cells.first();
        let count = first.map_or(0, |cell| self.count(&cell.dataset));
        equal_transactions(&comparison.cells, &mut sizes, count);
        if !comparison.measure.is_time() {
            let least = comparison.measure.least_operations();
            equal_blocks(&comparison.cells, &mut sizes, least, count);
        }
        let blocks = each.iter();
        let beyond = blocks.filter_map(|(id, each)| Some(sizes.get(id)?.seconds_beyond(*each)));
        if !each.is_empty() {
            self.beyond.insert(comparison.id.clone(), beyond.sum());
        }
        Ok(sizes)
    }

    /// The size of a cell's blocks, and the nanoseconds of an operation where they were tried for it.
    pub(super) fn pilot(
        &mut self,
        cell: &Cell,
        sequences: &Sequences,
    ) -> Result<(BlockSize, Option<f64>)> {
        let count = self.count(&cell.dataset);
        if let Some(size) = BlockSize::given(cell, count) {
            return Ok((size, None));
        }
        let cache_bytes = self.plan.study.memory_budget;
        let trial = BlockSize::trial(cell, count, cache_bytes);
        let mut trials = Vec::new();
        for position in 0..2 {
            let first = u64::from(position) * (trial.lead_in + trial.operations);
            let task = BlockTask {
                position,
                ..self.task(cell, sequences, BlockKind::Pilot, trial, first)
            };
            trials.push(self.pool.job(cell)?.measure(&task)?.0);
        }
        // The faster of two: a disturbed trial would make all blocks of the cell short.
        let fastest = trials.into_iter().min_by_key(|measured| measured.wall_ns);
        Ok(fastest.map_or((trial, None), |fastest| {
            #[expect(clippy::cast_precision_loss, reason = "an estimate")]
            let each = fastest.wall_ns as f64 / fastest.operations.max(1) as f64;
            let size = BlockSize::from_trial(cell, &fastest, count, cache_bytes);
            (size, Some(each))
        }))
    }

    /// A handful of operations says little, and the readings around them weigh more than they do.
    pub(super) fn warn_of_short_blocks(
        &mut self,
        comparison: &Comparison,
        sizes: &BTreeMap<CellId, BlockSize>,
    ) -> Result<()> {
        const FEW: u64 = 30;
        // A table is made or dropped once.
        let cells = comparison
            .cells
            .iter()
            .filter(|cell| !cell.workload.is_about_tables());
        let sizes = cells.filter_map(|cell| sizes.get(&cell.id));
        let fewest = sizes.map(|size| size.operations).min();
        let Some(operations) = fewest.filter(|operations| *operations < FEW) else {
            return Ok(());
        };
        let id = &comparison.id;
        let message = format!(
            "Comparison {id}: its blocks hold {operations} operations only, too few for what one of them costs."
        );
        let advice = "Give the dataset more values, or the workload more operations.";
        self.remark(message, advice)
    }

    /// One round: every active cell once, in fresh random order; in some rounds once more for latencies. It is
    /// broken off before a block that would end after the time of the session.
    fn round(
        &mut self,
        comparison: &Comparison,
        course: &mut Course,
        standing: &Standing,
    ) -> Result<()> {
        let round = course.first + course.done;
        let sequences = self.write_sequences(comparison, round, &course.sizes)?;
        let mut order = active(comparison, &standing.open);
        let seed = format!("{}/order", comparison.id);
        let mut random = Random::new(sequence::seed(self.options.seed, &seed, round));
        sequence::shuffle(&mut order, &mut random);
        // Ordered sequences are the same in each round; their keys should not be (R3).
        let first = comparison.cells.first();
        let count = first.map_or(0, |cell| self.count(&cell.dataset));
        let begin = random.below(count);
        let mut next: BTreeMap<PathBuf, u64> = BTreeMap::new();
        let kinds = [BlockKind::Ratio, BlockKind::Latency].into_iter();
        for kind in kinds.take(1 + usize::from(takes_latencies(round))) {
            for (position, cell) in (0..).zip(&order) {
                let slow = self.recorded.last_of(cell).is_some_and(is_slow);
                let slow = slow && cell.workload.rate.is_none() || !comparison.measure.is_time();
                // The next ratio block of a slow one takes them, where there is one.
                let is_idle = slow && kind == BlockKind::Latency && self.cap(comparison) > 1;
                let size = course.sizes.get(&cell.id);
                let Some(size) = size.filter(|_| !is_idle && !self.skipped(cell)).copied() else {
                    continue;
                };
                if !ends_in_time(self.time_left(), self.known_round([*cell])) {
                    course.is_broken_off = true;
                    let cells = u32::try_from(order.len()).unwrap_or(u32::MAX);
                    self.keep_pace(course, f64::from(position) / f64::from(cells));
                    return Ok(());
                }
                let begun = Instant::now();
                let size = match kind {
                    BlockKind::Latency => size.for_latency(),
                    _ => size,
                };
                let met = self.on_build(comparison, cell, round);
                let next = next.entry(sequences.of(cell)).or_insert(begin);
                let first = *next;
                *next += size.steps();
                let task = BlockTask {
                    round,
                    position,
                    latencies: slow || kind == BlockKind::Latency,
                    ..self.task(&met, &sequences, kind, size, first)
                };
                match self.block(&met, &task) {
                    Ok(Some(block)) => self.tell(comparison, cell, &block, (course, standing)),
                    Ok(None) => {}
                    Err(error) => self.cell_failed(cell, error)?,
                }
                if kind == BlockKind::Ratio {
                    self.took.insert(cell.id.clone(), begun.elapsed());
                }
            }
        }
        course.done += 1;
        self.keep_pace(course, 0.0);
        Ok(())
    }

    /// Notes how long the rounds of a comparison took over what was thought of them, with a part of one more.
    fn keep_pace(&mut self, course: &Course, part: f64) {
        let thought = course.each_seconds * (f64::from(course.done) + part);
        if thought > 0.0 {
            self.rounds_pace = course.began.elapsed().as_secs_f64() / thought;
        }
    }

    /// A block of a cell, which begins at a step of its sequence.
    pub(super) fn task(
        &mut self,
        cell: &Cell,
        sequences: &Sequences,
        block: BlockKind,
        size: BlockSize,
        first: u64,
    ) -> BlockTask {
        let sequence = sequences.of(cell);
        BlockTask {
            first,
            version: self.pool.next_version(cell),
            ..BlockTask::new(block, &sequence, size.lead_in, size.operations)
        }
    }

    /// Measures one block, again if a covariate says that it did not measure what it should (R9),
    /// and appends it to the result. Nothing if it read from storage each time.
    pub(super) fn block(&mut self, cell: &Cell, task: &BlockTask) -> Result<Option<Measurement>> {
        let count = self.count(&cell.dataset);
        let attempted = attempt(
            cell,
            |repeats| {
                let task = BlockTask {
                    // Not the keys that the discarded block has just brought into the CPU's caches.
                    first: task.first + u64::from(repeats) * count * 2 / 5,
                    ..task.clone()
                };
                self.pool.job(cell)?.measure(&task)
            },
            || self.pool.warm_one(cell),
        )?;
        self.note_effective(cell, attempted.effective)?;
        if attempted.warmed {
            self.pool.of_mut(cell).is_read_in_again = true;
        }
        let mut measurement = attempted.measurement;
        // Where data is evicted before each block, how it came in before is the same for all.
        measurement.read_in_again =
            cell.workload.cache == CacheState::Warm && self.pool.of(cell).is_read_in_again;
        measurement.build = self.pool.of(cell).number;
        if !attempted.read_from_storage {
            self.record(Record::Measurement(measurement.clone()))?;
            return Ok(Some(measurement));
        }
        self.warn(Warning {
            kind: WarningKind::Repeated,
            message: format!(
                "{} read from storage in {ATTEMPTS} warm blocks in a row (round {}); the round has no figure for it",
                cell.id, task.round
            ),
            advice: "Free some memory: the data does not stay in the page cache.".to_owned(),
        })?;
        Ok(None)
    }

    /// Keeps the settings that a cell's engine reports, once.
    pub(super) fn note_effective(&mut self, cell: &Cell, settings: Settings) -> Result<()> {
        if self.recorded.effective.contains(&cell.id) {
            return Ok(());
        }
        self.record(Record::Effective(EffectiveSettings {
            cell: cell.id.clone(),
            settings,
        }))
    }

    /// Writes the round's sequences: one for each order that cells visit keys in, and each part of the keys.
    /// `sizes` are those of the blocks, as far as they are known.
    pub(super) fn write_sequences(
        &self,
        comparison: &Comparison,
        round: u32,
        sizes: &BTreeMap<CellId, BlockSize>,
    ) -> Result<Sequences> {
        let mut written = BTreeSet::new();
        let mut sequences = Sequences(BTreeMap::new());
        let seed = sequence::seed(self.options.seed, &comparison.id, round);
        for cell in &comparison.cells {
            let (workload, part) = (&cell.workload, part_of(comparison, cell));
            let name = format!("{}-{}-of-{}", workload.order, part.number, part.of);
            let path = self.options.work.join(format!("sequence-{name}.bin"));
            if written.insert(path.clone()) {
                let dataset = self.pool.opened(&cell.dataset)?;
                let steps = if workload.order.repeats() || workload.changes_keys() {
                    self.largest_block(comparison, cell, sizes)
                } else {
                    part.count(dataset.count(), workload.order)
                };
                sequence::write(&path, dataset, workload, steps, seed, part)?;
            }
            sequences.0.insert(cell.id.clone(), path);
        }
        Ok(sequences)
    }

    /// Steps of the largest block among the cells of a comparison that visit keys in the same order
    /// as `cell`.
    pub(super) fn largest_block(
        &self,
        comparison: &Comparison,
        cell: &Cell,
        sizes: &BTreeMap<CellId, BlockSize>,
    ) -> u64 {
        let (cells, order) = (comparison.cells.iter(), cell.workload.order);
        let alike = cells.filter(|other| other.workload.order == order);
        let budget = self.plan.study.memory_budget;
        let steps = alike.map(|cell| match sizes.get(&cell.id) {
            Some(size) => size.steps(),
            None => BlockSize::most_steps(cell, self.count(&cell.dataset), budget),
        });
        steps.max().unwrap_or(1).max(1)
    }

    fn tell(
        &mut self,
        comparison: &Comparison,
        cell: &Cell,
        block: &Measurement,
        (course, standing): (&Course, &Standing),
    ) {
        let time = block.corrected_ns().unwrap_or(block.wall_ns);
        let until = next_look(standing.counted, comparison.max_rounds);
        let to_come = until.saturating_sub(standing.counted + 1);
        #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
        let nanoseconds = time as f64 / block.operations.max(1) as f64;
        let estimate = course.each_seconds * f64::from(to_come) + course.later_seconds;
        let eta_seconds = self.in_time_left(estimate * self.rounds_pace);
        self.observer.event(Event::Block {
            cell,
            nanoseconds,
            round: standing.counted,
            until,
            open_contrasts: standing.open.len(),
            eta_seconds,
        });
    }
}

/// Whether what took so long the last time ends within so many seconds, if any are set.
fn ends_in_time(left: Option<f64>, last: Duration) -> bool {
    left.is_none_or(|left| left > last.as_secs_f64())
}

/// Whether the operations of a block are slow.
fn is_slow(block: &Measurement) -> bool {
    block.wall_ns >= block.operations.max(1).saturating_mul(SLOW_NS)
}

/// Whether latency blocks are taken besides in a round: in every second of the first ten, and in every
/// fourth that follows, so that percentiles are of the whole session.
fn takes_latencies(round: u32) -> bool {
    match round {
        0..10 => round.is_multiple_of(2),
        _ => round % 4 == 2,
    }
}

/// The keys that a cell visits: all, or its own ones, where others write to the same build.
fn part_of(comparison: &Comparison, cell: &Cell) -> Part {
    if !cell.shares_writes() {
        return Part::ALL;
    }
    let cells = comparison.cells.iter();
    let sharing = cells.filter(|other| other.instance == cell.instance);
    let sharing: Vec<&CellId> = sharing.map(|other| &other.id).collect();
    let number = sharing.iter().position(|id| **id == cell.id).unwrap_or(0);
    Part {
        number: number as u64,
        of: sharing.len().max(1) as u64,
    }
}

/// The cells that still take part: those of open contrasts, and the baseline with its control. All
/// of them where some are rungs of a ladder: they are subtracted from each other round by round.
fn active<'c>(comparison: &'c Comparison, open: &[Contrast]) -> Vec<&'c Cell> {
    let ladder = comparison.with_role(Role::Part).is_some();
    let wanted = |cell: &&Cell| {
        ladder
            || matches!(cell.role, Role::Baseline | Role::Control)
            || open
                .iter()
                .any(|c| c.cell == cell.id || c.reference == cell.id)
    };
    comparison.cells.iter().filter(wanted).collect()
}

/// The next round count at which contrasts are looked at.
fn next_look(round: u32, cap: u32) -> u32 {
    let next = LOOKS.into_iter().find(|look| *look > round);
    next.unwrap_or(cap).min(cap)
}

/// The sequence of each cell in a round.
pub(super) struct Sequences(BTreeMap<CellId, PathBuf>);

impl Sequences {
    pub(super) fn of(&self, cell: &Cell) -> PathBuf {
        self.0.get(&cell.id).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_slow_by_the_time_of_its_operations() {
        let slow = |each_ns: u64| {
            is_slow(&Measurement {
                operations: 100,
                wall_ns: 100 * each_ns,
                ..Measurement::default()
            })
        };
        assert_eq!((slow(19_999), slow(20_000)), (false, true));
    }

    #[test]
    fn no_block_begins_that_would_end_after_the_time_if_it_took_as_long_as_the_last_one() {
        let last = Duration::from_secs(30);
        assert!(ends_in_time(None, last), "without a budget");
        assert!(ends_in_time(Some(31.0), last));
        assert!(!ends_in_time(Some(30.0), last));
        assert!(
            ends_in_time(Some(0.1), Duration::ZERO),
            "nothing is known of it"
        );
        assert!(!ends_in_time(Some(0.0), Duration::ZERO));
    }

    #[test]
    fn latencies_are_taken_in_rounds_of_the_whole_session() {
        let rounds: Vec<u32> = (0..40).filter(|round| takes_latencies(*round)).collect();
        assert_eq!(rounds, [0, 2, 4, 6, 8, 10, 14, 18, 22, 26, 30, 34, 38]);
    }

    #[test]
    fn looks_come_after_ten_twenty_and_forty_rounds_or_at_the_cap() {
        let looks: Vec<u32> = [0, 9, 10, 19, 20, 39].map(|r| next_look(r, 40)).to_vec();
        assert_eq!(looks, [10, 10, 20, 20, 40, 40]);
        assert_eq!((next_look(0, 5), next_look(12, 15)), (5, 15));
    }
}
