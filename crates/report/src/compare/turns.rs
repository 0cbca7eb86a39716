//! The order of sessions: a warning where it is confounded with the version.

use crate::document::{Block, Content, Detail, notice};
use stowplan_analysis::compare::{Changes, MIN_SESSIONS, Turns, Unit};

/// Where sessions took no turns: that what drifts cannot be told from what changed, and the commands by
/// which they take turns.
pub(super) fn warning(changes: &Changes) -> Vec<Block> {
    let (first, other) = match (changes.unit, changes.turns) {
        (Unit::Session, Turns::BaseFirst) => ("BASE", "NEW"),
        (Unit::Session, Turns::NewFirst) => ("NEW", "BASE"),
        _ => return Vec::new(),
    };
    let text = format!(
        "Sessions took no turns, those of {first} ran before those of {other} (all, or on average): what \
         the machine did meanwhile looks like a change. Let them take turns, OLD and NEW being the two programs and STUDY the study:"
    );
    let sessions = changes.base_sessions.max(changes.new_sessions);
    let numbers: Vec<String> = (1..=sessions.max(MIN_SESSIONS))
        .map(|number| number.to_string())
        .collect();
    let commands = format!(
        "for i in {}; do\n  OLD study STUDY --output base-$i\n  NEW study STUDY --output new-$i\ndone\n\
         stowplan compare --base base-* --new new-*",
        numbers.join(" ")
    );
    let commands = Block::from(Content::Verbatim(commands));
    [notice(text), commands]
        .map(|block| block.at(Detail::Answer))
        .into()
}
