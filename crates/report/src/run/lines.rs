//! Charts of lines: measured quantities against a setting.

use crate::columns::{Columns, float};
use crate::document::{
    Axis, Block, Cell, Key, LegendEntry, Line, LineKind, Mark, MarkKind, Panel, Plane, Point,
    Scale, Section, Table, anchor, folded, notice, paragraph,
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
    let charts = outcomes.map(|outcome| Chart {
        analysis,
        outcome,
        measure: outcome.measure,
        across: across(&outcome.x),
    });
    charts.map(|chart| chart.figure()).collect()
}

/// What all lines of a chart share.
struct Chart<'a> {
    analysis: &'a Analysis,
    outcome: &'a LinesOutcome,
    measure: Measure,
    /// What lies across, in words.
    across: String,
}

impl<'a> Chart<'a> {
    fn figure(&self) -> Block {
        let outcome = self.outcome;
        let mut blocks = vec![paragraph(format!(
            "{} against {}. {} Both axes are logarithmic.",
            quantity::title(self.measure),
            self.across,
            quantity::reading(self.measure)
        ))];
        blocks.extend(self.unreliable().map(notice));
        let plane = self.plane();
        let table = folded("All figures", self.table(&plane));
        blocks.extend([plane.into(), table]);
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
        let levels = self.outcome.levels.iter().zip((0..).map(letters));
        let marks = levels.clone().map(|(level, sign)| Mark {
            sign,
            ..Mark::new(level.quantity.value, MarkKind::Level)
        });
        let legend = levels.map(|(level, sign)| {
            let figure = quantity::text(self.measure, &level.quantity);
            let text = format!("{sign}: {}: {figure}", self.label_of(level));
            LegendEntry::new(Key::Mark(MarkKind::Level), text)
        });
        Plane {
            levels: marks.collect(),
            legend: legend.collect(),
            on_terminal: true,
            ..Plane::new(&self.outcome.title, self.x(), self.y(), self.panels())
        }
    }

    /// What a cell at one height is, and what it promises.
    fn label_of(&self, level: &LineLevel) -> String {
        let label = self.analysis.label_of(&level.cell).unwrap_or(&level.label);
        format!(
            "{label}{}",
            in_brackets(level.durability.as_ref().map(class))
        )
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
        let levels = self.outcome.levels.iter().map(|level| &level.quantity);
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
                Panel::new(&title, lines.collect())
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
        let promise = in_brackets(Some(class).filter(|class| !class.is_empty()));
        let of = format!("{}{promise}, {}", line.label, self.across);
        let points = line.points.iter();
        Line {
            label: line.label.clone(),
            kind: LineKind::Series(number),
            points: points.map(|point| self.point(point, &of)).collect(),
        }
    }

    fn point(&self, point: &LinePoint, of: &str) -> Point {
        let place = format::count(point.x);
        let sample = if point.sample { ", from a sample" } else { "" };
        let sentence = quantity::sentence(self.measure, &point.quantity);
        Point {
            x: float(point.x),
            tooltip: format!("{of} {place}: {sentence}{sample}"),
            label: place,
            ..self.height(&point.quantity)
        }
    }

    /// A point that lies nowhere across.
    fn height(&self, quantity: &Quantity) -> Point {
        Point {
            y: Some(quantity.value),
            interval: quantity.ends,
            value: quantity::value(self.measure, quantity.value),
            spread: quantity::spread(self.measure, quantity),
            ..Point::default()
        }
    }

    /// Every figure that is drawn: what it is of, what that promises, and the point.
    fn table(&self, plane: &Plane) -> Table {
        type Row = (String, String, Point);
        let lines = plane.panels.iter();
        let lines = lines.flat_map(|panel| panel.lines.iter().map(move |line| (panel, line)));
        let points = lines.flat_map(|(panel, line)| {
            let row = |point: &Point| (line.label.clone(), panel.title.clone(), point.clone());
            line.points.iter().map(row)
        });
        let levels = self.outcome.levels.iter().map(|level| {
            let point = self.height(&level.quantity);
            (self.label_of(level), String::new(), point)
        });
        let rows: Vec<Row> = points.chain(levels).collect();
        let unit = quantity::unit(self.measure);
        let make = Columns::<Row>::new();
        let across = |(_, _, point): &Row| match point.label.as_str() {
            "" => Cell::default(),
            place => Cell::number(point.x, place.to_owned()),
        };
        let spread = |row: &Row| quantity::spread_cell(row.2.interval, &row.2.spread);
        let columns = vec![
            make.text("line", |row| row.0.clone()),
            make.text("durability", |row| row.1.clone())
                .help("what an acknowledged write survives"),
            make.number("across", across).help(&self.across),
            make.number("value", |row| Cell::maybe(row.2.y, |_| row.2.value.clone()))
                .in_unit(unit),
            make.number("spread", spread)
                .help("standard error of a mean, or an interval")
                .in_unit(unit),
        ];
        Table::of(&self.outcome.title, columns, &rows)
    }
}

/// ` (D1 process-crash)`; empty of nothing.
fn in_brackets(class: Option<impl std::fmt::Display>) -> String {
    class.map_or_else(String::new, |class| format!(" ({class})"))
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
