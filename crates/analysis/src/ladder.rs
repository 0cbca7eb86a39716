//! Costs taken apart: what each step of an operation costs.
//!
//! A step is the difference of two cells that were measured in the same rounds. Per round the
//! lowest rung and all steps add up to the topmost rung; their estimates are medians of their own,
//! which need not, and what they lack is shown as the remainder.

mod cost;

use crate::blocks::{location, logs};
use crate::estimate::MIN_ROUNDS;
use crate::{CellSummary, ComparisonOutcome, Interval, Metric, judge::Judge};
use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_model::{CellFailure, CellId, LadderSpec, Role, RungSpec, Study};

/// A cost taken apart. Times are nanoseconds per operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LadderOutcome {
    /// Its name in the study file.
    pub id: String,
    /// Title for people.
    pub title: String,
    /// The comparison whose cells it takes apart.
    pub comparison: String,
    /// Which time the steps are of.
    pub metric: Metric,
    /// Whether the comparison passed its A/A gate; if not, steps are shown and nothing is claimed.
    pub reliable: bool,
    /// The base, which is the time of the lowest rung, then each step, from the bottom up. Empty
    /// where fewer than two rungs were measured.
    pub steps: Vec<Step>,
    /// The time of the topmost rung that was measured: what is taken apart.
    pub whole: Option<Interval>,
    /// Base and steps added up.
    pub sum: Option<f64>,
    /// The whole less that sum. Its interval is that of the whole, widened by the noise floor. That 0
    /// is in it proves nothing: steps are differences of neighbours, which add up by themselves.
    pub remainder: Option<Interval>,
    /// Rungs that were not measured, from the bottom up.
    pub missing: Vec<MissingRung>,
}

impl LadderOutcome {
    /// The cell whose cost is taken apart.
    #[must_use]
    pub fn top(&self) -> Option<&CellId> {
        self.steps.last().map(|step| &step.cell)
    }
}

/// What a rung does that the one below it does not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// The cell that does it.
    pub cell: CellId,
    /// The cell that does everything but this; nothing of the base.
    pub below: Option<CellId>,
    /// What it is: several where the rungs between them were not measured, so that they cannot be
    /// told apart.
    pub steps: Vec<String>,
    /// What it costs: of the base, the time of its cell; of a step, the Hodges–Lehmann estimate of
    /// the differences per round, with its interval widened by the noise floor. Below 0 it saves time.
    pub cost: Interval,
    /// Its share of the whole; less than 0 for a step that saves time.
    pub share: f64,
    /// What it should cost by what its primitives take alone: the sum of how often an operation needs each, times
    /// its time, with the ends that are farthest away; nothing where the study does not say what it is made of, or
    /// where a primitive was not measured.
    pub isolated: Option<Interval>,
    /// System calls per operation that the step adds, by name, where both cells were counted;
    /// less than 0: that it saves. Changes of less than a hundredth of a call are left out.
    pub calls: Option<BTreeMap<String, f64>>,
}

/// A rung that was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingRung {
    /// The cell's name in the study.
    pub cell: String,
    /// What it would have shown.
    pub step: String,
    /// Why, in words.
    pub why: String,
}

/// One judged comparison, and what failed.
#[derive(Clone, Copy)]
pub(crate) struct Measured<'a> {
    pub(crate) judge: &'a Judge<'a>,
    pub(crate) outcome: &'a ComparisonOutcome,
    pub(crate) failures: &'a [&'a CellFailure],
    pub(crate) study: &'a Study,
}

impl<'a> Measured<'a> {
    fn cell(&self, key: &str) -> Option<&'a CellSummary> {
        let mut cells = self.outcome.cells.iter();
        cells.find(|cell| cell.cell.key == key && cell.cell.role != Role::Control)
    }

    /// The cell, or why there is nothing to say of it.
    pub(crate) fn measured(&self, key: &str) -> Result<&'a CellSummary, String> {
        let Some(cell) = self.cell(key) else {
            // What does not apply is listed by what it is called.
            let id = CellId(format!("{}/{key}", self.outcome.id));
            let reason = self.outcome.not_applicable.get(&self.study.label_of(&id));
            return Err(reason.map_or_else(
                || "it was left out of this run".to_owned(),
                |reason| format!("not applicable: {reason}"),
            ));
        };
        let mut failures = self.failures.iter();
        if let Some(failure) = failures.find(|failure| failure.cell == cell.cell.id) {
            return Err(format!("it failed: {}", failure.message));
        }
        if cell.rounds < MIN_ROUNDS {
            return Err(format!(
                "it has {} rounds, fewer than {MIN_ROUNDS}",
                cell.rounds
            ));
        }
        Ok(cell)
    }

    /// The headline time of a cell per operation over all of its rounds, as costs are.
    fn time(&self, cell: &CellSummary) -> Option<Interval> {
        let metric = self.judge.noise.metric;
        location(
            &logs(&self.judge.blocks.log_times(&cell.cell.id, metric)),
            metric,
        )
    }

    fn cost(&self, cell: &CellId, without: &CellId) -> Option<Interval> {
        let noise = &self.judge.noise;
        let blocks = &self.judge.blocks;
        cost::cost(blocks, (cell, without), noise.metric, noise.floor)
    }
}

