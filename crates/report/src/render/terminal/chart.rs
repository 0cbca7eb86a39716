//! Charts as rows of a label, a plot and a value over one axis: rows as they are, and planes a row
//! per point.

use super::canvas::{Canvas, FAINT, Line, PLAIN, STRONG, sign_style, style};
use crate::document::{
    Area, AreaKind, Axis, ChartRow, Fill, Key, LegendEntry, Mark, MarkKind, Plane, PointShape,
    Rows, Segment, Shape, Tone,
};
use crate::render::{as_rows, detailed};
use anstyle::Style;

/// The least width of a plot beside spreads, and beside what else could be left out.
const NARROWEST: usize = 12;
/// Space before what stands behind the value.
const GAP: usize = 2;

/// Draws rows.
pub(super) fn rows(canvas: &mut Canvas, chart: &Rows) {
    draw(canvas, chart, false);
}

/// Draws a plane, if it is one for terminals: a row per point, and across what it shows upwards.
pub(super) fn plane(canvas: &mut Canvas, plane: &Plane) {
    if !plane.on_terminal {
        return;
    }
    let mut rows = as_rows(plane);
    let edges = plane.areas.iter().flat_map(edges);
    rows.marks.extend(edges);
    draw(canvas, &rows, true);
}

/// What signs and characters say. What only pages draw is not explained.
pub(super) fn legend(canvas: &mut Canvas, entries: &[LegendEntry]) {
    let entries = entries.iter().filter_map(|entry| {
        let (key, style) = key(entry.key)?;
        let key = canvas.ink(key.encode_utf8(&mut [0; 4]), style);
        let key = if entry.key == Key::Interval {
            canvas.ink("├─┤", FAINT)
        } else {
            key
        };
        Some(key.then(canvas.ink(&format!(" {}", entry.text), FAINT)))
    });
    let entries: Vec<Line> = entries.collect();
    canvas.flow(entries);
}

/// How a terminal draws what a legend explains.
pub(super) fn key(key: Key) -> Option<(char, Style)> {
    match key {
        Key::Fill(fill) => Some(filling(fill)),
        Key::Mark(kind) => Some((mark(kind), FAINT)),
        Key::Interval => Some(('─', FAINT)),
        Key::Sign(sign) | Key::Point(PointShape::Sign(sign)) => {
            Some((sign.glyph(), sign_style(sign)))
        }
        Key::Band => Some(('┊', FAINT)),
        Key::Line(_) | Key::Point(_) | Key::Unclaimed | Key::Shades => None,
    }
}

fn filling(fill: Fill) -> (char, Style) {
    match fill {
        Fill::Ours | Fill::Step(_) => ('█', style(Tone::Ours)),
        Fill::Uncertain => ('░', style(Tone::Warning)),
        Fill::Reference | Fill::Floor => ('█', FAINT),
        Fill::Published | Fill::Remainder => ('▒', style(Tone::Published)),
    }
}

fn mark(kind: MarkKind) -> char {
    match kind {
        MarkKind::Reference | MarkKind::Level => '│',
        MarkKind::Floor | MarkKind::Edge => '┊',
    }
}

/// What stands in a chart, from top to bottom.
enum Part {
    Blank,
    Text(Line),
    Strip(Strip),
}

/// A row.
struct Strip {
    label: Line,
    strokes: Vec<Stroke>,
    value: Line,
    spread: Line,
    /// What stands behind the value.
    aside: Line,
}

/// Something that is drawn over what was drawn before.
enum Stroke {
    /// From the origin of the axis.
    Bar(f64, (char, Style)),
    /// A piece, which ends where the next one begins.
    Piece(f64, f64, (char, Style)),
    Interval(f64, f64, Style),
    At(f64, (char, Style)),
}

