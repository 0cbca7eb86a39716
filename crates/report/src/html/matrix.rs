//! Heat maps: matrices as tables, so that their numbers can be read out, copied and searched. The
//! colour of a cell repeats what its number and its sign say.

use super::element::{anchor, escape};
use super::{Figure, folded, notices, sign_legend, table};
use crate::document::shade::{DEEPEST, begins};
use crate::matrix::{Field, Matrix};
use crate::{format, wording};
use stowplan_analysis::Analysis;

/// Every matrix.
pub(super) fn figures(analysis: &Analysis) -> Vec<Figure> {
    let matrices = crate::matrix::matrices(analysis);
    matrices.iter().map(figure).collect()
}

fn figure(matrix: &Matrix<'_>) -> Figure {
    let published = matrix
        .published
        .as_ref()
        .map_or_else(String::new, |(label, fields)| {
            heat_map(matrix, "Published", Some(label), fields)
        });
    let ratios = matrix.ours.iter().map(Vec::len).sum::<usize>();
    let all = table::table(matrix.title, &matrix.table);
    let id = format!("matrix-{}", anchor(matrix.id));
    let html = format!(
        "<figure class=\"chart matrix\" id=\"{id}\"><figcaption><h3>{}</h3><p>{}</p>\
         </figcaption>{}<div class=\"maps\">{}{published}</div><p class=\"legend\">{}</p>\
         <p class=\"legend shades\">{}</p>{}{}<p class=\"noise\">{}</p>{}</figure>\n",
        escape(matrix.title),
        escape(&matrix.subtitle),
        notices(&matrix.notes),
        heat_map(matrix, "This machine", None, &matrix.ours),
        sign_legend(&matrix.legend),
        shade_legend(),
        rules(matrix),
        matrix
            .remark
            .map_or_else(String::new, |remark| format!("<p>{}</p>", escape(remark))),
        escape(&format!("{} {}", matrix.evidence, put_together(matrix))),
        folded(&format!("All {ratios} ratios with their intervals"), &all)
    );
    Figure::new(id, matrix.title, html)
}

fn put_together(matrix: &Matrix<'_>) -> String {
    let comparisons = wording::comparisons(matrix.parts.len());
    format!("Each column is a comparison of its own: {comparisons} below.")
}

fn rules(matrix: &Matrix<'_>) -> String {
    let items = matrix.rules.iter();
    let items: String = items
        .map(|rule| format!("<li>{}</li>", escape(rule)))
        .collect();
    format!("<h4>Rules of thumb on this machine</h4><ul class=\"rules\">{items}</ul>")
}

fn heat_map(
    matrix: &Matrix<'_>,
    title: &str,
    detail: Option<&String>,
    rows: &[Vec<Field>],
) -> String {
    let detail = detail.map_or_else(String::new, |detail| {
        format!("<small>{}</small>", escape(detail))
    });
    let columns = matrix.columns.iter();
    let heads: String = columns
        .map(|column| format!("<th scope=\"col\">{}</th>", escape(column)))
        .collect();
    let rows = matrix.rows.iter().zip(rows);
    let body: String = rows.map(|(head, fields)| row(head, fields)).collect();
    format!(
        "<div class=\"map\"><table class=\"heat\"><caption>{title}{detail}</caption>\
         <thead><tr><th scope=\"col\">{}</th>{heads}</tr></thead><tbody>{body}</tbody></table>\
         </div>",
        escape(&matrix.row_title)
    )
}

fn row(head: &str, fields: &[Field]) -> String {
    let cells: String = fields.iter().map(cell).collect();
    format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", escape(head))
}

fn cell(field: &Field) -> String {
    let sign = field.sign.map_or_else(String::new, |sign| {
        format!(
            "<b class=\"sign\" aria-hidden=\"true\">{}</b>",
            sign.glyph()
        )
    });
    let text = escape(&field.text);
    let detail = escape(&field.detail);
    let colon = if text.is_empty() { "" } else { ": " };
    format!(
        "<td class=\"{}\" title=\"{text}{colon}{detail}\">{text}{sign}<span class=\"unseen\">{colon}\
         {detail}</span></td>",
        shade_class(field.shade)
    )
}

/// `above-3`, `below-1`, `even`, or `open` where nothing is claimed.
fn shade_class(shade: Option<i8>) -> String {
    match shade {
        None => "open".to_owned(),
        Some(0) => "even".to_owned(),
        Some(shade) if shade > 0 => format!("above-{shade}"),
        Some(shade) => format!("below-{}", -i16::from(shade)),
    }
}

/// The shades from the deepest below 1 to the deepest above, with the ratios at which each
/// begins.
fn shade_legend() -> String {
    let key = |shade: i8| {
        let factor = begins(shade.abs());
        let text = match shade {
            0 => "≈ 1".to_owned(),
            _ if shade > 0 => format::ratio(factor),
            _ => format::ratio(1.0 / factor),
        };
        let class = shade_class(Some(shade));
        format!("<span class=\"shade {class}\">{text}</span>")
    };
    let shades: String = (-DEEPEST..=DEEPEST).map(key).collect();
    format!(
        "<span>outside faster</span><span class=\"scale\">{shades}</span><span>inside faster</span>\
         <span>Each shade begins at its number; no colour: nothing is claimed.</span>"
    )
}
