//! The report as Markdown: `summary.md`.

use crate::chart::{Bar, Chart, charts};
use crate::document::Sign;
use crate::matrix::{Field, Matrix};
use crate::steers;
use crate::table::{self, Table};
use crate::{bars, facts, ladder, lines, matrix, method, overview, parts, sweep, total, wording};
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
    page.matrices(analysis);
    page.sweeps(analysis);
    page.verdicts(analysis);
    page.charts(analysis);
    page.measured(analysis);
    page.why(analysis);
    page.comparisons(analysis);
    page.space(analysis);
    page.facts(analysis);
    page.settings(analysis);
    page.method(analysis);
    page.finish()
}

/// The document as far as it is written.
#[derive(Default)]
pub(crate) struct Page {
    text: String,
}

impl Page {
    pub(crate) fn finish(self) -> String {
        self.text
    }

    pub(crate) fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub(crate) fn paragraph(&mut self, text: &str) {
        self.line("");
        self.line(text);
    }

    pub(crate) fn heading(&mut self, level: usize, title: &str) {
        self.paragraph(&format!("{} {}", "#".repeat(level), escape(title)));
    }

    pub(crate) fn list(&mut self, items: impl IntoIterator<Item = String>) {
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

    pub(crate) fn row(&mut self, fields: impl IntoIterator<Item = String>) {
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
            let answer = format!("{}: **{}**", overview::name(row.kind), escape(&row.answer));
            let (title, reason) = (escape(&row.title), escape(&row.reason));
            self.row([title, answer, reason, row.noise.unwrap_or_default()]);
        }
        if let Some(evidence) = overview::evidence(analysis) {
            self.paragraph(&escape(&evidence));
        }
    }

    fn verdicts(&mut self, analysis: &Analysis) {
        self.heading(2, "Findings");
        for comparison in parts::singles(analysis) {
            let findings = wording::findings_of(analysis, comparison);
            self.heading(3, &findings.title);
            self.paragraph(&format!("**{}**", escape(&findings.headline)));
            self.paragraph(&escape(&findings.advice));
            self.list(findings.statements.iter().map(|s| escape(&s.text)));
            self.paragraph(&escape(&findings.noise));
        }
        let parts = parts::count(analysis);
        if parts > 0 {
            self.paragraph(&format!(
                "The {} that matrices and sweeps are made of are left out here; the page and the \
                 other formats have them.",
                wording::comparisons(parts)
            ));
        }
    }

    fn matrices(&mut self, analysis: &Analysis) {
        for matrix in matrix::matrices(analysis) {
            self.heading(2, matrix.title);
            self.paragraph(&escape(&matrix.subtitle));
            self.notes(&matrix.notes);
            self.heat_map(&matrix, &matrix.ours);
            self.legend(&matrix.legend);
            if let Some((label, fields)) = &matrix.published {
                self.paragraph(&format!("Published: {}", escape(label)));
                self.heat_map(&matrix, fields);
            }
            self.heading(3, "Rules of thumb on this machine");
            self.list(matrix.rules.iter().map(|rule| escape(rule)));
            if let Some(remark) = matrix.remark {
                self.paragraph(&escape(remark));
            }
            self.paragraph(&escape(&matrix.evidence));
        }
    }

    fn heat_map(&mut self, matrix: &Matrix<'_>, rows: &[Vec<Field>]) {
        let heads = std::iter::once(&matrix.row_title).chain(&matrix.columns);
        let heads: Vec<String> = heads.map(|head| escape(head)).collect();
        self.line("");
        self.row(heads.clone());
        self.row(heads.iter().map(|_| "---:".to_owned()));
        for (head, fields) in matrix.rows.iter().zip(rows) {
            let fields = fields.iter().map(|field| match field.sign {
                Some(sign) => format!("{} {}", field.text, sign.glyph()),
                None => field.text.clone(),
            });
            self.row(std::iter::once(escape(head)).chain(fields));
        }
    }

    fn sweeps(&mut self, analysis: &Analysis) {
        for group in sweep::groups(analysis) {
            self.heading(2, &group.title);
            self.paragraph(&escape(&group.subtitle));
            for sweep in &group.sweeps {
                if let Some(setting) = &sweep.setting {
                    self.heading(3, &format!("With {setting}"));
                }
                self.paragraph(&format!("**{}**", escape(&sweep.headline)));
                self.notes(&sweep.notes);
                self.table(&sweep.table);
                self.paragraph(&escape(&sweep.evidence));
            }
        }
    }

