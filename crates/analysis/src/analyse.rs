//! From the records of a run to its findings.

use crate::advice::advise;
use crate::answers::{MoreSpace, more_space, of_comparison};
use crate::{
    Advice, Answer, BySize, CellSummary, ClaimOutcome, ColdOutcome, ComparisonOutcome, Finding,
    Kind, LadderOutcome, PublishedOutcome, Recommendation, RunWarning, SpaceRow, StoppingRule,
    blocks::Blocks,
    by_size::{Compared, by_size},
    cold,
    decide::recommend,
    driver_cost,
    figures::Figures,
    gathered::{AnalysisError, Gathered},
    judge::Judge,
    ladder, ledger, run_warning, sessions, space, stopping,
    summary::summarise,
    warnings,
};
use serde::Serialize;
use stowplan_model::{
    CellFailure, CellId, Comparison, DriverCost, HarnessCost, PreparationRecord, Record, RunEnd,
    RunHeader, Warning,
};

/// Everything that can be said about one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Analysis {
    /// What was planned, where, by which version.
    pub run: RunHeader,
    /// What to do on this machine: one answer per matrix, per sweep, per comparison that is a
    /// constituent of neither, and one for disk space.
    pub answers: Vec<Answer>,
    /// Where the user's own data belongs, in a study that asks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<Advice>,
    /// One outcome per comparison, in running order.
    pub comparisons: Vec<ComparisonOutcome>,
    /// The figures of the study that have data, in reading order.
    pub figures: Vec<Finding>,
    /// The matrices of the study that have data, in reading order, and sweeps over the size of values.
    pub by_size: Vec<BySize>,
    /// One outcome per claim of the study, in reading order.
    pub claims: Vec<ClaimOutcome>,
    /// The times that others published, beside ours, in reading order.
    pub published: Vec<PublishedOutcome>,
    /// One outcome per ladder of the study whose comparison was measured, in reading order.
    pub ladders: Vec<LadderOutcome>,
    /// What explains the comparisons of cold reads, in running order.
    pub cold: Vec<ColdOutcome>,
    /// What each built store takes on disk, right after building.
    pub space: Vec<SpaceRow>,
    /// How many sessions the run has had: one, and one more for each time it was resumed.
    pub sessions: usize,
    /// The boots of the system that the sessions ran in, each once, as far as they are known.
    pub boots: Vec<String>,
    /// What spoils or qualifies the run.
    pub warnings: Vec<RunWarning>,
    /// What the harness itself costs.
    pub harness_cost: Option<HarnessCost>,
    /// What the loops of drivers with a name cost, by name.
    pub driver_costs: Vec<DriverCost>,
    /// How long preparing took.
    pub preparation: Vec<PreparationRecord>,
    /// Cells that failed.
    pub failures: Vec<CellFailure>,
    /// How the run ended; nothing if it was cut off.
    pub end: Option<RunEnd>,
}

impl Analysis {
    /// A comparison by its name.
    #[must_use]
    pub fn comparison(&self, id: &str) -> Option<&ComparisonOutcome> {
        self.comparisons.iter().find(|found| found.id == id)
    }

    /// The cells of all comparisons.
    pub fn cells(&self) -> impl Iterator<Item = &CellSummary> {
        self.comparisons.iter().flat_map(|found| &found.cells)
    }

    /// The summary of a cell.
    #[must_use]
    pub fn cell(&self, id: &CellId) -> Option<&CellSummary> {
        self.cells().find(|summary| summary.cell.id == *id)
    }

    /// Decides what to choose in each comparison and what the study answers, from the verdicts and
    /// intervals that are there. [`crate::analyse`] ends with it; who changes findings by hand calls
    /// it again.
    pub fn decide(&mut self) {
        let equivalence = self.run.equivalence;
        for comparison in &mut self.comparisons {
            comparison.recommendation = recommend(comparison, equivalence, &self.failures);
        }
        self.answers = self.answered();
        self.advice = advise(self);
    }

