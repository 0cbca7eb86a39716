//! Sweeps: how two stores compare over the sizes of values. What was found in a sentence, ratio
//! against size on logarithmic axes, and the zone in which nothing is claimed.

#[cfg(test)]
pub(crate) mod testing;
mod words;

pub(crate) use words::{Context, rules, setting, settings, span, spans, unreliable};

use super::ratios::{self, Ratio};
use super::sign_words::Sides;
use crate::document::{
    Across, Axis, Block, ChartRow, Content, Fill, Key, LegendEntry, Mark, MarkKind, RowGroup, Rows,
    Scale, Section, Shape, Sign, Value, anchor, notice, paragraph, remark, strong,
};
use crate::value::{self, float, short_size as size};
use crate::{constituents, noise, wording};
use stowplan_analysis::{
    Analysis, ComparisonOutcome, Crossover, SweepOutcome, SweepPoint, Verdict,
};
use stowplan_model::Role;

/// Labels of more characters than this are not repeated in sentences.
const LONG_LABEL: usize = 24;

/// Every sweep, those of the same stores and workload together where they follow each other.
pub(crate) fn figures(analysis: &Analysis) -> Vec<Block> {
    let alike = |x: &SweepOutcome, y: &SweepOutcome| {
        (&x.sweep.a, &x.sweep.b, &x.workload) == (&y.sweep.a, &y.sweep.b, &y.workload)
    };
    let groups = analysis.sweeps.chunk_by(alike).enumerate();
    groups
        .map(|(index, sweeps)| group(analysis, index, sweeps))
        .collect()
}

/// What the sweeps of a group share.
struct Frame<'a> {
    a: String,
    b: String,
    zone: String,
    /// The equivalence zone around 1.
    band: (f64, f64),
    x: Axis,
    y: Axis,
    sweeps: &'a [SweepOutcome],
}

fn group(analysis: &Analysis, index: usize, sweeps: &[SweepOutcome]) -> Block {
    let first = &sweeps[0];
    let [(_, long_a), (_, long_b)] = names(first);
    let frame = Frame::of(analysis, sweeps);
    let (a, b) = (&frame.a, &frame.b);
    let caption = format!(
        "Which is faster {}? Each number is the time of {b} over that of {a}: above 1, {a} faster.",
        wording::task(&first.workload, "")
    );
    let figures = sweeps.iter().map(|sweep| frame.figure(analysis, sweep));
    let figures = Block::from(Section::columns(figures.collect()));
    let mut blocks = vec![paragraph(caption), figures];
    blocks.push(frame.legend());
    let title = format!("{long_a} or {long_b}, by size of the values");
    let section = Section::figure(format!("sweeps-{}", index + 1), title, blocks);
    section.into()
}

/// The first sweep in so many rows: of more sizes, some.
pub(super) fn picture(analysis: &Analysis, rows: usize) -> Option<Block> {
    let mut sweeps = analysis.sweeps.iter();
    let outcome = sweeps.find(|sweep| sweep.points.iter().any(|p| p.estimate.is_some()))?;
    let step = outcome.points.len().div_ceil(rows.max(1));
    let points = outcome.points.iter().step_by(step).cloned();
    let some = [SweepOutcome {
        points: points.collect(),
        ..outcome.clone()
    }];
    let frame = Frame::of(analysis, &some);
    let title = format!("Time of {} over that of {}, by size", frame.b, frame.a);
    let plane = frame.plane(&some[0], title.clone());
    let signs = some[0].points.iter();
    let signs = signs.map(|p| Sign::of(p.verdict, p.estimate.as_ref()));
    let legend = frame.sides().legend(&signs.collect::<Vec<_>>(), key);
    let blocks = vec![plane.into(), Content::Legend(legend).into()];
    Some(Section::new(title, blocks).into())
}

impl<'a> Frame<'a> {
    fn of(analysis: &Analysis, sweeps: &'a [SweepOutcome]) -> Self {
        let [(a, _), (b, _)] = names(&sweeps[0]);
        let factor = 1.0 + analysis.run.equivalence;
        let band = (1.0 / factor, factor);
        let points: Vec<&SweepPoint> = sweeps.iter().flat_map(|sweep| &sweep.points).collect();
        Self {
            x: size_axis(&points),
            y: ratio_axis(&points, band, format!("time vs {a}, logarithmic")),
            zone: wording::zone(analysis),
            band,
            sweeps,
            a,
            b,
        }
    }
}

