//! Popularity: ranks of which a few come most of the time.

use crate::random::Random;

/// The exponent of Gray et al. ("Quickly generating billion-record synthetic databases", SIGMOD
/// 1994) and of YCSB (Cooper et al., SoCC 2010).
const EXPONENT: f64 = 0.99;

/// Draws ranks from 1 to `n`, rank r with a probability proportional to `r^-0.99`: exactly, and at
/// the same cost for every `n`, by rejection-inversion (Hörmann and Derflinger, "Rejection-inversion
/// to generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996).
///
/// The last bits of powers may differ between platforms, and with them a rank; a sequence lies on
/// the disk of the machine that visits it, so nothing relies on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Zipf {
    n: u64,
    /// The area from which numbers are drawn: below rank n, and up to rank 1.
    area: (f64, f64),
    /// A number that is rounded down by no more than this is accepted without looking closer.
    squeeze: f64,
}

#[expect(clippy::cast_precision_loss, reason = "ranks are far below 2^53")]
impl Zipf {
    /// For ranks from 1 to `n`, which is at least 1.
    pub(super) fn new(n: u64) -> Self {
        Self {
            n,
            area: (integral(n as f64 + 0.5), integral(1.5) - 1.0),
            squeeze: 2.0 - integral_inverse(integral(2.5) - weight(2.0)),
        }
    }

    /// How many ranks there are.
    pub(super) fn ranks(&self) -> u64 {
        self.n
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the ranks"
    )]
    pub(super) fn draw(&self, random: &mut Random) -> u64 {
        let (below_last, to_first) = self.area;
        loop {
            let area = below_last + random.unit() * (to_first - below_last);
            let exact = integral_inverse(area);
            let rank = exact.round().clamp(1.0, self.n as f64);
            if rank - exact <= self.squeeze || area >= integral(rank + 0.5) - weight(rank) {
                return rank as u64;
            }
        }
    }
}

fn weight(rank: f64) -> f64 {
    rank.powf(-EXPONENT)
}

/// The integral of the weight, from 1 on.
fn integral(to: f64) -> f64 {
    (to.powf(1.0 - EXPONENT) - 1.0) / (1.0 - EXPONENT)
}

fn integral_inverse(area: f64) -> f64 {
    (1.0 + area * (1.0 - EXPONENT)).powf(1.0 / (1.0 - EXPONENT))
}

/// A one-to-one scattering of the numbers below `n`: neighbouring ranks go to unrelated keys, and
/// each rank has a key of its own, which a hash modulo `n` would not give.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scatter {
    n: u64,
    mask: u64,
    shift: u32,
    seed: u64,
}

impl Scatter {
    pub(super) fn new(n: u64, seed: u64) -> Self {
        let bits = u64::BITS - n.max(2).saturating_sub(1).leading_zeros();
        Self {
            n,
            mask: u64::MAX >> (u64::BITS - bits),
            shift: bits.div_ceil(2),
            seed,
        }
    }

    /// Where `number`, which is below `n`, goes: within the next power of two, again until it falls
    /// below `n`, which takes two goes on average at most.
    pub(super) fn place(&self, number: u64) -> u64 {
        let mut place = number;
        loop {
            place = self.once(place);
            if place < self.n {
                return place;
            }
        }
    }

    /// Additions, odd factors and shifts to the right are one-to-one for numbers of so many bits.
    fn once(&self, mut x: u64) -> u64 {
        let mut seed = Random::new(self.seed);
        for _ in 0..3 {
            x = x.wrapping_add(seed.number()) & self.mask;
            x = x.wrapping_mul(seed.number() | 1) & self.mask;
            x ^= x >> self.shift;
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pearson's statistic of so many draws, with the rare ranks pooled, and its degrees of freedom.
    fn chi_squared(n: u64, draws: u32, seed: u64) -> (f64, f64) {
        let zipf = Zipf::new(n);
        let mut random = Random::new(seed);
        let mut seen = vec![0u32; n as usize];
        for _ in 0..draws {
            seen[zipf.draw(&mut random) as usize - 1] += 1;
        }
        let total: f64 = (1..=n).map(|rank| (rank as f64).powf(-EXPONENT)).sum();
        let (mut statistic, mut cells) = (0.0, 0.0);
        let (mut expected, mut observed) = (0.0, 0.0);
        for rank in 1..=n {
            expected += f64::from(draws) * (rank as f64).powf(-EXPONENT) / total;
            observed += f64::from(seen[rank as usize - 1]);
            if expected >= 20.0 || rank == n {
                statistic += (observed - expected).powi(2) / expected;
                cells += 1.0;
                (expected, observed) = (0.0, 0.0);
            }
        }
        (statistic, cells - 1.0)
    }

    #[test]
    fn ranks_come_as_often_as_their_weights_say() {
        for (n, seed) in [(2, 1), (3, 2), (10, 3), (1_000, 4), (100_000, 5)] {
            let (statistic, freedom) = chi_squared(n, 200_000, seed);
            // Five standard deviations of a chi-squared variable.
            let most = freedom + 5.0 * (2.0 * freedom).sqrt() + 5.0;
            assert!(
                statistic < most,
                "n {n}, seed {seed}: {statistic} of {freedom}"
            );
        }
    }

    #[test]
    fn one_rank_is_always_drawn() {
        let mut random = Random::new(9);
        assert!((0..100).all(|_| Zipf::new(1).draw(&mut random) == 1));
    }

    proptest! {
        #[test]
        fn scattering_gives_every_number_a_place_of_its_own(n in 1u64..3_000, seed: u64) {
            let scatter = Scatter::new(n, seed);
            let mut places: Vec<u64> = (0..n).map(|number| scatter.place(number)).collect();
            places.sort_unstable();
            prop_assert!(places.into_iter().eq(0..n));
        }
    }

    #[test]
    fn neighbouring_ranks_do_not_lie_side_by_side() {
        let scatter = Scatter::new(100_000, 3);
        let far = (0..100).filter(|rank| {
            let (a, b) = (scatter.place(*rank), scatter.place(rank + 1));
            a.abs_diff(b) > 1_000
        });
        assert!(far.count() > 90);
    }
}
