//! What a cell asked of the system, per operation: from its counting block, whose times mean
//! nothing because counting slows it down.

use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_model::{BlockKind, CallCounter, DeviceCounters, Measurement};

/// `ru_inblock` counts blocks of this many bytes.
const BLOCK_BYTES: f64 = 512.0;

/// Counts per operation of a counting block.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CountSummary {
    /// Operations of the block.
    pub operations: u64,
    /// System calls, where they could be counted.
    pub calls: Option<CallCounts>,
    /// What the device below the data did, where it tells.
    pub device: Option<DevicePerOperation>,
    /// Bytes that the process itself had fetched from storage.
    pub storage_read_bytes: f64,
    /// Bytes that it sent to storage, where the system tells.
    pub storage_write_bytes: Option<f64>,
    /// Page faults served without I/O.
    pub minor_faults: f64,
    /// Page faults served with I/O.
    pub major_faults: f64,
    /// Context switches that the process asked for: it waited.
    pub voluntary_switches: f64,
    /// Context switches forced on it.
    pub involuntary_switches: f64,
    /// Sync calls, all kinds together.
    pub syncs: f64,
    /// What the engine counted itself in the window, by name.
    pub engine: BTreeMap<String, f64>,
}

/// System calls per operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallCounts {
    /// By what they were counted.
    pub by: CallCounter,
    /// All of them.
    pub total: f64,
    /// Those by name of which an operation makes at least a hundredth, most frequent first.
    pub frequent: Vec<(String, f64)>,
    /// All others together.
    pub rare: f64,
}

/// What a block device did per operation, whoever asked for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DevicePerOperation {
    /// Its name.
    pub name: String,
    /// Read requests.
    pub reads: f64,
    /// Bytes read.
    pub read_bytes: f64,
    /// Write requests.
    pub writes: f64,
    /// Bytes written.
    pub written_bytes: f64,
    /// Flushes of its cache, where the kernel counts them.
    pub flushes: Option<f64>,
}

/// Calls of which an operation makes fewer are rare: the loop around it, or now and then.
const FREQUENT: f64 = 0.01;

impl CountSummary {
    /// Frequent system calls per operation by name; nothing where none were counted.
    pub(crate) fn by_name(&self) -> Option<BTreeMap<String, f64>> {
        let calls = self.calls.as_ref()?;
        Some(calls.frequent.iter().cloned().collect())
    }
}

/// The counts of the last counting block of a cell; nothing if it has none.
pub(crate) fn counts(measurements: &[&Measurement]) -> Option<CountSummary> {
    let counted = |m: &&&Measurement| m.block == BlockKind::Counting && m.operations > 0;
    let block = measurements.iter().rev().find(counted)?;
    let operations = block.operations as f64;
    let per = |count: u64| count as f64 / operations;
    let own = block.io.map(|io| per(io.storage_read_bytes));
    Some(CountSummary {
        operations: block.operations,
        calls: block.system_calls.as_ref().map(|calls| {
            let all = calls.calls.iter();
            let mut all: Vec<(String, f64)> = all.map(|(n, c)| (n.clone(), per(*c))).collect();
            all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            let frequent = all
                .iter()
                .take_while(|(_, often)| *often >= FREQUENT)
                .count();
            CallCounts {
                by: calls.by,
                total: per(calls.calls.values().sum()),
                rare: all.split_off(frequent).iter().map(|(_, often)| often).sum(),
                frequent: all,
            }
        }),
        device: block.device.as_ref().map(|device| on_device(device, per)),
        storage_read_bytes: own.unwrap_or_else(|| per(block.in_blocks) * BLOCK_BYTES),
        storage_write_bytes: block.io.map(|io| per(io.storage_write_bytes)),
        minor_faults: per(block.minor_faults),
        major_faults: per(block.major_faults),
        voluntary_switches: per(block.voluntary_switches),
        involuntary_switches: per(block.involuntary_switches),
        syncs: block.syncs.map_or(f64::NAN, |syncs| per(syncs.total())),
        engine: block
            .counters
            .iter()
            .map(|(name, count)| (name.clone(), per(*count)))
            .collect(),
    })
}

fn on_device(device: &DeviceCounters, per: impl Fn(u64) -> f64) -> DevicePerOperation {
    DevicePerOperation {
        name: device.device.clone(),
        reads: per(device.reads),
        read_bytes: per(device.read_bytes),
        writes: per(device.writes),
        written_bytes: per(device.written_bytes),
        flushes: device.flushes.map(per),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_model::{IoCounters, SystemCalls};

    fn block(kind: BlockKind, calls: &[(&str, u64)]) -> Measurement {
        Measurement {
            block: kind,
            operations: 1_000,
            lead_in_operations: 500,
            system_calls: Some(SystemCalls {
                by: CallCounter::Strace,
                calls: calls.iter().map(|(n, c)| ((*n).to_owned(), *c)).collect(),
            }),
            ..Measurement::default()
        }
    }

    #[test]
    fn the_calls_of_the_last_counting_block_are_told_by_name_unless_they_are_rare() {
        let each = ["read", "openat", "fstat"].map(|name| (name, 1_000));
        let all = [&each[..], &[("close", 1_001), ("brk", 3), ("munmap", 2)]].concat();
        let counting = block(BlockKind::Counting, &all);
        let timed = block(BlockKind::Ratio, &[("read", 5_000)]);
        let old = block(BlockKind::Counting, &[("read", 2_000)]);
        let found = counts(&[&old, &counting, &timed]).unwrap();
        let calls = found.calls.unwrap();
        let names: Vec<&str> = calls.frequent.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["close", "fstat", "openat", "read"]);
        assert!((calls.total - 4.006).abs() < 1e-12);
        assert!((calls.rare - 0.005).abs() < 1e-12);
        assert_eq!(calls.by, CallCounter::Strace);
        assert_eq!(counts(&[&timed]), None);
        let empty = Measurement {
            operations: 0,
            ..counting
        };
        assert_eq!(counts(&[&empty]), None);
    }

    #[test]
    fn an_engine_and_a_device_count_in_the_window() {
        let mut counting = block(BlockKind::Counting, &[]);
        counting.device = Some(DeviceCounters {
            device: "vda".to_owned(),
            reads: 3_000,
            read_bytes: 35_700_000,
            writes: 0,
            written_bytes: 0,
            flushes: None,
        });
        counting.io = Some(IoCounters {
            storage_read_bytes: 30_000_000,
            ..IoCounters::default()
        });
        counting.in_blocks = 7;
        counting.counters = BTreeMap::from([("Page cache hits".to_owned(), 3_000)]);
        let found = counts(&[&counting]).unwrap();
        assert_eq!(found.engine["Page cache hits"], 3.0);
        let device = found.device.unwrap();
        let told = (device.reads, device.read_bytes, device.flushes);
        assert_eq!(told, (3.0, 35_700.0, None));
        assert_eq!(found.storage_read_bytes, 30_000.0);
        counting.io = None;
        assert_eq!(counts(&[&counting]).unwrap().storage_read_bytes, 3.584);
    }
}
