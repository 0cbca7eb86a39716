//! Costs taken apart: stacked bars from the floor up, all of a comparison over one axis, with what
//! primitives take alone as a thin bar below each.

use super::chart::{Grid, row};
use super::element::{anchor, escape};
use super::{folded, notices, table};
use crate::document::Scale;
use crate::ladder::{self, Claim, Group, Kind, Ladder, Piece};
use crate::quantity;
use stowplan_analysis::{Analysis, ClaimVerdict};
use stowplan_model::Measure;

/// Steps have as many colours; the next begins again, and their order tells them apart.
const COLOURS: usize = 8;
/// Where the bar lies around the middle of its row, and how high it is, in pixels.
const BAR: (f64, f64) = (-15.0, 20.0);
/// The same of the bar of isolated figures.
const THIN: (f64, f64) = (9.0, 8.0);
/// Half the height of the caps of a whisker, in pixels.
const CAP: f64 = 5.0;

/// The section; nothing if nothing explains anything.
pub(super) fn section(analysis: &Analysis) -> String {
    let groups = ladder::groups(analysis);
    if groups.is_empty() {
        return String::new();
    }
    let groups: String = groups.iter().map(group).collect();
    format!("<section id=\"why\"><h2>Why: costs taken apart</h2>{groups}</section>\n")
}

fn group(group: &Group) -> String {
    let claims: String = group.claims.iter().map(claim).collect();
    let cold = group.cold.iter();
    let cold: String = cold
        .map(|text| format!("<li>{}</li>", escape(text)))
        .collect();
    let cold = match cold.as_str() {
        "" => String::new(),
        items => {
            format!("<h4>What a cold read takes from storage</h4><ul class=\"cold\">{items}</ul>")
        }
    };
    let counts = group.counts.as_ref().map_or_else(String::new, |counts| {
        let caption = format!("Asked of the system, per operation: {}", group.title);
        let counted = table::table(&caption, counts);
        folded(
            "What each cell asked of the system, per operation, counted in a block of its own",
            &counted,
        )
    });
    let id = anchor(&group.id);
    format!(
        "<div class=\"why\" id=\"why-{id}\"><h3>{}</h3>{}{claims}{}{cold}{counts}</div>\n",
        escape(&group.title),
        notices(&group.notes),
        figure(group, &id)
    )
}

fn claim(claim: &Claim) -> String {
    let class = match claim.verdict {
        ClaimVerdict::Holds => "faster",
        ClaimVerdict::DoesNotHold => "slower",
        _ => "open",
    };
    format!(
        "<div class=\"claim\"><p><span class=\"badge {class}\">{}</span> {}</p><p><b>{}</b></p></div>",
        ladder::verdict(claim.verdict),
        escape(&claim.claim),
        escape(&claim.found)
    )
}

fn figure(group: &Group, id: &str) -> String {
    if group.ladders.is_empty() {
        return String::new();
    }
    let grid = Grid {
        scale: &group.scale,
        reference: None,
        floor: None,
    };
    let ticks = quantity::ticks(&group.scale);
    let hatch = format!("hatch-{id}");
    let bars = group.ladders.iter();
    let bars: String = bars
        .map(|ladder| bar_row(ladder, &group.scale, &ticks, &hatch))
        .collect();
    let axis = grid.axis_at(&ticks, |tick| quantity::tick(Measure::Time, tick));
    let steps: String = group.ladders.iter().map(steps).collect();
    format!(
        "<figure class=\"chart ladder\" id=\"ladder-{id}\" data-axis=\"linear\"><figcaption><p>Time of \
         one operation, from the bottom up: each piece is what a cell takes more than the one below it, \
         in the same rounds. The thin bar is what the same steps take alone. Hatched: what no step \
         explains.</p></figcaption>{}<div class=\"rows\">{bars}{axis}</div>{steps}</figure>\n",
        pattern(&hatch)
    )
}

fn pattern(id: &str) -> String {
    format!(
        "<svg class=\"defs\" aria-hidden=\"true\" width=\"0\" height=\"0\"><defs><pattern id=\"{id}\" \
         width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
         <line class=\"hatching\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\"/></pattern></defs></svg>"
    )
}

