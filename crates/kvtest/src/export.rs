//! The values of a database as files, one each, under kvtest's names.
//!
//! They are written below a temporary directory, from one state of the database. Only when every value is on
//! the disk does the directory get its name, so that it is complete wherever it exists. With
//! [`ExportSpec::force`] the files move into the directory that is there, one by one, and replace none.

use crate::KvtestError;
use crate::inspect::{self, Container, Database, Snapshot};
use crate::place;
use crate::place::MADE;
use std::collections::BTreeSet;
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
use stowplan_stores::directory;

/// Values between two times that it is told how many are done.
const TOLD_EVERY: u64 = 256;
/// What a file takes beside its blocks: its inode and its name, in bytes, at most.
const BYTES_PER_FILE: u64 = 4096 + 512;
/// How long dirty files gather before the disk is made to write them.
const FLUSH_EVERY: Duration = Duration::from_millis(200);
/// The mode of a directory that its owner may do everything with.
const OWNER: u32 = 0o700;
/// The most keys that a report names.
const KEYS_NAMED: usize = 10;

/// What to write, and where.
#[derive(Debug, Clone)]
pub struct ExportSpec {
    /// The database, which is not changed.
    pub database: PathBuf,
    /// The directory to make: it does not exist, or is empty.
    pub directory: PathBuf,
    /// Files named like `00/00/01` instead of `000001`.
    pub tree: bool,
    /// Add to a directory that has something in it; what it has is never changed.
    pub force: bool,
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
    target: Target,
    temporary: Temporary,
}

/// What becomes of the temporary directory.
#[derive(Debug)]
enum Target {
    /// It is renamed to this name, which nothing or an empty directory has.
    Whole(PathBuf),
    /// Its files move into this directory.
    Into {
        directory: PathBuf,
        /// Files of ours that were there before.
        files: u64,
    },
}

/// What was exported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exported {
    /// Files that were written.
    pub written: u64,
    /// How many of them got their names: fewer only if a directory was added to, and the work was
    /// interrupted then.
    pub added: u64,
    /// Their bytes together.
    pub written_bytes: u64,
    /// Files that were there already, with the value's very bytes.
    pub alike: u64,
    /// Files that were there already with other bytes, and still are.
    pub differing: u64,
    /// The smallest keys of those, up to ten.
    pub differing_keys: Vec<u64>,
    /// Files under names of values that the database does not have.
    pub strangers: u64,
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
        let parent = match &target {
            Target::Whole(name) => parent_of(name),
            // Inside, for it may be a file system of its own, and names move only within one.
            Target::Into { directory, .. } => directory,
        };
        let temporary = Temporary::create(&MADE, parent)?;
        if let Target::Whole(directory) = &target {
            take_permissions(directory, temporary.path(), OWNER)?;
        }
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
    /// `watch` wants it to end. Nothing is left behind, unless files were being added to a directory:
    /// those that have their names by then stay, and are counted.
    pub fn write(self, watch: &dyn Watch) -> Result<Exported, KvtestError> {
        let mut exported = self.write_temporary(watch)?;
        self.check_complete(&exported)?;
        if self.spec.sync {
            room::sync_below(self.temporary.path())?;
        }
        self.snapshot.check_unchanged()?;
        if watch.interrupted() {
            return Err(KvtestError::INTERRUPTED);
        }
        match &self.target {
            Target::Whole(directory) => {
                rename_directory(self.temporary.path(), directory)?;
                // It has another name now: nothing is left to remove.
                let directory = parent_of(directory).to_owned();
                let _ = self.temporary.keep();
                if self.spec.sync {
                    room::sync_directory(&directory)?;
                }
            }
            Target::Into { directory, files } => {
                let named_in = self.move_files(directory, watch, &mut exported)?;
                if exported.added == 0 && exported.written > 0 {
                    return Err(KvtestError::INTERRUPTED);
                }
                if self.spec.sync {
                    // The files are on the disk, and what was there before is nobody's to open. A directory
                    // comes before the one that it is in.
                    let mut inner_first = named_in.iter().rev();
                    inner_first.try_for_each(|directory| room::sync_directory(directory))?;
                }
                exported.strangers = files.saturating_sub(exported.alike + exported.differing);
            }
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
        exported.added = exported.written;
        Ok(exported)
    }

    /// Writes a value, or compares it with the file that is there already.
    fn write_value(
        &self,
        key: u64,
        value: &[u8],
        exported: &mut Exported,
    ) -> Result<(), KvtestError> {
        if let Target::Into { directory, .. } = &self.target {
            let there = directory.join(name_of(key, self.spec.tree));
            // Looks before it reads: what has the name may be a pipe by now, and would be waited for.
            if directory::is_value(&there)? {
                let found = std::fs::read(&there).map_err(KvtestError::io("read", &there))?;
                exported.compare(key, found == value);
                return Ok(());
            }
        }
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
        exported.written += 1;
        exported.written_bytes += value.len() as u64;
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

    /// Every value was written, or compared with what was there.
    fn check_complete(&self, exported: &Exported) -> Result<(), KvtestError> {
        let seen = exported.written + exported.alike + exported.differing;
        if seen == self.values {
            return Ok(());
        }
        Err(KvtestError::invalid(format!(
            "{} was changed meanwhile: it had {} values, and {seen} were seen; \
             nothing was left; run it again while nobody writes",
            self.spec.database.display(),
            self.values
        )))
    }

    /// Gives every file its name in `directory`, unless something has it by now; the directories that
    /// have new names in them. Ends early, and well, when `watch` wants it to: `exported.added` tells.
    fn move_files(
        &self,
        directory: &Path,
        watch: &dyn Watch,
        exported: &mut Exported,
    ) -> Result<BTreeSet<PathBuf>, KvtestError> {
        let mut named_in = BTreeSet::new();
        exported.added = 0;
        if exported.written == 0 {
            return Ok(named_in);
        }
        let mut keys = Vec::new();
        let made = self.temporary.path();
        inspect::values(made, container(self.spec.tree), &mut |key, _| {
            keys.push(key);
            Ok(())
        })?;
        for name in keys.into_iter().map(|key| name_of(key, self.spec.tree)) {
            if watch.interrupted() {
                return Ok(named_in);
            }
            let to = directory.join(&name);
            move_file(&made.join(name), &to).map_err(|error| {
                KvtestError::invalid(format!(
                    "{error}; {} of {} files were added before and stay; \
                     export again to add the others",
                    exported.added, exported.written
                ))
            })?;
            exported.added += 1;
            let above = to.ancestors().skip(1);
            let above = above.take_while(|above| above.starts_with(directory));
            named_in.extend(above.map(Path::to_owned));
        }
        Ok(named_in)
    }
}

fn move_file(from: &Path, to: &Path) -> Result<(), KvtestError> {
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent).map_err(KvtestError::io("create", parent))?;
    }
    place::publish_file(from, to)
}

