//! Charts of measured quantities before they are drawn: groups of bars over one axis. Terminal,
//! Markdown and HTML draw the same.

use crate::document::Scale;
use crate::quantity::{self, class};
use crate::table::{Entry, Table, build, numeric, textual};
use crate::wording;
use stowplan_analysis::{Analysis, BarGroup, BarsOutcome, Quantity};
use stowplan_model::{Axis, Measure};

/// Stands before a figure that was not measured whole.
pub(crate) const EXTRAPOLATED: &str = "~";

/// One chart.
pub(crate) struct Chart {
    /// Name in the study file.
    pub(crate) id: String,
    /// Title for people.
    pub(crate) title: String,
    /// What the bars are, and how to read them.
    pub(crate) subtitle: String,
    /// What the bars show.
    pub(crate) measure: Measure,
    /// The axis.
    pub(crate) scale: Scale,
    /// Its groups, in reading order.
    pub(crate) groups: Vec<Group>,
    /// Every figure.
    pub(crate) table: Table,
}

/// Bars below a heading.
pub(crate) struct Group {
    /// What they are of.
    pub(crate) title: String,
    /// What must be said about it, a sentence each.
    pub(crate) notes: Vec<String>,
    /// What explains it, a sentence each.
    pub(crate) remarks: Vec<String>,
    /// Bars that can be compared with each other.
    pub(crate) classes: Vec<Class>,
}

/// Bars that promise the same, or that were published.
pub(crate) struct Class {
    /// What they have in common; nothing if nothing needs to be said.
    pub(crate) heading: Option<String>,
    /// The bars.
    pub(crate) bars: Vec<Bar>,
}

/// One bar.
pub(crate) struct Bar {
    /// What it is of.
    pub(crate) label: String,
    /// How it is drawn.
    pub(crate) kind: Kind,
    /// Its length; nothing without data.
    pub(crate) quantity: Option<Quantity>,
    /// The same for people, marked where it is extrapolated; `no data` without any.
    pub(crate) value: String,
    /// What stands behind the value: its standard error or interval.
    pub(crate) spread: String,
    /// Everything about it in a sentence.
    pub(crate) tooltip: String,
}

/// How a bar is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Measured here.
    Ours,
    /// Measured here, in a session of which nothing is claimed.
    Uncertain,
    /// The cheapest conceivable way.
    Floor,
    /// Published by others.
    Published,
}

/// Every chart of bars that has data.
pub(crate) fn charts(analysis: &Analysis) -> Vec<Chart> {
    let outcomes = analysis.bars.iter();
    outcomes.map(|outcome| chart(analysis, outcome)).collect()
}

fn chart(analysis: &Analysis, outcome: &BarsOutcome) -> Chart {
    let measure = outcome.measure;
    let groups = outcome.groups.iter();
    let groups: Vec<Group> = groups.map(|g| group(analysis, measure, g)).collect();
    let bars = || groups.iter().flat_map(|g| &g.classes).flat_map(|c| &c.bars);
    let scale = axis(outcome.axis, bars().filter_map(|bar| bar.quantity));
    let logarithmic = if scale.is_logarithmic() {
        " Logarithmic axis: equal distances are equal factors."
    } else {
        ""
    };
    Chart {
        id: outcome.id.clone(),
        title: outcome.title.clone(),
        subtitle: format!(
            "{}. {}{logarithmic}",
            quantity::title(measure),
            quantity::reading(measure)
        ),
        measure,
        table: table(measure, &groups),
        scale,
        groups,
    }
}

/// The axis that the study asks for, or that suits the bars. A logarithmic one begins at a power of
/// ten, so that the shortest bar has a length.
pub(crate) fn axis(asked: Option<Axis>, quantities: impl Iterator<Item = Quantity>) -> Scale {
    let quantities: Vec<Quantity> = quantities.collect();
    let values: Vec<f64> = quantities.iter().map(|quantity| quantity.value).collect();
    let ends = quantities.iter().filter_map(|quantity| quantity.ends);
    let ends: Vec<f64> = ends.flat_map(|(low, high)| [low, high]).collect();
    let suited = Scale::for_bars(&values, &ends);
    let logarithmic = match asked {
        Some(axis) => axis == Axis::Logarithmic,
        None => suited.is_logarithmic(),
    };
    let positive = || {
        values
            .iter()
            .chain(&ends)
            .copied()
            .filter(|v| v.is_finite() && *v > 0.0)
    };
    let (low, high) = (
        positive().fold(f64::INFINITY, f64::min),
        positive().fold(0.0, f64::max),
    );
    match logarithmic {
        false => Scale::linear(high),
        true if high > 0.0 => Scale::logarithmic(10f64.powf(low.log10().floor()), high),
        true => suited,
    }
}

