//! Several results of one study, from several machines: what each recommends, on how many of them a
//! verdict holds, what the machines are, and ratios with a row per machine.
//!
//! No ratio here is of more than one machine ([`stowplan_analysis::machines`]); where a range of
//! ratios is given it says so.

mod machines;
mod notes;

use crate::advice::Advice;
use crate::cells::grouped;
use crate::document::{
    Block, Content, Detail, Document, File, Item, Look, Section, Text, Tone, anchor, chapter,
    faint, listed, notice, paragraph, plain, remark, strong,
};
use crate::run::answers;
use crate::run::by_size::Sizes;
use crate::run::figures::Drawn;
use crate::{claims, csv, json, noise, value, wording};
use std::cmp::Reverse;
use stowplan_analysis::{
    Analysis, CellSummary, FindingAcross, FindingGroup, Kind, Machine, MachinesError,
    MachinesOutcome, PromiseDifference, TWICE_DIFFERED, Verdict, work_differences,
};
use stowplan_model::{CellId, Role};

/// Several results, set side by side.
#[derive(Debug)]
pub struct Fleet<'a> {
    outcome: MachinesOutcome,
    /// The analysis of each result, in the order of the machines.
    analyses: Vec<&'a Analysis>,
}

/// Where the page has the details of a question, and its title.
type Question = (String, String);

/// Whether an answer is a choice, and its words.
type Answer = (bool, String);

