//! Charts: rows of a label, a drawing and a value, over a common axis.

use super::element::{anchor, escape};
use super::svg::{Mark, Row, axis};
use super::{bars, lines};
use crate::chart::{Bar, Chart};
use crate::format;
use crate::scale::Scale;
use crate::{quantity, table, wording};
use stowplan_analysis::{
    Analysis, CellSummary, ComparisonOutcome, LatencySummary, SpaceRow, Verdict,
};
use stowplan_model::Role;

/// The charts of the study.
pub(super) fn charts(analysis: &Analysis) -> String {
    let charts = crate::chart::charts(analysis);
    let figures: String = charts.iter().map(chart).collect();
    let figures = figures + &bars::charts(analysis) + &lines::charts(analysis);
    if figures.is_empty() {
        return figures;
    }
    format!("<section id=\"charts\"><h2>Charts</h2>{figures}</section>\n")
}

fn chart(chart: &Chart) -> String {
    let grid = Grid {
        scale: &chart.scale,
        reference: Some(1.0),
        floor: chart.floor.as_ref().map(|(_, ratio)| *ratio),
    };
    let mut rows = group("This machine");
    let uncertain = chart.note.is_some();
    rows.extend(
        chart
            .ours
            .iter()
            .map(|bar| bar_row(bar, &grid, our_class(bar, uncertain))),
    );
    if !chart.published.is_empty() {
        let label = chart.published_label.as_deref();
        let label = label.map_or_else(String::new, |label| format!(": {label}"));
        rows.push_str(&group(&format!("Published{label}")));
        let published = chart.published.iter();
        rows.extend(published.map(|bar| bar_row(bar, &grid, "published")));
    }
    rows.push_str(&grid.axis(ratio_tick));
    let note = chart.note.as_ref().map_or_else(String::new, |note| {
        format!("<p class=\"notice\">{}</p>", escape(note))
    });
    format!(
        "<figure class=\"chart\" id=\"chart-{}\"><figcaption><h3>{}</h3><p>{}</p>{note}\
         </figcaption><div class=\"rows\">{rows}</div>{}</figure>\n",
        anchor(&chart.id),
        escape(&chart.title),
        escape(&chart.subtitle),
        legend(chart)
    )
}

fn our_class(bar: &Bar, uncertain: bool) -> &'static str {
    match bar.verdict {
        None => "reference-bar",
        _ if bar.is_floor => "floor-bar",
        _ if uncertain => "ours uncertain",
        Some(Verdict::NoData | Verdict::Unreliable) => "ours uncertain",
        Some(_) => "ours",
    }
}

fn legend(chart: &Chart) -> String {
    let floor = chart
        .floor
        .as_ref()
        .map_or_else(String::new, |(label, ratio)| {
            format!(
                "<span><i class=\"key floor\"></i>floor: {} ({})</span>",
                format::ratio(*ratio),
                escape(label)
            )
        });
    format!(
        "<p class=\"legend\"><span><i class=\"key reference\"></i>1.0 = {}</span>{floor}\
         <span><i class=\"key whisker\"></i>interval; for published bars, how precisely they \
         could be read</span></p>",
        escape(&chart.reference)
    )
}

/// What every row of a chart has in its background.
pub(super) struct Grid<'a> {
    pub(super) scale: &'a Scale,
    pub(super) reference: Option<f64>,
    pub(super) floor: Option<f64>,
}

