//! What became of claims of published studies, in words: each with its place, its bounds, and the figure
//! that decides it. What a run found and what several results say use the same words.

mod across;

pub use across::{CSV_START, Claims};

use crate::cells::grouped;
use crate::document::{Block, Detail, Item, Section, Text, Tone, faint, listed, plain, strong};
use crate::words::note;
use crate::{value, wording};
use stowplan_analysis::{
    ClaimAcross, ClaimOutcome, ClaimVerdict, FigureCell, FigureOutcome, Interval, MissingCell,
};
use stowplan_model::ClaimMeasure;

/// What figures of claims are of, by the names of their measures.
const MEASURES: &str = include_str!("words/claims.txt");

/// The colour of a verdict, which repeats its word.
fn tone(verdict: ClaimVerdict) -> Tone {
    match verdict {
        ClaimVerdict::Holds => Tone::Good,
        ClaimVerdict::Fails => Tone::Bad,
        ClaimVerdict::Undecided | ClaimVerdict::Unreliable => Tone::Warning,
        ClaimVerdict::NoData => Tone::Faint,
    }
}

/// A claim, what decides it on each machine, and the verdict, if they agree; untested where there is no machine.
fn item(claim: &ClaimAcross, machines: &[&str]) -> Item {
    let stated = &claim.stated;
    let note = match machines {
        [] => plain(evidence(&unmeasured(stated, Vec::new()))),
        [_] => strong(evidence(&alone(claim))),
        _ => strong(of_each(claim, machines)),
    };
    let item = Item {
        note: note.then(faint(reading(stated.note.as_deref()))),
        ..Item::of(quoted(&stated.quote, stated.place.as_deref()))
    };
    match verdict(claim) {
        _ if machines.is_empty() => item,
        Some(verdict) => item.with_badge(verdict.in_words(), tone(verdict)),
        None => item.with_badge("differs", Tone::Warning),
    }
}

/// What machines say of a claim; nothing where they differ.
fn verdict(claim: &ClaimAcross) -> Option<ClaimVerdict> {
    match claim.verdicts().as_slice() {
        [] => Some(ClaimVerdict::NoData),
        [first, others @ ..] => others.iter().all(|other| other == first).then_some(*first),
    }
}

/// What the only machine says of a claim. A run knows no labels of cells that its scale leaves out.
fn alone(claim: &ClaimAcross) -> ClaimOutcome {
    let outcome = claim.on.iter().flatten().next();
    match outcome {
        Some(tested) if tested.verdict != ClaimVerdict::NoData => tested.clone(),
        untested => {
            let missing = untested.map(|known| known.missing.clone());
            unmeasured(&claim.stated, missing.unwrap_or_default())
        }
    }
}

fn unmeasured(stated: &ClaimOutcome, missing: Vec<MissingCell>) -> ClaimOutcome {
    ClaimOutcome {
        missing,
        ..stated.clone()
    }
}

fn of_each(claim: &ClaimAcross, machines: &[&str]) -> String {
    let on = machines.iter().zip(&claim.on);
    let said = on.filter_map(|(machine, outcome)| {
        let outcome = outcome.as_ref()?;
        let verdict = outcome.verdict.in_words();
        Some(format!("{machine}: {verdict}. {}", evidence(outcome)))
    });
    said.collect::<Vec<_>>().join(" ")
}

/// The words of the article, and where they stand in it.
fn quoted(quote: &str, place: Option<&str>) -> Text {
    let place = place.and_then(self::place).map(|place| parted(place).1);
    let place = place.map_or_else(String::new, |place| format!(" ({place})"));
    plain(format!("“{}”", quote.trim())).then(faint(place))
}

/// A place as its article and section; nothing of one in a numbered file, as older results have them.
pub(crate) fn place(place: &str) -> Option<&str> {
    let number = place.split(':').next().unwrap_or_default();
    let is_file = number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit());
    (!is_file).then_some(place)
}

/// Stands for an article that a place does not name.
const THE_ARTICLE: &str = "The article";

/// The article that a place names, and the rest of the place.
fn parted(place: &str) -> (&str, &str) {
    place.split_once(", ").unwrap_or((THE_ARTICLE, place))
}

