//! When to stop measuring, and what may be concluded then.
//!
//! A contrast is looked at after 10, 20 and 40 paired rounds and nowhere between: peeking until
//! something is "significant" finds a difference between identical cells in 20% of sessions
//! (METHOD "Ratios"). Each look pays for itself out of one probability to err, by how many of the rounds
//! there are to be. What a look concludes depends on the rounds up to that look only, so the
//! looks can be replayed from a record at any later time and stop at the same place.

use crate::{
    ControlOutcome, Estimate, Metric, RatioEstimate, Verdict,
    blocks::Blocks,
    estimate::MIN_ROUNDS,
    spread::{Paired, Spread},
    student,
    verdict::{bears_out, verdict},
};
use std::collections::BTreeSet;
use stowplan_model::{Cell, CellId, Comparison, Contrast, Measurement, Role, RunHeader};

/// Paired rounds after which a contrast is looked at (METHOD "Ratios").
pub const LOOKS: [u32; 3] = [10, 20, 40];

/// The `alpha` of the control's interval, which is looked at as often as any other without ending
/// anything: three looks at 1/4, 1/2 and 1 of the rounds together err in at most 5% (Pocock 1977).
pub const ALPHA_PER_LOOK: f64 = 0.0207;

/// How often the looks that were planned may err together.
const ALPHA_PLANNED: f64 = 0.04;
/// How often those may that were added later: as little as one can pay for four times the rounds and still
/// learn from them. Both are what [`crate::ERROR_OF_A_RATIO`] says.
const ALPHA_ADDED: f64 = 0.01;
/// With so many degrees of freedom Student's distribution is the normal one.
const NORMAL: f64 = 1e6;

/// The widening that a quiet machine needs: drift within a session that the interval cannot see
/// (METHOD "Ratios").
const BASE_FLOOR: f64 = 1.01;
/// The widening where blocks waited for a CPU for more than [`BUSY_DELAY_SHARE`] of their time.
const BUSY_FLOOR: f64 = 1.03;
const BUSY_DELAY_SHARE: f64 = 0.05;

/// What a contrast must meet before its cells may be dropped from later rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoppingRule {
    /// Half-width of the equivalence zone as a ratio, minus one: 0.05 is 5% (δ = ln 1.05).
    pub equivalence: f64,
    /// The most rounds a comparison gets; its own cap and that of the procedure (40) hold too.
    pub max_rounds: u32,
    /// Half-width that the interval, before widening, must reach besides, as a ratio minus one
    /// (0.02 is 2%).
    pub precision: Option<f64>,
}

impl StoppingRule {
    /// The rule by which a recorded run was stopped.
    #[must_use]
    pub fn of(run: &RunHeader) -> Self {
        Self {
            equivalence: run.equivalence,
            max_rounds: run.max_rounds,
            precision: run.precision,
        }
    }

    /// δ: half-width of the equivalence zone, as a natural logarithm.
    #[must_use]
    pub fn zone(&self) -> f64 {
        self.equivalence.ln_1p()
    }

    /// The most rounds of a comparison.
    fn cap(&self, comparison: &Comparison) -> usize {
        let [.., last] = LOOKS;
        self.max_rounds.min(comparison.max_rounds).min(last) as usize
    }

    /// After how many of these pairs a contrast is looked at, rising, and whether because a session came to its
    /// end then.
    fn looks(&self, comparison: &Comparison, paired: &[Paired]) -> Vec<(usize, bool)> {
        let cap = self.cap(comparison);
        let earlier = LOOKS.map(|look| look as usize).into_iter();
        let planned = earlier.filter(|look| *look < cap).chain([cap]);
        let before = comparison.judged.ends.iter();
        let ends = before.map(|end| paired.iter().filter(|pair| pair.round < *end).count());
        let ends = ends.filter(|rounds| *rounds >= MIN_ROUNDS);
        let looks = planned.map(|look| (look, false));
        let looks: BTreeSet<_> = looks.chain(ends.map(|look| (look, true))).collect();
        looks.into_iter().collect()
    }

