//! What a store takes to be built: so much for each value (a file, a request), and so much for each byte.

use std::time::Duration;

/// Squared seconds by which a build takes another time than prices say: 0.1 s, assumed.
const NOISE: f64 = 0.01;
/// Seconds for a byte where nothing is known yet: assumed.
const TYPICAL: f64 = 1.0 / 250e6;
/// By how much that may be off, in seconds for a byte: assumed.
const BYTES_OFF: f64 = 10.0 * TYPICAL;
/// What a value may take beyond its bytes, in seconds: by its order what S3 does (docs/servers.md).
const VALUES_OFF: f64 = 1e-3;

/// Both prices by least squares of what was built, with what is known of any machine as one more build: where all
/// values have one size, nothing else tells the prices apart, and small values are dear by their number.
/// (S3 on one machine did 485 overwrites of 1 kB a second, and 135 of 1 MB: by bytes alone, a value of 1 MB was thought to
/// take 280 times as long as it does, and the study `servers` never began with its values of 100 kB.)
pub(super) struct Prices {
    values_values: f64,
    values_bytes: f64,
    bytes_bytes: f64,
    values_seconds: f64,
    bytes_seconds: f64,
    /// All seconds.
    seconds: f64,
}

impl Default for Prices {
    fn default() -> Self {
        let bytes_bytes = NOISE / (BYTES_OFF * BYTES_OFF);
        Self {
            values_values: NOISE / (VALUES_OFF * VALUES_OFF),
            values_bytes: 0.0,
            bytes_bytes,
            values_seconds: 0.0,
            bytes_seconds: bytes_bytes * TYPICAL,
            seconds: 0.0,
        }
    }
}

impl Prices {
    /// Notes a build.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn note(&mut self, values: u64, bytes: u64, took: Duration) {
        let (values, bytes, seconds) = (values as f64, bytes as f64, took.as_secs_f64());
        self.values_values += values * values;
        self.values_bytes += values * bytes;
        self.bytes_bytes += bytes * bytes;
        self.values_seconds += values * seconds;
        self.bytes_seconds += bytes * seconds;
        self.seconds += seconds;
    }

    /// The seconds that all builds took which were noted.
    pub(super) fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The seconds that a store is likely to take.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn of(&self, values: u64, bytes: u64) -> f64 {
        let (value, byte) = self.of_one();
        values as f64 * value + bytes as f64 * byte
    }

    /// Seconds for a value and for a byte; neither is below nothing.
    fn of_one(&self) -> (f64, f64) {
        let determinant =
            self.values_values * self.bytes_bytes - self.values_bytes * self.values_bytes;
        let value = (self.values_seconds * self.bytes_bytes
            - self.bytes_seconds * self.values_bytes)
            / determinant;
        let byte = (self.bytes_seconds * self.values_values
            - self.values_seconds * self.values_bytes)
            / determinant;
        match (value < 0.0, byte < 0.0) {
            (true, _) => (0.0, self.bytes_seconds / self.bytes_bytes),
            (_, true) => (self.values_seconds / self.values_values, 0.0),
            _ => (value, byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(builds: &[(u64, u64, f64)]) -> Prices {
        let mut prices = Prices::default();
        for &(values, bytes, seconds) in builds {
            prices.note(values, bytes, Duration::from_secs_f64(seconds));
        }
        prices
    }

    #[track_caller]
    fn is_about(seconds: f64, expected: f64) {
        assert!(
            (seconds / expected).ln().abs() < 0.1,
            "{seconds} instead of {expected}"
        );
    }

    #[test]
    fn before_anything_was_built_a_disk_is_a_typical_one() {
        is_about(Prices::default().of(10, 250_000_000), 1.0);
    }

    #[test]
    fn what_was_built_takes_as_long_again() {
        for (values, bytes, seconds) in [(2_000, 2_000_000, 5.0), (100, 1_000_000_000, 8.0)] {
            let prices = noted(&[(values, bytes, seconds); 2]);
            is_about(prices.of(values, bytes), seconds);
            is_about(prices.of(2 * values, 2 * bytes), 2.0 * seconds);
            is_about(prices.seconds(), 2.0 * seconds);
        }
    }

    #[test]
    fn small_values_are_dear_by_their_number_and_large_ones_by_their_bytes() {
        let small = noted(&[(2_000, 2_000_000, 5.0)]);
        assert!(small.of(500, 50_000_000) < 6.0);
        let large = noted(&[(100, 100_000_000, 5.0)]);
        assert!(large.of(10_000, 10_000_000) < 3.0);
    }

    #[test]
    fn of_two_sizes_both_prices_are_known() {
        let builds = [(10_000, 10_000_000), (100, 100_000_000)];
        let of = |(values, bytes): (u64, u64)| values as f64 * 3e-4 + bytes as f64 * 2e-8;
        let prices = noted(&builds.map(|build| (build.0, build.1, of(build))));
        is_about(prices.of(5_000, 50_000_000), of((5_000, 50_000_000)));
    }

    #[test]
    fn no_price_is_below_nothing() {
        let prices = noted(&[(10_000, 10_000_000, 1.0), (100, 100_000_000, 0.001)]);
        assert!(prices.of(0, 1_000_000_000) >= 0.0);
        let prices = noted(&[(10_000, 1_000_000, 0.001), (10_000, 100_000_000, 10.0)]);
        assert!(prices.of(10_000, 0) >= 0.0);
    }
}
