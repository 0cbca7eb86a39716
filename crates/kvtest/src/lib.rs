//! What SQLite's kvtest does to data, verb for verb.
//!
//! A database or a directory is checked before it is begun, made under a name of its own, brought
//! to the disk, and only then given the name that was asked for. An end before that leaves nothing
//! behind.

pub mod export;
pub mod init;
mod place;
mod run;
mod visits;

pub use run::{Outcome, Task, recover, run};
pub use visits::{Keys, Visits};
