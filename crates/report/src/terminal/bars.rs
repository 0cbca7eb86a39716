//! Bars and lines of measured quantities for terminals: both as groups of bars over one axis.

use super::canvas::{Canvas, Span, Tone, merge, pad, span, wrap};
use crate::bars::{Bar, Chart, Kind, axis};
use crate::document::Scale;
use crate::{lines, quantity};
use stowplan_model::{Axis, Measure};
use unicode_width::UnicodeWidthStr as _;

/// The least width of the bars themselves.
const NARROWEST: usize = 12;

/// Draws a chart of bars.
pub(super) fn bars(canvas: &mut Canvas, chart: &Chart) {
    title(canvas, &chart.title, &chart.subtitle);
    let bars = || {
        chart
            .groups
            .iter()
            .flat_map(|g| &g.classes)
            .flat_map(|c| &c.bars)
    };
    let frame = Frame::of(
        canvas,
        &bars().collect::<Vec<_>>(),
        chart.scale,
        chart.measure,
    );
    for group in &chart.groups {
        canvas.paragraph(&group.title, 0, Tone::Strong);
        for note in &group.notes {
            canvas.paragraph(note, 0, Tone::Warning);
        }
        for remark in &group.remarks {
            canvas.paragraph(remark, 0, Tone::Faint);
        }
        for class in &group.classes {
            if let Some(heading) = &class.heading {
                canvas.paragraph(heading, 0, Tone::Faint);
            }
            class.bars.iter().for_each(|bar| frame.row(canvas, bar));
        }
    }
    frame.axis(canvas);
}

/// Draws a chart of lines: each line as a group of bars.
pub(super) fn lines(canvas: &mut Canvas, chart: &lines::Chart) {
    title(
        canvas,
        &chart.title,
        &chart.subtitle.replace(" Both axes are logarithmic.", ""),
    );
    for note in &chart.notes {
        canvas.paragraph(note, 0, Tone::Warning);
    }
    let groups = chart.as_bars();
    let all: Vec<&Bar> = groups.iter().flat_map(|(_, bars)| bars).collect();
    let quantities = all.iter().filter_map(|bar| bar.quantity);
    let scale = axis(Some(Axis::Logarithmic), quantities);
    let frame = Frame::of(canvas, &all, scale, chart.measure);
    for (heading, bars) in &groups {
        canvas.paragraph(heading, 0, Tone::Strong);
        bars.iter().for_each(|bar| frame.row(canvas, bar));
    }
    frame.axis(canvas);
}

fn title(canvas: &mut Canvas, title: &str, subtitle: &str) {
    canvas.blank();
    canvas.paragraph(title, 0, Tone::Strong);
    canvas.paragraph(subtitle, 0, Tone::Faint);
}

/// What the rows of a chart share.
struct Frame {
    scale: Scale,
    measure: Measure,
    label: usize,
    plot: usize,
    value: usize,
}

impl Frame {
    fn of(canvas: &Canvas, bars: &[&Bar], scale: Scale, measure: Measure) -> Self {
        let widest = |of: fn(&Bar) -> usize| bars.iter().map(|bar| of(bar)).max().unwrap_or(0);
        let label = widest(|bar| bar.label.width()).min(canvas.width * 2 / 5);
        // The spread is left out where bars would have no room beside it; the whisker shows it.
        let whole = widest(|bar| bar.text().width());
        let room = canvas.width.saturating_sub(label + 4);
        let value = if whole + NARROWEST <= room {
            whole
        } else {
            widest(|bar| bar.value.width())
        };
        Self {
            scale,
            measure,
            label,
            plot: room.saturating_sub(value).max(4),
            value,
        }
    }

    fn row(&self, canvas: &mut Canvas, bar: &Bar) {
        let label = wrap(&bar.label, self.label);
        let whole = bar.text();
        let text = if whole.width() > self.value {
            &bar.value
        } else {
            &whole
        };
        let mut spans = vec![span(pad(&label[0], self.label, false), Tone::Plain)];
        spans.push(span(" ", Tone::Plain));
        spans.extend(self.plot(bar));
        spans.push(span(format!(" {text}"), Tone::Plain));
        canvas.line(&spans);
        for part in &label[1..] {
            canvas.line(&[span(part, Tone::Plain)]);
        }
    }

    fn plot(&self, bar: &Bar) -> Vec<Span> {
        let (fill, tone) = match bar.kind {
            Kind::Ours => ('█', Tone::Ours),
            Kind::Uncertain => ('░', Tone::Warning),
            Kind::Floor => ('█', Tone::Faint),
            Kind::Published => ('▒', Tone::Published),
        };
        let mut cells: Vec<(char, Tone)> = vec![(' ', Tone::Plain); self.plot];
        if let Some(quantity) = &bar.quantity {
            let end = self.column(quantity.value);
            let drawn = cells.iter_mut().take(end + 1);
            drawn.for_each(|cell| *cell = (fill, tone));
            if let Some((low, high)) = quantity.ends {
                whisker(&mut cells, self.column(low), self.column(high));
            }
        }
        merge(&cells)
    }

    /// Marks of the axis: as many as have room.
    fn axis(&self, canvas: &mut Canvas) {
        let mut line = String::new();
        for tick in quantity::ticks(&self.scale) {
            let text = quantity::tick(self.measure, tick);
            let at = self.column(tick);
            let used = line.width();
            if at + text.width() <= self.plot + self.value && (used == 0 || at > used) {
                line.push_str(&" ".repeat(at.saturating_sub(used)));
                line.push_str(&text);
            }
        }
        let indent = " ".repeat(self.label + 1);
        canvas.line(&[span(format!("{indent}{line}"), Tone::Faint)]);
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a few dozen columns"
    )]
    fn column(&self, value: f64) -> usize {
        (self.scale.position(value) * (self.plot - 1) as f64).round() as usize
    }
}

fn whisker(cells: &mut [(char, Tone)], low: usize, high: usize) {
    if high <= low {
        return;
    }
    for (column, cell) in cells.iter_mut().enumerate().take(high + 1).skip(low) {
        let sign = match column {
            _ if column == low => '├',
            _ if column == high => '┤',
            _ => '─',
        };
        *cell = (sign, Tone::Plain);
    }
}
