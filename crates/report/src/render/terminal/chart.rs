//! Charts as rows of a label, a plot and a value over one axis: rows as they are, and planes a row
//! per point.

use super::canvas::{Canvas, FAINT, Line, OURS, PLAIN, PUBLISHED, STRONG, sign_style, style};
use crate::document::{
    Axis, ChartRow, Fill, Key, LegendEntry, Mark, MarkKind, RowGroup, Rows, Shape, Tone,
};
use anstyle::Style;

/// The least width of a plot beside spreads, and beside what else could be left out.
const NARROWEST: usize = 12;
/// Space before what stands behind the value.
const GAP: &str = "  ";

/// A character and how it looks.
type Ink = (char, Style);

/// What signs and characters say. What only pages draw is not explained.
pub(super) fn legend(canvas: &mut Canvas, entries: &[LegendEntry]) {
    let explained = |entry: &LegendEntry| {
        let key = key(canvas, entry.key)?;
        Some(key.then(canvas.ink(&format!(" {}", entry.text), FAINT)))
    };
    let explained: Vec<Line> = entries.iter().filter_map(explained).collect();
    canvas.flow(explained);
}

fn key(canvas: &Canvas, key: Key) -> Option<Line> {
    let ink = match key {
        Key::Interval => return Some(canvas.ink("├─┤", FAINT)),
        Key::Fill(fill) => filling(fill),
        Key::Mark(kind) => (mark(kind), FAINT),
        Key::Sign(sign) | Key::Point(sign) => (sign.glyph(), sign_style(sign)),
        Key::Band => (mark(MarkKind::Edge), FAINT),
        Key::Unclaimed | Key::Shades => return None,
    };
    Some(canvas.drawn([ink]))
}

fn filling(fill: Fill) -> Ink {
    match fill {
        Fill::Ours => ('█', OURS),
        Fill::Uncertain => ('░', style(Tone::Warning)),
        Fill::Reference | Fill::Floor => ('█', FAINT),
        Fill::Published => ('▒', PUBLISHED),
    }
}

fn mark(kind: MarkKind) -> char {
    match kind {
        MarkKind::Reference | MarkKind::Level => '│',
        MarkKind::Floor | MarkKind::Edge => '┊',
    }
}

/// A line of a chart.
enum Part {
    Text(Line),
    Strip(Strip),
}

/// A row: what stands beside the plot, and what is drawn in it.
struct Strip {
    label: Line,
    strokes: Vec<Stroke>,
    value: Line,
    spread: Line,
    sign: Line,
}

/// What is drawn in a plot.
enum Stroke {
    /// From one value to another.
    Bar(f64, f64, Ink),
    /// The ends of an interval.
    Interval(f64, f64, Style),
    /// At one value.
    At(f64, Ink),
}

fn parts(canvas: &Canvas, chart: &Rows) -> Vec<Part> {
    let mut parts = Vec::new();
    let is_nested = chart.groups.iter().any(|group| !group.heading.is_empty());
    let rows = chart.groups.iter().flat_map(|group| &group.rows);
    let labels = rows.map(|row| canvas.ink(&row.detailed(), PLAIN).width());
    let has_room = labels.max().unwrap_or(0) <= canvas.width / 3;
    for group in &chart.groups {
        parts.extend(texts(canvas, group, is_nested));
        let strips = group.rows.iter();
        let strips = strips.map(|row| Part::Strip(strip(canvas, row, has_room, chart)));
        parts.extend(strips);
    }
    parts
}

fn texts(canvas: &Canvas, group: &RowGroup, is_nested: bool) -> impl Iterator<Item = Part> {
    let title = if is_nested { FAINT } else { STRONG };
    let titles = [(&group.heading, STRONG), (&group.title, title)];
    let notices = group
        .notices
        .iter()
        .map(|text| (text, style(Tone::Warning)));
    let remarks = group.remarks.iter().map(|text| (text, FAINT));
    let texts = titles.into_iter().chain(notices).chain(remarks);
    texts
        .map(|(text, style)| canvas.ink(text, style))
        .filter(|line| !line.is_empty())
        .map(Part::Text)
}

fn strip(canvas: &Canvas, row: &ChartRow, has_room: bool, chart: &Rows) -> Strip {
    let tone = row.sign.map_or(PLAIN, sign_style);
    let marked = chart.marks.iter();
    let marked = marked.map(|at| Stroke::At(at.at, (mark(at.kind), PLAIN)));
    let mut strokes: Vec<Stroke> = Vec::new();
    if let Some(value) = &row.value {
        let ends = value.ends();
        let ends = ends.map(|(low, high)| Stroke::Interval(low, high, tone));
        let at = value.number;
        match row.shape {
            Shape::Bar(fill) => {
                let bar = Stroke::Bar(chart.axis.scale.origin(), at, filling(fill));
                strokes.extend([bar].into_iter().chain(ends).chain(marked));
            }
            Shape::Point => {
                strokes.extend(marked.chain(ends).chain([Stroke::At(at, ('●', tone))]));
            }
            // It saves something: there is nothing to draw but where.
            Shape::Piece(from, fill) if at < 0.0 => {
                strokes.push(Stroke::At(from, ('┊', filling(fill).1)));
            }
            Shape::Piece(from, fill) => strokes.push(Stroke::Bar(from, from + at, filling(fill))),
        }
    } else {
        strokes.extend(marked);
    }
    let label = if has_room {
        &row.detailed()
    } else {
        &row.label
    };
    let sign = row.sign.map(|sign| canvas.sign(sign));
    Strip {
        label: canvas.ink(label, PLAIN),
        strokes,
        value: canvas.ink(&row.text(), tone),
        spread: canvas.ink(&row.spread(), tone),
        sign: sign.unwrap_or_default(),
    }
}

