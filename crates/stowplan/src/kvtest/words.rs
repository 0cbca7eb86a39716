//! How `init` and `export` end where nothing was made.

use crate::error::{CliError, Exit};
use crate::screen;
use stowplan_harness::HarnessError;

/// The end of work that broke off.
pub(super) fn broken_off(error: HarnessError) -> Result<Exit, CliError> {
    if matches!(error, HarnessError::Interrupted) {
        screen::warn("interrupted; nothing was left behind");
        return Ok(Exit::Interrupted);
    }
    Err(CliError::Work(Box::new(error)))
}
