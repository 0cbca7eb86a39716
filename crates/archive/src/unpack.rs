//! An archive back into a directory: made under a temporary name, brought to the disk, renamed.
//!
//! What an archive says is not trusted. Directories are entered one by one and through no link, files
//! are made where nothing is, and a value is inflated up to its size and no further.

use crate::directories::{Directories, Missing, open_top, times};
use crate::error::{Doing, Fault, Refusals, Refused};
use crate::names::{split, stored_names};
use crate::outside::parent_of;
use crate::pack::{MADE, TREE};
use crate::read::Reader;
use crate::rows::each_row;
use crate::sqlar::{Archive, DIRECTORIES, DIRECTORIES_LAST, Entry, Kind};
use crate::{ArchiveError, Watch};
use parking_lot::Mutex;
use rustix::fs::{
    AtFlags, Mode, OFlags, chmod, fchmod, fstat, fsync, futimens, lstat, openat, symlinkat,
    unlinkat, utimensat,
};
use rustix::io::Errno;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use stowplan_dataset::DatasetError;
use stowplan_dataset::publish::rename_unless_taken;
use stowplan_dataset::room;
use stowplan_dataset::temporary::Temporary;

/// setuid and setgid.
const SET_ID: u32 = 0o6000;

/// What to unpack, and where.
#[derive(Debug, Clone)]
pub struct Unpack {
    /// The archive, which is only read.
    pub archive: PathBuf,
    /// The directory to make: it does not exist, or is empty.
    pub directory: PathBuf,
    /// Files keep setuid and setgid bits, which give rights of whoever unpacks them to others.
    pub setuid: bool,
    /// Whether everything is on the disk when it gets its name.
    pub sync: bool,
}

/// What was unpacked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// Regular files.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// Links.
    pub links: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// How many files lost their setuid or setgid bit.
    pub set_id_dropped: u64,
    /// What was not unpacked.
    pub refused: Refusals,
}

impl Unpack {
    /// Unpacks. What is refused is in [`Unpacked::refused`].
    ///
    /// # Errors
    /// It is no archive, the directory is in use, the disk is full or fails, or `watch` wants it to
    /// end. Nothing is left behind then, unless entries were being moved into a directory that was there: those
    /// that have their names by then stay.
    pub fn run(&self, watch: &dyn Watch) -> Result<Unpacked, ArchiveError> {
        self.run_on(watch, room::is_synced_as_a_whole)
    }

    fn run_on(
        &self,
        watch: &dyn Watch,
        is_synced_as_a_whole: fn(&Path) -> Result<bool, DatasetError>,
    ) -> Result<Unpacked, ArchiveError> {
        let archive = Archive::open(&self.archive)?;
        let exists = self.exists()?;
        let parent = match exists {
            // Inside, for it may be a file system of its own, and names move only within one.
            true => self.directory.as_path(),
            false => parent_of(&self.directory),
        };
        let temporary = Temporary::create(&MADE, parent)?;
        if exists && !self.is_empty_but_for(temporary.path())? {
            return Err(ArchiveError::invalid(format!(
                "{} is not empty; choose another directory, from which 'cp -an' adds to it",
                self.directory.display()
            )));
        }
        room::require_free(parent, archive.unpacked_bytes()?)?;
        let tree = temporary.path().join(TREE);
        let cleared = Cleared(&tree);
        let syncs = match self.sync {
            false => Syncs::Never,
            true if is_synced_as_a_whole(temporary.path())? => Syncs::AsAWhole,
            true => Syncs::Each,
        };
        let made = temporary.path().metadata();
        let made = made.doing("look at", temporary.path())?;
        // Only its owner can enter the root until all is done.
        let builder = std::fs::DirBuilder::new().mode(0o700).create(&tree);
        builder.doing("make", &tree)?;
        let job = Job {
            unpack: self,
            tree: &tree,
            syncs,
            umask: !made.permissions().mode() & 0o777,
        };
        let unpacked = job.fill(&archive, watch)?;
        if syncs == Syncs::AsAWhole {
            room::sync_filesystem(&tree)?;
        }
        match exists {
            false => self.publish(&tree)?,
            true => self.move_into(&tree)?,
        }
        drop(cleared);
        drop(temporary);
        job.finish_root(&archive, !exists)?;
        if self.sync {
            room::sync_directory(parent)?;
        }
        Ok(unpacked)
    }

