//! Sessions whose stores differ from build to build: the experiment behind METHOD "Builds".
//!
//! Recorded noise of rounds, and on top of it, for each build of a store, a normal deviation that all
//! rounds on it share. The truth is the ratio over all builds that there could be. A short form guards
//! what was chosen; the whole table is printed by
//! `cargo test --release -p stowplan-analysis --test procedure -- --ignored --nocapture builds_table`.

use crate::recorded_noise::{PAIRS, Pair, Round, ln_corrected, recordings};
use crate::support::{RULE, Random, block_of_log, comparison, mean, outcome, percent};
use stowplan_analysis::{RatioEstimate, Verdict, builds_differ, undecided};
use stowplan_model::Measurement;

const SEED: u64 = 20_261_123;

/// What the sessions of one row of the table have in common.
#[derive(Debug, Clone, Copy)]
struct Setting {
    /// Standard deviation of the logarithm of a store's time from build to build: of the baseline, and
    /// of the other store.
    deviation: [f64; 2],
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

const METHODS: [Method; 2] = [Method::OneBuild, Method::AsManyAsNeeded];

/// Identical cells, whose builds differ by so much.
fn identical(deviation: f64) -> Setting {
    Setting {
        deviation: [deviation; 2],
        ratio: 1.0,
        noise: 1.0,
        method: Method::AsManyAsNeeded,
        max_rounds: 40,
    }
}

fn with_one_build(setting: Setting) -> Setting {
    Setting {
        method: Method::OneBuild,
        ..setting
    }
}

/// The builds of a store that exist at a time: number and deviation of each.
type Builds = [(u32, f64); 2];

/// What a session came to, the verdict on it, and how many builds of each store it took.
type Session = (RatioEstimate, Verdict, f64);

/// Rounds until a look decides or the cap is reached, with other builds after every ten where those so
/// far differ; `pair` is compared, and `control` is the other pair of identical cells of the record.
fn session(window: &[Round], pairs: [Pair; 2], setting: Setting, random: &mut Random) -> Session {
    let mut comparison = comparison(&["other"]);
    comparison.max_rounds = setting.max_rounds;
    let mut builds: [Builds; 2] = Default::default();
    let mut number_of_builds = 0;
    let mut measured: Vec<Measurement> = Vec::new();
    for (number, round) in (0..setting.max_rounds).zip(window) {
        if number % 10 == 0 {
            if number > 0 && undecided(&comparison, &measured, &RULE).is_empty() {
                break;
            }
            let more = setting.method == Method::AsManyAsNeeded
                && builds_differ(&comparison, &measured, &RULE);
            if number == 0 || more {
                builds = setting.deviation.map(|deviation| {
                    [0, 1].map(|_| {
                        number_of_builds += 1;
                        (number_of_builds, deviation * random.normal())
                    })
                });
            }
        }
        measured.extend(blocks(number, round, pairs, setting, builds));
    }
    let contrast = outcome(&comparison, &measured).contrasts.remove(0);
    let met = measured.iter().filter_map(|block| block.build).max();
    let builds = f64::from(met.unwrap_or(0) / 2);
    (contrast.estimate.unwrap(), contrast.verdict, builds)
}

/// One round: the baseline on one of its builds and the control on the other, in turns, so that the two
/// stores meet in all four combinations.
fn blocks(
    number: u32,
    round: &Round,
    [pair, control]: [Pair; 2],
    setting: Setting,
    [base, other]: [Builds; 2],
) -> [Measurement; 3] {
    let turns = setting.method == Method::AsManyAsNeeded;
    let [slot, of_control, of_other] = match turns {
        false => [0; 3],
        true => [number % 2, 1 - number % 2, (number + number / 2) % 2].map(|slot| slot as usize),
    };
    let log = |cell: usize| ln_corrected(round[cell]);
    let noise = |(a, b): Pair| setting.noise * (log(b) - log(a));
    let at = |key, more: f64, (build, deviation): (u32, f64)| Measurement {
        build: turns.then_some(build),
        ..block_of_log(key, number, log(pair.0) + more + deviation)
    };
    let ratio = noise(pair) + setting.ratio.ln();
    [
        at("base", 0.0, base[slot]),
        at("again", noise(control), base[of_control]),
        at("other", ratio, other[of_other]),
    ]
}

/// Sessions of one setting.
struct Found(Setting, Vec<Session>);

fn sessions(number: usize, setting: Setting) -> Found {
    let mut random = Random(SEED);
    let mut all = Vec::new();
    let records = recordings();
    for record in &records {
        for pairs in [PAIRS, [PAIRS[1], PAIRS[0]]] {
            for _ in 0..number / (records.len() * 2) {
                let start = random.below(record.len() - 40 + 1);
                let window = &record[start..start + 40];
                all.push(session(window, pairs, setting, &mut random));
            }
        }
    }
    let found = Found(setting, all);
    println!("seed {SEED}, {setting:?}: {}", found.row());
    found
}

impl Found {
    fn mean(&self, of: impl Fn(&RatioEstimate) -> f64) -> f64 {
        mean(self.1.iter().map(|(estimate, ..)| of(estimate)))
    }

