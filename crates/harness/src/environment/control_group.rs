//! What the control group of this process may use: version 2, or the hierarchies of version 1.

use super::root::Root;
use std::path::Path;

/// Version 1 writes a number near 2^63 for no limit.
const NO_LIMIT: u64 = 1 << 60;

/// Memory that the group, or one above it, may use, in bytes: its page cache counts too.
pub(super) fn memory_limit(root: &Root) -> Option<u64> {
    let files = [
        (UNIFIED, "memory.max"),
        (UNIFIED, "memory.high"),
        (MEMORY, "memory.limit_in_bytes"),
    ];
    files
        .into_iter()
        .flat_map(|(hierarchy, file)| values(root, hierarchy, file))
        .filter_map(|text| text.parse::<u64>().ok())
        .filter(|bytes| *bytes < NO_LIMIT)
        .min()
}

/// How much CPU time the group, or one above it, may use, in CPUs.
pub(super) fn cpu_limit(root: &Root) -> Option<f64> {
    let unified = values(root, UNIFIED, "cpu.max");
    let quotas = values(root, CPU, "cpu.cfs_quota_us");
    let periods = values(root, CPU, "cpu.cfs_period_us");
    let first = quotas.into_iter().zip(periods);
    unified
        .into_iter()
        .filter_map(|text| {
            let (quota, period) = text.split_once(' ')?;
            cpus(quota, period)
        })
        .chain(first.filter_map(|(quota, period)| cpus(&quota, &period)))
        .reduce(f64::min)
}

/// `max` and -1 are no limit.
fn cpus(quota: &str, period: &str) -> Option<f64> {
    let quota: f64 = quota.parse().ok()?;
    let period: f64 = period.parse().ok()?;
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

/// One tree of groups: its controller, which is none in version 2, and where it may be mounted.
type Hierarchy = (&'static str, &'static [&'static str]);

const UNIFIED: Hierarchy = ("", &["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]);
const CPU: Hierarchy = ("cpu", &["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"]);
const MEMORY: Hierarchy = ("memory", &["/sys/fs/cgroup/memory"]);

/// The first line of a file in the directory of this process's group in a hierarchy, and in those of the groups above
/// it. Within a container the path is often that of the host, and only the last of these exists.
fn values(root: &Root, (controller, mounts): Hierarchy, file: &str) -> Vec<String> {
    let groups = root.text("/proc/self/cgroup").unwrap_or_default();
    let Some(path) = group(&groups, controller) else {
        return Vec::new();
    };
    let path = Path::new(path.trim_start_matches('/'));
    let below = |mount| {
        path.ancestors()
            .map(move |group| Path::new(mount).join(group))
    };
    let directories = mounts.iter().flat_map(below);
    directories
        .filter_map(|directory| root.line(directory.join(file)))
        .collect()
}

/// The group's path, from `/proc/self/cgroup`: `0::/path`, `4:cpu,cpuacct:/path`.
fn group<'t>(text: &'t str, controller: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let mut controllers = controllers.split(',');
        controllers.any(|other| other == controller).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::super::root::MadeUp;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_smallest_limit_above_a_group_holds() {
        let tree = MadeUp::of(&[
            ("/proc/self/cgroup", "0::/user.slice/a\n"),
            ("/sys/fs/cgroup/user.slice/a/memory.max", "max\n"),
            ("/sys/fs/cgroup/user.slice/memory.max", "4294967296\n"),
            ("/sys/fs/cgroup/user.slice/a/memory.high", "1073741824\n"),
            ("/sys/fs/cgroup/user.slice/a/cpu.max", "max 100000\n"),
            ("/sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n"),
        ]);
        let root = tree.root();
        assert_eq!(memory_limit(&root), Some(1 << 30));
        assert_eq!(cpu_limit(&root), Some(1.5));
    }

    #[test]
    fn the_hierarchies_of_version_1_are_read_where_a_container_sees_them() {
        let tree = MadeUp::of(&[
            (
                "/proc/self/cgroup",
                "4:memory:/docker/x\n2:cpu,cpuacct:/docker/x\n0::/\n",
            ),
            (
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "2147483648\n",
            ),
            ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n"),
            ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ]);
        assert_eq!(memory_limit(&tree.root()), Some(2 << 30));
        assert_eq!(cpu_limit(&tree.root()), Some(2.0));
    }

    #[test]
    fn no_limit_is_none_in_either_version() {
        let tree = MadeUp::of(&[
            ("/proc/self/cgroup", "4:memory:/x\n1:cpu:/\n0::/\n"),
            (
                "/sys/fs/cgroup/memory/x/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
            ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
            ("/sys/fs/cgroup/memory.max", "max\n"),
            ("/sys/fs/cgroup/cpu.max", "max 100000\n"),
        ]);
        assert_eq!(
            (memory_limit(&tree.root()), cpu_limit(&tree.root())),
            (None, None)
        );
        let nothing = MadeUp::of(&[]).root();
        assert_eq!((memory_limit(&nothing), cpu_limit(&nothing)), (None, None));
    }

    proptest! {
        #[test]
        fn garbage_is_unknown_and_never_a_panic(text in "[ -~\n]{0,200}") {
            let tree = MadeUp::of(&[
                ("/proc/self/cgroup", &*text),
                ("/sys/fs/cgroup/cpu.max", &*text),
                ("/sys/fs/cgroup/memory.max", &*text),
            ]);
            let _ = (memory_limit(&tree.root()), cpu_limit(&tree.root()));
        }
    }
}
