//! Processes that this program starts of itself, by a verb that is not for people. They are known by the first
//! word alone, before anything else is looked at.

use crate::error::{CliError, Exit};
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::io::{stdin, stdout};
use std::path::{Path, PathBuf};
use stowplan_driver::CrashTask;
use stowplan_model::StoreSpec;

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
    /// Runs a program of the power-loss lab on the file system that records.
    CrashRecord {
        parent: u32,
        mount: PathBuf,
        log: PathBuf,
        most: u64,
        #[arg(last = true)]
        command: Vec<OsString>,
    },
    /// Runs a program of the lab in namespaces of its own.
    CrashCage {
        parent: u32,
        #[arg(last = true)]
        command: Vec<OsString>,
    },
    /// The first process in these namespaces.
    CrashInit {
        /// Write changed pages of mappings early, for whoever records.
        #[arg(long)]
        write_back: bool,
        #[arg(last = true)]
        command: Vec<OsString>,
    },
    /// Commits to a store in the current directory, and tells of each commit.
    CrashWorkload {
        store: StoreSpec,
        seed: u64,
        transactions: u64,
    },
    /// Judges the crash states of a store that stdin names.
    CrashJudge {
        store: StoreSpec,
        seed: u64,
        transactions: u64,
        parent: u32,
    },
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
    let task = |store, seed, transactions| CrashTask {
        store,
        seed,
        transactions,
    };
    match part {
        Part::Worker => done(stowplan_driver::built_in()),
        Part::Busy { memory } => done(stowplan_driver::keep_busy(stdin(), &mut stdout(), memory)),
        Part::Scanner { place, read } => {
            stowplan_harness::scanner::listen(&place, read);
            Ok(Exit::Done)
        }
        Part::CrashRecord {
            parent,
            mount,
            log,
            most,
            command,
        } => {
            stowplan_crashlab::record(parent, &mount, &log, most, &command)?;
            Ok(Exit::Done)
        }
        Part::CrashCage { parent, command } => of(stowplan_crashlab::cage(parent, &command)?),
        Part::CrashInit {
            write_back,
            command,
        } => of(stowplan_crashlab::init(&command, write_back)?),
        Part::CrashWorkload {
            store,
            seed,
            transactions,
        } => {
            let task = task(store, seed, transactions);
            done(stowplan_driver::workload(
                &task,
                Path::new("."),
                &mut stdout().lock(),
            ))
        }
        Part::CrashJudge {
            store,
            seed,
            transactions,
            parent,
        } => {
            stowplan_crashlab::end_with_parent(parent)?;
            let task = task(store, seed, transactions);
            done(stowplan_driver::judge(
                &task,
                &mut stdin().lock(),
                &mut stdout().lock(),
            ))
        }
    }
}

/// Ends with the code of the program that it ran.
fn of(code: i32) -> Result<Exit, CliError> {
    Ok(Exit::Of(u8::try_from(code).unwrap_or(u8::MAX)))
}

fn done<E: ToString>(result: Result<(), E>) -> Result<Exit, CliError> {
    result.map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(Exit::Done)
}
