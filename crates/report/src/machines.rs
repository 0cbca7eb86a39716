//! Several results of one study, from several machines: on how many of them each finding holds,
//! what the machines are, and the study's charts with a bar per machine.
//!
//! Everything is counted or set side by side by [`stowplan_analysis::machines`]; no ratio here is
//! of more than one machine, and where a range of ratios is given it says so.

mod export;
mod markdown;

use crate::document::Scale;
use crate::overview;
use crate::{format, html, parts, quantity, terminal, wording};
use std::collections::{BTreeMap, BTreeSet};
use stowplan_analysis::{
    Analysis, CellAcross, ChartAcross, ChartGroup, ComparisonAcross, Machine, MachinesError,
    MachinesOutcome, OnMachine, SpaceRow, Verdict,
};
use stowplan_model::{CellId, Environment, Role, format_bytes};

/// Several results of one study, ready to be written.
#[derive(Debug)]
pub struct Report<'a> {
    pub(crate) outcome: MachinesOutcome,
    pub(crate) analyses: Vec<&'a Analysis>,
}

impl<'a> Report<'a> {
    /// Sets the results side by side.
    ///
    /// # Errors
    /// They are not several results of one study at one scale.
    pub fn of(analyses: &[&'a Analysis]) -> Result<Self, MachinesError> {
        let outcome =
            stowplan_analysis::machines(&analyses.iter().map(|a| &**a).collect::<Vec<_>>())?;
        let analyses = analyses.to_vec();
        Ok(Self { outcome, analyses })
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

    /// The report for a terminal.
    #[must_use]
    pub fn terminal(&self, options: &terminal::TerminalOptions) -> String {
        terminal::machines::render(self, options)
    }

    /// Only the findings, for a terminal.
    #[must_use]
    pub fn brief(&self, options: &terminal::TerminalOptions) -> String {
        terminal::machines::brief(self, options)
    }

    /// The report as one Markdown document.
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::render(self)
    }

    /// A row per cell and machine: the columns of the CSV of one result, and `machine`.
    #[must_use]
    pub fn csv(&self) -> String {
        export::csv(self)
    }

    /// What was set side by side, as one JSON document.
    ///
    /// # Errors
    /// None that is known: every key is a text.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        export::json(self)
    }

    /// The report as one HTML document that needs no network. `raw` are the texts of the results,
    /// in the order given; they are embedded unless they are too large together.
    #[must_use]
    pub fn html(&self, raw: &[&str]) -> String {
        html::machines::render(self, raw)
    }

