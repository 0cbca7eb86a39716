//! What turns an order: the cells of a pair with every set of factors of a size switched, as
//! comparisons like any other.

use super::{PlanOptions, expand, resolve};
use crate::HarnessError;
use crate::drivers::Drivers;
use std::collections::BTreeMap;
use std::path::Path;
use stowplan_model::{
    CellId, CellSpec, Comparison, ComparisonSpec, Contrast, DatasetSpec, Extension, FactorSpec,
    Pair, Plan, Settings, Study, Try, Turn, Workload,
};

/// The most factors of a pair: every set of them may have to be measured.
pub const MOST_FACTORS: usize = 6;
/// What is decided among several tries needs more rounds than one ratio.
const ROUNDS: u32 = 20;

/// What is to be turned of a pair, with the factors of the study that change anything of it. `number`
/// tells it from others, from 1.
///
/// # Errors
/// The study has no such comparison or cell.
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
    Ok(turn)
}

/// What measuring a pair with each set of so many factors adds to a plan; with none, and those of one
/// factor besides, where `size` is 1. Nothing where there is no such set.
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
    let factors: Vec<&FactorSpec> = turn
        .factors
        .iter()
        .filter_map(|id| study.factors.iter().find(|factor| factor.id == *id))
        .collect();
    let mut groups: Vec<Group> = Vec::new();
    let none = (size == 1).then(Vec::new);
    for set in none.into_iter().chain(sets(&factors, size)) {
        let Some(tried) = sides.with(&set).filter(|t| !turn.leaves_out(&t.factors)) else {
            continue;
        };
        let question = tried.question(sides.spec);
        let at = groups.iter().position(|group| group.question == question);
        let at = at.unwrap_or_else(|| {
            groups.push(Group::new(question));
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

/// The two cells of a pair as the study has them.
struct Sides<'a> {
    spec: &'a ComparisonSpec,
    cell: &'a CellSpec,
    reference: &'a CellSpec,
}

impl<'a> Sides<'a> {
    fn of(
        study: &'a Study,
        comparison: &str,
        cell: &str,
        reference: &str,
    ) -> Result<Self, HarnessError> {
        let mut specs = study.comparisons.iter();
        let spec = specs.find(|spec| spec.id == comparison);
        let sides = spec.and_then(|spec| {
            Some(Self {
                spec,
                cell: spec.cells.get(cell)?,
                reference: spec.cells.get(reference)?,
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
        let whole = |cell: &CellSpec| -> Result<(Settings, Workload), HarnessError> {
            let workload = cell.workload.over(&self.spec.workload).complete();
            let budget = study.memory_budget;
            let resolved = resolve(drivers, &cell.store, budget, workload.threads)?;
            workload.check().map_err(HarnessError::invalid)?;
            Ok((resolved.settings, workload))
        };
        for cell in [self.cell, self.reference] {
            if whole(&factor.applied(cell))? != whole(cell)? {
                return Ok(true);
            }
        }
        Ok(false)
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
            cell: Named::of("cell", all(self.cell)?),
            reference: Named::of("reference", all(self.reference)?),
        })
    }
}

/// A pair with some factors.
struct Tried {
    factors: Vec<String>,
    cell: Named,
    reference: Named,
}

impl Tried {
    /// What cells of one comparison must have in common.
    fn question(&self, spec: &ComparisonSpec) -> String {
        let workload = self.cell.spec.workload.over(&spec.workload).complete();
        let repeats = Some(workload.order).filter(|order| order.repeats());
        format!("{} {repeats:?} {:?}", workload.cache, workload.operations)
    }
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

/// Tries that can be measured in the same rounds.
struct Group {
    question: String,
    tried: Vec<Tried>,
}

impl Group {
    fn new(question: String) -> Self {
        Self {
            question,
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

/// Refuses what needs more room than there is where the result of a run lies.
///
/// # Errors
/// Too little space; the message says how much is needed and how much there is.
pub fn require_room(plan: &Plan, more: &Extension, place: &Path) -> Result<(), HarnessError> {
    let following = Plan {
        datasets: more.datasets.clone(),
        comparisons: more.comparisons.clone(),
        ..plan.clone()
    };
    super::require_space(&following, false, place)
}
