//! Charts of lines before they are drawn: planes with common axes. Terminal, Markdown and HTML draw
//! the same.

use crate::bars::{Bar, Kind};
use crate::document::Scale;
use crate::quantity::{self, class};
use crate::table::{Entry, Table, build, numeric, textual};
use crate::{format, wording};
use stowplan_analysis::{Analysis, LineLevel, LinePlane, LinesOutcome, MeasuredLine, Quantity};
use stowplan_model::{Across, Measure};

/// One chart.
pub(crate) struct Chart {
    /// Name in the study file.
    pub(crate) id: String,
    /// Title for people.
    pub(crate) title: String,
    /// What it shows, and how to read it.
    pub(crate) subtitle: String,
    /// What is shown upwards.
    pub(crate) measure: Measure,
    /// The axis across.
    pub(crate) x: Scale,
    /// What lies across, in words.
    pub(crate) x_title: String,
    /// The axis upwards.
    pub(crate) y: Scale,
    /// Lines that can be compared with each other.
    pub(crate) planes: Vec<Plane>,
    /// What has nothing across.
    pub(crate) levels: Vec<Level>,
    /// What must be said about it, a sentence each.
    pub(crate) notes: Vec<String>,
    /// Every figure.
    pub(crate) table: Table,
}

/// Lines that promise the same.
pub(crate) struct Plane {
    /// What they promise; nothing for reads.
    pub(crate) heading: Option<String>,
    /// The lines.
    pub(crate) lines: Vec<Line>,
}

/// One line.
pub(crate) struct Line {
    /// What it is.
    pub(crate) label: String,
    /// By rising place.
    pub(crate) points: Vec<Point>,
}

/// One point.
pub(crate) struct Point {
    /// Where it lies across.
    pub(crate) x: u64,
    /// The same for people.
    pub(crate) place: String,
    /// How high it lies.
    pub(crate) quantity: Quantity,
    /// Everything about it in a sentence.
    pub(crate) tooltip: String,
}

/// A cell at one height.
pub(crate) struct Level {
    /// The letter or letters that mark it.
    pub(crate) sign: String,
    /// What it is, and what it promises.
    pub(crate) label: String,
    /// How high it lies.
    pub(crate) quantity: Quantity,
    /// Value and spread.
    pub(crate) text: String,
}

/// Every chart of lines that has data.
pub(crate) fn charts(analysis: &Analysis) -> Vec<Chart> {
    analysis
        .lines
        .iter()
        .map(|outcome| chart(analysis, outcome))
        .collect()
}

fn chart(analysis: &Analysis, outcome: &LinesOutcome) -> Chart {
    let measure = outcome.measure;
    let x_title = across(&outcome.x);
    let promises = outcome
        .planes
        .iter()
        .any(|plane| plane.durability.is_some());
    let planes = outcome.planes.iter();
    let planes: Vec<Plane> = planes
        .map(|p| plane(measure, &x_title, p, promises))
        .collect();
    let levels = outcome.levels.iter().enumerate();
    let levels: Vec<Level> = levels
        .map(|(index, found)| level(analysis, measure, found, letters(index)))
        .collect();
    let points = || planes.iter().flat_map(|p| &p.lines).flat_map(|l| &l.points);
    let heights = points()
        .map(|p| p.quantity)
        .chain(levels.iter().map(|l| l.quantity));
    let heights: Vec<f64> = heights
        .flat_map(|q| [Some(q.value), q.ends.map(|e| e.0), q.ends.map(|e| e.1)])
        .flatten()
        .collect();
    let places: Vec<f64> = points().map(|point| number(point.x)).collect();
    let unreliable: Vec<String> = outcome
        .unreliable
        .iter()
        .map(|t| wording::quoted(t))
        .collect();
    let notes = (!unreliable.is_empty()).then(|| {
        let titles = wording::list(&unreliable);
        format!("Session unreliable in {titles}: nothing is claimed of it.")
    });
    Chart {
        id: outcome.id.clone(),
        title: outcome.title.clone(),
        subtitle: format!(
            "{} against {x_title}. {} Both axes are logarithmic.",
            quantity::title(measure),
            quantity::reading(measure)
        ),
        measure,
        x: axis(&places),
        y: axis(&heights),
        table: table(measure, &planes, &levels),
        x_title,
        planes,
        levels,
        notes: notes.into_iter().collect(),
    }
}

fn axis(values: &[f64]) -> Scale {
    let usable = || values.iter().copied().filter(|v| v.is_finite() && *v > 0.0);
    Scale::logarithmic(
        usable().fold(f64::INFINITY, f64::min),
        usable().fold(0.0, f64::max),
    )
}

fn across(x: &Across) -> String {
    match x {
        Across::Operations => "operations of a block".to_owned(),
        Across::PerTransaction => "operations per transaction".to_owned(),
        Across::Threads => "threads".to_owned(),
        Across::Setting(name) => name.replace('_', " "),
    }
}

