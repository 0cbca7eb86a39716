//! The processes of others: who uses the CPUs, and who is asked before files are opened.

use super::Root;
use std::collections::BTreeMap;

/// A process that uses more of a CPU takes part.
const BUSY: f64 = 0.1;
/// Masks of fanotify by which somebody waits: `FAN_OPEN_PERM`, `FAN_ACCESS_PERM`, `FAN_OPEN_EXEC_PERM`,
/// `FAN_PRE_ACCESS`.
const HOLDS_UP: u64 = 0x1_0000 | 0x2_0000 | 0x4_0000 | 0x10_0000;

/// What the processes of scanners are called, and who makes them: some do without fanotify, and only
/// root sees who has it.
const KNOWN: &[(&str, &str)] = &[
    ("clamonacc", "ClamAV"),
    ("falcon-sensor", "CrowdStrike Falcon"),
    ("fapolicyd", "File Access Policy Daemon"),
    ("kesl", "Kaspersky Endpoint Security"),
    ("soapd", "Sophos Protection"),
    ("wdavdaemon", "Microsoft Defender"),
];

/// A process and the CPU time it has used, in ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    id: u32,
    name: String,
    ticks: u64,
}

/// Every process but this one.
pub(super) fn read(root: &Root) -> Vec<Process> {
    let own = std::process::id();
    root.entries("/proc")
        .into_iter()
        .filter_map(|entry| {
            let id: u32 = entry.file_name()?.to_str()?.parse().ok()?;
            parse_process(id, &root.text(entry.join("stat"))?)
        })
        .filter(|process| process.id != own)
        .collect()
}

/// `17 (name with ) in it) S 1 …`: user and system time are the 12th and 13th behind the name.
fn parse_process(id: u32, stat: &str) -> Option<Process> {
    let (head, rest) = stat.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let mut fields = rest.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Process {
        id,
        name: name.to_owned(),
        ticks: user.checked_add(system)?,
    })
}

/// Who used more than a little of a CPU between two looks, the busiest first, in words; nothing where there
/// is nobody to be seen, as without `/proc`.
#[expect(clippy::cast_precision_loss, reason = "shares for people")]
pub(super) fn busy(before: &[Process], after: &[Process], seconds: f64) -> Option<Vec<String>> {
    if before.is_empty() {
        return None;
    }
    let ticks: BTreeMap<u32, u64> = before.iter().map(|p| (p.id, p.ticks)).collect();
    let per_second = rustix::param::clock_ticks_per_second() as f64;
    let used = after.iter().filter_map(|process| {
        let used = process.ticks.saturating_sub(*ticks.get(&process.id)?);
        Some((used as f64 / per_second / seconds, process))
    });
    let mut busy: Vec<(f64, &Process)> = used.filter(|(share, _)| *share > BUSY).collect();
    busy.sort_by(|a, b| b.0.total_cmp(&a.0));
    let named = busy.into_iter().map(|(share, Process { id, name, .. })| {
        let percent = share * 100.0;
        format!("{name} ({id}) {percent:.0}%")
    });
    Some(named.collect())
}

/// On-access scanners: every process that can be seen to be asked before files are opened, or is known for it,
/// in words.
pub(super) fn scanners(root: &Root) -> Vec<String> {
    let processes = root.entries("/proc").into_iter();
    let scanners = processes.filter_map(|process| {
        let id: u32 = process.file_name()?.to_str()?.parse().ok()?;
        let name = root.line(process.join("comm"))?;
        let open = root.entries(process.join("fdinfo").to_str()?).into_iter();
        if open
            .filter_map(|file| root.text(file))
            .any(|text| holds_up(&text))
        {
            return Some(format!("{name} ({id}) is asked before files are opened"));
        }
        let (_, product) = KNOWN.iter().find(|(known, _)| name.starts_with(known))?;
        Some(format!("{name} ({id}, {product}) runs"))
    });
    scanners.collect()
}

/// Whether a descriptor is one of fanotify that has somebody wait: `fanotify mnt_id:1c mflags:0
/// mask:10000 ignored_mask:0`.
fn holds_up(fdinfo: &str) -> bool {
    let mut marks = fdinfo.lines().filter(|line| line.starts_with("fanotify "));
    marks.any(|mark| {
        let mut fields = mark.split_whitespace();
        let mask = fields.find_map(|field| field.strip_prefix("mask:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask, 16).ok());
        mask.is_some_and(|mask| mask & HOLDS_UP != 0)
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::root::MadeUp;
    use super::*;
    use proptest::prelude::*;

    const STAT: &str = "(a) b) R 1 1 1 0 -1 4194304 9 0 0 0 700 34 0 0 20 0 1 0 5 1 1\n";

    fn process(id: u32, ticks: u64) -> Process {
        Process {
            id,
            name: format!("p{id}"),
            ticks,
        }
    }

    #[test]
    fn a_process_is_read_whatever_its_name() {
        let own = std::process::id();
        let tree = MadeUp::of(&[
            ("/proc/17/stat", &*format!("17 {STAT}")),
            (&*format!("/proc/{own}/stat"), &*format!("{own} {STAT}")),
            ("/proc/18/stat", "18 (gone"),
            ("/proc/self/stat", "1"),
        ]);
        let expected = Process {
            id: 17,
            name: "a) b".to_owned(),
            ticks: 734,
        };
        assert_eq!(read(&tree.root()), [expected]);
    }

    #[test]
    fn the_busiest_come_first_and_idle_or_new_ones_not_at_all() {
        let hertz = rustix::param::clock_ticks_per_second();
        let before = [process(1, 0), process(2, 50), process(3, 7)];
        let after = [
            process(1, hertz / 4),
            process(2, 50 + hertz),
            process(3, 7),
            process(4, hertz),
        ];
        let found = busy(&before, &after, 1.0).unwrap();
        assert_eq!(found, ["p2 (2) 100%", "p1 (1) 25%"]);
        assert_eq!(busy(&[], &after, 1.0), None);
    }

    const MARK: &str = "pos:\t0\nflags:\t02\nfanotify flags:4 event-flags:0\nfanotify mnt_id:1c mflags:0 mask:10000 ignored_mask:0\n";

    #[test]
    fn who_is_asked_before_files_are_opened_is_seen_by_its_marks_and_others_by_their_names() {
        let tree = MadeUp::of(&[
            ("/proc/7/comm", "guard\n"),
            ("/proc/7/fdinfo/0", "pos:\t0\n"),
            ("/proc/7/fdinfo/3", MARK),
            ("/proc/8/comm", "falcon-sensor-b\n"),
            ("/proc/9/comm", "watcher\n"),
            ("/proc/9/fdinfo/3", &MARK.replace("10000", "20")),
            ("/proc/self/comm", "kesl\n"),
        ]);
        let expected = [
            "guard (7) is asked before files are opened",
            "falcon-sensor-b (8, CrowdStrike Falcon) runs",
        ];
        assert_eq!(scanners(&tree.root()), expected);
    }

    #[test]
    fn marks_that_hold_nobody_up_and_garbage_are_no_scanner() {
        assert!(holds_up(MARK));
        for other in [
            "",
            "fanotify ",
            "fanotify mask:x",
            "inotify wd:1 mask:10000",
        ] {
            assert!(!holds_up(other), "{other}");
        }
        let ignored = "fanotify mnt_id:1c mflags:0 mask:8 ignored_mask:10000";
        assert!(!holds_up(ignored), "what it ignores is not asked");
    }

    proptest! {
        #[test]
        fn garbage_is_unknown_and_never_a_panic(text in "[ -~\n]{0,200}") {
            let _ = parse_process(1, &text);
        }
    }
}
