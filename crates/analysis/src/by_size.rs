//! Two sides compared at many sizes of values: a matrix, each row of which is a sweep under one setting, and the
//! sweep of a crossover.
//!
//! What belongs here: comparisons put together, and what follows from all of them. What does not: judging one
//! size, and what a row of sizes says ([`crate::crossover()`]).

use crate::crossover::leads;
use crate::{
    Analysis, Answer, ComparisonOutcome, ContrastOutcome, Crossover, Kind, Side, SizeRange,
    Standing, SweepPoint, crossover,
};
use serde::Serialize;
use std::collections::BTreeSet;
use stowplan_model::{CellFailure, CellId, MatrixSpec, Plan, Role, Sweep, Workload};

/// Two sides, A and B, at many sizes of values.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct BySize {
    /// The name of the matrix or of the sweep.
    pub id: String,
    /// Title for people; a sweep has none.
    pub title: String,
    /// What was done.
    pub workload: Workload,
    /// Side A, for people: of a matrix the store inside, without the setting of its rows.
    pub a: String,
    /// Side B, for people: of a matrix the store outside.
    pub b: String,
    /// The setting that the rows of a matrix vary; a sweep has none.
    pub row_setting: Option<String>,
    /// Whether both sides promise the same for what they wrote, at every size; true for reads.
    pub same_durability: bool,
    /// The rows; a sweep is one.
    pub rows: Vec<SizeRow>,
    /// What the published ratios are of; nothing without any.
    pub published_label: Option<String>,
    /// What the study says about it.
    pub note: Option<String>,
    /// The comparisons that it puts together, by rising size.
    pub comparisons: Vec<String>,
    /// Those of them that ran and count for nothing: their sizes were measured again.
    pub superseded: Vec<String>,
}

/// A sweep over sizes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SizeRow {
    /// The value of the setting; empty of a sweep.
    pub setting: String,
    /// Every size that was planned, rising.
    pub points: Vec<SizePoint>,
    /// What those that were tried say together.
    pub finding: Crossover,
    /// Where A compares better with B than in each other row.
    pub leads: Vec<SizeRange>,
}

/// One size of a row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SizePoint {
    /// What was found; no data where nothing was tried.
    #[serde(flatten)]
    pub found: SweepPoint,
    /// The comparison that counts; nothing where none was tried, which is a gap in the data and none in the order.
    pub comparison: Option<String>,
    /// The published ratio.
    pub published: Option<f64>,
    /// Bytes that A and B took on disk, allocated, per byte of the values; nothing where it is not known.
    pub space: [Option<f64>; 2],
}

impl SizeRow {
    /// The row of these points.
    #[must_use]
    pub fn of(setting: impl Into<String>, points: Vec<SizePoint>) -> Self {
        let mut row = Self {
            setting: setting.into(),
            points,
            finding: Crossover { runs: Vec::new() },
            leads: Vec::new(),
        };
        row.finding = crossover(&row.tried());
        row
    }

    fn tried(&self) -> Vec<SweepPoint> {
        let tried = self
            .points
            .iter()
            .filter(|point| point.comparison.is_some());
        tried.map(|point| point.found).collect()
    }
}

impl BySize {
    /// Every point of every row.
    pub fn points(&self) -> impl Iterator<Item = &SizePoint> {
        self.rows.iter().flat_map(|row| &row.points)
    }

    /// The sizes of the points that are meant, rising.
    pub fn sizes(&self, meant: impl Fn(&SizePoint) -> bool) -> Vec<u64> {
        let points = self.points().filter(|point| meant(point));
        let sizes: BTreeSet<u64> = points.map(|point| point.found.size).collect();
        sizes.into_iter().collect()
    }