fn plane(measure: Measure, x_title: &str, plane: &LinePlane, promises: bool) -> Plane {
    let heading = match &plane.durability {
        Some(claim) => Some(class(claim)),
        None if promises => Some("reads or floor: nothing promised".to_owned()),
        None => None,
    };
    let promise = heading
        .as_ref()
        .map_or_else(String::new, |text| format!(" ({text})"));
    let lines = plane.lines.iter();
    Plane {
        lines: lines
            .map(|found| line(measure, x_title, found, &promise))
            .collect(),
        heading,
    }
}

fn line(measure: Measure, x_title: &str, line: &MeasuredLine, promise: &str) -> Line {
    let points = line.points.iter().map(|point| {
        let place = format::count(point.x);
        let sample = if point.sample { ", from a sample" } else { "" };
        Point {
            x: point.x,
            quantity: point.quantity,
            tooltip: format!(
                "{}{promise}, {x_title} {place}: {}{sample}",
                line.label,
                quantity::sentence(measure, &point.quantity)
            ),
            place,
        }
    });
    Line {
        label: line.label.clone(),
        points: points.collect(),
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

fn level(analysis: &Analysis, measure: Measure, level: &LineLevel, sign: String) -> Level {
    let label = analysis.label_of(&level.cell).unwrap_or(&level.label);
    let promise = level.durability.as_ref();
    let promise = promise.map_or_else(String::new, |claim| format!(" ({})", class(claim)));
    Level {
        sign,
        label: format!("{label}{promise}"),
        quantity: level.quantity,
        text: quantity::text(measure, &level.quantity),
    }
}

#[expect(clippy::cast_precision_loss, reason = "drawn")]
pub(crate) fn number(place: u64) -> f64 {
    place as f64
}

impl Chart {
    /// The same as groups of bars, for where there is no room for a plane: heading, bars.
    pub(crate) fn as_bars(&self) -> Vec<(String, Vec<Bar>)> {
        let bar = |label: &str, quantity: Quantity| Bar {
            label: label.to_owned(),
            kind: Kind::Ours,
            quantity: Some(quantity),
            value: quantity::value(self.measure, quantity.value),
            spread: quantity::spread(self.measure, &quantity),
            tooltip: String::new(),
        };
        let mut groups = Vec::new();
        for plane in &self.planes {
            let promise = plane.heading.as_ref();
            let promise = promise.map_or_else(String::new, |text| format!(" ({text})"));
            for line in &plane.lines {
                let points = line.points.iter();
                let bars = points.map(|p| bar(&p.place, p.quantity));
                groups.push((format!("{}{promise}", line.label), bars.collect()));
            }
        }
        let levels = self.levels.iter().map(|l| bar(&l.label, l.quantity));
        let levels: Vec<Bar> = levels.collect();
        if !levels.is_empty() {
            groups.push((format!("Without {}", self.x_title), levels));
        }
        groups
    }
}

/// A figure with what it belongs to.
struct Figure<'a> {
    label: &'a str,
    heading: &'a str,
    x: Option<u64>,
    quantity: Quantity,
}

fn table(measure: Measure, planes: &[Plane], levels: &[Level]) -> Table {
    let of_lines = planes.iter().flat_map(|plane| {
        plane.lines.iter().flat_map(move |line| {
            line.points.iter().map(move |point| Figure {
                label: &line.label,
                heading: plane.heading.as_deref().unwrap_or_default(),
                x: Some(point.x),
                quantity: point.quantity,
            })
        })
    });
    let of_levels = levels.iter().map(|level| Figure {
        label: &level.label,
        heading: "",
        x: None,
        quantity: level.quantity,
    });
    let figures: Vec<Figure<'_>> = of_lines.chain(of_levels).collect();
    let value = move |value: f64| Entry::number(value, quantity::value(measure, value));
    let makers = vec![
        textual("line", "", |figure: &Figure<'_>| Entry::text(figure.label)),
        textual(
            "durability",
            "what an acknowledged write survives",
            |figure: &Figure<'_>| Entry::text(figure.heading),
        ),
        numeric("across", "where it lies across", |figure: &Figure<'_>| {
            Entry::maybe(figure.x.map(number), |_| {
                figure.x.map_or_else(String::new, format::count)
            })
        }),
        numeric("value", "", move |figure: &Figure<'_>| {
            value(figure.quantity.value)
        })
        .in_unit(quantity::unit(measure)),
        numeric(
            "spread",
            "standard error of a mean, or an interval",
            move |figure: &Figure<'_>| quantity::spread_entry(measure, Some(figure.quantity)),
        )
        .in_unit(quantity::unit(measure)),
    ];
    build(makers, &figures)
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
