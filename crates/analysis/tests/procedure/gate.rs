//! Which A/A gate: the experiment behind METHOD "Why the gate has no limit on the control's estimate".
//!
//! Several gates judge the same simulated and recorded sessions of three looks. A short form of
//! it guards the choice; the whole table is printed by
//! `cargo test --release -p stowplan-analysis --test procedure -- --ignored --nocapture the_table`.

use crate::recorded_noise::{Round, ln_corrected, recordings};
use crate::support::{Random, block_of_log, comparison, run};
use stowplan_analysis::{ALPHA_PER_LOOK, Estimate, LOOKS, Verdict, verdict};
use stowplan_model::Measurement;

const SEED: u64 = 20_261_121;
/// δ of the default equivalence zone.
const ZONE: f64 = 0.048_790_164_169_432;
/// The base floor of a quiet machine; `ln 1.03` on a busy one.
const QUIET: f64 = 0.009_950_330_853_168;
const BUSY: f64 = 0.029_558_802_241_544;

/// A gate that voids a session if the widened interval of the control excludes 0, and what else
/// it asks.
#[derive(Debug, Clone, Copy)]
struct Gate {
    name: &'static str,
    /// It voids too if the control's estimate is larger than this.
    limit: f64,
    /// Whether the noise floor is at least half the width of the control's interval.
    width_in_floor: bool,
}

/// That of the method before this experiment.
const HALF_ZONE: Gate = Gate {
    name: "or beyond δ/2",
    limit: ZONE / 2.0,
    width_in_floor: false,
};
/// The one chosen, and the one that the crate has.
const CHOSEN: Gate = Gate {
    name: "excludes 1",
    limit: f64::INFINITY,
    width_in_floor: false,
};
const WHOLE_ZONE: Gate = Gate {
    name: "or beyond δ",
    limit: ZONE,
    width_in_floor: false,
};
const WIDTH_IN_FLOOR: Gate = Gate {
    name: "φ ≥ width",
    limit: f64::INFINITY,
    width_in_floor: true,
};

/// The estimates of control and candidate over the baseline at each look.
type Looks = [(Estimate, Estimate); 3];

fn looks(control: &[f64], other: &[f64]) -> Looks {
    let at = |values: &[f64], look: u32| {
        Estimate::hodges_lehmann(&values[..look as usize], ALPHA_PER_LOOK).unwrap()
    };
    LOOKS.map(|look| (at(control, look), at(other, look)))
}

