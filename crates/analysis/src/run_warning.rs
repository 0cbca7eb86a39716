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
    /// The sessions of a resumed run that recorded it, from 1, rising; none where it is not one of
    /// sessions, and where the run has only one.
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

/// Warnings that say the same of different sessions.
struct Group<'a> {
    first: &'a Warning,
    texts: Vec<&'a str>,
    sessions: Vec<usize>,
}

/// What was recorded: of what several sessions recorded, once.
pub(crate) fn recorded(gathered: &Gathered<'_>) -> Vec<RunWarning> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (session, warning) in &gathered.warnings {
        let session = session + 1;
        let text = warning.message.as_str();
        let same = groups.iter_mut().find(|group| {
            let alike = (group.first.kind, &group.first.advice) == (warning.kind, &warning.advice);
            alike && !group.sessions.contains(&session) && {
                let texts: Vec<&str> = group.texts.iter().copied().chain([text]).collect();
                in_one(&texts).is_some()
            }
        });
        match same {
            Some(group) => {
                group.texts.push(text);
                group.sessions.push(session);
            }
            None => groups.push(Group {
                first: warning,
                texts: vec![text],
                sessions: vec![session],
            }),
        }
    }
    let total = gathered.sessions();
    groups.iter().map(|group| group.warning(total)).collect()
}

impl Group<'_> {
    fn warning(&self, total: usize) -> RunWarning {
        let message = in_one(&self.texts);
        RunWarning {
            message: message.unwrap_or_else(|| self.first.message.clone()),
            sessions: match total {
                1 => Vec::new(),
                _ if self.is_of_sessions() => self.sessions.clone(),
                _ => Vec::new(),
            },
            ..RunWarning::from(self.first.clone())
        }
    }

    /// Whether it is one of certain sessions. A session does not record again what an earlier one did
    /// in the same words, so what only the first one recorded may hold for all, unless it gives a
    /// figure of the moment.
    fn is_of_sessions(&self) -> bool {
        match (&*self.sessions, self.first.kind) {
            ([_], WarningKind::Other) => false,
            ([1], kind) => matches!(kind, WarningKind::Load | WarningKind::ForeignWrites),
            _ => true,
        }
    }
}

/// Texts that differ in one figure as one text with all of them: `load average 3.9, 4.1 and 4.5 on 2
/// CPUs`; nothing where they differ in anything else.
fn in_one(texts: &[&str]) -> Option<String> {
    /// No figure with its unit is longer.
    const LONGEST: usize = 16;
    let texts: Vec<Vec<char>> = texts.iter().map(|text| text.chars().collect()).collect();
    let (first, others) = texts.split_first()?;
    if others.iter().all(|other| other == first) {
        return Some(first.iter().collect());
    }
    let before = common(first.iter(), others.iter().map(|other| other.iter()));
    let before = first[..before].iter().rposition(|c| !is_of_figure(*c))? + 1;
    let rest = |text: &[char]| text[before..].to_vec();
    let rests: Vec<Vec<char>> = texts.iter().map(|text| rest(text)).collect();
    let (first_rest, other_rests) = rests.split_first()?;
    let after = common(
        first_rest.iter().rev(),
        other_rests.iter().map(|other| other.iter().rev()),
    );
    let end = first_rest.len() - after;
    let end = end + first_rest[end..].iter().position(|c| !is_of_figure(*c))?;
    let after = first_rest.len() - end;
    let mut figures: Vec<String> = Vec::new();
    for rest in &rests {
        let figure: String = rest[..rest.len() - after].iter().collect();
        if figure.len() > LONGEST || !figure.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        if !figures.contains(&figure) {
            figures.push(figure);
        }
    }
    let (last, earlier) = figures.split_last()?;
    let begin: String = first[..before].iter().collect();
    let end: String = first_rest[end..].iter().collect();
    Some(format!("{begin}{} and {last}{end}", earlier.join(", ")))
}

/// How many characters all begin with.
fn common<'a>(
    first: impl Iterator<Item = &'a char>,
    others: impl Iterator<Item = impl Iterator<Item = &'a char>>,
) -> usize {
    let first: Vec<&char> = first.collect();
    let with = |other: &mut dyn Iterator<Item = &'a char>| {
        let pairs = first.iter().zip(other);
        pairs.take_while(|(a, b)| **a == *b).count()
    };
    others
        .map(|mut other| with(&mut other))
        .min()
        .unwrap_or(first.len())
}

/// Whether a character can be of a figure or its unit.
fn is_of_figure(c: char) -> bool {
    c.is_alphanumeric() || c == '.'
}

#[cfg(test)]
mod tests {
    use super::in_one;

    #[test]
    fn texts_that_differ_in_a_figure_become_one_with_all_figures() {
        let of = |figures: &[&str]| {
            let texts = figures
                .iter()
                .map(|f| format!("It writes {f} per second (vda)."));
            let texts: Vec<String> = texts.collect();
            in_one(&texts.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let said = |text: &str| Some(format!("It writes {text} per second (vda)."));
        assert_eq!(of(&["1.88 MB", "133 MB"]), said("1.88 and 133 MB"));
        assert_eq!(
            of(&["13.1 MB", "13.9 MB", "3.9 MB"]),
            said("13.1, 13.9 and 3.9 MB")
        );
        assert_eq!(of(&["980 kB", "1.2 MB"]), said("980 kB and 1.2 MB"));
        assert_eq!(of(&["3 MB", "3 MB"]), said("3 MB"));
        assert_eq!(of(&["3 MB", "nothing"]), None);
    }

    #[test]
    fn texts_that_differ_in_more_stay_apart() {
        assert_eq!(in_one(&["a is 1 of b", "c is 1 of b"]), None);
        assert_eq!(
            in_one(&["1 of 2 is lost", "2 of 3 and 4 of 5 are lost"]),
            None
        );
        assert_eq!(in_one(&[]), None);
    }
}
