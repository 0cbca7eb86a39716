//! Sessions whose stores differ from build to build: the experiment behind METHOD "Builds".
//!
//! Recorded noise of rounds, and on top of it, for each build of a store, a normal deviation that all
//! rounds on it share. The truth is the ratio over all builds that there could be. A short form guards
//! what was chosen; the whole table is printed by
//! `cargo test --release -p stowplan-analysis --test procedure -- --ignored --nocapture builds_table`.

use crate::recorded_noise::{Round, ln_corrected, recordings};
use crate::support::{RULE, Random, block_of_log, comparison, outcome};
use stowplan_analysis::{ComparisonOutcome, Verdict, builds_differ, undecided};
use stowplan_model::{Comparison, Measurement};

const SEED: u64 = 20_261_123;

/// What the sessions of one row of the table have in common.
#[derive(Debug, Clone, Copy)]
struct Setting {
    /// Standard deviation of the logarithm of a store's time from build to build: of the baseline, and
    /// of the other store.
    deviation: (f64, f64),
    /// The other store's time over the baseline's, over all builds.
    ratio: f64,
    /// By how much the noise of rounds is that of the recording.
    noise: f64,
    method: Method,
    max_rounds: u32,
}

/// What the analysis knows of builds, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Method {
    /// One build of each store, of which the control shares the baseline's.
    OneBuild,
    /// Two from the start, and others where these differ.
    AsManyAsNeeded,
}

const IDENTICAL: Setting = Setting {
    deviation: (0.0, 0.0),
    ratio: 1.0,
    noise: 1.0,
    method: Method::AsManyAsNeeded,
    max_rounds: 40,
};

/// The builds of a store that exist at a time.
struct Store {
    deviation: f64,
    /// Number and deviation of each.
    builds: [(u32, f64); 2],
}

impl Store {
    fn new(deviation: f64) -> Self {
        Self {
            deviation,
            builds: [(0, 0.0); 2],
        }
    }

    fn build(&mut self, next: &mut u32, random: &mut Random) {
        self.builds = [0, 1].map(|_| {
            *next += 1;
            (*next, self.deviation * random.normal())
        });
    }
}

/// Rounds until a look decides or the cap is reached, with other builds after every ten where those so
/// far differ; `pair` is compared, and `control` is the other pair of identical cells of the record.
fn session(
    window: &[Round],
    (pair, control): ((usize, usize), (usize, usize)),
    setting: Setting,
    random: &mut Random,
) -> (ComparisonOutcome, u32) {
    let comparison = Comparison {
        max_rounds: setting.max_rounds,
        ..comparison(&["other"])
    };
    let (mut base, mut other) = (
        Store::new(setting.deviation.0),
        Store::new(setting.deviation.1),
    );
    let mut next = 0;
    let mut measured: Vec<Measurement> = Vec::new();
    for (number, round) in (0..setting.max_rounds).zip(window) {
        if number % 10 == 0 {
            if number > 0 && undecided(&comparison, &measured, &RULE).is_empty() {
                break;
            }
            let alike = !builds_differ(&comparison, &measured, &RULE);
            if number == 0 || (setting.method == Method::AsManyAsNeeded && !alike) {
                base.build(&mut next, random);
                other.build(&mut next, random);
            }
        }
        measured.extend(blocks(
            number,
            round,
            (pair, control),
            setting,
            [&base, &other],
        ));
    }
    let builds = measured.iter().filter_map(|block| block.build).max();
    (outcome(&comparison, &measured), builds.unwrap_or(0) / 2)
}

/// One round: the baseline on one of its builds and the control on the other, in turns, so that the two
/// stores meet in all four combinations.
fn blocks(
    number: u32,
    round: &Round,
    ((first, second), control): ((usize, usize), (usize, usize)),
    setting: Setting,
    [base, other]: [&Store; 2],
) -> [Measurement; 3] {
    let (slot, of_other) = match setting.method {
        Method::OneBuild => (0, 0),
        Method::AsManyAsNeeded => ((number % 2) as usize, ((number + number / 2) % 2) as usize),
    };
    let of_control = match setting.method {
        Method::OneBuild => 0,
        Method::AsManyAsNeeded => 1 - slot,
    };
    let log = |cell: usize| ln_corrected(round[cell]);
    let noise = |(a, b): (usize, usize)| setting.noise * (log(b) - log(a));
    let at = |key, log: f64, (build, deviation): (u32, f64)| Measurement {
        build: (setting.method == Method::AsManyAsNeeded).then_some(build),
        ..block_of_log(key, number, log + deviation)
    };
    [
        at("base", log(first), base.builds[slot]),
        at(
            "again",
            log(first) + noise(control),
            base.builds[of_control],
        ),
        at(
            "other",
            log(first) + noise((first, second)) + setting.ratio.ln(),
            other.builds[of_other],
        ),
    ]
}

/// Shares of sessions and means over them.
#[derive(Debug, Default)]
struct Shares {
    sessions: f64,
    covered: f64,
    /// Faster or slower where neither is true, or the wrong way round.
    false_claims: f64,
    small: f64,
    slower: f64,
    equivalent: f64,
    void: f64,
    /// Half-width of the interval as shown.
    half_width: f64,
    rounds: f64,
    builds: f64,
}

const PAIRS: [((usize, usize), (usize, usize)); 2] = [((0, 1), (2, 3)), ((2, 3), (0, 1))];

