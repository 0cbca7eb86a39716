//! A figure of a claim: what it is estimated to be, with an interval, and whether that is within bounds.
//!
//! Cells of one comparison: what the figure is in each round that all of them have, on the logarithmic
//! scale, with the interval of a ratio (its rounds, its builds, its noise floor). A plain ratio of two
//! times is the one that charts and tables show, at the look at which it was decided.
//!
//! Cells of several comparisons share no rounds: each side is located by itself, builds included, and
//! what both come to follows from their intervals ([`crate::interval`]), widened by the noise floors of
//! both. What a machine drifts by between two comparisons is not in it; bounds of such claims should
//! be factors, not percents.
//!
//! What is counted and not timed (bytes on disk) is known for certain of each store that was built: its
//! interval reaches from the least of them to the most.

use super::{ClaimVerdict, Evidence, MissingCell};
use crate::blocks::{Blocks, Span, log_time};
use crate::ladder::Measured;
use crate::spread::Paired;
use crate::spread::Spread;
use crate::{ALPHA_PER_LOOK, CellSummary, Estimate, Interval, Metric, figures};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_model::{CellId, ClaimMeasure, Measurement, TestSpec, built_alike};

/// Why a cell of a comparison that did not run is missing.
const LEFT_OUT: &str = "it was left out of this run";

/// A figure and its bounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureOutcome {
    /// The cells whose measures are added up.
    pub of: Vec<FigureCell>,
    /// The cells whose sum it is divided by; none where the measure itself is the figure.
    pub to: Vec<FigureCell>,
    /// Cells whose sum it may as well be divided by: to be within the bounds by either is enough.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub or_to: Vec<FigureCell>,
    /// What is measured of each.
    pub measure: ClaimMeasure,
    /// The least that it is said to be.
    pub at_least: Option<f64>,
    /// The most that it is said to be.
    pub at_most: Option<f64>,
    /// What it is here, with the interval that decides; nothing where it was not measured.
    pub estimate: Option<Interval>,
    /// What it is by corrected time, where blocks sleep and the headline is wall time; a judgement needs
    /// both.
    pub beside: Option<Interval>,
    /// Rounds that it rests on, of the side that has fewer; of what is counted, stores.
    pub rounds: usize,
    /// Whether its cells are of several comparisons, which share no rounds.
    pub across: bool,
    /// The judgement.
    pub verdict: ClaimVerdict,
}

/// A cell of a figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FigureCell {
    /// The cell.
    pub cell: CellId,
    /// What it is called.
    pub label: String,
}

/// Estimates a figure, or either of the two that a test has, and judges it: one within its bounds is
/// enough.
pub(super) fn either(
    test: &TestSpec,
    evidence: &Evidence<'_>,
    missing: &mut Vec<MissingCell>,
) -> FigureOutcome {
    let found = figure(test, evidence, missing);
    if test.or_to.is_empty() {
        return found;
    }
    let other = TestSpec {
        to: test.or_to.clone(),
        ..test.clone()
    };
    let other = figure(&other, evidence, missing);
    let verdicts = [found.verdict, other.verdict];
    let any = |wanted: &ClaimVerdict| verdicts.contains(wanted);
    let decides = [ClaimVerdict::Unreliable, ClaimVerdict::Holds];
    let verdict = match decides.into_iter().find(any) {
        Some(decides) => decides,
        None if verdicts[0] == verdicts[1] => verdicts[0],
        None => ClaimVerdict::Undecided,
    };
    // The one that decides; of two alike, that which is nearer to being within the bounds.
    let rise = if test.at_least.is_some() { 1.0 } else { -1.0 };
    let nearness = |figure: &FigureOutcome| {
        let estimate = figure.estimate.map(|found| rise * found.estimate);
        (figure.verdict == verdict, estimate)
    };
    let (shown, besides) = match nearness(&other) > nearness(&found) {
        true => (other, found),
        false => (found, other),
    };
    FigureOutcome {
        verdict,
        or_to: besides.to,
        ..shown
    }
}

