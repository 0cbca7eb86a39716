//! What turns the order of two cells: the smallest set of factors with which it is shown to be the one that
//! was published, or the opposite of what it is without any.

use crate::{
    ALPHA_PER_LOOK, CellSummary, ComparisonOutcome, ContrastOutcome, Verdict, builds::Paired,
    charts, judge::Judge,
};
use serde::Serialize;
use std::collections::BTreeSet;
use stowplan_model::{DurabilityClaim, Pair, Plan, Try, Turn};

/// What was found about turning one pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TurnOutcome {
    /// What was to be turned.
    pub turn: Turn,
    /// The label of its cell.
    pub cell: String,
    /// The label of the other one.
    pub reference: String,
    /// The verdict that would be the order looked for: faster or slower. Nothing where none was published
    /// and both are not shown to differ.
    pub wanted: Option<Verdict>,
    /// What was tried and can be measured, the smallest sets first.
    pub tries: Vec<TryOutcome>,
    /// What that comes to.
    pub answer: TurnAnswer,
}

/// A pair with some factors.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TryOutcome {
    /// The factors.
    pub factors: Vec<String>,
    /// The ratio and its verdict, by the rules of every other.
    pub contrast: ContrastOutcome,
    /// Headline time of the cell and of the other one, nanoseconds.
    pub times_ns: [Option<f64>; 2],
    /// Whether it is shown to be the order looked for, with the rate of errors divided among all sets
    /// that were tried (Holm 1979).
    pub turned: bool,
    /// What the cell and the other one promise for what they write, where that is something else than
    /// without the factors.
    pub promises: Option<[DurabilityClaim; 2]>,
}

/// What trying comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TurnAnswer {
    /// Nothing can be said: without factors there is no verdict, or nothing to turn.
    Open,
    /// Without any factor the order is the published one.
    Agrees,
    /// The smallest sets of factors that turn it, the one that turns it furthest first.
    Turned {
        /// Each by the names of its factors.
        sets: Vec<Vec<String>>,
        /// Smaller sets, or others of that size, that were neither shown to turn it nor not to.
        undecided: usize,
    },
    /// No set that was tried turns it.
    NotTurned {
        /// How many sets were tried.
        tried: usize,
        /// Those of them that were not decided.
        undecided: usize,
        /// Factors that the largest of them has.
        largest: usize,
    },
}

impl TurnOutcome {
    /// The comparisons that its figures come from.
    #[must_use]
    pub fn constituents(&self) -> BTreeSet<String> {
        let ids = self.tries.iter().map(|tried| &tried.contrast.cell.0);
        let ids = ids.filter_map(|id| id.split('/').next());
        ids.map(str::to_owned).collect()
    }

    /// How many factors a set has that should be tried next; nothing where trying is over.
    #[must_use]
    pub fn next_size(&self) -> Option<usize> {
        let TurnAnswer::NotTurned { largest, .. } = self.answer else {
            return None;
        };
        (largest < self.turn.factors.len()).then_some(largest + 1)
    }
}

/// Whether a pair is shown to be in another order than was published, or in none. Nothing was published:
/// whether it has an order at all.
#[must_use]
pub fn differs(pair: &Pair, comparisons: &[ComparisonOutcome]) -> bool {
    let id = |key: &str| format!("{}/{key}", pair.comparison);
    let (cell, reference) = (id(&pair.cell), id(&pair.reference));
    let contrasts = comparisons.iter().flat_map(|c| &c.contrasts);
    let found = contrasts.filter_map(|contrast| {
        let sides = (contrast.cell.0.as_str(), contrast.reference.0.as_str());
        match () {
            () if sides == (&cell, &reference) => Some(contrast.verdict),
            () if sides == (&reference, &cell) => Some(contrast.verdict.inverse()),
            () => None,
        }
    });
    let verdict = found.into_iter().next().unwrap_or(Verdict::NoData);
    match &pair.published {
        Some(published) => verdict.is_decided() && verdict != as_published(published.is_slower()),
        None => matches!(verdict, Verdict::Faster | Verdict::Slower),
    }
}

fn as_published(is_slower: bool) -> Verdict {
    match is_slower {
        true => Verdict::Slower,
        false => Verdict::Faster,
    }
}

