//! Which sizes to measure: a first sweep, then more where the order is in doubt.

use super::{Crossover, Standing, SweepPoint, crossover, distinct};
use thiserror::Error;

/// The largest factor between neighbouring sizes of the first sweep (METHOD "Crossover").
const SWEEP_FACTOR: f64 = 2.0;

/// Significant binary digits of a size that is not an end of the range: the step is at most
/// 1/32 of the size, so 23.5 KiB but not 23.47, and each whole number below 64 bytes. Rounding
/// moves a size by at most 1.6%, far less than the spacing.
const SIGNIFICANT_BITS: u32 = 6;

/// Why there is no sweep over a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SweepError {
    /// It begins with values of no size, which has no logarithm.
    #[error("a sweep over sizes cannot begin at 0 bytes; begin at 1 byte or more")]
    FromZero,
    /// The end is no larger than the beginning.
    #[error(
        "a sweep over sizes must rise, and not go from {from} to {to} bytes; swap the two ends, or \
         give a larger end"
    )]
    NotRising {
        /// Where it begins, bytes.
        from: u64,
        /// Where it ends, bytes.
        to: u64,
    },
}

/// The sizes of the first sweep, rising: both ends and between them sizes at equal factors of at
/// most 2.
///
/// # Errors
/// The range holds no two sizes in rising order, or begins at zero.
pub fn sweep(from: u64, to: u64) -> Result<Vec<u64>, SweepError> {
    if from >= to {
        return Err(SweepError::NotRising { from, to });
    }
    if from == 0 {
        return Err(SweepError::FromZero);
    }
    // A billionth less, so that ten exact doublings are not eleven steps.
    let steps = (factors(from, to, SWEEP_FACTOR) - 1e-9).ceil() as u32;
    let between = divide(from, to, steps.max(1));
    Ok([from].into_iter().chain(between).chain([to]).collect())
}

/// How far [`refine`] goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RefineLimits {
    /// A ratio is near 1 if it is within this of it, as a ratio minus one.
    pub near: f64,
    /// The most sizes added between two neighbours at once.
    pub per_bracket: u32,
    /// The factor between neighbouring sizes at which it ends: no gap smaller than this to the
    /// power of 1.5 is divided.
    pub min_spacing: f64,
}

impl Default for RefineLimits {
    /// Within 15%, three sizes (METHOD "Crossover": 3 to 6), down to an eighth of a doubling.
    fn default() -> Self {
        Self {
            near: 0.15,
            per_bracket: 3,
            min_spacing: 2_f64.powf(0.125),
        }
    }
}

/// Why the order is in doubt between two neighbouring sizes; the doubt whose end matters most
/// comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    /// A claim ends here: a size between can move the edge of the zone.
    EdgeOfClaim,
    /// The estimates lie on different sides of 1.
    SignChange,
    /// An end is near 1 or not won by anybody: the order might change and change back.
    NearOne,
}

/// Sizes to measure next, those that remove most doubt first, so that a caller with little time
/// takes the first ones. None of them is measured yet, and all lie inside the range measured.
/// Once no doubtful gap is wide enough, there are none: repeating it ends.
///
/// A gap between neighbours is doubtful if the sign of the logarithm changes across it, or if an
/// end is near 1 or not won by anybody (METHOD "Crossover"), but not if both ends are equivalent:
/// the order between them matters to nobody, and every further size is one more at which noise
/// can keep equivalence from being shown. First come sizes next to the edge of
/// what can be claimed, for only they make the zone narrower, then those where the estimates
/// change sign, then the rest; among these, always the one farthest from all sizes known or
/// listed before, as a factor.
#[must_use]
pub fn refine(points: &[SweepPoint], limits: &RefineLimits) -> Vec<u64> {
    let points = distinct(points);
    let claim = crossover(&points);
    let mut candidates: Vec<(Doubt, u64)> = Vec::new();
    for pair in points.windows(2) {
        let (a, b) = (&pair[0], &pair[1]);
        if let Some(doubt) = doubt(a, b, &claim, limits.near) {
            let pieces = pieces(a.size, b.size, limits);
            candidates.extend(divide(a.size, b.size, pieces).map(|size| (doubt, size)));
        }
    }
    let known = points.iter().map(|point| point.size).collect();
    most_doubtful_first(candidates, known)
}

fn doubt(a: &SweepPoint, b: &SweepPoint, claim: &Crossover, near: f64) -> Option<Doubt> {
    let near_one = |point: &SweepPoint| {
        let won = matches!(point.standing(), Standing::Wins(_));
        !won || point.ln_ratio().is_none_or(|ln| ln.abs() <= near.ln_1p())
    };
    let changes = match (a.ln_ratio(), b.ln_ratio()) {
        (Some(a), Some(b)) => a * b < 0.0,
        _ => false,
    };
    let equivalent = |point: &SweepPoint| point.standing() == Standing::Equivalent;
    if equivalent(a) && equivalent(b) {
        None
    } else if claim.winner_at(a.size) != claim.winner_at(b.size) {
        Some(Doubt::EdgeOfClaim)
    } else if changes {
        Some(Doubt::SignChange)
    } else if near_one(a) || near_one(b) {
        Some(Doubt::NearOne)
    } else {
        None
    }
}

