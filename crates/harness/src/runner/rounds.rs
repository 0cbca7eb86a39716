//! Rounds of a comparison: sizes of its blocks, sequences, and block after block until it is decided.

use super::clock::{COUNTING, Expected, PILOTS, ROUNDS, STORES, VERIFICATION};
use super::resumption::pairs;
use super::spoiled::{ATTEMPTS, attempt};
use super::{BlockSize, Ended, Event, Runner, SPARE_ROUNDS};
use crate::block_size::{equal_blocks, equal_transactions};
use crate::job::{BlockTask, Job};
use crate::random::Random;
use crate::{HarnessError, sequence};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;
use stowplan_analysis::{LOOKS, contrast_of_control, interim, undecided};
use stowplan_dataset::sequence::Part;
use stowplan_model::{
    BlockKind, CacheState, Cell, CellId, Comparison, Contrast, EffectiveSettings, Measurement,
    Record, Role, Settings, Warning, WarningKind,
};

/// From this time of an operation on, nanoseconds, ratio blocks take latencies themselves: reading the
/// clock for each operation costs some 40 ns, 0.2% of that.
const SLOW_NS: u64 = 20_000;

impl Runner<'_> {
    /// Rounds until every contrast is decided, the cap is reached, or the time is over.
    pub(super) fn compare(
        &mut self,
        comparison: &Comparison,
        index: usize,
    ) -> Result<Ended, HarnessError> {
        self.during(STORES, |runner| runner.pool.warm(comparison))?;
        let sizes = self.during(PILOTS, |runner| runner.block_sizes(comparison))?;
        self.warn_of_short_blocks(comparison, &sizes)?;
        self.warn_of_long_rounds(comparison)?;
        let deadline = self.deadline(comparison, index);
        let mut measured = self.earlier.measured(comparison);
        let first = self.earlier.next_round(comparison);
        let lacking = self.lacking_rounds(comparison, &measured);
        let expected = Expected {
            round: self.rounds_seconds(std::slice::from_ref(comparison), 1),
            later: self.rounds_seconds(&self.later(index), LOOKS[0]),
        };
        let mut ended = Ended::Decided;
        let mut rounds = 0.0;
        let began = Instant::now();
        for done in 0..lacking.saturating_add(SPARE_ROUNDS) {
            let going_on = self.earlier.going_on(comparison);
            let known = interim(&going_on, &measured, &self.options.rule);
            self.observer.event(Event::SoFar {
                comparison,
                known: &known,
            });
            let open = known.into_iter().filter(|interim| !interim.decided);
            let open: Vec<Contrast> = open.map(|interim| interim.contrast).collect();
            if open.is_empty() || self.earlier.baseline_failed(comparison) {
                break;
            }
            let to_come = lacking.saturating_sub(done).max(1);
            let counted = self.cap(comparison).saturating_sub(to_come);
            // A round that would end too late is not begun, nor one of ten of which the last would.
            let one = began.elapsed() / done.max(1);
            let to_first_look = LOOKS[0].min(self.cap(comparison)).saturating_sub(counted);
            let needed = match done {
                0 | 1 => one,
                _ => one * to_first_look.max(1),
            };
            if deadline
                .as_ref()
                .is_some_and(|deadline| Instant::now() + needed >= deadline(counted))
            {
                ended = Ended::Budget;
                break;
            }
            let active = active(comparison, &open);
            if self.wants_builds(comparison, &measured, done) {
                self.rebuild(comparison, &active, done == 0)?;
            }
            let progress = RoundProgress {
                round: first + done,
                done,
                counted,
                until: next_look(counted, comparison.max_rounds),
                latencies: takes_latencies(first + done),
                open: &open,
                began,
                expected,
            };
            self.during(ROUNDS, |runner| {
                runner.round(comparison, &sizes, &active, &progress, &mut measured)?;
                runner.log.settle()
            })?;
            rounds += 1.0;
        }
        if rounds > 0.0 && expected.round > 0.0 {
            self.rounds_pace = began.elapsed().as_secs_f64() / (expected.round * rounds);
        }
        self.during(COUNTING, |runner| runner.explain(comparison, &sizes))?;
        self.during(VERIFICATION, |runner| runner.finish(comparison))?;
        self.note_evictions(comparison);
        Ok(ended)
    }

    /// The most rounds of a comparison.
    pub(super) fn cap(&self, comparison: &Comparison) -> u32 {
        comparison.max_rounds.min(self.options.rule.max_rounds)
    }

    /// How many rounds the contrast with the fewest pairs lacks; that of the control counts as one,
    /// for nothing is claimed without it.
    pub(super) fn lacking_rounds(&self, comparison: &Comparison, measured: &[Measurement]) -> u32 {
        let cap = self.cap(comparison);
        let going_on = self.earlier.going_on(comparison);
        let open = undecided(&going_on, measured, &self.options.rule);
        let of_control = contrast_of_control(&going_on).filter(|_| !open.is_empty());
        let contrasts = open.iter().chain(&of_control);
        let lacking = contrasts.map(|contrast| cap.saturating_sub(pairs(measured, contrast)));
        lacking.max().unwrap_or(0)
    }

    /// How many operations a block of each cell holds (R4).
    pub(super) fn block_sizes(
        &mut self,
        comparison: &Comparison,
    ) -> Result<BTreeMap<CellId, BlockSize>, HarnessError> {
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
            let known = same.or_else(|| Some((self.earlier.size(cell)?, None)));
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
        self.beyond.insert(comparison.id.clone(), beyond.sum());
        Ok(sizes)
    }

    /// The size of a cell's blocks, and the nanoseconds of an operation where they were tried for it.
    pub(super) fn pilot(
        &mut self,
        cell: &Cell,
        sequences: &Sequences,
    ) -> Result<(BlockSize, Option<f64>), HarnessError> {
        let count = self.count(&cell.dataset);
        if let Some(size) = BlockSize::given(cell, count) {
            return Ok((size, None));
        }
        let cache_bytes = self.plan.study.memory_budget;
        let trial = BlockSize::trial(cell, count, cache_bytes);
        // The faster of two: a disturbed trial would make all blocks of the cell short.
        let mut fastest: Option<Measurement> = None;
        for position in 0..2 {
            let first = u64::from(position) * (trial.lead_in + trial.operations);
            let task = BlockTask {
                position,
                ..self.task(cell, sequences, BlockKind::Pilot, trial, first)
            };
            let (measured, _) = self.job(cell)?.measure(&task)?;
            if fastest
                .as_ref()
                .is_none_or(|fastest| measured.wall_ns < fastest.wall_ns)
            {
                fastest = Some(measured);
            }
        }
        Ok(fastest.map_or((trial, None), |fastest| {
            #[expect(clippy::cast_precision_loss, reason = "an estimate")]
            let each = fastest.wall_ns as f64 / fastest.operations.max(1) as f64;
            let size = BlockSize::from_trial(cell, &fastest, count, cache_bytes);
            (size, Some(each))
        }))
    }

    /// Whoever goes by the first estimate is to know; a budget is kept all the same.
    pub(super) fn warn_of_long_rounds(
        &mut self,
        comparison: &Comparison,
    ) -> Result<(), HarnessError> {
        let this = std::slice::from_ref(comparison);
        let cap = self.cap(comparison);
        let (thought, now) = (
            crate::plan::rounds_seconds(this, cap),
            self.rounds_seconds(this, cap),
        );
        if now <= 2.0 * thought || self.options.budget.is_some() {
            return Ok(());
        }
        let [thought, now] = [thought, now].map(crate::plan::duration);
        self.remark(
            format!(
                "Comparison {}: by its first blocks up to {cap} rounds take about {now}, not {thought} as was estimated.",
                comparison.id
            ),
            "Give its workload fewer operations, or the run a --budget.",
        )
    }

    /// A handful of operations says little, and the readings around them weigh more than they do.
    pub(super) fn warn_of_short_blocks(
        &mut self,
        comparison: &Comparison,
        sizes: &BTreeMap<CellId, BlockSize>,
    ) -> Result<(), HarnessError> {
        const FEW: u64 = 30;
        // A table is made or dropped once.
        let about_values = |cell: &&Cell| !cell.workload.is_about_tables();
        let cells = comparison.cells.iter().filter(about_values);
        let fewest = cells
            .filter_map(|cell| sizes.get(&cell.id))
            .map(|size| size.operations)
            .min();
        let Some(operations) = fewest.filter(|operations| *operations < FEW) else {
            return Ok(());
        };
        self.remark(format!(
                "Comparison {}: its blocks hold {operations} operations only, too few for what one of them costs.",
                comparison.id
            ), "Give the dataset more values, or the workload more operations.")
    }

    /// One round: every active cell once, in fresh random order; in the first rounds once more
    /// for latencies.
    pub(super) fn round(
        &mut self,
        comparison: &Comparison,
        sizes: &BTreeMap<CellId, BlockSize>,
        active: &[&Cell],
        progress: &RoundProgress<'_>,
        measured: &mut Vec<Measurement>,
    ) -> Result<(), HarnessError> {
        let sequences = self.write_sequences(comparison, progress.round, sizes)?;
        let mut order: Vec<&Cell> = active.to_vec();
        let seed = sequence::seed(
            self.options.seed,
            &format!("{}/order", comparison.id),
            progress.round,
        );
        let mut random = Random::new(seed);
        sequence::shuffle(&mut order, &mut random);
        // Ordered sequences are the same in each round; their keys should not be (R3).
        let count = comparison
            .cells
            .first()
            .map_or(0, |cell| self.count(&cell.dataset));
        let begin = random.below(count);
        let mut next: BTreeMap<PathBuf, u64> = BTreeMap::new();
        let kinds = [BlockKind::Ratio, BlockKind::Latency];
        for kind in kinds.into_iter().take(1 + usize::from(progress.latencies)) {
            for (position, cell) in order.iter().enumerate() {
                let closed = cell.workload.rate.is_none();
                let slow = !comparison.measure.is_time() || (closed && is_slow(&cell.id, measured));
                let Some(size) = sizes.get(&cell.id).filter(|_| !self.skipped(cell)) else {
                    continue;
                };
                // Its next ratio block takes them, where there is one.
                if slow && kind == BlockKind::Latency && self.cap(comparison) > 1 {
                    continue;
                }
                let size = if kind == BlockKind::Latency {
                    size.for_latency()
                } else {
                    *size
                };
                let met = self.on_build(comparison, cell, progress.round);
                let next = next.entry(sequences.of(cell)).or_insert(begin);
                let first = *next;
                *next += size.steps();
                let task = BlockTask {
                    round: progress.round,
                    position: u32::try_from(position).unwrap_or(u32::MAX),
                    latencies: slow || kind == BlockKind::Latency,
                    ..self.task(&met, &sequences, kind, size, first)
                };
                match self.block(&met, &task) {
                    Ok(Some(measurement)) => {
                        self.tell(cell, &measurement, progress);
                        if kind == BlockKind::Ratio {
                            measured.push(measurement);
                        }
                    }
                    Ok(None) => {}
                    Err(error) => self.cell_failed(cell, error)?,
                }
            }
        }
        Ok(())
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

    pub(super) fn job(&self, cell: &Cell) -> Result<Job, HarnessError> {
        self.blocks.job(cell, self.pool.paths(cell))
    }

    /// Measures one block, again if a covariate says that it did not measure what it should (R9),
    /// and appends it to the result. Nothing if it read from storage each time.
    pub(super) fn block(
        &mut self,
        cell: &Cell,
        task: &BlockTask,
    ) -> Result<Option<Measurement>, HarnessError> {
        let count = self.count(&cell.dataset);
        let attempted = attempt(
            cell,
            |repeats| {
                let task = BlockTask {
                    // Not the keys that the discarded block has just brought into the CPU's caches.
                    first: task.first + u64::from(repeats) * count * 2 / 5,
                    ..task.clone()
                };
                self.job(cell)?.measure(&task)
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
            self.log.append(&Record::Measurement(measurement.clone()))?;
            if self.plan.statistic_of(&cell.id).is_time() {
                measurement.without_latencies();
            }
            self.earlier.note(Record::Measurement(measurement.clone()));
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
    pub(super) fn note_effective(
        &mut self,
        cell: &Cell,
        settings: Settings,
    ) -> Result<(), HarnessError> {
        if !self.earlier.effective.insert(cell.id.clone()) {
            return Ok(());
        }
        self.log.append(&Record::Effective(EffectiveSettings {
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
    ) -> Result<Sequences, HarnessError> {
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
        let alike = comparison
            .cells
            .iter()
            .filter(|other| other.workload.order == cell.workload.order);
        let steps = alike.map(|cell| match sizes.get(&cell.id) {
            Some(size) => size.steps(),
            None => BlockSize::most_steps(
                cell,
                self.count(&cell.dataset),
                self.plan.study.memory_budget,
            ),
        });
        steps.max().unwrap_or(1).max(1)
    }

    pub(super) fn tell(
        &mut self,
        cell: &Cell,
        measurement: &Measurement,
        progress: &RoundProgress<'_>,
    ) {
        let time = measurement.corrected_ns().unwrap_or(measurement.wall_ns);
        #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
        let nanoseconds = time as f64 / measurement.operations.max(1) as f64;
        let eta_seconds = self.eta_seconds(progress);
        self.observer.event(Event::Block {
            cell,
            nanoseconds,
            round: progress.counted,
            until: progress.until,
            open_contrasts: progress.open.len(),
            eta_seconds,
        });
    }
}

/// Whether the operations of a cell are slow by the last block that was measured of it.
fn is_slow(cell: &CellId, measured: &[Measurement]) -> bool {
    let last = measured.iter().rfind(|block| block.cell == *cell);
    last.is_some_and(|block| block.wall_ns >= block.operations.max(1).saturating_mul(SLOW_NS))
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
    LOOKS
        .iter()
        .copied()
        .find(|look| *look > round)
        .unwrap_or(cap)
        .min(cap)
}

/// The sequence of each cell in a round.
pub(super) struct Sequences(BTreeMap<CellId, PathBuf>);

impl Sequences {
    pub(super) fn of(&self, cell: &Cell) -> PathBuf {
        self.0.get(&cell.id).cloned().unwrap_or_default()
    }
}

/// Where a comparison stands.
pub(super) struct RoundProgress<'a> {
    /// The number of the round.
    pub(super) round: u32,
    /// Rounds that this session has measured before it.
    pub(super) done: u32,
    /// Rounds before it that count, those of earlier sessions included.
    pub(super) counted: u32,
    pub(super) until: u32,
    /// Whether each cell is measured once more, for latencies.
    pub(super) latencies: bool,
    /// Contrasts that are not decided.
    pub(super) open: &'a [Contrast],
    pub(super) began: Instant,
    pub(super) expected: Expected,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_slow_by_the_last_of_its_own_blocks() {
        let block = |cell: &str, each_ns: u64| Measurement {
            cell: CellId(cell.to_owned()),
            operations: 100,
            wall_ns: 100 * each_ns,
            ..Measurement::default()
        };
        let slow = |measured: &[Measurement]| is_slow(&CellId("c/a".to_owned()), measured);
        assert!(!slow(&[]), "nothing is known of it");
        assert!(slow(&[
            block("c/a", 5),
            block("c/a", 20_000),
            block("c/b", 5)
        ]));
        assert!(!slow(&[block("c/a", 20_000), block("c/a", 19_999)]));
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
