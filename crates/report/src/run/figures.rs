//! The figures of a study: ratios to a reference, and measured quantities as bars or against a
//! setting, each beside what was published.

use super::promises;
use crate::document::{
    Axis, Block, ChartRow, Fill, Key, LegendEntry, Mark, MarkKind, RowGroup, Rows, Scale, Section,
    Sign, Unit, Value, anchor, folded, headed, legend, notice, paragraph, remark,
};
use crate::figure::{self, extent, ticks};
use crate::value::{self, float};
use crate::wording::{self, class};
use crate::words::halves;
use std::collections::BTreeSet;
use std::iter::once;
use stowplan_analysis::{
    Analysis, CellSummary, ComparisonOutcome, Finding, FindingGroup, FindingRow, Kind, Shown,
    Source, Verdict,
};
use stowplan_model::{self as model, Across, Statistic};

/// What quantities are, by their names, and how to read them.
const MEASURES: &str = include_str!("../words/measures.txt");

/// All figures.
pub(super) fn figures(analysis: &Analysis) -> Vec<Block> {
    let figures = analysis.figures.iter();
    figures
        .map(|found| Drawn::of(analysis, found).block(Vec::new()))
        .collect()
}

/// The first figure of ratios or of bars, with so many rows at most.
pub(super) fn picture(analysis: &Analysis, rows: usize) -> Option<Block> {
    let mut ratios = analysis.figures.iter().filter(|found| is_of_ratios(found));
    let mut bars = analysis.figures.iter();
    let ratios = ratios.find(|found| {
        found
            .rows()
            .any(|row| row.verdict.is_some() && row.rounds.is_some())
    });
    let found = ratios.or_else(|| bars.find(|found| found.x.is_none() && !is_of_ratios(found)))?;
    let is_open = |group: &&FindingGroup| {
        let found = analysis.comparison(&group.comparison);
        found.is_none_or(|found| found.recommendation.kind == Kind::Open)
    };
    let group = found.groups.iter().min_by_key(is_open)?;
    Some(Drawn::of(analysis, found).in_short(group, rows))
}

fn is_of_ratios(found: &Finding) -> bool {
    matches!(found.shown, Shown::Ratios { .. })
}

/// A figure, and what explains it.
pub(crate) struct Drawn<'a> {
    found: &'a Finding,
    /// The cell that ratios are to.
    reference: Option<(&'a ComparisonOutcome, &'a CellSummary)>,
    zone: String,
    /// What follows the name of that cell in the caption.
    whose: &'static str,
}

impl<'a> Drawn<'a> {
    fn of(analysis: &'a Analysis, found: &'a Finding) -> Self {
        let reference = match &found.shown {
            Shown::Ratios { to, .. } => {
                let mut comparisons = analysis.comparisons.iter();
                comparisons.find_map(|comparison| Some((comparison, comparison.cell(to)?)))
            }
            Shown::Measured(_) => None,
        };
        Self {
            found,
            reference,
            zone: wording::zone(analysis),
            whose: "",
        }
    }

    /// Of several runs, which have no cell in common; `zone` is that of equivalence.
    pub(crate) fn of_several(found: &'a Finding, zone: String) -> Self {
        Self {
            found,
            reference: None,
            zone,
            whose: " on the same machine",
        }
    }

    /// All of it, with what must not be overlooked besides: the drawing, and the same as a table.
    pub(crate) fn block(&self, mut notices: Vec<String>) -> Block {
        let Finding { id, title, .. } = self.found;
        let (of, reading) = self.words();
        notices.extend(self.unreliable());
        let (kind, about, drawn) = match (&self.found.x, &self.found.shown) {
            (Some(x), _) => {
                let across = across(x);
                let about = format!("{of} against {across}. {reading} Both axes are logarithmic.");
                ("lines", about, self.plane(across))
            }
            (None, shown) => {
                let rows = self.rows();
                let axis = match rows.axis.scale.is_logarithmic() {
                    true => " Logarithmic axis: equal distances are equal factors.",
                    false => "",
                };
                let (kind, of) = match shown {
                    Shown::Ratios { label, .. } => (
                        "chart",
                        format!("{of}, as a multiple of {label}{}", self.whose),
                    ),
                    Shown::Measured(_) => ("bars", of),
                };
                (kind, format!("{of}. {reading}{axis}"), rows)
            }
        };
        let table = folded("All figures", figure::table(&drawn));
        let mut blocks = vec![paragraph(about)];
        blocks.extend(notices.iter().map(notice));
        blocks.extend([drawn.into(), table]);
        blocks.extend(self.promises().map(paragraph));
        Section::figure(anchor(kind, id), title, blocks).into()
    }

