//! Datasets on disk.
//!
//! A directory with three files:
//!
//! - `values.bin`: all values, one behind the other, by rising key.
//! - `index.bin`: `count + 1` offsets into it, u64 little-endian; the value of key `k` goes from
//!   the `k-1`th offset to the `k`th, counting from 0.
//! - `dataset.toml`: what its values are.
//!
//! Of values that somebody brought along there is a fourth, `names.bin` ([`crate::names`]), where they
//! had names. A dataset lives as long as the run that it is made for.

use crate::{DatasetError, Generator, Import, room};
use memmap2::Mmap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use stowplan_model::DatasetSpec;

/// Bytes generated at a time: small enough to stay in the CPU's second-level cache until they are written.
const CHUNK_BYTES: usize = 1 << 18;

pub(crate) const VALUES: &str = "values.bin";
pub(crate) const INDEX: &str = "index.bin";
pub(crate) const DESCRIPTION: &str = "dataset.toml";
pub(crate) const NAMES: &str = "names.bin";

/// A dataset on disk, mapped.
#[derive(Debug)]
pub struct Dataset {
    directory: PathBuf,
    spec: DatasetSpec,
    largest: u64,
    generator: Generator,
    index: Mmap,
    values: Mmap,
}

/// Writes the dataset to `directory`, which must not exist: complete under its name and on
/// disk, or not at all. `progress` gets the bytes written so far.
///
/// # Errors
/// The description contradicts itself, the disk has no room, or the file system refuses.
pub fn materialise(
    spec: &DatasetSpec,
    directory: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<Dataset, DatasetError> {
    let generator = Generator::new(spec)?;
    if spec.count == 0 {
        return Err(DatasetError::invalid("a dataset needs at least one value"));
    }
    let parent = parent_of_new(directory)?;
    room::require_free(parent, spec.count.saturating_add(1).saturating_mul(8))?;
    let sizes = (1..=spec.count).map(|key| generator.size(key) as u64);
    room::require_free(parent, sizes.fold(0, u64::saturating_add))?;
    let mut import = Import::begin(directory)?;
    let mut chunk = vec![0; CHUNK_BYTES];
    for key in 1..=spec.count {
        let size = generator.size(key);
        for from in (0..size).step_by(CHUNK_BYTES) {
            let part = &mut chunk[..CHUNK_BYTES.min(size - from)];
            generator.fill_part(key, 0, size, from, part);
            import.append(part)?;
        }
        progress(import.end_value(size as u64));
    }
    import.finish(spec)
}

/// The directory in which a new one of this name is made.
pub(crate) fn parent_of_new(directory: &Path) -> Result<&Path, DatasetError> {
    if directory.symlink_metadata().is_ok() {
        return Err(DatasetError::invalid(format!(
            "{} is there already; remove it or choose another place",
            directory.display()
        )));
    }
    Ok(match directory.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    })
}

pub(crate) fn create(path: &Path) -> Result<File, DatasetError> {
    File::create_new(path).map_err(DatasetError::io("create", path))
}

/// Writes a file that does not exist yet, to the disk.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), DatasetError> {
    let mut file = create(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_data());
    written.map_err(DatasetError::io("write", path))
}

impl Dataset {
    /// Opens what [`materialise`] or [`Import`] wrote.
    ///
    /// # Errors
    /// A file is missing or damaged.
    pub fn open(directory: &Path) -> Result<Self, DatasetError> {
        let path = directory.join(DESCRIPTION);
        let text = std::fs::read_to_string(&path).map_err(DatasetError::io("read", &path))?;
        let spec: DatasetSpec = toml::from_str(&text)
            .map_err(|error| DatasetError::damaged(&path, error.message().replace('\n', " ")))?;
        let generator = Generator::new(&spec)?;
        let index = map(&directory.join(INDEX))?;
        let values = map(&directory.join(VALUES))?;
        let mut dataset = Self {
            directory: directory.to_owned(),
            spec,
            largest: 0,
            generator,
            index,
            values,
        };
        dataset.largest = dataset.largest_by_index()?;
        Ok(dataset)
    }

