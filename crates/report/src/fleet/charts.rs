//! The study's charts: a group per cell, and in it a bar per machine.

use super::{Fleet, machines};
use crate::document::{
    Axis, Block, ChartRow, Fill, Key, LegendEntry, Mark, MarkKind, RowGroup, Rows, Scale, Section,
    Shape, Sign, chapter, legend, notice, remark,
};
use crate::{format, wording};
use stowplan_analysis::{BarOn, ChartAcross, ChartGroup, Machine, PublishedRatio, Verdict};

/// A figure per chart that has a bar of some machine, the first one also for those who do not ask for
/// more; nothing without charts.
pub(super) fn section(fleet: &Fleet<'_>) -> Option<Block> {
    let charts = fleet.outcome.charts.iter();
    let charts = charts.filter(|chart| chart.groups.iter().any(is_drawn));
    let figures = charts.map(|chart| figure(fleet, chart));
    chapter("charts", "Charts", figures.collect())
}

/// The first cell of the first chart on each machine, in so many rows.
pub(super) fn picture(fleet: &Fleet<'_>, rows: usize) -> Option<Block> {
    let mut charts = fleet.outcome.charts.iter();
    let chart = charts.find(|chart| chart.groups.iter().any(is_drawn))?;
    let group = chart.groups.iter().find(|group| is_drawn(group))?;
    let drawn = self::rows(fleet, chart, &[group], |_| String::new());
    Some(Section::new(&chart.title, vec![drawn.first(rows).into()]).into())
}

fn is_drawn(group: &ChartGroup) -> bool {
    group.on.iter().any(Option::is_some)
}

/// The first cell that the study draws stands beside the published ratios, which are of it; a
/// terminal draws the others for those who ask.
fn figure(fleet: &Fleet<'_>, chart: &ChartAcross) -> Block {
    let scale = scale(chart);
    let logarithmic = if scale.is_logarithmic() {
        " Logarithmic axis."
    } else {
        ""
    };
    let caption = format!(
        "Time per operation, as a multiple of {} on the same machine. Shorter is faster.{logarithmic}",
        chart.reference
    );
    let mut blocks = vec![remark(caption)];
    blocks.extend(notes(fleet, chart).map(notice));
    let groups: Vec<&ChartGroup> = chart.groups.iter().filter(|g| is_drawn(g)).collect();
    let (first, others) = groups.split_at(groups.len().min(1));
    let mut drawn = rows(fleet, chart, first, machines::in_short);
    drawn.groups.extend(published(chart));
    blocks.push(drawn.into());
    if !others.is_empty() {
        let drawn = rows(fleet, chart, others, |_| String::new());
        blocks.push(drawn.into());
    }
    Section::figure(format!("chart-{}", chart.id), &chart.title, blocks).into()
}

/// That nothing is claimed of some machines' bars, or that they were left out, if that is so.
fn notes(fleet: &Fleet<'_>, chart: &ChartAcross) -> impl Iterator<Item = String> {
    let other = fleet.on_names(&chart.other_reference);
    let other = format!(
        "Left out {other}, where the ratios of this chart are not to {}.",
        wording::quoted(&chart.reference)
    );
    let other = Some(other).filter(|_| !chart.other_reference.is_empty());
    let places = 0..fleet.machines().len();
    let unreliable: Vec<usize> = places.filter(|place| is_unclaimed(chart, *place)).collect();
    let unreliable = (!unreliable.is_empty()).then(|| {
        let on = fleet.on_names(&unreliable);
        format!("Session unreliable {on}: those bars claim nothing.")
    });
    other.into_iter().chain(unreliable)
}

/// Whether this machine has bars, and none of them claims anything.
fn is_unclaimed(chart: &ChartAcross, place: usize) -> bool {
    let groups = chart.groups.iter();
    let bars = || {
        groups
            .clone()
            .filter_map(|group| group.on.get(place)?.as_ref())
    };
    bars().next().is_some() && bars().all(|bar| bar.verdict == Verdict::Unreliable)
}

/// The axis below all cells of a chart and its published bars.
fn scale(chart: &ChartAcross) -> Scale {
    let groups = chart.groups.iter();
    let bars = groups.flat_map(|group| group.on.iter().flatten());
    let estimates = bars.map(|bar| bar.estimate);
    let published = chart.published.iter().map(|published| published.ratio);
    let values = estimates.clone().map(|estimate| estimate.ratio);
    let values: Vec<f64> = values.chain(published).collect();
    let ends = estimates.flat_map(|estimate| [estimate.low, estimate.high]);
    let ends: Vec<f64> = ends.chain([1.0]).collect();
    Scale::for_bars(&values, &ends)
}

