//! The timed blocks of one comparison, by cell and round, and what they say together: which time
//! can be trusted, how long blocks waited for a CPU, and the paired differences.

use crate::estimate::{Estimate, mean, median};
use crate::{interval::Interval, spread::Paired, tails};
use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_model::{BlockKind, Cell, CellId, Comparison, Measurement, Statistic};

/// Above this share of the wall time, CPU used by other threads of a worker makes corrected time
/// untrustworthy: run-queue delay is known for the measuring thread only (METHOD R8).
const OTHER_THREADS_LIMIT: f64 = 0.01;

/// Above this share of the wall time, time that the measuring thread slept makes corrected time a part
/// of what a user waits for: its own wait for a CPU after each sleep is subtracted, the waits of the
/// kernel's threads that do its work meanwhile are not.
const SLEEP_LIMIT: f64 = 0.05;

/// A cell's time is described by a plain 95% interval: nothing is decided on it.
const ALPHA_OF_TIMES: f64 = 0.05;

/// Which times the ratios of blocks are of (R8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Clock {
    /// Corrected time alone.
    Corrected,
    /// Wall time, because blocks sleep; a claim needs corrected time to agree in direction.
    WallAndCorrected,
    /// Wall time alone: corrected time is not known, other threads work, or waiting for a CPU is part of
    /// what is asked.
    Wall,
}

impl Clock {
    /// The time of the headline.
    pub(crate) fn metric(self) -> Metric {
        match self {
            Self::Corrected => Metric::Corrected,
            Self::WallAndCorrected | Self::Wall => Metric::Wall,
        }
    }

    /// The time that stands beside it.
    pub(crate) fn beside(self) -> Option<Metric> {
        (self == Self::WallAndCorrected).then_some(Metric::Corrected)
    }
}

/// One block per cell and round; a block measured again (after a resumed run) replaces the
/// earlier one.
#[derive(Debug, Clone)]
pub(crate) struct Blocks<'a> {
    by_cell: BTreeMap<&'a CellId, BTreeMap<u32, &'a Measurement>>,
    /// What a block's time is.
    span: Span,
    /// What of it is compared.
    figure: Figure<'a>,
}

/// What of blocks is compared.
#[derive(Debug, Clone)]
enum Figure<'a> {
    /// Their times, by the clock that they call for.
    Time,
    /// Their wall times: what is busy beside them has them wait for a CPU, and what that costs is asked.
    WallTime,
    /// A statistic of the times of their operations, in nanoseconds, which are wall times. A block that
    /// has none is left out.
    Operations(BTreeMap<(&'a CellId, u32), u64>),
}

impl Figure<'_> {
    fn of(comparison: &Comparison) -> Self {
        let mut cells = comparison.cells.iter();
        match comparison.measure {
            Statistic::Time if cells.any(|cell| cell.workload.beside.is_some()) => Self::WallTime,
            Statistic::Time => Self::Time,
            _ => Self::Operations(BTreeMap::new()),
        }
    }
}

/// Which time a ratio is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Wall time minus run-queue delay (R8).
    Corrected,
    /// Wall time: blocks sleep, other threads of the worker used CPU, or run-queue delay is unknown.
    Wall,
}

/// What the time of a block reaches over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Span {
    /// The timed operations.
    Timed,
    /// The final flush to disk as well: checkpoint, close and `syncfs`, as far as it is theirs (R10).
    WithFlush,
}

impl<'a> Blocks<'a> {
    /// The blocks that ratios of this comparison come from: its ratio blocks, or, if it has none
    /// at all, its latency blocks. (A comparison of cold reads may have only those; a clock
    /// reading per operation then adds 25 ns to tens of microseconds, and pulls ratios towards 1.)
    pub(crate) fn of(
        comparison: &'a Comparison,
        measurements: impl IntoIterator<Item = &'a Measurement>,
    ) -> Self {
        let mut ratio = Self::empty(comparison);
        let mut latency = Self::empty(comparison);
        for measurement in measurements {
            let Some(cell) = comparison.cell(&measurement.cell) else {
                continue;
            };
            match measurement.block {
                _ if measurement.operations == 0 => {}
                BlockKind::Ratio => ratio.insert(cell, measurement, comparison.measure),
                BlockKind::Latency => latency.insert(cell, measurement, comparison.measure),
                BlockKind::Pilot | BlockKind::Counting => {}
            }
        }
        if ratio.by_cell.is_empty() {
            latency
        } else {
            ratio
        }
    }

    fn empty(comparison: &Comparison) -> Self {
        Self {
            by_cell: BTreeMap::new(),
            span: Span::Timed,
            figure: Figure::of(comparison),
        }
    }

