//! The whole run at a glance: a row per matrix, sweep or comparison and one for disk space, with
//! what to do and why. Everything in it is derived from verdicts of the analysis; a choice that it
//! did not make is called open.

use crate::wording::{AtRest, Preference};
use crate::{crossover, format, matrix, parts, quantity, sweep, wording};
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
    /// What to use, where the answer is one cell: its label.
    pub(crate) choice: Option<String>,
    /// How many times as fast that is as what it is compared with; above 1.
    pub(crate) factor: Option<RatioEstimate>,
    /// What an acknowledged write of that survives; nothing for reads.
    pub(crate) promise: Option<String>,
    /// What must be known before choosing it, as the end of a sentence: that it promises less, or
    /// leaves more to be done, or that something else is better where more or less is asked.
    pub(crate) caveat: String,
}

/// Rows that come to the same choice.
pub(crate) struct Group<'a> {
    /// `use redb`, or that there is no choice.
    pub(crate) title: String,
    /// Its rows, in running order; at least one.
    pub(crate) rows: Vec<&'a Row>,
}

/// More rows than this are too many to read one by one: they are put together by what they choose.
const MANY: usize = 8;

/// What an answer is before it is a row.
struct Answer {
    kind: Kind,
    answer: String,
    reason: String,
    choice: Option<String>,
    factor: Option<RatioEstimate>,
    promise: Option<String>,
    caveat: String,
}

impl Answer {
    /// No cell is chosen.
    fn open(kind: Kind, answer: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            kind,
            answer: answer.into(),
            reason: reason.into(),
            choice: None,
            factor: None,
            promise: None,
            caveat: String::new(),
        }
    }

    /// This cell is chosen, for being so many times as fast as another.
    fn cell(self, cell: &CellSummary, factor: Option<RatioEstimate>) -> Self {
        Self {
            choice: Some(wording::quoted(&cell.cell.label)),
            factor,
            promise: wording::claim(cell).map(|claim| quantity::class(&claim)),
            ..self
        }
    }

    /// The choice is none if its data comes to rest later than that of another cell.
    fn unless_reversed(self, rest: Option<&AtRest<'_>>, cell: &CellSummary) -> Self {
        let Some(both) = rest.and_then(|rest| rest.both(cell)) else {
            return self;
        };
        Self {
            kind: Kind::AtRest,
            answer: format!("it depends on when the data must rest: {both}"),
            choice: Some(both),
            ..self
        }
    }
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
    /// It depends on when the data must be at rest.
    AtRest,
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
            Self::AtRest => "it depends",
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

/// The rows by what they choose, the most frequent choice first and what has none last; nothing
/// where they are few enough to be read one by one.
pub(crate) fn by_choice(rows: &[Row]) -> Option<Vec<Group<'_>>> {
    if rows.len() <= MANY {
        return None;
    }
    let mut groups: Vec<Group<'_>> = Vec::new();
    for row in rows {
        let title = row.group();
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group {
                title,
                rows: vec![row],
            }),
        }
    }
    let rank = |kind| match kind {
        Kind::Winner | Kind::Faster | Kind::Kept => 0,
        Kind::AtRest => 1,
        Kind::Smallest | Kind::BySize | Kind::Even => 2,
        Kind::Open => 3,
    };
    groups.sort_by_key(|group| (rank(group.rows[0].kind), usize::MAX - group.rows.len()));
    Some(groups)
}

impl Row {
    /// What the rows of its group have in common.
    fn group(&self) -> String {
        let promise = self.promise.as_ref();
        let promise = promise.map_or_else(String::new, |promise| format!(" ({promise})"));
        match (&self.choice, self.kind) {
            (Some(label), Kind::Winner) => format!("use {label}{promise}"),
            (Some(label), Kind::Kept) => format!("no reason to leave {label}{promise}"),
            (Some(both), Kind::AtRest) => format!("{both}{promise}"),
            (Some(label), _) => format!("prefer {label}{promise}"),
            (None, Kind::Even) => "choose by something else: all are equivalent".to_owned(),
            (None, Kind::Open) => "no verdict yet".to_owned(),
            (None, _) => "other answers".to_owned(),
        }
    }

