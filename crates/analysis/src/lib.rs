//! Estimates and verdicts: results in, judgements out.
//!
//! What belongs here: pure functions over recorded measurements. What does not: clocks, files,
//! terminals, and the wording or drawing of a verdict (that is `stowplan-report`).

mod advice;
mod analyse;
mod answers;
mod block_time;
mod blocks;
mod by_size;
pub mod calibration;
mod claims;
mod cold;
pub mod compare;
mod counts;
mod crossover;
mod decide;
mod driver_cost;
mod estimate;
mod figures;
mod gathered;
mod interim;
mod interval;
mod judge;
mod labels;
mod ladder;
mod latency;
mod ledger;
mod machines;
mod outcome;
mod percentiles;
mod published;
mod quantity;
mod rebase;
mod recommendation;
mod repeated;
mod run_warning;
mod sessions;
mod space;
mod spread;
mod stationarity;
mod stopping;
mod student;
mod summary;
mod tails;
mod verdict;
mod warnings;
pub mod wilcoxon;
mod work;

pub use advice::{Advice, Aspect, Choice, SpaceTaken, Split, What, deciding};
pub use analyse::{Analysis, analyse};
pub use answers::{Answer, MoreSpace};
pub use block_time::BlockTime;
pub use blocks::Metric;
pub use by_size::{BySize, SizePoint, SizeRow};
pub use claims::{Claims, ERROR_OF_A_RATIO};
pub use cold::{ColdCell, ColdOutcome};
pub use counts::{CallCounts, CountSummary, DevicePerOperation};
pub use crossover::{
    Crossover, RefineLimits, Run, Side, SizeRange, Standing, SweepError, SweepPoint, crossover,
    leads, refine, sweep,
};
pub use estimate::{Estimate, MIN_ROUNDS};
pub use figures::{Finding, FindingGroup, FindingRow, Shown, Source};
pub use gathered::AnalysisError;
pub use interim::{Interim, interim};
pub use interval::{Interval, RatioEstimate};
pub use ladder::{LadderOutcome, MissingRung, Step};
pub use latency::LatencySummary;
pub use ledger::{
    ClaimOutcome, ClaimVerdict, FigureCell, FigureOutcome, Held, MissingCell, hold, untested,
};
pub use machines::{
    ClaimAcross, FindingAcross, Ledger, Machine, MachinesError, MachinesOutcome, MeasuredOtherwise,
    ledger, machines,
};
pub use outcome::{
    Basis, CellDriverCost, CellSummary, ComparisonOutcome, ContrastOutcome, ControlOutcome,
    CorrectedRatio, ServerCost, SpaceRow, TotalOutcome, same_work, work_differences,
};
pub use percentiles::PercentileInterval;
pub use published::{PublishedOutcome, PublishedTime};
pub use quantity::Quantity;
pub use rebase::{RebaseError, rebase};
pub use recommendation::{
    Alternative, Flush, Kind, Open, Over, PromiseDifference, Promises, Recommendation, Unbeaten,
    When,
};
pub use repeated::{Repeated, repeated};
pub use run_warning::RunWarning;
pub use spread::Builds;
pub use stationarity::Stationarity;
pub use stopping::{
    ALPHA_PER_LOOK, LOOKS, StoppingRule, builds_differ, contrast_of_control, undecided,
};
pub use verdict::Verdict;
pub use verdict::verdict;
pub use warnings::TWICE_DIFFERED;
pub use work::{WorkDifference, cell_differences, workload_differences};
