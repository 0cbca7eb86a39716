//! Sizes of many values in little memory: their number, their quantiles, their spread.

use hdrhistogram::Histogram;
use stowplan_model::{SizeBin, Survey};

/// Quantiles are known to one part in a thousand.
const DIGITS: u8 = 3;

/// Sizes, counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sizes {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
    pub(crate) smallest: u64,
    pub(crate) largest: u64,
    pub(crate) empty: u64,
    counts: Option<Histogram<u64>>,
    /// Mean of the natural logarithms of sizes above 0, and the sum of squares about it (Welford
    /// 1962).
    mean: f64,
    squares: f64,
}

impl Sizes {
    /// Counts one more.
    pub(crate) fn add(&mut self, size: u64) {
        self.smallest = match self.count {
            0 => size,
            _ => self.smallest.min(size),
        };
        self.largest = self.largest.max(size);
        self.count += 1;
        self.bytes = self.bytes.saturating_add(size);
        if self.counts.is_none() {
            self.counts = Histogram::new(DIGITS).ok();
        }
        if let Some(counts) = &mut self.counts {
            // It grows, and no size is too large for it.
            let _ = counts.record(size);
        }
        if size == 0 {
            self.empty += 1;
            return;
        }
        let logarithm = (size as f64).ln();
        let before = logarithm - self.mean;
        self.mean += before / (self.count - self.empty) as f64;
        self.squares += before * (logarithm - self.mean);
    }

    /// What a survey says of them; the rest is empty.
    pub(crate) fn survey(&self) -> Survey {
        Survey {
            values: self.count,
            bytes: self.bytes,
            smallest: self.smallest,
            largest: self.largest,
            median: self.quantile(0.5),
            percentile_95: self.quantile(0.95),
            sigma: self.sigma(),
            empty: self.empty,
            histogram: self.histogram(),
            ..Survey::default()
        }
    }

    /// Standard deviation of the natural logarithm of the sizes above 0.
    fn sigma(&self) -> f64 {
        match (self.count - self.empty).saturating_sub(1) {
            0 => 0.0,
            others => (self.squares / others as f64).sqrt(),
        }
    }

    /// The size that a share of the values does not exceed.
    fn quantile(&self, share: f64) -> u64 {
        let counts = self.counts.as_ref();
        let found = counts.map_or(0, |counts| counts.value_at_quantile(share));
        found.clamp(self.smallest, self.largest)
    }

    /// Rows by rising size, four for each doubling, those without values left out.
    pub(crate) fn histogram(&self) -> Vec<SizeBin> {
        let mut bins: Vec<SizeBin> = Vec::new();
        for row in self.counts.iter().flat_map(Histogram::iter_recorded) {
            let values = row.count_since_last_iteration();
            let (from, to) = quarter(row.value_iterated_to());
            match bins.last_mut() {
                Some(last) if last.from == from => last.values += values,
                _ => bins.push(SizeBin { from, to, values }),
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

/// The quarter of a doubling that a size lies in.
fn quarter(size: u64) -> (u64, u64) {
    let octave = size.checked_ilog2().unwrap_or(0);
    let above = octave.saturating_sub(2);
    let from = size >> above << above;
    (from, from + ((1 << above) - 1))
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
