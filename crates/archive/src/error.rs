//! Why something about an archive failed, and what of it was left out.

use rusqlite::ErrorCode;
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};
use stowplan_dataset::DatasetError;
use thiserror::Error;

/// What ends a verb: one clear line with what, which one, and where it helps the next step.
#[derive(Debug, Error)]
pub enum ArchiveError {
    /// SQLite refused.
    #[error("cannot {action} {}: {}", path.display(), sqlite_words(source))]
    Sqlite {
        /// What was attempted.
        action: &'static str,
        /// On which archive.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// What was asked for is not possible.
    #[error("{0}")]
    Invalid(String),
    /// The operating system refused, or something else about files and directories failed.
    #[error(transparent)]
    Files(#[from] DatasetError),
    /// It was asked to end. Nothing is left behind.
    #[error("interrupted")]
    Interrupted,
}

/// Shorter than SQLite's own where that says nothing to whoever knows no SQLite.
fn sqlite_words(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another program is using it; try again when that has ended".to_owned()
        }
        Some(ErrorCode::NotADatabase) => "it is not an SQLite database".to_owned(),
        Some(ErrorCode::DiskFull) => "the disk is full".to_owned(),
        Some(ErrorCode::DatabaseCorrupt) => {
            format!("it is damaged ({error}); 'sqlite3 FILE .recover' gets out what can be had")
        }
        _ => error.to_string(),
    }
}

impl ArchiveError {
    /// Whether what was typed or given cannot be used; otherwise it broke off in its work.
    pub fn is_about_input(&self) -> bool {
        match self {
            Self::Invalid(_) | Self::Files(DatasetError::Space { .. }) => true,
            Self::Files(DatasetError::Io { action, .. }) | Self::Sqlite { action, .. } => {
                matches!(*action, "open" | "make")
            }
            Self::Files(error) => matches!(error, DatasetError::Invalid { .. }),
            Self::Interrupted => false,
        }
    }

    /// Whether who was to read what is written went away.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Files(DatasetError::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe)
    }

    /// An impossible request, in one line.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }
}

/// What the system or SQLite said, to which the action and the path are missing.
pub(crate) trait Refused: Sized {
    fn refused(self, action: &'static str, path: &Path) -> ArchiveError;
}

impl Refused for io::Error {
    fn refused(self, action: &'static str, path: &Path) -> ArchiveError {
        DatasetError::io(action, path)(self).into()
    }
}

impl Refused for Errno {
    fn refused(self, action: &'static str, path: &Path) -> ArchiveError {
        io::Error::from(self).refused(action, path)
    }
}

impl Refused for rusqlite::Error {
    fn refused(self, action: &'static str, path: &Path) -> ArchiveError {
        ArchiveError::Sqlite {
            action,
            path: path.to_owned(),
            source: self,
        }
    }
}

/// Names the action and the path where something was refused.
pub(crate) trait Doing<T> {
    fn doing(self, action: &'static str, path: &Path) -> Result<T, ArchiveError>;
}

impl<T, E: Refused> Doing<T> for Result<T, E> {
    fn doing(self, action: &'static str, path: &Path) -> Result<T, ArchiveError> {
        self.map_err(|error| error.refused(action, path))
    }
}

/// One thing that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Its name, with replacement characters where it is not UTF-8. Untrusted.
    pub name: String,
    /// Why, in a few words.
    pub why: String,
}

impl Refusal {
    pub(crate) fn new(name: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            why: why.into(),
        }
    }
}

/// The most refusals that are kept by name.
const NAMED: usize = 1_000;

/// What was left out: the first thousand by name, and how many in all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusals {
    /// The first ones.
    pub named: Vec<Refusal>,
    /// How many there are.
    pub count: u64,
}

impl Refusals {
    /// Adds one.
    pub fn add(&mut self, refusal: Refusal) {
        self.count += 1;
        if self.named.len() < NAMED {
            self.named.push(refusal);
        }
    }

    pub(crate) fn extend(&mut self, others: Self) {
        self.count += others.count;
        let room = NAMED.saturating_sub(self.named.len());
        self.named.extend(others.named.into_iter().take(room));
    }

    /// Whether nothing was left out.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// What failed about one entry: only it is left out, or all ends.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Why this one is left out.
    Entry(String),
    /// What ends the verb.
    Fatal(ArchiveError),
}

impl From<ArchiveError> for Fault {
    fn from(error: ArchiveError) -> Self {
        Self::Fatal(error)
    }
}

impl Fault {
    pub(crate) fn entry(why: impl Into<String>) -> Self {
        Self::Entry(why.into())
    }

    /// For `map_err` of a write: a full or failing disk ends all, anything else is about the entry.
    pub(crate) fn writing<E: Into<io::Error>>(path: &Path) -> impl FnOnce(E) -> Self {
        move |error| {
            let error = error.into();
            match ends_all(&error) {
                true => Self::Fatal(error.refused("write below", path)),
                false => Self::Entry(error.to_string()),
            }
        }
    }

    /// For `map_err` of a read from an archive: damage is about the entry.
    pub(crate) fn sqlite(path: &Path) -> impl FnOnce(rusqlite::Error) -> Self {
        move |error| match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt) => Self::Entry(format!("damaged: {error}")),
            Some(ErrorCode::TooBig) => Self::Entry("it is larger than SQLite reads".to_owned()),
            _ if matches!(error, rusqlite::Error::QueryReturnedNoRows) => {
                Self::Entry("it went away meanwhile".to_owned())
            }
            _ => Self::Fatal(error.refused("read", path)),
        }
    }

    /// Keeps what is about one entry, and passes on what ends all.
    pub(crate) fn told(self, name: &str, refused: &mut Refusals) -> Result<(), ArchiveError> {
        match self {
            Self::Entry(why) => {
                refused.add(Refusal::new(name, why));
                Ok(())
            }
            Self::Fatal(error) => Err(error),
        }
    }
}

fn ends_all(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(
            Errno::NOSPC
                | Errno::DQUOT
                | Errno::ROFS
                | Errno::IO
                | Errno::MFILE
                | Errno::NFILE
                | Errno::FBIG
        )
    )
}
