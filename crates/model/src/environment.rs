//! The machine and the system on which a run took place, and what about them spoils a
//! measurement.

mod facts;

pub use facts::{Fact, FactOf};

use crate::words::data;

use std::collections::BTreeMap;
use std::fmt;

data! {
    /// The machine and its state at the start of a run. Unknown facts are absent, never guessed.
    #[derive(Default)]
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
        pub file_systems: BTreeMap<String, String> = default,
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
    #[derive(Default)]
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
    #[derive(Default)]
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
    #[derive(Eq)]
    pub struct Warning {
        /// Which kind.
        pub kind: WarningKind,
        /// What is so.
        pub message: String,
        /// What to do about it.
        pub advice: String,
    }

    /// Kinds of warnings.
    #[derive(Copy, Eq, Hash)]
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
    fn changes_of_engines(&self, now: &Self) -> impl Iterator<Item = Change> {
        let engines = self.engines.iter();
        let engines = engines.map(|(name, version)| (name, version, now.engines.get(name)));
        let changed = engines.filter(|(_, version, now)| *now != Some(version));
        changed.map(|(name, version, now)| {
            let build = |version: &String| version.split_whitespace().next().map(str::to_owned);
            let (before, mut now) = (build(version), now.and_then(build));
            if before == now {
                // Its options fill a page.
                now = Some("another of it".to_owned());
            }
            Change::of(format!("build of {name}"), before, now, true)
        })
    }
}

impl Change {
    fn of(what: String, before: Option<String>, now: Option<String>, decisive: bool) -> Self {
        let known = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
        Self {
            what,
            before: known(before),
            now: known(now),
            decisive,
        }
    }
}

impl Warning {
    /// A warning of no kind that anything asks about.
    #[must_use]
    pub fn other(message: String, advice: impl Into<String>) -> Self {
        Self {
            kind: WarningKind::Other,
            message,
            advice: advice.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(name: &str) -> Device {
        Device {
            name: name.to_owned(),
            ..Device::default()
        }
    }

    fn engine(version: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("sqlite".to_owned(), version.to_owned())])
    }

    fn machine() -> Environment {
        Environment {
            cpu: Some("Fast 9000".to_owned()),
            cpus: 8,
            kernel: "6.1".to_owned(),
            memory_bytes: 16_000_000_000,
            device: Some(device("vda")),
            engines: engine("3.50.0"),
            ..Environment::default()
        }
    }

    #[test]
    fn another_machine_disk_or_engine_is_decisive_another_kernel_is_not_and_load_is_no_change() {
        let edits: [fn(&mut Environment); 8] = [
            |_| {},
            |m| m.engines = engine("3.50.0 (DEBUG)"),
            |m| m.engines.clear(),
            |m| m.cpu = None,
            |m| m.cpus = 4,
            |m| m.memory_bytes = 8_000_000_000,
            |m| m.device = Some(device("vdb")),
            |m| m.kernel = "6.12".to_owned(),
        ];
        let said = edits.map(|edit| {
            let mut now = Environment {
                load_average: Some(9.0),
                memory_available_bytes: 1,
                memory_bytes: 16_100_000_000,
                host: "another-container".to_owned(),
                ..machine()
            };
            edit(&mut now);
            let changes = machine().changes(&now);
            let said = changes.iter().map(|it| format!("{it}, {}", it.decisive));
            said.collect::<Vec<_>>().join("; ")
        });
        let expected = "
            the build of sqlite was 3.50.0 and is another of it, true
            the build of sqlite was 3.50.0 and is unknown, true
            the processor was Fast 9000 and is unknown, true
            the number of CPUs was 8 and is 4, true
            the memory was 14.9 GiB and is 7.5 GiB, true
            the device was vda and is vdb, true
            the kernel was 6.1 and is 6.12, false";
        let expected: Vec<&str> = expected.lines().map(str::trim).collect();
        assert_eq!(said[..], expected);
    }

    #[test]
    fn another_kernel_is_the_same_machine_and_another_processor_is_not() {
        let mut other = machine();
        other.kernel = "6.2".into();
        assert!(machine().is_same_machine(&other));
        other.cpu = Some("fast".into());
        assert!(!machine().is_same_machine(&other));
    }

    #[test]
    fn a_device_of_a_virtual_machine_that_says_it_spins_is_a_virtual_disk() {
        for (virtualisation, name, spins, kind) in [
            (None, "sda", true, "spinning disk"),
            (Some("Docker container"), "sda", true, "spinning disk"),
            (Some("virtual machine (QEMU)"), "sda", true, "virtual disk"),
            (None, "vda", true, "virtual disk"),
            (None, "vda", false, "not rotational"),
        ] {
            let mut here = machine();
            here.virtualisation = virtualisation.map(str::to_owned);
            let device = here.device.insert(device(name));
            device.rotational = Some(spins);
            assert_eq!(here.device_kind(), Some(kind), "{virtualisation:?}, {name}");
        }
    }

    #[test]
    fn a_warning_of_a_later_version_is_one_of_another_kind() {
        let text = r#"{"kind":"cosmic-rays","message":"m","advice":"a"}"#;
        let warning: Warning = serde_json::from_str(text).unwrap();
        assert_eq!(warning.kind, WarningKind::Other);
    }
}
