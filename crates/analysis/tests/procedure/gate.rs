//! Which A/A gate: the experiment behind METHOD "Why the gate has no limit on the control's estimate".
//!
//! Two gates judge the same simulated and recorded sessions of three looks. A short form of
//! it guards the choice; the whole table is printed by
//! `cargo test --release -p stowplan-analysis --test procedure -- --ignored --nocapture the_table`.

use crate::recorded_noise::{Round, ln_corrected, recordings};
use crate::support::{Random, block_of_log, comparison, run};
use stowplan_analysis::{ALPHA_PER_LOOK, Estimate, LOOKS, Verdict, verdict};

const SEED: u64 = 20_261_121;
/// δ of the default equivalence zone.
const ZONE: f64 = 0.048_790_164_169_432;
/// The base floor of a quiet machine; `ln 1.03` on a busy one.
const QUIET: f64 = 0.009_950_330_853_168;
const BUSY: f64 = 0.029_558_802_241_544;

/// A gate that voids a session if the widened interval of the control excludes 0, or if the control's
/// estimate is larger than this: that of the method before this experiment, and the one that it has.
const HALF_ZONE: f64 = ZONE / 2.0;
const CHOSEN: f64 = f64::INFINITY;

/// The estimates of control and candidate over the baseline at each look, by the logarithms of the times
/// of the three in each round.
type Looks = [[Estimate; 2]; 3];

fn looks(session: &[[f64; 3]]) -> Looks {
    LOOKS.map(|look| {
        [1, 2].map(|cell| {
            let rounds = session[..look as usize].iter();
            let over_base: Vec<f64> = rounds.map(|round| round[cell] - round[0]).collect();
            Estimate::hodges_lehmann(&over_base, ALPHA_PER_LOOK).unwrap()
        })
    })
}

/// The verdict of the whole procedure under a gate, and the rounds that it took.
fn judge(looks: &Looks, limit: f64, base: f64) -> (Verdict, u32) {
    let mut last = (Verdict::NoData, 0);
    for ([control, other], rounds) in looks.iter().zip(LOOKS) {
        let (low, high) = control.widened(base);
        let passed = low <= 0.0 && high >= 0.0 && control.estimate.abs() <= limit;
        let (low, high) = other.widened(base.max(control.estimate.abs()));
        let found = match verdict(low, high, ZONE) {
            found if passed => found,
            _ => Verdict::Unreliable,
        };
        last = (found, rounds);
        if let Verdict::Faster | Verdict::Slower | Verdict::Equivalent = found {
            break;
        }
    }
    last
}

/// The noise that each cell has for itself, with a standard deviation of 1.
#[derive(Debug, Clone, Copy)]
enum Noise {
    Normal,
    /// Student's t with 3 degrees of freedom.
    HeavyTailed,
    /// One block in ten has five times the spread.
    Contaminated,
    /// Normal, with this lag-1 autocorrelation.
    Drifting(f64),
}

/// The last is more strongly correlated than any recorded.
const NOISES: [Noise; 5] = [
    Noise::Normal,
    Noise::HeavyTailed,
    Noise::Contaminated,
    Noise::Drifting(0.24),
    Noise::Drifting(0.6),
];

impl Noise {
    fn next(self, before: f64, random: &mut Random) -> f64 {
        let normal = random.normal();
        match self {
            Self::Normal => normal,
            Self::HeavyTailed => {
                let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
                normal / squares.sqrt()
            }
            Self::Contaminated if random.uniform() < 0.1 => 5.0 * normal / 3.4_f64.sqrt(),
            Self::Contaminated => normal / 3.4_f64.sqrt(),
            Self::Drifting(share) => share * before + (1.0 - share * share).sqrt() * normal,
        }
    }
}

/// What the sessions of one row of the table have in common.
#[derive(Debug, Clone, Copy)]
struct Setting {
    noise: Noise,
    /// Standard deviation of `ln(control/baseline)` from round to round.
    sd: f64,
    /// By how much (baseline, control) are slower all the time, as logarithms.
    bias: [f64; 2],
    /// True ratio of the candidate to the baseline without bias.
    ratio: f64,
    base: f64,
}

impl Setting {
    /// Identical cells on a quiet machine.
    fn identical(noise: Noise, sd: f64) -> Self {
        Self {
            noise,
            sd,
            bias: [0.0; 2],
            ratio: 1.0,
            base: QUIET,
        }
    }

