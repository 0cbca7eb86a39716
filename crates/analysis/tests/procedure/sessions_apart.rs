//! Windows of recorded rounds that lie far apart, compared as two sessions of the same program:
//! the experiment behind docs/compare.md.
//!
//! A short form guards what was chosen; the whole table is printed by
//! `cargo test --release -p stowplan-analysis --test procedure -- --ignored --nocapture apart`.

use crate::recorded_noise::{Round, ln_corrected, recordings};
use crate::support::{Random, analysis, block_of_log, comparison, with_floor};
use stowplan_analysis::Analysis;
use stowplan_analysis::compare::{CellChange, Question, compare};

const SEED: u64 = 20_261_122;

/// One window as a session: the recorded cell `other`, which is other code than its baseline, and of the other pair the first as baseline
/// and floor and the second as control. `slower` is what the program changed in `other`. The waits
/// for a CPU are left out of the times and of the record, so that the noise floor is that of a
/// quiet machine: as much noise, and less allowance for it than such a machine would get.
fn session(window: &[Round], other: usize, slower: f64, floor: bool) -> Analysis {
    let (base, again) = if other == 0 { (2, 3) } else { (0, 1) };
    let mut blocks = Vec::new();
    for (number, round) in (0..).zip(window) {
        let mut add = |key, log: f64| blocks.push(block_of_log(key, number, log));
        add("base", ln_corrected(round[base]));
        add("again", ln_corrected(round[again]));
        add("other", ln_corrected(round[other]) + slower.ln());
        if floor {
            add("floor", ln_corrected(round[base]));
        }
    }
    let plan = if floor {
        with_floor()
    } else {
        comparison(&["other"])
    };
    analysis(&plan, &blocks)
}

/// How often the intervals of `other` excluded 1 upwards or downwards.
#[derive(Debug, Default)]
struct Shares {
    pairs: f64,
    raw_time: f64,
    with_noise: f64,
    time: f64,
    raw_ratio: f64,
    ratio: f64,
    regressions: f64,
    half_width: f64,
}

impl Shares {
    fn add(&mut self, found: &CellChange) {
        let told = |low: f64, high: f64| f64::from(u8::from(low > 1.0 || high < 1.0));
        let (time, ratio) = (found.time, found.ratio.unwrap());
        let noise = time.noise_floor.exp();
        self.pairs += 1.0;
        self.raw_time += told(time.raw_low, time.raw_high);
        self.with_noise += told(time.raw_low / noise, time.raw_high * noise);
        self.time += told(time.low, time.high);
        self.raw_ratio += told(ratio.raw_low, ratio.raw_high);
        self.ratio += told(ratio.low, ratio.high);
        self.regressions += f64::from(u8::from(found.regression));
        self.half_width += (time.high / time.low).ln() / 2.0;
    }

    fn share(&self, of: f64) -> f64 {
        of / self.pairs
    }
}

/// Pairs of windows of `n` rounds that begin at least a quarter of their record apart.
fn shares(n: usize, pairs: usize, slower: f64, floor: bool) -> Shares {
    let mut random = Random(SEED);
    let mut shares = Shares::default();
    for record in recordings() {
        for _ in 0..pairs {
            let start = |random: &mut Random| random.below(record.len() - n + 1);
            let (a, b) = loop {
                let (a, b) = (start(&mut random), start(&mut random));
                if a.abs_diff(b) >= n.max(record.len() / 4) {
                    break (a, b);
                }
            };
            for other in [0, 2] {
                let base = session(&record[a..a + n], other, 1.0, floor);
                let new = session(&record[b..b + n], other, slower, floor);
                let changes = compare(&base, &new, &Question::default()).unwrap();
                let mut cells = changes.cells.iter();
                // Not there if the gate of one of the sessions failed.
                if let Some(found) = cells.find(|cell| cell.base.0 == "c/other") {
                    shares.add(found);
                }
            }
        }
    }
    println!("seed {SEED}, n={n}, slower {slower}, floor {floor}: {shares:?}");
    shares
}

#[test]
fn unchanged_cells_are_told_apart_in_few_pairs_of_sessions() {
    let found = shares(20, 25, 1.0, true);
    assert!(found.share(found.time) <= 0.05);
    assert!(found.share(found.ratio) <= 0.05);
    // What it guards against: the plain interval knows nothing of the drift between sessions.
    assert!(found.share(found.raw_time) > 0.3);
    let without = shares(20, 25, 1.0, false);
    assert!(without.share(without.time) <= 0.05);
}

#[test]
fn a_fifth_more_is_found_in_nearly_every_pair_of_sessions() {
    let found = shares(20, 15, 1.2, true);
    assert!(found.share(found.regressions) > 0.95);
}

#[test]
#[ignore = "a minute with optimisation: the whole table of docs/compare.md"]
fn the_whole_table_of_sessions_apart() {
    println!("| rounds | plain | noise | time | no floor | plain ratio | ratio | half-width |");
    for n in [10, 20, 40] {
        let (found, without) = (shares(n, 300, 1.0, true), shares(n, 300, 1.0, false));
        let percent = |share: f64| format!("{:.1}%", share * 100.0);
        println!(
            "| {n} | {} | {} | {} | {} | {} | {} | ±{} |",
            percent(found.share(found.raw_time)),
            percent(found.share(found.with_noise)),
            percent(found.share(found.time)),
            percent(without.share(without.time)),
            percent(found.share(found.raw_ratio)),
            percent(found.share(found.ratio)),
            percent(found.share(found.half_width)),
        );
        for slower in [1.05, 1.1, 1.2] {
            let found = shares(n, 300, slower, true);
            let (time, ratio) = (found.share(found.regressions), found.share(found.ratio));
            println!(
                "n={n}, {slower} times: time {}, ratio {}",
                percent(time),
                percent(ratio)
            );
        }
    }
}
