//! Several results of one study, for a terminal.

use super::canvas::{Canvas, Tone, span};
use super::table::{self, Column, Row};
use super::{TerminalOptions, chart, verdict_tone};
use crate::chart::{Bar, Chart};
use crate::format;
use crate::machines::{self, Findings, Report};
use stowplan_analysis::{
    BarOn, CellAcross, ChartAcross, ChartGroup, ComparisonAcross, Machine, PublishedRatio,
};
use stowplan_model::Role;

/// Everything: findings, machines, charts and ratios.
pub(crate) fn render(report: &Report<'_>, options: &TerminalOptions) -> String {
    let mut canvas = open(report, options);
    for findings in report.findings() {
        self::findings(&mut canvas, &findings, true);
    }
    answers(&mut canvas, report);
    list(&mut canvas, report);
    charts(&mut canvas, report, options.verbose);
    let comparisons = report.outcome.comparisons.iter();
    for comparison in comparisons.filter(|c| options.verbose || !c.part) {
        ratios(&mut canvas, report, comparison, options.verbose);
    }
    canvas.finish()
}

/// Only the findings.
pub(crate) fn brief(report: &Report<'_>, options: &TerminalOptions) -> String {
    let mut canvas = open(report, options);
    for findings in report.findings() {
        self::findings(&mut canvas, &findings, false);
    }
    answers(&mut canvas, report);
    canvas.finish()
}

fn open(report: &Report<'_>, options: &TerminalOptions) -> Canvas {
    let mut canvas = Canvas::new(options.width.max(40), options.colour, options.unicode);
    let outcome = &report.outcome;
    canvas.paragraph(&outcome.title, 0, Tone::Strong);
    let count = format!("{}, scale {}", report.count(), outcome.scale);
    canvas.paragraph(&count, 0, Tone::Plain);
    for note in report.notes() {
        canvas.paragraph(&note, 0, Tone::Warning);
    }
    canvas
}

fn findings(canvas: &mut Canvas, findings: &Findings, with_noise: bool) {
    canvas.heading(&findings.title);
    if let Some(fastest) = &findings.fastest {
        canvas.paragraph(fastest, 0, Tone::Strong);
    }
    for statement in &findings.statements {
        let bullet = [span("•", verdict_tone(statement.verdict))];
        canvas.hanging(&bullet, 2, &statement.text, Tone::Plain);
    }
    if with_noise {
        canvas.paragraph(&findings.noise, 0, Tone::Faint);
    }
}

fn answers(canvas: &mut Canvas, report: &Report<'_>) {
    for answers in report.answers() {
        canvas.heading(&answers.title);
        for (who, answer) in answers.lines(report) {
            let text = format!("{who}: {answer}");
            canvas.hanging(&[span("•", Tone::Faint)], 2, &text, Tone::Plain);
        }
    }
}

/// The machines, a line of facts each: a table of so many columns does not fit.
fn list(canvas: &mut Canvas, report: &Report<'_>) {
    canvas.heading("Machines");
    let table = report.machine_table();
    for row in &table.rows {
        let Some((name, facts)) = row.split_first() else {
            continue;
        };
        canvas.hanging(&[span("•", Tone::Faint)], 2, &name.text, Tone::Strong);
        let facts = facts.iter().zip(table.heads.iter().skip(1));
        let facts = facts
            .filter(|(fact, _)| !fact.text.is_empty())
            .map(|(fact, head)| format!("{}: {}", head.title, fact.text));
        let facts: Vec<String> = facts.collect();
        canvas.paragraph(&facts.join("; "), 2, Tone::Plain);
    }
}

/// The charts: of each the first cell that the study draws, beside the published ratios; all
/// cells if asked for.
fn charts(canvas: &mut Canvas, report: &Report<'_>, verbose: bool) {
    let machines = &report.outcome.machines;
    let mut drawn: Vec<Chart> = Vec::new();
    for across in report.charts() {
        let groups = across
            .groups
            .iter()
            .filter(|g| g.on.iter().any(Option::is_some));
        let shown = if verbose { usize::MAX } else { 1 };
        for (index, group) in groups.take(shown).enumerate() {
            let note = report.chart_note(across).filter(|_| index == 0);
            drawn.push(Chart {
                note,
                ..chart_of(across, group, machines, index == 0)
            });
        }
    }
    if drawn.is_empty() {
        return;
    }
    canvas.heading("Charts");
    let text = "Time per operation as a multiple of the reference (│ 1.0) on the same machine. \
                Shorter is faster. ├─┤ interval.";
    canvas.paragraph(text, 0, Tone::Faint);
    drawn.iter().for_each(|drawn| chart::draw(canvas, drawn));
    if !verbose {
        canvas.blank();
        let text = "The other cells of each chart are drawn with --verbose, and on the page.";
        canvas.paragraph(text, 0, Tone::Faint);
    }
}

