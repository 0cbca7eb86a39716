//! What one worker reports for one block.

use crate::words::data;
use crate::{Action, CellId, Footprint, ScannerCounts};

use std::collections::BTreeMap;

/// Among the counters of a block: bytes of the payload of its TCP connections sent to servers.
pub const NETWORK_SENT: &str = "network bytes sent";
/// Among them: bytes received of servers.
pub const NETWORK_RECEIVED: &str = "network bytes received";
/// Among them: CPU time of the processes of a server that the run has started, nanoseconds.
pub const SERVER_CPU: &str = "server CPU ns";

data! {
    /// How a block was timed.
    #[derive(Copy, Default, Eq, Hash)]
    pub enum BlockKind {
        /// The clock is read at its ends only; ratios come from these.
        #[default]
        Ratio,
        /// One chained clock reading per operation; percentiles come from these.
        Latency,
        /// An untimed trial that decides how many operations a block holds.
        Pilot,
        /// Its system calls are counted, which slows them down: its times mean nothing.
        Counting,
    }

    /// One timed run of one cell. Times are nanoseconds, sizes bytes.
    #[derive(Default)]
    pub struct Measurement {
        /// The cell.
        pub cell: CellId,
        /// Round, from 0.
        pub round: u32,
        /// Position within the round, from 0.
        pub position: u32,
        /// How often this block was measured before and discarded on a covariate.
        pub repeats: u32,
        /// Whether its store's data had been read into the page cache again, in order, since the store was
        /// built (R9): its pages lie there otherwise than building left them, which changes times.
        pub read_in_again: bool = default,
        /// How it was timed.
        pub block: BlockKind,
        /// Which build of its store it met: blocks of a run with the same number met the same files.
        /// Nothing where the store is not built beforehand.
        pub build: Option<u32> = default,
        /// Where its store lay: the number of the inode of its directory. What is near each other on the disk
        /// has numbers near each other on ext4 and XFS. Nothing where it is not on disk.
        pub place: Option<u64> = default,
        /// Operations within the timed window.
        pub operations: u64,
        /// Bytes delivered or written by them.
        pub bytes: u64,
        /// Operations of the untimed lead-in.
        pub lead_in_operations: u64,
        /// Wall time, by the monotonic clock.
        pub wall_ns: u64,
        /// Time the thread was ready but waited for a CPU, within the wall time. Nothing for several
        /// threads: they wait for each other, and that is part of what they do.
        pub run_delay_ns: Option<u64>,
        /// CPU time of the measuring thread; of several, of all of them.
        pub thread_cpu_ns: u64,
        /// CPU time of the whole worker process.
        pub process_cpu_ns: u64,
        /// CPU time in user mode, whole process.
        pub user_ns: u64,
        /// CPU time in the kernel, whole process.
        pub system_ns: u64,
        /// Page faults served without I/O.
        pub minor_faults: u64,
        /// Page faults served with I/O.
        pub major_faults: u64,
        /// Context switches the process asked for.
        pub voluntary_switches: u64,
        /// Context switches forced on it.
        pub involuntary_switches: u64,
        /// Blocks of 512 bytes read from storage (`ru_inblock`).
        pub in_blocks: u64,
        /// Blocks of 512 bytes written to storage (`ru_oublock`).
        pub out_blocks: u64,
        /// Counters of `/proc/self/io`.
        pub io: Option<IoCounters>,
        /// Sync calls of the process within the timed window; nothing where its driver does not tell.
        pub syncs: Option<SyncCalls>,
        /// Which of these the driver did not tell of itself, so that they were read from outside, between
        /// `ready` and the answer, and reduced to the share of the timed operations among all that were
        /// done meanwhile: names of fields.
        pub read_from_outside: Vec<String> = default,
        /// Transactions committed within the timed window.
        pub commits: u64,
        /// Transactions that the engine refused because of another one, and that were tried again.
        pub conflicts: u64 = default,
        /// Parts of the run that lie outside the timed window.
        pub outside: WallBreakdown,
        /// Largest resident set of the worker up to now (`VmHWM`).
        pub peak_memory_bytes: Option<u64>,
        /// What the engine itself counted on the block's connection since it was opened, by name.
        pub counters: BTreeMap<String, u64> = default,
        /// What the scanner did that stood between the store and its files.
        pub scanner: Option<ScannerCounts> = default,
        /// What the store took on disk after a block of inserts, and its checkpoint.
        pub footprint: Option<Footprint> = default,
        /// Share of the bytes of the engine's leaf pages that were in use after a block of inserts.
        pub page_fill: Option<f64> = default,
        /// Share of the bytes of leaf pages of the indexes beside the table that were in use.
        pub index_fill: Option<f64> = default,
        /// Pages found in the page cache before a cold block.
        pub residency: Option<Residency>,
        /// What an all-cold block had from storage beside data.
        pub metadata_reads: Option<MetadataReads> = default,
        /// Bytes sent to storage while written data was brought to rest, after the timed window.
        pub drain_write_bytes: Option<u64> = default,
        /// System calls of the worker within the window of a counting block, where they could be
        /// counted.
        pub system_calls: Option<SystemCalls> = default,
        /// What the device below the data did during a counting block.
        pub device: Option<DeviceCounters> = default,
        /// Latency of each operation: an HDR histogram (V2, three digits, nanoseconds), base64.
        pub latency: Option<String>,
        /// Histograms of latency of a mix, by what the operations did.
        pub latencies: BTreeMap<Action, String> = default,
        /// When the block began, in milliseconds since the Unix epoch.
        pub started_unix_ms: u64,
    }

    /// Parts of a worker's run that lie outside the timed window, in nanoseconds.
    #[derive(Copy, Default, Eq)]
    #[serde(default)]
    pub struct WallBreakdown {
        /// Opening the store.
        pub open_ns: u64,
        /// The lead-in.
        pub lead_in_ns: u64,
        /// Committing, within the timed window; shown apart because it is one act.
        pub last_commit_ns: u64,
        /// Bringing written data to rest: checkpoint, close, `syncfs` (R10). 0 for reads.
        pub drain_ns: u64,
    }

    /// Differences of the counters of `/proc/self/io` over the timed window.
    #[derive(Copy, Default, Eq)]
    pub struct IoCounters {
        /// Bytes passed to read-like calls.
        pub read_call_bytes: u64,
        /// Bytes passed to write-like calls.
        pub write_call_bytes: u64,
        /// Read-like system calls.
        pub read_calls: u64,
        /// Write-like system calls.
        pub write_calls: u64,
        /// Bytes fetched from storage.
        pub storage_read_bytes: u64,
        /// Bytes sent to storage.
        pub storage_write_bytes: u64,
    }

    /// System calls by name.
    #[derive(Default, Eq)]
    pub struct SystemCalls {
        /// By what they were counted.
        pub by: CallCounter,
        /// How often each was called, by the kernel's name of it (`pread64`, `openat`).
        pub calls: BTreeMap<String, u64>,
    }

    /// What counts system calls.
    #[derive(Copy, Default, Eq)]
    pub enum CallCounter {
        /// The kernel's tracepoint: in results of earlier versions.
        #[default]
        Tracepoint,
        /// The program `strace`.
        Strace,
    }

    /// What a block device did in a window, whoever asked for it.
    #[derive(Default, Eq)]
    pub struct DeviceCounters {
        /// Its name, such as `vda`.
        pub device: String,
        /// Read requests completed.
        pub reads: u64,
        /// Bytes read.
        pub read_bytes: u64,
        /// Write requests completed.
        pub writes: u64,
        /// Bytes written.
        pub written_bytes: u64,
        /// Flushes of its cache completed; nothing where the kernel does not count them (before 5.5).
        pub flushes: Option<u64>,
    }

    /// Sync calls made through the C library by this process.
    #[derive(Copy, Default, Eq)]
    pub struct SyncCalls {
        /// `fsync`.
        pub fsync: u64,
        /// `fdatasync`.
        pub fdatasync: u64,
        /// `msync`.
        pub msync: u64,
        /// `sync_file_range`, `syncfs` and `sync`.
        pub other: u64,
    }

    /// Pages of the data in the page cache.
    #[derive(Copy, Default, Eq)]
    pub struct Residency {
        /// Pages that were resident.
        pub resident_pages: u64,
        /// Pages that were looked at.
        pub checked_pages: u64,
        /// Of a cold block: those that were resident before they were evicted.
        pub before_eviction_pages: Option<u64> = default,
        /// Of a cold block: those that were resident once it was timed.
        pub after_block_pages: Option<u64> = default,
    }

    /// What was fetched from storage beside data for a block that found nothing in memory: names, inodes,
    /// and what else a file system has to read before it knows where data lies. From when memory was emptied,
    /// and the programs were read again, until the block was timed, opening the store included.
    #[derive(Copy, Default, Eq)]
    pub struct MetadataReads {
        /// Bytes that the harness and the driver had from storage, less those of data.
        pub bytes: u64,
        /// Fewer bytes than these show that names were in memory; 0 where the block reads too few files
        /// to tell.
        pub least_bytes: u64,
    }

    /// What the untimed check of every value found.
    #[derive(Eq)]
    pub struct Verification {
        /// The cell through whose store the values were read.
        pub cell: CellId,
        /// Values read and compared byte for byte.
        pub values: u64,
        /// Bytes of them.
        pub bytes: u64,
        /// Of these, values that a run had overwritten.
        pub overwritten: u64,
    }
}

