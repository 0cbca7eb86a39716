//! Results of one study from several machines, side by side. Nothing is pooled: a ratio is one
//! machine's, and what several machines say together is on how many of them a verdict holds.

mod across;

pub use across::{ClaimAcross, Ledger, ledger};

use crate::{
    Analysis, CellSummary, ComparisonOutcome, Interval, RatioEstimate, Verdict, WorkDifference,
    cell_differences, compare::same_run, work_differences,
};
use serde::Serialize;
use std::collections::BTreeSet;
use stowplan_model::{CellId, DurabilityClaim, Environment, Role, RunEnd};
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
    /// One per result, in the order given. Every list `on` below is in this order.
    pub machines: Vec<Machine>,
    /// How many different machines these are: two results of one machine count once.
    pub distinct: usize,
    /// One per comparison that any of them has, in running order.
    pub comparisons: Vec<ComparisonAcross>,
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

/// One comparison on all machines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonAcross {
    /// Its name in the study file.
    pub id: String,
    /// Its name for people.
    pub title: String,
    /// The cell that the others are compared with.
    pub baseline: CellId,
    /// Its label.
    pub baseline_label: String,
    /// Whether it is a part of a matrix or of a sweep.
    pub part: bool,
    /// Of each machine: whether the A/A gate was passed; nothing where it was not measured.
    pub reliable: Vec<Option<bool>>,
    /// Of each machine: whether it has every rival and each is what the first that has it
    /// measured.
    pub complete: Vec<bool>,
    /// Its cells, the baseline first, without the control.
    pub cells: Vec<CellAcross>,
}

/// One cell on all machines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellAcross {
    /// The cell.
    pub cell: CellId,
    /// Its name within the comparison.
    pub key: String,
    /// Its label.
    pub label: String,
    /// What part it plays.
    pub role: Role,
    /// What it promises for what it writes; nothing for reads and floors.
    pub durability: Option<DurabilityClaim>,
    /// Whether that is what the baseline promises.
    pub same_durability: bool,
    /// In what its work is another one than the baseline's; nothing of floors, which nobody could
    /// choose.
    pub work: Vec<WorkDifference>,
    /// Of each machine: what was found.
    pub on: Vec<OnMachine>,
}

impl CellAcross {
    /// The machines on which it has this verdict against the baseline, by their places.
    #[must_use]
    pub fn with(&self, verdict: Verdict) -> Vec<usize> {
        let on = self.on.iter().enumerate();
        on.filter(|(_, found)| found.verdict == verdict)
            .map(|(place, _)| place)
            .collect()
    }
}

/// What was found of one cell on one machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OnMachine {
    /// Time of the cell over time of the baseline there.
    pub estimate: Option<RatioEstimate>,
    /// The verdict of that machine's analysis; of the baseline itself, `Equivalent`.
    pub verdict: Verdict,
    /// Headline time per operation, nanoseconds.
    pub time_ns: Option<Interval>,
}

