//! Costs taken apart, before they are drawn: per comparison the claims, the ladders over one axis,
//! what cells asked of the system, and what explains cold reads. Terminal, Markdown and HTML draw
//! the same.

mod cold;
mod counts;

use crate::document::Scale;
use crate::quantity;
use crate::table::{Entry, Maker, Table, build, numeric, textual};
use crate::{format, wording};
use std::collections::BTreeMap;
use stowplan_analysis::{
    Agreement, Analysis, ClaimVerdict, ComparisonOutcome, DifferenceOutcome, HypothesisOutcome,
    Interval, Isolated, LadderOutcome, Quantity, Step,
};
use stowplan_model::{CellId, Measure};

/// Why the cells of a comparison take as long as they do.
pub(crate) struct Group {
    /// The comparison.
    pub(crate) id: String,
    /// Its name for people.
    pub(crate) title: String,
    /// What became of the claims.
    pub(crate) claims: Vec<Claim>,
    /// What must be said about all of it, a sentence each.
    pub(crate) notes: Vec<String>,
    /// The axis of its ladders, from 0.
    pub(crate) scale: Scale,
    /// Its ladders, in reading order.
    pub(crate) ladders: Vec<Ladder>,
    /// What explains cold reads, a sentence each.
    pub(crate) cold: Vec<String>,
    /// What the cells asked of the system; nothing where nothing was counted.
    pub(crate) counts: Option<Table>,
}

impl Group {
    /// Whether nothing but counts is known, which nobody asked for.
    pub(crate) fn is_only_counts(&self) -> bool {
        self.claims.is_empty() && self.ladders.is_empty() && self.cold.is_empty()
    }
}

/// A claim and what became of it.
pub(crate) struct Claim {
    /// The claim itself.
    pub(crate) claim: String,
    /// The figures and the judgement.
    pub(crate) found: String,
    /// The judgement.
    pub(crate) verdict: ClaimVerdict,
}

/// One ladder.
pub(crate) struct Ladder {
    /// Name in the study file.
    pub(crate) id: String,
    /// Title for people.
    pub(crate) title: String,
    /// What is taken apart: its time; nothing where there are no steps.
    pub(crate) whole: Option<Figure>,
    /// Everything about it in a sentence.
    pub(crate) summary: String,
    /// The steps, from the bottom up, and then the remainder.
    pub(crate) pieces: Vec<Piece>,
    /// The same of what primitives take alone; empty where nobody says what a step is made of.
    pub(crate) alone: Vec<Piece>,
    /// What must be said about it, a sentence each.
    pub(crate) notes: Vec<String>,
    /// Every figure.
    pub(crate) table: Table,
}

/// A time in nanoseconds with its ends.
#[derive(Clone, Copy)]
pub(crate) struct Figure {
    pub(crate) value: f64,
    pub(crate) ends: (f64, f64),
}

/// A piece of a stacked bar.
pub(crate) struct Piece {
    /// What it is.
    pub(crate) label: String,
    /// How it is drawn.
    pub(crate) kind: Kind,
    /// Where it begins on the axis.
    pub(crate) from: f64,
    /// Its length; a piece that saves time has one below 0.
    pub(crate) figure: Figure,
    /// Its share of the whole.
    pub(crate) share: f64,
    /// What its primitives take alone, if that is known.
    pub(crate) alone: Option<String>,
    /// The system calls that it adds.
    pub(crate) calls: String,
    /// Everything about it in a sentence.
    pub(crate) tooltip: String,
}

/// How a piece is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The step with this number, from 0.
    Step(usize),
    /// What no step explains.
    Remainder,
}

impl Figure {
    fn of(interval: &Interval) -> Self {
        Self {
            value: interval.estimate,
            ends: (interval.low, interval.high),
        }
    }

    /// `2.67 µs`
    pub(crate) fn text(&self) -> String {
        signed(self.value)
    }

    /// `[2.61, 2.72]`
    pub(crate) fn spread(&self) -> String {
        let quantity = Quantity {
            value: self.value,
            ends: Some(self.ends),
        };
        minus(&quantity::spread(Measure::Time, &quantity))
    }

    /// Both.
    pub(crate) fn whole_text(&self) -> String {
        format!("{} {}", self.text(), self.spread())
    }
}

impl Piece {
    /// Where it ends on the axis, which is at its beginning where it saves time.
    pub(crate) fn to(&self) -> f64 {
        self.from + self.figure.value.max(0.0)
    }

    /// `Open and close: 2.67 µs [2.61, 2.72], 45%`
    fn sentence(label: &str, figure: &Figure, share: f64) -> String {
        format!(
            "{label}: {}, {} of the whole",
            figure.whole_text(),
            self::share(share)
        )
    }
}