impl Exported {
    /// Counts a file that was there already.
    fn compare(&mut self, key: u64, is_alike: bool) {
        if is_alike {
            self.alike += 1;
            return;
        }
        self.differing += 1;
        // Keys come by rising order, so these are the smallest.
        if self.differing_keys.len() < KEYS_NAMED {
            self.differing_keys.push(key);
        }
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

/// Where the files shall go, and in which way.
fn target(spec: &ExportSpec) -> Result<Target, KvtestError> {
    let directory = &spec.directory;
    if std::fs::symlink_metadata(directory).is_err_and(|e| e.kind() == ErrorKind::NotFound) {
        return Ok(Target::Whole(directory.clone()));
    }
    // By its own name, behind any link: it is the directory that is replaced, not the link.
    let real = std::fs::canonicalize(directory).map_err(KvtestError::io("open", directory))?;
    if !real.is_dir() {
        return Err(KvtestError::invalid(format!(
            "{} is not a directory; choose another name",
            directory.display()
        )));
    }
    let mut entries = std::fs::read_dir(&real).map_err(KvtestError::io("list", directory))?;
    let empty = entries.next().is_none();
    let mounted = mount_of(&real).is_some_and(|mount| mount.mount_point == real);
    match (empty && !mounted, spec.force) {
        (true, _) => Ok(Target::Whole(real)),
        (false, true) => {
            check_layout(directory, spec.tree)?;
            let files = count_files(directory, spec.tree)?;
            Ok(Target::Into {
                directory: real,
                files,
            })
        }
        (false, false) => Err(KvtestError::invalid(refusal(directory, empty))),
    }
}

fn refusal(directory: &Path, empty: bool) -> String {
    let directory = directory.display();
    if empty {
        format!(
            "{directory} is a mount point, which no directory can be renamed to; \
             name a directory below it, or add to it with --force"
        )
    } else {
        format!(
            "{directory} is not empty; choose another directory, or add to it with --force, \
             which changes nothing that is there"
        )
    }
}

/// The number of values in a directory. What is none though it has the name of one is refused here,
/// before anything is written.
fn count_files(directory: &Path, tree: bool) -> Result<u64, KvtestError> {
    let mut files = 0;
    inspect::values(directory, container(tree), &mut |_, _| {
        files += 1;
        Ok(())
    })?;
    Ok(files)
}

fn container(tree: bool) -> Container {
    match tree {
        true => Container::Tree,
        false => Container::Dir,
    }
}

/// Files of both layouts in one directory would be read by nobody.
fn check_layout(directory: &Path, tree: bool) -> Result<(), KvtestError> {
    if inspect::recognise(directory).is_ok_and(|found| found == container(!tree)) {
        let (has, advice) = match tree {
            true => ("000001", "leave --tree out"),
            false => ("00/00/01", "add --tree"),
        };
        return Err(KvtestError::invalid(format!(
            "{} has files named like {has}; {advice}, or choose another directory",
            directory.display()
        )));
    }
    Ok(())
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
    if spec.force || room::free_bytes(parent)? > most {
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
    use rustix::fs::{CWD, Mode, mkfifoat};
    use std::fs;
    use stowplan_model::{Content, DatasetSpec, SizeDistribution};
    use tempfile::TempDir;

    /// A database of five values beside a directory that has something in it.
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

        fn export(&self, force: bool) -> Result<Export, KvtestError> {
            Export::check(ExportSpec {
                database: self.at("x.db"),
                directory: self.at("out"),
                tree: false,
                force,
                sync: false,
            })
        }

        /// One that adds.
        fn adding(&self) -> Export {
            fs::write(self.at("out/letter"), "dear").unwrap();
            self.export(true).unwrap()
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
        let export = bench.export(false).unwrap();
        assert_eq!(
            mode(export.temporary.path()),
            0o750,
            "its owner writes in it"
        );
        export.write(&()).unwrap();
        assert_eq!((mode(&bench.at("out")), bench.names()), (0o550, 5));
    }

    #[test]
    fn a_name_that_is_taken_meanwhile_ends_the_adding_with_the_number_of_files() {
        let bench = Bench::new();
        let export = bench.adding();
        let mut exported = export.write_temporary(&()).unwrap();
        fs::write(bench.at("out/000003"), "mine").unwrap();
        let told = export
            .move_files(&bench.at("out"), &(), &mut exported)
            .unwrap_err()
            .to_string();
        assert!(
            told.contains("000003") && told.contains("2 of 5 files were added"),
            "{told}"
        );
        assert_eq!(fs::read(bench.at("out/000003")).unwrap(), b"mine");
    }

    #[test]
    fn of_a_directory_that_is_added_to_only_directories_with_new_names_are_synced() {
        let bench = Bench::new();
        let mut export = bench.adding();
        fs::create_dir_all(bench.at("out/11/22")).unwrap();
        export.spec.tree = true;
        let mut exported = export.write_temporary(&()).unwrap();
        let named_in = export
            .move_files(&bench.at("out"), &(), &mut exported)
            .unwrap();
        let expected = ["out", "out/00", "out/00/00"].map(|name| bench.at(name));
        assert_eq!(named_in, BTreeSet::from(expected));
    }

    struct Interrupted;

    impl Watch for Interrupted {
        fn progress(&self, _: u64, _: u64) {}

        fn interrupted(&self) -> bool {
            true
        }
    }

    #[test]
    fn an_interrupt_ends_the_adding_between_two_files() {
        let bench = Bench::new();
        let export = bench.adding();
        let mut exported = export.write_temporary(&()).unwrap();
        export
            .move_files(&bench.at("out"), &Interrupted, &mut exported)
            .unwrap();
        assert_eq!((exported.added, exported.written), (0, 5));
        drop(export);
        assert_eq!(bench.names(), 1, "the letter is alone");
    }

    #[test]
    fn a_pipe_that_appears_under_a_name_is_refused_and_not_waited_for() {
        let bench = Bench::new();
        let export = bench.adding();
        mkfifoat(CWD, bench.at("out/000002"), Mode::RUSR).unwrap();
        let told = export.write(&()).unwrap_err().to_string();
        assert!(
            told.contains("000002") && told.contains("no regular file"),
            "{told}"
        );
        assert_eq!(bench.names(), 2, "the letter and the pipe");
    }
}
