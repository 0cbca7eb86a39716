//! `result.jsonl`: one record a line, written whole and flushed at once, by one run at a time.

use crate::{HarnessError, Result, disk};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use stowplan_model::{Record, decode, encode};

#[derive(Debug)]
pub(super) struct ResultLog {
    path: PathBuf,
    file: File,
}

impl ResultLog {
    /// A new file; one that exists is never written over.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)
            .map_err(HarnessError::io("create", path))?;
        lock(&file, path)?;
        Ok(Self {
            path: path.to_owned(),
            file,
        })
    }

    /// The file of a run that was broken off, and all that it holds. Nothing is changed in it.
    pub(super) fn reopen(path: &Path) -> Result<(Self, Vec<u8>)> {
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            // No link, and no pipe that would be waited for: neither is what a run made.
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path)
            .map_err(HarnessError::io("go on with", path))?;
        refuse_what_is_shared(&file, path)?;
        lock(&file, path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(HarnessError::io("read", path))?;
        let path = path.to_owned();
        Ok((Self { path, file }, bytes))
    }

    /// Ends the file, which holds these bytes, with a whole line: a last one that was cut off is
    /// removed, and one that lacks only its end gets it. Returns how many bytes were removed.
    pub(super) fn repair(&mut self, bytes: &[u8]) -> Result<u64> {
        let (whole, rest) = bytes.split_at(end_of_lines(bytes));
        if rest.is_empty() {
            return Ok(0);
        }
        if std::str::from_utf8(rest).is_ok_and(|line| decode::<Record>(line).is_ok()) {
            let appended = self.file.write_all(b"\n");
            return appended
                .map(|()| 0)
                .map_err(HarnessError::io("append to", &self.path));
        }
        self.file
            .set_len(whole.len() as u64)
            .map_err(HarnessError::io(
                "remove the half-written last line of",
                &self.path,
            ))?;
        Ok(rest.len() as u64)
    }

    /// Appends a record. One `write` for the whole line, so that an interruption never leaves
    /// half a line before a whole one.
    pub(super) fn append(&mut self, record: &Record) -> Result<()> {
        self.append_together(&[record])
    }

    fn append_together(&mut self, records: &[&Record]) -> Result<()> {
        let lines: String = records.iter().map(|record| encode(record) + "\n").collect();
        self.file
            .write_all(lines.as_bytes())
            .map_err(HarnessError::io("append to", &self.path))
    }

    /// The first records of a new file, without which nothing can be made of it: it is removed
    /// where they find no room. From here on it has its name when the power goes.
    pub(super) fn begin(&mut self, records: &[&Record]) -> Result<()> {
        let begun = self.append_together(records).and_then(|()| self.settle());
        begun.inspect_err(|_| {
            // The error is the better message.
            let _ = std::fs::remove_file(&self.path);
        })?;
        // Their names, where the file system syncs names.
        for directory in directories_above(&self.path) {
            let _ = directory.sync_all();
        }
        Ok(())
    }

    /// Makes what was appended survive that the power goes. Between rounds, where nothing is measured.
    pub(super) fn settle(&self) -> Result<()> {
        self.file
            .sync_data()
            .map_err(HarnessError::io("sync", &self.path))
    }
}

/// The directories on the way to a file, up to where its file system is mounted: which of them were made just now, nobody
/// knows here, and syncing one that is as it was takes no time.
fn directories_above(path: &Path) -> Vec<File> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let device = |file: &File| file.metadata().map(|found| found.dev()).ok();
    let above = path.ancestors().skip(1);
    let mut above = above.map_while(|path| File::open(path).ok()).peekable();
    let own = above.peek().and_then(device);
    above.take_while(|file| device(file) == own).collect()
}

/// How many of these bytes are whole lines.
fn end_of_lines(bytes: &[u8]) -> usize {
    let last = bytes.iter().rposition(|byte| *byte == b'\n');
    last.map_or(0, |newline| newline + 1)
}

/// A copy that is only another name of the file would be changed as well.
fn refuse_what_is_shared(file: &File, path: &Path) -> Result<()> {
    let metadata = file.metadata().map_err(HarnessError::io("stat", path))?;
    if metadata.is_file() && metadata.nlink() <= 1 {
        return Ok(());
    }
    Err(HarnessError::invalid(format!(
        "{} is no file of its own: it has {} names, and going on would change what they all mean; \
         copy it, and go on with the copy",
        path.display(),
        metadata.nlink()
    )))
}

/// Two runs that write to one result would mix their rounds. Where the file system knows no locks,
/// nothing can be done about that.
fn lock(file: &File, path: &Path) -> Result<()> {
    match disk::lock(file) {
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(HarnessError::invalid(format!(
            "{} is being written by a run that still goes on; wait for its end, or end it",
            path.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_appended_through_a_link_of_either_kind() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("result"), "{}\n").unwrap();
        std::os::unix::fs::symlink(at("result"), at("link")).unwrap();
        ResultLog::reopen(&at("link")).unwrap_err();
        ResultLog::reopen(&at("result")).unwrap();
        std::fs::hard_link(at("result"), at("copy")).unwrap();
        let error = ResultLog::reopen(&at("copy")).unwrap_err().to_string();
        assert!(error.contains("has 2 names"), "{error}");
    }
    use stowplan_model::{CellFailure, CellId, RunEnd, RunOutcome, read_records};

    #[test]
    fn all_directories_above_a_new_result_are_settled_with_it() {
        let directory = tempfile::tempdir().unwrap();
        let below = directory.path().join("a/b/c");
        std::fs::create_dir_all(&below).unwrap();
        let known: Vec<u64> = directories_above(&below.join("result"))
            .iter()
            .map(|file| file.metadata().unwrap().ino())
            .collect();
        let made = ["a/b/c", "a/b", "a", ""].map(|name| {
            let path = directory.path().join(name);
            path.metadata().unwrap().ino()
        });
        assert_eq!(known[..4], made);
        assert!(!directories_above(Path::new("result")).is_empty());
    }

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
            phases: None,
            needs: None,
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
        log.append_together(&[&failure("b"), &end()]).unwrap();
        let (read, _) = read_records(&std::fs::read_to_string(&path).unwrap());
        assert_eq!(read, [failure("a"), failure("b"), end()]);
    }

    #[test]
    fn two_runs_cannot_write_to_one_result() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("result.jsonl");
        let first = ResultLog::create(&path).unwrap();
        let message = ResultLog::reopen(&path).unwrap_err().to_string();
        assert!(message.contains("still goes on"), "{message}");
        drop(first);
        ResultLog::reopen(&path).unwrap();
    }

    #[test]
    fn wherever_a_result_was_cut_only_an_incomplete_last_line_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("result.jsonl");
        let lines = [failure("a"), failure("ä\n"), end()].map(|r| encode(&r) + "\n");
        let whole = lines.concat();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole.as_bytes()[..cut]).unwrap();
            let (mut log, bytes) = ResultLog::reopen(&path).unwrap();
            let removed = log.repair(&bytes).unwrap();
            log.append(&end()).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            let (records, problems) = read_records(&text);
            assert!(problems.is_empty(), "{cut}: {problems:?}");
            // A line without its newline is whole.
            let kept = |lines: &[String]| lines.concat().len() - 1 <= cut;
            let expected = (1..=lines.len()).filter(|n| kept(&lines[..*n])).count();
            assert_eq!(records.len(), expected + 1, "{cut}");
            let before = lines[..expected].concat();
            assert!(text.starts_with(&before), "{cut}");
            assert_eq!(removed as usize, cut.saturating_sub(before.len()), "{cut}");
        }
    }
}
