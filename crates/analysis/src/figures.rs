//! The figures of a study: rows of numbers in groups, ours and those that others published.

mod lines;

use crate::judge::Judge;
use crate::{
    CellSummary, ComparisonOutcome, ContrastOutcome, Quantity, RatioEstimate, SpaceRow, Verdict,
    quantity,
};
use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_model::{
    Across, Axis, Cell, CellId, Comparison, DurabilityClaim, FigureSpec, Measure, Role, Study,
};

/// A figure of a study with its numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Its name in the study file.
    pub id: String,
    /// Title for people.
    pub title: String,
    /// What its numbers are.
    pub shown: Shown,
    /// What lies across, where it is a plane; rows have nothing across.
    pub x: Option<Across>,
    /// The axis that the study asks for.
    pub axis: Option<Axis>,
    /// What belongs together, in reading order: the cells of a comparison, of a plane those of a line.
    pub groups: Vec<FindingGroup>,
    /// The titles of the comparisons that failed their A/A gate.
    pub unreliable: Vec<String>,
}

/// What the numbers of a figure are.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// Ratios to a cell.
    Ratios {
        /// The cell that is 1.0.
        to: CellId,
        /// Its label.
        label: String,
    },
    /// A measured quantity.
    Measured(Measure),
}

/// Rows that belong together.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct FindingGroup {
    /// What they have in common, for people.
    pub title: String,
    /// The comparison that its cells are of; of a line, that of its first cell.
    pub comparison: String,
    /// Ours, those that promise the same together where quantities are shown: weakest promise first, then those that
    /// promise nothing (reads, floors), for they are to be compared within a class only. Then what was published.
    pub rows: Vec<FindingRow>,
    /// Where the published ones come from, in words.
    pub published_label: Option<String>,
    /// Cells that a store cannot do, with the reason.
    pub not_applicable: BTreeMap<String, String>,
}

/// One number of a figure, and what it is of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FindingRow {
    /// Where it comes from.
    pub source: Source,
    /// The cell; nothing of what was published.
    pub cell: Option<CellId>,
    /// What it is of.
    pub label: String,
    /// What that was, of a published figure.
    pub description: Option<String>,
    /// Where it lies across, at least 1; of a plane, nothing makes it a level.
    pub x: Option<u64>,
    /// The number; nothing where it is not known.
    pub quantity: Option<Quantity>,
    /// Rounds that a ratio rests on.
    pub rounds: Option<usize>,
    /// The verdict on a ratio.
    pub verdict: Option<Verdict>,
    /// What it promises for what it writes.
    pub durability: Option<DurabilityClaim>,
    /// Whether fewer operations were measured than the number is of.
    pub sample: bool,
}

/// Where a number comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Measured here.
    Here,
    /// What the others are related to.
    Reference,
    /// Measured here, and no store to choose: the cheapest conceivable way, or a part that explains others.
    Floor,
    /// Published by others.
    Published,
}

impl FindingRow {
    /// What was found of a cell.
    pub(crate) fn of(summary: &CellSummary, quantity: Option<Quantity>) -> Self {
        let cell = &summary.cell;
        Self {
            source: match cell.role {
                Role::Floor | Role::Part => Source::Floor,
                _ => Source::Here,
            },
            cell: Some(cell.id.clone()),
            durability: summary.promise(),
            sample: cell.workload.sample_of.is_some(),
            ..Self::published(&cell.label, quantity)
        }
    }

    /// What others published of something.
    #[must_use]
    pub fn published(label: &str, quantity: Option<Quantity>) -> Self {
        Self {
            source: Source::Published,
            cell: None,
            label: label.to_owned(),
            description: None,
            x: None,
            quantity,
            rounds: None,
            verdict: None,
            durability: None,
            sample: false,
        }
    }

    /// The ratio with its rounds.
    #[must_use]
    pub fn ratio(&self) -> Option<RatioEstimate> {
        let Quantity { value, ends, .. } = self.quantity?;
        let (low, high) = ends?;
        let rounds = self.rounds?;
        Some(RatioEstimate {
            ratio: value,
            low,
            high,
            rounds,
        })
    }

    /// Gives the row another ratio.
    #[must_use]
    pub fn with_ratio(mut self, ratio: Option<RatioEstimate>, verdict: Verdict) -> Self {
        self.quantity = ratio.map(|ratio| Quantity::between(ratio.ratio, ratio.low, ratio.high));
        self.rounds = ratio.map(|ratio| ratio.rounds);
        self.verdict = Some(verdict);
        self
    }
}

impl Finding {
    /// Every row.
    pub fn rows(&self) -> impl Iterator<Item = &FindingRow> {
        self.groups.iter().flat_map(|group| &group.rows)
    }
}

