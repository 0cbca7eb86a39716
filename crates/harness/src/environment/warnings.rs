//! What about a machine spoils or qualifies a measurement, in words for people who do not
//! measure for a living.

use std::collections::BTreeMap;
use stowplan_model::{CacheState, Cell, Environment, Plan, Warning, WarningKind, format_bytes};

/// Clock sources that are read without entering the kernel, or nearly so.
const FAST_CLOCKS: [&str; 9] = [
    "tsc",
    "kvm-clock",
    "arch_sys_counter",
    "hyperv_clocksource_tsc_page",
    "xen",
    "timebase",
    "tod",
    "riscv_clocksource",
    "stp",
];
/// Load per CPU above which other work clearly takes part.
const LOAD_PER_CPU: f64 = 0.5;
/// R5: below this multiple of the last-level cache, the processor's cache is measured too.
const CACHE_MULTIPLE: u64 = 4;
/// Writes of others above this compete with ours; below are logs and the like.
const FOREIGN_BYTES_PER_SECOND: u64 = 1_000_000;

/// What a run is going to do, as far as warnings depend on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Plans {
    /// Bytes that should stay in the page cache at the same time: the built stores that are
    /// measured warm.
    pub cached_bytes: u64,
    /// Bytes that the smallest comparison visits.
    pub working_set_bytes: u64,
    /// What [`super::foreign_write_rate`] found, in bytes per second.
    pub foreign_write_rate: Option<u64>,
}

impl Plans {
    /// What a plan is going to do; nobody has looked at others' writes yet.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let warm = |cell: &&Cell| cell.workload.cache == CacheState::Warm;
        let bytes = |cell: &Cell| plan.dataset_bytes(&cell.dataset);
        let instances: BTreeMap<&str, u64> = plan
            .cells()
            .filter(warm)
            .map(|cell| (cell.instance.as_str(), bytes(cell)))
            .collect();
        Self {
            cached_bytes: instances.values().sum(),
            // Without a warm cell there is no working set to judge.
            working_set_bytes: instances.values().copied().min().unwrap_or(u64::MAX),
            foreign_write_rate: None,
        }
    }
}

