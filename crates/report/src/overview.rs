//! The whole run at a glance: a row per matrix, sweep or comparison and one for disk space, with
//! what to do and why. Everything in it is derived from verdicts of the analysis; a choice that it
//! did not make is called open.

use crate::wording::Preference;
use crate::{crossover, format, matrix, parts, sweep, wording};
use stowplan_analysis::{
    Analysis, CellSummary, ComparisonOutcome, Crossover, MatrixOutcome, RatioEstimate, Side,
    SizeRange, SpaceRow, SweepOutcome, Verdict,
};
use stowplan_model::format_bytes;

/// What one comparison, or a look at the disk, answers.
pub(crate) struct Row {
    /// Where the page has the details: the name of an element.
    pub(crate) target: String,
    /// Its title: the question.
    pub(crate) title: String,
    /// What to use, in a few words.
    pub(crate) answer: String,
    /// Why: the factor with its interval, and what qualifies it.
    pub(crate) reason: String,
    /// By how much two identical cells differed; nothing where nothing was timed.
    pub(crate) noise: Option<String>,
    /// How firm the answer is.
    pub(crate) kind: Kind,
}

/// How firm an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One cell beats each of the others.
    Winner,
    /// Something is faster than the baseline, though it does not beat each of the others.
    Faster,
    /// Nothing is faster than the baseline.
    Kept,
    /// No difference that matters.
    Even,
    /// Takes the least space.
    Smallest,
    /// It depends on the size of the values.
    BySize,
    /// Nothing can be said.
    Open,
}

impl Kind {
    /// The kind in a word or two.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Winner => "fastest",
            Self::Faster => "faster",
            Self::Kept => "none faster",
            Self::Even => "equivalent",
            Self::Smallest => "smallest",
            Self::BySize => "by size",
            Self::Open => "no verdict",
        }
    }
}

/// A row per matrix, per sweep and per comparison that is a part of neither, in running order, and
/// one for disk space.
pub(crate) fn rows(analysis: &Analysis) -> Vec<Row> {
    let matrices = analysis.matrices.iter();
    let sweeps = analysis.sweeps.iter();
    let singles = parts::singles(analysis).into_iter();
    matrices
        .map(|outcome| matrix_row(analysis, outcome))
        .chain(sweeps.map(|outcome| sweep_row(analysis, outcome)))
        .chain(singles.map(|comparison| row(analysis, comparison)))
        .chain(space(analysis))
        .collect()
}

fn row(analysis: &Analysis, comparison: &ComparisonOutcome) -> Row {
    let (kind, answer, reason) = answer(analysis, comparison);
    Row {
        target: format!("finding-{}", comparison.id),
        title: comparison.title.clone(),
        answer,
        reason,
        noise: Some(noise(comparison)),
        kind,
    }
}

/// What holds at every row of a matrix.
fn matrix_row(analysis: &Analysis, outcome: &MatrixOutcome) -> Row {
    let setting = outcome.row_setting.replace(['-', '_'], " ");
    let (kind, answer) = matrix_answer(outcome, &setting);
    let all = outcome.rows.len() * outcome.columns.len();
    let cells = outcome.cells.iter().flatten();
    let cells = match cells.filter(|cell| cell.estimate.is_some()).count() {
        found if found < all => format!("{found} of {all}"),
        found => found.to_string(),
    };
    let s = if all == 1 { "" } else { "s" };
    let reason = match &*outcome.rows {
        [] => String::new(),
        [only] => format!("{cells} ratio{s}, with {}", row_of(outcome, *only)),
        [first, .., last] => format!(
            "{cells} ratio{s}, {} to {}; below is a rule for each",
            row_of(outcome, *first),
            row_of(outcome, *last)
        ),
    };
    Row {
        target: format!("matrix-{}", outcome.id),
        title: outcome.title.clone(),
        answer,
        reason: format!("{reason}{}", unlike(outcome.same_durability)),
        noise: parts::noise(&parts::of_matrix(analysis, outcome)),
        kind,
    }
}

/// `pages of 8 KiB`
fn row_of(outcome: &MatrixOutcome, row: u64) -> String {
    crossover::setting(&outcome.row_setting, &[&row.to_string()])
}

