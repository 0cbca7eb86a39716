//! The pieces of a ladder, each beginning where the one below ends: as drawn, and as a table.

use super::call;
use super::time::{Time, share};
use crate::document::{Cell, Fill, Segment, Table, TableBuilder, number, text_column};
use crate::wording;
use std::collections::BTreeMap;
use stowplan_analysis::{Agreement, Isolated, LadderOutcome, Step};
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
    pub(super) time: Time,
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
        self.from + self.time.value.max(0.0)
    }

    /// Everything about it in a sentence.
    pub(super) fn tooltip(&self) -> String {
        let alone = self.isolated().map(|isolated| {
            let more = match isolated.agreement {
                Agreement::Agrees => "",
                Agreement::Less => ", which is more",
                Agreement::More => ", which is less",
            };
            format!(", alone {}{more}", Time::from(&isolated.cost).whole())
        });
        let said = sentence(&self.label, &self.time, self.share);
        format!("{said}{}", alone.unwrap_or_default())
    }

    pub(super) fn segment(&self) -> Segment {
        Segment {
            from: self.from,
            to: self.from + self.time.value,
            fill: self.fill,
            label: self.label.clone(),
            value: self.time.text(),
            spread: self.time.spread(),
            note: format!("{} of the whole", share(self.share)),
            tooltip: self.tooltip(),
        }
    }
}

/// `Open and close: 2.67 µs [2.61, 2.72], 45% of the whole`
fn sentence(label: &str, time: &Time, of_whole: f64) -> String {
    let share = share(of_whole);
    format!("{label}: {}, {share} of the whole", time.whole())
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
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let end = |pieces: &[Piece<'_>]| pieces.last().map_or(0.0, Piece::end);
    for (index, step) in outcome.steps.iter().enumerate() {
        pieces.push(Piece {
            label: words(&step.steps),
            fill: Fill::Step(index),
            from: end(&pieces),
            time: Time::from(&step.cost),
            share: step.share,
            step: Some(step),
        });
    }
    if let Some((remainder, whole)) = outcome.remainder.as_ref().zip(outcome.whole) {
        pieces.push(Piece {
            label: "remainder".to_owned(),
            fill: Fill::Remainder,
            from: end(&pieces),
            time: Time::from(remainder),
            share: remainder.estimate / whole.estimate,
            step: None,
        });
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
        let label = format!("{} alone", piece.label);
        let (label, time) = match (piece.step, piece.isolated()) {
            (_, Some(isolated)) => (label, Time::from(&isolated.cost)),
            // The lowest rung is no difference: it was measured alone.
            (Some(_), None) if index == 0 => (label, piece.time),
            (Some(_), None) => {
                thin.push(unknown(piece, from));
                continue;
            }
            (None, _) => {
                let label = "not explained by what steps cost alone".to_owned();
                (label, Time::from(&isolated.remainder))
            }
        };
        let value = piece.isolated().map(|_| time.text()).unwrap_or_default();
        thin.push(Segment {
            from,
            to: from + time.value,
            fill: piece.fill,
            tooltip: sentence(&label, &time, time.value / whole.estimate),
            label,
            value,
            spread: String::new(),
            note: String::new(),
        });
        from += time.value.max(0.0);
    }
    thin
}

/// In the place of a piece for which no primitive stands.
fn unknown(piece: &Piece<'_>, from: f64) -> Segment {
    let label = format!("{} alone", piece.label);
    Segment {
        from,
        to: from,
        fill: piece.fill,
        tooltip: format!("{label}: not known"),
        label,
        value: String::new(),
        spread: String::new(),
        note: String::new(),
    }
}

/// Every figure.
pub(super) fn table(
    caption: &str,
    pieces: &[Piece<'_>],
    name: &dyn Fn(&CellId) -> String,
) -> Table {
    let time = |time: Time| Cell::number(time.value, time.text());
    let mut columns = vec![
        text_column(
            "step",
            "what is done more than in the row above",
            |row: &Piece<'_>| Cell::text(&row.label),
        ),
        text_column(
            "cell",
            "the cell that does it, beside everything above",
            |row: &Piece<'_>| {
                Cell::text(row.step.map_or_else(String::new, |step| name(&step.cell)))
            },
        ),
        number(
            "costs",
            "time per operation that it adds, by ablation",
            |row: &Piece<'_>| time(row.time),
        )
        .in_unit("ns")
        .weighing(10),
        number(
            "interval",
            "interval of that, widened by the noise floor",
            |row: &Piece<'_>| Cell::number(row.time.ends.0, row.time.spread()),
        )
        .in_unit("ns")
        .weighing(6),
        number("share", "share of the whole", |row: &Piece<'_>| {
            Cell::number(row.share, share(row.share))
        })
        .weighing(7),
    ];
    columns.extend(alone());
    columns.push(
        text_column(
            "system calls",
            "those that it adds per operation",
            |row: &Piece<'_>| Cell::text(row.calls()),
        )
        .weighing(4),
    );
    Table::of(caption, columns, pieces)
}

/// What the primitives of each piece take by themselves, beside what it costs.
fn alone<'a>() -> [TableBuilder<'a, Piece<'a>>; 3] {
    let isolated = |row: &Piece<'_>, cell: fn(Time) -> Cell| {
        let cost = row.isolated().map(|isolated| Time::from(&isolated.cost));
        cost.map_or_else(Cell::default, cell)
    };
    let agreement = |row: &Piece<'_>| {
        Cell::text(row.isolated().map_or("", |i| match i.agreement {
            Agreement::Agrees => "agree",
            Agreement::Less => "within it is less",
            Agreement::More => "within it is more",
        }))
    };
    [
        number(
            "alone",
            "what its primitives take by themselves",
            move |row: &Piece<'_>| isolated(row, |time| Cell::number(time.value, time.text())),
        )
        .in_unit("ns")
        .weighing(5),
        number(
            "interval alone",
            "interval of that, its ends added up",
            move |row: &Piece<'_>| isolated(row, |time| Cell::number(time.ends.0, time.spread())),
        )
        .in_unit("ns")
        .weighing(3),
        text_column("within against alone", "", agreement).weighing(2),
    ]
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
