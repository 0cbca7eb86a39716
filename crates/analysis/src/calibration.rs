//! What a calibration shows: how truly the program itself measures on a machine.
//!
//! A calibration is a run like any other, of comparisons whose answers are known beforehand
//! (`studies/calibrate.toml`, docs/calibration.md): stores that do nothing or last a set time, stores
//! compared with themselves, and files that were evicted. Here its result is held against what is
//! known.

mod cold;
mod proportion;
mod series;

pub use cold::{ColdFinding, WarmFinding};
pub use proportion::Proportion;
pub use series::{Series, UnusableSessions, VerdictCounts};

use crate::gathered::Gathered;
use crate::latency;
use crate::{Analysis, AnalysisError, CellSummary, ComparisonOutcome, Estimate, Interval, Metric};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_model::{BlockKind, Cell, CellId, Measurement, Record, Role, Value};

/// The name of the study that is a calibration.
pub const STUDY: &str = "calibrate";

/// What the harness may cost per operation of a ratio block, nanoseconds (docs/calibration.md).
pub const RATIO_BUDGET_NS: f64 = 15.0;
/// What it may cost per operation of a latency block, nanoseconds (docs/calibration.md).
pub const LATENCY_BUDGET_NS: f64 = 50.0;
/// By how much a known cost may be missed, nanoseconds: what counts for short operations.
pub const ALLOWED_NS: f64 = 15.0;
/// By how much a known cost may be missed, as a share of it: what counts for long ones.
pub const ALLOWED_SHARE: f64 = 0.03;
/// The same while other processes keep the CPUs busy.
pub const ALLOWED_SHARE_BUSY: f64 = 0.05;
/// How often the procedure may claim a difference between two identical cells.
pub const FALSE_CLAIMS: f64 = 0.05;
/// How often the interval of a known difference must hold it, at least.
pub const COVERAGE: f64 = 0.95;
/// The share of planned sessions that may say nothing before the rest of them shows nothing.
pub const MOST_UNUSABLE: f64 = 0.10;

/// Intervals of single figures miss with this probability at most.
const ALPHA: f64 = 0.05;

/// How a figure stands against its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitStatus {
    /// The figure and its whole interval are within the limit.
    Met,
    /// The figure is within the limit; its interval reaches beyond.
    Unsure,
    /// The figure is beyond the limit.
    Missed,
    /// There is no figure: too little was measured, a cell failed, or too many sessions say
    /// nothing.
    Unknown,
}

impl LimitStatus {
    /// Of a figure and its interval; `within` tells whether a value is within the limit, which is
    /// an interval.
    fn of(found: Option<Interval>, within: impl Fn(f64) -> bool) -> Self {
        match found {
            None => Self::Unknown,
            Some(found) if !within(found.estimate) => Self::Missed,
            Some(found) if within(found.low) && within(found.high) => Self::Met,
            Some(_) => Self::Unsure,
        }
    }

    /// Whether nothing speaks against it.
    #[must_use]
    pub fn passes(self) -> bool {
        matches!(self, Self::Met | Self::Unsure)
    }
}

/// Everything that a calibration shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// Whether every figure with a limit is within it.
    pub passed: bool,
    /// What reading the clock costs, and its steps.
    pub clock: ClockFinding,
    /// What the harness costs per operation of a ratio block: nothing takes no time.
    pub ratio_cost: KnownCost,
    /// What it costs per operation of a latency block.
    pub latency_cost: KnownCost,
    /// Known costs as they were recovered.
    pub known: KnownCosts,
    /// The same while other processes kept the CPUs busy; nothing where none were asked for.
    pub busy: Option<KnownCosts>,
    /// Identical cells.
    pub identical: Series,
    /// The same by what was compared with itself.
    pub identical_parts: Vec<Series>,
    /// Cells whose difference is known, by rising difference.
    pub different: Vec<Series>,
    /// Blocks that were to be cold, a finding for each store.
    pub cold: Vec<ColdFinding>,
    /// Blocks that were to be warm.
    pub warm: WarmFinding,
}

