//! A directory into an archive: read and deflated by several threads, written by one in the order of
//! names, read back and compared, brought to the disk, and only then given its name.

mod line;
mod write;

pub(crate) use write::insert;

use crate::error::{Doing, Refusal, Refusals, Refused};
use crate::outside::{directory_of_outside, parent_of, paths_in, refuse_leftovers};
use crate::rows::joined;
use crate::source::{Beside, Body, Item, Loss};
use crate::sqlar::Archive;
use crate::survey::directory;
use crate::verify::verify_entries;
use crate::walk::Walk;
use crate::{ArchiveError, Watch};
use line::Line;
use parking_lot::Mutex;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::{File, Metadata, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::thread;
use stowplan_dataset::publish::rename_unless_taken;
use stowplan_dataset::room;
use stowplan_dataset::temporary::{Temporary, Use};

/// What is being made lies in a directory of this name beside what it will be.
pub(crate) const MADE: Use = Use {
    prefix: ".stowplan-",
    suffix: ".tmp",
    // As any new directory.
    mode: 0o777,
    holds: |name| {
        matches!(name, TREE | ARCHIVE | OUTSIDE | "archive-journal") || name.starts_with(".tmp")
    },
};
/// The archive there.
const ARCHIVE: &str = "archive";
/// What is to lie beside it.
const OUTSIDE: &str = "archive.d";
/// A tree that is being unpacked.
pub(crate) const TREE: &str = "tree";

/// SQLite's own size of a page, in bytes.
pub const PAGE_SIZE: u32 = 4096;
/// Pages of deflated values: what is left free at their ends is less. Large values are slower to read
/// from them.
pub const DEFLATED_PAGE_SIZE: u32 = 2048;
/// Pages of many small ones.
pub const SMALL_PAGE_SIZE: u32 = 1024;
/// Half of the files are smaller where pages are to be smaller.
const MEDIUM: u64 = 64 << 10;

/// What to pack, and how.
#[derive(Debug, Clone)]
pub struct Pack {
    /// The directory, which is only read.
    pub source: PathBuf,
    /// The archive to make.
    pub archive: PathBuf,
    /// Bytes of a page: a power of two from 512 to 65,536. Nothing: [`PAGE_SIZE`], or where values are
    /// deflated and half of the files are smaller than 64 KiB [`DEFLATED_PAGE_SIZE`], and smaller than
    /// [`PAGE_SIZE`], [`SMALL_PAGE_SIZE`].
    pub page_size: Option<u32>,
    /// Files larger than this, in bytes, lie beside the archive.
    pub inline_limit: Option<u64>,
    /// Nothing is deflated.
    pub store: bool,
    /// An archive of this name is replaced.
    pub force: bool,
}

/// What was packed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packed {
    /// Regular files.
    pub files: u64,
    /// Directories, the packed one included.
    pub directories: u64,
    /// Links.
    pub links: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// How many of the files lie beside the archive.
    pub outside: u64,
    /// Bytes of the archive's file.
    pub archive_bytes: u64,
    /// What an archive does not say of its entries.
    pub lost: BTreeMap<Loss, Lost>,
    /// What was not packed.
    pub refused: Refusals,
}

/// Entries that lost the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lost {
    /// How many there are.
    pub count: u64,
    /// The path of one of them. Untrusted.
    pub example: String,
}

impl Packed {
    /// How many entries were packed.
    fn entries(&self) -> u64 {
        self.files + self.directories + self.links
    }

    fn count(&mut self, item: Item) {
        match item.body {
            Body::None => self.directories += 1,
            Body::Link(_) => self.links += 1,
            _ => {
                self.files += 1;
                self.bytes += item.size;
            }
        }
        self.outside += u64::from(matches!(item.body, Body::Outside));
        for loss in item.lost {
            let lost = self.lost.entry(loss).or_default();
            lost.count += 1;
            if lost.count == 1 {
                lost.example.clone_from(&item.path);
            }
        }
    }
}

