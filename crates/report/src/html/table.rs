//! Tables that scroll on their own when the page is narrow.

use super::element::escape;
use crate::table::{Column, Entry, Table};

/// The table. Without the script it stands as it is; the script makes its headers sort it, and copies
/// it with the plain numbers to sort by, in the units of their columns.
pub(super) fn table(caption: &str, table: &Table) -> String {
    let header: String = table.columns.iter().map(head).collect();
    let rows: String = table
        .rows
        .iter()
        .map(|row| body_row(row, &table.columns))
        .collect();
    let caption = escape(caption);
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\">\
         <table><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table></div>\n"
    )
}

fn head(column: &Column) -> String {
    let class = if column.numeric {
        " class=\"number\""
    } else {
        ""
    };
    let help = if column.help.is_empty() {
        String::new()
    } else {
        format!(" title=\"{}\"", escape(column.help))
    };
    let unit = if column.unit.is_empty() {
        String::new()
    } else {
        format!(" data-unit=\"{}\"", column.unit)
    };
    format!(
        "<th scope=\"col\"{class}{help}{unit}>{}</th>",
        escape(column.title)
    )
}

fn body_row(row: &[Entry], columns: &[Column]) -> String {
    let fields: String = row
        .iter()
        .zip(columns)
        .enumerate()
        .map(|(index, (entry, column))| field(index, entry, column))
        .collect();
    format!("<tr>{fields}</tr>\n")
}

fn field(index: usize, entry: &Entry, column: &Column) -> String {
    let text = escape(&entry.text);
    if index == 0 {
        return format!("<th scope=\"row\">{text}</th>");
    }
    let class = if column.numeric {
        " class=\"number\""
    } else {
        ""
    };
    let sort = entry
        .sort
        .map_or_else(String::new, |sort| format!(" data-sort=\"{sort}\""));
    format!("<td{class}{sort}>{text}</td>")
}
