//! `stowplan study --turn`: which factors turn an order that is not the published one. Decides what is
//! measured next; what turns it, the analysis says.

use crate::error::CliError;
use crate::screen;
use std::path::PathBuf;
use std::rc::Rc;
use stowplan_analysis::{Analysis, TurnOutcome, analyse, differs};
use stowplan_harness::HarnessError;
use stowplan_harness::drivers::Drivers;
use stowplan_harness::plan::{self, turning};
use stowplan_harness::runner::{Extender, RunOptions};
use stowplan_model::{Extension, Pair, Plan, Study, Turn, Turning, read_result, suggestion};

/// Searches set by set: one factor at a time, then two, until the order turns.
pub(crate) struct Searching {
    drivers: Rc<Drivers>,
    result: PathBuf,
    /// Where the data lies, and whether all of it stays.
    work: PathBuf,
    keep: bool,
    ignore_space: bool,
}

impl Searching {
    /// What follows a run; `ignore_space`: also where there is too little room for it.
    pub(crate) fn new(run: &RunOptions, ignore_space: bool) -> Self {
        Self {
            drivers: Rc::clone(&run.drivers),
            result: run.result.clone(),
            work: run.work.clone(),
            keep: run.keep,
            ignore_space,
        }
    }

    fn analysis(&self) -> Result<Analysis, HarnessError> {
        let bytes = std::fs::read(&self.result);
        let bytes = bytes.map_err(HarnessError::io("read result", &self.result))?;
        let (records, _) = read_result(&bytes);
        analyse(&records, None)
            .map_err(|error| HarnessError::invalid(format!("{}: {error}", self.result.display())))
    }

    /// The pairs whose order is not the published one, or that was asked for, with each factor by itself.
    fn begin(&self, plan: &Plan, asked: Option<&str>) -> Result<Extension, HarnessError> {
        let analysis = self.analysis()?;
        let study = &plan.study;
        let mut more = Extension::default();
        let pairs = pairs(study, asked);
        let single = asked.is_some_and(|asked| asked.contains('/'));
        let chosen = pairs
            .iter()
            .filter(|pair| single || differs(pair, &analysis.comparisons));
        for (number, pair) in (1..).zip(chosen) {
            let turn = turning::turn(study, pair, number, &self.drivers)?;
            add(&mut more, turning::tries(study, &turn, 1, &self.drivers)?);
            more.turns.push(turn);
        }
        Ok(more)
    }

    /// The next larger sets of factors, where the smaller ones do not turn it.
    fn go_on(&self, plan: &Plan) -> Result<Extension, HarnessError> {
        let mut more = Extension::default();
        for outcome in &self.analysis()?.turns {
            let Some(next) = outcome.next_size() else {
                continue;
            };
            // What cannot be measured has no outcome, and is not tried again.
            let next = next.max(largest_tried(plan, outcome) + 1);
            for size in next..=outcome.turn.factors.len() {
                let tries = turning::tries(&plan.study, &outcome.turn, size, &self.drivers)?;
                let are_some = !tries.tries.is_empty();
                add(&mut more, tries);
                // Of factors that exclude each other, there may be no set of a size.
                if are_some {
                    break;
                }
            }
        }
        Ok(more)
    }
}

impl Extender for Searching {
    fn extend(&mut self, plan: &Plan) -> Result<Option<Extension>, HarnessError> {
        let turning = plan.turning.clone().unwrap_or_default();
        let more = match turning.turns.is_empty() {
            true => self.begin(plan, turning.asked.as_deref())?,
            false => self.go_on(plan)?,
        };
        if more.comparisons.is_empty() {
            return Ok(None);
        }
        if !self.ignore_space {
            turning::require_room(plan, &more, self.keep, &self.work)?;
        }
        Ok(Some(more))
    }

    fn expected(&self) -> usize {
        1
    }
}

