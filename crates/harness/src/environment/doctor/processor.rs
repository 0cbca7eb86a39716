//! CPUs, clocks, power.

use super::super::control_group;
use super::{Check, CheckGroup, CheckState, Known, NOT_TOLD, Root, Subject, probe};
use stowplan_model::WarningKind;

/// A CPU this warm is about to slow down, in thousandths of a degree Celsius.
const HOT: u64 = 90_000;
/// A clock that takes longer to read is no part of the processor, in nanoseconds.
const SLOW_CLOCK_NS: f64 = 200.0;
/// A clock with larger steps cannot time one operation, in nanoseconds.
const COARSE_CLOCK_NS: u64 = 1_000;

const fn subject(name: &'static str, why: &'static str) -> Subject {
    Subject {
        group: CheckGroup::Processor,
        name,
        why,
    }
}

const BUILD: Subject = subject(
    "build",
    "Without optimisation this program's own code takes longer than what it measures.",
);
const CPUS: Subject = subject(
    "CPUs",
    "Waiting for a CPU is subtracted, but who had it meanwhile leaves its data in the caches.",
);
const CPU_LIMIT: Subject = subject(
    "CPU limit",
    "A thread that has used up its share is stopped in the middle of a block.",
);
const GOVERNOR: Subject = subject(
    "governor",
    "At a low clock rate the processor slows down more than memory and disk do, so ratios change, too.",
);
const TURBO: Subject = subject(
    "turbo",
    "Rounds are interleaved, so ratios bear a clock rate that changes; times of two runs bear it less.",
);
const THROTTLING: Subject = subject(
    "throttling",
    "A processor that is too warm slows down when it is used, that is, within the measurement.",
);
const POWER: Subject = subject(
    "power",
    "On battery a machine slows itself down when it sees fit.",
);
const VIRTUAL: Subject = subject(
    "virtual machine",
    "Cold means cold in this guest: the host's own cache cannot be seen. What a sync means is the host's choice.",
);
const CLOCK: Subject = subject(
    "clock",
    "Ratios read the clock twice per block; percentiles read it once per operation, which takes about 24 ns with tsc.",
);

#[derive(Debug, Default)]
pub(super) struct Facts {
    /// CPUs that are switched on.
    online: Option<u32>,
    threads_per_core: Option<u32>,
    /// CPUs' worth of time that the control group may use.
    limit: Option<f64>,
    times_stopped: Option<u64>,
    turbo: Option<bool>,
    /// Since the system was started.
    throttled: Option<u64>,
    /// While we were looking.
    throttled_now: Option<u64>,
    /// In thousandths of a degree Celsius.
    hottest: Option<u64>,
    clock: Option<probe::Clock>,
}

impl Facts {
    pub(super) fn gather(root: &Root, throttled_before: Option<u64>) -> Self {
        let throttled = times_throttled(root);
        Self {
            clock: Some(probe::clock()),
            throttled,
            throttled_now: throttled
                .zip(throttled_before)
                .map(|(now, before)| now.saturating_sub(before)),
            ..Self::read(root)
        }
    }

    pub(super) fn read(root: &Root) -> Self {
        let list = |path| root.line(path).and_then(|list| count_of_list(&list));
        Self {
            online: list("/sys/devices/system/cpu/online"),
            threads_per_core: list("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list"),
            limit: control_group::cpu_limit(root),
            times_stopped: control_group::times_stopped(root),
            turbo: turbo(root),
            hottest: hottest(root),
            ..Self::default()
        }
    }
}

/// How many CPUs a list such as `0-3,8` names.
fn count_of_list(list: &str) -> Option<u32> {
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    let mut ranges = list.split(',').map(range);
    ranges.try_fold(0u32, |sum, range| sum.checked_add(range?))
}

/// Whether the clock rate may rise above the nominal one.
fn turbo(root: &Root) -> Option<bool> {
    let cpu = "/sys/devices/system/cpu";
    let intel = root.line(format!("{cpu}/intel_pstate/no_turbo"));
    let others = || root.line(format!("{cpu}/cpufreq/boost"));
    intel
        .map(|off| off == "0")
        .or_else(|| others().map(|on| on == "1"))
}

