//! Drives the real binary.
//!
//! `bench` makes a directory with a small study and runs the program in it; `input` holds what is
//! refused before measuring, `run` what a run leaves behind, `ending` how runs end early, `report` how
//! a result is shown again.

#![expect(clippy::unwrap_used, reason = "what cannot be unwrapped ends the test")]

mod bench;
mod compare;
mod crossover;
mod doctor;
mod ending;
mod fleet;
mod help;
mod input;
mod kvtest;
mod kvtest_run;
mod listing;
mod matrix;
mod report;
mod run;
mod stdout;
