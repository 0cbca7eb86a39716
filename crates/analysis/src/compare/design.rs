//! By how much more the shift between two sessions is uncertain than that of independent rounds, because
//! all rounds on one build share what it costs.

use crate::spread::{Paired, builds_of};
use crate::{stationarity::centred_ranks, student};
use std::collections::BTreeMap;

/// With so many degrees of freedom Student's distribution is the normal one.
const NORMAL: f64 = 1e6;

#[expect(clippy::cast_precision_loss, reason = "a number of rounds")]
fn centred(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter().map(|value| value - mean).collect()
}

/// What builds add to the variance of a shift between two samples of rounds that share none, by the
/// ranks of the rounds within theirs: the variances of both means add up.
#[expect(clippy::cast_precision_loss, reason = "a number of rounds")]
pub(super) fn effect_on_shift(samples: [&[Paired]; 2]) -> DesignEffect {
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
pub(super) struct DesignEffect {
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
    pub(super) fn factor(&self, alpha: f64) -> f64 {
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
        let sides = [builds_of(paired, 0), builds_of(paired, 1)];
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
mod tests {
    use super::*;

    /// Twenty rounds of two builds of one store, which make it slower by so much; rounds differ by up to 1%
    /// either way.
    fn alone(builds: [f64; 2]) -> Vec<Paired> {
        let rounds = (0..20_u32).map(|round| {
            let noise = f64::from(round * 7 % 20) / 1_000.0 - 0.0095;
            let build = (round + round / 2) % 2;
            Paired {
                round,
                difference: noise + builds[build as usize],
                builds: [Some(build), None],
            }
        });
        rounds.collect()
    }

    #[test]
    fn a_shift_is_uncertain_by_the_builds_of_both_samples_and_the_more_the_fewer_of_them_tell() {
        let (alike, apart) = (alone([0.0; 2]), alone([0.0, 0.1]));
        let none = effect_on_shift([&alike, &alike]);
        assert!((1.0..1.6).contains(&none.factor(0.05)), "{none:?}");
        let one = effect_on_shift([&alike, &apart]);
        let both = effect_on_shift([&apart, &apart]);
        assert_eq!(one, effect_on_shift([&apart, &alike]));
        assert!(both.variance > one.variance, "{both:?}, {one:?}");
        // Two builds on one side leave one degree of freedom, two on both sides two.
        assert!(one.freedom < 1.5 && both.freedom < 2.5, "{both:?}, {one:?}");
        assert!(both.freedom > 1.9, "{both:?}");
        assert!(both.factor(0.05) > 4.0, "{both:?}");
        assert!(both.factor(0.01) > both.factor(0.05));
    }

    #[test]
    fn what_a_sample_weighs_in_a_shift_does_not_depend_on_its_number_of_rounds() {
        let short = alone([0.0, 0.1]);
        let twice: Vec<Paired> = short.iter().flat_map(|pair| [*pair, *pair]).collect();
        let (one, two) = (
            effect_on_shift([&short, &short]),
            effect_on_shift([&short, &twice]),
        );
        // As sure of its builds, and twice as sure of its rounds.
        assert!((one.freedom - two.freedom).abs() < 0.2, "{one:?}, {two:?}");
        assert!(two.variance > one.variance, "{one:?}, {two:?}");
    }

    #[test]
    fn builds_that_nobody_knows_of_or_rounds_that_are_all_alike_add_nothing_to_a_shift() {
        let mut unknown = alone([0.0, 0.1]);
        let mut equal = unknown.clone();
        for pair in &mut unknown {
            pair.builds = [None; 2];
        }
        for pair in &mut equal {
            pair.difference = 1.0;
        }
        for samples in [[&unknown[..], &unknown], [&equal, &equal]] {
            assert_eq!(effect_on_shift(samples).factor(0.05), 1.0);
        }
    }
}
