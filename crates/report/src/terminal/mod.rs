//! The report for a terminal: verdicts first, then charts, tables and what qualifies them.

mod canvas;
mod chart;
mod table;

use crate::chart::charts;
use crate::facts::{environment, harness_cost};
use crate::table::{label, overhead, published};
use crate::{format, wording};
use canvas::{Canvas, Span, Tone, span};
use stowplan_analysis::{Analysis, CellSummary, ComparisonOutcome, Verdict};
use stowplan_model::{Role, format_bytes};
use table::{Column, Row};

/// What the terminal can do and how much is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalOptions {
    /// Columns; a value below 40 counts as 40.
    pub width: usize,
    /// Whether to colour with ANSI sequences.
    pub colour: bool,
    /// Whether to draw with Unicode characters; otherwise everything is ASCII, except names that
    /// the study gives.
    pub unicode: bool,
    /// Whether to add every ratio, settings and the environment.
    pub verbose: bool,
}

/// The report as text.
#[must_use]
pub fn render(analysis: &Analysis, options: &TerminalOptions) -> String {
    let mut canvas = Canvas::new(options.width.max(40), options.colour, options.unicode);
    canvas.paragraph(&analysis.run.plan.study.title, 0, Tone::Strong);
    if let Some(ending) = wording::ending(analysis) {
        canvas.paragraph(&ending, 0, Tone::Warning);
    }
    verdicts(&mut canvas, analysis, options.verbose);
    let charts = charts(analysis);
    if !charts.is_empty() {
        canvas.heading("Charts");
        charts
            .iter()
            .for_each(|chart| chart::draw(&mut canvas, chart));
    }
    canvas.heading("Numbers");
    for comparison in &analysis.comparisons {
        comparison_table(&mut canvas, comparison);
    }
    space(&mut canvas, analysis);
    if options.verbose {
        settings(&mut canvas, analysis);
        facts(&mut canvas, analysis);
    }
    qualifications(&mut canvas, analysis);
    canvas.finish()
}

fn verdicts(canvas: &mut Canvas, analysis: &Analysis, verbose: bool) {
    for findings in wording::findings(analysis) {
        canvas.heading(&findings.title);
        canvas.paragraph(&findings.headline, 0, Tone::Strong);
        canvas.paragraph(&findings.advice, 0, Tone::Plain);
        let statements = findings.statements.iter();
        for statement in statements.filter(|statement| verbose || statement.to_baseline) {
            let bullet = [span("•", verdict_tone(statement.verdict))];
            canvas.hanging(&bullet, 2, &statement.text, Tone::Plain);
        }
        canvas.paragraph(&findings.noise, 0, Tone::Faint);
    }
}

fn verdict_tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Faster => Tone::Good,
        Verdict::Slower => Tone::Bad,
        Verdict::Equivalent | Verdict::SmallDifference => Tone::Plain,
        Verdict::Unresolved | Verdict::Unreliable | Verdict::NoData => Tone::Warning,
    }
}

fn comparison_table(canvas: &mut Canvas, comparison: &ComparisonOutcome) {
    let columns = [
        ("time/op", 9, true),
        ("ratio", 8, true),
        ("interval", 6, false),
        ("p50", 2, true),
        ("p99", 3, true),
        ("×floor", 4, true),
        ("verdict", 7, false),
    ];
    let columns = columns.map(|(title, weight, right)| Column {
        title,
        weight,
        right,
    });
    let rows = comparison.cells.iter().map(|cell| Row {
        label: label(cell),
        fields: cell_fields(comparison, cell),
    });
    canvas.blank();
    canvas.paragraph(&comparison.title, 0, Tone::Strong);
    let rows: Vec<Row> = rows.collect();
    table::draw(canvas, "cell", &columns, &rows);
    for (cell, why) in &comparison.not_applicable {
        canvas.paragraph(&format!("{cell}: not applicable: {why}"), 0, Tone::Faint);
    }
}

