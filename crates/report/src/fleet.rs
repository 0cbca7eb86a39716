//! Several results of one study, from several machines: what each recommends, on how many of them a
//! verdict holds, what the machines are, and the study's charts with a bar per machine.
//!
//! No ratio here is of more than one machine ([`stowplan_analysis::machines`]); where a range of
//! ratios is given it says so.

mod charts;
mod machines;
mod notes;

use crate::advice::Advice;
use crate::cells::grouped;
use crate::document::{
    Block, Cell, Content, Detail, Document, File, Item, Look, Section, Table, Text, Tone, Value,
    anchor, bullets, chapter, faint, listed, number, paragraph, plain, remark, strong, text_column,
    toned,
};
use crate::run::answers;
use crate::{claims, constituents, csv, json, noise, value, wording};
use std::cmp::Reverse;
use stowplan_analysis::{
    Analysis, CellAcross, ComparisonAcross, Kind, Machine, MachinesError, MachinesOutcome,
    OnMachine, PromiseDifference, TWICE_DIFFERED, Verdict,
};
use stowplan_model::{CellId, Role};

/// Several results, set side by side.
#[derive(Debug)]
pub struct Fleet<'a> {
    outcome: MachinesOutcome,
    /// The analysis of each result, in the order of the machines.
    analyses: Vec<&'a Analysis>,
}

impl<'a> Fleet<'a> {
    /// Sets several analyses side by side.
    ///
    /// # Errors
    ///
    /// They are fewer than two, not of one study at one scale, or two are of the same run.
    pub fn of(analyses: &[&'a Analysis]) -> Result<Self, MachinesError> {
        Ok(Self {
            outcome: stowplan_analysis::machines(analyses)?,
            analyses: analyses.to_vec(),
        })
    }

    /// The short name of the study.
    #[must_use]
    pub fn study(&self) -> &str {
        &self.outcome.study
    }

    /// The scale.
    #[must_use]
    pub fn scale(&self) -> &str {
        &self.outcome.scale
    }

    /// All of it; `raw` is the text of each result file.
    #[must_use]
    pub fn document(&self, raw: &[&str]) -> Document {
        let mut blocks: Vec<Block> = notes::notices(self).collect();
        blocks.push(self.findings(usize::MAX));
        blocks.extend(self.answers());
        blocks.extend(charts::section(self));
        blocks.extend(machines::section(self));
        blocks.extend(self.each_comparison());
        blocks.extend(self.claims());
        blocks.extend(method());
        blocks.extend(self.raw_results(raw));
        Document {
            kind: format!("Stowplan report of {}", self.count()),
            title: self.outcome.title.clone(),
            question: self.outcome.question.clone().into(),
            byline: self.byline(),
            blocks,
        }
    }

    /// What a screen has room for, with so many lines of answers and of a chart together.
    #[must_use]
    pub fn screen(&self, rows: usize) -> Document {
        let count = format!("{}, scale {}", self.count(), self.outcome.scale);
        let mut blocks = vec![remark(count).at(Detail::Answer)];
        blocks.extend(notes::notices(self));
        // An answer takes about three lines.
        let answered = (rows / 3).min(self.singles().count());
        blocks.push(self.findings(answered));
        blocks.extend(self.answers());
        let left = rows - answered * 3;
        blocks.extend((left > 3).then(|| charts::picture(self, left)).flatten());
        blocks.push(remark("Everything: --verbose, and the page."));
        Document {
            title: self.outcome.title.clone(),
            blocks,
            ..Document::default()
        }
    }

    /// A row per machine and cell.
    #[must_use]
    pub fn csv(&self) -> String {
        let labels = self.machines().iter().map(|machine| machine.label.as_str());
        csv::of_machines(labels.zip(self.analyses.iter().copied()))
    }

    /// What was set side by side, as JSON.
    ///
    /// # Errors
    ///
    /// It cannot be serialised, which is a mistake of this program.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        json::of("machines", &self.outcome)
    }

    fn machines(&self) -> &[Machine] {
        &self.outcome.machines
    }

