//! From the records of a run to its findings.

use crate::{
    Analysis, ColdOutcome, ComparisonOutcome, StoppingRule, bars, blocks::Blocks, charts, cold,
    gathered::Gathered, judge::Judge, ladder, lines, matrix, sessions, space, stopping,
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
    let plan = &gathered.run.plan;
    let rule = rule
        .copied()
        .unwrap_or_else(|| StoppingRule::of(&gathered.run));
    let mut found: Vec<(String, Vec<Warning>)> = Vec::new();
    let mut judged: Vec<(Judge<'_>, ComparisonOutcome)> = Vec::new();
    for comparison in &plan.comparisons {
        let mut warnings = Vec::new();
        judged.push(judge(comparison, &gathered, &rule, &mut warnings));
        found.push((comparison.id.clone(), warnings));
    }
    let charts = plan
        .study
        .charts
        .iter()
        .filter_map(|spec| charts::chart(spec, &plan.study, &judged))
        .collect();
    let measured = |id: &str| {
        let (judge, outcome) = judged.iter().find(|(_, outcome)| outcome.id == id)?;
        let failures = &gathered.failures;
        Some(ladder::Measured {
            judge,
            outcome,
            failures,
        })
    };
    let ladders = plan.study.ladders.iter();
    let ladders = ladders
        .filter_map(|spec| ladder::ladder(spec, measured(&spec.comparison)?))
        .collect();
    let hypotheses = plan.study.hypotheses.iter();
    let hypotheses = hypotheses
        .filter_map(|spec| ladder::hypothesis(spec, measured(&spec.comparison)?))
        .collect();
    let comparisons: Vec<ComparisonOutcome> =
        judged.into_iter().map(|(_, outcome)| outcome).collect();
    let sweeps = sweeps::outcomes(plan, &comparisons, &gathered.failures);
    // Nothing rests on a session that was replaced, so what qualifies it qualifies nothing.
    let superseded = |id: &String| sweeps.iter().any(|sweep| sweep.superseded.contains(id));
    found.retain(|(id, _)| !superseded(id));
    let space = space::rows(&gathered);
    let cold: Vec<ColdOutcome> = comparisons
        .iter()
        .filter_map(|outcome| cold::cold(outcome, &gathered.placements, &gathered.run.environment))
        .collect();
    let study = &plan.study;
    let bars = study.bars.iter();
    let lines = study.lines.iter();
    let matrices = study.matrices.iter();
    Ok(Analysis {
        run: gathered.run.clone().into_owned(),
        charts,
        bars: bars
            .filter_map(|spec| bars::bars(spec, study, &comparisons, &space))
            .collect(),
        lines: lines
            .filter_map(|spec| lines::lines(spec, &comparisons, &space))
            .collect(),
        matrices: matrices
            .filter_map(|spec| {
                let failures = &gathered.failures;
                matrix::matrix(spec, &comparisons, failures, rule.equivalence)
            })
            .collect(),
        sweeps,
        hypotheses,
        ladders,
        comparisons,
        space,
        placements: gathered.placements.iter().copied().cloned().collect(),
        warnings: gathered
            .warnings
            .iter()
            .copied()
            .cloned()
            .chain(sessions::warnings(&gathered))
            .chain(found.into_iter().flat_map(|(_, warnings)| warnings))
            .chain(cold::warnings(&cold))
            .collect(),
        cold,
        harness_cost: gathered.harness_cost,
        preparation: gathered.preparation.iter().copied().cloned().collect(),
        failures: gathered.failures.iter().copied().cloned().collect(),
        end: gathered.end.clone(),
    })
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
        metric: noise.metric,
        control: noise.control,
        noise_floor: noise.floor,
        reliable: noise.reliable,
        delay_share: noise.delay_share,
        cells: comparison
            .cells
            .iter()
            .map(|cell| summarise(cell, judge, gathered, unreadable))
            .collect(),
        contrasts,
        fastest: judge.fastest().map(|cell| cell.id.clone()),
        not_applicable: comparison.not_applicable.clone(),
    }
}
