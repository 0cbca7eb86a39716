//! Lines of measured quantities against what cells differ in.

use crate::figures::{Finding, FindingGroup, FindingRow, Shown, chosen, of_ids, unreliable};
use crate::{CellSummary, ComparisonOutcome, SpaceRow, quantity};
use stowplan_model::{
    Across, DurabilityClaim, LinesSpec, PerTransaction, StoreSpec, Value, Workload,
};

/// A figure of lines, unless it has no point. Cells that have nothing across are one group, the last.
pub(crate) fn lines(
    spec: &LinesSpec,
    comparisons: &[ComparisonOutcome],
    space: &[SpaceRow],
) -> Option<Finding> {
    let outcomes = of_ids(&spec.comparisons, comparisons);
    let mut bundles: Vec<Bundle<'_>> = Vec::new();
    let mut levels = Vec::new();
    for outcome in outcomes.clone() {
        for cell in chosen(&spec.cells, outcome) {
            let Some(quantity) = quantity::of(cell, spec.measure, space) else {
                continue;
            };
            let row = FindingRow {
                x: across(cell, &spec.x),
                ..FindingRow::of(cell, Some(quantity))
            };
            match row.x {
                Some(x) => add(&mut bundles, Identity::of(cell, &spec.x), x, row, outcome),
                None => levels.push(row),
            }
        }
    }
    let mut groups = groups(&bundles);
    groups.extend((!levels.is_empty()).then(|| FindingGroup {
        rows: levels,
        ..FindingGroup::default()
    }));
    (!bundles.is_empty()).then(|| Finding {
        id: spec.id.clone(),
        title: spec.title.clone(),
        shown: Shown::Measured(spec.measure),
        x: Some(spec.x.clone()),
        axis: None,
        groups,
        unreliable: unreliable(outcomes),
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
    outcome: &'a ComparisonOutcome,
    rows: Vec<FindingRow>,
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
    identity: Identity<'a>,
    x: u64,
    row: FindingRow,
    outcome: &'a ComparisonOutcome,
) {
    let free = |bundle: &&mut Bundle<'_>| bundle.rows.iter().all(|row| row.x != Some(x));
    let mut same = bundles
        .iter_mut()
        .filter(|known| known.identity == identity);
    match same.find(free) {
        Some(bundle) => bundle.rows.push(row),
        None => bundles.push(Bundle {
            identity,
            outcome,
            rows: vec![row],
        }),
    }
}

/// A group for each line: weakest promise first, then those that promise nothing.
fn groups(bundles: &[Bundle<'_>]) -> Vec<FindingGroup> {
    let labels: Vec<String> = bundles.iter().map(Bundle::label).collect();
    let groups = bundles.iter().zip(&labels).map(|(bundle, label)| {
        let mut rows = bundle.rows.clone();
        rows.sort_by_key(|row| row.x);
        let alike = labels.iter().filter(|other| *other == label).count();
        FindingGroup {
            title: match alike {
                1 => label.clone(),
                _ => format!("{label} ({})", bundle.outcome.title),
            },
            comparison: bundle.outcome.id.clone(),
            rows,
            ..FindingGroup::default()
        }
    });
    let mut groups: Vec<FindingGroup> = groups.collect();
    groups.sort_by_key(|group| quantity::rank(group.rows[0].durability));
    groups
}

impl Bundle<'_> {
    fn label(&self) -> String {
        let labels: Vec<&str> = self.rows.iter().map(|row| row.label.as_str()).collect();
        let common = in_common(&labels);
        match common.is_empty() {
            true => self.identity.store.kind.clone(),
            false => common,
        }
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
