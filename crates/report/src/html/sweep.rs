//! Sweeps: ratio against size, both axes logarithmic, with the zone in which nothing is claimed.

use super::element::{anchor, escape};
use super::plot::{Plot, Shape};
use super::{Figure, folded, notices, table};
use crate::document::Sign;
use crate::format;
use crate::sweep::{Group, Point, Sweep};
use stowplan_analysis::Analysis;

/// Every sweep, those of the same stores side by side where there is room.
pub(super) fn figures(analysis: &Analysis) -> Vec<Figure> {
    let groups = crate::sweep::groups(analysis);
    let groups = groups.iter().enumerate();
    groups.map(|(index, found)| group(index, found)).collect()
}

fn group(index: usize, group: &Group<'_>) -> Figure {
    let sweeps = group.sweeps.iter();
    let figures: String = sweeps.map(|sweep| figure(group, sweep)).collect();
    let id = format!("sweeps-{}", index + 1);
    let html = format!(
        "<div class=\"chart\" id=\"{id}\"><h3>{}</h3><p>{}</p><div class=\"sweeps\">{figures}</div>\
         <p class=\"legend\">{}</p></div>\n",
        escape(&group.title),
        escape(&group.subtitle),
        legend(group)
    );
    Figure::new(id, &group.title, html)
}

fn figure(group: &Group<'_>, sweep: &Sweep<'_>) -> String {
    let setting = sweep.setting.as_ref();
    let setting = setting.map_or_else(String::new, |setting| {
        format!("<h4>With {}</h4>", escape(setting))
    });
    let all = format!("All {} ratios with their intervals", sweep.points.len());
    format!(
        "<figure class=\"sweep\" id=\"sweep-{}\"><figcaption>{setting}<p class=\"headline\">{}</p>{}\
         </figcaption><div class=\"plot\"><p>↑ {} faster</p>{}<p>↓ {} faster</p></div><div>\
         <p class=\"noise\">{}</p>{}</div></figure>\n",
        anchor(sweep.id),
        escape(&sweep.headline),
        notices(&sweep.notes),
        escape(&group.a),
        plot(group, sweep),
        escape(&group.b),
        escape(&sweep.evidence),
        folded(&all, &table::table(&sweep.title, &sweep.table))
    )
}

fn plot(group: &Group<'_>, sweep: &Sweep<'_>) -> String {
    let (x, y) = (&group.sizes, &group.ratios);
    let mut plot = Plot::new(&format!("{}: {}", sweep.title, sweep.headline));
    if let Some((from, to)) = sweep.open {
        plot.area((x.position(from), x.position(to)), (0.0, 1.0), "unclaimed");
    }
    let band = (y.position(group.band.0), y.position(group.band.1));
    plot.area((0.0, 1.0), band, "band");
    grid(&mut plot, group);
    let one = y.position(1.0);
    plot.line((0.0, one), (1.0, one), "reference");
    curve(&mut plot, group, sweep);
    for root in sweep.roots {
        let tooltip = "the line between points crosses 1 here; nothing is claimed of it";
        plot.point((x.position(*root), one), None, Shape::Lozenge, tooltip);
    }
    for point in &sweep.points {
        if let Some((ratio, low, high)) = point.ratio {
            let at = (x.position(point.size), y.position(ratio));
            let ends = (y.position(low), y.position(high));
            plot.point(at, Some(ends), shape(point.sign), &point.tooltip);
        }
    }
    plot.finish()
}

fn grid(plot: &mut Plot, group: &Group<'_>) {
    for tick in group.ratios.fine_ticks() {
        let at = group.ratios.position(tick);
        plot.line((0.0, at), (1.0, at), "grid");
        plot.label_beside(at, &super::chart::ratio_tick(tick));
    }
    for tick in group.sizes.size_ticks() {
        let at = group.sizes.position(tick);
        plot.line((at, 0.0), (at, 1.0), "grid");
        plot.label_below(at, &size_label(tick));
    }
}

/// The line from point to point; a size without a figure interrupts it.
fn curve(plot: &mut Plot, group: &Group<'_>, sweep: &Sweep<'_>) {
    let place = |point: &Point| {
        let (ratio, ..) = point.ratio?;
        Some((
            group.sizes.position(point.size),
            group.ratios.position(ratio),
        ))
    };
    for pair in sweep.points.windows(2) {
        if let (Some(from), Some(to)) = (place(&pair[0]), place(&pair[1])) {
            plot.line(from, to, "curve");
        }
    }
}

fn shape(sign: Sign) -> Shape {
    match sign {
        Sign::Above => Shape::Up,
        Sign::Below => Shape::Down,
        Sign::JustAbove => Shape::HollowUp,
        Sign::JustBelow => Shape::HollowDown,
        Sign::Even => Shape::Ring,
        Sign::Open | Sign::Unreliable | Sign::Nothing => Shape::Cross,
    }
}

/// A tick of the axis of sizes; ticks are whole bytes.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number"
)]
fn size_label(tick: f64) -> String {
    format::size(tick as u64)
}

fn legend(group: &Group<'_>) -> String {
    let signs = group.legend.iter();
    let signs = signs.filter(|(sign, _)| *sign != Sign::Nothing);
    let mut items: String = signs
        .map(|(sign, words)| key(shape(*sign), words))
        .collect();
    items.push_str("<span><i class=\"key whisker\"></i>interval</span>");
    items.push_str("<span><i class=\"key band\"></i>too close to 1 to matter</span>");
    if group.sweeps.iter().any(|sweep| sweep.open.is_some()) {
        items.push_str("<span><i class=\"key unclaimed\"></i>no claim between these sizes</span>");
    }
    if group.sweeps.iter().any(|sweep| !sweep.roots.is_empty()) {
        let words = "where the line between points crosses 1; nothing is claimed of it";
        items.push_str(&key(Shape::Lozenge, words));
    }
    items
}

fn key(shape: Shape, words: &str) -> String {
    format!(
        "<span><svg class=\"plane key\" width=\"16\" height=\"16\" aria-hidden=\"true\">\
         <svg x=\"8\" y=\"8\" overflow=\"visible\">{}</svg></svg>{}</span>",
        shape.element(),
        escape(words)
    )
}