/// Everything that should be known before trusting a measurement here, worst first.
#[must_use]
pub fn warnings(environment: &Environment, plans: &Plans) -> Vec<Warning> {
    [
        debug_build(environment),
        memory_file_system(environment),
        memory(environment, plans),
        working_set(environment, plans),
        load(environment),
        foreign_writes(environment, plans),
        battery(environment),
        governor(environment),
        clock_source(environment),
        no_run_queue_delay(environment),
        no_residency_check(environment),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn warning(
    kind: WarningKind,
    message: impl Into<String>,
    advice: impl Into<String>,
) -> Option<Warning> {
    Some(Warning {
        kind,
        message: message.into(),
        advice: advice.into(),
    })
}

fn debug_build(environment: &Environment) -> Option<Warning> {
    if environment.optimised {
        return None;
    }
    warning(
        WarningKind::DebugBuild,
        "This program was built without optimisation, so its own code slows some stores more than others.",
        "Build it with 'cargo build --release' and run again.",
    )
}

fn memory_file_system(environment: &Environment) -> Option<Warning> {
    let system = &environment.file_system;
    if !matches!(system.kind.as_str(), "tmpfs" | "ramfs") {
        return None;
    }
    warning(
        WarningKind::MemoryFileSystem,
        format!(
            "The work directory lies on {} ({}), which is memory and not a disk: syncs cost nothing and nothing is ever cold.",
            system.mount_point, system.kind
        ),
        "Give a directory on the disk that your application will use with --work.",
    )
}

fn memory(environment: &Environment, plans: &Plans) -> Option<Warning> {
    let available = environment.memory_available_bytes;
    if available == 0 || plans.cached_bytes <= available {
        return None;
    }
    warning(
        WarningKind::Memory,
        format!(
            "The stores together take about {}, and {} of memory are available: reads that should come from memory will come from the disk.",
            format_bytes(plans.cached_bytes),
            format_bytes(available)
        ),
        "Choose a smaller scale, measure fewer cells at a time with --only, or free memory.",
    )
}

fn working_set(environment: &Environment, plans: &Plans) -> Option<Warning> {
    let cache = environment.last_level_cache_bytes?;
    if plans.working_set_bytes >= cache.saturating_mul(CACHE_MULTIPLE) {
        return None;
    }
    warning(
        WarningKind::WorkingSet,
        format!(
            "The data visited ({}) is less than {CACHE_MULTIPLE} times the processor's last-level cache ({}), so part of it is served from there.",
            format_bytes(plans.working_set_bytes),
            format_bytes(cache)
        ),
        "Use a larger dataset unless your application's data is as small; ratios can differ by half.",
    )
}

fn load(environment: &Environment) -> Option<Warning> {
    let load = environment.load_average?;
    if load <= LOAD_PER_CPU * f64::from(environment.cpus.max(1)) {
        return None;
    }
    let cpus = environment.cpus;
    warning(
        WarningKind::Load,
        format!("Other work runs on this machine (load average {load:.1} on {cpus} CPUs)."),
        "Stop it, or measure more rounds: waiting for a CPU is subtracted, but caches and disks are shared.",
    )
}

fn foreign_writes(environment: &Environment, plans: &Plans) -> Option<Warning> {
    let rate = plans
        .foreign_write_rate
        .filter(|rate| *rate > FOREIGN_BYTES_PER_SECOND)?;
    let device = environment.device.as_ref()?;
    warning(
        WarningKind::ForeignWrites,
        format!(
            "Something else writes {} per second to {} while this program is idle.",
            format_bytes(rate),
            device.name
        ),
        "Stop it (iotop shows who it is), or do not trust cold reads and durable writes from this run.",
    )
}

fn battery(environment: &Environment) -> Option<Warning> {
    environment.on_battery.filter(|on_battery| *on_battery)?;
    warning(
        WarningKind::Battery,
        "The machine runs on battery and may slow itself down at any time.",
        "Connect it to mains power.",
    )
}

fn governor(environment: &Environment) -> Option<Warning> {
    environment
        .governor
        .as_deref()
        .filter(|governor| *governor == "powersave")?;
    warning(
        WarningKind::Governor,
        "The CPU frequency governor is 'powersave', so short work may run at a low clock rate.",
        "Switch to 'performance' for the run: sudo cpupower frequency-set -g performance.",
    )
}

fn clock_source(environment: &Environment) -> Option<Warning> {
    let clock = environment.clock_source.as_deref()?;
    if FAST_CLOCKS.contains(&clock) {
        return None;
    }
    warning(
        WarningKind::ClockSource,
        format!("The kernel's clock source is '{clock}', which is slow to read."),
        "Trust the ratios, which read the clock twice per block; percentiles of fast operations are too high here.",
    )
}

fn no_run_queue_delay(environment: &Environment) -> Option<Warning> {
    if environment.run_queue_delay {
        return None;
    }
    warning(
        WarningKind::NoRunQueueDelay,
        "The system does not tell how long a thread waited for a CPU, so the wall time cannot be corrected for other work.",
        "Run on an otherwise idle machine, or on Linux with /proc/thread-self/schedstat.",
    )
}

fn no_residency_check(environment: &Environment) -> Option<Warning> {
    if environment.residency_check.is_some() {
        return None;
    }
    warning(
        WarningKind::NoResidencyCheck,
        "The system does not tell what is in the page cache, so cold states cannot be verified.",
        "Rely on warm comparisons only, or run on Linux.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_model::{Device, FileSystem};

    fn quiet() -> (Environment, Plans) {
        let environment = Environment {
            cpus: 2,
            last_level_cache_bytes: Some(32 << 20),
            governor: Some("performance".into()),
            memory_bytes: 16 << 30,
            memory_available_bytes: 8 << 30,
            load_average: Some(0.2),
            on_battery: Some(false),
            clock_source: Some("tsc".into()),
            run_queue_delay: true,
            residency_check: Some("cachestat".into()),
            file_system: FileSystem {
                kind: "ext4".into(),
                mount_point: "/".into(),
                ..FileSystem::default()
            },
            device: Some(Device {
                name: "vda".into(),
                ..Device::default()
            }),
            optimised: true,
            ..Environment::default()
        };
        let plans = Plans {
            cached_bytes: 3 << 30,
            working_set_bytes: 1 << 30,
            foreign_write_rate: Some(10_000),
        };
        (environment, plans)
    }

    #[test]
    fn a_quiet_machine_gives_no_warning() {
        let (environment, plans) = quiet();
        assert_eq!(warnings(&environment, &plans), []);
    }

    #[test]
    fn unknown_facts_are_no_reason_to_warn_but_missing_means_are() {
        let kinds: Vec<_> = warnings(
            &Environment {
                optimised: true,
                ..Environment::default()
            },
            &Plans::default(),
        )
        .into_iter()
        .map(|warning| warning.kind)
        .collect();
        assert_eq!(
            kinds,
            [WarningKind::NoRunQueueDelay, WarningKind::NoResidencyCheck]
        );
    }

    #[test]
    fn each_trouble_gives_its_warning_and_no_other() {
        type Spoil = fn(&mut Environment, &mut Plans);
        let troubles: [(WarningKind, Spoil); 11] = [
            (WarningKind::DebugBuild, |e, _| e.optimised = false),
            (WarningKind::MemoryFileSystem, |e, _| {
                e.file_system.kind = "tmpfs".into();
            }),
            (WarningKind::Memory, |_, p| p.cached_bytes = 9 << 30),
            (WarningKind::WorkingSet, |_, p| {
                p.working_set_bytes = 100 << 20;
            }),
            (WarningKind::Load, |e, _| e.load_average = Some(1.1)),
            (WarningKind::ForeignWrites, |_, p| {
                p.foreign_write_rate = Some(5_000_000);
            }),
            (WarningKind::Battery, |e, _| e.on_battery = Some(true)),
            (WarningKind::Governor, |e, _| {
                e.governor = Some("powersave".into());
            }),
            (WarningKind::ClockSource, |e, _| {
                e.clock_source = Some("acpi_pm".into());
            }),
            (WarningKind::NoRunQueueDelay, |e, _| {
                e.run_queue_delay = false;
            }),
            (WarningKind::NoResidencyCheck, |e, _| {
                e.residency_check = None;
            }),
        ];
        for (kind, spoil) in troubles {
            let (mut environment, mut plans) = quiet();
            spoil(&mut environment, &mut plans);
            let found = warnings(&environment, &plans);
            let kinds: Vec<_> = found.iter().map(|warning| warning.kind).collect();
            assert_eq!(kinds, [kind]);
            for text in [&found[0].message, &found[0].advice] {
                assert!(text.ends_with('.') && !text.contains('\n'), "{text}");
            }
        }
    }
}
