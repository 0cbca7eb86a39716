//! What a whole sweep over sizes claims, where the truth is known: the experiment behind
//! docs/method.md, "Crossover".
//!
//! Simulated stores take a known time at each size; around it lies the recorded noise of
//! identical cells, and each size is run and judged by the real procedure. A short form guards
//! the promise; the whole table is printed by
//! `cargo test --release -p stowplan-analysis --test procedure -- --ignored --nocapture every_shape`.

use crate::recorded_noise::{Round, ln_corrected, recordings};
use crate::support::{Random, block_of_log, comparison, run};
use stowplan_analysis::{
    Crossover, RefineLimits, Side, Standing, SweepPoint, Verdict, crossover, leads, refine, sweep,
};

const SEED: u64 = 20_261_122;
const RANGE: (u64, u64) = (1 << 10, 1 << 20);

/// How the true times of the two stores depend on the size.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// Nanoseconds and nanoseconds per byte, of A and of B.
    Linear([f64; 2], [f64; 2]),
    /// Sizes in KiB and the ratio of B to A there, straight between them on logarithmic axes.
    Through(&'static [f64], &'static [f64]),
}

impl Shape {
    /// `ln(B/A)`.
    fn ln_ratio(self, size: f64) -> f64 {
        match self {
            Self::Linear(a, b) => ((b[0] + b[1] * size) / (a[0] + a[1] * size)).ln(),
            Self::Through(sizes, ratios) => {
                let kb = size / 1024.0;
                let after = sizes.iter().position(|at| *at >= kb);
                let after = after.unwrap_or(sizes.len() - 1).max(1);
                let [x, to_x] = [after - 1, after].map(|at| sizes[at]);
                let [y, to_y] = [after - 1, after].map(|at| ratios[at]);
                y.ln() + (to_y / y).ln() * (kb / x).ln() / (to_x / x).ln()
            }
        }
    }
}

/// The truth of one simulated sweep.
#[derive(Debug, Clone, Copy)]
struct Truth {
    shape: Shape,
    /// Factor on all sizes, so that the crossings lie elsewhere between measured sizes each time.
    shift: f64,
}

impl Truth {
    /// Whether a zone between these sizes holds all crossings, and each side on its side, by a scan in
    /// steps of 0.1%.
    fn within(self, (smaller, low, high): Zone) -> bool {
        let [from, to, low, high] = [RANGE.0, RANGE.1, low, high].map(|size| size as f64);
        let steps = ((to / from).ln() / 0.001) as i32;
        let mut sizes = (0..=steps).map(|step| from * (0.001 * f64::from(step)).exp());
        let ends = [low, high].map(|size| self.ahead(size));
        ends == [Some(smaller), Some(smaller.other())]
            && sizes.all(|size| match self.ahead(size) {
                Some(side) if side == smaller => size <= high,
                _ => size >= low,
            })
    }

    /// Who is faster, if only by a little.
    fn ahead(self, size: f64) -> Option<Side> {
        let ln = self.shape.ln_ratio(size * self.shift);
        let side = if ln > 0.0 { Side::A } else { Side::B };
        (ln.abs() > 1e-9).then_some(side)
    }
}

/// Who wins the smaller sizes, up to which, and from which the other does.
type Zone = (Side, u64, u64);

const STEEP: Shape = Shape::Linear([500.0, 1.0], [10_000.0, 0.05]);
const MODERATE: Shape = Shape::Linear([1_000.0, 0.4], [4_000.0, 0.1]);
const SHALLOW: Shape = Shape::Linear([2_000.0, 0.3], [4_000.0, 0.25]);
/// Crosses at 200 KB, but B is never faster by more than 3%.
const WITHIN_ZONE: Shape = Shape::Linear([2_000.0, 0.3], [4_000.0, 0.29]);
/// METHOD "Crossover", pages of 4096 bytes, between made-up ends.
const BACK_AND_FORTH: Shape = Shape::Through(
    &[1.0, 16.0, 20.0, 24.0, 28.0, 32.0, 64.0, 1024.0],
    &[0.6, 0.79, 1.04, 1.08, 0.98, 1.05, 1.3, 1.6],
);
const PROPORTIONAL: Shape = Shape::Linear([1_300.0, 0.13], [1_690.0, 0.169]);
/// A's lead melts from 2.5 to 1.006.
const MELTING: Shape = Shape::Linear([1_000.0, 0.3], [3_000.0, 0.3]);
const IDENTICAL: Shape = Shape::Linear([1_000.0, 0.3], [1_000.0, 0.3]);

