//! The table: what is looked at, group by group, and what it means.

use super::{Context, Finding, Root, Row, Words, disk};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;
use stowplan_model::{WarningKind, format_bytes};

/// Load per CPU above which other work clearly takes part.
const LOAD_PER_CPU: f64 = 0.5;
/// Writes of others above this compete with ours; below are logs and the like.
const FOREIGN_BYTES_PER_SECOND: u64 = 1_000_000;
/// As many are named.
const NAMED: usize = 3;
/// Above this share of the time, a control may differ by 3% instead of 1% (docs/method.md).
const WAITING: f64 = 0.05;
/// R5: below this multiple of the last-level cache, the processor's cache is measured too.
const CACHE_MULTIPLE: u64 = 4;
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

const WORDS: &str = include_str!("rows.toml");

/// What is looked at.
pub(super) static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let words: BTreeMap<String, Vec<Words>> = toml::from_str(WORDS).unwrap_or_default();
    let row = |words: Words| {
        let judge = judge_of(&words.name)?;
        Some(Row { words, judge })
    };
    words.into_values().flatten().filter_map(row).collect()
});

fn judge_of(name: &str) -> Option<fn(&Context<'_>) -> Finding> {
    Some(match name {
        "build" => build,
        "CPUs" => cpus,
        "governor" => governor,
        "virtual machine" => virtual_machine,
        "clock" => clock,
        "load" => load,
        "waiting for CPU" => waiting,
        "others' writes" => writes,
        "file scanner" => scanner,
        "memory" => memory,
        "working set" => working_set,
        "page-out" => page_out,
        "file system" => disk::file_system,
        "mount options" => disk::mount_options,
        "read-ahead" => disk::read_ahead,
        "free space" => disk::free_space,
        "sync" => disk::sync,
        "evicting files" => eviction,
        "drop_caches" => |context| device_file(context.facts.drop_caches),
        "strace" => strace,
        "FUSE" => |context| device_file(context.facts.fuse),
        _ => return None,
    })
}

/// What a fact means, if the system tells it.
fn told<T>(fact: Option<T>, judge: impl FnOnce(T) -> Finding) -> Finding {
    fact.map_or_else(Finding::untold, judge)
}

fn build(context: &Context<'_>) -> Finding {
    if context.environment.optimised {
        return Finding::ok(format!("optimised, version {}", env!("CARGO_PKG_VERSION")));
    }
    Finding::problem("not optimised").of(WarningKind::DebugBuild)
}

fn cpus(context: &Context<'_>) -> Finding {
    let count = context.environment.cpus;
    let model = context.environment.cpu.as_ref();
    let found = count.to_string() + &model.map_or(String::new(), |model| format!(", {model}"));
    if let Some(limit) = context.facts.cpu_limit {
        return Finding::warning(format!(
            "{found}; limited to {limit:.1} CPUs by the control group"
        ))
        .by("Lift the limit for the run (docker run without --cpus, a pod without limits.cpu).")
        .of(WarningKind::Other);
    }
    Finding::judged(found, count == 1)
}

fn governor(context: &Context<'_>) -> Finding {
    let Some(governor) = &context.environment.governor else {
        return Finding::unavailable("not told here, as in most virtual machines");
    };
    Finding::judged(governor, governor == "powersave").of(WarningKind::Governor)
}

fn virtual_machine(context: &Context<'_>) -> Finding {
    let Some(found) = &context.environment.virtualisation else {
        return Finding::ok("none recognised");
    };
    // A container alone shares the system's page cache, clock and disk.
    let guest = ["virtual machine", "Windows"]
        .iter()
        .any(|sign| found.contains(sign));
    Finding::judged(found, guest)
}

fn clock(context: &Context<'_>) -> Finding {
    told(context.environment.clock_source.as_deref(), |source| {
        Finding::judged(source, !FAST_CLOCKS.contains(&source)).of(WarningKind::ClockSource)
    })
}

