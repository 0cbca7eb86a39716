//! Verdicts in sentences: plain, exact, and never more than the analysis found.

use crate::cells::grouped;
use crate::value;
use crate::words::note;
use stowplan_analysis::{
    Analysis, CellSummary, ComparisonOutcome, Metric, RatioEstimate, Verdict, WorkDifference,
    work_differences as differences, workload_differences,
};
use stowplan_model::{
    Action, Delivery, DurabilityClaim, Mix, PerTransaction, Role, RunOutcome, Workload,
};

/// How runs end.
const ENDINGS: &str = include_str!("words/endings.txt");

/// How the run ended, if that qualifies what it found.
#[must_use]
pub fn ending(analysis: &Analysis) -> Option<String> {
    let end = analysis.end.as_ref();
    let title = match end.map(|end| end.outcome) {
        None => "cut off",
        Some(RunOutcome::Complete) => return None,
        Some(RunOutcome::Budget) => "budget",
        Some(RunOutcome::Interrupted) => "interrupted",
    };
    let failed = |comparison: &ComparisonOutcome| {
        let mut failures = analysis.failures.iter();
        failures.any(|failure| comparison.cell(&failure.cell).is_some())
    };
    let left_out = analysis.comparisons.iter();
    let left_out = left_out.filter(|comparison| !comparison.was_measured() && !failed(comparison));
    let cut = match left_out.count() {
        0 => "cut some comparisons short".to_owned(),
        some => format!("left {} unmeasured", value::counted(some, "comparison")),
    };
    // Of an answer on somebody's own data, what to type stands below it.
    let more = match analysis.advice {
        Some(_) => "",
        None => " A larger --budget narrows what is unresolved.",
    };
    let filled = [
        (
            "after",
            value::maybe(end, |end| value::seconds(end.seconds)),
        ),
        ("cut", cut),
        ("more", more.to_owned()),
    ];
    note(ENDINGS, title, &filled)
}

/// A verdict in one or two words, for tables.
#[must_use]
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Equivalent => "equivalent",
        Verdict::SmallDifference => "small diff.",
        Verdict::Unresolved => "unresolved",
        Verdict::Unreliable => "not claimed",
        Verdict::NoData => "no data",
    }
}

/// What is so, and what to do about it.
pub(crate) fn with_advice(message: &str, advice: &str) -> String {
    let stopped = |text: &str| format!("{}.", text.trim_end_matches('.'));
    format!("{} {}", stopped(message), stopped(advice))
}

/// Which time the ratios of a comparison are of.
pub(crate) fn metric(comparison: &ComparisonOutcome) -> String {
    let mut cells = comparison.cells.iter();
    let title = match comparison.metric {
        _ if !comparison.measure.is_time() => "single operations",
        Metric::Corrected => "corrected time",
        Metric::Wall if cells.any(|cell| cell.cell.workload.beside.is_some()) => "neighbours",
        Metric::Wall if comparison.sleeps => "sleeps",
        Metric::Wall => "wall time",
    };
    note(WORK, title, &[]).unwrap_or_default()
}

/// The time of one operation on average, by the comparison's clock, in nanoseconds; not a number without
/// data.
pub(crate) fn mean_time(cell: &CellSummary) -> f64 {
    cell.time_ns.map_or(cell.wall_ns, |time| time.estimate)
}

/// The headline time of one operation, or of the one that is compared, in nanoseconds; not a number
/// without data.
pub(crate) fn headline_time(cell: &CellSummary) -> f64 {
    let told = cell.statistic_ns.or(cell.time_ns);
    told.map_or(cell.wall_ns, |time| time.estimate)
}

/// The equivalence zone of the run as a percentage.
pub(crate) fn zone(analysis: &Analysis) -> String {
    value::percent(analysis.run.equivalence)
}

/// The ratio of a cell to the baseline and the verdict on it, where it was asked for; of the
/// control too.
pub(crate) fn to_baseline(
    comparison: &ComparisonOutcome,
    cell: &CellSummary,
) -> Option<(Option<RatioEstimate>, Verdict)> {
    if cell.cell.role == Role::Control {
        // It is a copy of the planned baseline, which may not be the one that ratios are to.
        let is_original = |other: &&CellSummary| other.cell.key == cell.cell.key;
        let mut candidates = comparison.cells.iter();
        if candidates.any(|other| other.cell.role == Role::Candidate && is_original(&other)) {
            return None;
        }
        let control = comparison.control.as_ref()?;
        return Some((Some(control.estimate), control.verdict));
    }
    let contrast = comparison.to_baseline(cell)?;
    Some((contrast.estimate, contrast.verdict))
}

