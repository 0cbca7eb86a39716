//! All answers of a run at a glance: what to do, and why to believe it. What the answers are is
//! decided by the analysis.

use super::crossover;
use crate::advice::{self, Advice};
use crate::document::{
    Badge, Block, Content, Detail, Item, List, ListStyle, Look, Medium, Section, Text, Tone,
    anchor, faint, paragraph, plain, remark, strong,
};
use crate::wording::{self, quoted};
use crate::{cells, constituents, format, noise, quantity};
use stowplan_analysis::{
    Analysis, Answer, ComparisonOutcome, Kind, MatrixOutcome, MoreSpace, RatioEstimate, SizeRange,
    SpaceRow, SweepOutcome, TWICE_DIFFERED,
};
use stowplan_model::format_bytes;

/// More answers than this are too many to read one by one: they are put together by what they choose.
const MANY: usize = 8;

/// An answer in words.
#[derive(Default)]
pub(crate) struct Row {
    /// Where the page has the details: the name of a section.
    pub(crate) target: String,
    /// The question.
    pub(crate) title: String,
    /// What to do, in a few words.
    pub(crate) answer: String,
    /// The same as the beginning of a sentence.
    sentence: String,
    /// Why: the factor with its interval, and what qualifies it.
    reason: String,
    /// By how much identical cells differed; nothing where nothing was timed, or too little.
    noise: Option<String>,
    /// What was decided.
    kind: Kind,
    /// Whether the answer is a cell, which its group names.
    is_cell: bool,
    /// The time of that cell over the time of what it is ahead of. Nothing where the baseline is only
    /// kept: what it beats says nothing of what it does not.
    ratio: Option<RatioEstimate>,
    /// What it has in common with the others of its group: `Use redb`, or that there is no choice.
    group: String,
    /// What must be known before doing it, as the end of a sentence.
    caveat: String,
}

/// Answers that come to the same choice: what that is, and the answers in running order.
type Group<'a> = (&'a str, Vec<&'a Row>);

/// What to do on this machine; nothing where nothing was asked.
pub(crate) fn section(analysis: &Analysis) -> Option<Block> {
    let rows = rows(analysis);
    if rows.is_empty() {
        return None;
    }
    let mut blocks = match by_choice(&rows) {
        Some(groups) => grouped(&groups, &rows),
        None => vec![one_by_one(&rows)],
    };
    if let Some(evidence) = evidence(analysis) {
        let why = strong("Why believe it?").then(plain(format!(" {evidence}")));
        let how = plain(" ").then(plain("How it was measured").linked("#method"));
        blocks.push(paragraph(why.clone()).only(Medium::Text));
        blocks.push(paragraph(why.then(how)).only(Medium::Page));
    }
    let brief = |block: Block| match block.detail {
        Detail::Normal => block.at(Detail::Brief),
        _ => block,
    };
    let section = Section::new(
        "What to do on this machine",
        blocks.into_iter().map(brief).collect(),
    );
    let section = section.named("overview").in_contents("Answers");
    Some(Block::from(section).at(Detail::Brief))
}

/// A comparison's answer in a line, for where its details are folded.
pub(crate) fn in_a_line(analysis: &Analysis, comparison: &ComparisonOutcome) -> (Badge, Text) {
    let answer = Advice::of(analysis, comparison).answer().text;
    let badge = badge(comparison.recommendation.kind);
    (badge, wording::sentence(analysis, &answer).into())
}

/// What was decided, in a word or two.
fn badge(kind: Kind) -> Badge {
    let (word, tone) = match kind {
        Kind::Use | Kind::Stay => ("fastest", Tone::Good),
        Kind::Prefer => ("faster", Tone::Good),
        Kind::Keep => ("none faster", Tone::Plain),
        Kind::Equivalent => ("equivalent", Tone::Plain),
        Kind::Smallest => ("smallest", Tone::Good),
        Kind::BySize => ("by size", Tone::Good),
        Kind::Depends => ("it depends", Tone::Warning),
        Kind::Open => ("no verdict", Tone::Warning),
    };
    let word = word.to_owned();
    Badge { word, tone }
}

fn one_by_one(rows: &[Row]) -> Block {
    let list = List {
        style: ListStyle::Answers,
        items: rows.iter().map(Row::item).collect(),
    };
    list.into()
}

