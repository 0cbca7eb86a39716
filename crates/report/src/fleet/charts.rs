//! The study's charts: a group per cell, and in it a bar per machine.

use super::Fleet;
use crate::cells::grouped;
use crate::document::{
    Block, ChartRow, Fill, Key, LegendEntry, Mark, MarkKind, RowGroup, Rows, Section, Sign, Value,
    chapter, legend,
};
use crate::figure::{Figure, axis_of_ratios, published_ratios};
use crate::{value, wording};
use stowplan_analysis::{ChartBar, ChartOutcome, Verdict};
use stowplan_model::{CellId, Role};

/// The charts.
pub(super) fn section(fleet: &Fleet<'_>) -> Option<Block> {
    let figures = charts(fleet).into_iter().map(|chart| {
        let reference = &chart.first.reference;
        let figure = Figure {
            id: format!("chart-{}", chart.first.id),
            title: chart.first.title.clone(),
            about: format!(
                "Time per operation, as a multiple of {reference} on the same machine. Shorter is \
                 faster."
            ),
            notices: chart.notices(fleet),
            below: String::new(),
        };
        figure.of_rows(chart.rows(fleet, usize::MAX))
    });
    chapter("charts", "Charts", figures.collect())
}

/// The first cell of the first chart, so many rows at most.
pub(super) fn picture(fleet: &Fleet<'_>, rows: usize) -> Option<Block> {
    let chart = charts(fleet).into_iter().next()?;
    let mut drawn = chart.rows(fleet, 1);
    drawn.groups.truncate(1);
    let title = &chart.first.title;
    Some(Section::new(title, vec![drawn.first(rows).into()]).into())
}

/// A chart of a study, on each machine that has it.
struct Chart<'a> {
    first: &'a ChartOutcome,
    /// What the ratios are to.
    reference: CellId,
    /// That of each machine, but for those whose ratios are to something else.
    on: Vec<Option<&'a ChartOutcome>>,
    /// The machines whose ratios are to something else.
    otherwise: Vec<usize>,
}

/// The charts of which something is drawn.
fn charts<'a>(fleet: &Fleet<'a>) -> Vec<Chart<'a>> {
    let analyses = fleet.analyses.iter().enumerate();
    let all = analyses.flat_map(|(place, analysis)| {
        let charts = analysis.charts.iter();
        charts.filter_map(move |chart| {
            let mut specs = analysis.run.plan.study.charts.iter();
            let spec = specs.find(|spec| spec.id == chart.id)?;
            let reference = CellId(format!("{}/{}", spec.comparison, spec.reference));
            Some((chart.id.as_str(), (place, reference, chart)))
        })
    });
    let charts = grouped(all).into_iter().filter_map(|(_, found)| {
        let (_, reference, first) = found.first()?.clone();
        let mut on = vec![None; fleet.machines().len()];
        let mut otherwise = Vec::new();
        for (place, its, chart) in found {
            match its == reference {
                true if !left_out(fleet, place, &reference) => on[place] = Some(chart),
                true => {}
                false => otherwise.push(place),
            }
        }
        Some(Chart {
            first,
            reference,
            on,
            otherwise,
        })
    });
    let is_drawn = |chart: &Chart<'_>| {
        let mut bars = chart.on.iter().flatten().flat_map(|chart| &chart.bars);
        bars.any(|bar| bar.estimate.is_some())
    };
    charts.filter(is_drawn).collect()
}

fn left_out(fleet: &Fleet<'_>, place: usize, cell: &CellId) -> bool {
    let mut differences = fleet.outcome.differences.iter();
    differences.any(|found| found.machine == place && found.cell == *cell)
}

impl<'a> Chart<'a> {
    /// What must be known of it.
    fn notices(&self, fleet: &Fleet<'_>) -> Vec<String> {
        let other = (!self.otherwise.is_empty()).then(|| {
            format!(
                "Left out {}, where the ratios of this chart are not to {}.",
                fleet.on(&self.otherwise),
                wording::quoted(&self.first.reference)
            )
        });
        let charts = self.on.iter().enumerate();
        let unreliable = charts.filter(|(_, chart)| {
            chart.is_some_and(|chart| {
                let mut bars = chart.bars.iter().filter(|bar| bar.estimate.is_some());
                bars.all(|bar| bar.verdict == Verdict::Unreliable)
            })
        });
        let unreliable: Vec<usize> = unreliable.map(|(place, _)| place).collect();
        let unreliable = (!unreliable.is_empty()).then(|| {
            let on = fleet.on(&unreliable);
            format!("Session unreliable {on}: those bars claim nothing.")
        });
        other.into_iter().chain(unreliable).collect()
    }

