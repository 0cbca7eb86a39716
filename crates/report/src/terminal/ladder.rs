//! Costs taken apart, for terminals: a bar per step, each beginning where the one above it ends.

use super::canvas::{Canvas, Span, Tone, merge, pad, span, wrap};
use super::table::{self, Column, Row};
use crate::document::Scale;
use crate::ladder::{Claim, Figure, Group, Kind, Ladder, Piece};
use crate::quantity;
use crate::table::Table;
use stowplan_analysis::ClaimVerdict;
use stowplan_model::Measure;
use unicode_width::UnicodeWidthStr as _;

/// Counts of more cells are shown only if everything is asked for.
const FEW: usize = 8;
/// The least width of the bars themselves.
const NARROWEST: usize = 12;

/// Draws what explains one comparison.
pub(super) fn draw(canvas: &mut Canvas, group: &Group, verbose: bool) {
    canvas.heading(&format!("Why: {}", group.title));
    group.claims.iter().for_each(|found| claim(canvas, found));
    for note in &group.notes {
        canvas.paragraph(note, 0, Tone::Warning);
    }
    for ladder in &group.ladders {
        steps(canvas, ladder, &group.scale);
    }
    if !group.cold.is_empty() {
        canvas.blank();
    }
    for sentence in &group.cold {
        canvas.hanging(&[span("•", Tone::Faint)], 2, sentence, Tone::Plain);
    }
    let counted = group.counts.as_ref();
    if let Some(found) = counted.filter(|found| verbose || found.rows.len() <= FEW) {
        counts(canvas, found);
    }
}

fn claim(canvas: &mut Canvas, claim: &Claim) {
    let tone = match claim.verdict {
        ClaimVerdict::Holds => Tone::Good,
        ClaimVerdict::DoesNotHold => Tone::Bad,
        _ => Tone::Warning,
    };
    canvas.hanging(&[span("•", tone)], 2, &claim.claim, Tone::Plain);
    canvas.paragraph(&claim.found, 2, Tone::Strong);
}

fn steps(canvas: &mut Canvas, ladder: &Ladder, scale: &Scale) {
    canvas.blank();
    canvas.paragraph(&ladder.title, 0, Tone::Strong);
    if let Some(whole) = &ladder.whole {
        let frame = Frame::of(canvas, ladder, whole, *scale);
        for piece in &ladder.pieces {
            frame.piece(canvas, piece);
        }
        frame.whole(canvas, whole);
        frame.axis(canvas);
    }
    for note in &ladder.notes {
        canvas.paragraph(note, 0, Tone::Faint);
    }
}

/// What the rows of a ladder share.
struct Frame {
    scale: Scale,
    label: usize,
    plot: usize,
    cost: usize,
    spread: bool,
    alone: usize,
}

impl Frame {
    fn of(canvas: &Canvas, ladder: &Ladder, whole: &Figure, scale: Scale) -> Self {
        let widest = |of: &dyn Fn(&Piece) -> usize| ladder.pieces.iter().map(of).max().unwrap_or(0);
        let label = widest(&|piece| piece.label.width()).max("the whole".len());
        let label = label.min(canvas.width / 3);
        let alone = widest(&|piece| piece.alone.as_ref().map_or(0, |text| alone(text).width()));
        let with_spread = widest(&|piece| piece.figure.whole_text().width());
        let with_spread = with_spread.max(whole.whole_text().width());
        let room = canvas.width.saturating_sub(label + 3);
        let without = widest(&|piece| piece.figure.text().width()).max(whole.text().width());
        let spread = with_spread + alone + 1 + NARROWEST <= room;
        let cost = if spread { with_spread } else { without };
        let alone = if cost + alone + 1 + NARROWEST <= room {
            alone
        } else {
            0
        };
        Self {
            scale,
            label,
            plot: room.saturating_sub(cost + alone + 1).max(4),
            cost,
            spread,
            alone,
        }
    }

    fn piece(&self, canvas: &mut Canvas, piece: &Piece) {
        let (fill, tone) = match piece.kind {
            Kind::Step(_) => ('█', Tone::Ours),
            Kind::Remainder => ('▒', Tone::Published),
        };
        let mut cells: Vec<(char, Tone)> = vec![(' ', Tone::Plain); self.plot];
        let (from, to) = (self.column(piece.from), self.column(piece.to()));
        if piece.figure.value < 0.0 {
            // It saves time: there is nothing to draw but where.
            cells[from] = ('┊', tone);
        } else {
            let drawn = cells.iter_mut().take(to.max(from + 1)).skip(from);
            drawn.for_each(|cell| *cell = (fill, tone));
        }
        let alone = piece.alone.as_deref().map(alone).unwrap_or_default();
        self.row(canvas, &piece.label, merge(&cells), &piece.figure, &alone);
    }

    fn whole(&self, canvas: &mut Canvas, whole: &Figure) {
        let mut cells: Vec<(char, Tone)> = vec![('·', Tone::Faint); self.plot];
        let (low, high) = (self.column(whole.ends.0), self.column(whole.ends.1));
        cells.truncate(high + 1);
        cells.resize(self.plot, (' ', Tone::Plain));
        cells[low] = ('├', Tone::Plain);
        cells[high] = ('┤', Tone::Plain);
        self.row(canvas, "the whole", merge(&cells), whole, "");
    }

    fn row(&self, canvas: &mut Canvas, label: &str, plot: Vec<Span>, figure: &Figure, alone: &str) {
        let label = wrap(label, self.label);
        let text = match self.spread {
            true => figure.whole_text(),
            false => figure.text(),
        };
        let mut spans = vec![span(pad(&label[0], self.label, false), Tone::Plain)];
        spans.push(span(" ", Tone::Plain));
        spans.extend(plot);
        spans.push(span(
            format!(" {}", pad(&text, self.cost, false)),
            Tone::Plain,
        ));
        if self.alone > 0 {
            spans.push(span(format!(" {alone}"), Tone::Faint));
        }
        canvas.line(&spans);
        for part in &label[1..] {
            canvas.line(&[span(part, Tone::Plain)]);
        }
    }

    /// Marks of the axis: as many as have room.
    fn axis(&self, canvas: &mut Canvas) {
        let mut line = String::new();
        for tick in quantity::ticks(&self.scale) {
            let text = quantity::tick(Measure::Time, tick);
            let (at, used) = (self.column(tick), line.width());
            if at + text.width() <= self.plot + self.cost && (used == 0 || at > used) {
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

fn alone(text: &str) -> String {
    format!("alone {text}")
}

/// What cells asked of the system: the names of the calls are the last to go.
fn counts(canvas: &mut Canvas, found: &Table) {
    canvas.blank();
    canvas.paragraph("Asked of the system, per operation", 0, Tone::Plain);
    let titles = found.columns.iter().skip(1);
    let columns: Vec<Column> = titles
        .map(|column| Column {
            title: column.title,
            weight: match column.title {
                "calls/op" => 9,
                "which" => 10,
                "reads/op" | "read/op" | "syncs/op" => 6,
                "hits/op" | "misses/op" => 4,
                "counted by" => 1,
                _ => 2,
            },
            right: column.numeric,
        })
        .collect();
    let rows = found.rows.iter().map(|row| {
        let fields = row.iter().skip(1);
        Row {
            label: row
                .first()
                .map_or_else(String::new, |entry| entry.text.clone()),
            fields: fields
                .map(|entry| span(entry.text.clone(), Tone::Plain))
                .collect(),
        }
    });
    let rows: Vec<Row> = rows.collect();
    table::draw(canvas, "cell", &columns, &rows);
}
