//! A plan in words.

use super::{
    Needs, ROOT_ONLY, left_out_cells, left_to_root, needs, operation_seconds, proportions,
};
use crate::drivers::Drivers;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_model::{
    Cell, Comparison, PerTransaction, Plan, Role, Statistic, Study, format_bytes,
};

/// How much of a plan is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Cells,
    Comparisons,
    Counts,
}

/// The plan in words, for `--dry-run`, in lines of at most `width` characters as far as its names
/// allow, and of at most so many: where its cells take more, comparisons or their number are told. `keep` as for
/// [`needs`]. Of stores whose driver failed when `drivers` asked it, nothing is known but that.
#[must_use]
pub fn describe(
    plan: &Plan,
    keep: bool,
    width: usize,
    most: Option<usize>,
    drivers: &Drivers,
) -> String {
    let told = |extent| told(plan, keep, width, extent, drivers);
    let fits = |text: &String| most.is_none_or(|most| text.lines().count() <= most);
    let mut texts = [Extent::Cells, Extent::Comparisons].into_iter().map(told);
    texts.find(fits).unwrap_or_else(|| told(Extent::Counts))
}

fn told(plan: &Plan, keep: bool, width: usize, extent: Extent, drivers: &Drivers) -> String {
    // Specs begin behind the longest name, unless that is a very long one.
    let names = plan.cells().map(|cell| name_with_role(cell).len());
    let column = 4 + names.max().unwrap_or(0).min(32).min(width / 2);
    let Study { title, name, .. } = &plan.study;
    let (scale, more) = (
        &plan.scale,
        if extent == Extent::Cells {
            ""
        } else {
            "; all: --verbose"
        },
    );
    let mut parts = vec![(
        format!("{title} (study '{name}', scale '{scale}'{more})"),
        2,
    )];
    if extent == Extent::Counts {
        parts.push((counts(plan), 2));
    } else {
        parts.extend(plan.datasets.iter().map(|(name, spec)| {
            let (count, size, content, seed) = (spec.count, &spec.size, &spec.content, spec.seed);
            let of = format!("{count} values, {size}, {content}, seed {seed}");
            (format!("dataset {name}: {of}"), 2)
        }));
    }
    // What the machine lacks is the same for each comparison: said once, for all of them.
    let (mut lacking, lacks) = (BTreeMap::new(), left_out_cells(plan));
    let measured: BTreeSet<&str> = plan.cells().map(|cell| &*cell.label).collect();
    for (number, comparison) in plan.comparisons.iter().enumerate() {
        match extent {
            Extent::Cells => parts.extend(lines_of(comparison, column, drivers)),
            Extent::Comparisons => {
                let apart = if number == 0 { "\n" } else { "" };
                let cells = format!("{}, ", counted(measured_cells(comparison), "cell"));
                parts.push((format!("{apart}{}", headed(comparison, &cells)), 4));
            }
            Extent::Counts => {}
        }
        let mut here: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (label, reason) in &comparison.not_applicable {
            // Of one that is measured elsewhere, the machine has what it takes.
            match lacks.contains_key(&**reason) && !measured.contains(&**label) {
                true => {
                    let cells = lacking.entry(&**reason).or_insert_with(BTreeSet::new);
                    cells.insert(&**label);
                }
                false => here.entry(reason).or_default().push(label),
            }
        }
        let here = here.into_iter().filter(|_| extent != Extent::Counts);
        parts.extend(here.map(|(why, of)| (format!("  {}", not_applicable(&of, why)), 6)));
    }
    for spec in left_to_root(plan) {
        let (id, title) = (&spec.id, &spec.title);
        let apart = if extent == Extent::Cells { "\n" } else { "" };
        parts.push((
            format!("{apart}{id}: {title} (not measured: {ROOT_ONLY})"),
            4,
        ));
    }
    for (number, (why, of)) in lacking.into_iter().enumerate() {
        let apart = if number == 0 { "\n" } else { "" };
        let line = not_applicable(&Vec::from_iter(of), why);
        parts.push((format!("{apart}{line}"), 4));
    }
    let failing = failing(plan, drivers).into_iter();
    let failing = failing.filter(|_| extent != Extent::Cells);
    parts.extend(failing.map(|line| (line, 4)));
    parts.push((format!("\n{}", describe_needs(&needs(plan, keep))), 2));
    let lines = parts
        .iter()
        .map(|(text, indent)| broken(text, *indent, width));
    lines.collect()
}

