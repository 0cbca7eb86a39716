//! Counting this process's sync calls, without privileges and without a tracer.
//!
//! The functions below carry the names of the C library's. The linker binds every reference in
//! the executable to them, so calls from Rust's standard library and from engines that are linked
//! in statically (SQLite) pass through here. They count, and hand on by `syscall`, which is not
//! intercepted. What escapes: engines that make raw system calls themselves (rustix, io_uring)
//! and engines in shared objects that were bound to the C library directly.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use stowplan_model::SyncCalls;

/// Whether sync calls are counted on this system; where they are not, [`sync_calls`] stays zero.
pub const SYNC_CALLS_COUNTED: bool = cfg!(all(
    target_os = "linux",
    any(target_env = "gnu", target_env = "musl"),
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
));

static FSYNC: AtomicU64 = AtomicU64::new(0);
static FDATASYNC: AtomicU64 = AtomicU64::new(0);
static MSYNC: AtomicU64 = AtomicU64::new(0);
static OTHER: AtomicU64 = AtomicU64::new(0);

/// Sync calls of this process since it started, from all threads, failed ones included.
#[must_use]
pub fn sync_calls() -> SyncCalls {
    SyncCalls {
        fsync: FSYNC.load(Relaxed),
        fdatasync: FDATASYNC.load(Relaxed),
        msync: MSYNC.load(Relaxed),
        other: OTHER.load(Relaxed),
    }
}

#[cfg(all(
    target_os = "linux",
    any(target_env = "gnu", target_env = "musl"),
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
))]
#[expect(
    unsafe_code,
    reason = "defining the C library's own names is the only unprivileged way to see the calls of an engine linked in"
)]
mod interposed {
    use super::{FDATASYNC, FSYNC, MSYNC, OTHER, Relaxed};
    use libc::{c_int, c_uint, c_void, off64_t, size_t};

    // SAFETY (of the names): each function has exactly the C library's signature, result and
    // errno (which `libc::syscall` sets), and calls nothing that could call it back.

    /// Defines a function that counts a call and hands it on. On these architectures registers are as wide as
    /// an offset.
    macro_rules! counted {
        ($($name:ident($($given:ident: $type:ty),*) as $number:ident in $counter:ident;)+) => {$(
            #[unsafe(no_mangle)]
            extern "C" fn $name($($given: $type),*) -> c_int {
                $counter.fetch_add(1, Relaxed);
                // SAFETY: the kernel gets what the caller gave, and checks it; nothing is dereferenced here.
                unsafe { result(libc::syscall(libc::$number, $($given),*)) }
            }
        )+};
    }

    counted! {
        fsync(fd: c_int) as SYS_fsync in FSYNC;
        fdatasync(fd: c_int) as SYS_fdatasync in FDATASYNC;
        msync(address: *mut c_void, length: size_t, flags: c_int) as SYS_msync in MSYNC;
        sync_file_range(fd: c_int, offset: off64_t, length: off64_t, flags: c_uint) as SYS_sync_file_range in OTHER;
        syncfs(fd: c_int) as SYS_syncfs in OTHER;
    }

    #[unsafe(no_mangle)]
    extern "C" fn sync() {
        OTHER.fetch_add(1, Relaxed);
        // SAFETY: takes no arguments and cannot fail.
        unsafe {
            libc::syscall(libc::SYS_sync);
        }
    }

    /// 0 or -1, as all of these calls return.
    fn result(value: libc::c_long) -> c_int {
        if value == 0 { 0 } else { -1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other tests of this process may sync at the same time, so counts are lower bounds.
    #[test]
    fn syncs_of_the_standard_library_are_counted() {
        let file = tempfile::tempfile().unwrap();
        let before = sync_calls();
        file.sync_all().unwrap();
        file.sync_data().unwrap();
        let counted = sync_calls().since(&before);
        assert!(counted.fsync >= 1 && counted.fdatasync >= 1, "{counted:?}");
    }

    #[test]
    fn commits_of_sqlite_are_counted() {
        let directory = tempfile::tempdir().unwrap();
        let connection = rusqlite::Connection::open(directory.path().join("x.db")).unwrap();
        connection
            .execute_batch("PRAGMA synchronous=FULL; CREATE TABLE t(x)")
            .unwrap();
        let before = sync_calls();
        for _ in 0..10 {
            connection.execute("INSERT INTO t VALUES(1)", []).unwrap();
        }
        let counted = sync_calls().since(&before);
        assert!(counted.total() >= 30, "{counted:?}");
    }

    #[test]
    fn a_failed_sync_still_reports_its_errno() {
        let (reader, _writer) = std::io::pipe().unwrap();
        let pipe = std::fs::File::from(std::os::fd::OwnedFd::from(reader));
        let error = pipe.sync_all().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
    }
}
