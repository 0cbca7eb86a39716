//! A plan in words.

use super::{
    Needs, ROOT_ONLY, left_out_cells, left_to_root, needs, operation_seconds, proportions,
};
use crate::drivers::Drivers;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_model::{Cell, Comparison, PerTransaction, Plan, Role, Statistic, format_bytes};

/// The plan in words, for `--dry-run`, in lines of at most `width` characters as far as its names
/// allow; `keep` as for [`needs`]. Of stores whose driver failed when `drivers` asked it, nothing is known
/// but that.
#[must_use]
pub fn describe(plan: &Plan, keep: bool, width: usize, drivers: &Drivers) -> String {
    let study = &plan.study;
    let title = format!(
        "{} (study '{}', scale '{}')",
        study.title, study.name, plan.scale
    );
    let mut text = paragraph("", &title, 2, width);
    for (name, spec) in &plan.datasets {
        let dataset = format!(
            "dataset {name}: {} values, {}, {}, seed {}",
            spec.count, spec.size, spec.content, spec.seed
        );
        text += &paragraph("", &dataset, 2, width);
    }
    let column = name_column(plan, width);
    let left_out = left_out_cells(plan);
    let measured: BTreeSet<&str> = plan.cells().map(|cell| cell.label.as_str()).collect();
    // Of one that is measured elsewhere, the machine has what it takes.
    let lacks =
        |label: &str, reason: &str| left_out.contains_key(reason) && !measured.contains(label);
    for comparison in &plan.comparisons {
        text.push('\n');
        text += &describe_comparison(comparison, column, width, drivers);
        let alone = std::slice::from_ref(comparison);
        text += &not_applicable("  ", alone, |label, reason| !lacks(label, reason), width);
    }
    for spec in left_to_root(plan) {
        let line = format!("{}: {} (not measured: {ROOT_ONLY})", spec.id, spec.title);
        text.push('\n');
        text += &paragraph("", &line, 4, width);
    }
    // What the machine lacks is the same for each comparison: said once, for all of them.
    let lacking = not_applicable("", &plan.comparisons, lacks, width);
    if !lacking.is_empty() {
        text.push('\n');
        text += &lacking;
    }
    text.push('\n');
    text += &describe_parts(plan)
        .map(|line| paragraph("", &line, 2, width))
        .unwrap_or_default();
    text + &paragraph("", &describe_needs(&needs(plan, keep)), 2, width)
}

/// How many cells there are only because a cost is taken apart.
fn describe_parts(plan: &Plan) -> Option<String> {
    let parts = plan.cells().filter(|cell| cell.role == Role::Part).count();
    let planned = |id: &String| plan.comparisons.iter().any(|c| c.id == *id);
    let ladders = plan.study.ladders.iter();
    let ladders = ladders.filter(|ladder| planned(&ladder.comparison)).count();
    (ladders > 0).then(|| {
        format!(
            "{ladders} {} taken apart, step by step; {parts} of {} cells are there for that only",
            if ladders == 1 { "cost is" } else { "costs are" },
            plan.cells().count()
        )
    })
}

/// In which column the specs begin: behind the longest name, unless that is a very long one.
fn name_column(plan: &Plan, width: usize) -> usize {
    let names = plan.cells().map(|cell| name_with_role(cell).len());
    let longest = names.max().unwrap_or(0).min(32);
    4 + longest.min(width / 2)
}

/// What all cells have in common, and then each cell with what it has for itself.
fn describe_comparison(
    comparison: &Comparison,
    column: usize,
    width: usize,
    drivers: &Drivers,
) -> String {
    let Comparison {
        id,
        title,
        max_rounds,
        ..
    } = comparison;
    let judged = match comparison.measure {
        Statistic::Time => String::new(),
        measure => format!("; judged by the {}", measure.in_words()),
    };
    let head = format!("{id}: {title} (at most {max_rounds} rounds{judged})");
    let mut text = paragraph("", &head, 4, width);
    let cells = comparison.cells.iter();
    let known: Vec<&Cell> = cells
        .filter(|c| drivers.failure(&c.store).is_none())
        .collect();
    let have = Transactions::of(&known);
    let common = common_parts(&known, have);
    if !common.is_empty() {
        text += &paragraph("  all cells: ", &common.join("; "), 13, width);
    }
    for cell in &comparison.cells {
        let others = match drivers.failure(&cell.store) {
            Some(error) => vec![format!("it will fail: {error}")],
            None => parts(cell, have).into_iter().flatten().collect(),
        };
        let others = others.into_iter().filter(|part| !common.contains(part));
        let line: Vec<String> = std::iter::once(cell.store.to_string())
            .chain(others)
            .collect();
        let name = format!("  {:<1$}", name_with_role(cell), column - 2);
        text += &paragraph(&name, &line.join("; "), column, width);
    }
    text
}

