//! Whether intervals hold the truth and are no wider than that takes, on recorded and on simulated rounds. The
//! tables are printed by
//! `cargo test --release -p stowplan-analysis --test procedure -- --ignored --nocapture widths_`.

use crate::recorded_noise::{CLAIMS, PAIRS, Round, ln_corrected, recordings};
use crate::support::{
    Random, block, block_of_log, comparison, id, mean, outcome, percent, rows, syncs,
};
use std::collections::BTreeMap;
use stowplan_analysis::{ComparisonOutcome, ContrastOutcome, Verdict};
use stowplan_model::{Comparison, Measurement};

const SEED: u64 = 20_261_124;

/// A ratio as it is shown and by the plain interval (95%, Student's t, of the rounds' log ratios), whose
/// truth is known, as logarithms.
struct Ratio {
    shown: [f64; 2],
    plain: [f64; 2],
    verdict: Verdict,
    truth: f64,
}

impl Ratio {
    fn of(outcome: &ComparisonOutcome, contrast: &ContrastOutcome, truth: f64) -> Self {
        let estimate = contrast.estimate.unwrap();
        let [ours, theirs] = [&contrast.cell, &contrast.reference].map(|id| {
            let series = &outcome.cell(id).unwrap().series;
            series.iter().copied().collect::<BTreeMap<u32, f64>>()
        });
        let both = ours.iter();
        let both = both.filter_map(|(round, log)| Some(log - theirs.get(round)?));
        let differences: Vec<f64> = both.take(estimate.rounds).collect();
        let (n, middle) = (differences.len(), mean(differences.iter().copied()));
        let squares: f64 = differences.iter().map(|d| (d - middle).powi(2)).sum();
        // Student's quantile of 0.975, by degrees of freedom.
        let quantile = match n - 1 {
            9 => 2.2622,
            19 => 2.0930,
            39 => 2.0227,
            freedom => panic!("no quantile for {freedom}"),
        };
        let half = quantile * (squares / (n as f64 - 1.0) / n as f64).sqrt();
        Self {
            shown: [estimate.low.ln(), estimate.high.ln()],
            plain: [middle - half, middle + half],
            verdict: contrast.verdict,
            truth,
        }
    }

    /// The half-width that is shown over the plain one.
    fn width(&self) -> f64 {
        (self.shown[1] - self.shown[0]) / (self.plain[1] - self.plain[0])
    }

    fn holds(&self, [low, high]: [f64; 2]) -> bool {
        low <= self.truth && self.truth <= high
    }

    /// The interval excludes 1, and on the side of the truth where that is not 1.
    fn finds(&self, [low, high]: [f64; 2]) -> bool {
        low > 0.0 || (high < 0.0 && self.truth <= 0.0)
    }
}

fn share(of: &[Ratio], holds: impl Fn(&Ratio) -> bool) -> String {
    percent(mean(of.iter().map(|ratio| holds(ratio).into())))
}

/// Prints what holds of ratios of one kind.
fn row(name: &str, of: &[Ratio]) {
    let mut widths: Vec<f64> = of.iter().map(Ratio::width).collect();
    widths.sort_by(f64::total_cmp);
    let part = |share: f64| ((widths.len() - 1) as f64 * share).round() as usize;
    let widths = [0.5, 0.9, 1.0].map(|share| format!("{:.2}", widths[part(share)]));
    let shares = [
        share(of, |ratio| ratio.holds(ratio.shown)),
        share(of, |ratio| ratio.holds(ratio.plain)),
        share(of, |ratio| CLAIMS.contains(&ratio.verdict)),
        share(of, |ratio| ratio.verdict == Verdict::Unreliable),
        share(of, |ratio| ratio.finds(ratio.shown)),
        share(of, |ratio| ratio.finds(ratio.plain)),
    ];
    let (number, shares, widths) = (of.len(), shares.join(" | "), widths.join(" | "));
    println!("{name} | {number} | {shares} | {widths}");
}

const HEAD: &str =
    "ratios | held | by plain | claims | void | found | by plain | width, median | 90% | most";

/// The comparisons of eleven quick studies, each with a control and ten rounds.
fn quick_studies() -> Vec<(Comparison, Vec<Measurement>)> {
    let mut of: BTreeMap<[String; 2], Vec<Measurement>> = BTreeMap::new();
    for fields in rows(include_bytes!("../data/rounds-quick-studies.csv.gz")) {
        let number = |at: usize| fields[at].parse::<u64>().unwrap();
        let measured = Measurement {
            build: fields[5].parse().ok(),
            operations: number(6),
            run_delay_ns: fields[8].parse().ok(),
            thread_cpu_ns: number(9),
            process_cpu_ns: number(9),
            syncs: syncs(fields[10].parse().unwrap_or(0)),
            voluntary_switches: number(11),
            ..block(&fields[2], fields[3].parse().unwrap(), number(7))
        };
        let key = [fields[0].clone(), fields[1].clone()];
        of.entry(key).or_default().push(measured);
    }
    of.into_values().map(as_planned).collect()
}