    /// The largest value, after every key from 1 to `count` was found to have a slice.
    fn largest_by_index(&self) -> Result<u64, DatasetError> {
        let damaged = |detail: &str| DatasetError::damaged(&self.directory.join(INDEX), detail);
        let (offsets, rest) = self.index.as_chunks();
        if offsets.len() as u64 != self.count().saturating_add(1) || !rest.is_empty() {
            return Err(damaged("it has another length than so many values have"));
        }
        let (mut last, mut largest) = (0, 0);
        for (number, offset) in offsets.iter().enumerate() {
            let offset = u64::from_le_bytes(*offset);
            if offset < last || number == 0 && offset != 0 {
                return Err(damaged("its offsets do not rise from 0"));
            }
            largest = largest.max(offset - last);
            last = offset;
        }
        match last == self.total_bytes() {
            true => Ok(largest),
            false => Err(DatasetError::damaged(
                &self.directory.join(VALUES),
                format!("it has {} bytes instead of {last}", self.total_bytes()),
            )),
        }
    }

    /// Where it lies.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Its description.
    #[must_use]
    pub fn spec(&self) -> &DatasetSpec {
        &self.spec
    }

    /// The generator of its values, for other versions than the one on disk.
    #[must_use]
    pub fn generator(&self) -> &Generator {
        &self.generator
    }

    /// Number of values; keys are 1 to this.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.spec.count
    }

    /// Bytes of all values.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.values.len() as u64
    }

    /// Size of the largest value, in bytes.
    #[must_use]
    pub fn largest(&self) -> usize {
        usize::try_from(self.largest).unwrap_or(usize::MAX)
    }

    /// Size of a value, in bytes.
    ///
    /// # Panics
    /// `key` is not from 1 to [`Self::count`].
    #[must_use]
    pub fn size(&self, key: u64) -> usize {
        self.range(key).len()
    }

    /// Where version 0 of a value begins in [`Self::values_file`], in bytes.
    ///
    /// # Panics
    /// `key` is not from 1 to [`Self::count`].
    #[must_use]
    pub fn offset(&self, key: u64) -> u64 {
        self.range(key).start as u64
    }

    /// The file of the values, one behind the other.
    #[must_use]
    pub fn values_file(&self) -> PathBuf {
        self.directory.join(VALUES)
    }

    /// The file of the names that the values had where they come from; nothing where they had none.
    #[must_use]
    pub fn names_file(&self) -> Option<PathBuf> {
        let path = self.directory.join(NAMES);
        path.is_file().then_some(path)
    }

    /// Version 0 of a value.
    ///
    /// # Panics
    /// `key` is not from 1 to [`Self::count`].
    #[must_use]
    pub fn value(&self, key: u64) -> &[u8] {
        &self.values[self.range(key)]
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "offsets lie within a mapping, as checked when it was opened"
    )]
    fn range(&self, key: u64) -> std::ops::Range<usize> {
        let offsets = self.index.as_chunks().0;
        let key = key as usize;
        u64::from_le_bytes(offsets[key - 1]) as usize..u64::from_le_bytes(offsets[key]) as usize
    }
}

