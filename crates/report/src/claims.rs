//! What became of claims of published studies, in words: each with its place, its bounds, and the figure
//! that decides it. What a run found and what several results say use the same words.

mod across;

pub(crate) use across::articles;
pub use across::{CSV_START, Claims};

use crate::cells::grouped;
use crate::document::{
    Block, Detail, Item, Section, Text, Tone, Value, faint, listed, plain, strong,
};
use crate::{value, wording};
use stowplan_analysis::{
    ClaimOutcome, ClaimVerdict, DifferenceOutcome, FigureCell, FigureOutcome, Interval, MissingCell,
};
use stowplan_model::ClaimMeasure;

/// The colour of a verdict, which repeats its word.
pub(crate) fn tone(verdict: ClaimVerdict) -> Tone {
    match verdict {
        ClaimVerdict::Holds => Tone::Good,
        ClaimVerdict::Fails => Tone::Bad,
        ClaimVerdict::Undecided | ClaimVerdict::Unreliable => Tone::Warning,
        ClaimVerdict::NoData => Tone::Faint,
    }
}

/// A claim, its verdict, and what decides it.
pub(crate) fn item(claim: &ClaimOutcome) -> Item {
    let note = strong(evidence(claim)).then(faint(reading(claim.note.as_deref())));
    Item {
        note,
        ..Item::of(quoted(&claim.quote, claim.place.as_deref()))
    }
    .with_badge(claim.verdict.in_words(), tone(claim.verdict))
}

/// The words of the article, and where they stand in it.
pub(crate) fn quoted(quote: &str, place: Option<&str>) -> Text {
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

/// Claims by their articles, each folded below what became of them.
pub(crate) fn by_article<'a, T: 'a>(
    claims: impl Iterator<Item = &'a T>,
    stated: fn(&T) -> &ClaimOutcome,
    verdict: impl Fn(&T) -> ClaimVerdict,
    item: impl Fn(&'a T) -> Item,
) -> Vec<Block> {
    let published = claims.filter(|claim| is_published(stated(claim)));
    let articles = grouped(published.map(|claim| {
        let place = stated(claim).place.as_deref().and_then(place);
        let article = place.map_or(THE_ARTICLE, |place| parted(place).0);
        (article.to_owned(), claim)
    }));
    let articles = articles.into_iter().map(|(article, claims)| {
        let verdicts: Vec<ClaimVerdict> = claims.iter().map(|claim| verdict(claim)).collect();
        let found = match verdicts.iter().all(|v| *v == ClaimVerdict::NoData) {
            true => value::counted(verdicts.len(), "claim"),
            false => summary(&verdicts),
        };
        let items = claims.into_iter().map(&item).collect();
        let list = listed(items).map(|list| list.at(Detail::Full));
        let fold = Section {
            found: plain(found),
            ..Section::fold(article, list.into_iter().collect())
        };
        fold.into()
    });
    articles.collect()
}

/// How its words were read, where they leave a choice.
pub(crate) fn reading(note: Option<&str>) -> String {
    note.map_or_else(String::new, |note| {
        format!(" {}.", note.trim_end_matches('.'))
    })
}

/// The figures that decide a claim, in sentences.
pub(crate) fn evidence(claim: &ClaimOutcome) -> String {
    let mut sentences = Vec::new();
    if claim.costs.is_some() {
        sentences.push(costs(claim));
    }
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
    if claim.costs.is_none() {
        sentences.extend(missing(&claim.missing));
    }
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
    let measure = measure(figure.measure);
    let of = name(&figure.of);
    match figure.to.as_slice() {
        [] => format!("{measure} of {of}"),
        to => format!("{measure} of {of} over {}", name(to)),
    }
}

fn measure(measure: ClaimMeasure) -> &'static str {
    match measure {
        ClaimMeasure::Time => "time",
        ClaimMeasure::BlockTime => "time of all operations",
        ClaimMeasure::Cpu => "CPU time",
        ClaimMeasure::Throughput => "operations per second",
        ClaimMeasure::Footprint => "bytes on disk",
        ClaimMeasure::PageFill => "used share of leaf pages",
        ClaimMeasure::IndexFill => "used share of leaf pages of indexes",
        ClaimMeasure::CpuShare => "share of the time on the CPU",
        ClaimMeasure::SyncsPerCommit => "syncs per transaction",
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

/// The two costs of a claim that one is larger, and by how much it is.
fn costs(claim: &ClaimOutcome) -> String {
    let Some(costs) = &claim.costs else {
        return String::new();
    };
    let difference = costs.difference.as_ref();
    let difference = difference.map(|cost| Value::from(cost).whole());
    let with = |before: &str, after: &str| {
        let text = difference.as_ref();
        text.map_or_else(String::new, |text| format!("{before}{text}{after}"))
    };
    let judgement = match claim.verdict {
        ClaimVerdict::Holds => format!("the first is larger{}", with(" by ", "")),
        ClaimVerdict::Fails => format!(
            "the first is not larger: the difference is {}",
            with("", "")
        ),
        ClaimVerdict::Undecided => format!("the difference{} may be 0", with(", ", ",")),
        ClaimVerdict::Unreliable | ClaimVerdict::NoData => String::new(),
    };
    let whole = costs.of.as_ref();
    let whole = whole.map(|(_, whole)| format!(" of {}", value::time(whole.estimate)));
    let larger = side(&costs.larger, &whole.unwrap_or_default());
    let sides = [larger, side(&costs.smaller, "")].into_iter();
    let untested = (claim.verdict == ClaimVerdict::NoData).then(|| {
        let why = missing(&claim.missing);
        why.unwrap_or_else(|| "not tested, because its cells share too few rounds".to_owned())
    });
    let judgement = Some(judgement).filter(|text| !text.is_empty());
    let sentences: Vec<String> = sides.chain(judgement).chain(untested).collect();
    sentences.join("; ")
}

/// `open and close: 2.67 µs [2.61, 2.72] of 5.97 µs`
fn side(difference: &DifferenceOutcome, of: &str) -> String {
    let label = &difference.label;
    match &difference.cost {
        Some(cost) => format!("{label}: {}{of}", Value::from(cost).whole()),
        None => label.clone(),
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
    let count = |wanted: &[ClaimVerdict]| verdicts.iter().filter(|v| wanted.contains(v)).count();
    let tested = verdicts.len() - count(&[ClaimVerdict::NoData]);
    let are = |count: usize, one: &str, many: &str| {
        let word = if count == 1 { one } else { many };
        (count > 0).then(|| format!("{count} {word}"))
    };
    let parts = [
        are(count(&[ClaimVerdict::Holds]), "holds here", "hold here"),
        are(count(&[ClaimVerdict::Fails]), "fails", "fail"),
        are(
            count(&[ClaimVerdict::Undecided]),
            "is undecided",
            "are undecided",
        ),
        are(
            count(&[ClaimVerdict::Unreliable]),
            "is of an unreliable session",
            "are of unreliable sessions",
        ),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let unmeasured = verdicts.len() - tested;
    let unmeasured = are(unmeasured, "was not measured", "were not measured");
    let claims = value::counted(verdicts.len(), "claim");
    match (parts.is_empty(), unmeasured) {
        (true, _) => format!("Of {claims}, none was measured."),
        (false, None) => format!("Of {claims}, {}.", wording::list(&parts)),
        (false, Some(rest)) => format!("Of {claims}, {}; {rest}.", wording::list(&parts)),
    }
}
