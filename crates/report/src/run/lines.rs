//! Charts of lines: measured quantities against a setting.

use crate::columns::{Columns, float};
use crate::document::{
    Axis, Block, Cell, Key, LegendEntry, Line, LineKind, Mark, MarkKind, Medium, Panel, Plane,
    Point, Scale, Section, Table, anchor, folded, notice, paragraph,
};
use crate::quantity::{self, class};
use crate::{format, wording};
use std::collections::BTreeSet;
use stowplan_analysis::{
    Analysis, LineLevel, LinePlane, LinePoint, LinesOutcome, MeasuredLine, Quantity,
};
use stowplan_model::{Across, Measure};

/// A figure for each chart of lines that has data.
pub(super) fn figures(analysis: &Analysis) -> Vec<Block> {
    let outcomes = analysis.lines.iter();
    outcomes
        .map(|outcome| Chart::of(analysis, outcome).figure())
        .collect()
}

/// What all lines of a chart share.
struct Chart<'a> {
    outcome: &'a LinesOutcome,
    measure: Measure,
    /// What lies across, in words.
    across: String,
    levels: Vec<Level<'a>>,
}

/// A cell at one height.
struct Level<'a> {
    /// The letter or letters that mark it.
    sign: String,
    /// What it is, and what it promises.
    label: String,
    quantity: &'a Quantity,
}

impl<'a> Chart<'a> {
    fn of(analysis: &Analysis, outcome: &'a LinesOutcome) -> Self {
        let levels = outcome.levels.iter().zip(0..);
        Self {
            outcome,
            measure: outcome.measure,
            across: across(&outcome.x),
            levels: levels
                .map(|(found, index)| level(analysis, found, letters(index)))
                .collect(),
        }
    }

    fn figure(&self) -> Block {
        let outcome = self.outcome;
        let mut blocks = vec![paragraph(format!(
            "{} against {}. {} Both axes are logarithmic.",
            quantity::title(self.measure),
            self.across,
            quantity::reading(self.measure)
        ))];
        blocks.extend(self.unreliable().map(notice));
        blocks.push(self.plane().into());
        // Text has every point with its figures anyway.
        blocks.push(folded("All figures", self.table()).only(Medium::Page));
        Section::figure(anchor("lines", &outcome.id), &outcome.title, blocks).into()
    }

    fn unreliable(&self) -> Option<String> {
        let titles = self.outcome.unreliable.iter();
        let titles: Vec<String> = titles.map(|title| wording::quoted(title)).collect();
        let titles = (!titles.is_empty()).then(|| wording::list(&titles))?;
        Some(format!(
            "Session unreliable in {titles}: nothing is claimed of it."
        ))
    }

    fn plane(&self) -> Plane {
        let levels = self.levels.iter();
        Plane {
            levels: levels.clone().map(Level::mark).collect(),
            legend: levels.map(|level| level.explained(self.measure)).collect(),
            on_terminal: true,
            ..Plane::new(&self.outcome.title, self.x(), self.y(), self.panels())
        }
    }

    /// The axis across; each place that has a point is marked.
    fn x(&self) -> Axis {
        let places: BTreeSet<u64> = self.points().map(|point| point.x).collect();
        Axis {
            title: self.across.clone(),
            scale: Scale::over(places.iter().map(|place| float(*place))),
            ticks: places
                .iter()
                .map(|place| (float(*place), format::count(*place)))
                .collect(),
        }
    }

    fn y(&self) -> Axis {
        let points = self.points().map(|point| &point.quantity);
        let levels = self.levels.iter().map(|level| level.quantity);
        let heights = points.chain(levels).flat_map(|of| {
            let ends = of.ends.into_iter().flat_map(<[f64; 2]>::from);
            ends.chain([of.value])
        });
        let scale = Scale::over(heights).with_bars_from_its_end();
        let label = |at| quantity::tick(self.measure, at);
        let title = quantity::title(self.measure);
        Axis::new(title, scale, quantity::ticks(&scale), label)
    }

