//! `stowplan mount` where there is no FUSE.

use super::MountOptions;
use crate::error::{CliError, Exit};
use std::path::Path;

/// Not available here.
pub(crate) fn mount(options: &MountOptions) -> Result<Exit, CliError> {
    Err(CliError::Usage(format!(
        "mount is not available on this system, only on Linux; 'stowplan unpack {}' works",
        options.archive.display()
    )))
}

/// Nothing was mounted.
pub(crate) fn unmount_when_gone(_: &Path) -> Exit {
    Exit::Usage
}