impl Frame<'_> {
    fn sides(&self) -> Sides<'_> {
        Sides {
            above: &self.a,
            below: &self.b,
            zone: &self.zone,
        }
    }

    fn figure(&self, analysis: &Analysis, outcome: &SweepOutcome) -> Section {
        let setting = outcome.sweep.setting.as_deref();
        let heading = setting.map_or_else(String::new, |text| format!("With {}", settings(text)));
        let (title, headline) = (title(outcome), headline(analysis, outcome));
        let parts = constituents::of_sweep(analysis, outcome);
        let mut blocks = vec![paragraph(strong(&headline))];
        let notes = notes(outcome, &parts).into_iter();
        blocks.extend(notes.map(notice));
        blocks.push(self.plane(outcome, format!("{title}: {headline}")).into());
        blocks.extend(space(outcome).map(paragraph));
        blocks.push(remark(noise::sentence(&parts)));
        let ratios = ratios_of(outcome);
        blocks.push(ratios::folded(&title, &ratios, &self.sides(), size));
        Section::figure(anchor("sweep", &outcome.sweep.id), heading, blocks)
    }

    fn plane(&self, outcome: &SweepOutcome, summary: String) -> Rows {
        let ends = [&self.a, &self.b].map(|name| format!("{name} faster"));
        let unclaimed = outcome.finding.open();
        let points = outcome.points.iter().map(|point| self.point(point));
        let marks = [
            (1.0, MarkKind::Reference),
            (self.band.0, MarkKind::Edge),
            (self.band.1, MarkKind::Edge),
        ];
        Rows {
            across: Some(Across {
                axis: self.x.clone(),
                joined: true,
                ends: Some(ends.into()),
                unclaimed: unclaimed.map(|range| (float(range.from), float(range.to))),
            }),
            marks: marks.map(|(at, kind)| Mark::new(at, kind)).into(),
            ..Rows::new(
                summary,
                self.y.clone(),
                vec![RowGroup::of("", points.collect())],
            )
        }
    }

    fn point(&self, point: &SweepPoint) -> ChartRow {
        let sign = Sign::of(point.verdict, point.estimate.as_ref());
        let words = self.sides().words(sign);
        let value = point.estimate.as_ref().map(Value::from);
        let help = point
            .estimate
            .map(|found| format!("{} rounds: {words}", found.rounds));
        ChartRow {
            x: float(point.size),
            shape: Shape::Point,
            sign: Some(sign),
            help: help.unwrap_or_default(),
            ..ChartRow::bar(size(point.size), value, Fill::Ours)
        }
    }

    fn legend(&self) -> Block {
        let points = self.sweeps.iter().flat_map(|sweep| &sweep.points);
        let signs = points.map(|p| Sign::of(p.verdict, p.estimate.as_ref()));
        let signs: Vec<Sign> = signs.collect();
        let mut entries = self.sides().legend(&signs, key);
        let (low, high) = (value::ratio(self.band.0), value::ratio(self.band.1));
        let band = format!("{low} to {high}: too close to 1 to matter");
        entries.push(LegendEntry::new(Key::Interval, "interval"));
        entries.push(LegendEntry::new(Key::Band, band));
        let mut sweeps = self.sweeps.iter();
        if sweeps.any(|sweep| sweep.finding.open().is_some()) {
            let words = "no claim between these sizes";
            entries.push(LegendEntry::new(Key::Unclaimed, words));
        }
        entries.retain(|entry| entry.key != key(Sign::Nothing));
        let axis = "ratio 1, on a logarithmic axis";
        entries.push(LegendEntry::new(Key::Mark(MarkKind::Reference), axis));
        Content::Legend(entries).into()
    }
}

/// How a sign is drawn; what was not measured is not.
fn key(sign: Sign) -> Key {
    match sign {
        Sign::Nothing => Key::Sign(sign),
        _ => Key::Point(sign),
    }
}

/// What tells the sweep from others, and what it compares: `A or B: pages of 4 KiB`.
pub(crate) fn title(outcome: &SweepOutcome) -> String {
    let [(_, a), (_, b)] = names(outcome);
    match &outcome.sweep.setting {
        Some(setting) => format!("{a} or {b}: {}", settings(setting)),
        None => format!("{a} or {b}, by size of the values"),
    }
}

/// What the sweep found, in a sentence or two.
pub(crate) fn headline(analysis: &Analysis, outcome: &SweepOutcome) -> String {
    worded(analysis, outcome, words::sentence)
}

/// Says in a few words what a sweep found.
pub(crate) fn in_short(analysis: &Analysis, outcome: &SweepOutcome) -> String {
    worded(analysis, outcome, words::in_short)
}

