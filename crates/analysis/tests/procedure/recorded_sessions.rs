//! Twenty recorded sessions of one study on one quiet machine, compared in pairs: how often a comparison
//! of single sessions is wrong, and what it finds. The experiment behind docs/compare.md, "Twenty
//! sessions at full scale".
//!
//! A short form guards what was chosen; the whole table is printed by
//! `cargo test --release -p stowplan-analysis --test procedure -- --ignored --nocapture recorded_sessions`.

use crate::support::{Random, analysis, block_of_log, comparison, mean, named, percent, rows};
use std::collections::BTreeMap;
use stowplan_analysis::Analysis;
use stowplan_analysis::compare::{ChangeVerdict, Changes, Decides, Question, compare_sessions};
use stowplan_model::{CellId, Measurement};

const SEED: u64 = 20_261_124;

/// The recorded blocks of each session and comparison, in the order in which they ran.
fn recorded() -> BTreeMap<(u32, String), Vec<Measurement>> {
    let mut of: BTreeMap<(u32, String), Vec<Measurement>> = BTreeMap::new();
    for fields in rows(include_bytes!("../data/sessions-identical.csv.gz")) {
        let number = |field: usize| fields[field].parse::<u32>().unwrap();
        let ns = |field: usize| fields[field].parse::<f64>().unwrap();
        let (comparison, cell) = fields[1].split_once('/').unwrap();
        let key = match cell {
            "dir" => "base",
            "dir#2" => "again",
            other => other,
        };
        let block = Measurement {
            cell: CellId(format!("{comparison}/{key}")),
            build: Some(number(3)),
            ..block_of_log(key, number(2), (ns(4) / ns(5)).ln())
        };
        let blocks = of.entry((number(0), comparison.to_owned()));
        blocks.or_default().push(block);
    }
    of
}

/// The sessions in the order in which they ran, a minute apart, each with all of its comparisons.
fn sessions() -> Vec<Analysis> {
    let mut sessions: BTreeMap<u32, Analysis> = BTreeMap::new();
    for ((number, id), blocks) in recorded() {
        let plan = named(&id, comparison(&["sql", "blob", "large"]));
        let mut part = analysis(&plan, &blocks);
        part.run.started = format!("2026-01-01T00:{number:02}:00Z");
        match sessions.get_mut(&number) {
            Some(session) => session.comparisons.extend(part.comparisons),
            None => drop(sessions.insert(number, part)),
        }
    }
    sessions.into_values().collect()
}

fn changes(base: &[&Analysis], new: &[&Analysis], by: Decides) -> Changes {
    let question = Question {
        by: Some(by),
        ..Question::default()
    };
    compare_sessions(base, new, &question).unwrap()
}

/// Comparisons of every so many of all pairs of sessions; with the earlier one as BASE, and the later one.
fn pairs(sessions: &[Analysis], by: Decides, every: usize) -> [Vec<Changes>; 2] {
    let all = (0..sessions.len()).flat_map(|a| (a + 1..sessions.len()).map(move |b| (a, b)));
    let pairs = all.step_by(every);
    let pairs = pairs.map(|(earlier, later)| (&sessions[earlier], &sessions[later]));
    let pairs: Vec<(&Analysis, &Analysis)> = pairs.collect();
    [
        pairs.iter().map(|(a, b)| changes(&[a], &[b], by)).collect(),
        pairs.iter().map(|(a, b)| changes(&[b], &[a], by)).collect(),
    ]
}

fn regressions(comparisons: &[Changes]) -> usize {
    let found = comparisons.iter();
    found
        .filter(|changes| changes.regressions().next().is_some())
        .count()
}