/// What the rows of a chart share.
struct Frame<'a> {
    axis: &'a Axis,
    label: usize,
    /// Whether labels stand right.
    right: bool,
    plot: usize,
    value: usize,
    /// Whether there is room for spreads.
    spread: bool,
}

/// Draws rows.
pub(super) fn rows(canvas: &mut Canvas, chart: &Rows) {
    let parts = parts(canvas, chart);
    let strips = parts.iter().filter_map(|part| match part {
        Part::Strip(strip) => Some(strip),
        Part::Text(_) => None,
    });
    let strips: Vec<&Strip> = strips.collect();
    if strips.is_empty() {
        return;
    }
    let frame = Frame::of(canvas.width, &strips, chart);
    for part in &parts {
        match part {
            Part::Text(text) => canvas.paragraph(text, 0),
            Part::Strip(strip) => frame.strip(canvas, strip),
        }
    }
    frame.axis(canvas, &chart.marks);
    legend(canvas, &chart.legend);
}

impl Frame<'_> {
    fn of<'a>(width: usize, strips: &[&Strip], chart: &'a Rows) -> Frame<'a> {
        let widest = |of: fn(&Strip) -> usize| strips.iter().map(|s| of(s)).max().unwrap_or(0);
        let label = widest(|strip| strip.label.width()).min(width / 3);
        let sign = match widest(|strip| strip.sign.width()) {
            0 => 0,
            sign => sign + GAP.len(),
        };
        let room = width - label - 2 - sign;
        let whole = widest(|strip| strip.text(true).width());
        // The spread is left out where the plot would have no room beside it: there is a whisker.
        let spread = whole + NARROWEST <= room;
        let value = if spread {
            whole
        } else {
            // What is wider stands below its row.
            widest(|strip| strip.value.width()).min(width * 2 / 5)
        };
        Frame {
            axis: &chart.axis,
            label,
            right: chart.across.is_some(),
            plot: room.saturating_sub(value).max(2),
            value,
            spread,
        }
    }

    /// A row; what has no room beside the plot stands below it.
    fn strip(&self, canvas: &mut Canvas, strip: &Strip) {
        let mut labels = strip.label.wrap(self.label).into_iter();
        let label = labels.next().unwrap_or_default();
        let value = strip.text(self.spread);
        let fits = value.width() <= self.value;
        let beside = if fits { value.clone() } else { Line::default() };
        let line = label.pad(self.label, self.right).then(Line::spaces(1));
        let line = line
            .then(self.plot(canvas, &strip.strokes))
            .then(Line::spaces(1))
            .then(beside.pad(self.value, false))
            .joined(GAP, strip.sign.clone());
        canvas.line(&line);
        labels.for_each(|label| canvas.line(&label.pad(self.label, self.right)));
        if !fits {
            canvas.paragraph(&value, GAP.len());
        }
    }

    fn plot(&self, canvas: &Canvas, strokes: &[Stroke]) -> Line {
        let mut cells = vec![(' ', PLAIN); self.plot];
        for stroke in strokes {
            match *stroke {
                Stroke::Bar(from, to, ink) => {
                    let ends = [self.column(from), self.column(to)];
                    cells[ends[0].min(ends[1])..=ends[0].max(ends[1])].fill(ink);
                }
                Stroke::Interval(low, high, style) => {
                    let (low, high) = (self.column(low), self.column(high));
                    if high > low {
                        cells[low..=high].fill(('─', style));
                        cells[low] = ('├', style);
                        cells[high] = ('┤', style);
                    }
                }
                Stroke::At(at, ink) => cells[self.column(at)] = ink,
            }
        }
        canvas.drawn(cells)
    }

    /// What is marked on the axis, as far as there is room: lines with a sign come first.
    fn axis(&self, canvas: &mut Canvas, marks: &[Mark]) {
        let signs = marks.iter().map(|mark| (mark.at, &mark.sign));
        let ticks = self.axis.ticks.iter().map(|(at, label)| (*at, label));
        let mut placed: Vec<(usize, Line)> = Vec::new();
        for (at, text) in signs.chain(ticks).filter(|(_, text)| !text.is_empty()) {
            let (from, text) = (self.column(at), canvas.ink(text, FAINT));
            let to = from + text.width();
            let is_free =
                |(other, text): &(usize, Line)| to < *other || other + text.width() < from;
            if to <= self.plot + self.value && placed.iter().all(is_free) {
                placed.push((from, text));
            }
        }
        if placed.is_empty() {
            return;
        }
        placed.sort_by_key(|(from, _)| *from);
        let mut line = Line::default();
        for (from, text) in placed {
            line = line.pad(from, false).then(text);
        }
        let line = Line::spaces(self.label + 1).then(line.pad(self.plot, false));
        let title = canvas.ink(&self.axis.title, FAINT);
        let titled = line.clone().joined(GAP, title);
        let has_room = titled.width() <= canvas.width;
        canvas.line(if has_room { &titled } else { &line });
    }

    fn column(&self, value: f64) -> usize {
        (self.axis.scale.position(value) * (self.plot - 1) as f64).round() as usize
    }
}

impl Strip {
    fn text(&self, with_spread: bool) -> Line {
        let spread = Some(self.spread.clone()).filter(|_| with_spread);
        self.value.clone().joined(" ", spread.unwrap_or_default())
    }
}