fn chart_of(
    across: &ChartAcross,
    group: &ChartGroup,
    machines: &[Machine],
    with_published: bool,
) -> Chart {
    let durability = group.durability.as_ref();
    let promise = durability.map_or_else(String::new, |d| format!(", durability: {d}"));
    let on = machines.iter().zip(&group.on);
    let ours = on.map(|(machine, bar)| our_bar(&machine.label, bar.as_ref(), group.is_floor));
    let published = across.published.iter().filter(|_| with_published);
    Chart {
        id: across.id.clone(),
        title: format!(
            "{}: {} / {}{promise}",
            across.title, group.label, across.reference
        ),
        subtitle: String::new(),
        reference: across.reference.clone(),
        ours: ours.collect(),
        published: published
            .map(|published| published_bar(published, across.published_precision))
            .collect(),
        published_label: across.published_label.clone(),
        floor: None,
        note: None,
        promises: None,
        scale: machines::scale(across, std::slice::from_ref(group)),
    }
}

fn our_bar(label: &str, bar: Option<&BarOn>, is_floor: bool) -> Bar {
    let estimate = bar.map(|bar| bar.estimate);
    Bar {
        label: label.to_owned(),
        detail: None,
        value: estimate.map(|e| e.ratio),
        ends: estimate.map(|e| (e.low, e.high)),
        text: estimate.map_or_else(
            || "no data".to_owned(),
            |e| {
                format!(
                    "{} {}",
                    format::ratio(e.ratio),
                    format::interval(e.low, e.high)
                )
            },
        ),
        tooltip: String::new(),
        verdict: bar.map(|bar| bar.verdict),
        is_reference: false,
        is_floor,
    }
}

fn published_bar(published: &PublishedRatio, precision: Option<f64>) -> Bar {
    let ratio = published.ratio;
    Bar {
        label: published.system.clone(),
        detail: None,
        value: Some(ratio),
        ends: precision.map(|precision| ((ratio - precision).max(0.0), ratio + precision)),
        text: format::ratio(ratio),
        tooltip: String::new(),
        verdict: None,
        is_reference: false,
        is_floor: false,
    }
}

/// A row per cell and machine: a column per machine would not fit.
fn ratios(canvas: &mut Canvas, report: &Report<'_>, comparison: &ComparisonAcross, verbose: bool) {
    canvas.heading(&format!("Ratios: {}", comparison.title));
    let columns = [
        ("time/op", 5, true),
        ("ratio", 8, true),
        ("interval", 10, false),
        ("verdict", 7, false),
    ];
    let columns = columns.map(|(title, weight, right)| Column {
        title,
        weight,
        right,
    });
    let cells = comparison.cells.iter();
    let shown = cells.filter(|cell| verbose || cell.role != Role::Floor);
    let rows: Vec<Row> = shown
        .flat_map(|cell| rows(comparison, cell, &report.outcome.machines))
        .collect();
    table::draw(canvas, "cell and machine", &columns, &rows);
}

fn rows(comparison: &ComparisonAcross, cell: &CellAcross, machines: &[Machine]) -> Vec<Row> {
    let empty = || std::iter::repeat_n(span("", Tone::Plain), 4).collect();
    let mut rows = vec![Row {
        label: machines::row_label(comparison, cell),
        fields: empty(),
    }];
    for (machine, found) in machines.iter().zip(&cell.on) {
        let time = found.time_ns.map(|time| format::time(time.estimate));
        let estimate = found.estimate;
        let verdict = match cell.role {
            Role::Baseline if found.time_ns.is_some() => "baseline",
            role => machines::verdict_word(role, found.verdict),
        };
        rows.push(Row {
            label: format!("- {}", machine.label),
            fields: vec![
                span(time.unwrap_or_default(), Tone::Plain),
                span(
                    estimate.map_or_else(String::new, |e| format::ratio(e.ratio)),
                    Tone::Plain,
                ),
                span(
                    estimate.map_or_else(String::new, |e| format::interval(e.low, e.high)),
                    Tone::Plain,
                ),
                span(
                    verdict,
                    if cell.role == Role::Candidate {
                        verdict_tone(found.verdict)
                    } else {
                        Tone::Faint
                    },
                ),
            ],
        });
    }
    rows
}
