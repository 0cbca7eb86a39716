//! Builds as a source of noise: two builds of the same data differ in what reading them costs, and
//! all rounds on one build share that, so that no number of them averages it away.

use crate::{
    StoppingRule,
    blocks::Blocks,
    compare::student,
    estimate::median,
    stationarity::centred_ranks,
    stopping::{self, Noise},
};
use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_model::{Comparison, Measurement};

/// With so many degrees of freedom Student's distribution is the normal one.
const NORMAL: f64 = 1e6;

/// The logarithm of a ratio in one round, and the builds that its two blocks met.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Paired {
    pub(crate) round: u32,
    /// `ln(x_cell / x_reference)`.
    pub(crate) difference: f64,
    /// Build of the cell's store and of the reference's; nothing where each block makes its own, or
    /// the record does not tell.
    pub(crate) builds: [Option<u32>; 2],
}

/// The builds that a ratio was measured on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Builds {
    /// How many: of that store of the two that has fewer.
    pub count: usize,
    /// Whether they differ by more than rounds on the same builds do; the deviation is then above 0.
    pub differ: bool,
    /// Standard deviation of the ratio from build to build of both stores, as a natural logarithm: what its own
    /// show, the noise of rounds subtracted, with a part of what all stores of the comparison do. Nothing with a
    /// single build.
    pub deviation: Option<f64>,
}

/// Whether a comparison should go on with other builds: those so far differ in one of its open ratios.
#[must_use]
pub fn builds_differ(
    comparison: &Comparison,
    measurements: &[Measurement],
    rule: &StoppingRule,
) -> bool {
    let blocks = Blocks::of(comparison, measurements);
    let noise = Noise::of(comparison, &blocks, rule);
    let open = stopping::open(comparison, &blocks, noise.metric, rule);
    open.iter().any(|(_, so_far)| {
        let found = noise.spread.estimate(&so_far.differences, so_far.alpha);
        let builds = found.and_then(|(_, builds)| builds);
        builds.is_some_and(|builds| builds.differ)
    })
}

/// What is left of the differences of rounds without what builds of either store differ by. By medians
/// taken from both in turns (Tukey's median polish, *Exploratory Data Analysis*, 1977), so that one wild
/// round does not move those that share its builds.
pub(crate) fn residuals(paired: &[Paired]) -> Vec<f64> {
    /// After so many turns nothing moves any more that matters.
    const TURNS: usize = 3;
    let mut left: Vec<f64> = paired.iter().map(|pair| pair.difference).collect();
    let sides = [labels(paired, 0), labels(paired, 1)];
    for labels in std::iter::repeat_n(sides.iter().flatten(), TURNS).flatten() {
        let mut by_build: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (label, value) in labels.iter().zip(&left) {
            by_build.entry(*label).or_default().push(*value);
        }
        let centre = by_build
            .into_iter()
            .filter_map(|(label, values)| Some((label, median(values)?)));
        let centre: BTreeMap<u32, f64> = centre.collect();
        for (label, value) in labels.iter().zip(&mut left) {
            *value -= centre.get(label).copied().unwrap_or(0.0);
        }
    }
    left
}

/// The builds of one side, round by round; nothing unless all are known.
fn labels(paired: &[Paired], side: usize) -> Option<Vec<u32>> {
    paired.iter().map(|pair| pair.builds[side]).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a number of rounds")]
fn centred(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter().map(|value| value - mean).collect()
}

/// What builds add to the variance of a shift between two samples of rounds that share none, by the
/// ranks of the rounds within theirs: the variances of both means add up.
#[expect(clippy::cast_precision_loss, reason = "a number of rounds")]
pub(crate) fn effect_on_shift(samples: [&[Paired]; 2]) -> DesignEffect {
    let parts = samples.map(|paired| {
        let values: Vec<f64> = paired.iter().map(|pair| pair.difference).collect();
        // As a share of the sample, and of its mean: samples may have other numbers of rounds.
        let scale = (values.len() as f64).powi(2);
        let ranks = centred_ranks(&values).into_iter();
        Part::of(paired, &ranks.map(|rank| rank / scale).collect::<Vec<_>>())
    });
    DesignEffect::of(&parts)
}

/// How much larger the variance of an estimate is than that of independent rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DesignEffect {
    /// The one over the other, at least 1 (Kish, *Survey Sampling*, 1965).
    variance: f64,
    /// Degrees of freedom of the whole (Satterthwaite 1946).
    freedom: f64,
}

impl DesignEffect {
    fn of(parts: &[Part]) -> Self {
        let sum = |of: fn(&Part) -> f64| parts.iter().map(of).sum::<f64>();
        let independent = sum(|part| part.independent);
        let added = sum(|part| part.added);
        if independent <= 0.0 || added <= 0.0 {
            return Self {
                variance: 1.0,
                freedom: NORMAL,
            };
        }
        let whole = independent + added;
        let uncertain = sum(|part| part.added.powi(2) / part.freedom);
        Self {
            variance: whole / independent,
            freedom: (whole.powi(2) / uncertain).min(NORMAL),
        }
    }

