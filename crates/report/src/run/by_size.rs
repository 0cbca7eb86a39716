//! Matrices and sweeps: how two sides compare over the sizes of values. What was found in sentences; the ratios of a
//! matrix as heat tables, here and published, those of a sweep against the size, with the zone in which nothing is
//! claimed.

mod words;

use crate::columns::{listed, rows};
use crate::document::shade::shade;
use crate::document::{
    Across, Align, Axis, Block, Cell, ChartRow, Column, Content, Fill, Key, LegendEntry, Mark,
    MarkKind, Row, RowGroup, Rows, Scale, Section, Shape, Sign, Table, Text, Value, anchor,
    bullets, faint, folded, legend, notice, paragraph, plain, remark,
};
use crate::value::{self, float};
use crate::{noise, wording};
use serde::Serialize;
use std::iter::once;
use stowplan_analysis::{Analysis, BySize, ComparisonOutcome, SizePoint, SizeRow, Verdict};
use stowplan_model::Role;

/// Labels of more characters than this are not repeated in sentences.
const LONG_LABEL: usize = 24;

/// Every matrix that has data, and every sweep.
pub(super) fn figures(analysis: &Analysis) -> Vec<Block> {
    let found = analysis.by_size.iter();
    found
        .map(|found| Sizes::of(analysis, found).figure())
        .collect()
}

/// The first that has a figure, in so many rows.
pub(super) fn picture(analysis: &Analysis, rows: usize) -> Option<Block> {
    let mut found = analysis.by_size.iter();
    let found = found.find(|found| found.points().any(|point| point.found.estimate.is_some()))?;
    Sizes::of(analysis, found).in_short(rows)
}

/// What is shown of a matrix or a sweep, and what its sides are called.
pub(crate) struct Sizes<'a> {
    found: &'a BySize,
    /// Its title.
    pub(crate) title: String,
    /// What sentences call the sides.
    a: String,
    b: String,
    caption: String,
    zone: String,
    /// The equivalence zone around 1.
    band: (f64, f64),
    /// The comparisons whose figures it shows.
    pub(crate) parts: Vec<&'a ComparisonOutcome>,
}

impl<'a> Sizes<'a> {
    pub(crate) fn of(analysis: &'a Analysis, found: &'a BySize) -> Self {
        let [(a, long_a), (b, long_b)] = names(found);
        let mut specs = analysis.run.plan.study.matrices.iter();
        let spec = specs.find(|spec| spec.id == found.id);
        let spread = match spec.map_or(0, |spec| spec.spread_percent) {
            0 => String::new(),
            percent => format!(" Sizes lie up to {percent}% from that of their column."),
        };
        let parts = analysis.comparisons.iter().filter(|part| {
            let mut points = found.points();
            points.any(|point| point.comparison.as_ref() == Some(&part.id))
        });
        let factor = 1.0 + analysis.run.equivalence;
        Self {
            found,
            title: match found.title.as_str() {
                "" => format!("{long_a} or {long_b}, by size of the values"),
                title => title.to_owned(),
            },
            caption: format!(
                "Which is faster {}: {long_a} or {long_b}? Each number is the time of {b} over that of {a}: \
                 above 1, {a} faster.{spread}",
                wording::task(&found.workload, "")
            ),
            zone: wording::zone(analysis),
            band: (1.0 / factor, factor),
            parts: parts.collect(),
            a,
            b,
        }
    }

    /// The name of its section.
    pub(crate) fn anchor(&self) -> String {
        anchor("sizes", &self.found.id)
    }

    fn is_matrix(&self) -> bool {
        self.found.row_setting.is_some()
    }

    fn figure(&self) -> Block {
        let mut blocks = vec![paragraph(&self.caption)];
        blocks.extend(self.notices().into_iter().map(notice));
        blocks.extend(bullets(self.sentences()));
        match self.found.rows.as_slice() {
            [sweep] if !self.is_matrix() => blocks.push(self.plane(sweep).into()),
            _ => blocks.push(Section::columns(self.heat_maps()).into()),
        }
        blocks.push(Content::Legend(self.legend()).into());
        blocks.extend(self.found.note.as_ref().map(paragraph));
        blocks.push(remark(noise::sentence(&self.parts)));
        blocks.push(self.all_ratios());
        Section::figure(self.anchor(), &self.title, blocks).into()
    }

