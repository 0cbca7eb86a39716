//! Latency percentiles: across, the usual axis of tails; upwards, time.

use super::element::{anchor, escape};
use super::plot::{Plot, SERIES, Shape};
use super::{folded, table};
use crate::tail::{Line, Plane, Tails, tails};
use stowplan_analysis::ComparisonOutcome;

/// The drawing of a comparison; nothing without latencies, or with too few for any percentile.
pub(super) fn figure(comparison: &ComparisonOutcome) -> String {
    let Some(tails) = tails(comparison, SERIES) else {
        return String::new();
    };
    let planes: String = tails.planes.iter().map(|p| plane(&tails, p)).collect();
    let caption = format!("Latency: {}", tails.title);
    format!(
        "<figure class=\"tails\" id=\"tail-{}\"><figcaption><h4>Latency of single operations</h4>\
         <p>Across, the share of operations that took at most as long as the line is high; wall time, \
         logarithmic axis. A line ends where fewer than ten operations lie beyond it.</p></figcaption>\
         <div class=\"planes\">{planes}</div>{}</figure>",
        anchor(&comparison.id),
        folded("All percentiles", &table::table(&caption, &tails.table))
    )
}

fn plane(tails: &Tails, plane: &Plane) -> String {
    let heading = plane.heading.as_ref();
    let heading = heading.map_or_else(String::new, |text| format!("<h5>{}</h5>", escape(text)));
    let lines = plane.lines.iter().enumerate();
    let legend: String = lines
        .map(|(index, line)| super::lines::key(index, &line.label))
        .collect();
    format!(
        "<div>{heading}<div class=\"plot\">{}</div><p class=\"legend\">{legend}</p></div>",
        drawing(tails, plane)
    )
}

fn drawing(tails: &Tails, plane: &Plane) -> String {
    let heading = plane.heading.as_deref().unwrap_or_default();
    let mut plot = Plot::new(&format!("Latency percentiles: {} {heading}", tails.title));
    for tick in tails.y.ticks() {
        let at = tails.y.position(tick);
        plot.line((0.0, at), (1.0, at), "grid");
        plot.label_beside(at, &super::chart::short_time(tick));
    }
    for (mark, label) in &tails.marks {
        let at = tails.x.position(*mark);
        plot.line((at, 0.0), (at, 1.0), "grid");
        plot.label_below(at, label);
    }
    for (index, line) in plane.lines.iter().enumerate() {
        plot.path(&places(tails, line), &format!("curve s{}", index % SERIES));
    }
    for (index, line) in plane.lines.iter().enumerate() {
        for (point, at) in line.points.iter().zip(places(tails, line)) {
            if let Some(tooltip) = &point.tooltip {
                plot.point(at, None, Shape::Series(index), tooltip);
            }
        }
    }
    plot.finish()
}

fn places(tails: &Tails, line: &Line) -> Vec<(f64, f64)> {
    let points = line.points.iter();
    points
        .map(|point| (tails.x.position(point.x), tails.y.position(point.y)))
        .collect()
}
