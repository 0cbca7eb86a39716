//! A machine each of whose files of `/proc`, `/sys` and `/etc` says the same, and that is anything.

use super::{Context, Demand, Facts, Root, checks, examine_below, mounts};
use std::cell::RefCell;
use std::path::Path;
use stowplan_model::Check;

const FILES: &[&str] = &[
    "etc/os-release",
    "proc/cpuinfo",
    "proc/meminfo",
    "proc/loadavg",
    "proc/self/cgroup",
    "proc/self/mountinfo",
    "proc/9/stat",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "sys/devices/system/cpu/cpu0/cache/index3/level",
    "sys/devices/system/cpu/cpu0/cache/index3/type",
    "sys/devices/system/cpu/cpu0/cache/index3/size",
    "sys/class/power_supply/BAT0/type",
    "sys/class/power_supply/BAT0/status",
    "sys/class/dmi/id/sys_vendor",
    "sys/class/dmi/id/product_name",
    "sys/devices/system/clocksource/clocksource0/current_clocksource",
    "sys/dev/block/259:2/partition",
    "sys/dev/block/259:2/queue/rotational",
    "sys/dev/block/259:2/queue/read_ahead_kb",
    "sys/dev/block/259:2/queue/scheduler",
    "sys/fs/cgroup/memory.max",
    "sys/fs/cgroup/cpu.max",
];

/// The file that all of them are links to, in a tree that is made once per thread.
struct Tree(tempfile::TempDir);

impl Tree {
    fn make() -> std::io::Result<Self> {
        let directory = tempfile::tempdir()?;
        for file in FILES {
            let path = directory.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
            std::os::unix::fs::symlink(directory.path().join("said"), path)?;
        }
        Ok(Self(directory))
    }
}

/// What is found on such a machine, without the probes that take time.
///
/// # Errors
/// The made-up tree cannot be written.
pub fn system_files(said: &[u8]) -> std::io::Result<Vec<Check>> {
    thread_local! {
        static TREE: RefCell<Option<Tree>> = const { RefCell::new(None) };
    }
    TREE.with_borrow_mut(|tree| {
        let tree = match tree {
            Some(tree) => tree,
            none => none.insert(Tree::make()?),
        };
        std::fs::write(tree.0.path().join("said"), said)?;
        Ok(found_on(&Root::at(tree.0.path())))
    })
}

fn found_on(root: &Root) -> Vec<Check> {
    let directory = Path::new("/");
    let environment = examine_below(root, directory);
    let mount = mounts::mount_below(root, directory);
    let facts = Facts {
        waiting: Some(0.001),
        ..Facts::read(root, mount.as_ref())
    };
    let demand = Demand {
        what: String::new(),
        disk_bytes: 1 << 20,
        least_disk_bytes: 1 << 16,
        cached_bytes: 4 << 30,
        working_set_bytes: Some(1 << 30),
    };
    checks(&Context {
        environment: &environment,
        demand: &demand,
        facts: &facts,
    })
}
