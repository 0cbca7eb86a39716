//! A sweep before it is drawn: its sentence, its points with finished texts, and the axes.
//! Terminal, Markdown and HTML draw the same.

use crate::crossover::{self, Context};
use crate::document::Scale;
use crate::document::{self, Sign};
use crate::table::{Ratio, Table};
use crate::{format, parts, table, wording};
use stowplan_analysis::{Analysis, ComparisonOutcome, SweepOutcome, SweepPoint, Verdict};
use stowplan_model::Role;

/// Labels of more characters than this are not repeated in sentences.
const LONG_LABEL: usize = 24;

/// Sweeps of the same stores under different settings, which share their axes.
pub(crate) struct Group<'a> {
    /// What is compared.
    pub(crate) title: String,
    /// What was done, and what the ratios are.
    pub(crate) subtitle: String,
    /// Store A: ahead above 1.
    pub(crate) a: String,
    /// Store B: ahead below 1.
    pub(crate) b: String,
    /// The axis of sizes.
    pub(crate) sizes: Scale,
    /// The axis of ratios.
    pub(crate) ratios: Scale,
    /// The equivalence zone around 1.
    pub(crate) band: (f64, f64),
    /// The signs that occur, and what they say.
    pub(crate) legend: Vec<(Sign, String)>,
    /// Its sweeps.
    pub(crate) sweeps: Vec<Sweep<'a>>,
}

/// One sweep.
pub(crate) struct Sweep<'a> {
    /// Name, unique in the run.
    pub(crate) id: &'a str,
    /// What tells it from the others of its group.
    pub(crate) setting: Option<String>,
    /// What it compares and what tells it from others.
    pub(crate) title: String,
    /// What it found.
    pub(crate) headline: String,
    /// The sizes that were measured, rising.
    pub(crate) points: Vec<Point>,
    /// Where the finding leaves the order open.
    pub(crate) open: Option<(f64, f64)>,
    /// Where the line between the points crosses 1; nothing is claimed of it.
    pub(crate) roots: &'a [f64],
    /// What must be said about it.
    pub(crate) notes: Vec<String>,
    /// What the numbers rest on.
    pub(crate) evidence: String,
    /// Every ratio with its interval.
    pub(crate) table: Table,
}

/// One size.
pub(crate) struct Point {
    /// Bytes.
    pub(crate) size: f64,
    /// The same for people.
    pub(crate) label: String,
    /// The ratio and the ends of its interval, if there is a figure.
    pub(crate) ratio: Option<(f64, f64, f64)>,
    /// The same for people.
    pub(crate) text: String,
    /// Who is ahead.
    pub(crate) sign: Sign,
    /// Everything about it in a sentence.
    pub(crate) tooltip: String,
}

/// Every sweep, those of the same stores and workload together where they follow each other.
pub(crate) fn groups(analysis: &Analysis) -> Vec<Group<'_>> {
    let alike = |x: &SweepOutcome, y: &SweepOutcome| {
        (&x.sweep.a, &x.sweep.b, &x.workload) == (&y.sweep.a, &y.sweep.b, &y.workload)
    };
    let groups = analysis.sweeps.chunk_by(alike);
    groups.map(|outcomes| group(analysis, outcomes)).collect()
}

fn group<'a>(analysis: &'a Analysis, outcomes: &'a [SweepOutcome]) -> Group<'a> {
    let (a, b) = names(&outcomes[0]);
    let points: Vec<&SweepPoint> = outcomes.iter().flat_map(|o| &o.points).collect();
    let signs: Vec<Sign> = points.iter().map(|point| sign_of(point)).collect();
    let factor = 1.0 + analysis.run.equivalence;
    let band = (1.0 / factor, factor);
    let (long_a, long_b) = introduced(&outcomes[0]);
    Group {
        title: format!("{long_a} or {long_b}, by size of the values"),
        subtitle: format!(
            "Which is faster {}? Each number is the time of {b} over that of {a}: above 1, {a} \
             faster.",
            wording::task(&outcomes[0].workload, "")
        ),
        sizes: size_axis(&points),
        ratios: ratio_axis(&points, band),
        band,
        legend: document::legend(&signs, &a, &b, &wording::zone(analysis)),
        sweeps: outcomes.iter().map(|o| sweep(analysis, o)).collect(),
        a,
        b,
    }
}

