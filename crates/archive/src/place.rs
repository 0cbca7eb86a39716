//! Places and what can go wrong in them.

use std::io;
use std::path::{Path, PathBuf};
use stowplan_dataset::{DatasetError, in_words};
use thiserror::Error;

/// One clear line: what, which one, and the next step.
#[derive(Debug, Error)]
pub enum PlaceError {
    /// The operating system refused.
    #[error("cannot {action} {}: {}", path.display(), in_words(source))]
    Io {
        /// What was attempted: `open`, `list`, …
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// SQLite refused.
    #[error("cannot {action} {}: {detail}", path.display())]
    Database {
        /// What was attempted.
        action: &'static str,
        /// On which database.
        path: PathBuf,
        /// What SQLite said.
        detail: String,
    },
    /// It cannot be meant.
    #[error("{0}")]
    Invalid(String),
    /// The dataset could not be written.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

impl PlaceError {
    /// For `map_err`: names the action and the path.
    pub(crate) fn io<E: Into<io::Error>>(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(E) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source: source.into(),
        }
    }

    /// For `map_err`: names the action and the database.
    pub(crate) fn database(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(rusqlite::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Database {
            action,
            path,
            detail: error.to_string(),
        }
    }
}
