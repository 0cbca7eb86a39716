//! What can be used here, by this user.

use super::super::machine;
use super::{Check, CheckGroup, Known, NOT_TOLD, Root, Subject, disk};
use crate::{counting, page_cache, platform};
use rustix::fs::Access;
use stowplan_model::{WarningKind, format_bytes};

/// Engines keep dozens of files open, and each worker some more.
const FEW_FILES: u64 = 256;

const fn subject(name: &'static str, why: &'static str) -> Subject {
    Subject {
        group: CheckGroup::Features,
        name,
        why,
    }
}

const EVICTION: Subject = subject(
    "evicting files",
    "Cold blocks begin with no page of their data in the cache: posix_fadvise, for each file, without root.",
);
const RESIDENCY: Subject = subject(
    "seeing the cache",
    "Without it neither a cold block nor a warm one can be proved to be one.",
);
const CACHESTAT: Subject = subject(
    "cachestat",
    "It looks at a file's pages in microseconds; mincore, the other way, takes about a millisecond for 64 MiB.",
);
const DROP_CACHES: Subject = subject(
    "drop_caches",
    "It empties the cache of the whole machine, names of files too; Stowplan evicts its own files instead.",
);
const PERF: Subject = subject(
    "perf_event_open",
    "It counts system calls exactly, at 0.2 µs each, in a pass of its own.",
);
const COUNTERS: Subject = subject(
    "CPU counters",
    "Instructions and cache misses explain a time; they are not needed to measure it.",
);
const STRACE: Subject = subject(
    "strace",
    "It shows which system calls an operation makes; a traced call takes 83 µs, so never while timing.",
);
const FUSE: Subject = subject(
    "FUSE",
    "A file system in a process can lose what was not synced: how losing power is tried without losing power.",
);
const LOOP: Subject = subject(
    "loop mounts",
    "A file as a device: how another file system is measured on the same disk.",
);
const RESERVED: Subject = subject(
    "reserved pages",
    "Huge pages are for stores that ask for them; no store of Stowplan does.",
);
const IO_URING: Subject = subject(
    "io_uring",
    "Reads in batches of 32 took 1.03 times as long as one pread each, from the page cache.",
);
const FILES: Subject = subject(
    "open files",
    "Engines of many tables keep many files open, and fail where they may not.",
);
const REFLINK: Subject = subject(
    "reflink",
    "A copy that shares its blocks takes no time and no space.",
);

#[derive(Debug, Default)]
pub(super) struct Facts {
    cachestat: bool,
    /// How residency is found out.
    how: Option<&'static str>,
    /// Of those that there are: whether this user may write to it.
    drop_caches: Option<bool>,
    fuse: Option<bool>,
    loop_control: Option<bool>,
    perf: Option<Result<(), i32>>,
    counters: Option<Result<(), i32>>,
    perf_paranoid: Option<String>,
    strace: Option<String>,
    /// Bytes of huge pages that are set aside.
    reserved: Option<u64>,
    io_uring: Option<bool>,
    open_files: Option<u64>,
}

impl Facts {
    pub(super) fn gather(root: &Root) -> Self {
        Self {
            cachestat: platform::has_cachestat(),
            how: page_cache::how(),
            perf: platform::try_perf_event(platform::PerfEvent::Software),
            counters: platform::try_perf_event(platform::PerfEvent::Instructions),
            strace: counting::on_path("strace").map(|file| file.display().to_string()),
            io_uring: platform::has_io_uring(),
            open_files: rustix::process::getrlimit(rustix::process::Resource::Nofile).current,
            ..Self::read(root)
        }
    }

    pub(super) fn read(root: &Root) -> Self {
        let writable = |path: &str| {
            let path = root.path(path);
            let exists = path.symlink_metadata().is_ok();
            exists.then(|| rustix::fs::access(&path, Access::WRITE_OK).is_ok())
        };
        Self {
            drop_caches: writable("/proc/sys/vm/drop_caches"),
            fuse: writable("/dev/fuse"),
            loop_control: writable("/dev/loop-control"),
            perf_paranoid: root.line("/proc/sys/kernel/perf_event_paranoid"),
            reserved: root
                .text("/proc/meminfo")
                .and_then(|text| machine::memory_field(&text, "Hugetlb")),
            ..Self::default()
        }
    }
}

pub(super) fn checks(known: &Known<'_>, facts: &Facts, disk: &disk::Facts) -> Vec<Check> {
    vec![
        eviction(known, disk),
        residency(known, facts),
        CACHESTAT.feature(
            facts.cachestat,
            if facts.cachestat { "yes" } else { "no" },
            "It needs Linux 6.5, and a container that allows it.",
        ),
        device_file(
            DROP_CACHES,
            facts.drop_caches,
            "Only root may, and not in every container; nothing here needs it.",
        ),
        open_files(facts),
        reflink(disk),
        perf(facts),
        counters(facts),
        strace(facts),
        device_file(
            FUSE,
            facts.fuse,
            "Allow /dev/fuse to this user (docker run --device /dev/fuse --cap-add SYS_ADMIN).",
        ),
        device_file(
            LOOP,
            facts.loop_control,
            "Only root may set them up, and not in every container.",
        ),
        io_uring(facts),
        reserved(facts),
    ]
}