    /// The comparisons that stand for themselves.
    fn singles(&self) -> impl Iterator<Item = &ComparisonAcross> {
        let comparisons = self.outcome.comparisons.iter();
        comparisons.filter(|comparison| !comparison.part)
    }

    fn byline(&self) -> Vec<Text> {
        let machines = self.machines().iter();
        let mut parts: Vec<Text> = machines.map(|machine| plain(&machine.label)).collect();
        parts.push(format!("scale {}", self.outcome.scale).into());
        let source = self.outcome.source.as_ref();
        parts.extend(source.map(|source| plain("the published study").linked(source)));
        parts
    }

    /// What is recommended of each comparison, so many at most.
    fn findings(&self, most: usize) -> Block {
        let items = self.singles().take(most).map(|found| self.finding(found));
        let answers = Content::List(items.collect());
        let mut blocks = vec![Block::from(answers).at(Detail::Answer)];
        let more = self.singles().skip(most).count();
        let said = format!("and {}", value::counted(more, "more comparison"));
        blocks.extend((more > 0).then(|| remark(said)));
        let title = format!("On how many {}s each finding holds", self.noun());
        let section = Section::new(title, blocks).named("overview");
        Block::from(section.in_contents("Findings")).at(Detail::Answer)
    }

    /// What the report of each machine recommends, that of most machines first.
    fn finding(&self, comparison: &ComparisonAcross) -> Item {
        let is_choice = |kind| !matches!(kind, Kind::Open | Kind::Keep | Kind::Equivalent);
        let mut said = grouped(self.measured(comparison).map(|(place, analysis)| {
            let mut comparisons = analysis.comparisons.iter();
            let found = comparisons.find(|found| found.id == comparison.id);
            let complete = found.filter(|_| comparison.complete[place]);
            let said = complete.map_or_else(
                || (false, "not the same stores".to_owned()),
                |found| {
                    let kind = found.recommendation.kind;
                    (is_choice(kind), Advice::of(analysis, found).phrase())
                },
            );
            (said, place)
        }));
        said.sort_by_key(|((is_choice, _), places)| Reverse((*is_choice, places.len())));
        let texts = said.iter().map(|((_, phrase), places)| match said.len() {
            1 if places.len() == self.machines().len() => phrase.clone(),
            _ => format!("{}: {phrase}", self.on(places)),
        });
        let texts: Vec<String> = texts.collect();
        let holds = said.first().filter(|((is_choice, _), _)| *is_choice);
        let (holds, all) = (holds.map(|(_, places)| places.len()), self.machines().len());
        let holds = holds.map(|holds| format!(" {holds} of {all} {}s.", self.noun()));
        Item {
            title: plain(&comparison.title)
                .linked(&format!("#{}", anchor("finding", &comparison.id))),
            text: strong(match texts.is_empty() {
                true => format!("Not measured on any {}.", self.noun()),
                false => value::capital(&texts.join("; ")) + ".",
            })
            .then(faint(holds.unwrap_or_default())),
            note: faint(self.noise(comparison)),
            ..Item::default()
        }
    }

    /// The machines on which a comparison was measured and not left out.
    fn measured(
        &self,
        comparison: &'a ComparisonAcross,
    ) -> impl Iterator<Item = (usize, &'a Analysis)> {
        let machines = self.analyses.iter().copied().enumerate();
        machines.filter(|(place, _)| comparison.reliable[*place].is_some())
    }

    fn noise(&self, comparison: &ComparisonAcross) -> String {
        let counted = self.analyses.iter().zip(&comparison.reliable);
        let counted = counted.filter(|(_, reliable)| reliable.is_some());
        let outcomes = counted.flat_map(|(analysis, _)| &analysis.comparisons);
        let outcomes: Vec<_> = outcomes.filter(|o| o.id == comparison.id).collect();
        let differed = noise::noise(&outcomes).map_or_else(
            || "Noise is unknown: no control has rounds enough".to_owned(),
            |noise| format!("{} by {noise}", value::capital(TWICE_DIFFERED)),
        );
        let places = 0..self.machines().len();
        let unreliable = places.filter(|place| comparison.reliable[*place] == Some(false));
        match unreliable.collect::<Vec<usize>>().as_slice() {
            [] => format!("{differed}."),
            places => format!("{differed}; nothing is claimed {}.", self.on(places)),
        }
    }

