//! Why a task failed.

use std::io;
use std::path::Path;
use stowplan_dataset::DatasetError;
use stowplan_stores::StoreError;
use stowplan_stores::registry::ResolveError;
use thiserror::Error;

/// What may fail in a driver.
pub type Result<T, E = DriverError> = std::result::Result<T, E>;

/// One clear line: what, which one, and where it helps the next step. It goes to the parent.
#[derive(Debug, Error)]
pub enum DriverError {
    /// A store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A store spec does not fit a store.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The operating system refused, or what was asked for is not possible; a dataset, or another file
    /// that the parent wrote.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

impl DriverError {
    /// For `map_err`: names the action and the path.
    pub(crate) fn io<E: Into<io::Error>>(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(E) -> Self {
        let refused = DatasetError::io(action, path);
        move |source| Self::Dataset(refused(source))
    }

    /// Adds the store that was open, where a store failed.
    #[must_use]
    pub(crate) fn of(self, store: &'static str) -> Self {
        match self {
            Self::Store(error) => Self::Store(error.of(store)),
            other => other,
        }
    }

    /// An impossible request, in one line.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::Dataset(DatasetError::invalid(message))
    }
}
