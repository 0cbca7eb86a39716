//! What to do on this machine: the answers of a whole run, each to one question of its study.

use crate::{
    ComparisonOutcome, Kind, MatrixOutcome, Side, SizeRange, SpaceRow, Standing, SweepOutcome,
};
use serde::Serialize;
use std::collections::BTreeSet;
use stowplan_model::CellId;

/// An answer to one question of the study.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "of", rename_all = "kebab-case")]
pub enum Answer {
    /// Of a matrix: where values belong, whatever its setting.
    Matrix {
        /// Its name in the study file.
        id: String,
        /// What to do.
        kind: Kind,
        /// The sizes of values that belong inside at every row.
        inside: Vec<SizeRange>,
        /// The sizes of values that belong outside at every row.
        outside: Vec<SizeRange>,
        /// Whether these are all its sizes.
        complete: bool,
    },
    /// Of a sweep over the size of values; its `finding` says more.
    Sweep {
        /// Its name.
        id: String,
        /// What to do.
        kind: Kind,
    },
    /// Of a comparison; its `recommendation` says more.
    Comparison {
        /// Its name in the study file.
        id: String,
        /// What to do.
        kind: Kind,
        /// The cell that is chosen.
        choice: Option<CellId>,
    },
    /// Of disk space, among the stores that the study asks about.
    Space {
        /// What to do.
        kind: Kind,
        /// Label of the store that takes the least.
        choice: String,
        /// The others that hold the same values, by rising space.
        others: Vec<MoreSpace>,
    },
}

/// A store that takes more space than the one that takes the least.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MoreSpace {
    /// Its label.
    pub label: String,
    /// Allocated bytes over those of the one that takes the least.
    pub ratio: f64,
}

pub(crate) fn more_space(row: &SpaceRow, smallest: &SpaceRow) -> Option<MoreSpace> {
    Some(MoreSpace {
        label: row.label.clone(),
        ratio: row.ratio? / smallest.ratio?,
    })
}

pub(crate) fn of_comparison(comparison: &ComparisonOutcome) -> Answer {
    Answer::Comparison {
        id: comparison.id.clone(),
        kind: comparison.recommendation.kind,
        choice: comparison.recommendation.choice.clone(),
    }
}

pub(crate) fn of_matrix(outcome: &MatrixOutcome) -> Answer {
    let claims = outcome.claims_anything() && outcome.same_durability;
    let [inside, outside] = [Side::A, Side::B].map(|side| match claims {
        true => outcome.won_at_every_row(side),
        false => Vec::new(),
    });
    let covered = |size: &&u64| {
        let mut ranges = inside.iter().chain(&outside);
        ranges.any(|range| (range.from..=range.to).contains(size))
    };
    let complete = outcome.columns.iter().filter(covered).count() >= outcome.columns.len();
    let one_side = inside.is_empty() != outside.is_empty();
    let kind = match (claims, one_side && complete) {
        (false, _) => Kind::Open,
        (true, true) => Kind::Prefer,
        (true, false) => Kind::BySize,
    };
    Answer::Matrix {
        id: outcome.id.clone(),
        kind,
        inside,
        outside,
        complete,
    }
}

pub(crate) fn of_sweep(outcome: &SweepOutcome) -> Answer {
    Answer::Sweep {
        id: outcome.sweep.id.clone(),
        kind: kind_of_sweep(outcome),
    }
}

fn kind_of_sweep(outcome: &SweepOutcome) -> Kind {
    let finding = &outcome.finding;
    let is_won = |standing| matches!(standing, Standing::Wins(_));
    let mut sides = [Side::A, Side::B].into_iter();
    match finding.runs.as_slice() {
        // As for a comparison, none is called the fastest.
        _ if !outcome.same_durability => Kind::Open,
        _ if finding.all(|standing| standing == Standing::Undecided) => Kind::Open,
        [run] if run.standing == Standing::Equivalent => Kind::Equivalent,
        _ if !finding.runs.iter().any(|run| is_won(run.standing)) => Kind::Keep,
        _ if finding.claims().next().is_none() => Kind::Open,
        [_] if outcome.is_complete() => Kind::Use,
        // Not throughout the sizes that were asked for.
        [_] => Kind::BySize,
        _ if sides.any(|side| finding.is_never_slower(side)) => Kind::Prefer,
        _ => Kind::BySize,
    }
}

impl SweepOutcome {
    /// Whether every size that was planned was at least tried.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.points.len() == self.planned.len()
    }
}

impl MatrixOutcome {
    /// Whether a row claims a side at any size.
    #[must_use]
    pub fn claims_anything(&self) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| {
            let mut sizes = self.columns.iter();
            sizes.any(|size| rule.crossover.winner_at(*size).is_some())
        })
    }

    /// The measured sizes at which every row claims this side, as ranges of neighbours.
    #[must_use]
    pub fn won_at_every_row(&self, side: Side) -> Vec<SizeRange> {
        let claimed = |size: &&u64| {
            let mut rules = self.rules.iter();
            rules.all(|rule| rule.crossover.winner_at(**size) == Some(side))
        };
        let sizes: BTreeSet<u64> = self.columns.iter().filter(claimed).copied().collect();
        SizeRange::of_neighbours(&sizes, &self.measured)
    }
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
