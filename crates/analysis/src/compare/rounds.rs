//! The shift between one session of each side, by their rounds and by the builds that these met.

use super::design::{DesignEffect, effect_on_shift};
use super::mann_whitney::Differences;
use crate::interval::Interval;
use crate::spread::Paired;

/// So often the range of a p value is halved, by its logarithm: to less than a millionth of itself.
const HALVINGS: u32 = 30;

/// One session against another: the shift of Hodges and Lehmann, its interval longer by what builds of
/// both sides add to it.
#[derive(Debug, Clone)]
pub(super) struct ByRounds {
    differences: Differences,
    effect: DesignEffect,
}

impl ByRounds {
    /// Nothing where there is no shift.
    pub(super) fn of(base: &[Paired], new: &[Paired]) -> Option<Self> {
        let values = |rounds: &[Paired]| -> Vec<f64> {
            let logs = rounds.iter().map(|round| round.difference);
            logs.collect()
        };
        Some(Self {
            differences: Differences::of(&values(base), &values(new))?,
            effect: effect_on_shift([base, new]),
        })
    }

    /// The shift with the interval that misses it with the probability `alpha`.
    pub(super) fn shift(&self, alpha: f64) -> Option<Interval> {
        let of_rounds = self.differences.shift(alpha)?;
        let (estimate, factor) = (of_rounds.estimate, self.effect.factor(alpha));
        Some(Interval {
            estimate,
            low: estimate - factor * (estimate - of_rounds.low),
            high: estimate + factor * (of_rounds.high - estimate),
        })
    }

    /// The least `alpha` of an interval that lies above `limit`; at most 1. The interval at an `alpha`
    /// does so exactly where that of the rounds lies above a limit that is as much nearer to the
    /// estimate as the interval is longer.
    pub(super) fn p_above(&self, limit: f64) -> f64 {
        let estimate = self.differences.estimate();
        if estimate <= limit {
            return 1.0;
        }
        let lies_above = |alpha: f64| {
            let nearer = estimate - (estimate - limit) / self.effect.factor(alpha);
            self.differences.p_above(nearer) <= alpha
        };
        let mut least = self.differences.p_above(limit);
        if lies_above(least) {
            return least;
        }
        let mut most = 1.0;
        for _ in 0..HALVINGS {
            let middle = (least * most).sqrt();
            if lies_above(middle) {
                most = middle;
            } else {
                least = middle;
            }
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Twenty rounds on two builds in turns, with so much noise, of which one is slower by so much.
    fn rounds(noise: &[f64], slower: f64) -> Vec<Paired> {
        let rounds = (0_u32..).zip(noise).map(|(round, noise)| Paired {
            round,
            difference: noise + slower * f64::from(round % 2),
            builds: [Some(round % 2), None],
        });
        rounds.collect()
    }

    fn noise() -> impl Strategy<Value = Vec<f64>> {
        proptest::collection::vec(-0.05..0.05f64, 20)
    }

    #[test]
    fn two_builds_that_differ_tell_less_than_their_rounds_do() {
        let noise: Vec<f64> = (0_u32..20)
            .map(|i| f64::from(i * 7 % 20) / 1_000.0)
            .collect();
        let base = rounds(&noise, 0.1);
        let slower: Vec<Paired> = base
            .iter()
            .map(|round| Paired {
                difference: round.difference + 0.05,
                ..*round
            })
            .collect();
        let found = ByRounds::of(&base, &slower).unwrap();
        let (plain, known) = (
            found.differences.shift(0.05).unwrap(),
            found.shift(0.05).unwrap(),
        );
        assert_eq!(plain.estimate, known.estimate);
        // The rounds alone would tell them apart; builds of either side lie twice as far apart.
        assert!(plain.low > 0.0 && known.low < 0.0, "{plain:?}, {known:?}");
        assert!(found.differences.p_above(0.0) < 0.01 && found.p_above(0.0) > 0.05);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn the_p_value_is_at_most_alpha_exactly_where_the_interval_lies_above(
            a in noise(), b in noise(), slower in 0.0..0.1f64, by in 0.0..0.5f64,
            limit in 0.0..0.1f64, alpha in 0.001..0.2f64,
        ) {
            let base = rounds(&a, slower);
            let mut new = rounds(&b, slower / 2.0);
            new.iter_mut().for_each(|round| round.difference += by);
            let found = ByRounds::of(&base, &new).unwrap();
            let (shift, p) = (found.shift(alpha).unwrap(), found.p_above(limit));
            prop_assume!((shift.low - limit).abs() > 1e-9 && (p / alpha - 1.0).abs() > 1e-5);
            prop_assert_eq!(shift.low > limit, p <= alpha, "{:?}, p {}", shift, p);
        }
    }
}