/// What figures are made of.
#[derive(Clone, Copy)]
pub(crate) struct Figures<'a> {
    pub(crate) study: &'a Study,
    pub(crate) judged: &'a [(Judge<'a>, ComparisonOutcome)],
    /// What built stores take.
    pub(crate) space: &'a [SpaceRow],
}

impl<'a> Figures<'a> {
    /// The figures of the study that have a number, in reading order.
    pub(crate) fn all(&self) -> Vec<Finding> {
        let specs = self.study.figures.iter();
        specs.filter_map(|spec| self.finding(spec)).collect()
    }

    fn finding(&self, spec: &FigureSpec) -> Option<Finding> {
        let ids = spec.comparisons.iter();
        let outcomes = ids.filter_map(|id| {
            let mut judged = self.judged.iter();
            judged.find(|(_, outcome)| outcome.id == *id && outcome.was_measured())
        });
        let outcomes: Vec<&(Judge<'_>, ComparisonOutcome)> = outcomes.collect();
        let measured = outcomes.iter().map(|(_, outcome)| outcome);
        let mut shown = Shown::Measured(spec.measure);
        let groups = match (&spec.to, &spec.x) {
            (Some(to), _) => {
                let (judge, outcome) = outcomes.first()?;
                let group = self.ratios(spec, to, judge, outcome);
                let to = CellId(format!("{}/{to}", outcome.id));
                let label = group.rows.first()?.label.clone();
                shown = Shown::Ratios { to, label };
                vec![group]
            }
            (None, Some(x)) => self.lines(spec, x, measured.clone()),
            (None, None) => measured
                .clone()
                .map(|outcome| self.bars(spec, outcome))
                .collect(),
        };
        let finding = Finding {
            id: spec.id.clone(),
            title: spec.title.clone(),
            shown,
            x: spec.x.clone(),
            axis: spec.axis,
            groups,
            unreliable: unreliable(measured),
        };
        let is_ours = |row: &FindingRow| row.cell.is_some() && row.quantity.is_some();
        let has_numbers = finding.rows().any(is_ours);
        has_numbers.then_some(finding)
    }

    /// Ratios to a cell, which comes first, then those that others published.
    fn ratios(
        &self,
        spec: &FigureSpec,
        to: &str,
        judge: &Judge<'_>,
        outcome: &ComparisonOutcome,
    ) -> FindingGroup {
        let reference = FindingRow {
            source: Source::Reference,
            quantity: Some(Quantity::with_error(1.0, None)),
            ..self.row(to, outcome)
        };
        let others = spec.cells.iter().filter(|key| *key != to);
        let others = others.map(|key| {
            let row = self.row(key, outcome);
            let cells = cell(judge.comparison, key).zip(cell(judge.comparison, to));
            match cells.map(|(cell, to)| contrast(cell, to, judge, outcome)) {
                Some(found) => row.with_ratio(found.estimate, found.verdict),
                None => row.with_ratio(None, Verdict::NoData),
            }
        });
        let mut published: Vec<(&String, &f64)> = spec.published_ratios.iter().collect();
        published.sort_by(|a, b| a.1.total_cmp(b.1));
        let published = published.into_iter().map(|(system, ratio)| {
            let ratio = Quantity::with_error(*ratio, spec.published_precision);
            FindingRow {
                description: Some(self.study.systems.get(system).unwrap_or(system).clone()),
                ..FindingRow::published(system, Some(ratio))
            }
        });
        FindingGroup {
            title: "This machine".to_owned(),
            comparison: outcome.id.clone(),
            rows: [reference]
                .into_iter()
                .chain(others)
                .chain(published)
                .collect(),
            published_label: spec.published_label.clone(),
            ..FindingGroup::default()
        }
    }

    /// The row of a cell without its number; of one that a store cannot do, by what the study calls it.
    fn row(&self, key: &str, outcome: &ComparisonOutcome) -> FindingRow {
        let id = CellId(format!("{}/{key}", outcome.id));
        match outcome.cell(&id) {
            // Of a ratio nothing is extrapolated.
            Some(summary) => FindingRow {
                sample: false,
                ..FindingRow::of(summary, None)
            },
            None => FindingRow {
                source: Source::Here,
                cell: Some(id.clone()),
                ..FindingRow::published(&self.study.label_of(&id), None)
            },
        }
    }

    /// A quantity of the cells of a comparison, and what others published of it.
    fn bars(&self, spec: &FigureSpec, outcome: &ComparisonOutcome) -> FindingGroup {
        let cells = chosen(&spec.cells, outcome);
        let ours = cells.iter().map(|cell| {
            let row = FindingRow::of(cell, quantity::of(cell, spec.measure, self.space));
            FindingRow {
                sample: row.sample && spec.measure == Measure::BlockTime,
                ..row
            }
        });
        let mut rows: Vec<FindingRow> = ours.collect();
        rows.sort_by_key(|row| quantity::rank(row.durability));
        if spec.measure == Measure::BlockTime {
            let own = cells.iter().filter_map(|cell| {
                let (label, error) = (&cell.cell.label, cell.published_error_seconds);
                Some(in_seconds(label, cell.cell.published_seconds?, error))
            });
            let others = spec.published.iter().filter_map(|row| {
                let of_it = row.comparison.as_ref() == Some(&outcome.id);
                let label = row.label.as_ref().filter(|_| of_it)?;
                Some(in_seconds(label, row.seconds?, row.error_seconds))
            });
            rows.extend(own.chain(others));
        }
        let mut compared = self.study.comparisons.iter();
        let compared = compared.find(|known| known.id == outcome.id);
        // What a store cannot do is listed by what it is called.
        let wanted = |name: &String| {
            let mut keys = spec.cells.iter();
            let called = |key: &String| Some(compared?.cells.get(key)?.name());
            spec.cells.is_empty()
                || keys.any(|key| key == name || called(key).as_ref() == Some(name))
        };
        let mut not_applicable = outcome.not_applicable.clone();
        not_applicable.retain(|name, _| wanted(name));
        let label = spec.published_label.clone();
        FindingGroup {
            title: outcome.title.clone(),
            comparison: outcome.id.clone(),
            rows,
            published_label: label.or_else(|| compared?.published_label.clone()),
            not_applicable,
        }
    }
}

/// Published seconds of a block.
fn in_seconds(label: &str, seconds: f64, error: Option<f64>) -> FindingRow {
    let quantity = Quantity::with_error(seconds * 1e9, error.map(|error| error * 1e9));
    FindingRow::published(label, Some(quantity))
}

/// A comparison as a figure of ratios to its baseline, unless it has none.
pub(crate) fn to_baseline(outcome: &ComparisonOutcome) -> Option<Finding> {
    let baseline = outcome.baseline()?;
    let cells = outcome.cells.iter();
    let others = cells.filter(|summary| {
        !matches!(
            summary.cell.role,
            Role::Control | Role::Part | Role::Baseline
        )
    });
    let rows = others.map(|summary| {
        let contrast = outcome.to_baseline(summary);
        let verdict = contrast.map_or(Verdict::NoData, |contrast| contrast.verdict);
        let ratio = contrast.and_then(|contrast| contrast.estimate);
        FindingRow {
            sample: false,
            ..FindingRow::of(summary, None).with_ratio(ratio, verdict)
        }
    });
    Some(Finding {
        id: outcome.id.clone(),
        title: outcome.title.clone(),
        shown: Shown::Ratios {
            to: baseline.cell.id.clone(),
            label: baseline.cell.label.clone(),
        },
        x: None,
        axis: None,
        groups: vec![FindingGroup {
            title: outcome.title.clone(),
            comparison: outcome.id.clone(),
            rows: rows.collect(),
            ..FindingGroup::default()
        }],
        unreliable: unreliable([outcome].into_iter()),
    })
}

/// The titles of those that failed their A/A gate.
fn unreliable<'a>(outcomes: impl Iterator<Item = &'a ComparisonOutcome>) -> Vec<String> {
    let unreliable = outcomes.filter(|outcome| !outcome.reliable);
    unreliable.map(|outcome| outcome.title.clone()).collect()
}

fn cell<'a>(comparison: &'a Comparison, key: &str) -> Option<&'a Cell> {
    let mut cells = comparison.cells.iter();
    cells.find(|cell| cell.key == key && cell.role != Role::Control)
}

/// The contrast of the outcome, or the opposite one inverted; one that was not planned is
/// computed.
pub(crate) fn contrast(
    cell: &Cell,
    reference: &Cell,
    judge: &Judge<'_>,
    outcome: &ComparisonOutcome,
) -> ContrastOutcome {
    let known = outcome.between(&[reference.id.clone(), cell.id.clone()]);
    known.unwrap_or_else(|| judge.contrast(cell, reference))
}

/// The cells of these names, in their order; every cell between which one could choose, and the
/// floor, if none are named.
fn chosen<'a>(names: &[String], outcome: &'a ComparisonOutcome) -> Vec<&'a CellSummary> {
    let cells = outcome.cells.iter();
    let measured = cells.filter(|cell| cell.cell.role != Role::Control);
    if names.is_empty() {
        return measured.filter(|c| c.cell.role != Role::Part).collect();
    }
    let named = |name: &String| measured.clone().find(|cell| cell.cell.key == *name);
    names.iter().filter_map(named).collect()
}
