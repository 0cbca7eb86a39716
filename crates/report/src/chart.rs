//! A chart before it is drawn: rows with values and finished texts, and the axis they share.
//! Terminal, Markdown and HTML draw the same rows.

use crate::document::Scale;
use crate::format;
use crate::wording;
use stowplan_analysis::{
    Analysis, CellSummary, ChartBar, ChartOutcome, ComparisonOutcome, PublishedRatio, Verdict,
};
use stowplan_model::{CellId, Role};

/// One chart.
pub(crate) struct Chart {
    /// Name in the study file.
    pub(crate) id: String,
    /// Title for people.
    pub(crate) title: String,
    /// What the bars are.
    pub(crate) subtitle: String,
    /// What 1.0 is.
    pub(crate) reference: String,
    /// This machine's bars, the reference first.
    pub(crate) ours: Vec<Bar>,
    /// The published bars.
    pub(crate) published: Vec<Bar>,
    /// What the published bars compare.
    pub(crate) published_label: Option<String>,
    /// The cheapest conceivable way: its label and its ratio to the reference.
    pub(crate) floor: Option<(String, f64)>,
    /// What must be said about it, such as that nothing is claimed.
    pub(crate) note: Option<String>,
    /// What the bars promise for writes, those that promise the same together.
    pub(crate) promises: Option<String>,
    /// The axis.
    pub(crate) scale: Scale,
}

/// One bar.
pub(crate) struct Bar {
    /// Name for people.
    pub(crate) label: String,
    /// What else there is to know: a durability promise, what a published system was.
    pub(crate) detail: Option<String>,
    /// Length.
    pub(crate) value: Option<f64>,
    /// Ends of the interval.
    pub(crate) ends: Option<(f64, f64)>,
    /// The value as text.
    pub(crate) text: String,
    /// Everything about it in a sentence.
    pub(crate) tooltip: String,
    /// The verdict, where there is one.
    pub(crate) verdict: Option<Verdict>,
    /// Whether it is the reference itself.
    pub(crate) is_reference: bool,
    /// Whether it is the cheapest conceivable way and no store.
    pub(crate) is_floor: bool,
}

/// Every chart of the study that has data.
pub(crate) fn charts(analysis: &Analysis) -> Vec<Chart> {
    let charts = analysis.charts.iter();
    charts.map(|outcome| chart(analysis, outcome)).collect()
}

fn chart(analysis: &Analysis, outcome: &ChartOutcome) -> Chart {
    let reference = reference_cell(analysis, outcome);
    let promise = reference.and_then(|(_, cell)| wording::claim(cell));
    let promise = promise.map(|claim| durability(&claim));
    let mut ours = vec![reference_bar(&outcome.reference, promise)];
    // A study may ask for the reference as a bar; it has one already.
    let is_reference =
        |bar: &&ChartBar| reference.is_some_and(|(_, cell)| cell.cell.id == bar.cell);
    for bar in outcome.bars.iter().filter(|bar| !is_reference(bar)) {
        let cell = reference.and_then(|(comparison, _)| comparison.cell(&bar.cell));
        let is_floor = cell.is_some_and(|cell| cell.cell.role == Role::Floor);
        ours.push(our_bar(bar, &outcome.reference, is_floor));
    }
    let precision = outcome.published_precision;
    let published: Vec<Bar> = outcome
        .published
        .iter()
        .map(|ratio| published_bar(ratio, precision))
        .collect();
    let promises = reference.and_then(|(comparison, reference)| {
        let shown = outcome.bars.iter().filter(|bar| !is_reference(bar));
        let cells = shown.filter_map(|bar| comparison.cell(&bar.cell));
        wording::promises_of(std::iter::once(reference).chain(cells))
    });
    let floor = reference.and_then(|(comparison, cell)| floor(comparison, cell));
    let bars = || ours.iter().chain(&published);
    let values: Vec<f64> = bars().filter_map(|bar| bar.value).collect();
    let mut ends: Vec<f64> = bars()
        .filter_map(|bar| bar.ends)
        .flat_map(|(low, high)| [low, high])
        .collect();
    ends.extend(floor.as_ref().map(|(_, ratio)| *ratio));
    let scale = Scale::for_bars(&values, &ends);
    let note = (!outcome.reliable)
        .then(|| "Session unreliable: nothing is claimed from this machine's bars.".to_owned());
    let logarithmic = if scale.is_logarithmic() {
        " Logarithmic axis."
    } else {
        ""
    };
    Chart {
        id: outcome.id.clone(),
        title: outcome.title.clone(),
        subtitle: format!(
            "Time per operation, as a multiple of {}. Shorter is faster.{logarithmic}",
            outcome.reference
        ),
        reference: outcome.reference.clone(),
        ours,
        published,
        published_label: outcome.published_label.clone(),
        floor,
        note,
        promises,
        scale,
    }
}