    fn answered(&self) -> Vec<Answer> {
        let by_size = self.by_size.iter().map(BySize::answer);
        let constituents = self.constituents();
        let singles = self.comparisons.iter();
        let singles = singles.filter(|comparison| !constituents.contains(&comparison.id));
        by_size
            .chain(singles.map(of_comparison))
            .chain(self.of_space())
            .collect()
    }

    /// Which of the stores that the study asks about takes the least space, if any of them can be
    /// compared.
    fn of_space(&self) -> Option<Answer> {
        let asked = self
            .run
            .plan
            .study
            .space()
            .map(|asked| asked.label.as_ref());
        let rows = self.space.iter();
        let mut rows: Vec<&SpaceRow> = rows
            .filter(|row| asked.clone().any(|label| label == Some(&row.label)))
            .collect();
        rows.sort_by_key(|row| row.footprint.allocated_bytes);
        let (smallest, others) = rows.split_first()?;
        let others: Vec<MoreSpace> = others
            .iter()
            .filter_map(|row| more_space(row, smallest))
            .collect();
        (!others.is_empty()).then(|| Answer::Space {
            kind: Kind::Smallest,
            choice: smallest.label.clone(),
            others,
        })
    }

    /// What a cell is called now: labels may have been told apart since the charts were made.
    #[must_use]
    pub fn label_of(&self, cell: &CellId) -> Option<&str> {
        let summary = self.comparisons.iter().find_map(|known| known.cell(cell))?;
        Some(&summary.cell.label)
    }
}

