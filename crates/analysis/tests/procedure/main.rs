//! The whole procedure, from measurements to verdicts: on made-up runs whose answer is known, on
//! recorded noise, and on simulated drift.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests fail loudly and print what they drew"
)]

mod advice;
mod builds;
mod calibration;
mod clocks;
mod compare;
mod crossover;
mod damage;
mod driver_costs;
mod findings;
mod gate;
mod identical_sessions;
mod ladder;
mod ledger;
mod machines;
mod matrix;
mod quantities;
mod rebase;
mod recommendation;
mod recorded_noise;
mod recorded_sessions;
mod runs;
mod sessions;
mod sessions_apart;
mod several_sessions;
mod simulated_drift;
mod slow_operations;
mod stopping;
mod support;
mod sweeps;
mod widths;
