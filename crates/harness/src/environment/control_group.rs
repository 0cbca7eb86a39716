//! What the control group of this process may use (version 2; of version 1 nothing is known).

use super::root::Root;
use std::path::Path;

/// Memory that the group, or one above it, may use, in bytes: its page cache counts too.
pub(super) fn memory_limit(root: &Root) -> Option<u64> {
    let files = ["memory.max", "memory.high"].into_iter();
    let limits = files.flat_map(|file| values(root, file));
    limits.filter_map(|text| text.parse().ok()).min()
}

/// How much CPU time the group, or one above it, may use, in CPUs. `max` is no limit.
pub(super) fn cpu_limit(root: &Root) -> Option<f64> {
    let cpus = |text: String| {
        let (quota, period) = text.split_once(' ')?;
        let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
        (quota > 0.0 && period > 0.0).then_some(quota / period)
    };
    let limits = values(root, "cpu.max").into_iter().filter_map(cpus);
    limits.reduce(f64::min)
}

/// The first line of a file in the directory of this process's group, and in those of the groups above it. Within a
/// container the path is often that of the host, and only the last of these exists.
fn values(root: &Root, file: &str) -> Vec<String> {
    let groups = root.text("/proc/self/cgroup").unwrap_or_default();
    let Some(path) = groups.lines().find_map(|line| line.strip_prefix("0::/")) else {
        return Vec::new();
    };
    let groups = Path::new(path).ancestors();
    let files = groups.map(|group| Path::new("/sys/fs/cgroup").join(group).join(file));
    files.filter_map(|file| root.line(file)).collect()
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
    fn no_limit_is_none() {
        let tree = MadeUp::of(&[
            ("/proc/self/cgroup", "4:memory:/x\n1:cpu:/\n0::/\n"),
            ("/sys/fs/cgroup/memory.max", "max\n"),
            ("/sys/fs/cgroup/cpu.max", "max 100000\n"),
        ]);
        for root in [tree.root(), MadeUp::of(&[]).root()] {
            assert_eq!((memory_limit(&root), cpu_limit(&root)), (None, None));
        }
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
