//! The interval of each session whose truth is known.

use crate::document::{
    Across, Axis, Block, ChartRow, Detail, Fill, Key, LegendEntry, Mark, MarkKind, RowGroup, Rows,
    Scale, Section, remark,
};
use crate::{value, wording};
use stowplan_analysis::RatioEstimate;
use stowplan_analysis::calibration::{Calibration, Series};

/// A drawing per series, on the page; nothing where no session has an interval. `zone` is the half
/// width of the equivalence zone as a ratio, minus one.
pub(super) fn section(calibration: &Calibration, zone: f64) -> Option<Block> {
    let series = calibration.groups.iter().flat_map(|group| &group.series);
    let series = series.filter(|series| !series.sessions.is_empty());
    let figures: Vec<Block> = series
        .enumerate()
        .map(|(index, series)| {
            let drawn = Block::from(plane(series, zone)).at(Detail::Page);
            let blocks = vec![drawn, remark(endings(series))];
            Section::figure(format!("sessions-{index}"), &*series.label, blocks).into()
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

/// `70 equivalent, 6 unresolved`
fn endings(series: &Series) -> String {
    let mut verdicts: Vec<_> = series.sessions.iter().map(|s| s.verdict).collect();
    verdicts.sort_unstable();
    let mut counts: Vec<_> = verdicts.chunk_by(PartialEq::eq).collect();
    counts.sort_by_key(|alike| std::cmp::Reverse(alike.len()));
    let counts = counts.into_iter();
    let counts = counts.map(|of| format!("{} {}", of.len(), wording::verdict(of[0])));
    let lost = (series.lost > 0).then(|| format!("{} lost", series.lost));
    counts.chain(lost).collect::<Vec<_>>().join(", ")
}

/// Sessions from left to right, ratios upwards.
fn plane(series: &Series, zone: f64) -> Rows {
    let edge = 1.0 + zone;
    let intervals = series.sessions.iter().map(|session| &session.interval);
    let points = intervals.clone().zip(1_u32..);
    let points: Vec<ChartRow> = points.map(|(found, number)| point(found, number)).collect();
    let last = points.last().map_or(1.0, |point| point.x);
    let across = Scale::linear(last + 0.5);
    let ticks = across.ticks().into_iter();
    let ticks = ticks
        .filter(|tick| *tick > 0.0 && tick.fract() == 0.0)
        .collect();
    let upwards = vec![1.0 / edge, 1.0, edge];
    let x = Axis::new("session", across, ticks, |tick| tick.to_string());
    let ends = intervals.flat_map(|found| [found.low, found.high]);
    let scale = scale(ends.chain([series.truth, edge]));
    let y = Axis::new("ratio", scale, upwards, value::ratio_tick);
    let summary = format!("{}: intervals of {} sessions", series.label, points.len());
    Rows {
        across: Some(Across {
            axis: x,
            joined: false,
            ends: None,
            unclaimed: None,
        }),
        marks: vec![
            Mark::new(series.truth, MarkKind::Level),
            Mark::new(1.0 / edge, MarkKind::Edge),
            Mark::new(edge, MarkKind::Edge),
        ],
        legend: vec![
            LegendEntry::new(Key::Interval, "interval of a session"),
            LegendEntry::new(Key::Mark(MarkKind::Level), "what is true"),
            LegendEntry::new(Key::Band, "zone of equivalence"),
        ],
        ..Rows::new(summary, y, vec![RowGroup::of("", points)])
    }
}

/// An axis of which 1 is the middle: what is drawn lies within it, unless it is wild.
fn scale(ratios: impl Iterator<Item = f64>) -> Scale {
    let reach = ratios.map(|ratio| ratio.ln().abs());
    let reach = reach.filter(|reach| reach.is_finite()).fold(0.0, f64::max);
    Scale::around_one((reach.min(1.0) * 1.1).exp())
}

fn point(found: &RatioEstimate, number: u32) -> ChartRow {
    let label = format!("session {number}");
    ChartRow {
        x: f64::from(number),
        ..ChartRow::bar(label, Some(found.into()), Fill::Ours)
    }
}
