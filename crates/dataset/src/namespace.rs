//! Namespaces: mounts and processes that nobody outside of them sees, and that end with the last process within.

use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{getegid, geteuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::fs::write;
use std::io;

/// From here on this process and what it starts see mounts of their own, and may mount, also without root: in a
/// user namespace in which the user stays who it is. The process must have one thread.
///
/// # Errors
/// The system allows no such namespaces to this user.
pub fn own_mounts() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    // Whoever may do it as it is needs no namespace of users, which some systems forbid.
    if unshare(UnshareFlags::NEWNS).is_err() {
        unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
        // Groups can be mapped by whoever cannot give them up only.
        write("/proc/self/setgroups", "deny")?;
        write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    Ok(mount_change("/", private)?)
}

/// What this thread starts next is the first process of a namespace of processes, all of which end with it.
///
/// # Errors
/// This process has no right to that: [`own_mounts`] gives it.
pub fn own_processes() -> io::Result<()> {
    unshare(UnshareFlags::NEWPID)
}

/// Has this thread leave what it shares with others, as far as that is no descriptors.
///
/// # Errors
/// The system refuses.
pub fn unshare(flags: UnshareFlags) -> io::Result<()> {
    #[expect(
        unsafe_code,
        reason = "rustix cannot rule out file descriptors for all flags"
    )]
    // SAFETY: these flags leave file descriptors alone.
    unsafe {
        Ok(unshare_unsafe(flags)?)
    }
}
