//! What each machine answers where that is no count of verdicts: matrices, sweeps, disk space.

use super::Fleet;
use crate::cells::grouped;
use crate::constituents;
use crate::document::{Block, Detail, Look, Section, anchor, bullets, plain, strong};
use crate::format::capital;
use crate::run::answers;
use stowplan_analysis::{Analysis, ComparisonOutcome};
use stowplan_model::CellId;

/// What stands for an answer where not the same was asked as on the first machine.
const OTHERWISE: &str = "left out, because not the same was measured there";

/// Where a run's report has what stores take on disk.
const SPACE: &str = "space";

/// What one machine answers to one question.
struct Answer {
    place: usize,
    /// The question.
    title: String,
    text: String,
}

/// A section with a panel per question; nothing without questions.
pub(super) fn section(fleet: &Fleet<'_>) -> Option<Block> {
    let places = 0..fleet.machines().len();
    let questions = grouped(places.flat_map(|place| of_one(fleet, place)));
    let panels = questions.iter().map(|(_, answers)| panel(fleet, answers));
    let title = format!("What each {} answers", fleet.noun());
    let section = Section::new(title, panels.collect()).named("answers");
    let section = section.in_contents("Answers of each");
    (!questions.is_empty()).then(|| Block::from(section).at(Detail::Answer))
}

/// What one machine answers to each question, by the name of its section in that machine's own
/// report.
fn of_one(fleet: &Fleet<'_>, place: usize) -> Vec<(String, Answer)> {
    let analysis = fleet.analyses[place];
    let asked = asked(analysis);
    let answer = |row: answers::Row| {
        let (_, cells) = asked.iter().find(|(target, _)| *target == row.target)?;
        let differs =
            differs(fleet, place, cells) || row.target == SPACE && lacks_a_store(fleet, analysis);
        let answer = Answer {
            place,
            title: row.title,
            text: if differs {
                OTHERWISE.to_owned()
            } else {
                row.answer
            },
        };
        Some((row.target, answer))
    };
    let rows = answers::by_size(analysis).into_iter();
    let rows = rows.chain(answers::space(analysis));
    rows.filter_map(answer).collect()
}

/// What is asked beside comparisons that stand for themselves, by the name of its section, and the
/// cells that its answer rests on.
fn asked(analysis: &Analysis) -> Vec<(String, Vec<&CellId>)> {
    let matrices = analysis.matrices.iter().map(|matrix| {
        let comparisons = constituents::of_matrix(analysis, matrix);
        (anchor("matrix", &matrix.id), cells_of(comparisons))
    });
    let sweeps = analysis.sweeps.iter().map(|outcome| {
        let comparisons = constituents::of_sweep(analysis, outcome);
        (anchor("sweep", &outcome.sweep.id), cells_of(comparisons))
    });
    let of_space = analysis.run.plan.study.space.iter();
    let space = (
        SPACE.to_owned(),
        of_space.map(|asked| &asked.cell).collect(),
    );
    matrices.chain(sweeps).chain([space]).collect()
}

fn cells_of(comparisons: Vec<&ComparisonOutcome>) -> Vec<&CellId> {
    let cells = comparisons.into_iter().flat_map(|c| &c.cells);
    cells.map(|cell| &cell.cell.id).collect()
}

/// Whether one of these cells was left out there.
fn differs(fleet: &Fleet<'_>, place: usize, cells: &[&CellId]) -> bool {
    let mut differences = fleet.outcome.differences.iter();
    differences.any(|found| found.machine == place && cells.contains(&&found.cell))
}

/// Whether a store that the study asks about was looked at elsewhere only.
fn lacks_a_store(fleet: &Fleet<'_>, analysis: &Analysis) -> bool {
    let known: Vec<&str> = stores_asked(analysis).collect();
    let mut all = fleet.analyses.iter().flat_map(|other| stores_asked(other));
    all.any(|store| !known.contains(&store))
}

fn stores_asked(analysis: &Analysis) -> impl Iterator<Item = &str> {
    let asked = &analysis.run.plan.study.space;
    let labels = analysis.space.iter().map(|row| row.label.as_str());
    labels.filter(|label| asked.iter().any(|asked| asked.label == *label))
}

/// Who says what: machines with the same answer together.
fn panel(fleet: &Fleet<'_>, answers: &[Answer]) -> Block {
    let all = 0..fleet.machines().len();
    let said = grouped(all.map(|place| {
        let answer = answers.iter().find(|answer| answer.place == place);
        (answer.map_or("no answer", |answer| &answer.text), place)
    }));
    let lines = said.into_iter().map(|(answer, places)| {
        let who = if places.len() == fleet.machines().len() {
            capital(&fleet.on(&places))
        } else {
            fleet.names(&places)
        };
        strong(who).then(plain(format!(": {answer}")))
    });
    let lines = bullets(lines).map(|list| list.at(Detail::Answer));
    let title = answers.first().map_or("", |answer| &answer.title);
    let section = Section {
        look: Look::Panel,
        ..Section::new(title, lines.into_iter().collect())
    };
    Block::from(section).at(Detail::Answer)
}
