//! `stowplan export`.

use super::ExportOptions;
use crate::error::{CliError, Exit};

pub(crate) fn export(_options: &ExportOptions) -> Result<Exit, CliError> {
    Err(CliError::Usage("being built".to_owned()))
}
