//! Charts of lines: measured quantities against a setting.

use crate::document::{
    Axis, Block, Cell, Fold, Key, LegendEntry, Line, LineKind, Mark, MarkKind, Medium, Panel,
    Plane, Point, Scale, Section, Table, anchor, notice, number, paragraph, text_column,
};
use crate::quantity::{self, class};
use crate::{format, wording};
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
        let table = Fold::new("All figures", vec![self.table().into()]);
        blocks.push(Block::from(table).only(Medium::Page));
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
            summary: self.outcome.title.clone(),
            x: self.x(),
            y: self.y(),
            ends: None,
            panels: self.panels(),
            areas: Vec::new(),
            levels: levels.clone().map(Level::mark).collect(),
            legend: levels.map(|level| level.explained(self.measure)).collect(),
            on_terminal: true,
        }
    }

    /// The axis across; each place that has a point is marked.
    fn x(&self) -> Axis {
        let mut places: Vec<u64> = self.points().map(|point| point.x).collect();
        places.sort_unstable();
        places.dedup();
        let ticks = places.iter();
        let ticks: Vec<(f64, String)> = ticks
            .map(|place| (position(*place), format::count(*place)))
            .collect();
        let values: Vec<f64> = ticks.iter().map(|(at, _)| *at).collect();
        Axis {
            title: self.across.clone(),
            scale: scale(&values),
            ticks,
        }
    }

    fn y(&self) -> Axis {
        let points = self.points().map(|point| &point.quantity);
        let levels = self.levels.iter().map(|level| level.quantity);
        let heights = points
            .chain(levels)
            .flat_map(|of| [Some(of.value), of.ends.map(|e| e.0), of.ends.map(|e| e.1)]);
        let scale = scale(&heights.flatten().collect::<Vec<f64>>()).with_bars_from_its_end();
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
            x: position(point.x),
            y: Some(found.value),
            interval: found.ends,
            shape: None,
            tooltip: format!("{of} {place}: {sentence}{sample}"),
            label: place,
            value: quantity::value(self.measure, found.value),
            spread: quantity::spread(self.measure, found),
        }
    }

    fn table(&self) -> Table {
        let (measure, unit) = (self.measure, quantity::unit(self.measure));
        let columns = vec![
            text_column("line", "", |figure: &Figure<'_>| Cell::text(figure.label)),
            text_column(
                "durability",
                "what an acknowledged write survives",
                |figure: &Figure<'_>| Cell::text(&figure.class),
            ),
            number("across", &self.across, |figure: &Figure<'_>| {
                figure.x.map_or_else(Cell::default, |place| {
                    Cell::number(position(place), format::count(place))
                })
            }),
            number("value", "", |figure: &Figure<'_>| {
                let value = figure.quantity.value;
                Cell::number(value, quantity::value(measure, value))
            })
            .in_unit(unit),
            number(
                "spread",
                "standard error of a mean, or an interval",
                |figure: &Figure<'_>| quantity::spread_cell(measure, Some(*figure.quantity)),
            )
            .in_unit(unit),
        ];
        Table::of(&self.outcome.title, columns, &self.all_figures())
    }

    fn all_figures(&self) -> Vec<Figure<'_>> {
        let mut figures = Vec::new();
        for plane in &self.outcome.planes {
            let class = self.class_title(plane);
            for line in &plane.lines {
                figures.extend(line.points.iter().map(|point| Figure {
                    label: &line.label,
                    class: class.clone(),
                    x: Some(point.x),
                    quantity: &point.quantity,
                }));
            }
        }
        figures.extend(self.levels.iter().map(|level| Figure {
            label: &level.label,
            class: String::new(),
            x: None,
            quantity: level.quantity,
        }));
        figures
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

fn scale(values: &[f64]) -> Scale {
    let usable = || values.iter().copied().filter(|v| v.is_finite() && *v > 0.0);
    Scale::logarithmic(
        usable().fold(f64::INFINITY, f64::min),
        usable().fold(0.0, f64::max),
    )
}

#[expect(clippy::cast_precision_loss, reason = "drawn")]
fn position(place: u64) -> f64 {
    place as f64
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
