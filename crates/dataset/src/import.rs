//! Datasets of values that somebody brought along: their bytes as they are.

use crate::files::{DESCRIPTION, INDEX, NAMES, VALUES, create, parent_of_new, write_new};
use crate::{Dataset, DatasetError, names, room};
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use stowplan_model::DatasetSpec;
use tempfile::TempDir;

/// A dataset that is written value by value, key 1 first: complete under its name at the end, or not
/// there at all.
#[derive(Debug)]
pub struct Import {
    directory: PathBuf,
    parent: PathBuf,
    /// Removes itself unless it gets its name.
    partial: TempDir,
    values: BufWriter<File>,
    /// Where the values end, after a 0.
    ends: Vec<u64>,
    names: Vec<Box<[u8]>>,
    buffer: Vec<u8>,
}

impl Import {
    /// Begins a dataset at `directory`, which must not exist.
    ///
    /// # Errors
    /// It exists, or the file system refuses.
    pub fn begin(directory: &Path) -> Result<Self, DatasetError> {
        let parent = parent_of_new(directory)?;
        let partial = tempfile::Builder::new()
            .prefix(".dataset-")
            .tempdir_in(parent)
            .map_err(DatasetError::io("create a directory in", parent))?;
        let values = create(&partial.path().join(VALUES))?;
        Ok(Self {
            directory: directory.to_owned(),
            parent: parent.to_owned(),
            partial,
            values: BufWriter::with_capacity(1 << 20, values),
            ends: vec![0],
            names: Vec::new(),
            buffer: vec![0; 1 << 18],
        })
    }

    /// Adds the value of the next key, to the end of `value`, under the name that it has where it comes
    /// from. Either all values have one or none.
    ///
    /// # Errors
    /// A value of 4 GiB or more; a failed read comes out under `place`, a failed write under its own
    /// file.
    pub fn add(
        &mut self,
        name: Option<&[u8]>,
        value: &mut dyn Read,
        place: &Path,
    ) -> Result<u64, DatasetError> {
        let mut size = 0u64;
        loop {
            let read = match value.read(&mut self.buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(DatasetError::io("read", place)(error)),
            };
            let bytes = std::mem::take(&mut self.buffer);
            let written = self.append(&bytes[..read]);
            self.buffer = bytes;
            written?;
            size += read as u64;
            if u32::try_from(size).is_err() {
                return Err(DatasetError::invalid(format!(
                    "{} has 4 GiB or more, which cannot be measured; leave it out",
                    place.display()
                )));
            }
        }
        self.end_value(size);
        self.names.extend(name.map(Box::from));
        Ok(size)
    }

    /// Adds bytes to the value of the next key.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), DatasetError> {
        let written = self.values.write_all(bytes);
        written.map_err(DatasetError::io("write", &self.partial.path().join(VALUES)))
    }

    /// Ends a value of this size; returns the bytes of all so far.
    pub(crate) fn end_value(&mut self, size: u64) -> u64 {
        const WRITEBACK_BYTES: u64 = 8 << 20;
        let begin = self.ends.last().copied().unwrap_or(0);
        let end = begin + size;
        self.ends.push(end);
        if begin / WRITEBACK_BYTES != end / WRITEBACK_BYTES {
            room::begin_writeback(self.values.get_ref());
        }
        end
    }

    /// How many values were added.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.ends.len() as u64 - 1
    }

    /// Gives the dataset its name. `spec` describes it; what it says of sizes and content holds for
    /// values that are made up later: other keys, other versions.
    ///
    /// # Errors
    /// It has another number of values than `spec` says, or the file system refuses.
    pub fn finish(mut self, spec: &DatasetSpec) -> Result<Dataset, DatasetError> {
        if spec.count != self.count() {
            return Err(DatasetError::invalid(format!(
                "{} values were found where there were to be {}",
                self.count(),
                spec.count
            )));
        }
        let flushed = self.values.flush();
        let synced = flushed.and_then(|()| self.values.get_ref().sync_data());
        synced.map_err(DatasetError::io("write", &self.partial.path().join(VALUES)))?;
        let index: Vec<u8> = self.ends.iter().flat_map(|end| end.to_le_bytes()).collect();
        let path = |name| self.partial.path().join(name);
        write_new(&path(INDEX), &index)?;
        self.write_names()?;
        let spec = toml::to_string(spec)
            .map_err(|error| DatasetError::invalid(format!("{DESCRIPTION}: {error}")))?;
        write_new(&path(DESCRIPTION), spec.as_bytes())?;
        std::fs::rename(self.partial.path(), &self.directory)
            .map_err(DatasetError::io("rename a directory to", &self.directory))?;
        // It has another name now: nothing is left to remove.
        let _ = self.partial.keep();
        room::sync_directory(&self.parent)?;
        Dataset::open(&self.directory)
    }

    fn write_names(&self) -> Result<(), DatasetError> {
        match self.names.len() as u64 {
            0 => Ok(()),
            all if all == self.count() => {
                let names = self.names.iter().map(AsRef::as_ref);
                names::write(&self.partial.path().join(NAMES), names)
            }
            _ => Err(DatasetError::invalid("some of the values have no name")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_model::{Content, Origin, SizeBin, SizeDistribution};

    fn spec(count: u64) -> DatasetSpec {
        let bins = vec![SizeBin {
            from: 0,
            to: 10,
            values: 3,
        }];
        DatasetSpec {
            count,
            size: SizeDistribution::Histogram { bins },
            content: Content::Random,
            seed: 1,
            from: Some(Origin::default()),
        }
    }

    #[test]
    fn values_are_kept_byte_for_byte_with_their_names_and_versions_are_made_up() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data");
        let mut import = Import::begin(&path).unwrap();
        for (name, value) in [("a/x", "hello"), ("b", ""), ("c", "0123456789")] {
            let place = Path::new(name);
            let added = import.add(Some(name.as_bytes()), &mut value.as_bytes(), place);
            assert_eq!(added.unwrap(), value.len() as u64);
        }
        let dataset = import.finish(&spec(3)).unwrap();
        assert_eq!(dataset.value(1), b"hello");
        assert_eq!((dataset.size(2), dataset.largest()), (0, 10));
        assert_eq!(dataset.total_bytes(), 15);
        assert!(dataset.names_file().is_some());
        let mut version = vec![0; 10];
        dataset.generator().fill(3, 1, &mut version);
        assert_ne!(&version, b"0123456789");
        assert!(Import::begin(&path).is_err(), "it is there already");
    }

    #[test]
    fn what_is_not_finished_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data");
        let mut import = Import::begin(&path).unwrap();
        import.add(None, &mut &b"x"[..], Path::new("x")).unwrap();
        assert!(import.finish(&spec(3)).is_err());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