fn group(analysis: &Analysis, measure: Measure, group: &BarGroup) -> Group {
    let kind = |is_floor: bool| match (is_floor, group.reliable) {
        (true, _) => Kind::Floor,
        (false, true) => Kind::Ours,
        (false, false) => Kind::Uncertain,
    };
    let title = &group.title;
    let promises = group.classes.iter().any(|class| class.durability.is_some());
    let mut classes: Vec<Class> = Vec::new();
    for found in &group.classes {
        let heading = match &found.durability {
            Some(claim) => Some(class(claim)),
            None if promises && found.bars.iter().all(|bar| bar.is_floor) => {
                Some("floor, no store".to_owned())
            }
            None if promises => Some("reads: nothing promised".to_owned()),
            None => None,
        };
        let promise = heading
            .as_ref()
            .map_or_else(String::new, |text| format!(" ({text})"));
        let bars = found.bars.iter().map(|bar| {
            let label = analysis.label_of(&bar.cell).unwrap_or(&bar.label);
            let figure = bar.quantity.as_ref();
            let figure =
                figure.map_or_else(|| "no data".to_owned(), |q| quantity::sentence(measure, q));
            Bar {
                label: label.to_owned(),
                kind: kind(bar.is_floor),
                quantity: bar.quantity,
                value: shown(measure, bar.quantity.as_ref(), bar.extrapolated),
                spread: spread(measure, bar.quantity.as_ref()),
                tooltip: format!("{title}: {label}{promise}: {figure}"),
            }
        });
        classes.push(Class {
            bars: bars.collect(),
            heading,
        });
    }
    classes.extend(published(measure, group));
    Group {
        title: title.clone(),
        notes: notes(group),
        remarks: remarks(group),
        classes,
    }
}

fn shown(measure: Measure, quantity: Option<&Quantity>, extrapolated: bool) -> String {
    let sign = if extrapolated { EXTRAPOLATED } else { "" };
    quantity.map_or_else(
        || "no data".to_owned(),
        |quantity| format!("{sign}{}", quantity::value(measure, quantity.value)),
    )
}

fn spread(measure: Measure, quantity: Option<&Quantity>) -> String {
    quantity.map_or_else(String::new, |quantity| quantity::spread(measure, quantity))
}

impl Bar {
    /// Value and spread.
    pub(crate) fn text(&self) -> String {
        if self.spread.is_empty() {
            return self.value.clone();
        }
        format!("{} {}", self.value, self.spread)
    }
}

fn published(measure: Measure, group: &BarGroup) -> Option<Class> {
    let bars: Vec<Bar> = group
        .published
        .iter()
        .map(|figure| Bar {
            label: figure.label.clone(),
            kind: Kind::Published,
            quantity: Some(figure.quantity),
            value: quantity::value(measure, figure.quantity.value),
            spread: spread(measure, Some(&figure.quantity)),
            tooltip: format!(
                "{}: {}: {} as published",
                group.title,
                figure.label,
                quantity::sentence(measure, &figure.quantity)
            ),
        })
        .collect();
    let label = group.published_label.as_ref();
    let label = label.map_or_else(String::new, |label| format!(": {label}"));
    (!bars.is_empty()).then(|| Class {
        heading: Some(format!("Published{label}")),
        bars,
    })
}

fn notes(group: &BarGroup) -> Vec<String> {
    let mut notes = Vec::new();
    if !group.reliable {
        notes.push(
            "Session unreliable: two identical cells differed, so nothing is claimed.".to_owned(),
        );
    }
    notes
}

fn remarks(group: &BarGroup) -> Vec<String> {
    let mut remarks = Vec::new();
    let mut bars = group.classes.iter().flat_map(|class| &class.bars);
    if bars.any(|bar| bar.extrapolated) {
        remarks.push(format!("{EXTRAPOLATED} extrapolated from a sample."));
    }
    let cells: Vec<String> = group
        .not_applicable
        .keys()
        .map(|key| wording::quoted(key))
        .collect();
    if !cells.is_empty() {
        remarks.push(format!("Not applicable: {}.", wording::list(&cells)));
    }
    remarks
}

/// A bar with what it stands below.
struct Line<'a> {
    group: &'a str,
    heading: &'a str,
    bar: &'a Bar,
}

fn table(measure: Measure, groups: &[Group]) -> Table {
    let lines: Vec<Line<'_>> = groups
        .iter()
        .flat_map(|group| group.classes.iter().map(move |class| (group, class)))
        .flat_map(|(group, class)| {
            class.bars.iter().map(move |bar| Line {
                group: &group.title,
                heading: class.heading.as_deref().unwrap_or_default(),
                bar,
            })
        })
        .collect();
    let of = |line: &Line<'_>| line.bar.quantity;
    let makers = vec![
        textual("comparison", "", |line: &Line<'_>| Entry::text(line.group)),
        textual("cell", "what it is of", |line: &Line<'_>| {
            Entry::text(&line.bar.label)
        }),
        textual(
            "durability",
            "what an acknowledged write survives, or who published the figure",
            |line: &Line<'_>| Entry::text(line.heading),
        ),
        numeric("value", "", move |line: &Line<'_>| {
            of(line).map_or_else(Entry::default, |quantity| {
                Entry::number(quantity.value, line.bar.value.clone())
            })
        })
        .in_unit(quantity::unit(measure)),
        numeric(
            "spread",
            "standard error of a mean, or an interval",
            move |line: &Line<'_>| quantity::spread_entry(measure, of(line)),
        )
        .in_unit(quantity::unit(measure)),
    ];
    build(makers, &lines)
}
