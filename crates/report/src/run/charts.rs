//! Charts of ratios, beside the published ones.

use crate::document::{
    Axis, Bar, Block, ChartRow, Fill, Key, LegendEntry, Mark, MarkKind, RowGroup, Rows, Scale,
    Section, Shape, Sign, anchor, notice, paragraph,
};
use crate::{format, wording};
use std::iter::once;
use stowplan_analysis::{
    Analysis, CellSummary, ChartBar, ChartOutcome, ComparisonOutcome, PublishedRatio, Verdict,
};
use stowplan_model::{CellId, Role};

/// A figure for each chart of the study that has data.
pub(super) fn figures(analysis: &Analysis) -> Vec<Block> {
    let charts = analysis.charts.iter();
    charts
        .map(|outcome| Chart::of(analysis, outcome).figure())
        .collect()
}

/// What the rows of a chart share.
struct Chart<'a> {
    analysis: &'a Analysis,
    outcome: &'a ChartOutcome,
    /// The comparison that it shows, and the cell in it that is 1.0.
    reference: Option<(&'a ComparisonOutcome, &'a CellSummary)>,
    /// The cheapest conceivable way: its label and its ratio to the reference.
    floor: Option<(&'a str, f64)>,
}

impl<'a> Chart<'a> {
    fn of(analysis: &'a Analysis, outcome: &'a ChartOutcome) -> Self {
        let reference = reference_cell(analysis, outcome);
        Self {
            analysis,
            outcome,
            reference,
            floor: reference.and_then(|(comparison, cell)| floor(comparison, cell)),
        }
    }

    fn figure(&self) -> Block {
        let outcome = self.outcome;
        let rows = self.rows();
        let logarithmic = if rows.axis.scale.is_logarithmic() {
            " Logarithmic axis."
        } else {
            ""
        };
        let mut blocks = vec![paragraph(format!(
            "Time per operation, as a multiple of {}. Shorter is faster.{logarithmic}",
            outcome.reference
        ))];
        if !outcome.reliable {
            blocks.push(notice(
                "Session unreliable: nothing is claimed from this machine's bars.",
            ));
        }
        blocks.push(rows.into());
        blocks.extend(self.promises().map(paragraph));
        Section::figure(anchor("chart", &outcome.id), &outcome.title, blocks).into()
    }

    fn rows(&self) -> Rows {
        let mut groups = vec![self.ours()];
        groups.extend(self.published());
        let signs = groups.iter().flat_map(|group| &group.rows);
        let signs: Vec<Sign> = signs.filter_map(|row| row.sign).collect();
        Rows {
            summary: self.outcome.title.clone(),
            axis: self.axis(&groups),
            groups,
            marks: self.marks(),
            legend: self.legend(&signs),
        }
    }

    fn ours(&self) -> RowGroup {
        RowGroup {
            title: "This machine".to_owned(),
            rows: once(self.reference_row())
                .chain(self.bars().map(|bar| self.row(bar)))
                .collect(),
            ..RowGroup::default()
        }
    }