/// A panel for each choice; whoever asks for everything gets the reasons as well.
fn grouped(groups: &[Group<'_>], rows: &[Row]) -> Vec<Block> {
    let panels = groups.iter().map(|group| panel(group, rows.len()));
    let mut blocks = vec![Content::Columns(panels.collect()).into()];
    blocks.extend(figures(groups).map(remark));
    blocks.push(one_by_one(rows).at(Detail::Full).only(Medium::Text));
    blocks
}

fn panel((title, rows): &Group<'_>, all: usize) -> Section {
    let list = List {
        style: ListStyle::Figures,
        items: rows.iter().map(|row| row.item_of_group()).collect(),
    };
    let count = faint(format!(" {} of {all}", rows.len()));
    Section {
        look: Look::Panel,
        tone: badge(rows[0].kind).tone,
        ..Section::new(
            plain(*title).then(count),
            vec![Block::from(list).at(Detail::Brief)],
        )
    }
}

impl Row {
    fn item(&self) -> Item {
        let noise = self.noise.as_ref().map(|noise| format!("noise {noise}"));
        let reason = self.reason.trim_end_matches('.').to_owned();
        let note = [Some(reason), noise].into_iter().flatten();
        let note: Vec<String> = note.filter(|part| !part.is_empty()).collect();
        Item {
            badge: Some(badge(self.kind)),
            title: self.linked(),
            text: strong(&self.sentence),
            // Not begun with a capital: the first word may be a label.
            note: faint(note.join("; ")),
            figure: self.figure(),
            ..Item::default()
        }
    }

    fn item_of_group(&self) -> Item {
        // Why nothing can be said says what to do about it.
        let said = if self.is_cell || (self.kind == Kind::Open && !self.caveat.is_empty()) {
            self.caveat.clone()
        } else {
            format!("{}: {}", self.caveat, self.answer)
        };
        Item {
            figure: self.figure(),
            ..Item::of(self.linked().then(said))
        }
    }

    fn linked(&self) -> Text {
        plain(self.title.clone()).linked(&format!("#{}", self.target))
    }

    /// `5.01× (3.78 to 5.95)`
    fn figure(&self) -> Text {
        self.ratio.map_or_else(Text::default, |ratio| {
            let (factor, ends) = advice::factor(&ratio);
            strong(factor).then(faint(format!(" {ends}")))
        })
    }
}

/// The answers in words, in running order.
pub(crate) fn rows(analysis: &Analysis) -> Vec<Row> {
    let answers = analysis.answers.iter();
    let rows = answers.filter_map(|answer| row(analysis, answer));
    let rows = rows.map(|row| Row {
        sentence: wording::sentence(analysis, &row.answer),
        group: wording::sentence(analysis, &row.group),
        ..row
    });
    rows.collect()
}

/// The answers by what they choose, the most frequent choice first and what has none last; nothing
/// where they are few enough to be read one by one.
fn by_choice(rows: &[Row]) -> Option<Vec<Group<'_>>> {
    if rows.len() <= MANY {
        return None;
    }
    let mut groups = cells::grouped(rows.iter().map(|row| (row.group.as_str(), row)));
    let rank = |kind| match kind {
        Kind::Use | Kind::Stay | Kind::Prefer | Kind::Keep => 0,
        Kind::Depends => 1,
        Kind::Smallest | Kind::BySize | Kind::Equivalent => 2,
        Kind::Open => 3,
    };
    groups.sort_by_key(|(_, rows)| (rank(rows[0].kind), usize::MAX - rows.len()));
    Some(groups)
}