/// A label within a sentence: in quotes if it has a comma, at which it would fall apart.
pub(crate) fn quoted(label: &str) -> String {
    if label.contains(',') {
        format!("“{label}”")
    } else {
        label.to_owned()
    }
}

/// `to read values of about 10 kB that are in the page cache in random order`
pub(crate) fn work(analysis: &Analysis, cell: &CellSummary) -> String {
    let datasets = &analysis.run.plan.datasets;
    let size = datasets.get(&cell.cell.dataset).map(|dataset| {
        let mean = stowplan_model::format_bytes(dataset.size.mean());
        format!(" of about {mean}")
    });
    task(&cell.cell.workload, &size.unwrap_or_default())
}

/// What workloads do, by their operations and by the state of the page cache.
const WORK: &str = include_str!("words/work.txt");

/// Says what a workload does; `size` says how large the values are, with a space before it.
pub(crate) fn task(workload: &Workload, size: &str) -> String {
    let share = workload.mix.map_or_else(String::new, proportions);
    let cache = match workload.operation.writes() {
        true => None,
        false => note(WORK, &format!("{:?}", workload.cache), &[]),
    };
    let transactions = match workload.per_transaction {
        PerTransaction::All => None,
        per => Some(per.to_string()),
    };
    let threads = (workload.threads > 1).then(|| format!("by {} threads", workload.threads));
    let lent = (workload.delivery == Delivery::InPlace).then(|| "lent in place".to_owned());
    let more = transactions.into_iter().chain(threads).chain(lent);
    let more = more.chain(circumstances(workload));
    let filled = [
        ("size", format!("{size}{share}")),
        (
            "cache",
            cache.map_or_else(String::new, |cache| format!(" {cache}")),
        ),
        ("order", workload.order.name().to_owned()),
        ("more", more.map(|part| format!(", {part}")).collect()),
    ];
    note(WORK, &format!("{:?}", workload.operation), &filled).unwrap_or_default()
}

/// What few workloads have: busy neighbours, what was done before, keys that are left out, first touches.
fn circumstances(workload: &Workload) -> impl Iterator<Item = String> {
    let unlike_most = workload_differences(workload, &Workload::default()).into_iter();
    let rare = unlike_most.filter(|difference| WorkDifference::RARE.contains(&difference.what));
    rare.map(|difference| format!("{}: {}", difference.what, difference.ours))
}

/// ` (90 reads to 10 overwrites)`: the parts of a mix.
fn proportions(mix: Mix) -> String {
    let part = |action: Action| match (mix.parts(action), action) {
        (1, _) => format!("1 {action}"),
        (parts, Action::Modify) => format!("{parts} read-modify-writes"),
        (parts, _) => format!("{parts} {action}s"),
    };
    let parts: Vec<String> = mix.actions().map(part).collect();
    format!(" ({})", parts.join(" to "))
}

/// Whether all stores of a comparison promise the same for what they write. Floors are no stores.
pub(crate) fn promise_alike(comparison: &ComparisonOutcome) -> bool {
    let stores = comparison.cells.iter();
    let mut claims = stores
        .filter(|cell| !matches!(cell.cell.role, Role::Floor | Role::Part))
        .map(CellSummary::promise);
    let first = claims.next();
    claims.all(|claim| Some(claim) == first)
}

/// Two sides that keep different promises for what they write, each with its name.
pub(crate) fn different_promises(
    (a, ours): (&str, Option<&CellSummary>),
    (b, theirs): (&str, Option<&CellSummary>),
) -> String {
    let promises = [ours, theirs].map(|cell| cell.and_then(CellSummary::promise));
    let promises = match promises {
        [Some(ours), Some(theirs)] => format!(": {a}: {ours}; {b}: {theirs}"),
        _ => String::new(),
    };
    format!(
        "Different durability{promises}. The ratios compare stores that do not keep written data \
         alike."
    )
}

/// Where cells do not do quite the same as the baseline, a sentence for each way.
pub(crate) fn work_differences(comparison: &ComparisonOutcome) -> Vec<String> {
    let Some(baseline) = comparison.baseline() else {
        return Vec::new();
    };
    let rivals = comparison.rivals();
    let said = rivals.map(|cell| (work_difference(cell, baseline), quoted(&cell.cell.label)));
    let groups = grouped(said.filter(|(difference, _)| !difference.is_empty()));
    let groups = groups.iter();
    groups
        .map(|(difference, labels)| format!("{}: {difference}.", labels.join(", ")))
        .collect()
}