fn bar_row(ladder: &Ladder, scale: &Scale, ticks: &[f64], hatch: &str) -> String {
    let Some(whole) = &ladder.whole else {
        return row(&ladder.title, None, "", "<b>no steps</b>", None);
    };
    let mut shapes = String::new();
    for piece in &ladder.pieces {
        shapes.push_str(&drawn(piece, scale, BAR, hatch));
    }
    for piece in &ladder.alone {
        shapes.push_str(&drawn(piece, scale, THIN, hatch));
    }
    let (low, high) = (at(scale, whole.ends.0), at(scale, whole.ends.1));
    let middle = BAR.0 + BAR.1 / 2.0;
    shapes.push_str(&format!(
        "<line class=\"whisker\" x1=\"{low}\" x2=\"{high}\" y1=\"{middle}\" y2=\"{middle}\"/>"
    ));
    for end in [low, high] {
        let (top, bottom) = (middle - CAP, middle + CAP);
        shapes.push_str(&format!(
            "<line class=\"whisker\" x1=\"{end}\" x2=\"{end}\" y1=\"{top}\" y2=\"{bottom}\"/>"
        ));
    }
    let lines = ticks.iter().map(|tick| {
        let x = at(scale, *tick);
        format!("<line class=\"grid\" x1=\"{x}\" x2=\"{x}\" y1=\"0\" y2=\"100%\"/>")
    });
    let drawing = format!(
        "<svg class=\"track\" role=\"group\" aria-label=\"{}\">{}<svg y=\"50%\" overflow=\"visible\">\
         {shapes}</svg></svg>",
        escape(&ladder.summary),
        lines.collect::<String>()
    );
    let value = format!(
        "<b>{}</b> <span>{}</span>",
        escape(&whole.text()),
        escape(&whole.spread())
    );
    row(&ladder.title, None, &drawing, &value, None)
}

/// A piece that saves time has no length: a mark says where.
fn drawn(piece: &Piece, scale: &Scale, (top, height): (f64, f64), hatch: &str) -> String {
    let (from, to) = (scale.position(piece.from), scale.position(piece.to()));
    let (x, width) = (at(scale, piece.from), percent(to - from));
    let shape = match piece.kind {
        _ if piece.figure.value < 0.0 => {
            format!(
                "<line class=\"saving\" x1=\"0\" x2=\"0\" y1=\"-3\" y2=\"{}\"/>",
                height + 3.0
            )
        }
        Kind::Step(index) => format!(
            "<rect class=\"piece p{}\" width=\"100%\" height=\"{height}\"/>",
            index % COLOURS
        ),
        Kind::Remainder => format!(
            "<rect class=\"piece rest\" style=\"fill:url(#{hatch})\" width=\"100%\" \
             height=\"{height}\"/>"
        ),
    };
    format!(
        "<svg class=\"part\" x=\"{x}\" width=\"{width}\" y=\"{top}\" height=\"{height}\" \
         overflow=\"visible\" data-value=\"{}\"><title>{}</title>{shape}</svg>",
        piece.figure.value,
        escape(&piece.tooltip)
    )
}

/// What the pieces are, from the left.
fn steps(ladder: &Ladder) -> String {
    let items = ladder.pieces.iter().map(|piece| {
        let class = match piece.kind {
            Kind::Step(index) => format!("p{}", index % COLOURS),
            Kind::Remainder => "rest".to_owned(),
        };
        let alone = piece.alone.as_ref().map(|alone| format!("alone {alone}"));
        let calls = match piece.calls.as_str() {
            "" => None,
            calls => Some(format!("system calls: {calls}")),
        };
        let share = format!("{} of the whole", ladder::share(piece.share));
        let more: Vec<String> = [share].into_iter().chain(alone).chain(calls).collect();
        let more = format!("<small>{}</small>", escape(&more.join("; ")));
        format!(
            "<li><i class=\"key piece {class}\"></i><span class=\"cost\"><b>{}</b> {}</span>\
             <span class=\"step\">{}{more}</span></li>",
            escape(&piece.figure.text()),
            escape(&piece.figure.spread()),
            escape(&piece.label)
        )
    });
    let notes = ladder.notes.iter();
    let notes = notes.map(|note| format!("<p class=\"hint\">{}</p>", escape(note)));
    format!(
        "<div class=\"ladder-steps\" id=\"steps-{}\"><h4>{}</h4><ol class=\"steps\">{}</ol>{}{}</div>",
        anchor(&ladder.id),
        escape(&ladder.title),
        items.collect::<String>(),
        notes.collect::<String>(),
        folded("All figures", &table::table(&ladder.title, &ladder.table))
    )
}

fn at(scale: &Scale, value: f64) -> String {
    percent(scale.position(value))
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share.clamp(0.0, 1.0) * 100.0)
}
