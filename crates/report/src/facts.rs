//! The run, the machine and the program as lists of names and values.

use crate::{format, wording};
use stowplan_analysis::Analysis;
use stowplan_model::{HarnessCost, format_bytes};

/// Names and values, for lists of facts.
pub(crate) type Facts = Vec<(&'static str, String)>;

/// The run and the machine it ran on. Unknown facts are left out.
pub(crate) fn environment(analysis: &Analysis) -> Facts {
    let mut facts = run_facts(analysis);
    facts.extend(machine_facts(analysis));
    facts.extend(storage_facts(analysis));
    facts.extend(program_facts(analysis));
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

fn run_facts(analysis: &Analysis) -> Facts {
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

fn machine_facts(analysis: &Analysis) -> Facts {
    let machine = &analysis.run.environment;
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let on_battery = match machine.on_battery {
        Some(true) => "battery",
        Some(false) => "mains",
        None => "",
    };
    vec![
        ("host", machine.host.clone()),
        ("system", machine.os.clone()),
        ("kernel", machine.kernel.clone()),
        ("architecture", machine.architecture.clone()),
        ("CPU", text(&machine.cpu)),
        ("CPUs usable", machine.cpus.to_string()),
        (
            "last-level cache",
            machine
                .last_level_cache_bytes
                .map_or_else(String::new, format_bytes),
        ),
        ("governor", text(&machine.governor)),
        ("virtualisation", text(&machine.virtualisation)),
        (
            "memory",
            format!(
                "{} ({} available at the start)",
                format_bytes(machine.memory_bytes),
                format_bytes(machine.memory_available_bytes)
            ),
        ),
        (
            "load average",
            machine
                .load_average
                .map_or_else(String::new, |load| format!("{load:.2}")),
        ),
        ("power", on_battery.to_owned()),
        ("clock source", text(&machine.clock_source)),
        (
            "run-queue delay",
            if machine.run_queue_delay {
                "readable"
            } else {
                "not readable"
            }
            .to_owned(),
        ),
        (
            "residency check",
            machine
                .residency_check
                .clone()
                .unwrap_or_else(|| "none".to_owned()),
        ),
    ]
}

fn storage_facts(analysis: &Analysis) -> Facts {
    let system = &analysis.run.environment.file_system;
    let mut facts = vec![(
        "file system",
        format!(
            "{} at {} ({}), blocks of {} bytes, {} free",
            system.kind,
            system.mount_point,
            system.options,
            system.block_bytes,
            format_bytes(system.free_bytes)
        ),
    )];
    if let Some(device) = &analysis.run.environment.device {
        let kind = match device.rotational {
            Some(true) => Some("spinning disk".to_owned()),
            Some(false) => Some("not rotational".to_owned()),
            None => None,
        };
        let parts = [
            Some(device.name.clone()),
            device.model.clone(),
            kind,
            device.scheduler.as_ref().map(|s| format!("scheduler {s}")),
            device
                .read_ahead_kib
                .map(|kib| format!("read-ahead {kib} KiB")),
            device
                .write_cache
                .as_ref()
                .map(|c| format!("write cache: {c}")),
        ];
        facts.push((
            "device",
            parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
        ));
    }
    facts
}

fn program_facts(analysis: &Analysis) -> Facts {
    let machine = &analysis.run.environment;
    let commit = machine
        .tool_commit
        .as_ref()
        .map(|commit| format!(" ({commit})"))
        .unwrap_or_default();
    let optimised = if machine.optimised {
        ""
    } else {
        ", not optimised"
    };
    let engines: Vec<String> = machine
        .engines
        .iter()
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    let compiler = machine.compiler.clone().unwrap_or_default();
    vec![
        (
            "stowplan",
            format!("{}{commit}{optimised}", machine.tool_version),
        ),
        ("compiler", compiler),
        ("engines", engines.join("; ")),
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
