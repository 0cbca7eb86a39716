//! Drives the real binary.
//!
//! `bench` makes a directory with a small study and runs the program in it; `input` holds what is
//! refused before measuring, `run` what a run leaves behind, `ending` how runs end early, `resume`
//! how they go on, `report` how a result is shown again, `damage` when it is not what it was,
//! `faults` what a run does when workers or the system fail it, `drivers` how programs that host other
//! stores are found and named, `archive` what becomes of a user's own files.

#![expect(clippy::unwrap_used, reason = "what cannot be unwrapped ends the test")]

mod advise;
mod archive;
mod bench;
mod beside;
mod calibrate;
mod claims;
mod compare;
mod crash;
mod crossover;
mod damage;
mod doctor;
mod documents;
mod drivers;
mod ending;
mod faults;
mod fleet;
mod forms;
mod help;
mod hostile;
mod input;
mod kvtest;
mod kvtest_run;
mod ladder;
mod listing;
mod lying;
mod matrix;
mod places;
mod report;
mod resume;
mod run;
mod safety;
mod scanned;
mod stdout;
mod why;
