//! Everything about one comparison in one place, folded where there are many: what was found, the
//! latencies, all numbers, and the settings.

use super::element::{anchor, escape, sentence_start};
use super::{folded, overview, table, tail};
use crate::table::settings;
use crate::wording::{self, Findings, Statement};
use crate::{overview as answers, parts, table as tables, total};
use stowplan_analysis::{Analysis, ComparisonOutcome, Verdict};

/// Up to so many comparisons are open from the start.
const FEW: usize = 6;
/// More sentences than this are folded: the table says the same.
const SENTENCES: usize = 8;

/// The section; nothing if nothing was compared.
pub(super) fn comparisons(analysis: &Analysis) -> String {
    let parts = parts::parts(analysis);
    let (of_parts, shown): (Vec<_>, Vec<_>) = analysis
        .comparisons
        .iter()
        .partition(|comparison| parts.contains(&comparison.id));
    if analysis.comparisons.is_empty() {
        return String::new();
    }
    let open = shown.len() <= FEW;
    let items: String = shown
        .into_iter()
        .map(|c| block(analysis, c, open))
        .collect();
    let summary = format!(
        "The {} that matrices and sweeps are made of",
        wording::comparisons(of_parts.len())
    );
    let more = of_parts.into_iter().map(|c| block(analysis, c, false));
    let more = folded(&summary, &more.collect::<String>());
    format!(
        "<section id=\"comparisons\"><h2>Each comparison</h2><p class=\"hint\">Times are per \
         operation. A click on a column title sorts; its meaning shows when it is pointed at or \
         reached by keyboard.</p>{items}{more}</section>\n"
    )
}

fn block(analysis: &Analysis, comparison: &ComparisonOutcome, open: bool) -> String {
    let findings = wording::findings_of(analysis, comparison);
    let (kind, answer) = answers::in_a_line(analysis, comparison);
    let open = if open { " open" } else { "" };
    format!(
        "<details class=\"comparison\" id=\"finding-{}\"{open}><summary><h3>{}</h3>\
         <span class=\"badge {}\">{}</span> <span class=\"found\">{}</span></summary>{}{}{}{}\
         </details>\n",
        anchor(&comparison.id),
        escape(&comparison.title),
        overview::class(kind),
        answers::name(kind),
        escape(&sentence_start(&answer)),
        verdict(&findings),
        tail::figure(comparison),
        numbers(analysis, comparison),
        settings_of(comparison)
    )
}

fn verdict(findings: &Findings) -> String {
    let (first, more): (Vec<&Statement>, Vec<&Statement>) = findings
        .statements
        .iter()
        .partition(|statement| statement.to_baseline);
    let list = |statements: &[&Statement], what: &str| {
        let list = statement_list(statements);
        if statements.len() > SENTENCES || !what.is_empty() {
            let s = if statements.len() == 1 { "" } else { "s" };
            return folded(
                &format!("{}{what} ratio{s} in sentences", statements.len()),
                &list,
            );
        }
        list
    };
    format!(
        "<div class=\"verdict\"><p class=\"headline\">{}</p><p class=\"advice\">{}</p>{}{}\
         <p class=\"noise\">{}</p></div>",
        escape(&findings.headline),
        escape(&findings.advice),
        list(&first, ""),
        list(&more, " more"),
        escape(&findings.noise)
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

fn numbers(analysis: &Analysis, comparison: &ComparisonOutcome) -> String {
    let delay = comparison.delay_share.map_or_else(String::new, |share| {
        let share = crate::format::percent(share);
        format!(" Blocks waited for a CPU for {share} of their time.")
    });
    let metric = wording::metric(comparison.metric);
    let caption = format!("All numbers: {}", comparison.title);
    format!(
        "<section class=\"numbers\" id=\"cells-{}\"><h4>All numbers</h4><p>Ratios are of {metric}.\
         {delay}</p>{}{}{}{}{}</section>",
        anchor(&comparison.id),
        table::table(&caption, &tables::cells(comparison)),
        parts_of(comparison),
        not_applicable(comparison),
        totals(analysis, comparison),
        latencies(comparison)
    )
}

/// The cells that only explain others.
fn parts_of(comparison: &ComparisonOutcome) -> String {
    let Some(parts) = tables::parts(comparison) else {
        return String::new();
    };
    let caption = format!("Parts: {}", comparison.title);
    let table = table::table(&caption, &parts);
    format!("<p>Parts, which only explain others and are compared with nothing:</p>{table}")
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

fn settings_of(comparison: &ComparisonOutcome) -> String {
    let caption = format!("Settings: {}", comparison.title);
    let table = table::table(&caption, &settings(comparison));
    folded(
        "Settings of each cell, as asked for and as the engines report them",
        &format!("<div class=\"settings\">{table}</div>"),
    )
}
