//! Results of one study from several machines, side by side. Nothing is pooled: a ratio is one
//! machine's, and what several machines say together is on how many of them a verdict holds.

mod across;

pub use across::{ClaimAcross, Ledger, ledger};

use crate::{
    Analysis, CellSummary, Finding, FindingGroup, FindingRow, Shown, Source, Verdict,
    cell_differences, compare::same_run, figures,
};
use serde::Serialize;
use std::collections::BTreeSet;
use stowplan_model::{CellId, Environment, RunEnd};
use thiserror::Error;

/// Why results cannot be set side by side.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MachinesError {
    /// There are fewer than two.
    #[error("give at least two results to set side by side")]
    TooFew,
    /// They are of several studies, or of one study at several scales.
    #[error("the results are not of one study at one scale: {}", of_each(.0))]
    SeveralStudies(Vec<(String, Vec<usize>)>),
    /// One run is given more than once: the places of the first and of the second.
    #[error("results {} and {} are of the same run; give it once", .0 + 1, .1 + 1)]
    Twice(usize, usize),
}

fn of_each(studies: &[(String, Vec<usize>)]) -> String {
    let texts = studies.iter().map(|(study, places)| {
        let places: Vec<String> = places.iter().map(|place| (place + 1).to_string()).collect();
        format!("{study} (result {})", places.join(", "))
    });
    texts.collect::<Vec<_>>().join("; ")
}

/// Several results of one study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachinesOutcome {
    /// Name of the study.
    pub study: String,
    /// Its title for people.
    pub title: String,
    /// What it asks.
    pub question: String,
    /// Where the published study stands.
    pub source: Option<String>,
    /// The scale at which all were run.
    pub scale: String,
    /// One per result, in the order given. Every list below that is of machines is in this order.
    pub machines: Vec<Machine>,
    /// How many different machines these are: two results of one machine count once.
    pub distinct: usize,
    /// The study's figures of ratios, as far as any of them has data.
    pub figures: Vec<FindingAcross>,
    /// The comparisons that any of them has, in running order: ratios to the baseline.
    pub comparisons: Vec<FindingAcross>,
    /// One per claim of the study, in reading order.
    pub claims: Vec<ClaimAcross>,
    /// What was left out because it is not the same on all machines.
    pub differences: Vec<MeasuredOtherwise>,
}

/// One result and the machine it comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// What it is called: its host, and what tells it from others of that name.
    pub label: String,
    /// Which machine it is: results of one machine have the same number.
    pub machine: usize,
    /// When the run began, RFC 3339.
    pub started: String,
    /// The machine.
    pub environment: Environment,
    /// Half-width of its equivalence zone as a ratio, minus one.
    pub equivalence: f64,
    /// How its run ended; nothing if it was cut off.
    pub end: Option<RunEnd>,
    /// How many warnings its own report has.
    pub warnings: usize,
    /// Cells that failed.
    pub failures: usize,
}

/// Ratios to a cell on all machines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FindingAcross {
    /// A group for each cell and in it a row for each machine; then what was published.
    #[serde(flatten)]
    pub finding: Finding,
    /// Whether its comparison is a part of a matrix or of a sweep.
    pub part: bool,
    /// Of each machine: whether the A/A gate was passed; nothing where it was not measured.
    pub reliable: Vec<Option<bool>>,
    /// Of each machine: whether it has every cell but floors, and each is what the first that has it
    /// measured.
    pub complete: Vec<bool>,
    /// The machines whose ratios are to another cell, and left out.
    pub to_another: Vec<usize>,
}

impl FindingGroup {
    /// The machines on which its cell has this verdict, by their places.
    #[must_use]
    pub fn with(&self, verdict: Verdict) -> Vec<usize> {
        let rows = self.rows.iter().enumerate();
        rows.filter(|(_, row)| row.verdict == Some(verdict))
            .map(|(place, _)| place)
            .collect()
    }
}

