//! Whether the rounds of a ratio are what its interval takes them for: independent, and of one level.
//!
//! Both looks are at ranks, so that one wild round is no finding. Limits are those of about one false
//! alarm in a thousand ratios whose rounds are independent.
//!
//! What builds differ by is no finding either: rounds on the same build resemble each other, and the
//! interval knows (METHOD "Builds").

use crate::ComparisonOutcome;
use crate::estimate::median;
use crate::judge::Judge;
use crate::spread::{Builds, Paired, builds_of};
use std::collections::BTreeMap;
use stowplan_model::Warning;

/// Standard normal quantile of 0.9995: a trend may go either way.
const TREND_Z: f64 = 3.29;
/// That of 0.999: only rounds that resemble each other make an interval too narrow.
const LAG_Z: f64 = 3.09;
/// The rank correlation that is a trend with ten rounds, for which the normal limit is beyond 1.
const STEADY: f64 = 0.9;

/// What the rounds of a ratio show besides the ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stationarity {
    /// Spearman's rank correlation of the difference with the round.
    pub trend: f64,
    /// Autocorrelation of the ranks at lag 1.
    pub lag_1: f64,
    /// Rounds.
    pub rounds: usize,
}

impl Stationarity {
    /// That of differences in the order of their rounds; nothing of fewer than an interval needs, or
    /// where all are the same.
    #[must_use]
    pub fn of(differences: &[f64]) -> Option<Self> {
        let ranks = centred_ranks(differences);
        let squares: f64 = ranks.iter().map(|rank| rank * rank).sum();
        if ranks.len() < crate::MIN_ROUNDS || squares <= 0.0 {
            return None;
        }
        let order: Vec<f64> = (0_u32..).take(ranks.len()).map(f64::from).collect();
        let order = centred_ranks(&order);
        let of_order: f64 = order.iter().map(|rank| rank * rank).sum();
        let with_order: f64 = ranks.iter().zip(&order).map(|(a, b)| a * b).sum();
        let with_next: f64 = ranks.windows(2).map(|pair| pair[0] * pair[1]).sum();
        Some(Self {
            trend: with_order / (squares * of_order).sqrt(),
            lag_1: with_next / squares,
            rounds: ranks.len(),
        })
    }

    /// That of the rounds of a ratio; where builds differ, of what is left once that is taken out.
    pub(crate) fn of_rounds(paired: &[Paired], builds: Option<Builds>) -> Option<Self> {
        match builds {
            Some(builds) if builds.differ => Self::of(&residuals(paired)),
            _ => Self::of(
                &paired
                    .iter()
                    .map(|pair| pair.difference)
                    .collect::<Vec<_>>(),
            ),
        }
    }

    /// Whether the level moves with the rounds.
    #[must_use]
    pub fn drifts(&self) -> bool {
        self.trend.abs() > (TREND_Z / self.root(1)).min(STEADY)
    }

    /// Whether a round resembles the one before it.
    #[must_use]
    pub fn clusters(&self) -> bool {
        self.lag_1 > LAG_Z / self.root(0)
    }

    fn root(&self, less: usize) -> f64 {
        (self.rounds.saturating_sub(less).max(1) as f64).sqrt()
    }
}

/// What is left of the differences of rounds without what builds of either store differ by. By medians
/// taken from both in turns (Tukey's median polish, *Exploratory Data Analysis*, 1977), so that one wild
/// round does not move those that share its builds.
fn residuals(paired: &[Paired]) -> Vec<f64> {
    /// After so many turns nothing moves any more that matters.
    const TURNS: usize = 3;
    let mut left: Vec<f64> = paired.iter().map(|pair| pair.difference).collect();
    let sides = [builds_of(paired, 0), builds_of(paired, 1)];
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

/// Ranks less their mean; equal values share the mean of theirs.
pub(crate) fn centred_ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        below as f64 + (equal as f64 - 1.0) / 2.0
    };
    let mean = (values.len() as f64 - 1.0) / 2.0;
    values.iter().map(|value| rank(value) - mean).collect()
}

