//! Several results of one study, from several machines: on how many of them each finding holds,
//! what the machines are, and the study's charts with a bar per machine.
//!
//! Everything is counted or set side by side by [`stowplan_analysis::machines`]; no ratio here is
//! of more than one machine, and where a range of ratios is given it says so.

mod answers;
mod charts;
mod findings;
mod machines;
mod notes;
mod ratios;

use crate::document::{
    Block, Content, Detail, Document, File, Text, chapter, listed, paragraph, plain, remark,
};
use crate::{claims, csv, format, json, wording};
use stowplan_analysis::{Analysis, Machine, MachinesError, MachinesOutcome};

/// Several results of one study, ready to be written.
#[derive(Debug)]
pub struct Fleet<'a> {
    outcome: MachinesOutcome,
    analyses: Vec<&'a Analysis>,
}

impl<'a> Fleet<'a> {
    /// Sets the results side by side.
    ///
    /// # Errors
    /// They are not several results of one study at one scale.
    pub fn of(analyses: &[&'a Analysis]) -> Result<Self, MachinesError> {
        Ok(Self {
            outcome: stowplan_analysis::machines(analyses)?,
            analyses: analyses.to_vec(),
        })
    }

    /// The name of the study, for the names of files.
    #[must_use]
    pub fn study(&self) -> &str {
        &self.outcome.study
    }

    /// The scale at which all were run, for the names of files.
    #[must_use]
    pub fn scale(&self) -> &str {
        &self.outcome.scale
    }

    /// The report. `raw` are the texts of the results, in the order given; the page carries them.
    #[must_use]
    pub fn document(&self, raw: &[&str]) -> Document {
        let mut blocks: Vec<Block> = notes::notices(self).collect();
        blocks.push(findings::section(self, usize::MAX));
        blocks.extend(answers::section(self));
        blocks.extend(charts::section(self));
        blocks.extend(machines::section(self));
        blocks.extend(ratios::section(self));
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

    /// What they come to; `rows` is how many rows its answers and its picture have together, at most.
    #[must_use]
    pub fn screen(&self, rows: usize) -> Document {
        let count = format!("{}, scale {}", self.count(), self.outcome.scale);
        let mut blocks = vec![remark(count).at(Detail::Answer)];
        blocks.extend(notes::notices(self));
        // An answer takes about three lines.
        let answered = (rows / 3).min(findings::all(self).count());
        blocks.push(findings::section(self, answered));
        blocks.extend(answers::section(self));
        let left = rows - answered * 3;
        blocks.extend((left > 3).then(|| charts::picture(self, left)).flatten());
        blocks.push(remark("Everything: --verbose, and the page.").at(Detail::Summary));
        Document {
            title: self.outcome.title.clone(),
            blocks,
            ..Document::default()
        }
    }

    /// A row per cell and machine: the columns of the CSV of one result, and `machine`.
    #[must_use]
    pub fn csv(&self) -> String {
        let labels = self.machines().iter().map(|machine| machine.label.as_str());
        csv::of_machines(labels.zip(self.analyses.iter().copied()))
    }

    /// What was set side by side, as one JSON document.
    ///
    /// # Errors
    /// None that is known: every key is a text.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        json::of("machines", &self.outcome)
    }

    fn machines(&self) -> &[Machine] {
        &self.outcome.machines
    }

    fn byline(&self) -> Vec<Text> {
        let machines = self.machines().iter();
        let mut parts: Vec<Text> = machines.map(|machine| plain(&machine.label)).collect();
        parts.push(format!("scale {}", self.outcome.scale).into());
        let source = self.outcome.source.as_ref();
        parts.extend(source.map(|source| plain("the published study").linked(source)));
        parts
    }

    /// What each machine says of the claims of the study; nothing if none tested any.
    fn claims(&self) -> Option<Block> {
        let machines: Vec<&str> = self.machines().iter().map(|m| m.label.as_str()).collect();
        let claims = self.outcome.claims.iter();
        let tested = claims.filter(|claim| !claim.verdicts().is_empty());
        let items = claims::items(tested, &machines);
        chapter(
            "claims",
            "What the article says",
            listed(items).into_iter().collect(),
        )
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

    /// The equivalence zone, if it is the same on all machines.
    fn zone(&self) -> Option<f64> {
        let mut zones = self.machines().iter().map(|machine| machine.equivalence);
        let first = zones.next()?;
        zones
            .all(|zone| zone.to_bits() == first.to_bits())
            .then_some(first)
    }

    /// How results are counted: as machines, if no two are of the same one.
    fn noun(&self) -> &'static str {
        if self.outcome.distinct == self.machines().len() {
            "machine"
        } else {
            "result"
        }
    }

    /// `4 machines`, `3 results of 2 machines`
    fn count(&self) -> String {
        let (results, distinct) = (self.machines().len(), self.outcome.distinct);
        let machines = format::counted(distinct, "machine");
        if results == distinct {
            return machines;
        }
        format!("{results} results of {machines}")
    }

    /// `on all 4 machines`, `on 3 of 4 machines`, `only on host-a`
    fn on(&self, places: &[usize]) -> String {
        let all = self.machines().len();
        let noun = self.noun();
        match places.len() {
            count if count == all && all == 2 => format!("on both {noun}s"),
            count if count == all => format!("on all {all} {noun}s"),
            1 => format!("only on {}", self.names(places)),
            count => format!("on {count} of {all} {noun}s"),
        }
    }

    /// `on host-a and host-b`, or how many they are.
    fn on_names(&self, places: &[usize]) -> String {
        const NAMED: usize = 3;
        if places.len() > NAMED || places.len() == self.machines().len() {
            return self.on(places);
        }
        format!("on {}", self.names(places))
    }

    fn names(&self, places: &[usize]) -> String {
        let labels = places
            .iter()
            .map(|place| self.machines()[*place].label.clone());
        wording::list(&labels.collect::<Vec<_>>())
    }
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
