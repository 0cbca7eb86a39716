//! Charts of bars: measured quantities side by side.

use super::charts;
use crate::columns::Columns;
use crate::document::{
    Axis, Block, Cell, ChartRow, Fill, RowGroup, Rows, Scale, Section, Shape, Table, anchor,
    folded, paragraph,
};
use crate::quantity::{self, class};
use crate::{noise, wording};
use std::iter::once;
use stowplan_analysis::{
    Analysis, BarClass, BarGroup, BarsOutcome, Kind, MeasuredBar, PublishedQuantity, Quantity,
};
use stowplan_model::{self as model, Measure};

/// Stands before a figure that was not measured whole.
pub(super) const EXTRAPOLATED: &str = "~";

/// A figure for each chart of bars that has data.
pub(super) fn figures(analysis: &Analysis) -> Vec<Block> {
    let outcomes = analysis.bars.iter();
    outcomes.map(|outcome| figure(analysis, outcome)).collect()
}

/// The first comparison of the first bars, in so many rows.
pub(super) fn picture(analysis: &Analysis, rows: usize) -> Option<Block> {
    let outcome = analysis.bars.first()?;
    let measure = outcome.measure;
    let first = decided_first(analysis, outcome);
    let group = &outcome.groups[*first.first()?];
    let comparison = Comparison {
        analysis,
        measure,
        group,
    };
    let groups = comparison.groups();
    let scale = scale(outcome.axis, &groups);
    let ticks = quantity::ticks(&scale);
    let title = quantity::title(measure);
    let axis = Axis::new("", scale, ticks, |at| quantity::tick(measure, at));
    let drawn = Rows::new(&outcome.title, axis, groups).first(rows);
    Some(Section::new(title, vec![drawn.into()]).into())
}

fn figure(analysis: &Analysis, outcome: &BarsOutcome) -> Block {
    let measure = outcome.measure;
    let groups = outcome.groups.iter();
    let groups = groups.map(|group| {
        let comparison = Comparison {
            analysis,
            measure,
            group,
        };
        comparison.groups()
    });
    let comparisons: Vec<Vec<RowGroup>> = groups.collect();
    let scale = scale(outcome.axis, &comparisons.concat());
    let logarithmic = match scale.is_logarithmic() {
        true => " Logarithmic axis: equal distances are equal factors.",
        false => "",
    };
    let (title, reading) = (quantity::title(measure), quantity::reading(measure));
    let ticks = quantity::ticks(&scale);
    let axis = Axis::new(title, scale, ticks, |at| quantity::tick(measure, at));
    let rows = Rows::new(&outcome.title, axis, comparisons.concat());
    let blocks = vec![
        paragraph(format!("{title}. {reading}{logarithmic}")),
        rows.into(),
        folded("All figures", table(outcome, &comparisons)),
    ];
    Section::figure(anchor("bars", &outcome.id), &outcome.title, blocks).into()
}

/// The places of the comparisons, first of those of which something was decided: of what has room,
/// the answers are to be seen.
fn decided_first(analysis: &Analysis, outcome: &BarsOutcome) -> Vec<usize> {
    let is_open = |at: &usize| {
        let id = &outcome.groups[*at].comparison;
        let mut comparisons = analysis.comparisons.iter();
        let found = comparisons.find(|comparison| comparison.id == *id);
        found.is_none_or(|found| found.recommendation.kind == Kind::Open)
    };
    let mut places: Vec<usize> = (0..outcome.groups.len()).collect();
    places.sort_by_key(is_open);
    places
}

/// The bars of one comparison, and what is shown of them.
#[derive(Clone, Copy)]
struct Comparison<'a> {
    analysis: &'a Analysis,
    measure: Measure,
    group: &'a BarGroup,
}

