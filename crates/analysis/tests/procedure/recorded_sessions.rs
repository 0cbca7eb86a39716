//! Twenty recorded sessions of one study on one quiet machine, compared in pairs: how often a comparison
//! of single sessions is wrong, and what it finds. The experiment behind docs/compare.md, "Twenty
//! sessions at full scale".
//!
//! A short form guards what was chosen; the whole table is printed by
//! `cargo test --release -p stowplan-analysis --test procedure -- --ignored --nocapture recorded_sessions`.

use crate::support::{Random, analysis, block_of_log, comparison, named};
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::Read;
use stowplan_analysis::Analysis;
use stowplan_analysis::compare::{ChangeVerdict, Changes, Decides, Question, compare_sessions};
use stowplan_model::{CellId, Comparison, Measurement};

const SEED: u64 = 20_261_124;

/// The cells of both comparisons that may regress, and the control.
const CELLS: [(&str, &str); 5] = [
    ("dir", "base"),
    ("dir#2", "again"),
    ("sql", "sql"),
    ("blob", "blob"),
    ("large", "large"),
];

/// The names of those that are judged by time.
fn judged() -> impl Iterator<Item = CellId> {
    let comparisons = ["r10k", "r1m"].into_iter();
    comparisons.flat_map(|comparison| {
        let keys = ["base", "sql", "blob", "large"].into_iter();
        keys.map(move |key| CellId(format!("{comparison}/{key}")))
    })
}

/// Per session and comparison the recorded blocks.
fn recorded() -> BTreeMap<usize, BTreeMap<String, Vec<Measurement>>> {
    let file: &[u8] = include_bytes!("../data/sessions-identical.csv.gz");
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let mut sessions: BTreeMap<usize, BTreeMap<String, Vec<Measurement>>> = BTreeMap::new();
    for row in text.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let number = |field: usize| fields[field].parse::<u64>().unwrap();
        let (comparison, cell) = fields[1].split_once('/').unwrap();
        let key = CELLS.iter().find(|known| known.0 == cell).unwrap().1;
        let log = (number(4) as f64 / number(5) as f64).ln();
        let round = u32::try_from(number(2)).unwrap();
        let block = Measurement {
            cell: CellId(format!("{comparison}/{key}")),
            build: Some(u32::try_from(number(3)).unwrap()),
            ..block_of_log(key, round, log)
        };
        let session = sessions.entry(number(0) as usize).or_default();
        session
            .entry(comparison.to_owned())
            .or_default()
            .push(block);
    }
    sessions
}

/// The plan of one of the comparisons.
fn plan(id: &str) -> Comparison {
    named(id, comparison(&["sql", "blob", "large"]))
}

/// The sessions in the order in which they ran, a minute apart.
fn sessions() -> Vec<Analysis> {
    let of = |(number, blocks): (usize, BTreeMap<String, Vec<Measurement>>)| {
        let mut parts = blocks
            .iter()
            .map(|(id, blocks)| analysis(&plan(id), blocks));
        let mut session = parts.next().unwrap();
        for part in parts {
            session.comparisons.extend(part.comparisons);
        }
        session.run.started = format!("2026-01-01T00:{number:02}:00Z");
        session
    };
    recorded().into_iter().map(of).collect()
}

/// A session in which one cell takes so many times as long.
fn slowed(session: &Analysis, cell: &CellId, factor: f64) -> Analysis {
    let mut session = session.clone();
    let cells = session.comparisons.iter_mut().flat_map(|c| &mut c.cells);
    for cell in cells.filter(|known| known.cell.id == *cell) {
        for (_, log) in &mut cell.series {
            *log += factor.ln();
        }
    }
    session
}

fn changes(base: &[&Analysis], new: &[&Analysis], by: Decides) -> Changes {
    let question = Question {
        by: Some(by),
        ..Question::default()
    };
    compare_sessions(base, new, &question).unwrap()
}

/// What comparisons of identical sessions came to.
#[derive(Debug, Default)]
struct Falsely {
    comparisons: usize,
    regressions: usize,
    cells: usize,
    told_apart: usize,
    unresolved: usize,
    half_widths: f64,
}

