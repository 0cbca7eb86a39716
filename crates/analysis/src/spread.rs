//! What the ratios of one comparison say together of the error of each (METHOD "Widths"): how far rounds
//! lie apart, how far builds do, and how much more two identical cells differ than their rounds say.

use crate::estimate::{Estimate, MIN_ROUNDS, Winsorised, hodges_lehmann, mean, variance};
use crate::interval::Interval;
use crate::student::Located;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// By how much the variance of a mean of rounds exceeds that of independent ones where nothing else is
/// known: that of rounds with the most autocorrelation that was recorded, 0.24, is (1 + 0.24) / (1 - 0.24).
const USUAL: f64 = 1.6;
/// As many controls is that worth beside the one that was measured.
const USUAL_CONTROLS: f64 = 4.0;

/// The most degrees of freedom that other ratios lend to the variance of one: all share a reference.
const MOST_LENT: f64 = 30.0;

/// The least degrees of freedom of the variance between builds: with one, two builds that lie a tenth apart
/// would leave it open whether their store is twice as slow.
const LEAST_KNOWN: f64 = 2.0;

/// Degrees of freedom that the builds of others add to those of a store: as many as two of its own have, which do not
/// show that its others would be alike where these happen to be (METHOD "Widths" has the price of more and of less).
const OTHERS: f64 = 1.0;

/// The variance of the means of builds over what rounds make of it above which they are held to differ. One
/// in fifteen stores whose builds do not shows as much.
const BEYOND: f64 = 4.5;
/// And the least deviation of a ratio between builds of which that is said: it is shown as 1%.
const LEAST_SHOWN: f64 = 0.005;

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

/// The variances that the ratios of one comparison share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    /// Of a round.
    rounds: Variance,
    /// Between builds of a store.
    builds: Variance,
    /// That of a mean of rounds over that of a mean of as many independent ones; at least 1.
    inflation: f64,
}

/// An estimated variance.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Variance {
    value: f64,
    freedom: f64,
}

impl Variance {
    /// Both together, each by its degrees of freedom (Smyth 2004).
    fn moderated(self, other: Self) -> Self {
        let freedom = self.freedom + other.freedom;
        let sum = self.value * self.freedom + other.value * other.freedom;
        Self {
            value: if freedom > 0.0 { sum / freedom } else { 0.0 },
            freedom,
        }
    }
}

impl Spread {
    /// Of the rounds of the ratios of a comparison, and of its control.
    pub(crate) fn of(ratios: &[Vec<Paired>], control: Option<&[Paired]>) -> Self {
        let all = ratios.iter().map(Vec::as_slice).chain(control);
        let samples: Vec<Sample<'_>> = all.filter_map(Sample::of).collect();
        let builds = samples.iter().filter_map(|sample| sample.builds[0]);
        let builds: Vec<BetweenBuilds> = builds.collect();
        let mut spread = Self {
            rounds: typical(&samples),
            builds: pooled(&builds),
            inflation: USUAL,
        };
        if let Some(control) = control.and_then(Sample::of) {
            let rounds = spread.moderated(&control);
            let freedom = rounds.freedom;
            let square = control.location.powi(2) / spread.of_rounds(&control) * USUAL;
            // The mean square of Student's t.
            let expected = freedom / (freedom - 2.0);
            if square.is_finite() {
                let seen = USUAL * USUAL_CONTROLS + square / expected;
                spread.inflation = (seen / (USUAL_CONTROLS + 1.0)).max(1.0);
            }
        }
        spread
    }

    /// Of one ratio by itself.
    pub(crate) fn alone(paired: &[Paired]) -> Self {
        Self::of(&[paired.to_vec()], None)
    }

    /// The spread with which a control is judged: what it shows itself widens nothing.
    pub(crate) fn without_control(self) -> Self {
        Self {
            inflation: USUAL,
            ..self
        }
    }

    /// By how much longer it makes an interval than independent rounds do, as a ratio.
    pub(crate) fn widening(&self) -> f64 {
        self.inflation.sqrt()
    }

    /// The estimate of a ratio with the interval that misses it with the probability `alpha`.
    pub(crate) fn estimate(
        &self,
        paired: &[Paired],
        alpha: f64,
    ) -> Option<(Estimate, Option<Builds>)> {
        let (found, builds) = self.located(paired)?;
        let Interval {
            estimate,
            low,
            high,
        } = found.interval(alpha);
        let estimate = Estimate {
            estimate,
            low,
            high,
            n: paired.len(),
        };
        Some((estimate, builds))
    }