/// How often a core slowed down because of heat, since the system was started.
pub(super) fn times_throttled(root: &Root) -> Option<u64> {
    let cpus = root.entries("/sys/devices/system/cpu");
    let counts = cpus
        .iter()
        .filter_map(|cpu| root.number(cpu.join("thermal_throttle/core_throttle_count")));
    counts.reduce(u64::saturating_add)
}

fn hottest(root: &Root) -> Option<u64> {
    let zones = root.entries("/sys/class/thermal");
    zones
        .iter()
        .filter_map(|zone| root.number(zone.join("temp")))
        .max()
}

pub(super) fn checks(known: &Known<'_>, facts: &Facts) -> Vec<Check> {
    vec![
        build(known),
        cpus(known, facts),
        cpu_limit(facts),
        governor(known),
        turbo_check(facts),
        throttling(facts),
        power(known),
        virtual_machine(known),
        clock(known, facts),
    ]
}

fn build(known: &Known<'_>) -> Check {
    match known.advice(WarningKind::DebugBuild) {
        Some(mend) => BUILD.problem("without optimisation", mend),
        None => BUILD.ok(format!("optimised, version {}", env!("CARGO_PKG_VERSION"))),
    }
}

fn cpus(known: &Known<'_>, facts: &Facts) -> Check {
    let ours = known.environment.cpus;
    let mut found = match facts.online {
        Some(all) if all > ours => format!("{ours} of {all} for this process"),
        _ => ours.to_string(),
    };
    if let Some(threads) = facts.threads_per_core.filter(|threads| *threads > 1) {
        found.push_str(&format!(", {threads} to a core"));
    }
    if let Some(model) = &known.environment.cpu {
        found.push_str(&format!(", {model}"));
    }
    let alone = (ours == 1).then_some(
        "Measure where there are two CPUs or more: one is shared by what is measured, this \
         program and the system.",
    );
    CPUS.judged(found, alone)
}

fn cpu_limit(facts: &Facts) -> Check {
    let Some(limit) = facts.limit else {
        return CPU_LIMIT.ok("none");
    };
    let stopped = match facts.times_stopped {
        Some(times) if times > 0 => format!(", and stopped {times} times so far"),
        _ => String::new(),
    };
    CPU_LIMIT.warning(
        format!("limited to {limit:.1} CPUs by the control group{stopped}"),
        "Lift the limit for the run (docker run without --cpus, a pod without limits.cpu).",
    )
}

fn governor(known: &Known<'_>) -> Check {
    match &known.environment.governor {
        None => GOVERNOR.unavailable("not told here, as in most virtual machines"),
        Some(governor) => GOVERNOR.judged(governor, known.advice(WarningKind::Governor)),
    }
}

fn turbo_check(facts: &Facts) -> Check {
    match facts.turbo {
        None => TURBO.unavailable(NOT_TOLD),
        Some(false) => TURBO.ok("off"),
        Some(true) => TURBO.check(
            CheckState::Ok,
            "on: the clock rate follows load and temperature",
            Some(
                "To compare times of different days: echo 1 | sudo tee \
                 /sys/devices/system/cpu/intel_pstate/no_turbo, or 0 into cpufreq/boost.",
            ),
        ),
    }
}

fn throttling(facts: &Facts) -> Check {
    const MEND: &str = "Let it cool down, free its fans, or lower its power limit.";
    let warmth = facts
        .hottest
        .map(|hottest| format!("{} degrees Celsius", hottest / 1000));
    match (facts.throttled, facts.throttled_now) {
        (_, Some(now)) if now > 0 => {
            THROTTLING.warning(format!("{now} times while this looked"), MEND)
        }
        _ if facts.hottest.is_some_and(|hottest| hottest >= HOT) => {
            THROTTLING.warning(warmth.unwrap_or_default(), MEND)
        }
        (Some(times), _) => {
            let warmth = warmth.map(|warmth| format!("; {warmth}"));
            THROTTLING.ok(format!(
                "not now; {times} times since the start of the system{}",
                warmth.unwrap_or_default()
            ))
        }
        (None, _) => match warmth {
            Some(warmth) => THROTTLING.ok(warmth),
            None => THROTTLING.unavailable(NOT_TOLD),
        },
    }
}