/// What is known of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClockFinding {
    /// Nanoseconds that one reading takes.
    pub reading_ns: Option<Interval>,
    /// The smallest difference between two times that were told apart, nanoseconds: the clock's
    /// resolution or better. Nothing where no two times differed.
    pub step_ns: Option<u64>,
}

/// Costs that were known beforehand, measured in the same rounds.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct KnownCosts {
    /// What the comparison is called.
    pub title: String,
    /// Mean share of wall time that its blocks waited for a CPU.
    pub delay_share: Option<f64>,
    /// The costs, by rising cost.
    pub costs: Vec<KnownCost>,
}

/// A cost that was known beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct KnownCost {
    /// What each operation lasts, nanoseconds.
    pub known_ns: f64,
    /// What was found, nanoseconds: the time of the cell less that of the store that does nothing,
    /// of the same rounds; of that store itself, its time.
    pub found_ns: Option<Interval>,
    /// How far the known cost may be missed, nanoseconds.
    pub allowed_ns: f64,
    /// Rounds that it rests on; of the store that does nothing, blocks.
    pub rounds: usize,
    /// Whether the known cost was recovered.
    pub status: LimitStatus,
}

impl KnownCost {
    /// Of what was found in rounds, nanoseconds.
    fn of(found: &[f64], known_ns: f64, allowed_ns: f64) -> Self {
        let found_ns = located(found);
        let within = |value: f64| (value - known_ns).abs() <= allowed_ns;
        Self {
            known_ns,
            found_ns,
            allowed_ns,
            rounds: found.len(),
            status: LimitStatus::of(found_ns, within),
        }
    }

    /// What was found less what is known, nanoseconds.
    #[must_use]
    pub fn error_ns(&self) -> Option<f64> {
        self.found_ns.map(|found| found.estimate - self.known_ns)
    }
}

/// What a run shows that was a calibration; nothing of any other run.
///
/// # Errors
/// As [`crate::analyse`], which `analysis` is of.
pub fn calibration(
    records: &[Record],
    analysis: &Analysis,
) -> Result<Option<Calibration>, AnalysisError> {
    if !is_calibration(&analysis.run.plan.study.name, analysis) {
        return Ok(None);
    }
    let gathered = Gathered::from(records)?;
    Ok(Some(found(&Run {
        analysis,
        gathered: &gathered,
    })))
}

/// A study of that name could be someone's own; it would not have these comparisons.
fn is_calibration(name: &str, analysis: &Analysis) -> bool {
    let has = |id: &str| analysis.comparisons.iter().any(|c| c.id == id);
    name == STUDY && has("clock") && has("known")
}

/// A run as it is looked at here.
pub(crate) struct Run<'a> {
    analysis: &'a Analysis,
    gathered: &'a Gathered<'a>,
}

impl<'a> Run<'a> {
    fn comparison(&self, id: &str) -> Option<&'a ComparisonOutcome> {
        self.analysis.comparisons.iter().find(|c| c.id == id)
    }

    /// The comparisons of a series: `aa-files-01` and so on.
    fn series(
        &self,
        pattern: &'static str,
    ) -> impl Iterator<Item = &'a ComparisonOutcome> + use<'a> {
        self.analysis
            .comparisons
            .iter()
            .filter(move |c| c.id.starts_with(pattern))
    }

    /// The blocks of a cell of one kind.
    fn blocks(
        &self,
        cell: &CellId,
        kind: BlockKind,
    ) -> impl Iterator<Item = &'a Measurement> + use<'a> {
        let measured = self.gathered.measurements(cell).iter().copied();
        measured.filter(move |m| m.block == kind && m.operations > 0)
    }
}

