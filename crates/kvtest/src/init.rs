//! A database of generated values: whole, or not at all.

use crate::KvtestError;
use crate::place::MADE;
use crate::{inspect, place};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use stowplan_archive::{Watch, parent_of};
use stowplan_dataset::temporary::Temporary;
use stowplan_dataset::{Generator, room};
use stowplan_model::{DatasetSpec, StoreSpec, format_bytes};
use stowplan_stores::registry::{self, Resolved};
use stowplan_stores::{Access, DATABASE_FILE, Key, StoreError, largest_value};

/// After so many bytes the disk is asked to begin writing, so that the sync at the end finds
/// little left.
const WRITEBACK_BYTES: u64 = 16 << 20;

/// What to make.
#[derive(Debug, Clone)]
pub struct InitSpec {
    /// The database, which must not exist.
    pub database: PathBuf,
    /// Its values; one of no bytes gets one, as in kvtest.
    pub dataset: DatasetSpec,
    /// Bytes of a page: a power of two from 512 to 65536.
    pub page_size: u64,
}

/// A database that can be made, as far as that can be told before.
#[derive(Debug)]
pub struct Init {
    spec: InitSpec,
    generator: Generator,
    store: Resolved,
    temporary: Temporary,
}

/// What was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made {
    /// Number of values.
    pub values: u64,
    /// Their bytes together.
    pub bytes: u64,
    /// The smallest of them, in bytes.
    pub smallest: u64,
    /// The largest of them, in bytes.
    pub largest: u64,
    /// The length of the database, in bytes.
    pub file_bytes: u64,
}

