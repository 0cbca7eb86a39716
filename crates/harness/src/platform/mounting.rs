//! File systems that this process mounts for itself and those that it starts: in a mount namespace of its
//! own, images on loop devices that the kernel lets go of with the last mount. When the last of these
//! processes is gone, however it ended, nothing is left of either.

use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_change, unmount as unmount_with};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use stowplan_dataset::namespace::unshare;

/// Lends loop devices.
const LOOP_CONTROL: &str = "/dev/loop-control";
/// Whether this process may attach loop devices and mount what is on them. Root of a user namespace may
/// not: the devices are not its own.
pub(crate) fn may_mount_images() -> bool {
    let sets = capabilities(None);
    let may = sets.is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN));
    let control = OpenOptions::new().read(true).write(true).open(LOOP_CONTROL);
    may && control.is_ok()
}

/// Whether the kernel knows a type of file systems, or may find a module for it.
pub(crate) fn may_know_file_system(kind: &str) -> bool {
    let known = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let release = rustix::system::uname();
    let modules = Path::new("/lib/modules").join(&*release.release().to_string_lossy());
    known.split_whitespace().any(|word| word == kind) || modules.is_dir()
}

/// Whether the kernel's ext4 can encrypt.
pub(crate) fn may_encrypt() -> bool {
    Path::new("/sys/fs/ext4/features/encryption").exists()
}

/// From here on the calling thread, and the threads and processes that it starts, see mounts of their own. It
/// only makes system calls, and may stand between fork and exec.
pub(crate) fn own_mounts() -> io::Result<()> {
    unshare(UnshareFlags::NEWNS)?;
    // What others unmount is not to stay mounted here, and nothing of this is to be seen by them.
    let downstream = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    Ok(mount_change(c"/", downstream)?)
}

/// Unmounts, also what is in use: it goes when it is no longer.
pub(crate) fn unmount(place: &Path) -> io::Result<()> {
    Ok(unmount_with(place, UnmountFlags::DETACH)?)
}
