//! Where the order of two stores changes with the size of the values (METHOD "Crossover").
//!
//! The ratio of two stores is not monotone in the size (pages, folios), so a crossing found by
//! bisection is an arbitrary one of several, and an interval around it is false precision. What
//! is said instead is a *zone*: up to here one side wins at every measured size, from there on
//! the other does, and between nothing is claimed. All of it rests on the verdicts of the
//! sizes; the places where interpolated ratios cross 1 ([`interpolated_roots`]) are for drawing.
//!
//! What belongs here: pure functions from points of a sweep to sizes and findings. What does
//! not: measuring the points, and wording a finding.

mod refine;
mod roots;
mod rules;

pub use refine::{RefineLimits, SweepError, refine, sweep};
pub use roots::interpolated_roots;
pub use rules::{Rule, SettingSweep, SizeRange, rules_of_thumb};

use crate::{ContrastOutcome, RatioEstimate, Verdict};
use serde::Serialize;

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
    pub fn of(size: u64, contrast: &ContrastOutcome) -> Self {
        Self {
            size,
            estimate: contrast.estimate,
            verdict: contrast.verdict,
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

/// A measured size and what may be said about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Size of the values, bytes.
    pub size: u64,
    /// What may be said.
    pub standing: Standing,
}

/// What a whole sweep says. Sizes are measured ones, in bytes; `from` and `to` are the smallest
/// and the largest, and nothing is claimed outside them. A side *wins* at a size if the verdict
/// there is beyond δ ([`Standing::Wins`]); a size without a figure is won by nobody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Crossover {
    /// One side wins at every size up to `low`, the other at every size from `high` on.
    Zone {
        /// Who wins the small values.
        smaller: Side,
        /// Smallest measured size.
        from: u64,
        /// The largest size up to which `smaller` wins at every measured size.
        low: u64,
        /// The smallest size from which the other side wins at every measured size.
        high: u64,
        /// Largest measured size.
        to: u64,
        /// The sizes between `low` and `high`; either side may win at some of them.
        between: Vec<Finding>,
    },
    /// One side wins at every measured size.
    Throughout {
        /// Who wins.
        winner: Side,
        /// Smallest measured size.
        from: u64,
        /// Largest measured size.
        to: u64,
    },
    /// At no measured size is one side slower than the other by more than δ, and at some it is
    /// faster.
    NeverSlower {
        /// Who is never slower.
        side: Side,
        /// Smallest measured size.
        from: u64,
        /// Largest measured size.
        to: u64,
        /// The sizes at which it wins; none where it is faster by less than could be shown to
        /// exceed δ.
        wins: Vec<u64>,
    },
    /// Both differ by less than δ at every measured size.
    Equivalent {
        /// Smallest measured size.
        from: u64,
        /// Largest measured size.
        to: u64,
    },
    /// Neither side wins at any measured size; at some, nothing larger than δ is ruled out.
    NobodyWins {
        /// Smallest measured size.
        from: u64,
        /// Largest measured size.
        to: u64,
        /// The sizes at which they are not shown to be equivalent.
        except: Vec<Finding>,
    },
    /// One side wins at the smallest and at the largest sizes, the other nowhere, and at some
    /// sizes between them it is not shown that it wins.
    BothEnds {
        /// Who wins.
        winner: Side,
        /// Smallest measured size.
        from: u64,
        /// Largest measured size.
        to: u64,
        /// The sizes at which it is not shown to win.
        except: Vec<Finding>,
    },
    /// One side wins at every size up to `low`; above, there is no order within the range
    /// measured: no size from which either side wins on.
    WinsBelow {
        /// Who wins the small values.
        winner: Side,
        /// Smallest measured size.
        from: u64,
        /// The largest size up to which it wins at every measured size.
        low: u64,
        /// Largest measured size.
        to: u64,
        /// The sizes above `low`.
        above: Vec<Finding>,
    },
    /// One side wins at every size from `high` on; below, there is no order within the range
    /// measured.
    WinsAbove {
        /// Who wins the large values.
        winner: Side,
        /// Smallest measured size.
        from: u64,
        /// The smallest size from which it wins at every measured size.
        high: u64,
        /// Largest measured size.
        to: u64,
        /// The sizes below `high`.
        below: Vec<Finding>,
    },
    /// The order changes back and forth (one side wins at both ends, the other between), or
    /// neither end of the range is won by anybody, or nothing is decided.
    NoOrder {
        /// All sizes; empty if there are none.
        evidence: Vec<Finding>,
    },
}

