//! The machine and the system on which a run took place, and what about them spoils a
//! measurement.

mod facts;

pub use facts::{Fact, FactOf};

use crate::format_bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The machine and its state at the start of a run. Unknown facts are absent, never guessed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// The other file systems that cells are on, by the name that cells give: how each was made, and
    /// how it is mounted. In a result they stand in a record of their own, for they are made when the
    /// header stands.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub file_systems: BTreeMap<String, String>,
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

/// What is not the same on two occasions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What, in words.
    pub what: String,
    /// What it was; `unknown` where nobody knows.
    pub before: String,
    /// What it is.
    pub now: String,
    /// Whether measurements of both occasions are of different things, so that they do not belong
    /// into one result.
    pub decisive: bool,
}

impl fmt::Display for Change {
    /// `the kernel was 6.1 and is 6.12`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the {} was {} and is {}",
            self.what, self.before, self.now
        )
    }
}

impl Environment {
    /// By how much the memory that the kernel reports may differ: it keeps some for itself.
    const MEMORY_TOLERANCE: f64 = 0.05;

    /// What has changed since. What changes all the time (load, free memory, free space) is left
    /// out; so is the file system's device where only one of both knows it.
    #[must_use]
    pub fn changes(&self, now: &Self) -> Vec<Change> {
        let mut changes = Changes(Vec::new());
        changes.decisive("architecture", &self.architecture, &now.architecture);
        changes.decisive("processor", &self.cpu, &now.cpu);
        changes.decisive("number of CPUs", &self.cpus, &now.cpus);
        if self.has_other_memory(now) {
            changes.decisive(
                "memory",
                &Bytes(self.memory_bytes),
                &Bytes(now.memory_bytes),
            );
        }
        changes.decisive("build's optimisation", &self.optimised, &now.optimised);
        self.changes_of_storage(now, &mut changes);
        for (name, version) in &self.engines {
            let now = now.engines.get(name);
            if now != Some(version) {
                let of_build = |version: &String| first_word(version).to_owned();
                let what = format!("build of {name}");
                let (before, now) = (of_build(version), now.map(of_build).in_words());
                changes.0.push(Change {
                    what,
                    // Its options fill a page.
                    now: if before == now {
                        "another of it".to_owned()
                    } else {
                        now
                    },
                    before,
                    decisive: true,
                });
            }
        }
        changes.slight("operating system", &self.os, &now.os);
        changes.slight("kernel", &self.kernel, &now.kernel);
        changes.slight("virtualisation", &self.virtualisation, &now.virtualisation);
        changes.slight("CPU frequency governor", &self.governor, &now.governor);
        changes.slight("power from a battery", &self.on_battery, &now.on_battery);
        changes.slight("clock source", &self.clock_source, &now.clock_source);
        changes.slight(
            "run-queue delay's being known",
            &self.run_queue_delay,
            &now.run_queue_delay,
        );
        changes.slight("version of stowplan", &self.tool_version, &now.tool_version);
        changes.slight("commit of stowplan", &self.tool_commit, &now.tool_commit);
        changes.0
    }

    #[expect(clippy::cast_precision_loss, reason = "a share")]
    fn has_other_memory(&self, now: &Self) -> bool {
        let difference = self.memory_bytes.abs_diff(now.memory_bytes) as f64;
        difference > self.memory_bytes as f64 * Self::MEMORY_TOLERANCE
    }

