//! The report as one HTML file that needs no network.
//!
//! Bars are SVG made here rather than by a plotting library: a library draws text and bars into
//! one picture of fixed size, whose labels shrink to nothing on a phone, cannot wrap, and cannot
//! follow the reader's font and colour scheme. Here each bar is a small SVG that stretches in one
//! direction only, and every label is ordinary text beside it.

mod bars;
mod chart;
mod element;
mod embed;
mod growth;
mod lines;
mod matrix;
mod overview;
mod plot;
mod svg;
mod sweep;
mod table;

use crate::facts::{Facts, environment, harness_cost};
use crate::sign::Sign;
use crate::table::{settings, space};
use crate::wording::{self, Findings, Statement};
use crate::{labels, method, parts, table as tables, total};
use element::{anchor, escape};
use stowplan_analysis::{Analysis, ComparisonOutcome, SpaceRow, Verdict};

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The report as one HTML document; `raw_result` is the text of `result.jsonl`, which is embedded
/// for download.
#[must_use]
pub fn render(analysis: &Analysis, raw_result: &str) -> String {
    let analysis = &*labels::told_apart(analysis);
    let study = &analysis.run.plan.study;
    let title = escape(&study.title);
    fill(
        TEMPLATE,
        &[
            ("mark", crate::MARK),
            ("title", &title),
            ("style", STYLE),
            ("script", SCRIPT),
            ("question", &escape(&study.question)),
            ("byline", &byline(analysis)),
            ("warnings-notice", &warnings_notice(analysis)),
            ("overview", &overview::overview(analysis)),
            ("by-size", &by_size(analysis)),
            ("verdicts", &verdicts(analysis)),
            ("charts", &chart::charts(analysis)),
            ("growth", &growth::growth(analysis)),
            ("latency", &chart::latency(analysis)),
            ("tables", &comparison_tables(analysis)),
            ("space", &space_section(analysis)),
            ("warnings", &warnings(analysis)),
            ("settings", &settings_section(analysis)),
            ("environment", &environment_section(analysis)),
            ("method", &method_section(analysis)),
            ("raw", &embed::raw_result(raw_result)),
        ],
    )
}

/// The template with `{{name}}` replaced. In one pass, so that braces in a value stay text.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        let Some((name, after)) = after.split_once("}}") else {
            break;
        };
        let value = values.iter().find(|(known, _)| *known == name);
        page.push_str(value.map_or("", |(_, value)| value));
        rest = after;
    }
    page.push_str(rest);
    page
}

fn byline(analysis: &Analysis) -> String {
    let run = &analysis.run;
    let machine = &run.environment;
    let cpu = machine
        .cpu
        .clone()
        .unwrap_or_else(|| machine.architecture.clone());
    let parts = [
        machine.host.clone(),
        format!("{cpu}, {} CPUs", machine.cpus),
        machine.os.clone(),
        machine.file_system.kind.clone(),
        run.started.clone(),
    ];
    let parts = parts.iter().filter(|part| !part.is_empty());
    let facts = parts.map(|part| format!("<span>{}</span>", escape(part)));
    let mut line: String = facts.collect();
    // Only an address that is visibly one becomes a link: study files are written by anyone.
    if let Some(source) = run
        .plan
        .study
        .source
        .as_ref()
        .filter(|s| s.starts_with("https://"))
    {
        let source = escape(source);
        line.push_str(&format!(
            "<span><a href=\"{source}\" rel=\"noreferrer\">the published study</a></span>"
        ));
    }
    line
}

fn warnings_notice(analysis: &Analysis) -> String {
    let mut notice = String::new();
    if let Some(ending) = wording::ending(analysis) {
        notice.push_str(&format!("<p class=\"notice\">{}</p>", escape(&ending)));
    }
    let mut counts = Vec::new();
    for (count, what, target) in [
        (analysis.warnings.len(), "warning", "#warnings"),
        (analysis.failures.len(), "failed cell", "#warnings"),
    ] {
        if count > 0 {
            let s = if count == 1 { "" } else { "s" };
            counts.push(format!("<a href=\"{target}\">{count} {what}{s}</a>"));
        }
    }
    if !counts.is_empty() {
        notice.push_str(&format!(
            "<p class=\"notice\">This run has {}.</p>",
            wording::list(&counts)
        ));
    }
    notice
}

/// What depends on the size of the values: matrices, then sweeps; nothing if the run has neither.
fn by_size(analysis: &Analysis) -> String {
    let matrices = matrix::matrices(analysis);
    let sweeps = sweep::sweeps(analysis);
    if matrices.is_empty() && sweeps.is_empty() {
        return String::new();
    }
    format!("<section id=\"by-size\"><h2>By size of the values</h2>{matrices}{sweeps}</section>\n")
}