fn found(run: &Run<'_>) -> Calibration {
    let known = |id, share| {
        run.comparison(id)
            .map(|outcome| known_costs(outcome, share))
    };
    let (identical, identical_parts) = series::identical(run);
    let mut calibration = Calibration {
        passed: false,
        clock: clock(run),
        ratio_cost: cost_of_nothing(run, BlockKind::Ratio, RATIO_BUDGET_NS),
        latency_cost: cost_of_nothing(run, BlockKind::Latency, LATENCY_BUDGET_NS),
        known: known("known", ALLOWED_SHARE).unwrap_or_default(),
        busy: known("known-busy", ALLOWED_SHARE_BUSY),
        identical,
        identical_parts,
        different: series::different(run),
        cold: cold::cold(run),
        warm: cold::warm(run),
    };
    let mut statuses = calibration.statuses().into_values();
    calibration.passed = statuses.all(LimitStatus::passes);
    calibration
}

/// What a figure with a limit is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// The cost of the harness.
    Harness,
    /// Known costs.
    Known,
    /// Known costs beside busy processes.
    Busy,
    /// Claims about identical cells.
    Identical,
    /// Known differences.
    Different,
    /// Cold blocks.
    Cold,
    /// Warm blocks.
    Warm,
}

impl Calibration {
    /// How each subject stands: as its worst figure; where it has none, nothing is known.
    #[must_use]
    pub fn statuses(&self) -> BTreeMap<Subject, LimitStatus> {
        let worst = |statuses: Vec<LimitStatus>| statuses.into_iter().max();
        let known = |costs: &KnownCosts| worst(costs.costs.iter().map(|c| c.status).collect());
        let different = self.different.iter().map(|series| series.status);
        let cold = self.cold.iter().map(|cold| cold.status);
        let mut all = vec![
            (
                Subject::Harness,
                Some(self.ratio_cost.status.max(self.latency_cost.status)),
            ),
            (Subject::Known, known(&self.known)),
            (Subject::Identical, Some(self.identical.status)),
            (Subject::Different, worst(different.collect())),
            (Subject::Cold, worst(cold.collect())),
            (Subject::Warm, Some(self.warm.status)),
        ];
        all.extend(self.busy.iter().map(|busy| (Subject::Busy, known(busy))));
        let statuses = all.into_iter();
        statuses
            .map(|(subject, status)| (subject, status.unwrap_or(LimitStatus::Unknown)))
            .collect()
    }
}

/// The location of some values: Hodges and Lehmann's estimate with its 95% interval; of fewer than
/// ten the median and the range.
fn located(values: &[f64]) -> Option<Interval> {
    let found = Estimate::hodges_lehmann(values, ALPHA).map(Interval::from);
    found.or_else(|| Interval::range(values))
}

/// Nanoseconds per operation of a cell, by round.
fn times(cell: &CellSummary) -> BTreeMap<u32, f64> {
    cell.series
        .iter()
        .map(|(round, log)| (*round, log.exp()))
        .collect()
}

/// Nanoseconds per operation of a cell less those of another one, of the rounds that both have.
fn differences(cell: &CellSummary, nothing: &CellSummary) -> Vec<f64> {
    let nothing = times(nothing);
    let rounds = times(cell).into_iter();
    rounds
        .filter_map(|(round, time)| Some(time - nothing.get(&round)?))
        .collect()
}

fn baseline(outcome: &ComparisonOutcome) -> Option<&CellSummary> {
    let mut cells = outcome.cells.iter();
    cells.find(|cell| cell.cell.role == Role::Baseline)
}

fn candidates(outcome: &ComparisonOutcome) -> impl Iterator<Item = &CellSummary> {
    let cells = outcome.cells.iter();
    cells.filter(|cell| cell.cell.role == Role::Candidate)
}

/// A number among the settings of a cell's store.
#[expect(clippy::cast_precision_loss, reason = "below 2^53")]
fn setting(cell: &Cell, name: &str) -> f64 {
    match cell.settings.get(name) {
        Some(Value::Number(number)) => *number as f64,
        _ => 0.0,
    }
}