    /// The estimate of a ratio, and how far it is known. Nothing with fewer than ten rounds.
    pub(crate) fn located(&self, paired: &[Paired]) -> Option<(Located, Option<Builds>)> {
        let sample = Sample::of(paired)?;
        let stores = || sample.builds.iter().flatten();
        let others = Variance {
            freedom: OTHERS,
            ..self.builds
        };
        let own = stores().map(|own| own.variance().moderated(others));
        let between = own.max_by(|a, b| a.value.total_cmp(&b.value));
        let between = between.unwrap_or(self.builds);
        let rounds = (self.of_rounds(&sample), self.moderated(&sample).freedom);
        let of_builds = (
            between.value * sample.design.of_mean,
            between.freedom.max(1.0),
        );
        let found = Located::by(sample.location, &[rounds, of_builds]);
        let deviation = (2.0 * between.value).sqrt();
        let builds = sample.design.fewest.map(|count| Builds {
            count,
            differ: deviation >= LEAST_SHOWN && stores().any(BetweenBuilds::differ),
            deviation: (count > 1).then_some(deviation),
        });
        Some((found, builds))
    }

    fn moderated(&self, sample: &Sample<'_>) -> Variance {
        sample.rounds.moderated(self.rounds)
    }

    /// The variance of the mean of a ratio's rounds, without what builds are of it.
    fn of_rounds(&self, sample: &Sample<'_>) -> f64 {
        let whole = self.moderated(sample).value;
        let stores = sample.builds.iter().flatten();
        let within = stores.map(|own| own.within.min(whole)).fold(0.0, f64::max);
        let rest = whole - self.builds.value * sample.design.of_rounds;
        self.inflation * rest.max(within).max(whole / 10.0) / sample.paired.len() as f64
    }
}

/// The rounds of one ratio.
struct Sample<'a> {
    paired: &'a [Paired],
    location: f64,
    /// Of a round, whatever it comes from.
    rounds: Variance,
    design: Design,
    /// Of the cell's store, and of the reference's.
    builds: [Option<BetweenBuilds>; 2],
}

impl<'a> Sample<'a> {
    /// Nothing of fewer rounds than an interval needs, or where one is not finite.
    fn of(paired: &'a [Paired]) -> Option<Self> {
        let values: Vec<f64> = paired.iter().map(|pair| pair.difference).collect();
        if values.len() < MIN_ROUNDS || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let winsorised = Winsorised::of(&values);
        Some(Self {
            paired,
            location: hodges_lehmann(&values)?,
            rounds: Variance {
                value: winsorised.variance,
                freedom: winsorised.freedom,
            },
            design: Design::of(paired),
            builds: [0, 1].map(|side| BetweenBuilds::of(paired, &winsorised.values, side)),
        })
    }
}

/// How rounds meet builds.
#[derive(Debug, Clone)]
struct Design {
    /// Per build: in which rounds the cell was on it (1), or the reference (-1).
    met: Vec<Vec<f64>>,
    /// What a variance of 1 between builds is of that of the mean of rounds.
    of_mean: f64,
    /// And of that of a round.
    of_rounds: f64,
    /// Builds of the store that has fewer; nothing where neither tells.
    fewest: Option<usize>,
}

impl Design {
    fn of(paired: &[Paired]) -> Self {
        let all: BTreeSet<u32> = paired
            .iter()
            .flat_map(|pair| pair.builds)
            .flatten()
            .collect();
        let on = |build: u32, side: Option<u32>| f64::from(u8::from(side == Some(build)));
        let met: Vec<Vec<f64>> = all
            .into_iter()
            .map(|build| {
                let signs = paired.iter().map(|pair| {
                    let [cell, reference] = pair.builds;
                    on(build, cell) - on(build, reference)
                });
                signs.collect()
            })
            .collect();
        let count = |side: usize| {
            let builds: Option<BTreeSet<u32>> =
                paired.iter().map(|pair| pair.builds[side]).collect();
            builds.map(|builds| builds.len())
        };
        Self {
            of_mean: met.iter().map(|met| mean(met).powi(2)).sum(),
            of_rounds: met.iter().map(|met| variance(met)).sum(),
            fewest: [count(0), count(1)].into_iter().flatten().min(),
            met,
        }
    }
}

/// What the builds of one store of a ratio differ by.
#[derive(Debug, Clone, Copy, PartialEq)]
struct BetweenBuilds {
    /// Sum of squares of the means of builds, by rounds.
    squares: f64,
    /// Builds less one.
    freedom: f64,
    /// Variance of rounds on one build.
    within: f64,
    /// What a variance of 1 between builds adds to the sum of squares.
    weight: f64,
}

