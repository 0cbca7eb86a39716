//! Where the stores of these tests lie.

use std::path::Path;
use tempfile::TempDir;

/// More bytes than the tests of a process have at the same time.
const ROOM: u64 = 1 << 30;

/// A new directory in memory, where the machine has room there, or else one of the system's: what is
/// tested is what stores do, and not for how long a disk that others use keeps them waiting.
pub(crate) fn in_memory() -> TempDir {
    let memory = Path::new("/dev/shm");
    let room = rustix::fs::statvfs(memory).map_or(0, |found| found.f_bavail * found.f_frsize);
    let directory = if room >= ROOM {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    directory.unwrap()
}