    fn exists(&self) -> Result<bool, ArchiveError> {
        match std::fs::metadata(&self.directory) {
            Ok(found) if found.is_dir() => Ok(true),
            Ok(_) => Err(ArchiveError::invalid(format!(
                "{} exists and is no directory; choose another name",
                self.directory.display()
            ))),
            // A link to nothing is something.
            Err(error)
                if error.kind() == ErrorKind::NotFound
                    && self.directory.symlink_metadata().is_err() =>
            {
                Ok(false)
            }
            Err(error) => Err(error.refused("open", &self.directory)),
        }
    }

    fn is_empty_but_for(&self, temporary: &Path) -> Result<bool, ArchiveError> {
        let entries = std::fs::read_dir(&self.directory).doing("read", &self.directory)?;
        let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
        let names: Vec<_> = names
            .take(2)
            .collect::<Result<_, _>>()
            .doing("read", &self.directory)?;
        Ok(names
            .iter()
            .all(|name| Some(name.as_os_str()) == temporary.file_name()))
    }

    /// Moves everything in `tree` into the directory, which was empty.
    fn move_into(&self, tree: &Path) -> Result<(), ArchiveError> {
        for entry in std::fs::read_dir(tree).doing("read", tree)? {
            let entry = entry.doing("read", tree)?;
            let to = self.directory.join(entry.file_name());
            move_to(&entry.path(), &to).doing("give its name to", &to)?;
        }
        Ok(())
    }

    fn publish(&self, tree: &Path) -> Result<(), ArchiveError> {
        rename_unless_taken(tree, &self.directory).map_err(|errno| match errno {
            Errno::EXIST => ArchiveError::invalid(format!(
                "{} came into being meanwhile; nothing was unpacked; choose another name",
                self.directory.display()
            )),
            errno => errno.refused("give its name to", &self.directory),
        })
    }
}

/// Gives an entry another name. A directory that its owner may not write in can only be moved while he may.
fn move_to(from: &Path, to: &Path) -> Result<(), Errno> {
    match rename_unless_taken(from, to) {
        Err(Errno::ACCESS) => {}
        renamed => return renamed,
    }
    let mode = Mode::from_raw_mode(lstat(from)?.st_mode);
    chmod(from, mode | Mode::WUSR)?;
    rename_unless_taken(from, to)?;
    chmod(to, mode)
}

/// A tree that is removed unless it was renamed: directories that their owner may not change get in the way
/// of that.
struct Cleared<'a>(&'a Path);

impl Drop for Cleared<'_> {
    fn drop(&mut self) {
        open_to_owner(self.0);
    }
}

/// Gives the owner all rights of directories from here on. What fails stays, and is told by nobody: it is
/// a temporary one.
fn open_to_owner(directory: &Path) {
    let Ok(found) = directory.symlink_metadata() else {
        return;
    };
    if !found.is_dir() {
        return;
    }
    let mode = found.permissions().mode();
    if mode & 0o700 != 0o700 {
        let all = std::fs::Permissions::from_mode(mode | 0o700);
        let _ = std::fs::set_permissions(directory, all);
    }
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_to_owner(&entry.path());
        }
    }
}

/// How what is unpacked is brought to the disk before it has its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syncs {
    /// The system may take its time.
    Never,
    /// By one call at the end.
    AsAWhole,
    /// One by one, while each is open: with its own mode its owner may not be able to open it again.
    Each,
}

/// A tree on its way.
struct Job<'a> {
    unpack: &'a Unpack,
    tree: &'a Path,
    syncs: Syncs,
    /// Bits that the system takes from the modes of new files.
    umask: u32,
}

