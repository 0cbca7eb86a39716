//! Every fact about a machine, the system on it and the program, by its name and in words: listed once,
//! for those who show them and for those who compare two of them.

use super::{Device, Environment, FileSystem};
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

impl Environment {
    /// All facts, each name once, in the order in which they are told.
    pub fn facts(&self) -> Vec<Fact> {
        let Self {
            host,
            os,
            kernel,
            architecture,
            cpu,
            cpus,
            last_level_cache_bytes,
            governor,
            virtualisation,
            memory_bytes,
            memory_available_bytes,
            load_average,
            on_battery,
            clock_source,
            run_queue_delay,
            residency_check,
            file_system,
            device,
            file_systems,
            engines: _,
            tool_version: _,
            tool_commit: _,
            compiler: _,
            optimised: _,
        } = self;
        let mut facts = vec![
            fact("host", known(host), FactOf::Machine),
            fact("system", known(os), FactOf::Setup),
            fact("kernel", known(kernel), FactOf::Place),
            fact("architecture", known(architecture), FactOf::Machine),
            fact("CPU", cpu.clone(), FactOf::Machine),
            fact("CPUs usable", Some(cpus.to_string()), FactOf::Machine),
            setup("last-level cache", last_level_cache_bytes.map(format_bytes)),
            setup("governor", governor.clone()),
            setup("virtualisation", virtualisation.clone()),
            setup("memory", Some(gibibytes(*memory_bytes))),
            moment("memory available", Some(gibibytes(*memory_available_bytes))),
            moment(
                "load average",
                load_average.map(|load| format!("{load:.2}")),
            ),
            setup("power", on_battery.map(|on| either(on, "battery", "mains"))),
            setup("clock source", clock_source.clone()),
            setup(
                "run-queue delay",
                Some(either(*run_queue_delay, "readable", "not readable")),
            ),
            setup(
                "residency check",
                Some(residency_check.clone().unwrap_or_else(|| "none".to_owned())),
            ),
        ];
        facts.extend(of_file_system(file_system));
        facts.extend(device.iter().flat_map(|device| self.of_device(device)));
        let others = file_systems.iter();
        facts.extend(others.map(|(on, how)| setup(&format!("on {on}"), known(how))));
        facts.extend(self.of_program());
        facts
    }

    fn of_device(&self, device: &Device) -> Vec<Fact> {
        let Device {
            name,
            model,
            rotational,
            scheduler,
            read_ahead_kib,
            write_cache,
        } = device;
        let kind = rotational.and_then(|_| self.device_kind());
        vec![
            fact("device", known(name), FactOf::Place),
            fact("model of the device", model.clone(), FactOf::Place),
            setup("kind of device", kind.map(str::to_owned)),
            setup("I/O scheduler", scheduler.clone()),
            setup("read-ahead", read_ahead_kib.map(|kib| format!("{kib} KiB"))),
            setup("write cache", write_cache.clone()),
        ]
    }

    fn of_program(&self) -> Vec<Fact> {
        let program = |name, value| fact(name, value, FactOf::Program);
        let mut facts = vec![
            program("stowplan", known(&self.tool_version)),
            program("commit of stowplan", self.tool_commit.clone()),
            program("compiler", self.compiler.clone()),
            program(
                "built with optimisation",
                Some(either(self.optimised, "yes", "no")),
            ),
        ];
        let engines = self.engines.iter();
        facts.extend(engines.map(|(name, version)| fact(name, known(version), FactOf::Engine)));
        facts
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

fn of_file_system(system: &FileSystem) -> Vec<Fact> {
    let FileSystem {
        kind,
        mount_point,
        options,
        block_bytes,
        free_bytes,
    } = system;
    let blocks = format!("{block_bytes} bytes");
    vec![
        fact("file system", known(kind), FactOf::Place),
        setup("mounted at", known(mount_point)),
        setup("mount options", known(options)),
        setup("blocks of the file system", Some(blocks)),
        moment("free space", Some(format_bytes(*free_bytes))),
    ]
}

fn fact(name: &str, value: Option<String>, of: FactOf) -> Fact {
    Fact {
        name: name.to_owned(),
        value,
        of,
    }
}

fn setup(name: &str, value: Option<String>) -> Fact {
    fact(name, value, FactOf::Setup)
}

fn moment(name: &str, value: Option<String>) -> Fact {
    fact(name, value, FactOf::Moment)
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

    fn machine() -> Environment {
        Environment {
            host: "a".into(),
            kernel: "6.1".into(),
            device: Some(Device {
                name: "sda".into(),
                rotational: Some(true),
                ..Device::default()
            }),
            engines: [("sqlite".to_owned(), "3.50".to_owned())].into(),
            ..Environment::default()
        }
    }

    #[test]
    fn every_fact_has_a_name_of_its_own() {
        let facts = machine().facts();
        let names: BTreeSet<&String> = facts.iter().map(|fact| &fact.name).collect();
        assert_eq!(names.len(), facts.len());
        assert!(names.contains(&"sqlite".to_owned()));
    }

    #[test]
    fn a_device_of_a_virtual_machine_that_says_it_spins_is_a_virtual_disk() {
        let mut here = machine();
        assert_eq!(here.device_kind(), Some("spinning disk"));
        here.virtualisation = Some("Docker container".into());
        assert_eq!(here.device_kind(), Some("spinning disk"));
        here.virtualisation = Some("virtual machine (QEMU)".into());
        assert_eq!(here.device_kind(), Some("virtual disk"));
        here.virtualisation = None;
        here.device.as_mut().unwrap().name = "vda".into();
        assert_eq!(here.device_kind(), Some("virtual disk"));
        here.device.as_mut().unwrap().rotational = Some(false);
        assert_eq!(here.device_kind(), Some("not rotational"));
    }

    #[test]
    fn another_kernel_is_the_same_machine_and_another_processor_is_not() {
        let mut other = machine();
        other.kernel = "6.2".into();
        assert!(machine().is_same_machine(&other));
        other.cpu = Some("fast".into());
        assert!(!machine().is_same_machine(&other));
    }
}
