//! Datasets on disk.
//!
//! A directory with three files:
//!
//! - `values.bin`: all values, one behind the other, by rising key.
//! - `index.bin`: `count + 1` offsets into it, u64 little-endian; the value of key `k` goes from
//!   the `k-1`th offset to the `k`th, counting from 0.
//! - `dataset.toml`: format version, description, total size, CRC-32 of the other two.
//!
//! Of values that somebody brought along there is a fourth, `names.bin` ([`crate::names`]), where they
//! had names.

use crate::{DatasetError, Generator, platform, room};
use memmap2::{Mmap, MmapMut};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use stowplan_model::DatasetSpec;

/// Version of the directory's format, and of the generator that filled it.
pub(crate) const FORMAT: u32 = 1;
/// Bytes generated and written at a time: small enough to stay in the CPU's second-level cache
/// between the two.
const CHUNK_BYTES: usize = 1 << 20;
/// Chunks after which the disk is asked to begin writing.
const WRITEBACK_CHUNKS: u64 = 8;

pub(crate) const VALUES: &str = "values.bin";
pub(crate) const INDEX: &str = "index.bin";
pub(crate) const DESCRIPTION: &str = "dataset.toml";
pub(crate) const NAMES: &str = "names.bin";

/// What `dataset.toml` holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    pub(crate) format: u32,
    pub(crate) total_bytes: u64,
    pub(crate) largest: u64,
    pub(crate) values_crc32: u32,
    pub(crate) index_crc32: u32,
    pub(crate) spec: DatasetSpec,
}

/// A dataset on disk, mapped.
#[derive(Debug)]
pub struct Dataset {
    directory: PathBuf,
    description: Description,
    generator: Generator,
    index: Mmap,
    values: Mmap,
}

