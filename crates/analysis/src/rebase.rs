//! Another baseline for a run that was measured already.
//!
//! The records are rewritten as if the study had named that baseline, and then judged as ever; what
//! was measured stays what it was. Three things make that sound:
//!
//! - Cells of a comparison share their rounds, so every pair of them has paired differences, as
//!   many as both were measured in.
//! - The looks are those of [`crate::LOOKS`], with the `alpha` of [`crate::ALPHA_PER_LOOK`]: all
//!   intervals of a contrast hold together in 95% of runs (Pocock 1977), so whichever of the looks
//!   its rounds ended at, and for whatever reason, its interval keeps its promise. Rounds ended
//!   where the *planned* contrasts were decided: one of the new contrasts may rest on fewer than it
//!   would have got, and stay unresolved. None gets more than it has.
//! - The control stays the copy of the cell it was planned with. Noise is the difference of two
//!   identical cells, whichever they are; that of the planned baseline is the one that was measured.

use crate::by_size::constituents;
use std::collections::BTreeSet;
use stowplan_model::{
    Cell, CellId, Comparison, Contrast, Plan, Record, Role, Warning, WarningKind, suggestion,
};
use thiserror::Error;

/// Why a cell cannot be made the baseline.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RebaseError {
    /// No cell has this name.
    #[error("no cell is called '{name}' (there are {known}){suggestion}")]
    Unknown {
        /// The name.
        name: String,
        /// `; did you mean …?` or empty.
        suggestion: String,
        /// Those there are.
        known: String,
    },
    /// It is the floor.
    #[error(
        "'{0}' is a floor, which is no store that one could choose; every report says of each cell \
         how many times the floor it takes"
    )]
    Floor(String),
    /// It only explains other cells.
    #[error(
        "'{0}' only explains other cells (part = true), so nobody could choose it; the ladder that it \
         belongs to says what it costs"
    )]
    OnlyExplains(String),
    /// Its comparisons are read as a whole.
    #[error(
        "the comparisons with '{0}' are parts of a matrix or of a sweep, whose ratios are of inside \
         and outside at every size; choose a cell of another comparison"
    )]
    Constituent(String),
    /// There is no header to rewrite.
    #[error("there is no header of a run in it")]
    NoHeader,
}

/// Makes a cell the baseline of each comparison that has it: by its key (`sql`), or in one
/// comparison (`read/sql`). Adds a warning that says what was changed.
///
/// # Errors
/// There is no such cell, it is a floor or only explains others, or its comparisons are parts of a
/// matrix or a sweep.
pub fn rebase(records: &mut Vec<Record>, baseline: &str) -> Result<(), RebaseError> {
    // Comparisons that the plan got while it ran are those of sweeps.
    let added = records.iter().filter_map(|record| match record {
        Record::Extension(more) => Some(&more.comparisons),
        _ => None,
    });
    let added: Vec<Comparison> = added.flatten().cloned().collect();
    let header = |record: &Record| matches!(record, Record::Run(_));
    let position = records.iter().position(header).unwrap_or(0);
    let Some(Record::Run(run)) = records.get_mut(position) else {
        return Err(RebaseError::NoHeader);
    };
    let plan = &mut run.plan;
    let constituents = constituents(plan);
    let change = changes(plan, &added, &constituents, baseline)?;
    let mut replaced: BTreeSet<String> = BTreeSet::new();
    let mut kept: Vec<String> = Vec::new();
    for comparison in &mut plan.comparisons {
        match change.iter().find(|(id, _)| *id == comparison.id) {
            Some((_, cell)) => replaced.extend(make_baseline(comparison, cell)),
            None if !constituents.contains(&comparison.id) => kept.push(comparison.id.clone()),
            None => {}
        }
    }
    if !replaced.is_empty() {
        let warning = warning(baseline, replaced, &kept);
        records.insert(position + 1, Record::Warning(warning));
    }
    Ok(())
}

