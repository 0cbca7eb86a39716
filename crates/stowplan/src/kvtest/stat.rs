//! `stowplan stat`.

use super::StatOptions;
use crate::error::{CliError, Exit};

pub(crate) fn stat(_options: &StatOptions) -> Result<Exit, CliError> {
    Err(CliError::Usage("being built".to_owned()))
}