fn power(known: &Known<'_>) -> Check {
    match known.environment.on_battery {
        None => POWER.unavailable(NOT_TOLD),
        Some(false) => POWER.ok("mains"),
        Some(true) => POWER.judged("battery", known.advice(WarningKind::Battery)),
    }
}

fn virtual_machine(known: &Known<'_>) -> Check {
    let Some(found) = &known.environment.virtualisation else {
        return VIRTUAL.ok("none recognised");
    };
    // A container alone shares the system's page cache, clock and disk.
    let guest = ["virtual machine", "Windows"]
        .iter()
        .any(|sign| found.contains(sign));
    VIRTUAL.judged(
        found,
        guest.then_some(
            "Measure where the data will live; believe cold reads and syncs of this host only.",
        ),
    )
}

fn clock(known: &Known<'_>, facts: &Facts) -> Check {
    let source = known.environment.clock_source.as_deref();
    let mut found = source.unwrap_or("source not told here").to_owned();
    let mut mend = known.advice(WarningKind::ClockSource);
    if let Some(clock) = facts.clock {
        found.push_str(&format!(", {:.0} ns to read", clock.cost_ns));
        match clock.step_ns {
            Some(step) if step < COARSE_CLOCK_NS => {}
            Some(step) => found.push_str(&format!(", in steps of {step} ns")),
            None => found.push_str(", in steps too large to see"),
        }
        let coarse = clock.step_ns.is_none_or(|step| step >= COARSE_CLOCK_NS);
        if coarse || clock.cost_ns > SLOW_CLOCK_NS {
            mend = mend.or(Some(
                "Trust the ratios; percentiles of fast operations are too high here. The kernel \
                 says why it does not use tsc: 'sudo dmesg | grep -i tsc'.",
            ));
        }
    }
    CLOCK.judged(found, mend)
}

#[cfg(test)]
mod tests {
    use super::super::super::root::MadeUp;
    use super::*;

    #[test]
    fn lists_of_cpus_are_counted() {
        assert_eq!(count_of_list("0-3,8"), Some(5));
        assert_eq!(count_of_list("0"), Some(1));
        for wrong in ["", "a", "3-1", "0-4294967295,0", "1-"] {
            assert_eq!(count_of_list(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn turbo_heat_and_siblings_are_read_as_either_vendor_writes_them() {
        let cpu = "/sys/devices/system/cpu";
        let tree = MadeUp::of(&[
            (&*format!("{cpu}/cpufreq/boost"), "1\n"),
            (&*format!("{cpu}/online"), "0-7\n"),
            (
                &*format!("{cpu}/cpu0/topology/thread_siblings_list"),
                "0,4\n",
            ),
            (
                &*format!("{cpu}/cpu0/thermal_throttle/core_throttle_count"),
                "3\n",
            ),
            (
                &*format!("{cpu}/cpu1/thermal_throttle/core_throttle_count"),
                "4\n",
            ),
            ("/sys/class/thermal/thermal_zone0/temp", "27800\n"),
            ("/sys/class/thermal/thermal_zone1/temp", "93000\n"),
        ]);
        let facts = Facts::read(&tree.root());
        assert_eq!(facts.turbo, Some(true));
        assert_eq!((facts.online, facts.threads_per_core), (Some(8), Some(2)));
        assert_eq!(facts.hottest, Some(93_000));
        assert_eq!(times_throttled(&tree.root()), Some(7));
        tree.write(&format!("{cpu}/intel_pstate/no_turbo"), "1\n");
        assert_eq!(turbo(&tree.root()), Some(false));
    }

    #[test]
    fn heat_is_told_by_what_happens_now_before_what_happened_once() {
        let facts = |throttled, throttled_now, hottest| Facts {
            throttled,
            throttled_now,
            hottest,
            ..Facts::default()
        };
        let state = |facts: &Facts| throttling(facts).state;
        assert_eq!(state(&facts(None, None, None)), CheckState::Unavailable);
        assert_eq!(
            state(&facts(Some(9), Some(0), Some(40_000))),
            CheckState::Ok
        );
        assert_eq!(state(&facts(Some(9), Some(1), None)), CheckState::Warning);
        assert_eq!(state(&facts(None, None, Some(95_000))), CheckState::Warning);
    }
}
