//! The block device below a file system.

use super::mounts::Mount;
use super::root::Root;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use stowplan_model::{Device, DeviceCounters};

/// In `/sys/block/*/stat`, whatever the device's own sectors are.
const SECTOR_BYTES: u64 = 512;

/// The device below a mount; nothing for file systems in memory or on a network.
pub(super) fn below(root: &Root, mount: &Mount) -> Option<Device> {
    Some(describe(&directory_below(root, mount)?))
}

/// The directory in `/sys` of the device below a mount; of a partition, that of its device.
pub(super) fn directory_below(root: &Root, mount: &Mount) -> Option<PathBuf> {
    let numbers = match mount.device.strip_prefix("0:") {
        // Some file systems (btrfs) show a number of their own; their source is the device.
        Some(_) => device_numbers(Path::new(&mount.source))?,
        None => mount.device.clone(),
    };
    let path = root.path(Path::new("/sys/dev/block").join(numbers));
    Some(whole_device(path.canonicalize().ok()?))
}

/// `major:minor` of a device file.
fn device_numbers(path: &Path) -> Option<String> {
    let device = path.metadata().ok()?.rdev();
    (device != 0).then(|| {
        format!(
            "{}:{}",
            rustix::fs::major(device),
            rustix::fs::minor(device)
        )
    })
}

/// The directory of the device that a partition belongs to.
fn whole_device(path: PathBuf) -> PathBuf {
    match path.parent() {
        Some(parent) if path.join("partition").exists() => parent.to_owned(),
        _ => path,
    }
}

/// Reads a device's directory in `/sys`.
fn describe(path: &Path) -> Device {
    let read = |name: &str| first_line(&path.join(name));
    Device {
        name: path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default(),
        model: read("device/model").or_else(|| read("device/name")),
        rotational: read("queue/rotational").map(|flag| flag == "1"),
        scheduler: read("queue/scheduler").map(|list| selected(&list).to_owned()),
        read_ahead_kib: read("queue/read_ahead_kb").and_then(|kib| kib.parse().ok()),
        write_cache: read("queue/write_cache"),
    }
}

/// The first line of a file, trimmed.
pub(super) fn first_line(path: &Path) -> Option<String> {
    Root::system().line(path)
}

/// The one in brackets of `none [mq-deadline] kyber`.
pub(super) fn selected(list: &str) -> &str {
    list.split(' ')
        .find_map(|name| name.strip_prefix('[')?.strip_suffix(']'))
        .unwrap_or(list)
}

/// Bytes per second that reach the device while this process does nothing for `wait`: what
/// others write. To be asked when nothing of ours is waiting to be written.
pub(crate) fn foreign_write_rate(device: &Device, wait: Duration) -> Option<u64> {
    let path = Path::new("/sys/class/block")
        .join(&device.name)
        .join("stat");
    let written = || {
        let stat = std::fs::read_to_string(&path).ok()?;
        Some(parse_counters(device.name.clone(), &stat)?.written_bytes)
    };
    let before = written()?;
    let start = Instant::now();
    thread::sleep(wait);
    let written = written()?.saturating_sub(before);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate for people"
    )]
    Some((written as f64 / start.elapsed().as_secs_f64()) as u64)
}

/// What the device below `place` has done since the system started, whoever asked for it; nothing
/// for file systems in memory or on a network, and where the system does not tell.
pub(crate) fn counters(place: &Path) -> Option<DeviceCounters> {
    let root = Root::system();
    let mount = super::mounts::mount_below(&root, place)?;
    let path = directory_below(&root, &mount)?;
    let name = path.file_name()?.to_string_lossy().into_owned();
    parse_counters(name, &std::fs::read_to_string(path.join("stat")).ok()?)
}

/// An image that a loop device shows as a disk.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) file: PathBuf,
    /// Whether it is read and written directly, not through pages of its own.
    pub(crate) direct: bool,
}

/// The image in which the file system of `place` lies; nothing where it lies on a disk.
pub(crate) fn image_below(place: &Path) -> Option<Image> {
    let root = Root::system();
    let mount = super::mounts::mount_below(&root, place)?;
    let path = directory_below(&root, &mount)?;
    Some(Image {
        file: first_line(&path.join("loop/backing_file"))?.into(),
        direct: first_line(&path.join("loop/dio")).as_deref() == Some("1"),
    })
}

/// The fields of a device's `stat` (the kernel's Documentation/block/stat.rst).
fn parse_counters(device: String, stat: &str) -> Option<DeviceCounters> {
    let fields: Vec<u64> = stat
        .split_whitespace()
        .map_while(|n| n.parse().ok())
        .collect();
    Some(DeviceCounters {
        device,
        reads: *fields.first()?,
        read_bytes: fields.get(2)?.saturating_mul(SECTOR_BYTES),
        writes: *fields.get(4)?,
        written_bytes: fields.get(6)?.saturating_mul(SECTOR_BYTES),
        flushes: fields.get(15).copied(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_described_by_its_device() {
        let directory = tempfile::tempdir().unwrap();
        let disk = directory.path().join("nvme0n1");
        let partition = disk.join("nvme0n1p2");
        for folder in [&partition, &disk.join("queue"), &disk.join("device")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        for (file, text) in [
            ("nvme0n1p2/partition", "2\n"),
            ("queue/rotational", "0\n"),
            ("queue/scheduler", "[none] mq-deadline kyber\n"),
            ("queue/read_ahead_kb", "128\n"),
            ("queue/write_cache", "write back\n"),
            ("device/model", "Samsung SSD 980 PRO 1TB                 \n"),
        ] {
            std::fs::write(disk.join(file), text).unwrap();
        }
        let expected = Device {
            name: "nvme0n1".into(),
            model: Some("Samsung SSD 980 PRO 1TB".into()),
            rotational: Some(false),
            scheduler: Some("none".into()),
            read_ahead_kib: Some(128),
            write_cache: Some("write back".into()),
        };
        assert_eq!(describe(&whole_device(partition)), expected);
        assert_eq!(describe(&whole_device(disk)), expected);
    }

    #[test]
    fn the_selected_scheduler_is_in_brackets() {
        assert_eq!(selected("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!(selected("none"), "none");
    }

    #[test]
    fn what_was_written_is_the_seventh_field_in_sectors() {
        let stat = "   13471      305  1020402     6410    50870    31015  4381616    61030        0    28160    70430    1300        0  2024512     1200     1600      510\n";
        let written = |stat| Some(parse_counters(String::new(), stat)?.written_bytes);
        assert_eq!(written(stat), Some(4_381_616 * 512));
        assert_eq!(written("1 2 3"), None);
    }

    #[test]
    fn a_device_that_does_not_exist_has_no_rate() {
        let device = Device {
            name: "no-such-device".into(),
            ..Device::default()
        };
        assert_eq!(foreign_write_rate(&device, Duration::ZERO), None);
    }
}
