//! What the analysis finds: the one structure that every output reads.

use crate::{
    Advice, BarsOutcome, BlockTime, Builds, CellDriverCost, ClaimOutcome, ColdOutcome,
    ContrastDriverCost, CountSummary, Crossover, LadderOutcome, LinesOutcome, MatrixOutcome,
    PublishedOutcome, Recommendation, RunWarning, SweepPoint, answers::Answer, judge::floor_of,
};
use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_model::{
    Action, Cell, CellFailure, CellId, DriverCost, DurabilityClaim, Footprint, HarnessCost,
    PlacementRecord, PreparationRecord, Role, RunEnd, RunHeader, Settings, Statistic, Sweep,
    Verification, Workload,
};

/// Everything that can be said about one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Analysis {
    /// What was planned, where, by which version.
    pub run: RunHeader,
    /// What to do on this machine: one answer per matrix, per sweep, per comparison that is a
    /// constituent of neither, and one for disk space.
    pub answers: Vec<Answer>,
    /// Where the user's own data belongs, in a study that asks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<Advice>,
    /// One outcome per comparison, in running order.
    pub comparisons: Vec<ComparisonOutcome>,
    /// One outcome per chart of the study that has data, in reading order.
    pub charts: Vec<ChartOutcome>,
    /// One outcome per chart of bars that has data, in reading order.
    pub bars: Vec<BarsOutcome>,
    /// One outcome per chart of lines that has data, in reading order.
    pub lines: Vec<LinesOutcome>,
    /// Sweeps over the size of values.
    pub sweeps: Vec<SweepOutcome>,
    /// One outcome per matrix of the study that has data, in reading order.
    pub matrices: Vec<MatrixOutcome>,
    /// One outcome per claim of the study, in reading order.
    pub claims: Vec<ClaimOutcome>,
    /// The times that others published, beside ours, in reading order.
    pub published: Vec<PublishedOutcome>,
    /// One outcome per ladder of the study whose comparison was measured, in reading order.
    pub ladders: Vec<LadderOutcome>,
    /// What explains the comparisons of cold reads, in running order.
    pub cold: Vec<ColdOutcome>,
    /// What each built store takes on disk, right after building.
    pub space: Vec<SpaceRow>,
    /// Where the values of the built stores lie.
    pub placements: Vec<PlacementRecord>,
    /// How many sessions the run has had: one, and one more for each time it was resumed.
    pub sessions: usize,
    /// The boots of the system that the sessions ran in, each once, as far as they are known.
    pub boots: Vec<String>,
    /// What spoils or qualifies the run.
    pub warnings: Vec<RunWarning>,
    /// What the harness itself costs.
    pub harness_cost: Option<HarnessCost>,
    /// What the loops of drivers with a name cost, by name.
    pub driver_costs: Vec<DriverCost>,
    /// How long preparing took.
    pub preparation: Vec<PreparationRecord>,
    /// Cells that failed.
    pub failures: Vec<CellFailure>,
    /// How the run ended; nothing if it was cut off.
    pub end: Option<RunEnd>,
}

