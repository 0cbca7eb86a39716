//! The driver protocol: one JSON document a line on the driver's stdin and stdout.
//!
//! ```text
//! driver  {"hello":{"protocol":"stowplan-driver","version":4,"tool":"mine 0.1"}}
//! parent  {"create":{"store":"kv:page_size=4096","place":"/w/store"}}
//! driver  "done"
//! parent  {"load":{…,"dataset":"/w/dataset","first":1,"count":5000}}
//! driver  {"progress":{"done":2000,"total":5000}} … "done"
//! parent  {"run":{…}}
//! driver  {"ready":{"effective":{}}}
//! parent  "go"
//! driver  {"measured":{"wall_ns":24181730}}
//! parent  {"rest":{"checkpoint":true}}
//! driver  "done"
//! parent  "bye"
//! ```
//!
//! docs/driver-format.md describes each message, and the files that they name.

use crate::words::data;
use crate::{
    Capabilities, Delivery, Footprint, IoCounters, Setting, Settings, StoreSpec, SyncCalls,
    WallBreakdown, Workload, WorkloadSpec,
};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use thiserror::Error;

/// The magic word of the greeting.
pub const PROTOCOL_NAME: &str = "stowplan-driver";
/// The version of the protocol; parent and driver must agree.
pub const PROTOCOL_VERSION: u32 = 4;

/// The system calls of a block that counts them may be counted by `strace`, which looks on where this
/// variable is set in the driver's environment.
pub const STRACE_VARIABLE: &str = "STOWPLAN_STRACE";
/// No process has this number: a driver marks the window of such a block by asking for its priority
/// (the letters STOW; the next number ends the window).
pub const STRACE_MARK: i32 = 0x5354_4f57;

