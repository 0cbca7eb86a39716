//! Verdicts on the contrasts of one comparison.

use crate::{
    ContrastOutcome, Estimate, RatioEstimate, StoppingRule, Verdict,
    blocks::Blocks,
    stopping::{self, Noise},
};
use stowplan_model::{Cell, Comparison, Role};

/// One comparison with its timed blocks and its noise: what is needed to judge any pair of its
/// cells.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    pub(crate) comparison: &'a Comparison,
    pub(crate) blocks: Blocks<'a>,
    pub(crate) noise: Noise,
    rule: &'a StoppingRule,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(
        comparison: &'a Comparison,
        blocks: Blocks<'a>,
        rule: &'a StoppingRule,
    ) -> Self {
        let noise = Noise::of(comparison, &blocks, rule);
        Self {
            comparison,
            blocks,
            noise,
            rule,
        }
    }

    /// The ratio of a cell's time to the reference's with its verdict. The interval is that of
    /// the look at which the pair was decided, widened by the noise floor of the whole session.
    pub(crate) fn contrast(&self, cell: &Cell, reference: &Cell) -> ContrastOutcome {
        let estimate = self.at_its_look(cell, reference);
        ContrastOutcome {
            cell: cell.id.clone(),
            reference: reference.id.clone(),
            verdict: estimate.map_or(Verdict::NoData, |e| self.noise.verdict(&e, self.rule)),
            estimate: estimate.map(|e| e.to_ratio(self.noise.floor)),
            same_durability: same_durability(cell, reference),
        }
    }

    fn at_its_look(&self, cell: &Cell, reference: &Cell) -> Option<Estimate> {
        let metric = self.noise.metric;
        let pair = (&cell.id, &reference.id);
        let progress = stopping::replay(self.comparison, &self.blocks, pair, metric, self.rule);
        stopping::estimate_of(&progress.differences, metric)
    }

    /// The ratio of a cell's time to the floor's, over all rounds that both have: it describes,
    /// no verdict hangs on it, so there is no look at which it stopped.
    pub(crate) fn multiple_of_floor(&self, cell: &Cell) -> Option<RatioEstimate> {
        let floor = self.comparison.with_role(Role::Floor)?;
        if floor.id == cell.id {
            return None;
        }
        let metric = self.noise.metric;
        let paired = self.blocks.differences(&cell.id, &floor.id, metric);
        let differences: Vec<f64> = paired.into_iter().map(|(_, d)| d).collect();
        let estimate = stopping::estimate_of(&differences, metric)?;
        Some(estimate.to_ratio(self.noise.floor))
    }

    /// The cell among baseline and candidates that beats each of the others: see
    /// [`crate::ComparisonOutcome::fastest`]. Only cells that do the same work as the baseline
    /// are rivals (METHOD "Work equivalence"): one with another delivery, another transaction
    /// scope or another number of threads than the baseline's can neither be the fastest nor keep another from being it.
    pub(crate) fn fastest(&self) -> Option<&'a Cell> {
        let baseline = self.comparison.with_role(Role::Baseline)?;
        let rivals: Vec<&Cell> = self
            .comparison
            .cells
            .iter()
            .filter(|cell| matches!(cell.role, Role::Baseline | Role::Candidate))
            .filter(|cell| same_work(cell, baseline))
            .collect();
        let beats = |cell: &Cell, rival: &Cell| {
            let contrast = self.contrast(cell, rival);
            contrast.same_durability && contrast.verdict == Verdict::Faster
        };
        rivals.iter().copied().find(|cell| {
            let mut others = rivals.iter().filter(|rival| rival.id != cell.id).peekable();
            others.peek().is_some() && others.all(|rival| beats(cell, rival))
        })
    }
}

/// Whether both hand the values over alike, in transactions of the same scope, by as many threads.
fn same_work(a: &Cell, b: &Cell) -> bool {
    let (a, b) = (&a.workload, &b.workload);
    (a.delivery, a.per_transaction, a.threads) == (b.delivery, b.per_transaction, b.threads)
}

/// Whether both promise the same about what they acknowledged (METHOD "Durability classes":
/// compare only within a class). A read promises nothing, so reads always agree.
fn same_durability(a: &Cell, b: &Cell) -> bool {
    let writes = a.workload.operation.writes() || b.workload.operation.writes();
    !writes || a.capabilities.durability == b.capabilities.durability
}
