//! On how many machines each finding holds.

use super::{Fleet, sentence_start};
use crate::document::{
    Block, Detail, Item, List, ListStyle, Medium, Section, Text, Tone, anchor, faint, paragraph,
    plain, remark, strong,
};
use crate::{format, noise, wording};
use stowplan_analysis::{CellAcross, ComparisonAcross, TWICE_DIFFERED, Verdict};
use stowplan_model::{CellId, DurabilityClaim, Role};

/// The first thing to read. Text says everything that was found at once; the page has an answer per
/// comparison, with the count beside it, and the rest below.
pub(super) fn section(fleet: &Fleet<'_>) -> Block {
    let findings: Vec<Findings> = all(fleet).collect();
    let count = format!("{}, scale {}.", fleet.count(), fleet.outcome.scale);
    let mut blocks = vec![paragraph(count).only(Medium::Text).at(Detail::Brief)];
    let answers = List {
        style: ListStyle::Answers,
        items: findings.iter().map(|found| found.answer(fleet)).collect(),
    };
    if !findings.is_empty() {
        blocks.push(Block::from(answers).only(Medium::Page));
    }
    blocks.extend(findings.iter().map(|found| {
        let section = Section::new(&found.title, found.statements());
        let section = Block::from(section).only(Medium::Text);
        section.at(Detail::Brief)
    }));
    let title = format!("On how many {}s each finding holds", fleet.noun());
    let section = Section::new(title, blocks).named("overview");
    Block::from(section.in_contents("Findings")).at(Detail::Brief)
}

/// The findings of every comparison that stands for itself.
pub(super) fn all(fleet: &Fleet<'_>) -> impl Iterator<Item = Findings> {
    let comparisons = fleet.outcome.comparisons.iter();
    let singles = comparisons.filter(|comparison| !comparison.part);
    singles.map(|comparison| Findings::of(fleet, comparison))
}

/// What several machines found in one comparison, in sentences.
pub(super) struct Findings {
    /// The comparison.
    pub(super) id: String,
    title: String,
    /// What to know first.
    headline: Statement,
    /// Which cell beats each of the others, and where.
    fastest: Option<String>,
    /// One per cell that is compared.
    statements: Vec<Statement>,
    /// What the identical cells showed.
    noise: String,
}

/// A finding in a sentence.
#[derive(Clone)]
struct Statement {
    /// The verdict that most machines agree on.
    verdict: Verdict,
    text: String,
    /// On how many machines it holds.
    holds: usize,
}

impl Statement {
    /// What holds nowhere.
    fn open(verdict: Verdict, text: String) -> Self {
        Self {
            verdict,
            text,
            holds: 0,
        }
    }

    fn item(&self) -> Item {
        Item::of(&self.text).with_badge(wording::verdict(self.verdict), Tone::of(self.verdict))
    }
}

impl Findings {
    fn of(fleet: &Fleet<'_>, comparison: &ComparisonAcross) -> Self {
        if comparison.reliable.iter().all(Option::is_none) {
            return Self::unmeasured(fleet, comparison);
        }
        let rivals = comparison.cells.iter();
        let rivals = rivals.filter(|cell| cell.role == Role::Candidate);
        let statements: Vec<Statement> = rivals
            .map(|cell| statement(fleet, comparison, cell))
            .collect();
        let fastest = fastest(fleet, comparison);
        Self {
            id: comparison.id.clone(),
            title: comparison.title.clone(),
            headline: headline(fleet, comparison, fastest.as_ref(), &statements),
            fastest: fastest.map(|fastest| fastest.text),
            statements,
            noise: noise(fleet, comparison),
        }
    }

    /// Of a comparison that no machine came to.
    fn unmeasured(fleet: &Fleet<'_>, comparison: &ComparisonAcross) -> Self {
        let text = format!("Not measured on any {}.", fleet.noun());
        let statement = Statement::open(Verdict::NoData, text);
        Self {
            id: comparison.id.clone(),
            title: comparison.title.clone(),
            headline: statement.clone(),
            fastest: None,
            statements: vec![statement],
            noise: "Noise is unknown.".to_owned(),
        }
    }

    /// What to know first, with the number of machines on which it holds.
    fn answer(&self, fleet: &Fleet<'_>) -> Item {
        let holds = self.headline.holds;
        let figure = if holds > 0 {
            let all = fleet.machines().len();
            strong(format!("{holds} of {all}")).then(faint(format!(" {}s", fleet.noun())))
        } else {
            Text::default()
        };
        Item {
            title: plain(&self.title).linked(&format!("#{}", anchor("finding", &self.id))),
            note: faint(&self.noise),
            figure,
            ..self.headline.item()
        }
    }

