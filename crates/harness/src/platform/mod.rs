//! Everything that differs between operating systems. What a system does not offer is `None`
//! there; nothing outside this module asks on which system it runs.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::*;

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
