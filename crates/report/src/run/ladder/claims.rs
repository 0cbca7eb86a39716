//! What became of the claims of a study, each with the figures that decide it.

use super::time;
use crate::document::{Item, Tone, strong};
use crate::format;
use stowplan_analysis::{ClaimVerdict, DifferenceOutcome, HypothesisOutcome};

/// A claim, and what decides it.
pub(super) fn item(outcome: &HypothesisOutcome) -> Item {
    let difference = outcome.difference.as_ref();
    let difference = difference.map(|cost| time::whole(&time::of(cost)));
    let with = |before: &str, after: &str| {
        let text = difference.as_ref();
        text.map_or_else(String::new, |text| format!("{before}{text}{after}"))
    };
    let (word, tone, judgement) = match outcome.verdict {
        ClaimVerdict::Holds => {
            let judgement = format!("The claim holds here{}", with(" by ", ""));
            ("holds", Tone::Good, judgement)
        }
        ClaimVerdict::DoesNotHold => {
            let difference = with("", "");
            let judgement = format!("The claim does not hold here: the difference is {difference}");
            ("does not hold", Tone::Bad, judgement)
        }
        ClaimVerdict::Undecided => {
            let difference = with(", ", ",");
            let judgement = format!("Undecided, because the difference{difference} may be 0");
            ("undecided", Tone::Warning, judgement)
        }
        ClaimVerdict::Unreliable => {
            let judgement = "Nothing is claimed, because the session is unreliable".to_owned();
            ("unreliable", Tone::Warning, judgement)
        }
        ClaimVerdict::NoData => ("no data", Tone::Warning, untested(outcome)),
    };
    let whole = outcome.of.as_ref();
    let whole = whole.map(|(_, whole)| format!(" of {}", format::time(whole.estimate)));
    let larger = side(&outcome.larger, &whole.unwrap_or_default());
    let smaller = side(&outcome.smaller, "");
    Item {
        note: strong(format!("{larger}; {smaller}. {judgement}.")),
        ..Item::of(outcome.claim.trim_end_matches('.'))
    }
    .with_badge(word, tone)
}

/// `open and close: 2.67 µs [2.61, 2.72] of 5.97 µs`
fn side(difference: &DifferenceOutcome, of: &str) -> String {
    let label = &difference.label;
    match &difference.cost {
        Some(cost) => format!("{label}: {}{of}", time::whole(&time::of(cost))),
        None => format!("{label}: not measured"),
    }
}

fn untested(outcome: &HypothesisOutcome) -> String {
    let missing = outcome.missing.iter();
    let missing: Vec<String> = missing
        .map(|rung| format!("“{}”: {}", rung.cell, rung.why.trim_end_matches('.')))
        .collect();
    match missing.is_empty() {
        true => "Not tested, because its cells share too few rounds".to_owned(),
        false => format!("Not tested ({})", missing.join("; ")),
    }
}