/// The cells of these comparisons that are not applicable for a reason that is to be told, by the reason.
fn not_applicable(
    head: &str,
    comparisons: &[Comparison],
    is_told: impl Fn(&str, &str) -> bool,
    width: usize,
) -> String {
    let mut reasons: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let all = comparisons.iter().flat_map(|c| &c.not_applicable);
    for (label, reason) in all.filter(|(label, reason)| is_told(label, reason)) {
        reasons.entry(reason).or_default().insert(label);
    }
    let lines = reasons.into_iter().map(|(reason, labels)| {
        let labels: Vec<&str> = labels.into_iter().collect();
        let line = format!("not applicable: {}: {reason}", labels.join("; "));
        paragraph(head, &line, head.len() + 4, width)
    });
    lines.collect()
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

/// The parts that every cell has alike.
fn common_parts(cells: &[&Cell], have: Transactions) -> Vec<String> {
    let Some((first, others)) = cells.split_first() else {
        return Vec::new();
    };
    let others: Vec<_> = others.iter().map(|cell| parts(cell, have)).collect();
    let common = |part: &String| {
        others
            .iter()
            .all(|parts| parts.contains(&Some(part.clone())))
    };
    parts(first, have)
        .into_iter()
        .flatten()
        .filter(common)
        .collect()
}

/// What a cell does and promises, part by part.
fn parts(cell: &Cell, have: Transactions) -> [Option<String>; 8] {
    let workload = &cell.workload;
    let sample = workload.operations.zip(workload.sample_of);
    [
        Some(have.in_words(workload.per_transaction)),
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
    ]
}

/// Which cells of a comparison have transactions.
#[derive(Debug, Clone, Copy)]
enum Transactions {
    All,
    Some,
    None,
}

impl Transactions {
    fn of(cells: &[&Cell]) -> Self {
        let has = |cell: &&Cell| cell.capabilities.transactions;
        match (cells.iter().all(has), cells.iter().any(has)) {
            (true, _) => Self::All,
            (false, true) => Self::Some,
            (false, false) => Self::None,
        }
    }

    /// How many operations share one; what has none does them one after the other.
    fn in_words(self, per: PerTransaction) -> String {
        match (self, per) {
            (Self::All, per) => per.to_string(),
            (Self::Some, per) => format!("{per} where a store has any"),
            (Self::None, PerTransaction::All) => "no transactions (one batch)".to_owned(),
            (Self::None, PerTransaction::Operations(_)) => "no transactions".to_owned(),
        }
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

/// Where a text may be broken, the best places first. Behind a comma without a space lie the
/// settings of a store spec.
const BREAKS: [&str; 3] = ["; ", " ", ","];

/// Text behind a head, in lines of at most `width` characters as far as [`BREAKS`] allow; those
/// after the first are indented. A head that does not end with a space has a line of its own.
fn paragraph(head: &str, text: &str, indent: usize, width: usize) -> String {
    let length = |text: &str| text.trim_end().chars().count();
    let in_pieces = |pieces: Vec<_>, at: &&'static str| {
        let pieces = pieces.into_iter();
        let broken = pieces.flat_map(|piece: &str| match indent + length(piece) <= width {
            true => vec![piece],
            false => piece.split_inclusive(*at).collect(),
        });
        broken.collect()
    };
    let (mut all, mut line) = (String::new(), head.to_owned());
    let mut alone = !head.is_empty() && !head.ends_with(' ');
    for piece in BREAKS.iter().fold(vec![text], in_pieces) {
        let used = line.chars().count();
        if alone || used > indent && used + length(piece) > width {
            all += &format!("{}\n", line.trim_end());
            line = " ".repeat(indent);
        }
        alone = false;
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
        for (have, all, each) in [
            (
                Transactions::All,
                "one transaction",
                "one transaction per operation",
            ),
            (
                Transactions::None,
                "no transactions (one batch)",
                "no transactions",
            ),
        ] {
            assert_eq!(have.in_words(PerTransaction::All), all);
            assert_eq!(have.in_words(PerTransaction::Operations(1)), each);
        }
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
    fn lines_break_between_parts_then_between_words_then_between_settings() {
        assert_eq!(
            paragraph("  name  ", "files; one transaction; 2 threads", 8, 32),
            "  name  files; one transaction;\n        2 threads\n"
        );
        assert_eq!(
            paragraph("", "words that are too many; and more", 2, 12),
            "words that\n  are too\n  many;\n  and more\n"
        );
        assert_eq!(
            paragraph("  a  ", "sqlite:journal=wal,synchronous=off; b", 5, 28),
            "  a  sqlite:journal=wal,\n     synchronous=off; b\n"
        );
    }

    #[test]
    fn a_name_longer_than_its_column_has_a_line_of_its_own() {
        assert_eq!(
            paragraph("  a-long-name", "files", 8, 32),
            "  a-long-name\n        files\n"
        );
    }

    #[test]
    fn what_cannot_be_broken_is_kept_whole() {
        assert_eq!(paragraph("", "abcdefgh ij", 2, 6), "abcdefgh\n  ij\n");
    }
}