/// The comparisons that change, each with the cell that becomes its baseline.
fn changes(
    plan: &Plan,
    added: &[Comparison],
    constituents: &BTreeSet<String>,
    baseline: &str,
) -> Result<Vec<(String, CellId)>, RebaseError> {
    let comparisons = plan.comparisons.iter().chain(added);
    let cells = comparisons.flat_map(|known| known.cells.iter().map(move |cell| (known, cell)));
    let cells = cells.filter(|(_, cell)| cell.role != Role::Control);
    let cells: Vec<(&Comparison, &Cell)> = cells.collect();
    let mut found = cells.clone();
    found.retain(|(_, cell)| cell.key == baseline || cell.id.0 == baseline);
    if found.is_empty() {
        return Err(unknown(cells.into_iter().map(|(_, cell)| cell), baseline));
    }
    let name = || baseline.to_owned();
    if found.iter().all(|(_, cell)| cell.role == Role::Part) {
        return Err(RebaseError::OnlyExplains(name()));
    }
    found.retain(|(_, cell)| !matches!(cell.role, Role::Floor | Role::Part));
    if found.is_empty() {
        return Err(RebaseError::Floor(name()));
    }
    found.retain(|(of, _)| !constituents.contains(&of.id) && !added.contains(of));
    if found.is_empty() {
        return Err(RebaseError::Constituent(name()));
    }
    let whole = found.into_iter();
    Ok(whole
        .map(|(of, cell)| (of.id.clone(), cell.id.clone()))
        .collect())
}

fn unknown<'a>(cells: impl Iterator<Item = &'a Cell> + Clone, name: &str) -> RebaseError {
    const SHOWN: usize = 12;
    let keys: BTreeSet<&str> = cells.clone().map(|cell| cell.key.as_str()).collect();
    let suggestion = match name.contains('/') {
        true => suggestion(name, cells.map(|cell| cell.id.0.as_str())),
        false => suggestion(name, keys.iter().copied()),
    };
    let more = match keys.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown: Vec<&str> = keys.into_iter().take(SHOWN).collect();
    RebaseError::Unknown {
        name: name.to_owned(),
        suggestion,
        known: format!("{}{more}", shown.join(", ")),
    }
}

/// Exchanges the roles and asks for every ratio to the new baseline. Returns the key of the cell
/// that was the baseline, unless it is the same one.
fn make_baseline(comparison: &mut Comparison, chosen: &CellId) -> Option<String> {
    let before = comparison.with_role(Role::Baseline)?;
    let (old, old_key) = (before.id.clone(), before.key.clone());
    if old == *chosen {
        return None;
    }
    for cell in &mut comparison.cells {
        if cell.id == *chosen {
            cell.role = Role::Baseline;
        } else if cell.id == old {
            cell.role = Role::Candidate;
        }
    }
    // The baseline stands first; the control stays behind the cell that it is a copy of.
    let cells = &mut comparison.cells;
    cells.sort_by_key(|cell| cell.role != Role::Baseline);
    let judged = |cell: &&Cell| !matches!(cell.role, Role::Control | Role::Part);
    let to_chosen = cells.iter().filter(judged);
    let to_chosen = to_chosen.filter(|cell| cell.id != *chosen);
    let to_chosen = to_chosen.map(|cell| Contrast {
        cell: cell.id.clone(),
        reference: chosen.clone(),
    });
    // What a chart asks for besides stays, as far as it is not one of these the other way round.
    let others = comparison.contrasts.iter();
    let others =
        others.filter(|c| c.reference != old && ![&c.cell, &c.reference].contains(&chosen));
    comparison.contrasts = to_chosen.chain(others.cloned()).collect();
    Some(old_key)
}

fn warning(baseline: &str, replaced: BTreeSet<String>, kept: &[String]) -> Warning {
    let kept = match kept {
        [] => String::new(),
        kept => format!(
            "; where there is no such cell a comparison keeps its own: {}",
            kept.join(", ")
        ),
    };
    Warning {
        kind: WarningKind::ChosenBaseline,
        message: format!(
            "The baseline was chosen after the run: {baseline} instead of {}{kept}. Rounds ended \
             when the ratios to the planned baseline were decided, so one of these may be \
             unresolved that more rounds would decide; the noise is that of the planned baseline \
             and its copy",
            replaced.into_iter().collect::<Vec<_>>().join(", ")
        ),
        advice: "To have it measured until it is decided, name this baseline in the study."
            .to_owned(),
    }
}
