//! The figures of a study: ratios to a reference, and measured quantities as bars or against a
//! setting, each beside what was published.

use super::promises;
use crate::document::{
    Axis, Block, ChartRow, Fill, Key, LegendEntry, Line, LineKind, Mark, MarkKind, Panel, Plane,
    Point, RowGroup, Rows, Scale, Section, Sign, Unit, Value, anchor, legend, remark,
};
use crate::figure::{self, Figure, axis_of_ratios, extent, published_ratios, ticks};
use crate::noise;
use crate::value::{self, float};
use crate::wording::{self, class};
use std::collections::BTreeSet;
use std::iter::once;
use stowplan_analysis::{
    Analysis, BarClass, BarGroup, BarsOutcome, CellSummary, ChartBar, ChartOutcome,
    ComparisonOutcome, Kind, LineLevel, LinePlane, LinesOutcome, MeasuredBar, Verdict,
};
use stowplan_model::{self as model, Across, CellId, DurabilityClaim, Measure, Role, Statistic};

/// All figures.
pub(super) fn figures(analysis: &Analysis) -> Vec<Block> {
    let charts = analysis.charts.iter().map(|found| chart(analysis, found));
    let bars = analysis.bars.iter().map(|found| bars(analysis, found));
    let lines = analysis.lines.iter().map(|found| lines(analysis, found));
    charts.chain(bars).chain(lines).collect()
}

/// The first figure of ratios or of bars, with so many rows at most.
pub(super) fn picture(analysis: &Analysis, rows: usize) -> Option<Block> {
    let mut charts = analysis.charts.iter();
    let drawn = charts.find(|found| found.bars.iter().any(|bar| bar.estimate.is_some()));
    match drawn {
        Some(found) => Some(chart_in_short(analysis, found, rows)),
        None => bars_in_short(analysis, rows),
    }
}

/// A figure of ratios, and the cell that they are to.
struct Ratios<'a> {
    analysis: &'a Analysis,
    outcome: &'a ChartOutcome,
    reference: Option<(&'a ComparisonOutcome, &'a CellSummary)>,
}

fn chart(analysis: &Analysis, outcome: &ChartOutcome) -> Block {
    let ratios = Ratios::of(analysis, outcome);
    let unreliable = "Session unreliable: nothing is claimed from this machine's bars.";
    let unreliable = (!outcome.reliable).then(|| unreliable.to_owned());
    let (of, reference) = (ratios.title(), &outcome.reference);
    let figure = Figure {
        id: anchor("chart", &outcome.id),
        title: outcome.title.clone(),
        about: format!("{of}, as a multiple of {reference}. Shorter is faster."),
        notices: unreliable.into_iter().collect(),
        below: ratios.promises().unwrap_or_default(),
    };
    figure.of_rows(ratios.rows())
}

fn chart_in_short(analysis: &Analysis, outcome: &ChartOutcome, rows: usize) -> Block {
    let ratios = Ratios::of(analysis, outcome);
    let mut drawn = ratios.rows();
    let published = match drawn.groups.len() {
        0 | 1 => None,
        _ => drawn.groups.pop(),
    };
    let published = published.map(|group| {
        let figures = group.rows.iter();
        let figures = figures.map(|row| format!("{} {}", row.label, row.text()));
        remark(format!(
            "published: {}",
            figures.collect::<Vec<_>>().join(", ")
        ))
    });
    for group in &mut drawn.groups {
        group.title.clear();
        group.rows.iter_mut().for_each(|row| row.detail.clear());
    }
    let drawn = Block::from(drawn.first(rows));
    let title = format!("{}, {} = 1", ratios.title(), outcome.reference);
    Section::new(title, once(drawn).chain(published).collect()).into()
}

impl<'a> Ratios<'a> {
    fn of(analysis: &'a Analysis, outcome: &'a ChartOutcome) -> Self {
        let mut specs = analysis.run.plan.study.charts.iter();
        let reference = specs.find(|spec| spec.id == outcome.id).and_then(|spec| {
            let mut comparisons = analysis.comparisons.iter();
            let comparison = comparisons.find(|found| found.id == spec.comparison)?;
            let id = CellId(format!("{}/{}", spec.comparison, spec.reference));
            Some((comparison, comparison.cell(&id)?))
        });
        Self {
            analysis,
            outcome,
            reference,
        }
    }

    fn measure(&self) -> Statistic {
        self.reference
            .map_or(Statistic::Time, |(comparison, _)| comparison.measure)
    }

    fn title(&self) -> String {
        match self.measure() {
            Statistic::Time => "Time per operation".to_owned(),
            measure => value::capital(&format!("{} of a block", measure.in_words())),
        }
    }