impl Job<'_> {
    fn directories(&self, missing: Missing) -> Result<Directories, ArchiveError> {
        Directories::below(self.tree, missing).doing("open", self.tree)
    }

    fn fill(&self, archive: &Archive, watch: &dyn Watch) -> Result<Unpacked, ArchiveError> {
        let mut unpacked = Unpacked::default();
        let mut made = self.directories(Missing::Make)?;
        archive.rows(false, DIRECTORIES, &[], &mut |row| {
            let Ok(entry) = row else { return Ok(()) };
            match made.at(&entry.path).map(drop) {
                Ok(()) => unpacked.directories += 1,
                Err(errno) => {
                    Fault::writing(&self.unpack.directory)(errno)
                        .told(&entry.name, &mut unpacked.refused)?;
                }
            }
            Ok(())
        })?;
        let counted = Mutex::new(unpacked);
        let begin = || self.directories(Missing::Make);
        let work = |directories: &mut Directories, reader: &mut Reader, entry: &Entry| {
            self.put(directories, reader, entry, &counted)
        };
        let refused = each_row(archive.path(), watch, &begin, &work)?;
        let mut unpacked = counted.into_inner();
        unpacked.refused.extend(refused);
        self.finish_directories(archive)?;
        Ok(unpacked)
    }

    fn put(
        &self,
        directories: &mut Directories,
        reader: &mut Reader,
        entry: &Entry,
        counted: &Mutex<Unpacked>,
    ) -> Result<(), Fault> {
        if entry.kind == Kind::Directory {
            return Ok(());
        }
        let (directory, name) = split(&entry.path);
        let directory = directories.at(directory).map_err(|errno| match errno {
            Errno::LOOP | Errno::NOTDIR => Fault::entry("it lies in what is no directory"),
            errno => Fault::writing(&self.unpack.directory)(errno),
        })?;
        if entry.kind == Kind::Link {
            self.put_link(directory, name, reader, entry)?;
            counted.lock().links += 1;
            return Ok(());
        }
        let permissions = match self.unpack.setuid {
            true => entry.permissions,
            false => entry.permissions & !SET_ID,
        };
        self.put_file((directory, name), permissions, reader, entry)?;
        let mut unpacked = counted.lock();
        unpacked.files += 1;
        unpacked.bytes += entry.size;
        unpacked.set_id_dropped += u64::from(permissions != entry.permissions);
        Ok(())
    }

    fn put_file(
        &self,
        (directory, name): (BorrowedFd<'_>, &str),
        permissions: u32,
        reader: &mut Reader,
        entry: &Entry,
    ) -> Result<(), Fault> {
        let place = &self.unpack.directory;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(permissions & 0o777);
        let file = openat(directory, name, flags, mode);
        let mut file = File::from(file.map_err(Fault::writing(place))?);
        let mut fill = || {
            reader.copy(entry, &mut |piece| {
                file.write_all(piece).map_err(Fault::writing(place))
            })?;
            // It is what the system made of it, unless that takes a bit.
            if permissions & (self.umask | 0o7000) != 0 {
                fchmod(&file, Mode::from_raw_mode(permissions)).map_err(Fault::writing(place))?;
            }
            if let Some(mtime) = entry.mtime {
                futimens(&file, &times(mtime, 0)).map_err(Fault::writing(place))?;
            }
            match self.syncs {
                Syncs::Each => fsync(&file).map_err(Fault::writing(place)),
                Syncs::Never | Syncs::AsAWhole => Ok(()),
            }
        };
        fill().inspect_err(|_| {
            let _ = unlinkat(directory, name, AtFlags::empty());
        })
    }

    fn put_link(
        &self,
        directory: BorrowedFd<'_>,
        name: &str,
        reader: &mut Reader,
        entry: &Entry,
    ) -> Result<(), Fault> {
        let target = reader.whole(entry)?;
        symlinkat(&target[..], directory, name).map_err(Fault::writing(&self.unpack.directory))?;
        if let Some(mtime) = entry.mtime {
            let _ = utimensat(directory, name, &times(mtime, 0), AtFlags::SYMLINK_NOFOLLOW);
        }
        Ok(())
    }

    /// Gives all directories but the root their modes and times, those within others first.
    fn finish_directories(&self, archive: &Archive) -> Result<(), ArchiveError> {
        let mut directories = self.directories(Missing::Refuse)?;
        let each = self.syncs == Syncs::Each;
        if each {
            room::sync_directories(self.tree)?;
        }
        archive.rows(false, DIRECTORIES_LAST, &[], &mut |row| {
            let Ok(entry) = row else { return Ok(()) };
            // What was refused is not there, and was told.
            if let Ok(directory) = directories.at(&entry.path)
                && !entry.path.is_empty()
            {
                finish(directory, &entry);
                if each {
                    fsync(directory).doing("sync", self.tree)?;
                }
            }
            Ok(())
        })
    }

    /// Gives the root its mode and time: it could not be renamed with every mode. One that was there before keeps
    /// out whom it kept out.
    fn finish_root(&self, archive: &Archive, is_new: bool) -> Result<(), ArchiveError> {
        let directory = &self.unpack.directory;
        let root = open_top(directory).doing("open", directory)?;
        let root = root.as_fd();
        let found = fstat(root).doing("look at", directory)?;
        let before = found.st_mode & 0o7777;
        if is_new {
            // As any new directory, unless the archive says more.
            let mode = Mode::from_raw_mode(0o777 & !self.umask);
            fchmod(root, mode).doing("set the mode of", directory)?;
        }
        let named = archive.named(&stored_names(""))?;
        for mut entry in named.into_iter().flatten() {
            if entry.path.is_empty() {
                if !is_new {
                    entry.permissions = before & (entry.permissions | 0o7000);
                }
                finish(root, &entry);
            }
        }
        Ok(())
    }
}

