//! Why cells take as long as they do: per comparison ladders over one axis, what explains cold reads,
//! and what cells asked of the system.

mod cold;
mod counts;

use crate::columns::{self, listed};
use crate::document::{
    Axis, Block, Cell, ChartRow, Fill, RowGroup, Rows, Scale, Section, Shape, Table, Unit, Value,
    folded, notice, paragraph, remark,
};
use crate::figure::ticks;
use crate::value::{self, minus};
use crate::{noise, wording};
use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_analysis::{Analysis, ComparisonOutcome, Interval, LadderOutcome, Step};
use stowplan_model::CellId;

const CAPTION: &str = "Time of one operation, from the bottom up: each piece is what a cell takes \
                       more than the one below it, in the same rounds. Pale: what is left of the \
                       whole, because the median of a sum is not the sum of medians.";
/// Lines of a ladder beside its pieces: its title, the whole and the axis.
const LINES_BESIDE: usize = 3;

/// Why the cells of each comparison take as long as they do.
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
    let ladders = ladders.filter(|ladder| of(&ladder.comparison));
    let ladders: Vec<&LadderOutcome> = ladders.collect();
    let mut blocks: Vec<Block> = Vec::new();
    if !ladders.is_empty() {
        blocks.extend((!comparison.reliable).then(|| notice(noise::unreliable())));
        let mut drawn = vec![paragraph(CAPTION), rows(&ladders).into()];
        drawn.extend(ladders.iter().map(|ladder| explained(analysis, ladder)));
        blocks.push(Section::figure(format!("ladder-{}", comparison.id), "", drawn).into());
    }
    let cold = analysis.cold.iter().find(|cold| of(&cold.comparison));
    let cold = cold.map(|cold| cold::section(comparison, cold));
    let title = "What each cell asked of the system, per operation, counted in a block of its own";
    let counts = counts::table(comparison).map(|table| folded(title, table));
    blocks.extend(cold.into_iter().chain(counts));
    let has_any = !blocks.is_empty();
    let section = Section::new(&comparison.title, blocks);
    has_any.then(|| section.named(format!("why-{}", comparison.id)).into())
}

/// What must be said about a ladder, and every figure.
fn explained(analysis: &Analysis, outcome: &LadderOutcome) -> Block {
    let missing = outcome.missing.iter().map(|rung| {
        let (cell, step, why) = (&rung.cell, &rung.step, rung.why.trim_end_matches('.'));
        format!("No rung “{cell}” ({step}): {why}.")
    });
    let mut blocks: Vec<Block> = missing.map(remark).collect();
    let pieces = pieces(outcome);
    blocks.push(match pieces.is_empty() {
        true => remark("Too few rungs were measured to tell any step."),
        false => folded("All figures", table(analysis, &outcome.title, &pieces)),
    });
    let section = Section::new(&outcome.title, blocks);
    section.named(format!("steps-{}", outcome.id)).into()
}

fn label_of(analysis: &Analysis, cell: &CellId) -> String {
    analysis.label_of(cell).unwrap_or(&cell.0).to_owned()
}

/// The first ladders that fit in so many lines, two at most.
pub(super) fn picture(analysis: &Analysis, rows: usize) -> Option<Block> {
    let mut told = analysis
        .ladders
        .iter()
        .filter(|ladder| ladder.whole.is_some());
    let first = told.next()?;
    let mut left = rows;
    let same = told.filter(|ladder| ladder.comparison == first.comparison);
    let fitting = [first].into_iter().chain(same).take_while(|ladder| {
        let needed = ladder.steps.len() + 1 + LINES_BESIDE;
        let fits = needed <= left;
        left = left.saturating_sub(needed);
        fits
    });
    let ladders: Vec<&LadderOutcome> = fitting.take(2).collect();
    (!ladders.is_empty()).then(|| self::rows(&ladders).into())
}

fn rows(ladders: &[&LadderOutcome]) -> Rows {
    let drawn = |ladder: &&LadderOutcome| {
        let whole = ladder.whole.as_ref().map(Value::from);
        let whole = ChartRow::bar("the whole", whole, Fill::Reference);
        let pieces: Vec<ChartRow> = pieces(ladder).iter().map(Piece::row).collect();
        RowGroup::of(&ladder.title, [pieces, vec![whole]].concat())
    };
    let ends = ladders.iter().flat_map(|ladder| {
        let pieces = pieces(ladder);
        let ends: Vec<f64> = pieces.iter().map(Piece::end).collect();
        ends.into_iter().chain(ladder.whole.map(|whole| whole.high))
    });
    let scale = Scale::linear(ends.fold(0.0, f64::max));
    let titles: Vec<&str> = ladders.iter().map(|ladder| ladder.title.as_str()).collect();
    let axis = Axis::new("", scale, ticks(&scale), |at| Unit::Time.tick(at));
    let summary = format!("Time of one operation, taken apart: {}", titles.join("; "));
    Rows::new(summary, axis, ladders.iter().map(drawn).collect())
}

