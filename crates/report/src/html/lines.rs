//! Lines of measured quantities: a plane for each class of durability, side by side over common axes.

use super::element::{anchor, escape};
use super::plot::{Plot, SERIES, Shape};
use super::{Figure, folded, notices, table};
use crate::lines::{Chart, Level, Line, Plane, Point, number};
use crate::quantity;
use stowplan_analysis::Analysis;

/// Share of the width that a label below takes where planes stand side by side.
const LABEL: f64 = 0.12;

/// Every chart of lines.
pub(super) fn figures(analysis: &Analysis) -> Vec<Figure> {
    crate::lines::charts(analysis).iter().map(figure).collect()
}

fn figure(chart: &Chart) -> Figure {
    // A line keeps its shape where its neighbours have none: numbers run through all planes.
    let mut before = 0;
    let planes = chart.planes.iter().map(|found| {
        let first = before;
        before += found.lines.len();
        plane(chart, found, first)
    });
    let planes: String = planes.collect();
    let numbers = table::table(&chart.title, &chart.table);
    let id = format!("lines-{}", anchor(&chart.id));
    let html = format!(
        "<figure class=\"chart lines\" id=\"{id}\"><figcaption><h3>{}</h3><p>{}</p>{}\
         </figcaption><div class=\"planes\">{planes}</div>{}{}</figure>\n",
        escape(&chart.title),
        escape(&chart.subtitle),
        notices(&chart.notes),
        levels(&chart.levels),
        folded("All figures", &numbers)
    );
    Figure::new(id, &chart.title, html)
}

fn plane(chart: &Chart, plane: &Plane, first: usize) -> String {
    let heading = plane.heading.as_ref();
    let heading = heading.map_or_else(String::new, |text| format!("<h4>{}</h4>", escape(text)));
    let lines = plane.lines.iter().zip(first..);
    let legend = lines.map(|(line, index)| key(index, &line.label));
    format!(
        "<div>{heading}<div class=\"plot\">{}<p class=\"across\">{} →</p></div>\
         <p class=\"legend\">{}</p></div>",
        drawing(chart, plane, first),
        escape(&chart.x_title),
        legend.collect::<String>()
    )
}

/// What the line with this number is, with its colour, its dashes and the shape of its points.
pub(super) fn key(index: usize, label: &str) -> String {
    format!(
        "<span><svg class=\"plane key\" viewBox=\"-16 -8 32 16\" aria-hidden=\"true\">\
         <line class=\"curve s{0}\" x1=\"-16\" x2=\"16\"/>{1}</svg>{2}</span>",
        index % SERIES,
        Shape::Series(index).element(),
        escape(label)
    )
}

fn levels(levels: &[Level]) -> String {
    let items = levels.iter().map(|level| {
        format!(
            "<span><b>{}</b> {}: {}</span>",
            level.sign,
            escape(&level.label),
            escape(&level.text)
        )
    });
    let items: String = items.collect();
    if items.is_empty() {
        return items;
    }
    format!("<p class=\"legend\"><span>Dashed across:</span>{items}</p>")
}

fn drawing(chart: &Chart, plane: &Plane, first: usize) -> String {
    let heading = plane.heading.as_deref().unwrap_or_default();
    let mut plot = Plot::new(&format!("{} {heading}", chart.title));
    for tick in quantity::ticks(&chart.y) {
        let at = chart.y.position(tick);
        plot.line((0.0, at), (1.0, at), "grid");
        plot.label_beside(at, &quantity::tick(chart.measure, tick));
    }
    let mut labelled = f64::NEG_INFINITY;
    for point in places(chart) {
        let at = chart.x.position(number(point.x));
        plot.line((at, 0.0), (at, 1.0), "grid");
        if at - labelled >= LABEL {
            plot.label_below(at, &point.place);
            labelled = at;
        }
    }
    for level in &chart.levels {
        let at = chart.y.position(level.quantity.value);
        plot.line((0.0, at), (1.0, at), "level");
        plot.label_behind(at, &level.sign);
    }
    for (line, index) in plane.lines.iter().zip(first..) {
        curve(&mut plot, chart, line, index);
    }
    plot.finish()
}

/// One point for each place across, rising.
fn places(chart: &Chart) -> Vec<&Point> {
    let lines = chart.planes.iter().flat_map(|plane| &plane.lines);
    let mut points: Vec<&Point> = lines.flat_map(|line| &line.points).collect();
    points.sort_by_key(|point| point.x);
    points.dedup_by_key(|point| point.x);
    points
}

fn curve(plot: &mut Plot, chart: &Chart, line: &Line, index: usize) {
    let place = |point: &Point| {
        let across = chart.x.position(number(point.x));
        (across, chart.y.position(point.quantity.value))
    };
    let places: Vec<(f64, f64)> = line.points.iter().map(place).collect();
    plot.path(&places, &format!("curve s{}", index % SERIES));
    for point in &line.points {
        let ends = point.quantity.ends;
        let ends = ends.map(|(low, high)| (chart.y.position(low), chart.y.position(high)));
        plot.point(place(point), ends, Shape::Series(index), &point.tooltip);
    }
}