    /// How results are counted: as machines, if no two are of the same one.
    pub(crate) fn noun(&self) -> &'static str {
        if self.outcome.distinct == self.outcome.machines.len() {
            "machine"
        } else {
            "result"
        }
    }

    /// `4 machines`, `3 results of 2 machines`
    pub(crate) fn count(&self) -> String {
        let (results, distinct) = (self.outcome.machines.len(), self.outcome.distinct);
        let s = |count: usize| if count == 1 { "" } else { "s" };
        if results == distinct {
            return format!("{results} machines");
        }
        format!("{results} results of {distinct} machine{}", s(distinct))
    }

    /// What qualifies everything: runs that were cut short, zones that differ, cells left out.
    pub(crate) fn notes(&self) -> Vec<String> {
        let machines = &self.outcome.machines;
        let mut notes = Vec::new();
        for (machine, analysis) in machines.iter().zip(&self.analyses) {
            notes.extend(wording::ending(analysis).map(|end| format!("{}: {end}", machine.label)));
        }
        let zones: Vec<f64> = machines.iter().map(|machine| machine.equivalence).collect();
        if zones
            .iter()
            .any(|zone| zone.to_bits() != zones[0].to_bits())
        {
            let zones = machines.iter();
            let zones = zones.map(|m| format!("{} on {}", format::percent(m.equivalence), m.label));
            notes.push(format!(
                "Verdicts are by different equivalence zones: {}.",
                wording::list(&zones.collect::<Vec<_>>())
            ));
        }
        notes.extend(self.chosen_baselines());
        notes.extend(self.left_out());
        notes
    }

    /// That the baseline is not the planned one: what that means, once, and where.
    fn chosen_baselines(&self) -> Vec<String> {
        let mut notes: Vec<(&str, Vec<usize>)> = Vec::new();
        for (place, analysis) in self.analyses.iter().enumerate() {
            let warnings = analysis.warnings.iter();
            let mut chosen = warnings.filter(|w| w.message.starts_with(REBASED));
            let Some(warning) = chosen.next() else {
                continue;
            };
            let message = warning.message.as_str();
            match notes.iter_mut().find(|(known, _)| *known == message) {
                Some((_, places)) => places.push(place),
                None => notes.push((message, vec![place])),
            }
        }
        let all = self.analyses.len();
        let notes = notes.into_iter().map(|(message, places)| {
            if places.len() == all {
                format!("{message}.")
            } else {
                format!("{}: {message}.", self.names(&places))
            }
        });
        notes.collect()
    }

    /// What was not the same on every machine, a sentence per machine and kind of difference.
    fn left_out(&self) -> Vec<String> {
        let mut groups: BTreeMap<(usize, &str), Vec<&CellId>> = BTreeMap::new();
        for found in &self.outcome.differences {
            let group = groups.entry((found.machine, found.what)).or_default();
            group.push(&found.cell);
        }
        let sentences = groups.into_iter().filter_map(|((place, what), cells)| {
            let label = &self.outcome.machines.get(place)?.label;
            let mut names: Vec<String> = cells.iter().take(4).map(|id| id.0.clone()).collect();
            if cells.len() > names.len() {
                names.push(format!("{} more", cells.len() - names.len()));
            }
            let are = match what {
                "settings" => "settings are not those",
                "store" => "store is not that",
                "workload" => "workload is not that",
                _ => "dataset is not that",
            };
            Some(format!(
                "Left out on {label}, where the {are} of the first result: {}.",
                wording::list(&names)
            ))
        });
        sentences.collect()
    }

    /// The findings of every comparison that stands for itself.
    pub(crate) fn findings(&self) -> Vec<Findings> {
        let comparisons = self.outcome.comparisons.iter();
        comparisons
            .filter(|comparison| !comparison.part)
            .map(|comparison| self.findings_of(comparison))
            .collect()
    }

    fn findings_of(&self, comparison: &ComparisonAcross) -> Findings {
        if comparison.reliable.iter().all(Option::is_none) {
            return self.unmeasured(comparison);
        }
        let rivals = comparison.cells.iter();
        let rivals = rivals.filter(|cell| cell.role == Role::Candidate);
        let statements = rivals.map(|cell| self.statement(comparison, cell));
        let statements: Vec<Statement> = statements.collect();
        let fastest = self.fastest(comparison);
        Findings {
            id: comparison.id.clone(),
            title: comparison.title.clone(),
            headline: self.headline(comparison, fastest.as_ref(), &statements),
            fastest: fastest.map(|fastest| fastest.text),
            statements,
            noise: self.noise(comparison),
        }
    }

    /// Of a comparison that no machine came to.
    fn unmeasured(&self, comparison: &ComparisonAcross) -> Findings {
        let text = format!("Not measured on any {}.", self.noun());
        Findings {
            id: comparison.id.clone(),
            title: comparison.title.clone(),
            headline: Statement {
                verdict: Verdict::NoData,
                text: text.clone(),
                holds: 0,
            },
            fastest: None,
            statements: vec![Statement {
                verdict: Verdict::NoData,
                text,
                holds: 0,
            }],
            noise: "Noise is unknown.".to_owned(),
        }
    }

    /// What to know first: which beats all, else what is faster on most machines.
    fn headline(
        &self,
        comparison: &ComparisonAcross,
        fastest: Option<&Statement>,
        statements: &[Statement],
    ) -> Statement {
        let faster = statements.iter().rev();
        let faster = faster.filter(|statement| statement.verdict == Verdict::Faster);
        let best = fastest.or_else(|| faster.max_by_key(|statement| statement.holds));
        best.cloned().unwrap_or_else(|| Statement {
            verdict: Verdict::Unresolved,
            text: format!(
                "Nothing was shown to be faster than {} on any {}.",
                wording::quoted(&comparison.baseline_label),
                self.noun()
            ),
            holds: 0,
        })
    }

    /// `Beats each of the others: A on 3 of 4 machines, B on host-d; no single one on host-e; not
    /// the same rivals on host-f.`
    fn fastest(&self, comparison: &ComparisonAcross) -> Option<Statement> {
        let mut winners: Vec<(&CellId, Vec<usize>)> = Vec::new();
        let mut without: Vec<usize> = Vec::new();
        let mut unlike: Vec<usize> = Vec::new();
        for (place, fastest) in comparison.fastest.iter().enumerate() {
            let Some(cell) = fastest else {
                let measured = comparison.reliable.get(place).copied().flatten();
                match comparison.complete.get(place) {
                    Some(false) => unlike.extend(measured.map(|_| place)),
                    _ => without.extend(measured.map(|_| place)),
                }
                continue;
            };
            match winners.iter_mut().find(|(known, _)| *known == cell) {
                Some((_, places)) => places.push(place),
                None => winners.push((cell, vec![place])),
            }
        }
        winners.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
        let label = |id: &CellId| {
            let cell = comparison.cells.iter().find(|cell| cell.cell == *id);
            cell.map_or_else(|| id.0.clone(), |cell| wording::quoted(&cell.label))
        };
        let (_, places) = winners.first()?;
        let holds = places.len();
        let named = winners.iter();
        let named = named.map(|(cell, places)| format!("{} {}", label(cell), self.on(places)));
        let rest = [("no single one", without), ("not the same rivals", unlike)];
        let rest = rest.iter().filter(|(_, places)| !places.is_empty());
        let none: String = rest
            .map(|(text, places)| format!("; {text} {}", self.on_names(places)))
            .collect();
        let named = wording::list(&named.collect::<Vec<_>>());
        Some(Statement {
            verdict: Verdict::Faster,
            text: format!("Beats each of the others: {named}{none}."),
            holds,
        })
    }

    /// One cell against the baseline, on all machines.
    fn statement(&self, comparison: &ComparisonAcross, cell: &CellAcross) -> Statement {
        let base = wording::quoted(&comparison.baseline_label);
        let label = wording::quoted(&cell.label);
        let claims = [Verdict::Faster, Verdict::Slower, Verdict::Equivalent];
        // Of as many, the first: `max_by_key` would take the last.
        let lead = claims
            .into_iter()
            .rev()
            .max_by_key(|verdict| cell.with(*verdict).len());
        let lead = lead.filter(|verdict| !cell.with(*verdict).is_empty());
        let rest: Vec<String> = ORDER
            .into_iter()
            .filter(|verdict| Some(*verdict) != lead)
            .filter_map(|verdict| {
                let places = cell.with(verdict);
                (!places.is_empty()).then(|| {
                    let word = word_of(verdict);
                    let factor = factor(cell, verdict, &places);
                    format!("{word} {}{factor}", self.on_names(&places))
                })
            })
            .collect();
        let promise = if cell.same_durability {
            String::new()
        } else {
            self.promises(comparison, cell)
        };
        let Some(lead) = lead else {
            let noun = self.noun();
            return Statement {
                verdict: Verdict::Unresolved,
                text: format!(
                    "No {noun} says whether {label} is faster than {base}: {}.{promise}",
                    rest.join("; ")
                ),
                holds: 0,
            };
        };
        let places = cell.with(lead);
        let relation = match lead {
            Verdict::Faster => "faster than",
            Verdict::Slower => "slower than",
            _ => "equivalent to",
        };
        let on = self.on(&places);
        let rest = rest.iter().map(|text| format!("; {text}"));
        Statement {
            verdict: lead,
            text: format!(
                "{} {label} is {relation} {base}{}{}.{promise}",
                sentence_start(&on),
                factor(cell, lead, &places),
                rest.collect::<String>()
            ),
            holds: places.len(),
        }
    }

    /// ` It promises less: none against durable.`
    fn promises(&self, comparison: &ComparisonAcross, cell: &CellAcross) -> String {
        let find = |id: &CellId| {
            let mut comparisons = self.analyses.iter().flat_map(|a| &a.comparisons);
            comparisons.find_map(|outcome| outcome.cell(id))
        };
        let (Some(cell), Some(baseline)) = (find(&cell.cell), find(&comparison.baseline)) else {
            return String::new();
        };
        let difference = wording::durability_difference(cell, baseline).unwrap_or_default();
        let promises = difference.split_once("promises");
        promises.map_or_else(String::new, |(_, what)| format!(" It promises{what}."))
    }

    /// What the identical cells showed, over all machines.
    fn noise(&self, comparison: &ComparisonAcross) -> String {
        let unreliable = comparison.reliable.iter().enumerate();
        let unreliable: Vec<usize> = unreliable
            .filter(|(_, reliable)| **reliable == Some(false))
            .map(|(place, _)| place)
            .collect();
        // Of the machines that the statements are of.
        let counted = self.analyses.iter().zip(&comparison.reliable);
        let counted = counted.filter(|(_, reliable)| reliable.is_some());
        let outcomes = counted.flat_map(|(analysis, _)| &analysis.comparisons);
        let outcomes: Vec<_> = outcomes.filter(|o| o.id == comparison.id).collect();
        let differed = parts::noise(&outcomes).map_or_else(
            || "Noise is unknown: no control has rounds enough".to_owned(),
            |noise| format!("Two identical cells differed by {noise}"),
        );
        match unreliable.as_slice() {
            [] => format!("{differed}."),
            places => format!("{differed}; nothing is claimed {}.", self.on_names(places)),
        }
    }

    /// `on all 4 machines`, `on 3 of 4 machines`, `only on host-a`
    fn on(&self, places: &[usize]) -> String {
        let all = self.outcome.machines.len();
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
        if places.len() > NAMED || places.len() == self.outcome.machines.len() {
            return self.on(places);
        }
        format!("on {}", self.names(places))
    }

    fn names(&self, places: &[usize]) -> String {
        let labels = places.iter();
        let labels = labels.filter_map(|place| self.outcome.machines.get(*place));
        wording::list(
            &labels
                .map(|machine| machine.label.clone())
                .collect::<Vec<_>>(),
        )
    }

    /// What each machine answers where that is no count of verdicts: matrices, sweeps, disk space.
    pub(crate) fn answers(&self) -> Vec<Answers> {
        let mut found: Vec<Answers> = Vec::new();
        for (place, analysis) in self.analyses.iter().enumerate() {
            for row in overview::rows(analysis) {
                if row.target.starts_with("finding-") {
                    continue;
                }
                let known = found.iter().position(|known| known.target == row.target);
                let index = known.unwrap_or_else(|| {
                    found.push(Answers {
                        target: row.target.clone(),
                        title: row.title.clone(),
                        on: vec![None; self.analyses.len()],
                    });
                    found.len() - 1
                });
                let answer = if self.differs(place, &row.target) {
                    OTHERWISE.to_owned()
                } else {
                    row.answer
                };
                if let Some(slot) = found[index].on.get_mut(place) {
                    *slot = Some(answer);
                }
            }
        }
        found
    }

    /// Whether an answer rests on cells that were left out there, or, of disk space, on other
    /// stores than were looked at elsewhere.
    fn differs(&self, place: usize, target: &str) -> bool {
        let Some(analysis) = self.analyses.get(place) else {
            return false;
        };
        let cells = cells_of(analysis, target);
        let mut differences = self.outcome.differences.iter();
        if differences.any(|found| found.machine == place && cells.contains(&found.cell)) {
            return true;
        }
        let labels: BTreeSet<&str> = asked_space(analysis).map(|row| &*row.label).collect();
        let mut elsewhere = self.analyses.iter().flat_map(|a| asked_space(a));
        target == SPACE && elsewhere.any(|row| !labels.contains(&*row.label))
    }

    /// The machines as a table: heads, and a row each.
    pub(crate) fn machine_table(&self) -> Grid {
        let machines = &self.outcome.machines;
        let columns: [Fact; 9] = [
            ("machine", |machine| machine.label.clone()),
            ("CPU", |machine| processor(&machine.environment)),
            ("memory", |machine| {
                format_bytes(machine.environment.memory_bytes)
            }),
            ("system", |machine| system(&machine.environment)),
            ("file system", |machine| file_system(&machine.environment)),
            ("device", |machine| device(&machine.environment)),
            ("stowplan", |machine| tool(&machine.environment)),
            ("run began", |machine| machine.started.clone()),
            ("warnings", warnings),
        ];
        Grid {
            heads: columns
                .iter()
                .map(|(title, _)| Head::text(*title))
                .collect(),
            rows: machines
                .iter()
                .map(|machine| {
                    let fields = columns.iter();
                    fields.map(|(_, make)| Field::text(make(machine))).collect()
                })
                .collect(),
        }
        .without_empty_columns()
    }

    /// Cells by machines: the time of the baseline, the ratios of the others.
    pub(crate) fn comparison_grid(&self, comparison: &ComparisonAcross) -> Grid {
        let mut heads = vec![Head::text("cell")];
        heads.extend(self.outcome.machines.iter().map(|machine| Head {
            title: machine.label.clone(),
            numeric: true,
        }));
        let rows = comparison.cells.iter().map(|cell| {
            let mut fields = vec![Field::text(row_label(comparison, cell))];
            let on = cell.on.iter();
            fields.extend(on.map(|found| Field {
                text: found_text(cell.role, found),
                sort: found.estimate.map(|estimate| estimate.ratio),
            }));
            fields
        });
        Grid {
            heads,
            rows: rows.collect(),
        }
    }

    /// What a machine is, in short, for the bars: `AMD EPYC 9B14, 2 CPUs, Debian 12, ext4`.
    pub(crate) fn short(machine: &Machine) -> String {
        let environment = &machine.environment;
        let kind = environment.file_system.kind.clone();
        let parts = [processor(environment), environment.os.clone(), kind];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(", ")
    }

    /// That nothing is claimed of some machines' bars, or that they were left out, if that is so.
    pub(crate) fn chart_note(&self, chart: &ChartAcross) -> Option<String> {
        let other = match chart.other_reference.as_slice() {
            [] => None,
            places => Some(format!(
                "Left out {}, where the ratios of this chart are not to {}.",
                self.on_names(places),
                wording::quoted(&chart.reference)
            )),
        };
        let notes: Vec<String> = other
            .into_iter()
            .chain(self.unreliable_bars(chart))
            .collect();
        (!notes.is_empty()).then(|| notes.join(" "))
    }

    fn unreliable_bars(&self, chart: &ChartAcross) -> Option<String> {
        let unreliable = |place: &usize| {
            let bars = chart
                .groups
                .iter()
                .filter_map(|group| group.on.get(*place)?.as_ref());
            bars.clone().next().is_some()
                && bars.into_iter().all(|b| b.verdict == Verdict::Unreliable)
        };
        let places: Vec<usize> = (0..self.outcome.machines.len())
            .filter(unreliable)
            .collect();
        (!places.is_empty()).then(|| {
            let on = self.on_names(&places);
            format!("Session unreliable {on}: those bars claim nothing.")
        })
    }

    /// The charts that have a bar of some machine.
    pub(crate) fn charts(&self) -> impl Iterator<Item = &ChartAcross> {
        let charts = self.outcome.charts.iter();
        charts.filter(|chart| {
            chart
                .groups
                .iter()
                .any(|g| g.on.iter().any(Option::is_some))
        })
    }
}