/// What was found in one comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonOutcome {
    /// Its name in the study file.
    pub id: String,
    /// Its name for people.
    pub title: String,
    /// What of the times of operations the ratios are of.
    #[serde(skip_serializing_if = "Statistic::is_time")]
    pub measure: Statistic,
    /// Which time the ratios are of.
    pub metric: Metric,
    /// Whether that is wall time because blocks sleep or sync (R8). Corrected time then stands
    /// beside it, and what is claimed has to hold by both.
    pub sleeps: bool,
    /// The A/A control; nothing if the comparison has too few rounds.
    pub control: Option<ControlOutcome>,
    /// By how much longer intervals are than independent rounds would make them, as a ratio of at least 1:
    /// what identical cells show against the errors of their own rounds.
    pub calibration: f64,
    /// The noise floor φ, as a natural logarithm: what is no ratio of the rounds of one session, such as a
    /// change between two, is widened by it.
    pub noise_floor: f64,
    /// Whether the A/A gate is passed (the control's interval contains 1); if not, no verdict of
    /// the comparison claims anything.
    /// With too few rounds for a control there is nothing to doubt yet, and this is true.
    pub reliable: bool,
    /// Mean share of wall time that blocks waited for a CPU (D/W).
    pub delay_share: Option<f64>,
    /// Its cells, baseline first; the control is among them.
    pub cells: Vec<CellSummary>,
    /// The ratios wanted; that of the control is in `control`, never here.
    pub contrasts: Vec<ContrastOutcome>,
    /// The cell that beats each rival, if one does: see [`ComparisonOutcome::fastest`].
    pub fastest: Option<CellId>,
    /// What to choose, and why.
    pub recommendation: Recommendation,
    /// Cells that a store cannot do, with the reason.
    pub not_applicable: BTreeMap<String, String>,
}

impl ComparisonOutcome {
    /// The summary of a cell.
    #[must_use]
    pub fn cell(&self, id: &CellId) -> Option<&CellSummary> {
        self.cells.iter().find(|summary| summary.cell.id == *id)
    }

    /// The one cell among baseline and candidates that is faster than *each* of the others, by
    /// verdict (intersection–union: no further correction, METHOD "Ratios"). Nothing if a
    /// rival is not beaten, was not measured, or keeps another durability promise.
    #[must_use]
    pub fn fastest(&self) -> Option<&CellSummary> {
        self.fastest.as_ref().and_then(|id| self.cell(id))
    }

    /// The cell that the others are compared with.
    #[must_use]
    pub fn baseline(&self) -> Option<&CellSummary> {
        let mut cells = self.cells.iter();
        cells.find(|summary| summary.cell.role == Role::Baseline)
    }

    /// The floor whose multiple a cell's time is.
    #[must_use]
    pub fn floor_of(&self, cell: &CellSummary) -> Option<&CellSummary> {
        let cells = self.cells.iter().map(|summary| &summary.cell);
        self.cell(&floor_of(cells, &cell.cell)?.id)
    }

    /// The cells between which someone could choose: neither the control nor a floor, and none that
    /// only explains others. What is busy beside a block, stands between a store and its files, or lies
    /// below them (an image that the run made, memory) is nobody's choice.
    pub fn rivals(&self) -> impl Iterator<Item = &CellSummary> {
        let ours = self.baseline().map(|summary| &summary.cell);
        self.stores().filter(move |summary| {
            let cell = &summary.cell;
            ours.is_none_or(|ours| {
                ours.workload.beside == cell.workload.beside
                    && ours.scanned == cell.scanned
                    && ours.on == cell.on
            })
        })
    }

    /// Baseline and candidates.
    pub fn stores(&self) -> impl Iterator<Item = &CellSummary> {
        let cells = self.cells.iter();
        cells.filter(|summary| matches!(summary.cell.role, Role::Baseline | Role::Candidate))
    }

    /// The ratio of a cell to the baseline, where it was asked for.
    #[must_use]
    pub fn to_baseline(&self, cell: &CellSummary) -> Option<&ContrastOutcome> {
        let baseline = self.baseline()?;
        let mut contrasts = self.contrasts.iter();
        contrasts.find(|c| c.cell == cell.cell.id && c.reference == baseline.cell.id)
    }

