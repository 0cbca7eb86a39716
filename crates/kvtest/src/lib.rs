//! What SQLite's kvtest does to data, verb for verb.
//!
//! A database or a directory is checked before it is begun, made under a name of its own, brought
//! to the disk, and only then given the name that was asked for. An end before that leaves nothing
//! behind.

mod error;
pub mod export;
#[cfg(any(test, feature = "fuzzing"))]
pub mod hostile;
pub mod init;
pub mod inspect;
mod place;
#[cfg(test)]
mod properties;
mod run;
mod visits;

pub use error::KvtestError;
pub use place::RUN;
pub use run::{Task, recover, run};
pub use visits::{Keys, Visits};
