//! Permission events of fanotify(7): who opens a file of a marked mount waits until that is permitted.

use super::own_mounts;
use rustix::io::{read, write};
use rustix::mount::mount_bind;
use rustix::path::Arg;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// `sizeof(struct fanotify_event_metadata)`.
const EVENT_BYTES: usize = 24;

/// What hears of each opening. Once the last descriptor of it is closed, however its process ends, the
/// kernel permits whatever still waits for an answer, and asks no more.
#[derive(Debug)]
pub(super) struct Openings(OwnedFd);

impl Openings {
    /// One that hears of nothing yet.
    ///
    /// # Errors
    /// It takes `CAP_SYS_ADMIN`, and a kernel that has fanotify.
    pub(super) fn new() -> Result<Self> {
        let how = libc::FAN_CLASS_CONTENT | libc::FAN_CLOEXEC;
        // That reading a file first changes its time of access would be seen.
        let files = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_LARGEFILE | libc::O_NOATIME;
        #[expect(unsafe_code, reason = "rustix has no fanotify")]
        // SAFETY: takes integers only, and a descriptor that it makes is nobody else's.
        unsafe {
            match libc::fanotify_init(how, files.unsigned_abs()) {
                descriptor @ 0.. => Ok(Self(OwnedFd::from_raw_fd(descriptor))),
                _ => Err(Error::last_os_error()),
            }
        }
    }

    /// Hears of each file that is opened through the mount on which a path lies.
    pub(super) fn of_mount(&self, path: &Path) -> Result<()> {
        let flags = libc::FAN_MARK_ADD | libc::FAN_MARK_MOUNT;
        self.mark(flags, libc::FAN_OPEN_PERM, path)
    }

    /// Hears of no mount any more. What waits still waits.
    pub(super) fn of_none(&self) -> Result<()> {
        let flags = libc::FAN_MARK_FLUSH | libc::FAN_MARK_MOUNT;
        self.mark(flags, 0, Path::new("/"))
    }

    fn mark(&self, flags: u32, mask: u64, path: &Path) -> Result<()> {
        let (group, path) = (self.0.as_raw_fd(), path.into_c_str()?);
        #[expect(unsafe_code, reason = "rustix has no fanotify")]
        // SAFETY: the path ends with 0 and lives; a wrong descriptor is an error return.
        let answer =
            unsafe { libc::fanotify_mark(group, flags, mask, libc::AT_FDCWD, path.as_ptr()) };
        match answer {
            0 => Ok(()),
            _ => Err(Error::last_os_error()),
        }
    }

    /// Waits until a file is opened; the files that are, each of which waits to be permitted.
    pub(super) fn next(&self) -> Result<Vec<File>> {
        let mut buffer = [0; 64 * EVENT_BYTES];
        let length = read(&self.0, &mut buffer)?;
        let events = buffer.get(..length).unwrap_or_default();
        events
            .chunks_exact(EVENT_BYTES)
            .filter_map(file_of)
            .collect()
    }

    /// Lets whoever opens the file of this descriptor go on.
    pub(super) fn permit(&self, file: RawFd) -> Result<()> {
        // `struct fanotify_response`.
        let answer = [file.to_ne_bytes(), libc::FAN_ALLOW.to_ne_bytes()];
        write(&self.0, &answer.concat())?;
        Ok(())
    }
}

/// The file of an event; nothing of one that has none.
fn file_of(event: &[u8]) -> Option<Result<File>> {
    let (length, rest) = event.split_first_chunk()?;
    let (version, descriptor) = (rest.first()?, rest.get(12..16)?);
    let whole = u32::from_ne_bytes(*length) as usize == EVENT_BYTES;
    if !whole || *version != libc::FANOTIFY_METADATA_VERSION {
        return Some(Err(Error::new(
            ErrorKind::Unsupported,
            "the kernel tells of files that are opened in another way",
        )));
    }
    let descriptor = RawFd::from_ne_bytes(descriptor.try_into().ok()?);
    #[expect(unsafe_code, reason = "rustix has no fanotify")]
    // SAFETY: the kernel made this descriptor for this event, and nobody else has it.
    (descriptor >= 0).then(|| Ok(File::from(unsafe { OwnedFd::from_raw_fd(descriptor) })))
}

/// Why nobody can be asked here before files are opened; nothing where somebody can be.
pub(crate) fn why_nothing_is_scanned() -> Option<&'static str> {
    let openings = match Openings::new() {
        Ok(openings) => openings,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Some(ROOT_ONLY),
        Err(_) => return Some(NO_EVENTS),
    };
    // Of a file that nobody else knows.
    let file = rustix::fs::memfd_create(c"stowplan", rustix::fs::MemfdFlags::CLOEXEC);
    let marked = file.map_err(Error::from).and_then(|file| {
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        openings.mark(libc::FAN_MARK_ADD, libc::FAN_OPEN_PERM, Path::new(&path))
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