/// What the figures of groups are, if there is one.
fn figures(groups: &[Group<'_>]) -> Option<&'static str> {
    let mut rows = groups.iter().flat_map(|(_, rows)| rows);
    rows.any(|row| row.ratio.is_some()).then_some(FIGURES)
}

const FIGURES: &str = "What to use is faster than each of the others; what to prefer is \
                                  faster than the baseline, but not than each, or they do not \
                                  promise the same. × says how many times as fast as the baseline of \
                                  the comparison, with the interval of that factor; where that is \
                                  the baseline itself, as the next behind.";

fn row(analysis: &Analysis, answer: &Answer) -> Option<Row> {
    match answer {
        Answer::Matrix {
            id,
            kind,
            inside,
            outside,
            complete,
        } => {
            let outcome = analysis.matrices.iter().find(|matrix| matrix.id == *id)?;
            let answer = matrix_answer(outcome, (inside, outside), *complete);
            Some(matrix_row(analysis, outcome, *kind, answer))
        }
        Answer::Sweep { id, kind } => {
            let mut sweeps = analysis.sweeps.iter();
            let outcome = sweeps.find(|outcome| outcome.sweep.id == *id)?;
            Some(sweep_row(analysis, outcome, *kind))
        }
        Answer::Comparison { id, .. } => {
            let mut comparisons = analysis.comparisons.iter();
            let comparison = comparisons.find(|known| known.id == *id)?;
            Some(comparison_row(analysis, comparison))
        }
        Answer::Space { choice, others, .. } => space_row(analysis, choice, others),
    }
}

fn comparison_row(analysis: &Analysis, comparison: &ComparisonOutcome) -> Row {
    let found = &comparison.recommendation;
    let advice = Advice::of(analysis, comparison);
    let answer = advice.answer();
    let over = found.over.as_ref().filter(|_| found.kind != Kind::Keep);
    let choice = found
        .chosen(comparison)
        .map(|cell| quoted(&cell.cell.label));
    let promise = found.promise.as_ref();
    let promise = promise.map_or_else(String::new, |p| format!(" ({})", quantity::class(p)));
    let yet = if found.may_change() { " yet" } else { "" };
    let group = match (&choice, found.kind) {
        (_, Kind::Depends) => format!("{}{promise}", advice.both()),
        (Some(label), Kind::Use | Kind::Stay) => format!("use {label}{promise}"),
        (Some(label), Kind::Keep) => format!("no reason{yet} to leave {label}{promise}"),
        (Some(label), _) => format!("prefer {label}{promise}"),
        (None, kind) => without_cell(kind).to_owned(),
    };
    Row {
        target: anchor("finding", &comparison.id),
        title: comparison.title.clone(),
        answer: answer.text,
        reason: answer.reason,
        noise: noise::noise_at_most(&[comparison]),
        kind: found.kind,
        is_cell: choice.is_some(),
        ratio: over.map(|over| over.ratio),
        group,
        caveat: answer.caveat,
        ..Row::default()
    }
}

/// What answers have in common that are no cell.
fn without_cell(kind: Kind) -> &'static str {
    match kind {
        Kind::Equivalent => "choose by something else: all are equivalent",
        Kind::Open => "no verdict yet",
        _ => "other answers",
    }
}

/// What holds at every row of a matrix.
fn matrix_row(analysis: &Analysis, outcome: &MatrixOutcome, kind: Kind, answer: String) -> Row {
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
        answer,
        reason: format!("{reason}{}", unlike(outcome.same_durability)),
        noise: noise::noise_at_most(&constituents::of_matrix(analysis, outcome)),
        target: anchor("matrix", &outcome.id),
        title: outcome.title.clone(),
        kind,
        group: without_cell(kind).to_owned(),
        ..Row::default()
    }
}

/// `pages of 8 KiB`
fn row_of(outcome: &MatrixOutcome, row: u64) -> String {
    crossover::setting(&outcome.row_setting, &[&row.to_string()])
}

/// `keep values of 10 kB inside and values of 1 MB outside; other sizes depend on …`
fn matrix_answer(
    outcome: &MatrixOutcome,
    (inside, outside): (&[SizeRange], &[SizeRange]),
    complete: bool,
) -> String {
    if !outcome.claims_anything() {
        return "no rule by size".to_owned();
    }
    if !outcome.same_durability {
        return "no choice by time alone: inside and outside promise different things".to_owned();
    }
    let setting = outcome.row_setting.replace(['-', '_'], " ");
    let mut found = Vec::new();
    for (ranges, place) in [(inside, "inside"), (outside, "outside")] {
        let texts = ranges.iter();
        let texts: Vec<String> = texts.map(|r| crossover::span(*r, format::size)).collect();
        if !texts.is_empty() {
            found.push(format!("values of {} {place}", wording::list(&texts)));
        }
    }
    if found.is_empty() {
        return format!("it depends on the {setting}: see the rules");
    }
    let rest = match (complete, outcome.rows.len()) {
        (true, _) => String::new(),
        (false, 1) => "; other sizes are open".to_owned(),
        (false, _) => format!("; other sizes depend on the {setting} or are open"),
    };
    format!("keep {}{rest}", wording::list(&found))
}

fn sweep_row(analysis: &Analysis, outcome: &SweepOutcome, kind: Kind) -> Row {
    let found = crossover::in_short(analysis, outcome);
    Row {
        answer: if outcome.same_durability {
            found
        } else {
            format!("no choice by time alone, which says: {found}")
        },
        reason: format!("{}{}", measured(outcome), unlike(outcome.same_durability)),
        noise: noise::noise_at_most(&constituents::of_sweep(analysis, outcome)),
        target: anchor("sweep", &outcome.sweep.id),
        title: crossover::title(outcome),
        kind,
        group: without_cell(kind).to_owned(),
        ..Row::default()
    }
}

/// What qualifies an answer whose stores promise different things.
fn unlike(same_durability: bool) -> &'static str {
    if same_durability {
        ""
    } else {
        "; they do not keep written data alike"
    }
}

