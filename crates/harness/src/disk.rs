//! Room on the disk, and what a run may remove.

use crate::environment::mounted_in;
pub(crate) use crate::walk::below;
use crate::walk::each_by;
use crate::{HarnessError, Result};
use rustix::fs::{AtFlags, Mode, OFlags, open, openat, unlinkat};
use rustix::io::Errno;
use std::ffi::{CStr, OsStr, OsString};
use std::fs::{DirBuilder, DirEntry, File, Permissions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The file that says: this directory was made by a run, and may be removed with all it holds.
const MARKER: &CStr = c".stowplan-work";
/// What its owner alone may do: what others could put into a work directory would be measured.
const OWNER: u32 = 0o700;
/// How a directory is opened that nobody may have put a link in the place of.
const DIRECTORY: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Threads that remove, more than there are CPUs: where a file system tells the disk at once what became
/// free (`discard`), each waits for the disk once a file.
const REMOVERS: usize = 16;

/// What the marker says besides where the data shall stay.
const KEPT: &[u8] = b"It was asked to stay (--keep).\n";
/// How the names begin of directories that are made below a place.
const NAME: &str = "stowplan-work-";

/// Descriptors that are kept for the removal, one for each level of a store and one to read it: a run that
/// ends because it may open no more files still takes away what it made.
const SPARE: usize = 6;

/// The directory in which a run works: newly made, and no other run's while this lives.
///
/// The marker in it is locked exclusively for that time. Where the file system knows no locks,
/// only the name keeps runs apart.
#[derive(Debug)]
pub struct WorkDirectory {
    path: PathBuf,
    /// The directory itself, whatever has its name by now.
    directory: File,
    /// Holds the lock.
    marker: File,
    /// Closed when it is removed.
    spare: Mutex<Vec<File>>,
}

impl WorkDirectory {
    /// Makes `path`, in a directory that exists.
    ///
    /// # Errors
    /// Something stands there, whoever made it, or the file system refuses.
    pub fn create(path: &Path) -> Result<Self> {
        DirBuilder::new()
            .mode(OWNER)
            .create(path)
            .map_err(HarnessError::io("create", path))?;
        Self::marked(path)
    }

    /// Makes a directory below `parent`, which exists, under a name that no other run has: process
    /// numbers are no such names, for in containers each run is number 1.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn create_below(parent: &Path) -> Result<Self> {
        let made = tempfile::Builder::new()
            .prefix(NAME)
            .permissions(Permissions::from_mode(OWNER))
            .tempdir_in(parent)
            .map_err(HarnessError::io("create a directory in", parent))?;
        Self::marked(&made.keep())
    }

    /// Whether a run made it, or somebody who gave it the mark of one.
    #[must_use]
    pub fn is_marked(path: &Path) -> bool {
        let marker = path.join(OsStr::from_bytes(MARKER.to_bytes()));
        marker.symlink_metadata().is_ok_and(|found| found.is_file())
    }

    /// One that a run left behind which is over.
    ///
    /// # Errors
    /// No run made it (it has no marker, or is itself a link), a run still works in it, or the file
    /// system refuses.
    pub fn left_behind(path: &Path) -> Result<Self> {
        let directory = open_directory(path).map_err(|_| not_ours(path))?;
        // Not to wait for the other end of a pipe.
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let marker = match openat(&directory, MARKER, flags, Mode::empty()) {
            Ok(marker) => File::from(marker),
            Err(Errno::NOENT | Errno::LOOP | Errno::ISDIR) => return Err(not_ours(path)),
            Err(error) => return Err(HarnessError::io("open the marker in", path)(error)),
        };
        if !marker.metadata().is_ok_and(|found| found.is_file()) {
            return Err(not_ours(path));
        }
        Self::locked(path, directory, marker)
    }

    fn marked(path: &Path) -> Result<Self> {
        let directory = open_directory(path).map_err(HarnessError::io("open", path))?;
        // Somebody may have put another one there, in a place where others may write.
        let held = entries(&directory).map_err(HarnessError::io("read", path))?;
        if !held.is_empty() {
            return Err(not_ours(path));
        }
        match mark(&directory, path) {
            Ok(marker) => Self::locked(path, directory, marker),
            Err(error) => {
                // As if it had not been begun; a directory that holds more is not removed.
                let _ = unlinkat(&directory, MARKER, AtFlags::empty());
                let _ = std::fs::remove_dir(path);
                Err(error)
            }
        }
    }

    fn locked(path: &Path, directory: File, marker: File) -> Result<Self> {
        match lock(&marker) {
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Self {
                path: path.to_owned(),
                spare: Mutex::new(copies(&directory)),
                directory,
                marker,
            }),
            Err(TryLockError::WouldBlock) => Err(HarnessError::invalid(format!(
                "{} is the work directory of a run that still goes on; wait for its end, or end it",
                path.display()
            ))),
        }
    }

    /// Notes that it shall stay: whoever clears up after the run leaves it alone.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn keep(&self) -> Result<()> {
        (&self.marker)
            .write_all(KEPT)
            .map_err(HarnessError::io("write the marker in", &self.path))
    }

    /// Whether it shall stay.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        let mut text = [0; 256];
        let read = self.marker.read_at(&mut text, 0).unwrap_or(0);
        text.get(..read).unwrap_or_default().ends_with(KEPT)
    }

    /// Removes a directory that a run made, and ended before it put anything there: not even a
    /// mark. Anything that is not empty, or has another name, is left alone.
    pub fn remove_unbegun(path: &Path) {
        let ours = path.file_name().is_some_and(|name| {
            let name = name.to_string_lossy();
            name == "work" || name.starts_with(NAME)
        });
        if ours {
            let _ = std::fs::remove_dir(path);
        }
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it and all it holds. Links are removed, not followed, and what is mounted in it is
    /// left alone. The marker goes last: what is left after an error can still be told for what it
    /// is.
    ///
    /// # Errors
    /// It is no longer there, something is mounted in it, or the file system refuses.
    pub fn remove(&self) -> Result<()> {
        self.require_name()?;
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.clear();
        let marker = OsStr::from_bytes(MARKER.to_bytes());
        let held = entries(&self.directory).map_err(HarnessError::io("read", &self.path))?;
        let held = held.into_iter();
        let held: Vec<OsString> = held
            .map(|(name, _)| name)
            .filter(|name| name != marker)
            .collect();
        remove_trees(&self.directory, &self.path, &held)?;
        match unlinkat(&self.directory, marker, AtFlags::empty()) {
            // It was removed before, and something came after it.
            Err(Errno::NOENT) => {}
            removed => removed.map_err(HarnessError::io("remove the marker in", &self.path))?,
        }
        // This fails at whatever else may have the name by now: a link, or a directory with
        // something in it.
        std::fs::remove_dir(&self.path).map_err(HarnessError::io("remove", &self.path))
    }

    /// The directory still has its name.
    fn require_name(&self) -> Result<()> {
        let named = self.path.symlink_metadata();
        let named = named.map_err(HarnessError::io("remove", &self.path))?;
        let ours = self.directory.metadata();
        let ours = ours.map_err(HarnessError::io("remove", &self.path))?;
        if (named.dev(), named.ino()) == (ours.dev(), ours.ino()) {
            return Ok(());
        }
        Err(HarnessError::invalid(format!(
            "{} is no longer the directory that was made there, so it is left alone; the one that \
             was made has another name by now",
            self.path.display()
        )))
    }
}

