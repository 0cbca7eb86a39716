//! Sweeps for terminals: a line per size, with the ratio and its interval on a common axis.

use super::canvas::{Canvas, Tone, merge, pad, span};
use super::sign_tone;
use crate::format;
use crate::sweep::{Group, Point, Sweep};
use unicode_width::UnicodeWidthStr as _;

/// Draws sweeps of the same stores: what each found, its points, and what the signs say.
pub(super) fn draw(canvas: &mut Canvas, group: &Group<'_>, verbose: bool) {
    canvas.heading(&group.title);
    canvas.paragraph(&group.subtitle, 0, Tone::Plain);
    for sweep in &group.sweeps {
        canvas.blank();
        if let Some(setting) = &sweep.setting {
            canvas.paragraph(&format!("With {setting}"), 0, Tone::Heading);
        }
        canvas.paragraph(&sweep.headline, 0, Tone::Strong);
        for note in &sweep.notes {
            canvas.paragraph(note, 0, Tone::Warning);
        }
        points(canvas, group, sweep);
        if verbose {
            canvas.paragraph(&sweep.evidence, 0, Tone::Faint);
        }
    }
    canvas.blank();
    super::sign_legend(canvas, &group.legend);
    let (low, high) = (format::ratio(group.band.0), format::ratio(group.band.1));
    let axes = format!(
        "│ ratio 1; ┊ {low} and {high}, between which no difference matters; ├─┤ interval. Log axis."
    );
    canvas.paragraph(&axes, 0, Tone::Faint);
}

/// A line per size.
fn points(canvas: &mut Canvas, group: &Group<'_>, sweep: &Sweep<'_>) {
    let widest = |text: fn(&Point) -> &str| {
        let points = group.sweeps.iter().flat_map(|sweep| &sweep.points);
        points.map(|point| text(point).width()).max().unwrap_or(0)
    };
    let (label, value) = (widest(|point| &point.label), widest(|point| &point.text));
    // The sign and four spaces stand beside the plot.
    let plot = canvas.width.saturating_sub(label + value + 5).max(5);
    for point in &sweep.points {
        let mut line = vec![
            span(pad(&point.label, label, true), Tone::Plain),
            span(" ", Tone::Plain),
        ];
        line.extend(merge(&cells(group, point, plot)));
        let tone = sign_tone(point.sign);
        line.push(span(" ", Tone::Plain));
        line.push(span(pad(&point.text, value, false), tone));
        line.push(span(format!("  {}", point.sign.glyph()), tone));
        canvas.line(&line);
    }
}

/// One line of the plot.
fn cells(group: &Group<'_>, point: &Point, width: usize) -> Vec<(char, Tone)> {
    let column = |ratio: f64| column(group.ratios.position(ratio), width);
    let mut cells = vec![(' ', Tone::Plain); width];
    for edge in [group.band.0, group.band.1] {
        cells[column(edge)] = ('┊', Tone::Faint);
    }
    cells[column(1.0)] = ('│', Tone::Plain);
    let Some((ratio, low, high)) = point.ratio else {
        return cells;
    };
    let (low, high) = (column(low), column(high));
    let tone = sign_tone(point.sign);
    if high > low {
        let middle = cells.iter_mut().take(high).skip(low + 1);
        middle.for_each(|cell| *cell = ('─', tone));
        cells[low] = ('├', tone);
        cells[high] = ('┤', tone);
    }
    cells[column(ratio)] = ('●', tone);
    cells
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a few dozen columns"
)]
fn column(position: f64, width: usize) -> usize {
    (position * (width - 1) as f64).round() as usize
}