    fn changes_of_storage(&self, now: &Self, changes: &mut Changes) {
        let (before, after) = (&self.file_system, &now.file_system);
        changes.decisive("file system", &before.kind, &after.kind);
        match (&self.device, &now.device) {
            (Some(before), Some(after)) => {
                changes.decisive("device", &before.name, &after.name);
                changes.slight("I/O scheduler", &before.scheduler, &after.scheduler);
                let read_ahead = |device: &Device| device.read_ahead_kib;
                let (was, is) = (read_ahead(before), read_ahead(after));
                changes.slight("read-ahead in KiB", &was, &is);
            }
            _ => changes.decisive("mount point", &before.mount_point, &after.mount_point),
        }
        changes.slight("mount options", &before.options, &after.options);
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// Changes as they are found.
struct Changes(Vec<Change>);

impl Changes {
    fn decisive(&mut self, what: &str, before: &impl InWords, now: &impl InWords) {
        self.note(what, before.in_words(), now.in_words(), true);
    }

    fn slight(&mut self, what: &str, before: &impl InWords, now: &impl InWords) {
        self.note(what, before.in_words(), now.in_words(), false);
    }

    fn note(&mut self, what: &str, before: String, now: String, decisive: bool) {
        if before != now {
            self.0.push(Change {
                what: what.to_owned(),
                before,
                now,
                decisive,
            });
        }
    }
}

/// A fact about a machine, for people.
trait InWords {
    fn in_words(&self) -> String;
}

impl InWords for String {
    fn in_words(&self) -> String {
        match self.is_empty() {
            true => "unknown".to_owned(),
            false => self.clone(),
        }
    }
}

impl InWords for bool {
    fn in_words(&self) -> String {
        (if *self { "on" } else { "off" }).to_owned()
    }
}

impl InWords for u32 {
    fn in_words(&self) -> String {
        self.to_string()
    }
}

impl InWords for u64 {
    fn in_words(&self) -> String {
        self.to_string()
    }
}

struct Bytes(u64);

impl InWords for Bytes {
    fn in_words(&self) -> String {
        format_bytes(self.0)
    }
}

impl<T: InWords> InWords for Option<T> {
    fn in_words(&self) -> String {
        self.as_ref()
            .map_or("unknown".to_owned(), InWords::in_words)
    }
}

/// A mounted file system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WarningKind {
    /// The work directory lies in memory.
    MemoryFileSystem,
    /// The governor saves power.
    Governor,
    /// Idle pages are evicted, however much memory is free.
    PageOut,
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
    /// The baseline is not the planned one: it was chosen after the run.
    ChosenBaseline,
    /// Something is asked before a file is opened.
    Scanner,
    /// A block was repeated because its covariates were wrong (R9).
    Repeated,
    /// Something else, or a kind that a later version knows.
    #[serde(other)]
    Other,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Environment {
        Environment {
            cpu: Some("Fast 9000".to_owned()),
            cpus: 8,
            kernel: "6.1".to_owned(),
            memory_bytes: 16_000_000_000,
            device: Some(Device {
                name: "vda".to_owned(),
                ..Device::default()
            }),
            engines: BTreeMap::from([("sqlite".to_owned(), "3.50.0".to_owned())]),
            ..Environment::default()
        }
    }

    #[test]
    fn what_changes_all_the_time_is_no_change() {
        let now = Environment {
            load_average: Some(9.0),
            memory_available_bytes: 1,
            memory_bytes: 16_100_000_000,
            host: "another-container".to_owned(),
            ..machine()
        };
        assert_eq!(machine().changes(&now), []);
    }

    type Edit = fn(&mut Environment);

    #[test]
    fn another_machine_disk_or_engine_is_decisive_and_another_kernel_is_not() {
        let changed = |change: Edit| {
            let mut now = machine();
            change(&mut now);
            let changes = machine().changes(&now);
            assert_eq!(changes.len(), 1, "{changes:?}");
            (changes[0].to_string(), changes[0].decisive)
        };
        let decisive: [(Edit, &str); 6] = [
            (
                |m| m.engines.get_mut("sqlite").unwrap().push_str(" (DEBUG)"),
                "the build of sqlite was 3.50.0 and is another of it",
            ),
            (
                |m| m.cpu = None,
                "the processor was Fast 9000 and is unknown",
            ),
            (|m| m.cpus = 4, "the number of CPUs was 8 and is 4"),
            (
                |m| m.memory_bytes = 8_000_000_000,
                "the memory was 16 GB and is 8 GB",
            ),
            (
                |m| m.engines.clear(),
                "the build of sqlite was 3.50.0 and is unknown",
            ),
            (
                |m| m.device.as_mut().unwrap().name = "vdb".to_owned(),
                "the device was vda and is vdb",
            ),
        ];
        for (change, text) in decisive {
            assert_eq!(changed(change), (text.to_owned(), true));
        }
        let kernel = changed(|m| m.kernel = "6.12".to_owned());
        assert_eq!(kernel, ("the kernel was 6.1 and is 6.12".to_owned(), false));
    }

    #[test]
    fn a_warning_of_a_later_version_is_one_of_another_kind() {
        let text = r#"{"kind":"cosmic-rays","message":"m","advice":"a"}"#;
        let warning: Warning = serde_json::from_str(text).unwrap();
        assert_eq!(warning.kind, WarningKind::Other);
    }
}
