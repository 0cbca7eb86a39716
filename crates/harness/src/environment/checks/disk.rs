//! The file system of the directory, and the device below it.

use super::super::mounts::Mount;
use super::{Context, Finding, Root};
use stowplan_model::{WarningKind, format_bytes};

/// Read-ahead above this brings in much more than was asked for, in KiB.
const LARGE_READ_AHEAD_KIB: u64 = 1024;
/// No device keeps anything in less time, in nanoseconds.
const IMPLAUSIBLE_SYNC_NS: u64 = 5_000;
/// Syncs whose slow tenth takes so many times their fast tenth.
const UNSTEADY: u64 = 8;

/// How data is written with respect to the journal stands among the options of every ext4 that has one.
pub(super) fn has_no_journal(root: &Root, mount: &Mount) -> bool {
    let Some(name) = mount.source.strip_prefix("/dev/") else {
        return false;
    };
    let options = root.text(format!("/proc/fs/ext4/{name}/options"));
    mount.kind == "ext4" && options.is_some_and(|all| !all.lines().any(|o| o.starts_with("data=")))
}

/// What a kind of file system means for a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Disk,
    Memory,
    Overlay,
    Network,
    /// In a process of its own.
    UserSpace,
    Encrypted,
    ReadOnly,
}

fn sort_of(kind: &str) -> Sort {
    match kind {
        "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" => Sort::Memory,
        "overlay" | "overlayfs" | "aufs" | "unionfs" => Sort::Overlay,
        "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "9p" | "ceph" | "glusterfs" | "afs"
        | "lustre" | "beegfs" | "gpfs" | "ocfs2" | "gfs2" | "virtiofs" | "vboxsf" | "drvfs"
        | "prl_fs" | "vmhgfs" => Sort::Network,
        "fuse" | "fuseblk" => Sort::UserSpace,
        "ecryptfs" => Sort::Encrypted,
        "squashfs" | "erofs" | "iso9660" | "udf" | "cramfs" => Sort::ReadOnly,
        kind if kind.starts_with("fuse.") => Sort::UserSpace,
        _ => Sort::Disk,
    }
}

/// Nothing is written there but to memory.
pub(super) fn in_memory(context: &Context<'_>) -> bool {
    sort_of(&context.environment.file_system.kind) == Sort::Memory
}

pub(super) fn file_system(context: &Context<'_>) -> Finding {
    let system = &context.environment.file_system;
    if system.kind.is_empty() {
        return Finding::untold();
    }
    let source = context.facts.source.as_deref();
    let source = source.filter(|source| *source != system.kind);
    let from = source.map(|source| format!(", from {source}"));
    let found = format!(
        "{} on {}{}",
        system.kind,
        system.mount_point,
        from.unwrap_or_default()
    );
    const ONLY_THERE: &str = "Measure there only if your application's data lives there.";
    let (what, mend) = match sort_of(&system.kind) {
        Sort::Disk if is_in_memory(context) => {
            let found = format!("{found}: a device in memory, where syncs cost next to nothing");
            return Finding::problem(found)
                .by("Give a directory on the disk that your application will use.");
        }
        Sort::Disk => return Finding::ok(found),
        Sort::Memory => {
            let found =
                format!("{found}: memory, where syncs cost nothing and nothing is ever cold");
            return Finding::problem(found).of(WarningKind::MemoryFileSystem);
        }
        Sort::ReadOnly => return Finding::problem(format!("{found}: read only")),
        Sort::Overlay => (
            "layers, as in a container",
            "Mount a directory of the host (docker run -v /srv/data:/data) and give it as --work.",
        ),
        Sort::Network => ("on another machine, or shared by the host", ONLY_THERE),
        Sort::UserSpace => (
            "served by a process, which each file call wakes",
            ONLY_THERE,
        ),
        Sort::Encrypted => ("encrypts file by file, names and sizes too", ONLY_THERE),
    };
    let finding = Finding::warning(format!("{found}: {what}"));
    finding.by(mend).of(WarningKind::Other)
}

/// Options that change what is measured: whether nothing can be believed with them, and how to mend them, if not by
/// leaving them out.
fn remarkable(option: &str) -> Option<(bool, &'static str)> {
    Some(match option {
        "ro" => (true, "Give a directory in which can be written."),
        "nobarrier" | "barrier=0" | "fsync_mode=nobarrier" | "logbias=none" => (
            true,
            "Mount it with barriers: without them a sync ends before the device has kept the data.",
        ),
        "sync" | "dirsync" | "strictatime" | "data=journal" | "data=writeback" => (false, ""),
        option if option.starts_with("compress") => (
            false,
            "Mount it without compression, or give datasets the compressibility of your data.",
        ),
        _ => return None,
    })
}