/// Everything that can be said about a run. `rule` is the stopping rule that it was run by;
/// none: the one in its header.
///
/// # Errors
/// No header, or one of a later schema.
pub fn analyse(records: &[Record], rule: Option<&StoppingRule>) -> Result<Analysis, AnalysisError> {
    let gathered = Gathered::from(records)?;
    let rule = rule
        .copied()
        .unwrap_or_else(|| StoppingRule::of(&gathered.run));
    let mut found: Vec<(String, Vec<Warning>)> = Vec::new();
    let mut judged: Vec<(Judge<'_>, ComparisonOutcome)> = Vec::new();
    for comparison in &gathered.run.plan.comparisons {
        let mut warnings = Vec::new();
        judged.push(judge(comparison, &gathered, &rule, &mut warnings));
        found.push((comparison.id.clone(), warnings));
    }
    let mut analysis = recorded(&gathered);
    explain(&mut analysis, &judged, &gathered);
    analysis.comparisons = judged.into_iter().map(|(_, outcome)| outcome).collect();
    put_together(&mut analysis, &gathered, &rule);
    // Nothing rests on a session that was replaced, so what qualifies it qualifies nothing.
    let counted = analysis.comparisons.iter();
    let counted = counted.filter(|comparison| !analysis.is_superseded(comparison));
    found.retain(|(id, _)| counted.clone().any(|comparison| comparison.id == *id));
    let warnings = sessions::breaks(&gathered)
        .into_iter()
        .chain(found.into_iter().flat_map(|(_, warnings)| warnings))
        .chain(cold::warnings(&analysis.cold))
        .chain(driver_cost::large(counted, rule.equivalence));
    let warnings: Vec<RunWarning> = warnings.map(RunWarning::from).collect();
    analysis.warnings.extend(warnings);
    analysis.decide();
    Ok(analysis)
}

/// What was recorded, with nothing concluded from it.
fn recorded(gathered: &Gathered<'_>) -> Analysis {
    Analysis {
        run: gathered.run.clone().into_owned(),
        answers: Vec::new(),
        advice: None,
        comparisons: Vec::new(),
        figures: Vec::new(),
        by_size: Vec::new(),
        claims: Vec::new(),
        published: Vec::new(),
        ladders: Vec::new(),
        cold: Vec::new(),
        space: space::rows(gathered),
        sessions: gathered.sessions(),
        boots: gathered.boots.iter().copied().map(str::to_owned).collect(),
        warnings: run_warning::recorded(gathered),
        harness_cost: gathered.harness_cost,
        driver_costs: gathered.driver_costs.values().copied().cloned().collect(),
        preparation: gathered.preparation.iter().copied().cloned().collect(),
        failures: gathered.failures.iter().copied().cloned().collect(),
        end: gathered.end.clone(),
    }
}

/// Adds what needs the blocks themselves: charts of ratios between any cells, and costs per round.
fn explain(
    analysis: &mut Analysis,
    judged: &[(Judge<'_>, ComparisonOutcome)],
    gathered: &Gathered<'_>,
) {
    let study = &gathered.run.plan.study;
    let measured = |id: &str| {
        let (judge, outcome) = judged.iter().find(|(_, outcome)| outcome.id == id)?;
        let failures = &gathered.failures;
        Some(ladder::Measured {
            judge,
            outcome,
            failures,
            study,
        })
    };
    let figures = Figures {
        study,
        judged,
        space: &analysis.space,
    };
    (analysis.figures, analysis.published) = (figures.all(), figures.published());
    let ladders = study.ladders.iter();
    analysis.ladders = ladders
        .filter_map(|spec| ladder::ladder(spec, measured(&spec.comparison)?))
        .collect();
    analysis.claims = ledger::claims(ledger::Evidence {
        judged,
        gathered: Some(gathered),
        study,
    });
}

/// Adds what the outcomes of comparisons come to when they are put together.
fn put_together(analysis: &mut Analysis, gathered: &Gathered<'_>, rule: &StoppingRule) {
    let plan = &gathered.run.plan;
    let comparisons = &analysis.comparisons;
    let failures = &gathered.failures;
    let cold = |outcome| cold::cold(outcome, gathered);
    let compared = Compared {
        comparisons,
        failures,
        equivalence: rule.equivalence,
    };
    analysis.by_size = by_size(plan, compared);
    analysis.cold = comparisons.iter().filter_map(cold).collect();
}

/// Judges one comparison and adds what qualifies it to `found`.
fn judge<'a>(
    comparison: &'a Comparison,
    gathered: &Gathered<'a>,
    rule: &'a StoppingRule,
    found: &mut Vec<Warning>,
) -> (Judge<'a>, ComparisonOutcome) {
    let measurements = comparison
        .cells
        .iter()
        .flat_map(|cell| gathered.measurements(&cell.id).iter().copied());
    let judge = Judge::new(comparison, Blocks::of(comparison, measurements), rule);
    let mut unreadable = Vec::new();
    let outcome = outcome(&judge, gathered, &mut unreadable);
    found.extend(warnings::of_comparison(&judge, &outcome, gathered));
    let advice = "It is left out of the percentiles; check the result file.";
    let unreadable = unreadable.into_iter();
    found.extend(unreadable.map(|message| Warning::other(message, advice)));
    (judge, outcome)
}

fn outcome(
    judge: &Judge<'_>,
    gathered: &Gathered<'_>,
    unreadable: &mut Vec<String>,
) -> ComparisonOutcome {
    let Judge {
        comparison, noise, ..
    } = judge;
    let cells: Vec<CellSummary> = comparison
        .cells
        .iter()
        .map(|cell| summarise(cell, judge, gathered, unreadable))
        .collect();
    let contrasts = comparison
        .contrasts
        .iter()
        .filter(|contrast| !stopping::has_control(comparison, contrast))
        .filter_map(|contrast| {
            let cell = comparison.cell(&contrast.cell)?;
            let reference = comparison.cell(&contrast.reference)?;
            Some(judge.contrast(cell, reference))
        })
        .collect();
    ComparisonOutcome {
        id: comparison.id.clone(),
        title: comparison.title.clone(),
        measure: comparison.measure,
        metric: noise.metric,
        sleeps: noise.beside.is_some(),
        control: noise.control,
        calibration: noise.spread.widening(),
        noise_floor: noise.floor,
        reliable: noise.reliable,
        delay_share: noise.delay_share,
        cells,
        contrasts,
        fastest: judge.fastest().map(|cell| cell.id.clone()),
        recommendation: Recommendation::default(),
        not_applicable: comparison.not_applicable.clone(),
    }
}