    fn biased(sd: f64, bias: [f64; 2], base: f64) -> Self {
        Self {
            bias,
            base,
            ..Self::identical(Noise::Normal, sd)
        }
    }

    fn of_ratio(self, ratio: f64) -> Self {
        Self { ratio, ..self }
    }

    /// Logarithms of the times of baseline, control and candidate in forty rounds, on top of a
    /// drift that they share.
    fn session(&self, random: &mut Random) -> Vec<[f64; 3]> {
        let centres = [self.bias[0], self.bias[1], self.ratio.ln()];
        let mut own = [0.0; 3].map(|_: f64| random.normal());
        let mut common = 0.0;
        (0..40)
            .map(|_| {
                common += 0.01 + 0.03 * random.normal();
                own = own.map(|before| self.noise.next(before, random));
                [0, 1, 2].map(|cell| common + centres[cell] + own[cell] * self.sd / 2_f64.sqrt())
            })
            .collect()
    }

    fn sessions(&self, number: usize) -> Sessions {
        let mut random = Random(SEED);
        let sessions = (0..number).map(|_| looks(&self.session(&mut random)));
        Sessions(self.base, sessions.collect())
    }
}

/// Sessions to be judged by each gate, and the base floor of their machine.
struct Sessions(f64, Vec<Looks>);

/// Shares of sessions, and the mean number of rounds.
#[derive(Debug, Clone, Copy)]
struct Shares {
    claims: f64,
    slower: f64,
    void: f64,
    rounds: f64,
}

impl Sessions {
    /// All contiguous windows of a recording in which `pair` is compared while `control`, the
    /// other pair of identical cells, plays the control; every `step`-th of them.
    fn recorded(record: &[Round], [pair, control]: [(usize, usize); 2], step: usize) -> Self {
        let logs = record.iter().map(|round| {
            let apart = |(a, b): (usize, usize)| ln_corrected(round[b]) - ln_corrected(round[a]);
            [0.0, apart(control), apart(pair)]
        });
        let logs: Vec<[f64; 3]> = logs.collect();
        Self(QUIET, logs.windows(40).step_by(step).map(looks).collect())
    }

    fn under(&self, limit: f64) -> Shares {
        let judged = self.1.iter().map(|looks| judge(looks, limit, self.0));
        let judged: Vec<(Verdict, u32)> = judged.collect();
        let number = judged.len() as f64;
        let share = |of: &[Verdict]| {
            let found = judged.iter().filter(|(found, _)| of.contains(found));
            found.count() as f64 / number
        };
        Shares {
            claims: share(&[Verdict::Faster, Verdict::Slower, Verdict::SmallDifference]),
            slower: share(&[Verdict::Slower]),
            void: share(&[Verdict::Unreliable]),
            rounds: judged.iter().map(|(_, n)| f64::from(*n)).sum::<f64>() / number,
        }
    }
}

/// The two independent A/A comparisons of a recording.
const PAIRS: [[(usize, usize); 2]; 2] = [[(0, 1), (2, 3)], [(2, 3), (0, 1)]];

#[test]
fn the_crate_voids_about_the_sessions_that_the_chosen_gate_does() {
    let comparison = comparison(&["other"]);
    for (sd, bias, ratio) in [(0.13, 0.0, 1.0), (0.13, 0.0, 1.3), (0.03, 0.03, 1.0)] {
        let setting = Setting::biased(sd, [bias, 0.0], QUIET).of_ratio(ratio);
        let mut random = Random(SEED);
        // The interval of the control is Student's there, and that of signed ranks here.
        let otherwise = (0..25).filter(|_| {
            let session = setting.session(&mut random);
            let rounds = (0..).zip(&session);
            let blocks = rounds.flat_map(|(round, times)| {
                let cells = ["base", "again", "other"].into_iter().zip(times);
                cells.map(move |(key, time)| block_of_log(key, round, 10.0 + time))
            });
            let found = run(&comparison, &blocks.collect::<Vec<_>>());
            let (expected, _) = judge(&looks(&session), CHOSEN, QUIET);
            let void = |verdict| verdict == Verdict::Unreliable;
            void(found.contrasts[0].verdict) != void(expected)
        });
        assert!(otherwise.count() <= 5, "{setting:?}, seed {SEED}");
    }
}