pub(super) fn mount_options(context: &Context<'_>) -> Finding {
    const NO_JOURNAL: &str = "ext4 without a journal reuses no inode within a minute of its deletion: creating files after deleting \
         some takes up to 1 ms each. Measure what makes files (inserts, write=rename) on a file system as your application's.";
    let options = &context.environment.file_system.options;
    if options.is_empty() {
        return Finding::untold();
    }
    let found = options.replace(',', ", ");
    let remarks = options
        .split(',')
        .filter_map(|option| Some((option, remarkable(option)?)));
    let worst = remarks.min_by_key(|(_, (problem, _))| !problem);
    match worst {
        None if context.facts.no_journal => {
            Finding::warning(format!("{found}; ext4 without a journal")).by(NO_JOURNAL)
        }
        None => Finding::ok(found),
        Some((option, (problem, mend))) => {
            let found = format!("{option}, among {found}");
            let finding = match problem {
                true => Finding::problem(found),
                false => Finding::warning(found),
            };
            finding.by(mend).of(WarningKind::Other)
        }
    }
}

fn is_in_memory(context: &Context<'_>) -> bool {
    let device = context.environment.device.as_ref();
    device.is_some_and(|device| device.name.starts_with("zram") || device.name.starts_with("ram"))
}

pub(super) fn read_ahead(context: &Context<'_>) -> Finding {
    let device = context.environment.device.as_ref();
    let Some((device, kib)) = device.and_then(|device| Some((device, device.read_ahead_kib?)))
    else {
        return Finding::untold();
    };
    let mend = format!(
        "For the run: echo 128 | sudo tee /sys/block/{}/queue/read_ahead_kb, unless your \
         application's disk has as much.",
        device.name
    );
    Finding::judged(format!("{kib} KiB"), kib > LARGE_READ_AHEAD_KIB).by(mend)
}

pub(super) fn free_space(context: &Context<'_>) -> Finding {
    let free = context.environment.file_system.free_bytes;
    let demand = context.demand;
    if context.environment.file_system.block_bytes == 0 {
        return Finding::untold();
    }
    let found = format!(
        "{}; {} needs {}, its smallest scale {}",
        format_bytes(free),
        demand.what,
        format_bytes(demand.disk_bytes),
        format_bytes(demand.least_disk_bytes)
    );
    if free < demand.least_disk_bytes {
        return Finding::problem(found).by("Free some, or give another directory.");
    }
    Finding::judged(found, free < demand.disk_bytes)
}

pub(super) fn sync(context: &Context<'_>) -> Finding {
    let probe = match &context.facts.probe {
        Some(Ok(probe)) => probe,
        Some(Err(error)) => {
            return Finding::problem(format!("nothing can be written here: {error}"))
                .by("Give a directory in which you may write.");
        }
        None => return Finding::unavailable("not tried"),
    };
    let Some([fast, middle, slow]) = probe.syncs() else {
        return Finding::unavailable("not tried");
    };
    if in_memory(context) {
        return Finding::unavailable("memory has nothing to sync");
    }
    let [fast_text, middle_text, slow_text] = [fast, middle, slow].map(milliseconds);
    let found = format!("4 KiB appended in {middle_text} ms, most in {fast_text} to {slow_text}");
    if middle < IMPLAUSIBLE_SYNC_NS {
        return Finding::problem(format!("{found}: faster than any device keeps data"))
            .by("Look for nobarrier, eatmydata or a hypervisor's cache=unsafe; until then, no durable write is one.");
    }
    Finding::judged(found, slow / fast.max(1) >= UNSTEADY)
}

/// Nanoseconds as milliseconds with two significant digits or more.
fn milliseconds(nanoseconds: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    let milliseconds = nanoseconds as f64 / 1e6;
    match milliseconds {
        m if m < 0.01 => format!("{m:.4}"),
        m if m < 1.0 => format!("{m:.2}"),
        m => format!("{m:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_are_told_apart_by_where_the_bytes_go() {
        for (kind, sort) in [
            ("ext4", Sort::Disk),
            ("zfs", Sort::Disk),
            ("tmpfs", Sort::Memory),
            ("overlay", Sort::Overlay),
            ("nfs4", Sort::Network),
            ("9p", Sort::Network),
            ("fuse.sshfs", Sort::UserSpace),
            ("ecryptfs", Sort::Encrypted),
            ("squashfs", Sort::ReadOnly),
        ] {
            assert_eq!(sort_of(kind), sort, "{kind}");
        }
    }

    #[test]
    fn options_that_break_a_promise_are_problems_and_others_that_change_times_are_warnings() {
        for option in ["nobarrier", "barrier=0", "ro"] {
            assert!(remarkable(option).unwrap().0, "{option}");
        }
        for option in ["strictatime", "compress=zstd:3", "compress-force", "sync"] {
            assert!(!remarkable(option).unwrap().0, "{option}");
        }
        for option in [
            "rw",
            "relatime",
            "noatime",
            "discard",
            "data=ordered",
            "barrier=1",
        ] {
            assert_eq!(remarkable(option), None, "{option}");
        }
    }

    #[test]
    fn short_times_keep_two_digits() {
        let shown = [900, 2_100, 93_000, 4_000_000].map(milliseconds);
        assert_eq!(shown, ["0.0009", "0.0021", "0.09", "4.0"]);
    }
}
