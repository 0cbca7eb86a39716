//! Seeded random numbers, the same on every machine and in every version.
//!
//! Not `rand`: its generators may change between versions, and then a seed would no longer name
//! the same dataset.

/// An odd constant near 2^64 divided by the golden ratio: steps by it visit every number.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Scatters: numbers that differ in one bit become unrelated (finaliser of splitmix64, a
/// bijection).
#[must_use]
pub const fn scatter(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// One number from several, in order.
#[must_use]
pub fn scatter_all(parts: &[u64]) -> u64 {
    parts.iter().fold(0, |state, part| {
        scatter(state.wrapping_add(GOLDEN) ^ scatter(part.wrapping_add(GOLDEN)))
    })
}

/// The splitmix64 generator.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The sequence that a seed begins.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number; each of 64 bits is as good as another.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        scatter(self.state)
    }

    /// A number from 0 to `end - 1`, each exactly equally likely (Lemire, "Fast random integer
    /// generation in an interval", 2019); 0 if `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        loop {
            let product = u128::from(self.number()) * u128::from(end);
            let (high, low) = halves(product);
            // Of the 2^64 values of `low`, the first `2^64 mod end` would favour some results.
            if low >= end || low >= end.wrapping_neg().checked_rem(end).unwrap_or(0) {
                return high;
            }
        }
    }

    /// A number from 0 (included) to 1 (excluded).
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit into a double")]
    pub fn unit(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[expect(clippy::cast_possible_truncation, reason = "cuts into halves")]
fn halves(product: u128) -> (u64, u64) {
    ((product >> 64) as u64, product as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_generator_gives_the_published_numbers_of_splitmix64() {
        let mut random = Random::new(1_234_567);
        let published = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
        assert_eq!([random.number(), random.number()], published);
    }

    #[test]
    fn small_ranges_are_met_evenly() {
        let mut random = Random::new(1);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[random.below(6) as usize] += 1;
        }
        assert!(
            counts.iter().all(|n| (9_600..10_400).contains(n)),
            "{counts:?}"
        );
    }

    #[test]
    fn order_and_number_of_parts_matter() {
        assert_ne!(scatter_all(&[1, 2]), scatter_all(&[2, 1]));
        assert_ne!(scatter_all(&[0]), scatter_all(&[0, 0]));
    }

    proptest! {
        #[test]
        fn a_number_below_stays_below(seed: u64, end: u64) {
            let number = Random::new(seed).below(end);
            prop_assert!(number < end || end == 0);
        }
    }
}