/// How the noise of the sessions of a sweep comes from the recordings.
#[derive(Debug, Clone, Copy)]
struct Noise {
    /// Factor on the logarithms of the differences between identical cells.
    factor: f64,
    /// Whether the blocks waited for a CPU as recorded, so that the floor is 3%; else 1%.
    waits: bool,
    /// Whether all sizes of a sweep have one and the same window of a recording.
    shared: bool,
}

const fn noise(factor: f64, [waits, shared]: [bool; 2]) -> Noise {
    Noise {
        factor,
        waits,
        shared,
    }
}

const QUIET: Noise = noise(1.0, [false, false]);
const AS_RECORDED: Noise = noise(1.0, [true, false]);
const SHARED: Noise = noise(1.0, [false, true]);
/// The recorded SD from round to round is 2 to 8%, so this is 8 to 32%; overwrites of a real run had 13%.
const FOURFOLD: Noise = noise(4.0, [false, false]);
const EIGHTFOLD: Noise = noise(8.0, [false, false]);

/// Forty rounds in a row of identical cells: a candidate pair and the pair that is its control.
struct Window<'a> {
    rounds: &'a [Round],
    pair: (usize, usize),
    control: (usize, usize),
}

impl<'a> Window<'a> {
    fn draw(records: &'a [Vec<Round>], random: &mut Random) -> Self {
        let record = &records[random.below(records.len())];
        let start = random.below(record.len() - 40 + 1);
        let pairs = [((0, 1), (2, 3)), ((2, 3), (0, 1)), ((1, 0), (3, 2))];
        let (pair, control) = pairs[random.below(pairs.len())];
        Self {
            rounds: &record[start..start + 40],
            pair,
            control,
        }
    }

    /// One size, run and judged by the whole procedure: blocks of A twice and of B once per round, where
    /// B takes longer by the truth.
    fn measured(&self, truth: Truth, size: u64, noise: Noise) -> SweepPoint {
        let mut blocks = Vec::new();
        for (number, round) in (0..).zip(self.rounds) {
            let apart = |(base, other): (usize, usize)| {
                noise.factor * (ln_corrected(round[other]) - ln_corrected(round[base]))
            };
            let base = ln_corrected(round[self.pair.0]) - 1000_f64.ln();
            let other = base + apart(self.pair) + truth.shape.ln_ratio(size as f64 * truth.shift);
            for (key, ln, waited) in [
                ("base", base, self.pair.0),
                ("again", base + apart(self.control), self.control.1),
                ("other", other, self.pair.1),
            ] {
                let mut block = block_of_log(key, number, ln);
                let delay = if noise.waits { round[waited].1 } else { 0 };
                block.wall_ns += delay;
                block.run_delay_ns = Some(delay);
                blocks.push(block);
            }
        }
        let found = run(&comparison(&["other"]), &blocks);
        SweepPoint::of(size, found.contrasts.first())
    }
}

/// A first sweep, refined twice.
fn measured_sweep(
    truth: Truth,
    noise: Noise,
    records: &[Vec<Round>],
    random: &mut Random,
) -> Vec<SweepPoint> {
    let shared = Window::draw(records, random);
    let mut points = Vec::new();
    let mut more = sweep(RANGE.0, RANGE.1).unwrap();
    for _ in 0..3 {
        points.extend(more.iter().map(|size| {
            let own = Window::draw(records, random);
            let window = if noise.shared { &shared } else { &own };
            window.measured(truth, *size, noise)
        }));
        more = refine(&points, &RefineLimits::default());
    }
    points
}