/// What a chart consists of: its titles, and its rows.
fn parts(canvas: &Canvas, chart: &Rows) -> Vec<Part> {
    let mut parts = Vec::new();
    let is_nested = chart.groups.iter().any(|group| !group.heading.is_empty());
    let rows = chart.groups.iter().flat_map(|group| &group.rows);
    let widest = rows
        .map(|row| canvas.ink(&detailed(row), PLAIN).width())
        .max();
    let has_room = widest.unwrap_or(0) <= canvas.width / 3;
    for group in &chart.groups {
        let title = if is_nested { FAINT } else { STRONG };
        let titles = [(&group.heading, STRONG), (&group.title, title)];
        let notices = group
            .notices
            .iter()
            .map(|text| (text, style(Tone::Warning)));
        let remarks = group.remarks.iter().map(|text| (text, FAINT));
        let texts = titles.into_iter().chain(notices).chain(remarks);
        parts.extend(texts.map(|(text, style)| Part::Text(canvas.ink(text, style))));
        for row in &group.rows {
            match &row.shape {
                Shape::Segments { pieces, thin } => {
                    parts.push(Part::Blank);
                    parts.push(Part::Text(canvas.ink(&row.label, STRONG)));
                    parts.extend(steps(canvas, row, pieces, thin).map(Part::Strip));
                }
                _ => parts.push(Part::Strip(strip(canvas, row, has_room, &chart.marks))),
            }
        }
    }
    parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
    parts
}

/// Marks lie over bars, which would hide them, and behind points.
fn strip(canvas: &Canvas, row: &ChartRow, has_room: bool, marks: &[Mark]) -> Strip {
    let tone = row.sign.map_or(PLAIN, sign_style);
    let marked = marks
        .iter()
        .map(|at| Stroke::At(at.at, (mark(at.kind), PLAIN)));
    let interval = row
        .interval
        .map(|(low, high)| Stroke::Interval(low, high, tone));
    let strokes = match &row.shape {
        Shape::Bar(bar) => {
            let bar = Stroke::Bar(bar.value, filling(bar.fill));
            [bar].into_iter().chain(interval).chain(marked).collect()
        }
        Shape::Point(at) => {
            let point = Stroke::At(*at, ('●', tone));
            marked.chain(interval).chain([point]).collect()
        }
        Shape::Nothing | Shape::Segments { .. } => marked.collect(),
    };
    let label = if has_room {
        detailed(row)
    } else {
        row.label.clone()
    };
    let sign = row.sign.map(|sign| canvas.drawn([(sign.glyph(), tone)]));
    Strip {
        label: canvas.ink(&label, PLAIN),
        strokes,
        value: canvas.ink(&row.value, tone),
        spread: canvas.ink(&row.spread, tone),
        aside: sign.unwrap_or_default(),
    }
}

/// A row per piece, each beginning where the one above ends, and the whole below them.
fn steps<'a>(
    canvas: &'a Canvas,
    row: &'a ChartRow,
    pieces: &'a [Segment],
    thin: &'a [Segment],
) -> impl Iterator<Item = Strip> {
    let ink = |text: &str| canvas.ink(text, PLAIN);
    let steps = pieces.iter().enumerate().map(move |(index, piece)| {
        let (fill, style) = filling(piece.fill);
        let alone = thin.get(index).filter(|thin| !thin.value.is_empty());
        let alone = alone.map(|thin| canvas.ink(&format!("alone {}", thin.value), FAINT));
        Strip {
            label: ink(&piece.label),
            strokes: vec![match piece.to < piece.from {
                // It saves something: there is nothing to draw but where.
                true => Stroke::At(piece.from, ('┊', style)),
                false => Stroke::Piece(piece.from, piece.to, (fill, style)),
            }],
            value: ink(&piece.value),
            spread: ink(&piece.spread),
            aside: alone.unwrap_or_default(),
        }
    });
    let dots = row.number.map(|value| Stroke::Bar(value, ('·', FAINT)));
    let ends = row
        .interval
        .map(|(low, high)| Stroke::Interval(low, high, PLAIN));
    steps.chain([Strip {
        label: ink("the whole"),
        strokes: dots.into_iter().chain(ends).collect(),
        value: ink(&row.value),
        spread: ink(&row.spread),
        aside: Line::default(),
    }])
}

/// The edges of a zone that lies between two values.
fn edges(area: &Area) -> Vec<Mark> {
    let ends = area.y.filter(|_| area.kind == AreaKind::Band);
    let ends = ends.map_or_else(Vec::new, |(low, high)| vec![low, high]);
    let edge = |at| Mark {
        at,
        kind: MarkKind::Edge,
        sign: String::new(),
    };
    ends.into_iter().map(edge).collect()
}