    /// The row in a line of a group, without its title: `5.01× [3.78, 5.95]`, or in words.
    pub(crate) fn figure(&self) -> String {
        match self.factor {
            Some(factor) => format!(
                "{}× {}",
                format::ratio(factor.ratio),
                format::interval(factor.low, factor.high)
            ),
            None if self.choice.is_some() => String::new(),
            None => self.answer.clone(),
        }
    }
}

/// What the figures of groups are, if there is one.
pub(crate) fn figures(groups: &[Group<'_>]) -> Option<&'static str> {
    let mut rows = groups.iter().flat_map(|group| &group.rows);
    rows.any(|row| row.factor.is_some()).then_some(FIGURES)
}

const FIGURES: &str = "What to use is faster than each of the others; what to prefer is \
                                  faster than the baseline, but not than each, or they do not \
                                  promise the same. × says how many times as fast as the baseline of \
                                  the comparison; where that is the baseline itself, as the next \
                                  behind.";

/// A comparison's answer in a line, for where its details are folded.
pub(crate) fn in_a_line(analysis: &Analysis, comparison: &ComparisonOutcome) -> (Kind, String) {
    let Answer { kind, answer, .. } = answer(analysis, comparison);
    (kind, answer)
}

fn row(analysis: &Analysis, comparison: &ComparisonOutcome) -> Row {
    let Answer {
        kind,
        answer,
        reason,
        choice,
        factor,
        promise,
        caveat,
    } = answer(analysis, comparison);
    Row {
        target: format!("finding-{}", comparison.id),
        title: comparison.title.clone(),
        answer,
        reason,
        noise: Some(noise(comparison)),
        kind,
        choice,
        factor,
        promise,
        caveat,
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
        noise: parts::noise_at_most(&parts::of_matrix(analysis, outcome)),
        kind,
        choice: None,
        factor: None,
        promise: None,
        caveat: String::new(),
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
        noise: parts::noise_at_most(&parts::of_sweep(analysis, outcome)),
        kind: kind_of(outcome),
        choice: None,
        factor: None,
        promise: None,
        caveat: String::new(),
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
        choice: None,
        factor: None,
        promise: None,
        caveat: String::new(),
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

/// What was done that makes the rows worth believing, in a sentence.
pub(crate) fn evidence(analysis: &Analysis) -> Option<String> {
    let counted = counted(analysis);
    let cells = || counted.iter().flat_map(|comparison| &comparison.cells);
    let sum = |counts: &mut dyn Iterator<Item = u64>| counts.fold(0, u64::saturating_add);
    let operations = sum(&mut cells().map(|cell| cell.operations));
    let mut ratios = counted.iter().flat_map(|comparison| &comparison.contrasts);
    if operations == 0 || ratios.all(|contrast| contrast.estimate.is_none()) {
        return None;
    }
    let mut reasons = vec![format!("{} in random order", rounds(&counted))];
    reasons.extend(noise_of_all(&counted));
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
    reasons.extend(unreliable_sessions(&counted));
    Some(format!("{}.", reasons.join("; ")))
}

/// `identical cells may differ by up to 2% in the quietest comparison and 16% in the noisiest; every
/// interval is widened by 1% to 3%`
fn noise_of_all(comparisons: &[&ComparisonOutcome]) -> Option<String> {
    let (least, most) = parts::range_of_noise(comparisons)?;
    let widened = parts::widening(comparisons)?;
    let noise = if least == most {
        most
    } else {
        format!("{least} in the quietest comparison and {most} in the noisiest")
    };
    Some(format!(
        "identical cells may differ by up to {noise}; every interval is widened by {widened}"
    ))
}

/// The comparisons that the answers rest on: not those whose size was measured again.
fn counted(analysis: &Analysis) -> Vec<&ComparisonOutcome> {
    let again: Vec<&String> = analysis.sweeps.iter().flat_map(|s| &s.superseded).collect();
    let comparisons = analysis.comparisons.iter();
    comparisons
        .filter(|comparison| !again.contains(&&comparison.id))
        .collect()
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

/// `10 to 20 rounds`
fn rounds(comparisons: &[&ComparisonOutcome]) -> String {
    let ratios = comparisons.iter().flat_map(|c| &c.contrasts);
    let counts: Vec<usize> = ratios
        .filter_map(|contrast| Some(contrast.estimate.as_ref()?.rounds))
        .collect();
    wording::range_of_rounds(&counts)
}

fn noise(comparison: &ComparisonOutcome) -> String {
    parts::noise_at_most(&[comparison]).unwrap_or_else(|| "unknown".to_owned())
}

fn answer(analysis: &Analysis, comparison: &ComparisonOutcome) -> Answer {
    let Some(baseline) = wording::baseline(comparison) else {
        let reason = "the baseline was not measured";
        return Answer::open(Kind::Open, "see the failures", reason);
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

fn unreliable(comparison: &ComparisonOutcome) -> Answer {
    let Some(control) = &comparison.control else {
        let reason = "the control has too few rounds for any claim";
        return Answer::open(Kind::Open, "go on with it, or run it again", reason);
    };
    let differed = format::percent(wording::away_from_one(control.estimate.ratio));
    Answer::open(
        Kind::Open,
        "run it again on a quieter machine",
        format!("two identical cells differed by {differed}, too much for any claim"),
    )
}

fn won(comparison: &ComparisonOutcome, winner: &CellSummary, baseline: &CellSummary) -> Answer {
    let label = wording::quoted(&winner.cell.label);
    let rest = wording::at_rest(comparison, winner, baseline);
    let more = wording::with_other_work(comparison, winner, baseline);
    if winner.cell.id == baseline.cell.id {
        let behind = nearest_behind(comparison, baseline);
        let note = note(rest.as_ref(), winner, None);
        let reason = format!("{}{note}{more}", behind.reason);
        let answer = Answer::open(Kind::Winner, format!("stay with {label}"), reason);
        let answer = Answer {
            caveat: format!("{}{note}{more}", behind.caveat),
            ..answer.cell(winner, behind.factor)
        };
        return answer.unless_reversed(rest.as_ref(), winner);
    }
    let ratio = wording::to_baseline(comparison, winner).and_then(|(estimate, _)| estimate);
    let speed = ratio.map(|estimate| estimate.inverse());
    let caveat = format!("{}{more}", note(rest.as_ref(), winner, speed));
    let reason = speed.map_or_else(String::new, |speed| {
        let factor = as_fast(speed, baseline);
        format!("{factor}{caveat}")
    });
    let answer = Answer::open(Kind::Winner, format!("use {label}"), reason);
    let answer = Answer {
        caveat,
        ..answer.cell(winner, speed)
    };
    answer.unless_reversed(rest.as_ref(), winner)
}

/// What bringing the data to rest makes of the factor.
fn note(rest: Option<&AtRest<'_>>, cell: &CellSummary, speed: Option<RatioEstimate>) -> String {
    let speed = speed.map(|speed| speed.ratio);
    rest.map_or_else(String::new, |rest| rest.note(cell, speed))
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
) -> Answer {
    let Preference {
        cell,
        estimate,
        choice,
        condition,
        alternatives,
        alternatives_in_short,
    } = preference;
    let promise = wording::durability_difference(cell, baseline).unwrap_or_default();
    let speed = estimate.inverse();
    let factor = as_fast(speed, baseline);
    let rest = wording::at_rest(comparison, cell, baseline);
    let note = note(rest.as_ref(), cell, Some(speed));
    let more = wording::with_other_work(comparison, cell, baseline);
    let reason = format!("{factor}{promise}{note}{more}{alternatives}");
    let answer = Answer::open(Kind::Faster, format!("{choice}{condition}"), reason);
    let answer = Answer {
        caveat: format!("{condition}{note}{more}{alternatives_in_short}"),
        ..answer.cell(cell, Some(speed))
    };
    answer.unless_reversed(rest.as_ref(), cell)
}

/// Nothing is faster than the baseline.
fn kept(analysis: &Analysis, comparison: &ComparisonOutcome, baseline: &CellSummary) -> Answer {
    let base = wording::quoted(&baseline.cell.label);
    let zone = wording::zone(analysis);
    let verdicts: Vec<(&CellSummary, Verdict)> = wording::rivals(comparison)
        .into_iter()
        .filter_map(|cell| Some((cell, wording::to_baseline(comparison, cell)?.1)))
        .collect();
    let all = |wanted: Verdict| verdicts.iter().all(|(_, verdict)| *verdict == wanted);
    if all(Verdict::NoData) {
        return Answer::open(Kind::Open, "measure again", "no ratio has data");
    }
    let mut rest = unbeaten(&verdicts);
    if verdicts
        .iter()
        .all(|(_, verdict)| wording::is_open(verdict))
    {
        let answer = "measure again, nothing was decided";
        return Answer::open(Kind::Open, answer, rest.join("; "));
    }
    if all(Verdict::Equivalent) {
        let reason = format!("all are equivalent to {base} within {zone}");
        return Answer::open(Kind::Even, "choose by something else", reason);
    }
    let behind = nearest_behind(comparison, baseline);
    let answer = if behind.reason.is_empty() {
        format!("no reason to leave {base}")
    } else {
        format!("stay with {base}")
    };
    rest.extend(done_sooner(comparison, baseline));
    // No figure: what the baseline beats says nothing of those that it does not.
    let caveat = [&[behind.caveat][..], &rest].concat().join("; ");
    let reasons = [vec![behind.reason], rest].concat();
    let reasons: Vec<String> = reasons.into_iter().filter(|r| !r.is_empty()).collect();
    let answer = Answer::open(Kind::Kept, answer, reasons.join("; "));
    Answer {
        caveat,
        ..answer.cell(baseline, None)
    }
}

/// What the baseline does not beat, by verdict.
fn unbeaten(verdicts: &[(&CellSummary, Verdict)]) -> Vec<String> {
    let mut rest = Vec::new();
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
            rest.push(format!("{}: {is}", some(&labels)));
        }
    }
    rest
}

/// Which cell has its data at rest before the baseline that stays.
fn done_sooner(comparison: &ComparisonOutcome, baseline: &CellSummary) -> Option<String> {
    wording::at_rest(comparison, baseline, baseline)?.sooner_than(baseline)
}

/// The labels, or the first of them and how many there are besides.
fn some(labels: &[String]) -> String {
    const SHOWN: usize = 4;
    match labels {
        [first, rest @ ..] if labels.len() > SHOWN => {
            format!("{first} and {} others", rest.len())
        }
        few => wording::list(few),
    }
}

/// Where the baseline stays: by how much it is ahead of the next that is slower, and what either
/// promises.
struct Behind {
    reason: String,
    factor: Option<RatioEstimate>,
    /// What the baseline promises, where that is not all that the next does.
    caveat: String,
}

fn nearest_behind(comparison: &ComparisonOutcome, baseline: &CellSummary) -> Behind {
    let slower = wording::with_verdict(comparison, Verdict::Slower);
    let Some((next, estimate)) = slower.first() else {
        return Behind {
            reason: String::new(),
            factor: None,
            caveat: String::new(),
        };
    };
    let promise = wording::durability_difference(baseline, next).unwrap_or_default();
    Behind {
        reason: format!("{}{promise}", as_fast(*estimate, next)),
        factor: Some(*estimate),
        caveat: if promise.starts_with(", but") {
            promise
        } else {
            String::new()
        },
    }
}
