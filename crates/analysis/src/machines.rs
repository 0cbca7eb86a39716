//! Results of one study from several machines, side by side. Nothing is pooled: a ratio is one
//! machine's, and what several machines say together is on how many of them a verdict holds.

mod across;

use crate::{
    Analysis, CellSummary, Finding, FindingGroup, FindingRow, Shown, Source, Verdict,
    cell_differences, compare::same_run, figures,
};
pub use across::{ClaimAcross, Ledger, ledger};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
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
    match studies.len() {
        1 => Ok(()),
        _ => Err(MachinesError::SeveralStudies(studies)),
    }
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

/// A number for the machine of each result, by first appearance.
fn numbered(analyses: &[&Analysis]) -> Vec<usize> {
    let mut known: Vec<&Environment> = Vec::new();
    let numbers = analyses.iter().map(|analysis| {
        let here = &analysis.run.environment;
        let at = known.iter().position(|other| other.is_same_machine(here));
        at.unwrap_or_else(|| {
            known.push(here);
            known.len() - 1
        })
    });
    numbers.collect()
}

fn list(analyses: &[&Analysis]) -> Vec<Machine> {
    let named = labels(analyses).into_iter().zip(numbered(analyses));
    let machines = analyses.iter().zip(named);
    machines
        .map(|(analysis, (label, machine))| Machine {
            label,
            machine,
            started: analysis.run.started.clone(),
            environment: analysis.run.environment.clone(),
            equivalence: analysis.run.equivalence,
            end: analysis.end.clone(),
            warnings: analysis.warnings.len(),
            failures: analysis.failures.len(),
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
    let way = |analysis: &Analysis, way: usize| match [0, 10, 16, 19][way] {
        0 => analysis.run.environment.file_system.kind.clone(),
        characters => {
            let time: String = analysis.run.started.chars().take(characters).collect();
            time.replace('T', " ")
        }
    };
    let label = |(place, analysis): (usize, &&Analysis)| {
        let name = host(analysis);
        let alike: Vec<&&Analysis> = analyses.iter().filter(|a| host(a) == name).collect();
        if alike.len() == 1 {
            return name;
        }
        let tells_apart = |number: &usize| {
            let texts: BTreeSet<String> = alike.iter().map(|a| way(a, *number)).collect();
            texts.len() == alike.len() && !texts.contains("")
        };
        match (0..4).find(tells_apart) {
            Some(number) => format!("{name} ({})", way(analysis, number)),
            None => format!("{name} (result {})", place + 1),
        }
    };
    analyses.iter().enumerate().map(label).collect()
}

/// Every cell that is not the same as on the first machine that has it.
fn measured_otherwise(analyses: &[&Analysis]) -> Vec<MeasuredOtherwise> {
    let mut found = Vec::new();
    for (place, analysis) in analyses.iter().enumerate() {
        let otherwise = analysis.cells().filter_map(|ours| {
            let cell = &ours.cell.id;
            let (other, theirs) = analyses.iter().find_map(|a| Some((a, a.cell(cell)?)))?;
            Some(MeasuredOtherwise {
                cell: cell.clone(),
                machine: place,
                what: difference((analysis, ours), (other, theirs))?,
            })
        });
        found.extend(otherwise);
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
    fn together(&self, mut on: Vec<(usize, Finding)>) -> Option<FindingAcross> {
        let Shown::Ratios { to, label } = on.first()?.1.shown.clone() else {
            return None;
        };
        on.retain(|(place, found)| {
            let to_it = matches!(&found.shown, Shown::Ratios { to: its, .. } if *its == to);
            to_it && !self.left_out(*place, &to)
        });
        let first = on.first()?.1.clone();
        let comparison = first.groups.first()?.comparison.clone();
        let rows = on.iter().map(|(place, found)| {
            let ours = |row: &&FindingRow| {
                let is_same = |id: &CellId| !self.left_out(*place, id);
                let is_ours = matches!(row.source, Source::Here | Source::Floor);
                is_ours && row.cell.as_ref().is_some_and(is_same)
            };
            (*place, found.rows().filter(ours).collect())
        });
        let rows: BTreeMap<usize, Vec<&FindingRow>> = rows.collect();
        let row_on = |place: usize, cell: &FindingRow| {
            let mut rows = rows.get(&place)?.iter().copied();
            rows.find(|row| row.cell == cell.cell)
        };
        let mut cells: Vec<&FindingRow> = Vec::new();
        for row in rows.values().flatten() {
            if !cells.iter().any(|known| known.cell == row.cell) {
                cells.push(row);
            }
        }
        let places = || 0..self.analyses.len();
        let mut rivals = cells.clone();
        rivals.retain(|cell| cell.source != Source::Floor);
        let is_complete = |place: usize| {
            rows.contains_key(&place) && rivals.iter().all(|cell| row_on(place, cell).is_some())
        };
        let reliable = places().map(|place| {
            let outcome = self.analyses[place].comparison(&comparison)?;
            (rows.contains_key(&place) && outcome.was_measured()).then_some(outcome.reliable)
        });
        let reliable: Vec<Option<bool>> = reliable.collect();
        let group = |cell: &&FindingRow| FindingGroup {
            title: titled(cell, &label),
            comparison: comparison.clone(),
            rows: places()
                .map(|place| self.on_machine(place, cell, row_on(place, cell)))
                .collect(),
            ..FindingGroup::default()
        };
        let mut groups: Vec<FindingGroup> = cells.iter().map(group).collect();
        // What no machine has measured often enough for a ratio says so where nothing else is said.
        let has_ratio = |group: &FindingGroup| group.rows.iter().any(|row| row.rounds.is_some());
        if groups.iter().any(has_ratio) || reliable.iter().all(Option::is_none) {
            groups.retain(has_ratio);
        }
        if groups.is_empty() {
            return None;
        }
        let published = first.groups.iter().cloned().map(|mut group| {
            group.rows.retain(|row| row.source == Source::Published);
            group
        });
        groups.extend(published.filter(|group| !group.rows.is_empty()));
        let (place, _) = on[0];
        Some(FindingAcross {
            part: self.analyses[place].constituents().contains(&comparison),
            complete: places().map(is_complete).collect(),
            reliable,
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