    /// The blocks with the final flush in their times.
    pub(crate) fn with_flush(&self) -> Self {
        Self {
            span: Span::WithFlush,
            ..self.clone()
        }
    }

    fn insert(&mut self, cell: &'a Cell, measurement: &'a Measurement, measure: Statistic) {
        if let Figure::Operations(figures) = &mut self.figure {
            let key = (&cell.id, measurement.round);
            match tails::of_block(measurement, measure) {
                Some(figure) => figures.insert(key, figure),
                None => figures.remove(&key),
            };
        }
        self.by_cell
            .entry(&cell.id)
            .or_default()
            .insert(measurement.round, measurement);
    }

    /// Those of rounds up to and including `last`: what was known then.
    pub(crate) fn up_to(&self, last: u32) -> Self {
        self.of_rounds(|round| round <= last)
    }

    /// Those of some rounds.
    pub(crate) fn of_rounds(&self, is_one: impl Fn(u32) -> bool) -> Self {
        let kept = |rounds: &BTreeMap<u32, &'a Measurement>| {
            let kept = rounds.iter().filter(|(round, _)| is_one(**round));
            kept.map(|(round, block)| (*round, *block)).collect()
        };
        let by_cell = self
            .by_cell
            .iter()
            .map(|(cell, rounds)| (*cell, kept(rounds)))
            .filter(|(_, rounds): &(_, BTreeMap<_, _>)| !rounds.is_empty())
            .collect();
        Self {
            by_cell,
            span: self.span,
            figure: self.figure.clone(),
        }
    }

    /// The blocks of a cell, by rising round.
    pub(crate) fn of_cell(&self, cell: &CellId) -> impl Iterator<Item = &'a Measurement> {
        self.by_cell
            .get(cell)
            .into_iter()
            .flat_map(|rounds| rounds.values().copied())
    }

    /// Operations of those blocks of a cell that have what is compared.
    pub(crate) fn operations_of(&self, cell: &CellId) -> u64 {
        let metric = self.metric();
        let compared = self.of_cell(cell).filter(|m| self.log(m, metric).is_some());
        total(compared.map(|m| m.operations))
    }

    /// Which times the ratios are of (METHOD R8): corrected time if every block knows its run-queue
    /// delay, and in the median block of each cell other threads used less than 1% of the wall
    /// time, nothing was synced, and the thread slept for at most 5%. One clock for the whole
    /// comparison, so that its ratios can be set side by side. Wall time alone where single operations
    /// are compared, and where something is busy beside a block.
    pub(crate) fn clock(&self) -> Clock {
        if !matches!(self.figure, Figure::Time) {
            return Clock::Wall;
        }
        let clocks = self.by_cell.values();
        let clocks = clocks.map(|rounds| clock_of(rounds.values().copied()));
        clocks.max().unwrap_or(Clock::Corrected)
    }

    /// The headline time.
    pub(crate) fn metric(&self) -> Metric {
        self.clock().metric()
    }

    /// Mean share of the wall time that blocks waited for a CPU (D/W), 0 to 1; nothing where no
    /// block knows.
    pub(crate) fn delay_share(&self) -> Option<f64> {
        let blocks = self.by_cell.values().flat_map(BTreeMap::values);
        let shares = blocks.filter_map(|m| Some(m.run_delay_ns? as f64 / m.wall_ns.max(1) as f64));
        let shares: Vec<f64> = shares.collect();
        (!shares.is_empty()).then(|| mean(&shares))
    }

    /// Whether every block knows how long it waited for a CPU.
    pub(crate) fn delays_known(&self) -> bool {
        let mut blocks = self.by_cell.values().flat_map(BTreeMap::values);
        blocks.all(|m| m.run_delay_ns.is_some())
    }

    /// Per round of a cell: (round, natural logarithm of nanoseconds per operation, or of the statistic
    /// that is compared).
    pub(crate) fn log_times(&self, cell: &CellId, metric: Metric) -> Vec<(u32, f64)> {
        self.of_cell(cell)
            .filter_map(|m| Some((m.round, self.log(m, metric)?)))
            .collect()
    }

    /// Per round of a cell that met one built beforehand: which build of its store.
    pub(crate) fn builds(&self, cell: &CellId) -> BTreeMap<u32, u32> {
        let blocks = self.of_cell(cell);
        blocks.filter_map(|m| Some((m.round, m.build?))).collect()
    }

    /// The logarithm of what is compared of a block.
    pub(crate) fn log(&self, m: &Measurement, metric: Metric) -> Option<f64> {
        match &self.figure {
            Figure::Time | Figure::WallTime => Some(log_time(m, metric, self.span)),
            Figure::Operations(figures) => {
                let figure = figures.get(&(&m.cell, m.round))?;
                Some(((*figure).max(1) as f64).ln())
            }
        }
    }

    /// `d_r = ln(x_cell,r / x_reference,r)` of the rounds that both cells have, by rising round (METHOD
    /// "Ratios"), with the builds that both blocks met.
    pub(crate) fn paired(&self, cell: &CellId, reference: &CellId, metric: Metric) -> Vec<Paired> {
        let Some(denominators) = self.by_cell.get(reference) else {
            return Vec::new();
        };
        self.of_cell(cell)
            .filter_map(|numerator| {
                let denominator = denominators.get(&numerator.round)?;
                let log = |block| self.log(block, metric);
                Some(Paired {
                    round: numerator.round,
                    difference: log(numerator)? - log(denominator)?,
                    builds: [numerator.build, denominator.build],
                })
            })
            .collect()
    }
}

