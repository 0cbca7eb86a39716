//! `stowplan init`.

use super::InitOptions;
use crate::error::{CliError, Exit};

pub(crate) fn init(_options: &InitOptions) -> Result<Exit, CliError> {
    Err(CliError::Usage("being built".to_owned()))
}
