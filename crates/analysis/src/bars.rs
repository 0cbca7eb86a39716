//! Bars of measured quantities: a group per comparison, and in it, one class of durability after the
//! other.

use crate::{CellSummary, ComparisonOutcome, Quantity, SpaceRow, quantity};
use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_model::{
    Axis, BarsSpec, CellId, CellSpec, ComparisonSpec, DurabilityClaim, Measure, Role, Study,
};

/// A chart of bars with its numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BarsOutcome {
    /// Its name in the study file.
    pub id: String,
    /// Title for people.
    pub title: String,
    /// What the bars show.
    pub measure: Measure,
    /// The axis that the study asks for.
    pub axis: Option<Axis>,
    /// A group per comparison that has data, in reading order.
    pub groups: Vec<BarGroup>,
}

/// The bars of one comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BarGroup {
    /// The comparison.
    pub comparison: String,
    /// Its name for people.
    pub title: String,
    /// Whether it passed its A/A gate.
    pub reliable: bool,
    /// Its bars, those that promise the same together: weakest promise first, then those that
    /// promise nothing (reads, floors). Bars are to be compared within a class only.
    pub classes: Vec<BarClass>,
    /// Published figures beside them.
    pub published: Vec<PublishedQuantity>,
    /// Where these come from, in words.
    pub published_label: Option<String>,
    /// Cells that a store cannot do, with the reason.
    pub not_applicable: BTreeMap<String, String>,
}

/// Bars that promise the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BarClass {
    /// What they promise for what they write.
    pub durability: Option<DurabilityClaim>,
    /// In the order of the study.
    pub bars: Vec<MeasuredBar>,
}

/// One bar.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredBar {
    /// The cell.
    pub cell: CellId,
    /// Its label.
    pub label: String,
    /// Whether it is no store to choose: the cheapest conceivable way, or a part that explains others.
    pub is_floor: bool,
    /// Whether fewer operations were measured than the figure is of; only of block times.
    pub extrapolated: bool,
    /// Its length; nothing where it is not known.
    pub quantity: Option<Quantity>,
}

/// A published figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedQuantity {
    /// What it is of.
    pub label: String,
    /// The figure, in the unit of the measure.
    pub quantity: Quantity,
}

/// The chart, unless none of its comparisons has a figure.
pub(crate) fn bars(
    spec: &BarsSpec,
    study: &Study,
    comparisons: &[ComparisonOutcome],
    space: &[SpaceRow],
) -> Option<BarsOutcome> {
    let outcomes = spec.comparisons.iter();
    let outcomes = outcomes.filter_map(|id| comparisons.iter().find(|known| known.id == *id));
    let groups: Vec<BarGroup> = outcomes
        .filter(|outcome| outcome.was_measured())
        .map(|outcome| group(spec, study, outcome, space))
        .collect();
    let bars = || groups.iter().flat_map(|g| &g.classes).flat_map(|c| &c.bars);
    let has_figures = bars().any(|bar| bar.quantity.is_some());
    has_figures.then(|| BarsOutcome {
        id: spec.id.clone(),
        title: spec.title.clone(),
        measure: spec.measure,
        axis: spec.axis,
        groups,
    })
}

fn group(
    spec: &BarsSpec,
    study: &Study,
    outcome: &ComparisonOutcome,
    space: &[SpaceRow],
) -> BarGroup {
    let cells = chosen(&spec.cells, outcome);
    let mut classes: Vec<BarClass> = Vec::new();
    for cell in &cells {
        let durability = cell.promise();
        let bar = MeasuredBar {
            cell: cell.cell.id.clone(),
            label: cell.cell.label.clone(),
            is_floor: matches!(cell.cell.role, Role::Floor | Role::Part),
            extrapolated: spec.measure == Measure::BlockTime
                && cell.cell.workload.sample_of.is_some(),
            quantity: quantity::of(cell, spec.measure, space),
        };
        match classes
            .iter_mut()
            .find(|class| class.durability == durability)
        {
            Some(class) => class.bars.push(bar),
            None => classes.push(BarClass {
                durability,
                bars: vec![bar],
            }),
        }
    }
    classes.sort_by_key(|class| quantity::rank(class.durability));
    let compared = study
        .comparisons
        .iter()
        .find(|known| known.id == outcome.id);
    // What a store cannot do is listed by what it is called.
    let called = |key: &String| {
        let cell = compared.and_then(|known| known.cells.get(key));
        cell.map(CellSpec::name)
    };
    let wanted = |name: &String| {
        let mut keys = spec.cells.iter();
        spec.cells.is_empty() || keys.any(|key| key == name || called(key).as_ref() == Some(name))
    };
    let not_applicable = outcome.not_applicable.iter();
    BarGroup {
        comparison: outcome.id.clone(),
        title: outcome.title.clone(),
        reliable: outcome.reliable,
        published: published(spec, compared, &cells),
        published_label: spec
            .published_label
            .clone()
            .or_else(|| compared?.published_label.clone()),
        classes,
        not_applicable: not_applicable
            .filter(|(key, _)| wanted(key))
            .map(|(key, why)| (key.clone(), why.clone()))
            .collect(),
    }
}

/// The cells of these names, in their order; every cell between which one could choose, and the
/// floor, if none are named.
pub(crate) fn chosen<'a>(names: &[String], outcome: &'a ComparisonOutcome) -> Vec<&'a CellSummary> {
    let measured = || {
        outcome
            .cells
            .iter()
            .filter(|c| c.cell.role != Role::Control)
    };
    if names.is_empty() {
        return measured().filter(|c| c.cell.role != Role::Part).collect();
    }
    let names = names.iter();
    names
        .filter_map(|name| measured().find(|cell| cell.cell.key == *name))
        .collect()
}

/// The published seconds of the cells shown, then those of what is no cell.
fn published(
    spec: &BarsSpec,
    compared: Option<&ComparisonSpec>,
    cells: &[&CellSummary],
) -> Vec<PublishedQuantity> {
    if spec.measure != Measure::BlockTime {
        return Vec::new();
    }
    let figure = |label: &str, seconds: f64, error: Option<f64>| PublishedQuantity {
        label: label.to_owned(),
        quantity: Quantity::with_error(seconds * 1e9, error.map(|error| error * 1e9)),
    };
    let own = cells.iter().filter_map(|cell| {
        let seconds = cell.cell.published_seconds?;
        Some(figure(
            &cell.cell.label,
            seconds,
            cell.published_error_seconds,
        ))
    });
    let others = spec.published.iter();
    let others = others.filter(|bar| compared.is_some_and(|known| known.id == bar.comparison));
    own.chain(others.map(|bar| figure(&bar.label, bar.seconds, bar.error_seconds)))
        .collect()
}