    pub(crate) fn notes(&mut self, notes: &[String]) {
        for note in notes {
            self.paragraph(&format!("**{}**", escape(note)));
        }
    }

    fn legend(&mut self, legend: &[(Sign, String)]) {
        let items = legend
            .iter()
            .map(|(sign, words)| format!("{} {}", sign.glyph(), escape(words)));
        let text = items.collect::<Vec<_>>().join("; ");
        self.paragraph(&format!("{text}."));
    }

    /// Bars and lines of measured quantities.
    fn measured(&mut self, analysis: &Analysis) {
        for chart in bars::charts(analysis) {
            self.heading(2, &chart.title);
            self.paragraph(&escape(&chart.subtitle));
            for group in &chart.groups {
                let notes = group.notes.iter();
                let notes: Vec<String> = notes.map(|n| format!("{}: {n}", group.title)).collect();
                self.notes(&notes);
            }
            self.table(&chart.table);
            let remarks = chart.groups.iter();
            let remarks = remarks.flat_map(|g| g.remarks.iter().map(move |r| (&g.title, r)));
            self.list(remarks.map(|(title, remark)| escape(&format!("{title}: {remark}"))));
        }
        for chart in lines::charts(analysis) {
            self.heading(2, &chart.title);
            self.paragraph(&escape(&chart.subtitle));
            self.notes(&chart.notes);
            self.table(&chart.table);
        }
    }

    /// Costs taken apart.
    fn why(&mut self, analysis: &Analysis) {
        for group in ladder::groups(analysis) {
            self.heading(2, &format!("Why: {}", group.title));
            self.notes(&group.notes);
            for claim in &group.claims {
                let verdict = ladder::verdict(claim.verdict);
                self.paragraph(&format!("{}: **{verdict}**", escape(&claim.claim)));
                self.paragraph(&escape(&claim.found));
            }
            for found in &group.ladders {
                self.heading(3, &found.title);
                if !found.pieces.is_empty() {
                    self.table(&found.table);
                }
                self.list(found.notes.iter().map(|note| escape(note)));
            }
            self.list(group.cold.iter().map(|sentence| escape(sentence)));
            if let Some(counts) = &group.counts {
                self.paragraph("Asked of the system, per operation:");
                self.table(counts);
            }
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
        for comparison in parts::singles(analysis) {
            self.heading(2, &format!("All numbers: {}", comparison.title));
            let metric = wording::metric(comparison.metric);
            self.paragraph(&format!("Ratios are of {metric}."));
            self.table(&table::cells(comparison));
            if let Some(parts) = table::parts(comparison) {
                self.paragraph("Parts, which only explain others and are compared with nothing:");
                self.table(&parts);
            }
            self.not_applicable(comparison);
            self.totals(analysis, comparison);
            if let Some(latencies) = table::latencies(comparison) {
                self.paragraph("Latency by operation, wall time:");
                self.table(&latencies);
            }
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

    fn totals(&mut self, analysis: &Analysis, comparison: &ComparisonOutcome) {
        if let Some(totals) = total::totals(analysis, comparison) {
            self.paragraph(&escape(&totals.caption));
            self.table(&total::table(&totals));
            for note in &totals.notes {
                self.paragraph(&escape(note));
            }
        }
    }

    fn not_applicable(&mut self, comparison: &ComparisonOutcome) {
        let cells = comparison.not_applicable.iter();
        self.list(
            cells.map(|(cell, why)| format!("{}: not applicable: {}", escape(cell), escape(why))),
        );
    }

    fn space(&mut self, analysis: &Analysis) {
        let (shown, _) = parts::space(analysis);
        if !shown.is_empty() {
            self.heading(2, "Disk space");
            self.table(&table::space(&shown));
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
        for comparison in parts::singles(analysis) {
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
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    // Where a line begins with it, a heading, an item, a rule or a block.
    let begins = |what: &&str| text.starts_with(what);
    if ["#", "- ", "+ ", "--", "=="].iter().any(begins) {
        escaped.push('\\');
    }
    for character in text.chars() {
        match character {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            c if steers(c) => escaped.push(' '),
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
        assert_eq!(escape("# a \u{202e}b"), "\\# a  b");
        assert_eq!(escape("-->"), "\\--&gt;");
    }
}