impl Measurement {
    /// Leaves out how long each operation took.
    pub fn without_latencies(&mut self) {
        self.latency = None;
        self.latencies.clear();
    }

    /// Corrected time `C = W - D` (R8), in nanoseconds; nothing where the run-queue delay is not
    /// known.
    pub fn corrected_ns(&self) -> Option<u64> {
        self.run_delay_ns
            .map(|delay| self.wall_ns.saturating_sub(delay))
    }

    /// Share of the wall time in which the thread neither ran nor waited for a CPU: it slept, or
    /// the machine itself was taken away (a hypervisor's steal, a throttled container). Nothing
    /// where the run-queue delay is not known.
    pub fn absent_share(&self) -> Option<f64> {
        let absent = self.corrected_ns()?.saturating_sub(self.thread_cpu_ns);
        Some(absent as f64 / self.wall_ns.max(1) as f64)
    }

    /// CPU time that other threads of the worker used, as a share of the wall time.
    pub fn other_threads_share(&self) -> f64 {
        let other = self.process_cpu_ns.saturating_sub(self.thread_cpu_ns);
        other as f64 / self.wall_ns.max(1) as f64
    }
}

/// What is done to all counters of a type.
macro_rules! counters {
    ($Type:ident: $($counter:ident)+) => {
        impl $Type {
            /// Those of two windows together.
            pub fn and(&self, other: &Self) -> Self {
                Self { $($counter: self.$counter + other.$counter),+ }
            }

            /// What was added since `earlier`.
            pub fn since(&self, earlier: &Self) -> Self {
                Self { $($counter: self.$counter.saturating_sub(earlier.$counter)),+ }
            }
        }
    };
}
counters!(IoCounters: read_call_bytes write_call_bytes read_calls write_calls storage_read_bytes storage_write_bytes);
counters!(SyncCalls: fsync fdatasync msync other);

