//! What turns an order: the cells of a pair with every set of factors of a size switched, as
//! comparisons like any other.

use super::{
    PlanOptions, Question, build_cell, check_measure, check_question, check_transactions, expand,
    objection,
};
use crate::HarnessError;
use crate::drivers::Drivers;
use std::collections::BTreeMap;
use std::path::Path;
use stowplan_model::{
    Cell, CellId, CellSpec, Comparison, ComparisonSpec, Contrast, DatasetSpec, Extension,
    FactorSpec, Pair, Plan, Study, Try, Turn,
};

/// The most factors of a pair: every set of them may have to be measured.
pub const MOST_FACTORS: usize = 6;
/// Rounds before a try is looked at. Of ten rounds no interval misses in less than 2 of 1,024 cases, which is
/// too much where the rate of errors is divided among more than ten sets, however clear the ratio is.
const ROUNDS: u32 = 20;

/// What is to be turned of a pair, with the factors of the study that change anything of it. `number`
/// tells it from others, from 1.
///
/// # Errors
/// The study has no such comparison or cell, or Ctrl-C.
pub fn turn(
    study: &Study,
    pair: &Pair,
    number: usize,
    drivers: &Drivers,
) -> Result<Turn, HarnessError> {
    let sides = Sides::of(study, &pair.comparison, &pair.cell, &pair.reference)?;
    let mut turn = Turn {
        id: format!("turn-{number}"),
        comparison: pair.comparison.clone(),
        cell: pair.cell.clone(),
        reference: pair.reference.clone(),
        published: pair.published.clone(),
        factors: Vec::new(),
        left_out: BTreeMap::new(),
    };
    let factors = study.factors.iter();
    for factor in factors.filter(|factor| factor.is_of(&pair.comparison)) {
        match sides.changed_by(factor, study, drivers) {
            Err(HarnessError::Interrupted) => return Err(HarnessError::Interrupted),
            Ok(false) => {}
            Ok(true) if turn.factors.len() == MOST_FACTORS => {
                let why = format!("more than {MOST_FACTORS} factors are not searched");
                turn.left_out.insert(factor.id.clone(), why);
            }
            Ok(true) => turn.factors.push(factor.id.clone()),
            Err(why) => {
                turn.left_out.insert(factor.id.clone(), why.to_string());
            }
        }
    }
    sides.leave_out_sets(&mut turn, study, drivers)?;
    drivers.hang_up();
    Ok(turn)
}

/// What measuring a pair with each set of so many factors adds to a plan; with none, and those of one
/// factor besides, where `size` is 1. Nothing where there is no such set that could be measured.
///
/// # Errors
/// Something of the study cannot be measured as it is written.
pub fn tries(
    study: &Study,
    turn: &Turn,
    size: usize,
    drivers: &Drivers,
) -> Result<Extension, HarnessError> {
    let sides = Sides::of(study, &turn.comparison, &turn.cell, &turn.reference)?;
    let factors = factors_of(turn, study);
    let mut groups: Vec<Group> = Vec::new();
    let none = (size == 1).then(Vec::new);
    for set in none.into_iter().chain(sets(&factors, size)) {
        let Some(tried) = sides.with(&set).filter(|t| !turn.leaves_out(&t.factors)) else {
            continue;
        };
        let rounds = match sides.built(&set, study, drivers) {
            Ok([_, reference]) => Rounds::of(&reference),
            Err(HarnessError::Interrupted) => return Err(HarnessError::Interrupted),
            // It could be measured when the search was begun, by somebody else.
            Err(_) => continue,
        };
        let at = groups.iter().position(|group| group.rounds == rounds);
        let at = at.unwrap_or_else(|| {
            groups.push(Group::new(rounds));
            groups.len() - 1
        });
        groups[at].add(tried);
    }
    let mut more = Extension::default();
    for (number, group) in (1..).zip(groups) {
        let id = format!("{}-{size}-{number}", turn.id);
        more.tries.extend(group.tries(turn, &id));
        let comparison = group.comparison(study, sides.spec, &id, drivers)?;
        more.comparisons.extend(comparison);
    }
    let datasets = study.datasets.iter();
    let used = |name: &String| more.comparisons.iter().any(|c| c.cells[0].dataset == *name);
    let datasets = datasets.filter(|(name, _)| used(name));
    let datasets: BTreeMap<String, DatasetSpec> = datasets
        .map(|(name, spec)| (name.clone(), spec.clone()))
        .collect();
    more.datasets = datasets;
    drivers.hang_up();
    Ok(more)
}

/// The factors that are searched.
fn factors_of<'s>(turn: &Turn, study: &'s Study) -> Vec<&'s FactorSpec> {
    let ids = turn.factors.iter();
    ids.filter_map(|id| study.factors.iter().find(|factor| factor.id == *id))
        .collect()
}