pub(crate) fn map(path: &Path) -> Result<Mmap, DatasetError> {
    let file = File::open(path).map_err(DatasetError::io("open", path))?;
    #[expect(unsafe_code, reason = "mapping a file is unsafe by nature")]
    // SAFETY: the file belongs to a dataset, which is complete once its directory has its name,
    // and is never changed or shortened afterwards.
    unsafe { Mmap::map(&file) }.map_err(DatasetError::io("map", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_model::{Content, SizeDistribution};

    fn spec(count: u64, size: SizeDistribution) -> DatasetSpec {
        DatasetSpec {
            count,
            size,
            content: Content::Random,
            seed: 3,
            from: None,
        }
    }

    fn made(spec: &DatasetSpec) -> (tempfile::TempDir, Dataset) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("d");
        let dataset = materialise(spec, &path, &mut |_| ()).unwrap();
        (directory, dataset)
    }

    fn assert_complete(dataset: &Dataset) {
        let generator = dataset.generator();
        let mut total = 0;
        for key in 1..=dataset.count() {
            assert_eq!(dataset.size(key), generator.size(key), "key {key}");
            assert!(generator.matches(key, 0, dataset.value(key)), "key {key}");
            total += dataset.size(key) as u64;
        }
        assert_eq!(dataset.total_bytes(), total);
    }

    #[test]
    fn small_values_come_back() {
        let (_directory, dataset) = made(&spec(
            2_000,
            SizeDistribution::Uniform { min: 0, max: 3_000 },
        ));
        assert_complete(&dataset);
    }

    #[test]
    fn values_larger_than_a_chunk_come_back() {
        let (_directory, dataset) = made(&spec(3, SizeDistribution::Fixed { bytes: 2_500_000 }));
        assert_complete(&dataset);
        assert_eq!(dataset.largest(), 2_500_000);
    }

    #[test]
    fn a_dataset_of_empty_values_is_possible() {
        let (_directory, dataset) = made(&spec(2, SizeDistribution::Fixed { bytes: 0 }));
        assert_complete(&dataset);
        assert_eq!(dataset.value(2), b"");
    }

    #[test]
    fn progress_ends_at_the_total() {
        let directory = tempfile::tempdir().unwrap();
        let spec = spec(50, SizeDistribution::Fixed { bytes: 100_000 });
        let mut seen = Vec::new();
        let note = &mut |bytes| seen.push(bytes);
        materialise(&spec, &directory.path().join("d"), note).unwrap();
        assert_eq!((seen.len(), seen.last()), (50, Some(&5_000_000)));
    }

    #[test]
    fn only_the_finished_directory_stays() {
        let (directory, _dataset) = made(&spec(2, SizeDistribution::Fixed { bytes: 10 }));
        let names: Vec<_> = std::fs::read_dir(&directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["d"]);
    }

    #[test]
    fn an_existing_directory_is_never_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let spec = spec(1, SizeDistribution::Fixed { bytes: 1 });
        let error = materialise(&spec, directory.path(), &mut |_| ()).unwrap_err();
        assert!(error.to_string().contains("there already"), "{error}");
    }

    #[test]
    fn a_dataset_that_cannot_fit_is_refused_before_it_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let spec = spec(
            4_000,
            SizeDistribution::Fixed {
                bytes: u64::from(u32::MAX),
            },
        );
        let error = materialise(&spec, &directory.path().join("d"), &mut |_| ()).unwrap_err();
        assert!(matches!(error, DatasetError::Space { .. }), "{error}");
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
    }

    #[test]
    fn more_values_than_can_be_counted_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let spec = spec(u64::MAX, SizeDistribution::Fixed { bytes: 1 });
        let error = materialise(&spec, &directory.path().join("d"), &mut |_| ()).unwrap_err();
        assert!(matches!(error, DatasetError::Space { .. }), "{error}");
    }

    #[test]
    fn damage_is_reported_with_the_file() {
        let (directory, dataset) = made(&spec(100, SizeDistribution::Fixed { bytes: 100 }));
        drop(dataset);
        let path = directory.path().join("d");
        let damage = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
            let file = path.join(name);
            let whole = std::fs::read(&file).unwrap();
            let mut changed = whole.clone();
            change(&mut changed);
            std::fs::write(&file, changed).unwrap();
            let error = Dataset::open(&path).map(drop);
            std::fs::write(&file, whole).unwrap();
            error.unwrap_err().to_string()
        };
        for (name, message) in [
            (INDEX, damage(INDEX, &|bytes| bytes[9] ^= 1)),
            (INDEX, damage(INDEX, &|bytes| bytes[0] ^= 1)),
            (INDEX, damage(INDEX, &|bytes| bytes.truncate(800))),
            (VALUES, damage(VALUES, &|bytes| bytes.truncate(9_999))),
            (
                DESCRIPTION,
                damage(DESCRIPTION, &|bytes| bytes.truncate(40)),
            ),
        ] {
            assert!(
                message.contains(name) && message.contains("damaged"),
                "{message}"
            );
        }
        Dataset::open(&path).unwrap();
    }
}
