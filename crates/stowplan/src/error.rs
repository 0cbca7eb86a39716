//! Exit codes, and errors as a user sees them.

use std::io;
use std::path::Path;
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

impl Exit {
    /// The end with the code of what was run.
    pub(crate) fn of(code: i32) -> Self {
        Self::Of(u8::try_from(code).unwrap_or(u8::MAX))
    }

    /// The end of what was done, and found good or not.
    pub(crate) fn done_if(is_good: bool) -> Self {
        match is_good {
            true => Self::Done,
            false => Self::Failed,
        }
    }
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
    /// What was typed or given makes no sense, or cannot be had: nothing was begun.
    #[error("{0}")]
    Usage(String),
    /// A study file has mistakes.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// Nothing can be made of a result.
    #[error("{0}")]
    Unreadable(String),
    /// It broke off in its work.
    #[error("{text}")]
    Failed {
        /// What happened.
        text: String,
        /// What to type to go on, where something was measured.
        go_on: Option<String>,
    },
    /// Ctrl-C, before there was anything that stays.
    #[error("interrupted; nothing was left behind")]
    Interrupted,
}

/// Errors of which only the words matter: before anything was begun.
macro_rules! before_anything {
    ($($Error:ty)+) => {$(
        impl From<$Error> for CliError {
            fn from(error: $Error) -> Self {
                Self::Usage(error.to_string())
            }
        }
    )+};
}

before_anything!(HarnessError KvtestError SpecError ResolveError serde_json::Error);

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        KvtestError::from(error).into()
    }
}

impl From<ArchiveError> for CliError {
    fn from(error: ArchiveError) -> Self {
        match error {
            ArchiveError::Interrupted => Self::Interrupted,
            error if error.is_about_input() => Self::Usage(error.to_string()),
            error => Self::failed(&error),
        }
    }
}

impl CliError {
    /// For `map_err`: what broke off in its work.
    pub(crate) fn work(error: impl Into<HarnessError>) -> Self {
        match error.into() {
            HarnessError::Interrupted => Self::Interrupted,
            error => Self::failed(&error),
        }
    }

    fn failed(error: &impl ToString) -> Self {
        Self::Failed {
            text: error.to_string(),
            go_on: None,
        }
    }

    /// For `map_err`: a place of the user's cannot be looked at.
    pub(crate) fn place(error: ArchiveError) -> Self {
        Self::Usage(error.to_string())
    }

    /// For `map_err`: a result cannot be analysed.
    pub(crate) fn analysis(path: &Path) -> impl FnOnce(AnalysisError) -> Self {
        move |error| Self::Unreadable(format!("{}: {error}", path.display()))
    }

    /// For `map_err`: names the action and the path.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| {
            let (path, why) = (path.display(), in_words(&error));
            Self::Usage(format!("cannot {action} {path}: {why}"))
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
            Self::Failed { go_on, .. } => go_on.as_deref(),
            _ => None,
        }
    }

    /// The exit code: 1 once work had begun, 2 before.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Interrupted => Exit::Interrupted,
            Self::Failed { .. } => Exit::Failed,
            Self::Usage(_) | Self::Study(_) | Self::Unreadable(_) => Exit::Usage,
        }
    }
}