impl Grid<'_> {
    fn row(&self, title: &str) -> Row {
        self.row_at(&self.scale.ticks(), title)
    }

    pub(super) fn row_at(&self, ticks: &[f64], title: &str) -> Row {
        let mut row = Row::new(title);
        for tick in ticks {
            row.line_behind(self.scale.position(*tick), "grid");
        }
        row
    }

    /// The lines that must stay visible above a bar.
    fn overlay(&self, row: &mut Row) {
        if let Some(floor) = self.floor {
            row.line_before(self.scale.position(floor), "floor");
        }
        if let Some(reference) = self.reference {
            row.line_before(self.scale.position(reference), "reference");
        }
    }

    fn axis(&self, label: impl Fn(f64) -> String) -> String {
        self.axis_at(&self.scale.ticks(), label)
    }

    pub(super) fn axis_at(&self, ticks: &[f64], label: impl Fn(f64) -> String) -> String {
        let ticks = ticks.iter();
        let labels: Vec<_> = ticks
            .map(|tick| (self.scale.position(*tick), label(*tick)))
            .collect();
        format!(
            "<div class=\"row axis-row\"><div class=\"drawing\">{}</div></div>",
            axis(&labels)
        )
    }
}

pub(super) fn ratio_tick(tick: f64) -> String {
    let text = format!("{tick:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

pub(super) fn group(title: &str) -> String {
    format!("<div class=\"group\">{}</div>", escape(title))
}

/// A row: label and detail, drawing, value.
pub(super) fn row(label: &str, detail: Option<&str>, drawing: &str, value: &str) -> String {
    let detail = detail.map_or_else(String::new, |detail| {
        format!("<small>{}</small>", escape(detail))
    });
    format!(
        "<div class=\"row\"><div class=\"label\">{}{detail}</div><div class=\"drawing\">{drawing}\
         </div><div class=\"value\">{}</div></div>",
        escape(label),
        value
    )
}

fn bar_row(bar: &Bar, grid: &Grid<'_>, class: &str) -> String {
    let scale = grid.scale;
    let mut drawing = grid.row(&bar.tooltip);
    if let Some(value) = bar.value {
        drawing.bar(scale.position(scale.origin()), scale.position(value), class);
    }
    grid.overlay(&mut drawing);
    if let Some((low, high)) = bar.ends {
        drawing.whisker(scale.position(low), scale.position(high));
    }
    let value = match bar.text.split_once(' ') {
        Some((ratio, interval)) if interval.starts_with('[') => {
            format!("<b>{}</b> <span>{}</span>", escape(ratio), escape(interval))
        }
        _ => format!("<b>{}</b>", escape(&bar.text)),
    };
    row(&bar.label, bar.detail.as_deref(), &drawing.finish(), &value)
}

/// Latency of single operations, one chart per comparison that has it.
pub(super) fn latency(analysis: &Analysis) -> String {
    let figures = super::for_each_comparison(analysis, "Latency in", |comparison| {
        latency_chart(comparison).unwrap_or_default()
    });
    if figures.is_empty() {
        return figures;
    }
    format!(
        "<section id=\"latency\"><h2>Latency of single operations</h2>\
         <p class=\"legend\"><span><i class=\"key disc\"></i>p50</span>\
         <span><i class=\"key ring\"></i>p99</span><span><i class=\"key bar\"></i>p99.9</span>\
         <span>Wall time, logarithmic axis; the line reaches from p50 to p99.9.</span></p>\
         {figures}</section>\n"
    )
}

#[expect(
    clippy::cast_precision_loss,
    reason = "drawn, and shown with three digits"
)]
fn latency_chart(comparison: &ComparisonOutcome) -> Option<String> {
    // Where promises differ, each latency has its own beside it.
    let alike = wording::promise_alike(comparison);
    let class = |cell: &CellSummary| {
        let claim = wording::claim(cell).filter(|_| !alike && cell.cell.role != Role::Floor);
        claim.as_ref().map(quantity::class)
    };
    let cells: Vec<(String, Option<String>, &LatencySummary)> = comparison
        .cells
        .iter()
        .filter_map(|cell| Some((table::label(cell), class(cell), cell.latency.as_ref()?)))
        .collect();
    let lowest = cells.iter().map(|(.., latency)| latency.p50_ns).min()?;
    let highest = cells.iter().map(|(.., latency)| latency.p999_ns).max()?;
    let scale = Scale::logarithmic(lowest.max(1) as f64, highest.max(1) as f64);
    let grid = Grid {
        scale: &scale,
        reference: None,
        floor: None,
    };
    let mut rows = String::new();
    for (label, class, latency) in &cells {
        let [p50, p90, p99, p999, max] = [
            latency.p50_ns,
            latency.p90_ns,
            latency.p99_ns,
            latency.p999_ns,
            latency.max_ns,
        ]
        .map(|ns| ns as f64);
        let [t50, t90, t99, t999, t_max] = [p50, p90, p99, p999, max].map(format::time);
        let mut drawing = grid.row(&format!(
            "{label}: p50 {t50}, p90 {t90}, p99 {t99}, p99.9 {t999}, largest {t_max}, {} \
             operations",
            format::count(latency.count)
        ));
        drawing.range(scale.position(p50), scale.position(p999));
        drawing.mark(scale.position(p50), Mark::Disc);
        drawing.mark(scale.position(p99), Mark::Ring);
        drawing.mark(scale.position(p999), Mark::Bar);
        let value = format!("<b>{t50}</b> <span>{t99} · {t999}</span>");
        rows.push_str(&row(label, class.as_deref(), &drawing.finish(), &value));
    }
    rows.push_str(&grid.axis(short_time));
    Some(format!(
        "<figure class=\"chart latency\"><figcaption><h3>{}</h3></figcaption><div class=\"rows\">{rows}\
         </div></figure>\n",
        escape(&comparison.title)
    ))
}

