//! The table: what is looked at, group by group, and what it means.

use super::{Context, Finding, Root, Row, disk};
use std::path::PathBuf;
use stowplan_model::CheckGroup::{self, Disk, Features, Memory, OtherWork, Processor};
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
/// Engines keep dozens of files open, and each worker some more.
const FEW_FILES: u64 = 256;
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

const fn row(
    group: CheckGroup,
    name: &'static str,
    why: &'static str,
    judge: fn(&Context<'_>) -> Finding,
) -> Row {
    Row {
        group,
        name,
        why,
        judge,
    }
}

/// What is looked at.
pub(super) const TABLE: &[Row] = &[
    row(
        Processor,
        "build",
        "Without optimisation this program's own code takes longer than what it measures.",
        build,
    ),
    row(
        Processor,
        "CPUs",
        "Waiting for a CPU is subtracted, but who had it meanwhile leaves its data in the caches; a thread that has used up its share is stopped in the middle of a block.",
        cpus,
    ),
    row(
        Processor,
        "governor",
        "At a low clock rate the processor slows down more than memory and disk do, so ratios change, too.",
        governor,
    ),
    row(
        Processor,
        "virtual machine",
        "Cold means cold in this guest: the host's own cache cannot be seen. What a sync means is the host's choice.",
        virtual_machine,
    ),
    row(
        Processor,
        "clock",
        "Ratios read the clock twice per block; percentiles read it once per operation, which takes about 24 ns with tsc.",
        clock,
    ),
    row(
        OtherWork,
        "load",
        "Beside two busy processes warm reads took 3 times as long by the wall clock, and 2 to 4% longer after waiting for a CPU was subtracted.",
        load,
    ),
    row(
        OtherWork,
        "busy processes",
        "They take CPUs, and parts of the caches, from what is measured.",
        busy_processes,
    ),
    row(
        OtherWork,
        "waiting for CPU",
        "It is subtracted, else the same precision takes 9 to 85 times as long. Above 5% two identical cells may differ by 3% instead of 1% before a session is unreliable.",
        waiting,
    ),
    row(
        OtherWork,
        "others' writes",
        "They stand in the same queue of the device as cold reads and syncs.",
        writes,
    ),
    row(
        OtherWork,
        "file scanner",
        "It is asked before a file is opened, and mostly reads it: each time that a separate file is read, and once for a database.",
        scanner,
    ),
    row(
        Memory,
        "memory",
        "What is measured warm has to stay in the page cache: with 0.3% of its files read from the disk, a directory took 1.7 times as long.",
        memory,
    ),
    row(
        Memory,
        "working set",
        "Data that fits the processor's cache is measured there: files against SQLite took 2.10 times as long with 5 MB, 1.45 times with 1 GB.",
        working_set,
    ),
    row(
        Memory,
        "page-out",
        "What is measured warm does not stay in the page cache: a file of 50 MB of which nine tenths were gone after an idle minute is read in again before blocks, and lies there in another order.",
        page_out,
    ),
    row(
        Disk,
        "file system",
        "Opening, creating and syncing files is its work, and differs between file systems more than between stores.",
        disk::file_system,
    ),
    row(
        Disk,
        "mount options",
        "They decide what a sync promises, what a read writes, and how many bytes reach the device.",
        disk::mount_options,
    ),
    row(
        Disk,
        "device",
        "Cold reads and syncs are its speed; what is measured warm does not touch it.",
        disk::device_kind,
    ),
    row(
        Disk,
        "read-ahead",
        "With 8 MiB a cold SQLite read through a mapping fetched 697 KB for 10 KB, and took 8.9 times as long as a file.",
        disk::read_ahead,
    ),
    row(
        Disk,
        "free space",
        "A run refuses to begin without room for it, and a nearly full file system is slower.",
        disk::free_space,
    ),
    row(
        Disk,
        "sync",
        "Durable writes are timed by it. A virtual disk took 0.08 to 0.10 ms when calm, and 4.0 ms beside compilers.",
        disk::sync,
    ),
    row(
        Features,
        "evicting files",
        "Cold blocks begin with no page of their data in the cache: posix_fadvise, for each file, without root.",
        eviction,
    ),
    row(
        Features,
        "seeing the cache",
        "Without it neither a cold block nor a warm one can be proved to be one.",
        residency,
    ),
    row(
        Features,
        "drop_caches",
        "It empties memory of all files, names too, as after a reboot; data alone Stowplan evicts without it.",
        drop_caches,
    ),
    row(
        Features,
        "open files",
        "Engines of many tables keep many files open, and fail where they may not.",
        open_files,
    ),
    row(
        Features,
        "strace",
        "It shows which system calls an operation makes; a traced call takes 83 µs, so never while timing.",
        strace,
    ),
    row(
        Features,
        "FUSE",
        "A file system in a process can lose what was not synced: how losing power is tried without losing power.",
        fuse,
    ),
];

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
    let count = context.environment.cpus;
    let model = context.environment.cpu.as_ref();
    let found = count.to_string() + &model.map_or(String::new(), |model| format!(", {model}"));
    if let Some(limit) = context.facts.cpu_limit {
        return Finding::warning(
            format!("{found}; limited to {limit:.1} CPUs by the control group"),
            "Lift the limit for the run (docker run without --cpus, a pod without limits.cpu).",
        )
        .of(WarningKind::Other);
    }
    Finding::judged(
        found,
        count == 1,
        "Measure where there are two CPUs or more: one is shared by what is measured, this \
         program and the system.",
    )
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
    if let Some(ns) = context.facts.clock_ns {
        found.push_str(&format!(", {ns:.0} ns to read"));
        slow |= ns > SLOW_CLOCK_NS;
    }
    Finding::judged(
        found,
        slow,
        "Trust the ratios; percentiles of fast operations are too high here. The kernel says why \
         it does not use tsc: 'sudo dmesg | grep -i tsc'.",
    )
    .of(WarningKind::ClockSource)
}

