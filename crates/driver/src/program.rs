//! Drivers as programs: the one that the built-in stores run in, and those that host other stores.

use crate::{DriverError, Result, platform, serve};
use std::io::{BufReader, Write, stderr, stdin, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use stowplan_stores::Kind;
use stowplan_stores::registry::{BUILT_IN, Kinds};

/// The exit code of a program that was told what makes no sense.
const USAGE: u8 = 2;

/// Serves the parent on stdin and stdout with the stores that are built in.
///
/// # Errors
/// Those of [`serve`].
pub fn built_in() -> Result<()> {
    platform::name_process(c"stowplan");
    let tool = concat!("stowplan ", env!("CARGO_PKG_VERSION"));
    on_standard_streams(tool, BUILT_IN)
}

/// `main` of a driver program with one kind of store, a `&'static Kind`: [`program`] with the name and
/// version of the crate.
#[macro_export]
macro_rules! main {
    ($kind:expr) => {
        fn main() -> std::process::ExitCode {
            let tool = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));
            $crate::program(tool, &[$kind])
        }
    };
}

/// The whole of a driver program that hosts these kinds of stores. `tool` is its name and version.
///
/// Beside them it hosts the store `null`, by which it is measured what the program itself costs.
#[must_use]
pub fn program(tool: &str, kinds: &[&'static Kind]) -> ExitCode {
    match hosted(tool, kinds) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where nobody listens, nobody is to be told.
            let _ = writeln!(stderr(), "error: {error}");
            USAGE.into()
        }
    }
}

fn hosted(tool: &str, kinds: &[&'static Kind]) -> Result<()> {
    if std::env::args_os().nth(1).is_some() {
        return Err(DriverError::invalid(format!(
            "{tool} takes no arguments: it hosts stores for stowplan, which starts it \
             ('stowplan list drivers' lists what it finds)"
        )));
    }
    // Where it cannot be, such a write ends the program.
    let _ = survive_large_files();
    on_standard_streams(tool, Kinds::of(kinds))
}

/// Has a write beyond the limit on the size of files (`ulimit -f`) fail as any other that is
/// refused: the signal that comes with it would end the program without a word, and leave what it
/// has not cleared up.
///
/// # Errors
/// The system refuses to install the handler.
pub fn survive_large_files() -> std::io::Result<()> {
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
    Ok(())
}

fn on_standard_streams(tool: &str, kinds: Kinds<'_>) -> Result<()> {
    platform::die_with_parent();
    let mut input = BufReader::new(stdin());
    serve(&mut input, &mut stdout().lock(), tool, kinds)
}
