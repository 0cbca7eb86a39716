//! Counting what a block does, in a pass of its own that is never timed: system calls by name,
//! requests to the device. By `strace` around the worker.

mod strace;

use std::path::{Path, PathBuf};

pub(crate) use strace::calls_in;

/// The most operations of a counting block: enough that what happens once in a while shows, few
/// enough for `strace`, which takes 0.1 ms a call.
const MOST_OPERATIONS: u64 = 1_000;

/// The program `strace`, where it is installed and may be used; else why not.
pub(crate) fn find_strace() -> Result<PathBuf, String> {
    let program = on_path("strace").ok_or("strace: not installed")?;
    try_strace(&program).map_err(|why| format!("strace: {why}"))?;
    Ok(program)
}

/// Whether it may trace anything here.
fn try_strace(program: &Path) -> Result<(), String> {
    let mut trial = std::process::Command::new(program);
    trial.args(["-f", "-qq", "-o", "/dev/null", "true"]);
    let done = trial.stdin(std::process::Stdio::null()).output();
    let done = done.map_err(|error| error.to_string())?;
    if done.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    let first = stderr.lines().find(|line| !line.trim().is_empty());
    Err(first.unwrap_or("it fails without a word").to_owned())
}

/// Where a program is that a shell would find.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|file| {
            file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
        })
}

/// How many operations a counting block has at most whose values have so many bytes on average: a
/// store may take a call for each page of a value, and `strace` takes its time for each.
pub(crate) fn most_operations(mean_bytes: u64) -> u64 {
    const SMALLEST_PAGE: u64 = 512;
    const OTHER_CALLS: u64 = 20;
    const MOST_CALLS: u64 = 40_000;
    let calls = mean_bytes / SMALLEST_PAGE + OTHER_CALLS;
    (MOST_CALLS / calls).clamp(10, MOST_OPERATIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counting_block_of_large_values_is_shorter_so_that_it_ends_soon() {
        assert_eq!(most_operations(10_000), 1_000);
        assert!(most_operations(1 << 20) < 40);
        assert_eq!(most_operations(u64::MAX), 10);
    }
}
