//! The ledger of several results: of each claim what each machine says.

use super::labels;
use crate::{Analysis, ClaimOutcome, ClaimVerdict, untested};
use serde::Serialize;
use stowplan_model::Study;

/// A claim, and what became of it in each of several results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClaimAcross {
    /// Name of the study.
    pub study: String,
    /// The claim as the study states it, with nothing measured.
    pub stated: ClaimOutcome,
    /// Of each result: what became of it; nothing where the result is of another study, or of a version
    /// of it without this claim.
    pub on: Vec<Option<ClaimOutcome>>,
}

impl ClaimAcross {
    /// The verdicts of those that tested it.
    #[must_use]
    pub fn verdicts(&self) -> Vec<ClaimVerdict> {
        let verdicts = self.on.iter().flatten().map(|outcome| outcome.verdict);
        verdicts.filter(|v| *v != ClaimVerdict::NoData).collect()
    }
}

/// What studies state, with nothing measured; what two versions of a study state stands once.
fn stated<'a>(studies: impl Iterator<Item = &'a Study>) -> Vec<ClaimAcross> {
    let mut found: Vec<ClaimAcross> = Vec::new();
    for study in studies {
        let before = found.iter().rposition(|known| known.study == study.name);
        let mut at = before.map_or(found.len(), |place| place + 1);
        for claim in untested(study) {
            let is_known =
                |known: &ClaimAcross| known.study == study.name && known.stated.id == claim.id;
            if !found.iter().any(is_known) {
                let across = ClaimAcross {
                    study: study.name.clone(),
                    stated: claim,
                    on: Vec::new(),
                };
                found.insert(at, across);
                at += 1;
            }
        }
    }
    found
}

/// The claims of several studies, and what machines say of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ledger {
    /// What the machines are called; every list `on` below is in this order.
    pub machines: Vec<String>,
    /// The studies, each with its title.
    pub studies: Vec<(String, String)>,
    /// The claims, study by study.
    pub claims: Vec<ClaimAcross>,
}

/// Puts results of any studies together: a column for each machine, and one more for each further
/// result of a study on the same machine. `studies` are those whose claims stand there unmeasured too.
#[must_use]
pub fn ledger(analyses: &[&Analysis], studies: &[Study]) -> Ledger {
    let columns = columns(analyses);
    let all = studies.iter();
    let all = all.chain(analyses.iter().map(|analysis| &analysis.run.plan.study));
    let mut titles: Vec<(String, String)> = Vec::new();
    for study in all.clone() {
        if !study.claims.is_empty() && !titles.iter().any(|(name, _)| *name == study.name) {
            titles.push((study.name.clone(), study.title.clone()));
        }
    }
    let mut claims = stated(all);
    for known in &mut claims {
        let in_column = |(_, places): &(String, Vec<usize>)| {
            let results = places.iter().map(|place| analyses[*place]);
            let mut its = results.filter(|a| a.run.plan.study.name == known.study);
            let found = its.next()?.claims.iter();
            found
                .clone()
                .find(|claim| claim.id == known.stated.id)
                .cloned()
        };
        known.on = columns.iter().map(in_column).collect();
    }
    Ledger {
        machines: columns.into_iter().map(|(label, _)| label).collect(),
        studies: titles,
        claims,
    }
}

/// A column for each machine with the places of its results, none of which is of the same study.
fn columns(analyses: &[&Analysis]) -> Vec<(String, Vec<usize>)> {
    let mut machines: Vec<&Analysis> = Vec::new();
    let mut columns: Vec<(usize, usize, Vec<usize>)> = Vec::new();
    for (place, analysis) in analyses.iter().enumerate() {
        let here = &analysis.run.environment;
        let known = |known: &&Analysis| known.run.environment.is_same_machine(here);
        let machine = machines.iter().position(known).unwrap_or_else(|| {
            machines.push(analysis);
            machines.len() - 1
        });
        let study = &analysis.run.plan.study.name;
        let mut own = 0;
        let free = columns.iter_mut().find(|(of, _, places)| {
            let same = *of == machine;
            own += usize::from(same);
            let mut studies = places.iter().map(|p| &analyses[*p].run.plan.study.name);
            same && !studies.any(|known| known == study)
        });
        match free {
            Some((_, _, places)) => places.push(place),
            None => columns.push((machine, own, vec![place])),
        }
    }
    let names = labels(&machines);
    let label = |(machine, number, places): (usize, usize, Vec<usize>)| {
        let name = &names[machine];
        let label = match number {
            0 => name.clone(),
            more => format!("{name} ({})", more + 1),
        };
        (label, places)
    };
    columns.into_iter().map(label).collect()
}