impl BetweenBuilds {
    /// Nothing where the store has one build, or its rounds on each are all alike.
    fn of(paired: &[Paired], values: &[f64], side: usize) -> Option<Self> {
        let mut rounds: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (at, pair) in paired.iter().enumerate() {
            rounds.entry(pair.builds[side]?).or_default().push(at);
        }
        let design = Design::of(paired);
        let of =
            |all: &[f64], at: &[usize]| mean(&at.iter().map(|at| all[*at]).collect::<Vec<_>>());
        let between = |all: &[f64]| -> f64 {
            let whole = mean(all);
            let apart = |at: &Vec<usize>| at.len() as f64 * (of(all, at) - whole).powi(2);
            rounds.values().map(apart).sum()
        };
        let squares = between(values);
        let whole = variance(values) * (values.len() as f64 - 1.0);
        let freedom = rounds.len() as f64 - 1.0;
        let found = Self {
            squares,
            freedom,
            within: (whole - squares) / (values.len() as f64 - 1.0 - freedom),
            weight: design.met.iter().map(|met| between(met)).sum(),
        };
        (freedom > 0.0 && found.within > 0.0 && found.weight > 0.0).then_some(found)
    }

    /// Its own estimate; below 0 where builds differ by less than rounds do.
    fn unbounded(&self) -> f64 {
        (self.squares - self.freedom * self.within) / self.weight
    }

    fn variance(&self) -> Variance {
        Variance {
            value: self.unbounded().max(0.0),
            freedom: self.freedom,
        }
    }

    /// What its squares are expected to be, by degree of freedom.
    fn expected(&self, builds: f64) -> f64 {
        builds * self.weight / self.freedom + self.within
    }

    /// Whether its builds differ by more than rounds explain.
    fn differ(&self) -> bool {
        self.squares / self.freedom > BEYOND * self.within
    }

    /// The inverse of the variance of its own estimate, but for a factor that all share.
    fn precision(&self, builds: f64) -> f64 {
        self.weight.powi(2) / (self.freedom * self.expected(builds).powi(2))
    }
}

/// The variance between builds, from the moments of all ratios, each by how well it knows it.
fn pooled(all: &[BetweenBuilds]) -> Variance {
    /// After so many turns the weights, which depend on the result, move no more.
    const TURNS: usize = 4;
    let mut found = Variance {
        value: 0.0,
        freedom: 1.0,
    };
    for _ in 0..TURNS {
        let sum = |of: &dyn Fn(f64, &BetweenBuilds) -> f64| -> f64 {
            all.iter()
                .map(|one| of(one.precision(found.value), one))
                .sum()
        };
        let weights = sum(&|weight, _| weight);
        if weights <= 0.0 {
            break;
        }
        let value = sum(&|weight, one| weight * one.unbounded()) / weights;
        found = Variance {
            freedom: (weights.powi(2) / sum(&|weight, one| weight.powi(2) / one.freedom))
                .max(LEAST_KNOWN),
            value: value.max(0.0),
        };
    }
    found
}

/// The variance of a round in a ratio of which nothing else is known, and how many degrees of freedom that
/// is worth: as many as fit how far the ratios' own variances lie apart (Smyth 2004, section 6.2).
fn typical(samples: &[Sample<'_>]) -> Variance {
    let known = samples.iter().map(|sample| sample.rounds);
    let known: Vec<Variance> = known.filter(|rounds| rounds.value > 0.0).collect();
    if known.len() < 3 {
        return Variance {
            value: 0.0,
            freedom: 0.0,
        };
    }
    let logs: Vec<f64> = known
        .iter()
        .map(|rounds| rounds.value.ln() - log_bias(rounds.freedom))
        .collect();
    let chance: f64 = known
        .iter()
        .map(|rounds| trigamma(rounds.freedom / 2.0))
        .sum();
    let apart = variance(&logs) - chance / known.len() as f64;
    let (mut low, mut high) = (0.0, MOST_LENT);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        match trigamma(middle / 2.0) > apart {
            true => low = middle,
            false => high = middle,
        }
    }
    Variance {
        value: (mean(&logs) + log_bias(high)).exp(),
        freedom: high,
    }
}

/// How far the logarithm of an estimated variance lies from that of the true one, on average.
fn log_bias(freedom: f64) -> f64 {
    digamma(freedom / 2.0) - (freedom / 2.0).ln()
}

/// By its asymptotic series (DLMF 5.11.2), from where that is exact to nine digits.
fn digamma(x: f64) -> f64 {
    match x < 6.0 {
        true => digamma(x + 1.0) - 1.0 / x,
        false => {
            let square = 1.0 / (x * x);
            x.ln() - 0.5 / x - square * (1.0 / 12.0 - square * (1.0 / 120.0 - square / 252.0))
        }
    }
}

/// Its derivative (DLMF 5.15.8).
fn trigamma(x: f64) -> f64 {
    match x < 6.0 {
        true => trigamma(x + 1.0) + 1.0 / (x * x),
        false => {
            let square = 1.0 / (x * x);
            let series = 1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0);
            (1.0 + 0.5 / x + square * series) / x
        }
    }
}

/// The builds of one side, round by round; nothing unless all are known.
pub(crate) fn builds_of(paired: &[Paired], side: usize) -> Option<Vec<u32>> {
    paired.iter().map(|pair| pair.builds[side]).collect()
}

#[cfg(test)]
mod tests;