    /// One group of it, in so many rows at most: what was published beside ratios stands in a line.
    fn in_short(&self, group: &FindingGroup, rows: usize) -> Block {
        let mut drawn = self.rows_of(self.groups(group));
        let title = self.words().0;
        let Shown::Ratios { label, .. } = &self.found.shown else {
            drawn.axis.title.clear();
            return Section::new(title, vec![drawn.first(rows).into()]).into();
        };
        let published = (drawn.groups.len() > 1)
            .then(|| drawn.groups.pop())
            .flatten();
        for group in &mut drawn.groups {
            group.title.clear();
            group.rows.iter_mut().for_each(|row| row.detail.clear());
        }
        let published = published.map(|group| {
            let figures = group.rows.iter();
            let figures = figures.map(|row| format!("{} {}", row.label, row.text()));
            let figures: Vec<String> = figures.collect();
            remark(format!("published: {}", figures.join(", ")))
        });
        let drawn = Block::from(drawn.first(rows));
        let title = format!("{title}, {label} = 1");
        Section::new(title, once(drawn).chain(published).collect()).into()
    }

    /// What it shows, as the beginning of a sentence; how to read it: what the whiskers are, and which end
    /// is good.
    fn words(&self) -> (String, String) {
        let measure = match &self.found.shown {
            Shown::Measured(measure) => return halves(MEASURES, &format!("{measure:?}")),
            Shown::Ratios { .. } => self.statistic(),
        };
        let of = match measure {
            Statistic::Time => "Time per operation".to_owned(),
            measure => value::capital(&format!("{} of a block", measure.in_words())),
        };
        (of, "Shorter is faster.".to_owned())
    }

    fn statistic(&self) -> Statistic {
        let reference = self.reference;
        reference.map_or(Statistic::Time, |(comparison, _)| comparison.measure)
    }

    fn unreliable(&self) -> Option<String> {
        let titles = self.found.unreliable.iter();
        let titles: Vec<String> = titles.map(|title| wording::quoted(title)).collect();
        let titles = (!titles.is_empty()).then(|| wording::list(&titles))?;
        Some(format!(
            "Session unreliable in {titles}: nothing is claimed of it."
        ))
    }

    fn unit(&self) -> Unit {
        match self.found.shown {
            Shown::Ratios { .. } => Unit::Ratio,
            Shown::Measured(measure) => Unit::of(measure),
        }
    }

    /// Bars: of ratios, or of quantities.
    pub(crate) fn rows(&self) -> Rows {
        let groups = self.found.groups.iter();
        self.rows_of(groups.flat_map(|group| self.groups(group)).collect())
    }

    fn rows_of(&self, groups: Vec<RowGroup>) -> Rows {
        let (values, mut ends) = extent(&groups);
        let unit = self.unit();
        let Shown::Ratios { label, .. } = &self.found.shown else {
            let asked = self.found.axis.map(|axis| axis == model::Axis::Logarithmic);
            let scale = Scale::of_bars(&values, &ends, asked);
            let title = self.words().0;
            let axis = Axis::new(title, scale, ticks(&scale), |at| unit.tick(at));
            return Rows::new(&self.found.title, axis, groups);
        };
        let title = format!("{} vs {label}", self.statistic());
        let floor = self.floor();
        ends.push(floor.map_or(1.0, |(_, ratio)| ratio));
        let scale = Scale::for_bars(&values, &ends);
        let axis = Axis::new(title, scale, scale.ticks(), |at| unit.tick(at));
        let floor = floor.map(|(_, ratio)| Mark::new(ratio, MarkKind::Floor));
        let one = Mark::new(1.0, MarkKind::Reference);
        Rows {
            marks: once(one).chain(floor).collect(),
            legend: self.legend(label, &groups),
            ..Rows::new(&self.found.title, axis, groups)
        }
    }

