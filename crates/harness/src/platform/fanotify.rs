//! Permission events of fanotify(7): who opens a file of a marked mount waits until that is permitted.

use super::own_mounts;
use nix::errno::Errno;
use nix::sys::fanotify::{EventFFlags, Fanotify, InitFlags, MarkFlags, MaskFlags};
use rustix::fs::{CWD, MemfdFlags, memfd_create};
use rustix::mount::mount_bind;
use rustix::path::Arg;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// What hears of each opening, and of none yet. Once the last descriptor of it is closed, however its process ends, the
/// kernel permits whatever still waits for an answer, and asks no more.
///
/// # Errors
/// It takes `CAP_SYS_ADMIN`, and a kernel that has fanotify.
pub(super) fn openings() -> nix::Result<Fanotify> {
    let how = InitFlags::FAN_CLASS_CONTENT | InitFlags::FAN_CLOEXEC;
    // That reading a file first changes its time of access would be seen.
    let files = EventFFlags::O_CLOEXEC | EventFFlags::O_LARGEFILE | EventFFlags::O_NOATIME;
    Fanotify::init(how, files)
}

/// Has what hears of openings hear of those of a file, or of others by these flags.
pub(super) fn mark(openings: &Fanotify, flags: MarkFlags, path: &Path) -> Result<()> {
    Ok(openings.mark(flags, MaskFlags::FAN_OPEN_PERM, CWD, Some(path))?)
}

/// Why nobody can be asked here before files are opened; nothing where somebody can be.
pub(crate) fn why_nothing_is_scanned() -> Option<&'static str> {
    let openings = match openings() {
        Ok(openings) => openings,
        Err(Errno::EPERM | Errno::EACCES) => return Some(ROOT_ONLY),
        Err(_) => return Some(NO_EVENTS),
    };
    // Of a file that nobody else knows.
    let file = memfd_create(c"stowplan", MemfdFlags::CLOEXEC);
    let marked = file.map_err(Error::from).and_then(|file| {
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        mark(&openings, MarkFlags::FAN_MARK_ADD, Path::new(&path))
    });
    marked.is_err().then_some(NO_EVENTS)
}

const ROOT_ONLY: &str = "only root may have a scanner asked before files are opened (CAP_SYS_ADMIN): \
     run it with sudo";
const NO_EVENTS: &str = "no scanner is asked here before files are opened: it takes a kernel with \
     CONFIG_FANOTIFY_ACCESS_PERMISSIONS, and a container that does not forbid fanotify";

/// Gives a program that is going to be started mounts of its own, of which a directory is one.
pub(crate) fn mount_for_itself(command: &mut Command, directory: &Path) -> Result<()> {
    let directory = directory.into_c_str()?.into_owned();
    let mount = move || {
        own_mounts()?;
        Ok(mount_bind(&*directory, &*directory)?)
    };
    before_exec(command, mount);
    Ok(())
}

/// Has a program that is going to be started end with the thread that starts it, whatever ends that.
pub(crate) fn ends_with_this(command: &mut Command) {
    let parent = rustix::process::getpid();
    before_exec(command, move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may be too late for a signal.
        match getppid() == Some(parent) {
            true => Ok(()),
            false => Err(ErrorKind::BrokenPipe.into()),
        }
    });
}

/// `act` must do nothing but system calls, of what is there already: it may take no lock and no memory.
fn before_exec(command: &mut Command, act: impl FnMut() -> Result<()> + Send + Sync + 'static) {
    #[expect(unsafe_code, reason = "there is no other way between fork and exec")]
    // SAFETY: what is done in it makes system calls only, see above.
    unsafe {
        command.pre_exec(act);
    }
}