/// `29 comparisons of 203 cells, on 7 datasets`
fn counts(plan: &Plan) -> String {
    let cells = plan.comparisons.iter().map(measured_cells).sum();
    format!(
        "{} of {}, on {}",
        counted(plan.comparisons.len(), "comparison"),
        counted(cells, "cell"),
        counted(plan.datasets.len(), "dataset")
    )
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// How many cells it has, without the copy of its baseline.
fn measured_cells(comparison: &Comparison) -> usize {
    let cells = comparison.cells.iter();
    cells.filter(|cell| cell.role != Role::Control).count()
}

/// The cells that will fail, a line for each reason.
fn failing(plan: &Plan, drivers: &Drivers) -> Vec<String> {
    let mut fail: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for cell in plan.cells().filter(|cell| cell.role != Role::Control) {
        if let Some(error) = drivers.failure(&cell.store) {
            fail.entry(error.to_string()).or_default().push(&cell.id.0);
        }
    }
    let lines = fail.into_iter();
    lines
        .map(|(why, cells)| format!("\n{} will fail: {why}", cells.join("; ")))
        .collect()
}

/// What a comparison is, with the most rounds of it.
fn headed(comparison: &Comparison, cells: &str) -> String {
    let judged = match comparison.measure {
        Statistic::Time => String::new(),
        measure => format!("; judged by the {}", measure.in_words()),
    };
    let (id, title, most) = (&comparison.id, &comparison.title, comparison.max_rounds);
    format!("{id}: {title} ({cells}at most {most} rounds{judged})")
}

/// What all cells have in common, and then each cell with what it has for itself; with the indentation of lines that
/// follow.
fn lines_of(comparison: &Comparison, column: usize, drivers: &Drivers) -> Vec<(String, usize)> {
    let mut lines = vec![(format!("\n{}", headed(comparison, "")), 4)];
    let cells = comparison.cells.iter();
    let known = cells.filter(|cell| drivers.failure(&cell.store).is_none());
    let known: Vec<&Cell> = known.collect();
    let parts = |cell: &Cell| parts(cell, transactions(&known, cell.workload.per_transaction));
    let common = known
        .iter()
        .map(|cell| parts(cell))
        .reduce(|mut common, own| {
            common.retain(|part| own.contains(part));
            common
        });
    let common = common.unwrap_or_default();
    if !common.is_empty() {
        lines.push((format!("  all cells: {}", common.join("; ")), 13));
    }
    for cell in &comparison.cells {
        let own = match drivers.failure(&cell.store) {
            Some(error) => vec![format!("it will fail: {error}")],
            None => parts(cell),
        };
        let own = own.into_iter().filter(|part| !common.contains(part));
        let spec = Vec::from_iter(std::iter::once(cell.store.to_string()).chain(own)).join("; ");
        let name = name_with_role(cell);
        lines.push((format!("  {name:<0$} {spec}", column - 3), column));
    }
    lines
}

fn not_applicable(labels: &[&str], why: &str) -> String {
    format!("not applicable: {}: {why}", labels.join("; "))
}

fn name_with_role(cell: &Cell) -> String {
    match cell.role {
        Role::Baseline => format!("{} (baseline)", cell.key),
        Role::Control => format!("{} (control)", cell.key),
        Role::Floor => format!("{} (floor)", cell.key),
        Role::Part => format!("{} (part)", cell.key),
        Role::Candidate => cell.key.clone(),
    }
}

/// What a cell does and promises, part by part.
fn parts(cell: &Cell, transactions: String) -> Vec<String> {
    let workload = &cell.workload;
    let sample = workload.operations.zip(workload.sample_of);
    let parts = [
        Some(transactions),
        workload
            .mix
            .map(|mix| format!("mix of {}", proportions(&mix))),
        (workload.threads > 1).then(|| format!("{} threads", workload.threads)),
        workload.beside.map(|beside| format!("beside {beside}")),
        (!cell.scanned.is_no()).then(|| format!("between store and files {}", cell.scanned)),
        workload
            .operation
            .writes()
            .then(|| format!("durability {}", cell.capabilities.durability)),
        sample.map(|(measured, all)| format!("a sample of {measured} of {all} operations")),
        sample.map(|(_, all)| time_of_all(cell, all)),
    ];
    parts.into_iter().flatten().collect()
}

/// How many operations share a transaction, of cells of which some or all have any; what has none does them one after
/// the other.
fn transactions(cells: &[&Cell], per: PerTransaction) -> String {
    let has = |cell: &&Cell| cell.capabilities.transactions;
    match per {
        per if cells.iter().all(has) => per.to_string(),
        per if cells.iter().any(has) => format!("{per} where a store has any"),
        PerTransaction::All => "no transactions (one batch)".to_owned(),
        PerTransaction::Operations(_) => "no transactions".to_owned(),
    }
}

/// What all operations of a sample would take, before anybody waits for them.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn time_of_all(cell: &Cell, all: u64) -> String {
    let seconds = all as f64 * operation_seconds(cell);
    format!("all would take about {}", duration(seconds))
}