    /// What there is to know of a group, its rows by what they promise where they are to be compared by that,
    /// and what was published.
    fn groups(&self, group: &FindingGroup) -> Vec<RowGroup> {
        let is_ours = |row: &&FindingRow| row.source != Source::Published;
        let count = group.rows.iter().take_while(is_ours).count();
        let (ours, published) = group.rows.split_at(count);
        let reliable = self.found.unreliable.is_empty();
        let drawn = |rows: &[FindingRow]| -> Vec<ChartRow> {
            rows.iter().map(|row| self.row(row, reliable)).collect()
        };
        let mut groups = Vec::new();
        if is_of_ratios(self.found) {
            groups.push(RowGroup::of(&group.title, drawn(ours)));
        } else {
            groups.push(about(group));
            let any = ours.iter().any(|row| row.durability.is_some());
            let classes = ours.chunk_by(|a, b| a.durability == b.durability);
            groups.extend(classes.map(|rows| RowGroup::of(promised(rows, any), drawn(rows))));
        }
        let label = group.published_label.as_deref();
        groups.extend(figure::published(label, drawn(published)));
        groups
    }

    fn row(&self, row: &FindingRow, reliable: bool) -> ChartRow {
        let fill = match (row.source, row.verdict) {
            (Source::Published, _) => Fill::Published,
            (Source::Reference, _) => Fill::Reference,
            (Source::Floor, _) => Fill::Floor,
            (_, Some(Verdict::NoData | Verdict::Unreliable)) => Fill::Uncertain,
            _ if !reliable => Fill::Uncertain,
            _ => Fill::Ours,
        };
        let promise = row.durability.filter(|_| is_of_ratios(self.found));
        let promise = promise.map(|promise| format!("durability: {promise}"));
        let ratio = row.ratio();
        let mark = if row.sample { EXTRAPOLATED } else { "" };
        let value = self.value(row).map(|value| Value { mark, ..value });
        ChartRow {
            detail: row.description.clone().or(promise).unwrap_or_default(),
            sign: row.verdict.map(|verdict| Sign::of(verdict, ratio.as_ref())),
            help: match (row.source, row.verdict, row.rounds) {
                (Source::Published, ..) => "as published".to_owned(),
                (Source::Reference, ..) => "the reference of this figure".to_owned(),
                (_, Some(verdict), Some(rounds)) => {
                    format!("{rounds} rounds: {}", wording::verdict(verdict))
                }
                _ => String::new(),
            },
            ..ChartRow::bar(&row.label, value, fill)
        }
    }

    fn value(&self, row: &FindingRow) -> Option<Value> {
        row.quantity.map(|found| Value::of(self.unit(), &found))
    }

    /// The label of the floor, and its ratio to the reference.
    fn floor(&self) -> Option<(&'a str, f64)> {
        let (comparison, reference) = self.reference?;
        let multiple = reference.multiple_of_floor?;
        let label = comparison.floor_of(reference)?.cell.label.as_str();
        let label = label.strip_prefix("floor: ").unwrap_or(label);
        Some((label, 1.0 / multiple.ratio))
    }

    fn legend(&self, reference: &str, groups: &[RowGroup]) -> Vec<LegendEntry> {
        let one = format!("1.0 = {reference}");
        let mut entries = vec![LegendEntry::new(Key::Mark(MarkKind::Reference), one)];
        entries.extend(self.floor().map(|(label, ratio)| {
            let text = format!("floor: {} ({label})", value::ratio(ratio));
            LegendEntry::new(Key::Mark(MarkKind::Floor), text)
        }));
        let mut quantities = self.found.rows().filter_map(|row| row.quantity);
        let interval = match quantities.any(|quantity| quantity.error.is_some()) {
            true => "interval; for published bars, how precisely they could be read",
            false => "interval",
        };
        entries.push(LegendEntry::new(Key::Interval, interval));
        let rows = groups.iter().flat_map(|group| &group.rows);
        // A bar without data says so itself.
        let signs = rows.filter_map(|row| row.sign.filter(|sign| *sign != Sign::Nothing));
        let signs: Vec<Sign> = signs.collect();
        entries.extend(legend(&signs, reference, "the other", &self.zone));
        entries
    }