/// Whether a claim is of a published article, and not of this program's own documents.
pub(crate) fn is_published(claim: &ClaimOutcome) -> bool {
    let place = claim.place.as_deref().unwrap_or_default();
    !["METHOD.md", "docs/"]
        .iter()
        .any(|ours| place.starts_with(ours))
}

/// The published claims by their articles, each folded below what became of them on these machines.
pub(crate) fn articles<'a>(
    claims: impl Iterator<Item = &'a ClaimAcross>,
    machines: &[&str],
) -> Vec<Block> {
    let published = claims.filter(|claim| is_published(&claim.stated));
    let articles = grouped(published.map(|claim| {
        let place = claim.stated.place.as_deref().and_then(place);
        let article = place.map_or(THE_ARTICLE, |place| parted(place).0);
        (article, claim)
    }));
    let articles = articles.into_iter().map(|(article, claims)| {
        let verdicts = claims.iter().map(|claim| verdict(claim));
        let verdicts: Vec<ClaimVerdict> = verdicts
            .map(|found| found.unwrap_or(ClaimVerdict::Undecided))
            .collect();
        let found = match verdicts.iter().all(|v| *v == ClaimVerdict::NoData) {
            true => value::counted(verdicts.len(), "claim"),
            false => summary(&verdicts),
        };
        let items = claims.into_iter().map(|claim| item(claim, machines));
        let list = listed(items.collect()).map(|list| list.at(Detail::Full));
        let fold = Section {
            found: plain(found),
            ..Section::fold(article, list.into_iter().collect())
        };
        fold.into()
    });
    articles.collect()
}

/// How its words were read, where they leave a choice.
fn reading(note: Option<&str>) -> String {
    note.map_or_else(String::new, |note| {
        format!(" {}.", note.trim_end_matches('.'))
    })
}

/// The figures that decide a claim, in sentences.
fn evidence(claim: &ClaimOutcome) -> String {
    let mut sentences = Vec::new();
    let comparisons = claim.figures.iter().flat_map(|f| f.of.iter().chain(&f.to));
    let mut comparisons = comparisons.filter_map(comparison_of);
    let first = comparisons.next();
    let several = comparisons.any(|id| Some(id) != first);
    let decided = claim.verdict == ClaimVerdict::Fails;
    let shown = claim.figures.iter().filter(|figure| {
        // What fails decides alone.
        !decided || figure.verdict == ClaimVerdict::Fails
    });
    sentences.extend(shown.map(|figure| self::figure(figure, several)));
    sentences.extend(missing(&claim.missing));
    if claim.verdict == ClaimVerdict::Unreliable {
        sentences.push("nothing is claimed, because the session is unreliable".to_owned());
    }
    let text = sentences.join("; ");
    match text.is_empty() {
        true => text,
        false => format!("{}.", value::capital(text.trim_end_matches('.'))),
    }
}

fn comparison_of(cell: &FigureCell) -> Option<&str> {
    cell.cell
        .0
        .split_once('/')
        .map(|(comparison, _)| comparison)
}

/// `files over SQLite: 1.43 [1.40, 1.45] times the time, said to be 1.08 to 1.69`
fn figure(figure: &FigureOutcome, with_comparison: bool) -> String {
    let what = subject(figure, with_comparison);
    let bounds = bounds(figure);
    match &figure.estimate {
        Some(estimate) => format!("{what}: {}, said to be {bounds}", value(figure, estimate)),
        None => format!("{what}: said to be {bounds}"),
    }
}

/// What a figure is of: `time of files over that of SQLite`.
fn subject(figure: &FigureOutcome, with_comparison: bool) -> String {
    let name = |cells: &[FigureCell]| {
        let names = cells.iter().map(|cell| match comparison_of(cell) {
            Some(comparison) if with_comparison => format!("{} ({comparison})", cell.label),
            _ => cell.label.clone(),
        });
        names.collect::<Vec<_>>().join(" + ")
    };
    let measure = format!("{:?}", figure.measure);
    let measure = note(MEASURES, &measure, &[]).unwrap_or_default();
    let of = name(&figure.of);
    match figure.to.as_slice() {
        [] => format!("{measure} of {of}"),
        to if figure.or_to.is_empty() => format!("{measure} of {of} over {}", name(to)),
        to => format!(
            "{measure} of {of} over {} (or {})",
            name(to),
            name(&figure.or_to)
        ),
    }
}

