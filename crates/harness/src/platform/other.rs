//! Systems whose counters nobody has wired up yet: time only.

use std::path::{Path, PathBuf};

pub(crate) fn run_delay_ns() -> Option<u64> {
    None
}

pub(crate) fn boot_id() -> Option<String> {
    None
}

pub(crate) fn why_nothing_is_scanned() -> Option<&'static str> {
    Some("a scanner is asked before files are opened on Linux only")
}

pub(crate) fn listen(_: &std::path::Path, _: bool) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

pub(crate) fn mount_for_itself(
    _: &mut std::process::Command,
    _: &std::path::Path,
) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

pub(crate) fn scatter_directories(_: &std::fs::File) {}

pub(crate) fn extents(_: &std::fs::File) -> Option<Vec<super::Extent>> {
    None
}

pub(crate) const DROP_CACHES: Option<&str> = None;

/// Where the file lies that this process runs, as far as the system remembers it.
pub(crate) fn own_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

pub(crate) fn write_pages(file: &std::fs::File) -> std::io::Result<()> {
    file.sync_all()
}

pub(crate) fn forget_pages(_: &std::fs::File) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

pub(crate) fn cachestat_resident_pages(_: &std::fs::File) -> Option<u64> {
    None
}

pub(crate) fn has_cachestat() -> bool {
    false
}

pub(crate) fn mincore_resident_pages(_: &std::fs::File, _: u64) -> Option<u64> {
    None
}

pub(crate) fn try_perf_event() -> Option<Result<(), i32>> {
    None
}

pub(crate) fn page_bytes() -> u64 {
    4096
}

pub(crate) fn may_mount_images() -> bool {
    false
}

pub(crate) fn may_know_file_system(_: &str) -> bool {
    false
}

pub(crate) fn may_encrypt() -> bool {
    false
}

pub(crate) fn own_mounts() -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

pub(crate) fn mount(_: &Path, _: &Path, _: &str, _: &str) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

pub(crate) fn unmount(_: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

pub(crate) fn attach(_: &std::fs::File, _: u32) -> std::io::Result<(std::fs::File, PathBuf)> {
    Err(std::io::ErrorKind::Unsupported.into())
}

pub(crate) fn encrypt(_: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
