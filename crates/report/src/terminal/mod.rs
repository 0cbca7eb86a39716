//! The report for a terminal: all answers at a glance, then each comparison with its numbers, the
//! charts, and what qualifies them. What Markdown and HTML say in a sentence per ratio stands in
//! table rows here, unless everything is asked for.

mod bars;
pub(crate) mod canvas;
mod chart;
mod ladder;
pub(crate) mod machines;
mod matrix;
mod sweep;
pub(crate) mod table;
mod total;

use crate::chart::charts;
use crate::document::Sign;
use crate::facts::{environment, harness_cost, harness_cost_in_short};
use crate::overview::{self, Kind};
use crate::table::{label, overhead, published_in_short, relative};
use crate::wording::Findings;
use crate::{format, parts, quantity, wording};
use canvas::{Canvas, Span, Tone, span};
use stowplan_analysis::{Analysis, CellSummary, ComparisonOutcome, RatioEstimate, Verdict};
use stowplan_model::{Role, format_bytes};
use table::{Column, Row};
use unicode_width::UnicodeWidthStr as _;

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

/// The report as text: verdicts first. Where there are too many comparisons to read, their numbers
/// are shown only if everything is asked for.
#[must_use]
pub fn render(analysis: &Analysis, options: &TerminalOptions) -> String {
    let verbose = options.verbose;
    let mut canvas = open(analysis, options);
    let rows = overview::rows(analysis);
    overview(&mut canvas, analysis, &rows);
    for matrix in crate::matrix::matrices(analysis) {
        matrix::draw(&mut canvas, &matrix, verbose);
    }
    for group in crate::sweep::groups(analysis) {
        sweep::draw(&mut canvas, &group, verbose);
    }
    let charts = charts(analysis);
    let drawn = !(charts.is_empty() && analysis.bars.is_empty() && analysis.lines.is_empty());
    let shown = match overview::by_choice(&rows) {
        Some(_) if drawn && !verbose => Vec::new(),
        _ => shown_comparisons(analysis, verbose),
    };
    for comparison in &shown {
        let findings = wording::findings_of(analysis, comparison);
        finding(&mut canvas, &findings, comparison, verbose);
        total::draw(&mut canvas, analysis, comparison, verbose);
    }
    left_out(&mut canvas, analysis, shown.len());
    for group in crate::ladder::groups(analysis) {
        if verbose || !group.is_only_counts() {
            ladder::draw(&mut canvas, &group, verbose);
        }
    }
    if !charts.is_empty() {
        canvas.heading("Charts");
        chart::key(&mut canvas, &charts);
        charts
            .iter()
            .for_each(|chart| chart::draw(&mut canvas, chart));
    }
    measured(&mut canvas, analysis, !charts.is_empty());
    space(&mut canvas, analysis, verbose);
    if verbose {
        settings(&mut canvas, analysis);
        facts(&mut canvas, analysis);
    }
    qualifications(&mut canvas, analysis, verbose);
    canvas.finish()
}

/// Bars and lines of measured quantities.
fn measured(canvas: &mut Canvas, analysis: &Analysis, has_heading: bool) {
    let bars = crate::bars::charts(analysis);
    let lines = crate::lines::charts(analysis);
    if !(has_heading || bars.is_empty() && lines.is_empty()) {
        canvas.heading("Charts");
    }
    bars.iter().for_each(|chart| bars::bars(canvas, chart));
    lines.iter().for_each(|chart| bars::lines(canvas, chart));
}

/// Only what the run comes to: title, verdicts, and what they rest on.
#[must_use]
pub fn brief(analysis: &Analysis, options: &TerminalOptions) -> String {
    let mut canvas = open(analysis, options);
    overview(&mut canvas, analysis, &overview::rows(analysis));
    for matrix in crate::matrix::matrices(analysis) {
        canvas.heading(matrix.title);
        for rule in &matrix.rules {
            canvas.hanging(&[span("•", Tone::Faint)], 2, rule, Tone::Plain);
        }
    }
    let groups = crate::sweep::groups(analysis);
    for sweep in groups.iter().flat_map(|group| &group.sweeps) {
        canvas.heading(&sweep.title);
        canvas.paragraph(&sweep.headline, 0, Tone::Strong);
        for note in &sweep.notes {
            canvas.paragraph(note, 0, Tone::Warning);
        }
    }
    if let Some(warnings) = wording::warnings_in_brief(analysis) {
        canvas.blank();
        canvas.paragraph(&warnings, 0, Tone::Warning);
    }
    canvas.finish()
}

