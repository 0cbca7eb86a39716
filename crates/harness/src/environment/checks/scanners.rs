//! On-access scanners: who is asked before a file is opened, and what that costs here.

use super::probe::{self, Opening};
use super::{Context, Finding, Root, Row, row};
use std::path::Path;
use stowplan_model::WarningKind;

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

/// As many are named.
const NAMED: usize = 3;

/// What is looked at here.
pub(super) const ROWS: &[Row] = &[row(
    "file scanner",
    "It is asked before a file is opened, and mostly reads it: each time that a separate file is read, and once for a database.",
    scanner,
)];

#[derive(Debug, Default)]
pub(super) struct Facts {
    /// In words, each.
    scanners: Vec<String>,
    /// Whether those of all users are seen, whatever they are called.
    all_seen: bool,
    /// What it takes to open a file, where there is a scanner.
    opening: Option<Opening>,
}

impl Facts {
    /// Opens files in a directory only where somebody may be asked about it.
    pub(super) fn read(root: &Root, directory: &Path) -> Self {
        let scanners = scanners(root);
        let opening = match scanners[..] {
            [] => None,
            _ => probe::opening(directory).ok(),
        };
        Self {
            scanners,
            all_seen: rustix::process::geteuid().is_root(),
            opening,
        }
    }
}

/// Every process that can be seen to be asked before files are opened, or is known for it.
fn scanners(root: &Root) -> Vec<String> {
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

fn scanner(context: &Context<'_>) -> Finding {
    let facts = &context.facts.scanners;
    if facts.scanners.is_empty() {
        return Finding::ok(match facts.all_seen {
            true => "nobody is asked before files are opened",
            false => {
                "none that is known by name; who is asked before files are opened is shown to root only"
            }
        });
    }
    let named = &facts.scanners[..NAMED.min(facts.scanners.len())];
    let costs = facts.opening.map(|opening| {
        let microseconds = |ns: u64| std::time::Duration::from_nanos(ns).as_secs_f64() * 1e6;
        format!(
            "; to open, read and close a small file here takes {:.1} µs, to look it up without opening it {:.1} µs",
            microseconds(opening.open_ns),
            microseconds(opening.look_up_ns)
        )
    });
    Finding::warning(
        format!("{}{}", named.join(", "), costs.unwrap_or_default()),
        "Have it leave the directory out, or measure what it costs: 'stowplan study scanner' has files and \
         a database with such a scanner and without.",
    )
    .of(WarningKind::Scanner)
}

#[cfg(test)]
mod tests {
    use super::super::super::root::MadeUp;
    use super::*;

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
}
