//! Sizes of many values in little memory: their number, their quantiles, their spread.

use stowplan_model::SizeBin;

/// Rows of each doubling, as a power of two: quantiles are known to one part in so many.
const PRECISION: u32 = 5;

/// Sizes, counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sizes {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
    pub(crate) smallest: u64,
    pub(crate) largest: u64,
    pub(crate) empty: u64,
    rows: Vec<u64>,
    /// Mean of the natural logarithms of sizes above 0, and the sum of squares about it (Welford
    /// 1962).
    mean: f64,
    squares: f64,
}

impl Sizes {
    /// Counts one more.
    #[expect(clippy::cast_precision_loss, reason = "logarithms and counts")]
    pub(crate) fn add(&mut self, size: u64) {
        self.smallest = match self.count {
            0 => size,
            _ => self.smallest.min(size),
        };
        self.largest = self.largest.max(size);
        self.count += 1;
        self.bytes = self.bytes.saturating_add(size);
        let row = row_of(size);
        if self.rows.len() <= row {
            self.rows.resize(row + 1, 0);
        }
        self.rows[row] += 1;
        if size == 0 {
            self.empty += 1;
            return;
        }
        let logarithm = (size as f64).ln();
        let before = logarithm - self.mean;
        self.mean += before / (self.count - self.empty) as f64;
        self.squares += before * (logarithm - self.mean);
    }

    /// Standard deviation of the natural logarithm of the sizes above 0.
    #[expect(clippy::cast_precision_loss, reason = "a count")]
    pub(crate) fn sigma(&self) -> f64 {
        let others = (self.count - self.empty).saturating_sub(1);
        match others {
            0 => 0.0,
            _ => (self.squares / others as f64).sqrt(),
        }
    }

    /// The size that a share of the values does not exceed, to one part in 32; within a row, sizes count as
    /// equally likely.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank"
    )]
    pub(crate) fn quantile(&self, share: f64) -> u64 {
        let rank = ((self.count as f64 * share).ceil() as u64).max(1);
        let mut before = 0;
        for (row, values) in self.rows.iter().enumerate() {
            if before + values >= rank {
                let (from, to) = bounds(row);
                let inside = (rank - before) as f64 / *values as f64 * (to - from) as f64;
                return (from + inside as u64).clamp(self.smallest, self.largest);
            }
            before += values;
        }
        self.largest
    }

    /// Rows by rising size, four for each doubling, those without values left out.
    pub(crate) fn histogram(&self) -> Vec<SizeBin> {
        let mut bins: Vec<SizeBin> = Vec::new();
        for (row, values) in self.rows.iter().enumerate().filter(|(_, n)| **n > 0) {
            let (from, to) = quarter(bounds(row).0);
            match bins.last_mut() {
                Some(last) if last.from == from => last.values += values,
                _ => bins.push(SizeBin {
                    from,
                    to,
                    values: *values,
                }),
            }
        }
        if let Some(first) = bins.first_mut() {
            first.from = self.smallest;
        }
        if let Some(last) = bins.last_mut() {
            last.to = self.largest;
        }
        bins
    }
}

/// Small sizes have rows of their own, larger ones share them.
#[expect(clippy::cast_possible_truncation, reason = "at most 1,920")]
fn row_of(size: u64) -> usize {
    let octave = size.checked_ilog2().unwrap_or(0);
    match octave.checked_sub(PRECISION) {
        None => size as usize,
        Some(above) => ((u64::from(above) << PRECISION) + (size >> above)) as usize,
    }
}

/// The smallest and the largest size of a row.
fn bounds(row: usize) -> (u64, u64) {
    let row = row as u64;
    let above = (row >> PRECISION).saturating_sub(1);
    let from = (row - (above << PRECISION)) << above;
    (from, from + ((1 << above) - 1))
}

/// The quarter of a doubling that a size lies in.
fn quarter(size: u64) -> (u64, u64) {
    let octave = size.checked_ilog2().unwrap_or(0);
    match octave.checked_sub(2) {
        None => (size, size),
        Some(above) => {
            let from = size >> above << above;
            (from, from + ((1 << above) - 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(sizes: impl IntoIterator<Item = u64>) -> Sizes {
        let mut counted = Sizes::default();
        sizes.into_iter().for_each(|size| counted.add(size));
        counted
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_sizes_to_a_few_parts_in_a_hundred() {
        let sizes = of((0..10_000).map(|i| 100 + i * 7));
        for (share, exact) in [(0.5, 35_100.0), (0.95, 66_600.0)] {
            let found = sizes.quantile(share) as f64;
            assert!((found / exact - 1.0).abs() < 0.02, "{share}: {found}");
        }
        assert_eq!(of([5, 5, 5]).quantile(0.5), 5);
        assert_eq!(of([100_003]).quantile(0.95), 100_003);
        assert_eq!(of([]).quantile(0.5), 0);
    }

    #[test]
    fn sigma_is_that_of_the_logarithms() {
        let e = std::f64::consts::E;
        let sizes = [1_000.0, 1_000.0 * e, 1_000.0 * e * e].map(|size: f64| size.round() as u64);
        let sizes = of(sizes.into_iter().chain([0]));
        assert!((sizes.sigma() - 1.0).abs() < 0.001, "{}", sizes.sigma());
        assert!(of([7, 7, 7]).sigma() < 1e-9);
    }

    proptest! {
        #[test]
        fn every_size_is_in_the_row_that_has_its_bounds(size: u64) {
            let (from, to) = bounds(row_of(size));
            prop_assert!((from..=to).contains(&size), "{size} in {from} to {to}");
            prop_assert!(to - from <= size / 32);
        }

        #[test]
        fn a_histogram_holds_every_value_and_rises(
            sizes in prop::collection::vec(0u64..100_000, 1..200)
        ) {
            let bins = of(sizes.iter().copied()).histogram();
            for bin in &bins {
                let inside = sizes.iter().filter(|s| (bin.from..=bin.to).contains(*s));
                prop_assert_eq!(inside.count() as u64, bin.values);
            }
            prop_assert!(bins.windows(2).all(|pair| pair[0].to < pair[1].from));
        }
    }
}