/// A rung with its cell and what is told by it: its own step, and those of the rungs below it that
/// were not measured.
struct Rung<'a> {
    cell: &'a CellSummary,
    specs: Vec<&'a RungSpec>,
}

/// Takes the cost apart; nothing where its comparison was not measured at all.
pub(crate) fn ladder(spec: &LadderSpec, measured: Measured<'_>) -> Option<LadderOutcome> {
    if !measured.outcome.was_measured() {
        return None;
    }
    let (rungs, missing) = rungs(spec, &measured);
    let mut outcome = LadderOutcome {
        id: spec.id.clone(),
        title: spec.title.clone(),
        comparison: measured.outcome.id.clone(),
        metric: measured.outcome.metric,
        reliable: measured.outcome.reliable,
        steps: Vec::new(),
        whole: None,
        sum: None,
        remainder: None,
        missing,
    };
    let [_, .., top] = rungs.as_slice() else {
        return Some(outcome);
    };
    let whole = measured.time(top.cell)?;
    let mut below = None;
    for rung in &rungs {
        match step(below, rung, whole, &measured) {
            Some(step) => outcome.steps.push(step),
            // Enough rounds each, but not in common.
            None => {
                outcome.steps.clear();
                outcome.missing.push(MissingRung {
                    cell: rung.cell.cell.key.clone(),
                    step: rung.specs.last()?.step.clone(),
                    why: format!("it shares fewer than {MIN_ROUNDS} rounds with the rung below"),
                });
                return Some(outcome);
            }
        }
        below = Some(rung);
    }
    let sum: f64 = outcome.steps.iter().map(|step| step.cost.estimate).sum();
    let widening = measured.judge.noise.floor.exp_m1() * whole.estimate;
    outcome.remainder = Some(whole.plus(Interval::around(-sum, 0.0)).widened(widening));
    outcome.sum = Some(sum);
    outcome.whole = Some(whole);
    Some(outcome)
}

/// The rungs that were measured, and those that were not.
fn rungs<'a>(spec: &'a LadderSpec, measured: &Measured<'a>) -> (Vec<Rung<'a>>, Vec<MissingRung>) {
    let mut rungs = Vec::new();
    let mut missing = Vec::new();
    let mut pending = Vec::new();
    for rung in &spec.rungs {
        pending.push(rung);
        match measured.measured(&rung.cell) {
            Ok(cell) => rungs.push(Rung {
                cell,
                specs: std::mem::take(&mut pending),
            }),
            Err(why) => missing.push(MissingRung {
                cell: rung.cell.clone(),
                step: rung.step.clone(),
                why,
            }),
        }
    }
    (rungs, missing)
}

/// What a rung costs more than the one below it, if there is one.
fn step(
    below: Option<&Rung<'_>>,
    rung: &Rung<'_>,
    whole: Interval,
    measured: &Measured<'_>,
) -> Option<Step> {
    let cell = &rung.cell.cell.id;
    let without = below.map(|below| &below.cell.cell.id);
    let cost = match without {
        None => measured.time(rung.cell)?,
        Some(without) => measured.cost(cell, without)?,
    };
    Some(Step {
        cell: cell.clone(),
        below: without.cloned(),
        steps: rung.specs.iter().map(|spec| spec.step.clone()).collect(),
        share: cost.estimate / whole.estimate,
        isolated: isolated(rung, measured),
        calls: match below {
            None => calls(rung.cell),
            Some(below) => added_calls(rung.cell, below.cell),
        },
        cost,
    })
}

/// What the primitives of all steps that a rung stands for cost alone.
fn isolated(rung: &Rung<'_>, measured: &Measured<'_>) -> Option<Interval> {
    if rung.specs.iter().any(|spec| spec.isolated.is_empty()) {
        return None;
    }
    let mut parts = rung.specs.iter().flat_map(|spec| &spec.isolated);
    parts.try_fold(Interval::around(0.0, 0.0), |sum, (key, often)| {
        let cell = measured.measured(key).ok()?;
        Some(sum.plus(measured.time(cell)?.times(*often)))
    })
}

/// Changes below this are rounding and rare events, in calls per operation.
const LEAST_CALLS: f64 = 0.01;

fn calls(cell: &CellSummary) -> Option<BTreeMap<String, f64>> {
    cell.counts.as_ref()?.by_name()
}

/// The system calls that one cell makes and the other does not.
fn added_calls(cell: &CellSummary, below: &CellSummary) -> Option<BTreeMap<String, f64>> {
    let mut added = calls(cell)?;
    for (name, often) in calls(below)? {
        *added.entry(name).or_default() -= often;
    }
    added.retain(|_, often| often.abs() >= LEAST_CALLS);
    Some(added)
}