    /// What there is to spend on the looks at a contrast of a comparison.
    fn spending(&self, comparison: &Comparison) -> Spending {
        let cap = self.cap(comparison) as f64;
        let planned = comparison.judged.planned_rounds.map(f64::from);
        Spending {
            planned: planned.map_or(cap, |planned| planned.min(cap)),
            spent: 0.0,
            last: ALPHA_PLANNED,
        }
    }

    fn precise_enough(&self, estimate: &Estimate) -> bool {
        self.precision
            .is_none_or(|precision| estimate.half_width() <= precision.ln_1p())
    }
}

/// How often the looks at one contrast may err.
#[derive(Debug, Clone, Copy)]
struct Spending {
    /// The most rounds there were to be from the start, or that there were when a session came to its end.
    planned: f64,
    /// By the looks so far together.
    spent: f64,
    /// By the last of them.
    last: f64,
}

impl Spending {
    /// The `alpha` of the next look. Of what was planned little is spent early (O'Brien & Fleming 1979, as Lan
    /// & DeMets 1983 spend it), the rest by whoever comes to an end before; beyond the plan a part that no
    /// number of looks exhausts. Who looks twice at the same rounds sees the same.
    fn look(&mut self, (rounds, is_end): (usize, bool)) -> f64 {
        let rounds = rounds as f64;
        if is_end {
            self.planned = self.planned.min(rounds);
        }
        let share = rounds / self.planned.max(1.0);
        let together = match share < 1.0 {
            true => {
                let end = student::quantile(ALPHA_PLANNED, NORMAL);
                student::two_sided(end / share.sqrt(), NORMAL)
            }
            false => ALPHA_PLANNED + ALPHA_ADDED * (1.0 - 1.0 / share),
        };
        if together > self.spent {
            self.last = together - self.spent;
            self.spent = together;
        }
        self.last
    }
}

/// What a session says about its own noise: the metric, the errors of its ratios and the A/A gate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Noise {
    pub(crate) metric: Metric,
    pub(crate) delay_share: Option<f64>,
    /// What the errors of ratios have in common.
    pub(crate) spread: Spread,
    /// φ, as a natural logarithm: what is not a ratio of rounds of one session is widened by it.
    pub(crate) floor: f64,
    /// Whether nothing speaks against the session: the A/A gate is passed.
    pub(crate) reliable: bool,
    pub(crate) control: Option<ControlOutcome>,
    /// The time that has to agree with what is claimed by the headline (R8), where there is one.
    pub(crate) beside: Option<ByTime>,
}

/// What the errors of ratios by one time have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ByTime {
    pub(crate) metric: Metric,
    pub(crate) spread: Spread,
    /// φ by this time, as a natural logarithm.
    pub(crate) floor: f64,
    /// The least that it is.
    base: f64,
    /// What two identical cells show.
    control: Option<Estimate>,
}

impl ByTime {
    pub(crate) fn of(comparison: &Comparison, blocks: &Blocks<'_>, metric: Metric) -> Self {
        let paired =
            |contrast: &Contrast| blocks.paired(&contrast.cell, &contrast.reference, metric);
        let contrasts = comparison.contrasts.iter();
        let ratios = contrasts.filter(|contrast| !has_control(comparison, contrast));
        let ratios: Vec<Vec<Paired>> = ratios.map(paired).collect();
        let control = contrast_of_control(comparison).map(|control| paired(&control));
        let spread = Spread::of(&ratios, control.as_deref());
        let base = base_floor(blocks, metric);
        let control = control.and_then(|paired| {
            let found = spread.without_control().estimate(&paired, ALPHA_PER_LOOK);
            found.map(|(estimate, _)| estimate)
        });
        Self {
            metric,
            spread,
            floor: control.map_or(base, |control| base.max(control.estimate.abs())),
            base,
            control,
        }
    }

