//! The first thing to read: what to do, and why to believe it. A row per comparison, or, where there are
//! too many to read, a list per choice.

use super::element::{anchor, escape, sentence_start};
use crate::overview::{self, Group, Kind, Row};
use stowplan_analysis::Analysis;

/// The section with all answers; nothing if nothing was compared.
pub(super) fn overview(analysis: &Analysis) -> String {
    let rows = overview::rows(analysis);
    if rows.is_empty() {
        return String::new();
    }
    let answers = match overview::by_choice(&rows) {
        Some(groups) => choices(&groups, rows.len()),
        None => {
            let items: String = rows.iter().map(row).collect();
            format!("<ol class=\"answers\">{items}</ol>")
        }
    };
    let evidence = overview::evidence(analysis).map_or_else(String::new, |evidence| {
        format!(
            "<p class=\"evidence\"><b>Why believe it?</b> {} <a href=\"#method\">How it was \
             measured</a></p>",
            escape(&sentence_start(&evidence))
        )
    });
    format!(
        "<section id=\"overview\"><h2>What to do on this machine</h2>{answers}{evidence}</section>\n"
    )
}

fn row(row: &Row) -> String {
    let class = class(row.kind);
    let factor = row.ratio.map_or_else(String::new, |ratio| {
        let (factor, ends) = crate::advice::factor(&ratio);
        format!("<b>{factor}</b><span>{ends}</span>")
    });
    let noise = row.noise.as_ref().map_or_else(String::new, |noise| {
        format!("<small>noise {}</small>", escape(noise))
    });
    format!(
        "<li class=\"{class}\"><p class=\"asked\"><a href=\"#{}\">{}</a></p>\
         <p class=\"answer\"><span class=\"badge {class}\">{}</span> <b>{}</b></p>\
         <p class=\"reason\">{}</p><p class=\"factor\">{factor}{noise}</p></li>",
        anchor(&row.target),
        escape(&row.title),
        overview::name(row.kind),
        escape(&sentence_start(&row.answer)),
        escape(&sentence_start(&row.reason))
    )
}

/// The colours of an answer.
pub(super) fn class(kind: Kind) -> &'static str {
    match overview::tone(kind) {
        crate::document::Tone::Good => "faster",
        crate::document::Tone::Plain => "same",
        _ => "open",
    }
}

fn choices(groups: &[Group<'_>], all: usize) -> String {
    let items: String = groups.iter().map(|group| choice(group, all)).collect();
    let figures = overview::figures(groups).map_or_else(String::new, |figures| {
        format!("<p class=\"hint\">{}</p>", escape(figures))
    });
    format!("<div class=\"choices\">{items}</div>{figures}")
}

fn choice(group: &Group<'_>, all: usize) -> String {
    let items = group.rows.iter().map(|row| {
        let figure = row.figure();
        let asked = format!(
            "<a href=\"#{}\">{}</a>{}",
            anchor(&row.target),
            escape(&row.title),
            escape(&row.caveat)
        );
        match figure.split_once(' ').filter(|_| row.ratio.is_some()) {
            Some((factor, interval)) => format!(
                "<li><span class=\"figure\"><b>{factor}</b> <span>{interval}</span></span>\
                 <span>{asked}</span></li>"
            ),
            None if figure.is_empty() => format!("<li class=\"plain\">{asked}</li>"),
            None => format!("<li class=\"plain\">{asked}: {}</li>", escape(&figure)),
        }
    });
    let items: String = items.collect();
    let class = group.rows.first().map_or("open", |row| class(row.kind));
    format!(
        "<section class=\"choice {class}\"><h3>{} <small>{} of {all}</small></h3><ul>{items}</ul>\
         </section>",
        escape(&sentence_start(&group.title)),
        group.rows.len()
    )
}