    /// Whether a row claims a side at any size.
    #[must_use]
    pub fn claims_anything(&self) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|row| row.finding.claims().next().is_some())
    }

    /// Whether this may be said of every size of every row.
    pub fn all(&self, accept: impl Fn(Standing) -> bool + Copy) -> bool {
        self.rows.iter().all(|row| row.finding.all(accept))
    }

    /// The sizes at which every row claims this side, as ranges of neighbours among those tried.
    #[must_use]
    pub fn won_at_every_row(&self, side: Side) -> Vec<SizeRange> {
        let won = |size: u64| {
            let mut rows = self.rows.iter();
            rows.all(|row| row.finding.winner_at(size) == Some(side))
        };
        let tried = self.sizes(|point| point.comparison.is_some());
        let sizes = tried.iter().copied().filter(|size| won(*size));
        SizeRange::of_neighbours(&sizes.collect(), &tried)
    }

    /// What to do by it.
    pub(crate) fn answer(&self) -> Answer {
        let [a, b] = [Side::A, Side::B].map(|side| self.won_at_every_row(side));
        let covers = |range: &SizeRange, size: u64| (range.from..=range.to).contains(&size);
        let asked = self.sizes(|_| true);
        let all_tried = asked == self.sizes(|point| point.comparison.is_some());
        let is_won = |size: &u64| a.iter().chain(&b).any(|range| covers(range, *size));
        let complete = all_tried && asked.iter().all(is_won);
        let ahead = match (a.is_empty(), b.is_empty()) {
            (false, true) => Some(Side::A),
            (true, false) => Some(Side::B),
            _ => None,
        };
        let never_slower = |side: Side| {
            let mut rows = self.rows.iter();
            rows.all(|row| row.finding.is_never_slower(side))
        };
        let kind = match ahead {
            // As for a comparison, none is called the fastest.
            _ if !self.same_durability => Kind::Open,
            _ if self.all(|standing| standing == Standing::Undecided) => Kind::Open,
            _ if self.all(|standing| standing == Standing::Equivalent) => Kind::Equivalent,
            _ if self.all(|standing| !matches!(standing, Standing::Wins(_))) => Kind::Keep,
            _ if !self.claims_anything() => Kind::Open,
            Some(_) if complete => Kind::Use,
            Some(side) if all_tried && never_slower(side) => Kind::Prefer,
            // Perhaps not throughout the sizes that were asked for.
            _ => Kind::BySize,
        };
        Answer::BySize {
            id: self.id.clone(),
            kind,
            a,
            b,
            complete,
        }
    }
}

impl Analysis {
    /// The comparisons that a matrix or a sweep puts together. Reports show the whole, and its constituents only to
    /// those who ask. A matrix without any figure has none: then they stand for themselves, with what failed.
    #[must_use]
    pub fn constituents(&self) -> BTreeSet<String> {
        let found = self.by_size.iter();
        found
            .flat_map(|found| found.comparisons.iter().cloned())
            .collect()
    }

    /// Whether a comparison counts for nothing because its size was measured again.
    #[must_use]
    pub fn is_superseded(&self, comparison: &ComparisonOutcome) -> bool {
        let mut found = self.by_size.iter();
        found.any(|found| found.superseded.contains(&comparison.id))
    }
}

/// The comparisons of a plan that are constituents of a matrix or of a sweep. They keep the baseline that the whole
/// is read with.
pub(crate) fn constituents(plan: &Plan) -> BTreeSet<String> {
    let ids = plan.comparisons.iter().map(|comparison| &comparison.id);
    let is_part = |id: &&String| {
        let mut matrices = plan.study.matrices.iter();
        let mut sweeps = plan.sweeps.iter();
        matrices.any(|matrix| size_in(matrix, id).is_some())
            || sweeps.any(|sweep| sweep.size_of(id).is_some())
    };
    ids.filter(is_part).cloned().collect()
}

/// The size of the column of a matrix that is this comparison.
fn size_in(matrix: &MatrixSpec, comparison: &str) -> Option<u64> {
    let mut sizes = matrix.sizes.iter().copied();
    sizes.find(|size| matrix.comparison_id(*size) == comparison)
}

/// The comparisons of a run, and what failed.
#[derive(Clone, Copy)]
pub(crate) struct Compared<'a> {
    pub(crate) comparisons: &'a [ComparisonOutcome],
    pub(crate) failures: &'a [&'a CellFailure],
    pub(crate) equivalence: f64,
}

/// A comparison at one size.
struct Member<'a> {
    size: u64,
    outcome: &'a ComparisonOutcome,
    failed: bool,
}

/// Every matrix of which anything was measured, and every sweep.
pub(crate) fn by_size(plan: &Plan, compared: Compared<'_>) -> Vec<BySize> {
    let matrices = plan.study.matrices.iter();
    let matrices = matrices.filter_map(|spec| compared.matrix(spec));
    let sweeps = plan.sweeps.iter();
    let sweeps = sweeps.filter_map(|planned| compared.sweep(planned));
    matrices.chain(sweeps).collect()
}

