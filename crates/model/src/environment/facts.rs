//! Every fact about a machine, the system on it and the program, by its name and in words: listed once,
//! for those who show them and for those who compare two of them.

use super::{Change, Device, Environment};
use crate::format_bytes;

/// A fact by its name, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Its name; no two facts of an environment have the same.
    pub name: String,
    /// What it is; nothing where that is not known.
    pub value: Option<String>,
    /// What it is a fact of.
    pub of: FactOf,
}

/// What a fact is of: what it says if it is not the same on two occasions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactOf {
    /// The machine: if one of these differs, it is another one.
    Machine,
    /// What the machine is run with and where the data lies: the kernel, the file system, the
    /// device. With others, times are those of another place.
    Place,
    /// How it is set up.
    Setup,
    /// The program that measured.
    Program,
    /// An engine in the program: its version, with its build options in brackets.
    Engine,
    /// What changes by the minute.
    Moment,
}

/// What it says where a fact is not the same on two occasions, and what it is called then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Nothing: it changes all the time, or others tell of it.
    Never,
    /// That measurements of both occasions may differ by it.
    Qualifies(&'static str),
    /// That measurements of both occasions are of different things.
    Decides(&'static str),
}

use Told::{Decides, Never, Qualifies};

type Read = fn(&Environment) -> Option<String>;

/// A fact a line: its name, what it is of, what a change of it tells, and what it is.
macro_rules! facts {
    ($NAME:ident: $(|$e:ident| $name:literal, $of:ident, $told:expr => $value:expr;)+) => {
        const $NAME: &[(&str, FactOf, Told, Read)] = &[$(($name, FactOf::$of, $told, |$e| $value)),+];
    };
}

facts! { OF_MACHINE:
    |e| "host", Machine, Never => known(&e.host);
    |e| "system", Setup, Qualifies("operating system") => known(&e.os);
    |e| "kernel", Place, Qualifies("kernel") => known(&e.kernel);
    |e| "architecture", Machine, Decides("architecture") => known(&e.architecture);
    |e| "CPU", Machine, Decides("processor") => e.cpu.clone();
    |e| "CPUs usable", Machine, Decides("number of CPUs") => Some(e.cpus.to_string());
    |e| "last-level cache", Setup, Never => e.last_level_cache_bytes.map(format_bytes);
    |e| "governor", Setup, Qualifies("CPU frequency governor") => e.governor.clone();
    |e| "virtualisation", Setup, Qualifies("virtualisation") => e.virtualisation.clone();
    |e| "memory", Setup, Decides("memory") => Some(gibibytes(e.memory_bytes));
    |e| "memory available", Moment, Never => Some(gibibytes(e.memory_available_bytes));
    |e| "load average", Moment, Never => e.load_average.map(|load| format!("{load:.2}"));
    |e| "power", Setup, Qualifies("power") => e.on_battery.map(|on| either(on, "battery", "mains"));
    |e| "clock source", Setup, Qualifies("clock source") => e.clock_source.clone();
    |e| "run-queue delay", Setup, Qualifies("run-queue delay")
        => Some(either(e.run_queue_delay, "readable", "not readable"));
    |e| "residency check", Setup, Never => Some(e.residency_check.clone().unwrap_or("none".to_owned()));
    |e| "file system", Place, Decides("file system") => known(&e.file_system.kind);
    |e| "mounted at", Setup, Decides("mount point") => known(&e.file_system.mount_point);
    |e| "mount options", Setup, Qualifies("mount options") => known(&e.file_system.options);
    |e| "blocks of the file system", Setup, Never => Some(format!("{} bytes", e.file_system.block_bytes));
    |e| "free space", Moment, Never => Some(format_bytes(e.file_system.free_bytes));
}

facts! { OF_DEVICE:
    |e| "device", Place, Decides("device") => known(&e.device.as_ref()?.name);
    |e| "model of the device", Place, Never => e.device.as_ref()?.model.clone();
    |e| "kind of device", Setup, Never => e.device_kind().map(str::to_owned);
    |e| "I/O scheduler", Setup, Qualifies("I/O scheduler") => e.device.as_ref()?.scheduler.clone();
    |e| "read-ahead", Setup, Qualifies("read-ahead") => read_ahead(e.device.as_ref()?);
    |e| "write cache", Setup, Never => e.device.as_ref()?.write_cache.clone();
}

facts! { OF_PROGRAM:
    |e| "stowplan", Program, Qualifies("version of stowplan") => known(&e.tool_version);
    |e| "commit of stowplan", Program, Qualifies("commit of stowplan") => e.tool_commit.clone();
    |e| "compiler", Program, Never => e.compiler.clone();
    |e| "built with optimisation", Program, Decides("build's optimisation")
        => Some(either(e.optimised, "yes", "no"));
}

/// By which share the memory that the kernel reports may differ.
const MEMORY_TOLERANCE: f64 = 0.05;

impl Environment {
    /// All facts, each name once, in the order in which they are told.
    pub fn facts(&self) -> Vec<Fact> {
        let of_device = self.device.iter().flat_map(|_| OF_DEVICE);
        let own = OF_MACHINE.iter().chain(of_device);
        let own = own.map(|(name, of, _, read)| fact(name, read(self), *of));
        let others = self.file_systems.iter();
        let others = others.map(|(on, how)| fact(&format!("on {on}"), known(how), FactOf::Setup));
        let program = OF_PROGRAM.iter();
        let program = program.map(|(name, of, _, read)| fact(name, read(self), *of));
        let engines = self.engines.iter();
        let engines = engines.map(|(name, version)| fact(name, known(version), FactOf::Engine));
        own.chain(others).chain(program).chain(engines).collect()
    }

    /// What has changed since, the decisive first.
    pub fn changes(&self, now: &Self) -> Vec<Change> {
        let has_devices = self.device.is_some() && now.device.is_some();
        let of_device = OF_DEVICE.iter().filter(|_| has_devices);
        let own = OF_MACHINE.iter().chain(of_device).chain(OF_PROGRAM);
        let changes = own.filter_map(|(name, _, told, read)| {
            let (what, decisive) = match told {
                Never => return None,
                Qualifies(what) => (*what, false),
                Decides(what) => (*what, true),
            };
            let counts = match *name {
                "memory" => self.has_other_memory(now),
                // The place of the data is told by its device where that is known.
                "mounted at" => !has_devices,
                _ => true,
            };
            let (before, now) = (read(self), read(now));
            let differs = counts && before != now;
            differs.then(|| Change::of(what.to_owned(), before, now, decisive))
        });
        let mut changes: Vec<Change> = changes.collect();
        changes.sort_by_key(|change| !change.decisive);
        changes.extend(self.changes_of_engines(now));
        changes
    }

    fn has_other_memory(&self, now: &Self) -> bool {
        let difference = self.memory_bytes.abs_diff(now.memory_bytes) as f64;
        difference > self.memory_bytes as f64 * MEMORY_TOLERANCE
    }

    /// What kind of device the data lies on, as far as the kernel tells. That of a virtual machine
    /// often says that it spins, whatever lies below it.
    pub fn device_kind(&self) -> Option<&'static str> {
        let device = self.device.as_ref()?;
        let by_name = ["vd", "xvd"]
            .iter()
            .any(|start| device.name.starts_with(start));
        let virtualisation = self.virtualisation.as_deref().unwrap_or_default();
        match device.rotational? {
            true if by_name || virtualisation.contains("virtual machine") => Some("virtual disk"),
            true => Some("spinning disk"),
            false => Some("not rotational"),
        }
    }

    /// Whether both are of the same machine, whatever runs on it and wherever its data lies.
    pub fn is_same_machine(&self, other: &Self) -> bool {
        let machine = |environment: &Self| -> Vec<Fact> {
            let facts = environment.facts().into_iter();
            facts.filter(|fact| fact.of == FactOf::Machine).collect()
        };
        machine(self) == machine(other)
    }
}

