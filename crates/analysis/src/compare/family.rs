//! Many cells, one exit code: which of them count as regressions when all are judged together.

use super::judge::order;
use super::{ALPHA, ChangeVerdict, Changes, Decides};

/// Judges the regressions of several comparisons as one family: what decides the exit code is
/// whether *any* cell of any of them regressed. A cell counts whose whole interval lies above the
/// threshold, and whose p value Holm's step-down (1979) holds among all cells that decide, so that
/// where nothing became slower by more than the threshold, a comparison calls anything a regression
/// with a probability of at most 5%, however the cells hang together.
///
/// [`super::compare`] has done this for one comparison; again, over several, it replaces what that
/// found.
pub fn judge_together(all: &mut [Changes]) {
    let judged = all.iter().flat_map(Changes::judged);
    let p_values: Vec<f64> = judged.map(|(_, change, _)| change.p_slower).collect();
    let mut adjusted = holm(&p_values).into_iter();
    for changes in all {
        let decides = changes.decides;
        changes.family = p_values.len();
        for cell in &mut changes.cells {
            let decisive = cell.decisive(decides);
            let decisive = decisive.filter(|_| decides != Decides::Nothing);
            cell.adjusted_p = decisive.and_then(|_| adjusted.next());
            let is_slower = decisive.is_some_and(|(_, verdict)| verdict == ChangeVerdict::Slower);
            cell.regression = is_slower && cell.adjusted_p.is_some_and(|p| p <= ALPHA);
        }
        changes.cells.sort_by(|a, b| order(decides, a, b));
    }
}

/// Adjusted p values: that of the i-th smallest of m is the largest of `(m − j + 1)·p_j` for j up to
/// i, at most 1 (Holm 1979, *Scandinavian Journal of Statistics* 6). At most `alpha` exactly where the
/// step-down rejects.
fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut ranked: Vec<(usize, f64)> = p_values.iter().copied().enumerate().collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut adjusted = vec![1.0; ranked.len()];
    let mut largest = 0.0_f64;
    for (smaller, (at, p)) in ranked.iter().enumerate() {
        largest = largest.max(p * (p_values.len() - smaller) as f64).min(1.0);
        if let Some(adjusted) = adjusted.get_mut(*at) {
            *adjusted = largest;
        }
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusted_p_values_are_those_of_holm() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
        let found = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in found.into_iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
        }
        assert_eq!(holm(&[0.02]), [0.02]);
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
