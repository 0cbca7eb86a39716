//! Bars of measured quantities: rows of a label, a drawing and a value, below the headings of what can
//! be compared.

use super::chart::{Grid, group as heading, row};
use super::element::{anchor, escape};
use super::{Figure, folded, notices, table};
use crate::bars::{Bar, Chart, Class, Group, Kind};
use crate::quantity;
use stowplan_analysis::Analysis;

/// Every chart of bars.
pub(super) fn figures(analysis: &Analysis) -> Vec<Figure> {
    crate::bars::charts(analysis).iter().map(figure).collect()
}

fn figure(chart: &Chart) -> Figure {
    let grid = Grid {
        scale: &chart.scale,
        reference: None,
        floor: None,
    };
    let ticks = quantity::ticks(&chart.scale);
    let groups: String = chart
        .groups
        .iter()
        .map(|found| group(found, &grid, &ticks))
        .collect();
    let axis = grid.axis_at(&ticks, |tick| quantity::tick(chart.measure, tick));
    let numbers = table::table(&chart.title, &chart.table);
    let id = format!("bars-{}", anchor(&chart.id));
    let html = format!(
        "<figure class=\"chart bars\" id=\"{id}\"{}><figcaption><h3>{}</h3><p>{}</p></figcaption>\
         <div class=\"rows\">{groups}{axis}</div>{}</figure>\n",
        grid.attribute(),
        escape(&chart.title),
        escape(&chart.subtitle),
        folded("All figures", &numbers)
    );
    Figure::new(id, &chart.title, html)
}

fn group(group: &Group, grid: &Grid<'_>, ticks: &[f64]) -> String {
    let classes: String = group
        .classes
        .iter()
        .map(|found| class(found, grid, ticks))
        .collect();
    let remarks = group.remarks.iter();
    let remarks = remarks.map(|text| format!("<p class=\"hint\">{}</p>", escape(text)));
    format!(
        "<h4>{}</h4>{}{}{classes}",
        escape(&group.title),
        notices(&group.notes),
        remarks.collect::<String>()
    )
}

fn class(class: &Class, grid: &Grid<'_>, ticks: &[f64]) -> String {
    let title = class.heading.as_deref().map_or_else(String::new, heading);
    let rows: String = class
        .bars
        .iter()
        .map(|bar| bar_row(bar, grid, ticks))
        .collect();
    format!("{title}{rows}")
}

fn bar_row(bar: &Bar, grid: &Grid<'_>, ticks: &[f64]) -> String {
    let scale = grid.scale;
    let mut drawing = grid.row_at(ticks, &bar.tooltip);
    if let Some(quantity) = &bar.quantity {
        let class = match bar.kind {
            Kind::Ours => "ours",
            Kind::Uncertain => "ours uncertain",
            Kind::Floor => "floor-bar",
            Kind::Published => "published",
        };
        drawing.bar(0.0, scale.position(quantity.value), class);
        if let Some((low, high)) = quantity.ends {
            drawing.whisker(scale.position(low), scale.position(high));
        }
    }
    let mut value = format!("<b>{}</b>", escape(&bar.value));
    if !bar.spread.is_empty() {
        value.push_str(&format!(" <span>{}</span>", escape(&bar.spread)));
    }
    let figure = bar.quantity.map(|quantity| quantity.value);
    row(&bar.label, None, &drawing.finish(), &value, figure)
}
