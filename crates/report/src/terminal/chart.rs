//! Bar charts for terminals.

use super::canvas::{Canvas, Span, Tone, merge, pad, span, wrap};
use crate::chart::{Bar, Chart};
use unicode_width::UnicodeWidthStr as _;

/// Width of the value behind a bar: `2.10 [2.06, 2.15]`.
const VALUE: usize = 20;
/// The same without the interval, or `no data`.
const SHORT: usize = 7;
/// The least width of the bars beside a value with its interval.
const NARROWEST: usize = 12;

/// What all charts have in common, said once.
pub(super) fn key(canvas: &mut Canvas, charts: &[Chart]) {
    let floor = if charts.iter().any(|chart| chart.floor.is_some()) {
        "; ┊ floor, the cheapest conceivable way"
    } else {
        ""
    };
    let text = format!(
        "Time per operation as a multiple of the first bar (│ 1.0). Shorter is faster. ├─┤ \
         interval{floor}."
    );
    canvas.paragraph(&text, 0, Tone::Faint);
}

/// Draws a chart: a line per bar, with the reference and the floor as upright lines.
pub(super) fn draw(canvas: &mut Canvas, chart: &Chart) {
    canvas.blank();
    let axis = if chart.scale.is_logarithmic() {
        " (log axis)"
    } else {
        ""
    };
    canvas.paragraph(&format!("{}{axis}", chart.title), 0, Tone::Strong);
    if let Some(note) = &chart.note {
        canvas.paragraph(note, 0, Tone::Warning);
    }
    let bars = || chart.ours.iter().chain(&chart.published);
    let longest = bars().map(|bar| bar.label.width()).max().unwrap_or(0);
    let label = longest.min(canvas.width / 3);
    // The interval is left out where bars would have no room beside it; the whisker shows it.
    let short = canvas.width < label + NARROWEST + VALUE + 2;
    let value = if short { SHORT } else { VALUE };
    let plot = canvas.width.saturating_sub(label + value + 2).max(4);
    let frame = Frame {
        chart,
        label,
        plot,
        short,
    };
    for bar in &chart.ours {
        let tone = if bar.is_reference || bar.is_floor {
            Tone::Faint
        } else {
            Tone::Ours
        };
        frame.row(canvas, bar, '█', tone);
    }
    if !chart.published.is_empty() {
        let what = chart.published_label.as_deref().unwrap_or("elsewhere");
        canvas.paragraph(&format!("Published: {what}"), 0, Tone::Faint);
        for bar in &chart.published {
            frame.row(canvas, bar, '▒', Tone::Published);
        }
    }
    frame.legend(canvas);
}

/// What the rows of a chart share.
struct Frame<'a> {
    chart: &'a Chart,
    label: usize,
    plot: usize,
    /// Whether values stand without their intervals.
    short: bool,
}

impl Frame<'_> {
    fn row(&self, canvas: &mut Canvas, bar: &Bar, fill: char, tone: Tone) {
        let label = wrap(&bar.label, self.label);
        let mut spans = vec![span(pad(&label[0], self.label, false), Tone::Plain)];
        spans.push(span(" ", Tone::Plain));
        spans.extend(self.plot(bar, fill, tone));
        let short = bar.text.split(' ').next().filter(|_| self.short);
        let short = short.filter(|_| bar.value.is_some());
        let text = short.unwrap_or(&bar.text);
        spans.push(span(format!(" {text}"), Tone::Plain));
        canvas.line(&spans);
        for part in &label[1..] {
            canvas.line(&[span(part, Tone::Plain)]);
        }
    }

    /// The bar, with the marks that lie behind its end and the interval over both.
    fn plot(&self, bar: &Bar, fill: char, tone: Tone) -> Vec<Span> {
        let mut cells: Vec<(char, Tone)> = vec![(' ', Tone::Plain); self.plot];
        let scale = &self.chart.scale;
        if let Some(value) = bar.value {
            let ends = [self.column(scale.origin()), self.column(value)];
            let (from, to) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
            let drawn = cells.iter_mut().take(to + 1).skip(from);
            drawn.for_each(|cell| *cell = (fill, tone));
        }
        if let Some((low, high)) = bar.ends.filter(|_| bar.verdict.is_some()) {
            let (low, high) = (self.column(low), self.column(high));
            if high > low {
                let middle = cells.iter_mut().take(high).skip(low + 1);
                middle.for_each(|cell| *cell = ('─', Tone::Plain));
                self.mark(&mut cells, low, '├');
                self.mark(&mut cells, high, '┤');
            }
        }
        if let Some((_, floor)) = &self.chart.floor {
            self.mark(&mut cells, self.column(*floor), '┊');
        }
        self.mark(&mut cells, self.column(1.0), '│');
        merge(&cells)
    }

    fn mark(&self, cells: &mut [(char, Tone)], column: usize, sign: char) {
        if let Some(cell) = cells.get_mut(column) {
            *cell = (sign, Tone::Plain);
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a few dozen columns"
    )]
    fn column(&self, value: f64) -> usize {
        (self.chart.scale.position(value) * (self.plot - 1) as f64).round() as usize
    }

    /// What neither a bar nor the key says: a floor without a bar, and what writes survive, which
    /// must stand beside their ratios.
    fn legend(&self, canvas: &mut Canvas) {
        let has_bar = self.chart.ours.iter().any(|bar| bar.is_floor);
        if let Some((label, ratio)) = self.chart.floor.as_ref().filter(|_| !has_bar) {
            let text = format!("┊ floor {} ({label})", crate::format::ratio(*ratio));
            canvas.paragraph(&text, 0, Tone::Faint);
        }
        if let Some(promises) = &self.chart.promises {
            canvas.paragraph(promises, 0, Tone::Plain);
        }
    }
}
