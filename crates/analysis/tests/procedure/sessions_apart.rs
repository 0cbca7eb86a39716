//! Windows of recorded rounds that lie far apart, compared as two sessions of the same program:
//! the experiment behind docs/compare.md.
//!
//! A short form guards what was chosen; the whole table is printed by
//! `cargo test --release -p stowplan-analysis --test procedure -- --ignored --nocapture apart`.

use crate::recorded_noise::{Round, ln_corrected, recordings};
use crate::support::{Random, analysis, block_of_log, comparison, mean, percent, with_floor};
use stowplan_analysis::Analysis;
use stowplan_analysis::compare::{CellChange, Change, Question, compare};

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
    match floor {
        true => analysis(&with_floor(), &blocks),
        false => analysis(&comparison(&["other"]), &blocks),
    }
}

/// The changes of `other` in pairs of windows of `n` rounds that begin at least a quarter of their record apart.
fn pairs(n: usize, pairs: usize, slower: f64, floor: bool) -> Vec<CellChange> {
    let mut random = Random(SEED);
    let mut all = Vec::new();
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
                let cells = changes.cells.into_iter();
                // Not there if the gate of one of the sessions failed.
                all.extend(cells.filter(|cell| cell.base.0 == "c/other"));
            }
        }
    }
    println!("seed {SEED}, n={n}, slower {slower}, floor {floor}");
    all
}

/// How often an interval excluded 1 upwards or downwards.
fn told(pairs: &[CellChange], interval: impl Fn(&CellChange) -> (f64, f64)) -> f64 {
    let intervals = pairs.iter().map(interval);
    mean(intervals.map(|(low, high)| (low > 1.0 || high < 1.0).into()))
}

fn raw(change: Change) -> (f64, f64) {
    (change.raw_low, change.raw_high)
}

fn widened(change: Change) -> (f64, f64) {
    (change.low, change.high)
}

fn regressions(pairs: &[CellChange]) -> f64 {
    mean(pairs.iter().map(|cell| cell.regression.into()))
}

#[test]
fn unchanged_cells_are_told_apart_in_few_pairs_of_sessions() {
    let found = pairs(20, 25, 1.0, true);
    assert!(told(&found, |cell| widened(cell.time)) <= 0.05);
    assert!(told(&found, |cell| widened(cell.ratio.unwrap())) <= 0.05);
    // What it guards against: the plain interval knows nothing of the drift between sessions.
    assert!(told(&found, |cell| raw(cell.time)) > 0.3);
    let without = pairs(20, 25, 1.0, false);
    assert!(told(&without, |cell| widened(cell.time)) <= 0.05);
}

#[test]
fn a_fifth_more_is_found_in_nearly_every_pair_of_sessions() {
    assert!(regressions(&pairs(20, 15, 1.2, true)) > 0.95);
}

#[test]
#[ignore = "a minute with optimisation: the whole table of docs/compare.md"]
fn the_whole_table_of_sessions_apart() {
    println!("| rounds | plain | noise | time | no floor | plain ratio | ratio | half-width |");
    for n in [10, 20, 40] {
        let (found, without) = (pairs(n, 300, 1.0, true), pairs(n, 300, 1.0, false));
        let with_noise = |cell: &CellChange| {
            let noise = cell.time.noise_floor.exp();
            (cell.time.raw_low / noise, cell.time.raw_high * noise)
        };
        let half_widths = found
            .iter()
            .map(|cell| (cell.time.high / cell.time.low).ln() / 2.0);
        let shares = [
            told(&found, |cell| raw(cell.time)),
            told(&found, with_noise),
            told(&found, |cell| widened(cell.time)),
            told(&without, |cell| widened(cell.time)),
            told(&found, |cell| raw(cell.ratio.unwrap())),
            told(&found, |cell| widened(cell.ratio.unwrap())),
            mean(half_widths),
        ];
        println!("| {n} | {} |", shares.map(percent).join(" | "));
        for slower in [1.05, 1.1, 1.2] {
            let found = pairs(n, 300, slower, true);
            let ratio = told(&found, |cell| widened(cell.ratio.unwrap()));
            let shares = [regressions(&found), ratio].map(percent);
            println!("n={n}, {slower} times: time, ratio {}", shares.join(", "));
        }
    }
}