/// How the warning of another baseline begins: [`stowplan_analysis::rebase`].
const REBASED: &str = "The baseline was chosen after the run: ";

/// What stands for an answer to something else than the first machine was asked.
const OTHERWISE: &str = "left out, because not the same was measured there";

/// The target of the row of disk space: [`overview::rows`].
const SPACE: &str = "space";

/// The cells that an answer rests on.
fn cells_of<'a>(analysis: &'a Analysis, target: &str) -> BTreeSet<&'a CellId> {
    if target == SPACE {
        let asked = &analysis.run.plan.study.space;
        let named = |cell: &&CellId| asked.iter().any(|asked| asked.cell == **cell);
        let cells = analysis.comparisons.iter().flat_map(|c| &c.cells);
        return cells.map(|cell| &cell.cell.id).filter(named).collect();
    }
    let matrices = analysis.matrices.iter();
    let matrices = matrices.filter(|m| target.strip_prefix("matrix-") == Some(&*m.id));
    let sweeps = analysis.sweeps.iter();
    let sweeps = sweeps.filter(|s| target.strip_prefix("sweep-") == Some(&*s.sweep.id));
    let parts = matrices
        .flat_map(|matrix| parts::of_matrix(analysis, matrix))
        .chain(sweeps.flat_map(|sweep| parts::of_sweep(analysis, sweep)));
    let cells = parts.flat_map(|comparison| &comparison.cells);
    cells.map(|cell| &cell.cell.id).collect()
}