    /// What each machine answers where that is no verdict: by size, and of disk space.
    fn answers(&self) -> Option<Block> {
        let places = 0..self.machines().len();
        let said = places.flat_map(|place| {
            let rows = answers::by_size(self.analyses[place]).into_iter();
            let rows = rows.chain(answers::space(self.analyses[place]));
            rows.map(move |row| ((row.target, row.title), (place, row.answer)))
        });
        let mut questions = grouped(said);
        questions.sort_by_key(|((target, _), _)| target == "space");
        let sections = questions.into_iter().map(|((target, title), said)| {
            let said = said.into_iter().map(|(place, answer)| {
                let answer = match self.measured_otherwise(place, &target) {
                    true => "left out, because not the same was measured there".to_owned(),
                    false => answer,
                };
                (answer, place)
            });
            let lines = grouped(said).into_iter().map(|(answer, places)| {
                let who = value::capital(&self.on(&places));
                strong(who).then(plain(format!(": {answer}")))
            });
            let lines = bullets(lines).map(|list| list.at(Detail::Answer));
            Block::from(Section::new(title, lines.into_iter().collect())).at(Detail::Answer)
        });
        let sections: Vec<Block> = sections.collect();
        let title = format!("What each {} answers", self.noun());
        let chapter = chapter("answers", title, sections);
        chapter.map(|block| block.at(Detail::Answer))
    }

    /// Whether a machine measured something else where it answers this.
    fn measured_otherwise(&self, place: usize, target: &str) -> bool {
        let analysis = self.analyses[place];
        let of = |kind: &str, id: &str| anchor(kind, id) == target;
        let matrices = analysis.matrices.iter().filter(|m| of("matrix", &m.id));
        let sweeps = analysis.sweeps.iter().filter(|s| of("sweep", &s.sweep.id));
        let parts = matrices
            .flat_map(|matrix| constituents::of_matrix(analysis, matrix))
            .chain(sweeps.flat_map(|sweep| constituents::of_sweep(analysis, sweep)));
        let cells = parts.flat_map(|part| part.cells.iter().map(|cell| &cell.cell.id));
        let space = analysis.run.plan.study.space.iter();
        let space = space.filter(|_| target == "space").map(|asked| &asked.cell);
        let cells: Vec<&CellId> = cells.chain(space).collect();
        let mut differences = self.outcome.differences.iter();
        differences.any(|found| found.machine == place && cells.contains(&&found.cell))
    }

    fn each_comparison(&self) -> Option<Block> {
        let comparisons = self.outcome.comparisons.iter();
        let (parts, singles): (Vec<_>, Vec<_>) = comparisons.partition(|c| c.part);
        let fold = |comparison| self.fold(comparison);
        let mut blocks: Vec<Block> = singles.into_iter().map(fold).collect();
        if !parts.is_empty() {
            let count = value::counted(parts.len(), "comparison");
            let title = format!("The {count} that matrices and sweeps are made of");
            blocks.push(Section::fold(title, parts.into_iter().map(fold).collect()).into());
        }
        chapter("comparisons", "Each comparison", blocks)
    }

    fn fold(&self, comparison: &ComparisonAcross) -> Block {
        let rivals = comparison.cells.iter();
        let rivals = rivals.filter(|cell| cell.role == Role::Candidate);
        let tallies = rivals.map(|cell| self.tally(comparison, cell)).collect();
        let mut blocks: Vec<Block> = listed(tallies).into_iter().collect();
        blocks.push(remark(self.noise(comparison)));
        blocks.push(paragraph(format!(
            "Time of each cell over that of {}, with its interval; of the baseline, time per \
             operation.",
            comparison.baseline_label
        )));
        blocks.push(self.table(comparison).into());
        let fold = Section {
            id: anchor("finding", &comparison.id),
            look: Look::Finding,
            ..Section::new(&comparison.title, blocks)
        };
        fold.into()
    }

