//! Coverage, false claims and power on recorded rounds (see `tests/data/README.md`).

use crate::support::{Random, block, comparison, run};
use flate2::read::GzDecoder;
use std::io::Read;
use stowplan_analysis::{Estimate, Verdict};
use stowplan_model::Measurement;

const SEED: u64 = 20_260_101;

/// Per round and cell: wall time and run-queue delay of a block, nanoseconds. Cells: `sql`,
/// `sql#2`, `dir_kv`, `dir_kv#2`.
pub(crate) type Round = [(u64, u64); 4];

pub(crate) fn recordings() -> Vec<Vec<Round>> {
    let files: [&[u8]; 2] = [
        include_bytes!("../data/rounds-fresh-keys.csv.gz"),
        include_bytes!("../data/rounds-5000-ops.csv.gz"),
    ];
    files.map(read).into()
}

fn read(bytes: &[u8]) -> Vec<Round> {
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    let rows = text.lines().skip(1);
    rows.map(|row| {
        let numbers: Vec<u64> = row.split(',').map(|field| field.parse().unwrap()).collect();
        [1, 3, 5, 7].map(|column| (numbers[column], numbers[column + 1]))
    })
    .collect()
}

pub(crate) fn ln_corrected((wall, delay): (u64, u64)) -> f64 {
    ((wall - delay) as f64).ln()
}

/// Starts of contiguous windows of `length` rounds.
fn windows<'a>(
    record: &'a [Round],
    length: usize,
    number: usize,
    random: &mut Random,
) -> Vec<&'a [Round]> {
    (0..number)
        .map(|_| {
            let start = random.below(record.len() - length + 1);
            &record[start..start + length]
        })
        .collect()
}

#[test]
fn intervals_of_identical_cells_cover_one_about_as_often_as_they_say() {
    println!("seed {SEED}");
    let mut random = Random(SEED);
    let records = recordings();
    // METHOD "Ratios": 97, 94 and 94% of contiguous windows, half-widths 2.2, 1.5 and 1.0%.
    for (n, half_width) in [(10, 0.022), (20, 0.015), (40, 0.010)] {
        let (mut covered, mut widths, mut total) = (0, 0.0, 0);
        for (record, (a, b)) in records.iter().flat_map(|r| [(r, (0, 1)), (r, (2, 3))]) {
            for window in windows(record, n, 200, &mut random) {
                let differences: Vec<f64> = window
                    .iter()
                    .map(|round| ln_corrected(round[b]) - ln_corrected(round[a]))
                    .collect();
                let found = Estimate::hodges_lehmann(&differences, 0.05).unwrap();
                covered += usize::from(found.low <= 0.0 && found.high >= 0.0);
                widths += found.half_width();
                total += 1;
            }
        }
        let coverage = covered as f64 / total as f64;
        let width = widths / total as f64;
        println!("n={n}: coverage {coverage:.3}, half-width {width:.4}, {total} windows");
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

/// The four recorded cells as one comparison of `base`, `again` and `other`. The control's times
/// are those of the baseline times the ratio of the *other* pair of identical cells, so that
/// control and candidate are independent.
fn blocks(
    window: &[Round],
    (base, other): (usize, usize),
    control: (usize, usize),
    machine: Machine,
) -> Vec<Measurement> {
    let mut blocks = Vec::new();
    for (number, round) in (0..).zip(window) {
        let corrected = |(wall, delay)| wall - delay;
        let again = ln_corrected(round[base]) + ln_corrected(round[control.1])
            - ln_corrected(round[control.0]);
        for (key, corrected, delay) in [
            ("base", corrected(round[base]), round[base].1),
            ("again", again.exp().round() as u64, round[control.1].1),
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

/// Verdicts of the whole procedure on windows of all recordings.
fn verdicts(
    cells: (usize, usize),
    control: (usize, usize),
    machine: Machine,
    sessions: usize,
) -> Vec<Verdict> {
    println!("seed {SEED}");
    let mut random = Random(SEED);
    let comparison = comparison(&["other"]);
    let mut verdicts = Vec::new();
    for record in recordings() {
        for window in windows(&record, 40, sessions / 2, &mut random) {
            let available = blocks(window, cells, control, machine);
            verdicts.push(run(&comparison, &available).contrasts[0].verdict);
        }
    }
    verdicts
}

fn share(verdicts: &[Verdict], of: &[Verdict]) -> f64 {
    let number = verdicts
        .iter()
        .filter(|verdict| of.contains(verdict))
        .count();
    number as f64 / verdicts.len() as f64
}

const CLAIMS: [Verdict; 3] = [Verdict::Faster, Verdict::Slower, Verdict::SmallDifference];

fn report(what: &str, verdicts: &[Verdict]) {
    println!(
        "{what}: false claims {:.3}, equivalent {:.3}, unresolved {:.3}, unreliable {:.3}, \
         {} sessions",
        share(verdicts, &CLAIMS),
        share(verdicts, &[Verdict::Equivalent]),
        share(verdicts, &[Verdict::Unresolved]),
        share(verdicts, &[Verdict::Unreliable]),
        verdicts.len()
    );
}

#[test]
fn a_difference_between_identical_cells_is_claimed_in_at_most_5_percent_of_sessions() {
    for (cells, control) in [((0, 1), (2, 3)), ((2, 3), (0, 1))] {
        for machine in [Machine::AsRecorded, Machine::TakenForQuiet] {
            let verdicts = verdicts(cells, control, machine, 200);
            report(&format!("cells {cells:?}, {machine:?}"), &verdicts);
            assert!(share(&verdicts, &CLAIMS) <= 0.05);
            assert!(share(&verdicts, &[Verdict::Equivalent]) > 0.4);
        }
    }
}

#[test]
fn a_factor_of_two_is_found_in_nearly_every_session_and_never_the_wrong_way_round() {
    for machine in [Machine::AsRecorded, Machine::TakenForQuiet] {
        let verdicts = verdicts((0, 2), (0, 1), machine, 100);
        let (slower, faster) = (
            share(&verdicts, &[Verdict::Slower]),
            share(&verdicts, &[Verdict::Faster]),
        );
        println!("{machine:?}: slower {slower:.3}, faster {faster:.3}");
        assert!(slower > 0.95);
        assert!(faster == 0.0);
    }
}
