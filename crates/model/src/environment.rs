//! The machine and the system on which a run took place, and what about them spoils a
//! measurement.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The machine and its state at the start of a run. Unknown facts are absent, never guessed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Host name.
    pub host: String,
    /// Operating system and distribution.
    pub os: String,
    /// Kernel release.
    pub kernel: String,
    /// Instruction set architecture.
    pub architecture: String,
    /// CPU model name.
    pub cpu: Option<String>,
    /// Logical CPUs that this process may use.
    pub cpus: u32,
    /// Size of the last-level cache, in bytes.
    pub last_level_cache_bytes: Option<u64>,
    /// CPU frequency governor.
    pub governor: Option<String>,
    /// Hypervisor or container, where one was recognised.
    pub virtualisation: Option<String>,
    /// Memory, in bytes.
    pub memory_bytes: u64,
    /// Memory available without swapping, in bytes.
    pub memory_available_bytes: u64,
    /// Load average over one minute.
    pub load_average: Option<f64>,
    /// Whether the machine runs on battery.
    pub on_battery: Option<bool>,
    /// Kernel clock source.
    pub clock_source: Option<String>,
    /// Whether run-queue delay can be read, so that corrected time exists (R8).
    pub run_queue_delay: bool,
    /// How residency in the page cache is checked: `cachestat`, `mincore`, or nothing.
    pub residency_check: Option<String>,
    /// The file system of the work directory.
    pub file_system: FileSystem,
    /// The device below it.
    pub device: Option<Device>,
    /// Versions and build options of the engines in this program, by name.
    pub engines: BTreeMap<String, String>,
    /// Version of this program.
    pub tool_version: String,
    /// Commit this program was built from, where known.
    pub tool_commit: Option<String>,
    /// Version of the compiler that built this program.
    pub compiler: Option<String>,
    /// Whether this program was built with optimisation.
    pub optimised: bool,
}

/// A mounted file system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FileSystem {
    /// Its type (`ext4`, `xfs`, `tmpfs`, …).
    pub kind: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// Mount options.
    pub options: String,
    /// Size of its blocks, in bytes.
    pub block_bytes: u64,
    /// Free bytes at the start.
    pub free_bytes: u64,
}

/// A block device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Kernel name (`vda`, `nvme0n1`).
    pub name: String,
    /// Model, where the device tells.
    pub model: Option<String>,
    /// Whether it is a spinning disk.
    pub rotational: Option<bool>,
    /// I/O scheduler in use.
    pub scheduler: Option<String>,
    /// Read-ahead, in KiB.
    pub read_ahead_kib: Option<u64>,
    /// `write back` or `write through`, as the kernel sees the device's cache.
    pub write_cache: Option<String>,
}

/// Something that spoils or qualifies a measurement, with what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Which kind.
    pub kind: WarningKind,
    /// What is so.
    pub message: String,
    /// What to do about it.
    pub advice: String,
}

/// Kinds of warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarningKind {
    /// The work directory lies in memory.
    MemoryFileSystem,
    /// The governor saves power.
    Governor,
    /// The machine runs on battery.
    Battery,
    /// Other work runs.
    Load,
    /// The data does not fit into memory.
    Memory,
    /// The working set is not well above the last-level cache (R5).
    WorkingSet,
    /// The clock source is slow.
    ClockSource,
    /// Another process writes to the device.
    ForeignWrites,
    /// This program was built without optimisation.
    DebugBuild,
    /// The engine did not take a setting.
    SettingNotTaken,
    /// Run-queue delay cannot be read.
    NoRunQueueDelay,
    /// Cold states cannot be verified.
    NoResidencyCheck,
    /// A store synced fewer times than its class needs.
    TooFewSyncs,
    /// A block was repeated because its covariates were wrong (R9).
    Repeated,
    /// Something else.
    Other,
}
