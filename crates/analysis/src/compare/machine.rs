//! What changed around the measurements: the machine, its state, and the program.

use super::Difference;
use serde::Serialize;
use stowplan_model::{Device, Environment, FileSystem, format_bytes};

/// One fact about the surroundings that is not the same in both results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EnvironmentChange {
    /// What, and how it reads in each.
    #[serde(flatten)]
    pub difference: Difference,
    /// Whether it makes NEW's machine another one than BASE's.
    pub another_machine: bool,
}

/// A fact by its name, as text; nothing where it is not known.
struct Fact {
    what: String,
    value: Option<String>,
    /// Whether machines that differ in it are not the same.
    identifies: bool,
}

/// Facts of one environment, each name once. Figures that change by the minute (load, free memory,
/// free space) are none of them.
fn facts(environment: &Environment) -> Vec<Fact> {
    let Environment {
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
        memory_available_bytes: _,
        load_average: _,
        on_battery,
        clock_source,
        run_queue_delay,
        residency_check,
        file_system,
        device,
        engines,
        tool_version,
        tool_commit,
        compiler,
        optimised,
    } = environment;
    let mut facts = vec![
        identity("host", known(host)),
        identity("kernel", known(kernel)),
        identity("architecture", known(architecture)),
        identity("CPU", cpu.clone()),
        identity("CPUs usable", Some(cpus.to_string())),
        fact("last-level cache", last_level_cache_bytes.map(format_bytes)),
        fact("memory", Some(gibibytes(*memory_bytes))),
        fact("system", known(os)),
        fact("governor", governor.clone()),
        fact("virtualisation", virtualisation.clone()),
        fact("power", on_battery.map(power)),
        fact("clock source", clock_source.clone()),
        fact("run-queue delay", Some(readable(*run_queue_delay))),
        fact("residency check", residency_check.clone()),
    ];
    facts.extend(storage(file_system, device.as_ref()));
    facts.extend([
        fact("stowplan", known(tool_version)),
        fact("commit of stowplan", tool_commit.clone()),
        fact("compiler", compiler.clone()),
        fact("built with optimisation", Some(yes(*optimised))),
    ]);
    for (name, version) in engines {
        let (version, options) = version_and_options(version);
        facts.push(fact(name, Some(version.to_owned())));
        facts.push(fact(
            &format!("{OPTIONS_OF}{name}"),
            options.map(str::to_owned),
        ));
    }
    facts
}

/// What the fact about an engine's build options is called, before its name.
const OPTIONS_OF: &str = "build options of ";

/// `3.54.1 (A, B)` as `3.54.1` and `A, B`.
fn version_and_options(text: &str) -> (&str, Option<&str>) {
    let parts = text
        .strip_suffix(')')
        .and_then(|text| text.split_once(" ("));
    parts.map_or((text, None), |(version, options)| (version, Some(options)))
}

fn storage(system: &FileSystem, device: Option<&Device>) -> Vec<Fact> {
    let FileSystem {
        kind,
        mount_point,
        options,
        block_bytes,
        free_bytes: _,
    } = system;
    let mut facts = vec![
        identity("file system", known(kind)),
        fact("mounted at", known(mount_point)),
        fact("mount options", known(options)),
        fact(
            "blocks of the file system",
            Some(format_bytes(*block_bytes)),
        ),
    ];
    let Some(device) = device else {
        return facts;
    };
    let Device {
        name,
        model,
        rotational,
        scheduler,
        read_ahead_kib,
        write_cache,
    } = device;
    facts.extend([
        identity("device", known(name)),
        identity("model of the device", model.clone()),
        fact("spinning disk", rotational.map(yes)),
        fact("I/O scheduler", scheduler.clone()),
        fact("read-ahead", read_ahead_kib.map(|kib| format!("{kib} KiB"))),
        fact("write cache", write_cache.clone()),
    ]);
    facts
}

fn identity(what: &str, value: Option<String>) -> Fact {
    Fact {
        what: what.to_owned(),
        value,
        identifies: true,
    }
}

fn fact(what: &str, value: Option<String>) -> Fact {
    Fact {
        identifies: false,
        ..identity(what, value)
    }
}