fn finish(directory: BorrowedFd<'_>, entry: &Entry) {
    // A file system that knows no modes or times keeps what it has.
    let _ = fchmod(directory, Mode::from_raw_mode(entry.permissions));
    if let Some(mtime) = entry.mtime {
        let _ = futimens(directory, &times(mtime, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlar::TABLE;
    use rusqlite::Connection;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    const AS_NOBODY: &str = "STOWPLAN_TEST_AS_NOBODY";

    /// Runs the test of this name again as nobody, where this is root: everything is open to root. Whether that was
    /// done.
    fn ran_as_nobody(name: &str) -> bool {
        if !rustix::process::geteuid().is_root() || std::env::var_os(AS_NOBODY).is_some() {
            return false;
        }
        // A place of its own, for the usual one may be root's.
        let place = tempfile::tempdir_in("/var/tmp").unwrap();
        std::os::unix::fs::chown(place.path(), Some(65_534), None).unwrap();
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", name]).env(AS_NOBODY, "1");
        again.env("TMPDIR", place.path());
        match again.uid(65_534).gid(65_534).current_dir("/").status() {
            Ok(status) => assert!(status.success()),
            Err(error) => eprintln!("not tried as nobody: {error}"),
        }
        true
    }

    #[test]
    fn what_its_owner_may_not_read_is_unpacked_and_synced_file_by_file_too() {
        if ran_as_nobody(
            "unpack::tests::what_its_owner_may_not_read_is_unpacked_and_synced_file_by_file_too",
        ) {
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let archive = place.path().join("x.sqlar");
        let rows = "INSERT INTO sqlar VALUES('d', 16576, 0, 0, NULL), ('d/f', 32896, 0, 1, 'x')";
        let database = Connection::open(&archive).unwrap();
        database.execute_batch(&format!("{TABLE}; {rows}")).unwrap();
        let unpack = Unpack {
            archive,
            directory: place.path().join("back"),
            setuid: false,
            sync: true,
        };
        let unpacked = unpack.run_on(&(), |_| Ok(false)).unwrap();
        assert_eq!((unpacked.files, unpacked.directories), (1, 1));
        assert_eq!(unpacked.refused, Refusals::default());
        let directory = place.path().join("back/d");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&directory), 0o300);
        assert_eq!(mode(&directory.join("f")), 0o200);
        open_to_owner(&directory);
    }
}
