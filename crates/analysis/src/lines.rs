//! Lines of measured quantities against what cells differ in: a plane per class of durability.

use crate::{CellSummary, ComparisonOutcome, Quantity, SpaceRow, bars::chosen, quantity};
use serde::Serialize;
use stowplan_model::{
    Across, CellId, DurabilityClaim, LinesSpec, Measure, PerTransaction, StoreSpec, Value, Workload,
};

/// A chart of lines with its numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinesOutcome {
    /// Its name in the study file.
    pub id: String,
    /// Title for people.
    pub title: String,
    /// What lies across.
    pub x: Across,
    /// What is shown upwards.
    pub measure: Measure,
    /// Lines that promise the same together: weakest promise first, then those that promise nothing
    /// (reads, floors). Lines are to be compared within a plane only.
    pub planes: Vec<LinePlane>,
    /// Cells that have nothing across.
    pub levels: Vec<LineLevel>,
    /// The comparisons that failed their A/A gate.
    pub unreliable: Vec<String>,
}

/// Lines that promise the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinePlane {
    /// What they promise for what they write.
    pub durability: Option<DurabilityClaim>,
    /// In the order of the study.
    pub lines: Vec<MeasuredLine>,
}

/// Cells that are the same but for what lies across.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredLine {
    /// What their labels have in common.
    pub label: String,
    /// By rising place; at least one.
    pub points: Vec<LinePoint>,
}

/// One cell of a line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinePoint {
    /// Where it lies across; at least 1.
    pub x: u64,
    /// The cell.
    pub cell: CellId,
    /// Whether the figure is extrapolated from a sample.
    pub sample: bool,
    /// How high it lies.
    pub quantity: Quantity,
}

/// A cell without what lies across.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LineLevel {
    /// The cell.
    pub cell: CellId,
    /// Its label.
    pub label: String,
    /// What it promises for what it writes.
    pub durability: Option<DurabilityClaim>,
    /// How high it lies.
    pub quantity: Quantity,
}

/// The chart, unless it has no point.
pub(crate) fn lines(
    spec: &LinesSpec,
    comparisons: &[ComparisonOutcome],
    space: &[SpaceRow],
) -> Option<LinesOutcome> {
    let outcomes = spec.comparisons.iter();
    let outcomes: Vec<&ComparisonOutcome> = outcomes
        .filter_map(|id| comparisons.iter().find(|known| known.id == *id))
        .collect();
    let mut bundles: Vec<Bundle<'_>> = Vec::new();
    let mut levels = Vec::new();
    for outcome in &outcomes {
        for cell in chosen(&spec.cells, outcome) {
            let Some(quantity) = quantity::of(cell, spec.measure, space) else {
                continue;
            };
            match across(cell, &spec.x) {
                Some(x) => add(&mut bundles, &spec.x, x, cell, quantity, outcome),
                None => levels.push(LineLevel {
                    cell: cell.cell.id.clone(),
                    label: cell.cell.label.clone(),
                    durability: cell.promise(),
                    quantity,
                }),
            }
        }
    }
    let unreliable = outcomes.iter().filter(|outcome| !outcome.reliable);
    (!bundles.is_empty()).then(|| LinesOutcome {
        id: spec.id.clone(),
        title: spec.title.clone(),
        x: spec.x.clone(),
        measure: spec.measure,
        planes: planes(&bundles),
        levels,
        unreliable: unreliable.map(|outcome| outcome.title.clone()).collect(),
    })
}

/// Where a cell lies across; nothing if it has no such number.
fn across(cell: &CellSummary, x: &Across) -> Option<u64> {
    let operations = || cell.block_time.map(|time| time.operations);
    let place = match x {
        Across::Operations => operations(),
        Across::PerTransaction => match cell.cell.workload.per_transaction {
            PerTransaction::All => operations(),
            PerTransaction::Operations(operations) => Some(operations.into()),
        },
        Across::Threads => Some(cell.cell.workload.threads.into()),
        Across::Setting(name) => match cell.cell.settings.get(name) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        },
    };
    place.filter(|place| *place > 0)
}

/// A line in the making.
struct Bundle<'a> {
    identity: Identity<'a>,
    title: &'a str,
    points: Vec<(u64, &'a CellSummary, Quantity)>,
}

/// What the cells of a line agree in.
#[derive(PartialEq)]
struct Identity<'a> {
    store: StoreSpec,
    workload: Workload,
    /// Different numbers of operations may need different datasets.
    dataset: Option<&'a str>,
    durability: Option<DurabilityClaim>,
}

impl<'a> Identity<'a> {
    fn of(cell: &'a CellSummary, x: &Across) -> Self {
        let mut store = cell.cell.store.clone();
        // How many operations a block has is what it takes to time it, not what is timed.
        let mut workload = Workload {
            operations: None,
            sample_of: None,
            ..cell.cell.workload.clone()
        };
        match x {
            Across::Operations => {}
            Across::PerTransaction => workload.per_transaction = PerTransaction::All,
            Across::Threads => workload.threads = 1,
            Across::Setting(name) => {
                store.settings.remove(name);
            }
        }
        Self {
            store,
            workload,
            dataset: (*x != Across::Operations).then_some(cell.cell.dataset.as_str()),
            durability: cell.promise(),
        }
    }
}