    /// The rivals with this verdict against the baseline and a figure, the smallest ratio first.
    #[must_use]
    pub fn with_verdict(&self, wanted: Verdict) -> Vec<(&CellSummary, RatioEstimate)> {
        let mut found: Vec<_> = self
            .rivals()
            .filter_map(|cell| {
                let contrast = self.to_baseline(cell)?;
                (contrast.verdict == wanted).then_some((cell, contrast.estimate?))
            })
            .collect();
        found.sort_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio));
        found
    }

    /// Whether any round of any cell was recorded.
    #[must_use]
    pub fn was_measured(&self) -> bool {
        self.cells.iter().any(|cell| cell.rounds > 0)
    }

    /// Whether a cell of it is among these failures.
    pub(crate) fn has_failed(&self, failures: &[&CellFailure]) -> bool {
        let mut failures = failures.iter();
        failures.any(|failure| self.cell(&failure.cell).is_some())
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

/// What the control shows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ControlOutcome {
    /// Control over baseline, two identical cells; its interval is not widened by what it
    /// shows itself, only by the base floor.
    pub estimate: RatioEstimate,
    /// The verdict on it: `Equivalent` on a quiet machine, `Unresolved` where rounds are too few
    /// for the noise, `Unreliable` if the interval excludes 1. Never anything else.
    pub verdict: Verdict,
}

/// An estimated ratio of times with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RatioEstimate {
    /// Estimate of the ratio: that of Hodges and Lehmann.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Rounds it rests on.
    pub rounds: usize,
}

impl RatioEstimate {
    /// The estimate of the inverse ratio.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self {
            ratio: 1.0 / self.ratio,
            low: 1.0 / self.high,
            high: 1.0 / self.low,
            rounds: self.rounds,
        }
    }
}

/// The judgement on a ratio of times, by interval and equivalence zone (docs/method.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole interval lies below the zone: the cell takes less time.
    Faster,
    /// The whole interval lies above the zone.
    Slower,
    /// The whole interval lies within the zone.
    Equivalent,
    /// The interval excludes 1 but overlaps the zone's edge.
    SmallDifference,
    /// The interval contains 1 and reaches beyond the zone.
    Unresolved,
    /// The control failed: nothing is claimed.
    Unreliable,
    /// Fewer than ten rounds, or a cell failed.
    NoData,
}

impl Verdict {
    /// Whether it answers the question: more rounds would not change it.
    pub(crate) fn is_decided(self) -> bool {
        matches!(self, Self::Faster | Self::Slower | Self::Equivalent)
    }

    /// The verdict on the inverse ratio.
    #[must_use]
    pub fn inverse(self) -> Self {
        match self {
            Self::Faster => Self::Slower,
            Self::Slower => Self::Faster,
            symmetric => symmetric,
        }
    }
}

/// One ratio and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContrastOutcome {
    /// The numerator.
    pub cell: CellId,
    /// The denominator.
    pub reference: CellId,
    /// Time of the cell over time of the reference.
    pub estimate: Option<RatioEstimate>,
    /// The verdict.
    pub verdict: Verdict,
    /// The same by corrected time, where the headline is wall time because blocks sleep.
    pub corrected: Option<CorrectedRatio>,
    /// The builds that it was measured on; nothing where each block makes a store of its own, or the
    /// result does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub builds: Option<Builds>,
    /// The same with the final flush to disk in both times, where both cells write.
    pub total: Option<TotalOutcome>,
    /// What the loops of both drivers may be of the difference; nothing where one driver hosts both,
    /// or what one costs is not known.
    pub driver_cost: Option<ContrastDriverCost>,
    /// Whether both keep the same durability promise; a difference must be shown beside the
    /// ratio (reads: always true).
    pub same_durability: bool,
}

/// A ratio by corrected time beside one of wall time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CorrectedRatio {
    /// Corrected time of the cell over that of the reference, in the same rounds.
    pub estimate: RatioEstimate,
    /// Whether it bears out what wall time says: a difference by excluding 1 on the same side,
    /// equivalence by reaching into the zone. If not, nothing is claimed.
    pub agrees: bool,
}

/// A ratio of times that include the final flush to disk, and its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TotalOutcome {
    /// Time and flush of the cell over those of the reference.
    pub estimate: RatioEstimate,
    /// The verdict, by the rules of every other ratio.
    pub verdict: Verdict,
}