fn load(context: &Context<'_>) -> Finding {
    let cpus = context.environment.cpus.max(1);
    told(context.environment.load_average, |load| {
        let found = format!(
            "{load:.2} on {cpus} CPU{} over the last minute",
            if cpus == 1 { "" } else { "s" }
        );
        Finding::judged(found, load > LOAD_PER_CPU * f64::from(cpus)).of(WarningKind::Load)
    })
}

fn waiting(context: &Context<'_>) -> Finding {
    if !context.environment.run_queue_delay {
        return Finding::warning("the system does not tell, so it cannot be subtracted")
            .by("Run on an otherwise idle machine, or on Linux with /proc/thread-self/schedstat.")
            .of(WarningKind::NoRunQueueDelay);
    }
    told(context.facts.waiting, |share| {
        let percent = share * 100.0;
        let found = format!("{percent:.1}% of the time, and it can be subtracted");
        Finding::judged(found, share > WAITING)
    })
}

fn writes(context: &Context<'_>) -> Finding {
    let device = context.environment.device.as_ref();
    told(
        context.facts.foreign_write_rate.zip(device),
        |(rate, device)| {
            let found = format!("{} per second to {}", format_bytes(rate), device.name);
            Finding::judged(found, rate > FOREIGN_BYTES_PER_SECOND).of(WarningKind::ForeignWrites)
        },
    )
}

fn scanner(context: &Context<'_>) -> Finding {
    let found = &context.facts.scanners;
    if found.is_empty() {
        return Finding::ok(match rustix::process::geteuid().is_root() {
            true => "nobody is asked before files are opened",
            false => {
                "none that is known by name; who is asked before files are opened is shown to root only"
            }
        });
    }
    Finding::warning(found[..NAMED.min(found.len())].join(", ")).of(WarningKind::Scanner)
}

fn memory(context: &Context<'_>) -> Finding {
    let (environment, demand) = (context.environment, context.demand);
    let available = Some(environment.memory_available_bytes).filter(|bytes| *bytes > 0);
    told(available, |available| {
        let what = &demand.what;
        let [free, all, cached] =
            [available, environment.memory_bytes, demand.cached_bytes].map(format_bytes);
        let found = format!("{free} of {all} available; {what} keeps {cached} cached");
        Finding::judged(found, demand.cached_bytes > available).of(WarningKind::Memory)
    })
}

fn working_set(context: &Context<'_>) -> Finding {
    let Some(cache) = context.environment.last_level_cache_bytes else {
        return Finding::unavailable("the size of the processor's cache is not told here");
    };
    let what = &context.demand.what;
    let Some(visited) = context.demand.working_set_bytes else {
        return Finding::ok(format!(
            "{what} visits no values again and again that it makes up"
        ));
    };
    let [shown, cached] = [visited, cache].map(format_bytes);
    let found = format!("{what} visits {shown}; the processor caches {cached}");
    Finding::judged(found, visited < cache.saturating_mul(CACHE_MULTIPLE))
        .of(WarningKind::WorkingSet)
}

fn page_out(context: &Context<'_>) -> Finding {
    let evicts = &context.facts.evicts;
    if evicts.is_empty() {
        return Finding::ok("nothing that evicts idle pages is switched on");
    }
    let (names, stop): (Vec<&str>, Vec<&str>) =
        evicts.iter().map(|(name, stop)| (*name, &**stop)).unzip();
    let names = names.join(", ");
    let found = format!("{names} evicts pages that are idle for a while");
    Finding::judged(found, context.demand.cached_bytes > 0)
        .by(format!("For the run, switch it off: {}.", stop.join("; ")))
        .of(WarningKind::PageOut)
}

/// What DAMON may be told to do with idle pages.
const EVICTING: [&str; 4] = ["pageout", "cold", "migrate_cold", "lru_deprio"];

