//! On how many machines each finding holds.

use super::Fleet;
use crate::advice::Advice;
use crate::cells::grouped;
use crate::document::{
    Block, Detail, Item, List, ListStyle, Section, Text, Tone, anchor, faint, listed, paragraph,
    plain, remark, strong,
};
use crate::format::capital;
use crate::{format, noise, wording};
use std::cmp::Reverse;
use stowplan_analysis::{
    CellAcross, ComparisonAcross, Kind, PromiseDifference, Promises, TWICE_DIFFERED, Verdict,
};
use stowplan_model::{CellId, Role};

/// What to know first of each comparison, of so many at most.
pub(super) fn section(fleet: &Fleet<'_>, most: usize) -> Block {
    let all: Vec<Findings> = all(fleet).collect();
    let shown = &all[..all.len().min(most)];
    let answers = List {
        style: ListStyle::Answers,
        items: shown.iter().map(|found| found.answer(fleet)).collect(),
    };
    let mut blocks = vec![Block::from(answers).at(Detail::Answer)];
    let more = format::counted(all.len() - shown.len(), "more comparison");
    blocks.extend((shown.len() < all.len()).then(|| remark(format!("and {more}"))));
    let title = format!("On how many {}s each finding holds", fleet.noun());
    let section = Section::new(title, blocks).named("overview");
    Block::from(section.in_contents("Findings")).at(Detail::Answer)
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
        let measured = comparison.reliable.iter().any(Option::is_some);
        let fastest = fastest(fleet, comparison).filter(|_| measured);
        let rivals = comparison.cells.iter();
        let rivals = rivals.filter(|cell| measured && cell.role == Role::Candidate);
        let mut statements: Vec<Statement> = rivals
            .map(|cell| statement(fleet, comparison, cell))
            .collect();
        let mut headline = headline(fleet, comparison, fastest.as_ref());
        if !measured {
            let text = format!("Not measured on any {}.", fleet.noun());
            headline = Statement::open(Verdict::NoData, text);
            statements.push(headline.clone());
        }
        Self {
            id: comparison.id.clone(),
            title: comparison.title.clone(),
            headline,
            fastest: fastest.map(|fastest| fastest.text),
            statements,
            noise: match measured {
                true => noise(fleet, comparison),
                false => "Noise is unknown.".to_owned(),
            },
        }
    }

    /// What to know first, with the number of machines on which it holds.
    fn answer(&self, fleet: &Fleet<'_>) -> Item {
        let (holds, all) = (self.headline.holds, fleet.machines().len());
        let figure = strong(format!("{holds} of {all}")).then(faint(format!(" {}s", fleet.noun())));
        let figure = if holds > 0 { figure } else { Text::default() };
        Item {
            title: plain(&self.title).linked(&format!("#{}", anchor("finding", &self.id))),
            note: faint(&self.noise),
            figure,
            ..self.headline.item()
        }
    }

    /// Every sentence.
    pub(super) fn statements(&self) -> Vec<Block> {
        let fastest = self.fastest.as_ref();
        let fastest = fastest.map(|text| paragraph(strong(text)));
        let statements = listed(self.statements.iter().map(Statement::item).collect());
        let blocks = fastest.into_iter().chain(statements);
        blocks.chain([remark(&self.noise)]).collect()
    }
}

/// What to know first: which beats all, else what each machine's own report recommends.
fn headline(
    fleet: &Fleet<'_>,
    comparison: &ComparisonAcross,
    fastest: Option<&Statement>,
) -> Statement {
    let best = fastest.cloned();
    let best = best.or_else(|| recommended(fleet, comparison));
    best.unwrap_or_else(|| {
        let text = format!(
            "Nothing was shown to be faster than {} on any {}.",
            wording::quoted(&comparison.baseline_label),
            fleet.noun()
        );
        Statement::open(Verdict::Unresolved, text)
    })
}

/// `On 2 of 3 machines: prefer A to B; on host-c: measure again.`: what the reports of those where it
/// was measured say, the most frequent choice first; nothing where none recommends one for its speed.
fn recommended(fleet: &Fleet<'_>, comparison: &ComparisonAcross) -> Option<Statement> {
    let machines = fleet.analyses.iter().zip(&comparison.reliable).enumerate();
    let measured = machines.filter(|(_, (_, reliable))| reliable.is_some());
    let mut said = grouped(measured.filter_map(|(place, (analysis, _))| {
        let mut comparisons = analysis.comparisons.iter();
        let found = comparisons.find(|found| found.id == comparison.id)?;
        let answer = Advice::of(analysis, found).phrase();
        Some(((is_faster(found.recommendation.kind), answer), place))
    }));
    said.sort_by_key(|((is_faster, _), places)| Reverse((*is_faster, places.len())));
    let (((is_faster, first), places), rest) = said.split_first()?;
    let first = format!("{}: {first}", capital(&fleet.on(places)));
    let rest = rest.iter();
    let rest = rest.map(|((_, answer), places)| format!("{}: {answer}", fleet.on_names(places)));
    let texts: Vec<String> = [first].into_iter().chain(rest).collect();
    is_faster.then(|| Statement {
        verdict: Verdict::Faster,
        text: format!("{}.", texts.join("; ")),
        holds: places.len(),
    })
}

/// Whether it names a cell that is faster than another.
fn is_faster(kind: Kind) -> bool {
    matches!(kind, Kind::Use | Kind::Stay | Kind::Prefer | Kind::Depends)
}

