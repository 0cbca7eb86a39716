//! Charts of ratios, beside the published ones.

use super::promises;
use crate::document::{
    Axis, Block, ChartRow, Fill, Key, LegendEntry, Mark, MarkKind, RowGroup, Rows, Scale, Section,
    Shape, Sign, anchor, notice, paragraph, remark,
};
use crate::{format, wording};
use std::iter::once;
use stowplan_analysis::{
    Analysis, CellSummary, ChartBar, ChartOutcome, ComparisonOutcome, PublishedRatio, Verdict,
};
use stowplan_model::{CellId, Role, Statistic};

/// A figure for each chart of the study that has data.
pub(super) fn figures(analysis: &Analysis) -> Vec<Block> {
    let charts = analysis.charts.iter();
    charts
        .map(|outcome| Chart::of(analysis, outcome).figure())
        .collect()
}

/// The first chart that shows anything, in so many rows; what was published beside it in a line.
pub(super) fn picture(analysis: &Analysis, rows: usize) -> Option<Block> {
    let mut outcomes = analysis.charts.iter();
    let outcome = outcomes.find(|found| found.bars.iter().any(|bar| bar.estimate.is_some()))?;
    let chart = Chart::of(analysis, outcome);
    let mut drawn = chart.rows();
    let published = match drawn.groups.len() {
        0 | 1 => None,
        _ => drawn.groups.pop(),
    };
    let published = published.map(|group| {
        let figures = group
            .rows
            .iter()
            .map(|row| format!("{} {}", row.label, row.value));
        remark(format!(
            "published: {}",
            figures.collect::<Vec<_>>().join(", ")
        ))
    });
    for group in &mut drawn.groups {
        group.title.clear();
        group.rows.iter_mut().for_each(|row| row.detail.clear());
    }
    let mut blocks = vec![drawn.first(rows).into()];
    blocks.extend(published);
    let title = format!("{}, {} = 1", chart.figure_of(), outcome.reference);
    Some(Section::new(title, blocks).into())
}

/// Published figures below ours, with where they come from; nothing without any.
pub(crate) fn published(label: Option<&str>, rows: Vec<ChartRow>) -> Option<RowGroup> {
    let label = label.map_or_else(String::new, |label| format!(": {label}"));
    (!rows.is_empty()).then(|| RowGroup::of(format!("Published{label}"), rows))
}

