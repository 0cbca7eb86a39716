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
use stowplan_model::{CellId, ClaimMeasure, TestSpec, built_alike};

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
    let found = figure(test, &test.to, evidence, missing);
    if test.or_to.is_empty() {
        return found;
    }
    let other = figure(test, &test.or_to, evidence, missing);
    let verdict = match [found.verdict, other.verdict] {
        both if both.contains(&ClaimVerdict::Unreliable) => ClaimVerdict::Unreliable,
        both if both.contains(&ClaimVerdict::Holds) => ClaimVerdict::Holds,
        [one, other] if one == other => one,
        _ => ClaimVerdict::Undecided,
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
    to: &[CellId],
    evidence: &Evidence<'_>,
    missing: &mut Vec<MissingCell>,
) -> FigureOutcome {
    let before = missing.len();
    let found = match test.measure {
        ClaimMeasure::Footprint => counted([&test.of, to], evidence, missing),
        measure => timed(measure, [&test.of, to], evidence, missing),
    };
    let found = found.filter(|_| missing.len() == before);
    let within = |interval| within(interval, test);
    let verdict = match &found {
        None => ClaimVerdict::NoData,
        Some(found) if !found.reliable => ClaimVerdict::Unreliable,
        Some(found) => {
            let verdict = within(found.estimate);
            let agrees = found.beside.is_none_or(|other| within(other) == verdict);
            if agrees {
                verdict
            } else {
                ClaimVerdict::Undecided
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
    let found = found.as_ref();
    FigureOutcome {
        of: named(&test.of),
        to: named(to),
        or_to: Vec::new(),
        measure: test.measure,
        at_least: test.at_least,
        at_most: test.at_most,
        estimate: found.map(|found| found.estimate),
        beside: found.and_then(|found| found.beside),
        rounds: found.map_or(0, |found| found.rounds),
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

/// A cell and the comparison that it is of.
struct Part<'a> {
    measured: Measured<'a>,
    summary: &'a CellSummary,
}

impl Part<'_> {
    fn comparison(&self) -> &str {
        &self.measured.outcome.id
    }
}

fn parts<'a>(
    cells: &[CellId],
    evidence: &Evidence<'a>,
    missing: &mut Vec<MissingCell>,
) -> Vec<Part<'a>> {
    let part = |cell: &CellId| -> Result<Part<'a>, String> {
        let (comparison, key) = cell.0.split_once('/').unwrap_or((&cell.0, ""));
        let measured = evidence.comparison(comparison);
        let measured = measured.filter(|m| m.outcome.was_measured());
        let measured = measured.ok_or(LEFT_OUT)?;
        let summary = measured.measured(key)?;
        Ok(Part { measured, summary })
    };
    let mut found = Vec::new();
    for cell in cells {
        match part(cell) {
            Ok(part) => found.push(part),
            Err(why) => missing.push(MissingCell {
                cell: cell.0.clone(),
                why,
            }),
        }
    }
    found
}

