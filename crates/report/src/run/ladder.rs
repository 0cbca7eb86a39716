//! Why cells take as long as they do: per comparison ladders over one axis, what explains cold reads,
//! and what cells asked of the system.

mod cold;
mod counts;
mod pieces;
#[cfg(test)]
mod testing;

use crate::document::{
    Axis, Block, ChartRow, Item, Key, List, ListStyle, RowGroup, Rows, Scale, Section, Segment,
    Shape, bullets, faint, folded, notice, paragraph, remark, strong,
};
use crate::signed::{self as time, minus};
use crate::{format, noise, quantity, wording};
use pieces::{Piece, pieces, thin};
use stowplan_analysis::{
    Agreement, Analysis, ComparisonOutcome, Interval, IsolatedSum, LadderOutcome,
};
use stowplan_model::{CellId, Measure};

const CAPTION: &str = "Time of one operation, from the bottom up: each piece is what a cell takes \
                       more than the one below it, in the same rounds. The thin bar is what the \
                       same steps take alone. Hatched: what is left of the whole.";

/// Lines that a ladder takes beside its pieces.
const LINES_BESIDE: usize = 3;

/// The section; nothing if nothing explains anything.
pub(crate) fn section(analysis: &Analysis) -> Option<Block> {
    let comparisons = analysis.comparisons.iter();
    let groups: Vec<Block> = comparisons
        .filter_map(|comparison| group(analysis, comparison))
        .collect();
    let has_any = !groups.is_empty();
    let section = Section::new("Why: costs taken apart", groups);
    has_any.then(|| section.named("why").in_contents("Why").into())
}

fn group(analysis: &Analysis, comparison: &ComparisonOutcome) -> Option<Block> {
    let of = |id: &String| *id == comparison.id;
    let ladders = analysis.ladders.iter();
    let ladders: Vec<Ladder<'_>> = ladders
        .filter(|ladder| of(&ladder.comparison))
        .map(|outcome| Ladder::of(analysis, outcome))
        .collect();
    let mut blocks: Vec<Block> = Vec::new();
    if !ladders.is_empty() && !comparison.reliable {
        blocks.push(notice(noise::unreliable()));
    }
    if !ladders.is_empty() {
        blocks.push(figure(analysis, comparison, &ladders));
    }
    let cold = analysis.cold.iter().find(|cold| of(&cold.comparison));
    let cold = cold.and_then(|cold| bullets(cold::sentences(comparison, cold)));
    let title = "What a cold read takes from storage";
    let cold = cold.map(|sentences| Block::from(Section::new(title, vec![sentences])));
    let title = "What each cell asked of the system, per operation, counted in a block of its own";
    let counts = counts::table(comparison).map(|table| folded(title, table));
    let more = cold.into_iter().chain(counts);
    blocks.extend(more);
    let has_any = !blocks.is_empty();
    let section = Section::new(&comparison.title, blocks);
    has_any.then(|| section.named(format!("why-{}", comparison.id)).into())
}

/// A ladder and what it is drawn as.
struct Ladder<'a> {
    outcome: &'a LadderOutcome,
    /// The cell that is taken apart.
    top: Option<String>,
    pieces: Vec<Piece<'a>>,
    thin: Vec<Segment>,
}

impl<'a> Ladder<'a> {
    fn of(analysis: &Analysis, outcome: &'a LadderOutcome) -> Self {
        let pieces = pieces(outcome);
        Self {
            outcome,
            top: outcome.top().map(|cell| label_of(analysis, cell)),
            thin: thin(outcome, &pieces),
            pieces,
        }
    }

    fn row(&self) -> ChartRow {
        let title = &self.outcome.title;
        let (Some(top), Some(whole)) = (&self.top, &self.outcome.whole) else {
            return ChartRow {
                value: "no steps".to_owned(),
                ..ChartRow::without_data(title, format!("{title}: no steps."))
            };
        };
        let said: Vec<String> = self.pieces.iter().map(Piece::tooltip).collect();
        ChartRow {
            label: title.clone(),
            shape: Shape::Segments {
                pieces: self.pieces.iter().map(Piece::segment).collect(),
                thin: self.thin.clone(),
            },
            interval: Some((whole.low, whole.high)),
            value: time::text(whole),
            spread: time::spread(whole),
            number: Some(whole.estimate),
            tooltip: format!(
                "{title}: {top}, {}. {}.",
                time::whole(whole),
                said.join("; ")
            ),
            ..ChartRow::default()
        }
    }