    /// On how many machines each verdict on a cell holds.
    fn tally(&self, comparison: &ComparisonAcross, cell: &CellAcross) -> Item {
        let verdicts = ORDER.map(|verdict| (verdict, cell.with(verdict)));
        let mut verdicts = verdicts.to_vec();
        verdicts.retain(|(_, places)| !places.is_empty());
        let claims = |verdict: &Verdict| ORDER[..3].contains(verdict);
        verdicts.sort_by_key(|(verdict, places)| Reverse((claims(verdict), places.len())));
        let badge = verdicts.first().map_or(Verdict::NoData, |found| found.0);
        let said = verdicts.iter().map(|(verdict, places)| {
            let (word, on) = (wording::verdict(*verdict), self.on(places));
            format!("{word} {on}{}", factor(cell, *verdict, places))
        });
        let mut asides = Vec::new();
        let baseline = comparison.cells.iter();
        let mut baseline = baseline.filter(|other| other.cell == comparison.baseline);
        let theirs = baseline.next().and_then(|baseline| baseline.durability);
        if let Some((ours, theirs)) = cell.durability.zip(theirs)
            && let Some(found) = PromiseDifference::between(ours, theirs)
        {
            asides.push(format!(
                " It promises {} against {}.",
                found.ours, found.theirs
            ));
        }
        let work = wording::other_work(&cell.work);
        if !work.is_empty() {
            asides.push(format!(" It does other work: {work}."));
        }
        let said = said.collect::<Vec<_>>().join("; ");
        let item = Item {
            title: plain(&cell.label),
            ..Item::of(format!("{said}.{}", asides.concat()))
        };
        item.with_badge(wording::verdict(badge), Tone::of(badge))
    }

    /// Every ratio of every machine.
    fn table(&self, comparison: &ComparisonAcross) -> Table {
        type Line<'a> = (&'a CellAcross, Option<(&'a Machine, &'a OnMachine)>);
        let lines = comparison.cells.iter().flat_map(|cell| {
            let on = self.machines().iter().zip(&cell.on).map(Some);
            [None].into_iter().chain(on).map(move |on| (cell, on))
        });
        let lines: Vec<Line<'_>> = lines.collect();
        let ratio = |line: &Line<'_>| {
            let estimate = line.1.and_then(|(_, on)| on.estimate);
            estimate.as_ref().map(Value::from)
        };
        let columns = vec![
            text_column("cell and machine", "", |(cell, on): &Line<'_>| {
                Cell::text(match on {
                    Some((machine, _)) => format!("- {}", machine.label),
                    None => label(comparison, cell),
                })
            })
            .weighing(9),
            number("time/op", "", |(_, on): &Line<'_>| {
                let time = on.and_then(|(_, on)| on.time_ns);
                Cell::maybe(time.map(|time| time.estimate), value::time)
            })
            .weighing(5),
            number("vs baseline", "", move |line| Cell::value(ratio(line))).weighing(8),
            number("interval", "", move |line| Cell::spread(ratio(line))).weighing(10),
            text_column("verdict", "", |(cell, on): &Line<'_>| {
                on.map_or_else(Cell::default, |(_, on)| {
                    Cell::text(toned(verdict(cell, on), Tone::of(on.verdict)))
                })
            })
            .weighing(7),
        ];
        Table::of(&comparison.title, columns, &lines)
    }

    fn claims(&self) -> Option<Block> {
        let machines: Vec<&str> = self.machines().iter().map(|m| m.label.as_str()).collect();
        let claims = self.outcome.claims.iter();
        let tested = claims.filter(|claim| !claim.verdicts().is_empty());
        let articles = claims::articles(tested, &machines);
        chapter("claims", "What the article says", articles)
    }

    fn raw_results(&self, raw: &[&str]) -> Option<Block> {
        let files = self.machines().iter().zip(raw).map(|(machine, text)| File {
            of: machine.label.clone(),
            name: format!("{}-result.jsonl", machine.label),
            content: (*text).to_owned(),
        });
        let what = "Every block that was timed on each machine: unpack them with gunzip and give \
                    them to stowplan report.";
        let blocks = vec![paragraph(what), Content::Files(files.collect()).into()];
        chapter("raw", "Raw results", blocks)
    }

    /// The equivalence zone, if it is the same on each machine.
    fn zone(&self) -> Option<f64> {
        let mut zones = self.machines().iter().map(|machine| machine.equivalence);
        let first = zones.next()?;
        zones
            .all(|zone| zone.to_bits() == first.to_bits())
            .then_some(first)
    }

    fn noun(&self) -> &'static str {
        match self.outcome.distinct == self.machines().len() {
            true => "machine",
            false => "result",
        }
    }

    /// `4 machines`, or `4 results of 3 machines`
    fn count(&self) -> String {
        let (results, distinct) = (self.machines().len(), self.outcome.distinct);
        let machines = value::counted(distinct, "machine");
        match results == distinct {
            true => machines,
            false => format!("{results} results of {machines}"),
        }
    }

    /// `on both machines`, `on nas and attic`, or of many: `on 7 of 9 machines`.
    fn on(&self, places: &[usize]) -> String {
        const NAMED: usize = 2;
        let (all, noun) = (self.machines().len(), self.noun());
        match places.len() {
            2 if all == 2 => format!("on both {noun}s"),
            count if count == all => format!("on all {all} {noun}s"),
            count if count > NAMED => format!("on {count} of {all} {noun}s"),
            _ => format!("on {}", self.names(places)),
        }
    }

    fn names(&self, places: &[usize]) -> String {
        let labels = places
            .iter()
            .map(|place| self.machines()[*place].label.clone());
        wording::list(&labels.collect::<Vec<_>>())
    }
}