/// Into how many pieces the gap between two sizes is to be divided: the nearest number that
/// makes them as wide as the minimum spacing, within the limit.
fn pieces(a: u64, b: u64, limits: &RefineLimits) -> u32 {
    let wanted = factors(a, b, limits.min_spacing).round();
    wanted.min(f64::from(limits.per_bracket) + 1.0) as u32
}

/// How often `factor` fits between two sizes.
fn factors(a: u64, b: u64, factor: f64) -> f64 {
    distance(a, b) / factor.ln()
}

/// How far two sizes are apart, as a logarithm.
fn distance(a: u64, b: u64) -> f64 {
    (b as f64 / a as f64).ln().abs()
}

/// The sizes that divide a gap into pieces of equal factors, rising and rounded; fewer where
/// rounding leaves no room for all.
fn divide(a: u64, b: u64, pieces: u32) -> impl Iterator<Item = u64> {
    let ratio = b as f64 / a as f64;
    let exact = (1..pieces).map(move |i| a as f64 * ratio.powf(f64::from(i) / f64::from(pieces)));
    let mut last = a;
    exact.map(rounded).filter(move |size| {
        let new = last < *size && *size < b;
        last = if new { *size } else { last };
        new
    })
}

fn rounded(size: f64) -> u64 {
    let whole = size.round() as u64;
    let bits = u64::BITS - whole.leading_zeros();
    let step = 1 << bits.saturating_sub(SIGNIFICANT_BITS);
    (size / step as f64).round() as u64 * step
}

fn most_doubtful_first(mut candidates: Vec<(Doubt, u64)>, mut known: Vec<u64>) -> Vec<u64> {
    let measured = known.len();
    while let Some(next) = candidates.iter().copied().min_by(|(d, s), (e, t)| {
        let farther = isolation(*t, &known).total_cmp(&isolation(*s, &known));
        d.cmp(e).then(farther).then(s.cmp(t))
    }) {
        candidates.retain(|candidate| *candidate != next);
        known.push(next.1);
    }
    known.split_off(measured)
}