/// One outcome for each pair of a plan that has tries.
pub(crate) fn outcomes(plan: &Plan, judged: &[(Judge<'_>, ComparisonOutcome)]) -> Vec<TurnOutcome> {
    let turning = plan.turning.as_ref();
    let turns = turning.map_or(&[][..], |turning| &turning.turns);
    let tries = turning.map_or(&[][..], |turning| &turning.tries);
    turns
        .iter()
        .filter_map(|turn| {
            let own = tries.iter().filter(|attempt| attempt.turn == turn.id);
            let measured: Vec<Tried<'_>> = own.filter_map(|own| Tried::of(own, judged)).collect();
            outcome(turn, measured)
        })
        .collect()
}

/// A try, where it was measured, and what its ratio is.
struct Tried<'a> {
    tried: &'a Try,
    judge: &'a Judge<'a>,
    outcome: &'a ComparisonOutcome,
    contrast: ContrastOutcome,
}

impl<'a> Tried<'a> {
    fn of(tried: &'a Try, judged: &'a [(Judge<'a>, ComparisonOutcome)]) -> Option<Self> {
        let mut judged = judged.iter();
        let (judge, outcome) = judged.find(|(_, outcome)| outcome.id == tried.comparison())?;
        let cell = judge.comparison.cell(&tried.cell)?;
        let reference = judge.comparison.cell(&tried.reference)?;
        Some(Self {
            tried,
            judge,
            outcome,
            contrast: charts::contrast(cell, reference, judge, outcome),
        })
    }

    /// The rounds that its verdict rests on.
    fn rounds(&self) -> Vec<Paired> {
        self.judge.rounds(&self.tried.cell, &self.tried.reference)
    }

    fn promises(&self) -> Option<[DurabilityClaim; 2]> {
        let promise = |id| self.outcome.cell(id)?.promise();
        Some([promise(&self.tried.cell)?, promise(&self.tried.reference)?])
    }
}

fn outcome(turn: &Turn, measured: Vec<Tried<'_>>) -> Option<TurnOutcome> {
    let plain = measured
        .iter()
        .find(|tried| tried.tried.factors.is_empty())?;
    let label = |id| {
        let summary = plain.outcome.cell(id);
        summary.map_or_else(String::new, |summary| summary.cell.label.clone())
    };
    let (cell, reference) = (label(&plain.tried.cell), label(&plain.tried.reference));
    let before = plain.contrast.verdict;
    let promised = plain.promises();
    let wanted = match (&turn.published, before) {
        (Some(published), _) => Some(as_published(published.is_slower())),
        (None, Verdict::Faster | Verdict::Slower) => Some(before.inverse()),
        (None, _) => None,
    };
    let turning = turned(&measured, wanted);
    let tries: Vec<TryOutcome> = measured
        .iter()
        .zip(turning)
        .map(|(tried, turned)| {
            let time = |id| tried.outcome.cell(id).and_then(CellSummary::headline_ns);
            TryOutcome {
                factors: tried.tried.factors.clone(),
                contrast: tried.contrast.clone(),
                times_ns: [time(&tried.tried.cell), time(&tried.tried.reference)],
                turned,
                promises: tried.promises().filter(|now| Some(*now) != promised),
            }
        })
        .collect();
    let answer = answer(&tries, before, wanted);
    Some(TurnOutcome {
        turn: turn.clone(),
        cell,
        reference,
        wanted,
        tries,
        answer,
    })
}

/// Which tries are shown to be in the order looked for: those with factors as one family, by Holm's
/// step-down; each needs its verdict besides.
#[expect(clippy::cast_precision_loss, reason = "a number of sets")]
fn turned(measured: &[Tried<'_>], wanted: Option<Verdict>) -> Vec<bool> {
    let mut turned = vec![false; measured.len()];
    let Some(wanted) = wanted else {
        return turned;
    };
    let family: Vec<(usize, &Tried<'_>, Vec<Paired>)> = measured
        .iter()
        .enumerate()
        .filter(|(_, tried)| !tried.tried.factors.is_empty())
        .filter(|(_, tried)| tried.contrast.estimate.is_some())
        .map(|(at, tried)| (at, tried, tried.rounds()))
        .collect();
    loop {
        let found = turned.iter().filter(|turned| **turned).count();
        let left = family.len().saturating_sub(found).max(1);
        let alpha = ALPHA_PER_LOOK / left as f64;
        for (at, tried, rounds) in &family {
            let holds = || tried.judge.verdict_at(rounds, alpha) == wanted;
            turned[*at] = turned[*at] || (tried.contrast.verdict == wanted && holds());
        }
        if turned.iter().filter(|turned| **turned).count() == found {
            return turned;
        }
    }
}

fn answer(tries: &[TryOutcome], before: Verdict, wanted: Option<Verdict>) -> TurnAnswer {
    let shown = before.is_decided() || before == Verdict::SmallDifference;
    let Some(wanted) = wanted.filter(|_| shown) else {
        return TurnAnswer::Open;
    };
    if before == wanted {
        return TurnAnswer::Agrees;
    }
    let with_factors = || tries.iter().filter(|tried| !tried.factors.is_empty());
    let open = |tried: &&TryOutcome| {
        let verdict = tried.contrast.verdict;
        let open = matches!(
            verdict,
            Verdict::Unresolved | Verdict::Unreliable | Verdict::NoData
        );
        open || (verdict == wanted && !tried.turned)
    };
    let turned = with_factors().filter(|tried| tried.turned);
    let Some(smallest) = turned.clone().map(|tried| tried.factors.len()).min() else {
        return TurnAnswer::NotTurned {
            tried: with_factors().count(),
            undecided: with_factors().filter(open).count(),
            largest: with_factors()
                .map(|tried| tried.factors.len())
                .max()
                .unwrap_or(1),
        };
    };
    let mut sets: Vec<&TryOutcome> = turned.filter(|t| t.factors.len() == smallest).collect();
    let ratio = |tried: &TryOutcome| tried.contrast.estimate.map_or(1.0, |e| e.ratio);
    sets.sort_by(|a, b| match wanted {
        Verdict::Slower => ratio(b).total_cmp(&ratio(a)),
        _ => ratio(a).total_cmp(&ratio(b)),
    });
    let undecided = with_factors().filter(|tried| tried.factors.len() <= smallest);
    TurnAnswer::Turned {
        sets: sets
            .into_iter()
            .map(|tried| tried.factors.clone())
            .collect(),
        undecided: undecided.filter(open).count(),
    }
}

/// The comparisons that only turn something.
pub(crate) fn comparisons(plan: &Plan) -> impl Iterator<Item = String> + '_ {
    let tries = plan.turning.iter().flat_map(|turning| &turning.tries);
    tries.map(|tried| tried.comparison().to_owned())
}