    /// The ratio by this time over the first `rounds` pairs, on which that of the headline rests.
    pub(crate) fn ratio(
        &self,
        blocks: &Blocks<'_>,
        (cell, reference): (&CellId, &CellId),
        (rounds, alpha): (usize, f64),
    ) -> Option<RatioEstimate> {
        let paired = blocks.paired(cell, reference, self.metric);
        let (estimate, _) = self.spread.estimate(paired.get(..rounds)?, alpha)?;
        Some(estimate.to_ratio(0.0))
    }
}

impl Noise {
    /// The noise of these blocks.
    pub(crate) fn of(comparison: &Comparison, blocks: &Blocks<'_>, rule: &StoppingRule) -> Self {
        let clock = blocks.clock();
        let headline = ByTime::of(comparison, blocks, clock.metric());
        let reliable = match headline.control {
            Some(control) => passes_gate(&control, headline.base),
            None => !enough_to_miss_a_control(comparison, blocks),
        };
        let control = headline.control.map(|control| {
            let (low, high) = control.widened(headline.base);
            ControlOutcome {
                estimate: control.to_ratio(headline.base),
                verdict: match reliable {
                    true => verdict(low, high, rule.zone()),
                    false => Verdict::Unreliable,
                },
            }
        });
        let beside = clock.beside();
        Self {
            metric: headline.metric,
            delay_share: blocks.delay_share(),
            spread: headline.spread,
            floor: headline.floor,
            reliable,
            control,
            beside: beside.map(|metric| ByTime::of(comparison, blocks, metric)),
        }
    }

    /// The verdict on an estimate in this session.
    pub(crate) fn verdict(&self, estimate: &Estimate, rule: &StoppingRule) -> Verdict {
        if !self.reliable {
            return Verdict::Unreliable;
        }
        verdict(estimate.low, estimate.high, rule.zone())
    }
}

/// The least that φ is on a machine as busy as this one.
fn base_floor(blocks: &Blocks<'_>, metric: Metric) -> f64 {
    // Several threads do not tell their waits, nor do some systems: the machine may be busy.
    let unknown = metric == Metric::Wall && !blocks.delays_known();
    let share = blocks.delay_share();
    let busy = unknown || share.is_some_and(|share| share > BUSY_DELAY_SHARE);
    let base: f64 = if busy { BUSY_FLOOR } else { BASE_FLOOR };
    base.ln()
}

/// The cell that the control is a copy of: the one whose key it has. That is the baseline, unless
/// another one was chosen after the run ([`crate::rebase`]).
fn original<'a>(comparison: &'a Comparison, control: &Cell) -> Option<&'a Cell> {
    let mut cells = comparison.cells.iter();
    cells
        .find(|cell| cell.role != Role::Control && cell.key == control.key)
        .or_else(|| comparison.with_role(Role::Baseline))
}

/// The A/A gate: passed unless `[low − base, high + base]`, the interval of two identical cells
/// widened by the base floor only, excludes 0.
///
/// Only that is evidence of a systematic difference. An estimate that is large but within its
/// interval is imprecise, and charged to every verdict by the calibration of their spread. A limit
/// of δ/2 besides voided 25% of sessions without fault at a standard deviation
/// of 13% from round to round, where false claims are 0.1% with and without it (own experiment,
/// METHOD "Why the gate has no limit on the control's estimate"; `tests/procedure/gate.rs`).
fn passes_gate(control: &Estimate, base_floor: f64) -> bool {
    let (low, high) = control.widened(base_floor);
    low <= 0.0 && high >= 0.0
}