impl Crossover {
    /// The smallest and the largest measured size; nothing without any.
    #[must_use]
    pub fn range(&self) -> Option<SizeRange> {
        let (from, to) = match self {
            Self::Zone { from, to, .. }
            | Self::Throughout { from, to, .. }
            | Self::NeverSlower { from, to, .. }
            | Self::Equivalent { from, to }
            | Self::NobodyWins { from, to, .. }
            | Self::BothEnds { from, to, .. }
            | Self::WinsBelow { from, to, .. }
            | Self::WinsAbove { from, to, .. } => (*from, *to),
            Self::NoOrder { evidence } => (evidence.first()?.size, evidence.last()?.size),
        };
        Some(SizeRange { from, to })
    }

    /// The stretches whose every measured size one side is claimed to win, rising: one from an end of
    /// what was measured, or one from either end.
    #[must_use]
    pub fn stretches(&self) -> Vec<(Side, SizeRange)> {
        let range = |from, to| SizeRange { from, to };
        match *self {
            Self::Zone {
                smaller: side,
                from,
                low,
                high,
                to,
                ..
            } => vec![(side, range(from, low)), (side.other(), range(high, to))],
            Self::Throughout { winner, from, to } => vec![(winner, range(from, to))],
            Self::WinsBelow {
                winner, from, low, ..
            } => vec![(winner, range(from, low))],
            Self::WinsAbove {
                winner, high, to, ..
            } => vec![(winner, range(high, to))],
            _ => Vec::new(),
        }
    }

    /// The sizes, ends included, within which stretches leave the order open.
    #[must_use]
    pub fn open(&self) -> Option<SizeRange> {
        let (from, to) = match *self {
            Self::Zone { low, high, .. } => (low, high),
            Self::WinsBelow { low, to, .. } => (low, to),
            Self::WinsAbove { from, high, .. } => (from, high),
            _ => return None,
        };
        Some(SizeRange { from, to })
    }