/// Spare descriptors, as many as there are: where there are fewer, no store will lie deep enough to need more.
fn copies(directory: &File) -> Vec<File> {
    (0..SPARE)
        .map_while(|_| directory.try_clone().ok())
        .collect()
}

/// Writes the marker of a new directory.
fn mark(directory: &File, path: &Path) -> Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let marker = openat(directory, MARKER, flags, Mode::RUSR | Mode::WUSR)
        .map_err(HarnessError::io("create the marker in", path))?;
    let mut marker = File::from(marker);
    marker
        .write_all(b"Made by stowplan; it may remove this directory.\n")
        .map_err(HarnessError::io("write the marker in", path))?;
    Ok(marker)
}

fn not_ours(path: &Path) -> HarnessError {
    HarnessError::invalid(format!(
        "{} was not made by stowplan (it has no {}), so it is left alone; \
         choose another place with --work",
        path.display(),
        MARKER.to_string_lossy()
    ))
}

fn open_directory(path: &Path) -> Result<File, Errno> {
    open(path, DIRECTORY, Mode::empty()).map(File::from)
}

/// A path to what is below an open directory, whatever has its name by now.
fn within(directory: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()))
}

/// What is in a directory: names, and whether they are directories.
fn entries(directory: &File) -> Result<Vec<(OsString, bool)>, Errno> {
    let entry = |entry: std::io::Result<DirEntry>| {
        let entry = entry?;
        Ok((entry.file_name(), entry.file_type()?.is_dir()))
    };
    let entries = std::fs::read_dir(within(directory));
    let entries: std::io::Result<Vec<_>> = entries.and_then(|all| all.map(entry).collect());
    entries.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Removes a directory with all it holds, if it is there.
///
/// # Errors
/// The file system refuses, or something is mounted in it.
pub fn remove_directory(path: &Path) -> Result<()> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let directory = open_directory(parent).map_err(HarnessError::io("open", parent))?;
    let name = path.file_name().map(OsString::from);
    remove_trees(&directory, parent, name.as_slice())
}