impl Init {
    /// Checks everything that can be checked before anything is built.
    ///
    /// # Errors
    /// The name is taken or cannot be made, files of an earlier database lie beside it, a value could be larger than SQLite allows, the page
    /// size is none, or the file system has surely too little room.
    pub fn check(spec: InitSpec) -> Result<Self, KvtestError> {
        match std::fs::symlink_metadata(&spec.database) {
            Ok(_) => return Err(place::taken(&spec.database)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            // Such as a name that is too long: the file could not get it in the end.
            Err(error) => return Err(KvtestError::io("create", &spec.database)(error)),
        }
        refuse_leftovers(&spec.database)?;
        let store = store(spec.page_size)?;
        spec.dataset.size.check().map_err(KvtestError::invalid)?;
        check_largest(spec.dataset.size.largest())?;
        let generator = Generator::new(&spec.dataset)?;
        let parent = parent_of(&spec.database);
        let temporary = Temporary::create(&MADE, parent)?;
        room::require_free(parent, least_bytes(&spec))?;
        Ok(Self {
            spec,
            generator,
            store,
            temporary,
        })
    }

    /// Makes the database, brings it to the disk and gives it its name. `watch` hears how many
    /// values there are so far.
    ///
    /// # Errors
    /// The disk is full or fails, the name was taken meanwhile, or `watch` wants it to end. Nothing
    /// is left behind.
    pub fn build(self, watch: &dyn Watch) -> Result<Made, KvtestError> {
        let made = self.fill(watch)?;
        let path = self.temporary.path().join(DATABASE_FILE);
        let file = File::open(&path).map_err(KvtestError::io("open", &path))?;
        file.sync_all()
            .map_err(KvtestError::io("sync", &self.spec.database))?;
        let metadata = file.metadata().map_err(KvtestError::io("stat", &path))?;
        // They may have come meanwhile.
        refuse_leftovers(&self.spec.database)?;
        place::publish_file(&path, &self.spec.database)?;
        room::sync_directory(parent_of(&self.spec.database))?;
        Ok(Made {
            file_bytes: metadata.len(),
            ..made
        })
    }

    /// Inserts all values by rising key in one transaction, as kvtest does.
    fn fill(&self, watch: &dyn Watch) -> Result<Made, KvtestError> {
        let path = self.temporary.path();
        let store = self.store.kind.create(path, &self.store.settings)?;
        let path = path.join(DATABASE_FILE);
        let file = File::open(&path).map_err(KvtestError::io("open", &path))?;
        let mut session = store.connect()?;
        session.begin(Access::Write)?;
        let mut made = Made {
            values: 0,
            bytes: 0,
            smallest: u64::MAX,
            largest: 0,
            file_bytes: 0,
        };
        let mut value = Vec::new();
        for key in 1..=self.spec.dataset.count {
            if watch.interrupted() {
                return Err(KvtestError::INTERRUPTED);
            }
            value.resize(self.generator.size(key).max(1), 0);
            self.generator.fill(key, 0, &mut value);
            session
                .insert(Key(key), &value)
                .map_err(|error| self.broken_off(error))?;
            let before = made.bytes / WRITEBACK_BYTES;
            made.add(value.len() as u64);
            if made.bytes / WRITEBACK_BYTES > before {
                room::begin_writeback(&file);
            }
            watch.progress(key, self.spec.dataset.count);
        }
        session.commit().map_err(|error| self.broken_off(error))?;
        session.close()?;
        Ok(made)
    }

    fn broken_off(&self, error: StoreError) -> KvtestError {
        let error = KvtestError::from(error);
        KvtestError::invalid(format!(
            "{} was not made: {error}; nothing of it was left",
            self.spec.database.display()
        ))
    }
}

impl Made {
    fn add(&mut self, bytes: u64) {
        self.values += 1;
        self.bytes += bytes;
        self.smallest = self.smallest.min(bytes);
        self.largest = self.largest.max(bytes);
    }
}

/// Nothing has to survive a crash while the file has no name: no journal, no sync. The header is
/// the one of a plain rollback journal then.
fn store(page_size: u64) -> Result<Resolved, KvtestError> {
    let spec =
        format!("sqlite:page_size={page_size},journal=off,synchronous=off,locking=exclusive");
    let spec: StoreSpec = spec
        .parse()
        .map_err(|error| KvtestError::invalid(format!("{error}")))?;
    Ok(registry::resolve(&spec, 8 << 20)?)
}

/// A log or a journal of a database that is gone would be applied to the new one.
fn refuse_leftovers(database: &Path) -> Result<(), KvtestError> {
    let left = inspect::companions(database)
        .into_iter()
        .find(|file| std::fs::symlink_metadata(file).is_ok());
    match left {
        None => Ok(()),
        Some(file) => Err(KvtestError::invalid(format!(
            "{} is left from another database, and SQLite would apply it to the new one; \
             remove it, or choose another name",
            file.display()
        ))),
    }
}

fn check_largest(largest: u64) -> Result<(), KvtestError> {
    let allowed = largest_value();
    if largest <= allowed {
        return Ok(());
    }
    Err(KvtestError::invalid(format!(
        "values of up to {largest} bytes ({}) do not fit: SQLite holds {allowed} bytes in one",
        format_bytes(largest)
    )))
}

/// What the file surely has at least: the values, and of each page the few bytes that are not for
/// them.
fn least_bytes(spec: &InitSpec) -> u64 {
    let values = spec.dataset.count.saturating_mul(spec.dataset.size.mean());
    let pages = values / (spec.page_size - 4);
    pages.saturating_mul(spec.page_size).max(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_model::{Content, SizeDistribution};

    #[test]
    fn a_log_that_appears_during_the_work_keeps_the_name_from_being_given() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let init = Init::check(InitSpec {
            database: at("new.db"),
            dataset: DatasetSpec {
                count: 3,
                size: SizeDistribution::Fixed { bytes: 10 },
                content: Content::Random,
                seed: 1,
                from: None,
            },
            page_size: 4096,
        })
        .unwrap();
        std::fs::write(at("new.db-wal"), "old").unwrap();
        let told = init.build(&()).unwrap_err();
        assert!(told.to_string().contains("new.db-wal is left"), "{told}");
        assert!(!at("new.db").exists());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