    /// The label of the floor, and its ratio to the reference.
    fn floor(&self) -> Option<(&'a str, f64)> {
        let (comparison, reference) = self.reference?;
        let multiple = reference.multiple_of_floor?;
        let label = comparison.floor_of(reference)?.cell.label.as_str();
        let label = label.strip_prefix("floor: ").unwrap_or(label);
        Some((label, 1.0 / multiple.ratio))
    }

    fn rows(&self) -> Rows {
        let outcome = self.outcome;
        let one = ChartRow {
            detail: durability(self.reference.and_then(|(_, cell)| cell.promise())),
            help: "the reference of this figure".to_owned(),
            ..ChartRow::bar(
                &outcome.reference,
                Some(Value::new(1.0, Unit::Ratio)),
                Fill::Reference,
            )
        };
        let bars = self.bars().map(|bar| self.row(bar));
        let ours = RowGroup::of("This machine", once(one).chain(bars).collect());
        let published = published_ratios(
            outcome.published_label.as_deref(),
            &outcome.published,
            outcome.published_precision,
        );
        let groups: Vec<RowGroup> = once(ours).chain(published).collect();
        let floor = self.floor();
        let title = format!("{} vs {}", self.measure(), outcome.reference);
        let axis = axis_of_ratios(title, &groups, floor.map(|(_, ratio)| ratio));
        let floor = floor.map(|(_, ratio)| Mark::new(ratio, MarkKind::Floor));
        Rows {
            marks: once(Mark::new(1.0, MarkKind::Reference))
                .chain(floor)
                .collect(),
            legend: self.legend(&groups),
            ..Rows::new(&outcome.title, axis, groups)
        }
    }

    /// The bars but for that of the reference.
    fn bars(&self) -> impl Iterator<Item = &'a ChartBar> {
        let reference = self.reference.map(|(_, cell)| &cell.cell.id);
        let bars = self.outcome.bars.iter();
        bars.filter(move |bar| Some(&bar.cell) != reference)
    }

    fn cell(&self, bar: &ChartBar) -> Option<&'a CellSummary> {
        self.reference?.0.cell(&bar.cell)
    }

    fn row(&self, bar: &ChartBar) -> ChartRow {
        let verdict = wording::verdict(bar.verdict);
        let fill = match bar.verdict {
            _ if self
                .cell(bar)
                .is_some_and(|cell| cell.cell.role == Role::Floor) =>
            {
                Fill::Floor
            }
            Verdict::NoData | Verdict::Unreliable => Fill::Uncertain,
            _ if !self.outcome.reliable => Fill::Uncertain,
            _ => Fill::Ours,
        };
        ChartRow {
            detail: durability(bar.durability.as_ref()),
            sign: Some(Sign::of(bar.verdict, bar.estimate.as_ref())),
            help: match bar.estimate {
                Some(estimate) => format!("{} rounds: {verdict}", estimate.rounds),
                None => String::new(),
            },
            ..ChartRow::bar(&bar.label, bar.estimate.as_ref().map(Value::from), fill)
        }
    }

    fn legend(&self, groups: &[RowGroup]) -> Vec<LegendEntry> {
        let reference = &self.outcome.reference;
        let one = format!("1.0 = {reference}");
        let mut entries = vec![LegendEntry::new(Key::Mark(MarkKind::Reference), one)];
        entries.extend(self.floor().map(|(label, ratio)| {
            let text = format!("floor: {} ({label})", value::ratio(ratio));
            LegendEntry::new(Key::Mark(MarkKind::Floor), text)
        }));
        let interval = match self.outcome.published_precision {
            Some(_) => "interval; for published bars, how precisely they could be read",
            None => "interval",
        };
        entries.push(LegendEntry::new(Key::Interval, interval));
        let rows = groups.iter().flat_map(|group| &group.rows);
        // A bar without data says so itself.
        let signs = rows.filter_map(|row| row.sign.filter(|sign| *sign != Sign::Nothing));
        let signs: Vec<Sign> = signs.collect();
        let zone = wording::zone(self.analysis);
        entries.extend(legend(&signs, reference, "the other", &zone));
        entries
    }

    fn promises(&self) -> Option<String> {
        let (_, reference) = self.reference?;
        let cells = self.bars().filter_map(|bar| self.cell(bar));
        promises::of_cells(once(reference).chain(cells))
    }
}

fn durability(promise: Option<impl std::fmt::Display>) -> String {
    promise.map_or_else(String::new, |promise| format!("durability: {promise}"))
}