fn describe_needs(needs: &Needs) -> String {
    let (least, most) = (duration(needs.least_seconds), duration(needs.most_seconds));
    let disk = format_bytes(needs.disk_bytes);
    if least == most {
        format!("needs about {disk} of disk and {most} of time")
    } else {
        format!("needs about {disk} of disk and {least} to {most} of time")
    }
}

/// An estimate of a time, in the unit in which people think of one so long.
#[must_use]
pub fn duration(seconds: f64) -> String {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 60.0 * MINUTE;
    const DAY: f64 = 24.0 * HOUR;
    const YEAR: f64 = 365.25 * DAY;
    match seconds {
        s if s < 1.5 * MINUTE => format!("{s:.0} s"),
        s if s < 1.5 * HOUR => format!("{:.1} min", s / MINUTE),
        s if s < 2.0 * DAY => format!("{:.1} h", s / HOUR),
        s if s < 2.0 * YEAR => format!("{:.0} days", s / DAY),
        s => format!("{:.0} years", s / YEAR),
    }
}

/// Text in lines of at most `width` characters, broken between parts, and in a part that is longer than a line at spaces
/// and between settings; lines after the first are indented.
fn broken(text: &str, indent: usize, width: usize) -> String {
    let (mut all, mut line) = (String::new(), String::new());
    let length = |text: &str| text.trim_end().chars().count();
    let pieces = text
        .split_inclusive("; ")
        .flat_map(|part| match indent + length(part) <= width {
            true => vec![part],
            false => part.split_inclusive([' ', ',']).collect(),
        });
    for piece in pieces {
        let used = line.trim_start_matches('\n').chars().count();
        if used > indent && used + length(piece) > width {
            all += line.trim_end();
            line = format!("\n{}", " ".repeat(indent));
        }
        line += piece;
    }
    all + line.trim_end() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_the_unit_in_which_they_are_short() {
        assert_eq!(duration(89.4), "89 s");
        assert_eq!(duration(90.0), "1.5 min");
        assert_eq!(duration(5_399.0), "90.0 min");
        assert_eq!(duration(5_400.0), "1.5 h");
        assert_eq!(duration(40.0 * 86_400.0), "40 days");
        assert_eq!(duration(11_000_000.4 * 60.0), "21 years");
    }

    #[test]
    fn what_no_store_has_is_not_said_to_be_shared() {
        let has = |transactions| {
            let mut cell = crate::block_size::tests::cell("files");
            cell.capabilities.transactions = transactions;
            cell
        };
        let (one, none) = (has(true), has(false));
        let each = PerTransaction::Operations(1);
        assert_eq!(
            transactions(&[&one], PerTransaction::All),
            "one transaction"
        );
        assert_eq!(
            transactions(&[&none], PerTransaction::All),
            "no transactions (one batch)"
        );
        assert_eq!(transactions(&[&one], each), "one transaction per operation");
        assert_eq!(transactions(&[&none], each), "no transactions");
    }

    #[test]
    fn a_time_that_looks_the_same_at_most_as_at_least_is_told_once() {
        let mut needs = Needs {
            disk_bytes: 1_000_000,
            least_seconds: 449.0,
            most_seconds: 451.0,
        };
        let text = "needs about 1 MB of disk and 7.5 min of time";
        assert_eq!(describe_needs(&needs), text);
        needs.most_seconds = 480.0;
        assert!(describe_needs(&needs).ends_with("7.5 min to 8.0 min of time"));
    }

    #[test]
    fn lines_break_at_spaces_and_between_settings_and_what_cannot_be_broken_is_kept_whole() {
        assert_eq!(
            broken("  a  sqlite:journal=wal,synchronous=off; b", 5, 28),
            "  a  sqlite:journal=wal,\n     synchronous=off; b\n"
        );
        assert_eq!(broken("\nabcdefgh ij", 2, 6), "\nabcdefgh\n  ij\n");
    }
}