/// A cell that one machine measured otherwise than the first that has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MeasuredOtherwise {
    /// The cell.
    pub cell: CellId,
    /// The place of the machine.
    pub machine: usize,
    /// What differs: the store, its settings, the workload or the dataset.
    pub what: &'static str,
}

/// Sets results of one study side by side, in the order given.
///
/// # Errors
/// There are fewer than two, they are of several studies or scales, or one of them is given twice.
pub fn machines(analyses: &[&Analysis]) -> Result<MachinesOutcome, MachinesError> {
    let (Some(first), true) = (analyses.first(), analyses.len() > 1) else {
        return Err(MachinesError::TooFew);
    };
    one_study(analyses)?;
    each_once(analyses)?;
    let study = &first.run.plan.study;
    let machines = list(analyses);
    let numbers: BTreeSet<usize> = machines.iter().map(|machine| machine.machine).collect();
    let side_by_side = SideBySide {
        analyses,
        labels: machines.iter().map(|machine| &*machine.label).collect(),
        differences: &measured_otherwise(analyses),
    };
    let comparisons = |analysis: &Analysis| -> Vec<Finding> {
        let comparisons = analysis.comparisons.iter();
        comparisons.filter_map(figures::to_baseline).collect()
    };
    Ok(MachinesOutcome {
        study: study.name.clone(),
        title: study.title.clone(),
        question: study.question.clone(),
        source: study.source.clone(),
        scale: first.run.plan.scale.clone(),
        distinct: numbers.len(),
        figures: side_by_side.findings(|analysis| analysis.figures.clone()),
        comparisons: side_by_side.findings(comparisons),
        // Of one study each result has a column of its own.
        claims: ledger(analyses, &[]).claims,
        differences: side_by_side.differences.to_vec(),
        machines,
    })
}

fn one_study(analyses: &[&Analysis]) -> Result<(), MachinesError> {
    let mut studies: Vec<(String, Vec<usize>)> = Vec::new();
    for (place, analysis) in analyses.iter().enumerate() {
        let plan = &analysis.run.plan;
        let study = format!("{} at scale {}", plan.study.name, plan.scale);
        match studies.iter_mut().find(|(known, _)| *known == study) {
            Some((_, places)) => places.push(place),
            None => studies.push((study, vec![place])),
        }
    }
    if studies.len() > 1 {
        return Err(MachinesError::SeveralStudies(studies));
    }
    Ok(())
}

fn each_once(analyses: &[&Analysis]) -> Result<(), MachinesError> {
    for (second, analysis) in analyses.iter().enumerate() {
        let mut earlier = analyses.iter().take(second);
        if let Some(first) = earlier.position(|other| same_run(other, analysis)) {
            return Err(MachinesError::Twice(first, second));
        }
    }
    Ok(())
}

fn list(analyses: &[&Analysis]) -> Vec<Machine> {
    let labels = labels(analyses);
    let mut known: Vec<&Environment> = Vec::new();
    let with_labels = analyses.iter().zip(labels);
    with_labels
        .map(|(analysis, label)| {
            let environment = &analysis.run.environment;
            let machine = known
                .iter()
                .position(|other| other.is_same_machine(environment));
            let machine = machine.unwrap_or_else(|| {
                known.push(environment);
                known.len() - 1
            });
            Machine {
                label,
                machine,
                started: analysis.run.started.clone(),
                environment: environment.clone(),
                equivalence: analysis.run.equivalence,
                end: analysis.end.clone(),
                warnings: analysis.warnings.len(),
                failures: analysis.failures.len(),
            }
        })
        .collect()
}

