//! The values of a database as files, one each, under kvtest's names.
//!
//! They are written below a temporary directory, from one state of the database. Only when every value is on
//! the disk does the directory get its name, so that it is complete wherever it exists.

use crate::KvtestError;
use crate::inspect::{self, Container, Database, Snapshot};
use crate::place;
use crate::place::MADE;
use std::fs::{DirBuilder, File, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use stowplan_archive::{Watch, parent_of};
use stowplan_dataset::room;
use stowplan_dataset::temporary::Temporary;
use stowplan_harness::HarnessError;
use stowplan_harness::environment::mount_of;

/// Values between two times that it is told how many are done.
const TOLD_EVERY: u64 = 256;
/// What a file takes beside its blocks: its inode and its name, in bytes, at most.
const BYTES_PER_FILE: u64 = 4096 + 512;
/// How long dirty files gather before the disk is made to write them.
const FLUSH_EVERY: Duration = Duration::from_millis(200);
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
    /// The name that the directory gets, behind any link; nothing or an empty directory has it.
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
        let target = target(&spec)?;
        let parent = parent_of(&target);
        let temporary = Temporary::create(&MADE, parent)?;
        take_permissions(&target, temporary.path(), OWNER)?;
        require_room(&spec, snapshot.database(), values, parent)?;
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
        let exported = self.write_temporary(watch)?;
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

    fn write_temporary(&self, watch: &dyn Watch) -> Result<Exported, KvtestError> {
        let directory = self.temporary.path();
        let (working, ended) = mpsc::channel::<()>();
        let written = thread::scope(|scope| {
            if self.spec.sync {
                // What could not be flushed meanwhile is flushed at the end.
                let flush = move || flush_meanwhile(directory, &ended);
                let _ = thread::Builder::new().spawn_scoped(scope, flush);
            }
            let written = self.write_values(watch);
            drop(working);
            written
        });
        written.map_err(|error| match error {
            KvtestError::Harness(HarnessError::Interrupted) => error,
            error => self.broken_off(&error),
        })
    }

    fn write_values(&self, watch: &dyn Watch) -> Result<Exported, KvtestError> {
        let mut exported = Exported::default();
        let mut done = 0;
        self.snapshot.database().scan(|key, value| {
            if watch.interrupted() {
                return Err(KvtestError::INTERRUPTED);
            }
            done += 1;
            if done % TOLD_EVERY == 0 {
                watch.progress(done, self.values);
            }
            self.write_value(key, value, &mut exported)
        })?;
        watch.progress(done, self.values);
        Ok(exported)
    }

    fn write_value(
        &self,
        key: u64,
        value: &[u8],
        exported: &mut Exported,
    ) -> Result<(), KvtestError> {
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
            .map_err(KvtestError::io("write", &path))?;
        exported.files += 1;
        exported.bytes += value.len() as u64;
        Ok(())
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

    fn check_complete(&self, Exported { files, .. }: Exported) -> Result<(), KvtestError> {
        if files == self.values {
            return Ok(());
        }
        Err(KvtestError::invalid(format!(
            "{} was changed meanwhile: it had {} values, and {files} were seen; \
             nothing was left; run it again while nobody writes",
            self.spec.database.display(),
            self.values
        )))
    }
}

/// The name of a value's file, as kvtest has it: `000001`, or `00/00/01` in a tree.
fn name_of(key: u64, tree: bool) -> PathBuf {
    match tree {
        false => format!("{key:06}").into(),
        true => format!(
            "{:02}/{:02}/{:02}",
            key / 10_000,
            key / 100 % 100,
            key % 100
        )
        .into(),
    }
}

/// Has the disk write while files are still being made, so that little is left for the sync that
/// counts. That one also tells what failed here. Ends when the other end of the channel does.
fn flush_meanwhile(directory: &Path, ended: &Receiver<()>) {
    while ended.recv_timeout(FLUSH_EVERY) == Err(RecvTimeoutError::Timeout) {
        let _ = room::sync_filesystem(directory);
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

/// The name that the directory will have.
fn target(spec: &ExportSpec) -> Result<PathBuf, KvtestError> {
    let directory = &spec.directory;
    if std::fs::symlink_metadata(directory).is_err_and(|e| e.kind() == ErrorKind::NotFound) {
        return Ok(directory.clone());
    }
    // By its own name, behind any link: it is the directory that is replaced, not the link.
    let real = std::fs::canonicalize(directory).map_err(KvtestError::io("open", directory))?;
    let refused = |why| KvtestError::invalid(format!("{} {why}", directory.display()));
    if !real.is_dir() {
        return Err(refused("is not a directory; choose another name"));
    }
    let mut entries = std::fs::read_dir(&real).map_err(KvtestError::io("list", directory))?;
    if entries.next().is_some() {
        return Err(refused(
            "is not empty; choose another directory, or remove it first",
        ));
    }
    match mount_of(&real).is_some_and(|mount| mount.mount_point == real) {
        true => Err(refused(
            "is a mount point, which no directory can be renamed to; name a directory below it",
        )),
        false => Ok(real),
    }
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

/// Adds the sizes up only where that could matter: it takes longer than all other checks.
fn require_room(
    spec: &ExportSpec,
    database: &Database,
    values: u64,
    parent: &Path,
) -> Result<(), KvtestError> {
    let pages = database
        .number("page_size")?
        .saturating_mul(database.number("page_count")?);
    let most = values.saturating_mul(BYTES_PER_FILE).saturating_add(pages);
    if room::free_bytes(parent)? > most {
        return Ok(());
    }
    let mut bytes = 0u64;
    database.values(&mut |_, size| {
        bytes = bytes.saturating_add(size);
        Ok(())
    })?;
    place::require_room(&spec.directory, parent, bytes)
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
    use tempfile::TempDir;

    /// A database of five values beside an empty directory.
    struct Bench(TempDir);

    impl Bench {
        fn new() -> Self {
            let bench = Self(tempfile::tempdir().unwrap());
            let spec = crate::init::InitSpec {
                database: bench.at("x.db"),
                dataset: DatasetSpec {
                    count: 5,
                    size: SizeDistribution::Fixed { bytes: 10 },
                    content: Content::Random,
                    seed: 1,
                    from: None,
                },
                page_size: 4096,
            };
            crate::init::Init::check(spec)
                .and_then(|init| init.build(&()))
                .unwrap();
            fs::create_dir(bench.at("out")).unwrap();
            bench
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn names(&self) -> usize {
            fs::read_dir(self.at("out")).unwrap().count()
        }
    }

    #[test]
    fn an_empty_directory_that_nobody_may_write_in_is_filled_and_keeps_its_mode() {
        let bench = Bench::new();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        fs::set_permissions(bench.at("out"), Permissions::from_mode(0o550)).unwrap();
        let export = Export::check(ExportSpec {
            database: bench.at("x.db"),
            directory: bench.at("out"),
            tree: false,
            sync: false,
        })
        .unwrap();
        assert_eq!(
            mode(export.temporary.path()),
            0o750,
            "its owner writes in it"
        );
        export.write(&()).unwrap();
        assert_eq!((mode(&bench.at("out")), bench.names()), (0o550, 5));
    }
}