fn known_costs(outcome: &ComparisonOutcome, share: f64) -> KnownCosts {
    let nothing = baseline(outcome);
    let costs = candidates(outcome).map(|cell| {
        let known_ns = setting(&cell.cell, "base");
        let found = nothing.map_or_else(Vec::new, |nothing| differences(cell, nothing));
        KnownCost::of(&found, known_ns, ALLOWED_NS.max(share * known_ns))
    });
    let mut costs: Vec<KnownCost> = costs.collect();
    costs.sort_by(|a, b| a.known_ns.total_cmp(&b.known_ns));
    KnownCosts {
        title: outcome.title.clone(),
        delay_share: outcome.delay_share,
        costs,
    }
}

fn clock(run: &Run<'_>) -> ClockFinding {
    let outcome = run.comparison("clock");
    let cells = outcome.and_then(|outcome| Some((candidates(outcome).next()?, baseline(outcome)?)));
    let reading_ns = cells.and_then(|(readings, nothing)| {
        let number = setting(&readings.cell, "clock");
        let each = differences(readings, nothing)
            .into_iter()
            .map(|difference| difference / number.max(1.0));
        located(&each.collect::<Vec<f64>>())
    });
    let blocks = idle_cells(run).flat_map(|cell| run.blocks(cell, BlockKind::Latency));
    let texts = blocks.filter_map(|block| block.latency.as_deref());
    ClockFinding {
        reading_ns,
        step_ns: step(texts),
    }
}

/// Times below this have a histogram bucket of their own for each nanosecond (three digits).
const EXACT_BELOW_NS: u64 = 2048;

/// The smallest difference between two of the times in these histograms. A clock whose steps are no
/// whole nanoseconds shows each of its times as one of two neighbours.
fn step<'a>(histograms: impl Iterator<Item = &'a str>) -> Option<u64> {
    let mut times = BTreeSet::new();
    for histogram in histograms.filter_map(|text| latency::decode(text).ok()) {
        let recorded = histogram
            .iter_recorded()
            .map(|value| value.value_iterated_to());
        times.extend(recorded.take_while(|time| *time < EXACT_BELOW_NS));
    }
    // Runs of neighbours: first and last.
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for time in times {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == time => *last = time,
            _ => runs.push((time, time)),
        }
    }
    if runs.iter().any(|(first, last)| last - first > 1) {
        return Some(1);
    }
    runs.windows(2).map(|pair| pair[1].0 - pair[0].0).min()
}

/// The cells whose store does nothing at all, while nothing was to disturb them.
fn idle_cells<'a>(run: &Run<'a>) -> impl Iterator<Item = &'a CellId> + use<'a> {
    let quiet = ["clock", "known"].map(|id| run.comparison(id));
    let cells = quiet.into_iter().flatten().flat_map(|c| &c.cells);
    let idle = |cell: &&CellSummary| matches!(cell.cell.role, Role::Baseline | Role::Control);
    cells.filter(idle).map(|cell| &cell.cell.id)
}

/// What an operation of the store that does nothing takes, in blocks of a kind.
#[expect(clippy::cast_precision_loss, reason = "times and counts below 2^53")]
fn cost_of_nothing(run: &Run<'_>, kind: BlockKind, budget_ns: f64) -> KnownCost {
    let blocks = idle_cells(run).flat_map(|cell| run.blocks(cell, kind));
    let each = blocks.map(|block| {
        let time = block.corrected_ns().unwrap_or(block.wall_ns);
        time as f64 / block.operations as f64
    });
    KnownCost::of(&each.collect::<Vec<f64>>(), 0.0, budget_ns)
}

/// Which time the figures are of: wall time, unless every comparison could be corrected. (Those of
/// cold blocks, which sleep, are counts of pages.)
#[must_use]
pub fn metric_of(analysis: &Analysis) -> Metric {
    let wall = |outcome: &ComparisonOutcome| outcome.metric == Metric::Wall && !outcome.sleeps;
    match analysis.comparisons.iter().any(wall) {
        true => Metric::Wall,
        false => Metric::Corrected,
    }
}
