//! The axis of a chart: where a value lies between its ends, and which values are marked.

/// From this spread on, the smallest bars of a linear axis could no longer be told apart.
const LOGARITHMIC_FROM: f64 = 10.0;

/// An axis from `low` to `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    logarithmic: bool,
    origin: f64,
}

impl Scale {
    /// An axis for bars: from 0, or logarithmic if the bars differ by more than tenfold.
    /// `ends` are the ends of intervals and other marks that must lie within it.
    pub fn for_bars(bars: &[f64], ends: &[f64]) -> Self {
        let (shortest, longest) = span(bars.iter().copied());
        let (low, high) = span(bars.iter().chain(ends).copied());
        if longest > shortest * LOGARITHMIC_FROM {
            Self::logarithmic(low, high)
        } else {
            Self::linear(high)
        }
    }

    /// As [`Self::for_bars`], where the study may ask for the one or the other; logarithmic bars begin
    /// at a power of ten.
    #[must_use]
    pub fn of_bars(bars: &[f64], ends: &[f64], logarithmic: Option<bool>) -> Self {
        let suited = Self::for_bars(bars, ends);
        let (low, high) = span(bars.iter().chain(ends).copied());
        match logarithmic.unwrap_or(suited.logarithmic) {
            false => Self::linear(high),
            true if high > 0.0 => {
                Self::logarithmic(10f64.powf(low.log10().floor()), high).with_bars_from_its_end()
            }
            true => suited,
        }
    }

    /// A logarithmic axis with some air at both ends.
    pub fn logarithmic(low: f64, high: f64) -> Self {
        let usable = low.is_finite() && low > 0.0 && high >= low;
        let (low, high) = if usable { (low, high) } else { (0.1, 10.0) };
        Self::of_factors(low / 1.15, high * 1.15)
    }

    /// A logarithmic axis over those of these values that have a place on one.
    pub fn over(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = span(values);
        Self::logarithmic(low, high)
    }

    fn of_factors(low: f64, high: f64) -> Self {
        Self {
            low,
            high,
            logarithmic: true,
            origin: 1.0,
        }
    }

    /// An axis from 0, with some air at its end.
    pub fn linear(high: f64) -> Self {
        let usable = high.is_finite() && high > 0.0;
        Self {
            low: 0.0,
            high: if usable { high * 1.02 } else { 1.0 },
            logarithmic: false,
            origin: 0.0,
        }
    }

    /// Whether equal distances mean equal factors.
    pub fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// Where `value` lies: 0 at the low end, 1 at the high end.
    pub fn position(&self, value: f64) -> f64 {
        let position = if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if position.is_nan() {
            return 0.0;
        }
        position.clamp(0.0, 1.0)
    }

    /// Where bars start: at 0, or on a logarithmic axis, which has no 0, at 1.
    pub fn origin(&self) -> f64 {
        self.origin
    }

    /// The axis on which bars start at its low end: 1 means something for ratios only.
    #[must_use]
    pub fn with_bars_from_its_end(mut self) -> Self {
        self.origin = self.low;
        self
    }

    /// Three to eight round values to mark.
    pub fn ticks(&self) -> Vec<f64> {
        if !self.logarithmic {
            let step = round_step((self.high - self.low) / 6.0);
            let ticks = (0..=8).map(|index| f64::from(index) * step);
            return ticks.filter(|tick| *tick <= self.high).collect();
        }
        match (self.high / self.low).log10() {
            decades if decades > 3.0 => self.multiples(&[1.0]),
            decades if decades > 1.7 => self.multiples(&[1.0, 3.0]),
            _ => self.multiples(&[1.0, 2.0, 5.0]),
        }
    }

    /// Values to mark on a logarithmic axis of ratios that may span little: at least four, if
    /// steps of a tenth are enough for that.
    pub fn fine_ticks(&self) -> Vec<f64> {
        const DIGITS: [&[f64]; 4] = [
            &[1.0],
            &[1.0, 2.0, 5.0],
            &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
            &[
                1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0,
            ],
        ];
        let ticks = DIGITS.map(|digits| self.multiples(digits));
        let [.., finest] = &ticks;
        let enough = ticks.iter().find(|ticks| ticks.len() >= 4);
        enough.unwrap_or(finest).clone()
    }

    /// At most six sizes in bytes to mark, a power of two apart, such as 1, 4, 16 … KiB.
    pub fn size_ticks(&self) -> Vec<f64> {
        let doublings = (0..63).map(|power| 2f64.powi(power));
        let within: Vec<f64> = doublings.filter(|tick| self.contains(*tick)).collect();
        let step = within.len().div_ceil(6).max(1);
        within.into_iter().step_by(step).collect()
    }

    fn contains(&self, value: f64) -> bool {
        value >= self.low && value <= self.high
    }

    /// The digits times powers of ten that lie on the axis.
    fn multiples(&self, digits: &[f64]) -> Vec<f64> {
        (-12..=12)
            .map(|exponent| 10f64.powi(exponent))
            .flat_map(|decade| digits.iter().map(move |digit| digit * decade))
            .filter(|tick| self.contains(*tick))
            .collect()
    }
}

/// The least and the greatest of those values that a logarithmic axis has a place for.
fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let positive = values.filter(|value| value.is_finite() && *value > 0.0);
    positive.fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

/// The next larger step of the form 1, 2 or 5 times a power of ten.
fn round_step(at_least: f64) -> f64 {
    let decade = 10f64.powf(at_least.log10().floor());
    [1.0, 2.0, 5.0]
        .map(|digit| digit * decade)
        .into_iter()
        .find(|step| *step >= at_least * 0.999)
        .unwrap_or(decade * 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_on_the_axis_and_ticks_are_round() {
        let scale = Scale::for_bars(&[1.0, 2.4, 5.0], &[0.5, 5.2]);
        assert_eq!(scale.ticks(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!(scale.position(5.2) < 1.0 && scale.position(5.2) > 0.95);
        // A spread over ten makes the axis logarithmic.
        assert!(!Scale::for_bars(&[1.0, 1.1, 5.43], &[0.3]).is_logarithmic());
        let scale = Scale::for_bars(&[1.0, 13.75], &[]);
        assert!(scale.is_logarithmic());
        assert_eq!(scale.ticks(), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(scale.origin(), 1.0);
        let narrow = Scale::logarithmic(0.9, 1.1);
        assert_eq!(narrow.fine_ticks(), [0.8, 0.9, 1.0, 1.1, 1.2]);
        let wide = Scale::logarithmic(0.2, 3.0);
        assert_eq!(wide.fine_ticks(), [0.2, 0.5, 1.0, 2.0]);
        let sizes = Scale::logarithmic(1024.0, 1_048_576.0).size_ticks();
        let powers = [10, 12, 14, 16, 18, 20];
        assert_eq!(sizes, powers.map(|power| 2f64.powi(power)));
    }

    #[test]
    fn bars_of_quantities_below_1_grow_from_the_low_end() {
        let scale = Scale::logarithmic(0.01, 10.0);
        assert!(scale.position(scale.origin()) > 0.5);
        let scale = scale.with_bars_from_its_end();
        assert_eq!(scale.position(scale.origin()), 0.0);
    }

    #[test]
    fn useless_values_do_not_break_the_axis() {
        for scale in [
            Scale::for_bars(&[], &[]),
            Scale::for_bars(&[f64::NAN, f64::INFINITY], &[-1.0]),
            Scale::logarithmic(f64::INFINITY, 0.0),
        ] {
            assert!((0.0..=1.0).contains(&scale.position(f64::NAN)));
            assert!(!scale.ticks().is_empty());
        }
    }
}