    /// Every sentence. The evidence is left out where only the outcome is wanted.
    pub(super) fn statements(&self) -> Vec<Block> {
        let fastest = self.fastest.as_ref();
        let mut blocks: Vec<Block> = fastest
            .map(|text| paragraph(strong(text)).at(Detail::Brief))
            .into_iter()
            .collect();
        let statements = List {
            style: ListStyle::Bullets,
            items: self.statements.iter().map(Statement::item).collect(),
        };
        blocks.push(Block::from(statements).at(Detail::Brief));
        blocks.push(remark(&self.noise));
        blocks
    }
}

/// What to know first: which beats all, else what is faster on most machines.
fn headline(
    fleet: &Fleet<'_>,
    comparison: &ComparisonAcross,
    fastest: Option<&Statement>,
    statements: &[Statement],
) -> Statement {
    let faster = statements.iter().rev();
    let faster = faster.filter(|statement| statement.verdict == Verdict::Faster);
    let best = fastest.or_else(|| faster.max_by_key(|statement| statement.holds));
    best.cloned().unwrap_or_else(|| {
        let text = format!(
            "Nothing was shown to be faster than {} on any {}.",
            wording::quoted(&comparison.baseline_label),
            fleet.noun()
        );
        Statement::open(Verdict::Unresolved, text)
    })
}

/// `Beats each of the others: A on 3 of 4 machines, B on host-d; no single one on host-e; not the
/// same rivals on host-f.`
fn fastest(fleet: &Fleet<'_>, comparison: &ComparisonAcross) -> Option<Statement> {
    let Fastest {
        winners,
        without,
        unlike,
    } = Fastest::of(comparison);
    let label = |id: &CellId| {
        let cell = comparison.cells.iter().find(|cell| cell.cell == *id);
        cell.map_or_else(|| id.0.clone(), |cell| wording::quoted(&cell.label))
    };
    let (_, places) = winners.first()?;
    let named = winners.iter();
    let named = named.map(|(cell, places)| format!("{} {}", label(cell), fleet.on(places)));
    let rest = [("no single one", without), ("not the same rivals", unlike)];
    let rest = rest.iter().filter(|(_, places)| !places.is_empty());
    let none: String = rest
        .map(|(text, places)| format!("; {text} {}", fleet.on_names(places)))
        .collect();
    let named = wording::list(&named.collect::<Vec<_>>());
    Some(Statement {
        verdict: Verdict::Faster,
        text: format!("Beats each of the others: {named}{none}."),
        holds: places.len(),
    })
}

/// Which cell beats each of the others, by the places of the machines.
struct Fastest<'a> {
    /// The one that does so on most machines first.
    winners: Vec<(&'a CellId, Vec<usize>)>,
    /// Where none does.
    without: Vec<usize>,
    /// Where it would have beaten other rivals.
    unlike: Vec<usize>,
}

impl<'a> Fastest<'a> {
    fn of(comparison: &'a ComparisonAcross) -> Self {
        let mut found = Self {
            winners: Vec::new(),
            without: Vec::new(),
            unlike: Vec::new(),
        };
        for (place, fastest) in comparison.fastest.iter().enumerate() {
            let Some(cell) = fastest else {
                let measured = comparison.reliable.get(place).copied().flatten();
                match comparison.complete.get(place) {
                    Some(false) => found.unlike.extend(measured.map(|_| place)),
                    _ => found.without.extend(measured.map(|_| place)),
                }
                continue;
            };
            match found.winners.iter_mut().find(|(known, _)| *known == cell) {
                Some((_, places)) => places.push(place),
                None => found.winners.push((cell, vec![place])),
            }
        }
        found
            .winners
            .sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
        found
    }
}

/// Verdicts in the order in which a sentence names them.
const ORDER: [Verdict; 7] = [
    Verdict::Faster,
    Verdict::Slower,
    Verdict::Equivalent,
    Verdict::SmallDifference,
    Verdict::Unresolved,
    Verdict::Unreliable,
    Verdict::NoData,
];

