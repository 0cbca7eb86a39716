use super::*;
use crate::spread::Paired;
use crate::stopping::ALPHA_PER_LOOK;
use crate::{Estimate, percentiles::below};
use hdrhistogram::Histogram;

/// A block whose operations took so many nanoseconds.
fn block(times: impl Iterator<Item = u64>) -> Measurement {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use hdrhistogram::serialization::{Serializer, V2Serializer};
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    times.for_each(|time| histogram.record(time).unwrap());
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(&histogram, &mut bytes)
        .unwrap();
    Measurement {
        latency: Some(STANDARD.encode(bytes)),
        ..Measurement::default()
    }
}

#[test]
fn the_figure_of_a_block_is_what_its_share_of_operations_does_not_exceed_and_none_of_too_few() {
    use Statistic::{Max, P50, P90, P99, P999, Time};
    let (thousand, short, untold) = (block(1..=1_000), block(1..=99), Measurement::default());
    for (measure, figure) in [
        (Time, None),
        (P50, Some(500)),
        (P90, Some(900)),
        (P99, Some(990)),
        (P999, Some(999)),
        (Max, Some(1_000)),
    ] {
        assert_eq!(of_block(&thousand, measure), figure, "{measure}");
    }
    assert_eq!(of_block(&short, P99), None);
    assert_eq!(of_block(&short, Max), Some(99));
    assert_eq!(of_block(&untold, Max), None);
}

/// Ways in which the times of operations spread.
#[derive(Debug, Clone, Copy)]
enum Spread {
    /// Log-normal, of a deviation of 30%.
    Mild,
    /// Pareto's, without a variance (exponent 1.5).
    Heavy,
    /// Log-normal, and one operation in 500 takes a hundred times as long.
    Stalls,
    /// Log-normal, but in one block of five every tenth operation takes twenty times as long.
    BadBlocks,
}

/// Draws made-up operations, the same for the same seed.
struct Draw(u64);

impl Draw {
    /// Above 0 and at most 1.
    fn uniform(&mut self) -> f64 {
        (below(&mut self.0, 1 << 30) + 1) as f64 / f64::from(1 << 30)
    }

    /// By Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// The operations of a block, rising; each block has a level of its own.
    fn block(&mut self, spread: Spread, operations: usize) -> Vec<f64> {
        let level = (0.1 * self.normal()).exp();
        let bad = self.uniform() < 0.2;
        let one = |draw: &mut Self| {
            let usual = (0.3 * draw.normal()).exp();
            level
                * match spread {
                    Spread::Mild => usual,
                    Spread::Heavy => draw.uniform().powf(-1.0 / 1.5),
                    Spread::Stalls if draw.uniform() < 0.002 => 100.0 * usual,
                    Spread::BadBlocks if bad && draw.uniform() < 0.1 => 20.0 * usual,
                    Spread::Stalls | Spread::BadBlocks => usual,
                }
        };
        let mut times: Vec<f64> = (0..operations).map(|_| one(self)).collect();
        times.sort_unstable_by(f64::total_cmp);
        times
    }
}

/// How many comparisons the long form makes up; nothing: the short one.
fn long() -> Option<usize> {
    let times = std::env::var("STOWPLAN_SIMULATIONS").ok()?;
    times.parse().ok()
}

