//! Verdicts on the contrasts of one comparison.

use crate::{
    Builds, ContrastOutcome, CorrectedRatio, Metric, RatioEstimate, StoppingRule, TotalOutcome,
    Verdict,
    blocks::Blocks,
    outcome::floor_of,
    stopping::{self, Noise},
    verdict::bears_out,
    work::{measured_too, operations_per_commit, work_differences_of},
};
use std::collections::BTreeSet;
use stowplan_model::{Cell, Comparison, Role};

/// What describes and decides nothing has a plain 95% interval.
const ALPHA_DESCRIBED: f64 = 0.05;

/// One comparison with its timed blocks and its noise: what is needed to judge any pair of its
/// cells.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    pub(crate) comparison: &'a Comparison,
    pub(crate) blocks: Blocks<'a>,
    /// Those of the rounds that every ratio wanted rests on. Times are of these, so that any two can be
    /// divided, and none contradicts the ratio beside it.
    pub(crate) shared: Blocks<'a>,
    pub(crate) noise: Noise,
    /// The blocks and their noise with the final flush in every time; nothing where no cell
    /// writes.
    totals: Option<(Blocks<'a>, Noise)>,
    rule: &'a StoppingRule,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(
        comparison: &'a Comparison,
        blocks: Blocks<'a>,
        rule: &'a StoppingRule,
    ) -> Self {
        let noise = Noise::of(comparison, &blocks, rule);
        // Single operations have no share of the flush.
        let has_totals = comparison.measure.is_time() && comparison.cells.iter().any(writes);
        let totals = has_totals.then(|| {
            let blocks = blocks.with_flush();
            let noise = Noise::of(comparison, &blocks, rule);
            (blocks, noise)
        });
        let mut judge = Self {
            comparison,
            shared: blocks.clone(),
            blocks,
            noise,
            totals,
            rule,
        };
        if let Some(rounds) = judge.shared_rounds() {
            judge.shared = judge.blocks.of_rounds(|round| rounds.contains(&round));
        }
        judge
    }

    /// The rounds that every ratio wanted rests on; nothing where there is no ratio.
    fn shared_rounds(&self) -> Option<BTreeSet<u32>> {
        let contrasts = self.comparison.contrasts.iter();
        let wanted = contrasts.filter(|c| !stopping::has_control(self.comparison, c));
        let of_each = wanted.filter_map(|contrast| {
            let (pair, metric) = ((&contrast.cell, &contrast.reference), self.noise.metric);
            let looked = stopping::replay(self.comparison, &self.blocks, pair, metric, self.rule);
            self.noise
                .spread
                .estimate(&looked.differences, looked.alpha)?;
            Some(looked.differences.iter().map(|pair| pair.round).collect())
        });
        of_each.reduce(|shared: BTreeSet<u32>, rounds| &shared & &rounds)
    }

    /// φ by either time, as a natural logarithm.
    pub(crate) fn floor(&self, metric: Metric) -> f64 {
        match self.noise.beside {
            _ if metric == self.noise.metric => self.noise.floor,
            Some(beside) if metric == beside.metric => beside.floor,
            _ => stopping::ByTime::of(self.comparison, &self.blocks, metric).floor,
        }
    }

    /// The ratio of a cell's time to the reference's with its verdict. The interval is that of
    /// the look at which the pair was decided, with what the whole session says of the errors of ratios.
    pub(crate) fn contrast(&self, cell: &Cell, reference: &Cell) -> ContrastOutcome {
        let timed = (&self.blocks, &self.noise);
        let (estimate, verdict, builds, corrected) = self.at_its_look(cell, reference, timed);
        ContrastOutcome {
            cell: cell.id.clone(),
            reference: reference.id.clone(),
            estimate,
            verdict,
            corrected,
            builds,
            total: self.total(cell, reference),
            same_durability: same_durability(cell, reference),
        }
    }

    /// The outcome with the final flush in both times, where both write: by the same estimator, looks
    /// and rules, and with the noise that two identical cells show by these times.
    fn total(&self, cell: &Cell, reference: &Cell) -> Option<TotalOutcome> {
        let (blocks, noise) = self.totals.as_ref()?;
        if !writes(cell) || !writes(reference) {
            return None;
        }
        let (estimate, verdict, ..) = self.at_its_look(cell, reference, (blocks, noise));
        let estimate = estimate?;
        Some(TotalOutcome { estimate, verdict })
    }

    /// The ratio by the headline at its look, with its verdict if the time that stands beside it bears it out
    /// (R8), and the ratio by that time. If not, nothing is claimed.
    fn at_its_look(
        &self,
        cell: &Cell,
        reference: &Cell,
        (blocks, noise): (&Blocks<'_>, &Noise),
    ) -> (
        Option<RatioEstimate>,
        Verdict,
        Option<Builds>,
        Option<CorrectedRatio>,
    ) {
        let pair = (&cell.id, &reference.id);
        let looked = stopping::replay(self.comparison, blocks, pair, noise.metric, self.rule);
        let found = noise.spread.estimate(&looked.differences, looked.alpha);
        let Some((found, builds)) = found else {
            return (None, Verdict::NoData, None, None);
        };
        let (estimate, verdict) = (found.to_ratio(0.0), noise.verdict(&found, self.rule));
        let other = noise.beside.and_then(|beside| {
            let other = beside.ratio(blocks, pair, (found.n, looked.alpha))?;
            Some(CorrectedRatio {
                estimate: other,
                agrees: bears_out(verdict, &estimate, &other, self.rule.zone()),
            })
        });
        let verdict = match other {
            Some(CorrectedRatio { agrees: false, .. }) => Verdict::Unresolved,
            _ => verdict,
        };
        (Some(estimate), verdict, builds, other)
    }

    /// The ratio of a cell's time to that of its floor, over all rounds that both have: it describes,
    /// no verdict hangs on it, so there is no look at which it stopped.
    pub(crate) fn multiple_of_floor(&self, cell: &Cell) -> Option<RatioEstimate> {
        let floor = floor_of(self.comparison.cells.iter(), cell)?;
        if floor.id == cell.id {
            return None;
        }
        let metric = self.noise.metric;
        let paired = self.blocks.paired(&cell.id, &floor.id, metric);
        let (estimate, _) = self.noise.spread.estimate(&paired, ALPHA_DESCRIBED)?;
        Some(estimate.to_ratio(0.0))
    }

    /// The cell among baseline and candidates that beats each of the others: see
    /// [`crate::ComparisonOutcome::fastest`]. Only cells that do the same work as the baseline
    /// are rivals (METHOD "Work equivalence"): one that does other work can neither be the fastest
    /// nor keep another from being it.
    pub(crate) fn fastest(&self) -> Option<&'a Cell> {
        let baseline = self.comparison.with_role(Role::Baseline)?;
        let rivals: Vec<&Cell> = self
            .comparison
            .cells
            .iter()
            .filter(|cell| matches!(cell.role, Role::Baseline | Role::Candidate))
            .filter(|cell| self.same_work(cell, baseline))
            .collect();
        let beats = |cell: &Cell, rival: &Cell| {
            same_durability(cell, rival) && self.contrast(cell, rival).verdict == Verdict::Faster
        };
        rivals.iter().copied().find(|cell| {
            let mut others = rivals.iter().filter(|rival| rival.id != cell.id).peekable();
            others.peek().is_some() && others.all(|rival| beats(cell, rival))
        })
    }

    /// Whether nothing that was asked for or measured makes the work of two cells another one.
    fn same_work(&self, cell: &Cell, other: &Cell) -> bool {
        let shared = |cell: &Cell| operations_per_commit(cell, self.blocks.of_cell(&cell.id));
        let asked = work_differences_of(cell, other);
        measured_too(asked, [shared(cell), shared(other)]).is_empty()
    }
}

fn writes(cell: &Cell) -> bool {
    cell.workload.operation.writes()
}

/// Whether both promise the same about what they acknowledged (METHOD "Durability classes":
/// compare only within a class). A read promises nothing, so reads always agree.
fn same_durability(a: &Cell, b: &Cell) -> bool {
    !(writes(a) || writes(b)) || a.capabilities.durability == b.capabilities.durability
}
