//! The old names of what [`crate::run::answers`] has.

pub(crate) use crate::run::answers::{Group, Row, by_choice, evidence, figures, rows, tone};

use crate::{advice, run::answers};
pub(crate) use stowplan_analysis::Kind;
use stowplan_analysis::{Analysis, ComparisonOutcome};

/// What was decided, in a word or two.
pub(crate) fn name(kind: Kind) -> &'static str {
    answers::name(kind)
}

/// A comparison's answer in a line, for where its details are folded.
pub(crate) fn in_a_line(analysis: &Analysis, comparison: &ComparisonOutcome) -> (Kind, String) {
    let answer = advice::answer(analysis, comparison).text;
    (comparison.recommendation.kind, answer)
}
