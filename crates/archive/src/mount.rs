//! An archive as a file system, read-only, by FUSE.
//!
//! What is mounted is the archive as it was when it was opened: its transaction that reads lasts as long as
//! the mount, so that nobody changes it meanwhile.

mod files;
mod tree;

use crate::ArchiveError;
use crate::error::{Doing, Refusals};
use crate::read::Reader;
use files::Files;
use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};
use rustix::mount::UnmountFlags;
use rustix::process::geteuid;
use std::path::{Path, PathBuf};
use std::process::Command;
use stowplan_dataset::namespace::own_mounts;
use tree::Tree;

/// Threads that answer what others ask of the files.
const THREADS: usize = 2;

/// A mounted archive, until it is dropped.
pub struct Mounted {
    session: Option<BackgroundSession>,
    directory: PathBuf,
    /// Entries that are not shown.
    pub refused: Refusals,
    /// Files, directories and links that are.
    pub entries: u64,
}

impl Mounted {
    /// Mounts `archive` on the directory `directory`, which should be empty: what is in it is hidden. Root shows it
    /// to everybody, as far as modes allow, another user to himself.
    ///
    /// # Errors
    /// It is no archive, there is no such directory, or the system lets this user mount nothing.
    pub fn mount(archive: &Path, directory: &Path) -> Result<Self, ArchiveError> {
        let found = std::fs::metadata(directory).doing("open", directory)?;
        if !found.is_dir() {
            let what = format!("{} is no directory to mount on", directory.display());
            return Err(ArchiveError::invalid(what));
        }
        let mut refused = Refusals::default();
        let first = Reader::open(archive)?;
        let tree = Tree::read(first.archive(), &mut refused)?;
        let others = (1..THREADS).map(|_| Reader::open(archive));
        let readers = std::iter::once(Ok(first)).chain(others);
        let readers = readers.collect::<Result<Vec<_>, ArchiveError>>()?;
        let entries = tree.len();
        let files = Files::new(tree, readers);
        let session = Session::new(files, directory, &config(archive));
        let refuse = |error| refused_mount(directory, &error);
        Ok(Self {
            session: Some(session.and_then(Session::spawn).map_err(refuse)?),
            directory: directory.to_owned(),
            refused,
            entries,
        })
    }

    /// Whether somebody unmounted it.
    pub fn is_over(&self) -> bool {
        self.session
            .as_ref()
            .is_none_or(|session| session.guard.is_finished())
    }
}

impl Drop for Mounted {
    /// Also while it is in use: whoever uses it finds out.
    fn drop(&mut self) {
        if !self.is_over() {
            unmount(&self.directory);
        }
        self.session.take();
    }
}

/// From here on this process and what it starts see mounts of their own, and may mount, also without root. All of
/// them go with the last process in it, however that ends. The process must have one thread.
///
/// # Errors
/// The system allows no such namespaces to this user.
pub fn for_this_process() -> Result<(), ArchiveError> {
    own_mounts().map_err(|error| {
        ArchiveError::invalid(format!(
            "this system lets this user make no namespace to mount in ({error}); as root it works, \
             and with fusermount3 (Debian: fuse3) and without a command"
        ))
    })
}

/// Unmounts, also what is in use.
fn unmount(directory: &Path) {
    if rustix::mount::unmount(directory, UnmountFlags::DETACH).is_err() {
        // Only it may, of what it mounted for a user.
        let mut fusermount = Command::new("fusermount3");
        fusermount.args(["-u", "-q", "-z", "--"]).arg(directory);
        let _ = fusermount.output();
    }
}

/// Why nothing could be mounted, and what helps.
fn refused_mount(directory: &Path, error: &std::io::Error) -> ArchiveError {
    use std::fs::OpenOptions;
    let device = OpenOptions::new().read(true).write(true).open("/dev/fuse");
    let why = match device {
        Err(refused) => format!(
            "/dev/fuse cannot be opened ({refused}): this system lets this user mount nothing"
        ),
        Ok(_) if geteuid().is_root() => error.to_string(),
        Ok(_) => format!(
            "{error}; without root it takes fusermount3 (Debian: fuse3), or a command that sees the \
             mount: stowplan mount ARCHIVE DIR -- COMMAND"
        ),
    };
    ArchiveError::invalid(format!("cannot mount on {}: {why}", directory.display()))
}

fn config(archive: &Path) -> Config {
    let mut config = Config::default();
    let name = archive.file_name().unwrap_or(archive.as_os_str());
    // What separates options.
    let name = name.to_string_lossy().replace([',', '\\'], "_");
    config.mount_options = vec![
        MountOption::RO,
        MountOption::NoSuid,
        MountOption::NoDev,
        MountOption::DefaultPermissions,
        MountOption::FSName(name),
        MountOption::Subtype("sqlar".to_owned()),
    ];
    config.n_threads = Some(THREADS);
    config.acl = match geteuid().is_root() {
        true => SessionACL::All,
        false => SessionACL::Owner,
    };
    config
}