/// Every set of so many of these, in their order.
fn sets<'f>(factors: &[&'f FactorSpec], size: usize) -> Vec<Vec<&'f FactorSpec>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, first) in factors.iter().enumerate() {
        for mut rest in sets(&factors[at + 1..], size - 1) {
            rest.insert(0, first);
            all.push(rest);
        }
    }
    all
}

/// The two cells of a pair as the study has them, each with its name there.
struct Sides<'a> {
    spec: &'a ComparisonSpec,
    cell: (&'a str, &'a CellSpec),
    reference: (&'a str, &'a CellSpec),
}

impl<'a> Sides<'a> {
    fn of(
        study: &'a Study,
        comparison: &str,
        cell: &'a str,
        reference: &'a str,
    ) -> Result<Self, HarnessError> {
        let mut specs = study.comparisons.iter();
        let spec = specs.find(|spec| spec.id == comparison);
        let sides = spec.and_then(|spec| {
            Some(Self {
                spec,
                cell: (cell, spec.cells.get(cell)?),
                reference: (reference, spec.cells.get(reference)?),
            })
        });
        sides.ok_or_else(|| {
            HarnessError::invalid(format!(
                "the study has no comparison '{comparison}' with cells '{cell}' and '{reference}'"
            ))
        })
    }

    /// Whether a factor makes another cell of either, by settings and workload as they are in full.
    fn changed_by(
        &self,
        factor: &FactorSpec,
        study: &Study,
        drivers: &Drivers,
    ) -> Result<bool, HarnessError> {
        let before = self.built(&[], study, drivers)?;
        let after = self.built(&[factor], study, drivers)?;
        let mut both = before.iter().zip(&after);
        Ok(both.any(|(a, b)| (&a.settings, &a.workload) != (&b.settings, &b.workload)))
    }

    /// Both with these factors as they would be measured, in one comparison.
    ///
    /// # Errors
    /// One of them cannot be measured here, or not beside the other.
    fn built(
        &self,
        set: &[&FactorSpec],
        study: &Study,
        drivers: &Drivers,
    ) -> Result<[Cell; 2], HarnessError> {
        let build = |(key, spec): (&str, &CellSpec)| {
            let with = |cell: CellSpec, factor: &&FactorSpec| factor.applied(&cell);
            let spec = set.iter().fold(spec.clone(), with);
            let cell = build_cell(study, self.spec, key, &spec, drivers)?;
            match objection(&cell, study, &PlanOptions::default()) {
                Some(why) => Err(HarnessError::invalid(why)),
                None => Ok(cell),
            }
        };
        let both = [build(self.cell)?, build(self.reference)?];
        let [cell, reference] = &both;
        let cell = std::slice::from_ref(cell);
        check_question(self.spec, cell, reference)?;
        check_transactions(self.spec, cell, reference)?;
        check_measure(study, self.spec, cell, reference)?;
        Ok(both)
    }

    /// Adds to what is left out of a search the smallest sets whose factors can be switched one by one and
    /// not together, with the reason.
    ///
    /// # Errors
    /// Ctrl-C.
    fn leave_out_sets(
        &self,
        turn: &mut Turn,
        study: &Study,
        drivers: &Drivers,
    ) -> Result<(), HarnessError> {
        let factors = factors_of(turn, study);
        for size in 2..=factors.len() {
            for set in sets(&factors, size) {
                let Some(tried) = self.with(&set).filter(|t| !turn.leaves_out(&t.factors)) else {
                    continue;
                };
                match self.built(&set, study, drivers) {
                    Ok(_) => {}
                    Err(HarnessError::Interrupted) => return Err(HarnessError::Interrupted),
                    Err(why) => {
                        turn.left_out
                            .insert(tried.factors.join(Turn::AND), why.to_string());
                    }
                }
            }
        }
        Ok(())
    }

    /// Both with a set of factors; nothing where two of them exclude each other.
    fn with(&self, set: &[&FactorSpec]) -> Option<Tried> {
        let all = |cell: &CellSpec| -> Option<(CellSpec, Vec<String>)> {
            let mut changed = cell.clone();
            let mut by = Vec::new();
            for factor in set {
                let next = factor.applied(&changed);
                if next != changed {
                    by.push(factor.id.clone());
                }
                changed = next;
            }
            let holds = |factor: &&FactorSpec| factor.applied(&changed) == changed;
            set.iter().all(holds).then_some((changed, by))
        };
        Some(Tried {
            factors: set.iter().map(|factor| factor.id.clone()).collect(),
            cell: Named::of("cell", all(self.cell.1)?),
            reference: Named::of("reference", all(self.reference.1)?),
        })
    }
}