impl IoCounters {
    /// As `/proc/PID/io` holds them; nothing where it lacks one.
    pub fn parse(text: &str) -> Option<Self> {
        let field = |name: &str| {
            let mut lines = text.lines();
            let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            value.trim().parse().ok()
        };
        Some(Self {
            read_call_bytes: field("rchar")?,
            write_call_bytes: field("wchar")?,
            read_calls: field("syscr")?,
            write_calls: field("syscw")?,
            storage_read_bytes: field("read_bytes")?,
            storage_write_bytes: field("write_bytes")?,
        })
    }
}

impl SyncCalls {
    /// All of them.
    pub fn total(&self) -> u64 {
        let counts = [self.fsync, self.fdatasync, self.msync, self.other];
        counts.into_iter().fold(0, u64::saturating_add)
    }
}

impl MetadataReads {
    /// Whether as much was fetched as names take that are not in memory.
    pub fn are_enough(&self) -> bool {
        self.bytes >= self.least_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counters_of_the_process_are_read_by_name_and_some_of_them_are_unknown() {
        let text = "rchar: 6991\nwchar: 15\nsyscr: 12\nsyscw: 1\nread_bytes: 4096\n\
                    write_bytes: 8192\ncancelled_write_bytes: 7\n";
        let counters = IoCounters {
            read_call_bytes: 6991,
            write_call_bytes: 15,
            read_calls: 12,
            write_calls: 1,
            storage_read_bytes: 4096,
            storage_write_bytes: 8192,
        };
        assert_eq!(IoCounters::parse(text), Some(counters));
        assert_eq!(IoCounters::parse("rchar: 1\n"), None);
    }

    #[test]
    fn time_is_corrected_by_the_wait_and_what_remains_beyond_the_cpu_is_absence() {
        let measurement = |run_delay_ns| Measurement {
            wall_ns: 1_000,
            run_delay_ns,
            thread_cpu_ns: 600,
            process_cpu_ns: 650,
            ..Measurement::default()
        };
        assert_eq!(measurement(None).absent_share(), None);
        let measurement = measurement(Some(300));
        assert_eq!(measurement.corrected_ns(), Some(700));
        assert_eq!(measurement.absent_share(), Some(0.1));
        assert!((measurement.other_threads_share() - 0.05).abs() < 1e-12);
    }
}
