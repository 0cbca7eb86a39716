//! Warnings of a run as a whole: what several of its sessions recorded is one warning.

use crate::gathered::Gathered;
use serde::Serialize;
use stowplan_model::{Warning, WarningKind};

/// What spoils or qualifies a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunWarning {
    /// Which kind.
    pub kind: WarningKind,
    /// What is so, with the figures of all sessions that recorded it.
    pub message: String,
    /// What to do about it.
    pub advice: String,
    /// The sessions of a resumed run that recorded it, from 1, rising; none where the run has only one,
    /// and where only one recorded it without a figure of the moment.
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

/// Warnings that say the same of different sessions, but for one figure.
struct Group<'a> {
    first: &'a Warning,
    text: Parted<'a>,
    figures: Vec<&'a str>,
    sessions: Vec<usize>,
}

/// A text without the figure that differs between sessions: what stands before it and behind it.
type Parted<'a> = (&'a str, &'a str);

/// What was recorded: of what several sessions recorded, once.
pub(crate) fn recorded(gathered: &Gathered<'_>) -> Vec<RunWarning> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (session, warning) in &gathered.warnings {
        let session = session + 1;
        let (text, figure) = parted(warning);
        let same = groups.iter_mut().find(|group| {
            let theirs = (group.first.kind, &group.first.advice, group.text);
            theirs == (warning.kind, &warning.advice, text) && !group.sessions.contains(&session)
        });
        match same {
            Some(group) => {
                group.sessions.push(session);
                if !group.figures.contains(&figure) {
                    group.figures.push(figure);
                }
            }
            None => groups.push(Group {
                first: warning,
                text,
                figures: vec![figure],
                sessions: vec![session],
            }),
        }
    }
    let total = gathered.sessions();
    let groups = groups.into_iter();
    groups.map(|group| group.warning(total)).collect()
}

/// A warning in parts, of which the figure is empty where it may not differ.
fn parted(warning: &Warning) -> (Parted<'_>, &str) {
    let text = warning.message.as_str();
    in_parts(text, words_of_figure(warning.kind)).unwrap_or(((text, ""), ""))
}

/// How many words the figure of the moment has that a warning of this kind gives; none where it gives
/// none.
fn words_of_figure(kind: WarningKind) -> usize {
    match kind {
        WarningKind::Load => 1,
        // A rate has a unit.
        WarningKind::ForeignWrites => 2,
        _ => 0,
    }
}

/// A text in parts, the figure being its first number with so many words in all; nothing of none, or
/// where nothing follows them.
fn in_parts(text: &str, words: usize) -> Option<(Parted<'_>, &str)> {
    let (before, rest) = text.split_at(text.find(|c: char| c.is_ascii_digit())?);
    let (end, _) = rest.match_indices(' ').nth(words.checked_sub(1)?)?;
    let (figure, after) = rest.split_at(end);
    Some(((before, after), figure))
}

impl Group<'_> {
    fn warning(mut self, total: usize) -> RunWarning {
        let (before, after) = self.text;
        let last = self.figures.pop().unwrap_or_default();
        let figures = match &*self.figures {
            [] => last.to_owned(),
            others => format!("{} and {last}", others.join(", ")),
        };
        let is_of_sessions =
            total > 1 && (self.sessions.len() > 1 || words_of_figure(self.first.kind) > 0);
        RunWarning {
            message: format!("{before}{figures}{after}"),
            // Older results tell a warning without such a figure once, also where it held in sessions
            // after that.
            sessions: if is_of_sessions {
                self.sessions
            } else {
                Vec::new()
            },
            ..RunWarning::from(self.first.clone())
        }
    }
}
