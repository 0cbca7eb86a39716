//! What a run tells while it goes on.

use stowplan_analysis::RatioEstimate;
use stowplan_model::{Cell, CellFailure, Comparison, HarnessCost, Warning};

/// What a run tells while it goes on, for a progress display.
#[derive(Debug)]
pub enum Event<'a> {
    /// Something spoils or qualifies the run.
    Warning(&'a Warning),
    /// A dataset or a store is being prepared, or checked.
    Preparing {
        /// What, in words.
        what: &'a str,
        /// Steps done.
        done: u64,
        /// Steps in all.
        total: u64,
    },
    /// What the harness itself costs.
    HarnessCost(HarnessCost),
    /// A comparison begins.
    Comparison {
        /// The comparison.
        comparison: &'a Comparison,
        /// Its position, from 0.
        index: usize,
        /// Comparisons in all.
        total: usize,
    },
    /// One block was measured.
    Block {
        /// Its cell.
        cell: &'a Cell,
        /// Nanoseconds per operation, corrected where possible.
        nanoseconds: f64,
        /// Its time over the baseline's by the rounds so far, where that is known and not decided
        /// yet.
        ratio: Option<RatioEstimate>,
        /// The round, from 0; those of earlier sessions that count included.
        round: u32,
        /// Rounds until the next look, or the cap.
        until: u32,
        /// Contrasts not decided yet.
        open_contrasts: usize,
        /// The largest half-width of their intervals, as a ratio minus one (0.02 is ±2%); nothing
        /// before all of them have ten rounds.
        widest: Option<f64>,
        /// Estimated seconds until the run ends.
        eta_seconds: f64,
    },
    /// A cell failed; the run goes on without it.
    Failure(&'a CellFailure),
}

/// Receives what a run tells.
pub trait Observer {
    /// Something happened.
    fn event(&mut self, event: Event<'_>);
}