fn known(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn yes(flag: bool) -> String {
    if flag { "yes" } else { "no" }.to_owned()
}

fn readable(flag: bool) -> String {
    if flag { "readable" } else { "not readable" }.to_owned()
}

fn power(on_battery: bool) -> String {
    if on_battery { "battery" } else { "mains" }.to_owned()
}

/// Memory to a tenth of a GiB: what the kernel keeps for itself varies from boot to boot.
#[expect(clippy::cast_precision_loss, reason = "a tenth is shown")]
fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// Everything that is not the same, in the order in which it is told; what only one of them has
/// (an engine, a device) as well.
pub(super) fn changes(base: &Environment, new: &Environment) -> Vec<EnvironmentChange> {
    let (base, new) = (facts(base), facts(new));
    let value_in = |facts: &[Fact], what: &str| {
        let mut facts = facts.iter();
        facts.find(|fact| fact.what == what)?.value.clone()
    };
    let only_in_new = new
        .iter()
        .filter(|fact| !base.iter().any(|known| known.what == fact.what));
    let all = base.iter().chain(only_in_new);
    all.filter_map(|fact| {
        let (was, is) = (value_in(&base, &fact.what), value_in(&new, &fact.what));
        let (was, is) = match fact.what.strip_prefix(OPTIONS_OF) {
            Some(engine) => {
                // How an engine was built that the other one does not have is no change.
                value_in(&base, engine).and(value_in(&new, engine))?;
                (only_in(&was, &is), only_in(&is, &was))
            }
            None => (was, is),
        };
        (was != is).then(|| EnvironmentChange {
            difference: Difference::of(&fact.what, was, is),
            another_machine: fact.identifies,
        })
    })
    .collect()
}

/// The items of one list, of dozens, that the other one does not have.
fn only_in(list: &Option<String>, other: &Option<String>) -> Option<String> {
    let other: Vec<&str> = other.iter().flat_map(|other| other.split(", ")).collect();
    let items = list.iter().flat_map(|list| list.split(", "));
    let items: Vec<&str> = items.filter(|item| !other.contains(item)).collect();
    (!items.is_empty()).then(|| items.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(base: &Environment, new: &Environment) -> Vec<String> {
        let all = changes(base, new).into_iter();
        all.map(|change| {
            format!(
                "{}{}",
                change.difference.what,
                if change.another_machine { "!" } else { "" }
            )
        })
        .collect()
    }

    #[test]
    fn what_changes_by_the_minute_is_no_change() {
        let base = Environment {
            memory_bytes: 24 << 30,
            ..Environment::default()
        };
        let new = Environment {
            memory_bytes: (24 << 30) - 1_000_000,
            memory_available_bytes: 5,
            load_average: Some(3.0),
            ..base.clone()
        };
        assert_eq!(told(&base, &new), [""; 0]);
    }

    #[test]
    fn host_kernel_cpu_and_file_system_make_another_machine_and_settings_of_it_do_not() {
        let base = Environment::default();
        let mut new = base.clone();
        new.governor = Some("powersave".to_owned());
        new.file_system.options = "noatime".to_owned();
        new.tool_version = "2".to_owned();
        assert_eq!(told(&base, &new), ["governor", "mount options", "stowplan"]);
        new.kernel = "7.0".to_owned();
        new.file_system.kind = "xfs".to_owned();
        let told = told(&base, &new);
        assert!(told.contains(&"kernel!".to_owned()), "{told:?}");
        assert!(told.contains(&"file system!".to_owned()), "{told:?}");
    }

    #[test]
    fn of_build_options_only_those_that_differ_are_told() {
        let with = |version: &str| {
            let mut environment = Environment::default();
            let engines = &mut environment.engines;
            engines.insert("SQLite".to_owned(), version.to_owned());
            environment
        };
        let found = changes(&with("3.1 (A, B=1, C)"), &with("3.2 (A, B=2, C)"));
        let options = Difference::of(
            "build options of SQLite",
            Some("B=1".to_owned()),
            Some("B=2".to_owned()),
        );
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[1].difference, options);
    }

    #[test]
    fn an_engine_that_only_one_of_them_has_is_told() {
        let mut base = Environment::default();
        base.engines
            .insert("redb".to_owned(), "4.0 (A, B)".to_owned());
        let mut new = Environment::default();
        new.engines.insert("lmdb".to_owned(), "0.9".to_owned());
        let found = changes(&base, &new);
        let told: Vec<_> = found
            .iter()
            .map(|c| {
                (
                    &*c.difference.what,
                    c.difference.base.as_deref(),
                    c.difference.new.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [("redb", Some("4.0"), None), ("lmdb", None, Some("0.9"))]
        );
    }
}
