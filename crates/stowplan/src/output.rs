//! The output directory: made anew for each run, never anyone else's.

use crate::error::CliError;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use stowplan_archive::parent_of;
use stowplan_dataset::DatasetError;
use stowplan_dataset::publish::rename_unless_taken;
use stowplan_dataset::temporary::{Temporary, Use};
use stowplan_harness::disk;
use stowplan_report::{MARK, claims, compare, csv, json};

/// The file of raw records.
pub(crate) const RESULT: &str = "result.jsonl";
/// The most characters of a study and of a host in the name of a directory: names have an end.
const NAMED: usize = 80;
/// What is written lies in a directory of ours beside its name until it is whole.
const MADE: Use = Use {
    prefix: ".stowplan-",
    suffix: ".tmp",
    mode: 0o700,
    holds: |name| name == HALF,
};
const HALF: &str = "half";

/// Where a run's results go.
#[derive(Debug)]
pub(crate) struct Output {
    directory: PathBuf,
}

impl Output {
    /// Makes the directory: the one asked for, which must not exist or be empty, or one below
    /// `stowplan-results` whose name says what, when and where.
    pub(crate) fn create(asked: Option<&Path>, study: &str) -> Result<Self, CliError> {
        match asked {
            Some(directory) => Self::at(directory),
            None => Self::by_name(study),
        }
    }

    fn at(directory: &Path) -> Result<Self, CliError> {
        match fs::create_dir_all(directory) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(CliError::Usage(format!(
                    "--output {} is not a directory; choose another place",
                    directory.display()
                )));
            }
            Err(error) => return Err(CliError::io("create directory", directory)(error)),
        }
        let mut entries =
            fs::read_dir(directory).map_err(CliError::io("read directory", directory))?;
        if entries.next().is_some() {
            return Err(CliError::Usage(format!(
                "--output {} exists and is not empty; choose another directory, or remove it first",
                directory.display()
            )));
        }
        Ok(Self {
            directory: directory.to_owned(),
        })
    }

    fn by_name(study: &str) -> Result<Self, CliError> {
        let parent = Path::new("stowplan-results");
        fs::create_dir_all(parent).map_err(CliError::io("create directory", parent))?;
        let time = jiff::Zoned::now().strftime("%Y-%m-%d-%H%M%S").to_string();
        let host = stowplan_harness::environment::host_name();
        let name = format!("{time}-{}-{}", plain(study), plain(&host));
        first_free(parent, &name).map(|directory| Self { directory })
    }

    /// The directory of a run that was broken off, by its name or that of its `result.jsonl`.
    pub(crate) fn named(named: &Path) -> Self {
        let directory = if named.file_name() == Some(RESULT.as_ref()) {
            named.parent().unwrap_or(Path::new(""))
        } else {
            named
        };
        let directory = match directory.as_os_str().is_empty() {
            true => Path::new("."),
            false => directory,
        };
        Self {
            directory: directory.to_owned(),
        }
    }

    /// Whether no record was written.
    pub(crate) fn has_no_result(&self) -> bool {
        match fs::symlink_metadata(self.result()) {
            Ok(found) => found.is_file() && found.len() == 0,
            Err(error) => error.kind() == ErrorKind::NotFound,
        }
    }

    /// Removes a result without a record.
    pub(crate) fn remove_empty_result(&self) {
        if self.has_no_result() {
            let _ = fs::remove_file(self.result());
        }
    }

    /// Refuses a directory, named so, that no run made.
    pub(crate) fn require_result(&self, named: &Path) -> Result<(), CliError> {
        // A link would lead to a place that no run has made.
        match fs::symlink_metadata(self.result()) {
            Ok(found) if found.is_file() => Ok(()),
            _ => Err(CliError::Usage(format!(
                "{}: there is no {RESULT} in it, so no run was begun there; give the \
                 directory that a run made",
                named.display()
            ))),
        }
    }

    /// Removes what a run leaves behind that is ended while it writes a report.
    pub(crate) fn remove_half_written(&self) {
        // Whoever makes one removes what others left.
        let _ = Temporary::create(&MADE, &self.directory);
    }

    /// The directory itself.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The file of raw records.
    pub(crate) fn result(&self) -> PathBuf {
        self.directory.join(RESULT)
    }
}

/// What became of a derived file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// It is there.
    Yes,
    /// Something that stowplan did not write has its name; that was left alone.
    NotOurs,
}

/// Writes a report. A file of that name is replaced only if it is a report as well.
pub(crate) fn write_report(path: &Path, text: &str) -> Result<Written, CliError> {
    write_whole(path, text, is_report)
}

/// Whether a report can be written there, as far as that can be told before: nothing has the name,
/// or a report.
pub(crate) fn report_may_stand(path: &Path) -> Result<Written, CliError> {
    let directory = parent_of(path);
    if !directory.is_dir() {
        return Err(CliError::io("write", path)(ErrorKind::NotFound.into()));
    }
    standing(path, is_report).map(|(written, _)| written)
}

