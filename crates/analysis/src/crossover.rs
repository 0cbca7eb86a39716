//! Where the order of two stores changes with the size of the values (METHOD "Crossover").
//!
//! The ratio of two stores is not monotone in the size (pages, folios), so a crossing found by
//! bisection is an arbitrary one of several, and an interval around it is false precision. What
//! is said instead is a *zone*: up to here one side wins at every measured size, from there on
//! the other does, and between nothing is claimed. All of it rests on the verdicts of the
//! sizes.
//!
//! What belongs here: pure functions from points of a sweep to sizes and findings. What does
//! not: measuring the points, and wording a finding.

mod refine;
mod rules;

pub use refine::{RefineLimits, SweepError, refine, sweep};
pub use rules::leads;

use crate::{ContrastOutcome, RatioEstimate, Verdict};
use serde::Serialize;
use std::collections::BTreeSet;

/// One size of a sweep: how store B compared with store A there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SweepPoint {
    /// Size of the values, bytes; at least 1.
    pub size: u64,
    /// Time of B over time of A: above 1, A is faster.
    pub estimate: Option<RatioEstimate>,
    /// The verdict on that ratio, by stopping rule and gate: `Slower` says that A wins, and
    /// `Unreliable` (or no estimate) that the size says nothing.
    pub verdict: Verdict,
}

impl SweepPoint {
    /// The point of a contrast whose cell is B and whose reference is A.
    #[must_use]
    pub fn of(size: u64, contrast: Option<&ContrastOutcome>) -> Self {
        Self {
            size,
            estimate: contrast.and_then(|contrast| contrast.estimate),
            verdict: contrast.map_or(Verdict::NoData, |contrast| contrast.verdict),
        }
    }

    /// What may be said about this size. A verdict whose interval does not bear it out, or that
    /// has none, says nothing.
    fn standing(&self) -> Standing {
        let Some(estimate) = self.estimate else {
            return Standing::Undecided;
        };
        match self.verdict {
            Verdict::Slower if estimate.low > 1.0 => Standing::Wins(Side::A),
            Verdict::Faster if estimate.high < 1.0 => Standing::Wins(Side::B),
            Verdict::SmallDifference if estimate.low > 1.0 => Standing::Leans(Side::A),
            Verdict::SmallDifference if estimate.high < 1.0 => Standing::Leans(Side::B),
            Verdict::Equivalent => Standing::Equivalent,
            _ => Standing::Undecided,
        }
    }

    /// The logarithm of the ratio, where there is a figure that has one.
    fn ln_ratio(&self) -> Option<f64> {
        let ln = self.estimate?.ratio.ln();
        ln.is_finite().then_some(ln)
    }
}

/// One of the two stores of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The denominator of the ratio.
    A,
    /// The numerator of the ratio.
    B,
}

/// What may be said about one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// This side is faster by more than δ: the whole widened interval lies outside ±δ.
    Wins(Side),
    /// This side is faster, perhaps by no more than δ: the interval excludes 1 and overlaps the
    /// edge of the equivalence zone.
    Leans(Side),
    /// They differ by less than δ.
    Equivalent,
    /// Nothing: unresolved, an unreliable session, no figure, or several that disagree.
    Undecided,
}

impl Standing {
    fn winner(self) -> Option<Side> {
        match self {
            Self::Wins(side) => Some(side),
            _ => None,
        }
    }

    /// Whether this shows that `side` is not slower by more than δ.
    fn clears(self, side: Side) -> bool {
        match self {
            Self::Wins(ahead) | Self::Leans(ahead) => ahead == side,
            Self::Equivalent => true,
            Self::Undecided => false,
        }
    }
}

/// A range of measured sizes, bytes, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SizeRange {
    /// Smallest.
    pub from: u64,
    /// Largest.
    pub to: u64,
}

impl SizeRange {
    /// The sizes as ranges of neighbours among all that were measured.
    #[must_use]
    pub fn of_neighbours(sizes: &BTreeSet<u64>, measured: &[u64]) -> Vec<Self> {
        let same = |a: &u64, b: &u64| sizes.contains(a) == sizes.contains(b);
        let runs = measured.chunk_by(same);
        runs.filter(|run| sizes.contains(&run[0]))
            .map(|run| Self {
                from: run[0],
                to: run[run.len() - 1],
            })
            .collect()
    }
}

/// Neighbouring measured sizes of which the same may be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Run {
    /// The sizes.
    #[serde(flatten)]
    pub sizes: SizeRange,
    /// What may be said of each.
    pub standing: Standing,
    /// Whether its win is one of the order by size. A win amid others of no order is one of single
    /// sizes only, which many sizes give by chance.
    pub claimed: bool,
}