/// What a figure of it shows, as the beginning of a sentence; how to read it: what the whiskers are,
/// and which end is good.
fn words(measure: Measure) -> (&'static str, &'static str) {
    match measure {
        Measure::Time => (
            "Time per operation",
            "The whisker is its interval. Less is faster.",
        ),
        Measure::BlockTime => (
            "Time of all operations of a block",
            "Mean over the rounds; the whisker is its standard error. Less is faster.",
        ),
        Measure::Throughput => (
            "Operations per second",
            "The whisker is their interval. More is faster.",
        ),
        Measure::Cpu => (
            "CPU time per operation",
            "User and kernel, all threads. Less is better.",
        ),
        Measure::PeakMemory => (
            "Largest resident set of a worker",
            "The harness's own few MB are part of it. Less is better.",
        ),
        Measure::Footprint => (
            "Bytes allocated on disk",
            "After what the store calls a checkpoint. Less is better.",
        ),
        Measure::WriteAmplification => (
            "Bytes sent to storage per byte written",
            "The final flush is part of it: checkpoint, close, syncfs. Less is better.",
        ),
    }
}

/// Stands before figures that are extrapolated from a sample.
const EXTRAPOLATED: &str = "~";

fn bars(analysis: &Analysis, outcome: &BarsOutcome) -> Block {
    let (title, reading) = words(outcome.measure);
    let groups = outcome.groups.iter();
    let groups = groups.flat_map(|group| of_comparison(analysis, outcome.measure, group));
    let figure = Figure {
        id: anchor("bars", &outcome.id),
        title: outcome.title.clone(),
        about: format!("{title}. {reading}"),
        notices: Vec::new(),
        below: String::new(),
    };
    figure.of_rows(rows_of(outcome, title, groups.collect()))
}

/// The bars of the first comparison that decides something, so many at most.
fn bars_in_short(analysis: &Analysis, rows: usize) -> Option<Block> {
    let outcome = analysis.bars.first()?;
    let is_open = |group: &&BarGroup| {
        let mut comparisons = analysis.comparisons.iter();
        let found = comparisons.find(|comparison| comparison.id == group.comparison);
        found.is_none_or(|found| found.recommendation.kind == Kind::Open)
    };
    let group = outcome.groups.iter().min_by_key(is_open)?;
    let drawn = rows_of(outcome, "", of_comparison(analysis, outcome.measure, group));
    let (title, _) = words(outcome.measure);
    Some(Section::new(title, vec![drawn.first(rows).into()]).into())
}

fn rows_of(outcome: &BarsOutcome, title: &str, groups: Vec<RowGroup>) -> Rows {
    let (values, ends) = extent(&groups);
    let scale = Scale::of_bars(
        &values,
        &ends,
        outcome.axis.map(|axis| axis == model::Axis::Logarithmic),
    );
    let unit = Unit::of(outcome.measure);
    let axis = Axis::new(title, scale, ticks(&scale), |at| unit.tick(at));
    Rows::new(&outcome.title, axis, groups)
}

/// A comparison: what there is to know of it, a group per class, and what was published.
fn of_comparison(analysis: &Analysis, measure: Measure, group: &BarGroup) -> Vec<RowGroup> {
    let about = RowGroup {
        heading: group.title.clone(),
        notices: match group.reliable {
            true => Vec::new(),
            false => vec![noise::unreliable()],
        },
        remarks: remarks(group),
        ..RowGroup::default()
    };
    let classes = group.classes.iter().map(|class| {
        let row = |bar: &MeasuredBar| {
            let fill = match (bar.is_floor, group.reliable) {
                (true, _) => Fill::Floor,
                (false, true) => Fill::Ours,
                (false, false) => Fill::Uncertain,
            };
            let mark = if bar.extrapolated { EXTRAPOLATED } else { "" };
            let value = bar.quantity.as_ref().map(|found| Value {
                mark,
                ..Value::measured(measure, found)
            });
            let label = analysis.label_of(&bar.cell).unwrap_or(&bar.label);
            ChartRow::bar(label, value, fill)
        };
        RowGroup::of(
            class_title(group, class),
            class.bars.iter().map(row).collect(),
        )
    });
    let published = group.published.iter().map(|figure| {
        let value = Value::measured(measure, &figure.quantity);
        ChartRow {
            help: "as published".to_owned(),
            ..ChartRow::bar(&figure.label, Some(value), Fill::Published)
        }
    });
    let published = figure::published(group.published_label.as_deref(), published.collect());
    once(about).chain(classes).chain(published).collect()
}

fn class_title(group: &BarGroup, found: &BarClass) -> String {
    let mut classes = group.classes.iter();
    match &found.durability {
        Some(claim) => class(claim),
        None if classes.all(|class| class.durability.is_none()) => String::new(),
        None if found.bars.iter().all(|bar| bar.is_floor) => "floor, no store".to_owned(),
        None => "reads: nothing promised".to_owned(),
    }
}