    fn points(&self) -> impl Iterator<Item = &'a LinePoint> {
        let lines = self.outcome.planes.iter().flat_map(|plane| &plane.lines);
        lines.flat_map(|line| &line.points)
    }

    /// A line keeps its shape where its neighbours have none: numbers run through all panels.
    fn panels(&self) -> Vec<Panel> {
        let mut numbers = 0..;
        let planes = self.outcome.planes.iter();
        planes
            .map(|plane| {
                let title = self.class_title(plane);
                let lines = plane.lines.iter().zip(&mut numbers);
                let lines = lines.map(|(line, number)| self.line(line, number, &title));
                Panel {
                    id: String::new(),
                    lines: lines.collect(),
                    title,
                }
            })
            .collect()
    }

    /// What the lines of a panel promise; empty if nothing needs to be said.
    fn class_title(&self, plane: &LinePlane) -> String {
        let mut planes = self.outcome.planes.iter();
        match &plane.durability {
            Some(claim) => class(claim),
            None if planes.any(|plane| plane.durability.is_some()) => {
                "reads or floor: nothing promised".to_owned()
            }
            None => String::new(),
        }
    }

    fn line(&self, line: &MeasuredLine, number: usize, class: &str) -> Line {
        let promise = match class {
            "" => String::new(),
            class => format!(" ({class})"),
        };
        let of = format!("{}{promise}, {}", line.label, self.across);
        let points = line.points.iter();
        Line {
            label: line.label.clone(),
            kind: LineKind::Series(number),
            points: points.map(|point| self.point(point, &of)).collect(),
        }
    }

    fn point(&self, point: &LinePoint, of: &str) -> Point {
        let found = &point.quantity;
        let place = format::count(point.x);
        let sample = if point.sample { ", from a sample" } else { "" };
        let sentence = quantity::sentence(self.measure, found);
        Point {
            x: float(point.x),
            y: Some(found.value),
            interval: found.ends,
            tooltip: format!("{of} {place}: {sentence}{sample}"),
            label: place,
            value: quantity::value(self.measure, found.value),
            spread: quantity::spread(self.measure, found),
            ..Point::default()
        }
    }

    fn table(&self) -> Table {
        let (measure, unit) = (self.measure, quantity::unit(self.measure));
        let make = Columns::<Figure<'_>>::new();
        let columns = vec![
            make.text("line", |figure| figure.label.to_owned()),
            make.text("durability", |figure| figure.class.clone())
                .help("what an acknowledged write survives"),
            make.count("across", |figure| figure.x).help(&self.across),
            make.number("value", |figure| {
                let value = figure.quantity.value;
                Cell::number(value, quantity::value(measure, value))
            })
            .in_unit(unit),
            make.number("spread", |figure| {
                quantity::spread_cell(measure, Some(*figure.quantity))
            })
            .help("standard error of a mean, or an interval")
            .in_unit(unit),
        ];
        let levels = self.levels.iter().map(|level| Figure {
            label: &level.label,
            class: String::new(),
            x: None,
            quantity: level.quantity,
        });
        let mut figures: Vec<Figure<'_>> = Vec::new();
        for plane in &self.outcome.planes {
            let class = self.class_title(plane);
            let lines = plane.lines.iter();
            let points = lines.flat_map(|line| line.points.iter().map(move |point| (line, point)));
            figures.extend(points.map(|(line, point)| Figure {
                label: &line.label,
                class: class.clone(),
                x: Some(point.x),
                quantity: &point.quantity,
            }));
        }
        figures.extend(levels);
        Table::of(&self.outcome.title, columns, &figures)
    }
}

/// A figure with what it belongs to.
struct Figure<'a> {
    label: &'a str,
    class: String,
    x: Option<u64>,
    quantity: &'a Quantity,
}

impl Level<'_> {
    fn mark(&self) -> Mark {
        Mark {
            at: self.quantity.value,
            kind: MarkKind::Level,
            sign: self.sign.clone(),
        }
    }

    fn explained(&self, measure: Measure) -> LegendEntry {
        let figure = quantity::text(measure, self.quantity);
        let text = format!("{}: {}: {figure}", self.sign, self.label);
        LegendEntry::new(Key::Mark(MarkKind::Level), text)
    }
}

fn level<'a>(analysis: &Analysis, found: &'a LineLevel, sign: String) -> Level<'a> {
    let label = analysis.label_of(&found.cell).unwrap_or(&found.label);
    let promise = found.durability.as_ref();
    let promise = promise.map_or_else(String::new, |claim| format!(" ({})", class(claim)));
    Level {
        sign,
        label: format!("{label}{promise}"),
        quantity: &found.quantity,
    }
}

fn across(x: &Across) -> String {
    match x {
        Across::Operations => "operations of a block".to_owned(),
        Across::PerTransaction => "operations per transaction".to_owned(),
        Across::Threads => "threads".to_owned(),
        Across::Setting(name) => name.replace('_', " "),
    }
}

/// The sign of the level with this number: `a` to `z`, then `aa`, `ab` and so on.
fn letters(index: usize) -> String {
    let last = ('a'..='z').nth(index % 26);
    let before = match index / 26 {
        0 => String::new(),
        more => letters(more - 1),
    };
    before.chars().chain(last).collect()
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn there_are_signs_for_more_levels_than_letters() {
        let signs = [0, 25, 26, 51, 52, 701, 702].map(letters);
        assert_eq!(signs, ["a", "z", "aa", "az", "ba", "zz", "aaa"]);
    }
}