    /// Its drawing in so many rows: of a sweep with more sizes some, of a matrix the first of its sentences.
    fn in_short(&self, rows: usize) -> Option<Block> {
        let signs = Content::Legend(self.signs());
        let mut blocks = Vec::new();
        match self.found.rows.as_slice() {
            [sweep] if !self.is_matrix() => {
                let mut plane = self.plane(sweep);
                let step = sweep.points.len().div_ceil(rows.max(1));
                for group in &mut plane.groups {
                    let points = std::mem::take(&mut group.rows);
                    group.rows = points.into_iter().step_by(step).collect();
                }
                blocks.extend([plane.into(), signs.into()]);
            }
            matrix => {
                let left = rows.checked_sub(matrix.len())?;
                let map = self.heat_map("This machine", &|point| self.ours(point));
                let sentences = self.sentences();
                // A sentence takes about two lines.
                let shown = sentences.len().min(left / 2);
                let more = sentences.len() - shown;
                let more = (more > 0).then(|| remark(format!("and {more} more")));
                blocks.extend([map.into(), signs.into()]);
                blocks.extend(bullets(sentences.into_iter().take(shown)));
                blocks.extend(more);
            }
        }
        let title = match self.is_matrix() {
            true => format!("{}: ", self.title),
            false => String::new(),
        };
        let title = format!("{title}time of {} over that of {}", self.b, self.a);
        Some(Section::new(value::capital(&title), blocks).into())
    }

    /// What must not be overlooked: sizes of which nothing is known or claimed, and unlike promises.
    fn notices(&self) -> Vec<String> {
        let planned = self.found.sizes(|_| true);
        let tried = self.found.sizes(|point| point.comparison.is_some());
        let missing = self.found.sizes(|point| point.comparison.is_none());
        let unreliable = |point: &SizePoint| point.found.verdict == Verdict::Unreliable;
        let missing = self.spans(&missing, &planned);
        let unreliable = self.spans(&self.found.sizes(unreliable), &tried);
        let notices = [
            missing.map(|sizes| format!("Planned and not measured: {sizes}.")),
            unreliable
                .map(|sizes| format!("Session unreliable at {sizes}: nothing is claimed there.")),
            self.different_promises(),
        ];
        notices.into_iter().flatten().collect()
    }

    fn different_promises(&self) -> Option<String> {
        if self.found.same_durability {
            return None;
        }
        // The baseline of a matrix is outside.
        let (of_a, of_b) = match self.is_matrix() {
            true => (Role::Candidate, Role::Baseline),
            false => (Role::Baseline, Role::Candidate),
        };
        let with_role = |role: Role| {
            let mut cells = self.parts.first()?.cells.iter();
            cells.find(|cell| cell.cell.role == role)
        };
        let sides = ((&*self.a, with_role(of_a)), (&*self.b, with_role(of_b)));
        Some(wording::different_promises(sides.0, sides.1))
    }

    fn size(&self, size: u64) -> String {
        match self.is_matrix() {
            true => value::size(size),
            false => value::short_size(size),
        }
    }

    fn signs(&self) -> Vec<LegendEntry> {
        let signs: Vec<Sign> = self.found.points().map(sign).collect();
        let mut entries = legend(&signs, &self.a, &self.b, &self.zone);
        for entry in entries.iter_mut().filter(|_| !self.is_matrix()) {
            entry.key = match entry.key {
                Key::Sign(sign) if sign != Sign::Nothing => Key::Point(sign),
                key => key,
            };
        }
        entries
    }