/// What a whole sweep says: its measured sizes as runs of one standing, rising. Nothing is claimed
/// outside them, and a size without a figure is won by nobody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Crossover {
    /// The runs; none without a size.
    pub runs: Vec<Run>,
}

impl Crossover {
    /// The runs that one side is claimed to win.
    pub fn claims(&self) -> impl Iterator<Item = (Side, SizeRange)> {
        let claimed = self.runs.iter().filter(|run| run.claimed);
        claimed.filter_map(|run| Some((run.standing.winner()?, run.sizes)))
    }

    /// Whether this may be said of every size.
    pub fn all(&self, accept: impl Fn(Standing) -> bool) -> bool {
        self.runs.iter().all(|run| accept(run.standing))
    }

    /// Whether a side is shown not to be slower by more than δ at any size.
    #[must_use]
    pub fn is_never_slower(&self, side: Side) -> bool {
        self.all(|standing| standing.clears(side))
    }

    /// The sizes, ends included, within which the wins of the ends leave the order open.
    #[must_use]
    pub fn open(&self) -> Option<SizeRange> {
        let (first, last) = (self.runs.first()?, self.runs.last()?);
        let has_order = [Side::A, Side::B]
            .iter()
            .any(|side| self.is_never_slower(*side));
        if has_order || first.standing == last.standing || !(first.claimed || last.claimed) {
            return None;
        }
        let inner = |claimed, within, whole| if claimed { within } else { whole };
        Some(SizeRange {
            from: inner(first.claimed, first.sizes.to, first.sizes.from),
            to: inner(last.claimed, last.sizes.from, last.sizes.to),
        })
    }

    /// The side that is claimed to win at a measured size.
    #[must_use]
    pub fn winner_at(&self, size: u64) -> Option<Side> {
        let mut claims = self.claims();
        let found = claims.find(|(_, range)| (range.from..=range.to).contains(&size));
        found.map(|(side, _)| side)
    }

    /// Whether the win of a run, if it is one, is of the order by size.
    fn is_claimed(&self, index: usize, last: usize) -> bool {
        let standing = |index: usize| self.runs.get(index).map(|run| run.standing);
        let Some(side) = standing(index).and_then(Standing::winner) else {
            return false;
        };
        let won = Some(Standing::Wins(side));
        let both_ends = standing(0) == won && standing(last) == won;
        let alone = self.all(|standing| standing != Standing::Wins(side.other()));
        match alone {
            true if both_ends || self.is_never_slower(side) => true,
            _ => (index == 0 || index == last) && (alone || !both_ends),
        }
    }
}

impl Side {
    /// The other store.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// What a sweep says about the order of A and B, as a whole. The order of the points does not
/// matter; where a size occurs twice with unlike findings, it counts as undecided.
///
/// A win is claimed up to or from an end of what was measured, at every size of its run. Everywhere
/// it is claimed where the other side wins nowhere and either no size is in doubt or both ends are
/// won; nowhere where both ends are won and the other side wins between them.
///
/// A claim about a range needs *every* measured size of it, which is the correction for looking
/// at many: a false win carries an edge of the zone past a crossing only at the first size beyond
/// it, and only if the sizes just before it, where the true lead is within δ, are won as well.
/// Anywhere else it makes the zone wider, the safe direction (docs/method.md, "Crossover").
#[must_use]
pub fn crossover(points: &[SweepPoint]) -> Crossover {
    let runs = distinct(points);
    let runs = runs.chunk_by(|a, b| a.standing() == b.standing());
    let runs = runs.map(|run| Run {
        sizes: SizeRange {
            from: run[0].size,
            to: run[run.len() - 1].size,
        },
        standing: run[0].standing(),
        claimed: false,
    });
    let mut found = Crossover {
        runs: runs.collect(),
    };
    let last = found.runs.len().saturating_sub(1);
    let claimed = (0..=last).map(|index| found.is_claimed(index, last));
    let claimed: Vec<bool> = claimed.collect();
    for (run, claimed) in found.runs.iter_mut().zip(claimed) {
        run.claimed = claimed;
    }
    found
}

/// One point per size, by rising size. Points of one size that say different things leave it
/// without a figure: choosing among them would be choosing the answer.
fn distinct(points: &[SweepPoint]) -> Vec<SweepPoint> {
    let mut sorted = points.to_vec();
    sorted.sort_by_key(|point| point.size);
    sorted
        .chunk_by(|a, b| a.size == b.size)
        .map(|same| {
            let agree = same.iter().all(|p| p.standing() == same[0].standing());
            SweepPoint {
                estimate: same[0].estimate.filter(|_| agree),
                ..same[0]
            }
        })
        .collect()
}

#[cfg(test)]
pub(crate) mod testing;

#[cfg(test)]
mod tests;
