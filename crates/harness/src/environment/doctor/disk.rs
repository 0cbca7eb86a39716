//! The file system of the directory, and the device below it.

use super::super::device;
use super::super::mounts::Mount;
use super::{Check, CheckGroup, Known, NOT_TOLD, Root, Subject, probe};
use crate::HarnessError;
use std::path::Path;
use stowplan_model::{Device, format_bytes};

/// Read-ahead above this brings in much more than was asked for, in KiB.
const LARGE_READ_AHEAD_KIB: u64 = 1024;
/// No device keeps anything in less time, in nanoseconds.
const IMPLAUSIBLE_SYNC_NS: u64 = 5_000;
/// Syncs of a device without moving parts take more only behind others', in nanoseconds.
const SLOW_SYNC_NS: u64 = 1_000_000;
/// Syncs whose slow tenth takes so many times their fast tenth.
const UNSTEADY: u64 = 8;

const fn subject(name: &'static str, why: &'static str) -> Subject {
    Subject {
        group: CheckGroup::Disk,
        name,
        why,
    }
}

const FILE_SYSTEM: Subject = subject(
    "file system",
    "Opening, creating and syncing files is its work, and differs between file systems more than between stores.",
);
const OPTIONS: Subject = subject(
    "mount options",
    "They decide what a sync promises, what a read writes, and how many bytes reach the device.",
);
const DEVICE: Subject = subject(
    "device",
    "Cold reads and syncs are its speed; what is measured warm does not touch it.",
);
const READ_AHEAD: Subject = subject(
    "read-ahead",
    "With 8 MiB a cold SQLite read through a mapping fetched 697 KB for 10 KB, and took 8.9 times as long as a file.",
);
const SPACE: Subject = subject(
    "free space",
    "A run refuses to begin without room for it, and a nearly full file system is slower.",
);
const SYNC: Subject = subject(
    "sync",
    "Durable writes are timed by it. A virtual disk took 0.08 to 0.10 ms when calm, and 4.0 ms beside compilers.",
);

const WRITING: Subject = subject("writing", "Datasets, stores and results are written there.");

#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The mounted thing: `/dev/vda`, `tmpfs`, `host:/path`.
    pub(super) source: Option<String>,
    /// The device's data is encrypted below the file system.
    pub(super) encrypted: bool,
    /// A loop device reads its file through the page cache, too.
    pub(super) cached_twice: bool,
    pub(super) probe: Option<Result<probe::Disk, HarnessError>>,
}

impl Facts {
    pub(super) fn gather(root: &Root, mount: Option<&Mount>, directory: &Path) -> Self {
        Self {
            probe: Some(probe::disk(directory)),
            ..mount.map_or_else(Self::default, |mount| Self::read(root, mount))
        }
    }

