//! On-access scanners: who is asked before files are opened.

use super::Root;

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

/// On-access scanners: every process that can be seen to be asked before files are opened, or is known for it,
/// in words.
pub(super) fn seen(root: &Root) -> Vec<String> {
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
        assert_eq!(seen(&tree.root()), expected);
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