/// The comparison that blocks are of, with its control as `again` and what that is a copy of as `base`.
fn as_planned(mut blocks: Vec<Measurement>) -> (Comparison, Vec<Measurement>) {
    let mut ids = blocks.iter().map(|block| &block.cell.0);
    let control = ids.find(|id| id.ends_with("#2")).unwrap().clone();
    let mut others: Vec<String> = Vec::new();
    for block in &mut blocks {
        let name = &block.cell.0;
        if *name == control {
            block.cell = id("again");
        } else if format!("{name}#2") == control {
            block.cell = id("base");
        } else {
            others.push(name.trim_start_matches("c/").to_owned());
        }
    }
    others.sort();
    others.dedup();
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let mut comparison = comparison(&others);
    comparison.max_rounds = 10;
    (comparison, blocks)
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
                let (a, b) = PAIRS[random.below(2)];
                let half = |round: &Round| ln_corrected(round[b]) - ln_corrected(round[a]);
                let window = &record[start..start + rounds as usize];
                let scale = times / 2_f64.sqrt();
                window.iter().map(|round| half(round) * scale).collect()
            }
        }
    }
}

/// On which of two builds a store is met in a round: as the runner does.
fn turn(store: usize, round: u32) -> u32 {
    const CHANGED: [[u32; 2]; 5] = [[0, 3], [1, 3], [2, 3], [3, 4], [0, 4]];
    let changes = store > 0 && CHANGED[store - 1].contains(&(round / 2 % 5));
    (round + u32::from(changes)) % 2
}

fn session(setting: Setting, records: &[Vec<Round>], random: &mut Random) -> ComparisonOutcome {
    let mut measured = Vec::new();
    let levels = [0, 1, 2, 3, 4, 5].map(|store| {
        let differs = !setting.one_only || store == 1;
        let deviation = if differs { setting.builds } else { 0.0 };
        let levels = (0..setting.number).map(|_| deviation * random.normal());
        levels.collect::<Vec<f64>>()
    });
    for (place, key) in ["base", "again", "v", "w", "x", "y", "z"]
        .into_iter()
        .enumerate()
    {
        let store = place.saturating_sub(1);
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
    let mut comparison = comparison(&["v", "w", "x", "y", "z"]);
    comparison.max_rounds = setting.rounds;
    outcome(&comparison, &measured)
}

/// Of 200 sessions the ratios of the cell whose store may differ from the others', and of those.
fn simulated(setting: Setting) -> [Vec<Ratio>; 2] {
    let mut random = Random(SEED);
    let records = recordings();
    let mut found = [Vec::new(), Vec::new()];
    for _ in 0..200 {
        let outcome = session(setting, &records, &mut random);
        for (at, contrast) in outcome.contrasts.iter().enumerate() {
            found[usize::from(at > 0)].push(Ratio::of(&outcome, contrast, setting.truth));
        }
    }
    found
}

#[test]
#[ignore = "prints a table"]
fn widths_of_recorded_ratios() {
    println!("builds | {HEAD}");
    let studies = quick_studies().into_iter();
    let studies: Vec<_> = studies
        .map(|(plan, blocks)| outcome(&plan, &blocks))
        .collect();
    let with = |of: &dyn Fn(usize) -> bool| -> Vec<Ratio> {
        let contrasts = studies
            .iter()
            .flat_map(|s| s.contrasts.iter().map(move |c| (s, c)));
        let found = contrasts.filter(|(_, c)| of(c.builds.map_or(0, |builds| builds.count)));
        found.map(|(s, c)| Ratio::of(s, c, f64::NAN)).collect()
    };
    for count in [0, 2, 4] {
        row(&count.to_string(), &with(&|builds| builds == count));
    }
    row("all", &with(&|_| true));
    let controls = studies.iter().map(|found| found.control.unwrap().estimate);
    let excluded = controls.filter(|c| c.low > 1.0 || c.high < 1.0).count();
    let reliable = studies.iter().filter(|found| found.reliable).count();
    println!(
        "controls: {excluded} exclude 1, {reliable} of {} reliable",
        studies.len()
    );
}

#[test]
#[ignore = "prints tables and takes minutes"]
fn widths_of_simulated_ratios() {
    println!("seed {SEED}; of one cell, of the others, and of all | {HEAD}");
    let simulate = |setting: Setting| {
        let [one, others] = simulated(setting);
        row(&format!("{setting:?}, one"), &one);
        row(&format!("{setting:?}, others"), &others);
        one.into_iter().chain(others)
    };
    let noises = [
        Noise::Normal(0.05, 0.0),
        Noise::Normal(0.05, 0.12),
        Noise::Normal(0.05, 0.24),
        Noise::Recorded(1.0),
        Noise::Recorded(3.0),
    ];
    let deviations = [0.0, 0.02, 0.05, 0.1].map(|builds| (builds, false));
    let of_one = [0.02, 0.05, 0.1].map(|builds| (builds, true));
    for (rounds, number) in [(10, 2), (10, 4), (40, 2), (40, 4)] {
        let mut all: Vec<Ratio> = Vec::new();
        for noise in noises {
            for (builds, one_only) in deviations.into_iter().chain(of_one) {
                all.extend(simulate(Setting {
                    noise,
                    builds,
                    one_only,
                    number,
                    rounds,
                    truth: 0.0,
                }));
            }
        }
        row(&format!("{rounds} rounds, {number} builds"), &all);
    }
    for noise in [0.05, 0.1, 0.2] {
        for factor in [1.1_f64, 1.2, 1.3, 1.5] {
            let all = simulate(Setting {
                noise: Noise::Normal(noise / 2_f64.sqrt(), 0.0),
                builds: 0.0,
                one_only: false,
                number: 2,
                rounds: 10,
                truth: factor.ln(),
            });
            let all: Vec<Ratio> = all.collect();
            row(&format!("noise {noise}, factor {factor}"), &all);
        }
    }
}