/// `measured: 3 sizes, 1 KiB to 4 KiB; planned up to 1 MiB`: a size without a figure is planned.
fn measured(outcome: &SweepOutcome) -> String {
    let figures = crossover::measured(outcome);
    let planned = &outcome.planned;
    let (Some(low), Some(high)) = (planned.first(), planned.last()) else {
        return String::new();
    };
    let (low, high) = (*low, *high);
    let range = |from, to| crossover::span(SizeRange { from, to }, crossover::size);
    let (Some(from), Some(to)) = (figures.first(), figures.last()) else {
        return format!("measured: no size; planned: {}", range(low, high));
    };
    let (first, last) = (crossover::size(low), crossover::size(high));
    let more = match (low < *from, high > *to) {
        _ if figures.len() == planned.len() => String::new(),
        (true, true) => format!("; planned from {first} to {last}"),
        (true, false) => format!("; planned from {first} on"),
        (false, true) => format!("; planned up to {last}"),
        (false, false) => format!("; planned: {} sizes", planned.len()),
    };
    let sizes = format::counted(figures.len(), "size");
    format!("measured: {sizes}, {}{more}", range(*from, *to))
}

/// Which store takes the least space, and how much more the others take.
fn space_row(analysis: &Analysis, smallest: &str, others: &[MoreSpace]) -> Option<Row> {
    let allocated = |label: &str| {
        let mut rows = analysis.space.iter();
        let row: &SpaceRow = rows.find(|row| row.label == label)?;
        Some(format_bytes(row.footprint.allocated_bytes))
    };
    let others: Vec<String> = others
        .iter()
        .filter_map(|other| more_space(other, &allocated(&other.label)?))
        .collect();
    Some(Row {
        answer: format!("{smallest} takes the least: {}", allocated(smallest)?),
        reason: others.join("; "),
        target: "space".to_owned(),
        title: "Disk space, allocated".to_owned(),
        kind: Kind::Smallest,
        group: without_cell(Kind::Smallest).to_owned(),
        ..Row::default()
    })
}

/// `directory of files: 1.21 GB, +13% (published: +20%)`, or `(published, of 100,000 values: +20%)`
fn more_space(other: &MoreSpace, allocated: &str) -> Option<String> {
    let values = other.published_values;
    let values = values.map(|values| format!(", of {} values", format::count(values)));
    let values = values.unwrap_or_default();
    let published = other.published_ratio;
    let published = published.map_or_else(String::new, |ratio| {
        format!(" (published{values}: {})", format::difference(ratio))
    });
    let more = format::difference(other.ratio);
    other
        .ratio
        .is_finite()
        .then(|| format!("{}: {allocated}, {more}{published}", other.label))
}

/// What was done that makes the answers worth believing, in a sentence.
pub(crate) fn evidence(analysis: &Analysis) -> Option<String> {
    // Not those whose size was measured again: no answer rests on them.
    let comparisons = analysis.comparisons.iter();
    let comparisons: Vec<&ComparisonOutcome> = comparisons
        .filter(|comparison| !analysis.is_superseded(comparison))
        .collect();
    let cells = || comparisons.iter().flat_map(|comparison| &comparison.cells);
    let sum = |counts: &mut dyn Iterator<Item = u64>| counts.fold(0, u64::saturating_add);
    let operations = sum(&mut cells().map(|cell| cell.operations));
    let mut ratios = comparisons
        .iter()
        .flat_map(|comparison| &comparison.contrasts);
    if operations == 0 || ratios.all(|contrast| contrast.estimate.is_none()) {
        return None;
    }
    let mut reasons = vec![format!(
        "{} in random order",
        wording::rounds_of(&comparisons)
    )];
    reasons.extend(noise_of_all(&comparisons));
    let verified = cells().filter_map(|cell| cell.verification.as_ref());
    let verified = sum(&mut verified.map(|found| found.values));
    if verified > 0 {
        let verified = format::count(verified);
        reasons.push(format!("{verified} values were read back and compared"));
    }
    reasons.push(format!(
        "{} operations were timed",
        format::count(operations)
    ));
    reasons.extend(unreliable_sessions(&comparisons));
    Some(format!("{}.", format::capital(&reasons.join("; "))))
}

/// `measuring the same thing twice differed by up to 2% in the quietest comparison and 16% in the
/// noisiest; intervals include 1% to 3% for noise`
fn noise_of_all(comparisons: &[&ComparisonOutcome]) -> Option<String> {
    let (least, most) = noise::range_of_noise(comparisons)?;
    let widened = noise::widening(comparisons)?;
    let noise = if least == most {
        most
    } else {
        format!("{least} in the quietest comparison and {most} in the noisiest")
    };
    Some(format!(
        "{TWICE_DIFFERED} by up to {noise}{}; intervals \
         include {widened} for noise",
        noise::too_noisy(comparisons)
    ))
}

/// How many sessions failed their own control, so that nothing is claimed of them.
fn unreliable_sessions(comparisons: &[&ComparisonOutcome]) -> Option<String> {
    let unreliable = comparisons.iter().filter(|c| !c.reliable).count();
    let (session, was) = match unreliable {
        0 => return None,
        1 => ("session", "was"),
        _ => ("sessions", "were"),
    };
    Some(format!(
        "{unreliable} {session} {was} too noisy, and nothing is claimed of what was measured there"
    ))
}