/// What the stores that the study asks about take on disk.
fn asked_space(analysis: &Analysis) -> impl Iterator<Item = &SpaceRow> {
    let asked = &analysis.run.plan.study.space;
    let rows = analysis.space.iter();
    rows.filter(|row| asked.iter().any(|asked| asked.label == row.label))
}

/// What several machines found in one comparison, in sentences.
pub(crate) struct Findings {
    pub(crate) id: String,
    pub(crate) title: String,
    /// What to know first.
    pub(crate) headline: Statement,
    /// Which cell beats each of the others, and where.
    pub(crate) fastest: Option<String>,
    /// One per cell that is compared.
    pub(crate) statements: Vec<Statement>,
    /// What the identical cells showed.
    pub(crate) noise: String,
}

/// A finding in a sentence.
#[derive(Clone)]
pub(crate) struct Statement {
    /// The verdict that most machines agree on.
    pub(crate) verdict: Verdict,
    pub(crate) text: String,
    /// On how many machines it holds.
    pub(crate) holds: usize,
}

/// What each machine answers to one question.
pub(crate) struct Answers {
    target: String,
    pub(crate) title: String,
    /// Of each machine; nothing where it has no answer.
    on: Vec<Option<String>>,
}

impl Answers {
    /// Who says what: machines with the same answer together.
    pub(crate) fn lines(&self, report: &Report<'_>) -> Vec<(String, String)> {
        let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
        for (place, answer) in self.on.iter().enumerate() {
            let answer = answer.as_deref().unwrap_or("no answer");
            match groups.iter_mut().find(|(known, _)| *known == answer) {
                Some((_, places)) => places.push(place),
                None => groups.push((answer, vec![place])),
            }
        }
        let all = self.on.len();
        let lines = groups.into_iter().map(|(answer, places)| {
            let who = if places.len() == all {
                sentence_start(&report.on(&places))
            } else {
                report.names(&places)
            };
            (who, answer.to_owned())
        });
        lines.collect()
    }
}

