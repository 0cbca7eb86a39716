//! What was found of comparisons and their cells.

use crate::{
    BlockTime, Builds, CountSummary, Interval, LatencySummary, Metric, PromiseDifference,
    RatioEstimate, Recommendation, Verdict, WorkDifference,
    work::{measured_too, work_differences_of},
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_model::{
    Action, Cell, CellFailure, CellId, DurabilityClaim, Footprint, Role, Settings, Statistic,
    Verification,
};

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
    /// Ratio and verdict by corrected time, where the headline is wall time because blocks sleep.
    pub corrected: Option<CorrectedRatio>,
    /// The builds that it was measured on; nothing where each block makes a store of its own, or the
    /// result does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub builds: Option<Builds>,
    /// Ratio and verdict with the final flush to disk in both times, where both cells write.
    pub total: Option<TotalOutcome>,
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

impl ContrastOutcome {
    /// Swaps numerator and denominator.
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
            total: self.total.map(|total| TotalOutcome {
                estimate: total.estimate.inverse(),
                verdict: total.verdict.inverse(),
            }),
            same_durability: self.same_durability,
        }
    }
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
    /// Share of the bytes of leaf pages of the indexes beside the table that were in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_fill: Option<f64>,
    /// Transactions that were refused because of another one and tried again, all blocks together.
    pub conflicts: u64,
    /// Latency of single operations.
    pub latency: Option<LatencySummary>,
    /// Latency of single operations of a mix, by what they did.
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
    /// The ratio of the published bytes.
    pub published_ratio: Option<f64>,
}

/// The floor below a cell: the first that has as many threads and as many operations in a transaction.
/// Where no floor differs from another in these, it is the first one, whatever the cell has.
pub(crate) fn floor_of<'c>(
    cells: impl Iterator<Item = &'c Cell> + Clone,
    cell: &Cell,
) -> Option<&'c Cell> {
    let work = |cell: &Cell| (cell.workload.threads, cell.workload.per_transaction);
    let mut floors = cells.filter(|cell| cell.role == Role::Floor);
    let first = floors.clone().next()?;
    let alike = floors.clone().find(|floor| work(floor) == work(cell));
    let only = floors.all(|floor| work(floor) == work(first));
    alike.or_else(|| only.then_some(first))
}

/// From how many operations something is claimed of slow ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Basis {
    /// Operations of the median block.
    pub of_a_block: u64,
    /// Of all blocks together.
    pub operations: u64,
    /// Those of them that are expected beyond the percentile; of the slowest of each block, the blocks.
    pub beyond: u64,
}

impl Basis {
    /// That of a cell; nothing where times of all operations are compared, or nothing was measured.
    #[must_use]
    pub fn of(comparison: &ComparisonOutcome, cell: &CellSummary) -> Option<Self> {
        let share = comparison.measure.share()?;
        let rounds = cell.rounds as u64;
        let beyond = match comparison.measure {
            Statistic::Max => rounds,
            _ => (cell.operations as f64 * (1.0 - share)).round() as u64,
        };
        Some(Self {
            of_a_block: cell.operations.checked_div(rounds)?,
            operations: cell.operations,
            beyond,
        })
    }
}

/// What the loop of a cell's driver costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CellDriverCost {
    /// Nanoseconds per operation, measured with a store that does nothing: of reads by one thread in one
    /// transaction, in blocks that read the clock as often as those of the cell.
    pub ns: f64,
    /// Whether the loop of the cell does more than that, so that it costs at least as much: it has
    /// another operation, several transactions or several threads.
    pub at_least: bool,
    /// Its share of the time of the cell per operation; by noise it may be above 1. Nothing where only
    /// some blocks of the cell know corrected time, and of several threads: their loops run side by
    /// side.
    pub share: Option<f64>,
    /// Which time both are: corrected time where that of the cell is known, also where the headline of
    /// its comparison is wall time; nothing without a share.
    pub of: Option<Metric>,
}

impl ComparisonOutcome {
    /// The drivers of its cells by name, the program itself being the empty one; those of parts, which
    /// are compared with nothing, are not among them.
    #[must_use]
    pub fn drivers(&self) -> BTreeSet<&str> {
        let cells = self.cells.iter();
        let compared = cells.filter(|cell| cell.cell.role != Role::Part);
        compared.map(|cell| cell.cell.driver.as_str()).collect()
    }
}

impl PromiseDifference {
    /// How what two cells promise compares; nothing if they promise the same, or one only reads.
    #[must_use]
    pub fn of(ours: &CellSummary, theirs: &CellSummary) -> Option<Self> {
        Self::between(ours.promise()?, theirs.promise()?)
    }
}

impl Recommendation {
    /// The cell that was chosen.
    #[must_use]
    pub fn chosen<'a>(&self, comparison: &'a ComparisonOutcome) -> Option<&'a CellSummary> {
        comparison.cell(self.choice.as_ref()?)
    }
}

/// In what the work of a cell is another one than that of a cell beside it, both measured.
#[must_use]
pub fn work_differences(ours: &CellSummary, theirs: &CellSummary) -> Vec<WorkDifference> {
    let asked = work_differences_of(&ours.cell, &theirs.cell);
    let shared = [ours, theirs].map(|cell| cell.operations_per_commit);
    measured_too(asked, shared)
}

/// Whether two cells do the same work, so that a ratio between them is one of stores.
#[must_use]
pub fn same_work(ours: &CellSummary, theirs: &CellSummary) -> bool {
    work_differences(ours, theirs).is_empty()
}
