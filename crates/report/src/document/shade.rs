//! The colours of ratios: two hues that part at 1, in shades of equal factors on either side.

/// Within this factor of 1, a ratio has no hue.
const FIRST: f64 = 1.05;
/// From here on, each shade spans this factor: half a doubling.
const STEP: f64 = std::f64::consts::SQRT_2;
/// Shades of each hue.
pub const DEEPEST: i8 = 5;

/// The shade of a ratio: 0 near 1, positive above and negative below, deeper the farther away, at
/// most [`DEEPEST`]; nothing for what is no ratio. A ratio and its inverse have opposite shades.
pub fn shade(ratio: f64) -> Option<i8> {
    if !(ratio.is_finite() && ratio > 0.0) {
        return None;
    }
    let away = ratio.ln().abs();
    if away < FIRST.ln() {
        return Some(0);
    }
    let deep = (away / STEP.ln()).floor().min(f64::from(DEEPEST - 1)) as i8 + 1;
    Some(if ratio > 1.0 { deep } else { -deep })
}

/// The factor from 1 at which the shade of this depth begins.
pub fn begins(depth: i8) -> f64 {
    match depth {
        i8::MIN..=0 => 1.0,
        1 => FIRST,
        deeper => STEP.powi(i32::from(deeper) - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn published_ratios_have_the_shades_one_expects_and_each_begins_where_it_says() {
        let shades = [0.233, 0.608, 0.983, 1.035, 1.255, 1.535, 2.439].map(shade);
        assert_eq!(shades, [-5, -2, 0, 0, 1, 2, 3].map(Some));
        for none in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(shade(none), None);
        }
        for depth in 1..=DEEPEST {
            assert_eq!(shade(begins(depth) * 1.0001), Some(depth));
            assert_eq!(shade(begins(depth) / 1.0001), Some(depth - 1));
        }
    }

    proptest! {
        #[test]
        fn a_ratio_and_its_inverse_have_opposite_shades(ln in -5.0..5.0f64) {
            // At the very edge of a shade, rounding of the inverse may decide.
            let edge = (ln.abs() / STEP.ln()).fract();
            prop_assume!(edge > 1e-9 && edge < 1.0 - 1e-9);
            let (there, back) = (shade(ln.exp()), shade((-ln).exp()));
            prop_assert_eq!(there, back.map(|shade| -shade));
        }
    }
}
