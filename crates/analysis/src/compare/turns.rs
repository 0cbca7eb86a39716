//! In which order the sessions of two sides ran.

use crate::Analysis;
use jiff::Timestamp;
use serde::Serialize;

/// In which order the sessions of both sides began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Turns {
    /// All of BASE before all of NEW: what the machine did in between cannot be told from what NEW
    /// changed.
    BaseFirst,
    /// All of NEW before all of BASE: the same.
    NewFirst,
    /// Neither: a session of one side began between two of the other, so that what drifts is in the
    /// spread of both sides.
    Taken,
    /// Not known: a start cannot be read.
    Unknown,
}

impl Turns {
    pub(super) fn of(base: &[&Analysis], new: &[&Analysis]) -> Self {
        match (span(base), span(new)) {
            (Some(base), Some(new)) if base.1 < new.0 => Self::BaseFirst,
            (Some(base), Some(new)) if new.1 < base.0 => Self::NewFirst,
            (Some(_), Some(_)) => Self::Taken,
            _ => Self::Unknown,
        }
    }
}

/// The first start and the last one; nothing where one of them cannot be read.
fn span(sessions: &[&Analysis]) -> Option<(Timestamp, Timestamp)> {
    let starts = sessions.iter().map(|session| session.run.started.parse());
    let starts: Vec<Timestamp> = starts.collect::<Result<_, _>>().ok()?;
    Some((*starts.iter().min()?, *starts.iter().max()?))
}