/// What `share` of sorted times do not exceed.
fn at(sorted: &[f64], share: f64) -> f64 {
    let rank = (sorted.len() as f64 * share * (1.0 - 1e-12)).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

/// Intervals of a ratio that is 1 in truth, by three methods: blocks' figures as ratios are, by
/// Hodges and Lehmann, and the percentile of all operations with rounds drawn again.
fn intervals(
    draw: &mut Draw,
    spread: Spread,
    share: f64,
    rounds: usize,
    of: usize,
) -> [(f64, f64); 3] {
    let mut pair = || [draw.block(spread, of), draw.block(spread, of)];
    let pairs: Vec<[Vec<f64>; 2]> = (0..rounds).map(|_| pair()).collect();
    let differences = pairs.iter();
    let differences = differences.map(|[a, b]| (at(b, share) / at(a, share)).ln());
    let differences: Vec<f64> = differences.collect();
    let paired = (0..).zip(&differences).map(|(round, difference)| Paired {
        round,
        difference: *difference,
        builds: [None; 2],
    });
    let paired: Vec<Paired> = paired.collect();
    let as_ratios = crate::spread::Spread::alone(&paired);
    let (as_ratios, _) = as_ratios.estimate(&paired, ALPHA_PER_LOOK).unwrap();
    let signed_ranks = Estimate::hodges_lehmann(&differences, ALPHA_PER_LOOK).unwrap();
    let pooled = |chosen: &[usize], side: usize| {
        let blocks = chosen.iter().map(|round| &pairs[*round][side]);
        let mut all: Vec<f64> = blocks.flatten().copied().collect();
        all.sort_unstable_by(f64::total_cmp);
        at(&all, share)
    };
    // In the long form only: it takes most of the time.
    let times = if of > 200 || long().is_some() { 200 } else { 2 };
    let again = (0..times).map(|_| {
        let chosen: Vec<usize> = (0..rounds).map(|_| below(&mut draw.0, rounds)).collect();
        (pooled(&chosen, 1) / pooled(&chosen, 0)).ln()
    });
    let mut again: Vec<f64> = again.collect();
    again.sort_unstable_by(f64::total_cmp);
    let drawn = [ALPHA_PER_LOOK / 2.0, 1.0 - ALPHA_PER_LOOK / 2.0].map(|part| at(&again, part));
    [
        (as_ratios.low, as_ratios.high),
        (signed_ranks.low, signed_ranks.high),
        (drawn[0], drawn[1]),
    ]
}

/// Of so many made-up comparisons, the share whose interval holds the truth, and the median width as a
/// factor, by method.
fn coverage(
    spread: Spread,
    share: f64,
    (rounds, of): (usize, usize),
    times: usize,
) -> [(f64, f64); 3] {
    let mut draw = Draw(7 + of as u64);
    let all = (0..times).map(|_| intervals(&mut draw, spread, share, rounds, of));
    let all: Vec<[(f64, f64); 3]> = all.collect();
    [0, 1, 2].map(|method| {
        let of_method = || all.iter().map(|intervals| intervals[method]);
        let held = of_method().filter(|(low, high)| *low <= 0.0 && 0.0 <= *high);
        let mut widths: Vec<f64> = of_method().map(|(low, high)| high - low).collect();
        widths.sort_unstable_by(f64::total_cmp);
        (held.count() as f64 / times as f64, at(&widths, 0.5).exp())
    })
}

/// The long form, whose table docs/method.md has ("Slow operations"):
/// `STOWPLAN_SIMULATIONS=2000 cargo test --release -p stowplan-analysis --lib tails -- --nocapture`
#[test]
fn intervals_of_slow_operations_hold_the_truth_whatever_the_tail() {
    let times = long();
    let shapes: &[(usize, usize)] = match times {
        Some(_) => &[(10, 200), (10, 2_000), (20, 200), (20, 2_000)],
        None => &[(10, 200)],
    };
    eprintln!("seed 7; coverage, median width: as ratios | signed ranks | all, bootstrap");
    let spreads = [
        Spread::Mild,
        Spread::Heavy,
        Spread::Stalls,
        Spread::BadBlocks,
    ];
    for spread in spreads {
        for (name, share) in [("p99", 0.99), ("max", 1.0)] {
            for shape in shapes {
                let found = coverage(spread, share, *shape, times.unwrap_or(60));
                let told = found.map(|(held, width)| format!("{:.1}% x{width:.2}", 100.0 * held));
                let told = format!("{spread:?} {name} {shape:?}: {}", told.join(" | "));
                eprintln!("{told}");
                // Nominal 97.9%: by chance alone 60 comparisons fall below 90% once in a thousand times.
                let least = if times.is_some() { 0.965 } else { 0.9 };
                assert!(found[0].0 >= least, "{told}");
            }
        }
    }
}