/// Which times the blocks of one cell give; see [`Blocks::clock`].
pub(crate) fn clock_of<'a>(blocks: impl Iterator<Item = &'a Measurement> + Clone) -> Clock {
    let shares = blocks.clone().map(Measurement::other_threads_share);
    let quiet = median(shares.collect()).is_some_and(|share| share < OTHER_THREADS_LIMIT);
    if !quiet || blocks.clone().any(|m| m.run_delay_ns.is_none()) {
        return Clock::Wall;
    }
    let (sleeping, all) = blocks.fold((0, 0), |(sleeping, all), m| {
        (sleeping + usize::from(sleeps(m)), all + 1)
    });
    if 2 * sleeping > all {
        Clock::WallAndCorrected
    } else {
        Clock::Corrected
    }
}

/// Whether a block waited for the disk or for others: it synced, or its thread was neither running nor
/// waiting for a CPU for more than 5% of the time, and had asked for that.
fn sleeps(m: &Measurement) -> bool {
    let synced = m.syncs.is_some_and(|syncs| syncs.total() > 0);
    // Read from outside, switches and CPU time are of more than the timed operations.
    let told = |field: &str| m.read_from_outside.iter().all(|outside| outside != field);
    let own = told("thread_cpu_ns") && told("voluntary_switches") && m.voluntary_switches > 0;
    synced || (own && m.absent_share().is_some_and(|share| share > SLEEP_LIMIT))
}

/// The headline time of the blocks of one cell.
pub(crate) fn metric_of<'a>(blocks: impl Iterator<Item = &'a Measurement> + Clone) -> Metric {
    clock_of(blocks).metric()
}

/// The sum of what blocks counted. A number of a damaged result may be any.
pub(crate) fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// The logarithms of a series.
pub(crate) fn logs(series: &[(u32, f64)]) -> Vec<f64> {
    series.iter().map(|(_, log)| *log).collect()
}

/// Location of times given by their logarithms, in nanoseconds: estimated as ratios are. With
/// fewer rounds than an interval needs, the range of the rounds stands in its place.
pub(crate) fn location(logs: &[f64], metric: Metric) -> Option<Interval> {
    let estimate = match metric {
        Metric::Corrected => Estimate::hodges_lehmann(logs, ALPHA_OF_TIMES),
        Metric::Wall => Estimate::median(logs, ALPHA_OF_TIMES),
    };
    let located = estimate.map(Interval::from);
    let located = located.or_else(|| Interval::range(logs))?;
    Some(located.by(f64::exp))
}

/// Nanoseconds of a block by the metric. A block without run-queue delay has its wall time only,
/// but then the metric is wall time.
pub(crate) fn time_ns(measurement: &Measurement, metric: Metric) -> u64 {
    match metric {
        Metric::Corrected => measurement.corrected_ns().unwrap_or(measurement.wall_ns),
        Metric::Wall => measurement.wall_ns,
    }
}

/// Natural logarithm of the nanoseconds per operation. A block that lasted 0 ns by a coarse
/// clock counts as 1 ns, so that no block is ever discarded on its time (METHOD R9).
pub(crate) fn log_time(measurement: &Measurement, metric: Metric, span: Span) -> f64 {
    let flush = match span {
        Span::Timed => 0,
        Span::WithFlush => flush_of_timed(measurement),
    };
    let time = time_ns(measurement, metric).saturating_add(flush).max(1) as f64;
    (time / measurement.operations as f64).ln()
}

/// The timed operations' share of the final flush.
pub(crate) fn flush_of_timed(m: &Measurement) -> u64 {
    share_of_timed(m, m.outside.drain_ns)
}

/// The timed operations' share of what the flush brings to rest: what the lead-in wrote as well.
pub(crate) fn share_of_timed(m: &Measurement, whole: u64) -> u64 {
    let written = u128::from(m.operations) + u128::from(m.lead_in_operations);
    (u128::from(whole) * u128::from(m.operations) / written.max(1)) as u64
}
