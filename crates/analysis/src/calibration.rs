//! What a calibration shows: how truly the program itself measures on a machine.
//!
//! A calibration is a run like any other, of comparisons whose answers are known beforehand
//! (`studies/calibrate.toml`, docs/calibration.md): stores that do nothing or last a set time, stores
//! compared with themselves, and files that were evicted. What is known are limits of figures, and
//! every figure is held against its own in one way ([`Figure`]).

mod proportion;
mod sessions;

use crate::gathered::Gathered;
use crate::latency;
use crate::{Analysis, AnalysisError, CellSummary, ComparisonOutcome, Estimate, Interval};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_model::{BlockKind, Cell, Measurement, Plan, Record, Role};

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
/// By how much it may be missed while other processes keep the CPUs busy.
pub const ALLOWED_SHARE_BUSY: f64 = 0.05;
/// How often the procedure may claim a difference between two identical cells.
pub const FALSE_CLAIMS: f64 = 0.05;
/// How often the interval of a known difference must hold it, at least.
pub const COVERAGE: f64 = 0.95;
/// The share of planned sessions that may say nothing before the rest of them shows nothing.
pub const MOST_UNUSABLE: f64 = 0.10;

/// What the figure of sessions that say nothing is called.
pub const LEFT_OUT: &str = "unreliable or lost";

/// Intervals of single figures miss with this probability at most.
const ALPHA: f64 = 0.05;
/// What the page cache holds at once, bytes.
const PAGE_BYTES: u64 = 4096;

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
    /// Whether nothing speaks against it.
    #[must_use]
    pub fn passes(self) -> bool {
        matches!(self, Self::Met | Self::Unsure)
    }
}

/// What a figure is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureUnit {
    /// A time, in nanoseconds.
    Ns,
    /// What was found less what is known, nanoseconds.
    NsOff,
    /// What was found less what is known, as a share of what is known.
    ShareOff,
    /// A share of the wall time.
    ShareOfTime,
    /// A share of sessions.
    ShareOfSessions,
    /// Blocks.
    Blocks,
    /// Pages of files.
    Pages,
    /// Bytes.
    Bytes,
}

/// One figure, and what it may be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// What it is of.
    pub name: String,
    /// What it is counted in.
    pub unit: FigureUnit,
    /// What was found; an interval without length where it is counted, or where its interval does not
    /// count.
    pub found: Option<Interval>,
    /// The blocks, rounds, sessions or pages that it rests on.
    pub of: Option<u64>,
    /// The least that it may be.
    pub at_least: Option<f64>,
    /// The most that it may be.
    pub at_most: Option<f64>,
    /// How it stands against that; nothing where it has no limit.
    pub status: Option<LimitStatus>,
}

impl Figure {
    /// A figure that may be anything.
    fn new(name: impl Into<String>, unit: FigureUnit, found: Option<Interval>) -> Self {
        Self {
            name: name.into(),
            unit,
            found,
            of: None,
            at_least: None,
            at_most: None,
            status: None,
        }
    }

    /// A number that was counted.
    fn counted(name: impl Into<String>, unit: FigureUnit, count: Option<u64>) -> Self {
        Self::new(name, unit, count.map(|count| exactly(float(count))))
    }

    fn of(self, of: Option<u64>) -> Self {
        Self { of, ..self }
    }

    /// The figure held against its limit.
    fn within(self, at_least: Option<f64>, at_most: Option<f64>) -> Self {
        let allows = |value: f64| {
            at_least.is_none_or(|least| value >= least) && at_most.is_none_or(|most| value <= most)
        };
        let status = match self.found {
            None => LimitStatus::Unknown,
            Some(found) if !allows(found.estimate) => LimitStatus::Missed,
            Some(found) if allows(found.low) && allows(found.high) => LimitStatus::Met,
            Some(_) => LimitStatus::Unsure,
        };
        Self {
            at_least,
            at_most,
            status: Some(status),
            ..self
        }
    }

    fn at_most(self, most: f64) -> Self {
        self.within(None, Some(most))
    }