    /// Where its drawing ends.
    fn end(&self) -> f64 {
        let pieces = self.pieces.iter().map(Piece::end);
        let thin = self.thin.iter().map(|piece| piece.to);
        let whole = self.outcome.whole.map(|whole| whole.high);
        pieces.chain(thin).chain(whole).fold(0.0, f64::max)
    }

    /// What the pieces are, from the left, and what there is to know of them.
    fn explained(&self, analysis: &Analysis) -> Block {
        let steps = List {
            style: ListStyle::Steps,
            items: self.pieces.iter().map(step).collect(),
        };
        let title = &self.outcome.title;
        let name = |cell: &CellId| label_of(analysis, cell);
        let table = pieces::table(title, &self.pieces, &name);
        let notes = notes(self.outcome, self.top.as_deref());
        let mut blocks: Vec<Block> = notes.into_iter().map(remark).collect();
        if !self.pieces.is_empty() {
            blocks.insert(0, steps.into());
            blocks.push(folded("All figures", table));
        }
        let section = Section::new(title, blocks);
        section.named(format!("steps-{}", self.outcome.id)).into()
    }
}

fn label_of(analysis: &Analysis, cell: &CellId) -> String {
    analysis.label_of(cell).unwrap_or(&cell.0).to_owned()
}

/// The first ladders, two at most, in so many rows.
pub(super) fn picture(analysis: &Analysis, rows: usize) -> Option<Block> {
    let mut told = analysis
        .ladders
        .iter()
        .filter(|ladder| ladder.whole.is_some());
    let first = told.next()?;
    let mut left = rows;
    let same = told.filter(|ladder| ladder.comparison == first.comparison);
    let ladders = [first].into_iter().chain(same);
    let ladders: Vec<Ladder<'_>> = ladders
        .map(|outcome| Ladder {
            thin: Vec::new(),
            ..Ladder::of(analysis, outcome)
        })
        .take_while(|ladder| {
            let needed = ladder.pieces.len() + LINES_BESIDE;
            let fits = needed <= left;
            left = left.saturating_sub(needed);
            fits
        })
        .take(2)
        .collect();
    let end = ladders.iter().map(Ladder::end).fold(0.0, f64::max);
    (!ladders.is_empty()).then(|| self::rows(&ladders, Scale::linear(end)).into())
}