impl OnMachine {
    const NOTHING: Self = Self {
        estimate: None,
        verdict: Verdict::NoData,
        time_ns: None,
    };
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
    let differences = measured_otherwise(analyses);
    let left_out = |place: usize, cell: &CellId| {
        let mut differences = differences.iter();
        differences.any(|found| found.machine == place && found.cell == *cell)
    };
    let comparisons = analyses.iter().flat_map(|analysis| &analysis.comparisons);
    let mut ids: Vec<&String> = Vec::new();
    for comparison in comparisons {
        if !ids.contains(&&comparison.id) {
            ids.push(&comparison.id);
        }
    }
    Ok(MachinesOutcome {
        study: study.name.clone(),
        title: study.title.clone(),
        question: study.question.clone(),
        source: study.source.clone(),
        scale: first.run.plan.scale.clone(),
        distinct: numbers.len(),
        comparisons: ids
            .into_iter()
            .filter_map(|id| comparison(id, analyses, &left_out))
            .collect(),
        // Of one study each result has a column of its own.
        claims: ledger(analyses, &[]).claims,
        machines,
        differences,
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
        for summary in analysis.comparisons.iter().flat_map(|c| &c.cells) {
            let id = &summary.cell.id;
            let first = analyses.iter().find_map(|a| Some((*a, summary_of(a, id)?)));
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

fn summary_of<'a>(analysis: &'a Analysis, id: &CellId) -> Option<&'a CellSummary> {
    let mut comparisons = analysis.comparisons.iter();
    comparisons.find_map(|comparison| comparison.cell(id))
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

fn comparison(
    id: &str,
    analyses: &[&Analysis],
    left_out: &dyn Fn(usize, &CellId) -> bool,
) -> Option<ComparisonAcross> {
    let outcomes: Vec<Option<&ComparisonOutcome>> = analyses
        .iter()
        .map(|analysis| analysis.comparisons.iter().find(|c| c.id == id))
        .collect();
    let (place, first) = first_of(&outcomes)?;
    let baseline = first.baseline()?;
    // Ratios to another baseline, or to one that does something else, say nothing here.
    let outcomes: Vec<Option<&ComparisonOutcome>> = outcomes
        .into_iter()
        .enumerate()
        .map(|(place, outcome)| {
            let same = outcome?.baseline()?.cell.id == baseline.cell.id;
            outcome.filter(|_| same && !left_out(place, &baseline.cell.id))
        })
        .collect();
    let mut cells: Vec<&CellSummary> = Vec::new();
    for summary in outcomes.iter().flatten().flat_map(|outcome| &outcome.cells) {
        let known = cells.iter().any(|cell| cell.cell.id == summary.cell.id);
        let compared = !matches!(summary.cell.role, Role::Control | Role::Part);
        if !known && compared {
            cells.push(summary);
        }
    }
    let rivals = cells.iter().map(|cell| &cell.cell);
    let rivals: Vec<_> = rivals.filter(|cell| cell.role != Role::Floor).collect();
    let places = outcomes.iter().enumerate();
    let complete: Vec<bool> = places
        .map(|(place, outcome)| {
            let has = |id| outcome.is_some_and(|o| o.cell(id).is_some()) && !left_out(place, id);
            rivals.iter().all(|rival| has(&rival.id))
        })
        .collect();
    Some(ComparisonAcross {
        id: id.to_owned(),
        title: first.title.clone(),
        baseline: baseline.cell.id.clone(),
        baseline_label: baseline.cell.label.clone(),
        part: analyses[place].constituents().contains(id),
        reliable: outcomes
            .iter()
            .map(|outcome| outcome.filter(|o| o.was_measured()).map(|o| o.reliable))
            .collect(),
        complete,
        cells: cells
            .into_iter()
            .map(|summary| cell(summary, baseline, &outcomes, left_out))
            .collect(),
    })
}

fn first_of<'a, T>(outcomes: &[Option<&'a T>]) -> Option<(usize, &'a T)> {
    let places = outcomes.iter().enumerate();
    let mut found = places.filter_map(|(place, outcome)| Some((place, (*outcome)?)));
    found.next()
}

fn cell(
    summary: &CellSummary,
    baseline: &CellSummary,
    outcomes: &[Option<&ComparisonOutcome>],
    left_out: &dyn Fn(usize, &CellId) -> bool,
) -> CellAcross {
    let cell = &summary.cell;
    let durability = summary.promise();
    let on = outcomes.iter().enumerate().map(|(place, outcome)| {
        outcome
            .filter(|_| !left_out(place, &cell.id))
            .map_or(OnMachine::NOTHING, |outcome| on_machine(&cell.id, outcome))
    });
    CellAcross {
        cell: cell.id.clone(),
        key: cell.key.clone(),
        label: cell.label.clone(),
        role: cell.role,
        same_durability: cell.role == Role::Floor || durability == baseline.promise(),
        durability,
        work: match cell.role {
            Role::Floor => Vec::new(),
            _ => work_differences(summary, baseline),
        },
        on: on.collect(),
    }
}

fn on_machine(cell: &CellId, outcome: &ComparisonOutcome) -> OnMachine {
    let Some(summary) = outcome.cell(cell) else {
        return OnMachine::NOTHING;
    };
    let contrast = outcome.to_baseline(summary);
    let is_measured_baseline = summary.cell.role == Role::Baseline && summary.rounds > 0;
    let verdict = match is_measured_baseline {
        true => Verdict::Equivalent,
        false => contrast.map_or(Verdict::NoData, |contrast| contrast.verdict),
    };
    OnMachine {
        estimate: contrast.and_then(|contrast| contrast.estimate),
        verdict,
        time_ns: summary.time_ns,
    }
}