/// A time that may be less than 0.
fn signed(nanoseconds: f64) -> String {
    if nanoseconds == 0.0 {
        return "0 ns".to_owned();
    }
    minus(&format::time(nanoseconds))
}

/// A share of the whole, which may be less than 0.
pub(crate) fn share(share: f64) -> String {
    minus(&format::percent(share))
}

fn minus(text: &str) -> String {
    text.replace('-', "−")
}

/// Every comparison that something explains, in running order.
pub(crate) fn groups(analysis: &Analysis) -> Vec<Group> {
    let comparisons = analysis.comparisons.iter();
    comparisons
        .filter_map(|comparison| group(analysis, comparison))
        .collect()
}

fn group(analysis: &Analysis, comparison: &ComparisonOutcome) -> Option<Group> {
    let of = |id: &String| *id == comparison.id;
    let claims = analysis.hypotheses.iter();
    let claims: Vec<Claim> = claims.filter(|c| of(&c.comparison)).map(claim).collect();
    let found = analysis.ladders.iter();
    let found: Vec<&LadderOutcome> = found.filter(|l| of(&l.comparison)).collect();
    let ladders: Vec<Ladder> = found
        .iter()
        .map(|outcome| ladder(analysis, outcome))
        .collect();
    let cold = analysis.cold.iter().find(|cold| of(&cold.comparison));
    let cold = cold.map_or_else(Vec::new, |cold| cold::sentences(comparison, cold));
    let counts = counts::table(comparison);
    if claims.is_empty() && ladders.is_empty() && cold.is_empty() && counts.is_none() {
        return None;
    }
    let mut notes = Vec::new();
    let claims_something = !claims.is_empty() || !ladders.is_empty();
    if claims_something && !comparison.reliable {
        notes.push(
            "Session unreliable: two identical cells differed, so nothing is claimed.".to_owned(),
        );
    }
    let ends = ladders.iter().flat_map(|ladder| {
        let pieces = ladder.pieces.iter().chain(&ladder.alone).map(Piece::to);
        let whole = ladder.whole.map(|whole| whole.ends.1);
        pieces.chain(whole).collect::<Vec<_>>()
    });
    Some(Group {
        id: comparison.id.clone(),
        title: comparison.title.clone(),
        scale: Scale::linear(ends.fold(0.0, f64::max)),
        claims,
        notes,
        ladders,
        cold,
        counts,
    })
}

fn ladder(analysis: &Analysis, outcome: &LadderOutcome) -> Ladder {
    let whole = outcome.whole.as_ref().map(Figure::of);
    let pieces = pieces(outcome);
    let name = |cell: &CellId| analysis.label_of(cell).unwrap_or(&cell.0).to_owned();
    let top = outcome.top().map(name);
    let summary = match (&top, &whole) {
        (Some(top), Some(whole)) => {
            let steps: Vec<String> = pieces.iter().map(|p| p.tooltip.clone()).collect();
            format!(
                "{}: {top}, {}. {}.",
                outcome.title,
                whole.whole_text(),
                steps.join("; ")
            )
        }
        _ => format!("{}: no steps.", outcome.title),
    };
    Ladder {
        id: outcome.id.clone(),
        title: outcome.title.clone(),
        alone: alone(outcome),
        notes: notes(outcome, top.as_deref()),
        table: table(outcome, &pieces, &name),
        whole,
        summary,
        pieces,
    }
}

/// A step in words: several where they cannot be told apart.
fn words(steps: &[String]) -> String {
    match steps {
        [one] => one.clone(),
        many => format!("{}, not separable here", wording::list(many)),
    }
}

fn cost_of(step: &Step) -> Figure {
    Figure {
        value: step.cost.ns,
        ends: (step.cost.low, step.cost.high),
    }
}

fn pieces(outcome: &LadderOutcome) -> Vec<Piece> {
    let mut from = 0.0;
    let mut pieces: Vec<Piece> = Vec::new();
    for (index, step) in outcome.steps.iter().enumerate() {
        let (label, figure) = (words(&step.steps), cost_of(step));
        let isolated = step.isolated.as_ref();
        let mut tooltip = Piece::sentence(&label, &figure, step.share);
        if let Some(isolated) = isolated {
            tooltip.push_str(&format!(", {}", beside(isolated)));
        }
        pieces.push(Piece {
            kind: Kind::Step(index),
            from,
            share: step.share,
            alone: isolated.map(|isolated| signed(isolated.cost.estimate)),
            calls: step.calls.as_ref().map_or_else(String::new, calls_in_words),
            label,
            figure,
            tooltip,
        });
        from += figure.value.max(0.0);
    }
    if let Some((remainder, whole)) = outcome.remainder.zip(outcome.whole) {
        pieces.push(remaining("remainder", from, &remainder, &whole));
    }
    pieces
}