    /// The bars but for the reference: a study may ask for it as a bar, and it has one already.
    fn bars(&self) -> impl Iterator<Item = &'a ChartBar> {
        let reference = self.reference.map(|(_, cell)| &cell.cell.id);
        let bars = self.outcome.bars.iter();
        bars.filter(move |bar| Some(&bar.cell) != reference)
    }

    fn cell(&self, bar: &ChartBar) -> Option<&'a CellSummary> {
        self.reference?.0.cell(&bar.cell)
    }

    fn reference_row(&self) -> ChartRow {
        let label = &self.outcome.reference;
        let claim = self.reference.and_then(|(_, cell)| cell.promise());
        ChartRow {
            label: label.clone(),
            detail: claim.map_or_else(String::new, durability),
            shape: bar(1.0, Fill::Reference),
            interval: None,
            value: "1.00".to_owned(),
            spread: String::new(),
            number: Some(1.0),
            sign: None,
            tooltip: format!("{label}: 1.00 by definition, the reference of this chart"),
        }
    }

    fn row(&self, of: &ChartBar) -> ChartRow {
        let verdict = wording::verdict(of.verdict);
        let (label, reference) = (&of.label, &self.outcome.reference);
        let mut row = ChartRow {
            label: label.clone(),
            detail: of.durability.as_ref().map_or_else(String::new, durability),
            shape: Shape::Nothing,
            interval: None,
            value: "no data".to_owned(),
            spread: String::new(),
            number: None,
            sign: Some(Sign::of(of.verdict, of.estimate.as_ref())),
            tooltip: format!("{label}: {verdict}"),
        };
        if let Some(estimate) = &of.estimate {
            let [ratio, low, high] =
                [estimate.ratio, estimate.low, estimate.high].map(format::ratio);
            row.shape = bar(estimate.ratio, self.fill(of));
            row.interval = Some((estimate.low, estimate.high));
            row.number = Some(estimate.ratio);
            row.tooltip = format!(
                "{label}: {ratio} times the time of {reference}, interval {low} to {high}, {} \
                 rounds: {verdict}",
                estimate.rounds
            );
            row.value = ratio;
            row.spread = format::interval(estimate.low, estimate.high);
        }
        row
    }

    fn fill(&self, bar: &ChartBar) -> Fill {
        let is_floor = |cell: &CellSummary| cell.cell.role == Role::Floor;
        let claims_nothing = matches!(bar.verdict, Verdict::NoData | Verdict::Unreliable);
        if self.cell(bar).is_some_and(is_floor) {
            Fill::Floor
        } else if claims_nothing || !self.outcome.reliable {
            Fill::Uncertain
        } else {
            Fill::Ours
        }
    }

    fn published(&self) -> Option<RowGroup> {
        let precision = self.outcome.published_precision;
        let label = self.outcome.published_label.as_ref();
        let label = label.map_or_else(String::new, |label| format!(": {label}"));
        let group = RowGroup {
            title: format!("Published{label}"),
            rows: self
                .outcome
                .published
                .iter()
                .map(|published| published_row(published, precision))
                .collect(),
            ..RowGroup::default()
        };
        (!group.rows.is_empty()).then_some(group)
    }

    fn axis(&self, groups: &[RowGroup]) -> Axis {
        let rows = || groups.iter().flat_map(|group| &group.rows);
        let values: Vec<f64> = rows().filter_map(|row| row.number).collect();
        let intervals = rows().filter_map(|row| row.interval);
        let mut ends: Vec<f64> = intervals.flat_map(<[f64; 2]>::from).collect();
        ends.extend(self.floor.map(|(_, ratio)| ratio));
        let scale = Scale::for_bars(&values, &ends);
        let title = format!("time vs {}", self.outcome.reference);
        Axis::new(title, scale, scale.ticks(), format::ratio_tick)
    }

    fn marks(&self) -> Vec<Mark> {
        let mark = |at, kind| Mark {
            at,
            kind,
            sign: String::new(),
        };
        let floor = self.floor.map(|(_, ratio)| mark(ratio, MarkKind::Floor));
        once(mark(1.0, MarkKind::Reference)).chain(floor).collect()
    }

    fn legend(&self, signs: &[Sign]) -> Vec<LegendEntry> {
        let reference = &self.outcome.reference;
        let mut legend = vec![LegendEntry::new(
            Key::Mark(MarkKind::Reference),
            format!("1.0 = {reference}"),
        )];
        legend.extend(self.floor.map(|(label, ratio)| {
            let text = format!("floor: {} ({label})", format::ratio(ratio));
            LegendEntry::new(Key::Mark(MarkKind::Floor), text)
        }));
        let interval = match self.outcome.published_precision {
            Some(_) => "interval; for published bars, how precisely they could be read",
            None => "interval",
        };
        legend.push(LegendEntry::new(Key::Interval, interval));
        let zone = wording::zone(self.analysis);
        let found = Sign::ALL.into_iter().filter(|sign| signs.contains(sign));
        // A bar without data says so itself.
        let found = found.filter(|sign| *sign != Sign::Nothing);
        legend.extend(
            found.map(|sign| LegendEntry::new(Key::Sign(sign), says(sign, reference, &zone))),
        );
        legend
    }

    /// What the bars promise for writes, those that promise the same together.
    fn promises(&self) -> Option<String> {
        let (comparison, reference) = self.reference?;
        let cells = self.bars().filter_map(|bar| comparison.cell(&bar.cell));
        wording::promises_of(once(reference).chain(cells))
    }
}

fn bar(value: f64, fill: Fill) -> Shape {
    Shape::Bar(Bar { value, fill })
}

fn durability(promise: impl std::fmt::Display) -> String {
    format!("durability: {promise}")
}

/// What the sign of a bar says.
fn says(sign: Sign, reference: &str, zone: &str) -> String {
    let than = |word: &str| format!("{word} than {reference}");
    match sign {
        Sign::Above => than("slower"),
        Sign::Below => than("faster"),
        Sign::JustAbove => format!("{}, perhaps by less than {zone}", than("slower")),
        Sign::JustBelow => format!("{}, perhaps by less than {zone}", than("faster")),
        Sign::Even | Sign::Open | Sign::Unreliable | Sign::Nothing => sign.words("", "", zone),
    }
}

fn published_row(published: &PublishedRatio, precision: Option<f64>) -> ChartRow {
    let PublishedRatio {
        system,
        description,
        ratio: number,
    } = published;
    let ratio = format::ratio(*number);
    let read_to = precision
        .map(|precision| format!(", read off the published chart to about {precision}"))
        .unwrap_or_default();
    ChartRow {
        label: system.clone(),
        detail: description.clone(),
        shape: bar(*number, Fill::Published),
        interval: precision.map(|p| ((number - p).max(0.0), number + p)),
        tooltip: format!("{system} ({description}): {ratio} as published{read_to}"),
        value: ratio,
        spread: precision.map_or_else(String::new, |p| format!("± {p}")),
        number: Some(*number),
        sign: None,
    }
}

fn reference_cell<'a>(
    analysis: &'a Analysis,
    outcome: &ChartOutcome,
) -> Option<(&'a ComparisonOutcome, &'a CellSummary)> {
    let study = &analysis.run.plan.study;
    let spec = study.charts.iter().find(|spec| spec.id == outcome.id)?;
    let mut comparisons = analysis.comparisons.iter();
    let comparison = comparisons.find(|comparison| comparison.id == spec.comparison)?;
    let id = CellId(format!("{}/{}", spec.comparison, spec.reference));
    Some((comparison, comparison.cell(&id)?))
}

/// The floor relative to the chart's reference: the inverse of the reference's multiple of it.
fn floor<'a>(comparison: &'a ComparisonOutcome, reference: &CellSummary) -> Option<(&'a str, f64)> {
    let multiple = reference.multiple_of_floor?;
    // Where there are several, the analysis takes multiples of the first.
    let mut cells = comparison.cells.iter();
    let floor = cells.find(|cell| cell.cell.role == Role::Floor)?;
    let label = floor.cell.label.as_str();
    let label = label.strip_prefix("floor: ").unwrap_or(label);
    Some((label, 1.0 / multiple.ratio))
}