/// The ladders of a comparison over one axis.
fn figure(analysis: &Analysis, comparison: &ComparisonOutcome, ladders: &[Ladder<'_>]) -> Block {
    let end = ladders.iter().map(Ladder::end).fold(0.0, f64::max);
    let scale = Scale::linear(end);
    let mut blocks = vec![paragraph(CAPTION), rows(ladders, scale).into()];
    blocks.extend(ladders.iter().map(|ladder| ladder.explained(analysis)));
    Section::figure(format!("ladder-{}", comparison.id), "", blocks).into()
}

fn titles(ladders: &[Ladder<'_>]) -> Vec<String> {
    let ladders = ladders.iter();
    ladders.map(|l| l.outcome.title.clone()).collect()
}

fn rows(ladders: &[Ladder<'_>], scale: Scale) -> Rows {
    let tick = |tick| quantity::tick(Measure::Time, tick);
    let taken_apart = titles(ladders).join("; ");
    let axis = Axis::new("", scale, quantity::ticks(&scale), tick);
    let group = RowGroup::of("", ladders.iter().map(Ladder::row).collect());
    let summary = format!("Time of one operation, taken apart: {taken_apart}");
    Rows::new(summary, axis, vec![group])
}

/// A piece in the list of steps.
fn step(piece: &Piece<'_>) -> Item {
    let alone = piece.isolated();
    let alone = alone.map(|i| format!("alone {}", time::text(&i.cost)));
    let calls = Some(piece.calls()).filter(|calls| !calls.is_empty());
    let calls = calls.map(|calls| format!("system calls: {calls}"));
    let share = format!("{} of the whole", time::share(piece.share));
    let more: Vec<String> = [share].into_iter().chain(alone).chain(calls).collect();
    Item {
        key: Some(Key::Fill(piece.fill)),
        note: faint(more.join("; ")),
        figure: strong(time::text(&piece.time))
            .then(faint(format!(" {}", time::spread(&piece.time)))),
        ..Item::of(&piece.label)
    }
}

/// What must be said about a ladder, a sentence each.
fn notes(outcome: &LadderOutcome, top: Option<&str>) -> Vec<String> {
    let missing = outcome.missing.iter().map(|rung| {
        let (cell, step, why) = (&rung.cell, &rung.step, rung.why.trim_end_matches('.'));
        format!("No rung “{cell}” ({step}): {why}.")
    });
    let mut notes: Vec<String> = missing.collect();
    let Some(remainder) = &outcome.remainder else {
        notes.push("Too few rungs were measured to tell any step.".to_owned());
        return notes;
    };
    notes.extend(left_over(remainder, top));
    notes.extend(outcome.isolated.as_ref().map(alone));
    let less = "Cheaper within the operation than alone, because other steps warm caches";
    let more = "Dearer within the operation than its parts alone";
    for (wanted, said) in [(Agreement::Less, less), (Agreement::More, more)] {
        let steps = outcome.steps.iter();
        let steps = steps.filter(|s| s.isolated.as_ref().is_some_and(|i| i.agreement == wanted));
        let steps: Vec<String> = steps.map(|step| wording::list(&step.steps)).collect();
        if !steps.is_empty() {
            notes.push(format!("{said}: {}.", steps.join("; ")));
        }
    }
    notes
}

/// That the steps do not add up. That they do says nothing: each is the difference of two
/// neighbours, so their sum is the topmost one whatever they are of.
fn left_over(remainder: &Interval, top: Option<&str>) -> Option<String> {
    let adds_up = remainder.low <= 0.0 && remainder.high >= 0.0;
    let top = top.map_or_else(|| "the topmost rung".to_owned(), wording::quoted);
    let left = time::whole(remainder);
    (!adds_up).then(|| {
        format!(
            "The steps do not add up to {top}: a remainder of {left} is left, because the median of \
             a sum is not the sum of medians."
        )
    })
}

/// How much of the whole the primitives explain, which were measured apart from it.
fn alone(isolated: &IsolatedSum) -> String {
    let sum = time::whole(&isolated.sum);
    let remainder = &isolated.remainder;
    if remainder.high < 0.0 {
        let more = time::whole(&Interval {
            estimate: -remainder.estimate,
            low: -remainder.high,
            high: -remainder.low,
        });
        return format!("What steps cost alone adds up to {sum}, {more} more than the whole.");
    }
    let without = match isolated.without.as_slice() {
        [] => String::new(),
        steps => format!(" No primitive stands for: {}.", steps.join("; ")),
    };
    let remainder = time::whole(remainder);
    format!(
        "What steps cost alone adds up to {sum}; {remainder} of the whole is not explained by \
         it.{without}"
    )
}

/// A call with how often it is made, unless that is once.
fn call(name: &str, often: f64) -> String {
    const ROUNDING: f64 = 0.005;
    let whole = often.round();
    match (often - whole).abs() < ROUNDING {
        true if (whole - 1.0).abs() < ROUNDING => name.to_owned(),
        true => minus(&format!("{whole:.0} {name}")),
        false => minus(&format!("{} {name}", format::per_operation(often))),
    }
}

#[cfg(test)]
mod tests {
    use super::testing::ladder;
    use super::*;

    #[test]
    fn that_steps_add_up_is_no_finding_but_that_they_do_not_is() {
        let said = |remainder| notes(&ladder(&[2_000.0, 500.0], remainder), Some("files"));
        let adds_up = |note: &String| note.contains("add up to files");
        assert!(!said(5.0).iter().any(adds_up), "{:?}", said(5.0));
        let left = said(300.0);
        assert!(left[0].starts_with("The steps do not add up to files: a remainder of 300 ns"));
        let alone = "What steps cost alone adds up to 2.50 µs [2.49, 2.51 µs]; 300 ns";
        let said = left[1].replace(crate::format::NO_BREAK, " ");
        assert!(said.starts_with(alone), "{said}");
    }
}