/// One cell against the baseline, on all machines.
fn statement(fleet: &Fleet<'_>, comparison: &ComparisonAcross, cell: &CellAcross) -> Statement {
    let base = wording::quoted(&comparison.baseline_label);
    let label = wording::quoted(&cell.label);
    let lead = lead(cell);
    let rest = rest(fleet, cell, lead);
    let promise = promise(comparison, cell);
    let Some(lead) = lead else {
        let text = format!(
            "No {} says whether {label} is faster than {base}: {}.{promise}",
            fleet.noun(),
            rest.join("; ")
        );
        return Statement::open(Verdict::Unresolved, text);
    };
    let places = cell.with(lead);
    let relation = match lead {
        Verdict::Faster => "faster than",
        Verdict::Slower => "slower than",
        _ => "equivalent to",
    };
    let on = sentence_start(&fleet.on(&places));
    let factor = factor(cell, lead, &places);
    let rest: String = rest.iter().map(|text| format!("; {text}")).collect();
    Statement {
        verdict: lead,
        text: format!("{on} {label} is {relation} {base}{factor}{rest}.{promise}"),
        holds: places.len(),
    }
}

/// The claim on which most machines agree; of as many, the first.
fn lead(cell: &CellAcross) -> Option<Verdict> {
    let claims = [Verdict::Faster, Verdict::Slower, Verdict::Equivalent];
    // `max_by_key` takes the last of several.
    let claims = claims.into_iter().rev();
    let lead = claims.max_by_key(|verdict| cell.with(*verdict).len());
    lead.filter(|verdict| !cell.with(*verdict).is_empty())
}

/// The other verdicts, each with where: `slower on nas (1.43 times as long)`.
fn rest(fleet: &Fleet<'_>, cell: &CellAcross, lead: Option<Verdict>) -> Vec<String> {
    let others = ORDER.into_iter().filter(|verdict| Some(*verdict) != lead);
    let texts = others.filter_map(|verdict| {
        let places = cell.with(verdict);
        let on = fleet.on_names(&places);
        let factor = factor(cell, verdict, &places);
        (!places.is_empty()).then(|| format!("{} {on}{factor}", word_of(verdict)))
    });
    texts.collect()
}

fn word_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::SmallDifference => "a small difference",
        Verdict::Unreliable => "session unreliable",
        other => wording::verdict(other),
    }
}

/// ` (0.476 to 0.666 times as long)`: from the least to the most of the machines' own estimates, as
/// the tables have them.
fn factor(cell: &CellAcross, verdict: Verdict, places: &[usize]) -> String {
    let claims_a_side = matches!(verdict, Verdict::Faster | Verdict::Slower);
    let Some((low, high)) = cell.range(places).filter(|_| claims_a_side) else {
        return String::new();
    };
    let (from, to) = (format::ratio(low), format::ratio(high));
    if from == to {
        return format!(" ({from} times as long)");
    }
    format!(" ({from} to {to} times as long)")
}

/// ` It promises less: none against durable.`; nothing where both promise the same.
fn promise(comparison: &ComparisonAcross, cell: &CellAcross) -> String {
    let mut cells = comparison.cells.iter();
    let baseline = cells.find(|other| other.cell == comparison.baseline);
    let theirs = baseline.and_then(|baseline| baseline.durability);
    let Some((ours, theirs)) = cell.durability.zip(theirs) else {
        return String::new();
    };
    let covers = |one: DurabilityClaim, other| one.covers(&other);
    let than = match (covers(ours, theirs), covers(theirs, ours)) {
        (true, true) => return String::new(),
        (false, true) => "less",
        (true, false) => "more",
        (false, false) => "something else",
    };
    format!(" It promises {than}: {ours} against {theirs}.")
}

/// What the identical cells showed, over all machines.
fn noise(fleet: &Fleet<'_>, comparison: &ComparisonAcross) -> String {
    let reliable = comparison.reliable.iter().enumerate();
    let unreliable = reliable.filter(|(_, reliable)| **reliable == Some(false));
    let unreliable: Vec<usize> = unreliable.map(|(place, _)| place).collect();
    // Of the machines that the statements are of.
    let counted = fleet.analyses.iter().zip(&comparison.reliable);
    let counted = counted.filter(|(_, reliable)| reliable.is_some());
    let outcomes = counted.flat_map(|(analysis, _)| &analysis.comparisons);
    let outcomes: Vec<_> = outcomes.filter(|o| o.id == comparison.id).collect();
    let differed = noise::noise(&outcomes).map_or_else(
        || "Noise is unknown: no control has rounds enough".to_owned(),
        |noise| format!("{} by {noise}", format::capital(TWICE_DIFFERED)),
    );
    match unreliable.as_slice() {
        [] => format!("{differed}."),
        places => format!("{differed}; nothing is claimed {}.", fleet.on_names(places)),
    }
}
