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

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_model::{CellFailure, CellId, RunEnd, RunOutcome, read_records};

    fn failure(message: &str) -> Record {
        Record::Failure(CellFailure {
            cell: CellId("read/sql".to_owned()),
            message: message.to_owned(),
            stderr: "one line\nand another\n".to_owned(),
        })
    }

    fn end() -> Record {
        Record::End(RunEnd {
            outcome: RunOutcome::Complete,
            seconds: 1.5,
        })
    }

    #[test]
    fn a_result_that_exists_is_never_written_over() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("result.jsonl");
        std::fs::write(&path, "precious").unwrap();
        let Err(error) = ResultLog::create(&path) else {
            panic!("it was opened");
        };
        let message = error.to_string();
        assert!(message.starts_with("cannot create "), "{message}");
        assert!(message.contains("result.jsonl"), "{message}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    }

    #[test]
    fn each_record_is_one_line_and_there_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("result.jsonl");
        let mut log = ResultLog::create(&path).unwrap();
        let records = [failure("a\nb\r\nc"), failure("d"), end()];
        for (index, record) in records.iter().enumerate() {
            log.append(record).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text.matches('\n').count(), index + 1, "{text}");
            assert!(text.ends_with('\n'));
            let (read, problems) = read_records(&text);
            assert_eq!((&read[..], problems), (&records[..=index], Vec::new()));
        }
    }

    #[test]
    fn several_records_are_appended_in_their_order() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("result.jsonl");
        let mut log = ResultLog::create(&path).unwrap();
        log.append(&failure("a")).unwrap();
        log.append_all([failure("b"), end()]).unwrap();
        let (read, _) = read_records(&std::fs::read_to_string(&path).unwrap());
        assert_eq!(read, [failure("a"), failure("b"), end()]);
    }
}
