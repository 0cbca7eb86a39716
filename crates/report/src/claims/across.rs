//! The ledger of several studies and machines: what `stowplan claims` prints.

use super::{articles, is_published, summary};
use crate::document::{Block, Detail, Document, Section, paragraph, plain, remark};
use crate::{csv, json as documents, value};
use serde::Serialize;
use serde_json::{Value, json};
use stowplan_analysis::{ClaimAcross, ClaimOutcome, ClaimVerdict, FigureCell, Ledger};

/// A ledger, ready to be written.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Claims {
    ledger: Ledger,
}

impl Claims {
    /// What there is to say of a ledger.
    #[must_use]
    pub fn of(ledger: Ledger) -> Self {
        Self { ledger }
    }

    fn published(&self) -> impl Iterator<Item = &ClaimAcross> {
        let claims = self.ledger.claims.iter();
        claims.filter(|claim| is_published(&claim.stated))
    }

    /// The report.
    #[must_use]
    pub fn document(&self) -> Document {
        let machines: Vec<&str> = self.ledger.machines.iter().map(String::as_str).collect();
        let totals = self.totals().into_iter();
        let totals = totals.map(|text| paragraph(text).at(Detail::Answer));
        let mut blocks: Vec<Block> = totals.collect();
        let mut left_out = Vec::new();
        for (name, title) in &self.ledger.studies {
            let of_it = || self.published().filter(|claim| claim.study == *name);
            if machines.is_empty() || of_it().any(|claim| !claim.verdicts().is_empty()) {
                let title = format!("{name}: {title}");
                let section = Section::new(title, articles(of_it(), &machines));
                let section = section.named(format!("claims-{name}"));
                blocks.push(section.in_contents(name).into());
            } else {
                left_out.push(format!("{} of {name}", of_it().count()));
            }
        }
        if !left_out.is_empty() {
            let left_out = left_out.join(", ");
            blocks.push(remark(format!(
                "Not tested by these results: {left_out}. 'stowplan study NAME --scale claims' tests those of one."
            )));
        }
        let question = match machines.as_slice() {
            [] => "What do they claim, and what would decide it?",
            _ => "What of it holds here?",
        };
        Document {
            kind: "Stowplan claims".to_owned(),
            title: "What the articles say".to_owned(),
            question: plain(question),
            byline: machines.into_iter().map(plain).collect(),
            blocks,
        }
    }

    /// How many claims there are, and what became of them on each machine.
    fn totals(&self) -> Vec<String> {
        let machines = &self.ledger.machines;
        if machines.is_empty() {
            let claims = value::counted(self.published().count(), "claim");
            let studies = value::counted(self.ledger.studies.len(), "study");
            let studies = studies.replace("studys", "studies");
            return vec![format!(
                "{claims} of {studies}; 'stowplan study NAME --scale claims' tests those of one here."
            )];
        }
        let of_machine = machines.iter().enumerate().map(|(place, machine)| {
            let verdicts = self.published().map(|claim| {
                let outcome = claim.on.get(place).and_then(Option::as_ref);
                outcome.map_or(ClaimVerdict::NoData, |outcome| outcome.verdict)
            });
            let summary = summary(&verdicts.collect::<Vec<_>>());
            match machines.len() {
                1 => summary,
                _ => format!("{machine}: {summary}"),
            }
        });
        of_machine.collect()
    }

    /// A row for each figure of each claim on each machine; of a claim that no machine tested, what would
    /// decide it.
    #[must_use]
    pub fn csv(&self) -> String {
        let rows = self.ledger.claims.iter().flat_map(|claim| {
            let tested = self.ledger.machines.iter().zip(&claim.on);
            let tested = tested.filter_map(|(m, outcome)| Some((m.as_str(), outcome.as_ref()?)));
            let mut outcomes: Vec<(&str, &ClaimOutcome)> = tested.collect();
            if outcomes.is_empty() {
                outcomes.push(("", &claim.stated));
            }
            let outcomes = outcomes.into_iter();
            outcomes.flat_map(|(machine, outcome)| rows(&claim.study, machine, outcome))
        });
        csv::table(&csv::columns_of(COLUMNS), rows)
    }

    /// The ledger as one JSON document.
    ///
    /// # Errors
    /// None that is known: every key is a text.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        documents::of("claims", self)
    }
}

/// How the table begins: by it one of ours is told from a file that someone else wrote.
pub const CSV_START: &str = "study,claim,place,quote,";

/// Columns and where their fields stand in a row, see [`csv::columns_of`].
const COLUMNS: &str = include_str!("../tables/claims.txt");

/// A row for each figure of a claim.
fn rows(study: &str, machine: &str, claim: &ClaimOutcome) -> Vec<Value> {
    let names = |cells: &[FigureCell]| {
        let names: Vec<&str> = cells.iter().map(|cell| cell.cell.0.as_str()).collect();
        names.join(" + ")
    };
    let rows = claim.figures.iter().map(|figure| {
        json!({
            "study": study, "machine": machine, "claim": claim, "figure": figure,
            "of": names(&figure.of), "to": names(&figure.to),
        })
    });
    rows.collect()
}