fn remarks(group: &BarGroup) -> Vec<String> {
    let mut bars = group.classes.iter().flat_map(|class| &class.bars);
    let extrapolated = bars.any(|bar| bar.extrapolated);
    let extrapolated = extrapolated.then(|| format!("{EXTRAPOLATED} extrapolated from a sample."));
    let cells = group.not_applicable.keys();
    let cells: Vec<String> = cells.map(|key| wording::quoted(key)).collect();
    let none = (!cells.is_empty()).then(|| format!("Not applicable: {}.", wording::list(&cells)));
    extrapolated.into_iter().chain(none).collect()
}

fn lines(analysis: &Analysis, outcome: &LinesOutcome) -> Block {
    let (title, reading) = words(outcome.measure);
    let across = across(&outcome.x);
    let unreliable = outcome.unreliable.iter();
    let unreliable: Vec<String> = unreliable.map(|title| wording::quoted(title)).collect();
    let unreliable = (!unreliable.is_empty()).then(|| {
        let titles = wording::list(&unreliable);
        format!("Session unreliable in {titles}: nothing is claimed of it.")
    });
    let figure = Figure {
        id: anchor("lines", &outcome.id),
        title: outcome.title.clone(),
        about: format!("{title} against {across}. {reading} Both axes are logarithmic."),
        notices: unreliable.into_iter().collect(),
        below: String::new(),
    };
    figure.of_plane(plane(analysis, outcome, &across))
}

fn plane(analysis: &Analysis, outcome: &LinesOutcome, across: &str) -> Plane {
    let measure = outcome.measure;
    let levels = outcome.levels.iter().zip((0..).map(letters));
    let marks = levels.clone().map(|(level, sign)| Mark {
        sign,
        ..Mark::new(level.quantity.value, MarkKind::Level)
    });
    let legend = levels.map(|(level, sign)| {
        let figure = Value::measured(measure, &level.quantity).whole();
        let text = format!("{sign}: {}: {figure}", label_of(analysis, level));
        LegendEntry::new(Key::Mark(MarkKind::Level), text)
    });
    let mut numbers = 0..;
    let panels = outcome.planes.iter().map(|plane| {
        let lines = plane.lines.iter().zip(&mut numbers).map(|(line, number)| {
            let points = line.points.iter().map(|point| Point {
                x: float(point.x),
                value: Some(Value::measured(measure, &point.quantity)),
                label: value::count(point.x),
                help: if point.sample { "from a sample" } else { "" }.to_owned(),
                shape: None,
            });
            Line {
                label: line.label.clone(),
                kind: LineKind::Series(number),
                points: points.collect(),
            }
        });
        Panel::new(plane_title(outcome, plane), lines.collect())
    });
    let points = || {
        outcome
            .planes
            .iter()
            .flat_map(|plane| &plane.lines)
            .flat_map(|line| &line.points)
    };
    let places: BTreeSet<u64> = points().map(|point| point.x).collect();
    let x = Axis {
        title: across.to_owned(),
        scale: Scale::over(places.iter().map(|place| float(*place))),
        ticks: places
            .iter()
            .map(|place| (float(*place), value::count(*place)))
            .collect(),
    };
    let heights = points().map(|point| &point.quantity);
    let heights = heights.chain(outcome.levels.iter().map(|level| &level.quantity));
    let scale = Scale::over(heights.flat_map(|of| {
        let ends = of.ends.into_iter().flat_map(<[f64; 2]>::from);
        ends.chain([of.value])
    }));
    let scale = scale.with_bars_from_its_end();
    let unit = Unit::of(measure);
    let y = Axis::new(words(measure).0, scale, ticks(&scale), |at| unit.tick(at));
    Plane {
        levels: marks.collect(),
        legend: legend.collect(),
        on_terminal: true,
        ..Plane::new(&outcome.title, x, y, panels.collect())
    }
}

fn label_of(analysis: &Analysis, level: &LineLevel) -> String {
    let label = analysis.label_of(&level.cell).unwrap_or(&level.label);
    let class = |claim: &DurabilityClaim| format!(" ({})", class(claim));
    let class = level.durability.as_ref().map_or_else(String::new, class);
    format!("{label}{class}")
}

fn plane_title(outcome: &LinesOutcome, plane: &LinePlane) -> String {
    let mut planes = outcome.planes.iter();
    match &plane.durability {
        Some(claim) => class(claim),
        None if planes.any(|plane| plane.durability.is_some()) => {
            "reads or floor: nothing promised".to_owned()
        }
        None => String::new(),
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

/// `a`, `b`, … `z`, `aa`, …
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
