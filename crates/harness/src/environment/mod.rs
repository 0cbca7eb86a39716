//! The machine and its state, and what about them spoils a measurement.
//!
//! Reads what the system offers as text (`/proc`, `/sys`) with parsers that are pure functions;
//! a file that is not there, or says something unexpected, is an unknown fact.

pub mod checks;
mod control_group;
mod device;
mod machine;
mod mounts;
mod root;

pub(crate) use device::{Image, counters as device_counters, foreign_write_rate, image_below};
pub(crate) use mounts::mounted_in;
pub use mounts::{Mount, mount_of};

use crate::{page_cache, platform};
use root::Root;
use std::ffi::CStr;
use std::path::Path;
use std::sync::OnceLock;
use stowplan_dataset::machine::last_level_cache_bytes;
use stowplan_model::{Environment, FileSystem};

static TOOL_COMMIT: OnceLock<&str> = OnceLock::new();

/// Names the commit that the program was built from, for every later [`examine`]: a program knows it, and
/// a library that did would be compiled again at each.
pub fn built_from(commit: &'static str) {
    let _ = TOOL_COMMIT.set(commit);
}

/// The machine, seen from a work directory, which need not exist yet. `engines` stays empty:
/// the stores know them.
#[must_use]
pub fn examine(work: &Path) -> Environment {
    examine_below(&Root::system(), work)
}

/// Examines the machine, with the system's files below a root.
fn examine_below(root: &Root, work: &Path) -> Environment {
    let work = nearest_existing(work);
    let name = rustix::system::uname();
    let text = |part: &CStr| part.to_string_lossy().into_owned();
    let read = |file: &str| root.text(file).unwrap_or_default();
    let memory = machine::memory(root);
    let mount = mounts::mount_below(root, work);
    let state = rustix::fs::statvfs(work).ok();
    Environment {
        host: host_name(),
        os: machine::parse_distribution(&read("/etc/os-release"))
            .unwrap_or_else(|| text(name.sysname())),
        kernel: text(name.release()),
        architecture: text(name.machine()),
        cpu: machine::parse_cpu_model(&read("/proc/cpuinfo")),
        cpus: std::thread::available_parallelism()
            .map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX)),
        last_level_cache_bytes: last_level_cache_bytes(&root.path("/")),
        governor: root.line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        virtualisation: machine::virtualisation(root, &text(name.release())),
        memory_bytes: memory.total_bytes,
        memory_available_bytes: memory.available_bytes,
        load_average: machine::parse_load_average(&read("/proc/loadavg")),
        on_battery: machine::on_battery(root),
        clock_source: root.line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        run_queue_delay: platform::run_delay_ns().is_some(),
        residency_check: Some(page_cache::how().to_owned()),
        device: mount.as_ref().and_then(|mount| device::below(root, mount)),
        file_system: FileSystem {
            block_bytes: state.as_ref().map_or(0, |state| state.f_frsize),
            free_bytes: state.map_or(0, |state| state.f_bavail.saturating_mul(state.f_frsize)),
            ..mount.map_or_else(FileSystem::default, |mount| FileSystem {
                kind: mount.kind,
                mount_point: mount.mount_point.to_string_lossy().into_owned(),
                options: mount.options,
                ..FileSystem::default()
            })
        },
        file_systems: std::collections::BTreeMap::new(),
        engines: std::collections::BTreeMap::new(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        tool_commit: TOOL_COMMIT.get().map(|commit| (*commit).to_owned()),
        compiler: option_env!("STOWPLAN_COMPILER").map(str::to_owned),
        // A crate's own level says nothing of others: this one is not optimised in a release.
        optimised: !cfg!(debug_assertions),
    }
}

/// The name of this machine.
#[must_use]
pub fn host_name() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// The path itself, or the first directory above it that exists.
pub(crate) fn nearest_existing(path: &Path) -> &Path {
    path.ancestors()
        .find(|ancestor| !ancestor.as_os_str().is_empty() && ancestor.exists())
        .unwrap_or(Path::new("."))
}

/// Bytes of the largest cache, and of the memory that is free; 0 where that is unknown.
pub(crate) fn cache_and_memory() -> (Option<u64>, u64) {
    let root = Root::system();
    let cache = last_level_cache_bytes(Path::new("/"));
    (cache, machine::memory(&root).available_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_described() {
        let here = examine(Path::new("not/there/yet"));
        assert!(!here.host.is_empty() && !here.kernel.is_empty() && here.cpus > 0);
        assert!(here.memory_bytes >= here.memory_available_bytes);
        assert!(here.memory_available_bytes > 0);
        assert!(!here.file_system.kind.is_empty() && here.file_system.block_bytes > 0);
    }

    #[test]
    fn a_directory_that_does_not_exist_yet_lies_where_its_parent_does() {
        assert_eq!(
            nearest_existing(Path::new("/proc/no/such")),
            Path::new("/proc")
        );
        assert_eq!(nearest_existing(Path::new("no-such-name")), Path::new("."));
    }
}
