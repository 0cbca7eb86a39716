//! What a run tells while it goes on.

use stowplan_analysis::Interim;
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
    /// How far the comparison has come, before each step.
    SoFar {
        /// The comparison.
        comparison: &'a Comparison,
        /// Its contrasts.
        known: &'a [Interim],
    },
    /// One block was measured.
    Block {
        /// Its cell.
        cell: &'a Cell,
        /// Nanoseconds per operation, corrected where possible.
        nanoseconds: f64,
        /// The round, from 0; those of earlier sessions that count included.
        round: u32,
        /// Rounds until the next look, or the cap.
        until: u32,
        /// Contrasts not decided yet.
        open_contrasts: usize,
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
