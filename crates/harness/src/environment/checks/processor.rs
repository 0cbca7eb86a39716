//! CPUs and clocks.

use super::super::control_group;
use super::{Context, Finding, Root, Row, probe, row};
use stowplan_model::WarningKind;

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
/// A clock that takes longer to read is no part of the processor, in nanoseconds.
const SLOW_CLOCK_NS: f64 = 200.0;
/// A clock with larger steps cannot time one operation, in nanoseconds.
const COARSE_CLOCK_NS: u64 = 1_000;

/// What is looked at here.
pub(super) const ROWS: &[Row] = &[
    row(
        "build",
        "Without optimisation this program's own code takes longer than what it measures.",
        build,
    ),
    row(
        "CPUs",
        "Waiting for a CPU is subtracted, but who had it meanwhile leaves its data in the caches.",
        cpus,
    ),
    row(
        "CPU limit",
        "A thread that has used up its share is stopped in the middle of a block.",
        cpu_limit,
    ),
    row(
        "governor",
        "At a low clock rate the processor slows down more than memory and disk do, so ratios change, too.",
        governor,
    ),
    row(
        "virtual machine",
        "Cold means cold in this guest: the host's own cache cannot be seen. What a sync means is the host's choice.",
        virtual_machine,
    ),
    row(
        "clock",
        "Ratios read the clock twice per block; percentiles read it once per operation, which takes about 24 ns with tsc.",
        clock,
    ),
];

#[derive(Debug, Default)]
pub(super) struct Facts {
    /// CPUs that are switched on.
    online: Option<u32>,
    threads_per_core: Option<u32>,
    /// CPUs' worth of time that the control group may use.
    limit: Option<f64>,
    times_stopped: Option<u64>,
    clock: Option<probe::Clock>,
}

impl Facts {
    pub(super) fn gather(root: &Root) -> Self {
        Self {
            clock: Some(probe::clock()),
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

fn build(context: &Context<'_>) -> Finding {
    if context.environment.optimised {
        return Finding::ok(format!("optimised, version {}", env!("CARGO_PKG_VERSION")));
    }
    Finding::problem(
        "not optimised",
        "Build it with 'cargo build --release' and run again.",
    )
    .of(WarningKind::DebugBuild)
}

fn cpus(context: &Context<'_>) -> Finding {
    let (facts, ours) = (&context.facts.processor, context.environment.cpus);
    let mut found = match facts.online {
        Some(all) if all > ours => format!("{ours} of {all} for this process"),
        _ => ours.to_string(),
    };
    if let Some(threads) = facts.threads_per_core.filter(|threads| *threads > 1) {
        found.push_str(&format!(", {threads} to a core"));
    }
    if let Some(model) = &context.environment.cpu {
        found.push_str(&format!(", {model}"));
    }
    Finding::judged(
        found,
        ours == 1,
        "Measure where there are two CPUs or more: one is shared by what is measured, this \
         program and the system.",
    )
}

fn cpu_limit(context: &Context<'_>) -> Finding {
    let facts = &context.facts.processor;
    let Some(limit) = facts.limit else {
        return Finding::ok("none");
    };
    let stopped = match facts.times_stopped {
        Some(times) if times > 0 => format!(", and stopped {times} times so far"),
        _ => String::new(),
    };
    Finding::warning(
        format!("limited to {limit:.1} CPUs by the control group{stopped}"),
        "Lift the limit for the run (docker run without --cpus, a pod without limits.cpu).",
    )
    .of(WarningKind::Other)
}

fn governor(context: &Context<'_>) -> Finding {
    let Some(governor) = &context.environment.governor else {
        return Finding::unavailable("not told here, as in most virtual machines");
    };
    Finding::judged(
        governor,
        governor == "powersave",
        "Switch to 'performance' for the run: sudo cpupower frequency-set -g performance.",
    )
    .of(WarningKind::Governor)
}

fn virtual_machine(context: &Context<'_>) -> Finding {
    let Some(found) = &context.environment.virtualisation else {
        return Finding::ok("none recognised");
    };
    // A container alone shares the system's page cache, clock and disk.
    let guest = ["virtual machine", "Windows"]
        .iter()
        .any(|sign| found.contains(sign));
    Finding::judged(
        found,
        guest,
        "Measure where the data will live; believe cold reads and syncs of this host only.",
    )
}

fn clock(context: &Context<'_>) -> Finding {
    let source = context.environment.clock_source.as_deref();
    let mut found = source.unwrap_or("source not told here").to_owned();
    let mut slow = source.is_some_and(|source| !FAST_CLOCKS.contains(&source));
    if let Some(clock) = context.facts.processor.clock {
        found.push_str(&format!(", {:.0} ns to read", clock.cost_ns));
        match clock.step_ns {
            Some(step) if step < COARSE_CLOCK_NS => {}
            Some(step) => found.push_str(&format!(", in steps of {step} ns")),
            None => found.push_str(", in steps too large to see"),
        }
        let coarse = clock.step_ns.is_none_or(|step| step >= COARSE_CLOCK_NS);
        slow |= coarse || clock.cost_ns > SLOW_CLOCK_NS;
    }
    Finding::judged(
        found,
        slow,
        "Trust the ratios; percentiles of fast operations are too high here. The kernel says why \
         it does not use tsc: 'sudo dmesg | grep -i tsc'.",
    )
    .of(WarningKind::ClockSource)
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
    fn cpus_and_those_that_share_a_core_are_counted() {
        let cpu = "/sys/devices/system/cpu";
        let siblings = format!("{cpu}/cpu0/topology/thread_siblings_list");
        let tree = MadeUp::of(&[(&*format!("{cpu}/online"), "0-7\n"), (&*siblings, "0,4\n")]);
        let facts = Facts::read(&tree.root());
        assert_eq!((facts.online, facts.threads_per_core), (Some(8), Some(2)));
    }
}
