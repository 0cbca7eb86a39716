//! Charts of bars: measured quantities side by side.

use crate::document::{
    Axis, Bar, Block, Cell, ChartRow, Fill, Fold, Medium, RowGroup, Rows, Scale, Section, Shape,
    Table, anchor, number, paragraph, text_column,
};
use crate::quantity::{self, class};
use crate::{noise, wording};
use std::iter::once;
use stowplan_analysis::{
    Analysis, BarClass, BarGroup, BarsOutcome, MeasuredBar, PublishedQuantity, Quantity,
};
use stowplan_model::{self as model, Measure};

/// Stands before a figure that was not measured whole.
const EXTRAPOLATED: &str = "~";

/// A figure for each chart of bars that has data.
pub(super) fn figures(analysis: &Analysis) -> Vec<Block> {
    let outcomes = analysis.bars.iter();
    outcomes.map(|outcome| figure(analysis, outcome)).collect()
}

fn figure(analysis: &Analysis, outcome: &BarsOutcome) -> Block {
    let measure = outcome.measure;
    let of_comparisons: Vec<Vec<RowGroup>> = outcome
        .groups
        .iter()
        .map(|group| {
            Comparison {
                analysis,
                measure,
                group,
            }
            .groups()
        })
        .collect();
    let table = table(outcome, &of_comparisons);
    let groups = of_comparisons.concat();
    let scale = scale(outcome.axis, &groups);
    let logarithmic = if scale.is_logarithmic() {
        " Logarithmic axis: equal distances are equal factors."
    } else {
        ""
    };
    let caption = format!(
        "{}. {}{logarithmic}",
        quantity::title(measure),
        quantity::reading(measure)
    );
    let rows = Rows {
        summary: outcome.title.clone(),
        axis: Axis::new(
            quantity::title(measure),
            scale,
            quantity::ticks(&scale),
            |at| quantity::tick(measure, at),
        ),
        groups,
        marks: Vec::new(),
        legend: Vec::new(),
    };
    // Text has every row with its figures anyway.
    let table = Block::from(Fold::new("All figures", vec![table.into()])).only(Medium::Page);
    let blocks = vec![paragraph(caption), rows.into(), table];
    Section::figure(anchor("bars", &outcome.id), &outcome.title, blocks).into()
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
        let about = RowGroup {
            heading: self.group.title.clone(),
            notices: notices(self.group),
            remarks: remarks(self.group),
            ..RowGroup::default()
        };
        let classes = self.group.classes.iter();
        let classes = classes.map(|found| self.class(found));
        once(about).chain(classes).chain(self.published()).collect()
    }

    fn class(&self, found: &BarClass) -> RowGroup {
        let title = self.class_title(found);
        let promise = match title.as_str() {
            "" => String::new(),
            title => format!(" ({title})"),
        };
        let bars = found.bars.iter();
        RowGroup {
            rows: bars.map(|bar| self.row(bar, &promise)).collect(),
            title,
            ..RowGroup::default()
        }
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
        let title = &self.group.title;
        let Some(found) = &bar.quantity else {
            return ChartRow {
                label: label.to_owned(),
                detail: String::new(),
                shape: Shape::Nothing,
                interval: None,
                value: "no data".to_owned(),
                spread: String::new(),
                number: None,
                sign: None,
                tooltip: format!("{title}: {label}{promise}: no data"),
            };
        };
        let fill = match (bar.is_floor, self.group.reliable) {
            (true, _) => Fill::Floor,
            (false, true) => Fill::Ours,
            (false, false) => Fill::Uncertain,
        };
        let sentence = quantity::sentence(self.measure, found);
        let tooltip = format!("{title}: {label}{promise}: {sentence}");
        let mut row = self.drawn(label, found, fill, tooltip);
        if bar.extrapolated {
            row.value.insert_str(0, EXTRAPOLATED);
        }
        row
    }

    fn published(&self) -> Option<RowGroup> {
        let label = self.group.published_label.as_ref();
        let label = label.map_or_else(String::new, |label| format!(": {label}"));
        let figures = self.group.published.iter();
        let group = RowGroup {
            title: format!("Published{label}"),
            rows: figures.map(|figure| self.published_row(figure)).collect(),
            ..RowGroup::default()
        };
        (!group.rows.is_empty()).then_some(group)
    }

    fn published_row(&self, figure: &PublishedQuantity) -> ChartRow {
        let PublishedQuantity { label, quantity } = figure;
        let sentence = quantity::sentence(self.measure, quantity);
        let tooltip = format!("{}: {label}: {sentence} as published", self.group.title);
        self.drawn(label, quantity, Fill::Published, tooltip)
    }

    fn drawn(&self, label: &str, of: &Quantity, fill: Fill, tooltip: String) -> ChartRow {
        ChartRow {
            label: label.to_owned(),
            detail: String::new(),
            shape: Shape::Bar(Bar {
                value: of.value,
                fill,
            }),
            interval: of.ends,
            value: quantity::value(self.measure, of.value),
            spread: quantity::spread(self.measure, of),
            number: Some(of.value),
            sign: None,
            tooltip,
        }
    }
}