fn worded(
    analysis: &Analysis,
    outcome: &SweepOutcome,
    word: fn(&Crossover, &Context<'_>) -> String,
) -> String {
    let [(a, _), (b, _)] = names(outcome);
    let context = Context {
        a: &a,
        b: &b,
        figures: measured(outcome).len(),
        complete: outcome.points.len() == outcome.planned.len(),
        same_durability: outcome.same_durability,
        unit: size,
        zone: &wording::zone(analysis),
    };
    word(&outcome.finding, &context)
}

/// The sizes of some of its points, rising.
fn sizes(outcome: &SweepOutcome, wanted: fn(&SweepPoint) -> bool) -> Vec<u64> {
    let points = outcome.points.iter().filter(|point| wanted(point));
    points.map(|point| point.size).collect()
}

/// The sizes that have a figure, rising.
pub(crate) fn measured(outcome: &SweepOutcome) -> Vec<u64> {
    sizes(outcome, |point| point.estimate.is_some())
}

/// What sentences call each store, and its label as the title introduces it: `A` and `B` where a
/// label is too long to be repeated.
fn names(outcome: &SweepOutcome) -> [(String, String); 2] {
    let labels = [("A", &outcome.sweep.a), ("B", &outcome.sweep.b)];
    let mut lengths = labels.iter().map(|(_, label)| label.chars().count());
    let is_long = lengths.any(|length| length > LONG_LABEL);
    labels.map(|(letter, label)| match wording::quoted(label) {
        label if is_long => (letter.to_owned(), format!("{label} ({letter})")),
        label => (label.clone(), label),
    })
}

fn ratios_of(outcome: &SweepOutcome) -> Vec<Ratio> {
    let points = outcome.points.iter().zip(&outcome.space);
    points
        .map(|(point, space)| Ratio {
            space: *space,
            setting: String::new(),
            size: point.size,
            estimate: point.estimate,
            verdict: point.verdict,
            published: None,
        })
        .collect()
}

/// `On disk, a byte of the values takes 4.00 to 1.00 bytes in A and 1.27 to 1.01 in B, from 1 KiB to 1 MiB.`
fn space(outcome: &SweepOutcome) -> Option<String> {
    let [(a, _), (b, _)] = names(outcome);
    let known: Vec<(u64, f64, f64)> = outcome
        .points
        .iter()
        .zip(&outcome.space)
        .filter_map(|(point, [a, b])| Some((point.size, (*a)?, (*b)?)))
        .collect();
    let ((first, a_first, b_first), (last, a_last, b_last)) = (known.first()?, known.last()?);
    let [a_first, a_last, b_first, b_last] =
        [a_first, a_last, b_first, b_last].map(|space| format!("{space:.2}"));
    let range = match first == last {
        true => format!("at {}", size(*first)),
        false => format!("from {} to {}", size(*first), size(*last)),
    };
    Some(format!(
        "On disk, a byte of the values takes {a_first} to {a_last} bytes in {a} and {b_first} to \
         {b_last} in {b}, {range}."
    ))
}

fn notes(outcome: &SweepOutcome, parts: &[&ComparisonOutcome]) -> Vec<String> {
    let tried = sizes(outcome, |_| true);
    let planned = outcome.planned.iter().copied();
    let missing: Vec<u64> = planned.filter(|size| !tried.contains(size)).collect();
    let unreliable = sizes(outcome, |point| point.verdict == Verdict::Unreliable);
    let missing = spans(&missing, &outcome.planned, size);
    let missing = missing.map(|sizes| format!("Planned and not measured: {sizes}."));
    let unreliable = words::unreliable(&unreliable, &tried, size);
    let promises = (!outcome.same_durability).then(|| {
        let [(a, _), (b, _)] = names(outcome);
        let with_role = |role: Role| {
            let mut cells = parts.first()?.cells.iter();
            cells.find(|cell| cell.cell.role == role)
        };
        let (ours, theirs) = (with_role(Role::Baseline), with_role(Role::Candidate));
        wording::different_promises((&a, ours), (&b, theirs))
    });
    [missing, unreliable, promises]
        .into_iter()
        .flatten()
        .collect()
}

fn size_axis(points: &[&SweepPoint]) -> Axis {
    let scale = Scale::over(points.iter().map(|point| float(point.size)));
    Axis::new("size of a value", scale, scale.size_ticks(), size_tick)
}

fn ratio_axis(points: &[&SweepPoint], band: (f64, f64), title: String) -> Axis {
    let estimates = points.iter().filter_map(|point| point.estimate);
    let ends = estimates.flat_map(|e| [e.low, e.ratio, e.high]);
    let scale = Scale::over(ends.chain([band.0, band.1]));
    Axis::new(title, scale, scale.fine_ticks(), value::ratio_tick)
}

/// A tick of the axis of sizes; ticks are whole bytes.
fn size_tick(tick: f64) -> String {
    value::size(tick as u64)
}
