//! What a [`Crossover`] claims, as the ranges that a side wins and those that are open: what its
//! sentences are made of.

use stowplan_analysis::{Crossover, Finding, Side, SizeRange, Standing};

/// What a sweep, or a row of a matrix, claims of the order of two sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Order {
    /// Stretches, each from an end of what was measured on, whose every size one side wins.
    Stretches {
        /// The sizes measured.
        range: SizeRange,
        /// One or two, rising; two are won by different sides.
        won: Vec<Stretch>,
    },
    /// One side wins at some sizes, and the other nowhere.
    OneSided {
        /// The side.
        side: Side,
        /// The sizes measured.
        range: SizeRange,
        /// Those at which it wins, where not all but the open ones are meant.
        wins: Vec<u64>,
        /// Those at which it is not shown to win; if there are none, it is nowhere slower by more
        /// than what does not matter.
        open: Vec<u64>,
    },
    /// No side wins anywhere.
    Even {
        /// The sizes measured.
        range: SizeRange,
        /// Those at which equivalence is not shown either.
        open: Vec<u64>,
    },
    /// Something is decided, but not at an end, or the order changes back and forth.
    Unordered {
        /// The sizes measured.
        range: SizeRange,
        /// Whether both ends are won.
        changes_back: bool,
    },
    /// Nothing is decided at any size.
    Undecided,
}

/// A range whose every measured size one side wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    /// Who wins.
    pub(super) side: Side,
    /// Where.
    pub(super) range: SizeRange,
}

/// What stretches leave open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Open {
    /// Between the two.
    Between(SizeRange),
    /// Above the only one.
    Above(SizeRange),
    /// Below the only one.
    Below(SizeRange),
}

impl Order {
    /// What this finding claims.
    pub(super) fn of(finding: &Crossover) -> Self {
        let Some(range) = range(finding) else {
            return Self::Undecided;
        };
        match finding {
            Crossover::Zone { .. }
            | Crossover::Throughout { .. }
            | Crossover::WinsBelow { .. }
            | Crossover::WinsAbove { .. } => Self::Stretches {
                range,
                won: stretches(finding),
            },
            Crossover::NeverSlower { side, wins, .. } => Self::OneSided {
                side: *side,
                range,
                wins: wins.clone(),
                open: Vec::new(),
            },
            Crossover::BothEnds { winner, except, .. } => Self::OneSided {
                side: *winner,
                range,
                wins: Vec::new(),
                open: sizes(except),
            },
            Crossover::Equivalent { .. } => Self::Even {
                range,
                open: Vec::new(),
            },
            Crossover::NobodyWins { except, .. } => Self::Even {
                range,
                open: sizes(except),
            },
            Crossover::NoOrder { evidence } if undecided(evidence) => Self::Undecided,
            Crossover::NoOrder { evidence } => Self::Unordered {
                range,
                changes_back: [evidence.first(), evidence.last()].iter().all(is_won),
            },
        }
    }

    /// What its stretches leave open; nothing if there are none, or if they leave nothing.
    pub(super) fn open(&self) -> Option<Open> {
        let Self::Stretches { range, won } = self else {
            return None;
        };
        let between = |from: u64, to: u64| SizeRange { from, to };
        match won.as_slice() {
            [smaller, larger] => Some(Open::Between(between(smaller.range.to, larger.range.from))),
            [only] if only.range.to < range.to => {
                Some(Open::Above(between(only.range.to, range.to)))
            }
            [only] if only.range.from > range.from => {
                Some(Open::Below(between(range.from, only.range.from)))
            }
            _ => None,
        }
    }
}

impl Open {
    /// Within which sizes, the ends of what is won included.
    pub(super) fn range(self) -> SizeRange {
        match self {
            Self::Between(range) | Self::Above(range) | Self::Below(range) => range,
        }
    }
}

fn range(finding: &Crossover) -> Option<SizeRange> {
    match finding {
        Crossover::Zone { from, to, .. }
        | Crossover::Throughout { from, to, .. }
        | Crossover::NeverSlower { from, to, .. }
        | Crossover::Equivalent { from, to }
        | Crossover::NobodyWins { from, to, .. }
        | Crossover::BothEnds { from, to, .. }
        | Crossover::WinsBelow { from, to, .. }
        | Crossover::WinsAbove { from, to, .. } => Some(SizeRange {
            from: *from,
            to: *to,
        }),
        Crossover::NoOrder { evidence } => Some(SizeRange {
            from: evidence.first()?.size,
            to: evidence.last()?.size,
        }),
    }
}

fn stretches(finding: &Crossover) -> Vec<Stretch> {
    let stretch = |side, from, to| Stretch {
        side,
        range: SizeRange { from, to },
    };
    match *finding {
        Crossover::Zone {
            smaller: side,
            from,
            low,
            high,
            to,
            ..
        } => vec![stretch(side, from, low), stretch(side.other(), high, to)],
        Crossover::Throughout { winner, from, to } => vec![stretch(winner, from, to)],
        Crossover::WinsBelow {
            winner, from, low, ..
        } => vec![stretch(winner, from, low)],
        Crossover::WinsAbove {
            winner, high, to, ..
        } => vec![stretch(winner, high, to)],
        _ => Vec::new(),
    }
}

fn sizes(findings: &[Finding]) -> Vec<u64> {
    findings.iter().map(|finding| finding.size).collect()
}

fn undecided(evidence: &[Finding]) -> bool {
    let mut evidence = evidence.iter();
    evidence.all(|finding| finding.standing == Standing::Undecided)
}

fn is_won(finding: &Option<&Finding>) -> bool {
    finding.is_some_and(|finding| matches!(finding.standing, Standing::Wins(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::crossover::testing::points;
    use proptest::prelude::*;
    use stowplan_analysis::crossover;

    proptest! {
        #[test]
        fn stretches_are_what_the_finding_claims_and_no_more(letters in "[AB?=.]{1,8}") {
            let points = points(&letters);
            let finding = crossover(&points);
            let order = Order::of(&finding);
            let Order::Stretches { won, .. } = &order else {
                return Ok(());
            };
            for point in &points {
                let within = |range: SizeRange| (range.from..=range.to).contains(&point.size);
                let side = won.iter().find(|stretch| within(stretch.range));
                let side = side.map(|stretch| stretch.side);
                prop_assert_eq!(side, finding.winner_at(point.size), "{}", letters);
                let is_open = order.open().is_some_and(|open| within(open.range()));
                prop_assert!(side.is_some() || is_open, "{}", letters);
            }
        }
    }
}
