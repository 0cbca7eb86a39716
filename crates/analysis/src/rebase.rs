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
    let extensions: Vec<Comparison> = records.iter().flat_map(added).cloned().collect();
    let header = |record: &Record| matches!(record, Record::Run(_));
    let position = records.iter().position(header).unwrap_or(0);
    let Some(Record::Run(run)) = records.get_mut(position) else {
        return Err(RebaseError::NoHeader);
    };
    let plan = &mut run.plan;
    let change = changes(plan, &extensions, baseline)?;
    let mut replaced: BTreeSet<String> = BTreeSet::new();
    let mut kept: Vec<String> = Vec::new();
    let constituents = constituents(plan);
    for comparison in &mut plan.comparisons {
        match change.iter().find(|(id, _)| *id == comparison.id) {
            Some((_, cell)) => replaced.extend(make_baseline(comparison, cell)),
            None if !constituents.contains(&comparison.id) => kept.push(comparison.id.clone()),
            None => {}
        }
    }
    if !replaced.is_empty() {
        let warning = warning(baseline, &replaced, &kept);
        records.insert(position + 1, Record::Warning(warning));
    }
    Ok(())
}

/// Comparisons that the plan got while it ran: those of sweeps.
fn added(record: &Record) -> &[Comparison] {
    match record {
        Record::Extension(more) => &more.comparisons,
        _ => &[],
    }
}

/// The comparisons that change, each with the cell that becomes its baseline.
fn changes(
    plan: &Plan,
    added: &[Comparison],
    baseline: &str,
) -> Result<Vec<(String, CellId)>, RebaseError> {
    let constituents = constituents(plan);
    let everything = || plan.comparisons.iter().chain(added);
    let meant = |cell: &&Cell| {
        cell.role != Role::Control && (cell.key == baseline || cell.id.0 == baseline)
    };
    let found: Vec<(&Comparison, &Cell)> = everything()
        .flat_map(|comparison| comparison.cells.iter().map(move |cell| (comparison, cell)))
        .filter(|(_, cell)| meant(cell))
        .collect();
    if found.is_empty() {
        return Err(unknown(everything(), baseline));
    }
    let name = || baseline.to_owned();
    let only_explain = found.iter().all(|(_, cell)| cell.role == Role::Part);
    let stores: Vec<_> = found
        .into_iter()
        .filter(|(_, cell)| !matches!(cell.role, Role::Floor | Role::Part))
        .collect();
    if stores.is_empty() {
        return Err(match only_explain {
            true => RebaseError::OnlyExplains(name()),
            false => RebaseError::Floor(name()),
        });
    }
    let whole: Vec<(String, CellId)> = stores
        .into_iter()
        .filter(|(comparison, _)| {
            !constituents.contains(&comparison.id) && !added.contains(comparison)
        })
        .map(|(comparison, cell)| (comparison.id.clone(), cell.id.clone()))
        .collect();
    if whole.is_empty() {
        return Err(RebaseError::Constituent(name()));
    }
    Ok(whole)
}

fn unknown<'a>(comparisons: impl Iterator<Item = &'a Comparison>, name: &str) -> RebaseError {
    const SHOWN: usize = 12;
    let cells = comparisons.flat_map(|comparison| &comparison.cells);
    let cells: Vec<&Cell> = cells.filter(|cell| cell.role != Role::Control).collect();
    let keys: BTreeSet<&str> = cells.iter().map(|cell| cell.key.as_str()).collect();
    let ids = cells.iter().map(|cell| cell.id.0.as_str());
    let suggestion = if name.contains('/') {
        suggestion(name, ids)
    } else {
        suggestion(name, keys.iter().copied())
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
    comparison
        .cells
        .sort_by_key(|cell| cell.role != Role::Baseline);
    let to_chosen = comparison.cells.iter();
    let judged = |cell: &&Cell| !matches!(cell.role, Role::Control | Role::Part);
    let to_chosen = to_chosen.filter(|cell| judged(cell) && cell.id != *chosen);
    let mut contrasts: Vec<Contrast> = to_chosen
        .map(|cell| Contrast {
            cell: cell.id.clone(),
            reference: chosen.clone(),
        })
        .collect();
    // What a chart asks for besides stays, as far as it is not one of these the other way round.
    let others = comparison.contrasts.iter();
    contrasts.extend(
        others
            .filter(|c| c.reference != old && ![&c.cell, &c.reference].contains(&chosen))
            .cloned(),
    );
    comparison.contrasts = contrasts;
    Some(old_key)
}

fn warning(baseline: &str, replaced: &BTreeSet<String>, kept: &[String]) -> Warning {
    let replaced: Vec<&str> = replaced.iter().map(String::as_str).collect();
    let kept = match kept {
        [] => String::new(),
        [one] => format!("; comparison {one} keeps its own, because it has no such cell"),
        many => format!(
            "; comparisons {} keep their own, because they have no such cell",
            many.join(", ")
        ),
    };
    Warning {
        kind: WarningKind::ChosenBaseline,
        message: format!(
            "The baseline was chosen after the run: {baseline} instead of {}{kept}. Rounds ended \
             when the ratios to the planned baseline were decided, so one of these may be \
             unresolved that more rounds would decide; the noise is that of the planned baseline \
             and its copy",
            replaced.join(", ")
        ),
        advice: "To have it measured until it is decided, name this baseline in the study."
            .to_owned(),
    }
}