/// The values of rows, and the ends of their intervals.
pub(super) fn extent(groups: &[RowGroup]) -> (Vec<f64>, Vec<f64>) {
    let rows = || groups.iter().flat_map(|group| &group.rows);
    let intervals = rows().filter_map(|row| row.interval);
    (
        rows().filter_map(|row| row.number).collect(),
        intervals.flat_map(<[f64; 2]>::from).collect(),
    )
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
        let logarithmic = match rows.axis.scale.is_logarithmic() {
            true => " Logarithmic axis.",
            false => "",
        };
        let figure = self.figure_of();
        let mut blocks = vec![paragraph(format!(
            "{figure}, as a multiple of {}. Shorter is faster.{logarithmic}",
            outcome.reference
        ))];
        if !outcome.reliable {
            let text = "Session unreliable: nothing is claimed from this machine's bars.";
            blocks.push(notice(text));
        }
        blocks.push(rows.into());
        blocks.extend(self.promises().map(paragraph));
        Section::figure(anchor("chart", &outcome.id), &outcome.title, blocks).into()
    }

    /// What is drawn.
    fn figure_of(&self) -> String {
        match self.measure() {
            Statistic::Time => "Time per operation".to_owned(),
            measure => format::capital(&format!("{} of a block", measure.in_words())),
        }
    }

    fn rows(&self) -> Rows {
        let outcome = self.outcome;
        let bars = self.bars().map(|bar| self.row(bar));
        let ours = once(self.reference_row()).chain(bars).collect();
        let ours = RowGroup::of("This machine", ours);
        let published = outcome.published.iter();
        let published = published.map(|of| published_row(of, outcome.published_precision));
        let published = self::published(outcome.published_label.as_deref(), published.collect());
        let groups: Vec<RowGroup> = once(ours).chain(published).collect();
        Rows {
            marks: self.marks(),
            legend: self.legend(&groups),
            ..Rows::new(&outcome.title, self.axis(&groups), groups)
        }
    }

    /// The bars but for the reference: a study may ask for it as a bar, and it has one already.
    fn bars(&self) -> impl Iterator<Item = &'a ChartBar> {
        let reference = self.reference.map(|(_, cell)| &cell.cell.id);
        let bars = self.outcome.bars.iter();
        bars.filter(move |bar| Some(&bar.cell) != reference)
    }

    /// What is compared.
    fn measure(&self) -> Statistic {
        let comparison = self.reference.map(|(comparison, _)| comparison);
        comparison.map_or(Statistic::Time, |comparison| comparison.measure)
    }

    fn cell(&self, bar: &ChartBar) -> Option<&'a CellSummary> {
        self.reference?.0.cell(&bar.cell)
    }

    fn reference_row(&self) -> ChartRow {
        let label = &self.outcome.reference;
        let claim = self.reference.and_then(|(_, cell)| cell.promise());
        ChartRow {
            label: label.clone(),
            detail: durability(claim),
            shape: Shape::bar(1.0, Fill::Reference),
            value: "1.00".to_owned(),
            number: Some(1.0),
            tooltip: format!("{label}: 1.00 by definition, the reference of this chart"),
            ..ChartRow::default()
        }
    }

    fn row(&self, of: &ChartBar) -> ChartRow {
        let verdict = wording::verdict(of.verdict);
        let (label, reference) = (&of.label, &self.outcome.reference);
        let row = ChartRow {
            detail: durability(of.durability.as_ref()),
            sign: Some(Sign::of(of.verdict, of.estimate.as_ref())),
            ..ChartRow::without_data(label, format!("{label}: {verdict}"))
        };
        let Some(estimate) = &of.estimate else {
            return row;
        };
        let (low, high) = (estimate.low, estimate.high);
        let [ratio, from, to] = [estimate.ratio, low, high].map(format::ratio);
        ChartRow {
            shape: Shape::bar(estimate.ratio, self.fill(of)),
            interval: Some((low, high)),
            number: Some(estimate.ratio),
            spread: format::interval(low, high),
            tooltip: format!(
                "{label}: {ratio} times the time of {reference}, interval {from} to {to}, {} \
                 rounds: {verdict}",
                estimate.rounds
            ),
            value: ratio,
            ..row
        }
    }

    fn fill(&self, bar: &ChartBar) -> Fill {
        let role = self.cell(bar).map(|cell| cell.cell.role);
        match bar.verdict {
            _ if role == Some(Role::Floor) => Fill::Floor,
            Verdict::NoData | Verdict::Unreliable => Fill::Uncertain,
            _ if !self.outcome.reliable => Fill::Uncertain,
            _ => Fill::Ours,
        }
    }

    fn axis(&self, groups: &[RowGroup]) -> Axis {
        let (values, mut ends) = extent(groups);
        ends.extend(self.floor.map(|(_, ratio)| ratio));
        let scale = Scale::for_bars(&values, &ends);
        let title = format!("{} vs {}", self.measure(), self.outcome.reference);
        Axis::new(title, scale, scale.ticks(), format::ratio_tick)
    }

    fn marks(&self) -> Vec<Mark> {
        let floor = self.floor.map(|(_, ratio)| (ratio, MarkKind::Floor));
        let marks = once((1.0, MarkKind::Reference)).chain(floor);
        marks.map(|(at, kind)| Mark::new(at, kind)).collect()
    }

    fn legend(&self, groups: &[RowGroup]) -> Vec<LegendEntry> {
        let reference = &self.outcome.reference;
        let one = format!("1.0 = {reference}");
        let mut legend = vec![LegendEntry::new(Key::Mark(MarkKind::Reference), one)];
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
        let rows = || groups.iter().flat_map(|group| &group.rows);
        // A bar without data says so itself.
        let signs = Sign::ALL.into_iter().filter(|sign| *sign != Sign::Nothing);
        let found = signs.filter(|sign| rows().any(|row| row.sign == Some(*sign)));
        let said = found.map(|sign| (sign, says(sign, reference, &zone)));
        legend.extend(said.map(|(sign, text)| LegendEntry::new(Key::Sign(sign), text)));
        legend
    }

    /// What the bars promise for writes, those that promise the same together.
    fn promises(&self) -> Option<String> {
        let (_, reference) = self.reference?;
        let cells = self.bars().filter_map(|bar| self.cell(bar));
        promises::of_cells(once(reference).chain(cells))
    }
}

fn durability(promise: Option<impl std::fmt::Display>) -> String {
    promise.map_or_else(String::new, |promise| format!("durability: {promise}"))
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
    let value = format::ratio(*number);
    let read_to = precision.map_or_else(String::new, |precision| {
        format!(", read off the published chart to about {precision}")
    });
    ChartRow {
        label: system.clone(),
        detail: description.clone(),
        shape: Shape::bar(*number, Fill::Published),
        interval: precision.map(|p| ((number - p).max(0.0), number + p)),
        spread: precision.map_or_else(String::new, |p| format!("± {p}")),
        number: Some(*number),
        tooltip: format!("{system} ({description}): {value} as published{read_to}"),
        value,
        ..ChartRow::default()
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
    let label = comparison.floor_of(reference)?.cell.label.as_str();
    let label = label.strip_prefix("floor: ").unwrap_or(label);
    Some((label, 1.0 / multiple.ratio))
}
