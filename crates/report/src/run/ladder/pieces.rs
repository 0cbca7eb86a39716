//! The pieces of a ladder, each beginning where the one below ends: as drawn, and as a table.

use super::call;
use crate::columns::Columns;
use crate::document::{Cell, Fill, Segment, Table};
use crate::signed::{self as time, share};
use crate::wording;
use std::collections::BTreeMap;
use stowplan_analysis::{Agreement, Interval, Isolated, LadderOutcome, Step};
use stowplan_model::CellId;

/// A step, or what is left of the whole.
pub(super) struct Piece<'a> {
    /// What it is.
    pub(super) label: String,
    /// How it is drawn.
    pub(super) fill: Fill,
    /// Where it begins on the axis.
    pub(super) from: f64,
    /// Its length; a piece that saves time has one below 0.
    pub(super) time: Interval,
    /// Its share of the whole.
    pub(super) share: f64,
    /// The step; nothing of what is left.
    step: Option<&'a Step>,
}

impl Piece<'_> {
    /// What its primitives take alone, if that is known.
    pub(super) fn isolated(&self) -> Option<&Isolated> {
        self.step?.isolated.as_ref()
    }

    /// The system calls that it adds.
    pub(super) fn calls(&self) -> String {
        let calls = self.step.and_then(|step| step.calls.as_ref());
        calls.map_or_else(String::new, calls_in_words)
    }

    /// Where the next one begins, which is at its own beginning where it saves time.
    pub(super) fn end(&self) -> f64 {
        self.from + self.time.estimate.max(0.0)
    }

    /// Everything about it in a sentence.
    pub(super) fn tooltip(&self) -> String {
        let alone = self.isolated().map(|isolated| {
            let more = match isolated.agreement {
                Agreement::Agrees => "",
                Agreement::Less => ", which is more",
                Agreement::More => ", which is less",
            };
            format!(", alone {}{more}", time::whole(&isolated.cost))
        });
        let said = sentence(&self.label, &self.time, self.share);
        format!("{said}{}", alone.unwrap_or_default())
    }

    pub(super) fn segment(&self) -> Segment {
        Segment {
            from: self.from,
            to: self.from + self.time.estimate,
            fill: self.fill,
            label: self.label.clone(),
            value: time::text(&self.time),
            spread: time::spread(&self.time),
            tooltip: self.tooltip(),
        }
    }
}

/// `Open and close: 2.67 µs [2.61, 2.72], 45% of the whole`
fn sentence(label: &str, time: &Interval, of_whole: f64) -> String {
    let share = share(of_whole);
    format!("{label}: {}, {share} of the whole", time::whole(time))
}

/// A step in words: several where they cannot be told apart.
fn words(steps: &[String]) -> String {
    match steps {
        [one] => one.clone(),
        many => format!("{}, not separable here", wording::list(many)),
    }
}

/// The steps, from the bottom up, and then the remainder.
pub(super) fn pieces(outcome: &LadderOutcome) -> Vec<Piece<'_>> {
    let piece = |label, fill, time, share, step| Piece {
        label,
        fill,
        from: 0.0,
        time,
        share,
        step,
    };
    let steps = outcome.steps.iter().enumerate().map(|(index, step)| {
        let (label, time) = (words(&step.steps), time::of(&step.cost));
        piece(label, Fill::Step(index), time, step.share, Some(step))
    });
    let remainder = outcome.remainder.as_ref().zip(outcome.whole);
    let remainder = remainder.map(|(left, whole)| {
        let (label, share) = ("remainder".to_owned(), left.estimate / whole.estimate);
        piece(label, Fill::Remainder, *left, share, None)
    });
    let mut pieces: Vec<Piece<'_>> = steps.chain(remainder).collect();
    let mut from = 0.0;
    for piece in &mut pieces {
        piece.from = from;
        from = piece.end();
    }
    pieces
}