impl Pack {
    /// Packs. What cannot be packed is in [`Packed::refused`].
    ///
    /// # Errors
    /// There is no such directory, the name is taken, the disk is full or fails, what was read back is
    /// not what was read, or `watch` wants it to end. Nothing is left behind then.
    pub fn run(&self, watch: &dyn Watch) -> Result<Packed, ArchiveError> {
        self.check()?;
        let parent = parent_of(&self.archive);
        let temporary = Temporary::create(&MADE, parent)?;
        let made = temporary.path().join(ARCHIVE);
        let mut packed = self.make(&temporary, watch)?;
        self.prove(&temporary, &packed, watch)?;
        let found = made.metadata().doing("look at", &made)?;
        packed.archive_bytes = found.len();
        self.publish(&temporary, packed.outside > 0)?;
        Ok(packed)
    }

    fn check(&self) -> Result<(), ArchiveError> {
        let found = std::fs::metadata(&self.source).doing("open", &self.source)?;
        if !found.is_dir() {
            return Err(ArchiveError::invalid(format!(
                "{} is no directory; 'stowplan add' puts single files into an archive",
                self.source.display()
            )));
        }
        let replaced = self.replaced()?;
        let beside = directory_of_outside(&self.archive);
        if (self.force || self.inline_limit.is_some()) && beside.symlink_metadata().is_ok() {
            return Err(ArchiveError::invalid(format!(
                "{} exists: it may hold the only copies of files of another archive; choose another name",
                beside.display()
            )));
        }
        refuse_leftovers(&self.archive)?;
        match replaced {
            Some(old) => self.check_replaceable(&old),
            None => Ok(()),
        }
    }

    /// `--force` replaces an archive, or what an interrupted command left empty: a mistyped name costs no
    /// other file.
    fn check_replaceable(&self, old: &Metadata) -> Result<(), ArchiveError> {
        if old.len() == 0 {
            return Ok(());
        }
        Archive::check(&self.archive).map_err(|error| {
            ArchiveError::invalid(format!(
                "{error}; --force replaces an SQLite Archive only, so choose another name"
            ))
        })
    }

    fn taken(&self) -> ArchiveError {
        let path = self.archive.display();
        ArchiveError::invalid(match self.force {
            false => {
                format!("{path} exists already; choose another name, or --force to replace it")
            }
            true => format!("{path} is no regular file, and only that would be replaced"),
        })
    }

    fn make(&self, temporary: &Temporary, watch: &dyn Watch) -> Result<Packed, ArchiveError> {
        let outside = self.inline_limit.map(|above| Beside {
            above,
            directory: temporary.path().join(OUTSIDE),
        });
        if let Some(outside) = &outside {
            let directory = &outside.directory;
            std::fs::create_dir(directory).doing("make", directory)?;
        }
        if self.replaced()?.is_some() {
            create_for_owner(&temporary.path().join(ARCHIVE))?;
        }
        let own = [self.archive.clone(), temporary.path().to_owned()];
        let counted = directory::survey(&self.source, &mut |_| ())?;
        let line = Line {
            pack: self,
            page_size: self.page_size_for(counted.median),
            scratch: temporary.path(),
            beside: outside.as_ref(),
            // The archive may lie in what it packs.
            walk: Mutex::new(Walk::of(&self.source, paths_in(&self.source, own))?),
            total: counted.values + counted.links + counted.directories + 1,
            watch,
        };
        line.run(&temporary.path().join(ARCHIVE))
    }

    fn page_size_for(&self, median: u64) -> u32 {
        let fitting = match median {
            _ if self.store => PAGE_SIZE,
            median if median < u64::from(PAGE_SIZE) => SMALL_PAGE_SIZE,
            median if median < MEDIUM => DEFLATED_PAGE_SIZE,
            _ => PAGE_SIZE,
        };
        self.page_size.unwrap_or(fitting)
    }