/// All comparisons, or only those that are parts of nothing.
fn shown_comparisons(analysis: &Analysis, verbose: bool) -> Vec<&ComparisonOutcome> {
    if verbose {
        analysis.comparisons.iter().collect()
    } else {
        parts::singles(analysis)
    }
}

/// How to see the comparisons that are not shown.
fn left_out(canvas: &mut Canvas, analysis: &Analysis, shown: usize) {
    let left_out = analysis.comparisons.len() - shown;
    if left_out == 0 {
        return;
    }
    canvas.blank();
    let comparisons = wording::comparisons(left_out);
    let parts = parts::count(analysis);
    let text = if left_out == parts {
        format!("The {comparisons} that this is made of are shown with --verbose.")
    } else {
        format!("The numbers of the {comparisons} are shown with --verbose.")
    };
    canvas.paragraph(&text, 0, Tone::Faint);
}

/// The tone of who is ahead: one colour for each side.
fn sign_tone(sign: Sign) -> Tone {
    match sign {
        Sign::Above | Sign::JustAbove => Tone::Ours,
        Sign::Below | Sign::JustBelow => Tone::Published,
        Sign::Even => Tone::Plain,
        Sign::Open | Sign::Unreliable | Sign::Nothing => Tone::Faint,
    }
}

/// The signs that occur, and what they say.
fn sign_legend(canvas: &mut Canvas, legend: &[(Sign, String)]) {
    let items = legend
        .iter()
        .map(|(sign, words)| format!("{} {words}", sign.glyph()));
    let mut line = String::new();
    if legend.is_empty() {
        return;
    }
    for item in items {
        if !line.is_empty() && line.width() + item.width() + 3 > canvas.width {
            canvas.line(&[span(std::mem::take(&mut line), Tone::Faint)]);
        }
        let gap = if line.is_empty() { "" } else { "   " };
        line.push_str(&format!("{gap}{item}"));
    }
    canvas.line(&[span(line, Tone::Faint)]);
}

/// A report with what stands on top of it: its title, and whether it is cut short.
fn open(analysis: &Analysis, options: &TerminalOptions) -> Canvas {
    let mut canvas = Canvas::new(options.width.max(40), options.colour, options.unicode);
    canvas.paragraph(&analysis.run.plan.study.title, 0, Tone::Strong);
    if let Some(ending) = wording::ending(analysis) {
        canvas.paragraph(&ending, 0, Tone::Warning);
    }
    canvas
}

/// The same as on top of the page: what to do, and why to believe it.
fn overview(canvas: &mut Canvas, analysis: &Analysis, rows: &[overview::Row]) {
    if rows.is_empty() {
        return;
    }
    canvas.heading("What to do on this machine");
    match overview::by_choice(rows) {
        Some(groups) => {
            for group in &groups {
                choice(canvas, group, rows.len());
            }
            if let Some(figures) = overview::figures(&groups) {
                canvas.paragraph(figures, 0, Tone::Faint);
            }
        }
        None => rows.iter().for_each(|row| answer(canvas, row)),
    }
    if let Some(evidence) = overview::evidence(analysis) {
        canvas.paragraph(&format!("Why believe it? {evidence}"), 0, Tone::Faint);
    }
}

fn answer(canvas: &mut Canvas, row: &overview::Row) {
    let bullet = [span("•", kind_tone(row.kind))];
    canvas.hanging(&bullet, 2, &row.title, Tone::Plain);
    canvas.paragraph(&row.answer, 2, Tone::Strong);
    let mut said = vec![row.reason.trim_end_matches('.').to_owned()];
    said.extend(row.noise.as_ref().map(|noise| format!("noise {noise}")));
    said.retain(|part| !part.is_empty());
    canvas.paragraph(&said.join("; "), 2, Tone::Faint);
}