/// What the primitives of each piece take alone, as a bar of their own; none if nobody says what a
/// step is made of. Text forms put its values beside the pieces, where they have any.
pub(super) fn thin(outcome: &LadderOutcome, pieces: &[Piece<'_>]) -> Vec<Segment> {
    let Some((isolated, whole)) = outcome.isolated.as_ref().zip(outcome.whole) else {
        return Vec::new();
    };
    let mut from = 0.0;
    let mut thin = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let alone = piece.isolated().map(|isolated| isolated.cost);
        let (label, time) = match (piece.step, alone) {
            (None, _) => {
                let label = "not explained by what steps cost alone".to_owned();
                (label, Some(isolated.remainder))
            }
            // The lowest rung is no difference: it was measured alone.
            (Some(_), None) if index == 0 => (format!("{} alone", piece.label), Some(piece.time)),
            (Some(_), alone) => (format!("{} alone", piece.label), alone),
        };
        let length = time.map_or(0.0, |time| time.estimate);
        thin.push(Segment {
            from,
            to: from + length,
            fill: piece.fill,
            tooltip: match &time {
                Some(time) => sentence(&label, time, length / whole.estimate),
                // No primitive stands for it.
                None => format!("{label}: not known"),
            },
            label,
            value: alone.as_ref().map(time::text).unwrap_or_default(),
            spread: String::new(),
        });
        from += length.max(0.0);
    }
    thin
}

/// Every figure.
pub(super) fn table(
    caption: &str,
    pieces: &[Piece<'_>],
    name: &dyn Fn(&CellId) -> String,
) -> Table {
    let time = |time: &Interval| Cell::number(time.estimate, time::text(time));
    let ends = |time: &Interval| Cell::number(time.low, time::spread(time));
    let alone = |row: &Piece<'_>, cell: fn(&Interval) -> Cell| {
        let cost = row.isolated().map(|isolated| &isolated.cost);
        cost.map_or_else(Cell::default, cell)
    };
    let make = Columns::<Piece<'_>>::new();
    let columns = vec![
        make.text("step", |row| row.label.clone())
            .help("what is done more than in the row above"),
        make.text("cell", |row| {
            row.step.map_or_else(String::new, |s| name(&s.cell))
        })
        .help("the cell that does it, beside everything above"),
        make.number("costs", move |row| time(&row.time))
            .help("time per operation that it adds, by ablation")
            .in_unit("ns")
            .weighing(10),
        make.number("interval", move |row| ends(&row.time))
            .help("interval of that, widened by the noise floor")
            .in_unit("ns")
            .weighing(6),
        make.number("share", |row| Cell::number(row.share, share(row.share)))
            .help("share of the whole")
            .weighing(7),
        make.number("alone", move |row| alone(row, time))
            .help("what its primitives take by themselves")
            .in_unit("ns")
            .weighing(5),
        make.number("interval alone", move |row| alone(row, ends))
            .help("interval of that, its ends added up")
            .in_unit("ns")
            .weighing(3),
        make.text("within against alone", |row| agreement(row).to_owned())
            .weighing(2),
        make.text("system calls", Piece::calls)
            .help("those that it adds per operation")
            .weighing(4),
    ];
    Table::of(caption, columns, pieces)
}

fn agreement(piece: &Piece<'_>) -> &'static str {
    match piece.isolated().map(|isolated| isolated.agreement) {
        None => "",
        Some(Agreement::Agrees) => "agree",
        Some(Agreement::Less) => "within it is less",
        Some(Agreement::More) => "within it is more",
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::ladder::testing::ladder;

    #[test]
    fn each_piece_begins_where_the_one_below_ends_and_a_saving_takes_no_room() {
        let outcome = ladder(&[2_000.0, -150.0, 500.0], 0.0);
        let pieces = pieces(&outcome);
        let begin: Vec<f64> = pieces.iter().map(|piece| piece.from).collect();
        assert_eq!(begin, [0.0, 2_000.0, 2_000.0, 2_500.0]);
        let saving = pieces[1].segment();
        assert!(saving.to < saving.from);
        assert_eq!(saving.value, "−150 ns");
    }

    #[test]
    fn what_stands_beside_a_piece_is_what_its_own_primitives_take() {
        let mut outcome = ladder(&[2_000.0, 300.0, 500.0], 0.0);
        outcome.steps[1].isolated = None;
        let pieces = pieces(&outcome);
        let thin = thin(&outcome, &pieces);
        let values: Vec<&str> = thin.iter().map(|piece| piece.value.as_str()).collect();
        assert_eq!(values, ["2.00 µs", "", "500 ns", ""]);
        assert_eq!((thin[1].from, thin[1].to), (2_000.0, 2_000.0));
        assert_eq!(thin[2].from, 2_000.0);
    }
}