fn sessions(number: usize, setting: Setting) -> Shares {
    let mut random = Random(SEED);
    let mut found = Shares::default();
    let records = recordings();
    for record in &records {
        for cells in PAIRS {
            for _ in 0..number / (records.len() * PAIRS.len()) {
                let start = random.below(record.len() - 40 + 1);
                let window = &record[start..start + 40];
                let (outcome, builds) = session(window, cells, setting, &mut random);
                found.add(&outcome, builds, setting);
            }
        }
    }
    let n = found.sessions;
    for share in [
        &mut found.covered,
        &mut found.false_claims,
        &mut found.small,
        &mut found.slower,
        &mut found.equivalent,
        &mut found.void,
        &mut found.half_width,
        &mut found.rounds,
        &mut found.builds,
    ] {
        *share /= n;
    }
    println!("seed {SEED}, {setting:?}: {found:.3?}");
    found
}

impl Shares {
    fn add(&mut self, outcome: &ComparisonOutcome, builds: u32, setting: Setting) {
        let contrast = &outcome.contrasts[0];
        let estimate = contrast.estimate.unwrap();
        let is = |verdict| f64::from(u8::from(contrast.verdict == verdict));
        let covered = estimate.low <= setting.ratio && setting.ratio <= estimate.high;
        self.sessions += 1.0;
        self.covered += f64::from(u8::from(covered));
        self.false_claims += is(Verdict::Faster);
        if setting.ratio <= 1.0 {
            self.false_claims += is(Verdict::Slower);
        }
        self.small += is(Verdict::SmallDifference);
        self.slower += is(Verdict::Slower);
        self.equivalent += is(Verdict::Equivalent);
        self.void += is(Verdict::Unreliable);
        self.half_width += (estimate.high / estimate.low).ln() / 2.0;
        self.rounds += estimate.rounds as f64;
        self.builds += f64::from(builds);
    }
}

#[test]
fn intervals_hold_the_ratio_over_all_builds_however_much_builds_differ() {
    for deviation in [0.0, 0.02, 0.05, 0.1] {
        let found = sessions(
            200,
            Setting {
                deviation: (deviation, deviation),
                ..IDENTICAL
            },
        );
        // Standard error of a share of 0.95: 1.5%.
        assert!(found.covered >= 0.92, "{deviation}");
        assert!(found.false_claims <= 0.05, "{deviation}");
        assert!(found.void <= 0.05, "{deviation}");
    }
}

#[test]
fn one_build_of_each_store_would_be_told_apart_as_if_it_were_the_store() {
    let found = sessions(
        100,
        Setting {
            deviation: (0.05, 0.05),
            method: Method::OneBuild,
            ..IDENTICAL
        },
    );
    assert!(found.covered < 0.6 && found.false_claims > 0.15);
}

#[test]
fn builds_that_do_not_differ_cost_little() {
    let before = sessions(
        100,
        Setting {
            method: Method::OneBuild,
            ..IDENTICAL
        },
    );
    let now = sessions(100, IDENTICAL);
    assert!(now.half_width <= 1.25 * before.half_width);
    assert!(now.builds < 3.0);
    assert!(now.equivalent >= before.equivalent - 0.1);
}

#[test]
fn where_builds_differ_more_are_made_and_a_factor_of_two_is_still_found() {
    let found = sessions(
        100,
        Setting {
            deviation: (0.1, 0.1),
            ratio: 2.0,
            ..IDENTICAL
        },
    );
    assert!(found.slower >= 0.95 && found.false_claims == 0.0);
    let alike = sessions(
        100,
        Setting {
            deviation: (0.1, 0.1),
            ..IDENTICAL
        },
    );
    assert!(alike.builds > 6.0);
}

#[test]
#[ignore = "prints a table and takes minutes"]
fn builds_table() {
    const SESSIONS: usize = 2_000;
    println!(
        "| deviation | noise | rounds | method | coverage | false claims | small | equivalent | void | half-width | rounds | builds |"
    );
    for max_rounds in [40, 10] {
        for noise in [1.0, 3.0] {
            for deviation in [
                (0.0, 0.0),
                (0.02, 0.02),
                (0.05, 0.05),
                (0.1, 0.1),
                (0.0, 0.02),
                (0.0, 0.05),
                (0.0, 0.1),
            ] {
                for method in [Method::OneBuild, Method::AsManyAsNeeded] {
                    let setting = Setting {
                        deviation,
                        noise,
                        method,
                        max_rounds,
                        ..IDENTICAL
                    };
                    row(&sessions(SESSIONS, setting), setting);
                }
            }
        }
    }
    println!("| deviation | ratio | method | slower | rounds | builds |");
    for ratio in [1.1, 1.3, 2.0] {
        for deviation in [0.0, 0.02, 0.05, 0.1] {
            for method in [Method::OneBuild, Method::AsManyAsNeeded] {
                let found = sessions(
                    SESSIONS,
                    Setting {
                        deviation: (deviation, deviation),
                        ratio,
                        method,
                        ..IDENTICAL
                    },
                );
                println!(
                    "| {deviation} | {ratio} | {method:?} | {:.1}% | {:.1} | {:.1} |",
                    found.slower * 100.0,
                    found.rounds,
                    found.builds
                );
            }
        }
    }
}

fn row(found: &Shares, setting: Setting) {
    let percent = |share: f64| format!("{:.1}%", share * 100.0);
    println!(
        "| {:?} | {} | {} | {:?} | {} | {} | {} | {} | {} | ±{} | {:.1} | {:.1} |",
        setting.deviation,
        setting.noise,
        setting.max_rounds,
        setting.method,
        percent(found.covered),
        percent(found.false_claims),
        percent(found.small),
        percent(found.equivalent),
        percent(found.void),
        percent(found.half_width),
        found.rounds,
        found.builds
    );
}
