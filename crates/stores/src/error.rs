//! Why an operation of a store failed.

use crate::Key;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a store without a table can do nothing.
const NO_TABLE: &str = "its table was dropped; create it first";

/// One clear line: what, which one, and where it helps the next step. Which store it was, whoever opened the
/// store adds ([`Self::of`]): a store may be built on another, and hands on what that says.
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
    #[error("{}cannot {action}: {detail}", from(store))]
    Engine {
        /// The store.
        store: &'static str,
        /// What was attempted.
        action: String,
        /// What the engine said.
        detail: String,
    },
    /// The store cannot do that, with the settings it has.
    #[error("{} cannot {what}: {why}", if store.is_empty() { "this store" } else { store })]
    Unsupported {
        /// The store.
        store: &'static str,
        /// What was asked.
        what: String,
        /// Why not, and what it can do instead.
        why: String,
    },
    /// A value is not what it was.
    #[error("{}value {key} is damaged: {detail}", from(store))]
    Damaged {
        /// The store.
        store: &'static str,
        /// The key.
        key: u64,
        /// What is wrong.
        detail: String,
    },
    /// A value was to be added under a key that is taken.
    #[error("{}key {key} exists already", from(store))]
    KeyExists {
        /// The store.
        store: &'static str,
        /// The key.
        key: u64,
    },
    /// Another connection was in the way: undone and tried again, the transaction may succeed.
    #[error("{}cannot {action} now: {detail}", from(store))]
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

/// How a message begins that is of this store.
fn from(store: &str) -> String {
    match store {
        "" => String::new(),
        store => format!("{store}: "),
    }
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

    /// Names the store, where the error names none.
    #[must_use]
    pub fn of(mut self, store: &'static str) -> Self {
        match &mut self {
            Self::Engine { store: name, .. }
            | Self::Conflict { store: name, .. }
            | Self::Unsupported { store: name, .. }
            | Self::Damaged { store: name, .. }
            | Self::KeyExists { store: name, .. }
                if name.is_empty() =>
            {
                *name = store;
            }
            _ => {}
        }
        self
    }

    /// What an engine said, to which the adapter adds what was attempted ([`Self::during`]).
    #[cold]
    pub fn said(detail: impl ToString) -> Self {
        Self::engine("", detail.to_string())
    }

    /// Adds what was attempted, where the error lacks that.
    #[must_use]
    pub fn during(mut self, attempted: impl FnOnce() -> String) -> Self {
        if let Self::Engine { action, .. } | Self::Conflict { action, .. } = &mut self
            && action.is_empty()
        {
            *action = attempted();
        }
        self
    }

    /// An engine refused.
    pub fn engine(action: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Engine {
            store: "",
            action: action.into(),
            detail: detail.into(),
        }
    }

    /// Another connection was in the way.
    pub fn conflict(action: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Conflict {
            store: "",
            action: action.into(),
            detail: detail.into(),
        }
    }

    /// It cannot do that, with the settings it has.
    pub fn unsupported(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Unsupported {
            store: "",
            what: what.into(),
            why: why.into(),
        }
    }

    /// A value is not what it was.
    pub fn damaged(key: Key, detail: impl Into<String>) -> Self {
        Self::Damaged {
            store: "",
            key: key.0,
            detail: detail.into(),
        }
    }

    /// The key is taken.
    #[must_use]
    pub fn key_exists(key: Key) -> Self {
        Self::KeyExists {
            store: "",
            key: key.0,
        }
    }

    /// The table was dropped, and not made again.
    #[must_use]
    pub fn no_table(what: impl Into<String>) -> Self {
        Self::unsupported(what, NO_TABLE)
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

/// For `map_err`: adds what was attempted, where an engine's own error lacks it.
pub(crate) fn at(attempted: &'static str) -> impl FnOnce(StoreError) -> StoreError {
    move |error| error.during(|| attempted.to_owned())
}

/// Does so with the key.
pub(crate) fn at_key(attempted: &'static str, key: Key) -> impl FnOnce(StoreError) -> StoreError {
    move |error| error.during(|| on_key(attempted, key))
}
