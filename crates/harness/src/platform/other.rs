//! Systems whose counters nobody has wired up yet: time only.

pub(crate) fn run_delay_ns() -> Option<u64> {
    None
}

pub(crate) fn boot_id() -> Option<String> {
    None
}

pub(crate) fn scatter_directories(_: &std::fs::File) {}

pub(crate) fn extents(_: &std::fs::File) -> Option<Vec<super::Extent>> {
    None
}

pub(crate) const DROP_CACHES: Option<&str> = None;

/// Where the file lies that this process runs, as far as the system remembers it.
pub(crate) fn own_program() -> std::io::Result<std::path::PathBuf> {
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
