//! The report as one HTML file that needs no network.
//!
//! Bars are SVG made here rather than by a plotting library: a library draws text and bars into
//! one picture of fixed size, whose labels shrink to nothing on a phone, cannot wrap, and cannot
//! follow the reader's font and colour scheme. Here each bar is a small SVG that stretches in one
//! direction only, and every label is ordinary text beside it.

mod bars;
pub(crate) mod calibration;
mod chart;
mod comparison;
mod element;
mod embed;
mod growth;
mod ladder;
mod lines;
pub(crate) mod machines;
mod matrix;
mod overview;
mod plot;
mod svg;
mod sweep;
mod table;
mod tail;

use crate::document::Sign;
use crate::facts::{Facts, environment, harness_cost};
use crate::table::space;
use crate::{method, parts, wording};
use element::escape;
use stowplan_analysis::{Analysis, SpaceRow};

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

const COLOURS: &str = "Okabe and Ito’s palette (Color Universal Design, 2008), which readers without \
                       full colour vision can tell apart; shapes, dashes, signs and words say the \
                       same without any colour.";

/// One drawing of the study.
struct Figure {
    /// Its element.
    id: String,
    /// What it shows.
    title: String,
    html: String,
}

impl Figure {
    fn new(id: String, title: &str, html: String) -> Self {
        let title = title.to_owned();
        Self { id, title, html }
    }
}

/// The report as one HTML document; `raw_result` is the text of `result.jsonl`, which is embedded
/// for download.
#[must_use]
pub fn render(analysis: &Analysis, raw_result: &str) -> String {
    let study = &analysis.run.plan.study;
    let title = escape(&study.title);
    let figures = figures(analysis);
    let overview = overview::overview(analysis);
    let why = ladder::section(analysis);
    let comparisons = comparison::comparisons(analysis);
    let space = space_section(analysis);
    let warnings = warnings(analysis);
    let contents = contents(&[
        ("overview", "Answers", !overview.is_empty()),
        ("charts", "Charts", !figures.is_empty()),
        ("why", "Why", !why.is_empty()),
        ("comparisons", "Each comparison", !comparisons.is_empty()),
        ("space", "Disk space", !space.is_empty()),
        ("warnings", "Warnings", !warnings.is_empty()),
        ("environment", "Environment", true),
        ("method", "Method", true),
        ("raw", "Raw result", true),
    ]);
    fill(
        TEMPLATE,
        &[
            ("mark", crate::MARK),
            ("title", &title),
            ("style", STYLE),
            ("script", SCRIPT),
            ("question", &escape(&study.question)),
            ("byline", &byline(analysis)),
            ("contents", &contents),
            ("ending", &ending_notice(analysis)),
            ("qualified", &warnings_notice(analysis)),
            ("overview", &overview),
            ("charts", &charts(&figures)),
            ("why", &why),
            ("comparisons", &comparisons),
            ("space", &space),
            ("warnings", &warnings),
            ("environment", &environment_section(analysis)),
            ("method", &method_section(analysis)),
            ("raw", &embed::raw_result(raw_result)),
        ],
    )
}

/// Every drawing of the study, the one that answers its question first.
fn figures(analysis: &Analysis) -> Vec<Figure> {
    let mut figures = matrix::figures(analysis);
    figures.extend(sweep::figures(analysis));
    figures.extend(chart::figures(analysis));
    figures.extend(bars::figures(analysis));
    figures.extend(lines::figures(analysis));
    figures.extend(growth::figures(analysis));
    figures
}

/// The drawings, with links to those that are not seen at once.
fn charts(figures: &[Figure]) -> String {
    let Some((first, more)) = figures.split_first() else {
        return String::new();
    };
    let links = more.iter().map(|figure| {
        let title = escape(&figure.title);
        format!("<li><a href=\"#{}\">{title}</a></li>", figure.id)
    });
    let links: String = links.collect();
    let links = if more.len() > 1 {
        format!("<p class=\"hint\">More charts:</p><ul class=\"jump\">{links}</ul>")
    } else {
        String::new()
    };
    let more: String = more.iter().map(|figure| figure.html.as_str()).collect();
    format!(
        "<section id=\"charts\"><h2>{}</h2>{}{links}{more}</section>\n",
        if more.is_empty() { "Chart" } else { "Charts" },
        first.html
    )
}

/// Links to the sections that there are.
fn contents(sections: &[(&str, &str, bool)]) -> String {
    let there = sections.iter().filter(|(_, _, there)| *there);
    let items = there.map(|(id, title, _)| format!("<li><a href=\"#{id}\">{title}</a></li>"));
    items.collect()
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
        format!("scale {}", run.plan.scale),
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

/// What must be known before anything else: that the run is not whole.
fn ending_notice(analysis: &Analysis) -> String {
    wording::ending(analysis).map_or_else(String::new, |ending| notices(&[ending]))
}

/// What qualifies the answers, with links.
fn warnings_notice(analysis: &Analysis) -> String {
    let mut counts = Vec::new();
    for (count, what) in [
        (analysis.warnings.len(), "warning"),
        (analysis.failures.len(), "failed cell"),
    ] {
        if count > 0 {
            let s = if count == 1 { "" } else { "s" };
            counts.push(format!("<a href=\"#warnings\">{count} {what}{s}</a>"));
        }
    }
    if counts.is_empty() {
        return String::new();
    }
    format!(
        "<p class=\"notice\">This run has {}.</p>\n",
        wording::list(&counts)
    )
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
        "<dl class=\"facts method\">{}<div><dt>Colours</dt><dd>{COLOURS}</dd></div></dl>",
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