/// Estimates a figure and judges it.
fn figure(
    test: &TestSpec,
    evidence: &Evidence<'_>,
    missing: &mut Vec<MissingCell>,
) -> FigureOutcome {
    let found = estimate(test, evidence, missing);
    let (estimate, beside) = found
        .as_ref()
        .map_or((None, None), |found| (Some(found.estimate), found.beside));
    let verdict = match &found {
        None => ClaimVerdict::NoData,
        Some(found) if !found.reliable => ClaimVerdict::Unreliable,
        Some(found) => {
            let verdict = within(found.estimate, test);
            match found.beside.map(|beside| within(beside, test)) {
                Some(other) if other != verdict => ClaimVerdict::Undecided,
                _ => verdict,
            }
        }
    };
    let named = |cells: &[CellId]| {
        let cells = cells.iter().map(|cell| FigureCell {
            cell: cell.clone(),
            label: evidence.label(cell),
        });
        cells.collect()
    };
    FigureOutcome {
        of: named(&test.of),
        to: named(&test.to),
        or_to: Vec::new(),
        measure: test.measure,
        at_least: test.at_least,
        at_most: test.at_most,
        estimate,
        beside,
        rounds: found.as_ref().map_or(0, |found| found.rounds),
        across: found.is_some_and(|found| found.across),
        verdict,
    }
}

/// Whether a whole interval lies within the bounds, which belong to it, or outside them.
fn within(interval: Interval, test: &TestSpec) -> ClaimVerdict {
    let least = test.at_least.unwrap_or(f64::NEG_INFINITY);
    let most = test.at_most.unwrap_or(f64::INFINITY);
    match interval {
        Interval { low, high, .. } if low >= least && high <= most => ClaimVerdict::Holds,
        Interval { low, high, .. } if high < least || low > most => ClaimVerdict::Fails,
        _ => ClaimVerdict::Undecided,
    }
}

/// What was found of a figure.
struct Found {
    estimate: Interval,
    beside: Option<Interval>,
    rounds: usize,
    across: bool,
    reliable: bool,
}

fn estimate(
    test: &TestSpec,
    evidence: &Evidence<'_>,
    missing: &mut Vec<MissingCell>,
) -> Option<Found> {
    if test.measure == ClaimMeasure::Footprint {
        return counted(test, evidence, missing);
    }
    let before = missing.len();
    let mut side = |cells: &[CellId]| Side::of(cells, evidence, missing);
    let (of, to) = (side(&test.of), side(&test.to));
    if missing.len() > before {
        return None;
    }
    let all: Vec<&Measured<'_>> = of.measured().chain(to.measured()).collect();
    let reliable = all.iter().all(|measured| measured.outcome.reliable);
    let wall = all.iter().any(|m| m.judge.noise.metric == Metric::Wall);
    let sleeps = all
        .iter()
        .any(|measured| measured.judge.noise.beside.is_some());
    let headline = if wall {
        Metric::Wall
    } else {
        Metric::Corrected
    };
    let across = all
        .windows(2)
        .any(|pair| pair[0].outcome.id != pair[1].outcome.id);
    let by = |metric| located(test, (&of, &to), metric);
    if let (false, [cell], [reference], ClaimMeasure::Time) =
        (across, &of.cells[..], &to.cells[..], test.measure)
    {
        return as_charted(cell, reference, reliable);
    }
    let (estimate, rounds) = by(headline)?;
    let beside = (sleeps && is_of_time(test.measure)).then(|| by(Metric::Corrected));
    Some(Found {
        estimate,
        beside: beside.flatten().map(|(beside, _)| beside),
        rounds,
        across,
        reliable,
    })
}