    fn share(&self, of: Verdict) -> f64 {
        mean(self.1.iter().map(|(_, verdict, _)| (*verdict == of).into()))
    }

    fn covered(&self) -> f64 {
        let ratio = self.0.ratio;
        self.mean(|found| (found.low <= ratio && ratio <= found.high).into())
    }

    /// Faster or slower where neither is true, or the wrong way round.
    fn false_claims(&self) -> f64 {
        let [faster, slower] = [Verdict::Faster, Verdict::Slower].map(|of| self.share(of));
        faster + if self.0.ratio <= 1.0 { slower } else { 0.0 }
    }

    /// Half-width of the interval as shown.
    fn half_width(&self) -> f64 {
        self.mean(|found| (found.high / found.low).ln() / 2.0)
    }

    fn builds(&self) -> f64 {
        mean(self.1.iter().map(|(.., builds)| *builds))
    }

    fn row(&self) -> String {
        use Verdict::{Equivalent, SmallDifference, Unreliable};
        let verdicts = [SmallDifference, Equivalent, Unreliable].map(|of| self.share(of));
        let shares = [[self.covered(), self.false_claims()].as_slice(), &verdicts].concat();
        let shares: Vec<String> = shares.into_iter().map(percent).collect();
        let (half_width, builds) = (percent(self.half_width()), self.builds());
        let rounds = self.mean(|found| found.rounds as f64);
        let shares = shares.join(" | ");
        format!("{shares} | ±{half_width} | {rounds:.1} | {builds:.1}")
    }
}

#[test]
fn intervals_hold_the_ratio_over_all_builds_however_much_builds_differ() {
    for deviation in [0.0, 0.02, 0.05, 0.1] {
        let found = sessions(200, identical(deviation));
        // Standard error of a share of 0.95: 1.5%.
        assert!(found.covered() >= 0.92, "{deviation}");
        assert!(found.false_claims() <= 0.05, "{deviation}");
        assert!(found.share(Verdict::Unreliable) <= 0.05, "{deviation}");
    }
    // One build of each store would be told apart as if it were the store.
    let found = sessions(100, with_one_build(identical(0.05)));
    assert!(found.covered() < 0.6 && found.false_claims() > 0.15);
}

#[test]
fn builds_that_do_not_differ_cost_little() {
    let before = sessions(100, with_one_build(identical(0.0)));
    let now = sessions(100, identical(0.0));
    assert!(now.half_width() <= 1.25 * before.half_width());
    assert!(now.builds() < 3.0);
    let [now, before] = [now, before].map(|found| found.share(Verdict::Equivalent));
    assert!(now >= before - 0.1);
}

#[test]
fn where_builds_differ_more_are_made_and_a_factor_of_two_is_still_found() {
    let twice = Setting {
        ratio: 2.0,
        ..identical(0.1)
    };
    let found = sessions(100, twice);
    assert!(found.share(Verdict::Slower) >= 0.95 && found.false_claims() == 0.0);
    assert!(sessions(100, identical(0.1)).builds() > 6.0);
}

#[test]
#[ignore = "prints a table and takes minutes"]
fn builds_table() {
    const SESSIONS: usize = 2_000;
    println!("coverage | false claims | small | equivalent | void | half-width | rounds | builds");
    let both = [0.0, 0.02, 0.05, 0.1].map(|deviation| [deviation; 2]);
    let one_only = [0.02, 0.05, 0.1].map(|deviation| [0.0, deviation]);
    for (max_rounds, noise) in [(40, 1.0), (40, 3.0), (10, 1.0), (10, 3.0)] {
        for deviation in both.into_iter().chain(one_only) {
            for method in METHODS {
                let setting = Setting {
                    deviation,
                    ratio: 1.0,
                    noise,
                    method,
                    max_rounds,
                };
                sessions(SESSIONS, setting);
            }
        }
    }
    for ratio in [1.1, 1.3, 2.0] {
        for deviation in both {
            for method in METHODS {
                let setting = Setting {
                    deviation,
                    ratio,
                    method,
                    ..identical(0.0)
                };
                let slower = sessions(SESSIONS, setting).share(Verdict::Slower);
                println!("slower: {}", percent(slower));
            }
        }
    }
}
