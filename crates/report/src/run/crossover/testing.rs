//! Made-up points of a sweep.

use stowplan_analysis::{RatioEstimate, SweepPoint, Verdict};

/// One point per letter at 1 KiB, 2 KiB, 4 KiB …: `A` and `B` win, `a` and `b` lean, `=` is
/// equivalent, `?` unresolved, `!` of an unreliable session, and `.` without a figure.
pub(crate) fn points(letters: &str) -> Vec<SweepPoint> {
    let sizes = (10..).map(|power| 1 << power);
    sizes.zip(letters.chars()).map(point).collect()
}

fn point((size, letter): (u64, char)) -> SweepPoint {
    let (ratio, verdict) = match letter {
        'A' => (1.25, Verdict::Slower),
        'B' => (0.8, Verdict::Faster),
        'a' => (1.045, Verdict::SmallDifference),
        'b' => (0.96, Verdict::SmallDifference),
        '=' => (1.004, Verdict::Equivalent),
        '?' => (1.02, Verdict::Unresolved),
        '!' => (1.25, Verdict::Unreliable),
        _ => (f64::NAN, Verdict::NoData),
    };
    let half = if letter == '?' { 0.09 } else { 0.02 };
    SweepPoint {
        size,
        estimate: ratio.is_finite().then(|| estimate(ratio, half)),
        verdict,
    }
}

fn estimate(ratio: f64, half: f64) -> RatioEstimate {
    RatioEstimate {
        ratio,
        low: ratio - half,
        high: ratio + half,
        rounds: 20,
    }
}
