//! Why something about a dataset's files failed.

use std::io;
use std::path::{Path, PathBuf};
use stowplan_model::format_bytes;
use thiserror::Error;

/// One clear line: what, which one, and where it helps the next step.
#[derive(Debug, Error)]
pub enum DatasetError {
    /// The operating system refused.
    #[error("cannot {action} {}: {}", path.display(), in_words(source))]
    Io {
        /// What was attempted: `open`, `rename`, …
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What was asked for is not possible.
    #[error("{message}")]
    Invalid {
        /// What, which one, and the next step.
        message: String,
    },
    /// A file that this program wrote is not what it was.
    #[error("{} is damaged: {detail}; remove it and run again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The file system has not enough room.
    #[error(
        "{} needs {} but {} has {} free; make room there, or choose another place or less data",
        path.display(), format_bytes(*needed), mount.display(), format_bytes(*free)
    )]
    Space {
        /// Where something was to be written.
        path: PathBuf,
        /// How many bytes it needs.
        needed: u64,
        /// How many bytes are free to this user.
        free: u64,
        /// Where the file system is mounted.
        mount: PathBuf,
    },
}

impl DatasetError {
    /// For `map_err`: names the action and the path.
    pub fn io<E: Into<io::Error>>(action: &'static str, path: &Path) -> impl FnOnce(E) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source: source.into(),
        }
    }

    /// An impossible request, in one line.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid {
            message: message.into(),
        }
    }

    pub(crate) fn damaged(path: &Path, detail: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            detail: detail.into(),
        }
    }
}

/// What the system said, without its number, and what to do about it where that is known.
#[must_use]
pub fn in_words(error: &io::Error) -> String {
    use io::ErrorKind::{NotFound, PermissionDenied, StorageFull};
    match error.kind() {
        NotFound => "no such file or directory; is its name right?".to_owned(),
        PermissionDenied => "permission denied; ask its owner, or be one who may".to_owned(),
        StorageFull => {
            "the disk is full: 'df' says whether of bytes, 'df -i' whether of files".to_owned()
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_space_is_told_with_need_rest_place_and_next_step() {
        let error = DatasetError::Space {
            path: "/data/run".into(),
            needed: 3_000_000_000,
            free: 409_000_000,
            mount: "/data".into(),
        };
        assert_eq!(
            error.to_string(),
            "/data/run needs 3 GB but /data has 409 MB free; \
             make room there, or choose another place or less data"
        );
    }
}