fn sweep<'a>(analysis: &'a Analysis, outcome: &'a SweepOutcome) -> Sweep<'a> {
    let zone = wording::zone(analysis);
    let (a, b) = names(outcome);
    let parts = parts::of_sweep(analysis, outcome);
    let rounds = outcome.points.iter().filter_map(|p| p.estimate);
    let rounds: Vec<usize> = rounds.map(|estimate| estimate.rounds).collect();
    let point = |point: &SweepPoint| self::point(point, &a, &b, &zone);
    let open = crossover::open_range(&outcome.finding);
    Sweep {
        id: &outcome.sweep.id,
        setting: outcome.sweep.setting.as_deref().map(crossover::settings),
        title: title(outcome),
        headline: headline(analysis, outcome),
        points: outcome.points.iter().map(point).collect(),
        open: open.map(|range| (bytes(range.from), bytes(range.to))),
        roots: &outcome.roots,
        notes: notes(outcome, &parts),
        evidence: parts::evidence(&parts, &rounds),
        table: table(outcome, &a, &b, &zone),
    }
}

/// What tells the sweep from others, and what it compares: `A or B: pages of 4 KiB`.
pub(crate) fn title(outcome: &SweepOutcome) -> String {
    let (a, b) = introduced(outcome);
    match &outcome.sweep.setting {
        Some(setting) => format!("{a} or {b}: {}", crossover::settings(setting)),
        None => format!("{a} or {b}, by size of the values"),
    }
}

/// What the sweep found, in a sentence or two.
pub(crate) fn headline(analysis: &Analysis, outcome: &SweepOutcome) -> String {
    worded(analysis, outcome, crossover::sentence)
}

/// The same in a few words.
pub(crate) fn in_short(analysis: &Analysis, outcome: &SweepOutcome) -> String {
    worded(analysis, outcome, crossover::in_short)
}