/// The ratio of two cells of one comparison, as every chart and table has it.
fn as_charted(cell: &Part<'_>, reference: &Part<'_>, reliable: bool) -> Option<Found> {
    let Measured { judge, outcome, .. } = cell.measured;
    let (of, to) = (&cell.summary.cell, &reference.summary.cell);
    let contrast = figures::contrast(of, to, judge, outcome);
    let ratio = |ratio: crate::RatioEstimate| Interval::new(ratio.ratio, ratio.low, ratio.high);
    Some(Found {
        estimate: contrast.estimate.map(ratio)?,
        beside: contrast.corrected.map(|other| ratio(other.estimate)),
        rounds: contrast.estimate?.rounds,
        across: false,
        reliable,
    })
}

/// A cell and the comparison that it is of.
struct Part<'a> {
    measured: Measured<'a>,
    summary: &'a CellSummary,
}

/// The cells above or below the line of a fraction.
struct Side<'a> {
    cells: Vec<Part<'a>>,
}

impl<'a> Side<'a> {
    fn of(cells: &[CellId], evidence: &Evidence<'a>, missing: &mut Vec<MissingCell>) -> Self {
        let cells = cells.iter().filter_map(|cell| {
            let found = part(cell, evidence);
            found
                .map_err(|why| {
                    let cell = cell.0.clone();
                    missing.push(MissingCell { cell, why });
                })
                .ok()
        });
        Self {
            cells: cells.collect(),
        }
    }

    fn measured(&self) -> impl Iterator<Item = &Measured<'a>> {
        self.cells.iter().map(|part| &part.measured)
    }

    /// The cells by the comparison that they are of.
    fn by_comparison(&self) -> Vec<Vec<&Part<'a>>> {
        let mut groups: BTreeMap<&str, Vec<&Part<'a>>> = BTreeMap::new();
        for part in &self.cells {
            let group = groups.entry(&part.measured.outcome.id).or_default();
            group.push(part);
        }
        groups.into_values().collect()
    }
}

fn part<'a>(cell: &CellId, evidence: &Evidence<'a>) -> Result<Part<'a>, String> {
    let (comparison, key) = cell.0.split_once('/').unwrap_or((&cell.0, ""));
    let measured = evidence.comparison(comparison);
    let measured = measured.filter(|m| m.outcome.was_measured());
    let measured = measured.ok_or(LEFT_OUT)?;
    let summary = measured.measured(key)?;
    Ok(Part { measured, summary })
}

/// A figure by one clock, and the rounds that it rests on.
fn located(
    test: &TestSpec,
    (of, to): (&Side<'_>, &Side<'_>),
    metric: Metric,
) -> Option<(Interval, usize)> {
    let measure = test.measure;
    let floor = |parts: &[&Part<'_>]| match (is_of_time(measure), parts.first()) {
        (true, Some(part)) => part.measured.judge.floor(metric),
        _ => 0.0,
    };
    let [_, back] = scale(measure);
    let (groups, beside) = (of.by_comparison(), to.by_comparison());
    match (&groups[..], &beside[..]) {
        ([parts], others) if others.iter().all(|others| same_comparison(parts, others)) => {
            let above = summed(parts, measure, metric);
            let below = others.first().map(|others| summed(others, measure, metric));
            let (estimate, rounds) = per_round(&above, below.as_ref(), measure)?;
            Some((estimate.widened(floor(parts)).by(back), rounds))
        }
        (groups, others) => {
            let side = |groups: &[Vec<&Part<'_>>]| {
                let each = groups.iter().map(|parts| {
                    let values = summed(parts, measure, metric);
                    per_round(&values, None, measure)
                });
                let each: Vec<(Interval, usize)> = each.collect::<Option<_>>()?;
                let rounds = each.iter().map(|(_, rounds)| *rounds).min()?;
                let sums = each.into_iter().map(|(found, _)| found.by(back));
                let floors = groups.iter().map(|parts| floor(parts));
                let floor = floors.fold(0.0, f64::max);
                Some((sums.reduce(Interval::sum)?, floor, rounds))
            };
            let (above, its_floor, rounds) = side(groups)?;
            let (below, other_floor, other_rounds) = side(others)?;
            let ratio = match is_of_time(measure) {
                true => {
                    let log = above.by(f64::ln).less(below.by(f64::ln));
                    log.widened(its_floor + other_floor).by(f64::exp)
                }
                false => above.over(below),
            };
            let is_known = [ratio.low, ratio.high].iter().all(|end| end.is_finite());
            is_known.then_some((ratio, rounds.min(other_rounds)))
        }
    }
}