/// Adds a point to its line. A second one at the same place belongs to another line, or it would
/// hide the first.
fn add<'a>(
    bundles: &mut Vec<Bundle<'a>>,
    across: &Across,
    x: u64,
    cell: &'a CellSummary,
    quantity: Quantity,
    outcome: &'a ComparisonOutcome,
) {
    let identity = Identity::of(cell, across);
    let free = |bundle: &&mut Bundle<'_>| bundle.points.iter().all(|(taken, ..)| *taken != x);
    let mut same = bundles
        .iter_mut()
        .filter(|known| known.identity == identity);
    match same.find(free) {
        Some(bundle) => bundle.points.push((x, cell, quantity)),
        None => bundles.push(Bundle {
            identity,
            title: &outcome.title,
            points: vec![(x, cell, quantity)],
        }),
    }
}

fn planes(bundles: &[Bundle<'_>]) -> Vec<LinePlane> {
    let labels: Vec<String> = bundles.iter().map(Bundle::label).collect();
    let mut planes: Vec<LinePlane> = Vec::new();
    for (bundle, label) in bundles.iter().zip(&labels) {
        let durability = bundle.identity.durability;
        let ambiguous = labels.iter().filter(|other| *other == label).count() > 1;
        let line = bundle.line(if ambiguous {
            format!("{label} ({})", bundle.title)
        } else {
            label.clone()
        });
        match planes
            .iter_mut()
            .find(|plane| plane.durability == durability)
        {
            Some(plane) => plane.lines.push(line),
            None => planes.push(LinePlane {
                durability,
                lines: vec![line],
            }),
        }
    }
    planes.sort_by_key(|plane| quantity::rank(plane.durability));
    planes
}

impl Bundle<'_> {
    fn label(&self) -> String {
        let labels: Vec<&str> = self
            .points
            .iter()
            .map(|(_, c, _)| c.cell.label.as_str())
            .collect();
        let common = in_common(&labels);
        match self.points.first() {
            Some((_, cell, _)) if common.is_empty() => cell.cell.store.kind.clone(),
            _ => common,
        }
    }

    fn line(&self, label: String) -> MeasuredLine {
        let points = self.points.iter();
        let mut points: Vec<LinePoint> = points
            .map(|(x, cell, quantity)| LinePoint {
                x: *x,
                cell: cell.cell.id.clone(),
                sample: cell.cell.workload.sample_of.is_some(),
                quantity: *quantity,
            })
            .collect();
        points.sort_by_key(|point| point.x);
        MeasuredLine { label, points }
    }
}

/// What labels have in common, in whole words: their beginning, and their end behind `…`.
fn in_common(labels: &[&str]) -> String {
    let words: Vec<Vec<&str>> = labels
        .iter()
        .map(|l| l.split_whitespace().collect())
        .collect();
    let Some((first, rest)) = words.split_first() else {
        return String::new();
    };
    let shortest = words.iter().map(Vec::len).min().unwrap_or(0);
    let shared = |at: &dyn Fn(&[&str]) -> Option<String>| {
        let word = at(first);
        rest.iter().all(|other| at(other) == word)
    };
    let word_at = |n: usize| move |words: &[&str]| words.get(n).map(|w| (*w).to_owned());
    let from_end =
        |n: usize| move |words: &[&str]| words.iter().rev().nth(n).map(|w| (*w).to_owned());
    let front = (0..shortest).take_while(|n| shared(&word_at(*n))).count();
    let left = shortest - front;
    let back = (0..left).take_while(|n| shared(&from_end(*n))).count();
    let whole = words.iter().all(|other| other.len() == front);
    let head = first[..front].join(" ");
    let tail = first[first.len() - back..].join(" ");
    match (whole, back) {
        (true, _) => head,
        (false, 0) => head.trim_end_matches([',', ':', ';', '(', ' ']).to_owned(),
        (false, _) if head.is_empty() => tail,
        (false, _) => format!("{head} … {tail}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_called_by_what_its_labels_have_in_common() {
        let cases: [(&[&str], &str); 7] = [
            (&["SQLite, 1 thread", "SQLite, 4 threads"], "SQLite"),
            (
                &["carried over by 100 rows", "carried over by 1,000 rows"],
                "carried over by … rows",
            ),
            (&["redb", "redb"], "redb"),
            (&["redb"], "redb"),
            (&["redb", "redb by 4"], "redb"),
            (&["one", "other"], ""),
            (&["1 for all", "2 for all"], "for all"),
        ];
        for (labels, expected) in cases {
            assert_eq!(in_common(labels), expected, "{labels:?}");
        }
    }
}