/// A warning where rounds of some ratios of a comparison are not independent.
pub(crate) fn warning(judge: &Judge<'_>, outcome: &ComparisonOutcome) -> Option<Warning> {
    let label = |id| judge.comparison.cell(id).map(|cell| cell.label.as_str());
    let found = outcome.contrasts.iter().filter_map(|contrast| {
        let pair = (&contrast.cell, &contrast.reference);
        let paired = judge.blocks.paired(pair.0, pair.1, outcome.metric);
        let rounds = contrast.estimate?.rounds;
        let found = Stationarity::of_rounds(paired.get(..rounds)?, contrast.builds)?;
        let what = match (found.drifts(), found.clusters()) {
            (true, _) => format!(
                "drifted (rank correlation with the round {:.2}",
                found.trend
            ),
            (false, true) => format!("moved slowly (autocorrelation {:.2}", found.lag_1),
            (false, false) => return None,
        };
        Some(format!(
            "'{}' against '{}' {what}, {rounds} rounds)",
            label(pair.0)?,
            label(pair.1)?
        ))
    });
    let found: Vec<String> = found.collect();
    let message = format!(
        "comparison {}: rounds are not independent, so that intervals are too narrow: {}",
        outcome.id,
        found.join("; ")
    );
    let advice = "Run it again, on a quieter machine if you can, and compare both.";
    (!found.is_empty()).then(|| Warning::other(message, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::percentiles::below;

    /// Uniform on (-1, 1).
    fn noise(state: &mut u64) -> f64 {
        below(state, 1 << 20) as f64 / f64::from(1 << 19) - 1.0
    }

    /// Of 2,000 sessions of `rounds` rounds, those that drift and those that cluster; each round
    /// keeps `kept` of the one before and moves by `step`.
    fn alarms(rounds: usize, kept: f64, step: f64) -> (usize, usize) {
        let (mut state, mut found) = (7, (0, 0));
        for _ in 0..2_000 {
            let mut level = 0.0;
            let differences = (0..rounds).map(|round| {
                level = kept * level + noise(&mut state);
                level + step * round as f64
            });
            let session = Stationarity::of(&differences.collect::<Vec<_>>()).unwrap();
            found.0 += usize::from(session.drifts());
            found.1 += usize::from(session.clusters());
        }
        found
    }

    #[test]
    fn rounds_that_drift_or_resemble_each_other_are_warned_of_and_independent_ones_hardly_ever() {
        for rounds in [10, 20, 40] {
            let found = alarms(rounds, 0.0, 0.0);
            assert!(found.0 <= 8 && found.1 <= 8, "{rounds}: {found:?}");
        }
        let found = [
            alarms(10, 0.0, 1.0),
            alarms(40, 0.0, 0.1),
            alarms(40, 0.8, 0.0),
        ];
        assert!(found[0].0 > 1_000, "{found:?}");
        assert!(found[1].0 > 1_900, "{found:?}");
        assert!(found[2].1 > 1_000, "{found:?}");
    }

    /// Of 300 sessions of 40 rounds on two builds of each store, two others after every `rebuilt` of
    /// them, those that are warned of. Builds differ by up to `apart` times what rounds do, and each
    /// round keeps `kept` of the one before.
    fn alarms_on_builds(rebuilt: u32, apart: f64, kept: f64) -> usize {
        let mut state = 11;
        let session = |state: &mut u64| {
            let levels: Vec<f64> = (0..32).map(|_| apart * noise(state)).collect();
            let mut level = 0.0;
            let paired = (0..40).map(|round| {
                level = kept * level + noise(state);
                let slots = [round + round / 2, round].map(|turn| turn % 2);
                let [cell, reference] = slots.map(|slot| round / rebuilt * 2 + slot);
                let of = |build: u32| levels[build as usize];
                Paired {
                    round,
                    difference: level + of(cell) - of(31 - reference),
                    builds: [Some(cell), Some(100 + reference)],
                }
            });
            let paired: Vec<Paired> = paired.collect();
            let spread = crate::spread::Spread::alone(&paired);
            let (_, builds) = spread.estimate(&paired, 0.05).unwrap();
            let found = Stationarity::of_rounds(&paired, builds).unwrap();
            found.drifts() || found.clusters()
        };
        (0..300).filter(|_| session(&mut state)).count()
    }

    #[test]
    fn what_builds_differ_by_is_not_warned_of_and_what_else_moves_is() {
        let settings = [5, 10].map(|rebuilt| [0.0, 1.0, 10.0].map(|apart| (rebuilt, apart)));
        for (rebuilt, apart) in settings.concat() {
            let found = alarms_on_builds(rebuilt, apart, 0.0);
            assert!(found <= 3, "{rebuilt}, {apart}: {found}");
        }
        let found = alarms_on_builds(10, 3.0, 0.8);
        assert!(found > 80, "{found}");
    }

    #[test]
    fn one_wild_round_and_rounds_that_are_all_the_same_say_nothing() {
        assert_eq!(Stationarity::of(&[0.5; 20]), None);
        assert_eq!(Stationarity::of(&[1.0, 2.0]), None);
        let mut wild: Vec<f64> = [0.01, -0.01].repeat(10);
        wild[19] = 1e6;
        let found = Stationarity::of(&wild).unwrap();
        assert!(!found.drifts() && !found.clusters(), "{found:?}");
    }
}