    fn at_least(self, least: f64) -> Self {
        self.within(Some(least), None)
    }
}

/// What figures are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// What reading the clock costs, and its steps.
    Clock,
    /// The cost of the harness: of a store that takes no time.
    Harness,
    /// Known costs as they were recovered.
    Known,
    /// Known costs beside busy processes.
    Busy,
    /// Claims about identical cells.
    Identical,
    /// Known differences.
    Different,
    /// Blocks that were to be cold.
    Cold,
    /// Blocks that were to be warm.
    Warm,
}

/// Figures about one thing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// What they are about.
    pub subject: Subject,
    /// The subject in words.
    pub title: String,
    /// How the worst of them stands; nothing where none has a limit.
    pub status: Option<LimitStatus>,
    /// The figures, in reading order.
    pub figures: Vec<Figure>,
}

impl Group {
    fn of(subject: Subject, title: &str, mut figures: Vec<Figure>) -> Self {
        if figures.is_empty() {
            figures.push(Figure::counted("measured", FigureUnit::Blocks, None).at_least(1.0));
        }
        Self {
            subject,
            title: title.to_owned(),
            status: figures.iter().filter_map(|figure| figure.status).max(),
            figures,
        }
    }
}

/// Everything that a calibration shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// Whether every figure with a limit is within it.
    pub passed: bool,
    /// The figures, in reading order.
    pub groups: Vec<Group>,
}

/// What a run shows that was a calibration; nothing of any other run.
///
/// # Errors
/// As [`crate::analyse`], which `analysis` is of.
pub fn calibration(
    records: &[Record],
    analysis: &Analysis,
) -> Result<Option<Calibration>, AnalysisError> {
    if !is_calibration(&analysis.run.plan) {
        return Ok(None);
    }
    let gathered = Gathered::from(records)?;
    Ok(Some(found(&Run {
        analysis,
        gathered: &gathered,
    })))
}

/// Whether a plan is of a calibration. A study of that name could be someone's own; it would not have
/// these comparisons.
#[must_use]
pub fn is_calibration(plan: &Plan) -> bool {
    let has = |id: &str| plan.comparisons.iter().any(|c| c.id == id);
    plan.study.name == STUDY && has("clock") && has("known")
}

/// A run as it is looked at here.
struct Run<'a> {
    analysis: &'a Analysis,
    gathered: &'a Gathered<'a>,
}

impl<'a> Run<'a> {
    /// The comparisons of a series: `aa-files-01` and so on.
    fn series(&self, pattern: &'static str) -> impl Iterator<Item = &'a ComparisonOutcome> {
        let comparisons = self.analysis.comparisons.iter();
        comparisons.filter(move |c| c.id.starts_with(pattern))
    }

    /// The blocks of cells of one kind.
    fn blocks(
        &self,
        cells: impl Iterator<Item = &'a CellSummary>,
        kind: BlockKind,
    ) -> Vec<&'a Measurement> {
        let blocks = cells.flat_map(|cell| self.gathered.measurements(&cell.cell.id));
        let blocks = blocks.copied();
        blocks
            .filter(|m| m.block == kind && m.operations > 0)
            .collect()
    }

    /// The blocks of the store that does nothing at all, while nothing was to disturb them.
    fn idle(&self, kind: BlockKind) -> Vec<&'a Measurement> {
        let quiet = ["clock", "known"].map(|id| self.analysis.comparison(id));
        let cells = quiet.into_iter().flatten().flat_map(|c| &c.cells);
        let idle = |cell: &&CellSummary| matches!(cell.cell.role, Role::Baseline | Role::Control);
        self.blocks(cells.filter(idle), kind)
    }
}