    fn legend(&self) -> Vec<LegendEntry> {
        let mut entries = self.signs();
        if self.is_matrix() {
            let shades = format!(
                "below 1, {} is faster; above 1, {} is. Each shade begins at its number; no colour: nothing is \
                 claimed.",
                self.b, self.a
            );
            entries.push(LegendEntry::new(Key::Shades, shades));
            return entries;
        }
        // A size that was not measured is not drawn.
        entries.retain(|entry| entry.key != Key::Sign(Sign::Nothing));
        let (low, high) = (value::ratio(self.band.0), value::ratio(self.band.1));
        let band = format!("{low} to {high}: too close to 1 to matter");
        entries.push(LegendEntry::new(Key::Interval, "interval"));
        entries.push(LegendEntry::new(Key::Band, band));
        if self
            .found
            .rows
            .iter()
            .any(|row| row.finding.open().is_some())
        {
            let words = "no claim between these sizes";
            entries.push(LegendEntry::new(Key::Unclaimed, words));
        }
        let axis = "ratio 1, on a logarithmic axis";
        entries.push(LegendEntry::new(Key::Mark(MarkKind::Reference), axis));
        entries
    }

    /// The ratios of a sweep against the size, on logarithmic axes.
    fn plane(&self, row: &SizeRow) -> Rows {
        let points = || row.points.iter().filter(|point| point.comparison.is_some());
        let sizes = points().map(|point| float(point.found.size));
        let sizes = Scale::over(sizes);
        let estimates = points().filter_map(|point| point.found.estimate);
        let ends = estimates.flat_map(|found| [found.low, found.ratio, found.high]);
        let ratios = Scale::over(ends.chain([self.band.0, self.band.1]));
        let title = format!("time vs {}, logarithmic", self.a);
        let unclaimed = row.finding.open();
        let marks = [
            (1.0, MarkKind::Reference),
            (self.band.0, MarkKind::Edge),
            (self.band.1, MarkKind::Edge),
        ];
        Rows {
            across: Some(Across {
                // Ticks are whole bytes.
                axis: Axis::new("size of a value", sizes, sizes.size_ticks(), |tick| {
                    value::size(tick as u64)
                }),
                ends: Some((format!("{} faster", self.a), format!("{} faster", self.b))),
                unclaimed: unclaimed.map(|range| (float(range.from), float(range.to))),
            }),
            marks: marks.map(|(at, kind)| Mark::new(at, kind)).into(),
            ..Rows::new(
                format!("{}: {}", self.title, self.said(&row.finding)),
                Axis::new(title, ratios, ratios.fine_ticks(), value::ratio_tick),
                vec![RowGroup::of("", points().map(|p| self.point(p)).collect())],
            )
        }
    }

    fn point(&self, point: &SizePoint) -> ChartRow {
        let estimate = point.found.estimate;
        let help = estimate.map(|found| format!("{} rounds: {}", found.rounds, self.claim(point)));
        ChartRow {
            x: float(point.found.size),
            shape: Shape::Point,
            sign: Some(sign(point)),
            help: help.unwrap_or_default(),
            ..ChartRow::bar(
                self.size(point.found.size),
                estimate.as_ref().map(Value::from),
                Fill::Ours,
            )
        }
    }

    /// What a point claims.
    fn claim(&self, point: &SizePoint) -> String {
        sign(point).words(&self.a, &self.b, &self.zone)
    }

    /// This machine's ratios, and the published ones if there are any.
    fn heat_maps(&self) -> Vec<Section> {
        let map = |title: Text, cell: &dyn Fn(&SizePoint) -> Cell| {
            let table = self.heat_map(&title.text(), cell);
            Section::new(title, vec![table.into()])
        };
        let ours = map(plain("This machine"), &|point| self.ours(point));
        let published = self.found.published_label.as_ref().map(|label| {
            let title = plain("Published").then(faint(format!(": {label}")));
            map(title, &published)
        });
        once(ours).chain(published).collect()
    }