impl TotalOutcome {
    /// The same finding with numerator and denominator swapped.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self {
            estimate: self.estimate.inverse(),
            verdict: self.verdict.inverse(),
        }
    }
}

impl ContrastOutcome {
    /// The same finding with numerator and denominator swapped.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self {
            cell: self.reference.clone(),
            reference: self.cell.clone(),
            estimate: self.estimate.map(|estimate| estimate.inverse()),
            verdict: self.verdict.inverse(),
            corrected: self.corrected.map(|other| CorrectedRatio {
                estimate: other.estimate.inverse(),
                ..other
            }),
            builds: self.builds,
            total: self.total.map(|total| total.inverse()),
            driver_cost: self.driver_cost.map(|cost| cost.inverse()),
            same_durability: self.same_durability,
        }
    }
}

/// A location with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Estimate.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What was measured of one cell, over its rounds. Means are per operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellSummary {
    /// The cell.
    pub cell: Cell,
    /// Rounds measured.
    pub rounds: usize,
    /// Operations timed, all ratio blocks together; where slow operations are compared, of the blocks that
    /// tell of them.
    pub operations: u64,
    /// Of writes of which several share a transaction: how many did in the median block.
    pub operations_per_commit: Option<u64>,
    /// Rounds that its times and what it takes per operation are of: of those above, the ones that every
    /// ratio of the comparison rests on, so that times stand in the ratios that stand beside them.
    pub time_rounds: usize,
    /// Headline time per operation, nanoseconds, by the comparison's metric; the interval is of
    /// the machine as it was, and wider than that of a ratio. 95%; with fewer than ten rounds
    /// it is the range of the rounds.
    pub time_ns: Option<Interval>,
    /// What is compared where it is no time of all operations: that of a block, nanoseconds, located as
    /// the time is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistic_ns: Option<Interval>,
    /// Time of all operations of a block.
    pub block_time: Option<BlockTime>,
    /// What the loop of its driver costs, which is part of every time; nothing where that is not known.
    pub driver_cost: Option<CellDriverCost>,
    /// Standard error of the seconds that others published, if they did.
    pub published_error_seconds: Option<f64>,
    /// Wall time per operation, nanoseconds: median of rounds.
    pub wall_ns: f64,
    /// Corrected time per operation, nanoseconds: median of rounds; nothing where no block knows it.
    pub corrected_ns: Option<f64>,
    /// CPU time per operation, nanoseconds: median of rounds.
    pub cpu_ns: f64,
    /// Of a store that lies with a server: medians of rounds, per operation.
    #[serde(default, skip_serializing_if = "ServerCost::is_unknown")]
    pub server: ServerCost,
    /// Share of that in the kernel, 0 to 1, with as many digits as are known; not a number where
    /// blocks are too short to tell.
    pub kernel_share: f64,
    /// By how much that share may be off, because what its driver does not tell of itself the system
    /// tells others in ticks only; nothing where the driver tells it.
    pub kernel_share_resolution: Option<f64>,
    /// Bringing written data to rest, per operation, nanoseconds: median of rounds (R10).
    pub drain_ns: Option<f64>,
    /// Headline time and drain together, per operation, nanoseconds: estimated as the headline
    /// time is. It describes; what is decided rests on [`ContrastOutcome::total`].
    pub total_ns: Option<f64>,
    /// Bytes delivered or written per operation.
    pub bytes: f64,
    /// Read-like system calls per operation.
    pub read_calls: Option<f64>,
    /// Write-like system calls per operation.
    pub write_calls: Option<f64>,
    /// Bytes fetched from storage per operation.
    pub storage_read_bytes: f64,
    /// Bytes sent to storage per operation.
    pub storage_write_bytes: Option<f64>,
    /// Bytes sent to storage, within the timed window and to bring its data to rest, per byte that
    /// the operations wrote; nothing where that is not known, or they read as well.
    pub write_amplification: Option<f64>,
    /// Page faults per operation.
    pub faults: f64,
    /// Sync calls per committed transaction.
    pub syncs_per_commit: f64,
    /// Largest resident set of a worker, bytes.
    pub peak_memory_bytes: Option<u64>,
    /// Of writes: nanoseconds of the commit that ends a block of one transaction, median of
    /// blocks; part of the time.
    pub last_commit_ns: Option<f64>,
    /// Transactions committed in a block, median; 0 for reads that no transaction goes around.
    pub commits: f64,
    /// Of inserts: what a block's store took on disk, median by allocated bytes.
    pub block_footprint: Option<Footprint>,
    /// Bytes that its store took on disk right after building, allocated, per byte of the values; nothing
    /// where it was not built beforehand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub space_per_value_byte: Option<f64>,
    /// Of inserts: share of the bytes of leaf pages that were in use, median of blocks.
    pub page_fill: Option<f64>,
    /// The same of the indexes beside the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_fill: Option<f64>,
    /// Transactions that were refused because of another one and tried again, all blocks together.
    pub conflicts: u64,
    /// Latency of single operations.
    pub latency: Option<LatencySummary>,
    /// The same of a mix, by what the operations did.
    pub latencies: BTreeMap<Action, LatencySummary>,
    /// What it asked of the system, counted in a block of its own.
    pub counts: Option<CountSummary>,
    /// Settings as the engine reports them.
    pub effective: Option<Settings>,
    /// What the check of every value found.
    pub verification: Option<Verification>,
    /// Time over the floor's time, if the comparison has a floor.
    pub multiple_of_floor: Option<RatioEstimate>,
    /// Per round: (round, ln of headline nanoseconds per operation).
    pub series: Vec<(u32, f64)>,
    /// Per round that met one built beforehand: which build of its store.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub builds: BTreeMap<u32, u32>,
}

