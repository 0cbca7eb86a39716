//! Why something around a measurement failed.

use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};
use stowplan_dataset::DatasetError;
use thiserror::Error;

/// What may fail in the harness.
pub type Result<T, E = HarnessError> = std::result::Result<T, E>;

/// One clear line: what, which one, and where it helps the next step.
#[derive(Debug, Error)]
pub enum HarnessError {
    /// The file system refuses, a file is damaged, there is no room, or what was asked for is not possible.
    #[error(transparent)]
    Files(#[from] DatasetError),
    /// The file system takes no more, whoever writes.
    #[error("{} takes no more data: {message}; make room there, or choose another place with --work", path.display())]
    NoRoom {
        /// Where the data lies.
        path: PathBuf,
        /// Who noticed, and what the system said.
        message: String,
    },
    /// A worker process failed.
    #[error("{message}")]
    Worker {
        /// What it said, or how it ended.
        message: String,
        /// The last lines of its stderr.
        stderr: String,
    },
    /// Ctrl-C or a termination signal.
    #[error("interrupted; what was measured so far is saved")]
    Interrupted,
}

impl HarnessError {
    /// For `map_err`: names the action and the path.
    pub fn io<E: Into<io::Error>>(action: &'static str, path: &Path) -> impl FnOnce(E) -> Self {
        let refused = DatasetError::io(action, path);
        move |source| Self::Files(refused(source))
    }

    /// An impossible request, in one line.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Files(DatasetError::invalid(message))
    }

    pub(crate) fn worker(message: &str, stderr: &str) -> Self {
        Self::Worker {
            message: message.to_owned(),
            stderr: stderr.to_owned(),
        }
    }

    /// Whether the operating system refused something about a file.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Files(DatasetError::Io { .. }))
    }

    /// What the system said when it refused something about a file.
    pub(crate) fn errno(&self) -> Option<Errno> {
        match self {
            Self::Files(DatasetError::Io { source, .. }) => Errno::from_io_error(source),
            _ => None,
        }
    }

    /// Turns an error into the failure of a store: it came up while one was served.
    pub(crate) fn of_a_store(self) -> Self {
        match self {
            Self::Worker { .. } | Self::Interrupted => self,
            other => Self::worker(&other.to_string(), ""),
        }
    }

    /// Whether it is the doing of a store or of a worker that served it, so that others can be
    /// measured all the same. Whatever else fails (the result file, the work directory, a dataset)
    /// says nothing about any store.
    pub(crate) fn is_of_a_store(&self) -> bool {
        matches!(self, Self::Worker { .. })
    }

    /// Whether it says that the file system is full, or takes no writes: in the words of the system,
    /// which engines and drivers in any language repeat, or in those of SQLite.
    pub(crate) fn is_lack_of_room(&self) -> bool {
        const WORDS: [&str; 4] = [
            "no space left on device",
            "disk quota exceeded",
            "read-only file system",
            "database or disk is full",
        ];
        let Self::Worker { message, .. } = self else {
            return false;
        };
        let message = message.to_lowercase();
        WORDS.iter().any(|words| message.contains(words))
    }

    /// Its message, and the end of a worker's stderr where there is one.
    pub(crate) fn split(self) -> (String, String) {
        match self {
            Self::Worker { message, stderr } => (message, stderr),
            other => (other.to_string(), String::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_machine_refuses_is_no_failure_of_a_store() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let log = HarnessError::io("append to", Path::new("result.jsonl"))(full());
        assert!(!log.is_of_a_store());
        assert!(!HarnessError::invalid("a dataset is there already").is_of_a_store());
        assert!(!HarnessError::Interrupted.is_of_a_store());
        assert!(HarnessError::worker("the worker ended", "").is_of_a_store());
    }

    #[test]
    fn a_full_disk_is_told_by_what_any_store_says_of_it() {
        for said in [
            "cannot write /w/store/7: No space left on device (os error 28)",
            "sqlite: cannot commit: database or disk is full",
            "[Errno 122] Disk quota exceeded: '/w/x'",
            "ENOSPC: no space left on device, write",
            "cannot open /w/x: Read-only file system (os error 30)",
        ] {
            assert!(HarnessError::worker(said, "").is_lack_of_room(), "{said}");
        }
        let damaged = HarnessError::worker("sqlite: disk I/O error", "No space left on device");
        assert!(!damaged.is_lack_of_room(), "nobody knows what stderr means");
    }
}