fn same_comparison(a: &[&Part<'_>], b: &[&Part<'_>]) -> bool {
    let id = |parts: &[&Part<'_>]| parts.first().map(|part| part.measured.outcome.id.clone());
    id(a) == id(b)
}

/// By round: a value, and the builds that it was measured on, as far as they are known.
type Values = BTreeMap<u32, (f64, Option<Vec<u32>>)>;

/// What cells of one comparison come to in each round that all of them have.
fn summed(parts: &[&Part<'_>], measure: ClaimMeasure, metric: Metric) -> Values {
    let each: Vec<Values> = parts
        .iter()
        .map(|part| values(part, measure, metric))
        .collect();
    let Some((first, others)) = each.split_first() else {
        return Values::new();
    };
    let mut sums = first.clone();
    for other in others {
        sums.retain(|round, _| other.contains_key(round));
        for (round, (sum, builds)) in &mut sums {
            if let Some((value, more)) = other.get(round) {
                *sum += value;
                *builds = builds.take().zip(more.as_ref()).map(|(mut all, more)| {
                    all.extend(more);
                    all
                });
            }
        }
    }
    sums
}

fn values(part: &Part<'_>, measure: ClaimMeasure, metric: Metric) -> Values {
    let all: &Blocks<'_> = &part.measured.judge.blocks;
    let block_time = part.summary.block_time;
    let blocks = all.of_cell(&part.summary.cell.id);
    let found = blocks.filter_map(|m| {
        let time = log_time(m, metric, Span::Timed).exp();
        let value = match measure {
            // Of a comparison about a percentile, that: as its ratios are.
            ClaimMeasure::Time => all.log(m, metric)?.exp(),
            ClaimMeasure::BlockTime => time * number(block_time?.operations),
            ClaimMeasure::Cpu => number(m.process_cpu_ns) / number(m.operations),
            ClaimMeasure::Throughput => NS_PER_SECOND / time,
            ClaimMeasure::PageFill => m.page_fill?,
            ClaimMeasure::IndexFill => m.index_fill?,
            ClaimMeasure::CpuShare => {
                let time = m.corrected_ns().unwrap_or(m.wall_ns);
                number(m.process_cpu_ns) / number(time.max(1))
            }
            ClaimMeasure::SyncsPerCommit => syncs_per_commit(m)?,
            ClaimMeasure::Footprint => return None,
        };
        Some((m.round, (value, m.build.map(|build| vec![build]))))
    });
    found.collect()
}

const NS_PER_SECOND: f64 = 1e9;

fn number(count: u64) -> f64 {
    count as f64
}

fn syncs_per_commit(m: &Measurement) -> Option<f64> {
    (m.commits > 0).then_some(number(m.syncs?.total()) / number(m.commits))
}

/// Whether it is a time, or made of one: then it is estimated on the logarithmic scale, and widened by
/// the noise floor.
fn is_of_time(measure: ClaimMeasure) -> bool {
    matches!(
        measure,
        ClaimMeasure::Time | ClaimMeasure::BlockTime | ClaimMeasure::Cpu | ClaimMeasure::Throughput
    )
}

/// To the scale on which a measure is estimated, and back: of times the logarithm; what is counted, and shares,
/// may be 0.
fn scale(measure: ClaimMeasure) -> [fn(f64) -> f64; 2] {
    match is_of_time(measure) {
        true => [f64::ln, f64::exp],
        false => [|value| value; 2],
    }
}

/// A value over its rounds, or its quotient with another one over the rounds that both have, on the scale of the
/// measure.
fn per_round(
    values: &Values,
    over: Option<&Values>,
    measure: ClaimMeasure,
) -> Option<(Interval, usize)> {
    let [scaled, _] = scale(measure);
    let known = [Some(values), over].map(|side| side.map(numbered).unwrap_or_default());
    let rounds = values.iter().filter_map(|(round, (value, _))| {
        let other = over.map_or(Some(1.0), |over| Some(over.get(round)?.0))?;
        let build = |side: usize| known[side].get(round).copied();
        Some(Paired {
            round: *round,
            difference: scaled(value / other),
            builds: [build(0), build(1)],
        })
    });
    estimated(&rounds.collect::<Vec<_>>(), measure)
}

/// As ratios are, if it is of time; of all else the median, which asks nothing of its distribution.
fn estimated(rounds: &[Paired], measure: ClaimMeasure) -> Option<(Interval, usize)> {
    let found = match is_of_time(measure) {
        true => Spread::alone(rounds).estimate(rounds, ALPHA_PER_LOOK)?.0,
        false => {
            let values: Vec<f64> = rounds.iter().map(|round| round.difference).collect();
            Estimate::median(&values, ALPHA_PER_LOOK)?
        }
    };
    Some((found.into(), found.n))
}

/// A number for each combination of builds that cells of one side were measured on.
fn numbered(values: &Values) -> BTreeMap<u32, u32> {
    let all: BTreeSet<&Vec<u32>> = values.values().filter_map(|(_, b)| b.as_ref()).collect();
    let numbers: BTreeMap<&Vec<u32>, u32> = all.into_iter().zip(0..).collect();
    let known = values.iter().filter_map(|(round, (_, builds))| {
        let number = numbers.get(builds.as_ref()?)?;
        Some((*round, *number))
    });
    known.collect()
}

/// What stores take on disk: no estimate, but the least and the most of those that were built.
fn counted(
    test: &TestSpec,
    evidence: &Evidence<'_>,
    missing: &mut Vec<MissingCell>,
) -> Option<Found> {
    let before = missing.len();
    let mut side = |cells: &[CellId]| -> Option<(Interval, usize)> {
        let each = cells.iter().filter_map(|cell| {
            let found = allocated(cell, evidence);
            if found.is_none() {
                missing.push(MissingCell {
                    cell: cell.0.clone(),
                    why: LEFT_OUT.to_owned(),
                });
            }
            found
        });
        each.reduce(|(a, m), (b, n)| (a.plus(b), m.min(n)))
    };
    let (of, to) = (side(&test.of), side(&test.to));
    let ((of, stores), (to, others)) = (of?, to?);
    (missing.len() == before).then(|| Found {
        estimate: of.over(to),
        beside: None,
        rounds: stores.min(others),
        across: false,
        reliable: true,
    })
}

/// The least, the median and the most bytes that a cell's store took: after the blocks that its ratios are
/// of, where these filled one, or else right after building.
fn allocated(cell: &CellId, evidence: &Evidence<'_>) -> Option<(Interval, usize)> {
    let mut judged = evidence.judged.iter();
    let (judge, summary) =
        judged.find_map(|(judge, outcome)| Some((judge, outcome.cell(cell)?)))?;
    let filled = judge.blocks.of_cell(cell);
    let filled = filled.filter_map(|m| Some(m.footprint?.allocated_bytes));
    let mut bytes: Vec<u64> = filled.collect();
    if bytes.is_empty() {
        let built = evidence.gathered?.footprints.iter().filter(|record| {
            !record.after_workloads
                && built_alike(&record.instance) == built_alike(&summary.cell.instance)
        });
        bytes = built
            .map(|record| record.footprint.allocated_bytes)
            .collect();
    }
    bytes.sort_unstable();
    let median = *bytes.get(bytes.len() / 2)?;
    let (least, most) = (*bytes.first()?, *bytes.last()?);
    let interval = Interval::new(number(median), number(least), number(most));
    (least > 0).then_some((interval, bytes.len()))
}