    /// The side that this finding claims to win at `size`, if it is a measured one of a stretch
    /// that one side wins from end to end. Single sizes inside a zone, or within what has no
    /// order, are claimed for nobody.
    #[must_use]
    pub fn winner_at(&self, size: u64) -> Option<Side> {
        match self {
            Self::NeverSlower { side, wins, .. } => wins.contains(&size).then_some(*side),
            Self::BothEnds {
                winner,
                from,
                to,
                except,
            } => {
                let shown = except.iter().all(|finding| finding.size != size);
                (shown && (*from..=*to).contains(&size)).then_some(*winner)
            }
            _ => {
                let mut stretches = self.stretches().into_iter();
                let found = stretches.find(|(_, range)| (range.from..=range.to).contains(&size));
                found.map(|(side, _)| side)
            }
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
/// A claim about a range needs *every* measured size of it, which is the correction for looking
/// at many: a false win carries an edge of the zone past a crossing only at the first size beyond
/// it, and only if the sizes just before it, where the true lead is within δ, are won as well.
/// Anywhere else it makes the zone wider, the safe direction (docs/method.md, "Crossover").
#[must_use]
pub fn crossover(points: &[SweepPoint]) -> Crossover {
    let findings: Vec<Finding> = distinct(points).iter().map(finding).collect();
    let (Some(first), Some(last)) = (findings.first(), findings.last()) else {
        return Crossover::NoOrder { evidence: findings };
    };
    let (from, to) = (first.size, last.size);
    if all(&findings, |standing| standing == Standing::Equivalent) {
        return Crossover::Equivalent { from, to };
    }
    match (first.standing.winner(), last.standing.winner()) {
        (Some(winner), _) if all(&findings, |found| found == Standing::Wins(winner)) => {
            Crossover::Throughout { winner, from, to }
        }
        _ if all(&findings, |found| found.clears(Side::A)) => never_slower(Side::A, &findings),
        _ if all(&findings, |found| found.clears(Side::B)) => never_slower(Side::B, &findings),
        (Some(smaller), Some(larger)) if smaller != larger => {
            let (low, high) = (last_won(smaller, &findings), first_won(larger, &findings));
            let between = findings.into_iter();
            Crossover::Zone {
                smaller,
                from,
                low,
                high,
                to,
                between: between.filter(|f| low < f.size && f.size < high).collect(),
            }
        }
        (Some(winner), Some(_)) if nowhere(winner.other(), &findings) => Crossover::BothEnds {
            winner,
            from,
            to,
            except: others(Standing::Wins(winner), findings),
        },
        (Some(winner), None) => {
            let low = last_won(winner, &findings);
            Crossover::WinsBelow {
                winner,
                from,
                low,
                to,
                above: findings.into_iter().filter(|f| f.size > low).collect(),
            }
        }
        (None, Some(winner)) => {
            let high = first_won(winner, &findings);
            Crossover::WinsAbove {
                winner,
                from,
                high,
                to,
                below: findings.into_iter().filter(|f| f.size < high).collect(),
            }
        }
        _ if nobody_wins(&findings) => Crossover::NobodyWins {
            from,
            to,
            except: others(Standing::Equivalent, findings),
        },
        _ => Crossover::NoOrder { evidence: findings },
    }
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

fn finding(point: &SweepPoint) -> Finding {
    Finding {
        size: point.size,
        standing: point.standing(),
    }
}

fn all(findings: &[Finding], accept: impl Fn(Standing) -> bool) -> bool {
    findings.iter().all(|finding| accept(finding.standing))
}

fn nowhere(side: Side, findings: &[Finding]) -> bool {
    all(findings, |standing| standing != Standing::Wins(side))
}

/// Whether no size is won, though something is decided.
fn nobody_wins(findings: &[Finding]) -> bool {
    let nowhere = nowhere(Side::A, findings) && nowhere(Side::B, findings);
    nowhere && !all(findings, |standing| standing == Standing::Undecided)
}

/// The findings of another standing.
fn others(standing: Standing, findings: Vec<Finding>) -> Vec<Finding> {
    let all = findings.into_iter();
    all.filter(|finding| finding.standing != standing).collect()
}

fn never_slower(side: Side, findings: &[Finding]) -> Crossover {
    let won = findings
        .iter()
        .filter(|finding| finding.standing == Standing::Wins(side));
    Crossover::NeverSlower {
        side,
        from: findings[0].size,
        to: findings[findings.len() - 1].size,
        wins: won.map(|finding| finding.size).collect(),
    }
}

/// The largest size up to which `side` wins at every size; it wins at the first.
fn last_won(side: Side, findings: &[Finding]) -> u64 {
    end_of_run(side, findings.iter())
}

/// The smallest size from which `side` wins at every size; it wins at the last.
fn first_won(side: Side, findings: &[Finding]) -> u64 {
    end_of_run(side, findings.iter().rev())
}

fn end_of_run<'a>(side: Side, findings: impl Iterator<Item = &'a Finding>) -> u64 {
    findings
        .take_while(|finding| finding.standing == Standing::Wins(side))
        .last()
        .map_or(0, |finding| finding.size)
}

#[cfg(test)]
pub(crate) mod testing;

#[cfg(test)]
mod tests;