fn timed(
    measure: ClaimMeasure,
    [of, to]: [&[CellId]; 2],
    evidence: &Evidence<'_>,
    missing: &mut Vec<MissingCell>,
) -> Option<Found> {
    let (of, to) = (parts(of, evidence, missing), parts(to, evidence, missing));
    let all = || of.iter().chain(&to);
    let first = of.first()?;
    let across = all().any(|part| part.comparison() != first.comparison());
    let reliable = all().all(|part| part.measured.outcome.reliable);
    if let (false, [cell], [reference], ClaimMeasure::Time) = (across, &of[..], &to[..], measure) {
        return as_charted(cell, reference, reliable);
    }
    let noise = || all().map(|part| &part.measured.judge.noise);
    let headline = match noise().any(|noise| noise.metric == Metric::Wall) {
        true => Metric::Wall,
        false => Metric::Corrected,
    };
    let (estimate, rounds) = located(measure, [&of, &to], headline)?;
    let sleeps = is_of_time(measure) && noise().any(|noise| noise.beside.is_some());
    let beside = sleeps.then(|| located(measure, [&of, &to], Metric::Corrected));
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

/// A figure by one clock, and the rounds that it rests on.
fn located(
    measure: ClaimMeasure,
    [of, to]: [&[Part<'_>]; 2],
    metric: Metric,
) -> Option<(Interval, usize)> {
    let floor = |part: &Part<'_>| match is_of_time(measure) {
        true => part.measured.judge.floor(metric),
        false => 0.0,
    };
    let [_, back] = scale(measure);
    let summed = |parts: &[&Part<'_>]| summed(parts, measure, metric);
    let first = of.first()?;
    if of
        .iter()
        .chain(to)
        .all(|part| part.comparison() == first.comparison())
    {
        let [above, below] = [of, to].map(|side| summed(&side.iter().collect::<Vec<_>>()));
        let below = (!to.is_empty()).then_some(&below);
        let (estimate, rounds) = per_round(&above, below, measure)?;
        return Some((estimate.widened(floor(first)).by(back), rounds));
    }
    // What cells of one comparison come to is located by itself.
    let side = |parts: &[Part<'_>]| {
        let mut groups: BTreeMap<String, Vec<&Part<'_>>> = BTreeMap::new();
        for part in parts {
            let group = groups.entry(part.comparison().to_owned()).or_default();
            group.push(part);
        }
        let each = groups
            .values()
            .map(|parts| per_round(&summed(parts), None, measure));
        let each: Vec<(Interval, usize)> = each.collect::<Option<_>>()?;
        let rounds = each.iter().map(|(_, rounds)| *rounds).min()?;
        let sums = each.into_iter().map(|(found, _)| found.by(back));
        let floor = parts.iter().map(floor).fold(0.0, f64::max);
        Some((sums.reduce(Interval::sum)?, floor, rounds))
    };
    let (above, its_floor, rounds) = side(of)?;
    let (below, other_floor, other_rounds) = side(to)?;
    let ratio = match is_of_time(measure) {
        true => {
            let log = above.by(f64::ln).less(below.by(f64::ln));
            log.widened(its_floor + other_floor).by(f64::exp)
        }
        false => above.over(below),
    };
    let is_known = ratio.low.is_finite() && ratio.high.is_finite();
    is_known.then_some((ratio, rounds.min(other_rounds)))
}

/// By round: a value, and the builds that it was measured on, as far as they are known.
type Values = BTreeMap<u32, (f64, Option<Vec<u32>>)>;

/// What cells of one comparison come to in each round that all of them have.
fn summed(parts: &[&Part<'_>], measure: ClaimMeasure, metric: Metric) -> Values {
    let each = parts.iter().map(|part| values(part, measure, metric));
    let sum = each.reduce(|sums, mut other| {
        let both = sums.into_iter().filter_map(|(round, (sum, builds))| {
            let (value, more) = other.remove(&round)?;
            let builds = builds.zip(more).map(|(all, more)| [all, more].concat());
            Some((round, (sum + value, builds)))
        });
        both.collect()
    });
    sum.unwrap_or_default()
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
            ClaimMeasure::SyncsPerCommit if m.commits > 0 => {
                number(m.syncs?.total()) / number(m.commits)
            }
            ClaimMeasure::SyncsPerCommit | ClaimMeasure::Footprint => return None,
        };
        Some((m.round, (value, m.build.map(|build| vec![build]))))
    });
    found.collect()
}

const NS_PER_SECOND: f64 = 1e9;

fn number(count: u64) -> f64 {
    count as f64
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
/// measure: as ratios are, if it is of time; of all else the median, which asks nothing of its distribution.
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
    let rounds: Vec<Paired> = rounds.collect();
    let found = match is_of_time(measure) {
        true => Spread::alone(&rounds).estimate(&rounds, ALPHA_PER_LOOK)?.0,
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
    sides: [&[CellId]; 2],
    evidence: &Evidence<'_>,
    missing: &mut Vec<MissingCell>,
) -> Option<Found> {
    let [of, to] = sides.map(|cells| {
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
    });
    let ((of, stores), (to, others)) = (of?, to?);
    Some(Found {
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
        let alike = built_alike(&summary.cell.instance);
        let built = evidence
            .gathered?
            .footprints
            .iter()
            .filter(|record| !record.after_workloads && built_alike(&record.instance) == alike);
        bytes.extend(built.map(|record| record.footprint.allocated_bytes));
    }
    bytes.sort_unstable();
    let median = *bytes.get(bytes.len() / 2)?;
    let (least, most) = (*bytes.first()?, *bytes.last()?);
    let interval = Interval::new(number(median), number(least), number(most));
    (least > 0).then_some((interval, bytes.len()))
}