/// What the rows of a chart share.
struct Frame<'a> {
    axis: &'a Axis,
    label: usize,
    /// Whether labels stand right.
    right: bool,
    plot: usize,
    value: usize,
    spread: bool,
    aside: usize,
}

fn draw(canvas: &mut Canvas, chart: &Rows, right: bool) {
    let parts = parts(canvas, chart);
    let strips = parts.iter().filter_map(|part| match part {
        Part::Strip(strip) => Some(strip),
        _ => None,
    });
    let strips: Vec<&Strip> = strips.collect();
    if strips.is_empty() {
        return;
    }
    let frame = Frame::of(canvas.width, &strips, &chart.axis, right);
    for (index, part) in parts.iter().enumerate() {
        match part {
            Part::Blank if index > 0 => canvas.blank(),
            Part::Blank => {}
            Part::Text(text) => canvas.paragraph(text, 0),
            Part::Strip(strip) => frame.strip(canvas, strip),
        }
    }
    frame.axis(canvas, &chart.marks);
    legend(canvas, &chart.legend);
}

impl Frame<'_> {
    fn of<'a>(width: usize, strips: &[&Strip], axis: &'a Axis, right: bool) -> Frame<'a> {
        let widest = |of: &dyn Fn(&Strip) -> usize| strips.iter().map(|s| of(s)).max().unwrap_or(0);
        let label = widest(&|strip| strip.label.width()).min(width / 3);
        let aside = match widest(&|strip| strip.aside.width()) {
            0 => 0,
            aside => aside + GAP,
        };
        let room = width - label - 2;
        let whole = widest(&|strip| strip.text(true).width());
        // The spread is left out where the plot would have no room beside it: there is a whisker.
        let spread = whole + aside.min(GAP + 1) + NARROWEST <= room;
        let value = widest(&|strip| strip.text(spread).width());
        // What is wider stands below its row.
        let value = if spread {
            value
        } else {
            value.min(width * 2 / 5)
        };
        // So is what else is only added; a sign is not.
        let fits = aside <= GAP + 1 || value + aside + NARROWEST <= room;
        let aside = if fits { aside } else { 0 };
        Frame {
            axis,
            label,
            right,
            plot: room.saturating_sub(value + aside).max(2),
            value,
            spread,
            aside,
        }
    }

    fn strip(&self, canvas: &mut Canvas, strip: &Strip) {
        let mut labels = strip.label.wrap(self.label).into_iter();
        let label = labels.next().unwrap_or_default();
        let mut line = label.pad(self.label, self.right).then(Line::spaces(1));
        line = line
            .then(self.plot(canvas, &strip.strokes))
            .then(Line::spaces(1));
        let value = strip.text(self.spread);
        let fits = value.width() <= self.value;
        let beside = if fits { value.clone() } else { Line::default() };
        line = line.then(beside.pad(self.value, false));
        if self.aside > 0 && !strip.aside.is_empty() {
            line = line.then(Line::spaces(GAP)).then(strip.aside.clone());
        }
        canvas.line(&line);
        labels.for_each(|label| canvas.line(&label.pad(self.label, self.right)));
        if !fits {
            canvas.paragraph(&value, GAP);
        }
    }

    fn plot(&self, canvas: &Canvas, strokes: &[Stroke]) -> Line {
        let mut cells = vec![(' ', PLAIN); self.plot];
        for stroke in strokes {
            match *stroke {
                Stroke::Bar(to, ink) => {
                    let ends = [self.column(self.axis.scale.origin()), self.column(to)];
                    cells[ends[0].min(ends[1])..=ends[0].max(ends[1])].fill(ink);
                }
                Stroke::Piece(from, to, ink) => {
                    let from = self.column(from);
                    cells[from..self.column(to).max(from + 1)].fill(ink);
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
        let titled = line.clone().joined(Line::spaces(GAP), title);
        let line = if titled.width() <= canvas.width {
            titled
        } else {
            line
        };
        canvas.line(&line);
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a few dozen columns"
    )]
    fn column(&self, value: f64) -> usize {
        (self.axis.scale.position(value) * (self.plot - 1) as f64).round() as usize
    }
}

impl Strip {
    fn text(&self, with_spread: bool) -> Line {
        match with_spread {
            true => self
                .value
                .clone()
                .joined(Line::spaces(1), self.spread.clone()),
            false => self.value.clone(),
        }
    }
}
