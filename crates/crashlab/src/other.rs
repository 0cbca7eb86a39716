//! Elsewhere than on Linux there is no file system that could record.

use crate::run_error;
use std::ffi::OsString;
use std::path::Path;
use stowplan_harness::HarnessError;

fn unavailable() -> HarnessError {
    run_error("not available here: the power-loss lab needs Linux (FUSE and namespaces)")
}

pub(crate) fn end_with_parent(_: u32) -> Result<(), HarnessError> {
    Err(unavailable())
}

pub(crate) fn reason_against() -> Option<String> {
    Some(unavailable().to_string())
}

/// Not here.
///
/// # Errors
/// Always.
pub fn cage(_: u32, _: &[OsString]) -> Result<i32, HarnessError> {
    Err(unavailable())
}

/// Not here.
///
/// # Errors
/// Always.
pub fn init(_: &[OsString], _: bool) -> Result<i32, HarnessError> {
    Err(unavailable())
}

/// Not here.
///
/// # Errors
/// Always.
pub fn record(_: u32, _: &Path, _: &Path, _: &[OsString]) -> Result<(), HarnessError> {
    Err(unavailable())
}