/// Where two cells do not do quite the same: shown beside the ratio, so that nobody reads it as
/// a difference between stores alone.
pub(crate) fn work_difference(cell: &CellSummary, reference: &CellSummary) -> String {
    let mut found = differences(cell, reference);
    let sample = sample(cell);
    // What all of its operations would take says that it is one.
    found.retain(|found| sample.is_none() || found.what != WorkDifference::SAMPLE);
    let words = found.iter().map(WorkDifference::in_words);
    words.chain(sample).collect::<Vec<_>>().join("; ")
}

/// `one thread against 4 threads; random order against ascending order`
pub(crate) fn other_work(differences: &[WorkDifference]) -> String {
    let words = differences.iter().map(WorkDifference::in_words);
    words.collect::<Vec<_>>().join("; ")
}

/// What all operations would take of which a cell measured some.
fn sample(cell: &CellSummary) -> Option<String> {
    let all = cell.cell.workload.sample_of?;
    let measured = value::count(cell.cell.workload.operations?.into());
    let time = cell.time_ns.map_or(f64::NAN, |time| time.estimate);
    Some(format!(
        "a sample of {measured} operations, extrapolated: all {} would take {}",
        value::count(all),
        value::seconds(time * all as f64 / 1e9)
    ))
}

/// How many rounds the ratios of these comparisons rest on: `10 to 20 rounds`.
pub(crate) fn rounds_of(comparisons: &[&ComparisonOutcome]) -> String {
    let ratios = comparisons.iter().flat_map(|found| &found.contrasts);
    let counts = ratios.filter_map(|contrast| Some(contrast.estimate?.rounds));
    range_of_rounds(&counts.collect::<Vec<_>>())
}

/// The least and the most of these numbers of rounds: `10 to 20 rounds`.
pub(crate) fn range_of_rounds(counts: &[usize]) -> String {
    match (counts.iter().min(), counts.iter().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most} rounds"),
        (_, most) => value::counted(most.copied().unwrap_or(0), "round"),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A class of durability with its code: `D3 durable, atomic`.
pub(crate) fn class(claim: &DurabilityClaim) -> String {
    format!("{} {claim}", claim.class.code())
}

/// The code of a class alone: `D2`, or `D3 late`.
pub(crate) fn short_class(claim: &DurabilityClaim) -> String {
    let late = if claim.delayed { " late" } else { "" };
    format!("{}{late}", claim.class.code())
}

/// As many whole words as fit, and that there are more.
#[must_use]
pub fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for word in text.split(' ') {
        if short.chars().count() + word.chars().count() + 2 > width {
            break;
        }
        short = format!("{short}{}{word}", if short.is_empty() { "" } else { " " });
    }
    match short.is_empty() {
        true => text
            .chars()
            .take(width.saturating_sub(1))
            .chain(['…'])
            .collect(),
        false => format!("{}…", short.trim_end_matches([',', ':', ';'])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_model::{Mix, Operation};

    #[test]
    fn what_few_workloads_have_is_said_of_those() {
        let workload = Workload {
            after: vec![Operation::CreateTable, Operation::Insert]
                .try_into()
                .unwrap(),
            omit_last: 100,
            first_touch: true,
            ..Workload::default()
        };
        let said = " order, on the same connection before: create-table, insert, last keys left \
                    out: 100, first touch of mapped pages: timed";
        assert!(
            task(&workload, "").ends_with(said),
            "{}",
            task(&workload, "")
        );
        let mixed = Workload {
            operation: Operation::Mix,
            mix: Some(Mix {
                read: 90,
                overwrite: 10,
                ..Mix::default()
            }),
            age: 4,
            ..Workload::default()
        };
        let said = "to do a mix of operations on values (90 reads to 10 overwrites) in random \
                    order, storage age: 4";
        assert_eq!(task(&mixed, ""), said);
        assert_eq!(circumstances(&Workload::default()).count(), 0);
    }

    #[test]
    fn a_long_title_ends_with_a_whole_word() {
        for (title, most, shown) in [
            ("Read: 200 rows", 20, "Read: 200 rows"),
            ("Read: 200 rows, defaults", 17, "Read: 200 rows…"),
            ("wwwwwwwwwwwwww", 6, "wwwww…"),
        ] {
            assert_eq!(shortened(title, most), shown);
        }
    }
}
