//! Why a task failed.

use std::io;
use std::path::{Path, PathBuf};
use stowplan_dataset::DatasetError;
use stowplan_stores::StoreError;
use stowplan_stores::registry::ResolveError;
use thiserror::Error;

/// One clear line: what, which one, and where it helps the next step. It goes to the parent.
#[derive(Debug, Error)]
pub enum DriverError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted: `open`, `read`, …
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What was asked for is not possible.
    #[error("{0}")]
    Invalid(String),
    /// A store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A store spec does not fit a store.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// A dataset, or another file that the parent wrote.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

impl DriverError {
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

    /// An impossible request, in one line.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }
}
