//! Lines of measured quantities against what cells differ in.

use super::{Figures, FindingGroup, FindingRow, chosen};
use crate::{CellSummary, ComparisonOutcome, quantity};
use stowplan_model::{
    Across, DurabilityClaim, FigureSpec, PerTransaction, StoreSpec, Value, Workload,
};

/// What the cells of a line agree in: store, workload, dataset and promise.
type Alike = (StoreSpec, Workload, Option<String>, Option<DurabilityClaim>);

impl Figures<'_> {
    /// A group for each line, weakest promise first, then those that promise nothing; the last is of cells that have
    /// nothing across. None without a point.
    pub(super) fn lines<'o>(
        &self,
        spec: &FigureSpec,
        x: &Across,
        outcomes: impl Iterator<Item = &'o ComparisonOutcome>,
    ) -> Vec<FindingGroup> {
        let mut lines: Vec<(Alike, FindingGroup)> = Vec::new();
        let mut levels = FindingGroup::default();
        for outcome in outcomes {
            for cell in chosen(&spec.cells, outcome) {
                let Some(quantity) = quantity::of(cell, spec.measure, self.space) else {
                    continue;
                };
                let row = FindingRow {
                    x: across(cell, x),
                    ..FindingRow::of(cell, Some(quantity))
                };
                match row.x {
                    Some(_) => add(&mut lines, alike(cell, x), row, outcome),
                    None => levels.rows.push(row),
                }
            }
        }
        let mut groups = titled(lines);
        groups.sort_by_key(|group| quantity::rank(group.rows[0].durability));
        let shows_levels = !groups.is_empty() && !levels.rows.is_empty();
        groups.extend(shows_levels.then_some(levels));
        groups
    }
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

fn alike(cell: &CellSummary, x: &Across) -> Alike {
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
    // Different numbers of operations may need different datasets.
    let dataset = (*x != Across::Operations).then(|| cell.cell.dataset.clone());
    (store, workload, dataset, cell.promise())
}

/// Adds a point to its line. A second one at the same place belongs to another line, or it would
/// hide the first.
fn add(
    lines: &mut Vec<(Alike, FindingGroup)>,
    alike: Alike,
    row: FindingRow,
    outcome: &ComparisonOutcome,
) {
    let same = lines.iter_mut().filter(|(known, _)| *known == alike);
    let mut lines_of_it = same.map(|(_, line)| line);
    let free = lines_of_it.find(|line| line.rows.iter().all(|known| known.x != row.x));
    match free {
        Some(line) => line.rows.push(row),
        None => {
            let line = FindingGroup {
                title: outcome.title.clone(),
                comparison: outcome.id.clone(),
                rows: vec![row],
                ..FindingGroup::default()
            };
            lines.push((alike, line));
        }
    }
}

/// The lines, called by what their labels have in common, and where that is not enough by their comparisons.
fn titled(lines: Vec<(Alike, FindingGroup)>) -> Vec<FindingGroup> {
    let names = lines.iter().map(|((store, ..), line)| {
        let labels: Vec<&str> = line.rows.iter().map(|row| row.label.as_str()).collect();
        Some(in_common(&labels))
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| store.kind.clone())
    });
    let names: Vec<String> = names.collect();
    let lines = lines.into_iter().zip(&names).map(|((_, mut line), name)| {
        line.rows.sort_by_key(|row| row.x);
        line.title = match names.iter().filter(|other| *other == name).count() {
            1 => name.clone(),
            _ => format!("{name} ({})", line.title),
        };
        line
    });
    lines.collect()
}

/// The words that labels begin with in common.
fn in_common(labels: &[&str]) -> String {
    let mut all = labels.iter().map(|label| label.split_whitespace());
    let mut common: Vec<&str> = all.next().into_iter().flatten().collect();
    for other in all {
        let alike = common.iter().zip(other).take_while(|(a, b)| **a == *b);
        common.truncate(alike.count());
    }
    let common = common.join(" ");
    match labels.iter().all(|label| label.len() == common.len()) {
        true => common,
        false => common
            .trim_end_matches([',', ':', ';', '(', ' '])
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_called_by_what_its_labels_have_in_common() {
        for (labels, expected) in [
            ("SQLite, 1 thread|SQLite, 4 threads", "SQLite"),
            ("over by 100 rows|over by 1,000 rows", "over by"),
            ("redb|redb", "redb"),
            ("redb", "redb"),
            ("redb|redb by 4", "redb"),
            ("one|other", ""),
        ] {
            let labels: Vec<&str> = labels.split('|').collect();
            assert_eq!(in_common(&labels), expected, "{labels:?}");
        }
    }
}