    fn promises(&self) -> Option<String> {
        let (comparison, _) = self.reference?;
        let cells = self.found.rows().filter_map(|row| row.cell.as_ref());
        promises::of_cells(cells.filter_map(|cell| comparison.cell(cell)))
    }

    /// Lines, those that promise the same in one drawing; what has no place across lies over all of them.
    fn plane(&self, across: String) -> Rows {
        let level = |group: &&FindingGroup| group.rows.iter().all(|row| row.x.is_none());
        let (levels, lines): (Vec<_>, Vec<_>) = self.found.groups.iter().partition(level);
        let levels = levels.into_iter().flat_map(|group| &group.rows);
        let levels = levels.filter_map(|row| Some((row, self.value(row)?)));
        let levels = levels.zip(('a'..='z').cycle().map(String::from));
        let marks = levels.clone().map(|((_, value), sign)| Mark {
            sign,
            ..Mark::new(value.number, MarkKind::Level)
        });
        let legend = levels.map(|((row, value), sign)| {
            let promise = row.durability.as_ref();
            let promise = promise.map_or_else(String::new, |claim| format!(" ({})", class(claim)));
            let text = format!("{sign}: {}{promise}: {}", row.label, value.whole());
            LegendEntry::new(Key::Mark(MarkKind::Level), text)
        });
        let promise = |group: &FindingGroup| group.rows[0].durability;
        let any = lines.iter().any(|line| promise(line).is_some());
        let groups = lines.chunk_by(|a, b| promise(a) == promise(b));
        let groups = groups.flat_map(|lines| {
            let title = promised(&lines[0].rows, any);
            headed(title, lines.iter().map(|line| self.line(line)).collect())
        });
        let places: BTreeSet<u64> = self.found.rows().filter_map(|row| row.x).collect();
        let x = Axis {
            title: across,
            scale: Scale::over(places.iter().map(|place| float(*place))),
            ticks: places
                .iter()
                .map(|place| (float(*place), value::count(*place)))
                .collect(),
        };
        let values = self.found.rows().filter_map(|row| self.value(row));
        let scale = Scale::over(values.flat_map(|value| {
            let ends = value.ends().into_iter().flat_map(<[f64; 2]>::from);
            ends.chain([value.number])
        }));
        let scale = scale.with_bars_from_its_end();
        let unit = self.unit();
        let y = Axis::new(self.words().0, scale, ticks(&scale), |at| unit.tick(at));
        Rows {
            marks: marks.collect(),
            legend: legend.collect(),
            ..Rows::new(&self.found.title, y, groups.collect()).across(x)
        }
    }

    fn line(&self, line: &FindingGroup) -> RowGroup {
        let points = line.rows.iter().filter_map(|row| {
            let x = row.x?;
            let help = if row.sample { "from a sample" } else { "" };
            Some(ChartRow {
                x: float(x),
                help: help.to_owned(),
                ..ChartRow::bar(value::count(x), self.value(row), Fill::Ours)
            })
        });
        RowGroup::of(&line.title, points.collect())
    }
}

/// Stands before figures that are extrapolated from a sample.
const EXTRAPOLATED: &str = "~";

/// What there is to know of a group before its numbers.
fn about(group: &FindingGroup) -> RowGroup {
    let extrapolated = group.rows.iter().any(|row| row.sample);
    let extrapolated = extrapolated.then(|| format!("{EXTRAPOLATED} extrapolated from a sample."));
    let cells = group.not_applicable.keys();
    let cells: Vec<String> = cells.map(|key| wording::quoted(key)).collect();
    let none = (!cells.is_empty()).then(|| format!("Not applicable: {}.", wording::list(&cells)));
    RowGroup {
        heading: group.title.clone(),
        remarks: extrapolated.into_iter().chain(none).collect(),
        ..RowGroup::default()
    }
}

/// What rows that stand together promise, if any row of the figure does.
fn promised(rows: &[FindingRow], any: bool) -> String {
    match &rows[0].durability {
        Some(claim) => class(claim),
        None if any => "reads or floor: nothing promised".to_owned(),
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