/// Whether some cell has rounds enough for a verdict, so that a control without an estimate must
/// have failed or be missing: then nothing vouches for the session.
fn enough_to_miss_a_control(comparison: &Comparison, blocks: &Blocks<'_>) -> bool {
    let Some(baseline) = comparison.with_role(Role::Baseline) else {
        return false;
    };
    let mut cells = comparison.cells.iter();
    cells.any(|cell| {
        let pairs = || blocks.paired(&cell.id, &baseline.id, Metric::Wall);
        cell.role != Role::Control && cell.id != baseline.id && pairs().len() >= MIN_ROUNDS
    })
}

/// How far a contrast has come.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Progress {
    /// The differences that its verdict rests on: those up to the look at which it was decided,
    /// or all there are.
    pub(crate) differences: Vec<Paired>,
    /// The probability that their interval misses with.
    pub(crate) alpha: f64,
    /// Whether it needs no further round.
    pub(crate) decided: bool,
}

/// Replays the looks at one contrast. `metric` is the one to report in; each look decides by
/// what was known at its own round.
pub(crate) fn replay(
    comparison: &Comparison,
    blocks: &Blocks<'_>,
    (cell, reference): (&CellId, &CellId),
    metric: Metric,
    rule: &StoppingRule,
) -> Progress {
    let paired = blocks.paired(cell, reference, metric);
    let cap = rule.cap(comparison);
    let mut spending = rule.spending(comparison);
    let looks = rule.looks(comparison, &paired).into_iter();
    let reached = looks.take_while(|(rounds, _)| *rounds <= paired.len());
    for look in reached {
        let alpha = spending.look(look);
        let (rounds, _) = look;
        let decided = rounds == cap || {
            let known = blocks.up_to(paired[rounds - 1].round);
            decides(comparison, &known, (cell, reference, alpha), rule)
        };
        if decided {
            return Progress {
                differences: paired[..rounds].to_vec(),
                alpha,
                decided,
            };
        }
    }
    Progress {
        alpha: spending.look((paired.len(), true)),
        differences: paired,
        decided: false,
    }
}

/// Whether one look answers the question with what was known at it: the interval lies outside ±δ or inside
/// it, is as precise as the rule asks, and the time beside the headline bears it out. A session that does not
/// pass its gate then decides nothing then: more rounds may calm it, and until they do no verdict could be
/// claimed.
fn decides(
    comparison: &Comparison,
    known: &Blocks<'_>,
    (cell, reference, alpha): (&CellId, &CellId, f64),
    rule: &StoppingRule,
) -> bool {
    let noise = Noise::of(comparison, known, rule);
    let paired = known.paired(cell, reference, noise.metric);
    let Some((estimate, _)) = noise.spread.estimate(&paired, alpha) else {
        return false;
    };
    let verdict = noise.verdict(&estimate, rule);
    let (pair, at) = ((cell, reference), (paired.len(), alpha));
    let other = noise.beside.and_then(|time| time.ratio(known, pair, at));
    let ratio = estimate.to_ratio(0.0);
    let borne_out = |other: &RatioEstimate| bears_out(verdict, &ratio, other, rule.zone());
    verdict.is_decided() && rule.precise_enough(&estimate) && other.as_ref().is_none_or(borne_out)
}

/// The contrasts of a comparison that need further rounds, given all its measurements so far
/// (those of other comparisons are ignored).
///
/// A contrast is decided at a look (10, 20 or 40 paired rounds, or the cap if that is smaller)
/// and then stays decided; at the cap it is decided whatever it says. The cells of the returned
/// contrasts, and always baseline and control, belong into the next round: the noise floor rests
/// on those two. The control itself is not asked about, unless it is the only contrast; but once
/// nothing else is open, its contrast is while it has too few rounds for an estimate, without which
/// nothing could be claimed. (It lacks one where a run was broken off just before its block.)
///
/// A cell that failed never gets decided. Leave it and its contrasts out of `comparison`: its
/// measurements are then ignored, as [`crate::analyse`] ignores them, and both see the same noise.
#[must_use]
pub fn undecided(
    comparison: &Comparison,
    measurements: &[Measurement],
    rule: &StoppingRule,
) -> Vec<Contrast> {
    let blocks = Blocks::of(comparison, measurements);
    let open = open(comparison, &blocks, blocks.metric(), rule);
    open.map(|(contrast, _)| contrast).collect()
}