/// A group of bars for each of these cells; `detail` says what a machine is.
fn rows(
    fleet: &Fleet<'_>,
    chart: &ChartAcross,
    cells: &[&ChartGroup],
    detail: fn(&Machine) -> String,
) -> Rows {
    let scale = scale(chart);
    let groups = cells.iter().map(|cell| of_cell(fleet, chart, cell, detail));
    Rows {
        summary: format!("{}: time over that of {}", chart.title, chart.reference),
        axis: Axis::new("", scale, scale.ticks(), format::ratio_tick),
        groups: groups.collect(),
        marks: vec![Mark {
            at: 1.0,
            kind: MarkKind::Reference,
            sign: "1.0".to_owned(),
        }],
        legend: explained(fleet, chart, cells),
    }
}

fn explained(fleet: &Fleet<'_>, chart: &ChartAcross, cells: &[&ChartGroup]) -> Vec<LegendEntry> {
    let reference = format!("1.0 = {}", chart.reference);
    let mut entries = vec![
        LegendEntry::new(Key::Mark(MarkKind::Reference), reference),
        LegendEntry::new(
            Key::Interval,
            "interval; for published bars, how precisely they could be read",
        ),
    ];
    let signs = cells.iter().flat_map(|cell| {
        let bars = cell.on.iter().flatten();
        bars.filter_map(|bar| sign(cell, bar))
    });
    let zone = fleet.zone().map_or("the zone".to_owned(), format::percent);
    let reference = wording::quoted(&chart.reference);
    let signs = legend(&signs.collect::<Vec<_>>(), &reference, "the other", &zone);
    let signs = signs.into_iter();
    entries.extend(signs.map(|(sign, text)| LegendEntry::new(Key::Sign(sign), text)));
    entries
}

/// Who is ahead; nobody could choose a floor.
fn sign(cell: &ChartGroup, bar: &BarOn) -> Option<Sign> {
    (!cell.is_floor).then(|| Sign::of(bar.verdict, Some(&bar.estimate)))
}

/// A bar of each machine.
fn of_cell(
    fleet: &Fleet<'_>,
    chart: &ChartAcross,
    cell: &ChartGroup,
    detail: fn(&Machine) -> String,
) -> RowGroup {
    let durability = cell.durability.as_ref();
    let promise = durability.map_or_else(String::new, |d| format!(" (durability: {d})"));
    let bars = fleet.machines().iter().zip(&cell.on);
    let rows = bars.map(|(machine, bar)| {
        let label = &machine.label;
        let nothing = || ChartRow::without_data(label, format!("{label}: no data"));
        ChartRow {
            detail: detail(machine),
            ..bar
                .as_ref()
                .map_or_else(nothing, |bar| measured(label, cell, bar))
        }
    });
    let title = format!("{} / {}{promise}", cell.label, chart.reference);
    RowGroup::of(title, rows.collect())
}

fn measured(machine: &str, cell: &ChartGroup, bar: &BarOn) -> ChartRow {
    let BarOn { estimate, verdict } = bar;
    let fill = match verdict {
        _ if cell.is_floor => Fill::Floor,
        Verdict::NoData | Verdict::Unreliable => Fill::Uncertain,
        _ => Fill::Ours,
    };
    let [value, low, high] = [estimate.ratio, estimate.low, estimate.high].map(format::ratio);
    ChartRow {
        label: machine.to_owned(),
        shape: Shape::bar(estimate.ratio, fill),
        interval: Some((estimate.low, estimate.high)),
        spread: format::interval(estimate.low, estimate.high),
        number: Some(estimate.ratio),
        sign: sign(cell, bar),
        tooltip: format!(
            "{machine}: {value}, interval {low} to {high}, {} rounds: {}",
            estimate.rounds,
            wording::verdict(*verdict)
        ),
        value,
        ..ChartRow::default()
    }
}

/// The published ratios; nothing without any.
fn published(chart: &ChartAcross) -> Option<RowGroup> {
    let label = chart.published_label.as_ref();
    let label = label.map_or_else(String::new, |label| format!(": {label}"));
    let rows = chart.published.iter();
    let rows = rows.map(|published| published_row(published, chart.published_precision));
    let group = RowGroup::of(format!("Published{label}"), rows.collect());
    (!group.rows.is_empty()).then_some(group)
}

fn published_row(published: &PublishedRatio, precision: Option<f64>) -> ChartRow {
    let PublishedRatio {
        system,
        description,
        ratio,
        ..
    } = published;
    let value = format::ratio(*ratio);
    ChartRow {
        label: system.clone(),
        detail: description.clone(),
        shape: Shape::bar(*ratio, Fill::Published),
        interval: precision.map(|precision| ((ratio - precision).max(0.0), ratio + precision)),
        number: Some(*ratio),
        tooltip: format!("{system} ({description}): {value} as published"),
        value,
        ..ChartRow::default()
    }
}