/// Signs and what they say.
fn sign_legend(legend: &[(Sign, String)]) -> String {
    let items = legend.iter().map(|(sign, words)| {
        format!(
            "<span><b class=\"sign\" aria-hidden=\"true\">{}</b> {}</span>",
            sign.glyph(),
            escape(words)
        )
    });
    items.collect()
}

/// Paragraphs that must not be overlooked.
fn notices(notes: &[String]) -> String {
    let notes = notes.iter();
    notes
        .map(|note| format!("<p class=\"notice\">{}</p>", escape(note)))
        .collect()
}

/// Content that shows when asked for; nothing without content.
fn folded(summary: &str, content: &str) -> String {
    if content.is_empty() {
        return String::new();
    }
    format!(
        "<details class=\"folded\"><summary>{}</summary>{content}</details>\n",
        escape(summary)
    )
}

/// Something for every comparison: those that are parts of a matrix or a sweep are folded.
fn for_each_comparison(
    analysis: &Analysis,
    what: &str,
    draw: impl Fn(&ComparisonOutcome) -> String,
) -> String {
    let parts = parts::parts(analysis);
    let (folded_ones, shown): (Vec<_>, Vec<_>) = analysis
        .comparisons
        .iter()
        .partition(|comparison| parts.contains(&comparison.id));
    let summary = format!(
        "{what} the {} that matrices and sweeps are made of",
        wording::comparisons(folded_ones.len())
    );
    let shown: String = shown.into_iter().map(&draw).collect();
    let content: String = folded_ones.into_iter().map(&draw).collect();
    format!("{shown}{}", folded(&summary, &content))
}

fn verdicts(analysis: &Analysis) -> String {
    for_each_comparison(analysis, "Findings of", |comparison| {
        verdict_card(&wording::findings_of(analysis, comparison))
    })
}

fn verdict_card(findings: &Findings) -> String {
    let (first, more): (Vec<&Statement>, Vec<&Statement>) = findings
        .statements
        .iter()
        .partition(|statement| statement.to_baseline);
    let more = if more.is_empty() {
        String::new()
    } else {
        format!(
            "<details><summary>{} more ratios</summary>{}</details>",
            more.len(),
            statement_list(&more)
        )
    };
    format!(
        "<article class=\"verdict\" id=\"finding-{}\"><h3>{}</h3><p class=\"headline\">{}</p>\
         <p class=\"advice\">{}</p>{}{more}<p class=\"noise\">{} \
         <a href=\"#cells-{}\">All numbers</a></p></article>\n",
        anchor(&findings.id),
        escape(&findings.title),
        escape(&findings.headline),
        escape(&findings.advice),
        statement_list(&first),
        escape(&findings.noise),
        anchor(&findings.id)
    )
}

fn statement_list(statements: &[&Statement]) -> String {
    if statements.is_empty() {
        return String::new();
    }
    let items = statements.iter().map(|statement| {
        let badge = badge(statement.verdict);
        format!("<li>{badge}<span>{}</span></li>", escape(&statement.text))
    });
    format!(
        "<ul class=\"statements\">{}</ul>",
        items.collect::<String>()
    )
}

/// A verdict as a small label; its colour repeats what its text says.
fn badge(verdict: Verdict) -> String {
    let class = match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Equivalent | Verdict::SmallDifference => "same",
        Verdict::Unresolved | Verdict::Unreliable | Verdict::NoData => "open",
    };
    let word = wording::verdict(verdict);
    format!("<span class=\"badge {class}\">{word}</span>")
}

fn comparison_tables(analysis: &Analysis) -> String {
    for_each_comparison(analysis, "Numbers of", |comparison| {
        comparison_table(analysis, comparison)
    })
}

fn comparison_table(analysis: &Analysis, comparison: &ComparisonOutcome) -> String {
    let delay = comparison.delay_share.map_or_else(String::new, |share| {
        let share = crate::format::percent(share);
        format!(" Blocks waited for a CPU for {share} of their time.")
    });
    let metric = wording::metric(comparison.metric);
    let not_applicable = not_applicable(comparison);
    format!(
        "<section id=\"cells-{}\"><h3>{}</h3><p>Ratios are of {metric}.{delay}</p>{}\
         {not_applicable}{}{}</section>\n",
        anchor(&comparison.id),
        escape(&comparison.title),
        table::table(&comparison.title, &tables::cells(comparison)),
        totals(analysis, comparison),
        latencies(comparison)
    )
}

/// Latency by what the operations of a mix did.
fn latencies(comparison: &ComparisonOutcome) -> String {
    let Some(latencies) = tables::latencies(comparison) else {
        return String::new();
    };
    let caption = format!("Latency by operation: {}", comparison.title);
    let table = table::table(&caption, &latencies);
    format!("<p>Latency by operation, wall time:</p>{table}")
}

