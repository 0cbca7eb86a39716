//! `stowplan mount` where there is no FUSE.

use super::MountOptions;
use crate::error::{CliError, Exit};

/// Not available here.
pub(crate) fn mount(options: &MountOptions) -> Result<Exit, CliError> {
    Err(CliError::Usage(format!(
        "mount is not available on this system, only on Linux; 'stowplan unpack {}' works",
        options.archive.display()
    )))
}
