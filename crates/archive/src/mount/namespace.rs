//! Where a mount is seen, and that it goes.

use crate::ArchiveError;
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_change};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// How long a mount may still answer after whoever mounted it was killed: so many looks, so far apart.
const LOOKS: u32 = 100;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// From here on this process and what it starts see mounts of their own, and may mount, also without
/// root: in a user namespace in which the user stays who it is. All of them go with the last process in
/// it, however that ends. The process must have one thread.
///
/// # Errors
/// The system allows no such namespaces to this user.
pub fn for_this_process() -> Result<(), ArchiveError> {
    let user = rustix::process::geteuid();
    let group = rustix::process::getegid();
    let refused = |error: io::Error| {
        ArchiveError::invalid(format!(
            "this system lets this user make no namespace to mount in ({error}); as root it works, \
             and with fusermount3 (Debian: fuse3) and without a command"
        ))
    };
    if user.is_root() {
        unshare(UnshareFlags::NEWNS).map_err(refused)?;
    } else {
        unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS).map_err(refused)?;
        // Groups can be mapped by whoever cannot give them up only.
        std::fs::write("/proc/self/setgroups", "deny").map_err(refused)?;
        let map = |id: u32| format!("{id} {id} 1");
        std::fs::write("/proc/self/uid_map", map(user.as_raw())).map_err(refused)?;
        std::fs::write("/proc/self/gid_map", map(group.as_raw())).map_err(refused)?;
    }
    let propagation = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", propagation).map_err(|errno| refused(errno.into()))
}

fn unshare(flags: UnshareFlags) -> io::Result<()> {
    #[expect(
        unsafe_code,
        reason = "rustix cannot rule out file descriptors for all flags"
    )]
    // SAFETY: these flags leave file descriptors alone.
    unsafe {
        Ok(unshare_unsafe(flags)?)
    }
}

/// Unmounts, also what is in use.
pub(super) fn unmount(directory: &Path) {
    if rustix::mount::unmount(directory, UnmountFlags::DETACH).is_ok() {
        return;
    }
    // Only it may, of what it mounted for a user.
    let mut fusermount = Command::new("fusermount3");
    fusermount.args(["-u", "-q", "-z", "--"]).arg(directory);
    let _ = fusermount
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

/// Asks a process that was started to end.
pub fn ask_to_end(child: &Child) {
    if let Some(id) = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    {
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
    }
}

/// Waits until stdin ends, which is when whoever holds its other end is gone, and then unmounts `directory`
/// if what is mounted there answers no more.
pub fn unmount_when_gone(directory: &Path) {
    // Signals for the group of whoever mounted are not for this process.
    let _ = rustix::process::setsid();
    let device = || std::fs::metadata(directory).map(|found| found.dev()).ok();
    let mounted = device();
    let _ = io::stdin().read_to_end(&mut Vec::new());
    for _ in 0..LOOKS {
        // Unlike what a file's attributes are, this is asked of whoever mounted, each time: a killed one's
        // answer may be there a moment after its stdin has ended.
        match rustix::fs::statfs(directory) {
            Err(Errno::NOTCONN | Errno::CONNABORTED) => return unmount(directory),
            Ok(_) if device() == mounted => thread::sleep(BETWEEN_LOOKS),
            _ => return,
        }
    }
}