#[test]
fn noise_alone_makes_few_sessions_claim_a_difference_and_voids_few() {
    for noise in &NOISES[..4] {
        for sd in [0.01, 0.05, 0.13, 0.2] {
            let setting = Setting::identical(*noise, sd);
            let found = setting.sessions(100).under(CHOSEN);
            assert!(found.claims <= 0.05, "{setting:?}: {found:?}, seed {SEED}");
            // Standard error 2%.
            assert!(found.void <= 0.08, "{setting:?}: {found:?}, seed {SEED}");
        }
    }
}

#[test]
fn a_gate_at_half_the_zone_voids_what_is_only_noisy_and_gains_nothing() {
    let noisy = Setting::identical(Noise::Normal, 0.13);
    let both = |setting: Setting, number: usize| {
        let sessions = setting.sessions(number);
        let both = [sessions.under(HALF_ZONE), sessions.under(CHOSEN)];
        println!("seed {SEED}, {setting:?}: {both:?}");
        both
    };
    let [before, now] = both(noisy, 200);
    assert!(before.void > 0.15 && now.void < 0.04);
    assert!(before.claims <= 0.05 && now.claims <= 0.05);
    for ratio in [1.3, 4.0] {
        let [before, now] = both(noisy.of_ratio(ratio), 100);
        assert!(before.slower < 0.95 && now.slower > 0.97);
        assert!(now.rounds < 13.0 && before.rounds > 16.0);
    }
}

#[test]
fn two_identical_cells_that_differ_all_the_time_void_the_session() {
    let cases = [(0.01, 0.03), (0.02, 0.03), (0.02, 0.05), (0.13, 0.1)];
    for ((sd, bias), least) in cases.into_iter().zip([0.95, 0.7, 0.98, 0.85]) {
        let setting = Setting::biased(sd, [0.0, bias], QUIET);
        let found = setting.sessions(100).under(CHOSEN);
        assert!(found.void >= least, "{setting:?}: {found:?}, seed {SEED}");
        assert!(found.claims == 0.0, "{setting:?}: {found:?}, seed {SEED}");
    }
}

/// The worst bias is the baseline's, which every ratio shares. Where the gate misses it, the
/// noise floor, at least as large as what the control shows, keeps it from being claimed.
#[test]
fn a_biased_baseline_that_passes_the_gate_is_not_claimed_either() {
    for (sd, bias, base) in [(0.05, 0.03, QUIET), (0.13, 0.05, QUIET), (0.02, 0.03, BUSY)] {
        let setting = Setting::biased(sd, [bias, 0.0], base);
        let found = setting.sessions(150).under(CHOSEN);
        assert!(found.claims <= 0.05, "{setting:?}: {found:?}, seed {SEED}");
        assert!(found.void < 0.8, "the gate alone would do: {found:?}");
    }
}

#[test]
fn recorded_noise_voids_no_session_and_leads_to_no_claim() {
    for record in recordings() {
        for pairs in PAIRS {
            let found = Sessions::recorded(&record, pairs, 10).under(CHOSEN);
            assert!(found.claims <= 0.05 && found.void <= 0.05, "{found:?}");
        }
    }
}

#[test]
#[ignore = "prints a table and takes minutes without optimisation"]
fn the_table() {
    println!("seed {SEED}");
    let mut settings: Vec<Setting> = Vec::new();
    for sd in [0.01, 0.05, 0.13, 0.2] {
        for identical in NOISES.map(|noise| Setting::identical(noise, sd)) {
            settings.extend([1.0, 1.1, 1.3, 2.0, 4.0].map(|ratio| identical.of_ratio(ratio)));
        }
    }
    for sd in [0.01, 0.02, 0.05, 0.13] {
        for bias in [0.03, 0.05, 0.1]
            .map(|bias| [[0.0, bias], [bias, 0.0]])
            .concat()
        {
            settings.extend([QUIET, BUSY].map(|base| Setting::biased(sd, bias, base)));
        }
    }
    // Both gates on the same sessions.
    let row = |name: &str, sessions: &Sessions| {
        let both = [HALF_ZONE, CHOSEN].map(|limit| sessions.under(limit));
        println!("{name} | {} | at δ/2, now: {both:?}", sessions.1.len());
    };
    for setting in settings {
        row(&format!("{setting:?}"), &setting.sessions(4000));
    }
    for record in recordings() {
        for pairs in PAIRS.into_iter().chain([[(0, 2), (0, 1)]]) {
            let name = format!("recorded, {pairs:?}; the last has a ratio of 2");
            row(&name, &Sessions::recorded(&record, pairs, 1));
        }
    }
}