/// How far the nearest known size is away.
fn isolation(size: u64, known: &[u64]) -> f64 {
    let distances = known.iter().map(|other| distance(size, *other));
    distances.fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crossover::testing::{gap, letters, point, point_between, points};
    use proptest::prelude::*;

    #[test]
    fn the_first_sweep_doubles_from_end_to_end() {
        let doublings = [1024, 2048, 4096, 8192, 16384];
        assert_eq!(sweep(1024, 16384).unwrap(), doublings);
        assert_eq!(sweep(1024, 1 << 20).unwrap().len(), 11);
        assert_eq!(sweep(1000, 1_000_000).unwrap().len(), 11);
        assert_eq!(sweep(1, 2).unwrap(), [1, 2]);
        assert_eq!(sweep(1000, 3000).unwrap(), [1000, 1728, 3000]);
    }

    #[test]
    fn a_range_without_two_rising_ends_is_an_error_that_says_what_to_do() {
        for (from, to, told) in [
            (4096, 4096, "from 4096 to 4096 bytes; "),
            (8192, 1024, "from 8192 to 1024 bytes; swap the two ends"),
            (0, 1024, "begin at 1 byte"),
        ] {
            let error = sweep(from, to).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    /// The sizes in KiB that would be measured next.
    fn next(points: &[SweepPoint]) -> Vec<f64> {
        let sizes = refine(points, &RefineLimits::default());
        sizes.into_iter().map(|size| size as f64 / 1024.0).collect()
    }

    /// A sweep of sizes that double from so many KiB, with these ratios.
    fn doubling(from: u64, ratios: &[f64]) -> Vec<SweepPoint> {
        let ratios = ratios.iter().zip(0..);
        let points = ratios.map(|(ratio, power)| point((from << power) * 1024, *ratio));
        points.collect()
    }

    #[test]
    fn a_change_of_sign_is_divided_in_four_its_middle_first() {
        let order = next(&doubling(8, &[2.0, 1.3, 0.7, 0.5]));
        assert_eq!(order, [22.5, 27.0, 19.0]);
        // Though both ends are far from 1.
        assert_eq!(next(&doubling(16, &[3.0, 0.3])).len(), 3);
    }

    #[test]
    fn changes_of_sign_come_first_also_where_no_claim_ends_and_inside_a_zone_its_edges_do() {
        let order = |sweep: Vec<SweepPoint>, first: &dyn Fn(f64) -> bool| {
            let order = next(&sweep);
            assert_eq!(order.len(), 12);
            let (before, after) = order.split_at(6);
            assert!(before.iter().all(|kb| first(*kb)), "{order:?}");
            assert!(!after.iter().any(|kb| first(*kb)), "{order:?}");
        };
        let open = doubling(1, &[3.0, 1.1, 3.0, 0.3, 3.0]);
        assert!(crossover(&open).claims().next().is_none());
        order(open, &|kb| kb > 4.0);
        // A zone from 2 to 32 KiB, with changes of sign inside.
        let zone = doubling(1, &[1.3, 1.2, 1.05, 0.95, 1.05, 0.8]);
        order(zone, &|kb| !(4.0..16.0).contains(&kb));
    }

    #[test]
    fn a_ratio_of_just_1_changes_no_sign() {
        let ends = |before| {
            let mut sweep = doubling(1, &[3.0, before, 1.0, 3.0]);
            sweep[2] = point_between(4096, 0.8, 1.25);
            if let Some(estimate) = &mut sweep[2].estimate {
                estimate.ratio = 1.0;
            }
            next(&sweep)
        };
        // The gap where the sign does change comes first, whole.
        let order = ends(0.3);
        assert_eq!(order.len(), 9);
        assert!(order[..3].iter().all(|kb| *kb < 2.0), "{order:?}");
        // There is none.
        assert_eq!(ends(3.0).len(), 6);
    }

    #[test]
    fn gaps_beside_a_size_near_one_or_that_nobody_wins_are_divided_and_no_others() {
        for (ratios, new) in [
            (&[3.0, 1.14, 3.0][..], 6),
            (&[3.0, 1.16, 3.0], 0),
            (&[0.4, 0.8], 0),
            // Both are equivalent, though the estimates change sign.
            (&[1.01, 0.99], 0),
            (&[1.01, 0.95], 3),
        ] {
            assert_eq!(next(&doubling(4, ratios)).len(), new, "{ratios:?}");
        }
        for middle in [point_between(8192, 0.9, 3.0), gap(8192)] {
            let sweep = [point(4096, 3.0), middle, point(16384, 3.0)];
            assert_eq!(next(&sweep).len(), 6, "{middle:?}");
        }
    }

    #[test]
    fn sizes_are_presentable_and_neighbouring_numbers_leave_no_room() {
        let sizes = [5.4, 63.4, 64.9, 1218.0, 19_484.0, 741_455.0].map(rounded);
        assert_eq!(sizes, [5, 63, 64, 1216, 19_456, 737_280]);
        let limits = RefineLimits::default();
        assert!(refine(&[point(10, 1.5), point(11, 0.5)], &limits).is_empty());
        assert_eq!(refine(&[point(3, 1.5), point(6, 0.5)], &limits), [4, 5]);
    }

    proptest! {
        #[test]
        fn a_sweep_has_both_ends_and_factors_of_about_two_at_most(
            from in 1..1_000_000u64, length in 1..100_000_000u64
        ) {
            let sizes = sweep(from, from + length).unwrap();
            prop_assert_eq!((sizes[0], sizes[sizes.len() - 1]), (from, from + length));
            for pair in sizes.windows(2) {
                // Whole bytes and rounding: 1, 2, 5 is possible, and 2 may become 2.06.
                let most = pair[0] as f64 * 2.07 + 1.0;
                prop_assert!(pair[0] < pair[1] && pair[1] as f64 <= most, "{sizes:?}");
            }
        }

        #[test]
        fn refining_again_and_again_stays_between_the_ends_and_ends_at_the_minimum_spacing(
            letters in letters(), answers in letters()
        ) {
            // The letters answer each size in turn, whatever the true order: the worst case.
            let mut measured = points(&letters);
            let (first, last) = (measured.first().copied(), measured.last().copied());
            let answers = points(&answers);
            let mut turns = answers.iter().cycle();
            for pass in 0.. {
                prop_assert!(pass < 6, "still refining");
                let sizes = refine(&measured, &RefineLimits::default());
                for size in &sizes {
                    prop_assert!(first.is_some_and(|first| first.size < *size));
                    prop_assert!(last.is_some_and(|last| *size < last.size));
                }
                let Some(first) = turns.next().filter(|_| !sizes.is_empty()) else { break };
                measured.extend(sizes.into_iter().map(|size| SweepPoint {
                    size, ..*turns.next().unwrap_or(first)
                }));
            }
            measured.sort_by_key(|point| point.size);
            let least = RefineLimits::default().min_spacing.powf(0.7);
            for pair in measured.windows(2) {
                prop_assert!(pair[1].size as f64 / pair[0].size as f64 > least, "{pair:?}");
            }
        }
    }
}