/// A table whose columns are named by what was measured.
pub(crate) struct Grid {
    pub(crate) heads: Vec<Head>,
    pub(crate) rows: Vec<Vec<Field>>,
}

/// The head of a column.
pub(crate) struct Head {
    pub(crate) title: String,
    pub(crate) numeric: bool,
}

impl Head {
    fn text(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            numeric: false,
        }
    }
}

/// One field, with the number to sort by.
pub(crate) struct Field {
    pub(crate) text: String,
    pub(crate) sort: Option<f64>,
}

impl Field {
    fn text(text: String) -> Self {
        Self { text, sort: None }
    }
}

impl Grid {
    fn without_empty_columns(mut self) -> Self {
        let filled: Vec<bool> = (0..self.heads.len())
            .map(|column| self.rows.iter().any(|row| !row[column].text.is_empty()))
            .collect();
        let mut keep = filled.iter();
        self.heads.retain(|_| keep.next() == Some(&true));
        for row in &mut self.rows {
            let mut keep = filled.iter();
            row.retain(|_| keep.next() == Some(&true));
        }
        self
    }
}

/// A column of the table of machines: its title, and how its field is made.
type Fact = (&'static str, fn(&Machine) -> String);

/// Verdicts in the order in which a sentence names them.
const ORDER: [Verdict; 7] = [
    Verdict::Faster,
    Verdict::Slower,
    Verdict::Equivalent,
    Verdict::SmallDifference,
    Verdict::Unresolved,
    Verdict::Unreliable,
    Verdict::NoData,
];

fn word_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::SmallDifference => "a small difference",
        Verdict::Unreliable => "session unreliable",
        other => wording::verdict(other),
    }
}