/// What results are called: by host; several of one host by the first of these that differs
/// between all of them: file system, day, minute, second; else by number.
fn labels(analyses: &[&Analysis]) -> Vec<String> {
    let host = |analysis: &Analysis| match analysis.run.environment.host.as_str() {
        "" => "unnamed".to_owned(),
        host => host.to_owned(),
    };
    let ways: [fn(&Analysis) -> String; 4] = [
        |analysis| analysis.run.environment.file_system.kind.clone(),
        |analysis| started(analysis, 10),
        |analysis| started(analysis, 16),
        |analysis| started(analysis, 19),
    ];
    let label = |place: usize, analysis: &&Analysis| {
        let name = host(analysis);
        let alike: Vec<&&Analysis> = analyses.iter().filter(|a| host(a) == name).collect();
        if alike.len() == 1 {
            return name;
        }
        let tells_apart = |way: &&fn(&Analysis) -> String| {
            let texts: BTreeSet<String> = alike.iter().map(|a| way(a)).collect();
            texts.len() == alike.len() && !texts.contains("")
        };
        match ways.iter().find(tells_apart) {
            Some(way) => format!("{name} ({})", way(analysis)),
            None => format!("{name} (result {})", place + 1),
        }
    };
    let places = analyses.iter().enumerate();
    places.map(|(place, a)| label(place, a)).collect()
}

/// The first characters of the time of a run: `2026-11-21 16:15`.
fn started(analysis: &Analysis, characters: usize) -> String {
    let time: String = analysis.run.started.chars().take(characters).collect();
    time.replace('T', " ")
}

/// Every cell that is not the same as on the first machine that has it.
fn measured_otherwise(analyses: &[&Analysis]) -> Vec<MeasuredOtherwise> {
    let mut found = Vec::new();
    for (place, analysis) in analyses.iter().copied().enumerate() {
        for summary in analysis.cells() {
            let id = &summary.cell.id;
            let first = analyses.iter().find_map(|a| Some((*a, a.cell(id)?)));
            let Some((other, other_summary)) = first else {
                continue;
            };
            if let Some(what) = difference((analysis, summary), (other, other_summary)) {
                found.push(MeasuredOtherwise {
                    cell: id.clone(),
                    machine: place,
                    what,
                });
            }
        }
    }
    found
}

/// What one machine did otherwise. A setting that only one of them knows came with another version
/// of the program.
fn difference(
    (ours, cell): (&Analysis, &CellSummary),
    (theirs, other): (&Analysis, &CellSummary),
) -> Option<&'static str> {
    let (cell, other) = (&cell.cell, &other.cell);
    let dataset =
        |analysis: &Analysis, name: &String| analysis.run.plan.datasets.get(name).cloned();
    if cell.store.kind != other.store.kind {
        Some("store")
    } else if !cell.settings.differences(&other.settings).is_empty() {
        Some("settings")
    } else if !cell_differences(cell, other).is_empty() {
        Some("workload")
    } else if dataset(ours, &cell.dataset) != dataset(theirs, &other.dataset) {
        Some("dataset")
    } else {
        None
    }
}

/// Results and what they are called.
struct SideBySide<'a> {
    analyses: &'a [&'a Analysis],
    labels: Vec<&'a str>,
    differences: &'a [MeasuredOtherwise],
}