    fn heat_map(&self, title: &str, cell: &dyn Fn(&SizePoint) -> Cell) -> Table {
        let rows = self.found.rows.iter().map(|row| {
            let head = Cell::text(self.row_head(row));
            let cells = once(head).chain(row.points.iter().map(cell));
            Row {
                cells: cells.collect(),
            }
        });
        let sizes = self.found.sizes(|_| true).into_iter();
        let heads = once(self.setting()).chain(sizes.map(|size| self.size(size)));
        let columns = heads.map(|title| Column {
            title,
            align: Align::Right,
            weight: Column::ESSENTIAL,
            ..Column::default()
        });
        Table {
            caption: format!("{}: {title}", self.title),
            columns: columns.collect(),
            rows: rows.collect(),
            is_heat_map: true,
        }
    }

    /// A ratio of this machine, coloured where a side or equivalence is claimed.
    fn ours(&self, point: &SizePoint) -> Cell {
        let sign = sign(point);
        let is_claimed = sign.claims_a_side() || sign == Sign::Even;
        let basis = point.found.estimate.map(|found| {
            let [low, high] = [found.low, found.high].map(value::ratio);
            format!("; interval {low} to {high}, {} rounds", found.rounds)
        });
        let published = point.published;
        let published = published.map(|ratio| format!("; published {ratio:.3}"));
        let more: String = [basis, published].into_iter().flatten().collect();
        let number = point.found.estimate.map(|found| Cell {
            shade: shade(found.ratio).filter(|_| is_claimed),
            ..Cell::number(found.ratio, value::ratio(found.ratio))
        });
        Cell {
            sign: Some(sign),
            help: format!("{}{more}", self.claim(point)),
            ..number.unwrap_or_default()
        }
    }

    /// A fold with all ratios, each with what it claims.
    fn all_ratios(&self) -> Block {
        #[derive(Serialize)]
        struct Ratio<'a> {
            setting: String,
            #[serde(flatten)]
            point: &'a SizePoint,
        }
        let ratios = self.found.rows.iter().flat_map(|row| {
            let points = row.points.iter().filter(|point| point.comparison.is_some());
            points.map(|point| Ratio {
                setting: self.row_head(row),
                point,
            })
        });
        let ratios = rows(ratios);
        let special = |name: &str, ratio: &Ratio<'_>| match name {
            "size" => {
                let size = ratio.point.found.size;
                Cell::number(float(size), self.size(size))
            }
            _ => Cell::text(self.claim(ratio.point)),
        };
        let columns = listed(include_str!("../tables/sizes.txt"), special).into_iter();
        let columns = columns.map(|column| column.naming("{a}", &self.a).naming("{b}", &self.b));
        let table = Table::of(&self.title, columns.collect(), &ratios);
        let title = format!("All {} ratios with their intervals", ratios.len());
        folded(title, table)
    }
}

/// What sentences call each side, and how the caption introduces it: the letters where a label is too long to be
/// repeated.
fn names(found: &BySize) -> [(String, String); 2] {
    let labels = [&found.a, &found.b];
    if found.row_setting.is_some() {
        let inside = format!("inside the database ({})", found.a);
        let outside = format!("outside ({})", found.b);
        return [("inside", inside), ("outside", outside)]
            .map(|(side, long)| (side.to_owned(), long));
    }
    let is_long = labels
        .iter()
        .any(|label| label.chars().count() > LONG_LABEL);
    [("A", labels[0]), ("B", labels[1])].map(|(letter, label)| match wording::quoted(label) {
        label if is_long => (letter.to_owned(), format!("{label} ({letter})")),
        label => (label.clone(), label),
    })
}

fn sign(point: &SizePoint) -> Sign {
    Sign::of(point.found.verdict, point.found.estimate.as_ref())
}

/// A published ratio, of which no interval is known and thus no sign.
fn published(point: &SizePoint) -> Cell {
    let Some(ratio) = point.published else {
        return Cell {
            help: "not published".to_owned(),
            ..Cell::text(value::NOTHING)
        };
    };
    Cell {
        shade: shade(ratio),
        help: "as published".to_owned(),
        ..Cell::number(ratio, format!("{ratio:.3}"))
    }
}
