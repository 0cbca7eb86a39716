//! File systems that this process mounts for itself and those that it starts: in a mount namespace of its
//! own, images on loop devices that the kernel lets go of with the last mount. When the last of these
//! processes is gone, however it ended, nothing is left of either.

use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_change, unmount as unmount_with};
use rustix::thread::UnshareFlags;
use std::io;
use std::path::Path;
use stowplan_dataset::namespace::unshare;

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