/// A choice, and what it is the choice for.
fn choice(canvas: &mut Canvas, group: &overview::Group<'_>, all: usize) {
    let tone = group
        .rows
        .first()
        .map_or(Tone::Plain, |r| kind_tone(r.kind));
    let title = format!("{} ({} of {all})", group.title, group.rows.len());
    canvas.hanging(&[span("•", tone)], 2, &title, Tone::Strong);
    let figures = group.rows.iter().filter(|row| row.ratio.is_some());
    let indent = figures.map(|row| row.figure().width() + 4).max();
    for row in &group.rows {
        let figure = row.figure();
        let title = format!("{}{}", row.title, row.caveat);
        match indent.filter(|_| row.ratio.is_some() || figure.is_empty()) {
            Some(indent) => {
                let prefix = [span(format!("  {figure}"), Tone::Faint)];
                canvas.hanging(&prefix, indent, &title, Tone::Plain);
            }
            None if figure.is_empty() => canvas.paragraph(&title, 2, Tone::Plain),
            None => canvas.paragraph(&format!("{title}: {figure}"), 2, Tone::Plain),
        }
    }
}

fn kind_tone(kind: Kind) -> Tone {
    match overview::tone(kind) {
        crate::document::Tone::Good => Tone::Good,
        crate::document::Tone::Plain => Tone::Plain,
        _ => Tone::Warning,
    }
}

/// One comparison: what follows from it, its numbers, and what its noise was.
fn finding(
    canvas: &mut Canvas,
    findings: &Findings,
    comparison: &ComparisonOutcome,
    verbose: bool,
) {
    canvas.heading(&findings.title);
    // The overview says the same in other words.
    if verbose {
        canvas.paragraph(&findings.headline, 0, Tone::Strong);
    }
    canvas.paragraph(&findings.advice, 0, Tone::Plain);
    if verbose {
        for statement in &findings.statements {
            let bullet = [span("•", verdict_tone(statement.verdict))];
            canvas.hanging(&bullet, 2, &statement.text, Tone::Plain);
        }
    }
    comparison_table(canvas, comparison, verbose);
    if let Some(promises) = wording::promises(comparison) {
        canvas.paragraph(&promises, 0, Tone::Plain);
    }
    for difference in wording::work_differences(comparison) {
        canvas.paragraph(&difference, 0, Tone::Faint);
    }
    canvas.paragraph(&crate::noise::of_comparison(comparison), 0, Tone::Faint);
}

fn verdict_tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Faster => Tone::Good,
        Verdict::Slower => Tone::Bad,
        Verdict::Equivalent | Verdict::SmallDifference => Tone::Plain,
        Verdict::Unresolved | Verdict::Unreliable | Verdict::NoData => Tone::Warning,
    }
}

fn comparison_table(canvas: &mut Canvas, comparison: &ComparisonOutcome, verbose: bool) {
    let columns = [
        ("class", 10, false),
        ("time/op", 8, true),
        ("ops/s", 6, true),
        ("+ drain", 5, true),
        ("ratio", 7, true),
        ("interval", 9, false),
        // It has the factor in it, and means nothing without the class where promises differ.
        ("verdict", 11, false),
        ("p50", 2, true),
        ("p99", 4, true),
        ("p99.9", 1, true),
        ("×floor", 3, true),
    ];
    let columns = columns.map(|(title, weight, right)| Column {
        title,
        weight,
        right,
    });
    // What the control shows is said in the line about noise.
    let cells = comparison.cells.iter();
    let alike = wording::promise_alike(comparison);
    let rows = cells
        .filter(|cell| cell.cell.role != Role::Part)
        .filter(|cell| verbose || cell.cell.role != Role::Control)
        .map(|cell| Row {
            label: label(cell),
            fields: cell_fields(comparison, cell, alike),
        });
    let rows: Vec<Row> = rows.collect();
    table::draw(canvas, "cell", &columns, &rows);
    let parts = comparison.cells.iter();
    let parts = parts.filter(|cell| verbose && cell.cell.role == Role::Part);
    let parts: Vec<Row> = parts
        .map(|cell| Row {
            label: label(cell),
            fields: cell_fields(comparison, cell, true),
        })
        .collect();
    if !parts.is_empty() {
        canvas.paragraph("Parts, which only explain others:", 0, Tone::Plain);
        table::draw(canvas, "part", &columns, &parts);
    }
    for (cell, why) in &comparison.not_applicable {
        canvas.paragraph(&format!("{cell}: not applicable: {why}"), 0, Tone::Faint);
    }
}