impl Comparison<'_> {
    /// What promises the same stands together, below what is said of all.
    fn groups(&self) -> Vec<RowGroup> {
        let group = self.group;
        let notice = noise::unreliable();
        let about = RowGroup {
            heading: group.title.clone(),
            notices: match group.reliable {
                true => Vec::new(),
                false => vec![notice],
            },
            remarks: remarks(group),
            ..RowGroup::default()
        };
        let classes = group.classes.iter().map(|found| self.class(found));
        let published = group.published.iter().map(|figure| self.published(figure));
        let published = charts::published(group.published_label.as_deref(), published.collect());
        once(about).chain(classes).chain(published).collect()
    }

    fn class(&self, found: &BarClass) -> RowGroup {
        let title = self.class_title(found);
        let promise = match title.as_str() {
            "" => String::new(),
            title => format!(" ({title})"),
        };
        let rows = found.bars.iter().map(|bar| self.row(bar, &promise));
        RowGroup::of(&title, rows.collect())
    }

    /// What the bars of a class have in common; empty if nothing needs to be said.
    fn class_title(&self, found: &BarClass) -> String {
        let mut classes = self.group.classes.iter();
        match &found.durability {
            Some(claim) => class(claim),
            None if classes.all(|class| class.durability.is_none()) => String::new(),
            None if found.bars.iter().all(|bar| bar.is_floor) => "floor, no store".to_owned(),
            None => "reads: nothing promised".to_owned(),
        }
    }

    fn row(&self, bar: &MeasuredBar, promise: &str) -> ChartRow {
        let label = self.analysis.label_of(&bar.cell).unwrap_or(&bar.label);
        let of = format!("{}: {label}{promise}", self.group.title);
        let Some(found) = &bar.quantity else {
            return ChartRow::without_data(label, format!("{of}: no data"));
        };
        let fill = match (bar.is_floor, self.group.reliable) {
            (true, _) => Fill::Floor,
            (false, true) => Fill::Ours,
            (false, false) => Fill::Uncertain,
        };
        let mut row = self.drawn(label, &of, found, fill);
        if bar.extrapolated {
            row.value.insert_str(0, EXTRAPOLATED);
        }
        row
    }

    fn published(&self, figure: &PublishedQuantity) -> ChartRow {
        let PublishedQuantity { label, quantity } = figure;
        let of = format!("{}: {label}", self.group.title);
        let mut row = self.drawn(label, &of, quantity, Fill::Published);
        row.tooltip.push_str(" as published");
        row
    }

    fn drawn(&self, label: &str, of: &str, quantity: &Quantity, fill: Fill) -> ChartRow {
        let measure = self.measure;
        ChartRow {
            label: label.to_owned(),
            shape: Shape::bar(quantity.value, fill),
            interval: quantity.ends,
            value: quantity::value(measure, quantity.value),
            spread: quantity::spread(measure, quantity),
            number: Some(quantity.value),
            tooltip: format!("{of}: {}", quantity::sentence(measure, quantity)),
            ..ChartRow::default()
        }
    }
}

fn remarks(group: &BarGroup) -> Vec<String> {
    let mut remarks = Vec::new();
    let mut bars = group.classes.iter().flat_map(|class| &class.bars);
    if bars.any(|bar| bar.extrapolated) {
        remarks.push(format!("{EXTRAPOLATED} extrapolated from a sample."));
    }
    let cells = group.not_applicable.keys();
    let cells: Vec<String> = cells.map(|key| wording::quoted(key)).collect();
    if !cells.is_empty() {
        remarks.push(format!("Not applicable: {}.", wording::list(&cells)));
    }
    remarks
}

/// The axis that the study asks for, or that suits the bars. A logarithmic one begins at a power of
/// ten, so that the shortest bar has a length.
fn scale(asked: Option<model::Axis>, groups: &[RowGroup]) -> Scale {
    let (values, ends) = charts::extent(groups);
    let suited = Scale::for_bars(&values, &ends);
    let logarithmic = match asked {
        Some(axis) => axis == model::Axis::Logarithmic,
        None => suited.is_logarithmic(),
    };
    let all = values.iter().chain(&ends).copied();
    let positive = all.filter(|value| value.is_finite() && *value > 0.0);
    let (low, high) = positive.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    match logarithmic {
        false => Scale::linear(high),
        true if high > 0.0 => {
            Scale::logarithmic(10f64.powf(low.log10().floor()), high).with_bars_from_its_end()
        }
        true => suited,
    }
}

/// Every figure; `groups` are those of each comparison.
fn table(outcome: &BarsOutcome, groups: &[Vec<RowGroup>]) -> Table {
    type Line<'a> = (&'a BarGroup, &'a RowGroup, &'a ChartRow);
    let comparisons = outcome.groups.iter().zip(groups);
    let classes = comparisons.flat_map(|(of, groups)| groups.iter().map(move |g| (of, g)));
    let lines = classes.flat_map(|(of, group)| group.rows.iter().map(move |row| (of, group, row)));
    let lines: Vec<Line<'_>> = lines.collect();
    let unit = quantity::unit(outcome.measure);
    let make = Columns::<Line<'_>>::new();
    let value = |(_, _, row): &Line<'_>| Cell::maybe(row.number, |_| row.value.clone());
    let spread = |(_, _, row): &Line<'_>| quantity::spread_cell(row.interval, &row.spread);
    let columns = vec![
        make.text("comparison", |line| line.0.title.clone()),
        make.text("cell", |line| line.2.label.clone())
            .help("what it is of"),
        make.text("durability", |line| line.1.title.clone())
            .help("what an acknowledged write survives, or who published the figure"),
        make.number("value", value).in_unit(unit),
        make.number("spread", spread)
            .help("standard error of a mean, or an interval")
            .in_unit(unit),
    ];
    Table::of(&outcome.title, columns, &lines)
}
