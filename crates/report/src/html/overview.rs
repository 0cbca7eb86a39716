//! The first thing to read: a row per comparison, with what to do and why.

use super::element::{anchor, escape};
use crate::overview::{self, Kind, Row};
use stowplan_analysis::Analysis;

/// The section with all answers; nothing if nothing was compared.
pub(super) fn overview(analysis: &Analysis) -> String {
    let rows: String = overview::rows(analysis).iter().map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    let evidence = overview::evidence(analysis).map_or_else(String::new, |evidence| {
        format!(
            "<p class=\"evidence\"><b>Why believe it?</b> {} <a href=\"#method\">Method</a></p>",
            escape(&evidence)
        )
    });
    format!(
        "<section id=\"overview\"><h2>What to do on this machine</h2>\
         <ol class=\"answers\">{rows}</ol>{evidence}</section>\n"
    )
}

fn row(row: &Row) -> String {
    let class = match row.kind {
        Kind::Winner | Kind::Faster | Kind::Smallest | Kind::BySize => "faster",
        Kind::Kept | Kind::Even => "same",
        Kind::Open => "open",
    };
    let noise = row.noise.as_ref().map_or_else(String::new, |noise| {
        format!("<p class=\"measured-noise\">noise {}</p>", escape(noise))
    });
    format!(
        "<li class=\"{class}\"><p class=\"asked\"><a href=\"#{}\">{}</a></p>\
         <p class=\"answer\"><span class=\"badge {class}\">{}</span> <b>{}</b></p>\
         <p class=\"reason\">{}</p>{noise}</li>",
        anchor(&row.target),
        escape(&row.title),
        row.kind.name(),
        escape(&sentence_start(&row.answer)),
        escape(&sentence_start(&row.reason))
    )
}

/// The text with a capital letter first.
fn sentence_start(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}