    /// By how much the interval of independent rounds that misses with the probability `alpha` is too
    /// narrow: by the root of the variance, and by what the few builds leave uncertain of it. At least 1.
    pub(crate) fn factor(&self, alpha: f64) -> f64 {
        let quantile = |freedom| student::quantile(alpha, freedom);
        self.variance.sqrt() * quantile(self.freedom) / quantile(NORMAL)
    }
}

/// The variance of the sum of one sample's scores.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// As if all rounds were independent.
    independent: f64,
    /// What builds add to that.
    added: f64,
    /// Degrees of freedom of what they add.
    freedom: f64,
}

impl Part {
    fn of(paired: &[Paired], scores: &[f64]) -> Self {
        let clusters = Clusters::of(paired, scores);
        let independent = independent(scores);
        Self {
            independent,
            added: clusters.map_or(0.0, |found| (found.clustered - independent).max(0.0)),
            freedom: clusters.map_or(1.0, |found| found.freedom),
        }
    }
}

/// The variance of the sum of independent scores whose mean is 0.
#[expect(clippy::cast_precision_loss, reason = "a number of rounds")]
fn independent(scores: &[f64]) -> f64 {
    let n = scores.len() as f64;
    scores.iter().map(|score| score * score).sum::<f64>() * n / (n - 1.0)
}

/// The variance of the sum of the rounds' scores with the rounds of a build of either store as one unit
/// (Cameron, Gelbach & Miller 2011: two-way clusters).
#[derive(Debug, Clone, Copy, PartialEq)]
struct Clusters {
    clustered: f64,
    /// Degrees of freedom of what builds add.
    freedom: f64,
}

impl Clusters {
    /// Nothing where neither store has two builds, or all rounds are alike.
    #[expect(clippy::cast_precision_loss, reason = "numbers of rounds and builds")]
    fn of(paired: &[Paired], scores: &[f64]) -> Option<Self> {
        let n = scores.len() as f64;
        let independent = independent(scores);
        let sides = [labels(paired, 0), labels(paired, 1)];
        let both: Vec<[Option<u32>; 2]> = paired.iter().map(|pair| pair.builds).collect();
        let both = Partition::of(&both, scores);
        let mut sides: Vec<Partition> = sides
            .into_iter()
            .flatten()
            .map(|labels| Partition::of(&labels, scores))
            .filter(|side| side.builds > 1)
            .collect();
        sides.sort_by_key(|side| side.builds);
        let fewest = sides.first()?;
        let (clustered, freedom) = match sides.get(1) {
            // Whatever build one store had, the other had its counterpart: one factor.
            Some(other) if both.builds > other.builds => {
                // What both counted: the noise of rounds. Of more than two builds each, what the
                // builds of the same rounds have in common is counted twice as well.
                let twice = match fewest.builds {
                    2 => both.within(n).unwrap_or(independent),
                    _ => both.clustered,
                };
                let freedom = (fewest.builds - 1).max(2);
                (fewest.clustered + other.clustered - twice, freedom)
            }
            _ => (fewest.clustered, fewest.builds - 1),
        };
        (independent > 0.0).then_some(Self {
            clustered,
            freedom: freedom as f64,
        })
    }
}

/// Rounds divided by the builds that they met.
#[derive(Debug, Clone, Copy)]
struct Partition {
    builds: usize,
    /// Variance of the sum of scores with the rounds of each build as one unit.
    clustered: f64,
    /// Sum of squares of scores about the means of their builds.
    squares_within: f64,
}

impl Partition {
    #[expect(clippy::cast_precision_loss, reason = "numbers of rounds and builds")]
    fn of<L: Ord + Copy>(labels: &[L], scores: &[f64]) -> Self {
        let mut by_build: BTreeMap<L, Vec<f64>> = BTreeMap::new();
        for (label, score) in labels.iter().zip(scores) {
            by_build.entry(*label).or_default().push(*score);
        }
        let squares = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>();
        let sums: Vec<f64> = by_build.values().map(|of| of.iter().sum()).collect();
        let builds = by_build.len();
        let freedom = builds.saturating_sub(1).max(1) as f64;
        Self {
            builds,
            clustered: squares(&sums) * builds as f64 / freedom,
            squares_within: by_build.values().map(|of| squares(&centred(of))).sum(),
        }
    }

    /// Variance of the sum of `n` independent scores, by how those on the same builds differ; nothing
    /// where there are too few.
    #[expect(clippy::cast_precision_loss, reason = "a number of builds")]
    fn within(&self, n: f64) -> Option<f64> {
        let freedom = n - self.builds as f64;
        (freedom >= 2.0).then_some(self.squares_within * n / freedom)
    }
}

#[cfg(test)]
mod tests;
