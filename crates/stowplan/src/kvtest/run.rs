//! `stowplan run`.

use super::RunOptions;
use crate::error::{CliError, Exit};

pub(crate) fn run(_options: &RunOptions) -> Result<Exit, CliError> {
    Err(CliError::Usage("being built".to_owned()))
}