fn found(run: &Run<'_>) -> Calibration {
    let of = |id: &str| run.analysis.comparison(id);
    let harness = vec![
        cost_of_nothing(run, "ratio blocks", BlockKind::Ratio).at_most(RATIO_BUDGET_NS),
        cost_of_nothing(run, "latency blocks", BlockKind::Latency).at_most(LATENCY_BUDGET_NS),
    ];
    let known = of("known").map_or_else(Vec::new, |known| known_costs(known, ALLOWED_SHARE));
    // Known costs beside busy processes, and how long blocks waited for a CPU.
    let busy = of("known-busy").map(|outcome| {
        let waited = outcome.delay_share.map(exactly);
        let name = "waited for a CPU, subtracted";
        let mut figures = known_costs(outcome, ALLOWED_SHARE_BUSY);
        figures.push(Figure::new(name, FigureUnit::ShareOfTime, waited));
        Group::of(Subject::Busy, &outcome.title, figures)
    });
    let mut groups = vec![
        Group::of(Subject::Clock, "Clock", clock(run)),
        Group::of(Subject::Harness, "Cost of the harness", harness),
        Group::of(Subject::Known, "Known costs", known),
    ];
    groups.extend(busy);
    groups.extend([
        sessions::identical(run),
        sessions::different(run),
        Group::of(Subject::Cold, "Cold blocks", cold(run)),
        Group::of(Subject::Warm, "Warm blocks", warm(run)),
    ]);
    let mut statuses = groups.iter().filter_map(|group| group.status);
    Calibration {
        passed: statuses.all(LimitStatus::passes),
        groups,
    }
}

/// The location of some values: Hodges and Lehmann's estimate with its 95% interval; of fewer than
/// ten the median and the range.
fn located(values: &[f64]) -> Option<Interval> {
    let found = Estimate::hodges_lehmann(values, ALPHA).map(Interval::from);
    found.or_else(|| Interval::range(values))
}

fn exactly(value: f64) -> Interval {
    Interval::new(value, value, value)
}

fn float(count: u64) -> f64 {
    count as f64
}

/// Nanoseconds per operation of a cell less those of the baseline, of the rounds that both have.
fn over_nothing(outcome: &ComparisonOutcome, cell: &CellSummary) -> Vec<f64> {
    let nothing = outcome.baseline().into_iter();
    let nothing = nothing.flat_map(|cell| cell.series.iter().copied());
    let nothing: BTreeMap<u32, f64> = nothing.collect();
    let rounds = cell.series.iter();
    rounds
        .filter_map(|(round, log)| Some(log.exp() - nothing.get(round)?.exp()))
        .collect()
}

fn candidates(outcome: &ComparisonOutcome) -> impl Iterator<Item = &CellSummary> {
    let cells = outcome.cells.iter();
    cells.filter(|cell| cell.cell.role == Role::Candidate)
}

/// A number among the settings of a cell's store.
fn setting(cell: &Cell, name: &str) -> f64 {
    float(cell.settings.number(name))
}

/// By how much each known cost was missed, by rising cost: the time of the cell less that of the store
/// that does nothing, of the same rounds.
fn known_costs(outcome: &ComparisonOutcome, share: f64) -> Vec<Figure> {
    let cells = candidates(outcome).map(|cell| (setting(&cell.cell, "base"), cell));
    let mut cells: Vec<(f64, &CellSummary)> = cells.collect();
    cells.sort_by(|a, b| a.0.total_cmp(&b.0));
    let figures = cells.into_iter().map(|(known_ns, cell)| {
        let found = over_nothing(outcome, cell);
        let (unit, allowed, scale) = match ALLOWED_NS < share * known_ns {
            true => (FigureUnit::ShareOff, share, 1.0 / known_ns),
            false => (FigureUnit::NsOff, ALLOWED_NS, 1.0),
        };
        let off = located(&found).map(|found| found.less(exactly(known_ns)).times(scale));
        let figure = Figure::new(&cell.cell.label, unit, off).of(Some(found.len() as u64));
        figure.within(Some(-allowed), Some(allowed))
    });
    figures.collect()
}