/// What many sweeps of one shape claimed.
#[derive(Debug, Default)]
struct Tally {
    /// Claimed a zone that holds all true crossings, and each side on its side.
    held: usize,
    /// Claimed a zone that does not; where there is no crossing, any zone.
    false_zones: usize,
    /// Claimed a winner at some measured size where the other is in truth ahead.
    wrong: usize,
    /// False zones if the zone ended at the first win of the other side.
    false_at_first_change: usize,
    /// Sweeps with a win at some size for a side that is not ahead there: what many sizes cost.
    with_a_false_win: usize,
    /// How often each other kind was found.
    kinds: std::collections::BTreeMap<&'static str, usize>,
    /// Width of the zones, as factors: the median, and that of 95%.
    widths: [f64; 2],
}

fn kind(found: &Crossover) -> &'static str {
    let is_won = |standing| matches!(standing, Standing::Wins(_));
    let mut sides = [Side::A, Side::B].into_iter();
    match found.runs.as_slice() {
        [run] if is_won(run.standing) => "throughout",
        [run] if run.standing == Standing::Equivalent => "equivalent",
        _ if sides.any(|side| found.is_never_slower(side)) => "never slower",
        _ if !found.runs.iter().any(|run| is_won(run.standing)) => "nobody wins",
        _ if zone(found).is_some() => "zone",
        [first, .., last] if first.claimed && last.claimed => "both ends",
        [first, ..] if first.claimed => "wins below",
        [.., last] if last.claimed => "wins above",
        _ => "no order",
    }
}

fn zone(found: &Crossover) -> Option<Zone> {
    let claims: Vec<_> = found.claims().collect();
    let [(smaller, low), .., (larger, high)] = claims[..] else {
        return None;
    };
    (smaller != larger).then_some((smaller, low.to, high.from))
}

/// Who wins at a size by its verdict alone.
fn won(point: &SweepPoint) -> Option<Side> {
    match point.verdict {
        Verdict::Slower => Some(Side::A),
        Verdict::Faster => Some(Side::B),
        _ => None,
    }
}

/// From the last win of the one side before the first win of the other to that: what a
/// bisection comes down to.
fn first_change(points: &[SweepPoint]) -> Option<Zone> {
    let won = |point: &SweepPoint| Some((point.size, won(point)?));
    let mut wins: Vec<(u64, Side)> = points.iter().filter_map(won).collect();
    wins.sort_by_key(|(size, _)| *size);
    let change = wins.windows(2).find(|pair| pair[0].1 != pair[1].1)?;
    Some((change[0].1, change[0].0, change[1].0))
}

impl Tally {
    fn of(shape: Shape, noise: Noise, runs: usize) -> Self {
        let records = recordings();
        let mut random = Random(SEED);
        let mut tally = Self::default();
        let mut widths = Vec::new();
        for _ in 0..runs {
            let shift = 2_f64.powf(random.uniform() - 0.5);
            let truth = Truth { shape, shift };
            let points = measured_sweep(truth, noise, &records, &mut random);
            let zone = tally.add(truth, &points);
            widths.extend(zone.map(|(_, low, high)| high as f64 / low as f64));
        }
        widths.sort_by(f64::total_cmp);
        let at = |share: f64| widths.get((widths.len() as f64 * share) as usize);
        tally.widths = [0.5, 0.95].map(|share| at(share).copied().unwrap_or(f64::NAN));
        println!("{shape:?}, {noise:?}, {runs} sweeps, seed {SEED}: {tally:?}");
        tally
    }

    fn add(&mut self, truth: Truth, points: &[SweepPoint]) -> Option<Zone> {
        let found = crossover(points);
        *self.kinds.entry(kind(&found)).or_default() += 1;
        let otherwise = |winner: &dyn Fn(&SweepPoint) -> Option<Side>| {
            let ahead = |point: &SweepPoint| truth.ahead(point.size as f64);
            let mut points = points.iter();
            usize::from(points.any(|p| winner(p).is_some_and(|side| ahead(p) != Some(side))))
        };
        self.wrong += otherwise(&|point| found.winner_at(point.size));
        self.with_a_false_win += otherwise(&won);
        let is_false = |zone: Option<Zone>| zone.is_some_and(|zone| !truth.within(zone));
        let zone = zone(&found);
        self.held += usize::from(zone.is_some() && !is_false(zone));
        self.false_zones += usize::from(is_false(zone));
        self.false_at_first_change += usize::from(is_false(first_change(points)));
        zone
    }
}

