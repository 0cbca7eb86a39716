//! The values of a database as files, one each, under kvtest's names.
//!
//! They are written below a temporary directory, from one state of the database. Only when every value is on
//! the disk does the directory get its name, so that it is complete wherever it exists.

use crate::KvtestError;
use crate::inspect::{self, Container, Snapshot};
use crate::place;
use crate::place::MADE;
use std::fs::{DirBuilder, File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use stowplan_archive::{Watch, parent_of};
use stowplan_dataset::room;
use stowplan_dataset::temporary::Temporary;
use stowplan_harness::HarnessError;
use stowplan_harness::environment::mount_of;

/// Values between two times that it is told how many are done.
const TOLD_EVERY: u64 = 256;
/// The mode of a directory that its owner may do everything with.
const OWNER: u32 = 0o700;

/// What to write, and where.
#[derive(Debug, Clone)]
pub struct ExportSpec {
    /// The database, which is not changed.
    pub database: PathBuf,
    /// The directory to make: it does not exist, or is empty.
    pub directory: PathBuf,
    /// Files named like `00/00/01` instead of `000001`.
    pub tree: bool,
    /// Whether the files are on the disk when they get their names; otherwise the system writes
    /// them later, as kvtest leaves it.
    pub sync: bool,
}

/// An export that can be begun, as far as that can be told before.
#[derive(Debug)]
pub struct Export {
    spec: ExportSpec,
    /// The content as it is now, whatever others write.
    snapshot: Snapshot,
    values: u64,
    /// The name that the temporary directory gets: nothing has it, or an empty directory.
    target: PathBuf,
    temporary: Temporary,
}

/// What was exported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    /// Files that were written.
    pub files: u64,
    /// Their bytes together.
    pub bytes: u64,
}

impl Export {
    /// Checks everything that can be checked before anything is written.
    ///
    /// # Errors
    /// There is no such database, the directory is in use, or the file system has surely too
    /// little room.
    pub fn check(spec: ExportSpec) -> Result<Self, KvtestError> {
        let snapshot = open(&spec)?;
        let values = snapshot.database().count()?;
        let target = target(&spec.directory)?;
        let parent = parent_of(&target);
        let temporary = Temporary::create(&MADE, parent)?;
        take_permissions(&target, temporary.path(), OWNER)?;
        // At least half of the pages that are not free holds values.
        let number = |pragma| snapshot.database().number(pragma);
        let pages = number("page_count")?.saturating_sub(number("freelist_count")?);
        let least = pages.saturating_mul(number("page_size")? / 2);
        room::require_free(parent, least)?;
        Ok(Self {
            spec,
            snapshot,
            values,
            target,
            temporary,
        })
    }

    /// Writes every value, brings all to the disk, and gives it the name. `watch` hears how
    /// many values are done.
    ///
    /// # Errors
    /// The disk is full or fails, a value cannot be a file, the database changed meanwhile, or
    /// `watch` wants it to end. Nothing is left behind.
    pub fn write(self, watch: &dyn Watch) -> Result<Exported, KvtestError> {
        let exported = self.write_values(watch).map_err(|error| match error {
            KvtestError::Harness(HarnessError::Interrupted) => error,
            error => self.broken_off(&error),
        })?;
        self.check_complete(exported)?;
        if self.spec.sync {
            room::sync_below(self.temporary.path())?;
        }
        self.snapshot.check_unchanged()?;
        if watch.interrupted() {
            return Err(KvtestError::INTERRUPTED);
        }
        rename_directory(self.temporary.path(), &self.target)?;
        // It has another name now: nothing is left to remove.
        let _ = self.temporary.keep();
        if self.spec.sync {
            room::sync_directory(parent_of(&self.target))?;
        }
        Ok(exported)
    }

    fn write_values(&self, watch: &dyn Watch) -> Result<Exported, KvtestError> {
        let mut exported = Exported::default();
        self.snapshot.database().scan(|key, value| {
            if watch.interrupted() {
                return Err(KvtestError::INTERRUPTED);
            }
            self.write_value(key, value)?;
            exported.files += 1;
            exported.bytes += value.len() as u64;
            if exported.files % TOLD_EVERY == 0 {
                watch.progress(exported.files, self.values);
            }
            Ok(())
        })?;
        watch.progress(exported.files, self.values);
        Ok(exported)
    }

    fn write_value(&self, key: u64, value: &[u8]) -> Result<(), KvtestError> {
        let path = self.temporary.path().join(name_of(key, self.spec.tree));
        if let Some(parent) = path.parent().filter(|_| self.spec.tree) {
            let mut builder = DirBuilder::new();
            let made = builder.recursive(true).mode(0o755).create(parent);
            made.map_err(KvtestError::io("create", parent))?;
        }
        let mut new = File::options();
        new.write(true).create_new(true).mode(0o644);
        new.open(&path)
            .and_then(|mut file| file.write_all(value))
            .map_err(KvtestError::io("write", &path))
    }