    pub(super) fn read(root: &Root, mount: &Mount) -> Self {
        let directory = device::directory_below(root, mount);
        let line = |name: &str| device::first_line(&directory.as_ref()?.join(name));
        Self {
            source: Some(mount.source.clone()),
            encrypted: line("dm/uuid").is_some_and(|uuid| uuid.starts_with("CRYPT-")),
            cached_twice: line("loop/dio").is_some_and(|direct| direct == "0"),
            probe: None,
        }
    }
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
pub(super) fn in_memory(known: &Known<'_>) -> bool {
    sort_of(&known.environment.file_system.kind) == Sort::Memory
}

/// `others_work`: something else runs that a run would be warned of.
pub(super) fn checks(known: &Known<'_>, facts: &Facts, others_work: bool) -> Vec<Check> {
    vec![
        file_system(known, facts),
        mount_options(known),
        device_check(known, facts),
        read_ahead(known),
        free_space(known),
        sync(known, facts, others_work),
    ]
}

fn file_system(known: &Known<'_>, facts: &Facts) -> Check {
    let system = &known.environment.file_system;
    if system.kind.is_empty() {
        return FILE_SYSTEM.unavailable(NOT_TOLD);
    }
    let source = facts
        .source
        .as_deref()
        .filter(|source| *source != system.kind);
    let from = source.map(|source| format!(", from {source}"));
    let found = format!(
        "{} on {}{}",
        system.kind,
        system.mount_point,
        from.unwrap_or_default()
    );
    match sort_of(&system.kind) {
        Sort::Disk => FILE_SYSTEM.ok(found),
        Sort::Memory => FILE_SYSTEM.problem(
            format!("{found}: memory, where syncs cost nothing and nothing is ever cold"),
            "Give a directory on the disk that your application will use, here and with --work.",
        ),
        Sort::ReadOnly => FILE_SYSTEM.problem(
            format!("{found}: read only"),
            "Give a directory on the disk that your application will use, here and with --work.",
        ),
        Sort::Overlay => FILE_SYSTEM.warning(
            format!("{found}: layers, as in a container"),
            "Mount a directory of the host (docker run -v /srv/data:/data) and give it as --work.",
        ),
        Sort::Network => FILE_SYSTEM.warning(
            format!("{found}: on another machine, or shared by the host"),
            "Measure there only if your application's data lives there; the network takes part.",
        ),
        Sort::UserSpace => FILE_SYSTEM.warning(
            format!("{found}: served by a process"),
            "Measure there only if your application's data lives there; each file call wakes that process.",
        ),
        Sort::Encrypted => FILE_SYSTEM.warning(
            format!("{found}: encrypts file by file"),
            "Measure there only if your application's data lives there; names and sizes of files cost more.",
        ),
    }
}

/// Options that change what is measured, and how to mend them.
fn remarkable(option: &str) -> Option<(bool, &'static str)> {
    const REMOUNT: &str = "Mount it without that option, unless your application's disk has it.";
    let problem = |mend| Some((true, mend));
    match option {
        "ro" => problem("Give a directory in which can be written."),
        "nobarrier" | "barrier=0" | "fsync_mode=nobarrier" | "logbias=none" => problem(
            "Mount it with barriers: without them a sync ends before the device has kept the data.",
        ),
        "sync" | "dirsync" | "strictatime" | "data=journal" | "data=writeback" => {
            Some((false, REMOUNT))
        }
        option if option.starts_with("compress") => Some((
            false,
            "Mount it without compression, or give datasets the compressibility of your data.",
        )),
        _ => None,
    }
}

fn mount_options(known: &Known<'_>) -> Check {
    let options = &known.environment.file_system.options;
    if options.is_empty() {
        return OPTIONS.unavailable(NOT_TOLD);
    }
    let found = options.replace(',', ", ");
    let mut remarks: Vec<(bool, &str, &str)> = options
        .split(',')
        .filter_map(|option| {
            let (problem, mend) = remarkable(option)?;
            Some((problem, option, mend))
        })
        .collect();
    remarks.sort_by_key(|(problem, ..)| !problem);
    match remarks.first() {
        None => OPTIONS.ok(found),
        Some((true, option, mend)) => OPTIONS.problem(format!("{option}, among {found}"), mend),
        Some((false, option, mend)) => OPTIONS.warning(format!("{option}, among {found}"), mend),
    }
}

fn device_check(known: &Known<'_>, facts: &Facts) -> Check {
    let Some(device) = &known.environment.device else {
        return DEVICE.unavailable("none that the system knows");
    };
    let found = describe(device, facts.encrypted);
    if device.name.starts_with("zram") || device.name.starts_with("ram") {
        return DEVICE.problem(
            format!("{found}: memory"),
            "Give a directory on the disk that your application will use.",
        );
    }
    DEVICE.judged(
        found,
        facts.cached_twice.then_some(
            "It keeps its file in the page cache, too, so nothing is ever cold: losetup --direct-io=on.",
        ),
    )
}

fn describe(device: &Device, encrypted: bool) -> String {
    let name = device.name.as_str();
    let known = |prefix: &str| name.starts_with(prefix);
    let sort = match device.rotational {
        _ if is_virtual(device) => "virtual disk",
        _ if known("nvme") => "NVMe",
        _ if known("loop") => "file as a device",
        _ if known("mmcblk") => "memory card",
        _ if known("zram") || known("ram") => "RAM disk",
        _ if known("md") => "RAID",
        Some(true) => "spinning disk",
        Some(false) => "solid state",
        None => "device",
    };
    let mut parts = vec![format!("{name}: {sort}")];
    parts.extend(device.model.clone());
    parts.extend(encrypted.then(|| "encrypted".to_owned()));
    parts.extend(
        device
            .write_cache
            .as_ref()
            .map(|mode| format!("cache {mode}")),
    );
    parts.extend(
        device
            .scheduler
            .as_ref()
            .map(|name| format!("scheduler {name}")),
    );
    parts.join(", ")
}

fn read_ahead(known: &Known<'_>) -> Check {
    let device = known.environment.device.as_ref();
    let Some((device, kib)) = device.and_then(|device| Some((device, device.read_ahead_kib?)))
    else {
        return READ_AHEAD.unavailable(NOT_TOLD);
    };
    let mend = format!(
        "For the run: echo 128 | sudo tee /sys/block/{}/queue/read_ahead_kb, unless your \
         application's disk has as much.",
        device.name
    );
    READ_AHEAD.judged(
        format!("{kib} KiB"),
        (kib > LARGE_READ_AHEAD_KIB).then_some(mend.as_str()),
    )
}

fn free_space(known: &Known<'_>) -> Check {
    let free = known.environment.file_system.free_bytes;
    let asked = known.asked;
    if known.environment.file_system.block_bytes == 0 {
        return SPACE.unavailable(NOT_TOLD);
    }
    let found = format!(
        "{}; {} needs {}, its smallest scale {}",
        format_bytes(free),
        asked.what,
        format_bytes(asked.disk_bytes),
        format_bytes(asked.least_disk_bytes)
    );
    if free < asked.least_disk_bytes {
        return SPACE.problem(found, "Free some, or give another directory.");
    }
    let little = free < asked.disk_bytes;
    SPACE.judged(
        found,
        little.then_some("Free some, choose a smaller scale, or give another directory."),
    )
}

fn sync(known: &Known<'_>, facts: &Facts, others_work: bool) -> Check {
    let probe = match &facts.probe {
        Some(Ok(probe)) => probe,
        Some(Err(error)) => {
            return WRITING.problem(
                format!("nothing can be written here: {error}"),
                "Give a directory in which you may write.",
            );
        }
        None => return SYNC.unavailable("not tried"),
    };
    let Some([fast, middle, slow]) = probe.syncs() else {
        return SYNC.unavailable("not tried");
    };
    if in_memory(known) {
        return SYNC.unavailable("memory has nothing to sync");
    }
    let [fast_text, middle_text, slow_text] = [fast, middle, slow].map(milliseconds);
    let found = format!("4 KiB appended in {middle_text} ms, most in {fast_text} to {slow_text}");
    if middle < IMPLAUSIBLE_SYNC_NS {
        return SYNC.problem(
            format!("{found}: faster than any device keeps data"),
            "Look for nobarrier, eatmydata or a hypervisor's cache=unsafe; until then, no durable write is one.",
        );
    }
    let waits = slow / fast.max(1) >= UNSTEADY;
    // All are slow where others write all the time; a device that is always so slow is what it is.
    let slowed = middle > SLOW_SYNC_NS && others_work && !spins(known);
    SYNC.judged(
        found,
        (waits || slowed)
            .then_some("Stop other work: a sync waits for a CPU, and behind others' writes."),
    )
}

/// A spinning disk takes milliseconds. A virtual one often says that it spins.
fn spins(known: &Known<'_>) -> bool {
    let device = known.environment.device.as_ref();
    device.is_some_and(|device| device.rotational == Some(true) && !is_virtual(device))
}

/// Whether a host lends it: by virtio, or by Xen.
fn is_virtual(device: &Device) -> bool {
    device.name.starts_with("vd") || device.name.starts_with("xvd")
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
    fn a_device_is_described_by_what_it_is() {
        let device = |name: &str, rotational| Device {
            name: name.to_owned(),
            rotational,
            ..Device::default()
        };
        // A virtual disk often says that it spins.
        assert_eq!(
            describe(&device("vda", Some(true)), false),
            "vda: virtual disk"
        );
        assert_eq!(
            describe(&device("sda", Some(true)), false),
            "sda: spinning disk"
        );
        let mut nvme = device("nvme0n1", Some(false));
        nvme.model = Some("Samsung SSD 980 PRO".to_owned());
        nvme.scheduler = Some("none".to_owned());
        let text = describe(&nvme, true);
        assert_eq!(
            text,
            "nvme0n1: NVMe, Samsung SSD 980 PRO, encrypted, scheduler none"
        );
    }

    #[test]
    fn short_times_keep_two_digits() {
        let shown = [900, 2_100, 93_000, 4_000_000].map(milliseconds);
        assert_eq!(shown, ["0.0009", "0.0021", "0.09", "4.0"]);
    }
}
