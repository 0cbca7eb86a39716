//! The ledger of several studies and machines: what `stowplan claims` prints.

use super::{by_article, evidence, is_published, item, quoted, reading, summary, tone};
use crate::document::{
    Block, Detail, Document, Item, Section, Tone, faint, paragraph, plain, remark, strong,
};
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
        csv::table(&COLUMNS, rows)
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

/// Columns and where their fields stand in a row, see [`csv::table`].
const COLUMNS: [(&str, &str); 15] = [
    ("study", "/study"),
    ("claim", "/claim/id"),
    ("place", "/claim/place"),
    ("quote", "/claim/quote"),
    ("machine", "/machine"),
    ("verdict", "/claim/verdict"),
    ("measure", "/figure/measure"),
    ("of", "/of"),
    ("to", "/to"),
    ("figure", "/figure/estimate/estimate"),
    ("low", "/figure/estimate/low"),
    ("high", "/figure/estimate/high"),
    ("at_least", "/figure/at_least"),
    ("at_most", "/figure/at_most"),
    ("figure_verdict", "/figure/verdict"),
];

/// A row for each figure of a claim; of two costs, one for their difference in nanoseconds.
fn rows(study: &str, machine: &str, claim: &ClaimOutcome) -> Vec<Value> {
    let row = |figure: Value, of: String, to: String| {
        json!({
            "study": study, "machine": machine, "claim": claim, "figure": figure, "of": of, "to": to,
        })
    };
    if let Some(costs) = &claim.costs {
        let figure = json!({
            "measure": "difference-ns", "estimate": costs.difference, "at_least": 0, "verdict": claim.verdict,
        });
        let labels = [&costs.larger, &costs.smaller].map(|side| side.label.clone());
        let [larger, smaller] = labels;
        return vec![row(figure, larger, smaller)];
    }
    let figures = claim.figures.iter().map(|figure| {
        let names = |cells: &[FigureCell]| {
            let names: Vec<&str> = cells.iter().map(|cell| cell.cell.0.as_str()).collect();
            names.join(" + ")
        };
        row(json!(figure), names(&figure.of), names(&figure.to))
    });
    figures.collect()
}

/// The claims of several results by their articles, each with what every machine says of it.
pub(crate) fn articles<'a>(
    claims: impl Iterator<Item = &'a ClaimAcross>,
    machines: &[&str],
) -> Vec<Block> {
    let verdict = |claim: &ClaimAcross| match claim.verdicts().as_slice() {
        [] => ClaimVerdict::NoData,
        [first, others @ ..] if others.iter().all(|other| other == first) => *first,
        _ => ClaimVerdict::Undecided,
    };
    by_article(
        claims,
        |claim| &claim.stated,
        verdict,
        |claim| item_of(claim, machines),
    )
}

fn item_of(claim: &ClaimAcross, machines: &[&str]) -> Item {
    match (machines, claim.on.as_slice()) {
        ([], _) => stated(&claim.stated),
        ([_], [Some(outcome)]) if outcome.verdict != ClaimVerdict::NoData => item(outcome),
        // A run knows no labels of cells that its scale leaves out.
        ([_], [outcome]) => item(&ClaimOutcome {
            missing: outcome
                .iter()
                .flat_map(|known| known.missing.clone())
                .collect(),
            ..claim.stated.clone()
        }),
        _ => on_each(claim, machines),
    }
}

/// A claim that nobody has tested.
fn stated(claim: &ClaimOutcome) -> Item {
    let without = ClaimOutcome {
        missing: Vec::new(),
        ..claim.clone()
    };
    let note = plain(evidence(&without)).then(faint(reading(claim.note.as_deref())));
    Item {
        note,
        ..Item::of(quoted(&claim.quote, claim.place.as_deref()))
    }
}

/// A claim and each machine's answer.
fn on_each(claim: &ClaimAcross, machines: &[&str]) -> Item {
    let verdicts = claim.verdicts();
    let (word, tone) = match verdicts.as_slice() {
        [] => (ClaimVerdict::NoData.in_words(), Tone::Faint),
        [first, others @ ..] if others.iter().all(|other| other == first) => {
            (first.in_words(), tone(*first))
        }
        _ => ("differs", Tone::Warning),
    };
    let answers = machines
        .iter()
        .zip(&claim.on)
        .filter_map(|(machine, outcome)| {
            let outcome = outcome.as_ref()?;
            let verdict = outcome.verdict.in_words();
            Some(format!("{machine}: {verdict}. {}", evidence(outcome)))
        });
    let answers = answers.collect::<Vec<_>>().join(" ");
    let stated = &claim.stated;
    Item {
        note: strong(answers).then(faint(reading(stated.note.as_deref()))),
        ..Item::of(quoted(&stated.quote, stated.place.as_deref()))
    }
    .with_badge(word, tone)
}