fn eviction(known: &Known<'_>, disk: &disk::Facts) -> Check {
    let probe = disk.probe.as_ref().and_then(|probe| probe.as_ref().ok());
    let Some(left) = probe.and_then(|probe| probe.evicted) else {
        return EVICTION.unavailable("not tried, or not to be seen");
    };
    if disk::in_memory(known) {
        return EVICTION.unavailable("memory is all there is here");
    }
    let found = format!(
        "{} of {} pages stayed",
        left.resident_pages, left.checked_pages
    );
    EVICTION.judged(
        found,
        (left.resident_pages > 0)
            .then_some("Rely on warm comparisons only, or measure on another file system."),
    )
}

fn residency(known: &Known<'_>, facts: &Facts) -> Check {
    match facts.how {
        Some(how) => RESIDENCY.ok(format!("by {how}")),
        None => RESIDENCY.judged("no", known.advice(WarningKind::NoResidencyCheck)),
    }
}

/// Something behind a file that must be writable.
fn device_file(subject: Subject, writable: Option<bool>, mend: &str) -> Check {
    match writable {
        None => subject.feature(false, "there is none", mend),
        Some(true) => subject.ok("yes"),
        Some(false) => subject.feature(false, "not for this user", mend),
    }
}

fn open_files(facts: &Facts) -> Check {
    let Some(files) = facts.open_files else {
        return FILES.ok("no limit");
    };
    FILES.judged(
        format!("{files} at once"),
        (files < FEW_FILES).then_some("ulimit -n 1024, before starting a run."),
    )
}

fn reflink(disk: &disk::Facts) -> Check {
    match &disk.probe {
        Some(Ok(probe)) => REFLINK.feature(
            probe.reflink,
            if probe.reflink { "yes" } else { "no" },
            "btrfs, xfs and bcachefs have it.",
        ),
        _ => REFLINK.unavailable("not tried"),
    }
}

fn perf(facts: &Facts) -> Check {
    let paranoid = facts.perf_paranoid.as_ref();
    let paranoid = paranoid.map(|level| format!("perf_event_paranoid {level}"));
    match facts.perf {
        None => PERF.unavailable(NOT_TOLD),
        Some(Ok(())) => PERF.ok(paranoid.unwrap_or_else(|| "yes".to_owned())),
        Some(Err(_)) => PERF.feature(
            false,
            format!(
                "refused; {}",
                paranoid.as_deref().unwrap_or("a container may be why")
            ),
            "sudo sysctl kernel.perf_event_paranoid=1; in a container also --cap-add PERFMON.",
        ),
    }
}

fn counters(facts: &Facts) -> Check {
    match (facts.counters, facts.perf) {
        (None, _) => COUNTERS.unavailable(NOT_TOLD),
        (Some(Ok(())), _) => COUNTERS.ok("yes"),
        (Some(Err(_)), Some(Ok(()))) => COUNTERS.feature(
            false,
            "no, as in most virtual machines",
            "The host has to pass them on (a virtual PMU).",
        ),
        (Some(Err(_)), _) => {
            COUNTERS.feature(false, "refused, as perf_event_open is", "Mend that first.")
        }
    }
}

fn strace(facts: &Facts) -> Check {
    match &facts.strace {
        Some(path) => STRACE.ok(path),
        None => STRACE.feature(
            false,
            "not found",
            "apt install strace, or your system's way.",
        ),
    }
}

fn io_uring(facts: &Facts) -> Check {
    match facts.io_uring {
        Some(true) => IO_URING.ok("yes"),
        Some(false) => IO_URING.feature(
            false,
            "refused",
            "sudo sysctl kernel.io_uring_disabled=0; containers refuse it by default. No store of Stowplan uses it.",
        ),
        None => IO_URING.unavailable(NOT_TOLD),
    }
}

fn reserved(facts: &Facts) -> Check {
    match facts.reserved {
        None => RESERVED.unavailable(NOT_TOLD),
        Some(0) => RESERVED.feature(
            false,
            "none",
            "sudo sysctl vm.nr_hugepages=N reserves N of them.",
        ),
        Some(bytes) => RESERVED.ok(format_bytes(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::root::MadeUp;
    use super::*;
    use stowplan_model::CheckState;

    #[test]
    fn what_is_there_and_may_be_written_is_told_from_what_is_not_there() {
        let tree = MadeUp::of(&[
            ("/proc/sys/vm/drop_caches", "0\n"),
            ("/proc/sys/kernel/perf_event_paranoid", "2\n"),
            ("/proc/meminfo", "Hugetlb:           32768 kB\n"),
        ]);
        let facts = Facts::read(&tree.root());
        assert_eq!((facts.drop_caches, facts.fuse), (Some(true), None));
        assert_eq!(facts.perf_paranoid.as_deref(), Some("2"));
        assert_eq!(facts.reserved, Some(32 << 20));
    }

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        let sh = counting::on_path("sh");
        assert!(sh.is_some_and(|path| path.ends_with("sh")));
        assert_eq!(counting::on_path("no-such-program-anywhere"), None);
    }

    #[test]
    fn a_counter_that_is_missing_is_the_machine_s_fault_only_where_others_work() {
        let facts = |perf, counters| Facts {
            perf,
            counters,
            ..Facts::default()
        };
        let found = |facts: Facts| counters(&facts).found;
        assert!(found(facts(Some(Ok(())), Some(Err(2)))).contains("virtual"));
        assert!(found(facts(Some(Err(13)), Some(Err(13)))).contains("refused"));
        assert_eq!(counters(&Facts::default()).state, CheckState::Unavailable);
    }
}