impl Falsely {
    fn add(&mut self, changes: &Changes) {
        self.comparisons += 1;
        self.regressions += usize::from(changes.regressions().next().is_some());
        for (_, change, _) in changes.judged() {
            self.cells += 1;
            self.told_apart += usize::from(change.low > 1.0 || change.high < 1.0);
            self.half_widths += (change.high / change.low).ln() / 2.0;
        }
        let verdicts = changes.judged().map(|(_, _, verdict)| verdict);
        let unresolved = verdicts.filter(|verdict| *verdict == ChangeVerdict::Unresolved);
        self.unresolved += unresolved.count();
    }

    fn row(&self) -> String {
        format!(
            "{} | {} | {} of {} | {} | ±{:.1}%",
            self.comparisons,
            self.regressions,
            self.told_apart,
            self.cells,
            self.unresolved,
            100.0 * (self.half_widths / self.cells as f64).exp_m1()
        )
    }
}

/// Both orders of all pairs, of which the second is the later one as BASE.
fn pairs(sessions: &[Analysis], by: Decides, every: usize) -> [Falsely; 2] {
    let mut found = [Falsely::default(), Falsely::default()];
    let pairs = (0..sessions.len()).flat_map(|a| (a + 1..sessions.len()).map(move |b| (a, b)));
    for (a, b) in pairs.step_by(every) {
        let (earlier, later) = (&sessions[a], &sessions[b]);
        found[0].add(&changes(&[earlier], &[later], by));
        found[1].add(&changes(&[later], &[earlier], by));
    }
    found
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
    let side = |first: usize| numbers.iter().copied().skip(first).step_by(2).collect();
    [side(0), side(1)]
}

/// How often one cell that takes `slower` times as long is found: of `draws` comparisons of `each`
/// sessions a side, for every cell.
fn power(
    sessions: &[Analysis],
    each: usize,
    slower: f64,
    by: Decides,
    draws: usize,
) -> (usize, usize) {
    let mut random = Random(SEED);
    let (mut found, mut all) = (0, 0);
    for _ in 0..draws {
        let [mut base, mut new] = drawn(sessions, &mut random);
        base.truncate(each);
        new.truncate(each);
        if random.below(2) == 1 {
            std::mem::swap(&mut base, &mut new);
        }
        let base: Vec<&Analysis> = base.iter().map(|number| &sessions[*number]).collect();
        for cell in judged() {
            let new = new.iter();
            let new = new.map(|number| slowed(&sessions[*number], &cell, slower));
            let new: Vec<Analysis> = new.collect();
            let changes = changes(&base, &new.iter().collect::<Vec<_>>(), by);
            let regressed = changes.regressions().any(|change| change.new == cell);
            let judged = changes.judged().any(|(change, _, _)| change.new == cell);
            found += usize::from(regressed);
            all += usize::from(judged);
        }
    }
    (found, all)
}

#[test]
fn single_sessions_of_one_program_seldom_find_a_regression() {
    let sessions = sessions();
    for by in [Decides::Time, Decides::Ratio] {
        let found = pairs(&sessions, by, 13);
        println!("{by:?}: {found:?}");
        let regressions: usize = found.iter().map(|order| order.regressions).sum();
        let comparisons: usize = found.iter().map(|order| order.comparisons).sum();
        assert!(regressions * 20 <= comparisons, "{by:?}: {found:?}");
    }
}

#[test]
#[ignore = "minutes with optimisation: the tables of docs/compare.md"]
fn the_whole_table_of_recorded_sessions() {
    let sessions = sessions();
    for by in [Decides::Time, Decides::Ratio] {
        println!("by {by:?} | comparisons | any regression | told apart | unresolved | half-width");
        let [forwards, backwards] = pairs(&sessions, by, 1);
        println!("pairs, the earlier one BASE | {}", forwards.row());
        println!("pairs, the later one BASE | {}", backwards.row());
        for each in [1, 4] {
            for slower in [1.1, 1.2, 1.3, 1.5, 2.0] {
                let (found, all) = power(&sessions, each, slower, by, 100);
                let share = 100.0 * found as f64 / all as f64;
                println!("{each} and {each}, seed {SEED}, {slower}: {found} of {all}, {share:.1}%");
            }
        }
    }
}