/// A step, or what is left of the whole.
#[derive(Serialize)]
struct Piece<'a> {
    label: String,
    /// Where it begins on the axis.
    from: f64,
    /// Its length; a piece that saves time has one below 0.
    time: Interval,
    /// Its share of the whole.
    share: f64,
    /// The step; nothing of what is left.
    step: Option<&'a Step>,
}

impl Piece<'_> {
    /// What its primitives take alone, if that is known.
    fn isolated(&self) -> Option<Value> {
        self.step?.isolated.as_ref().map(Value::from)
    }

    /// The system calls that it adds.
    fn calls(&self) -> String {
        let calls = self.step.and_then(|step| step.calls.as_ref());
        calls.map_or_else(String::new, calls_in_words)
    }

    /// Where the next one begins, which is at its own beginning where it saves time.
    fn end(&self) -> f64 {
        self.from + self.time.estimate.max(0.0)
    }

    fn row(&self) -> ChartRow {
        let fill = match self.step {
            Some(_) => Fill::Ours,
            None => Fill::Uncertain,
        };
        let share = format!("{} of the whole", share(self.share));
        let alone = self.isolated();
        let alone = alone.map(|alone| format!("alone {}", alone.text()));
        let calls = Some(self.calls()).filter(|calls| !calls.is_empty());
        let calls = calls.map(|calls| format!("system calls: {calls}"));
        let more: Vec<String> = [share].into_iter().chain(alone).chain(calls).collect();
        ChartRow {
            shape: Shape::Piece(self.from, fill),
            help: more.join("; "),
            ..ChartRow::bar(&self.label, Some(Value::from(&self.time)), fill)
        }
    }
}

fn share(share: f64) -> String {
    minus(&value::percent(share))
}

/// The steps, from the bottom up, and then the remainder; several that cannot be told apart are one.
fn pieces(outcome: &LadderOutcome) -> Vec<Piece<'_>> {
    let mut from = 0.0;
    let mut piece = |label, time, share, step| {
        let piece = Piece {
            label,
            from,
            time,
            share,
            step,
        };
        from = piece.end();
        piece
    };
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    for step in &outcome.steps {
        let label = match step.steps.as_slice() {
            [one] => one.clone(),
            many => format!("{}, not separable here", wording::list(many)),
        };
        pieces.push(piece(label, step.cost, step.share, Some(step)));
    }
    if let Some((left, whole)) = outcome.remainder.as_ref().zip(outcome.whole) {
        let share = left.estimate / whole.estimate;
        pieces.push(piece("remainder".to_owned(), *left, share, None));
    }
    pieces
}

/// Every figure.
fn table(analysis: &Analysis, caption: &str, pieces: &[Piece<'_>]) -> Table {
    let special = |name: &str, piece: &&Piece<'_>| match name {
        "cell" => {
            let step = piece.step.map(|step| label_of(analysis, &step.cell));
            Cell::text(step.unwrap_or_default())
        }
        _ => Cell::text(piece.calls()),
    };
    let columns = listed(include_str!("../tables/steps.txt"), special);
    Table::of(caption, columns, &columns::rows(pieces))
}

/// `close, openat, 3.04 pread64, −1 fstat`; `none` of none.
fn calls_in_words(calls: &BTreeMap<String, f64>) -> String {
    let mut calls: Vec<(&String, f64)> = calls.iter().map(|(n, often)| (n, *often)).collect();
    calls.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    if calls.is_empty() {
        return "none".to_owned();
    }
    let calls = calls.into_iter().map(|(name, often)| call(name, often));
    calls.collect::<Vec<_>>().join(", ")
}

/// A call with how often it is made, unless that is once.
fn call(name: &str, often: f64) -> String {
    const ROUNDING: f64 = 0.005;
    let whole = often.round();
    match (often - whole).abs() < ROUNDING {
        true if (whole - 1.0).abs() < ROUNDING => name.to_owned(),
        true => minus(&format!("{whole:.0} {name}")),
        false => minus(&format!("{} {name}", value::per_operation(often))),
    }
}
