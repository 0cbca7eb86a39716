//! Mounted file systems, from `/proc/self/mountinfo`.

use super::root::Root;
use std::path::{Path, PathBuf};

/// One line of `mountinfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Major and minor number of the device, `254:0`.
    pub device: String,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// Mount options, joined by commas.
    pub options: String,
    /// Type of the file system, `ext4`.
    pub kind: String,
    /// The mounted thing, `/dev/vda` for a block device.
    pub source: String,
}

/// The file system that holds `path`, which exists.
#[must_use]
pub fn mount_of(path: &Path) -> Option<Mount> {
    mount_below(&Root::system(), path)
}

/// Finds the mount that holds a path, with the system's files below a root.
pub(super) fn mount_below(root: &Root, path: &Path) -> Option<Mount> {
    let path = path.canonicalize().ok()?;
    holding(parse(&root.text("/proc/self/mountinfo")?), &path)
}

/// What is mounted at a path or below it, if anything is.
pub(crate) fn mounted_in(path: &Path) -> Option<PathBuf> {
    let path = path.parent()?.canonicalize().ok()?.join(path.file_name()?);
    let mounts = parse(&Root::system().text("/proc/self/mountinfo")?).into_iter();
    let mut points = mounts.map(|mount| mount.mount_point);
    points.find(|point| point.starts_with(&path))
}

/// The mount with the longest mount point above `path`; of several on one point, the last is on
/// top.
fn holding(mounts: Vec<Mount>, path: &Path) -> Option<Mount> {
    mounts
        .into_iter()
        .filter(|mount| path.starts_with(&mount.mount_point))
        .max_by_key(|mount| mount.mount_point.components().count())
}

fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

/// `36 35 98:0 /root /mount/point options [tag:value …] - type source super-options`
fn parse_line(line: &str) -> Option<Mount> {
    let (mount, file_system) = line.split_once(" - ")?;
    let mut mount = mount.split(' ').skip(2);
    let device = mount.next()?.to_owned();
    let mount_point = PathBuf::from(unescape(mount.nth(1)?));
    let options = mount.next()?;
    let mut file_system = file_system.split(' ');
    let kind = file_system.next()?.to_owned();
    let source = unescape(file_system.next()?);
    let super_options = file_system.next().unwrap_or_default();
    let mut all: Vec<&str> = options.split(',').collect();
    all.extend(
        super_options
            .split(',')
            .filter(|option| !option.is_empty() && !options.split(',').any(|o| o == *option)),
    );
    Some(Mount {
        device,
        mount_point,
        options: all.join(","),
        kind,
        source,
    })
}

/// The kernel writes space, tab, newline and backslash as `\040` and so on.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let octal = behind
            .get(..3)
            .filter(|_| *first == b'\\')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(octal.unwrap_or(*first));
        rest = if octal.is_some() {
            &behind[3..]
        } else {
            behind
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SAMPLE: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,resv_strict
30 25 0:27 / /dev/shm rw,relatime - tmpfs tmpfs rw,size=24682416k
36 35 98:0 /mnt1 /mnt/my\\040disk rw,noatime master:1 shared:2 - btrfs /dev/sd\\134x rw,subvol=/
40 27 8:1 / /srv rw - xfs /dev/sda1 rw
41 40 8:2 / /srv rw - ext4 /dev/sda2 rw
";

    fn kind_at(path: &str) -> String {
        holding(parse(SAMPLE), Path::new(path)).unwrap().kind
    }

    #[test]
    fn the_longest_mount_point_above_a_path_holds_it() {
        assert_eq!(kind_at("/home/x"), "ext4");
        assert_eq!(kind_at("/dev/shm/x"), "tmpfs");
        assert_eq!(kind_at("/dev/shmx"), "ext4", "whole components only");
        assert_eq!(kind_at("/mnt/my disk/a"), "btrfs");
    }

    #[test]
    fn the_last_of_two_mounts_on_one_point_is_on_top() {
        assert_eq!(kind_at("/srv/a"), "ext4");
    }

    #[test]
    fn every_field_is_read_with_escapes_and_optional_fields() {
        let mount = holding(parse(SAMPLE), Path::new("/mnt/my disk")).unwrap();
        assert_eq!(mount.device, "98:0");
        assert_eq!(mount.mount_point, Path::new("/mnt/my disk"));
        assert_eq!(mount.options, "rw,noatime,subvol=/");
        assert_eq!(mount.source, "/dev/sd\\x");
    }

    #[test]
    fn this_directory_lies_on_a_mount() {
        assert!(mount_of(Path::new(".")).is_some());
    }

    proptest! {
        #[test]
        fn garbage_is_skipped_and_never_a_panic(text in "[ -~\\\\0-9\n]{0,200}") {
            let _ = parse(&text);
            let _ = unescape(&text);
        }
    }
}