/// Removes what has these names in `directory`, whose path is this, with all that is in it. Links are removed, not
/// followed, and whoever puts one in the place of a directory meanwhile leads nowhere: what holds others is known by
/// its descriptor.
fn remove_trees(directory: &File, path: &Path, names: &[OsString]) -> Result<()> {
    if let Some(mounted) = names.iter().find_map(|name| mounted_in(&path.join(name))) {
        return Err(HarnessError::invalid(format!(
            "{} is mounted, and what is in it is somebody's data: unmount it, and remove {} by hand",
            mounted.display(),
            path.display()
        )));
    }
    let by = |threads| remove_by(threads, directory, path, names);
    match by(REMOVERS) {
        // One at a time needs the fewest descriptors.
        Err(error) if error.errno() == Some(Errno::MFILE) => by(1),
        // A program took the right from its own directories, and whoever owns them may give it back.
        Err(error) if error.errno() == Some(Errno::ACCESS) => {
            let trees = names.iter().map(|name| within(directory).join(name));
            trees.for_each(|tree| _ = permit(&tree));
            by(REMOVERS)
        }
        ended => ended,
    }
}

/// By so many threads: a hundred thousand files take seconds, and there are several such stores.
fn remove_by(threads: usize, directory: &File, path: &Path, names: &[OsString]) -> Result<()> {
    let refused = |name: &OsString| {
        let path = path.join(name);
        move |error: std::io::Error| HarnessError::io("remove", &path)(error)
    };
    let (mut trees, mut parts) = (Vec::new(), Vec::new());
    for name in names {
        let opened = openat(directory, name, DIRECTORY, Mode::empty());
        trees.extend(opened.map(|tree| (name, File::from(tree))));
    }
    for (name, tree) in &trees {
        let held = entries(tree).map_err(HarnessError::io("read", &path.join(name)))?;
        parts.extend(
            held.into_iter()
                .map(|(entry, _)| (*name, within(tree).join(entry))),
        );
    }
    let emptied = each_by(threads, &parts, |(name, part)| {
        remove(part).map_err(refused(name))
    });
    let removed = names
        .iter()
        .map(|name| remove(&within(directory).join(name)).map_err(refused(name)));
    removed.fold(emptied, Result::and)
}

/// Removes what lies at a path, if anything does, with all that is in it.
fn remove(path: &Path) -> std::io::Result<()> {
    let removed = std::fs::remove_file(path).or_else(|error| match error.kind() {
        ErrorKind::IsADirectory => std::fs::remove_dir_all(path),
        _ => Err(error),
    });
    removed.or_else(|error| match error.kind() {
        ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })
}

/// Gives its owner all rights to a directory and to those in it. No link is followed.
fn permit(path: &Path) -> Result<(), Errno> {
    let directory = open(path, DIRECTORY | OFlags::PATH, Mode::empty()).map(File::from)?;
    // A descriptor that only names a directory changes its mode by this link.
    rustix::fs::chmod(within(&directory), Mode::RWXU)?;
    let held = entries(&directory)?.into_iter();
    let directories = held.filter(|(_, is_directory)| *is_directory);
    // One that is somebody else's, or gone, does not keep the others from theirs.
    let permitted = directories.map(|(name, _)| permit(&within(&directory).join(name)));
    permitted.fold(Ok(()), Result::and)
}

/// What lies at a path, which is no link: to tell whether it is still that.
#[derive(Debug)]
pub(crate) struct Identity<'p> {
    path: &'p Path,
    identity: (u64, u64),
}

impl<'p> Identity<'p> {
    /// # Errors
    /// There is nothing, or a link, which no run makes and none follows.
    pub(crate) fn of(path: &'p Path) -> Result<Self> {
        let found = path.symlink_metadata();
        let found = found.map_err(HarnessError::io("open", path))?;
        if found.is_symlink() {
            return Err(HarnessError::invalid(format!(
                "{} is a link by now, which is not followed; nothing else may work in a work \
                 directory",
                path.display()
            )));
        }
        Ok(Self {
            path,
            identity: (found.dev(), found.ino()),
        })
    }

