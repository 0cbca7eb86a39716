//! Processes that this program starts of itself, by a verb that is not for people. They are known by the first
//! word alone, before anything else is looked at.

use crate::crash::{self, CrashStoreOptions, CrashfsOptions};
use crate::error::{CliError, Exit};
use clap::{Parser, Subcommand};
use std::io::{stdin, stdout};
use std::path::PathBuf;

#[derive(Debug, Parser)]
struct Started {
    #[command(subcommand)]
    part: Part,
}

/// Each is in its parent's hands: stdin, stdout, or the system tells it when that has gone.
#[derive(Debug, Subcommand)]
enum Part {
    /// Measures blocks for a parent process (docs/driver-format.md).
    Worker,
    /// Keeps a CPU busy until stdin ends, beside a block or a calibration.
    Busy {
        /// Stream through memory that is larger than the processor's caches.
        #[arg(long)]
        memory: bool,
    },
    /// Permits what a block opens, until stdin ends.
    Scanner {
        /// A path on the mount through which it is opened.
        place: PathBuf,
        /// Read each file before.
        #[arg(long)]
        read: bool,
    },
    /// A process of the power-loss lab.
    Crashfs(CrashfsOptions),
    /// Commits to a store, and tells of each commit.
    CrashWorkload(CrashStoreOptions),
    /// Judges crash states of a store.
    CrashJudge(CrashStoreOptions),
}

/// Does what one of these processes does, and says how it ended; nothing if this was not started as one.
pub(crate) fn started() -> Option<Exit> {
    let verb = std::env::args_os().nth(1)?;
    if !Part::has_subcommand(verb.to_str()?) {
        return None;
    }
    Some(match Started::try_parse() {
        Ok(started) => crate::ended(run(started.part)),
        Err(answer) => {
            crate::screen::say(answer.render().to_string().trim_end());
            Exit::Usage
        }
    })
}

fn run(part: Part) -> Result<Exit, CliError> {
    match part {
        Part::Worker => done(stowplan_driver::built_in()),
        Part::Busy { memory } => done(stowplan_driver::keep_busy(stdin(), &mut stdout(), memory)),
        Part::Scanner { place, read } => {
            stowplan_harness::scanner::listen(&place, read);
            Ok(Exit::Done)
        }
        Part::Crashfs(options) => crash::crashfs(&options),
        Part::CrashWorkload(options) => crash::workload(&options),
        Part::CrashJudge(options) => crash::judge(&options),
    }
}

fn done<E: ToString>(result: Result<(), E>) -> Result<Exit, CliError> {
    result.map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(Exit::Done)
}