/// Writes a file whole: to a temporary of its own beside it, then renamed, so that other names of
/// the same file keep what they have. A file that is there is replaced only if `ours` knows it by
/// its first bytes; links and whatever else is no plain file never are.
pub(crate) fn write_whole(
    path: &Path,
    text: &str,
    ours: fn(&[u8]) -> bool,
) -> Result<Written, CliError> {
    let (Written::Yes, exists) = standing(path, ours)? else {
        return Ok(Written::NotOurs);
    };
    let temporary = Temporary::create(&MADE, parent_of(path)).map_err(|error| match error {
        DatasetError::Io { source, .. } => refused(path, &source),
        _ => refused(path, &ErrorKind::NotFound.into()),
    })?;
    let half = temporary.path().join(HALF);
    let written = fs::write(&half, text).and_then(|()| match exists {
        true => fs::rename(&half, path),
        false => Ok(rename_unless_taken(&half, path)?),
    });
    match written {
        Ok(()) => Ok(Written::Yes),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Written::NotOurs),
        Err(error) => Err(refused(path, &error)),
    }
}

/// Whether a file may be written under a name, and whether one stands there.
fn standing(path: &Path, ours: fn(&[u8]) -> bool) -> Result<(Written, bool), CliError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() && begins(path, ours)? => Ok((Written::Yes, true)),
        Ok(_) => Ok((Written::NotOurs, true)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok((Written::Yes, false)),
        Err(error) => Err(refused(path, &error)),
    }
}

/// The kind only: the text names the temporary, which means nothing to anyone.
fn refused(path: &Path, error: &io::Error) -> CliError {
    CliError::io("write", path)(error.kind().into())
}

/// Whether a file begins as `ours` says. It is a plain one, or was: nothing is followed, and nothing
/// waited for.
fn begins(path: &Path, ours: fn(&[u8]) -> bool) -> Result<bool, CliError> {
    let mut start = Vec::new();
    disk::open_plain(path)
        .and_then(|file| file.take(256).read_to_end(&mut start))
        .map_err(CliError::io("read", path))?;
    Ok(ours(&start))
}

/// Whether this has the mark of a report near its beginning, or begins as our tables and documents
/// do.
fn is_report(start: &[u8]) -> bool {
    let start = String::from_utf8_lossy(start);
    let starts = [
        csv::START,
        compare::CSV_START,
        claims::CSV_START,
        json::START,
    ];
    start.contains(MARK) || starts.iter().any(|ours| start.starts_with(ours))
}

/// Makes a directory of this name, or with a number behind it where another run began in the same
/// second.
fn first_free(parent: &Path, name: &str) -> Result<PathBuf, CliError> {
    const MOST: u32 = 100;
    let mut number = 1;
    loop {
        let directory = parent.join(match number {
            1 => name.to_owned(),
            _ => format!("{name}-{number}"),
        });
        match fs::create_dir(&directory) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < MOST => number += 1,
            made => {
                made.map_err(CliError::io("create directory", &directory))?;
                return Ok(directory);
            }
        }
    }
}

/// A name as part of the name of a directory or a file.
pub(crate) fn plain(name: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') => c,
        _ => '_',
    };
    name.chars().take(NAMED).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn runs_that_begin_in_the_same_second_get_a_directory_each() {
        let parent = tempfile::tempdir().unwrap();
        let named = |_| first_free(parent.path(), "now").unwrap();
        let made: Vec<PathBuf> = (0..3).map(named).collect();
        let expected = ["now", "now-2", "now-3"].map(|name| parent.path().join(name));
        assert_eq!(made, expected);
    }

    #[test]
    fn a_name_is_no_path() {
        assert_eq!(plain("../../etc/x\n\0\u{1b}é"), ".._.._etc_x____");
        assert_eq!(plain(&"a".repeat(300)).len(), NAMED);
    }

    #[test]
    fn what_a_killed_process_left_of_a_report_goes_with_the_next_one() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let report = format!("{MARK} half");
        for name in [".stowplan-left01.tmp", ".stowplan-held01.tmp"] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join(HALF), &report).unwrap();
        }
        fs::create_dir(at(".stowplan-letter.tmp")).unwrap();
        fs::write(at(".stowplan-letter.tmp").join("letter"), "dear").unwrap();
        symlink(at(".stowplan-held01.tmp"), at(".stowplan-link01.tmp")).unwrap();
        let held = fs::File::open(at(".stowplan-held01.tmp")).unwrap();
        held.lock().unwrap();
        write_report(&at("report"), &report).unwrap();
        assert!(!at(".stowplan-left01.tmp").exists());
        let others = [
            ".stowplan-held01.tmp/half",
            ".stowplan-letter.tmp/letter",
            ".stowplan-link01.tmp",
            "report",
        ];
        assert!(others.iter().all(|name| at(name).exists()));
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let report = format!("{MARK} old");
        fs::write(at("report"), &report).unwrap();
        fs::hard_link(at("report"), at("other name")).unwrap();
        symlink(at("report"), at("link")).unwrap();
        symlink(at("nothing"), at("dangling")).unwrap();
        for link in ["link", "dangling"] {
            let written = write_report(&at(link), "new").unwrap();
            assert_eq!(written, Written::NotOurs, "{link}");
        }
        assert!(!at("nothing").exists());
        assert_eq!(write_report(&at("report"), "new").unwrap(), Written::Yes);
        let other = fs::read_to_string(at("other name")).unwrap();
        assert_eq!(other, report, "another name of the file keeps what it has");
    }
}
