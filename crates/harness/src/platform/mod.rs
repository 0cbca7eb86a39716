//! Calls of the system, and what it tells of the machine. What it does not offer is `None`.

mod linux;
pub(crate) use linux::*;

/// A stretch of a file that lies in one piece on its device; bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Where it begins in the file.
    pub(crate) logical: u64,
    /// Where it begins on the device.
    pub(crate) physical: u64,
    /// Its length.
    pub(crate) bytes: u64,
}