/// Where promises differ, each figure has its own beside it.
fn cell_fields(comparison: &ComparisonOutcome, cell: &CellSummary, alike: bool) -> Vec<Span> {
    let plain = |text: String| span(text, Tone::Plain);
    let contrast = wording::to_baseline(comparison, cell);
    let estimate = contrast.and_then(|(estimate, _)| estimate);
    let ratio = match cell.cell.role {
        Role::Baseline => "1.00".to_owned(),
        _ => estimate.map_or_else(String::new, |e| format::ratio(e.ratio)),
    };
    let verdict = match (cell.cell.role, contrast) {
        (Role::Baseline, _) => span("baseline", Tone::Faint),
        // No one could choose it.
        (Role::Floor, _) => span("floor", Tone::Faint),
        (_, Some((estimate, verdict))) => {
            span(verdict_text(verdict, estimate), verdict_tone(verdict))
        }
        (_, None) => plain(String::new()),
    };
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let latency = |get: fn(&stowplan_analysis::LatencySummary) -> u64| {
        let latency = cell.latency.as_ref();
        plain(latency.map_or_else(String::new, |l| format::time(get(l) as f64)))
    };
    let interval = estimate.map_or_else(String::new, |e| format::interval(e.low, e.high));
    let multiple = cell.multiple_of_floor.map(|e| format::ratio(e.ratio));
    let class = wording::claim(cell).filter(|_| !alike && cell.cell.role != Role::Floor);
    vec![
        plain(class.map_or_else(String::new, |claim| quantity::short_class(&claim))),
        plain(format::time(wording::headline_time(cell))),
        plain(crate::table::rate(cell).map_or_else(String::new, quantity::rate)),
        plain(cell.total_ns.map_or_else(String::new, format::time)),
        plain(ratio),
        plain(interval),
        verdict,
        latency(|latency| latency.p50_ns),
        latency(|latency| latency.p99_ns),
        latency(|latency| latency.p999_ns),
        plain(multiple.unwrap_or_default()),
    ]
}

/// The verdict, with the factor in the direction in which it is above 1.
fn verdict_text(verdict: Verdict, estimate: Option<RatioEstimate>) -> String {
    match (verdict, estimate) {
        (Verdict::Faster, Some(e)) => format!("{}× as fast", format::ratio(1.0 / e.ratio)),
        (Verdict::Slower, Some(e)) => format!("{}× as long", format::ratio(e.ratio)),
        _ => wording::verdict(verdict).to_owned(),
    }
}

fn space(canvas: &mut Canvas, analysis: &Analysis, verbose: bool) {
    let (mut shown, of_parts) = parts::space(analysis);
    if verbose {
        shown.extend(of_parts);
    }
    if shown.is_empty() {
        return;
    }
    canvas.heading("Disk space");
    let columns = [
        ("allocated", 9),
        ("relative", 8),
        ("published", 6),
        ("per value byte", 4),
    ];
    let columns = columns.map(|(title, weight)| Column {
        title,
        weight,
        right: true,
    });
    let rows = shown.into_iter().map(|row| {
        let per_byte = overhead(row).map(|ratio| format!("{ratio:.3}"));
        let fields = [
            format_bytes(row.footprint.allocated_bytes),
            row.ratio.map_or_else(String::new, relative),
            published_in_short(row).unwrap_or_default(),
            per_byte.unwrap_or_default(),
        ];
        Row {
            label: row.label.clone(),
            fields: fields.map(|text| span(text, Tone::Plain)).into(),
        }
    });
    let rows: Vec<Row> = rows.collect();
    table::draw(canvas, "store", &columns, &rows);
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
fn qualifications(canvas: &mut Canvas, analysis: &Analysis, verbose: bool) {
    let cost = if verbose {
        harness_cost(analysis)
    } else {
        harness_cost_in_short(analysis)
    };
    if let Some(cost) = cost {
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