fn notices(group: &BarGroup) -> Vec<String> {
    let unreliable = (!group.reliable).then(noise::unreliable);
    unreliable.into_iter().collect()
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
    let rows = || groups.iter().flat_map(|group| &group.rows);
    let values: Vec<f64> = rows().filter_map(|row| row.number).collect();
    let intervals = rows().filter_map(|row| row.interval);
    let ends: Vec<f64> = intervals.flat_map(<[f64; 2]>::from).collect();
    let suited = Scale::for_bars(&values, &ends);
    let logarithmic = match asked {
        Some(axis) => axis == model::Axis::Logarithmic,
        None => suited.is_logarithmic(),
    };
    let all = || values.iter().chain(&ends).copied();
    let positive = || all().filter(|value| value.is_finite() && *value > 0.0);
    let low = positive().fold(f64::INFINITY, f64::min);
    let high = positive().fold(0.0, f64::max);
    match logarithmic {
        false => Scale::linear(high),
        true if high > 0.0 => {
            Scale::logarithmic(10f64.powf(low.log10().floor()), high).with_bars_from_its_end()
        }
        true => suited,
    }
}

/// A bar with what it stands below.
struct Line<'a> {
    comparison: &'a str,
    class: &'a str,
    row: &'a ChartRow,
}

/// Every figure; `groups` are those of each comparison.
fn table(outcome: &BarsOutcome, groups: &[Vec<RowGroup>]) -> Table {
    let comparisons = outcome.groups.iter().zip(groups);
    let classes =
        comparisons.flat_map(|(of, groups)| groups.iter().map(|group| (of.title.as_str(), group)));
    let lines: Vec<Line<'_>> = classes
        .flat_map(|(comparison, group)| {
            group.rows.iter().map(move |row| Line {
                comparison,
                class: &group.title,
                row,
            })
        })
        .collect();
    let unit = quantity::unit(outcome.measure);
    let columns = vec![
        text_column("comparison", "", |line: &Line<'_>| {
            Cell::text(line.comparison)
        }),
        text_column("cell", "what it is of", |line: &Line<'_>| {
            Cell::text(&line.row.label)
        }),
        text_column(
            "durability",
            "what an acknowledged write survives, or who published the figure",
            |line: &Line<'_>| Cell::text(line.class),
        ),
        number("value", "", |line: &Line<'_>| {
            Cell::maybe(line.row.number, |_| line.row.value.clone())
        })
        .in_unit(unit),
        number(
            "spread",
            "standard error of a mean, or an interval",
            |line: &Line<'_>| {
                let width = line.row.interval.map(|(low, high)| high - low);
                Cell::maybe(width, |_| line.row.spread.clone())
            },
        )
        .in_unit(unit),
    ];
    Table::of(&outcome.title, columns, &lines)
}
