//! What became of the claims of a study, each with the figures that decide it.

use super::time::Time;
use crate::document::{Item, List, ListStyle, Tone, strong};
use crate::format;
use stowplan_analysis::{ClaimVerdict, DifferenceOutcome, HypothesisOutcome};

/// The claims as a list; nothing if there are none.
pub(super) fn list<'a>(claims: impl Iterator<Item = &'a HypothesisOutcome>) -> Option<List> {
    let items: Vec<Item> = claims.map(item).collect();
    let style = ListStyle::Bullets;
    (!items.is_empty()).then_some(List { style, items })
}

fn item(outcome: &HypothesisOutcome) -> Item {
    let (word, tone) = badge(outcome.verdict);
    Item {
        note: strong(found(outcome)),
        ..Item::of(outcome.claim.trim_end_matches('.'))
    }
    .with_badge(word, tone)
}

fn badge(verdict: ClaimVerdict) -> (&'static str, Tone) {
    match verdict {
        ClaimVerdict::Holds => ("holds", Tone::Good),
        ClaimVerdict::DoesNotHold => ("does not hold", Tone::Bad),
        ClaimVerdict::Undecided => ("undecided", Tone::Warning),
        ClaimVerdict::Unreliable => ("unreliable", Tone::Warning),
        ClaimVerdict::NoData => ("no data", Tone::Warning),
    }
}

/// The figures and the judgement.
fn found(outcome: &HypothesisOutcome) -> String {
    let whole = outcome.of.as_ref();
    let whole = whole.map_or_else(String::new, |(_, whole)| {
        format!(" of {}", format::time(whole.estimate))
    });
    format!(
        "{}; {}. {}.",
        format::capital(&side(&outcome.larger, &whole)),
        side(&outcome.smaller, ""),
        format::capital(&judgement(outcome))
    )
}

/// `open and close: 2.67 µs [2.61, 2.72] of 5.97 µs`
fn side(difference: &DifferenceOutcome, of: &str) -> String {
    let label = &difference.label;
    match &difference.cost {
        Some(cost) => format!("{label}: {}{of}", Time::from(cost).whole()),
        None => format!("{label}: not measured"),
    }
}

fn judgement(outcome: &HypothesisOutcome) -> String {
    let difference = outcome.difference.as_ref();
    let difference = difference.map(|cost| Time::from(cost).whole());
    let with = |before: &str, after: &str| {
        let text = difference.as_ref();
        text.map_or_else(String::new, |text| format!("{before}{text}{after}"))
    };
    match outcome.verdict {
        ClaimVerdict::Holds => format!("the claim holds here{}", with(" by ", "")),
        ClaimVerdict::DoesNotHold => format!(
            "the claim does not hold here: the difference is {}",
            with("", "")
        ),
        ClaimVerdict::Undecided => format!(
            "undecided, because the difference{} may be 0",
            with(", ", ",")
        ),
        ClaimVerdict::Unreliable => {
            "nothing is claimed, because the session is unreliable".to_owned()
        }
        ClaimVerdict::NoData => {
            let missing = outcome.missing.iter();
            let missing: Vec<String> = missing
                .map(|rung| format!("“{}”: {}", rung.cell, rung.why.trim_end_matches('.')))
                .collect();
            match missing.is_empty() {
                true => "not tested, because its cells share too few rounds".to_owned(),
                false => format!("not tested ({})", missing.join("; ")),
            }
        }
    }
}
