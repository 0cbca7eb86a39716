//! Coverage, false claims and power on recorded rounds (see `tests/data/README.md`).

use crate::support::{Random, block, comparison, mean, rows, run};
use Verdict::{Equivalent, Faster, Slower, SmallDifference};
use stowplan_analysis::{Estimate, Verdict};
use stowplan_model::Measurement;

const SEED: u64 = 20_260_101;

/// Per round and cell: wall time and run-queue delay of a block, nanoseconds. Cells: `sql`,
/// `sql#2`, `dir_kv`, `dir_kv#2`.
pub(crate) type Round = [(u64, u64); 4];

/// Two of these cells.
pub(crate) type Pair = (usize, usize);

/// The identical ones.
pub(crate) const PAIRS: [Pair; 2] = [(0, 1), (2, 3)];

pub(crate) fn recordings() -> Vec<Vec<Round>> {
    let round = |fields: Vec<String>| {
        let number = |column: usize| fields[column].parse().unwrap();
        [1, 3, 5, 7].map(|column| (number(column), number(column + 1)))
    };
    let files: [&[u8]; 2] = [
        include_bytes!("../data/rounds-fresh-keys.csv.gz"),
        include_bytes!("../data/rounds-5000-ops.csv.gz"),
    ];
    files
        .map(|file| rows(file).into_iter().map(round).collect())
        .into()
}

pub(crate) fn ln_corrected((wall, delay): (u64, u64)) -> f64 {
    ((wall - delay) as f64).ln()
}

/// So many contiguous windows of `length` rounds.
fn windows<'a>(
    record: &'a [Round],
    length: usize,
    number: usize,
    random: &mut Random,
) -> Vec<&'a [Round]> {
    let mut start = || random.below(record.len() - length + 1);
    let starts = (0..number).map(|_| start());
    starts.map(|start| &record[start..start + length]).collect()
}

#[test]
fn intervals_of_identical_cells_cover_one_about_as_often_as_they_say() {
    println!("seed {SEED}");
    let mut random = Random(SEED);
    let records = recordings();
    // METHOD "Ratios": 97, 94 and 94% of contiguous windows, half-widths 2.2, 1.5 and 1.0%.
    for (n, half_width) in [(10, 0.022), (20, 0.015), (40, 0.010)] {
        let mut all = Vec::new();
        for (record, (a, b)) in records.iter().flat_map(|r| PAIRS.map(|pair| (r, pair))) {
            for window in windows(record, n, 200, &mut random) {
                let rounds = window.iter();
                let difference = |round: &Round| ln_corrected(round[b]) - ln_corrected(round[a]);
                let differences: Vec<f64> = rounds.map(difference).collect();
                all.push(Estimate::hodges_lehmann(&differences, 0.05).unwrap());
            }
        }
        let covered = all
            .iter()
            .map(|found| found.low <= 0.0 && found.high >= 0.0);
        let coverage = mean(covered.map(Into::into));
        let width = mean(all.iter().map(Estimate::half_width));
        println!("n={n}: coverage {coverage:.3}, half-width {width:.4}");
        assert!((0.90..=0.99).contains(&coverage), "n={n}: {coverage}");
        assert!((0.7..1.4).contains(&(width / half_width)), "n={n}: {width}");
    }
}

/// What the recording is taken for.
#[derive(Debug, Clone, Copy)]
enum Machine {
    /// As recorded: blocks waited for a CPU for a fifth of their time, so the floor is 3%.
    AsRecorded,
    /// The corrected times as if they were wall times without any waiting: the same noise, but
    /// judged with a floor of 1%.
    TakenForQuiet,
}

const MACHINES: [Machine; 2] = [Machine::AsRecorded, Machine::TakenForQuiet];

/// The four recorded cells as one comparison of `base`, `again` and `other`. The control's times
/// are those of the baseline times the ratio of the *other* pair of identical cells, so that
/// control and candidate are independent.
fn blocks(
    window: &[Round],
    (base, other): Pair,
    control: Pair,
    machine: Machine,
) -> Vec<Measurement> {
    let mut blocks = Vec::new();
    for (number, round) in (0..).zip(window) {
        let corrected = |(wall, delay)| wall - delay;
        let log = |cell: usize| ln_corrected(round[cell]);
        let again = (log(base) + log(control.1) - log(control.0)).exp().round() as u64;
        for (key, corrected, delay) in [
            ("base", corrected(round[base]), round[base].1),
            ("again", again, round[control.1].1),
            ("other", corrected(round[other]), round[other].1),
        ] {
            let delay = match machine {
                Machine::AsRecorded => delay,
                Machine::TakenForQuiet => 0,
            };
            let mut block = block(key, number, corrected + delay);
            block.run_delay_ns = Some(delay);
            blocks.push(block);
        }
    }
    blocks
}

/// The share of verdicts of the whole procedure on windows of all recordings that are among these.
fn shares(
    cells: Pair,
    control: Pair,
    machine: Machine,
    sessions: usize,
) -> impl Fn(&[Verdict]) -> f64 {
    let mut random = Random(SEED);
    let comparison = comparison(&["other"]);
    let mut verdicts = Vec::new();
    for record in recordings() {
        for window in windows(&record, 40, sessions / 2, &mut random) {
            let available = blocks(window, cells, control, machine);
            verdicts.push(run(&comparison, &available).contrasts[0].verdict);
        }
    }
    let share = move |of: &[Verdict]| mean(verdicts.iter().map(|found| of.contains(found).into()));
    let told = [share(&CLAIMS), share(&[Equivalent])];
    println!("seed {SEED}, cells {cells:?}, {machine:?}: claims, equivalent {told:?}");
    share
}

pub(crate) const CLAIMS: [Verdict; 3] = [Faster, Slower, SmallDifference];

#[test]
fn a_difference_between_identical_cells_is_claimed_in_at_most_5_percent_of_sessions() {
    for (cells, control) in [(PAIRS[0], PAIRS[1]), (PAIRS[1], PAIRS[0])] {
        for machine in MACHINES {
            let share = shares(cells, control, machine, 200);
            assert!(share(&CLAIMS) <= 0.05);
            assert!(share(&[Equivalent]) > 0.4);
        }
    }
}

#[test]
fn a_factor_of_two_is_found_in_nearly_every_session_and_never_the_wrong_way_round() {
    for machine in MACHINES {
        let share = shares((0, 2), PAIRS[0], machine, 100);
        assert!(share(&[Slower]) > 0.95);
        assert!(share(&[Faster]) == 0.0);
    }
}