data! {
    /// What the parent tells a driver. A process hears of one store in one place only.
    pub enum ToDriver {
        /// Say what there is, or what a store can do.
        Describe(Describe),
        /// Make an empty store in a directory that exists and is empty.
        Create(At),
        /// Add values of a dataset.
        Load(Load),
        /// Open the store, and make everything ready for a block.
        Run(Run),
        /// Do the block now, or its next part.
        Go,
        /// Write values to a file.
        Dump(Dump),
        /// Bring what was written to its resting place, and close the store.
        Rest(Rest),
        /// Say what lies where.
        Inspect(Inspect),
        /// Remove what lies elsewhere of the stores that were made in or below the place; only for a kind
        /// that says so of itself.
        Remove(At),
        /// Close what is open, and end.
        Bye,
    }

    /// What a driver tells the parent.
    #[expect(clippy::large_enum_variant, reason = "a few of them exist at a time")]
    pub enum FromDriver {
        /// The greeting, before anything else.
        Hello {
            /// [`PROTOCOL_NAME`].
            protocol: String,
            /// [`PROTOCOL_VERSION`].
            version: u32,
            /// The driver's name and version, for people.
            tool: String,
        },
        /// The answer to `describe`.
        Described(Described),
        /// Everything for the block is open and in memory.
        Ready {
            /// Settings as the engine itself reports them.
            #[serde(default)]
            effective: Settings,
        },
        /// A part of the block is done, and the clock stands still: the next one's values are wanted.
        Part,
        /// The block was timed.
        Measured(Measured),
        /// The answer to `inspect`.
        Inspected(Inspected),
        /// `create`, `load`, `dump` or `rest` is done.
        Done,
        /// `rest` is done, and a part of the time nothing was: an engine that does not tell when its
        /// background work is over was watched for so long after the last of it.
        AtRest {
            /// Nanoseconds, which are not charged to the block.
            watched_ns: u64,
        },
        /// How far a long task is.
        Progress {
            /// Values done.
            done: u64,
            /// Values in all.
            total: u64,
        },
        /// The task failed; the driver ends.
        Failed {
            /// One line: what, which one, and the next step.
            message: String,
        },
    }

    /// A store and where it lies.
    #[derive(Eq)]
    pub struct At {
        /// The kind, with every setting spelled out.
        pub store: StoreSpec,
        /// Its directory; for data that someone brought along, their own file or directory.
        pub place: PathBuf,
    }

    /// What is to be described: the kinds of stores, or one store.
    #[derive(Default)]
    pub struct Describe {
        /// A store with every setting spelled out, of which the capabilities are wanted.
        pub store: Option<StoreSpec> = default,
        /// A workload, of which the ladder on that store is wanted.
        pub workload: Option<Workload> = default,
    }

    /// What a driver hosts, or what a store of it can do. A driver of one kind whose settings change
    /// nothing may give the same answer to each question.
    #[derive(Default)]
    pub struct Described {
        /// The kinds of stores.
        pub kinds: Vec<Kind> = default,
        /// What the store can do.
        pub capabilities: Option<Capabilities> = default,
        /// Why there is no such store: its settings exclude each other. One line that says what would do.
        pub refused: Option<String> = default,
        /// The cells that take the workload's operations on the store apart, from the bottom up.
        pub ladder: Vec<Rung> = default,
    }

    /// A kind of store.
    #[derive(Default, Eq)]
    pub struct Kind {
        /// Its name in store specs.
        pub name: String,
        /// What it is, in a sentence.
        pub about: String | default,
        /// Its settings, from which parsing, help and validation follow.
        pub settings: Vec<Setting> | default,
        /// The engine's name and its version.
        pub engine: Option<(String, String)> | default,
        /// Whether each connection has a `cache` of its own: several share the memory budget.
        pub cache_per_connection: bool | default,
        /// Whether an operation hands out or keeps no values. Nobody can check what such a store read or
        /// wrote: it can only be a part of a ladder.
        pub keeps_nothing: bool | default,
        /// Whether a block may come in parts (`part`), so that the values it writes take bounded memory.
        pub parts: bool | default,
        /// Whether its driver runs threads beside a block that want the processor (`beside` of a
        /// workload).
        pub neighbours: bool = default,
        /// Whether its driver begins operations at a stated rate (`rate` of a workload).
        pub open_loop: bool = default,
        /// Whether its data lies with a server and not in its place: how many bytes it takes is the server's
        /// word, its sync calls are unknown, and the driver is told what is to be removed (`remove`).
        pub elsewhere: bool = default,
    }

    /// A cell of an ablation ladder: it does one step more than the one below it, and the last one is the
    /// store itself under the workload.
    pub struct Rung {
        /// The store, with the settings that are not at their defaults.
        pub store: StoreSpec,
        /// In what its workload differs from that of the whole.
        pub workload: WorkloadSpec,
        /// What it does that the rung below does not, in a few words.
        pub step: String,
        /// What the step should be made of, if it were known from primitives alone: `call` of the store
        /// `primitive`, and how often an operation needs it more than on the rung below.
        pub isolated: Vec<(String, f64)> | default,
    }

    /// Values to add.
    #[derive(Eq)]
    pub struct Load {
        /// Where.
        #[serde(flatten)]
        pub at: At,
        /// Directory of the dataset.
        pub dataset: PathBuf,
        /// First key.
        pub first: u64,
        /// How many keys.
        pub count: u64,
    }

    /// A block.
    pub struct Run {
        /// Where.
        #[serde(flatten)]
        pub at: At,
        /// What is done.
        pub workload: Workload,
        /// The steps of each thread.
        pub threads: Vec<Share>,
        /// Where the bytes come from that are written.
        pub payloads: PayloadSource | default,
        /// Bytes of the largest value that may be read, where the steps do not say it: scans visit others.
        pub largest: u64 | default,
        /// Whether the system calls of the timed operations shall be counted, which slows them down.
        pub counting: bool | default,
    }

    /// The steps of one thread.
    #[derive(Default, Eq)]
    pub struct Share {
        /// The file of its operation sequence.
        pub sequence: PathBuf,
        /// The first one of the lead-in, an index into the sequence (which is cyclic).
        pub first: u64,
        /// Untimed operations; the timed ones follow.
        pub lead_in: u64,
        /// Timed operations.
        pub operations: u64,
        /// The values that it writes; none where it writes nothing, or draws them itself.
        pub payloads: Option<Payloads> = default,
        /// The parts of the block, as numbers of timed operations: after each but the last the driver
        /// says `part` and waits for `go`, while the values of the next one are written. Empty: one part.
        pub parts: Vec<u64> = default,
        /// A file for the latency of each timed operation: u32 nanoseconds, little-endian. None where the
        /// clock is to be read at the ends of the block only.
        pub latencies: Option<PathBuf> = default,
    }

    /// The values that a thread writes.
    #[derive(Eq)]
    pub struct Payloads {
        /// The file that holds them.
        pub values: PathBuf,
        /// For each step, lead-in included, where its value begins in that file: u64, little-endian. How
        /// long it is says the step.
        pub offsets: PathBuf,
    }

    /// Where the bytes come from that a block writes.
    #[derive(Copy, Default, Eq)]
    pub enum PayloadSource {
        /// From files that the parent wrote before.
        #[default]
        Prepared,
        /// They are drawn from SQLite's generator of randomness between two operations, within the
        /// time, as kvtest does. Nobody can check afterwards what was written.
        Timed,
    }

    /// What a driver measured. Only the wall time is asked of it; what it does not know of itself, the
    /// parent reads from outside.
    #[derive(Default)]
    #[serde(default)]
    pub struct Measured {
        /// Wall time of the timed operations, by the monotonic clock, in nanoseconds. Of several threads,
        /// from the first start to the last end.
        pub wall_ns: u64,
        /// Bytes of all values that scans visited in the timed operations; of all else the steps say them, and the
        /// parent adds those.
        pub bytes: Option<u64>,
        /// Transactions committed.
        pub commits: Option<u64>,
        /// Transactions that the engine refused because of another one, and that were tried again.
        pub conflicts: u64,
        /// What it read of itself within the timed window.
        pub usage: Usage,
        /// Sync calls within the timed window.
        pub syncs: Option<SyncCalls>,
        /// Parts of the run outside the timed window.
        pub outside: WallBreakdown,
        /// Bytes sent to storage within `outside.drain_ns`.
        pub drain_write_bytes: Option<u64>,
        /// What the engine counted on the block's connection since it was opened, by name; of a block that
        /// counts, within its window.
        pub counters: BTreeMap<String, u64>,
    }

    /// What a window cost; times are nanoseconds. What is not known is missing.
    #[derive(Copy, Default, Eq)]
    #[serde(default)]
    pub struct Usage {
        /// Time the thread was ready but waited for a CPU; nothing for several threads, which wait for
        /// each other.
        pub run_delay_ns: Option<u64>,
        /// CPU time of the measuring thread; of several, of all of them.
        pub thread_cpu_ns: Option<u64>,
        /// CPU time of the whole process.
        pub process_cpu_ns: Option<u64>,
        /// CPU time in user mode, whole process.
        pub user_ns: Option<u64>,
        /// CPU time in the kernel, whole process.
        pub system_ns: Option<u64>,
        /// Page faults served without I/O.
        pub minor_faults: Option<u64>,
        /// Page faults served with I/O.
        pub major_faults: Option<u64>,
        /// Context switches the process asked for.
        pub voluntary_switches: Option<u64>,
        /// Context switches forced on it.
        pub involuntary_switches: Option<u64>,
        /// Blocks of 512 bytes read from storage.
        pub in_blocks: Option<u64>,
        /// Blocks of 512 bytes written to storage.
        pub out_blocks: Option<u64>,
        /// Counters of `/proc/PID/io`.
        pub io: Option<IoCounters>,
        /// Largest resident set of the process up to now, in bytes.
        pub peak_memory_bytes: Option<u64>,
    }

    /// Values to write to a file.
    #[derive(Eq)]
    pub struct Dump {
        /// Where.
        #[serde(flatten)]
        pub at: At,
        /// A file of keys: u64, little-endian.
        pub keys: PathBuf,
        /// The file that gets, for each key in turn, the length of its value (u64, little-endian; 2^64-1
        /// where there is none) and the value.
        pub to: PathBuf,
        /// How the values are to be read, where the store can do it in several ways.
        pub delivery: Delivery | default,
    }

    /// How a store is to be closed.
    #[derive(Copy, Eq)]
    pub struct Rest {
        /// Whether it shall make its checkpoint; not for data that someone brought along, which may be in
        /// use.
        pub checkpoint: bool,
    }

    /// What is wanted of a store at rest.
    #[derive(Eq)]
    pub struct Inspect {
        /// Where.
        #[serde(flatten)]
        pub at: At,
        /// A file of keys, of which files are wanted: u64, little-endian.
        pub keys: Option<PathBuf> = default,
        /// What is wanted.
        pub want: Vec<Want>,
    }

    /// What can be asked of a store at rest.
    #[derive(Copy, Eq)]
    pub enum Want {
        /// Bytes on disk.
        Footprint,
        /// The files that hold the data of the keys.
        Files,
        /// Share of the bytes of leaf pages that are in use.
        PageFill,
    }

    /// What lies where. All of it may be left out: the parent then takes what lies below the place.
    #[derive(Default)]
    #[serde(default)]
    pub struct Inspected {
        /// Bytes on disk.
        pub footprint: Option<Footprint>,
        /// The files that hold the data of the keys.
        pub files: Option<Vec<PathBuf>>,
        /// Share of the bytes of leaf pages that are in use, 0 to 1.
        pub page_fill: Option<f64>,
        /// Share of the bytes of leaf pages of indexes beside the table that are in use, 0 to 1.
        pub index_fill: Option<f64> = default,
    }
}

