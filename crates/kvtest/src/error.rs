//! Why a verb of kvtest failed.

use std::path::Path;
use stowplan_dataset::DatasetError;
use stowplan_harness::HarnessError;
use stowplan_stores::StoreError;
use stowplan_stores::registry::ResolveError;
use thiserror::Error;

/// One clear line: what, which one, and where it helps the next step.
#[derive(Debug, Error)]
pub enum KvtestError {
    /// Something around the data failed, or it cannot be done.
    #[error(transparent)]
    Harness(#[from] HarnessError),
    /// A store failed.
    #[error(transparent)]
    Store(StoreError),
    /// A store spec does not fit a store.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
}

impl KvtestError {
    /// It was asked to end.
    pub(crate) const INTERRUPTED: Self = Self::Harness(HarnessError::Interrupted);

    /// For `map_err`: names the action and the path.
    pub(crate) fn io<E: Into<std::io::Error>>(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(E) -> Self {
        let refused = HarnessError::io(action, path);
        move |source| Self::Harness(refused(source))
    }

    /// What was asked for is not possible.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        HarnessError::invalid(message).into()
    }
}

impl From<StoreError> for KvtestError {
    /// What names no store is of a database.
    fn from(error: StoreError) -> Self {
        Self::Store(error.of("sqlite"))
    }
}

impl From<DatasetError> for KvtestError {
    fn from(error: DatasetError) -> Self {
        HarnessError::from(error).into()
    }
}

impl From<KvtestError> for HarnessError {
    fn from(error: KvtestError) -> Self {
        match error {
            KvtestError::Harness(error) => error,
            other => Self::invalid(other.to_string()),
        }
    }
}