/// `Beats each of the others: A on 3 of 4 machines, B on host-d; no single one on host-e; not the
/// same rivals on host-f.`
fn fastest(fleet: &Fleet<'_>, comparison: &ComparisonAcross) -> Option<Statement> {
    let label = |id: &CellId| {
        let cell = comparison.cells.iter().find(|cell| cell.cell == *id);
        cell.map_or_else(|| id.0.clone(), |cell| wording::quoted(&cell.label))
    };
    let places = comparison.fastest.iter().enumerate();
    let mut winners = grouped(places.filter_map(|(place, cell)| Some((cell.as_ref()?, place))));
    // The one that is ahead on most machines first.
    winners.sort_by_key(|(_, places)| Reverse(places.len()));
    let (_, holds) = winners.first()?;
    let named = winners.iter();
    let named = named.map(|(cell, places)| format!("{} {}", label(cell), fleet.on(places)));
    let named = wording::list(&named.collect::<Vec<_>>());
    let without = |complete: bool| {
        let places = (0..fleet.machines().len()).filter(|place| {
            let measured = comparison.reliable[*place].is_some();
            let none = comparison.fastest[*place].is_none();
            measured && none && comparison.complete[*place] == complete
        });
        places.collect::<Vec<usize>>()
    };
    let rest = [
        ("no single one", without(true)),
        ("not the same rivals", without(false)),
    ];
    let rest = rest.iter().filter(|(_, places)| !places.is_empty());
    let none: String = rest
        .map(|(text, places)| format!("; {text} {}", fleet.on_names(places)))
        .collect();
    Some(Statement {
        verdict: Verdict::Faster,
        text: format!("Beats each of the others: {named}{none}."),
        holds: holds.len(),
    })
}

/// Verdicts in the order in which a sentence names them, those that claim something first.
const ORDER: [Verdict; 7] = [
    Verdict::Faster,
    Verdict::Slower,
    Verdict::Equivalent,
    Verdict::SmallDifference,
    Verdict::Unresolved,
    Verdict::Unreliable,
    Verdict::NoData,
];

/// One cell against the baseline, on all machines: the claim on which most agree (of as many, the
/// first), then the other verdicts, each with where: `slower on nas (1.43 times as long)`.
fn statement(fleet: &Fleet<'_>, comparison: &ComparisonAcross, cell: &CellAcross) -> Statement {
    let base = wording::quoted(&comparison.baseline_label);
    let label = wording::quoted(&cell.label);
    let claims = ORDER[..3]
        .iter()
        .map(|verdict| (*verdict, cell.with(*verdict)));
    // Of as many, this takes the last.
    let lead = claims.rev().max_by_key(|(_, places)| places.len());
    let lead = lead.filter(|(_, places)| !places.is_empty());
    let others = ORDER
        .into_iter()
        .filter(|verdict| lead.as_ref().is_none_or(|l| l.0 != *verdict));
    let others = others.map(|verdict| (verdict, cell.with(verdict)));
    let others = others.filter(|(_, places)| !places.is_empty());
    let others = others.map(|(verdict, places)| {
        let (on, factor) = (fleet.on_names(&places), factor(cell, verdict, &places));
        format!("{} {on}{factor}", word_of(verdict))
    });
    let others = others.collect::<Vec<_>>().join("; ");
    let aside = [promise(comparison, cell), work(cell)].concat();
    let Some((lead, places)) = lead else {
        let text = format!(
            "No {} says whether {label} is faster than {base}: {others}.{aside}",
            fleet.noun()
        );
        return Statement::open(Verdict::Unresolved, text);
    };
    let relation = match lead {
        Verdict::Faster => "faster than",
        Verdict::Slower => "slower than",
        _ => "equivalent to",
    };
    let (on, factor) = (capital(&fleet.on(&places)), factor(cell, lead, &places));
    let semicolon = if others.is_empty() { "" } else { "; " };
    Statement {
        verdict: lead,
        text: format!("{on} {label} is {relation} {base}{factor}{semicolon}{others}.{aside}"),
        holds: places.len(),
    }
}

fn word_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::SmallDifference => "a small difference",
        Verdict::Unreliable => "session unreliable",
        other => wording::verdict(other),
    }
}

/// ` (1.41 to 2.10 times as fast)` or ` (1.43 times as long)`, in the direction of the verdict: from
/// the least to the most of the machines' own estimates.
fn factor(cell: &CellAcross, verdict: Verdict, places: &[usize]) -> String {
    let claims_a_side = matches!(verdict, Verdict::Faster | Verdict::Slower);
    let Some((low, high)) = cell.range(places).filter(|_| claims_a_side) else {
        return String::new();
    };
    let (low, high, way) = match verdict {
        Verdict::Faster => (1.0 / high, 1.0 / low, "fast"),
        _ => (low, high, "long"),
    };
    let (from, to) = (format::ratio(low), format::ratio(high));
    if from == to {
        return format!(" ({from} times as {way})");
    }
    format!(" ({from} to {to} times as {way})")
}

/// ` It promises less: none against durable.`; nothing where both promise the same.
fn promise(comparison: &ComparisonAcross, cell: &CellAcross) -> String {
    let mut cells = comparison.cells.iter();
    let baseline = cells.find(|other| other.cell == comparison.baseline);
    let theirs = baseline.and_then(|baseline| baseline.durability);
    let both = cell.durability.zip(theirs);
    let Some(found) = both.and_then(|(ours, theirs)| PromiseDifference::between(ours, theirs))
    else {
        return String::new();
    };
    let than = match found.is {
        Promises::Less => "less",
        Promises::More => "more",
        Promises::SomethingElse => "something else",
    };
    format!(
        " It promises {than}: {} against {}.",
        found.ours, found.theirs
    )
}

/// ` It does other work: one thread against 4 threads.`; nothing where both do the same.
fn work(cell: &CellAcross) -> String {
    match wording::other_work(&cell.work) {
        same if same.is_empty() => same,
        work => format!(" It does other work: {work}."),
    }
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
