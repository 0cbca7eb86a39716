//! How it was measured, in notes.

use crate::document::{Block, Section, facts};
use crate::words::{fill, titled};
use crate::{value, wording};
use stowplan_analysis::{Analysis, Claims, ERROR_OF_A_RATIO};

const SUMMARY: &str = "Rounds, time, ratios, intervals, verdicts and the words of this report, with \
                       formulas";

/// Notes with a title each; in brackets what a note needs to be of this run. What stands in braces
/// is of the run.
const NOTES: &str = include_str!("../words/method.txt");

/// What was done and computed, with the formulas.
pub(crate) fn section(analysis: &Analysis) -> Block {
    let fold = Section::fold(SUMMARY, vec![facts(notes(analysis))]);
    let section = Section::new("Method", vec![fold.into()]);
    let section = section.named("method").in_contents("Method");
    section.into()
}

fn notes(analysis: &Analysis) -> Vec<(&'static str, String)> {
    let numbers = numbers(analysis);
    let notes = titled(NOTES).filter_map(|(title, text)| {
        let (title, needs) = title.split_once(" (").unwrap_or((title, ""));
        let applies = applies(analysis, needs.trim_end_matches(')'));
        applies.then(|| (title, fill(&text, &numbers)))
    });
    notes.collect()
}

/// Whether a run has what a note is about.
fn applies(analysis: &Analysis, needs: &str) -> bool {
    let mut cells = analysis.cells();
    match needs {
        "drivers" => cells.any(|cell| !cell.cell.driver.is_empty()),
        "slow" => analysis.comparisons.iter().any(|c| !c.measure.is_time()),
        "neighbours" => cells.any(|cell| cell.cell.workload.beside.is_some()),
        "ladders" => !analysis.ladders.is_empty(),
        "sizes" => !analysis.by_size.is_empty(),
        _ => true,
    }
}

/// The equivalence zone, how many ratios were judged, and how many claims may be false.
fn numbers(analysis: &Analysis) -> [(&'static str, String); 7] {
    let claims = Claims::of(analysis);
    let factor = value::ratio(1.0 + analysis.run.equivalence);
    [
        ("zone", wording::zone(analysis)),
        ("factor", factor),
        ("ratios", value::counted(claims.ratios, "ratio")),
        ("differences", value::count(claims.differences as u64)),
        ("equivalent", value::count(claims.equivalent as u64)),
        ("error", value::percent(ERROR_OF_A_RATIO)),
        ("false", value::ratio(claims.false_at_most)),
    ]
}

#[cfg(test)]
mod tests {
    use super::{NOTES, titled};

    #[test]
    fn each_note_needs_what_is_known_and_has_numbers_that_are_known() {
        let is_one_of = |known: &str, name: &str| known.split(' ').any(|known| known == name);
        for (title, text) in titled(NOTES) {
            if let Some((_, need)) = title.split_once(" (") {
                let known = "drivers slow neighbours ladders sizes";
                assert!(is_one_of(known, need.trim_end_matches(')')), "{title}");
            }
            for name in text
                .split('{')
                .skip(1)
                .filter_map(|it| it.split('}').next())
            {
                let known = "zone factor ratios differences equivalent error false";
                assert!(is_one_of(known, name), "{title}: {name}");
            }
        }
    }
}