/// An answer, and the places of the machines that give it.
type Said = (Answer, Vec<usize>);

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
        let charts = self.outcome.figures.iter();
        let charts = charts.map(|found| self.drawn(found).block(self.reservations(found)));
        let mut blocks: Vec<Block> = self.notices().collect();
        blocks.push(self.answers(usize::MAX));
        blocks.extend(chapter("charts", "Charts", charts.collect()));
        blocks.push(machines::section(self));
        blocks.extend(self.each_comparison());
        blocks.extend(self.claims());
        blocks.extend(chapter("method", "Method", vec![remark(METHOD)]));
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
        blocks.extend(self.notices());
        // An answer takes about three lines.
        let answered = (rows / 3).min(self.questions().len());
        blocks.push(self.answers(answered));
        let left = rows - answered * 3;
        blocks.extend((left > 3).then(|| self.picture(left)).flatten());
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
        csv::of_machines(self.labels().zip(self.analyses.iter().copied()))
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

    fn labels(&self) -> impl Iterator<Item = &str> {
        self.machines().iter().map(|machine| &*machine.label)
    }

    fn notices(&self) -> impl Iterator<Item = Block> {
        let notes = notes::notes(self).into_iter();
        notes.map(|note| notice(note).at(Detail::Answer))
    }

    fn byline(&self) -> Vec<Text> {
        let mut parts: Vec<Text> = self.labels().map(plain).collect();
        parts.push(format!("scale {}", self.outcome.scale).into());
        let source = self.outcome.source.as_ref();
        parts.extend(source.map(|source| plain("the published study").linked(source)));
        parts
    }

    /// What the machines answer, to so many questions at most.
    fn answers(&self, most: usize) -> Block {
        let questions = self.questions();
        let shown = questions.iter().take(most);
        let items = shown.map(|(question, said)| self.answer(question, said));
        let answers = Content::List(items.collect());
        let mut blocks = vec![Block::from(answers).at(Detail::Answer)];
        let more = questions.len().saturating_sub(most);
        let said = format!("and {}", value::counted(more, "more question"));
        blocks.extend((more > 0).then(|| remark(said)));
        let title = format!("On how many {}s each finding holds", self.noun());
        let section = Section::new(title, blocks).named("overview");
        Block::from(section.in_contents("Findings")).at(Detail::Answer)
    }

    /// Every question of the study, with the answers and the machines that give them: disk space last.
    fn questions(&self) -> Vec<(Question, Vec<Said>)> {
        let places = 0..self.analyses.len();
        let said = places.flat_map(|place| {
            let said = self.said(place).into_iter();
            said.map(move |(question, answer)| (question, (answer, place)))
        });
        let mut questions = grouped(said);
        questions.sort_by_key(|((target, _), _)| target == "space");
        let questions = questions.into_iter();
        questions
            .map(|(question, said)| (question, grouped(said.into_iter())))
            .collect()
    }

    /// What one machine answers: of comparisons that stand for themselves, by size, and of disk space.
    fn said(&self, place: usize) -> Vec<(Question, Answer)> {
        let analysis = self.analyses[place];
        let singles = self.outcome.comparisons.iter();
        let singles = singles.filter(|found| !found.part && found.reliable[place].is_some());
        let recommended = singles.map(|across| {
            let target = anchor("finding", &across.finding.id);
            let title = across.finding.title.clone();
            ((target, title), self.recommended(across, place))
        });
        let rows = answers::by_size(analysis).into_iter();
        let rows = rows.chain(answers::space(analysis)).map(|row| {
            let is_other = self.measured_otherwise(place, &row.target);
            let left_out = "left out, because not the same was measured there".to_owned();
            let said = if is_other { left_out } else { row.answer };
            ((row.target, row.title), (!is_other, said))
        });
        recommended.chain(rows).collect()
    }

    /// What the report of a machine recommends.
    fn recommended(&self, across: &FindingAcross, place: usize) -> Answer {
        let analysis = self.analyses[place];
        let found = analysis.comparison(&across.finding.id);
        let Some(found) = found.filter(|_| across.complete[place]) else {
            return (false, "not the same stores".to_owned());
        };
        let kind = found.recommendation.kind;
        let is_open = matches!(kind, Kind::Open | Kind::Keep | Kind::Equivalent);
        let phrase = Advice::of(analysis, found).phrase(wording::quoted);
        (!is_open, phrase)
    }

    /// What the machines say, that of most of them first.
    fn answer(&self, (target, title): &Question, said: &[Said]) -> Item {
        let mut said: Vec<_> = said.iter().collect();
        said.sort_by_key(|((is_choice, _), places)| Reverse((*is_choice, places.len())));
        let all = self.machines().len();
        let texts = said.iter().map(|((_, phrase), places)| match said.len() {
            1 if places.len() == all => phrase.clone(),
            _ => format!("{}: {phrase}", self.on(places)),
        });
        let texts = texts.collect::<Vec<String>>().join("; ");
        let holds = said.first().filter(|((is_choice, _), _)| *is_choice);
        let holds =
            holds.map(|(_, places)| format!(" {} of {all} {}s.", places.len(), self.noun()));
        let mut comparisons = self.outcome.comparisons.iter();
        let across = comparisons.find(|found| anchor("finding", &found.finding.id) == *target);
        // Only comparisons have a part of their own on this page.
        let title = match across {
            Some(_) => plain(title).linked(&format!("#{target}")),
            None => plain(title),
        };
        Item {
            title,
            text: strong(value::capital(&texts) + ".").then(faint(holds.unwrap_or_default())),
            note: faint(across.map_or_else(String::new, |across| self.noise(across))),
            ..Item::default()
        }
    }

    fn noise(&self, across: &FindingAcross) -> String {
        let counted = self.analyses.iter().zip(&across.reliable);
        let counted = counted.filter(|(_, reliable)| reliable.is_some());
        let outcomes = counted.filter_map(|(found, _)| found.comparison(&across.finding.id));
        let differed = noise::noise(&outcomes.collect::<Vec<_>>()).map_or_else(
            || "Noise is unknown: no control has rounds enough".to_owned(),
            |noise| format!("{} by {noise}", value::capital(TWICE_DIFFERED)),
        );
        match unreliable(across).as_slice() {
            [] => format!("{differed}."),
            places => format!("{differed}; nothing is claimed {}.", self.on(places)),
        }
    }

    /// Whether a machine measured something else where it answers this.
    fn measured_otherwise(&self, place: usize, target: &str) -> bool {
        let analysis = self.analyses[place];
        let by_size = analysis.by_size.iter();
        let by_size = by_size.map(|found| Sizes::of(analysis, found));
        let parts = by_size.filter(|sizes| sizes.anchor() == target);
        let parts = parts.flat_map(|sizes| sizes.parts);
        let cells = parts.flat_map(|part| part.cells.iter().map(|cell| &cell.cell.id));
        let space = analysis.run.plan.study.space();
        let space = space
            .filter(|_| target == "space")
            .filter_map(|asked| asked.cell.as_ref());
        let cells: Vec<&CellId> = cells.chain(space).collect();
        let mut differences = self.outcome.differences.iter();
        differences.any(|found| found.machine == place && cells.contains(&&found.cell))
    }

    /// The first cell of the first figure, so many rows at most.
    fn picture(&self, rows: usize) -> Option<Block> {
        let mut found = self.outcome.figures.first()?.clone();
        found.finding.groups.truncate(1);
        let rows = self.drawn(&found).rows().first(rows);
        Some(Section::new(&found.finding.title, vec![rows.into()]).into())
    }

    fn drawn<'f>(&self, found: &'f FindingAcross) -> Drawn<'f> {
        let zone = self.zone().map_or("the zone".to_owned(), value::percent);
        Drawn::of_several(&found.finding, zone)
    }

    /// What must not be overlooked of a figure.
    fn reservations(&self, found: &FindingAcross) -> Vec<String> {
        let unreliable = unreliable(found);
        let on = self.on(&unreliable);
        let text = format!("Session unreliable {on}: those bars claim nothing.");
        Vec::from_iter((!unreliable.is_empty()).then_some(text))
    }

    fn each_comparison(&self) -> Option<Block> {
        let comparisons = self.outcome.comparisons.iter();
        let (parts, singles): (Vec<_>, Vec<_>) = comparisons.partition(|found| found.part);
        let fold = |comparison| self.fold(comparison);
        let mut blocks: Vec<Block> = singles.into_iter().map(fold).collect();
        if !parts.is_empty() {
            let count = value::counted(parts.len(), "comparison");
            let title = format!("The {count} that matrices and sweeps are made of");
            blocks.push(Section::fold(title, parts.into_iter().map(fold).collect()).into());
        }
        chapter("comparisons", "Each comparison", blocks)
    }

    /// One comparison: on how many machines each verdict holds, and the ratios of each.
    fn fold(&self, across: &FindingAcross) -> Block {
        let tallies = across.finding.groups.iter();
        let tallies = tallies.filter_map(|group| self.tally(group)).collect();
        let mut blocks: Vec<Block> = listed(tallies).into_iter().collect();
        blocks.extend([remark(self.noise(across)), self.drawn(across).rows().into()]);
        let fold = Section {
            id: anchor("finding", &across.finding.id),
            look: Look::Finding,
            ..Section::new(&across.finding.title, blocks)
        };
        fold.into()
    }

    /// On how many machines each verdict on a cell holds; nothing of a floor.
    fn tally(&self, group: &FindingGroup) -> Option<Item> {
        let (cell, baseline) = self.measured(group)?;
        let mut verdicts = ORDER.map(|verdict| (verdict, group.with(verdict))).to_vec();
        verdicts.retain(|(_, places)| !places.is_empty());
        let claims = |verdict: &Verdict| ORDER[..3].contains(verdict);
        verdicts.sort_by_key(|(verdict, places)| Reverse((claims(verdict), places.len())));
        let badge = verdicts.first().map_or(Verdict::NoData, |found| found.0);
        let said = verdicts.iter().map(|(verdict, places)| {
            let (word, on) = (wording::verdict(*verdict), self.on(places));
            format!("{word} {on}{}", factor(group, *verdict, places))
        });
        let said = said.collect::<Vec<_>>().join("; ");
        let promise = PromiseDifference::of(cell, baseline)
            .map(|found| format!(" It promises {} against {}.", found.ours, found.theirs));
        let work = wording::other_work(&work_differences(cell, baseline));
        let work = (!work.is_empty()).then(|| format!(" It does other work: {work}."));
        let asides: String = promise.into_iter().chain(work).collect();
        let item = Item {
            title: plain(&cell.cell.label),
            ..Item::of(format!("{said}.{asides}"))
        };
        Some(item.with_badge(wording::verdict(badge), Tone::of(badge)))
    }

    /// The cell of a group and its baseline, as the first machine that has them measured them.
    fn measured(&self, group: &FindingGroup) -> Option<(&'a CellSummary, &'a CellSummary)> {
        let id = group.rows.first()?.cell.as_ref()?;
        let mut all = self.analyses.iter();
        let (cell, baseline) = all.find_map(|found| {
            let comparison = found.comparison(&group.comparison)?;
            Some((comparison.cell(id)?, comparison.baseline()?))
        })?;
        (cell.cell.role == Role::Candidate).then_some((cell, baseline))
    }

    fn claims(&self) -> Option<Block> {
        let machines: Vec<&str> = self.labels().collect();
        let claims = self.outcome.claims.iter();
        let tested = claims.filter(|claim| !claim.verdicts().is_empty());
        let articles = claims::articles(tested, &machines);
        chapter("claims", "What the article says", articles)
    }

    fn raw_results(&self, raw: &[&str]) -> Option<Block> {
        let files = self.labels().zip(raw).map(|(label, text)| File {
            of: label.to_owned(),
            name: format!("{label}-result.jsonl"),
            content: (*text).to_owned(),
        });
        let what = "Every block that was timed on each machine: unpack them with gunzip and give \
                    them to stowplan report.";
        let blocks = vec![paragraph(what), Content::Files(files.collect()).into()];
        chapter("raw", "Raw results", blocks)
    }

    /// The equivalence zone, if it is the same on each machine.
    fn zone(&self) -> Option<f64> {
        let zones = self.machines().iter().map(|machine| machine.equivalence);
        match grouped(zones.map(|zone| (zone, ()))).as_slice() {
            [(zone, _)] => Some(*zone),
            _ => None,
        }
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

/// The machines whose session failed its control.
fn unreliable(across: &FindingAcross) -> Vec<usize> {
    let reliable = across.reliable.iter().enumerate();
    let unreliable = reliable.filter(|(_, reliable)| **reliable == Some(false));
    unreliable.map(|(place, _)| place).collect()
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
fn factor(group: &FindingGroup, verdict: Verdict, places: &[usize]) -> String {
    let (way, of): (&str, fn(f64) -> f64) = match verdict {
        Verdict::Faster => ("fast", |ratio| 1.0 / ratio),
        Verdict::Slower => ("long", |ratio| ratio),
        _ => return String::new(),
    };
    let ratios = places.iter();
    let ratios = ratios.filter_map(|place| Some(of(group.rows.get(*place)?.ratio()?.ratio)));
    let span = value::span(ratios, value::ratio);
    span.map_or_else(String::new, |span| format!(" ({span} times as {way})"))
}

const METHOD: &str = "Each ratio is one machine's: time of a cell over the time of the baseline in the \
                      same rounds, with the interval and the verdict of that machine's own analysis, \
                      widened by that machine's own noise. Nothing is averaged or pooled over machines. \
                      Where several machines agree, the range given is from the least to the most of \
                      their own estimates.";
