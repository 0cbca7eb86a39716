//! The run, the machine and the program as lists of names and values.

use crate::{value, wording};
use stowplan_analysis::Analysis;
use stowplan_model::{FactOf, RunEnd, format_bytes};

/// Names and values, for lists of facts.
pub(crate) type Facts = Vec<(String, String)>;

/// The run and the machine it ran on. Unknown facts are left out.
pub(crate) fn environment(analysis: &Analysis) -> Facts {
    let facts = analysis.run.environment.facts().into_iter();
    let known = facts.filter_map(|fact| Some((fact.of, fact.name, fact.value?)));
    let (engines, facts): (Vec<_>, Vec<_>) = known.partition(|(of, ..)| *of == FactOf::Engine);
    let engines = engines
        .iter()
        .map(|(_, name, value)| format!("{name} {value}"));
    let engines = engines.collect::<Vec<_>>().join("; ");
    let run = run_facts(analysis).into_iter();
    run.map(|(name, value)| (name.to_owned(), value))
        .chain(facts.into_iter().map(|(_, name, value)| (name, value)))
        .chain([("engines".to_owned(), engines)])
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

fn run_facts(analysis: &Analysis) -> Vec<(&'static str, String)> {
    let run = &analysis.run;
    let duration = analysis.end.as_ref().map(|end| value::seconds(end.seconds));
    let phases = analysis.end.as_ref().and_then(by_phase);
    let study = format!("{} (scale {})", run.plan.study.name, run.plan.scale);
    let datasets = run.plan.datasets.iter().map(|(name, dataset)| {
        let (size, content) = (&dataset.size, &dataset.content);
        format!(
            "{name}: {} values, {size}, {content}",
            value::count(dataset.count)
        )
    });
    let datasets = datasets.collect::<Vec<_>>().join("; ");
    let precision = run.precision.map(value::percent);
    let budget = format_bytes(run.plan.study.memory_budget);
    vec![
        ("started", run.started.clone()),
        ("duration", duration.unwrap_or_default()),
        ("time by phase", phases.unwrap_or_default()),
        ("study", study),
        ("datasets", datasets),
        ("seed", run.seed.to_string()),
        ("most rounds", run.max_rounds.to_string()),
        ("equivalence zone", wording::zone(analysis)),
        ("precision asked for", precision.unwrap_or_default()),
        ("memory budget per store", budget),
    ]
}

/// Where the time of a run went, and the rest.
fn by_phase(end: &RunEnd) -> Option<String> {
    let phases = end.phases?.named();
    let known: f64 = phases.iter().map(|(_, seconds)| seconds).sum();
    let rest = ("rest", (end.seconds - known).max(0.0));
    let all = phases.into_iter().chain([rest]);
    let all = all.map(|(name, seconds)| format!("{name} {}", value::seconds(seconds)));
    Some(all.collect::<Vec<_>>().join(", "))
}