fn is_share(figure: &FigureOutcome) -> bool {
    let shares = [
        ClaimMeasure::PageFill,
        ClaimMeasure::IndexFill,
        ClaimMeasure::CpuShare,
    ];
    figure.to.is_empty() && shares.contains(&figure.measure)
}

fn number(figure: &FigureOutcome, value: f64) -> String {
    match () {
        () if is_share(figure) => value::percent(value),
        () if figure.to.is_empty() && figure.measure == ClaimMeasure::Throughput => {
            value::rate(value)
        }
        () => value::ratio(value),
    }
}

/// `1.43 [1.40, 1.45]`
fn value(figure: &FigureOutcome, estimate: &Interval) -> String {
    let number = |value| number(figure, value);
    let ends = value::between(&number(estimate.low), &number(estimate.high));
    let beside = figure
        .beside
        .filter(|_| figure.verdict == ClaimVerdict::Undecided);
    let beside = beside.map_or_else(String::new, |other| {
        let ends = value::between(&number(other.low), &number(other.high));
        format!(" (by corrected time {} {ends})", number(other.estimate))
    });
    format!("{} {ends}{beside}", number(estimate.estimate))
}

fn bounds(figure: &FigureOutcome) -> String {
    let bound = |value: f64| match () {
        () if is_share(figure) => value::percent(value),
        () => value::ratio_tick(value),
    };
    match (figure.at_least, figure.at_most) {
        (Some(least), Some(most)) => format!("{} to {}", bound(least), bound(most)),
        (Some(least), None) => format!("at least {}", bound(least)),
        (None, Some(most)) => format!("at most {}", bound(most)),
        (None, None) => "anything".to_owned(),
    }
}

/// `not measured: “kept” (it was left out of this run)`, by reason.
fn missing(cells: &[MissingCell]) -> Option<String> {
    const NAMED: usize = 4;
    let reasons = grouped(cells.iter().map(|cell| {
        let why = cell.why.trim_end_matches('.');
        (why, format!("“{}”", cell.cell))
    }));
    let told = reasons.into_iter().map(|(why, names)| {
        let names = match names.len().checked_sub(NAMED) {
            Some(more) if more > 0 => format!("{} and {more} more", names[..NAMED].join(", ")),
            _ => names.join(", "),
        };
        format!("{names} ({why})")
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("not measured: {}", told.join("; ")))
}

/// `Of 31 claims, 18 hold here, 6 fail and 4 are undecided; 3 were not measured.`
pub(crate) fn summary(verdicts: &[ClaimVerdict]) -> String {
    let told = |(wanted, one, many): (ClaimVerdict, &str, &str)| {
        let count = verdicts.iter().filter(|found| **found == wanted).count();
        let word = if count == 1 { one } else { many };
        (count > 0).then(|| format!("{count} {word}"))
    };
    let parts = [
        (ClaimVerdict::Holds, "holds here", "hold here"),
        (ClaimVerdict::Fails, "fails", "fail"),
        (ClaimVerdict::Undecided, "is undecided", "are undecided"),
        (
            ClaimVerdict::Unreliable,
            "is of an unreliable session",
            "are of unreliable sessions",
        ),
    ];
    let parts: Vec<String> = parts.into_iter().filter_map(told).collect();
    let rest = told((
        ClaimVerdict::NoData,
        "was not measured",
        "were not measured",
    ));
    let claims = value::counted(verdicts.len(), "claim");
    match (parts.is_empty(), rest) {
        (true, _) => format!("Of {claims}, none was measured."),
        (false, None) => format!("Of {claims}, {}.", wording::list(&parts)),
        (false, Some(rest)) => format!("Of {claims}, {}; {rest}.", wording::list(&parts)),
    }
}