/// Writes the dataset to `directory`, which must not exist: complete under its name and on
/// disk, or not at all. `progress` gets the bytes written so far, from any thread. Uses about
/// 1 MiB of memory per thread.
///
/// # Errors
/// The description contradicts itself, the disk has no room, or the file system refuses.
pub fn materialise(
    spec: &DatasetSpec,
    directory: &Path,
    threads: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Dataset, DatasetError> {
    let generator = Generator::new(spec)?;
    if spec.count == 0 {
        return Err(DatasetError::invalid("a dataset needs at least one value"));
    }
    let parent = parent_of_new(directory)?;
    room::require_free(parent, spec.count.saturating_add(1).saturating_mul(8))?;
    // Removes itself unless it is kept.
    let partial = tempfile::Builder::new()
        .prefix(".dataset-")
        .tempdir_in(parent)
        .map_err(DatasetError::io("create a directory in", parent))?;
    let layout = write_index(&partial.path().join(INDEX), &generator, spec.count)?;
    room::require_free(parent, layout.total_bytes)?;
    let values_crc32 = write_values(
        &partial.path().join(VALUES),
        &generator,
        &layout,
        threads,
        progress,
    )?;
    let description = Description {
        format: FORMAT,
        total_bytes: layout.total_bytes,
        largest: layout.largest,
        values_crc32,
        index_crc32: layout.index_crc32,
        spec: spec.clone(),
    };
    write_description(&partial.path().join(DESCRIPTION), &description)?;
    std::fs::rename(partial.path(), directory)
        .map_err(DatasetError::io("rename a directory to", directory))?;
    // It has another name now: nothing is left to remove.
    let _ = partial.keep();
    room::sync_directory(parent)?;
    Dataset::open(directory)
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

/// Where everything goes in `values.bin`.
struct Layout {
    total_bytes: u64,
    largest: u64,
    index_crc32: u32,
    /// Of each chunk of the file, the key whose value its first byte belongs to, and how many
    /// bytes of that value lie before it.
    chunks: Vec<(u64, usize)>,
}

fn write_index(path: &Path, generator: &Generator, count: u64) -> Result<Layout, DatasetError> {
    let file = create(path)?;
    let write_error = || DatasetError::io("write", path);
    let mut out = BufWriter::with_capacity(1 << 18, &file);
    let mut hasher = crc32fast::Hasher::new();
    let mut layout = Layout {
        total_bytes: 0,
        largest: 0,
        index_crc32: 0,
        chunks: Vec::new(),
    };
    let mut put = |offset: u64| {
        let bytes = offset.to_le_bytes();
        hasher.update(&bytes);
        out.write_all(&bytes).map_err(write_error())
    };
    put(0)?;
    for key in 1..=count {
        let size = generator.size(key);
        let end = layout
            .total_bytes
            .checked_add(size as u64)
            .filter(|end| i64::try_from(*end).is_ok())
            .ok_or_else(|| DatasetError::invalid("a dataset cannot have 2^63 bytes or more"))?;
        let mut next_chunk = (layout.chunks.len() * CHUNK_BYTES) as u64;
        while next_chunk < end {
            #[expect(clippy::cast_possible_truncation, reason = "within one value")]
            let before = (next_chunk - layout.total_bytes) as usize;
            layout.chunks.push((key, before));
            next_chunk += CHUNK_BYTES as u64;
        }
        layout.total_bytes = end;
        layout.largest = layout.largest.max(size as u64);
        put(end)?;
    }
    out.flush().map_err(write_error())?;
    drop(out);
    file.sync_data().map_err(DatasetError::io("sync", path))?;
    layout.index_crc32 = hasher.finalize();
    Ok(layout)
}

/// Writes all values, chunk by chunk, from several threads; returns the CRC-32 of the file.
fn write_values(
    path: &Path,
    generator: &Generator,
    layout: &Layout,
    threads: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<u32, DatasetError> {
    let file = create(path)?;
    platform::preallocate(&file, layout.total_bytes)
        .map_err(DatasetError::io("reserve room for", path))?;
    let job = ValuesJob {
        file: &file,
        path,
        generator,
        layout,
        next: AtomicU64::new(0),
        done: AtomicU64::new(0),
        progress,
    };
    let threads = threads.clamp(1, layout.chunks.len().max(1));
    let mut checksums = thread::scope(|scope| {
        // This thread works too, alone where the system grants no others.
        let workers: Vec<_> = (1..threads)
            .map_while(|_| {
                thread::Builder::new()
                    .spawn_scoped(scope, || job.work())
                    .ok()
            })
            .collect();
        let mut all = job.work()?;
        for worker in workers {
            let part = worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            all.extend(part);
        }
        Ok::<_, DatasetError>(all)
    })?;
    file.sync_data().map_err(DatasetError::io("sync", path))?;
    checksums.sort_unstable_by_key(|(chunk, _)| *chunk);
    let mut whole = crc32fast::Hasher::new();
    for (chunk, checksum) in checksums {
        let (_, length) = layout.chunk_range(chunk);
        whole.combine(&crc32fast::Hasher::new_with_initial_len(
            checksum,
            length as u64,
        ));
    }
    Ok(whole.finalize())
}

impl Layout {
    /// Offset and length of a chunk.
    fn chunk_range(&self, chunk: u64) -> (u64, usize) {
        let offset = chunk * CHUNK_BYTES as u64;
        let rest = self.total_bytes - offset;
        (
            offset,
            usize::try_from(rest).map_or(CHUNK_BYTES, |rest| rest.min(CHUNK_BYTES)),
        )
    }
}

/// What the threads share that write values.
struct ValuesJob<'a> {
    file: &'a File,
    path: &'a Path,
    generator: &'a Generator,
    layout: &'a Layout,
    next: AtomicU64,
    done: AtomicU64,
    progress: &'a (dyn Fn(u64) + Sync),
}

impl ValuesJob<'_> {
    /// Takes chunks until none are left; returns their numbers and checksums.
    fn work(&self) -> Result<Vec<(u64, u32)>, DatasetError> {
        // Page-aligned: the kernel copies from it at full speed.
        let mut buffer = MmapMut::map_anon(CHUNK_BYTES)
            .map_err(DatasetError::io("get memory for", self.path))?;
        let mut checksums = Vec::new();
        loop {
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(start) = usize::try_from(chunk)
                .ok()
                .and_then(|chunk| self.layout.chunks.get(chunk))
            else {
                return Ok(checksums);
            };
            let (offset, length) = self.layout.chunk_range(chunk);
            let bytes = &mut buffer[..length];
            self.fill(*start, bytes);
            checksums.push((chunk, crc32fast::hash(bytes)));
            if let Err(error) = self.file.write_all_at(bytes, offset) {
                // The other threads find nothing more to do.
                self.next.store(u64::MAX / 2, Ordering::Relaxed);
                return Err(DatasetError::io("write", self.path)(error));
            }
            let done = self.done.fetch_add(length as u64, Ordering::Relaxed) + length as u64;
            (self.progress)(done);
            if chunk % WRITEBACK_CHUNKS == WRITEBACK_CHUNKS - 1 {
                let first = (chunk + 1 - WRITEBACK_CHUNKS) * CHUNK_BYTES as u64;
                platform::begin_writeback(self.file, first, offset + length as u64 - first);
            }
        }
    }

    fn fill(&self, (mut key, mut from): (u64, usize), mut out: &mut [u8]) {
        while !out.is_empty() {
            let size = self.generator.size(key);
            let (part, rest) = out.split_at_mut(out.len().min(size - from));
            self.generator.fill_part(key, 0, size, from, part);
            out = rest;
            key += 1;
            from = 0;
        }
    }
}

pub(crate) fn write_description(
    path: &Path,
    description: &Description,
) -> Result<(), DatasetError> {
    let text = toml::to_string(description)
        .map_err(|error| DatasetError::invalid(format!("{}: {error}", path.display())))?;
    let mut file = create(path)?;
    file.write_all(text.as_bytes())
        .map_err(DatasetError::io("write", path))?;
    file.sync_data().map_err(DatasetError::io("sync", path))
}

pub(crate) fn create(path: &Path) -> Result<File, DatasetError> {
    File::create_new(path).map_err(DatasetError::io("create", path))
}

impl Dataset {
    /// Opens what [`materialise`] wrote. Checks everything but the bytes of the values
    /// ([`Self::check_values`] does).
    ///
    /// # Errors
    /// A file is missing or damaged, or of another format.
    pub fn open(directory: &Path) -> Result<Self, DatasetError> {
        let description_path = directory.join(DESCRIPTION);
        let text = std::fs::read_to_string(&description_path)
            .map_err(DatasetError::io("read", &description_path))?;
        let description = parse_description(&text, &description_path)?;
        let generator = Generator::new(&description.spec)?;
        let index = map(&directory.join(INDEX))?;
        let values = map(&directory.join(VALUES))?;
        let dataset = Self {
            directory: directory.to_owned(),
            description,
            generator,
            index,
            values,
        };
        dataset.check_index()?;
        Ok(dataset)
    }

    /// After this, every key from 1 to `count` has a slice.
    fn check_index(&self) -> Result<(), DatasetError> {
        let damaged =
            |detail: String| Err(DatasetError::damaged(&self.directory.join(INDEX), detail));
        let expected_bytes = (self.count().saturating_add(1)).saturating_mul(8);
        if self.index.len() as u64 != expected_bytes {
            return damaged(format!(
                "it has {} bytes instead of {expected_bytes}",
                self.index.len()
            ));
        }
        if crc32fast::hash(&self.index) != self.description.index_crc32 {
            return damaged("its checksum does not fit".to_owned());
        }
        let offsets = || {
            self.index
                .as_chunks()
                .0
                .iter()
                .copied()
                .map(u64::from_le_bytes)
        };
        let rising = offsets().zip(offsets().skip(1)).all(|(a, b)| a <= b);
        if offsets().next() != Some(0)
            || !rising
            || offsets().next_back() != Some(self.total_bytes())
        {
            return damaged("its offsets do not rise from 0 to the total size".to_owned());
        }
        // As much memory is taken for a value, so it is not to be believed unseen.
        let sizes = offsets().zip(offsets().skip(1)).map(|(a, b)| b - a);
        if sizes.max() != Some(self.description.largest) {
            return Err(DatasetError::damaged(
                &self.directory.join(DESCRIPTION),
                "its largest value is not that of the index",
            ));
        }
        if self.values.len() as u64 != self.total_bytes() {
            let detail = format!(
                "it has {} bytes instead of {}",
                self.values.len(),
                self.total_bytes()
            );
            return Err(DatasetError::damaged(&self.directory.join(VALUES), detail));
        }
        Ok(())
    }

    /// Reads all values and compares their checksum.
    ///
    /// # Errors
    /// A value is not what it was.
    pub fn check_values(&self) -> Result<(), DatasetError> {
        if crc32fast::hash(&self.values) == self.description.values_crc32 {
            return Ok(());
        }
        Err(DatasetError::damaged(
            &self.directory.join(VALUES),
            "its checksum does not fit",
        ))
    }

    /// Where it lies.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Its description.
    #[must_use]
    pub fn spec(&self) -> &DatasetSpec {
        &self.description.spec
    }

    /// The generator of its values, for other versions than the one on disk.
    #[must_use]
    pub fn generator(&self) -> &Generator {
        &self.generator
    }

    /// Number of values; keys are 1 to this.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.description.spec.count
    }

    /// Bytes of all values.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.description.total_bytes
    }

    /// Size of the largest value, in bytes.
    #[must_use]
    pub fn largest(&self) -> usize {
        usize::try_from(self.description.largest).unwrap_or(usize::MAX)
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

fn parse_description(text: &str, path: &Path) -> Result<Description, DatasetError> {
    /// Read first: a later format may have other fields.
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let damaged =
        |error: toml::de::Error| DatasetError::damaged(path, error.message().replace('\n', " "));
    let Format { format } = toml::from_str(text).map_err(damaged)?;
    if format != FORMAT {
        return Err(DatasetError::invalid(format!(
            "{} has format {format}, and this version reads {FORMAT}; \
             remove the dataset and run again",
            path.display()
        )));
    }
    toml::from_str(text).map_err(damaged)
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
    use std::sync::Mutex;
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

    fn made(spec: &DatasetSpec, threads: usize) -> (tempfile::TempDir, Dataset) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("d");
        let dataset = materialise(spec, &path, threads, &|_| ()).unwrap();
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
        dataset.check_values().unwrap();
    }

    #[test]
    fn small_values_come_back_whatever_the_number_of_threads() {
        let spec = spec(2_000, SizeDistribution::Uniform { min: 0, max: 3_000 });
        let checksum = |threads| {
            let (_directory, dataset) = made(&spec, threads);
            assert_complete(&dataset);
            dataset.description.values_crc32
        };
        assert_eq!(checksum(1), checksum(3));
    }

    #[test]
    fn values_larger_than_a_chunk_come_back() {
        let (_directory, dataset) = made(&spec(3, SizeDistribution::Fixed { bytes: 2_500_000 }), 2);
        assert_complete(&dataset);
        assert_eq!(dataset.largest(), 2_500_000);
    }

    #[test]
    fn a_dataset_of_empty_values_is_possible() {
        let (_directory, dataset) = made(&spec(2, SizeDistribution::Fixed { bytes: 0 }), 2);
        assert_complete(&dataset);
        assert_eq!(dataset.value(2), b"");
    }

    #[test]
    fn progress_ends_at_the_total() {
        let directory = tempfile::tempdir().unwrap();
        let spec = spec(50, SizeDistribution::Fixed { bytes: 100_000 });
        let seen = Mutex::new(Vec::new());
        let note = |bytes| seen.lock().unwrap().push(bytes);
        materialise(&spec, &directory.path().join("d"), 2, &note).unwrap();
        let seen = seen.into_inner().unwrap();
        assert_eq!(seen.iter().max(), Some(&5_000_000));
        assert_eq!(seen.len(), 5, "one call per chunk");
    }

    #[test]
    fn only_the_finished_directory_stays() {
        let (directory, _dataset) = made(&spec(2, SizeDistribution::Fixed { bytes: 10 }), 1);
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
        let error = materialise(&spec, directory.path(), 1, &|_| ()).unwrap_err();
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
        let error = materialise(&spec, &directory.path().join("d"), 1, &|_| ()).unwrap_err();
        assert!(matches!(error, DatasetError::Space { .. }), "{error}");
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
    }

    #[test]
    fn more_values_than_can_be_counted_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let spec = spec(u64::MAX, SizeDistribution::Fixed { bytes: 1 });
        let error = materialise(&spec, &directory.path().join("d"), 1, &|_| ()).unwrap_err();
        assert!(matches!(error, DatasetError::Space { .. }), "{error}");
    }

    #[test]
    fn damage_is_reported_with_the_file() {
        let (directory, dataset) = made(&spec(100, SizeDistribution::Fixed { bytes: 100 }), 1);
        drop(dataset);
        let path = directory.path().join("d");
        let damage = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
            let file = path.join(name);
            let whole = std::fs::read(&file).unwrap();
            let mut changed = whole.clone();
            change(&mut changed);
            std::fs::write(&file, changed).unwrap();
            let error = Dataset::open(&path).and_then(|d| d.check_values());
            std::fs::write(&file, whole).unwrap();
            error.unwrap_err().to_string()
        };
        for (name, message) in [
            (INDEX, damage(INDEX, &|bytes| bytes[9] ^= 1)),
            (INDEX, damage(INDEX, &|bytes| bytes.truncate(800))),
            (VALUES, damage(VALUES, &|bytes| bytes[9_999] ^= 1)),
            (VALUES, damage(VALUES, &|bytes| bytes.truncate(9_999))),
            (
                DESCRIPTION,
                damage(DESCRIPTION, &|bytes| bytes.truncate(40)),
            ),
            (
                DESCRIPTION,
                damage(DESCRIPTION, &|bytes| {
                    let text = String::from_utf8(bytes.clone()).unwrap();
                    let text = text.replace("largest = 100", "largest = 1000000000000");
                    *bytes = text.into_bytes();
                }),
            ),
        ] {
            assert!(
                message.contains(name) && message.contains("damaged"),
                "{message}"
            );
        }
        Dataset::open(&path).unwrap().check_values().unwrap();
    }

    #[test]
    fn a_later_format_is_recognised_before_its_fields_are_read() {
        let error = parse_description("format = 2\nnew = true\n", Path::new("d")).unwrap_err();
        assert!(error.to_string().contains("has format 2"), "{error}");
    }
}
