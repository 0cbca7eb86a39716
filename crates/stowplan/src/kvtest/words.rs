//! Words that `init` and `export` share: what was made, and how it ended otherwise.

use crate::error::{CliError, Exit};
use crate::screen;
use std::time::Duration;
use stowplan_harness::HarnessError;

/// Says on stderr what was made and in which time, unless it shall be quiet: kvtest prints nothing
/// that could be read on stdout.
pub(super) fn say(quiet: bool, what: &str, took: Duration) {
    if !quiet {
        screen::say(&format!("{what}; {:.1} s", took.as_secs_f64()));
    }
}

/// The end of work that broke off.
pub(super) fn broken_off(error: HarnessError) -> Result<Exit, CliError> {
    if matches!(error, HarnessError::Interrupted) {
        screen::warn("interrupted; nothing was left behind");
        return Ok(Exit::Interrupted);
    }
    Err(CliError::Work(Box::new(error)))
}

/// `1 file`, `1,000 files`.
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{} {noun}", stowplan_report::count(number))
}