/// ` (1.41 to 2.10 times as fast)`: from the least to the most of the machines' own estimates.
fn factor(cell: &CellAcross, verdict: Verdict, places: &[usize]) -> String {
    let Some((low, high)) = cell.range(places) else {
        return String::new();
    };
    let (from, to, words) = match verdict {
        Verdict::Faster => (1.0 / high, 1.0 / low, "times as fast"),
        Verdict::Slower => (low, high, "times as long"),
        _ => return String::new(),
    };
    let (from, to) = (format::ratio(from), format::ratio(to));
    if from == to {
        return format!(" ({from} {words})");
    }
    format!(" ({from} to {to} {words})")
}

/// The text with a capital letter first.
fn sentence_start(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

/// A cell's label with its part in the comparison, and with its promise where promises differ: that
/// must stand beside the ratio.
pub(crate) fn row_label(comparison: &ComparisonAcross, cell: &CellAcross) -> String {
    let differ = comparison.cells.iter().any(|cell| !cell.same_durability);
    let promise = cell.durability.as_ref().filter(|_| differ);
    let promise = promise.map_or_else(String::new, |p| format!("; {}", quantity::class(p)));
    let says_floor = cell.label.to_lowercase().contains("floor");
    let part = match cell.role {
        Role::Baseline => " (baseline)",
        Role::Floor if !says_floor => " (floor)",
        _ => "",
    };
    format!("{}{part}{promise}", cell.label)
}

/// `0.476 [0.466, 0.487] faster`; of the baseline, its time.
fn found_text(role: Role, found: &OnMachine) -> String {
    if role == Role::Baseline {
        let time = found.time_ns.map(|time| format::time(time.estimate));
        return time.unwrap_or_else(|| wording::verdict(Verdict::NoData).to_owned());
    }
    let verdict = verdict_word(role, found.verdict);
    let Some(estimate) = found.estimate else {
        return verdict.to_owned();
    };
    format!(
        "{} {} {verdict}",
        format::ratio(estimate.ratio),
        format::interval(estimate.low, estimate.high)
    )
    .trim_end()
    .to_owned()
}

/// The verdict in a word; none of a floor, which no one could choose.
pub(crate) fn verdict_word(role: Role, verdict: Verdict) -> &'static str {
    match (role, verdict) {
        (Role::Floor, Verdict::NoData) => wording::verdict(verdict),
        (Role::Floor, _) => "",
        _ => wording::verdict(verdict),
    }
}