    /// Reads everything back, while the disk writes, and holds it against the checksums of what was read.
    fn prove(
        &self,
        temporary: &Temporary,
        packed: &Packed,
        watch: &dyn Watch,
    ) -> Result<(), ArchiveError> {
        let made = temporary.path().join(ARCHIVE);
        let sync = || {
            let file = File::open(&made).doing("open", &made)?;
            file.sync_all().doing("sync", &self.archive)?;
            match self.inline_limit {
                Some(_) => Ok(room::sync_below(temporary.path())?),
                None => Ok(()),
            }
        };
        let (synced, verified) = thread::scope(|scope| {
            let syncing = thread::Builder::new().spawn_scoped(scope, sync);
            let verified = verify_entries(&made, watch);
            (syncing.map_or_else(|_| sync(), joined), verified)
        });
        let verified = verified?;
        let first = verified.refused.named.into_iter().next();
        let is_all = verified.entries == packed.entries() && verified.unchecked == 0;
        let rows = || Refusal::new("the list of names", format!("{} rows", verified.entries));
        match first.or_else(|| (!is_all).then(rows)) {
            None => synced,
            Some(Refusal { name, why }) => Err(ArchiveError::invalid(format!(
                "{}: what was read back of {name} is not what was packed ({why}); nothing was left; \
                 look at the disk and the memory of this machine",
                self.archive.display()
            ))),
        }
    }

    /// Gives everything its name; what lies beside the archive comes first, so that it is there where
    /// the archive is. If the archive cannot get its name, that goes back.
    fn publish(&self, temporary: &Temporary, has_outside: bool) -> Result<(), ArchiveError> {
        refuse_leftovers(&self.archive)?;
        let beside = directory_of_outside(&self.archive);
        let outside = temporary.path().join(OUTSIDE);
        if has_outside {
            rename_unless_taken(&outside, &beside).doing("give its name to", &beside)?;
        }
        self.publish_archive(&temporary.path().join(ARCHIVE))
            .inspect_err(|_| {
                if has_outside {
                    let _ = rename_unless_taken(&beside, &outside);
                }
            })?;
        Ok(room::sync_directory(parent_of(&self.archive))?)
    }

    fn publish_archive(&self, made: &Path) -> Result<(), ArchiveError> {
        if let Some(old) = self.replaced()? {
            self.check_replaceable(&old)?;
            keep_rights(made, &old).doing("set the mode of", &self.archive)?;
            return std::fs::rename(made, &self.archive).doing("give its name to", &self.archive);
        }
        rename_unless_taken(made, &self.archive).map_err(|errno| match errno {
            Errno::EXIST => self.taken(),
            errno => errno.refused("give its name to", &self.archive),
        })
    }

    /// What has the name and will be replaced: nothing but a regular file, and only by `--force`.
    fn replaced(&self) -> Result<Option<Metadata>, ArchiveError> {
        match std::fs::symlink_metadata(&self.archive) {
            Ok(found) if self.force && found.is_file() => Ok(Some(found)),
            Ok(_) => Err(self.taken()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.refused("make", &self.archive)),
        }
    }
}

/// Makes the file of an archive that will replace another, for its owner only until it has the name.
fn create_for_owner(made: &Path) -> Result<(), ArchiveError> {
    let file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(made);
    file.map(drop).doing("make", made)
}

/// Whoever could not read the old archive cannot read the new one; root keeps its owner, too, and others its
/// group where they are in it.
fn keep_rights(made: &Path, old: &Metadata) -> Result<(), std::io::Error> {
    if rustix::process::geteuid().is_root() {
        chown(made, Some(old.uid()), Some(old.gid()))?;
    } else {
        // A refusal shows in what the group is afterwards.
        let _ = chown(made, None, Some(old.gid()));
    }
    let has_group = made.metadata()?.gid() == old.gid();
    std::fs::set_permissions(made, Permissions::from_mode(mode(old.mode(), has_group)))
}

/// The mode of what replaces a file of this one. Without its group nobody has the rights of a group, and all
/// others those that they had as either.
fn mode(old: u32, has_group: bool) -> u32 {
    match has_group {
        true => old,
        false => old & !0o077 | old & old >> 3 & 0o007,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_its_group_a_file_is_open_to_nobody_it_was_closed_to() {
        for (old, kept, lost) in [
            (0o640, 0o640, 0o600),
            (0o644, 0o644, 0o604),
            (0o664, 0o664, 0o604),
            // Who was in its group, and could not read it, is one of the others now.
            (0o604, 0o604, 0o600),
            (0o666, 0o666, 0o606),
        ] {
            assert_eq!((mode(old, true), mode(old, false)), (kept, lost), "{old:o}");
        }
    }
}
