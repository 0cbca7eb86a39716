//! The interval of each session whose truth is known.

use crate::document::{
    Area, AreaKind, Axis, Block, Detail, Key, LegendEntry, Line, LineKind, Mark, MarkKind, Panel,
    Plane, Point, PointShape, Scale, Section, remark,
};
use crate::value;
use stowplan_analysis::RatioEstimate;
use stowplan_analysis::calibration::Calibration;

/// A drawing per series, on the page; nothing where no session has an interval. `zone` is the half
/// width of the equivalence zone as a ratio, minus one.
pub(super) fn section(calibration: &Calibration, zone: f64) -> Option<Block> {
    let identical = ("Identical cells", 1.0, &calibration.identical.intervals);
    let different = calibration.different.iter();
    let different = different.map(|series| (&*series.label, series.truth, &series.intervals));
    let series = std::iter::once(identical).chain(different);
    let series = series.filter(|(_, _, intervals)| !intervals.is_empty());
    let figures: Vec<Block> = series
        .enumerate()
        .map(|(index, (title, truth, intervals))| {
            let plane = plane(title, truth, intervals, zone);
            Section::figure(format!("sessions-{index}"), title, vec![plane.into()]).into()
        })
        .collect();
    if figures.is_empty() {
        return None;
    }
    let how = format!(
        "A point for each session: the interval of the ratio as it was reported, with its estimate. \
         The band is the zone of equivalence, ±{} around 1; the line across is what is true.",
        value::percent(zone)
    );
    let mut blocks = vec![remark(how)];
    blocks.extend(figures);
    let section = Section::new("Sessions", blocks).named("charts");
    Some(Block::from(section.in_contents("Sessions")).at(Detail::Full))
}

/// Sessions from left to right, ratios upwards.
fn plane(title: &str, truth: f64, intervals: &[RatioEstimate], zone: f64) -> Plane {
    let edge = 1.0 + zone;
    let sessions = intervals.iter().zip(1_u32..);
    let points: Vec<Point> = sessions
        .map(|(found, number)| point(found, number))
        .collect();
    let last = points.last().map_or(1.0, |point| point.x);
    let across = Scale::linear(last + 0.5);
    let ticks = across.ticks().into_iter();
    let ticks = ticks
        .filter(|tick| *tick > 0.0 && tick.fract() == 0.0)
        .collect();
    let upwards = vec![1.0 / edge, 1.0, edge];
    let x = Axis::new("session", across, ticks, |tick| tick.to_string());
    let y = Axis::new(
        "ratio",
        scale(truth, intervals, edge),
        upwards,
        value::ratio_tick,
    );
    let summary = format!("{title}: intervals of {} sessions", intervals.len());
    let lines = vec![Line {
        label: String::new(),
        kind: LineKind::Points,
        points,
    }];
    Plane {
        areas: vec![Area {
            kind: AreaKind::Band,
            x: None,
            y: Some((1.0 / edge, edge)),
        }],
        levels: vec![Mark::new(truth, MarkKind::Level)],
        legend: vec![
            LegendEntry::new(Key::Interval, "interval of a session"),
            LegendEntry::new(Key::Mark(MarkKind::Level), "what is true"),
            LegendEntry::new(Key::Band, "zone of equivalence"),
        ],
        ..Plane::new(summary, x, y, vec![Panel::new("", lines)])
    }
}

/// An axis of which 1 is the middle: what is drawn lies within it, unless it is wild.
fn scale(truth: f64, intervals: &[RatioEstimate], edge: f64) -> Scale {
    let ends = intervals.iter().flat_map(|found| [found.low, found.high]);
    let ends = ends.chain([truth, edge]).map(|ratio| ratio.ln().abs());
    let reach = ends.filter(|reach| reach.is_finite()).fold(0.0, f64::max);
    Scale::around_one((reach.min(1.0) * 1.1).exp())
}

fn point(found: &RatioEstimate, number: u32) -> Point {
    Point {
        x: f64::from(number),
        value: Some(found.into()),
        shape: Some(PointShape::Cross),
        label: format!("session {number}"),
        help: String::new(),
    }
}
