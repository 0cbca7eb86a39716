//! `result.jsonl`: one record a line, written whole and flushed at once.

use crate::HarnessError;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use stowplan_model::{Record, encode};

pub(super) struct ResultLog {
    path: PathBuf,
    file: File,
}

impl ResultLog {
    /// A new file; one that exists is never written over.
    pub(super) fn create(path: &Path) -> Result<Self, HarnessError> {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)
            .map_err(HarnessError::io("create", path))?;
        Ok(Self {
            path: path.to_owned(),
            file,
        })
    }

    /// Appends a record. One `write` for the whole line, so that an interruption never leaves
    /// half a line before a whole one.
    pub(super) fn append(&mut self, record: &Record) -> Result<(), HarnessError> {
        let mut line = encode(record);
        line.push('\n');
        self.file
            .write_all(line.as_bytes())
            .map_err(HarnessError::io("append to", &self.path))
    }

    pub(super) fn append_all(
        &mut self,
        records: impl IntoIterator<Item = Record>,
    ) -> Result<(), HarnessError> {
        records
            .into_iter()
            .try_for_each(|record| self.append(&record))
    }
}