/// The verdict of the whole procedure under a gate, and the rounds that it took.
fn judge(looks: &Looks, gate: Gate, base: f64) -> (Verdict, u32) {
    let mut last = (Verdict::NoData, 0);
    for ((control, other), rounds) in looks.iter().zip(LOOKS) {
        let width = if gate.width_in_floor {
            control.half_width()
        } else {
            0.0
        };
        let floor = base.max(control.estimate.abs()).max(width);
        let (low, high) = control.widened(base);
        let passed = low <= 0.0 && high >= 0.0 && control.estimate.abs() <= gate.limit;
        let (low, high) = other.widened(floor);
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
    bias: (f64, f64),
    /// True ratio of the candidate to the baseline without bias.
    ratio: f64,
    base: f64,
}

const IDENTICAL: Setting = Setting {
    noise: Noise::Normal,
    sd: 0.01,
    bias: (0.0, 0.0),
    ratio: 1.0,
    base: QUIET,
};

impl Setting {
    /// Logarithms of the times of baseline, control and candidate in forty rounds, on top of a
    /// drift that they share.
    fn session(&self, random: &mut Random) -> Vec<[f64; 3]> {
        let centres = [self.bias.0, self.bias.1, self.ratio.ln()];
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
        let sessions = (0..number).map(|_| looks_of(&self.session(&mut random)));
        Sessions {
            base: self.base,
            looks: sessions.collect(),
        }
    }
}

fn looks_of(session: &[[f64; 3]]) -> Looks {
    let over_base = |cell: usize| -> Vec<f64> {
        let differences = session.iter().map(|round| round[cell] - round[0]);
        differences.collect()
    };
    looks(&over_base(1), &over_base(2))
}

/// Sessions to be judged by each gate.
struct Sessions {
    base: f64,
    looks: Vec<Looks>,
}

/// Shares of sessions, and the mean number of rounds.
#[derive(Debug, Clone, Copy)]
struct Shares {
    claims: f64,
    slower: f64,
    equivalent: f64,
    void: f64,
    rounds: f64,
}

impl Sessions {
    /// All contiguous windows of a recording in which `pair` is compared while `control`, the
    /// other pair of identical cells, plays the control; every `step`-th of them.
    fn recorded(
        record: &[Round],
        pair: (usize, usize),
        control: (usize, usize),
        step: usize,
    ) -> Self {
        let difference = |(base, other): (usize, usize)| -> Vec<f64> {
            let rounds = record.iter();
            rounds
                .map(|round| ln_corrected(round[other]) - ln_corrected(round[base]))
                .collect()
        };
        let (control, other) = (difference(control), difference(pair));
        let windows = control.windows(40).zip(other.windows(40)).step_by(step);
        Self {
            base: QUIET,
            looks: windows.map(|(c, o)| looks(c, o)).collect(),
        }
    }

    fn under(&self, gate: Gate) -> Shares {
        let judged: Vec<(Verdict, u32)> = self
            .looks
            .iter()
            .map(|looks| judge(looks, gate, self.base))
            .collect();
        let number = judged.len() as f64;
        let share = |of: &[Verdict]| {
            let found = judged.iter().filter(|(found, _)| of.contains(found));
            found.count() as f64 / number
        };
        Shares {
            claims: share(&[Verdict::Faster, Verdict::Slower, Verdict::SmallDifference]),
            slower: share(&[Verdict::Slower]),
            equivalent: share(&[Verdict::Equivalent]),
            void: share(&[Verdict::Unreliable]),
            rounds: judged.iter().map(|(_, n)| f64::from(*n)).sum::<f64>() / number,
        }
    }
}

/// The two independent A/A comparisons of a recording.
const PAIRS: [((usize, usize), (usize, usize)); 2] = [((0, 1), (2, 3)), ((2, 3), (0, 1))];

/// The same session as blocks with times, for the crate itself.
fn blocks(session: &[[f64; 3]]) -> Vec<Measurement> {
    let rounds = (0..).zip(session);
    rounds
        .flat_map(|(round, times)| {
            ["base", "again", "other"]
                .into_iter()
                .zip(*times)
                .map(move |(key, time)| block_of_log(key, round, 10.0 + time))
        })
        .collect()
}

#[test]
fn the_crate_voids_about_the_sessions_that_the_chosen_gate_does() {
    println!("seed {SEED}");
    let comparison = comparison(&["other"]);
    for (sd, bias, ratio) in [(0.13, 0.0, 1.0), (0.13, 0.0, 1.3), (0.03, 0.03, 1.0)] {
        let setting = Setting {
            sd,
            bias: (bias, 0.0),
            ratio,
            ..IDENTICAL
        };
        let mut random = Random(SEED);
        // The interval of the control is Student's there, and that of signed ranks here.
        let otherwise = (0..25).filter(|_| {
            let session = setting.session(&mut random);
            let found = run(&comparison, &blocks(&session));
            let (expected, _) = judge(&looks_of(&session), CHOSEN, QUIET);
            let void = |verdict| verdict == Verdict::Unreliable;
            void(found.contrasts[0].verdict) != void(expected)
        });
        assert!(otherwise.count() <= 5, "{setting:?}");
    }
}

#[test]
fn noise_alone_makes_few_sessions_claim_a_difference_and_voids_few() {
    println!("seed {SEED}");
    for noise in [
        Noise::Normal,
        Noise::HeavyTailed,
        Noise::Contaminated,
        Noise::Drifting(0.24),
    ] {
        for sd in [0.01, 0.05, 0.13, 0.2] {
            let setting = Setting {
                noise,
                sd,
                ..IDENTICAL
            };
            let found = setting.sessions(100).under(CHOSEN);
            println!("{noise:?}, SD {sd}: {found:?}");
            assert!(found.claims <= 0.05, "{setting:?}: {found:?}");
            // Standard error 2%.
            assert!(found.void <= 0.08, "{setting:?}: {found:?}");
        }
    }
}

#[test]
fn a_gate_at_half_the_zone_voids_what_is_only_noisy_and_gains_nothing() {
    println!("seed {SEED}");
    let noisy = Setting {
        sd: 0.13,
        ..IDENTICAL
    };
    let sessions = noisy.sessions(200);
    let (before, now) = (sessions.under(HALF_ZONE), sessions.under(CHOSEN));
    println!("{before:?}, now {now:?}");
    assert!(before.void > 0.15 && now.void < 0.04);
    assert!(before.claims <= 0.05 && now.claims <= 0.05);
    for ratio in [1.3, 4.0] {
        let sessions = Setting { ratio, ..noisy }.sessions(100);
        let (before, now) = (sessions.under(HALF_ZONE), sessions.under(CHOSEN));
        println!("ratio {ratio}: {before:?}, now {now:?}");
        assert!(before.slower < 0.95 && now.slower > 0.97);
        assert!(now.rounds < 13.0 && before.rounds > 16.0);
    }
}

#[test]
fn two_identical_cells_that_differ_all_the_time_void_the_session() {
    println!("seed {SEED}");
    for (sd, bias, at_least) in [
        (0.01, 0.03, 0.95),
        (0.02, 0.03, 0.7),
        (0.02, 0.05, 0.98),
        (0.13, 0.1, 0.85),
    ] {
        let setting = Setting {
            sd,
            bias: (0.0, bias),
            ..IDENTICAL
        };
        let found = setting.sessions(100).under(CHOSEN);
        println!("SD {sd}, bias {bias}: {found:?}");
        assert!(found.void >= at_least, "{setting:?}: {found:?}");
        assert!(found.claims == 0.0, "{setting:?}: {found:?}");
    }
}

/// The worst bias is the baseline's, which every ratio shares. Where the gate misses it, the
/// noise floor, at least as large as what the control shows, keeps it from being claimed.
#[test]
fn a_biased_baseline_that_passes_the_gate_is_not_claimed_either() {
    println!("seed {SEED}");
    for (sd, bias, base) in [(0.05, 0.03, QUIET), (0.13, 0.05, QUIET), (0.02, 0.03, BUSY)] {
        let setting = Setting {
            sd,
            bias: (bias, 0.0),
            base,
            ..IDENTICAL
        };
        let found = setting.sessions(150).under(CHOSEN);
        println!("SD {sd}, bias {bias}: {found:?}");
        assert!(found.claims <= 0.05, "{setting:?}: {found:?}");
        assert!(found.void < 0.8, "the gate alone would do: {found:?}");
    }
}

#[test]
fn recorded_noise_voids_no_session_and_leads_to_no_claim() {
    for record in recordings() {
        for (pair, control) in PAIRS {
            let found = Sessions::recorded(&record, pair, control, 10).under(CHOSEN);
            println!("{} rounds, {pair:?}: {found:?}", record.len());
            assert!(found.claims <= 0.05 && found.void <= 0.05, "{found:?}");
        }
    }
}

/// One row of the table of docs/method.md: every gate on the same sessions.
fn print_row(name: &str, sessions: &Sessions) {
    print!("{name:40}");
    for gate in [HALF_ZONE, CHOSEN, WHOLE_ZONE, WIDTH_IN_FLOOR] {
        let Shares {
            claims,
            slower,
            equivalent,
            void,
            rounds,
        } = sessions.under(gate);
        let [claims, slower, equivalent, void] =
            [claims, slower, equivalent, void].map(|share| share * 100.0);
        print!(
            " | {}: claims {claims:.1} slower {slower:.1} equivalent {equivalent:.1} \
             void {void:.1} rounds {rounds:.1}",
            gate.name
        );
    }
    println!(" | {} sessions", sessions.looks.len());
}

#[test]
#[ignore = "prints a table and takes minutes without optimisation"]
fn the_table() {
    println!("seed {SEED}");
    const SESSIONS: usize = 4000;
    let spreads = [0.01, 0.05, 0.13, 0.2];
    let noises = [
        Noise::Normal,
        Noise::HeavyTailed,
        Noise::Contaminated,
        Noise::Drifting(0.24),
        Noise::Drifting(0.6),
    ];
    let mut settings: Vec<(String, Setting)> = Vec::new();
    for (noise, sd) in noises.into_iter().flat_map(|n| spreads.map(|sd| (n, sd))) {
        let setting = Setting {
            noise,
            sd,
            ..IDENTICAL
        };
        settings.push((format!("identical, {noise:?}, SD {sd}"), setting));
        for ratio in [1.1, 1.3, 2.0, 4.0] {
            let name = format!("ratio {ratio}, {noise:?}, SD {sd}");
            settings.push((name, Setting { ratio, ..setting }));
        }
    }
    for (sd, bias) in [0.01, 0.02, 0.05, 0.13]
        .into_iter()
        .flat_map(|sd| [0.03, 0.05, 0.1].map(|bias| (sd, bias)))
    {
        for base in [QUIET, BUSY] {
            for (who, bias) in [("control", (0.0, bias)), ("baseline", (bias, 0.0))] {
                let name = format!("{who} slower {bias:?}, SD {sd}, base {base:.3}");
                let setting = Setting {
                    sd,
                    bias,
                    base,
                    ..IDENTICAL
                };
                settings.push((name, setting));
            }
        }
    }
    for (name, setting) in settings {
        print_row(&name, &setting.sessions(SESSIONS));
    }
    for record in recordings() {
        for (pair, control) in PAIRS {
            let sessions = Sessions::recorded(&record, pair, control, 1);
            print_row(&format!("recorded, {pair:?}"), &sessions);
        }
        let sessions = Sessions::recorded(&record, (0, 2), (0, 1), 1);
        print_row("recorded, ratio 2", &sessions);
    }
}
