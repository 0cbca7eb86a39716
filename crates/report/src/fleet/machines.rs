//! The machines.

use super::Fleet;
use crate::document::{Block, Cell, Table, chapter, text_column};
use crate::value;
use stowplan_analysis::Machine;
use stowplan_model::{Environment, format_bytes};

/// A fact of the table: its title, how important it is, and how its field is made.
type Fact = (&'static str, u8, fn(&Machine) -> String);

const FACTS: [Fact; 9] = [
    ("machine", 9, |machine| machine.label.clone()),
    ("CPU", 5, |machine| processor(&machine.environment)),
    ("memory", 3, |machine| {
        format_bytes(machine.environment.memory_bytes)
    }),
    ("system", 2, |machine| system(&machine.environment)),
    ("file system", 4, |machine| {
        machine.environment.file_system.kind.clone()
    }),
    ("device", 3, |machine| device(&machine.environment)),
    ("stowplan", 2, |machine| tool(&machine.environment)),
    ("run began", 1, |machine| machine.started.clone()),
    ("warnings", 4, warnings),
];

/// A table of all.
pub(super) fn section(fleet: &Fleet<'_>) -> Option<Block> {
    let machines = fleet.machines();
    let columns = FACTS.map(|(title, weight, make)| {
        text_column(title, "", move |machine| Cell::text(make(machine))).weighing(weight)
    });
    let blocks = vec![Table::of("Machines", columns.into(), machines).into()];
    chapter("machines", "Machines", blocks)
}

/// The parts that are known, separated by commas.
fn joined(parts: &[&str]) -> String {
    let known = parts.iter().copied().filter(|part| !part.is_empty());
    known.collect::<Vec<_>>().join(", ")
}

/// `AMD EPYC 9B14, 2 CPUs`
fn processor(environment: &Environment) -> String {
    let name = environment.cpu.as_ref();
    let name = name.unwrap_or(&environment.architecture);
    let cpus = value::counted(environment.cpus, "CPU");
    format!("{}, {cpus}", short_name(name))
}

/// The name of a processor without what says nothing.
fn short_name(name: &str) -> String {
    let marks = ["(R)", "(r)", "(TM)", "(tm)", "(C)"];
    let plain = marks
        .iter()
        .fold(name.to_owned(), |name, mark| name.replace(mark, ""));
    let words = plain.split_whitespace();
    let words = words.filter(|word| !["CPU", "Processor"].contains(word));
    words.collect::<Vec<_>>().join(" ")
}

fn system(environment: &Environment) -> String {
    joined(&[&environment.os, &environment.kernel])
}

fn device(environment: &Environment) -> String {
    let Some(device) = &environment.device else {
        return String::new();
    };
    // A virtual disk often says that it spins.
    let kind = environment
        .device_kind()
        .filter(|_| device.rotational == Some(true))
        .unwrap_or_default();
    let model = device.model.as_deref().unwrap_or_default();
    joined(&[&device.name, model, kind])
}

fn tool(environment: &Environment) -> String {
    let commit = environment.tool_commit.as_deref().map(|commit| {
        let short: String = commit.chars().take(10).collect();
        format!(" ({short})")
    });
    format!("{}{}", environment.tool_version, commit.unwrap_or_default())
}

/// How many warnings its own report has, and how many cells failed.
fn warnings(machine: &Machine) -> String {
    match (machine.warnings, machine.failures) {
        (0, 0) => String::new(),
        (warnings, 0) => warnings.to_string(),
        (warnings, failures) => {
            format!("{warnings}, {}", value::counted(failures, "failed cell"))
        }
    }
}
