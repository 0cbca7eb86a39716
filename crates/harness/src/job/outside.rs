//! What the operating system counts of a worker, read from outside.

use std::collections::BTreeSet;
use std::path::PathBuf;
use stowplan_model::{IoCounters, Usage};

/// What a process has used up to now, as far as the system tells others.
pub(super) fn usage(process: u32) -> Usage {
    let read = |name: &str| {
        let path = format!("/proc/{process}/{name}");
        std::fs::read_to_string(path).unwrap_or_default()
    };
    let io = io(process);
    let stat = read("stat");
    let status = read("status");
    let blocks = |bytes: fn(&IoCounters) -> u64| io.as_ref().map(|io| bytes(io) / 512);
    Usage {
        run_delay_ns: None,
        thread_cpu_ns: on_cpu_ns(&read("schedstat")),
        process_cpu_ns: all_on_cpu_ns(process),
        user_ns: ticks(&stat, 11),
        system_ns: ticks(&stat, 12),
        minor_faults: field(&stat, 7),
        major_faults: field(&stat, 9),
        voluntary_switches: named(&status, "voluntary_ctxt_switches"),
        involuntary_switches: named(&status, "nonvoluntary_ctxt_switches"),
        in_blocks: blocks(|io| io.storage_read_bytes),
        out_blocks: blocks(|io| io.storage_write_bytes),
        peak_memory_bytes: named(&status, "VmHWM").map(|kib| kib.saturating_mul(1024)),
        io,
    }
}

/// What a process has read and written up to now: of files, and of what a file system has to read to find them.
pub(super) fn io(process: u32) -> Option<IoCounters> {
    let text = std::fs::read_to_string(format!("/proc/{process}/io")).ok()?;
    IoCounters::parse(&text)
}

/// How often a family is looked at until nobody of it comes or goes meanwhile.
const FAMILY_TRIES: u32 = 50;

/// CPU time of a process and of those that it started, in nanoseconds; of those that have ended since, as
/// a server's processes do with their connections, in clock ticks.
pub(super) fn family_cpu_ns(process: u32) -> Option<u64> {
    let used = |member: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{member}/stat")).ok()?;
        let ended = ticks(&stat, 13)?.saturating_add(ticks(&stat, 14)?);
        Some(all_on_cpu_ns(*member)?.saturating_add(ended))
    };
    // Who ends meanwhile could be counted twice, or not at all.
    for _ in 0..FAMILY_TRIES {
        let family = with_children(process);
        let used = family.iter().filter_map(used).reduce(u64::saturating_add);
        if with_children(process) == family {
            return used;
        }
    }
    None
}

/// A process, those that it started, and those that these did, as they run now.
pub(super) fn with_children(process: u32) -> BTreeSet<u32> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let child_and_parent = processes.filter_map(|entry| {
        let child: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        Some((child, u32::try_from(field(&stat, 1)?).ok()?))
    });
    family(process, &Vec::from_iter(child_and_parent))
}

fn family(process: u32, child_and_parent: &[(u32, u32)]) -> BTreeSet<u32> {
    let mut family = BTreeSet::new();
    let mut found = vec![process];
    while let Some(member) = found.pop() {
        if family.insert(member) {
            let children = child_and_parent.iter();
            let children = children.filter(|(_, parent)| *parent == member);
            found.extend(children.map(|(child, _)| *child));
        }
    }
    family
}

/// The files that a process runs: its program, and the libraries of it. Nothing where the system does
/// not tell.
pub(super) fn program_files(process: u32) -> Vec<PathBuf> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    let files = executable(&maps).into_iter();
    files.filter(|file| file.is_file()).collect()
}

/// Those of `maps` that are mapped as code: lines of an address range, what is permitted, offset, device,
/// inode, and the path.
fn executable(maps: &str) -> BTreeSet<PathBuf> {
    let path = |line: &str| {
        let permitted = line.split_whitespace().nth(1)?;
        let at = line.find('/').filter(|_| permitted.contains('x'))?;
        Some(PathBuf::from(&line[at..]))
    };
    maps.lines().filter_map(path).collect()
}

/// What the driver reported of itself, and where it did not what was read from outside before and after
/// the block, of which the timed operations were this share; with the names of those fields.
pub(super) fn completed(
    reported: Usage,
    mut before: Usage,
    mut after: Usage,
    share: f64,
) -> (Usage, Vec<String>) {
    let mut usage = reported;
    let mut outside = Vec::new();
    for (name, counter) in Usage::COUNTERS {
        let counted = (*counter(&mut before)).zip(*counter(&mut after));
        if let (None, Some((before, after))) = (*counter(&mut usage), counted) {
            *counter(&mut usage) = Some(reduced(after.saturating_sub(before), share));
            outside.push(name.to_owned());
        }
    }
    if let (None, Some((before, after))) = (usage.io, before.io.zip(after.io)) {
        usage.io = Some(io_between(&before, &after, share));
        outside.push("io".to_owned());
    }
    if usage.peak_memory_bytes.is_none() && after.peak_memory_bytes.is_some() {
        usage.peak_memory_bytes = after.peak_memory_bytes;
        outside.push("peak_memory_bytes".to_owned());
    }
    (usage, outside)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate"
)]
pub(super) fn reduced(count: u64, share: f64) -> u64 {
    (count as f64 * share).ceil() as u64
}

fn io_between(before: &IoCounters, after: &IoCounters, share: f64) -> IoCounters {
    let mut grown = after.since(before);
    for count in [
        &mut grown.read_call_bytes,
        &mut grown.write_call_bytes,
        &mut grown.read_calls,
        &mut grown.write_calls,
        &mut grown.storage_read_bytes,
        &mut grown.storage_write_bytes,
    ] {
        *count = reduced(*count, share);
    }
    grown
}