/// One cell of the table of docs/method.md. Where the two differ enough on both sides of a crossing, it
/// is promised that the zone holds the truth (`zone`), and is no wider than a factor of two (`narrow`).
fn check(shape: Shape, noise: Noise, runs: usize, [zone, narrow]: [bool; 2]) -> Tally {
    let tally = Tally::of(shape, noise, runs);
    let share = |number: usize| number as f64 / runs as f64;
    assert!(share(tally.false_zones) <= 0.01, "{tally:?}");
    assert!(share(tally.wrong) <= 0.02, "{tally:?}");
    assert!(!zone || share(tally.held) >= 0.93, "{tally:?}");
    assert!(!narrow || tally.widths[1] <= 2.0, "{tally:?}");
    tally
}

#[test]
fn the_zone_holds_the_true_crossing_and_is_narrow_where_the_difference_is_steep() {
    for (shape, noise) in [(STEEP, QUIET), (MODERATE, QUIET), (MODERATE, AS_RECORDED)] {
        check(shape, noise, 15, [true, true]);
    }
}

#[test]
fn fourfold_noise_makes_the_zone_wider_and_not_false() {
    check(MODERATE, FOURFOLD, 15, [true, false]);
}

#[test]
fn an_order_that_goes_back_and_forth_is_inside_the_zone_and_a_bisection_would_miss_it() {
    let tally = check(BACK_AND_FORTH, QUIET, 15, [true, false]);
    assert!(tally.false_at_first_change >= 3, "{tally:?}");
}

#[test]
fn without_a_crossing_there_is_no_zone() {
    for (shape, runs, kinds) in [
        (PROPORTIONAL, 10, &["throughout"][..]),
        (MELTING, 4, &["wins below", "never slower"]),
        (IDENTICAL, 5, &["equivalent", "nobody wins"]),
    ] {
        let tally = check(shape, QUIET, runs, [false, false]);
        let mut found = tally.kinds.keys();
        assert!(found.all(|kind| kinds.contains(kind)), "{tally:?}");
    }
}

#[test]
fn of_settings_that_are_alike_none_is_said_to_lead_and_of_others_the_better_one() {
    let records = recordings();
    let mut random = Random(SEED);
    let sizes = sweep(RANGE.0, RANGE.1).unwrap();
    let mut first_sweep = |shape: Shape| -> Vec<SweepPoint> {
        let truth = Truth { shape, shift: 1.0 };
        let mut window = || Window::draw(&records, &mut random);
        let points = sizes.iter();
        let points = points.map(|size| window().measured(truth, *size, FOURFOLD));
        points.collect()
    };
    // The second and the third are alike, so neither can lead anywhere.
    let better = Shape::Linear([1_000.0, 0.2], [4_000.0, 0.1]);
    let mut led = [0; 3];
    for _ in 0..5 {
        let matrix = [better, MODERATE, MODERATE].map(&mut first_sweep);
        for (count, sizes) in led.iter_mut().zip(leads(&matrix, 0.05)) {
            *count += usize::from(!sizes.is_empty());
        }
    }
    assert_eq!(led, [5, 0, 0], "seed {SEED}");
}

#[test]
#[ignore = "prints a table and takes minutes without optimisation"]
fn every_shape() {
    let shapes = [
        (STEEP, 300, [true, true]),
        (MODERATE, 300, [true, true]),
        (BACK_AND_FORTH, 300, [true, false]),
        (SHALLOW, 60, [false, false]),
        (WITHIN_ZONE, 60, [false, false]),
        (PROPORTIONAL, 100, [false, false]),
        (MELTING, 60, [false, false]),
        (IDENTICAL, 60, [false, false]),
    ];
    let noises = [QUIET, AS_RECORDED, SHARED, FOURFOLD, EIGHTFOLD];
    let rows = noises.map(|noise| shapes.map(|shape| (noise, shape)));
    std::thread::scope(|scope| {
        for start in 0..2 {
            let rows = rows.as_flattened().iter().skip(start).step_by(2);
            scope.spawn(move || {
                for (noise, (shape, runs, [zone, narrow])) in rows {
                    let narrow = *narrow && noise.factor < 2.0;
                    check(*shape, *noise, *runs, [*zone, narrow]);
                }
            });
        }
    });
}