/// `keep values of 10 kB inside and values of 1 MB outside; other sizes depend on …`
fn matrix_answer(outcome: &MatrixOutcome, setting: &str) -> (Kind, String) {
    if !matrix::claims_anything(outcome) {
        return (Kind::Open, "no rule by size".to_owned());
    }
    if !outcome.same_durability {
        let answer = "no choice by time alone: inside and outside promise different things";
        return (Kind::Open, answer.to_owned());
    }
    let mut found = Vec::new();
    let mut sizes = 0;
    for (side, place) in [(Side::A, "inside"), (Side::B, "outside")] {
        let ranges = matrix::common(outcome, side);
        let within = |size: &&u64| ranges.iter().any(|r| (r.from..=r.to).contains(size));
        sizes += outcome.columns.iter().filter(within).count();
        let texts = ranges.into_iter();
        let texts: Vec<String> = texts.map(|r| crossover::span(r, format::size)).collect();
        if !texts.is_empty() {
            found.push(format!("values of {} {place}", wording::list(&texts)));
        }
    }
    if found.is_empty() {
        let answer = format!("it depends on the {setting}: see the rules");
        return (Kind::BySize, answer);
    }
    let rest = match (sizes < outcome.columns.len(), outcome.rows.len()) {
        (false, _) => String::new(),
        (true, 1) => "; other sizes are open".to_owned(),
        (true, _) => format!("; other sizes depend on the {setting} or are open"),
    };
    let kind = match (found.len(), rest.as_str()) {
        (1, "") => Kind::Faster,
        _ => Kind::BySize,
    };
    (kind, format!("keep {}{rest}", wording::list(&found)))
}

fn sweep_row(analysis: &Analysis, outcome: &SweepOutcome) -> Row {
    let reason = measured(outcome);
    let found = sweep::in_short(analysis, outcome);
    let notes = unlike(outcome.same_durability);
    Row {
        target: format!("sweep-{}", outcome.sweep.id),
        title: sweep::title(outcome),
        answer: if outcome.same_durability {
            found
        } else {
            format!("no choice by time alone, which says: {found}")
        },
        reason: format!("{reason}{notes}"),
        noise: parts::noise(&parts::of_sweep(analysis, outcome)),
        kind: kind_of(outcome),
    }
}

/// What qualifies a row whose stores promise different things.
fn unlike(same_durability: bool) -> &'static str {
    if same_durability {
        ""
    } else {
        "; they do not keep written data alike"
    }
}

/// `measured: 3 sizes, 1 KiB to 4 KiB; planned up to 1 MiB`: a size without a figure is planned.
fn measured(outcome: &SweepOutcome) -> String {
    let figures = sweep::figures(outcome);
    let planned = &outcome.planned;
    let (Some(low), Some(high)) = (planned.first(), planned.last()) else {
        return String::new();
    };
    let (low, high) = (*low, *high);
    let range = |from, to| crossover::span(SizeRange { from, to }, sweep::size);
    let (Some(from), Some(to)) = (figures.first(), figures.last()) else {
        return format!("measured: no size; planned: {}", range(low, high));
    };
    let s = if figures.len() == 1 { "" } else { "s" };
    let more = match (low < *from, high > *to) {
        _ if figures.len() == planned.len() => String::new(),
        (true, true) => format!(
            "; planned from {} to {}",
            sweep::size(low),
            sweep::size(high)
        ),
        (true, false) => format!("; planned from {} on", sweep::size(low)),
        (false, true) => format!("; planned up to {}", sweep::size(high)),
        (false, false) => format!("; planned: {} sizes", planned.len()),
    };
    let sizes = figures.len();
    format!("measured: {sizes} size{s}, {}{more}", range(*from, *to))
}

fn kind_of(outcome: &SweepOutcome) -> Kind {
    match &outcome.finding {
        // As for a comparison, none is called the fastest.
        _ if !outcome.same_durability => Kind::Open,
        // Not throughout the sizes that were asked for.
        Crossover::Throughout { .. } if !sweep::is_complete(outcome) => Kind::BySize,
        Crossover::Zone { .. }
        | Crossover::BothEnds { .. }
        | Crossover::WinsBelow { .. }
        | Crossover::WinsAbove { .. } => Kind::BySize,
        Crossover::Throughout { .. } => Kind::Winner,
        Crossover::NeverSlower { wins, .. } if !wins.is_empty() => Kind::Faster,
        Crossover::NeverSlower { .. } | Crossover::NobodyWins { .. } => Kind::Kept,
        Crossover::Equivalent { .. } => Kind::Even,
        Crossover::NoOrder { .. } => Kind::Open,
    }
}

