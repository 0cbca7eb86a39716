//! What qualifies everything: runs that were cut short, zones that differ, baselines chosen
//! afterwards, cells left out.

use super::Fleet;
use crate::cells::grouped;
use crate::{value, wording};
use stowplan_model::WarningKind;

pub(super) fn notes(fleet: &Fleet<'_>) -> Vec<String> {
    let results = || fleet.labels().zip(&fleet.analyses);
    let endings = results()
        .filter_map(|(label, analysis)| Some(format!("{label}: {}", wording::ending(analysis)?)));
    let mut notes: Vec<String> = endings.collect();
    if fleet.zone().is_none() {
        let machines = fleet.machines().iter();
        let zones = machines.map(|m| format!("{} on {}", value::percent(m.equivalence), m.label));
        let zones = wording::list(&zones.collect::<Vec<_>>());
        notes.push(format!(
            "Verdicts are by different equivalence zones: {zones}."
        ));
    }
    // That the baseline is not the planned one: what that means, once, and where.
    let chosen = fleet.analyses.iter().enumerate();
    let chosen = grouped(chosen.filter_map(|(place, analysis)| {
        let mut warnings = analysis.warnings.iter();
        let warning = warnings.find(|w| w.kind == WarningKind::ChosenBaseline)?;
        Some((warning.message.as_str(), place))
    }));
    let chosen =
        chosen.into_iter().map(
            |(message, places)| match places.len() == fleet.machines().len() {
                true => format!("{message}."),
                false => format!("{}: {message}.", fleet.names(&places)),
            },
        );
    notes.extend(chosen);
    notes.extend(left_out(fleet));
    notes
}

/// What was not the same on every machine, a sentence per machine and kind of difference.
fn left_out(fleet: &Fleet<'_>) -> impl Iterator<Item = String> {
    /// Cells that are named.
    const NAMED: usize = 4;
    let differences = fleet.outcome.differences.iter();
    let groups = grouped(differences.map(|found| ((found.machine, found.what), &found.cell.0)));
    groups.into_iter().map(|((place, what), cells)| {
        let mut names: Vec<String> = cells.iter().take(NAMED).copied().cloned().collect();
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
