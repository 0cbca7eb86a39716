//! Estimates and verdicts: results in, judgements out.
//!
//! What belongs here: pure functions over recorded measurements. What does not: clocks, files,
//! terminals, and the wording or drawing of a verdict (that is `stowplan-report`).

mod analyse;
mod outcome;
mod stopping;

pub use analyse::{AnalysisError, analyse};
pub use outcome::{
    Analysis, CellSummary, ChartBar, ChartOutcome, ComparisonOutcome, ContrastOutcome,
    ControlOutcome, Interval, LatencySummary, Metric, PublishedRatio, RatioEstimate, SpaceRow,
    Verdict,
};
pub use stopping::{LOOKS, StoppingRule, undecided};