/// Which of the stores that the study asks about takes the least space, and how much more the
/// others take.
fn space(analysis: &Analysis) -> Option<Row> {
    let asked = &analysis.run.plan.study.space;
    let rows = analysis.space.iter();
    let mut rows: Vec<&SpaceRow> = rows
        .filter(|row| asked.iter().any(|asked| asked.label == row.label))
        .collect();
    rows.sort_by_key(|row| row.footprint.allocated_bytes);
    let (smallest, others) = rows.split_first()?;
    let others: Vec<String> = others
        .iter()
        .filter_map(|row| more_space(row, smallest))
        .collect();
    if others.is_empty() {
        return None;
    }
    Some(Row {
        target: "space".to_owned(),
        title: "Disk space, allocated".to_owned(),
        answer: format!(
            "{} takes the least: {}",
            smallest.label,
            format_bytes(smallest.footprint.allocated_bytes)
        ),
        reason: others.join("; "),
        noise: None,
        kind: Kind::Smallest,
    })
}

/// `directory of files: 1.21 GB, +13% (published: +20%)`; nothing where the values differ.
fn more_space(row: &SpaceRow, smallest: &SpaceRow) -> Option<String> {
    let published = row
        .published_ratio
        .zip(smallest.published_ratio)
        .map(|(row, smallest)| format!(" (published: {})", format::difference(row / smallest)))
        .unwrap_or_default();
    Some(format!(
        "{}: {}, {}{published}",
        row.label,
        format_bytes(row.footprint.allocated_bytes),
        format::difference(row.ratio? / smallest.ratio?)
    ))
}

/// What was done that makes the rows worth believing, in a sentence or two.
pub(crate) fn evidence(analysis: &Analysis) -> Option<String> {
    let cells = || analysis.comparisons.iter().flat_map(|c| &c.cells);
    let operations: u64 = cells().map(|cell| cell.operations).sum();
    if operations == 0 {
        return None;
    }
    let verified = cells().filter_map(|cell| cell.verification.as_ref());
    let verified: u64 = verified.map(|found| found.values).sum();
    let verified = if verified > 0 {
        format!(
            " {} values were read back and compared byte for byte.",
            format::count(verified)
        )
    } else {
        String::new()
    };
    Some(format!(
        "{} operations were timed in {}, in random order, each cell in a process of its own. Every \
         comparison measures its baseline twice: what those two identical cells differ by is its \
         noise, and the intervals in brackets are widened by it.{verified}",
        format::count(operations),
        rounds(analysis)
    ))
}

/// `10 to 20 rounds`
fn rounds(analysis: &Analysis) -> String {
    let ratios = analysis.comparisons.iter().flat_map(|c| &c.contrasts);
    let counts: Vec<usize> = ratios
        .filter_map(|contrast| Some(contrast.estimate.as_ref()?.rounds))
        .collect();
    wording::range_of_rounds(&counts)
}

fn noise(comparison: &ComparisonOutcome) -> String {
    comparison.control.as_ref().map_or_else(
        || "unknown".to_owned(),
        |control| format::percent(wording::away_from_one(control.estimate.ratio)),
    )
}

fn answer(analysis: &Analysis, comparison: &ComparisonOutcome) -> (Kind, String, String) {
    let Some(baseline) = wording::baseline(comparison) else {
        let reason = "the baseline was not measured".to_owned();
        return (Kind::Open, "see the failures".to_owned(), reason);
    };
    if !comparison.reliable {
        return unreliable(comparison);
    }
    if let Some(winner) = comparison.fastest() {
        return won(comparison, winner, baseline);
    }
    if let Some(preference) = wording::preference(comparison, baseline) {
        return preferred(comparison, preference, baseline);
    }
    kept(analysis, comparison, baseline)
}

fn unreliable(comparison: &ComparisonOutcome) -> (Kind, String, String) {
    let differed = noise(comparison);
    (
        Kind::Open,
        "run it again on a quieter machine".to_owned(),
        format!("two identical cells differed by {differed}, too much for any claim"),
    )
}