    /// # Errors
    /// Something else lies there by now.
    pub(crate) fn require_unchanged(&self) -> Result<()> {
        if Self::of(self.path)?.identity == self.identity {
            return Ok(());
        }
        Err(HarnessError::invalid(format!(
            "{} was replaced while it was used; nothing else may work in a work directory",
            self.path.display()
        )))
    }
}

/// Opens a file for reading that was a plain one when it was looked at: no link is followed, and no
/// pipe waited for.
///
/// # Errors
/// It is a link, or the file system refuses.
pub fn open_plain(path: &Path) -> std::io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(open(path, flags, Mode::empty())?))
}

/// Locks a file, unless another has it locked for longer than a moment: a run that is killed while it
/// starts a worker leaves its locks to that one until it has become another program.
pub(crate) fn lock(file: &File) -> Result<(), TryLockError> {
    for _ in 0..20 {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(50)),
            locked => return locked,
        }
    }
    file.try_lock()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_work_directory_is_newly_made_and_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("b");
        let work = WorkDirectory::create(&path).unwrap();
        std::fs::write(path.join("data"), "x").unwrap();
        WorkDirectory::create(&path).unwrap_err();
        assert!(path.join("data").exists(), "it is not taken over");
        work.remove().unwrap();
        assert!(!path.exists());
        let error = WorkDirectory::create(&directory.path().join("not/there")).unwrap_err();
        assert!(
            !directory.path().join("not").exists(),
            "nothing that would stay behind is made: {error}"
        );
    }

    #[test]
    fn two_work_directories_below_one_place_are_two() {
        let directory = tempfile::tempdir().unwrap();
        let [one, other] = [(); 2].map(|()| WorkDirectory::create_below(directory.path()).unwrap());
        assert_ne!(one.path(), other.path());
        one.remove().unwrap();
        assert!(other.path().join(".stowplan-work").exists());
    }

    #[test]
    fn what_a_run_works_in_is_removed_by_nobody_else() {
        let directory = tempfile::tempdir().unwrap();
        let work = WorkDirectory::create_below(directory.path()).unwrap();
        let error = WorkDirectory::left_behind(work.path()).unwrap_err();
        assert!(error.to_string().contains("still goes on"), "{error}");
        let path = work.path().to_owned();
        drop(work);
        WorkDirectory::left_behind(&path).unwrap().remove().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn what_no_run_made_is_neither_used_nor_removed() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("letter"), "dear").unwrap();
        assert!(WorkDirectory::create(directory.path()).is_err());
        let error = WorkDirectory::left_behind(directory.path()).unwrap_err();
        assert!(error.to_string().contains("left alone"), "{error}");
        assert!(directory.path().join("letter").exists());
    }

    #[test]
    fn links_are_removed_and_what_they_point_to_stays() {
        let directory = tempfile::tempdir().unwrap();
        let precious = directory.path().join("precious");
        std::fs::create_dir(&precious).unwrap();
        std::fs::write(precious.join("letter"), "dear").unwrap();
        let path = directory.path().join("work");
        let work = WorkDirectory::create(&path).unwrap();
        symlink(&precious, path.join("link")).unwrap();
        let alias = directory.path().join("alias");
        symlink(&path, &alias).unwrap();
        let error = WorkDirectory::left_behind(&alias).unwrap_err();
        assert!(
            error.to_string().contains("left alone"),
            "a link is refused: {error}"
        );
        work.remove().unwrap();
        assert!(precious.join("letter").exists());
    }

    #[test]
    fn what_shall_stay_says_so_also_to_the_next() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("work");
        let work = WorkDirectory::create(&path).unwrap();
        assert!(!work.is_kept());
        work.keep().unwrap();
        drop(work);
        assert!(WorkDirectory::left_behind(&path).unwrap().is_kept());
    }

    #[test]
    fn of_what_has_no_mark_only_an_empty_directory_of_our_name_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let [work, mine, full] = ["work", "mine", "stowplan-work-x"].map(|name| {
            let path = directory.path().join(name);
            std::fs::create_dir(&path).unwrap();
            path
        });
        std::fs::write(full.join("letter"), "dear").unwrap();
        let link = directory.path().join("stowplan-work-link");
        symlink(&mine, &link).unwrap();
        for path in [&work, &mine, &full, &link] {
            WorkDirectory::remove_unbegun(path);
        }
        assert!(!work.exists());
        assert!(mine.exists() && full.join("letter").exists() && link.exists());
    }

    #[test]
    fn nobody_else_may_look_into_a_work_directory() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("work");
        let one = WorkDirectory::create(&path).unwrap();
        let other = WorkDirectory::create_below(directory.path()).unwrap();
        for work in [one, other] {
            assert_eq!(work.path().metadata().unwrap().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn what_has_taken_the_name_of_a_work_directory_stays() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let precious = at("precious");
        std::fs::create_dir(&precious).unwrap();
        std::fs::write(precious.join("letter"), "dear").unwrap();
        let work = WorkDirectory::create(&at("work")).unwrap();
        std::fs::rename(at("work"), at("moved")).unwrap();
        symlink(&precious, at("work")).unwrap();
        let error = work.remove().unwrap_err();
        assert!(error.to_string().contains("left alone"), "{error}");
        std::fs::remove_file(at("work")).unwrap();
        std::fs::rename(&precious, at("work")).unwrap();
        work.remove().unwrap_err();
        assert!(at("work/letter").exists());
    }

    #[test]
    fn a_marker_that_is_no_file_marks_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("file"), "").unwrap();
        let plant: [&dyn Fn(&Path); 3] = [
            &|marker| symlink(at("file"), marker).unwrap(),
            &|marker| std::fs::create_dir(marker).unwrap(),
            &|marker| rustix::fs::mkfifoat(rustix::fs::CWD, marker, Mode::RWXU).unwrap(),
        ];
        for (number, plant) in plant.iter().enumerate() {
            let place = at(&number.to_string());
            std::fs::create_dir(&place).unwrap();
            plant(&place.join(".stowplan-work"));
            let error = WorkDirectory::left_behind(&place).unwrap_err();
            assert!(
                error.to_string().contains("left alone"),
                "{number}: {error}"
            );
        }
    }

    #[test]
    fn a_directory_whose_right_to_change_was_taken_is_removed_by_its_owner_all_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("state");
        let below = place.join("closed/below");
        // Not to be changed, to be neither read nor changed, and to be changed only.
        for mode in [0o555, 0o000, 0o300] {
            std::fs::create_dir_all(&below).unwrap();
            std::fs::write(below.join("file"), "").unwrap();
            for closed in [&below, &place.join("closed"), &place] {
                std::fs::set_permissions(closed, Permissions::from_mode(mode)).unwrap();
            }
            // Root may do everything anyway: .ci/crash-check does the same as nobody.
            remove_directory(&place).unwrap();
            assert!(!place.exists());
        }
        remove_directory(&place).unwrap();
    }

    #[test]
    fn directories_of_any_shape_are_removed_with_all_they_hold_and_others_stay() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let make = |below: &str, files: usize| {
            std::fs::create_dir_all(at(below)).unwrap();
            for file in 0..files {
                std::fs::write(at(below).join(format!("file-{file}")), "").unwrap();
            }
        };
        make("flat", 800);
        make("few", 2);
        make("empty", 0);
        for number in 0..REMOVERS + 3 {
            make(&format!("tree/{number}/below"), 3);
        }
        make("tree", 1);
        make("stays", 1);
        std::fs::write(at("file"), "").unwrap();
        symlink(at("stays"), at("link")).unwrap();
        let named = ["flat", "few", "empty", "tree", "file", "link", "missing"].map(at);
        for path in &named {
            remove_directory(path).unwrap();
        }
        let left = std::fs::read_dir(directory.path()).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["stays"]);
        assert!(at("stays/file-0").exists());
    }

    #[test]
    fn directories_that_turn_into_links_while_they_are_removed_lead_nowhere() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir_all(at("precious/below")).unwrap();
        for letter in ["precious/letter", "precious/below/letter"] {
            std::fs::write(at(letter), "dear").unwrap();
        }
        for _ in 0..6 {
            let work = WorkDirectory::create(&at("work")).unwrap();
            for number in 0..30 {
                let below = work.path().join(format!("store/{number}/below"));
                std::fs::create_dir_all(&below).unwrap();
                std::fs::write(below.join("letter"), "none").unwrap();
            }
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for number in (0..30).rev() {
                        let taken = work.path().join(format!("store/{number}"));
                        let _ = std::fs::rename(&taken, at(&format!("taken-{number}")));
                        let _ = symlink(at("precious"), &taken);
                    }
                });
                while work.path().exists() {
                    // What was put there after it was read is found the next time.
                    let _ = work.remove();
                }
            });
            for number in 0..30 {
                let _ = std::fs::remove_dir_all(at(&format!("taken-{number}")));
            }
            let _ = std::fs::remove_dir_all(at("work"));
            assert!(at("precious/letter").exists() && at("precious/below/letter").exists());
        }
    }
}
