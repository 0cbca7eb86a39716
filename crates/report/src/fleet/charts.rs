//! The study's charts: a group per cell, and in it a bar per machine.

use super::{Fleet, machines};
use crate::document::{
    Axis, Bar, Block, ChartRow, Detail, Fill, Key, LegendEntry, Mark, MarkKind, RowGroup, Rows,
    Scale, Section, Shape, Sign, faint, legend, notice, paragraph,
};
use crate::{format, wording};
use stowplan_analysis::{BarOn, ChartAcross, ChartGroup, Machine, PublishedRatio, Verdict};

/// A figure per chart that has a bar of some machine, the first one also for those who do not ask for
/// more; nothing without charts.
pub(super) fn section(fleet: &Fleet<'_>) -> Option<Block> {
    let charts: Vec<&ChartAcross> = fleet.outcome.charts.iter().filter(has_bars).collect();
    if charts.is_empty() {
        return None;
    }
    let figures = charts.iter().enumerate().map(|(index, chart)| {
        let detail = if index == 0 {
            Detail::Normal
        } else {
            Detail::Full
        };
        figure(fleet, chart).at(detail)
    });
    let section = Section::new("Charts", figures.collect()).named("charts");
    Some(section.in_contents("Charts").into())
}

fn has_bars(chart: &&ChartAcross) -> bool {
    chart.groups.iter().any(is_drawn)
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
    let mut blocks = vec![paragraph(faint(caption))];
    blocks.extend(notes(fleet, chart).map(notice));
    let mut groups = chart.groups.iter().filter(|group| is_drawn(group));
    let first = groups.next();
    let mut drawn: Vec<RowGroup> = first
        .map(|group| of_cell(fleet, chart, group, true))
        .into_iter()
        .collect();
    drawn.extend(published(chart));
    blocks.push(rows(fleet, chart, drawn, first.into_iter()).into());
    let others: Vec<&ChartGroup> = groups.collect();
    if !others.is_empty() {
        let drawn = others.iter();
        let drawn = drawn.map(|group| of_cell(fleet, chart, group, false));
        let rows = rows(fleet, chart, drawn.collect(), others.iter().copied());
        blocks.push(Block::from(rows).at(Detail::Full));
    }
    Section::figure(format!("chart-{}", chart.id), &chart.title, blocks).into()
}

/// That nothing is claimed of some machines' bars, or that they were left out, if that is so.
fn notes(fleet: &Fleet<'_>, chart: &ChartAcross) -> impl Iterator<Item = String> {
    let other = match chart.other_reference.as_slice() {
        [] => None,
        places => Some(format!(
            "Left out {}, where the ratios of this chart are not to {}.",
            fleet.on_names(places),
            wording::quoted(&chart.reference)
        )),
    };
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
    let mut bars = groups
        .filter_map(|group| group.on.get(place)?.as_ref())
        .peekable();
    bars.peek().is_some() && bars.all(|bar| bar.verdict == Verdict::Unreliable)
}

/// The axis below all cells of a chart and its published bars.
fn scale(chart: &ChartAcross) -> Scale {
    let bars = || {
        chart
            .groups
            .iter()
            .flat_map(|group| group.on.iter().flatten())
    };
    let published = chart.published.iter().map(|published| published.ratio);
    let values = bars().map(|bar| bar.estimate.ratio).chain(published);
    let ends = bars().flat_map(|bar| [bar.estimate.low, bar.estimate.high]);
    Scale::for_bars(
        &values.collect::<Vec<f64>>(),
        &ends.chain([1.0]).collect::<Vec<f64>>(),
    )
}

/// Groups of bars; `cells` are those that they are of.
fn rows<'a>(
    fleet: &Fleet<'_>,
    chart: &ChartAcross,
    groups: Vec<RowGroup>,
    cells: impl Iterator<Item = &'a ChartGroup>,
) -> Rows {
    let scale = scale(chart);
    Rows {
        summary: format!("{}: time over that of {}", chart.title, chart.reference),
        axis: Axis::new(String::new(), scale, scale.ticks(), tick),
        groups,
        marks: vec![Mark {
            at: 1.0,
            kind: MarkKind::Reference,
            sign: "1.0".to_owned(),
        }],
        legend: explained(fleet, chart, cells),
    }
}

