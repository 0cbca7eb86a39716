//! Changes as Markdown, ready for a pull request: heading, verdict, table, and the rest folded.

use super::{Compared, Source, wording};
use crate::markdown::escape;
use stowplan_analysis::compare::{CellChange, Changes};

/// Stands at the top, so that whoever posts it can find the comment again and replace it.
const MARK: &str = "<!-- stowplan compare -->";

/// Everything about every NEW as one Markdown document.
#[must_use]
pub fn render(compared: &Compared<'_>) -> String {
    let mut text = format!("{MARK}\n");
    for (new, changes) in &compared.news {
        section(&mut text, &compared.base, new, changes);
    }
    text
}

fn section(text: &mut String, base: &Source<'_>, new: &Source<'_>, changes: &Changes) {
    let (was, is) = (escape(base.name), escape(new.name));
    paragraph(text, &format!("## Stowplan: {is} against {was}"));
    paragraph(
        text,
        &format!("**{}**", escape(&wording::headline(changes))),
    );
    for reservation in wording::reservations(base, new, changes) {
        paragraph(text, &escape(&reservation));
    }
    if !changes.cells.is_empty() {
        table(text, changes);
    }
    let decides = changes.decides;
    let changed = changes.cells.iter();
    let changed = changed.filter(|cell| wording::has_changed(cell, decides));
    list(text, changed.map(|cell| wording::statement(cell, decides)));
    let groups = wording::not_compared(changes).into_iter();
    let groups = groups.map(|(reason, cells)| format!("{}: {reason}", cells.join(", ")));
    let sources = [("BASE", base), ("NEW", new)];
    let sources = sources.map(|(side, source)| format!("{side} is {}", wording::source(source)));
    folded(text, "Not compared", groups.collect());
    folded(text, "Other settings", wording::other_settings(changes));
    folded(
        text,
        "Disk space, writes and memory",
        wording::resources(changes),
    );
    folded(
        text,
        "What changed around it",
        wording::environment(changes),
    );
    let method = sources.into_iter().chain(wording::method(changes));
    folded(text, "What was compared, and how", method.collect());
}

fn paragraph(text: &mut String, line: &str) {
    text.push_str(&format!("\n{line}\n"));
}

fn table(text: &mut String, changes: &Changes) {
    let other = wording::other(changes.decides).1;
    paragraph(
        text,
        &format!("| cell | BASE | NEW | change | interval | verdict | {other} |"),
    );
    text.push_str("| --- | ---: | ---: | ---: | ---: | --- | ---: |\n");
    for cell in &changes.cells {
        text.push_str(&row(cell, changes));
    }
}

fn row(cell: &CellChange, changes: &Changes) -> String {
    let shown = wording::row(cell, changes.decides);
    let verdict = if cell.regression {
        format!("**{}**", shown.verdict)
    } else {
        shown.verdict.to_owned()
    };
    let fields = [
        wording::name(cell),
        shown.base,
        shown.new,
        shown.change,
        shown.interval,
    ];
    let fields = fields.map(|field| escape(&field)).join(" | ");
    format!("| {fields} | {verdict} | {} |\n", escape(&shown.other))
}

fn list(text: &mut String, items: impl Iterator<Item = String>) {
    for (index, item) in items.enumerate() {
        let before = if index == 0 { "\n" } else { "" };
        text.push_str(&format!("{before}- {}\n", escape(&item)));
    }
}

/// A list that is open only to those who ask; nothing without items.
fn folded(text: &mut String, title: &str, items: Vec<String>) {
    if items.is_empty() {
        return;
    }
    paragraph(text, &format!("<details><summary>{title}</summary>"));
    list(text, items.into_iter());
    paragraph(text, "</details>");
}
