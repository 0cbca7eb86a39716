//! The ledger of several results: of each claim what each machine says.

use super::{labels, numbered};
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
    let measured = analyses.iter().map(|analysis| &analysis.run.plan.study);
    let mut titles: Vec<(String, String)> = Vec::new();
    let mut claims: Vec<ClaimAcross> = Vec::new();
    for study in studies.iter().chain(measured) {
        if !study.claims.is_empty() && !titles.iter().any(|(name, _)| *name == study.name) {
            titles.push((study.name.clone(), study.title.clone()));
        }
        // What two versions of a study state stands once.
        let of_study = |known: &ClaimAcross| known.study == study.name;
        let mut at = claims
            .iter()
            .rposition(of_study)
            .map_or(claims.len(), |at| at + 1);
        for stated in untested(study) {
            let mut known = claims.iter().filter(|known| of_study(known));
            if !known.any(|known| known.stated.id == stated.id) {
                let on = columns.iter();
                let on = on.map(|(_, places)| found(analyses, places, &study.name, &stated.id));
                let on = on.collect();
                let study = study.name.clone();
                claims.insert(at, ClaimAcross { study, stated, on });
                at += 1;
            }
        }
    }
    Ledger {
        machines: columns.into_iter().map(|(label, _)| label).collect(),
        studies: titles,
        claims,
    }
}

/// What became of a claim in the one of these results that is of its study.
fn found(analyses: &[&Analysis], of: &[usize], study: &str, id: &str) -> Option<ClaimOutcome> {
    let mut results = of.iter().map(|place| analyses[*place]);
    let result = results.find(|result| result.run.plan.study.name == study)?;
    result.claims.iter().find(|claim| claim.id == id).cloned()
}

/// A column for each machine with the places of its results, none of which is of the same study.
fn columns(analyses: &[&Analysis]) -> Vec<(String, Vec<usize>)> {
    let machines = numbered(analyses);
    let study = |place: usize| &analyses[place].run.plan.study.name;
    let mut columns: Vec<((usize, usize), Vec<usize>)> = Vec::new();
    for (place, machine) in machines.iter().enumerate() {
        let alike = |other: &usize| machines[*other] == *machine && study(*other) == study(place);
        let column = (*machine, (0..place).filter(alike).count());
        match columns.iter_mut().find(|(known, _)| *known == column) {
            Some((_, places)) => places.push(place),
            None => columns.push((column, vec![place])),
        }
    }
    let firsts = columns.iter().filter(|((_, number), _)| *number == 0);
    let firsts: Vec<&Analysis> = firsts.map(|(_, places)| analyses[places[0]]).collect();
    let names = labels(&firsts);
    let labelled = columns.into_iter().map(|((machine, number), places)| {
        let name = &names[machine];
        let label = match number {
            0 => name.clone(),
            more => format!("{name} ({})", more + 1),
        };
        (label, places)
    });
    labelled.collect()
}
