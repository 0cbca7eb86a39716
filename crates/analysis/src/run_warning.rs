//! Warnings of a run as a whole: what several of its sessions recorded is one warning.

use crate::gathered::Gathered;
use serde::Serialize;
use stowplan_model::{Warning, WarningKind};

/// What spoils or qualifies a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunWarning {
    /// Which kind.
    pub kind: WarningKind,
    /// What is so, as the last session that recorded it found it.
    pub message: String,
    /// What to do about it.
    pub advice: String,
    /// The sessions of a resumed run that recorded it, from 1, rising; none where the run has only one,
    /// and where only one recorded it and it is not of the moment.
    pub sessions: Vec<usize>,
}

impl From<Warning> for RunWarning {
    fn from(warning: Warning) -> Self {
        Self {
            kind: warning.kind,
            message: warning.message,
            advice: warning.advice,
            sessions: Vec::new(),
        }
    }
}

impl RunWarning {
    /// Whether it is of the moment, so that its figures differ from session to session.
    #[must_use]
    pub fn is_of_the_moment(&self) -> bool {
        matches!(self.kind, WarningKind::Load | WarningKind::ForeignWrites)
    }
}

/// What was recorded: of what several sessions recorded, once.
pub(crate) fn recorded(gathered: &Gathered<'_>) -> Vec<RunWarning> {
    let mut found: Vec<RunWarning> = Vec::new();
    for (session, warning) in &gathered.warnings {
        let session = session + 1;
        let mut known = found.iter_mut();
        let known = known.find(|known| {
            let alike = (known.kind, &known.advice) == (warning.kind, &warning.advice);
            let says_the_same = known.is_of_the_moment() || known.message == warning.message;
            alike && says_the_same && !known.sessions.contains(&session)
        });
        match known {
            Some(known) => {
                known.message.clone_from(&warning.message);
                known.sessions.push(session);
            }
            None => found.push(RunWarning {
                sessions: vec![session],
                ..RunWarning::from((*warning).clone())
            }),
        }
    }
    for warning in &mut found {
        // Older results tell what is not of the moment once, also where it held in sessions after that.
        let told_once = warning.sessions.len() == 1 && !warning.is_of_the_moment();
        if gathered.sessions() == 1 || told_once {
            warning.sessions.clear();
        }
    }
    found
}