/// What may follow the first measurement, at most: of each pair the factors, and what measuring every set
/// of them takes. In lines of at most `width` characters.
pub(crate) fn describe(plan: &Plan, drivers: &Drivers, width: usize) -> Result<String, CliError> {
    let study = &plan.study;
    let turning = plan.turning.clone().unwrap_or_default();
    let asked = turning.asked.as_deref();
    let which = match asked.is_some_and(|asked| asked.contains('/')) {
        true => "",
        false => "of each pair that is then shown to be in another order than was published, ",
    };
    let mut lines = screen::wrap(
        &format!(
            "What may follow: {which}both cells with each factor switched, then with sets of two and more, \
             until the order turns."
        ),
        width,
    );
    let mut seconds = 0.0;
    for (number, pair) in (1..).zip(&pairs(study, asked)) {
        let turn = turning::turn(study, pair, number, drivers)?;
        let (text, longest) = at_most(plan, &turn, drivers)?;
        seconds += longest;
        lines.extend(indented(&text, 2, width));
        for (set, why) in &turn.left_out {
            lines.extend(indented(&format!("not switched: {set}: {why}"), 4, width));
        }
    }
    let all = plan::duration(seconds);
    lines.extend(screen::wrap(
        &format!("All of it takes {all} at most."),
        width,
    ));
    Ok(lines.iter().map(|line| format!("{line}\n")).collect())
}

/// The factors of a pair, and what all of their sets come to; and how many seconds that are.
fn at_most(plan: &Plan, turn: &Turn, drivers: &Drivers) -> Result<(String, f64), CliError> {
    let (mut sets, mut cells, mut rounds, mut seconds) = (0, 0, 0, 0.0);
    for size in 1..=turn.factors.len() {
        let more = turning::tries(&plan.study, turn, size, drivers)?;
        let tried = more.tries.iter().filter(|tried| !tried.factors.is_empty());
        sets += tried.count();
        cells += more
            .comparisons
            .iter()
            .map(|c| c.cells.len())
            .sum::<usize>();
        let caps = more.comparisons.iter().map(|c| c.max_rounds);
        rounds = caps.chain([rounds]).max().unwrap_or(0);
        let following = Plan {
            datasets: more.datasets,
            comparisons: more.comparisons,
            ..plan.clone()
        };
        seconds += plan::needs(&following, false).most_seconds;
    }
    let Turn {
        comparison,
        cell,
        reference,
        factors,
        ..
    } = turn;
    let text = match &factors[..] {
        [] => format!("{comparison}/{cell} against {reference}: no factor changes either"),
        factors => format!(
            "{comparison}/{cell} against {reference}: {}: {sets} sets, {cells} cells, up to {rounds} rounds: \
             at most {}",
            factors.join(", "),
            plan::duration(seconds)
        ),
    };
    Ok((text, seconds))
}

/// A text in lines, of which those after the first are indented by two more.
fn indented(text: &str, by: usize, width: usize) -> Vec<String> {
    let lines = screen::wrap(text, width.saturating_sub(by + 2));
    let lines = lines.iter().enumerate();
    let lines = lines.map(|(at, line)| {
        let by = by + if at > 0 { 2 } else { 0 };
        format!("{}{line}", " ".repeat(by))
    });
    lines.collect()
}

/// How many factors the largest set has that is in the plan.
fn largest_tried(plan: &Plan, outcome: &TurnOutcome) -> usize {
    let tries = plan.turning.iter().flat_map(|turning| &turning.tries);
    let own = tries.filter(|tried| tried.turn == outcome.turn.id);
    own.map(|tried| tried.factors.len()).max().unwrap_or(0)
}

fn add(more: &mut Extension, also: Extension) {
    more.datasets.extend(also.datasets);
    more.comparisons.extend(also.comparisons);
    more.tries.extend(also.tries);
}

/// The pairs that are meant. A cell of which no order was published is set against the baseline.
fn pairs(study: &Study, asked: Option<&str>) -> Vec<Pair> {
    let published = study.published_pairs().into_iter();
    let Some(asked) = asked else {
        return published.collect();
    };
    let (comparison, cell) = asked.split_once('/').unwrap_or((asked, ""));
    let meant =
        |pair: &Pair| pair.comparison == comparison && (cell.is_empty() || pair.cell == cell);
    let mut found: Vec<Pair> = published.filter(meant).collect();
    if found.is_empty() && !cell.is_empty() {
        let mut specs = study.comparisons.iter();
        found.extend(specs.find(|spec| spec.id == comparison).map(|spec| Pair {
            comparison: comparison.to_owned(),
            cell: cell.to_owned(),
            reference: spec.baseline.clone(),
            published: None,
        }));
    }
    found
}