fn remaining(label: &str, from: f64, remainder: &Interval, whole: &Interval) -> Piece {
    let figure = Figure::of(remainder);
    let share = remainder.estimate / whole.estimate;
    Piece {
        label: label.to_owned(),
        kind: Kind::Remainder,
        from,
        figure,
        share,
        alone: None,
        calls: String::new(),
        tooltip: Piece::sentence(label, &figure, share),
    }
}

/// The isolated figures as a bar of their own, in which steps without one are missing.
fn alone(outcome: &LadderOutcome) -> Vec<Piece> {
    let Some((isolated, whole)) = outcome.isolated.as_ref().zip(outcome.whole) else {
        return Vec::new();
    };
    let mut from = 0.0;
    let mut pieces = Vec::new();
    for (index, step) in outcome.steps.iter().enumerate() {
        let figure = match &step.isolated {
            Some(isolated) => Figure::of(&isolated.cost),
            // The lowest rung is no difference: it was measured alone.
            None if index == 0 => cost_of(step),
            None => continue,
        };
        let label = format!("{} alone", words(&step.steps));
        let share = figure.value / whole.estimate;
        pieces.push(Piece {
            tooltip: Piece::sentence(&label, &figure, share),
            kind: Kind::Step(index),
            from,
            figure,
            share,
            alone: None,
            calls: String::new(),
            label,
        });
        from += figure.value.max(0.0);
    }
    let label = "not explained by what steps cost alone";
    pieces.push(remaining(label, from, &isolated.remainder, &whole));
    pieces
}

/// `alone 2.52 µs [2.48, 2.57], which is more`
fn beside(isolated: &Isolated) -> String {
    let figure = Figure::of(&isolated.cost).whole_text();
    format!(
        "alone {figure}{}",
        match isolated.agreement {
            Agreement::Agrees => "",
            Agreement::Less => ", which is more",
            Agreement::More => ", which is less",
        }
    )
}

fn notes(outcome: &LadderOutcome, top: Option<&str>) -> Vec<String> {
    let mut notes = Vec::new();
    for rung in &outcome.missing {
        let (cell, step) = (&rung.cell, &rung.step);
        notes.push(format!(
            "No rung “{cell}” ({step}): {}.",
            rung.why.trim_end_matches('.')
        ));
    }
    let Some(remainder) = outcome.remainder else {
        notes.push("Too few rungs were measured to tell any step.".to_owned());
        return notes;
    };
    let figure = Figure::of(&remainder);
    let top = top.map_or_else(|| "the topmost rung".to_owned(), wording::quoted);
    notes.push(match remainder.low <= 0.0 && remainder.high >= 0.0 {
        true => format!(
            "The steps add up to {top} within its interval: the remainder is {}.",
            figure.whole_text()
        ),
        false => format!(
            "The steps do not add up to {top}: a remainder of {} is left, because the median of a \
             sum is not the sum of medians.",
            figure.whole_text()
        ),
    });
    notes.extend(outcome.isolated.as_ref().map(|isolated| {
        let sum = Figure::of(&isolated.sum).whole_text();
        let remainder = &isolated.remainder;
        let without = match isolated.without.as_slice() {
            [] => String::new(),
            steps => format!(" No primitive stands for: {}.", steps.join("; ")),
        };
        match remainder.high < 0.0 {
            true => {
                let more = Figure {
                    value: -remainder.estimate,
                    ends: (-remainder.high, -remainder.low),
                };
                let more = more.whole_text();
                format!("What steps cost alone adds up to {sum}, {more} more than the whole.")
            }
            false => format!(
                "What steps cost alone adds up to {sum}; {} of the whole is not explained by \
                 it.{without}",
                Figure::of(remainder).whole_text()
            ),
        }
    }));
    let differing = |wanted: Agreement| -> Vec<String> {
        let steps = outcome.steps.iter();
        let steps = steps.filter(|s| s.isolated.as_ref().is_some_and(|i| i.agreement == wanted));
        steps.map(|step| wording::list(&step.steps)).collect()
    };
    let (less, more) = (differing(Agreement::Less), differing(Agreement::More));
    if !less.is_empty() {
        notes.push(format!(
            "Cheaper within the operation than alone, because other steps warm caches: {}.",
            less.join("; ")
        ));
    }
    if !more.is_empty() {
        notes.push(format!(
            "Dearer within the operation than its parts alone: {}.",
            more.join("; ")
        ));
    }
    notes
}

