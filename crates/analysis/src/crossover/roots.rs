//! Where the line through the points of a sweep crosses 1: for drawing.

use super::{SweepPoint, distinct};

/// The sizes in bytes, rising, at which the ratio crosses 1 if it is drawn as straight lines
/// between neighbouring points, both axes logarithmic. For a mark in a picture and nothing else:
/// factor-2 sweeps have put the first root at 27.7 to 28.7 KB, and three more sizes at 19.3 KB
/// (METHOD "Crossover"). A point without a figure interrupts the line.
#[must_use]
pub fn interpolated_roots(points: &[SweepPoint]) -> Vec<f64> {
    let places: Vec<(f64, Option<f64>)> = distinct(points)
        .iter()
        .filter(|point| point.size > 0)
        .map(|point| (point.size as f64, point.ln_ratio()))
        .collect();
    let on_points = places
        .iter()
        .filter(|(_, ln)| *ln == Some(0.0))
        .map(|(size, _)| *size);
    let between = places.windows(2).filter_map(|pair| {
        let [(a, Some(at_a)), (b, Some(at_b))] = *pair else {
            return None;
        };
        (at_a * at_b < 0.0).then(|| a * (b / a).powf(at_a / (at_a - at_b)))
    });
    let mut roots: Vec<f64> = on_points.chain(between).collect();
    roots.sort_by(f64::total_cmp);
    roots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crossover::testing::{gap, point};

    #[test]
    fn a_power_law_is_crossed_exactly_where_it_is_one() {
        // ratio = (size / 3000)^-0.7
        let ratio = |size: u64| (size as f64 / 3000.0).powf(-0.7);
        let points = [1024, 2048, 4096, 8192].map(|size| point(size, ratio(size)));
        let roots = interpolated_roots(&points);
        assert_eq!(roots.len(), 1);
        assert!((roots[0] - 3000.0).abs() < 1e-6, "{roots:?}");
    }

    #[test]
    fn the_recorded_sweep_has_three_roots_and_bisection_would_find_one() {
        let sweep = [(16, 0.79), (20, 1.04), (24, 1.08), (28, 0.98), (32, 1.05)];
        let points = sweep.map(|(kb, ratio)| point(kb * 1024, ratio));
        let in_kb: Vec<f64> = interpolated_roots(&points)
            .iter()
            .map(|root| (root / 102.4).round() / 10.0)
            .collect();
        assert_eq!(in_kb, [19.4, 27.1, 29.1]);
    }

    #[test]
    fn a_point_at_one_is_one_root_and_touching_from_one_side_is_a_root_too() {
        let points = [(1, 0.5), (2, 1.0), (4, 2.0), (8, 1.0), (16, 2.0)];
        let roots = interpolated_roots(&points.map(|(size, ratio)| point(size, ratio)));
        assert_eq!(roots, [2.0, 8.0]);
    }

    #[test]
    fn a_line_is_not_drawn_across_a_size_without_a_figure() {
        assert!(interpolated_roots(&[point(10, 0.5), gap(20), point(40, 2.0)]).is_empty());
        let zero = [point(10, 0.0), point(20, 2.0)];
        assert!(interpolated_roots(&zero).is_empty());
    }
}
