//! Drives the real binary.
//!
//! `bench` makes a directory with a small study and runs the program in it, from a command line that is one text. What
//! several tests look at is measured once. Each file holds what one verb or one promise is about; what takes root,
//! strace, a browser or minutes is in the scripts of `.ci`.

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
