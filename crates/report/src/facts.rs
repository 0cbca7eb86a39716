//! The run, the machine and the program as lists of names and values.

use crate::{format, wording};
use stowplan_analysis::Analysis;
use stowplan_model::{FactOf, format_bytes};

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
