//! Whether intervals hold the truth and are no wider than that takes, on recorded and on simulated rounds. The
//! tables are printed by
//! `cargo test --release -p stowplan-analysis --test procedure -- --ignored --nocapture widths_`.

use crate::recorded_noise::{Round, ln_corrected, recordings};
use crate::support::{Random, block, block_of_log, comparison, outcome, syncs};
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::Read;
use stowplan_analysis::{ComparisonOutcome, ContrastOutcome, Verdict};
use stowplan_model::{Comparison, Measurement};

const SEED: u64 = 20_261_124;

/// Student's quantile of 0.975, by degrees of freedom.
fn quantile(freedom: usize) -> f64 {
    match freedom {
        9 => 2.2622,
        19 => 2.0930,
        39 => 2.0227,
        _ => panic!("no quantile for {freedom}"),
    }
}

/// Mean and half-width of the plain interval: 95%, Student's t, of the rounds' log ratios.
fn plain(differences: &[f64]) -> (f64, f64) {
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let squares: f64 = differences.iter().map(|d| (d - mean).powi(2)).sum();
    let error = (squares / (n - 1.0) / n).sqrt();
    (mean, quantile(differences.len() - 1) * error)
}

/// The log ratios of the rounds that a contrast rests on.
fn differences(outcome: &ComparisonOutcome, contrast: &ContrastOutcome) -> Vec<f64> {
    let series = |id| -> BTreeMap<u32, f64> {
        let cell = outcome.cell(id).unwrap();
        cell.series.iter().copied().collect()
    };
    let (ours, theirs) = (series(&contrast.cell), series(&contrast.reference));
    let both = ours
        .iter()
        .filter_map(|(round, log)| Some(log - theirs.get(round)?));
    both.take(contrast.estimate.unwrap().rounds).collect()
}

fn part(values: &[f64], share: f64) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share).round() as usize]
}

/// What holds of ratios of one kind.
#[derive(Debug, Default)]
struct Found {
    /// Of each ratio: the half-width that is shown, on a logarithmic scale, over the plain one.
    widths: Vec<f64>,
    covered: usize,
    by_plain: usize,
    /// The interval excludes 1, and on the side of the truth where that is not 1.
    excluded: usize,
    excluded_by_plain: usize,
    /// A difference is claimed.
    claims: usize,
    void: usize,
}

impl Found {
    fn add(&mut self, outcome: &ComparisonOutcome, contrast: &ContrastOutcome, truth: f64) {
        let estimate = contrast.estimate.unwrap();
        let (mean, half) = plain(&differences(outcome, contrast));
        let (low, high) = (estimate.low.ln(), estimate.high.ln());
        let holds = |low: f64, high: f64| usize::from(low <= truth && truth <= high);
        let finds = |low: f64, high: f64| usize::from(low > 0.0 || (high < 0.0 && truth <= 0.0));
        self.widths.push((high - low) / 2.0 / half);
        self.covered += holds(low, high);
        self.by_plain += holds(mean - half, mean + half);
        self.excluded += finds(low, high);
        self.excluded_by_plain += finds(mean - half, mean + half);
        self.claims += usize::from(matches!(
            contrast.verdict,
            Verdict::Faster | Verdict::Slower | Verdict::SmallDifference
        ));
        self.void += usize::from(contrast.verdict == Verdict::Unreliable);
    }

    fn share(&self, number: usize) -> f64 {
        number as f64 / self.widths.len() as f64
    }

    fn row(&self) -> String {
        let percent = |number| format!("{:.1}%", self.share(number) * 100.0);
        let width = |share| format!("{:.2}", part(&self.widths, share));
        format!(
            "{} | {} | {} | {} | {} | {}",
            percent(self.covered),
            percent(self.by_plain),
            percent(self.claims),
            percent(self.void),
            width(0.5),
            width(0.9)
        )
    }
}

/// The comparisons of eleven quick studies, each with a control and ten rounds.
pub(crate) fn quick_studies() -> Vec<(Comparison, Vec<Measurement>)> {
    let bytes = include_bytes!("../data/rounds-quick-studies.csv.gz");
    let mut text = String::new();
    GzDecoder::new(&bytes[..])
        .read_to_string(&mut text)
        .unwrap();
    let mut of: BTreeMap<(&str, &str), Vec<Measurement>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields[at].parse::<u64>().unwrap();
        let measured = Measurement {
            build: fields[5].parse().ok(),
            operations: number(6),
            run_delay_ns: fields[8].parse().ok(),
            thread_cpu_ns: number(9),
            process_cpu_ns: number(9),
            syncs: syncs(fields[10].parse().unwrap_or(0)),
            voluntary_switches: number(11),
            ..block(fields[2], fields[3].parse().unwrap(), number(7))
        };
        of.entry((fields[0], fields[1])).or_default().push(measured);
    }
    of.into_values().map(|blocks| as_planned(&blocks)).collect()
}

