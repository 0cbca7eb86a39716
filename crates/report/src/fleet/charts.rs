//! The study's figures of ratios: a group per cell, and in it a bar per machine.

use super::Fleet;
use crate::cells::grouped;
use crate::document::{Block, Section, chapter};
use crate::run::figures::Drawn;
use crate::{value, wording};
use stowplan_analysis::{Finding, FindingGroup, FindingRow, Shown, Source, Verdict};
use stowplan_model::CellId;

/// The figures.
pub(super) fn section(fleet: &Fleet<'_>) -> Option<Block> {
    let figures = figures(fleet).into_iter();
    let figures = figures.map(|(found, notices)| drawn(fleet, &found).block(notices));
    chapter("charts", "Charts", figures.collect())
}

/// The first cell of the first figure, so many rows at most.
pub(super) fn picture(fleet: &Fleet<'_>, rows: usize) -> Option<Block> {
    let (mut found, _) = figures(fleet).into_iter().next()?;
    found.groups.truncate(1);
    let rows = drawn(fleet, &found).rows().first(rows);
    Some(Section::new(&found.title, vec![rows.into()]).into())
}

fn drawn<'a>(fleet: &Fleet<'_>, found: &'a Finding) -> Drawn<'a> {
    let zone = fleet.zone().map_or("the zone".to_owned(), value::percent);
    Drawn::of_several(found, zone)
}

/// The figures of which something is drawn, each with what must be known of it.
fn figures(fleet: &Fleet<'_>) -> Vec<(Finding, Vec<String>)> {
    let analyses = fleet.analyses.iter().enumerate();
    let all = analyses.flat_map(|(place, analysis)| {
        let figures = analysis.figures.iter();
        figures.filter_map(move |found| match &found.shown {
            Shown::Ratios { to, .. } => Some((found.id.as_str(), (place, to, found))),
            Shown::Measured(_) => None,
        })
    });
    let figures = grouped(all).into_iter();
    figures.filter_map(|(_, on)| together(fleet, &on)).collect()
}

/// A figure that several machines have, without those whose ratios are to something else; nothing if no
/// machine has a ratio.
fn together(
    fleet: &Fleet<'_>,
    on: &[(usize, &CellId, &Finding)],
) -> Option<(Finding, Vec<String>)> {
    let (_, to, first) = on.first()?;
    type Placed<'a> = Vec<&'a (usize, &'a CellId, &'a Finding)>;
    let (mut same, other): (Placed<'_>, Placed<'_>) = on.iter().partition(|(_, its, _)| its == to);
    same.retain(|(place, ..)| !left_out(fleet, *place, to));
    let rows = same.iter();
    let rows = rows.flat_map(|(place, _, found)| found.rows().map(move |row| (*place, row)));
    let rows = rows.filter(|(_, row)| matches!(row.source, Source::Here | Source::Floor));
    let cells = grouped(rows.filter_map(|(place, row)| Some((row.cell.as_ref()?, (place, row)))));
    let Shown::Ratios { label, .. } = &first.shown else {
        return None;
    };
    let groups = cells.into_iter().filter_map(|(cell, on)| {
        on.iter().find(|(_, row)| row.rounds.is_some())?;
        let first = on.first()?.1;
        let promise = first.durability;
        let promise = promise.map_or_else(String::new, |d| format!(" (durability: {d})"));
        let rows = fleet.machines().iter().enumerate().map(|(place, machine)| {
            let mut known = on.iter().filter(|_| !left_out(fleet, place, cell));
            let row = known.find(|(at, _)| *at == place).map(|(_, row)| *row);
            FindingRow {
                label: machine.label.clone(),
                durability: None,
                ..row.map_or_else(
                    || first.clone().with_ratio(None, Verdict::NoData),
                    Clone::clone,
                )
            }
        });
        Some(FindingGroup {
            title: format!("{} / {label}{promise}", first.label),
            rows: rows.collect(),
            ..FindingGroup::default()
        })
    });
    let mut groups: Vec<FindingGroup> = groups.collect();
    if groups.is_empty() {
        return None;
    }
    groups.extend(first.groups.iter().cloned().map(|mut group| {
        group.rows.retain(|row| row.source == Source::Published);
        group
    }));
    let mut notices = Vec::new();
    if !other.is_empty() {
        let places: Vec<usize> = other.iter().map(|(place, ..)| *place).collect();
        notices.push(format!(
            "Left out {}, where the ratios of this chart are not to {}.",
            fleet.on(&places),
            wording::quoted(label)
        ));
    }
    let unreliable = same.iter().filter(|(_, _, found)| {
        let ratios = found.rows().filter(|row| row.rounds.is_some());
        let mut ratios = ratios.peekable();
        ratios.peek().is_some() && ratios.all(|row| row.verdict == Some(Verdict::Unreliable))
    });
    let unreliable: Vec<usize> = unreliable.map(|(place, ..)| *place).collect();
    if !unreliable.is_empty() {
        let on = fleet.on(&unreliable);
        notices.push(format!(
            "Session unreliable {on}: those bars claim nothing."
        ));
    }
    let finding = Finding {
        shown: Shown::Ratios {
            to: (*to).clone(),
            label: label.clone(),
        },
        groups,
        unreliable: Vec::new(),
        ..(*first).clone()
    };
    Some((finding, notices))
}

fn left_out(fleet: &Fleet<'_>, place: usize, cell: &CellId) -> bool {
    let mut differences = fleet.outcome.differences.iter();
    differences.any(|found| found.machine == place && found.cell == *cell)
}
