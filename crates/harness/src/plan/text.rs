//! A plan in words.

use super::{
    Needs, ROOT_ONLY, left_out_cells, left_to_root, needs, operation_seconds, proportions,
};
use crate::drivers::Drivers;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_model::{
    Cell, Comparison, PerTransaction, Plan, Role, Statistic, Study, format_bytes,
};

/// The plan in words, for `--dry-run`, in lines of at most `width` characters as far as its names
/// allow; `keep` as for [`needs`]. Of stores whose driver failed when `drivers` asked it, nothing is known
/// but that.
#[must_use]
pub fn describe(plan: &Plan, keep: bool, width: usize, drivers: &Drivers) -> String {
    // Specs begin behind the longest name, unless that is a very long one.
    let names = plan.cells().map(|cell| name_with_role(cell).len());
    let column = 4 + names.max().unwrap_or(0).min(32).min(width / 2);
    let mut page = Page {
        text: String::new(),
        width,
        column,
    };
    let Study { title, name, .. } = &plan.study;
    let title = format!("{title} (study '{name}', scale '{}')", plan.scale);
    page.add("", &title, 2);
    for (name, spec) in &plan.datasets {
        let dataset = format!(
            "dataset {name}: {} values, {}, {}, seed {}",
            spec.count, spec.size, spec.content, spec.seed
        );
        page.add("", &dataset, 2);
    }
    let left_out = left_out_cells(plan);
    let measured: BTreeSet<&str> = plan.cells().map(|cell| cell.label.as_str()).collect();
    // Of one that is measured elsewhere, the machine has what it takes.
    let lacks =
        |label: &str, reason: &str| left_out.contains_key(reason) && !measured.contains(label);
    for comparison in &plan.comparisons {
        page.text.push('\n');
        page.comparison(comparison, drivers);
        let reasons = reasons([comparison], |label, reason| !lacks(label, reason));
        page.not_applicable("  ", &reasons);
    }
    for spec in left_to_root(plan) {
        let line = format!("{}: {} (not measured: {ROOT_ONLY})", spec.id, spec.title);
        page.text.push('\n');
        page.add("", &line, 4);
    }
    // What the machine lacks is the same for each comparison: said once, for all of them.
    let lacking = reasons(&plan.comparisons, lacks);
    if !lacking.is_empty() {
        page.text.push('\n');
        page.not_applicable("", &lacking);
    }
    page.text.push('\n');
    page.add("", &describe_needs(&needs(plan, keep)), 2);
    page.text
}

/// What is written, and how wide.
struct Page {
    text: String,
    width: usize,
    /// Where specs of cells begin.
    column: usize,
}

impl Page {
    fn add(&mut self, head: &str, text: &str, indent: usize) {
        self.text += &paragraph(head, text, indent, self.width);
    }

    /// What all cells have in common, and then each cell with what it has for itself.
    fn comparison(&mut self, comparison: &Comparison, drivers: &Drivers) {
        let judged = match comparison.measure {
            Statistic::Time => String::new(),
            measure => format!("; judged by the {}", measure.in_words()),
        };
        let (id, title, most) = (&comparison.id, &comparison.title, comparison.max_rounds);
        let head = format!("{id}: {title} (at most {most} rounds{judged})");
        self.add("", &head, 4);
        let cells = comparison.cells.iter();
        let known = cells.filter(|cell| drivers.failure(&cell.store).is_none());
        let known: Vec<&Cell> = known.collect();
        let parts = |cell| parts(cell, transactions(&known, cell.workload.per_transaction));
        let common = match known.split_first() {
            Some((first, others)) => others.iter().fold(parts(first), |mut common, cell| {
                let own = parts(cell);
                common.retain(|part| own.contains(part));
                common
            }),
            None => Vec::new(),
        };
        if !common.is_empty() {
            self.add("  all cells: ", &common.join("; "), 13);
        }
        for cell in &comparison.cells {
            let others = match drivers.failure(&cell.store) {
                Some(error) => vec![format!("it will fail: {error}")],
                None => parts(cell),
            };
            let mut line = vec![cell.store.to_string()];
            line.extend(others.into_iter().filter(|part| !common.contains(part)));
            let name = format!("  {:<1$}", name_with_role(cell), self.column - 2);
            self.add(&name, &line.join("; "), self.column);
        }
    }

    fn not_applicable(&mut self, head: &str, reasons: &Reasons<'_>) {
        for (reason, labels) in reasons {
            let labels = Vec::from_iter(labels.iter().copied()).join("; ");
            let line = format!("not applicable: {labels}: {reason}");
            self.add(head, &line, head.len() + 4);
        }
    }
}

/// The cells that are not applicable, by the reason.
type Reasons<'p> = BTreeMap<&'p str, BTreeSet<&'p str>>;

/// Those of some comparisons, for reasons that are to be told.
fn reasons<'p>(
    comparisons: impl IntoIterator<Item = &'p Comparison>,
    is_told: impl Fn(&str, &str) -> bool,
) -> Reasons<'p> {
    let mut reasons = Reasons::new();
    let all = comparisons.into_iter().flat_map(|c| &c.not_applicable);
    for (label, reason) in all.filter(|(label, reason)| is_told(label, reason)) {
        reasons.entry(reason).or_default().insert(label);
    }
    reasons
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