/// The comparison that blocks are of, with its control as `again` and what that is a copy of as `base`.
fn as_planned(blocks: &[Measurement]) -> (Comparison, Vec<Measurement>) {
    let keys: Vec<String> = blocks.iter().map(|m| m.cell.to_string()).collect();
    let control = keys.iter().find(|key| key.ends_with("#2")).unwrap();
    let name = |key: &str| match key {
        key if key == control => "again".to_owned(),
        key if format!("{key}#2") == *control => "base".to_owned(),
        key => key.trim_start_matches("c/").to_owned(),
    };
    let mut others: Vec<String> = keys.iter().map(|key| name(key)).collect();
    others.sort();
    others.dedup();
    others.retain(|key| key != "base" && key != "again");
    let named = blocks.iter().zip(&keys).map(|(block, key)| Measurement {
        cell: crate::support::id(&name(key)),
        ..block.clone()
    });
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let comparison = Comparison {
        max_rounds: 10,
        ..comparison(&others)
    };
    (comparison, named.collect())
}

fn recorded(of: impl Fn(&ContrastOutcome) -> bool) -> Found {
    let mut found = Found::default();
    for (comparison, measured) in quick_studies() {
        let outcome = outcome(&comparison, &measured);
        for contrast in outcome.contrasts.iter().filter(|c| of(c)) {
            found.add(&outcome, contrast, f64::NAN);
        }
    }
    found
}

/// How sessions are made up.
#[derive(Debug, Clone, Copy)]
struct Setting {
    noise: Noise,
    /// Standard deviation between the builds of each store, as a logarithm.
    builds: f64,
    /// Whether only those of the store of one cell differ.
    one_only: bool,
    /// Builds of each store: two at a time.
    number: u32,
    rounds: u32,
    /// The true ratio of every cell to the baseline, as a logarithm.
    truth: f64,
}

#[derive(Debug, Clone, Copy)]
enum Noise {
    /// Of a block: normal with this standard deviation, and this autocorrelation at lag 1.
    Normal(f64, f64),
    /// So many times what identical cells were recorded to differ by.
    Recorded(f64),
}

impl Noise {
    /// One value per round.
    fn of_cell(self, rounds: u32, records: &[Vec<Round>], random: &mut Random) -> Vec<f64> {
        match self {
            Self::Normal(deviation, kept) => {
                let fresh = deviation * (1.0 - kept * kept).sqrt();
                let mut level = deviation * random.normal();
                let mut next = || {
                    level = kept * level + fresh * random.normal();
                    level
                };
                (0..rounds).map(|_| next()).collect()
            }
            Self::Recorded(times) => {
                let record = &records[random.below(records.len())];
                let start = random.below(record.len() - rounds as usize + 1);
                let (a, b) = [(0, 1), (2, 3)][random.below(2)];
                let half = |round: &Round| ln_corrected(round[b]) - ln_corrected(round[a]);
                let window = &record[start..start + rounds as usize];
                let scale = times / 2_f64.sqrt();
                window.iter().map(|round| half(round) * scale).collect()
            }
        }
    }
}

const OTHERS: [&str; 5] = ["v", "w", "x", "y", "z"];

/// On which of two builds a store is met in a round: as the runner does.
fn turn(store: usize, round: u32) -> u32 {
    const CHANGED: [[u32; 2]; 5] = [[0, 3], [1, 3], [2, 3], [3, 4], [0, 4]];
    let changes = store > 0 && CHANGED[store - 1].contains(&(round / 2 % 5));
    (round + u32::from(changes)) % 2
}

fn session(setting: Setting, records: &[Vec<Round>], random: &mut Random) -> ComparisonOutcome {
    let mut measured = Vec::new();
    let levels: Vec<Vec<f64>> = (0..=OTHERS.len())
        .map(|store| {
            let differs = !setting.one_only || store == 1;
            let deviation = if differs { setting.builds } else { 0.0 };
            (0..setting.number)
                .map(|_| deviation * random.normal())
                .collect()
        })
        .collect();
    let cells = [("base", 0), ("again", 0)];
    let others = OTHERS.iter().zip(1..).map(|(key, store)| (*key, store));
    for (key, store) in cells.into_iter().chain(others) {
        let noise = setting.noise.of_cell(setting.rounds, records, random);
        for (round, noise) in (0..).zip(noise) {
            let turned = u32::from(key == "again");
            let pair = round * setting.number / 2 / setting.rounds;
            let build = pair * 2 + (turn(store, round) + turned) % 2;
            let truth = if store == 0 { 0.0 } else { setting.truth };
            let log = 9.0 + truth + noise + levels[store][build as usize];
            measured.push(Measurement {
                build: Some(store as u32 * 10 + build),
                ..block_of_log(key, round, log)
            });
        }
    }
    let comparison = Comparison {
        max_rounds: setting.rounds,
        ..comparison(&OTHERS)
    };
    outcome(&comparison, &measured)
}