    /// A group for each of so many cells, and what was published.
    fn rows(&self, fleet: &Fleet<'_>, cells: usize) -> Rows {
        let bars = self.on.iter().enumerate().flat_map(|(place, chart)| {
            let bars = chart.iter().flat_map(|chart| &chart.bars);
            let compared = bars.filter(|bar| bar.cell != self.reference);
            compared.map(move |bar| (&bar.cell, (place, bar)))
        });
        let drawn = grouped(bars).into_iter();
        let drawn = drawn.filter(|(_, on)| on.iter().any(|(_, bar)| bar.estimate.is_some()));
        let drawn = drawn.take(cells);
        let groups = drawn.filter_map(|(_, on)| {
            let (_, first) = on.first()?;
            let rows = fleet.machines().iter().enumerate().map(|(place, machine)| {
                let bar = on.iter().find(|(at, _)| *at == place);
                let bar = bar.filter(|_| !left_out(fleet, place, &first.cell));
                row(
                    &machine.label,
                    bar.map(|(_, bar)| *bar),
                    is_floor(fleet, &first.cell),
                )
            });
            let durability = first.durability.as_ref();
            let promise = durability.map_or_else(String::new, |d| format!(" (durability: {d})"));
            let title = format!("{} / {}{promise}", first.label, self.first.reference);
            Some(RowGroup::of(title, rows.collect()))
        });
        let published = published_ratios(
            self.first.published_label.as_deref(),
            &self.first.published,
            self.first.published_precision,
        );
        let groups: Vec<RowGroup> = groups.chain(published).collect();
        Rows {
            marks: vec![Mark {
                sign: "1.0".to_owned(),
                ..Mark::new(1.0, MarkKind::Reference)
            }],
            legend: self.legend(fleet, &groups),
            ..Rows::new(
                format!(
                    "{}: time over that of {}",
                    self.first.title, self.first.reference
                ),
                axis_of_ratios(String::new(), &groups, Some(1.0)),
                groups,
            )
        }
    }

    fn legend(&self, fleet: &Fleet<'_>, groups: &[RowGroup]) -> Vec<LegendEntry> {
        let reference = wording::quoted(&self.first.reference);
        let mut entries = vec![
            LegendEntry::new(Key::Mark(MarkKind::Reference), format!("1.0 = {reference}")),
            LegendEntry::new(
                Key::Interval,
                "interval; for published bars, how precisely they could be read",
            ),
        ];
        let rows = groups.iter().flat_map(|group| &group.rows);
        let signs: Vec<Sign> = rows.filter_map(|row| row.sign).collect();
        let zone = fleet.zone().map_or("the zone".to_owned(), value::percent);
        entries.extend(legend(&signs, &reference, "the other", &zone));
        entries
    }
}

fn is_floor(fleet: &Fleet<'_>, cell: &CellId) -> bool {
    let comparisons = fleet
        .analyses
        .iter()
        .flat_map(|analysis| &analysis.comparisons);
    let mut cells = comparisons.filter_map(|comparison| comparison.cell(cell));
    cells.any(|summary| summary.cell.role == Role::Floor)
}

fn row(machine: &str, bar: Option<&ChartBar>, is_floor: bool) -> ChartRow {
    let estimate = bar.and_then(|bar| bar.estimate);
    let verdict = bar.map_or(Verdict::NoData, |bar| bar.verdict);
    let fill = match verdict {
        _ if is_floor => Fill::Floor,
        Verdict::NoData | Verdict::Unreliable => Fill::Uncertain,
        _ => Fill::Ours,
    };
    let sign = estimate.filter(|_| !is_floor);
    ChartRow {
        sign: sign.map(|estimate| Sign::of(verdict, Some(&estimate))),
        help: estimate.map_or_else(String::new, |estimate| {
            format!("{} rounds: {}", estimate.rounds, wording::verdict(verdict))
        }),
        ..ChartRow::bar(machine, estimate.as_ref().map(Value::from), fill)
    }
}
