//! Exact null distributions behind the intervals: Wilcoxon's signed-rank statistic and the sign
//! statistic.
//!
//! Both answer the same question, "which order statistic bounds the interval?", and both count
//! from 1: an interval runs from the `k`-th smallest to the `k`-th largest value.

/// The largest number of differences for which the distributions are computed.
///
/// The work grows with the cube of the number (n = 200: four million additions). All terms are
/// positive, so the relative error stays below `n` roundings and is far from deciding a table
/// value; the cap bounds the work, not the accuracy.
pub const MAX_DIFFERENCES: usize = 200;

/// The rank `k` of the Walsh averages that bound the interval `[w_(k), w_(M+1−k)]`: the largest
/// `k` with `P(T⁺ ≤ k − 1) ≤ alpha/2` under the null distribution of the signed-rank statistic
/// `T⁺` of `n` differences (METHOD "Ratios"; Hollander & Wolfe, *Nonparametric Statistical Methods*,
/// §3.3).
///
/// Nothing if `n` is too small for an interval at this `alpha` (0 < alpha < 1), or above
/// [`MAX_DIFFERENCES`].
#[must_use]
pub fn k(n: usize, alpha: f64) -> Option<usize> {
    if n > MAX_DIFFERENCES {
        return None;
    }
    rank_within(&signed_rank_distribution(n), alpha)
}

/// The rank `k` of the values that bound the interval of their median, `[x_(k), x_(n+1−k)]`: the
/// largest `k` with `P(B ≤ k − 1) ≤ alpha/2`, `B` binomial with `n` and 1/2 (Hollander & Wolfe,
/// §3.6).
///
/// Nothing if `n` is too small for an interval at this `alpha` (0 < alpha < 1), or above
/// [`MAX_DIFFERENCES`].
#[must_use]
pub fn sign_k(n: usize, alpha: f64) -> Option<usize> {
    if n > MAX_DIFFERENCES {
        return None;
    }
    rank_within(&binomial_distribution(n), alpha)
}

/// The largest `k ≥ 1` such that the first `k` probabilities sum to at most `alpha/2`.
pub(crate) fn rank_within(distribution: &[f64], alpha: f64) -> Option<usize> {
    let mut tail = 0.0;
    let within = distribution
        .iter()
        .take_while(|probability| {
            tail += **probability;
            tail <= alpha / 2.0
        })
        .count();
    // With alpha near 2 everything is "tail"; a rank beyond the middle bounds nothing.
    (1..=distribution.len() / 2)
        .contains(&within)
        .then_some(within)
}

/// `P(T⁺ = t)` for `t` from 0 to `n(n+1)/2`. Rank `i` is in the sum or not, each with
/// probability 1/2, so `P_i(t) = (P_{i−1}(t) + P_{i−1}(t − i)) / 2`; halving at each step keeps
/// the numbers probabilities, where counts would overflow.
fn signed_rank_distribution(n: usize) -> Vec<f64> {
    let mut probabilities = vec![1.0];
    for rank in 1..=n {
        probabilities = with_step(&probabilities, rank);
    }
    probabilities
}

/// `P(B = b)` for `b` from 0 to `n`: the same recurrence with every rank counting 1.
fn binomial_distribution(n: usize) -> Vec<f64> {
    (0..n).fold(vec![1.0], |probabilities, _| with_step(&probabilities, 1))
}

/// The distribution of a sum after adding `step` to it with probability 1/2.
fn with_step(probabilities: &[f64], step: usize) -> Vec<f64> {
    let mut next = vec![0.0; probabilities.len() + step];
    for (sum, probability) in probabilities.iter().enumerate() {
        next[sum] += probability / 2.0;
        next[sum + step] += probability / 2.0;
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table has a line for each alpha, with the rank behind each number of differences.
    #[track_caller]
    fn holds(rank: impl Fn(usize, f64) -> Option<usize>, table: &str) {
        for line in table.lines() {
            let (alpha, ranks) = line.split_once(": ").unwrap();
            for pair in ranks.split(", ") {
                let (n, expected) = pair.split_once(' ').unwrap();
                let found = rank(n.parse().unwrap(), alpha.parse().unwrap());
                assert_eq!(found, Some(expected.parse().unwrap()), "{alpha}, n={n}");
            }
        }
    }

    /// Two-sided; McCornack 1965 and the tables of Hollander & Wolfe, checked once more by counting
    /// with whole numbers of any length.
    const CRITICAL: &str = "\
0.10: 5 0, 10 10, 20 60, 30 151, 40 286, 50 466
0.05: 6 0, 7 2, 8 3, 9 5, 10 8, 12 13, 15 25, 20 52, 25 89, 30 137, 40 264, 50 434, 100 1955
0.02: 10 5, 20 43, 40 238, 50 397
0.01: 8 0, 10 3, 20 37, 30 109, 40 220, 50 373, 100 1779
0.0207: 10 5, 20 43, 40 238";

    #[test]
    fn critical_values_are_those_of_published_tables() {
        // Published values `T`, the largest with `P(T⁺ ≤ T) ≤ alpha/2`, are `k − 1`.
        holds(|n, alpha| k(n, alpha).map(|k| k - 1), CRITICAL);
    }

    #[test]
    fn ranks_of_the_sign_interval_are_those_of_binomial_tables() {
        let table = "\
0.05: 6 1, 10 2, 20 6, 40 14, 100 40
0.01: 10 1, 50 16
0.0207: 10 1, 20 5, 40 13";
        holds(sign_k, table);
    }

    #[test]
    fn too_few_or_too_many_differences_or_a_tail_of_more_than_half_have_no_rank() {
        let most = MAX_DIFFERENCES;
        for (n, alpha) in [(0, 0.05), (5, 0.05), (most + 1, 0.05), (20, 1.2), (20, 1.9)] {
            let ranks = (k(n, alpha), sign_k(n, alpha));
            assert_eq!(ranks, (None, None), "{n}, {alpha}");
        }
        assert!(k(most, 0.05).is_some() && sign_k(most, 0.05).is_some());
    }

    #[test]
    fn probabilities_sum_to_one_and_are_symmetric() {
        for n in [1, 10, 40, 100, MAX_DIFFERENCES] {
            let distribution = signed_rank_distribution(n);
            let sum: f64 = distribution.iter().sum();
            assert!((sum - 1.0).abs() < 1e-12, "n={n}: {sum}");
            let mirrored = distribution.iter().rev();
            for (a, b) in distribution.iter().zip(mirrored) {
                assert!((a - b).abs() <= 1e-12 * a, "n={n}");
            }
        }
    }
}