/// What inserts take altogether; nothing for anything else.
fn totals(analysis: &Analysis, comparison: &ComparisonOutcome) -> String {
    let Some(totals) = total::totals(analysis, comparison) else {
        return String::new();
    };
    let caption = format!("Totals: {}", comparison.title);
    let notes = totals.notes.iter();
    let notes = notes.map(|note| format!("<p>{}</p>", escape(note)));
    format!(
        "<p>{}</p>{}{}",
        escape(&totals.caption),
        table::table(&caption, &total::table(&totals)),
        notes.collect::<String>()
    )
}

fn not_applicable(comparison: &ComparisonOutcome) -> String {
    if comparison.not_applicable.is_empty() {
        return String::new();
    }
    let cells = comparison.not_applicable.iter();
    let items =
        cells.map(|(cell, why)| format!("<li><b>{}</b>: {}</li>", escape(cell), escape(why)));
    format!(
        "<p>Not applicable:</p><ul>{}</ul>",
        items.collect::<String>()
    )
}

fn space_section(analysis: &Analysis) -> String {
    if analysis.space.is_empty() {
        return String::new();
    }
    let (shown, of_parts) = parts::space(analysis);
    let draw = |rows: &[&SpaceRow]| {
        if rows.is_empty() {
            return String::new();
        }
        let chart = chart::space(analysis, rows);
        format!("{chart}{}", table::table("Disk space", &space(rows)))
    };
    let summary = format!(
        "Disk space of the {} stores of matrices and sweeps",
        of_parts.len()
    );
    format!(
        "<section id=\"space\"><h2>Disk space</h2>{}{}</section>\n",
        draw(&shown),
        folded(&summary, &draw(&of_parts))
    )
}

fn warnings(analysis: &Analysis) -> String {
    if analysis.warnings.is_empty() && analysis.failures.is_empty() {
        return String::new();
    }
    let warnings = analysis
        .warnings
        .iter()
        .map(|warning| format!("<li>{}</li>", escape(&wording::warning(warning))));
    let failures = analysis.failures.iter().map(|failure| {
        let output = if failure.stderr.trim().is_empty() {
            String::new()
        } else {
            format!("<pre>{}</pre>", escape(failure.stderr.trim_end()))
        };
        format!(
            "<li><b>{} failed.</b> {}{output}</li>",
            escape(&failure.cell.0),
            escape(&failure.message)
        )
    });
    format!(
        "<section id=\"warnings\"><h2>Warnings</h2><ul class=\"warnings\">{}</ul></section>\n",
        warnings.chain(failures).collect::<String>()
    )
}

fn settings_section(analysis: &Analysis) -> String {
    for_each_comparison(analysis, "Settings of", |comparison| {
        let caption = format!("Settings: {}", comparison.title);
        format!(
            "<h3>{}</h3>{}",
            escape(&comparison.title),
            table::table(&caption, &settings(comparison))
        )
    })
}

fn environment_section(analysis: &Analysis) -> String {
    let cost = harness_cost(analysis)
        .map(|cost| format!("<p>{}</p>", escape(&cost)))
        .unwrap_or_default();
    let mut preparation = String::new();
    for record in &analysis.preparation {
        preparation.push_str(&format!(
            "<li>{}: {} values, {}, in {}</li>",
            escape(&record.what),
            crate::format::count(record.values),
            stowplan_model::format_bytes(record.bytes),
            crate::format::seconds(record.seconds)
        ));
    }
    if !preparation.is_empty() {
        preparation = format!("<h3>Preparing</h3><ul>{preparation}</ul>");
    }
    format!("{}{cost}{preparation}", fact_list(&environment(analysis)))
}

fn fact_list(facts: &Facts) -> String {
    let items = facts.iter().map(|(name, value)| {
        format!(
            "<div><dt>{}</dt><dd>{}</dd></div>",
            escape(name),
            escape(value)
        )
    });
    format!("<dl class=\"facts\">{}</dl>", items.collect::<String>())
}

fn method_section(analysis: &Analysis) -> String {
    let notes = method::notes(analysis);
    let items = notes.iter().map(|note| {
        format!(
            "<div><dt>{}</dt><dd>{}</dd></div>",
            escape(note.heading),
            escape(&note.text)
        )
    });
    format!(
        "<dl class=\"facts method\">{}</dl>",
        items.collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_in_a_value_are_not_filled_again() {
        let values = [("a", "{{b}}"), ("b", "no")];
        assert_eq!(fill("<{{a}}|{{b}}|{{unknown}}>", &values), "<{{b}}|no|>");
    }
}