/// `AMD EPYC 9B14, 2 CPUs`
fn processor(environment: &Environment) -> String {
    let name = environment
        .cpu
        .as_ref()
        .unwrap_or(&environment.architecture);
    let s = if environment.cpus == 1 { "" } else { "s" };
    format!("{}, {} CPU{s}", short_name(name), environment.cpus)
}

/// The name of a processor without what says nothing.
fn short_name(name: &str) -> String {
    let plain = ["(R)", "(r)", "(TM)", "(tm)", "(C)"]
        .iter()
        .fold(name.to_owned(), |name, mark| name.replace(mark, ""));
    let words = plain.split_whitespace();
    let words: Vec<&str> = words
        .filter(|w| !["CPU", "Processor"].contains(w))
        .collect();
    words.join(" ")
}

fn system(environment: &Environment) -> String {
    let parts = [&environment.os, &environment.kernel];
    let parts: Vec<&str> = parts.into_iter().map(String::as_str).collect();
    let filled: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    filled.join(", ")
}

fn file_system(environment: &Environment) -> String {
    environment.file_system.kind.clone()
}

fn device(environment: &Environment) -> String {
    let Some(device) = &environment.device else {
        return String::new();
    };
    let kind = environment
        .device_kind()
        .filter(|_| device.rotational == Some(true));
    let parts = [Some(device.name.as_str()), device.model.as_deref(), kind];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    parts.join(", ")
}

fn tool(environment: &Environment) -> String {
    let version = &environment.tool_version;
    match environment.tool_commit.as_deref() {
        Some(commit) => format!(
            "{version} ({})",
            commit.chars().take(10).collect::<String>()
        ),
        None => version.clone(),
    }
}

/// How many warnings its own report has, and how many cells failed.
fn warnings(machine: &Machine) -> String {
    let s = |count: usize| if count == 1 { "" } else { "s" };
    match (machine.warnings, machine.failures) {
        (0, 0) => String::new(),
        (warnings, 0) => warnings.to_string(),
        (warnings, failures) => format!("{warnings}, {failures} failed cell{}", s(failures)),
    }
}

/// The axis below these cells of a chart and its published bars.
pub(crate) fn scale(chart: &ChartAcross, groups: &[ChartGroup]) -> Scale {
    let bars = || groups.iter().flat_map(|group| group.on.iter().flatten());
    let published = || chart.published.iter().map(|published| published.ratio);
    let values: Vec<f64> = bars()
        .map(|bar| bar.estimate.ratio)
        .chain(published())
        .collect();
    let ends = bars().flat_map(|bar| [bar.estimate.low, bar.estimate.high]);
    Scale::for_bars(&values, &ends.chain([1.0]).collect::<Vec<f64>>())
}