/// The contrasts that [`undecided`] names, with how far each has come.
fn open(
    comparison: &Comparison,
    blocks: &Blocks<'_>,
    metric: Metric,
    rule: &StoppingRule,
) -> impl Iterator<Item = (Contrast, Progress)> {
    let asked = progress(comparison, blocks, metric, rule).into_iter();
    asked.filter(|(_, so_far)| !so_far.decided)
}

/// How far each contrast has come that is asked about, and that of the control while it is the only one that
/// lacks rounds.
pub(crate) fn progress(
    comparison: &Comparison,
    blocks: &Blocks<'_>,
    metric: Metric,
    rule: &StoppingRule,
) -> Vec<(Contrast, Progress)> {
    let asked = asked(comparison).map(|contrast| {
        let pair = (&contrast.cell, &contrast.reference);
        let progress = replay(comparison, blocks, pair, metric, rule);
        (contrast.clone(), progress)
    });
    let mut asked: Vec<(Contrast, Progress)> = asked.collect();
    if asked.iter().all(|(_, so_far)| so_far.decided) {
        asked.extend(short_control(comparison, blocks, metric, rule));
    }
    asked
}

/// Whether a comparison should go on with other builds: those so far differ in one of its open ratios.
#[must_use]
pub fn builds_differ(
    comparison: &Comparison,
    measurements: &[Measurement],
    rule: &StoppingRule,
) -> bool {
    let blocks = Blocks::of(comparison, measurements);
    let noise = Noise::of(comparison, &blocks, rule);
    let mut open = open(comparison, &blocks, noise.metric, rule);
    open.any(|(_, so_far)| {
        let found = noise.spread.estimate(&so_far.differences, so_far.alpha);
        let builds = found.and_then(|(_, builds)| builds);
        builds.is_some_and(|builds| builds.differ)
    })
}

/// The contrast of the control while it has fewer rounds than the first look needs.
fn short_control(
    comparison: &Comparison,
    blocks: &Blocks<'_>,
    metric: Metric,
    rule: &StoppingRule,
) -> Option<(Contrast, Progress)> {
    let contrast = contrast_of_control(comparison)?;
    let differences = blocks.paired(&contrast.cell, &contrast.reference, metric);
    let progress = Progress {
        alpha: ALPHA_PER_LOOK,
        differences,
        decided: false,
    };
    let first = rule.cap(comparison).min(MIN_ROUNDS);
    (progress.differences.len() < first).then_some((contrast, progress))
}

/// The control over the cell that it is a copy of; nothing if one of them is missing.
#[must_use]
pub fn contrast_of_control(comparison: &Comparison) -> Option<Contrast> {
    let control = comparison.with_role(Role::Control)?;
    let reference = original(comparison, control)?;
    Some(Contrast {
        cell: control.id.clone(),
        reference: reference.id.clone(),
    })
}

/// The contrasts that decide when to stop: all but that of the control, or that one if there is
/// no other.
fn asked(comparison: &Comparison) -> impl Iterator<Item = &Contrast> {
    let of_control = |contrast: &&Contrast| has_control(comparison, contrast);
    let only_control = comparison.contrasts.iter().all(|c| of_control(&c));
    let contrasts = comparison.contrasts.iter();
    contrasts.filter(move |contrast| only_control || !of_control(contrast))
}

/// Whether one side of the contrast is the control.
pub(crate) fn has_control(comparison: &Comparison, contrast: &Contrast) -> bool {
    let sides = [&contrast.cell, &contrast.reference];
    let mut cells = sides.into_iter().filter_map(|id| comparison.cell(id));
    cells.any(|cell| cell.role == Role::Control)
}