/// The cell whose store may differ from the others', and those.
fn simulated(setting: Setting, sessions: usize) -> [Found; 2] {
    let mut random = Random(SEED);
    let records = recordings();
    let mut found = [Found::default(), Found::default()];
    for _ in 0..sessions {
        let outcome = session(setting, &records, &mut random);
        for (at, contrast) in outcome.contrasts.iter().enumerate() {
            found[usize::from(at > 0)].add(&outcome, contrast, setting.truth);
        }
    }
    found
}

const QUIET: Setting = Setting {
    noise: Noise::Normal(0.05, 0.0),
    builds: 0.0,
    one_only: false,
    number: 2,
    rounds: 10,
    truth: 0.0,
};

#[test]
#[ignore = "prints a table"]
fn widths_of_recorded_ratios() {
    println!("| builds | ratios | width, median | 90% | largest |");
    let row = |name: &str, found: &Found| {
        let width = |share| part(&found.widths, share);
        println!(
            "| {name} | {} | {:.2} | {:.2} | {:.1} |",
            found.widths.len(),
            width(0.5),
            width(0.9),
            width(1.0)
        );
    };
    for count in [0, 1, 2, 4] {
        let of = |c: &ContrastOutcome| c.builds.map_or(0, |builds| builds.count) == count;
        let found = recorded(of);
        if !found.widths.is_empty() {
            row(&count.to_string(), &found);
        }
    }
    row("all", &recorded(|_| true));
    let outcomes = quick_studies()
        .into_iter()
        .map(|(comparison, measured)| outcome(&comparison, &measured));
    let outcomes: Vec<ComparisonOutcome> = outcomes.collect();
    let controls = outcomes.iter().map(|found| found.control.unwrap().estimate);
    let excluded = controls.filter(|c| c.low > 1.0 || c.high < 1.0).count();
    let reliable = outcomes.iter().filter(|found| found.reliable).count();
    println!(
        "{} controls, {excluded} exclude 1, {reliable} comparisons reliable",
        outcomes.len()
    );
}

#[test]
#[ignore = "prints a table and takes minutes"]
fn widths_simulated() {
    const SESSIONS: usize = 200;
    println!("seed {SEED}");
    println!("| noise | rounds | builds | SD | held | plain | claims | void | width | 90% |");
    let noises = [
        Noise::Normal(0.05, 0.0),
        Noise::Normal(0.05, 0.12),
        Noise::Normal(0.05, 0.24),
        Noise::Recorded(1.0),
        Noise::Recorded(3.0),
    ];
    for rounds in [10, 40] {
        for number in [2, 4] {
            let mut all = [0.0; 3];
            for noise in noises {
                for (builds, one_only) in [
                    (0.0, false),
                    (0.02, false),
                    (0.05, false),
                    (0.1, false),
                    (0.02, true),
                    (0.05, true),
                    (0.1, true),
                ] {
                    let setting = Setting {
                        noise,
                        builds,
                        one_only,
                        number,
                        rounds,
                        ..QUIET
                    };
                    let [one, others] = simulated(setting, SESSIONS);
                    let head = format!("| {noise:?} | {rounds} | {number} | {builds}");
                    if one_only {
                        println!("{head}, this one only | {} |", one.row());
                        println!("{head}, one other | {} |", others.row());
                    } else {
                        println!("{head} | {} |", others.row());
                    }
                    all[0] += 1.0;
                    all[1] += (one.covered + others.covered) as f64 / (SESSIONS * 5) as f64;
                    all[2] += (one.claims + others.claims) as f64 / (SESSIONS * 5) as f64;
                }
            }
            println!(
                "{rounds} rounds, {number} builds: held {:.1}%, claims {:.1}% on average",
                all[1] / all[0] * 100.0,
                all[2] / all[0] * 100.0
            );
        }
    }
}

#[test]
#[ignore = "prints a table and takes minutes"]
fn widths_power() {
    const SESSIONS: usize = 200;
    println!("seed {SEED}\n| noise of a ratio | factor | found | by the plain interval |");
    for noise in [0.05, 0.1, 0.2] {
        for factor in [1.1_f64, 1.2, 1.3, 1.5] {
            let setting = Setting {
                noise: Noise::Normal(noise / 2_f64.sqrt(), 0.0),
                truth: factor.ln(),
                ..QUIET
            };
            let [one, others] = simulated(setting, SESSIONS);
            let percent = |of: fn(&Found) -> usize| {
                let ratios = one.widths.len() + others.widths.len();
                (of(&one) + of(&others)) as f64 / ratios as f64 * 100.0
            };
            println!(
                "| {:.0}% | {factor} | {:.1}% | {:.1}% |",
                noise * 100.0,
                percent(|found| found.excluded),
                percent(|found| found.excluded_by_plain)
            );
        }
    }
}
