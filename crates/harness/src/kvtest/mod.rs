//! What SQLite's kvtest does to data, verb for verb.

mod run;
mod visits;

pub use run::{Outcome, Task, run};
pub use visits::{Keys, Visits};