/// A round time without digits that say nothing: `2 µs`.
fn short_time(nanoseconds: f64) -> String {
    let text = format::time(nanoseconds);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            let number = number.trim_end_matches('0').trim_end_matches('.');
            format!("{number} {unit}")
        }
        _ => text,
    }
}

/// Allocated bytes per byte of values, ours and the published ones.
#[expect(
    clippy::cast_precision_loss,
    reason = "drawn, and shown with three digits"
)]
pub(super) fn space(analysis: &Analysis, rows: &[&SpaceRow]) -> String {
    let overhead = |row: &&SpaceRow| table::overhead(row);
    let ratios: Vec<f64> = rows.iter().filter_map(overhead).collect();
    let published = |row: &SpaceRow| {
        // Published bytes can only be drawn beside ours if they are of as many values.
        let (what, bytes, values) = row.published.as_ref()?;
        let stored = row.value_bytes;
        let dataset = analysis
            .run
            .plan
            .datasets
            .values()
            .find(|d| Some(d.count) == *values)?;
        let comparable = stored.abs_diff(dataset.size.mean() * dataset.count) < stored / 50;
        (comparable && stored > 0).then(|| (what.clone(), *bytes as f64 / stored as f64))
    };
    let others: Vec<f64> = rows.iter().filter_map(|r| Some(published(r)?.1)).collect();
    let scale = Scale::for_bars(
        &[ratios.as_slice(), others.as_slice(), &[1.0]].concat(),
        &[],
    );
    let grid = Grid {
        scale: &scale,
        reference: Some(1.0),
        floor: None,
    };
    let mut drawn = String::new();
    let mut draw = |label: &str, ratio: f64, class: &str, detail: Option<&str>| {
        let mut drawing = grid.row(&format!("{label}: {ratio:.3} bytes per byte of values"));
        drawing.bar(scale.position(scale.origin()), scale.position(ratio), class);
        grid.overlay(&mut drawing);
        let value = format!("<b>{ratio:.3}</b>");
        drawn.push_str(&row(label, detail, &drawing.finish(), &value));
    };
    for space in rows {
        if let Some(ratio) = table::overhead(space) {
            draw(&space.label, ratio, "ours", None);
        }
        if let Some((what, ratio)) = published(space) {
            draw(&what, ratio, "published", Some("published"));
        }
    }
    drawn.push_str(&grid.axis(ratio_tick));
    format!(
        "<figure class=\"chart\"><figcaption><p>Bytes allocated on disk per byte of the values; \
         1.0 would be the values alone.</p></figcaption><div class=\"rows\">{drawn}</div></figure>\n"
    )
}
