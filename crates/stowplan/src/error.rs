//! Exit codes, and errors as a user sees them.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use stowplan_analysis::AnalysisError;
use stowplan_archive::ArchiveError;
use stowplan_archive::in_words;
use stowplan_harness::HarnessError;
use stowplan_kvtest::KvtestError;
use stowplan_model::{SpecError, StudyError};
use stowplan_stores::StoreError;
use stowplan_stores::registry::ResolveError;
use thiserror::Error;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything was done.
    Done,
    /// A cell failed, the run broke off, or a regression was found.
    Failed,
    /// What was typed or given makes no sense.
    Usage,
    /// Ctrl-C; what was measured is saved.
    Interrupted,
    /// As the command ended that was run, or another process of this program.
    Of(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Interrupted => 130,
            Exit::Of(code) => code,
        })
    }
}

/// One clear line: what, which one, and the next step.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    /// What was typed or given makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The operating system refused.
    #[error("cannot {action} {}: {}", path.display(), in_words(source))]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A study file has a mistake.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A result cannot be analysed.
    #[error("{}: {error}", path.display())]
    Analysis {
        /// The result.
        path: PathBuf,
        /// Why.
        error: AnalysisError,
    },
    /// Nothing can be made of a result's file.
    #[error("{0}")]
    Unreadable(String),
    /// Before measuring began.
    #[error(transparent)]
    Setup(Box<HarnessError>),
    /// While measuring.
    #[error(
        "{error}; what was measured before stands in {}, and to go on once this is mended:",
        result.display()
    )]
    Run {
        /// What happened.
        error: Box<HarnessError>,
        /// The result so far.
        result: PathBuf,
        /// What to type to go on.
        go_on: String,
    },
    /// A verb of kvtest broke off in its work.
    #[error("{0}")]
    Work(Box<HarnessError>),
    /// Something about an archive.
    #[error(transparent)]
    Archive(ArchiveError),
    /// Ctrl-C, before there was anything that stays.
    #[error("interrupted; nothing was left behind")]
    Interrupted,
    /// A place of the user's cannot be looked at.
    #[error(transparent)]
    Place(ArchiveError),
    /// There is no such store.
    #[error(transparent)]
    Store(#[from] ResolveError),
}

impl From<HarnessError> for CliError {
    /// Before measuring began; once it has, see [`Self::Run`].
    fn from(error: HarnessError) -> Self {
        Self::Setup(Box::new(error))
    }
}

impl From<ArchiveError> for CliError {
    fn from(error: ArchiveError) -> Self {
        match error {
            ArchiveError::Interrupted => Self::Interrupted,
            error => Self::Archive(error),
        }
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        KvtestError::from(error).into()
    }
}

impl From<KvtestError> for CliError {
    fn from(error: KvtestError) -> Self {
        HarnessError::from(error).into()
    }
}

impl From<SpecError> for CliError {
    fn from(error: SpecError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl CliError {
    /// For `map_err`: what broke off in its work.
    pub(crate) fn work(error: impl Into<HarnessError>) -> Self {
        match error.into() {
            HarnessError::Interrupted => Self::Interrupted,
            error => Self::Work(Box::new(error)),
        }
    }

    /// What to say, a line for each mistake.
    pub(crate) fn lines(&self) -> Vec<String> {
        match self {
            Self::Study(mistakes) => mistakes.0.clone(),
            other => vec![other.to_string()],
        }
    }

    /// What to type about it, which follows what it says.
    pub(crate) fn command(&self) -> Option<&str> {
        match self {
            Self::Run { go_on, .. } => Some(go_on),
            _ => None,
        }
    }

    /// For `map_err`: names the action and the path.
    pub(crate) fn io(
        action: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }

    /// The exit code: 1 once measuring had begun, 2 before.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Interrupted => Exit::Interrupted,
            Self::Run { .. } | Self::Work(_) => Exit::Failed,
            Self::Archive(error) if !error.is_about_input() => Exit::Failed,
            _ => Exit::Usage,
        }
    }
}