fn clock(run: &Run<'_>) -> Vec<Figure> {
    let reading = run.analysis.comparison("clock").and_then(|outcome| {
        let readings = candidates(outcome).next()?;
        let number = setting(&readings.cell, "clock").max(1.0);
        Some(located(&over_nothing(outcome, readings))?.times(1.0 / number))
    });
    let blocks = run.idle(BlockKind::Latency).into_iter();
    let texts = blocks.filter_map(|block| block.latency.as_deref());
    vec![
        Figure::new("a reading takes", FigureUnit::Ns, reading),
        Figure::counted("steps of at most", FigureUnit::Ns, step(texts)),
    ]
}

/// Times below this have a histogram bucket of their own for each nanosecond (three digits).
const EXACT_BELOW_NS: u64 = 2048;

/// The smallest difference between two of the times in these histograms: the clock's resolution or
/// better. A clock whose steps are no whole nanoseconds shows each of its times as one of two neighbours.
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

/// What an operation of the store that does nothing takes, in blocks of a kind.
fn cost_of_nothing(run: &Run<'_>, name: &str, kind: BlockKind) -> Figure {
    let each = run.idle(kind).into_iter().map(|block| {
        let time = block.corrected_ns().unwrap_or(block.wall_ns);
        float(time) / float(block.operations)
    });
    let each: Vec<f64> = each.collect();
    Figure::new(name, FigureUnit::Ns, located(&each)).of(Some(each.len() as u64))
}

/// Blocks that were to find nothing in the page cache, store by store.
fn cold(run: &Run<'_>) -> Vec<Figure> {
    let outcome = run.analysis.comparison("cold").into_iter();
    let cells = outcome.flat_map(|outcome| &outcome.cells);
    let figures = cells.flat_map(|cell| {
        let blocks = run.blocks([cell].into_iter(), BlockKind::Ratio);
        evicted(&cell.cell.label, &blocks)
    });
    figures.collect()
}

/// Pages of the files that cold blocks read, all blocks together; nothing where one does not tell.
fn evicted(label: &str, blocks: &[&Measurement]) -> [Figure; 4] {
    let sum = |of: fn(&Measurement) -> Option<u64>| -> Option<u64> {
        let sum = blocks.iter().map(|block| of(block)).sum::<Option<u64>>();
        sum.filter(|_| !blocks.is_empty())
    };
    let fetched = sum(|m| Some(m.io?.storage_read_bytes));
    let checked = sum(|m| Some(m.residency?.checked_pages));
    let after = sum(|m| m.residency?.after_block_pages);
    // What was fetched and not looked for has come in all the same; with it comes what was read ahead.
    let brought = after.max(fetched.map(|bytes| bytes.div_ceil(PAGE_BYTES)));
    let brought = checked.map(|checked| brought.unwrap_or(0).min(checked));
    let pages = |what: &str, count| {
        Figure::counted(format!("{label}, {what}"), FigureUnit::Pages, count).of(checked)
    };
    let before = sum(|m| m.residency?.before_eviction_pages);
    let resident = sum(|m| Some(m.residency?.resident_pages));
    [
        pages("before eviction", before),
        pages("after it", resident).at_most(0.0),
        pages("brought in", brought).at_least(1.0),
        Figure::counted(format!("{label}, fetched"), FigureUnit::Bytes, fetched),
    ]
}

/// Blocks that were to find everything in the page cache, and those that were discarded because they did
/// not, or because the machine was taken away (R9).
fn warm(run: &Run<'_>) -> Vec<Figure> {
    let cells = run.series("aa-").flat_map(|outcome| &outcome.cells);
    let blocks = run.blocks(cells, BlockKind::Ratio);
    let reading = blocks.iter().filter(|m| m.in_blocks > 0).count() as u64;
    let discarded = blocks.iter().map(|m| u64::from(m.repeats)).sum();
    let all = (!blocks.is_empty()).then_some(blocks.len() as u64);
    let reading = Figure::counted(
        "read from storage",
        FigureUnit::Blocks,
        all.map(|_| reading),
    );
    vec![
        reading.of(all).at_most(0.0),
        Figure::counted("measured again", FigureUnit::Blocks, Some(discarded)),
    ]
}
