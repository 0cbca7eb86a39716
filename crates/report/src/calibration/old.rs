//! The forms of a calibration before there were documents.

use super::figures::{Row, sections, state};
use super::verdict::worst;
use super::{advice, place, verdict};
use crate::html;
use crate::markdown::Page;
use crate::terminal::TerminalOptions;
use crate::terminal::canvas::{Canvas, Tone, span};
use stowplan_analysis::Analysis;
use stowplan_analysis::calibration::{Calibration, Standing};

/// Columns of the state and of the name, each with the space behind it.
const STATE: usize = 9;
const NAME: usize = 17;

/// Only the verdict and what to do, as text.
#[must_use]
pub fn brief(calibration: &Calibration, options: &TerminalOptions) -> String {
    let mut canvas = open(options);
    head(&mut canvas, calibration);
    canvas.finish()
}

/// Everything as text; with reasons only where they are asked for.
#[must_use]
pub fn text(calibration: &Calibration, analysis: &Analysis, options: &TerminalOptions) -> String {
    let mut canvas = open(options);
    head(&mut canvas, calibration);
    canvas.paragraph(&place(analysis), 0, Tone::Faint);
    for section in sections(calibration) {
        canvas.heading(&section.title);
        if options.verbose {
            canvas.paragraph(section.about, 0, Tone::Faint);
        }
        for row in &section.rows {
            draw(&mut canvas, row);
        }
    }
    canvas.finish()
}

fn open(options: &TerminalOptions) -> Canvas {
    Canvas::new(options.width.max(40), options.colour, options.unicode)
}

fn head(canvas: &mut Canvas, calibration: &Calibration) {
    let tone = match worst(calibration) {
        Standing::Met => Tone::Good,
        Standing::Unsure => Tone::Strong,
        Standing::Missed | Standing::Unknown => Tone::Bad,
    };
    canvas.paragraph(&verdict(calibration), 0, tone);
    for advice in advice(calibration) {
        canvas.paragraph(advice, 0, Tone::Strong);
    }
}

fn draw(canvas: &mut Canvas, row: &Row) {
    let tone = match row.standing {
        None => Tone::Faint,
        Some(Standing::Met) => Tone::Good,
        Some(Standing::Unsure) => Tone::Warning,
        Some(Standing::Missed | Standing::Unknown) => Tone::Bad,
    };
    let prefix = [
        span(format!("{:<STATE$}", state(row.standing)), tone),
        // A space behind a name of any length.
        span(format!("{:<1$} ", row.name, NAME - 1), Tone::Plain),
    ];
    canvas.hanging(&prefix, STATE + NAME, &row.sentence(), Tone::Plain);
}

/// As Markdown: the file beside a result, and what docs/calibration.md holds of a real run.
#[must_use]
pub fn markdown(calibration: &Calibration, analysis: &Analysis) -> String {
    let mut page = Page::default();
    page.line(crate::MARK);
    page.paragraph(&format!("**{}**", verdict(calibration)));
    for advice in advice(calibration) {
        page.paragraph(advice);
    }
    page.paragraph(&place(analysis));
    page.paragraph("| | figure | found | limit |");
    page.line("|---|---|---|---|");
    for section in sections(calibration) {
        page.line(&format!("| | **{}** | | |", cell(&section.title)));
        for row in &section.rows {
            page.line(&format!(
                "| {} | {} | {} | {} |",
                state(row.standing),
                cell(&row.name),
                cell(&row.found),
                cell(&row.limit)
            ));
        }
    }
    page.finish()
}

/// A text that a table of Markdown does not take for its own.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// As one page that stands for itself; `raw` is the text of the result.
#[must_use]
pub fn html(calibration: &Calibration, analysis: &Analysis, raw: &str) -> String {
    html::calibration::render(calibration, analysis, raw)
}
