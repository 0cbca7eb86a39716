//! The charts of a study: this machine's ratios beside the published ones.

use crate::{
    ChartBar, ChartOutcome, ComparisonOutcome, ContrastOutcome, PublishedRatio, RatioEstimate,
    Verdict, judge::Judge,
};
use stowplan_model::{Cell, CellId, ChartSpec, Comparison, Role, Study};

/// The chart, unless its comparison was not planned or has no data.
pub(crate) fn chart(
    chart: &ChartSpec,
    study: &Study,
    judged: &[(Judge<'_>, ComparisonOutcome)],
) -> Option<ChartOutcome> {
    let (judge, outcome) = judged
        .iter()
        .find(|(_, outcome)| outcome.id == chart.comparison)?;
    if judge.blocks.is_empty() {
        return None;
    }
    let reference = cell(judge.comparison, &chart.reference);
    Some(ChartOutcome {
        id: chart.id.clone(),
        title: chart.title.clone(),
        reference: label(judge.comparison, study, &chart.reference),
        bars: chart
            .bars
            .iter()
            .map(|key| bar(key, reference, study, judge, outcome))
            .collect(),
        published: published(chart, study),
        published_label: chart.published_label.clone(),
        published_precision: chart.published_precision,
        reliable: outcome.reliable,
    })
}

fn cell<'a>(comparison: &'a Comparison, key: &str) -> Option<&'a Cell> {
    let cells = &comparison.cells;
    cells
        .iter()
        .find(|cell| cell.key == key && cell.role != Role::Control)
}

/// The label of a cell; of one that a store cannot do, what the study calls it.
fn label(comparison: &Comparison, study: &Study, key: &str) -> String {
    if let Some(cell) = cell(comparison, key) {
        return cell.label.clone();
    }
    let spec = study
        .comparisons
        .iter()
        .find(|spec| spec.id == comparison.id)
        .and_then(|spec| spec.cells.get(key));
    spec.and_then(|spec| spec.label.clone())
        .unwrap_or_else(|| key.to_owned())
}

fn bar(
    key: &str,
    reference: Option<&Cell>,
    study: &Study,
    judge: &Judge<'_>,
    outcome: &ComparisonOutcome,
) -> ChartBar {
    let comparison = judge.comparison;
    let drawn = cell(comparison, key);
    let contrast = drawn
        .zip(reference)
        .map(|(cell, reference)| contrast(cell, reference, judge, outcome));
    ChartBar {
        cell: drawn.map_or_else(
            || CellId(format!("{}/{key}", comparison.id)),
            |cell| cell.id.clone(),
        ),
        label: label(comparison, study, key),
        estimate: contrast.as_ref().and_then(|contrast| contrast.estimate),
        verdict: contrast.map_or(Verdict::NoData, |contrast| contrast.verdict),
        durability: drawn
            .filter(|cell| cell.workload.operation.writes())
            .map(|cell| cell.capabilities.durability.to_string()),
    }
}

/// The contrast of the outcome, or the opposite one inverted; one that was not planned is
/// computed.
pub(crate) fn contrast(
    cell: &Cell,
    reference: &Cell,
    judge: &Judge<'_>,
    outcome: &ComparisonOutcome,
) -> ContrastOutcome {
    if cell.id == reference.id {
        return itself(cell, judge);
    }
    let find = |cell: &Cell, reference: &Cell| {
        outcome
            .contrasts
            .iter()
            .find(|c| c.cell == cell.id && c.reference == reference.id)
    };
    find(cell, reference)
        .cloned()
        .or_else(|| find(reference, cell).map(ContrastOutcome::inverse))
        .unwrap_or_else(|| judge.contrast(cell, reference))
}

/// The reference drawn as a bar of its own: 1 by definition, if it was measured.
fn itself(cell: &Cell, judge: &Judge<'_>) -> ContrastOutcome {
    let rounds = judge.blocks.of_cell(&cell.id).count();
    let measured = rounds > 0;
    ContrastOutcome {
        cell: cell.id.clone(),
        reference: cell.id.clone(),
        estimate: measured.then_some(RatioEstimate {
            ratio: 1.0,
            low: 1.0,
            high: 1.0,
            rounds,
        }),
        verdict: if measured {
            Verdict::Equivalent
        } else {
            Verdict::NoData
        },
        corrected: None,
        builds: None,
        total: None,
        driver_cost: None,
        same_durability: true,
    }
}

/// The published ratios, by rising ratio.
fn published(chart: &ChartSpec, study: &Study) -> Vec<PublishedRatio> {
    let mut ratios: Vec<PublishedRatio> = chart
        .published
        .iter()
        .map(|(system, ratio)| PublishedRatio {
            system: system.clone(),
            description: study.systems.get(system).unwrap_or(system).clone(),
            ratio: *ratio,
        })
        .collect();
    ratios.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    ratios
}
