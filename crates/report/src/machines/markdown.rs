//! Several results as Markdown.

use super::{Field, Findings, Grid, Head, Report};
use crate::markdown::{Page, escape};
use crate::{format, wording};
use stowplan_analysis::{BarOn, ChartAcross};

pub(super) fn render(report: &Report<'_>) -> String {
    let outcome = &report.outcome;
    let mut page = Page::default();
    page.line(crate::MARK);
    page.paragraph(&format!("# {}", escape(&outcome.title)));
    page.paragraph(&escape(&outcome.question));
    if let Some(source) = &outcome.source {
        page.paragraph(&format!("Published: {}", escape(source)));
    }
    page.heading(2, "On how many machines each finding holds");
    page.paragraph(&format!(
        "{}, scale {}.",
        report.count(),
        escape(&outcome.scale)
    ));
    page.notes(&report.notes());
    for findings in report.findings() {
        self::findings(&mut page, &findings);
    }
    answers(&mut page, report);
    page.heading(2, "Machines");
    grid(&mut page, &report.machine_table());
    for chart in report.charts() {
        self::chart(&mut page, chart, report);
    }
    for comparison in outcome.comparisons.iter().filter(|c| !c.part) {
        page.heading(2, &format!("All ratios: {}", comparison.title));
        page.paragraph(&escape(&format!(
            "Time of each cell over that of {}, with its interval; of the baseline, time per \
             operation.",
            comparison.baseline_label
        )));
        grid(&mut page, &report.comparison_grid(comparison));
    }
    page.finish()
}

fn findings(page: &mut Page, findings: &Findings) {
    page.heading(3, &findings.title);
    if let Some(fastest) = &findings.fastest {
        page.paragraph(&format!("**{}**", escape(fastest)));
    }
    page.list(findings.statements.iter().map(|s| escape(&s.text)));
    page.paragraph(&escape(&findings.noise));
}

fn answers(page: &mut Page, report: &Report<'_>) {
    for answers in report.answers() {
        page.heading(3, &answers.title);
        let lines = answers.lines(report).into_iter();
        page.list(lines.map(|(who, answer)| format!("{}: {}", escape(&who), escape(&answer))));
    }
}

/// A row per machine and per published system, a column per cell.
fn chart(page: &mut Page, chart: &ChartAcross, report: &Report<'_>) {
    page.heading(2, &chart.title);
    page.paragraph(&escape(&format!(
        "Time per operation, as a multiple of {} on the same machine. Shorter is faster.",
        chart.reference
    )));
    page.notes(&report.chart_note(chart).into_iter().collect::<Vec<_>>());
    let column = |title: &str| Head {
        title: title.to_owned(),
        numeric: true,
    };
    let mut heads = vec![Head::text("system")];
    heads.extend(chart.groups.iter().map(|group| column(&group.label)));
    let empty = || Field::text(String::new());
    let machines = report.outcome.machines.iter().enumerate();
    let mut rows: Vec<Vec<Field>> = machines
        .map(|(place, machine)| {
            let mut fields = vec![Field::text(machine.label.clone())];
            let bars = chart.groups.iter();
            fields.extend(bars.map(|group| bar(group.on.get(place).copied().flatten())));
            fields
        })
        .collect();
    if !chart.published.is_empty() {
        let label = chart.published_label.as_deref().unwrap_or("elsewhere");
        heads.push(column(&format!("published: {label}")));
        rows.iter_mut().for_each(|row| row.push(empty()));
        rows.extend(chart.published.iter().map(|published| {
            let mut fields = vec![Field::text(published.system.clone())];
            fields.extend(chart.groups.iter().map(|_| empty()));
            fields.push(Field::text(format::ratio(published.ratio)));
            fields
        }));
    }
    grid(page, &Grid { heads, rows });
}

fn bar(bar: Option<BarOn>) -> Field {
    Field::text(bar.map_or_else(String::new, |bar| {
        let estimate = bar.estimate;
        format!(
            "{} {} {}",
            format::ratio(estimate.ratio),
            format::interval(estimate.low, estimate.high),
            wording::verdict(bar.verdict)
        )
    }))
}

fn grid(page: &mut Page, grid: &Grid) {
    page.line("");
    page.row(grid.heads.iter().map(|head| escape(&head.title)));
    let rules = grid.heads.iter();
    page.row(rules.map(|head| if head.numeric { "---:" } else { "---" }.to_owned()));
    for row in &grid.rows {
        page.row(row.iter().map(|field| escape(&field.text)));
    }
}
