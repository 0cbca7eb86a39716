//! The run, the machine and the program as lists of names and values.

use crate::{format, wording};
use stowplan_analysis::Analysis;
use stowplan_model::{FactOf, HarnessCost, format_bytes};

/// Names and values, for lists of facts.
pub(crate) type Facts = Vec<(String, String)>;

/// The run and the machine it ran on. Unknown facts are left out.
pub(crate) fn environment(analysis: &Analysis) -> Facts {
    let facts = analysis.run.environment.facts();
    let (engines, facts): (Vec<_>, Vec<_>) = facts
        .into_iter()
        .partition(|fact| fact.of == FactOf::Engine);
    let engines = engines
        .into_iter()
        .filter_map(|engine| Some(format!("{} {}", engine.name, engine.value?)));
    let engines = engines.collect::<Vec<_>>().join("; ");
    let run = run_facts(analysis).into_iter();
    run.map(|(name, value)| (name.to_owned(), value))
        .chain(
            facts
                .into_iter()
                .filter_map(|fact| Some((fact.name, fact.value?))),
        )
        .chain([("engines".to_owned(), engines)])
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

fn run_facts(analysis: &Analysis) -> Vec<(&'static str, String)> {
    let run = &analysis.run;
    let duration = analysis.end.as_ref();
    let datasets: Vec<String> = run
        .plan
        .datasets
        .iter()
        .map(|(name, dataset)| {
            let count = format::count(dataset.count);
            format!(
                "{name}: {count} values, {}, {}",
                dataset.size, dataset.content
            )
        })
        .collect();
    vec![
        ("started", run.started.clone()),
        (
            "duration",
            duration.map_or_else(String::new, |end| format::seconds(end.seconds)),
        ),
        (
            "study",
            format!("{} (scale {})", run.plan.study.name, run.plan.scale),
        ),
        ("datasets", datasets.join("; ")),
        ("seed", run.seed.to_string()),
        ("most rounds", run.max_rounds.to_string()),
        ("equivalence zone", wording::zone(analysis)),
        (
            "precision asked for",
            run.precision.map_or_else(String::new, format::percent),
        ),
        (
            "memory budget per store",
            format_bytes(run.plan.study.memory_budget),
        ),
    ]
}

/// What the harness may cost per operation of a ratio block, in nanoseconds.
const RATIO_BUDGET_NS: f64 = 15.0;

/// The same of a latency block, which reads the clock once per operation.
const LATENCY_BUDGET_NS: f64 = 50.0;

/// What the harness costs, in a sentence.
pub(crate) fn harness_cost(analysis: &Analysis) -> Option<String> {
    let cost = analysis.harness_cost?;
    Some(format!(
        "The harness itself costs {} per operation in ratio blocks and {} in latency blocks \
         (measured with a store that does nothing, {} blocks of {} operations each){}.",
        format::time(cost.ratio_ns),
        format::time(cost.latency_ns),
        cost.blocks,
        format::count(cost.operations),
        above_budget(&cost)
    ))
}

/// The same in a few words.
pub(crate) fn harness_cost_in_short(analysis: &Analysis) -> Option<String> {
    let cost = analysis.harness_cost?;
    Some(format!(
        "Harness cost per operation: {} in ratio blocks, {} in latency blocks{}.",
        format::time(cost.ratio_ns),
        format::time(cost.latency_ns),
        above_budget(&cost)
    ))
}

/// `, above the budget of 15 ns: short operations are overstated`; empty within the budget.
fn above_budget(cost: &HarnessCost) -> String {
    let budgets = match (
        cost.ratio_ns > RATIO_BUDGET_NS,
        cost.latency_ns > LATENCY_BUDGET_NS,
    ) {
        (false, false) => return String::new(),
        (true, false) => format!("{RATIO_BUDGET_NS} ns in ratio blocks"),
        (false, true) => format!("{LATENCY_BUDGET_NS} ns in latency blocks"),
        (true, true) => format!("{RATIO_BUDGET_NS} and {LATENCY_BUDGET_NS} ns"),
    };
    format!(", above the budget of {budgets}: short operations are overstated")
}