fn load(context: &Context<'_>) -> Finding {
    let Some(load) = context.environment.load_average else {
        return Finding::untold();
    };
    let count = context.environment.cpus.max(1);
    let cpus = match count {
        1 => "1 CPU".to_owned(),
        cpus => format!("{cpus} CPUs"),
    };
    Finding::judged(
        format!("{load:.2} on {cpus} over the last minute"),
        load > LOAD_PER_CPU * f64::from(count),
        "Stop other work, or measure more rounds: waiting for a CPU is subtracted, but caches and \
         disks are shared.",
    )
    .of(WarningKind::Load)
}

fn busy_processes(context: &Context<'_>) -> Finding {
    let Some(busy) = &context.facts.busy else {
        return Finding::unavailable("processes of others are not seen here");
    };
    if busy.is_empty() {
        return Finding::ok("none above a tenth of a CPU");
    }
    let more = match busy.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = busy[..NAMED.min(busy.len())].join(", ");
    Finding::warning(
        format!("{named}{more} of a CPU"),
        "Stop them, or wait until they are done; 'top' shows them.",
    )
}

fn waiting(context: &Context<'_>) -> Finding {
    if !context.environment.run_queue_delay {
        return Finding::warning(
            "the system does not tell, so it cannot be subtracted",
            "Run on an otherwise idle machine, or on Linux with /proc/thread-self/schedstat.",
        )
        .of(WarningKind::NoRunQueueDelay);
    }
    let Some(share) = context.facts.waiting else {
        return Finding::untold();
    };
    Finding::judged(
        format!(
            "{:.1}% of the time, and it can be subtracted",
            share * 100.0
        ),
        share > WAITING,
        "Stop other work, or give it other CPUs (taskset).",
    )
}

fn writes(context: &Context<'_>) -> Finding {
    let device = context.environment.device.as_ref();
    let (Some(rate), Some(device)) = (context.facts.foreign_write_rate, device) else {
        return Finding::untold();
    };
    Finding::judged(
        format!("{} per second to {}", format_bytes(rate), device.name),
        rate > FOREIGN_BYTES_PER_SECOND,
        "Stop them (iotop shows who it is), or do not trust cold reads and durable writes.",
    )
    .of(WarningKind::ForeignWrites)
}

/// Whether something else runs; that a system does not tell is nothing of the sort.
pub(super) fn others_work(context: &Context<'_>) -> bool {
    let others = TABLE.iter().filter(|row| row.group == OtherWork);
    let mut found = others.map(|row| (row.judge)(context));
    found.any(|finding| finding.spoils() && finding.kind != Some(WarningKind::NoRunQueueDelay))
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
    Finding::warning(
        found[..NAMED.min(found.len())].join(", "),
        "Have it leave the directory out, or measure what it costs: 'stowplan study scanner' has files and \
         a database with such a scanner and without.",
    )
    .of(WarningKind::Scanner)
}

fn memory(context: &Context<'_>) -> Finding {
    let environment = context.environment;
    let available = environment.memory_available_bytes;
    if available == 0 {
        return Finding::untold();
    }
    Finding::judged(
        format!(
            "{} of {} available; {} keeps {} cached",
            format_bytes(available),
            format_bytes(environment.memory_bytes),
            context.demand.what,
            format_bytes(context.demand.cached_bytes)
        ),
        context.demand.cached_bytes > available,
        "Choose a smaller scale, measure fewer cells at a time with --only, or free memory.",
    )
    .of(WarningKind::Memory)
}

fn working_set(context: &Context<'_>) -> Finding {
    let Some(cache) = context.environment.last_level_cache_bytes else {
        return Finding::unavailable("the size of the processor's cache is not told here");
    };
    let Some(visited) = context.demand.working_set_bytes else {
        return Finding::ok(format!(
            "{} visits nothing again and again",
            context.demand.what
        ));
    };
    Finding::judged(
        format!(
            "{} visits {}; the processor caches {}",
            context.demand.what,
            format_bytes(visited),
            format_bytes(cache)
        ),
        visited < cache.saturating_mul(CACHE_MULTIPLE),
        "Use a larger dataset unless your application's data is as small; ratios can differ by half.",
    )
    .of(WarningKind::WorkingSet)
}

