//! From the records of a run to its findings.

use crate::{
    Analysis, CellSummary, ComparisonOutcome, ContrastOutcome, Recommendation, RunWarning,
    StoppingRule, bars, blocks::Blocks, charts, cold, driver_cost, gathered::Gathered,
    judge::Judge, ladder, ledger, lines, matrix, published, run_warning, sessions, space, stopping,
    summary::summarise, sweeps, warnings,
};
use stowplan_model::{Comparison, Record, Warning, WarningKind};
use thiserror::Error;

/// Why records cannot be analysed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AnalysisError {
    /// No record is the run's header.
    #[error(
        "there is no header of a run in it, which says what was measured; is it a result.jsonl of \
         stowplan, and is its first line whole?"
    )]
    NoHeader,
    /// Its lines are not those of one run in their order.
    #[error(
        "its header is not the first line, or not the only one: lines are in another order than they \
         were written in, or several results are in one file; give the result as it was written, and \
         each by itself"
    )]
    NotOneRun,
    /// The result was written by a later version.
    #[error(
        "the result has schema {found}, this program reads up to {known}; use a newer stowplan"
    )]
    Schema {
        /// Its schema.
        found: u32,
        /// The newest one that can be read.
        known: u32,
    },
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
    let superseded = |id: &String| {
        let mut sweeps = analysis.sweeps.iter();
        sweeps.any(|sweep| sweep.superseded.contains(id))
    };
    found.retain(|(id, _)| !superseded(id));
    let warnings = sessions::warnings(&gathered)
        .into_iter()
        .chain(found.into_iter().flat_map(|(_, warnings)| warnings))
        .chain(cold::warnings(&analysis.cold))
        .chain(driver_cost::warnings(&analysis));
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
        charts: Vec::new(),
        bars: Vec::new(),
        lines: Vec::new(),
        sweeps: Vec::new(),
        matrices: Vec::new(),
        claims: Vec::new(),
        published: Vec::new(),
        ladders: Vec::new(),
        cold: Vec::new(),
        space: space::rows(gathered),
        placements: gathered.placements.iter().copied().cloned().collect(),
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
    let charts = study.charts.iter();
    analysis.charts = charts
        .filter_map(|spec| charts::chart(spec, study, judged))
        .collect();
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
    let study = &plan.study;
    let (comparisons, space) = (&analysis.comparisons, &analysis.space);
    let failures = &gathered.failures;
    let bars = study.bars.iter();
    let lines = study.lines.iter();
    let matrices = study.matrices.iter();
    let cold = |outcome| cold::cold(outcome, gathered);
    analysis.published = published::tables(study, comparisons);
    analysis.sweeps = sweeps::outcomes(plan, comparisons, failures);
    analysis.cold = comparisons.iter().filter_map(cold).collect();
    analysis.bars = bars
        .filter_map(|spec| bars::bars(spec, study, comparisons, space))
        .collect();
    analysis.lines = lines
        .filter_map(|spec| lines::lines(spec, comparisons, space))
        .collect();
    analysis.matrices = matrices
        .filter_map(|spec| matrix::matrix(spec, comparisons, failures, rule.equivalence))
        .collect();
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
    found.extend(unreadable.into_iter().map(|message| Warning {
        kind: WarningKind::Other,
        message,
        advice: "It is left out of the percentiles; check the result file.".to_owned(),
    }));
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
            let contrast = judge.contrast(cell, reference);
            let driver_cost = driver_cost::of_contrast(&contrast, &cells, noise.metric);
            Some(ContrastOutcome {
                driver_cost,
                ..contrast
            })
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