/// What is measured first, as `--only` has it: what was asked for, or all of which an order was published.
pub(crate) fn first(
    study: &Study,
    scale: Option<&str>,
    asked: Option<&str>,
) -> Result<Vec<String>, CliError> {
    if study.factors.is_empty() {
        return Err(CliError::Usage(format!(
            "--turn: study '{}' names no factors that could be switched; give it [[factor]] entries \
             (docs/turning.md)",
            study.name
        )));
    }
    if let Some(asked) = asked {
        check(study, asked)?;
    }
    let skipped = scale.and_then(|scale| study.scales.get(scale));
    let is_left = |pair: &&Pair| !skipped.is_some_and(|s| s.skip.contains(&pair.comparison));
    let pairs = pairs(study, asked);
    let single = asked.is_some_and(|asked| asked.contains('/'));
    let mut only: Vec<String> = pairs
        .iter()
        .filter(is_left)
        .flat_map(|pair| match single {
            true => [&pair.cell, &pair.reference].map(|key| format!("{}/{key}", pair.comparison)),
            false => [pair.comparison.clone(), pair.comparison.clone()],
        })
        .collect();
    only.sort();
    only.dedup();
    if only.is_empty() {
        let of = asked.map_or_else(
            || format!("study '{}'", study.name),
            |asked| format!("'{asked}'"),
        );
        return Err(CliError::Usage(format!(
            "--turn: no order of {of} was published; name a cell (--turn COMPARISON/CELL), and what turns \
             its order against the baseline is looked for"
        )));
    }
    Ok(only)
}

fn check(study: &Study, asked: &str) -> Result<(), CliError> {
    let cells = study.comparisons.iter().flat_map(|spec| {
        let keys = spec
            .cells
            .keys()
            .filter(|key| **key != spec.baseline || published(study, spec.id.as_str(), key));
        keys.map(|key| format!("{}/{key}", spec.id))
    });
    let known = study.comparisons.iter().map(|spec| spec.id.clone());
    let known: Vec<String> = known.chain(cells).collect();
    if known.iter().any(|name| name == asked) {
        return Ok(());
    }
    Err(CliError::Usage(format!(
        "--turn '{asked}' names no comparison, and no cell (COMPARISON/CELL) that could stand against its \
         baseline, of study '{}'{}",
        study.name,
        suggestion(asked, known.iter().map(String::as_str))
    )))
}

fn published(study: &Study, comparison: &str, cell: &str) -> bool {
    let mut pairs = study.published_pairs().into_iter();
    pairs.any(|pair| pair.comparison == comparison && pair.cell == cell)
}

/// The same plan, which looks for what turns an order.
pub(crate) fn asking(plan: Plan, asked: Option<&str>) -> Plan {
    Plan {
        turning: Some(Turning {
            asked: asked.map(str::to_owned),
            ..Turning::default()
        }),
        ..plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_article_on_files_only_files_are_to_be_turned() {
        let study = crate::studies::find("fasterthanfs", &[]).unwrap();
        let kind = |pair: &Pair, key: &str| {
            let mut specs = study.comparisons.iter();
            let spec = specs.find(|spec| spec.id == pair.comparison).unwrap();
            spec.cells[key].store.name().to_owned()
        };
        let pairs = pairs(&study, None);
        assert!(pairs.len() > 10, "{pairs:?}");
        let alike = |pair: &&Pair| kind(pair, &pair.cell) == kind(pair, &pair.reference);
        assert_eq!(pairs.iter().find(alike), None);
    }

    #[test]
    fn factors_that_cannot_be_switched_are_told_and_end_no_search() {
        let mut study = crate::studies::find("fasterthanfs", &[]).unwrap();
        study.factors.retain(|factor| {
            ["tx-each", "not-in-memory", "first-touch"].contains(&factor.id.as_str())
        });
        let drivers = crate::drivers::looked_at();
        let pair = &pairs(&study, Some("read/dir"))[0];
        let turn = turning::turn(&study, pair, 1, &drivers).unwrap();
        let told: Vec<(&String, &String)> = turn.left_out.iter().collect();
        assert_eq!(told.len(), 1, "the set of three says no more: {told:?}");
        assert_eq!(told[0].0, "not-in-memory + first-touch");
        assert!(told[0].1.contains("warm reads"), "{told:?}");
        let tried = |size| {
            let more = turning::tries(&study, &turn, size, &drivers).unwrap();
            more.tries.len()
        };
        assert_eq!([tried(2), tried(3)], [2, 0]);

        // Where the cell has it already, one factor is enough.
        let pair = Pair {
            reference: "blob-mmap-touch".to_owned(),
            ..pair.clone()
        };
        let turn = turning::turn(&study, &pair, 1, &drivers).unwrap();
        assert_eq!(turn.factors, ["tx-each", "first-touch"]);
        assert!(turn.left_out["not-in-memory"].contains("warm reads"));
    }
}