fn table(outcome: &LadderOutcome, pieces: &[Piece], name: &dyn Fn(&CellId) -> String) -> Table {
    let rows: Vec<(&Piece, Option<&Step>)> = pieces
        .iter()
        .enumerate()
        .map(|(index, piece)| (piece, outcome.steps.get(index)))
        .collect();
    type Row<'a> = (&'a Piece, Option<&'a Step>);
    fn isolated<'a>(row: &Row<'a>) -> Option<&'a Isolated> {
        row.1.and_then(|step| step.isolated.as_ref())
    }
    let time = |figure: Figure| Entry::number(figure.value, figure.text());
    let makers: Vec<Maker<'_, Row<'_>>> = vec![
        textual(
            "step",
            "what is done more than in the row above",
            |row: &Row<'_>| Entry::text(&row.0.label),
        ),
        textual(
            "cell",
            "the cell that does it, beside everything above",
            move |row: &Row<'_>| {
                Entry::text(row.1.map_or_else(String::new, |step| name(&step.cell)))
            },
        ),
        numeric(
            "costs",
            "time per operation that it adds, by ablation",
            move |row: &Row<'_>| time(row.0.figure),
        )
        .in_unit("ns"),
        numeric(
            "interval",
            "interval of that, widened by the noise floor",
            |row: &Row<'_>| Entry::number(row.0.figure.ends.0, row.0.figure.spread()),
        )
        .in_unit("ns"),
        numeric("share", "share of the whole", |row: &Row<'_>| {
            Entry::number(row.0.share, share(row.0.share))
        }),
        numeric(
            "alone",
            "what its primitives take by themselves",
            move |row: &Row<'_>| {
                isolated(row).map_or_else(Entry::default, |i| time(Figure::of(&i.cost)))
            },
        )
        .in_unit("ns"),
        numeric(
            "interval alone",
            "interval of that, its ends added up",
            move |row: &Row<'_>| {
                isolated(row).map_or_else(Entry::default, |i| {
                    Entry::number(i.cost.low, Figure::of(&i.cost).spread())
                })
            },
        )
        .in_unit("ns"),
        textual("within against alone", "", move |row: &Row<'_>| {
            Entry::text(isolated(row).map_or("", |i| match i.agreement {
                Agreement::Agrees => "agree",
                Agreement::Less => "within it is less",
                Agreement::More => "within it is more",
            }))
        }),
        textual(
            "system calls",
            "those that it adds per operation",
            |row: &Row<'_>| Entry::text(&row.0.calls),
        ),
    ];
    build(makers, &rows)
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
        false => minus(&format!("{} {name}", format::per_operation(often))),
    }
}

fn claim(outcome: &HypothesisOutcome) -> Claim {
    let cost = |difference: &DifferenceOutcome| {
        let cost = difference.cost?;
        Some(Figure {
            value: cost.ns,
            ends: (cost.low, cost.high),
        })
    };
    let of = outcome.of.as_ref();
    let of = of.map_or_else(String::new, |(_, whole)| {
        format!(" of {}", format::time(whole.estimate))
    });
    let side = |difference: &DifferenceOutcome, of: &str| {
        let label = &difference.label;
        match cost(difference) {
            Some(figure) => format!("{label}: {}{of}", figure.whole_text()),
            None => format!("{label}: not measured"),
        }
    };
    let difference = outcome.difference.map(|cost| Figure {
        value: cost.ns,
        ends: (cost.low, cost.high),
    });
    let judged = judgement(outcome, difference.as_ref());
    Claim {
        claim: outcome.claim.trim_end_matches('.').to_owned(),
        found: format!(
            "{}; {}. {}.",
            capital(&side(&outcome.larger, &of)),
            side(&outcome.smaller, ""),
            capital(&judged)
        ),
        verdict: outcome.verdict,
    }
}

fn judgement(outcome: &HypothesisOutcome, difference: Option<&Figure>) -> String {
    let by = difference.map_or_else(String::new, |d| format!(" by {}", d.whole_text()));
    match outcome.verdict {
        ClaimVerdict::Holds => format!("the claim holds here{by}"),
        ClaimVerdict::DoesNotHold => format!(
            "the claim does not hold here: the difference is {}",
            difference.map_or_else(String::new, Figure::whole_text)
        ),
        ClaimVerdict::Undecided => format!(
            "undecided, because the difference{} may be 0",
            difference.map_or_else(String::new, |d| format!(", {},", d.whole_text()))
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

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

/// The badge of a verdict on a claim.
pub(crate) fn verdict(verdict: ClaimVerdict) -> &'static str {
    match verdict {
        ClaimVerdict::Holds => "holds",
        ClaimVerdict::DoesNotHold => "does not hold",
        ClaimVerdict::Undecided => "undecided",
        ClaimVerdict::Unreliable => "unreliable",
        ClaimVerdict::NoData => "no data",
    }
}