/// The first field of `schedstat`: time on a CPU, in nanoseconds; 0 comes from a kernel without these
/// statistics.
fn on_cpu_ns(schedstat: &str) -> Option<u64> {
    let time = schedstat.split_whitespace().next()?.parse().ok()?;
    (time > 0).then_some(time)
}

/// Nanoseconds that all threads of a process were on a CPU; nothing where the system does not tell.
fn all_on_cpu_ns(process: u32) -> Option<u64> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let of = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        on_cpu_ns(&text)
    };
    tasks.flatten().filter_map(of).reduce(u64::saturating_add)
}

/// A field of `stat`, counted from the one behind the name in parentheses, from 0.
fn field(stat: &str, number: usize) -> Option<u64> {
    let (_, behind) = stat.rsplit_once(')')?;
    behind.split_whitespace().nth(number)?.parse().ok()
}

/// A field of `stat` in clock ticks, in nanoseconds.
fn ticks(stat: &str, number: usize) -> Option<u64> {
    let each = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
    field(stat, number).map(|ticks| ticks.saturating_mul(each))
}

/// The number behind a name of `status`.
fn named(status: &str, name: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_the_files_that_are_mapped_as_code() {
        let maps = "55d0-55d8 r-xp 00001000 fe:00 123    /opt/a program\n\
                    55d8-55d9 rw-p 00002000 fe:00 124    /opt/data\n\
                    7f00-7f01 r-xp 00000000 00:00 0      [vdso]\n\
                    7f02-7f03 r-xp 00000000 00:00 0\n\
                    nonsense";
        let found = executable(maps);
        assert_eq!(found, BTreeSet::from([PathBuf::from("/opt/a program")]));
        let own = program_files(std::process::id());
        assert!(own.contains(&std::env::current_exe().unwrap()), "{own:?}");
    }

    #[test]
    fn children_are_found_with_theirs_and_nobody_elses() {
        let pairs = [(2, 1), (7, 2), (8, 7), (9, 7), (10, 1), (11, 10), (5, 5)];
        assert_eq!(family(2, &pairs), BTreeSet::from([2, 7, 8, 9]));
        assert_eq!(family(5, &pairs), BTreeSet::from([5]), "of a loop");
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let own = with_children(std::process::id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(own.contains(&child.id()), "{own:?}");
        assert!(own.contains(&std::process::id()));
    }

    #[test]
    fn the_time_of_a_child_that_has_ended_stays_with_its_family() {
        use std::io::{BufRead, BufReader};
        use std::process::Stdio;
        let script = "(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done); echo ended; read end";
        let mut shell = std::process::Command::new("sh");
        let shell = shell.args(["-c", script]).stdin(Stdio::piped());
        let mut shell = shell.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        let mut stdout = BufReader::new(shell.stdout.take().unwrap());
        stdout.read_line(&mut said).unwrap();
        let alone = all_on_cpu_ns(shell.id()).unwrap();
        let family = family_cpu_ns(shell.id()).unwrap();
        drop(shell.stdin.take());
        shell.wait().unwrap();
        let tick = 1_000_000_000 / rustix::param::clock_ticks_per_second();
        assert!(
            family >= alone + tick,
            "{family} ns, {alone} ns of it alone"
        );
    }

    #[test]
    fn fields_are_found_whatever_the_process_is_called() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194304 120 0 3 0 25 4 0 0 20 0 1 0 9 1 1";
        assert_eq!(field(stat, 7), Some(120));
        assert_eq!(field(stat, 9), Some(3));
        let tick = 1_000_000_000 / rustix::param::clock_ticks_per_second();
        assert_eq!(ticks(stat, 11), Some(25 * tick));
        assert_eq!(field("nonsense", 7), None);
        let status =
            "VmHWM:\t    1536 kB\nvoluntary_ctxt_switches:\t9\nnonvoluntary_ctxt_switches:\t4\n";
        assert_eq!(named(status, "VmHWM"), Some(1536));
        assert_eq!(named(status, "voluntary_ctxt_switches"), Some(9));
        assert_eq!(named(status, "nonvoluntary_ctxt_switches"), Some(4));
        assert_eq!(
            (on_cpu_ns("592337 45160 2\n"), on_cpu_ns("0 0 0\n")),
            (Some(592_337), None)
        );
    }

    #[test]
    fn what_the_driver_reports_is_taken_and_the_rest_read_from_outside_with_its_name() {
        let reported = Usage {
            run_delay_ns: Some(3),
            minor_faults: Some(1),
            ..Usage::default()
        };
        let before = Usage {
            minor_faults: Some(100),
            major_faults: Some(10),
            peak_memory_bytes: Some(1),
            ..Usage::default()
        };
        let after = Usage {
            minor_faults: Some(300),
            major_faults: Some(30),
            peak_memory_bytes: Some(5),
            ..Usage::default()
        };
        let (usage, outside) = completed(reported, before, after, 0.5);
        assert_eq!((usage.run_delay_ns, usage.minor_faults), (Some(3), Some(1)));
        assert_eq!(
            (usage.major_faults, usage.peak_memory_bytes),
            (Some(10), Some(5))
        );
        assert_eq!(usage.thread_cpu_ns, None);
        assert_eq!(outside, ["major_faults", "peak_memory_bytes"]);
    }

    #[test]
    fn the_system_tells_of_this_process_what_it_tells_of_a_worker() {
        let usage = usage(std::process::id());
        assert!(
            usage.minor_faults.is_some_and(|faults| faults > 0),
            "{usage:?}"
        );
        assert!(usage.peak_memory_bytes.is_some_and(|bytes| bytes > 100_000));
    }
}