fn page_out(context: &Context<'_>) -> Finding {
    let evicts = &context.facts.evicts;
    if evicts.is_empty() {
        return Finding::ok("nothing that evicts idle pages is switched on");
    }
    let (names, stop): (Vec<&str>, Vec<&str>) =
        evicts.iter().map(|(name, stop)| (*name, &**stop)).unzip();
    Finding::judged(
        format!(
            "{} evicts pages that are idle for a while",
            names.join(", ")
        ),
        context.demand.cached_bytes > 0,
        &format!("For the run, switch it off: {}.", stop.join("; ")),
    )
    .of(WarningKind::PageOut)
}

/// What DAMON may be told to do with idle pages.
const EVICTING: [&str; 4] = ["pageout", "cold", "migrate_cold", "lru_deprio"];

/// What DAMON was told to do with idle pages: by its files in `/sys`, and by its modules that need no more
/// than to be switched on (the kernel's `Documentation/admin-guide/mm/damon`).
pub(super) fn evicting(root: &Root) -> Vec<(&'static str, String)> {
    let entries = |directory: PathBuf| directory.to_str().map_or(Vec::new(), |d| root.entries(d));
    let evicts = |kdamond: &PathBuf| {
        let contexts = entries(kdamond.join("contexts"));
        let mut schemes = contexts.iter().flat_map(|c| entries(c.join("schemes")));
        let is_on = root.line(kdamond.join("state")).as_deref() == Some("on");
        is_on
            && schemes.any(|scheme| {
                let action = root.line(scheme.join("action"));
                action.is_some_and(|action| EVICTING.contains(&action.as_str()))
            })
    };
    let kdamonds = root.entries("/sys/kernel/mm/damon/admin/kdamonds");
    let by_hand = kdamonds.into_iter().filter(evicts).map(|kdamond| {
        let state = kdamond.join("state");
        ("DAMON", format!("echo off | sudo tee {}", state.display()))
    });
    let modules = [
        (
            "DAMON_RECLAIM",
            "/sys/module/damon_reclaim/parameters/enabled",
        ),
        (
            "DAMON_LRU_SORT",
            "/sys/module/damon_lru_sort/parameters/enabled",
        ),
    ];
    let modules = modules
        .into_iter()
        .filter(|(_, switch)| root.line(switch).as_deref() == Some("Y"))
        .map(|(name, switch)| (name, format!("echo N | sudo tee {switch}")));
    by_hand.chain(modules).collect()
}

fn eviction(context: &Context<'_>) -> Finding {
    let probe = context.facts.disk.probe.as_ref();
    let probe = probe.and_then(|probe| probe.as_ref().ok());
    let Some(left) = probe.and_then(|probe| probe.evicted) else {
        return Finding::unavailable("not tried, or not to be seen");
    };
    if disk::in_memory(context) {
        return Finding::unavailable("memory is all there is here");
    }
    Finding::judged(
        format!(
            "{} of {} pages stayed",
            left.resident_pages, left.checked_pages
        ),
        left.resident_pages > 0,
        "Rely on warm comparisons only, or measure on another file system.",
    )
}

fn residency(context: &Context<'_>) -> Finding {
    match context.environment.residency_check.as_deref() {
        Some("mincore") => Finding::ok("by mincore; cachestat, which is faster, needs Linux 6.5"),
        Some(how) => Finding::ok(format!("by {how}")),
        None => Finding::warning(
            "neither cachestat nor mincore works",
            "Rely on warm comparisons only, or run on Linux.",
        )
        .of(WarningKind::NoResidencyCheck),
    }
}

fn drop_caches(context: &Context<'_>) -> Finding {
    device_file(
        context.facts.drop_caches,
        "Only root may, and not in every container; only 'all-cold' needs it.",
    )
}

fn fuse(context: &Context<'_>) -> Finding {
    device_file(
        context.facts.fuse,
        "Allow /dev/fuse to this user (docker run --device /dev/fuse --cap-add SYS_ADMIN).",
    )
}

/// Something behind a file that must be writable.
fn device_file(writable: Option<bool>, mend: &str) -> Finding {
    match writable {
        None => Finding::lacking("there is none", mend),
        Some(true) => Finding::ok("yes"),
        Some(false) => Finding::lacking("not for this user", mend),
    }
}

fn open_files(context: &Context<'_>) -> Finding {
    let Some(files) = context.facts.open_files else {
        return Finding::ok("no limit");
    };
    Finding::judged(
        format!("{files} at once"),
        files < FEW_FILES,
        "ulimit -n 1024, before starting a run.",
    )
}

fn strace(context: &Context<'_>) -> Finding {
    match &context.facts.strace {
        Some(path) => Finding::ok(path),
        None => Finding::lacking("not found", "apt install strace, or your system's way."),
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
        let facts = Facts::read(&tree.root());
        assert_eq!((facts.drop_caches, facts.fuse), (Some(true), None));
    }

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        let sh = counting::on_path("sh");
        assert!(sh.is_some_and(|path| path.ends_with("sh")));
        assert_eq!(counting::on_path("no-such-program-anywhere"), None);
    }
}