/// What DAMON was told to do with idle pages: by its files in `/sys`, and by its modules that need no more
/// than to be switched on (the kernel's `Documentation/admin-guide/mm/damon`).
pub(super) fn evicting(root: &Root) -> Vec<(&'static str, String)> {
    let entries = |directory: PathBuf| root.entries(&directory.to_string_lossy());
    let evicts = |kdamond: &PathBuf| {
        let contexts = entries(kdamond.join("contexts"));
        let mut schemes = contexts.iter().flat_map(|c| entries(c.join("schemes")));
        let is_on = root.line(kdamond.join("state")).as_deref() == Some("on");
        is_on
            && schemes.any(|scheme| {
                let action = root.line(scheme.join("action"));
                action.is_some_and(|action| EVICTING.contains(&&*action))
            })
    };
    let kdamonds = root.entries("/sys/kernel/mm/damon/admin/kdamonds");
    let by_hand = kdamonds.into_iter().filter(evicts).map(|kdamond| {
        let state = kdamond.join("state");
        ("DAMON", format!("echo off | sudo tee {}", state.display()))
    });
    let modules = [
        ("DAMON_RECLAIM", "damon_reclaim"),
        ("DAMON_LRU_SORT", "damon_lru_sort"),
    ];
    let modules = modules.into_iter().filter_map(|(name, module)| {
        let switch = format!("/sys/module/{module}/parameters/enabled");
        let is_on = root.line(&switch).as_deref() == Some("Y");
        is_on.then(|| (name, format!("echo N | sudo tee {switch}")))
    });
    by_hand.chain(modules).collect()
}

fn eviction(context: &Context<'_>) -> Finding {
    let probe = context.facts.probe.as_ref();
    let probe = probe.and_then(|probe| probe.as_ref().ok());
    let Some(left) = probe.and_then(|probe| probe.evicted) else {
        return Finding::unavailable("not tried, or not to be seen");
    };
    if disk::in_memory(context) {
        return Finding::unavailable("memory is all there is here");
    }
    let (stayed, all) = (left.resident_pages, left.checked_pages);
    Finding::judged(format!("{stayed} of {all} pages stayed"), stayed > 0)
}

/// Something behind a file that must be writable.
fn device_file(writable: Option<bool>) -> Finding {
    match writable {
        None => Finding::lacking("there is none"),
        Some(true) => Finding::ok("yes"),
        Some(false) => Finding::lacking("not for this user"),
    }
}

fn strace(context: &Context<'_>) -> Finding {
    match &context.facts.strace {
        Some(path) => Finding::ok(path),
        None => Finding::lacking("not found"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::root::MadeUp;
    use super::super::Facts;
    use super::*;
    use crate::counting;

    #[test]
    fn what_evicts_idle_pages_is_found_with_the_way_to_stop_it() {
        let damon = "/sys/kernel/mm/damon/admin/kdamonds";
        let file = |name: &str| format!("{damon}/0/{name}");
        let schemes = "contexts/0/schemes";
        let tree = MadeUp::of(&[
            (&*format!("{damon}/nr_kdamonds"), "1\n"),
            (&*file("state"), "on\n"),
            (&*file(&format!("{schemes}/nr_schemes")), "2\n"),
            (&*file(&format!("{schemes}/0/action")), "stat\n"),
            (&*file(&format!("{schemes}/1/action")), "pageout\n"),
        ]);
        let stop = format!("echo off | sudo tee {damon}/0/state");
        assert_eq!(evicting(&tree.root()), [("DAMON", stop)]);
        tree.write(&file(&format!("{schemes}/1/action")), "stat\n");
        assert_eq!(evicting(&tree.root()), [], "it only looks");
        tree.write("/sys/module/damon_reclaim/parameters/enabled", "N\n");
        tree.write("/sys/module/damon_lru_sort/parameters/enabled", "Y\n");
        assert_eq!(evicting(&tree.root())[0].0, "DAMON_LRU_SORT");
    }

    #[test]
    fn what_is_there_and_may_be_written_is_told_from_what_is_not_there() {
        let tree = MadeUp::of(&[("/proc/sys/vm/drop_caches", "0\n")]);
        let facts = Facts::read(&tree.root(), None);
        assert_eq!((facts.drop_caches, facts.fuse), (Some(true), None));
    }

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        let sh = counting::on_path("sh");
        assert!(sh.is_some_and(|path| path.ends_with("sh")));
        assert_eq!(counting::on_path("no-such-program-anywhere"), None);
    }
}