/// What an operation takes of a server and the way there; nothing where that is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ServerCost {
    /// Bytes of payload sent to it.
    pub sent_bytes: Option<f64>,
    /// Bytes of payload received of it.
    pub received_bytes: Option<f64>,
    /// CPU time of its processes, nanoseconds; of a server that the run has started.
    pub cpu_ns: Option<f64>,
}

impl ServerCost {
    fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

impl CellSummary {
    /// The time of one operation, or of what is compared of a block, in nanoseconds.
    #[must_use]
    pub fn headline_ns(&self) -> Option<f64> {
        let told = self.statistic_ns.or(self.time_ns);
        told.map(|time| time.estimate)
    }

    /// What it promises for what it writes; nothing if it only reads, is a floor, which is no store, or
    /// was never measured: its driver may have told nothing.
    #[must_use]
    pub fn promise(&self) -> Option<DurabilityClaim> {
        let writes = self.cell.workload.operation.writes() && self.cell.role != Role::Floor;
        let told = self.rounds > 0 || self.cell.driver.is_empty();
        (writes && told).then_some(self.cell.capabilities.durability)
    }

    /// Rounds that both of two cells have, which are what their ratio rests on.
    #[must_use]
    pub fn rounds_in_common(&self, other: &Self) -> usize {
        let theirs = || other.series.iter().map(|(round, _)| round);
        let ours = self.series.iter();
        ours.filter(|(round, _)| theirs().any(|known| known == round))
            .count()
    }
}

/// Percentiles of the latency of one operation, in nanoseconds, over all latency blocks; none where
/// fewer than ten operations lie beyond it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LatencySummary {
    /// Operations.
    pub count: u64,
    /// Blocks that they are of.
    pub blocks: usize,
    /// Mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: Option<u64>,
    /// 90%.
    pub p90_ns: Option<u64>,
    /// 95%.
    pub p95_ns: Option<u64>,
    /// 99%.
    pub p99_ns: Option<u64>,
    /// 99.9%.
    pub p999_ns: Option<u64>,
    /// Those of these that are there, with intervals; none of fewer than five blocks.
    pub intervals: Vec<PercentileInterval>,
    /// Largest.
    pub max_ns: u64,
    /// The tail as (percentile, nanoseconds), both rising, from the median to 99.999% at most. Where
    /// fewer than ten operations lie beyond a percentile, it is left out: it would be noise.
    pub curve: Vec<(f64, u64)>,
}

