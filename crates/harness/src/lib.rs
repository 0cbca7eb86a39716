//! What runs a study: datasets, plans, workers, clocks, cache control, accounting.
//!
//! What belongs here: everything that touches the machine around a measurement. What does not:
//! the stores themselves (`stowplan-stores`), judging measurements (`stowplan-analysis`), or
//! showing them (`stowplan-report`).

pub mod accounting;
pub mod clock;
pub mod dataset;
pub mod disk;
pub mod environment;
mod error;
pub mod page_cache;
mod platform;
mod random;
pub mod sequence;

pub use error::HarnessError;
