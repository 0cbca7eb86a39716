//! What became of claims of published studies, in words: each with its place, its bounds, and the figure
//! that decides it. What a run found and what several results say use the same words.

mod across;

pub use across::{CSV_START, Claims};

use crate::cells::grouped;
use crate::document::{
    Block, Detail, Item, Section, Text, Tone, Unit, Value, faint, listed, plain, strong,
};
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
        // Without a run nothing is missing in it.
        [] => plain(evidence(&ClaimOutcome {
            missing: Vec::new(),
            ..stated.clone()
        })),
        [_] => strong(evidence(&alone(claim))),
        _ => {
            let on = machines.iter().zip(&claim.on);
            let said = on.filter_map(|(machine, outcome)| {
                let outcome = outcome.as_ref()?;
                let (verdict, evidence) = (outcome.verdict.in_words(), evidence(outcome));
                Some(format!("{machine}: {verdict}. {evidence}"))
            });
            strong(said.collect::<Vec<_>>().join(" "))
        }
    };
    // How its words were read, where they leave a choice.
    let reading = stated
        .note
        .as_deref()
        .map(|note| note.trim_end_matches('.'));
    let reading = reading.map_or_else(String::new, |note| format!(" {note}."));
    let item = Item {
        note: note.then(faint(reading)),
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
    match claim.on.iter().flatten().next() {
        Some(tested) if tested.verdict != ClaimVerdict::NoData => tested.clone(),
        untested => ClaimOutcome {
            missing: untested.map_or_else(Vec::new, |known| known.missing.clone()),
            ..claim.stated.clone()
        },
    }
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

/// The figures that decide a claim, in sentences.
fn evidence(claim: &ClaimOutcome) -> String {
    let cells = claim.figures.iter().flat_map(|f| f.of.iter().chain(&f.to));
    let mut comparisons = cells.filter_map(comparison_of);
    let first = comparisons.next();
    let several = comparisons.any(|id| Some(id) != first);
    // What fails decides alone.
    let fails = claim.verdict == ClaimVerdict::Fails;
    let shown = claim.figures.iter();
    let shown = shown.filter(|figure| !fails || figure.verdict == ClaimVerdict::Fails);
    let mut sentences: Vec<String> = shown.map(|figure| told(figure, several)).collect();
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
    let (comparison, _) = cell.cell.0.split_once('/')?;
    Some(comparison)
}

/// `time of files over that of SQLite: 1.43 [1.40, 1.45], said to be 1.08 to 1.69`
fn told(figure: &FigureOutcome, with_comparison: bool) -> String {
    let name = |cells: &[FigureCell]| {
        let names = cells.iter().map(|cell| match comparison_of(cell) {
            Some(comparison) if with_comparison => format!("{} ({comparison})", cell.label),
            _ => cell.label.clone(),
        });
        names.collect::<Vec<_>>().join(" + ")
    };
    let over = |before: &str, cells: &[FigureCell], after: &str| match cells {
        [] => String::new(),
        cells => format!(" {before}{}{after}", name(cells)),
    };
    let measure = note(MEASURES, &format!("{:?}", figure.measure), &[]).unwrap_or_default();
    let of = format!(
        "{measure} of {}{}{}",
        name(&figure.of),
        over("over ", &figure.to, ""),
        over("(or ", &figure.or_to, ")")
    );
    let found = figure.estimate.map_or_else(String::new, |estimate| {
        let undecided = figure.verdict == ClaimVerdict::Undecided;
        let beside = figure.beside.filter(|_| undecided);
        let beside = beside.map_or_else(String::new, |other| {
            format!(" (by corrected time {})", value(figure, &other).whole())
        });
        format!("{}{beside}, ", value(figure, &estimate).whole())
    });
    let bound = |bound: f64| unit(figure).tick(bound);
    let bounds = match (figure.at_least.map(bound), figure.at_most.map(bound)) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => "anything".to_owned(),
    };
    format!("{of}: {found}said to be {bounds}")
}

/// How the numbers of a figure are written: those of quotients have no unit.
fn unit(figure: &FigureOutcome) -> Unit {
    match figure.measure {
        _ if !figure.to.is_empty() => Unit::Ratio,
        ClaimMeasure::PageFill | ClaimMeasure::IndexFill | ClaimMeasure::CpuShare => Unit::Percent,
        ClaimMeasure::Throughput => Unit::Rate,
        _ => Unit::Ratio,
    }
}

fn value(figure: &FigureOutcome, found: &Interval) -> Value {
    Value::new(found.estimate, unit(figure)).between(found.low, found.high)
}

/// `not measured: “kept” (it was left out of this run)`, by reason.
fn missing(cells: &[MissingCell]) -> Option<String> {
    const NAMED: usize = 4;
    let reasons = grouped(cells.iter().map(|cell| {
        let why = cell.why.trim_end_matches('.');
        (why, format!("“{}”", cell.cell))
    }));
    let told = reasons.into_iter().map(|(why, names)| {
        let more = match names.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names: Vec<String> = names.into_iter().take(NAMED).collect();
        format!("{}{more} ({why})", names.join(", "))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("not measured: {}", told.join("; ")))
}

/// `Of 31 claims, 18 hold here, 6 fail and 4 are undecided; 3 were not measured.`
pub(crate) fn summary(verdicts: &[ClaimVerdict]) -> String {
    let told = |wanted: ClaimVerdict, one: &str, many: &str| {
        let count = verdicts.iter().filter(|found| **found == wanted).count();
        let word = if count == 1 { one } else { many };
        (count > 0).then(|| format!("{count} {word}"))
    };
    let parts = [
        told(ClaimVerdict::Holds, "holds here", "hold here"),
        told(ClaimVerdict::Fails, "fails", "fail"),
        told(ClaimVerdict::Undecided, "is undecided", "are undecided"),
        told(
            ClaimVerdict::Unreliable,
            "is of an unreliable session",
            "are of unreliable sessions",
        ),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let rest = told(
        ClaimVerdict::NoData,
        "was not measured",
        "were not measured",
    );
    let rest = rest.map_or_else(String::new, |rest| format!("; {rest}"));
    let claims = value::counted(verdicts.len(), "claim");
    match parts.as_slice() {
        [] => format!("Of {claims}, none was measured."),
        parts => format!("Of {claims}, {}{rest}.", wording::list(parts)),
    }
}