fn cell_fields(comparison: &ComparisonOutcome, cell: &CellSummary) -> Vec<Span> {
    let plain = |text: String| span(text, Tone::Plain);
    let contrast = wording::to_baseline(comparison, cell);
    let estimate = contrast.and_then(|(estimate, _)| estimate);
    let ratio = match cell.cell.role {
        Role::Baseline => "1.00".to_owned(),
        _ => estimate.map_or_else(String::new, |e| format::ratio(e.ratio)),
    };
    let verdict = match (cell.cell.role, contrast) {
        (Role::Baseline, _) => span("baseline", Tone::Faint),
        (_, Some((_, verdict))) => span(wording::verdict(verdict), verdict_tone(verdict)),
        (_, None) => plain(String::new()),
    };
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let latency = |get: fn(&stowplan_analysis::LatencySummary) -> u64| {
        let latency = cell.latency.as_ref();
        plain(latency.map_or_else(String::new, |l| format::time(get(l) as f64)))
    };
    let interval = estimate.map_or_else(String::new, |e| format::interval(e.low, e.high));
    let multiple = cell.multiple_of_floor.map(|e| format::ratio(e.ratio));
    vec![
        plain(format::time(wording::headline_time(cell))),
        plain(ratio),
        plain(interval),
        latency(|latency| latency.p50_ns),
        latency(|latency| latency.p99_ns),
        plain(multiple.unwrap_or_default()),
        verdict,
    ]
}

fn space(canvas: &mut Canvas, analysis: &Analysis) {
    if analysis.space.is_empty() {
        return;
    }
    canvas.heading("Disk space");
    let columns = [("allocated", 9), ("apparent", 7), ("per value byte", 8)];
    let columns = columns.map(|(title, weight)| Column {
        title,
        weight,
        right: true,
    });
    let rows = analysis.space.iter().map(|row| {
        let per_byte = overhead(row).map(|ratio| format!("{ratio:.3}"));
        let fields = [
            format_bytes(row.footprint.allocated_bytes),
            format_bytes(row.footprint.apparent_bytes),
            per_byte.unwrap_or_default(),
        ];
        Row {
            label: row.label.clone(),
            fields: fields.map(|text| span(text, Tone::Plain)).into(),
        }
    });
    let rows: Vec<Row> = rows.collect();
    table::draw(canvas, "store", &columns, &rows);
    for row in analysis.space.iter().filter(|row| row.published.is_some()) {
        let text = format!("Published beside {}: {}.", row.label, published(row));
        canvas.paragraph(&text, 0, Tone::Faint);
    }
}

fn settings(canvas: &mut Canvas, analysis: &Analysis) {
    canvas.heading("Effective settings");
    let cells = analysis
        .comparisons
        .iter()
        .flat_map(|comparison| &comparison.cells);
    for cell in cells {
        let settings = cell.effective.as_ref().map_or_else(
            || "not reported".to_owned(),
            |settings| settings.to_string().replace(',', ", "),
        );
        let text = format!("{}: {settings}", cell.cell.id);
        canvas.hanging(&[span("•", Tone::Faint)], 2, &text, Tone::Plain);
    }
}

fn facts(canvas: &mut Canvas, analysis: &Analysis) {
    canvas.heading("Environment");
    for (name, value) in environment(analysis) {
        canvas.hanging(&[], 2, &format!("{name}: {value}"), Tone::Plain);
    }
}

/// What the reader must know before believing any of it.
fn qualifications(canvas: &mut Canvas, analysis: &Analysis) {
    if let Some(cost) = harness_cost(analysis) {
        canvas.blank();
        canvas.paragraph(&cost, 0, Tone::Faint);
    }
    if !analysis.warnings.is_empty() {
        canvas.heading("Warnings");
    }
    for warning in &analysis.warnings {
        let text = wording::warning(warning);
        canvas.hanging(&[span("!", Tone::Warning)], 2, &text, Tone::Plain);
    }
    if !analysis.failures.is_empty() {
        canvas.heading("Failed cells");
    }
    for failure in &analysis.failures {
        let text = format!("{}: {}", failure.cell, failure.message);
        canvas.hanging(&[span("✗", Tone::Bad)], 2, &text, Tone::Plain);
        for line in failure.stderr.lines() {
            canvas.paragraph(line, 4, Tone::Faint);
        }
    }
}