fn read_ahead(device: &Device) -> Option<String> {
    device.read_ahead_kib.map(|kib| format!("{kib} KiB"))
}

fn fact(name: &str, value: Option<String>, of: FactOf) -> Fact {
    Fact {
        name: name.to_owned(),
        value,
        of,
    }
}

fn known(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn either(flag: bool, yes: &str, no: &str) -> String {
    if flag { yes } else { no }.to_owned()
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Fields of a type as a result has them.
    fn fields(of: &impl serde::Serialize) -> usize {
        serde_json::to_value(of).unwrap().as_object().unwrap().len()
    }

    #[test]
    fn every_field_is_a_fact_with_a_name_of_its_own() {
        // But for the file system, the device, and the engines, which have facts of their own.
        let mut environment = Environment::default();
        let own = fields(&environment) - 3 + fields(&environment.file_system);
        assert_eq!(OF_MACHINE.len() + OF_PROGRAM.len(), own);
        assert_eq!(OF_DEVICE.len(), fields(&Device::default()));
        environment.device = Some(Device::default());
        environment.engines = [("sqlite".to_owned(), "3.50".to_owned())].into();
        let facts = environment.facts();
        let names: BTreeSet<&str> = facts.iter().map(|fact| fact.name.as_str()).collect();
        assert_eq!(names.len(), facts.len());
        assert!(names.contains("sqlite"));
    }
}
