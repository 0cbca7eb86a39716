//! The machine and its state, and what about them spoils a measurement.
//!
//! Reads what the system offers as text (`/proc`, `/sys`) with parsers that are pure functions;
//! a file that is not there, or says something unexpected, is an unknown fact.

mod device;
mod machine;
mod mounts;
mod warnings;

pub use device::foreign_write_rate;
pub use warnings::{Plans, warnings};

pub(crate) use mounts::mount_of;

use crate::{page_cache, platform};
use std::ffi::CStr;
use std::path::Path;
use stowplan_model::{Environment, FileSystem};

/// The machine, seen from a work directory, which need not exist yet. `engines` stays empty:
/// the stores know them.
#[must_use]
pub fn examine(work: &Path) -> Environment {
    let work = nearest_existing(work);
    let name = rustix::system::uname();
    let text = |part: &CStr| part.to_string_lossy().into_owned();
    let memory = machine::memory();
    let mount = mount_of(work);
    let state = rustix::fs::statvfs(work).ok();
    Environment {
        host: host_name(),
        os: machine::distribution().unwrap_or_else(|| text(name.sysname())),
        kernel: text(name.release()),
        architecture: text(name.machine()),
        cpu: machine::cpu_model(),
        cpus: std::thread::available_parallelism()
            .map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX)),
        last_level_cache_bytes: machine::last_level_cache_bytes(),
        governor: read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        virtualisation: machine::virtualisation(&text(name.release())),
        memory_bytes: memory.total_bytes,
        memory_available_bytes: memory.available_bytes,
        load_average: machine::load_average(),
        on_battery: machine::on_battery(Path::new("/sys/class/power_supply")),
        clock_source: read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        run_queue_delay: platform::RunDelay::of_this_thread().read().is_some(),
        residency_check: page_cache::how().map(str::to_owned),
        device: mount.as_ref().and_then(device::below),
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
        engines: std::collections::BTreeMap::new(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        tool_commit: option_env!("STOWPLAN_COMMIT").map(str::to_owned),
        compiler: option_env!("STOWPLAN_COMPILER").map(str::to_owned),
        optimised: option_env!("STOWPLAN_OPT_LEVEL") != Some("0"),
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

/// The text of a small file; nothing if it cannot be read.
fn read_text(path: impl AsRef<Path>) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The first line of a small file, trimmed; nothing if it is empty or cannot be read.
fn read_line(path: impl AsRef<Path>) -> Option<String> {
    let text = read_text(path)?;
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_described() {
        let here = examine(Path::new("not/there/yet"));
        assert!(!here.host.is_empty() && !here.kernel.is_empty() && here.cpus > 0);
        assert_eq!(
            here.optimised,
            option_env!("STOWPLAN_OPT_LEVEL") != Some("0")
        );
        if cfg!(target_os = "linux") {
            assert!(here.memory_bytes >= here.memory_available_bytes);
            assert!(here.memory_available_bytes > 0);
            assert!(!here.file_system.kind.is_empty() && here.file_system.block_bytes > 0);
        }
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