fn worded(
    analysis: &Analysis,
    outcome: &SweepOutcome,
    word: fn(&stowplan_analysis::Crossover, &Context<'_>) -> String,
) -> String {
    let (a, b) = names(outcome);
    let sizes: Vec<u64> = outcome.points.iter().map(|point| point.size).collect();
    let context = Context {
        a: &a,
        b: &b,
        sizes: &sizes,
        figures: &figures(outcome),
        complete: is_complete(outcome),
        same_durability: outcome.same_durability,
        unit: size,
        zone: &wording::zone(analysis),
    };
    word(&outcome.finding, &context)
}

/// A size with up to three significant digits, in the binary unit that fits: sizes that a sweep
/// adds are round in no unit, and mixing units would hide their order.
pub(crate) fn size(size: u64) -> String {
    const UNITS: [(&str, f64); 3] = [
        ("GiB", 1_073_741_824.0),
        ("MiB", 1_048_576.0),
        ("KiB", 1_024.0),
    ];
    let size = bytes(size);
    let unit = UNITS.into_iter().find(|(_, unit)| size >= *unit);
    let Some((name, unit)) = unit else {
        return format!("{size} B");
    };
    let value = size / unit;
    let decimals = if value < 9.995 {
        2
    } else {
        usize::from(value < 99.95)
    };
    let digits = format!("{value:.decimals$}");
    let digits = if decimals > 0 {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        &digits
    };
    format!("{digits} {name}")
}

/// The sizes that have a figure, rising.
pub(crate) fn figures(outcome: &SweepOutcome) -> Vec<u64> {
    let points = outcome.points.iter();
    let points = points.filter(|point| point.estimate.is_some());
    points.map(|point| point.size).collect()
}

/// Whether every size that was planned was at least tried.
pub(crate) fn is_complete(outcome: &SweepOutcome) -> bool {
    outcome.points.len() == outcome.planned.len()
}

/// What sentences call the stores: `A` and `B` where a label is too long to be repeated. The title
/// says which is which.
fn names(outcome: &SweepOutcome) -> (String, String) {
    let sweep = &outcome.sweep;
    if has_long_labels(outcome) {
        return ("A".to_owned(), "B".to_owned());
    }
    (wording::quoted(&sweep.a), wording::quoted(&sweep.b))
}

/// Both labels, each with what it is called if that is something else.
fn introduced(outcome: &SweepOutcome) -> (String, String) {
    let sweep = &outcome.sweep;
    let (a, b) = (wording::quoted(&sweep.a), wording::quoted(&sweep.b));
    if has_long_labels(outcome) {
        return (format!("{a} (A)"), format!("{b} (B)"));
    }
    (a, b)
}

fn has_long_labels(outcome: &SweepOutcome) -> bool {
    let labels = [&outcome.sweep.a, &outcome.sweep.b];
    labels
        .iter()
        .any(|label| label.chars().count() > LONG_LABEL)
}

fn sign_of(point: &SweepPoint) -> Sign {
    Sign::of(point.verdict, point.estimate.as_ref())
}

fn point(point: &SweepPoint, a: &str, b: &str, zone: &str) -> Point {
    let sign = sign_of(point);
    let label = size(point.size);
    let words = sign.words(a, b, zone);
    let (text, figures) = match point.estimate {
        Some(e) => (
            format!(
                "{} {}",
                format::ratio(e.ratio),
                format::interval(e.low, e.high)
            ),
            format!(
                "{}, interval {} to {}, {} rounds: ",
                format::ratio(e.ratio),
                format::ratio(e.low),
                format::ratio(e.high),
                e.rounds
            ),
        ),
        None => ("no data".to_owned(), String::new()),
    };
    Point {
        size: bytes(point.size),
        tooltip: format!("{label}: {figures}{words}"),
        label,
        ratio: point.estimate.map(|e| (e.ratio, e.low, e.high)),
        text,
        sign,
    }
}

/// Every ratio, its size written as everywhere in the sweep.
fn table(outcome: &SweepOutcome, a: &str, b: &str, zone: &str) -> Table {
    let mut table = table::ratios(&ratios(outcome, a, b, zone));
    let sizes = table
        .columns
        .iter()
        .position(|column| column.title == "size");
    for (row, point) in table.rows.iter_mut().zip(&outcome.points) {
        if let Some(entry) = sizes.and_then(|sizes| row.get_mut(sizes)) {
            entry.text = size(point.size);
        }
    }
    table
}

fn ratios(outcome: &SweepOutcome, a: &str, b: &str, zone: &str) -> Vec<Ratio> {
    let points = outcome.points.iter();
    points
        .map(|point| Ratio {
            setting: String::new(),
            size: point.size,
            estimate: point.estimate,
            verdict: sign_of(point).words(a, b, zone),
            published: None,
        })
        .collect()
}

fn notes(outcome: &SweepOutcome, parts: &[&ComparisonOutcome]) -> Vec<String> {
    let sizes: Vec<u64> = outcome.points.iter().map(|point| point.size).collect();
    let missing = outcome.planned.iter().copied();
    let missing: Vec<u64> = missing.filter(|size| !sizes.contains(size)).collect();
    let unreliable = outcome.points.iter();
    let unreliable = unreliable.filter(|point| point.verdict == Verdict::Unreliable);
    let unreliable: Vec<u64> = unreliable.map(|point| point.size).collect();
    let mut notes = Vec::new();
    if !missing.is_empty() {
        let ranges = crossover::runs(&missing, &outcome.planned).into_iter();
        let ranges: Vec<String> = ranges.map(|r| crossover::span(r, size)).collect();
        let ranges = wording::list(&ranges);
        notes.push(format!("Planned and not measured: {ranges}."));
    }
    notes.extend(wording::unreliable_sizes(&unreliable, &sizes, size));
    if !outcome.same_durability {
        let (a, b) = names(outcome);
        let with_role = |role: Role| {
            let mut cells = parts.first()?.cells.iter();
            cells.find(|cell| cell.cell.role == role)
        };
        notes.push(wording::different_promises(
            (&a, with_role(Role::Baseline)),
            (&b, with_role(Role::Candidate)),
        ));
    }
    notes
}

fn size_axis(points: &[&SweepPoint]) -> Scale {
    let sizes = || points.iter().map(|point| bytes(point.size));
    let (low, high) = (
        sizes().fold(f64::INFINITY, f64::min),
        sizes().fold(0.0, f64::max),
    );
    Scale::logarithmic(low, high)
}

fn ratio_axis(points: &[&SweepPoint], band: (f64, f64)) -> Scale {
    let usable = |value: &f64| value.is_finite() && *value > 0.0;
    let estimates = points.iter().filter_map(|point| point.estimate);
    let ends: Vec<f64> = estimates
        .flat_map(|e| [e.low, e.ratio, e.high])
        .chain([band.0, band.1])
        .filter(usable)
        .collect();
    let ends = || ends.iter().copied();
    Scale::logarithmic(
        ends().fold(f64::INFINITY, f64::min),
        ends().fold(0.0, f64::max),
    )
}

#[expect(clippy::cast_precision_loss, reason = "drawn")]
fn bytes(size: u64) -> f64 {
    size as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_a_sweep_are_short_and_in_one_kind_of_unit() {
        let shown = [
            (512, "512 B"),
            (1_024, "1 KiB"),
            (2_432, "2.38 KiB"),
            (2_880, "2.81 KiB"),
            (10_000, "9.77 KiB"),
            (10_240, "10 KiB"),
            (19_456, "19 KiB"),
            (23_600, "23 KiB"),
            (102_400, "100 KiB"),
            (128_000, "125 KiB"),
            (1_000_000, "977 KiB"),
            (1 << 20, "1 MiB"),
            (3 << 19, "1.5 MiB"),
            (1 << 30, "1 GiB"),
        ];
        for (bytes, text) in shown {
            assert_eq!(size(bytes), text);
        }
    }
}