impl<'a> Compared<'a> {
    /// The comparisons that have a size, by rising size; those of one size in running order.
    fn members(&self, size_of: impl Fn(&str) -> Option<u64>) -> Vec<Member<'a>> {
        let members = self.comparisons.iter().filter_map(|outcome| {
            Some(Member {
                size: size_of(&outcome.id)?,
                outcome,
                failed: outcome.has_failed(self.failures),
            })
        });
        let mut members: Vec<Member<'a>> = members.collect();
        members.sort_by_key(|member| member.size);
        members
    }

    fn matrix(&self, spec: &MatrixSpec) -> Option<BySize> {
        let members = self.members(|id| size_in(spec, id));
        if !members.iter().any(|member| member.outcome.was_measured()) {
            return None;
        }
        let mut whole = put_together(&members, &spec.id);
        for row in &spec.rows {
            let sides = |member: &Member<'_>| {
                let size = member.size;
                Some([spec.cell_id(*row, size), spec.external_id(size)])
            };
            whole.add(&row.to_string(), &spec.sizes, &members, sides);
        }
        for (row, value) in whole.rows.iter_mut().zip(&spec.rows) {
            for point in &mut row.points {
                let published = spec.published.as_ref();
                point.published = published.and_then(|it| it.ratio(*value, point.found.size));
            }
        }
        let tried: Vec<Vec<SweepPoint>> = whole.rows.iter().map(SizeRow::tried).collect();
        let leads = leads(&tried, self.equivalence);
        for (row, leads) in whole.rows.iter_mut().zip(leads) {
            row.leads = leads;
        }
        Some(BySize {
            title: spec.title.clone(),
            workload: spec.workload.complete(),
            a: spec.internal.name(),
            b: spec.external.name(),
            row_setting: Some(spec.row_setting.clone()),
            published_label: spec.published.as_ref().map(|it| it.label.clone()),
            note: spec.note.clone(),
            ..whole
        })
    }

    fn sweep(&self, planned: &Sweep) -> Option<BySize> {
        let members = self.members(|id| planned.size_of(id));
        let first = members.first()?.outcome.baseline()?;
        let mut whole = put_together(&members, &planned.id);
        let mut sizes: Vec<u64> = members.iter().map(|member| member.size).collect();
        sizes.dedup();
        let sides = |member: &Member<'_>| {
            let mut cells = member.outcome.cells.iter().map(|summary| &summary.cell);
            let b = cells.find(|cell| cell.role == Role::Candidate)?;
            Some([member.outcome.baseline()?.cell.id.clone(), b.id.clone()])
        };
        whole.add("", &sizes, &members, sides);
        Some(BySize {
            workload: first.cell.workload.clone(),
            a: planned.a.clone(),
            b: planned.b.clone(),
            ..whole
        })
    }
}

/// A whole without its rows.
fn put_together(members: &[Member<'_>], id: &str) -> BySize {
    let id_of = |member: &Member<'_>| member.outcome.id.clone();
    let is_superseded = |member: &&Member<'_>| {
        let ran = member.failed || member.outcome.was_measured();
        let counts = counting(members, member.size);
        ran && counts.is_some_and(|counts| counts.outcome.id != member.outcome.id)
    };
    BySize {
        id: id.to_owned(),
        same_durability: true,
        comparisons: members.iter().map(id_of).collect(),
        superseded: members.iter().filter(is_superseded).map(id_of).collect(),
        ..BySize::default()
    }
}

/// Of the comparisons of one size the one that counts: the last that has rounds, else one that failed. A repetition
/// that is only planned replaces nothing.
fn counting<'m, 'a>(members: &'m [Member<'a>], size: u64) -> Option<&'m Member<'a>> {
    let mut same = members.iter().filter(|member| member.size == size);
    let measured = same.clone().rfind(|member| member.outcome.was_measured());
    measured.or_else(|| same.find(|member| member.failed))
}

impl BySize {
    /// Adds the row whose sides, A and B, are these cells.
    fn add(
        &mut self,
        setting: &str,
        sizes: &[u64],
        members: &[Member<'_>],
        sides: impl Fn(&Member<'_>) -> Option<[CellId; 2]>,
    ) {
        let contrast = |member: &Member<'_>| member.outcome.between(&sides(member)?);
        let mut contrasts = members.iter().filter_map(contrast);
        self.same_durability &= contrasts.all(|contrast| contrast.same_durability);
        let points = sizes.iter().map(|size| {
            let member = counting(members, *size);
            let found = member.and_then(|member| Some((member, contrast(member)?)));
            let space = |id: CellId| member?.outcome.cell(&id)?.space_per_value_byte;
            SizePoint {
                found: SweepPoint::of(*size, found.as_ref().map(|(_, contrast)| contrast)),
                comparison: found.map(|(member, _)| member.outcome.id.clone()),
                published: None,
                space: member
                    .and_then(&sides)
                    .map_or([None; 2], |ids| ids.map(space)),
            }
        });
        self.rows.push(SizeRow::of(setting, points.collect()));
    }
}

impl ComparisonOutcome {
    /// The ratio of B to A, whichever of them is the reference.
    pub(crate) fn between(&self, [a, b]: &[CellId; 2]) -> Option<ContrastOutcome> {
        let of = |cell: &CellId, reference: &CellId| {
            let mut contrasts = self.contrasts.iter();
            contrasts.find(|found| found.cell == *cell && found.reference == *reference)
        };
        let inverse = || of(a, b).map(ContrastOutcome::inverse);
        of(b, a).cloned().or_else(inverse)
    }
}
