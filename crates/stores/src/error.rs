//! Why an operation of a store failed.

use crate::Key;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a store without a table can do nothing.
const NO_TABLE: &str = "its table was dropped; create it first";

/// One clear line: what, which one, and where it helps the next step.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted: `open`, `rename`, …
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An engine refused.
    #[error("{store}: cannot {action}: {detail}")]
    Engine {
        /// The store.
        store: &'static str,
        /// What was attempted.
        action: String,
        /// What the engine said.
        detail: String,
    },
    /// The store cannot do that, with the settings it has.
    #[error("{store} cannot {what}: {why}")]
    Unsupported {
        /// The store.
        store: &'static str,
        /// What was asked.
        what: String,
        /// Why not, and what it can do instead.
        why: String,
    },
    /// A value is not what it was.
    #[error("{store}: value {key} is damaged: {detail}")]
    Damaged {
        /// The store.
        store: &'static str,
        /// The key.
        key: u64,
        /// What is wrong.
        detail: String,
    },
    /// A value was to be added under a key that is taken.
    #[error("{store}: key {key} exists already")]
    KeyExists {
        /// The store.
        store: &'static str,
        /// The key.
        key: u64,
    },
    /// Another connection was in the way: undone and tried again, the transaction may succeed.
    #[error("{store}: cannot {action} now: {detail}")]
    Conflict {
        /// The store.
        store: &'static str,
        /// What was attempted.
        action: String,
        /// What the engine said.
        detail: String,
    },
    /// The system has no memory left.
    #[error("cannot get {bytes} bytes of memory: {source}")]
    Memory {
        /// How much was asked for.
        bytes: usize,
        /// What the system said.
        source: io::Error,
    },
}

impl StoreError {
    /// For `map_err`: names the action and the path.
    pub fn io<E: Into<io::Error>>(action: &'static str, path: &Path) -> impl FnOnce(E) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source: source.into(),
        }
    }

    /// Whether the transaction may succeed when it is undone and tried again.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict { .. })
    }

    /// Whether it says that there is no table: by [`Self::no_table`], in the words of SQLite, or because
    /// the directory that is the table is gone.
    #[must_use]
    pub fn is_no_table(&self) -> bool {
        match self {
            Self::Unsupported { why, .. } => why == NO_TABLE,
            Self::Engine { detail, .. } => detail.contains("no such table"),
            Self::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
            _ => false,
        }
    }

    /// The same from `store`, which is built on the store that it came from.
    #[must_use]
    pub fn of(mut self, store: &'static str) -> Self {
        match &mut self {
            Self::Engine { store: name, .. }
            | Self::Conflict { store: name, .. }
            | Self::Unsupported { store: name, .. }
            | Self::Damaged { store: name, .. }
            | Self::KeyExists { store: name, .. } => *name = store,
            Self::Io { .. } | Self::Memory { .. } => {}
        }
        self
    }

    /// What an engine said, to which the adapter adds its store and what was attempted ([`Self::during`]).
    #[cold]
    pub fn said(detail: impl ToString) -> Self {
        Self::engine("", "", detail.to_string())
    }

    /// The same with the store, and with what was attempted, where it lacks them.
    #[must_use]
    pub fn during(mut self, store: &'static str, attempted: impl FnOnce() -> String) -> Self {
        match &mut self {
            Self::Engine {
                store: name,
                action,
                ..
            }
            | Self::Conflict {
                store: name,
                action,
                ..
            } if name.is_empty() => (*name, *action) = (store, attempted()),
            Self::KeyExists { store: name, .. } if name.is_empty() => *name = store,
            _ => {}
        }
        self
    }

    /// An engine refused.
    pub fn engine(
        store: &'static str,
        action: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self::Engine {
            store,
            action: action.into(),
            detail: detail.into(),
        }
    }

    /// Another connection was in the way.
    pub fn conflict(
        store: &'static str,
        action: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self::Conflict {
            store,
            action: action.into(),
            detail: detail.into(),
        }
    }

    /// It cannot do that, with the settings it has.
    pub fn unsupported(
        store: &'static str,
        what: impl Into<String>,
        why: impl Into<String>,
    ) -> Self {
        Self::Unsupported {
            store,
            what: what.into(),
            why: why.into(),
        }
    }

    /// A value is not what it was.
    pub fn damaged(store: &'static str, key: Key, detail: impl Into<String>) -> Self {
        Self::Damaged {
            store,
            key: key.0,
            detail: detail.into(),
        }
    }

    /// The key is taken.
    #[must_use]
    pub fn key_exists(store: &'static str, key: Key) -> Self {
        Self::KeyExists { store, key: key.0 }
    }

    /// The table was dropped, and not made again.
    #[must_use]
    pub fn no_table(store: &'static str, what: impl Into<String>) -> Self {
        Self::unsupported(store, what, NO_TABLE)
    }

    /// The system has no memory left.
    #[must_use]
    pub fn memory(bytes: usize, source: io::Error) -> Self {
        Self::Memory { bytes, source }
    }
}
/// What was attempted on a key, for the error of an engine: `read key 7`.
#[cold]
#[must_use]
pub fn on_key(action: &str, key: Key) -> String {
    format!("{action} key {key}")
}

/// For `map_err`: adds the store and what was attempted, where an engine's own error lacks them.
pub(crate) fn at(
    store: &'static str,
    attempted: &'static str,
) -> impl FnOnce(StoreError) -> StoreError {
    move |error| error.during(store, || attempted.to_owned())
}

/// Does so with the key.
pub(crate) fn at_key(
    store: &'static str,
    attempted: &'static str,
    key: Key,
) -> impl FnOnce(StoreError) -> StoreError {
    move |error| error.during(store, || on_key(attempted, key))
}
