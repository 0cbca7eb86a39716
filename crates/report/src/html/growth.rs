//! Time per row against rows, a drawing for each cell with the lines of the others behind it.

use super::element::escape;
use super::plot::{Plot, Shape};
use super::{Figure, folded, table};
use crate::format;
use crate::growth::{self, Growth, Line, Point};
use stowplan_analysis::Analysis;

/// Share of the width that a label below takes where drawings stand side by side.
const LABEL: f64 = 0.14;

/// The lines; nothing if no cell has several numbers of rows.
pub(super) fn figures(analysis: &Analysis) -> Vec<Figure> {
    let growth = growth::growth(analysis);
    growth.iter().map(whole).collect()
}

fn whole(growth: &Growth) -> Figure {
    let title = "Time per row against rows";
    let lines = growth.lines.iter();
    let figures: String = lines.map(|line| figure(growth, line)).collect();
    let html = format!(
        "<div class=\"chart\" id=\"growth\"><h3>{title}</h3><p>Across, the rows of a block; upwards, \
         the time of each, its share of the commits included. Both axes are logarithmic. The bars are \
         intervals, a cross is a figure from a sample, and the pale lines are the other cells.</p>\
         <div class=\"sweeps\">{figures}</div></div>\n"
    );
    Figure::new("growth".to_owned(), title, html)
}

fn figure(growth: &Growth, line: &Line) -> String {
    let caption = format!("Time per row: {}", line.title);
    let numbers = table::table(&caption, &growth::table(line));
    format!(
        "<figure class=\"sweep\"><figcaption><h4>{}</h4></figcaption><div class=\"plot\">{}</div>\
         <div>{}</div></figure>\n",
        escape(&line.title),
        plot(growth, line),
        folded("All times with their intervals", &numbers)
    )
}

fn plot(growth: &Growth, line: &Line) -> String {
    let mut plot = Plot::new(&format!("Time per row against rows: {}", line.title));
    for tick in growth.times.ticks() {
        let at = growth.times.position(tick);
        plot.line((0.0, at), (1.0, at), "grid");
        plot.label_beside(at, &format::time(tick));
    }
    let mut labelled = f64::NEG_INFINITY;
    for point in &line.points {
        let at = place(growth, point).0;
        plot.line((at, 0.0), (at, 1.0), "grid");
        if at - labelled >= LABEL {
            plot.label_below(at, &format::count(point.rows));
            labelled = at;
        }
    }
    let others = growth.lines.iter();
    for other in others.filter(|other| !std::ptr::eq(*other, line)) {
        curve(&mut plot, growth, other, "curve others");
    }
    curve(&mut plot, growth, line, "curve own");
    for point in &line.points {
        let ends = [point.time.low, point.time.high].map(|end| growth.times.position(end));
        let shape = if point.sample {
            Shape::Cross
        } else {
            Shape::Ring
        };
        let at = place(growth, point);
        plot.point(at, Some(ends.into()), shape, &point.tooltip);
    }
    plot.finish()
}

fn curve(plot: &mut Plot, growth: &Growth, line: &Line, class: &str) {
    let points = line.points.iter();
    let places: Vec<(f64, f64)> = points.map(|point| place(growth, point)).collect();
    plot.path(&places, class);
}

fn place(growth: &Growth, point: &Point) -> (f64, f64) {
    (
        growth.rows.position(growth::count(point.rows)),
        growth.times.position(point.time.estimate),
    )
}
