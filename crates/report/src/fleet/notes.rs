//! What qualifies everything: runs that were cut short, zones that differ, baselines chosen
//! afterwards, cells left out.

use super::Fleet;
use crate::cells::grouped;
use crate::document::{Block, Detail, notice};
use crate::{value, wording};
use std::collections::BTreeMap;
use stowplan_model::{CellId, WarningKind};

pub(super) fn notices(fleet: &Fleet<'_>) -> impl Iterator<Item = Block> {
    let notes = endings(fleet)
        .chain(zones(fleet))
        .chain(chosen_baselines(fleet))
        .chain(left_out(fleet));
    notes.map(|note| notice(note).at(Detail::Answer))
}

fn endings(fleet: &Fleet<'_>) -> impl Iterator<Item = String> {
    let results = fleet.machines().iter().zip(&fleet.analyses);
    results.filter_map(|(machine, analysis)| {
        wording::ending(analysis).map(|end| format!("{}: {end}", machine.label))
    })
}

/// That verdicts are by different zones, if they are.
fn zones(fleet: &Fleet<'_>) -> Option<String> {
    let zones = fleet.machines().iter();
    let zones = zones.map(|m| format!("{} on {}", value::percent(m.equivalence), m.label));
    fleet.zone().is_none().then(|| {
        format!(
            "Verdicts are by different equivalence zones: {}.",
            wording::list(&zones.collect::<Vec<_>>())
        )
    })
}

/// That the baseline is not the planned one: what that means, once, and where.
fn chosen_baselines(fleet: &Fleet<'_>) -> impl Iterator<Item = String> {
    let places = fleet.analyses.iter().enumerate();
    let notes = grouped(places.filter_map(|(place, analysis)| {
        let mut warnings = analysis.warnings.iter();
        let warning = warnings.find(|w| w.kind == WarningKind::ChosenBaseline)?;
        Some((warning.message.as_str(), place))
    }));
    notes.into_iter().map(|(message, places)| {
        if places.len() == fleet.machines().len() {
            format!("{message}.")
        } else {
            format!("{}: {message}.", fleet.names(&places))
        }
    })
}

/// What was not the same on every machine, a sentence per machine and kind of difference.
fn left_out(fleet: &Fleet<'_>) -> impl Iterator<Item = String> {
    /// Cells that are named.
    const NAMED: usize = 4;
    let mut groups: BTreeMap<(usize, &str), Vec<&CellId>> = BTreeMap::new();
    for found in &fleet.outcome.differences {
        let group = groups.entry((found.machine, found.what)).or_default();
        group.push(&found.cell);
    }
    groups.into_iter().map(|((place, what), cells)| {
        let named = cells.iter().take(NAMED);
        let mut names: Vec<String> = named.map(|id| id.0.clone()).collect();
        if cells.len() > names.len() {
            names.push(format!("{} more", cells.len() - names.len()));
        }
        let are = match what {
            "settings" => "settings are not those".to_owned(),
            what => format!("{what} is not that"),
        };
        format!(
            "Left out on {}, where the {are} of the first result: {}.",
            fleet.names(&[place]),
            wording::list(&names)
        )
    })
}
