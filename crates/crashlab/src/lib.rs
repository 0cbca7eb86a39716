//! Power cuts in a laboratory: what a setting promises is held against what is left when the power goes.
//!
//! A program runs on a file system that keeps every change in order, and tells of each commit. Then, at
//! many moments and as often as one likes, it is computed what a power cut could have left there: what
//! was synced, and of the rest what a model allows. Each such state is written to a directory, and
//! judged: by the store itself for ours, by a command of the user's for other programs.
//!
//! What belongs here: the file system, the log, the states, and who asks the judges. What does not:
//! opening stores (a judge is a process of its own), and wording (`stowplan-report`).

mod content;
mod judge;
mod linux;
mod log;
mod options;
mod recording;
mod replay;
mod run;
mod shrink;
mod states;
mod tree;

pub use judge::Verifier;
pub use linux::{cage, end_with_parent, init, reason_against as missing, record};
pub use log::Log;
pub use options::{Limits, Options};
pub use recording::exit_code;
pub use replay::{Replayed, replay};
pub use run::{Subject, test};

use std::path::PathBuf;
use std::process::Command;
use stowplan_harness::HarnessError;
use stowplan_harness::worker_process::WorkerCommand;

/// This program's own file, which is started again for every part.
fn own_program() -> Result<PathBuf, HarnessError> {
    WorkerCommand::this_executable().map(|command| command.program)
}

/// This program as a part of the lab that ends when this process does.
fn part(verb: &str) -> Result<Command, HarnessError> {
    let mut process = Command::new(own_program()?);
    process.args([verb, &std::process::id().to_string()]);
    Ok(process)
}

fn run_error(message: impl Into<String>) -> HarnessError {
    HarnessError::invalid(message)
}