/// How far a percentile is known: 95%, by drawing whole blocks again.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PercentileInterval {
    /// The percentile, such as 99.9.
    pub percentile: f64,
    /// Lower end, nanoseconds.
    pub low_ns: u64,
    /// Upper end, nanoseconds.
    pub high_ns: u64,
}

/// A chart of the study with its numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChartOutcome {
    /// Its name in the study file.
    pub id: String,
    /// Title for people.
    pub title: String,
    /// Label of the cell that is 1.0.
    pub reference: String,
    /// This machine's bars.
    pub bars: Vec<ChartBar>,
    /// The published ratios, by rising ratio.
    pub published: Vec<PublishedRatio>,
    /// What the published ratios compare, in words.
    pub published_label: Option<String>,
    /// How precisely the published bars could be read.
    pub published_precision: Option<f64>,
    /// Whether the comparison passed its A/A gate.
    pub reliable: bool,
}

/// One bar of this machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChartBar {
    /// The cell.
    pub cell: CellId,
    /// Its label.
    pub label: String,
    /// Time over the reference's time; nothing where there is no data.
    pub estimate: Option<RatioEstimate>,
    /// The verdict.
    pub verdict: Verdict,
    /// The durability promise, where the bar is of writes.
    pub durability: Option<String>,
}

/// One published ratio.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedRatio {
    /// Key of the system.
    pub system: String,
    /// What it was.
    pub description: String,
    /// Ratio to the reference.
    pub ratio: f64,
}

/// What one built store takes on disk.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpaceRow {
    /// Name of the built store.
    pub instance: String,
    /// Label for people: the study's, or the kind of store and its layout.
    pub label: String,
    /// What it takes.
    pub footprint: Footprint,
    /// Bytes of the values in it.
    pub value_bytes: u64,
    /// Allocated bytes over those of the store that the study names first (or that was built
    /// first); nothing where the values differ.
    pub ratio: Option<f64>,
    /// Published bytes beside it: (what was measured, bytes scaled by nothing, number of values).
    pub published: Option<(String, u64, Option<u64>)>,
    /// The same ratio of the published bytes.
    pub published_ratio: Option<f64>,
    /// Whether the published bytes are of as many values as ours; only then can they be set beside
    /// each other, and not only their ratios.
    pub published_of_as_many: bool,
}

/// Two stores compared at many sizes of values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepOutcome {
    /// The sweep, with the names of its stores.
    pub sweep: Sweep,
    /// What was done to them.
    pub workload: Workload,
    /// Whether both promise the same for what they wrote; true for reads.
    pub same_durability: bool,
    /// The sizes of which anything was measured, rising; a ratio is time of B over time of A. A
    /// size that ran and failed has no figure; one that was only planned is no point.
    pub points: Vec<SweepPoint>,
    /// The comparison that each point comes from, in the order of the points.
    pub comparisons: Vec<String>,
    /// Comparisons that ran and count for nothing: their sizes were measured again.
    pub superseded: Vec<String>,
    /// Comparisons that were planned and never ran.
    pub unmeasured: Vec<String>,
    /// Every size that was planned, measured or not, rising.
    pub planned: Vec<u64>,
    /// Bytes that the stores A and B took on disk, allocated, per byte of the values, in the order of the
    /// points; nothing where it is not known.
    pub space: Vec<[Option<f64>; 2]>,
    /// What they say together.
    pub finding: Crossover,
    /// Sizes at which the interpolated ratio crosses 1: for drawing, nothing is claimed of them.
    pub roots: Vec<f64>,
}
