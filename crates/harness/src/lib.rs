//! What runs a study: plans, rounds, the parent's side of drivers, cache control, the machine.
//!
//! What belongs here: everything that touches the machine around a measurement. What does not: the
//! process that times a store (`stowplan-driver`), the files that both share (`stowplan-dataset`),
//! the stores themselves (`stowplan-stores`), judging measurements (`stowplan-analysis`), or showing
//! them (`stowplan-report`).

mod block_size;
pub mod busy;
pub mod calibration;
pub mod conformance;
mod counting;
pub mod crossover;
pub mod disk;
pub mod drivers;
pub mod environment;
mod error;
mod file_systems;
#[cfg(any(test, feature = "fuzzing"))]
pub mod hostile;
pub mod interrupt;
mod job;
mod page_cache;
mod place;
pub mod plan;
mod platform;
#[cfg(test)]
mod properties;
pub mod runner;
pub mod scanner;
mod shared_file;
mod walk;
pub mod worker_process;

pub use error::{HarnessError, Result};

/// Hears how much of a task is done, and of how much.
pub(crate) type Progress<'p> = &'p mut dyn FnMut(u64, u64);

use stowplan_dataset::{self as dataset, random, sequence};
