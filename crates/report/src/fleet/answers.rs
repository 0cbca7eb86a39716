//! What each machine answers where that is no count of verdicts: matrices, sweeps, disk space.

use super::{Fleet, sentence_start};
use crate::constituents;
use crate::document::{Block, Detail, Look, Section, bullets, plain, strong};
use crate::run::answers;
use std::collections::BTreeSet;
use stowplan_analysis::{Analysis, SpaceRow};
use stowplan_model::CellId;

/// What stands for an answer where not the same was asked as on the first machine.
const OTHERWISE: &str = "left out, because not the same was measured there";

/// What an answer is of.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Subject {
    /// The matrix of this name.
    Matrix(String),
    /// The sweep of this name.
    Sweep(String),
    /// What stores take on disk.
    Space,
}

/// What each machine answers to one question.
struct Answers {
    subject: Subject,
    title: String,
    /// Of each machine; nothing where it has no answer.
    on: Vec<Option<String>>,
}

/// A section with a panel per question; nothing without questions.
pub(super) fn section(fleet: &Fleet<'_>) -> Option<Block> {
    let answers = collected(fleet);
    if answers.is_empty() {
        return None;
    }
    let panels = answers.iter().map(|answers| answers.panel(fleet)).collect();
    let title = format!("What each {} answers", fleet.noun());
    let section = Section::new(title, panels).named("answers");
    let section = section.in_contents("Answers of each");
    Some(Block::from(section).at(Detail::Brief))
}

fn collected(fleet: &Fleet<'_>) -> Vec<Answers> {
    let mut found: Vec<Answers> = Vec::new();
    for (place, analysis) in fleet.analyses.iter().enumerate() {
        for (subject, title, answer) in of_one(analysis) {
            let answer = if differs(fleet, place, &subject) {
                OTHERWISE.to_owned()
            } else {
                answer
            };
            let known = found.iter().position(|known| known.subject == subject);
            let index = known.unwrap_or_else(|| {
                found.push(Answers {
                    subject,
                    title,
                    on: vec![None; fleet.machines().len()],
                });
                found.len() - 1
            });
            let slot = found.get_mut(index).and_then(|it| it.on.get_mut(place));
            if let Some(slot) = slot {
                *slot = Some(answer);
            }
        }
    }
    found
}

/// What one machine answers: title and answer of each matrix and sweep, then of disk space.
fn of_one(analysis: &Analysis) -> Vec<(Subject, String, String)> {
    let mut rows = answers::rows(analysis).into_iter();
    let matrices = analysis.matrices.iter();
    let matrices = matrices.map(|matrix| Subject::Matrix(matrix.id.clone()));
    let sweeps = analysis.sweeps.iter();
    let sweeps = sweeps.map(|outcome| Subject::Sweep(outcome.sweep.id.clone()));
    let mut found: Vec<_> = matrices
        .chain(sweeps)
        .zip(rows.by_ref())
        .map(|(subject, row)| (subject, row.title, row.answer))
        .collect();
    let space = rows.nth(constituents::singles(analysis).len());
    found.extend(space.map(|row| (Subject::Space, row.title, row.answer)));
    found
}

/// Whether an answer rests on cells that were left out there, or, of disk space, on other stores
/// than were looked at elsewhere.
fn differs(fleet: &Fleet<'_>, place: usize, subject: &Subject) -> bool {
    let Some(analysis) = fleet.analyses.get(place) else {
        return false;
    };
    let cells = cells_of(analysis, subject);
    let mut differences = fleet.outcome.differences.iter();
    if differences.any(|found| found.machine == place && cells.contains(&found.cell)) {
        return true;
    }
    let labels: BTreeSet<&str> = asked_space(analysis).map(|row| &*row.label).collect();
    let mut elsewhere = fleet.analyses.iter().flat_map(|a| asked_space(a));
    *subject == Subject::Space && elsewhere.any(|row| !labels.contains(&*row.label))
}

/// The cells that an answer rests on.
fn cells_of<'a>(analysis: &'a Analysis, subject: &Subject) -> BTreeSet<&'a CellId> {
    let comparisons = match subject {
        Subject::Space => {
            let asked = &analysis.run.plan.study.space;
            let named = |cell: &&CellId| asked.iter().any(|asked| asked.cell == **cell);
            let cells = analysis.comparisons.iter().flat_map(|c| &c.cells);
            return cells.map(|cell| &cell.cell.id).filter(named).collect();
        }
        Subject::Matrix(id) => {
            let mut matrices = analysis.matrices.iter();
            let matrix = matrices.find(|matrix| matrix.id == *id);
            matrix.map(|matrix| constituents::of_matrix(analysis, matrix))
        }
        Subject::Sweep(id) => {
            let mut sweeps = analysis.sweeps.iter();
            let sweep = sweeps.find(|outcome| outcome.sweep.id == *id);
            sweep.map(|outcome| constituents::of_sweep(analysis, outcome))
        }
    };
    let comparisons = comparisons.unwrap_or_default().into_iter();
    let cells = comparisons.flat_map(|comparison| &comparison.cells);
    cells.map(|cell| &cell.cell.id).collect()
}

/// What the stores that the study asks about take on disk.
fn asked_space(analysis: &Analysis) -> impl Iterator<Item = &SpaceRow> {
    let asked = &analysis.run.plan.study.space;
    let rows = analysis.space.iter();
    rows.filter(|row| asked.iter().any(|asked| asked.label == row.label))
}

impl Answers {
    /// Who says what: machines with the same answer together.
    fn panel(&self, fleet: &Fleet<'_>) -> Block {
        let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
        for (place, answer) in self.on.iter().enumerate() {
            let answer = answer.as_deref().unwrap_or("no answer");
            match groups.iter_mut().find(|(known, _)| *known == answer) {
                Some((_, places)) => places.push(place),
                None => groups.push((answer, vec![place])),
            }
        }
        let lines = groups.into_iter().map(|(answer, places)| {
            let who = if places.len() == self.on.len() {
                sentence_start(&fleet.on(&places))
            } else {
                fleet.names(&places)
            };
            strong(who).then(plain(format!(": {answer}")))
        });
        let lines = bullets(lines).into_iter();
        let section = Section {
            look: Look::Panel,
            ..Section::new(
                &self.title,
                lines.map(|list| list.at(Detail::Brief)).collect(),
            )
        };
        Block::from(section).at(Detail::Brief)
    }
}