fn won(
    comparison: &ComparisonOutcome,
    winner: &CellSummary,
    baseline: &CellSummary,
) -> (Kind, String, String) {
    let label = wording::quoted(&winner.cell.label);
    if winner.cell.id == baseline.cell.id {
        let reason = nearest_behind(comparison, baseline);
        return (Kind::Winner, format!("stay with {label}"), reason);
    }
    let ratio = wording::to_baseline(comparison, winner).and_then(|(estimate, _)| estimate);
    let reason = ratio.map_or_else(String::new, |estimate| {
        let factor = as_fast(estimate.inverse(), baseline);
        format!("{factor}{}", reversal(winner, baseline))
    });
    (Kind::Winner, format!("use {label}"), reason)
}

/// `1.12 times as fast as files [1.08, 1.16]`, for a ratio above 1.
fn as_fast(speed: RatioEstimate, other: &CellSummary) -> String {
    format!(
        "{} times as fast as {} {}",
        format::ratio(speed.ratio),
        wording::quoted(&other.cell.label),
        format::interval(speed.low, speed.high)
    )
}

fn preferred(
    comparison: &ComparisonOutcome,
    preference: Preference<'_>,
    baseline: &CellSummary,
) -> (Kind, String, String) {
    let Preference {
        cell,
        estimate,
        choice,
        condition,
        alternatives,
    } = preference;
    let promise = wording::durability_difference(cell, baseline).unwrap_or_default();
    let factor = as_fast(estimate.inverse(), baseline);
    let open = wording::no_single_fastest(comparison);
    (
        Kind::Faster,
        format!("{choice}{condition}"),
        format!(
            "{factor}{promise}{}{alternatives}.{open}",
            reversal(cell, baseline)
        ),
    )
}

/// What remains to be done after the timer stopped, where it makes the faster one slower.
fn reversal(first: &CellSummary, baseline: &CellSummary) -> String {
    match (first.total_ns, baseline.total_ns) {
        (Some(ours), Some(theirs)) if ours > theirs => format!(
            ", but slower with bringing the data to rest: {} against {}",
            format::time(ours),
            format::time(theirs)
        ),
        _ => String::new(),
    }
}

/// Nothing is faster than the baseline.
fn kept(
    analysis: &Analysis,
    comparison: &ComparisonOutcome,
    baseline: &CellSummary,
) -> (Kind, String, String) {
    let base = wording::quoted(&baseline.cell.label);
    let zone = wording::zone(analysis);
    let verdicts: Vec<(&CellSummary, Verdict)> = wording::rivals(comparison)
        .into_iter()
        .filter_map(|cell| Some((cell, wording::to_baseline(comparison, cell)?.1)))
        .collect();
    let all = |wanted: Verdict| verdicts.iter().all(|(_, verdict)| *verdict == wanted);
    if all(Verdict::NoData) {
        let reason = "no ratio has data".to_owned();
        return (Kind::Open, "measure again".to_owned(), reason);
    }
    if all(Verdict::Equivalent) {
        let reason = format!("all are equivalent to {base} within {zone}");
        return (Kind::Even, "choose by something else".to_owned(), reason);
    }
    let behind = nearest_behind(comparison, baseline);
    let answer = if behind.is_empty() {
        format!("no reason to leave {base}")
    } else {
        format!("stay with {base}")
    };
    let mut reasons = vec![behind];
    for (wanted, is) in [
        (Verdict::Equivalent, "equivalent to it"),
        (Verdict::SmallDifference, "a small difference away"),
        (Verdict::Unresolved, "unresolved"),
        (Verdict::NoData, "without data"),
    ] {
        let cells = verdicts.iter().filter(|(_, verdict)| *verdict == wanted);
        let labels: Vec<String> = cells
            .map(|(cell, _)| wording::quoted(&cell.cell.label))
            .collect();
        if !labels.is_empty() {
            reasons.push(format!("{}: {is}", wording::list(&labels)));
        }
    }
    reasons.retain(|reason| !reason.is_empty());
    (Kind::Kept, answer, reasons.join("; "))
}

/// By how much the baseline is ahead of the next that is slower, and what either promises.
fn nearest_behind(comparison: &ComparisonOutcome, baseline: &CellSummary) -> String {
    let slower = wording::with_verdict(comparison, Verdict::Slower);
    slower.first().map_or_else(String::new, |(next, estimate)| {
        let promise = wording::durability_difference(baseline, next).unwrap_or_default();
        format!("{}{promise}", as_fast(*estimate, next))
    })
}
