//! Tables that scroll on their own when the page is narrow, and heat maps.

use super::element::text;
use crate::document::{Align, Cell, Column, Row, Sign, Table};
use maud::{Markup, html};

/// From so many columns on, paper needs small letters.
const WIDE: usize = 12;

/// The table. Without the script it stands as it is; the script makes its heads sort it, and copies
/// it with the plain numbers to sort by, in the units of their columns.
pub(super) fn table(table: &Table) -> Markup {
    if table.columns.is_empty() || table.rows.is_empty() {
        return html! {};
    }
    if table.is_heat_map {
        return heat_map(table);
    }
    let wide = (table.columns.len() >= WIDE).then_some("wide");
    html! {
        div.scroll role="region" aria-label=(table.caption) tabindex="0" {
            table class=[wide] {
                thead { tr { @for column in &table.columns { (head(column)) } } }
                tbody {
                    @for row in &table.rows {
                        (body_row(row, |cell, index| field(cell, table.columns.get(index)))) "\n"
                    }
                }
            }
        } "\n"
    }
}

fn head(column: &Column) -> Markup {
    let unit = Some(column.unit).filter(|unit| !unit.is_empty());
    html! {
        th scope="col" class=[class(column)] title=[help(&column.help)] data-unit=[unit] {
            (column.title)
        }
    }
}

fn class(column: &Column) -> Option<&'static str> {
    (column.align == Align::Right).then_some("number")
}

fn help(help: &str) -> Option<&str> {
    Some(help).filter(|help| !help.is_empty())
}

/// The first cell names the row.
fn body_row(row: &Row, field: impl Fn(&Cell, usize) -> Markup) -> Markup {
    let mut cells = row.cells.iter().zip(0..);
    html! {
        tr {
            @if let Some((name, _)) = cells.next() {
                th scope="row" title=[help(&name.help)] { (text(&name.text)) }
            }
            @for (cell, index) in cells { (field(cell, index)) }
        }
    }
}

/// A sign is no part of the text, so that it is not sorted by and not copied.
fn field(cell: &Cell, column: Option<&Column>) -> Markup {
    let sort = cell.sort.filter(|sort| sort.is_finite());
    let sign = cell.sign.map(Sign::glyph);
    html! {
        @if let Some(column) = column {
            td class=[class(column)] data-sort=[sort] data-sign=[sign] title=[help(&cell.help)] {
                (text(&cell.text))
            }
        }
    }
}

/// A heat map is a table, so that its numbers can be read out, copied and searched. The colour of a
/// cell repeats what its number and its sign say.
fn heat_map(table: &Table) -> Markup {
    html! {
        table.heat aria-label=(table.caption) {
            thead {
                tr {
                    @for column in &table.columns {
                        th scope="col" title=[help(&column.help)] { (column.title) }
                    }
                }
            }
            tbody {
                @for row in &table.rows { (body_row(row, |cell, _| shaded(cell))) "\n" }
            }
        } "\n"
    }
}

fn shaded(cell: &Cell) -> Markup {
    let number = cell.text.text();
    let colon = match (number.is_empty(), cell.help.is_empty()) {
        (false, false) => ": ",
        _ => "",
    };
    let sort = cell.sort.filter(|sort| sort.is_finite());
    let all = format!("{number}{colon}{}", cell.help);
    html! {
        td class=(shade_class(cell.shade)) data-sort=[sort] title=[help(&all)] {
            (number)
            @if let Some(sign) = cell.sign { b.sign aria-hidden="true" { (sign.glyph()) } }
            @if !cell.help.is_empty() { span.unseen { (colon) (cell.help) } }
        }
    }
}

/// `above-3`, `below-1`, `even`, or `open` where nothing is claimed.
pub(super) fn shade_class(shade: Option<i8>) -> String {
    match shade {
        None => "open".to_owned(),
        Some(0) => "even".to_owned(),
        Some(shade) if shade > 0 => format!("above-{shade}"),
        Some(shade) => format!("below-{}", -i16::from(shade)),
    }
}
