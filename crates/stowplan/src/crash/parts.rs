//! The processes of the lab: this program, started again. None of them is for people.

use crate::error::{CliError, Exit};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::io::{stdin, stdout};
use std::path::{Path, PathBuf};
use stowplan_driver::CrashTask;
use stowplan_model::StoreSpec;

/// Which process of the lab this is.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum CrashPart {
    /// Namespaces with a recording file system.
    Record,
    /// Namespaces alone.
    Cage,
    /// The first process within.
    Init,
}

/// Options of the hidden verb `crashfs`.
#[derive(Debug, Args)]
pub(crate) struct CrashfsOptions {
    part: CrashPart,
    #[arg(long, default_value_t = 0)]
    parent: u32,
    #[arg(long, default_value = ".")]
    mount: PathBuf,
    #[arg(long, default_value = ".")]
    log: PathBuf,
    #[arg(long, default_value_t = 0)]
    most: u64,
    #[arg(long)]
    write_back: bool,
    #[arg(last = true)]
    command: Vec<OsString>,
}

/// Options of the hidden verbs `crash-workload` and `crash-judge`.
#[derive(Debug, Args)]
pub(crate) struct CrashStoreOptions {
    #[arg(long)]
    store: StoreSpec,
    #[arg(long)]
    seed: u64,
    #[arg(long)]
    transactions: u64,
    #[arg(long, default_value_t = 0)]
    parent: u32,
}

impl CrashStoreOptions {
    fn task(&self) -> CrashTask {
        CrashTask {
            store: self.store.clone(),
            seed: self.seed,
            transactions: self.transactions,
        }
    }
}

/// Ends with the code of the program that it runs.
pub(crate) fn crashfs(options: &CrashfsOptions) -> Result<Exit, CliError> {
    let CrashfsOptions {
        parent,
        mount,
        log,
        most,
        write_back,
        command,
        ..
    } = options;
    let code = match options.part {
        CrashPart::Record => {
            stowplan_crashlab::record(*parent, mount, log, *most, command)?;
            0
        }
        CrashPart::Cage => stowplan_crashlab::cage(*parent, command)?,
        CrashPart::Init => stowplan_crashlab::init(command, *write_back)?,
    };
    Ok(Exit::Of(u8::try_from(code).unwrap_or(u8::MAX)))
}

/// Commits to a store in the current directory, and tells of each on stdout.
pub(crate) fn workload(options: &CrashStoreOptions) -> Result<Exit, CliError> {
    // What it says goes to the file system, line by line: nothing may be kept back.
    stowplan_driver::workload(&options.task(), Path::new("."), &mut stdout().lock())
        .map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(Exit::Done)
}

/// Judges the states that stdin names.
pub(crate) fn judge(options: &CrashStoreOptions) -> Result<Exit, CliError> {
    stowplan_crashlab::end_with_parent(options.parent)?;
    stowplan_driver::judge(&options.task(), &mut stdin().lock(), &mut stdout().lock())
        .map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(Exit::Done)
}