impl SideBySide<'_> {
    fn left_out(&self, place: usize, cell: &CellId) -> bool {
        let mut differences = self.differences.iter();
        differences.any(|found| found.machine == place && found.cell == *cell)
    }

    /// What findings of one name are together, by their first appearance.
    fn findings(&self, of: impl Fn(&Analysis) -> Vec<Finding>) -> Vec<FindingAcross> {
        let mut known: Vec<Vec<(usize, Finding)>> = Vec::new();
        for (place, analysis) in self.analyses.iter().enumerate() {
            for finding in of(analysis) {
                let mut all = known.iter_mut();
                match all.find(|on| on[0].1.id == finding.id) {
                    Some(on) => on.push((place, finding)),
                    None => known.push(vec![(place, finding)]),
                }
            }
        }
        let known = known.into_iter();
        known.filter_map(|on| self.together(on)).collect()
    }

    /// One finding on the machines that have it; nothing where it is not of ratios, or none has one. Ratios to
    /// another cell, or to one that does something else, say nothing here.
    fn together(&self, on: Vec<(usize, Finding)>) -> Option<FindingAcross> {
        let Shown::Ratios { to, label } = on.first()?.1.shown.clone() else {
            return None;
        };
        let is_other =
            |found: &Finding| !matches!(&found.shown, Shown::Ratios { to: its, .. } if *its == to);
        let (other, mut same): (Vec<_>, Vec<_>) = on.into_iter().partition(|(_, f)| is_other(f));
        same.retain(|(place, _)| !self.left_out(*place, &to));
        let first = same.first()?.1.clone();
        let ours = |found: &Finding| -> Vec<FindingRow> {
            let rows = found.rows().cloned();
            rows.filter(|row| matches!(row.source, Source::Here | Source::Floor))
                .collect()
        };
        let rows: Vec<(usize, FindingRow)> = same
            .iter()
            .flat_map(|(place, found)| ours(found).into_iter().map(move |row| (*place, row)))
            .filter(|(place, row)| {
                row.cell
                    .as_ref()
                    .is_some_and(|id| !self.left_out(*place, id))
            })
            .collect();
        let places = 0..self.analyses.len();
        let mut cells: Vec<&FindingRow> = Vec::new();
        for (_, row) in &rows {
            if !cells.iter().any(|known| known.cell == row.cell) {
                cells.push(row);
            }
        }
        let row_on = |place: usize, cell: &FindingRow| {
            let mut rows = rows.iter();
            rows.find(|(at, row)| *at == place && row.cell == cell.cell)
                .map(|(_, row)| row)
        };
        let is_there = |place: usize| same.iter().any(|(at, _)| *at == place);
        let rivals = cells.iter().filter(|cell| cell.source != Source::Floor);
        let complete = places.clone().map(|place| {
            is_there(place) && rivals.clone().all(|cell| row_on(place, cell).is_some())
        });
        let comparison = &first.groups.first()?.comparison;
        let reliable = places.clone().map(|place| {
            let outcome = self.analyses[place].comparison(comparison)?;
            (is_there(place) && outcome.was_measured()).then_some(outcome.reliable)
        });
        let mut groups: Vec<FindingGroup> = cells
            .iter()
            .map(|cell| FindingGroup {
                title: titled(cell, &label),
                comparison: comparison.clone(),
                rows: places
                    .clone()
                    .map(|place| self.on_machine(place, cell, row_on(place, cell)))
                    .collect(),
                ..FindingGroup::default()
            })
            .collect();
        // What no machine has measured often enough for a ratio says so where nothing else is said.
        let has_ratio = |group: &FindingGroup| group.rows.iter().any(|row| row.rounds.is_some());
        if groups.iter().any(has_ratio) || reliable.clone().all(|found| found.is_none()) {
            groups.retain(has_ratio);
        }
        if groups.is_empty() {
            return None;
        }
        groups.extend(first.groups.iter().cloned().map(|mut group| {
            group.rows.retain(|row| row.source == Source::Published);
            group
        }));
        groups.retain(|group| !group.rows.is_empty());
        Some(FindingAcross {
            part: self.analyses[same[0].0].constituents().contains(comparison),
            reliable: reliable.collect(),
            complete: complete.collect(),
            to_another: other.iter().map(|(place, _)| *place).collect(),
            finding: Finding {
                groups,
                unreliable: Vec::new(),
                ..first
            },
        })
    }

    /// The row of a cell on one machine, which may not have it.
    fn on_machine(&self, place: usize, cell: &FindingRow, row: Option<&FindingRow>) -> FindingRow {
        let without = || cell.clone().with_ratio(None, Verdict::NoData);
        FindingRow {
            label: self.labels[place].to_owned(),
            durability: None,
            ..row.cloned().unwrap_or_else(without)
        }
    }
}

/// `separate files / SQLite (durability: none)`
fn titled(cell: &FindingRow, reference: &str) -> String {
    let promise = cell.durability;
    let promise = promise.map_or_else(String::new, |d| format!(" (durability: {d})"));
    format!("{} / {reference}{promise}", cell.label)
}
