//! Every ratio between stores that was asked for, and what must be known of some.

use crate::columns::{listed, rows};
use crate::document::{Block, Cell, Table, Tone, Value, folded};
use crate::wording;
use stowplan_analysis::{Analysis, CellSummary, ComparisonOutcome, ContrastOutcome, MIN_ROUNDS};
use stowplan_model::{CellId, Role};

/// The ratios of cells that can be chosen.
fn between_stores(comparison: &ComparisonOutcome) -> Vec<&ContrastOutcome> {
    let is_store = |id: &CellId| {
        let role = comparison.cell(id).map(|cell| cell.cell.role);
        !matches!(role, Some(Role::Control | Role::Floor | Role::Part))
    };
    let contrasts = comparison.contrasts.iter();
    contrasts
        .filter(|contrast| is_store(&contrast.cell) && is_store(&contrast.reference))
        .collect()
}

/// All of them in a table; nothing where all are to the baseline and say no more than the table of
/// cells.
pub(super) fn table(comparison: &ComparisonOutcome) -> Option<Block> {
    let ratios = between_stores(comparison);
    let baseline = comparison.baseline().map(|cell| &cell.cell.id);
    let says_more = |ratio: &&ContrastOutcome| {
        Some(&ratio.reference) != baseline || ratio.corrected.is_some() || ratio.total.is_some()
    };
    if !ratios.iter().any(says_more) {
        return None;
    }
    let name = |id: &CellId| {
        let cell = comparison.cell(id);
        cell.map_or_else(|| id.0.clone(), |cell| cell.cell.label.clone())
    };
    let special = |column: &str, ratio: &&ContrastOutcome| match column {
        "cell" => Cell::text(name(&ratio.cell)),
        "over" => Cell::text(name(&ratio.reference)),
        _ => Cell::text(wording::verdict(ratio.verdict)).in_tone(Tone::of(ratio.verdict)),
    };
    let columns = listed(include_str!("../../tables/ratios.txt"), special).into_iter();
    let measure = comparison.measure.to_string();
    let columns = columns.map(|column| column.naming("{measure}", &measure));
    let title = format!("Every ratio: {}", comparison.title);
    Some(folded(
        "Every ratio",
        Table::of(title, columns.collect(), &rows(ratios)),
    ))
}

/// Where wall and corrected time do not agree, and why there is no ratio.
pub(super) fn remarks(analysis: &Analysis, comparison: &ComparisonOutcome) -> Vec<String> {
    let ratios = between_stores(comparison).into_iter();
    let remarks = ratios.filter_map(|ratio| {
        let (cell, other) = (
            comparison.cell(&ratio.cell)?,
            comparison.cell(&ratio.reference)?,
        );
        let both = format!("{} and {}", cell.cell.label, other.cell.label);
        let Some(wall) = ratio.estimate else {
            let because = no_data_because(analysis, cell, other);
            return Some(format!("{both}: no verdict, because {because}."));
        };
        let corrected = ratio.corrected.filter(|corrected| !corrected.agrees)?;
        Some(format!(
            "{both}: nothing is claimed, because wall and corrected time do not agree: {} by wall \
             time, {} by corrected time.",
            Value::from(&wall).whole(),
            Value::from(&corrected.estimate).whole()
        ))
    });
    remarks.collect()
}

fn no_data_because(analysis: &Analysis, cell: &CellSummary, other: &CellSummary) -> String {
    let failed = [cell, other].into_iter().find_map(|summary| {
        let mut failures = analysis.failures.iter();
        let failure = failures.find(|failure| failure.cell == summary.cell.id)?;
        Some((summary, failure))
    });
    let Some((summary, failure)) = failed else {
        let common = cell.rounds_in_common(other);
        return format!("there are too few rounds ({common} of {MIN_ROUNDS}) to compare");
    };
    let message = failure.message.trim_end_matches('.');
    format!("{} failed: {message}", summary.cell.label)
}