/// `0.5`, `1`, `20`
fn tick(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn explained<'a>(
    fleet: &Fleet<'_>,
    chart: &ChartAcross,
    cells: impl Iterator<Item = &'a ChartGroup>,
) -> Vec<LegendEntry> {
    let mut entries = vec![
        LegendEntry::new(
            Key::Mark(MarkKind::Reference),
            format!("1.0 = {}", chart.reference),
        ),
        LegendEntry::new(
            Key::Interval,
            "interval; for published bars, how precisely they could be read",
        ),
    ];
    let bars = cells.flat_map(|cell| cell.on.iter().flatten().map(move |bar| (cell, bar)));
    let signs: Vec<Sign> = bars.filter_map(|(cell, bar)| sign(cell, bar)).collect();
    let reference = wording::quoted(&chart.reference);
    let signs = legend(&signs, &reference, "the other", &zone(fleet));
    entries.extend(
        signs
            .into_iter()
            .map(|(sign, text)| LegendEntry::new(Key::Sign(sign), text)),
    );
    entries
}

/// `5%`, if it is the same on all machines.
fn zone(fleet: &Fleet<'_>) -> String {
    let mut zones = fleet.machines().iter().map(|machine| machine.equivalence);
    let first = zones.next().unwrap_or_default();
    if zones.all(|zone| zone.to_bits() == first.to_bits()) {
        return format::percent(first);
    }
    "the zone".to_owned()
}

/// Who is ahead; nobody could choose a floor.
fn sign(cell: &ChartGroup, bar: &BarOn) -> Option<Sign> {
    (!cell.is_floor).then(|| Sign::of(bar.verdict, Some(&bar.estimate)))
}

/// What a machine is stands beside its first bar.
fn of_cell(
    fleet: &Fleet<'_>,
    chart: &ChartAcross,
    cell: &ChartGroup,
    with_detail: bool,
) -> RowGroup {
    let durability = cell.durability.as_ref();
    let promise = durability.map_or_else(String::new, |d| format!(" (durability: {d})"));
    let bars = fleet.machines().iter().zip(&cell.on);
    let rows = bars.map(|(machine, bar)| ChartRow {
        detail: if with_detail {
            machines::in_short(machine)
        } else {
            String::new()
        },
        ..bar
            .as_ref()
            .map_or_else(|| without_data(machine), |bar| measured(machine, cell, bar))
    });
    RowGroup {
        title: format!("{} / {}{promise}", cell.label, chart.reference),
        rows: rows.collect(),
        ..RowGroup::default()
    }
}

fn without_data(machine: &Machine) -> ChartRow {
    ChartRow {
        label: machine.label.clone(),
        detail: String::new(),
        shape: Shape::Nothing,
        interval: None,
        value: "no data".to_owned(),
        spread: String::new(),
        number: None,
        sign: None,
        tooltip: format!("{}: no data", machine.label),
    }
}

fn measured(machine: &Machine, cell: &ChartGroup, bar: &BarOn) -> ChartRow {
    let BarOn { estimate, verdict } = bar;
    let fill = match verdict {
        _ if cell.is_floor => Fill::Floor,
        Verdict::NoData | Verdict::Unreliable => Fill::Uncertain,
        _ => Fill::Ours,
    };
    let value = format::ratio(estimate.ratio);
    ChartRow {
        shape: Shape::Bar(Bar {
            value: estimate.ratio,
            fill,
        }),
        interval: Some((estimate.low, estimate.high)),
        spread: format::interval(estimate.low, estimate.high),
        number: Some(estimate.ratio),
        sign: sign(cell, bar),
        tooltip: format!(
            "{}: {value}, interval {} to {}, {} rounds: {}",
            machine.label,
            format::ratio(estimate.low),
            format::ratio(estimate.high),
            estimate.rounds,
            wording::verdict(*verdict)
        ),
        value,
        ..without_data(machine)
    }
}

/// The published ratios; nothing without any.
fn published(chart: &ChartAcross) -> Option<RowGroup> {
    let label = chart.published_label.as_deref();
    let label = label.map_or_else(String::new, |label| format!(": {label}"));
    let precision = chart.published_precision;
    let rows: Vec<ChartRow> = chart
        .published
        .iter()
        .map(|published| published_row(published, precision))
        .collect();
    (!rows.is_empty()).then(|| RowGroup {
        title: format!("Published{label}"),
        rows,
        ..RowGroup::default()
    })
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
        shape: Shape::Bar(Bar {
            value: *ratio,
            fill: Fill::Published,
        }),
        interval: precision.map(|precision| ((ratio - precision).max(0.0), ratio + precision)),
        spread: String::new(),
        number: Some(*ratio),
        sign: None,
        tooltip: format!("{system} ({description}): {value} as published"),
        value,
    }
}
