//! The machines: in what they differ, and what is the same of all.

use super::Fleet;
use crate::cells::grouped;
use crate::document::{Block, Cell, Section, Table, facts, folded, text_column};
use stowplan_analysis::Machine;
use stowplan_model::FactOf;

/// What machines are told apart by.
const NAME: &str = "machine";

/// A table of what differs, and a list of what does not.
pub(super) fn section(fleet: &Fleet<'_>) -> Block {
    let machines: Vec<Vec<(String, String)>> = fleet.machines().iter().map(facts_of).collect();
    let of = |machine: &[(String, String)], name: &str| -> String {
        let mut facts = machine.iter();
        let fact = facts.find(|(known, _)| known == name);
        fact.map_or_else(String::new, |(_, value)| value.clone())
    };
    let names = grouped(
        machines
            .iter()
            .flatten()
            .map(|(name, value)| (name.as_str(), value)),
    );
    let names = names.into_iter().map(|(name, _)| name);
    let is_alike = |name: &&str| {
        let mut values = machines.iter().map(|machine| of(machine, name));
        let first = values.next();
        values.all(|value| Some(value) == first)
    };
    let (alike, other): (Vec<&str>, Vec<&str>) = names.partition(is_alike);
    let columns = other.iter().map(|name| {
        let value = move |machine: &Vec<(String, String)>| Cell::text(of(machine, name));
        let weight = if *name == NAME { 9 } else { 3 };
        text_column(*name, "", value).weighing(weight)
    });
    let table = Table::of("Machines", columns.collect(), &machines);
    let alike = alike.iter().map(|name| (*name, of(&machines[0], name)));
    let alike = folded("The same on all", facts(alike));
    let section = Section::new("Machines", vec![table.into(), alike]);
    section.named("machines").in_contents("Machines").into()
}

/// What is known of a machine and of its run. Of an engine, its version.
fn facts_of(machine: &Machine) -> Vec<(String, String)> {
    let known = machine.environment.facts().into_iter();
    let known = known.filter(|fact| fact.of != FactOf::Moment && fact.name != "host");
    let known = known.filter_map(|fact| {
        let value = fact.value?;
        let version = value
            .split(" (")
            .next()
            .filter(|_| fact.of == FactOf::Engine);
        Some((fact.name, version.map_or(value.clone(), str::to_owned)))
    });
    let of_run = [
        ("run began", machine.started.clone()),
        ("warnings", machine.warnings.to_string()),
        ("failed cells", machine.failures.to_string()),
    ];
    let name = (NAME.to_owned(), machine.label.clone());
    let of_run = of_run.map(|(name, value)| (name.to_owned(), value));
    [name].into_iter().chain(known).chain(of_run).collect()
}