/// A pair with some factors.
struct Tried {
    factors: Vec<String>,
    cell: Named,
    reference: Named,
}

/// A cell with its name within a comparison.
struct Named {
    key: String,
    spec: CellSpec,
}

impl Named {
    /// Called by the factors that changed it.
    fn of(side: &str, (mut spec, by): (CellSpec, Vec<String>)) -> Self {
        let key = std::iter::once(side).chain(by.iter().map(String::as_str));
        let key: Vec<&str> = key.collect();
        let label = spec.label.take().unwrap_or_else(|| spec.store.to_string());
        let label = std::iter::once(label).chain(by.iter().cloned());
        spec.label = Some(label.collect::<Vec<_>>().join(" + "));
        // What was published is of the cell as it was.
        spec.published_seconds = None;
        spec.published_error_seconds = None;
        Self {
            key: key.join("_"),
            spec,
        }
    }
}

/// What tries have in common that are measured in the same rounds.
#[derive(PartialEq)]
struct Rounds {
    question: Question,
    /// How many operations a block has, where the workload says so.
    operations: Option<u32>,
}

impl Rounds {
    fn of(cell: &Cell) -> Self {
        Self {
            question: Question::of(cell),
            operations: cell.workload.operations,
        }
    }
}

/// Tries that can be measured in the same rounds.
struct Group {
    rounds: Rounds,
    tried: Vec<Tried>,
}

impl Group {
    fn new(rounds: Rounds) -> Self {
        Self {
            rounds,
            tried: Vec::new(),
        }
    }

    fn add(&mut self, tried: Tried) {
        self.tried.push(tried);
    }

    fn tries(&self, turn: &Turn, id: &str) -> Vec<Try> {
        let cell = |named: &Named| CellId(format!("{id}/{}", named.key));
        let tries = self.tried.iter().map(|tried| Try {
            turn: turn.id.clone(),
            factors: tried.factors.clone(),
            cell: cell(&tried.cell),
            reference: cell(&tried.reference),
        });
        tries.collect()
    }

    /// All cells of the group in one comparison, each pair of which is a contrast.
    fn comparison(
        &self,
        study: &Study,
        spec: &ComparisonSpec,
        id: &str,
        drivers: &Drivers,
    ) -> Result<Option<Comparison>, HarnessError> {
        let Some(first) = self.tried.first() else {
            return Ok(None);
        };
        let cells = self.tried.iter();
        let cells = cells.flat_map(|tried| [&tried.cell, &tried.reference]);
        let cells = cells.map(|named| (named.key.clone(), named.spec.clone()));
        let factors = self.tried.iter().map(|tried| tried.factors.len()).max();
        let switched = match factors {
            Some(0 | 1) | None => "one factor at a time".to_owned(),
            Some(number) => format!("{number} factors at a time"),
        };
        let spec = ComparisonSpec {
            id: id.to_owned(),
            title: format!("{}, {switched}", spec.title),
            baseline: first.reference.key.clone(),
            max_rounds: spec.max_rounds.map(|rounds| rounds.max(ROUNDS)),
            published_label: None,
            cells: cells.collect(),
            ..spec.clone()
        };
        let expanded = expand(study, &spec, &PlanOptions::default(), drivers)?;
        Ok(expanded.map(|comparison| Comparison {
            contrasts: self.contrasts(&comparison),
            first_look: Some(ROUNDS),
            ..comparison
        }))
    }

    /// The pairs both cells of which can be measured.
    fn contrasts(&self, comparison: &Comparison) -> Vec<Contrast> {
        let id = |named: &Named| {
            let id = CellId(format!("{}/{}", comparison.id, named.key));
            comparison.cell(&id).map(|cell| cell.id.clone())
        };
        let pairs = self.tried.iter().filter_map(|tried| {
            Some(Contrast {
                cell: id(&tried.cell)?,
                reference: id(&tried.reference)?,
            })
        });
        pairs.collect()
    }
}

/// Refuses what needs more room than there is at a place; `keep` as for [`super::needs`].
///
/// # Errors
/// Too little space; the message says how much is needed and how much there is.
pub fn require_room(
    plan: &Plan,
    more: &Extension,
    keep: bool,
    place: &Path,
) -> Result<(), HarnessError> {
    let following = Plan {
        datasets: more.datasets.clone(),
        comparisons: more.comparisons.clone(),
        ..plan.clone()
    };
    super::require_space(&following, keep, place).map_err(|lack| match lack.is_refusal() {
        true => lack,
        false => HarnessError::invalid(format!(
            "no room for what is to be switched next: {lack}; what it needs is an estimate, and --resume with \
             --ignore-space goes on all the same"
        )),
    })
}
