//! Charts: rows of a label, a drawing and a value, over a common axis.

use super::Figure;
use super::element::{anchor, escape};
use super::svg::{Row, axis};
use crate::chart::{Bar, Chart};
use crate::document::Scale;
use crate::{format, table};
use stowplan_analysis::{Analysis, SpaceRow, Verdict};

/// The charts of the study.
pub(super) fn figures(analysis: &Analysis) -> Vec<Figure> {
    crate::chart::charts(analysis).iter().map(figure).collect()
}

fn figure(chart: &Chart) -> Figure {
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
    let id = format!("chart-{}", anchor(&chart.id));
    let html = format!(
        "<figure class=\"chart\" id=\"{id}\"{}><figcaption><h3>{}</h3><p>{}</p>{note}\
         </figcaption><div class=\"rows\">{rows}</div>{}</figure>\n",
        grid.attribute(),
        escape(&chart.title),
        escape(&chart.subtitle),
        legend(chart)
    );
    Figure::new(id, &chart.title, html)
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
    /// Says of an element what the axis below it is.
    pub(super) fn attribute(&self) -> &'static str {
        if self.scale.is_logarithmic() {
            " data-axis=\"logarithmic\""
        } else {
            " data-axis=\"linear\""
        }
    }

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

/// A row: label and detail, drawing, value; `figure` is what the length of the bar shows.
pub(super) fn row(
    label: &str,
    detail: Option<&str>,
    drawing: &str,
    value: &str,
    figure: Option<f64>,
) -> String {
    let detail = detail.map_or_else(String::new, |detail| {
        format!("<small>{}</small>", escape(detail))
    });
    let figure = figure.filter(|figure| figure.is_finite());
    let figure = figure.map_or_else(String::new, |figure| format!(" data-value=\"{figure}\""));
    format!(
        "<div class=\"row\"{figure}><div class=\"label\">{}{detail}</div><div class=\"drawing\">{drawing}\
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
    let detail = bar.detail.as_deref();
    row(&bar.label, detail, &drawing.finish(), &value, bar.value)
}

/// A round time without digits that say nothing: `2 µs`.
pub(super) fn short_time(nanoseconds: f64) -> String {
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
        let drawing = drawing.finish();
        drawn.push_str(&row(label, detail, &drawing, &value, Some(ratio)));
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
        "<figure class=\"chart\"{}><figcaption><p>Bytes allocated on disk per byte of the values; \
         1.0 would be the values alone.</p></figcaption><div class=\"rows\">{drawn}</div></figure>\n",
        grid.attribute()
    )
}