fn durability(promise: &impl std::fmt::Display) -> String {
    format!("durability: {promise}")
}

fn reference_bar(label: &str, detail: Option<String>) -> Bar {
    Bar {
        label: label.to_owned(),
        detail,
        value: Some(1.0),
        ends: None,
        text: "1.00".to_owned(),
        tooltip: format!("{label}: 1.00 by definition, the reference of this chart"),
        verdict: None,
        is_reference: true,
        is_floor: false,
    }
}

fn our_bar(bar: &ChartBar, reference: &str, is_floor: bool) -> Bar {
    let verdict = wording::verdict(bar.verdict);
    let label = bar.label.clone();
    let detail = bar.durability.as_ref().map(durability);
    let Some(estimate) = bar.estimate else {
        return Bar {
            tooltip: format!("{label}: {verdict}"),
            label,
            detail,
            value: None,
            ends: None,
            text: "no data".to_owned(),
            verdict: Some(bar.verdict),
            is_reference: false,
            is_floor,
        };
    };
    let ratio = format::ratio(estimate.ratio);
    let interval = format::interval(estimate.low, estimate.high);
    Bar {
        tooltip: format!(
            "{label}: {ratio} times the time of {reference}, interval {} to {}, {} rounds: \
             {verdict}",
            format::ratio(estimate.low),
            format::ratio(estimate.high),
            estimate.rounds
        ),
        label,
        detail,
        value: Some(estimate.ratio),
        ends: Some((estimate.low, estimate.high)),
        text: format!("{ratio} {interval}"),
        verdict: Some(bar.verdict),
        is_reference: false,
        is_floor,
    }
}

fn published_bar(published: &PublishedRatio, precision: Option<f64>) -> Bar {
    let ratio = format::ratio(published.ratio);
    let read_to = precision
        .map(|precision| format!(", read off the published chart to about {precision}"))
        .unwrap_or_default();
    let PublishedRatio {
        system,
        description,
        ..
    } = published;
    Bar {
        label: system.clone(),
        detail: Some(description.clone()),
        value: Some(published.ratio),
        ends: precision.map(|p| ((published.ratio - p).max(0.0), published.ratio + p)),
        tooltip: format!("{system} ({description}): {ratio} as published{read_to}"),
        text: ratio,
        verdict: None,
        is_reference: false,
        is_floor: false,
    }
}

/// The comparison that the chart shows, and the cell in it that is 1.0.
fn reference_cell<'a>(
    analysis: &'a Analysis,
    outcome: &ChartOutcome,
) -> Option<(&'a ComparisonOutcome, &'a CellSummary)> {
    let study = &analysis.run.plan.study;
    let spec = study.charts.iter().find(|spec| spec.id == outcome.id)?;
    let mut comparisons = analysis.comparisons.iter();
    let comparison = comparisons.find(|comparison| comparison.id == spec.comparison)?;
    let id = CellId(format!("{}/{}", spec.comparison, spec.reference));
    Some((comparison, comparison.cell(&id)?))
}

/// The floor relative to the chart's reference: the inverse of the reference's multiple of it.
fn floor(comparison: &ComparisonOutcome, reference: &CellSummary) -> Option<(String, f64)> {
    let multiple = reference.multiple_of_floor?;
    // Where there are several, the analysis takes multiples of the first.
    let mut cells = comparison.cells.iter();
    let floor = cells.find(|cell| cell.cell.role == Role::Floor)?;
    let label = &floor.cell.label;
    let label = label.strip_prefix("floor: ").unwrap_or(label);
    Some((label.to_owned(), 1.0 / multiple.ratio))
}