/// What claims most comes first.
const ORDER: [Verdict; 7] = [
    Verdict::Faster,
    Verdict::Slower,
    Verdict::Equivalent,
    Verdict::SmallDifference,
    Verdict::Unresolved,
    Verdict::Unreliable,
    Verdict::NoData,
];

/// ` (1.50 to 2.10 times as fast)`; nothing where no side is claimed.
fn factor(cell: &CellAcross, verdict: Verdict, places: &[usize]) -> String {
    let (way, of): (&str, fn(f64) -> f64) = match verdict {
        Verdict::Faster => ("fast", |ratio| 1.0 / ratio),
        Verdict::Slower => ("long", |ratio| ratio),
        _ => return String::new(),
    };
    let ratios = places.iter();
    let ratios = ratios.filter_map(|place| Some(of(cell.on.get(*place)?.estimate?.ratio)));
    let span = value::span(ratios, value::ratio);
    span.map_or_else(String::new, |span| format!(" ({span} times as {way})"))
}

fn verdict(cell: &CellAcross, on: &OnMachine) -> &'static str {
    match (cell.role, on.verdict) {
        (Role::Baseline, _) if on.time_ns.is_some() => "baseline",
        (Role::Floor, verdict) if verdict != Verdict::NoData => "",
        (_, verdict) => wording::verdict(verdict),
    }
}

/// A cell with its part in the comparison, and its promise where promises differ.
fn label(comparison: &ComparisonAcross, cell: &CellAcross) -> String {
    let differ = comparison.cells.iter().any(|cell| !cell.same_durability);
    let promise = cell.durability.as_ref().filter(|_| differ);
    let promise = promise.map_or_else(String::new, |p| format!("; {}", wording::class(p)));
    let says_floor = cell.label.to_lowercase().contains("floor");
    let part = match cell.role {
        Role::Baseline => " (baseline)",
        Role::Floor if !says_floor => " (floor)",
        _ => "",
    };
    format!("{}{part}{promise}", cell.label)
}

fn method() -> Option<Block> {
    let text = "Each ratio is one machine's: time of a cell over the time of the baseline in the \
                same rounds, with the interval and the verdict of that machine's own analysis, \
                widened by that machine's own noise. Nothing is averaged or pooled over machines. \
                Where several machines agree, the range given is from the least to the most of \
                their own estimates. Times per operation are not comparable between machines as \
                ratios are; they stand here for orientation.";
    chapter("method", "Method", vec![remark(text)])
}
