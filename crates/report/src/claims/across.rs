//! The ledger of several studies and machines: what `stowplan claims` prints.

use super::{articles, is_published, summary};
use crate::document::{Block, Detail, Document, Section, paragraph, plain, remark};
use crate::{csv, json as documents, value};
use serde::Serialize;
use serde_json::{Value, json};
use stowplan_analysis::{ClaimOutcome, ClaimVerdict, FigureCell, Ledger};

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

    /// The report.
    #[must_use]
    pub fn document(&self) -> Document {
        let Ledger {
            machines,
            studies,
            claims,
        } = &self.ledger;
        let mut blocks: Vec<Block> = Vec::new();
        let totals = self.totals().into_iter();
        blocks.extend(totals.map(|text| paragraph(text).at(Detail::Answer)));
        let published = || claims.iter().filter(|claim| is_published(&claim.stated));
        let mut left_out = Vec::new();
        for (name, title) in studies {
            let of_it = || published().filter(|claim| claim.study == *name);
            let tested = of_it().any(|claim| !claim.verdicts().is_empty());
            if !machines.is_empty() && !tested {
                left_out.push(format!("{} of {name}", of_it().count()));
                continue;
            }
            let names: Vec<&str> = machines.iter().map(String::as_str).collect();
            let articles = articles(of_it(), &names);
            let title = format!("{name}: {title}");
            let section = Section::new(&title, articles);
            blocks.push(
                section
                    .named(format!("claims-{name}"))
                    .in_contents(name)
                    .into(),
            );
        }
        if !left_out.is_empty() {
            let left_out = left_out.join(", ");
            blocks.push(remark(format!(
                "Not tested by these results: {left_out}. 'stowplan study NAME --scale claims' tests those of one."
            )));
        }
        Document {
            kind: "Stowplan claims".to_owned(),
            title: "What the articles say".to_owned(),
            question: match machines.is_empty() {
                true => plain("What do they claim, and what would decide it?"),
                false => plain("What of it holds here?"),
            },
            byline: machines.iter().map(plain).collect(),
            blocks,
        }
    }

    /// How many claims there are, and what became of them on each machine.
    fn totals(&self) -> Vec<String> {
        let Ledger {
            machines,
            studies,
            claims,
        } = &self.ledger;
        let published = || claims.iter().filter(|claim| is_published(&claim.stated));
        if machines.is_empty() {
            let claims = value::counted(published().count(), "claim");
            let studies = value::counted(studies.len(), "study").replace("studys", "studies");
            return vec![format!(
                "{claims} of {studies}; 'stowplan study NAME --scale claims' tests those of one here."
            )];
        }
        let of_machine = machines.iter().enumerate().map(|(place, machine)| {
            let verdicts = published().map(|claim| {
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
        let Ledger {
            machines, claims, ..
        } = &self.ledger;
        let rows = claims.iter().flat_map(|claim| {
            let tested = machines.iter().zip(&claim.on);
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
    let row = |figure: Value, of: String, to: String| {
        json!({
            "study": study, "machine": machine, "claim": claim, "figure": figure, "of": of, "to": to,
        })
    };
    let figures = claim.figures.iter().map(|figure| {
        let names = |cells: &[FigureCell]| {
            let names: Vec<&str> = cells.iter().map(|cell| cell.cell.0.as_str()).collect();
            names.join(" + ")
        };
        row(json!(figure), names(&figure.of), names(&figure.to))
    });
    figures.collect()
}
