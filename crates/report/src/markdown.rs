//! The report as Markdown: `summary.md`.

use crate::chart::{Bar, Chart, charts};
use crate::table::{self, Table};
use crate::{facts, method, overview, wording};
use stowplan_analysis::{Analysis, ComparisonOutcome};

/// The report as one Markdown document.
#[must_use]
pub fn render(analysis: &Analysis) -> String {
    let study = &analysis.run.plan.study;
    let mut page = Page::default();
    page.line(crate::MARK);
    page.paragraph(&format!("# {}", escape(&study.title)));
    page.paragraph(&escape(&study.question));
    if let Some(source) = &study.source {
        page.paragraph(&format!("Published: {}", escape(source)));
    }
    page.overview(analysis);
    page.verdicts(analysis);
    page.charts(analysis);
    page.comparisons(analysis);
    page.space(analysis);
    page.facts(analysis);
    page.settings(analysis);
    page.method(analysis);
    page.text
}

/// The document as far as it is written.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn paragraph(&mut self, text: &str) {
        self.line("");
        self.line(text);
    }

    fn heading(&mut self, level: usize, title: &str) {
        self.paragraph(&format!("{} {}", "#".repeat(level), escape(title)));
    }

    fn list(&mut self, items: impl IntoIterator<Item = String>) {
        for (index, item) in items.into_iter().enumerate() {
            if index == 0 {
                self.line("");
            }
            self.line(&format!("- {item}"));
        }
    }

    fn table(&mut self, table: &Table) {
        let titles = table.columns.iter().map(|column| column.title.to_owned());
        let rules = table
            .columns
            .iter()
            .map(|column| if column.numeric { "---:" } else { "---" }.to_owned());
        self.line("");
        self.row(titles);
        self.row(rules);
        for row in &table.rows {
            self.row(row.iter().map(|entry| escape(&entry.text)));
        }
    }

    fn row(&mut self, fields: impl IntoIterator<Item = String>) {
        let fields: Vec<String> = fields.into_iter().collect();
        self.line(&format!("| {} |", fields.join(" | ")));
    }

    fn overview(&mut self, analysis: &Analysis) {
        self.heading(2, "What to do on this machine");
        if let Some(ending) = wording::ending(analysis) {
            self.paragraph(&format!("**{ending}**"));
        }
        let rows = overview::rows(analysis);
        if !rows.is_empty() {
            self.line("");
            self.row(["comparison", "answer", "why", "noise"].map(str::to_owned));
            self.row(["---", "---", "---", "---:"].map(str::to_owned));
        }
        for row in rows {
            let answer = format!("{}: **{}**", row.kind.name(), escape(&row.answer));
            let (title, reason) = (escape(&row.title), escape(&row.reason));
            self.row([title, answer, reason, row.noise.unwrap_or_default()]);
        }
        if let Some(evidence) = overview::evidence(analysis) {
            self.paragraph(&escape(&evidence));
        }
    }

    fn verdicts(&mut self, analysis: &Analysis) {
        self.heading(2, "Findings");
        for findings in wording::findings(analysis) {
            self.heading(3, &findings.title);
            self.paragraph(&format!("**{}**", escape(&findings.headline)));
            self.paragraph(&escape(&findings.advice));
            self.list(findings.statements.iter().map(|s| escape(&s.text)));
            self.paragraph(&escape(&findings.noise));
        }
    }

    fn charts(&mut self, analysis: &Analysis) {
        for chart in charts(analysis) {
            self.heading(2, &chart.title);
            self.paragraph(&escape(&chart.subtitle));
            if let Some(note) = &chart.note {
                self.paragraph(&format!("**{}**", escape(note)));
            }
            self.chart_table(&chart);
            if let Some((label, ratio)) = &chart.floor {
                let ratio = crate::format::ratio(*ratio);
                self.paragraph(&format!("Floor: {ratio} ({}).", escape(label)));
            }
        }
    }

    fn chart_table(&mut self, chart: &Chart) {
        self.line("");
        self.row(["", "ratio", "verdict"].map(str::to_owned));
        self.row(["---", "---:", "---"].map(str::to_owned));
        let row = |bar: &Bar, published: bool| {
            let detail = bar.detail.as_ref();
            let detail = detail.map(|d| format!(" ({d})")).unwrap_or_default();
            let verdict = if bar.is_reference {
                "reference"
            } else if published {
                "published"
            } else {
                bar.verdict.map_or("", wording::verdict)
            };
            let label = escape(&format!("{}{detail}", bar.label));
            [label, escape(&bar.text), verdict.to_owned()]
        };
        for bar in &chart.ours {
            self.row(row(bar, false));
        }
        for bar in &chart.published {
            self.row(row(bar, true));
        }
        if let Some(label) = chart
            .published_label
            .as_ref()
            .filter(|_| !chart.published.is_empty())
        {
            self.paragraph(&format!("Published: {}.", escape(label)));
        }
    }

    fn comparisons(&mut self, analysis: &Analysis) {
        for comparison in &analysis.comparisons {
            self.heading(2, &format!("All numbers: {}", comparison.title));
            let metric = wording::metric(comparison.metric);
            self.paragraph(&format!("Ratios are of {metric}."));
            self.table(&table::cells(comparison));
            self.not_applicable(comparison);
        }
        if !analysis.failures.is_empty() {
            self.heading(2, "Failed cells");
            self.list(
                analysis
                    .failures
                    .iter()
                    .map(|f| format!("{}: {}", escape(&f.cell.0), escape(&f.message))),
            );
        }
    }

    fn not_applicable(&mut self, comparison: &ComparisonOutcome) {
        let cells = comparison.not_applicable.iter();
        self.list(
            cells.map(|(cell, why)| format!("{}: not applicable: {}", escape(cell), escape(why))),
        );
    }

    fn space(&mut self, analysis: &Analysis) {
        if !analysis.space.is_empty() {
            self.heading(2, "Disk space");
            self.table(&table::space(analysis));
        }
    }

    fn facts(&mut self, analysis: &Analysis) {
        if !analysis.warnings.is_empty() {
            self.heading(2, "Warnings");
            let warnings = analysis.warnings.iter();
            self.list(warnings.map(|w| escape(&wording::warning(w))));
        }
        self.heading(2, "Environment");
        let list = facts::environment(analysis);
        self.list(
            list.iter()
                .map(|(name, value)| format!("{name}: {}", escape(value))),
        );
        if let Some(cost) = facts::harness_cost(analysis) {
            self.paragraph(&escape(&cost));
        }
    }

    fn settings(&mut self, analysis: &Analysis) {
        self.heading(2, "Settings");
        for comparison in &analysis.comparisons {
            self.heading(3, &comparison.title);
            self.table(&table::settings(comparison));
        }
    }

    fn method(&mut self, analysis: &Analysis) {
        self.heading(2, "Method");
        self.list(
            method::notes(analysis)
                .iter()
                .map(|note| format!("**{}.** {}", note.heading, escape(&note.text))),
        );
    }
}

/// Text that Markdown must not read as anything else: labels come from study files.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_cannot_break_a_table_or_run() {
        assert_eq!(escape("a|b\n<script>`"), "a\\|b &lt;script&gt;\\`");
    }
}