    fn broken_off(&self, error: &KvtestError) -> KvtestError {
        // The temporary's name means nothing to anyone.
        let temporary = self.temporary.path().display().to_string();
        let named = self.spec.directory.display().to_string();
        KvtestError::invalid(format!(
            "{}; the export was broken off and left nothing",
            error.to_string().replace(&temporary, &named)
        ))
    }

    fn check_complete(&self, exported: Exported) -> Result<(), KvtestError> {
        if exported.files == self.values {
            return Ok(());
        }
        Err(KvtestError::invalid(format!(
            "{} was changed meanwhile: it had {} values, and {} were seen; \
             nothing was left; run it again while nobody writes",
            self.spec.database.display(),
            self.values,
            exported.files
        )))
    }
}

/// The name of a value's file, as kvtest has it: `000001`, or `00/00/01` in a tree.
fn name_of(key: u64, tree: bool) -> String {
    match tree {
        false => format!("{key:06}"),
        true => format!(
            "{:02}/{:02}/{:02}",
            key / 10_000,
            key / 100 % 100,
            key % 100
        ),
    }
}

/// The database, with its content held as it is.
fn open(spec: &ExportSpec) -> Result<Snapshot, KvtestError> {
    let path = &spec.database;
    if inspect::recognise(path)? != Container::Database {
        return Err(KvtestError::invalid(format!(
            "{} is a directory; export reads a database",
            path.display()
        )));
    }
    Ok(Snapshot::take(path)?)
}

/// The name that the directory gets, which nothing has, or an empty directory.
fn target(directory: &Path) -> Result<PathBuf, KvtestError> {
    if std::fs::symlink_metadata(directory).is_err_and(|e| e.kind() == ErrorKind::NotFound) {
        return Ok(directory.to_owned());
    }
    // By its own name, behind any link: it is the directory that is replaced, not the link.
    let real = std::fs::canonicalize(directory).map_err(KvtestError::io("open", directory))?;
    let refused = |why: &str| {
        let message = format!("{} {why}", directory.display());
        Err(KvtestError::invalid(message))
    };
    if !real.is_dir() {
        return refused("is not a directory; choose another name");
    }
    let mut entries = std::fs::read_dir(&real).map_err(KvtestError::io("list", directory))?;
    if entries.next().is_some() {
        return refused("is not empty; choose another directory");
    }
    if mount_of(&real).is_some_and(|mount| mount.mount_point == real) {
        return refused(
            "is a mount point, which no directory can be renamed to; name a directory below it",
        );
    }
    Ok(real)
}

/// The new directory may be read by those who may read the one it replaces, from the beginning.
/// `more` is allowed besides.
fn take_permissions(from: &Path, to: &Path, more: u32) -> Result<(), KvtestError> {
    let Ok(metadata) = std::fs::metadata(from) else {
        return Ok(());
    };
    let permissions = Permissions::from_mode(metadata.permissions().mode() | more);
    std::fs::set_permissions(to, permissions)
        .map_err(KvtestError::io("set the permissions of", from))
}

fn rename_directory(from: &Path, to: &Path) -> Result<(), KvtestError> {
    take_permissions(to, from, 0)?;
    std::fs::rename(from, to).map_err(|error| {
        // It is to be removed, which its owner must be allowed for.
        let _ = std::fs::set_permissions(from, Permissions::from_mode(OWNER));
        match error.kind() {
            // An empty directory is replaced; anything else is not.
            ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory => place::taken(to),
            _ => KvtestError::io("rename a directory to", to)(error),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use stowplan_model::{Content, DatasetSpec, SizeDistribution};

    #[test]
    fn an_empty_directory_that_nobody_may_write_in_is_filled_and_keeps_its_mode() {
        let place = tempfile::tempdir().unwrap();
        let (database, directory) = (place.path().join("x.db"), place.path().join("out"));
        let spec = crate::init::InitSpec {
            database: database.clone(),
            dataset: DatasetSpec {
                count: 5,
                size: SizeDistribution::Fixed { bytes: 10 },
                content: Content::Random,
                seed: 1,
                from: None,
            },
            page_size: 4096,
        };
        let init = crate::init::Init::check(spec).unwrap();
        init.build(&()).unwrap();
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, Permissions::from_mode(0o550)).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let export = Export::check(ExportSpec {
            database,
            directory: directory.clone(),
            tree: false,
            sync: false,
        });
        let export = export.unwrap();
        let temporary = mode(export.temporary.path());
        assert_eq!(temporary, 0o750, "its owner writes in it");
        export.write(&()).unwrap();
        assert_eq!(mode(&directory), 0o550);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 5);
    }
}