fn row(comparisons: &[Changes]) -> String {
    let judged: Vec<_> = comparisons.iter().flat_map(Changes::judged).collect();
    let apart = |low: f64, high: f64| low > 1.0 || high < 1.0;
    let told_apart = judged
        .iter()
        .filter(|(_, change, _)| apart(change.low, change.high));
    let unresolved = judged
        .iter()
        .filter(|(_, _, verdict)| *verdict == ChangeVerdict::Unresolved);
    let half_widths = judged
        .iter()
        .map(|(_, change, _)| (change.high / change.low).ln() / 2.0);
    format!(
        "{} | {} | {} of {} | {} | ±{}",
        comparisons.len(),
        regressions(comparisons),
        told_apart.count(),
        judged.len(),
        unresolved.count(),
        percent(mean(half_widths).exp_m1())
    )
}

/// Eight sessions drawn at random, in turns by their order.
fn drawn(sessions: &[Analysis], random: &mut Random) -> [Vec<usize>; 2] {
    let mut numbers: Vec<usize> = (0..sessions.len()).collect();
    for at in 0..8 {
        let other = at + random.below(numbers.len() - at);
        numbers.swap(at, other);
    }
    numbers.truncate(8);
    numbers.sort_unstable();
    [0, 1].map(|first| numbers.iter().copied().skip(first).step_by(2).collect())
}

/// How often one cell that takes `slower` times as long is found: of `draws` comparisons of `each`
/// sessions a side, for every cell that may regress and is judged.
fn power(sessions: &[Analysis], each: usize, slower: f64, by: Decides, draws: usize) -> Vec<f64> {
    let mut random = Random(SEED);
    let mut found = Vec::new();
    for _ in 0..draws {
        let mut sides = drawn(sessions, &mut random);
        if random.below(2) == 1 {
            sides.reverse();
        }
        let [base, new] = sides.map(|side| {
            side[..each]
                .iter()
                .map(|at| &sessions[*at])
                .collect::<Vec<_>>()
        });
        for cell in ["r10k", "r1m"].into_iter().flat_map(|comparison| {
            ["base", "sql", "blob", "large"].map(|key| CellId(format!("{comparison}/{key}")))
        }) {
            let mut slowed: Vec<Analysis> = new.iter().map(|session| (*session).clone()).collect();
            let cells = slowed
                .iter_mut()
                .flat_map(|session| &mut session.comparisons);
            let cells = cells.flat_map(|comparison| &mut comparison.cells);
            for known in cells.filter(|known| known.cell.id == cell) {
                known
                    .series
                    .iter_mut()
                    .for_each(|(_, log)| *log += slower.ln());
            }
            let changes = changes(&base, &slowed.iter().collect::<Vec<_>>(), by);
            if changes.judged().any(|(change, _, _)| change.new == cell) {
                let regressed = changes.regressions().any(|change| change.new == cell);
                found.push(regressed.into());
            }
        }
    }
    found
}

#[test]
fn single_sessions_of_one_program_seldom_find_a_regression() {
    let sessions = sessions();
    for by in [Decides::Time, Decides::Ratio] {
        let found = pairs(&sessions, by, 13).concat();
        println!("{by:?}: {}", row(&found));
        assert!(regressions(&found) * 20 <= found.len(), "{by:?}");
    }
}

#[test]
#[ignore = "minutes with optimisation: the tables of docs/compare.md"]
fn the_whole_table_of_recorded_sessions() {
    let sessions = sessions();
    for by in [Decides::Time, Decides::Ratio] {
        println!("by {by:?} | comparisons | any regression | told apart | unresolved | half-width");
        let [forwards, backwards] = pairs(&sessions, by, 1);
        println!("pairs, the earlier one BASE | {}", row(&forwards));
        println!("pairs, the later one BASE | {}", row(&backwards));
        for each in [1, 4] {
            for slower in [1.1, 1.2, 1.3, 1.5, 2.0] {
                let found = power(&sessions, each, slower, by, 100);
                let (all, share) = (found.len(), percent(mean(found.into_iter())));
                println!("{each} and {each}, seed {SEED}, {slower}: {share} of {all}");
            }
        }
    }
}