/// A counter of [`Usage`], by its name.
pub type UsageCounter = (&'static str, fn(&mut Usage) -> &mut Option<u64>);

impl Usage {
    /// The counters that only grow, and that one process can read of another.
    pub const COUNTERS: [UsageCounter; 10] = [
        ("thread_cpu_ns", |u| &mut u.thread_cpu_ns),
        ("process_cpu_ns", |u| &mut u.process_cpu_ns),
        ("user_ns", |u| &mut u.user_ns),
        ("system_ns", |u| &mut u.system_ns),
        ("minor_faults", |u| &mut u.minor_faults),
        ("major_faults", |u| &mut u.major_faults),
        ("voluntary_switches", |u| &mut u.voluntary_switches),
        ("involuntary_switches", |u| &mut u.involuntary_switches),
        ("in_blocks", |u| &mut u.in_blocks),
        ("out_blocks", |u| &mut u.out_blocks),
    ];

    /// What [`Self::COUNTERS`] grew by since `earlier`; what one of both does not know is not known.
    #[must_use]
    pub fn since(mut self, mut earlier: Self) -> Self {
        for (_, counter) in Self::COUNTERS {
            let both = (*counter(&mut self)).zip(*counter(&mut earlier));
            *counter(&mut self) = both.map(|(now, before)| now.saturating_sub(before));
        }
        self
    }

    /// Two windows as one; what one of both does not know is not known.
    #[must_use]
    pub fn and(mut self, mut other: Self) -> Self {
        let sum = |(a, b): (u64, u64)| a + b;
        for (_, counter) in Self::COUNTERS {
            let both = (*counter(&mut self)).zip(*counter(&mut other));
            *counter(&mut self) = both.map(sum);
        }
        self.run_delay_ns = self.run_delay_ns.zip(other.run_delay_ns).map(sum);
        self.io = self.io.zip(other.io).map(|(a, b)| a.and(&b));
        self.peak_memory_bytes = self.peak_memory_bytes.max(other.peak_memory_bytes);
        self
    }
}

/// Why a line of the protocol could not be read.
#[derive(Debug, Error)]
#[error("not a message of the driver protocol ({reason}): {line}")]
pub struct WireError {
    /// What the parser said.
    pub reason: String,
    /// The line, shortened.
    pub line: String,
}

/// One message as a line, without its newline.
pub fn encode<T: Serialize>(message: &T) -> String {
    // Serialising these types cannot fail: they hold no maps with keys other than strings.
    serde_json::to_string(message).unwrap_or_default()
}

/// Reads one line.
///
/// # Errors
/// A line that is not a message; the error carries its first 120 characters.
pub fn decode<T: for<'de> Deserialize<'de>>(line: &str) -> Result<T, WireError> {
    serde_json::from_str(line.trim()).map_err(|error| WireError {
        reason: error.to_string(),
        line: line.trim().chars().take(120).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_need_only_tell_the_wall_time() {
        let message: FromDriver = decode(r#"{"measured":{"wall_ns":7}}"#).unwrap();
        let expected = Measured {
            wall_ns: 7,
            ..Measured::default()
        };
        assert_eq!(message, FromDriver::Measured(expected));
        let described: FromDriver = decode(r#"{"described":{"kinds":[{"name":"kv"}]}}"#).unwrap();
        assert!(matches!(described, FromDriver::Described(d) if d.kinds[0].name == "kv"));
        assert_eq!(encode(&ToDriver::Go), "\"go\"");
    }
}
