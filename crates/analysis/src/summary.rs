//! What was measured of one cell.

use crate::{
    CellSummary, Metric, ServerCost,
    block_time::block_time,
    blocks::{Span, flush_of_timed, location, log_time, logs, share_of_timed, total},
    counts::counts,
    driver_cost,
    estimate::median,
    gathered::Gathered,
    judge::Judge,
    latency::{latencies, latency},
    space,
    work::operations_per_commit,
};
use stowplan_model::{
    Action, BlockKind, Cell, Footprint, IoCounters, Measurement, NETWORK_RECEIVED, NETWORK_SENT,
    Operation, SERVER_CPU, Statistic,
};

/// `ru_inblock` counts blocks of this many bytes.
const BLOCK_BYTES: f64 = 512.0;

/// Summarises one cell. Of a cell without any block, means and medians are not a number rather
/// than 0: null in JSON, a dash or nothing for people. A latency histogram that cannot be read is pushed to `problems`.
pub(crate) fn summarise(
    cell: &Cell,
    judge: &Judge<'_>,
    gathered: &Gathered<'_>,
    problems: &mut Vec<String>,
) -> CellSummary {
    let metric = judge.noise.metric;
    let series = judge.blocks.log_times(&cell.id, metric);
    let described = Described::of(cell, judge, gathered);
    let writes = cell.workload.operation.writes();
    let shared = judge.shared.log_times(&cell.id, metric);
    let located = location(&logs(&shared), metric);
    let (time_ns, statistic_ns) = match judge.comparison.measure {
        Statistic::Time => (located, None),
        _ => (
            location(&described.log_times(metric, Span::Timed), metric),
            located,
        ),
    };
    let last_commit_ns = described.last_commit();
    let measured = gathered.measurements(&cell.id);
    let (kernel_share, kernel_share_resolution) = described.kernel_share();
    CellSummary {
        rounds: series.len(),
        time_rounds: shared.len(),
        operations: match series.is_empty() {
            true => described.operations(),
            false => judge.blocks.operations_of(&cell.id),
        },
        operations_per_commit: operations_per_commit(cell, described.blocks.iter().copied()),
        time_ns,
        statistic_ns,
        block_time: block_time(cell, &described.blocks, metric, time_ns, last_commit_ns),
        driver_cost: driver_cost::of_cell(cell, judge, gathered),
        published_error_seconds: published_error(cell, &judge.comparison.id, gathered),
        wall_ns: described.median_per_operation(|m| m.wall_ns),
        corrected_ns: described.median_of(|m| Some(m.corrected_ns()? as f64 / m.operations as f64)),
        cpu_ns: described.median_per_operation(|m| m.process_cpu_ns),
        server: described.server(),
        kernel_share,
        kernel_share_resolution,
        drain_ns: writes
            .then(|| described.median_per_operation(flush_of_timed))
            .filter(|drain| drain.is_finite()),
        total_ns: writes
            .then(|| described.log_times(metric, Span::WithFlush))
            .and_then(|totals| location(&totals, metric))
            .map(|total| total.estimate),
        bytes: described.mean(|m| m.bytes),
        read_calls: described.mean_io(|io| io.read_calls),
        write_calls: described.mean_io(|io| io.write_calls),
        storage_read_bytes: described
            .mean_io(|io| io.storage_read_bytes)
            .unwrap_or_else(|| described.mean(|m| m.in_blocks) * BLOCK_BYTES),
        storage_write_bytes: described.mean_io(|io| io.storage_write_bytes),
        write_amplification: writes_only(cell)
            .then(|| described.write_amplification())
            .flatten(),
        faults: described.mean(|m| m.minor_faults.saturating_add(m.major_faults)),
        syncs_per_commit: described.syncs_per_commit_or_none_made(),
        peak_memory_bytes: described
            .blocks
            .iter()
            .filter_map(|m| m.peak_memory_bytes)
            .max(),
        last_commit_ns,
        commits: described
            .median_of(|m| Some(m.commits as f64))
            .unwrap_or(f64::NAN),
        block_footprint: described.footprint(),
        space_per_value_byte: space::per_value_byte(cell, gathered),
        page_fill: described.median_of(|m| m.page_fill),
        index_fill: described.median_of(|m| m.index_fill),
        conflicts: described.sum(|m| m.conflicts),
        latency: latency(measured, problems),
        latencies: latencies(measured, problems),
        counts: counts(measured),
        effective: gathered.effective.get(&cell.id).map(|s| (*s).clone()),
        verification: gathered.verifications.get(&cell.id).map(|v| (*v).clone()),
        multiple_of_floor: judge.multiple_of_floor(cell),
        cell: cell.clone(),
        builds: judge.blocks.builds(&cell.id),
        series,
    }
}

/// Whether every byte that the operations pass is one they write.
fn writes_only(cell: &Cell) -> bool {
    let mix = cell.workload.mix.as_ref();
    match cell.workload.operation {
        Operation::Overwrite | Operation::Insert => true,
        Operation::Mix => mix.is_some_and(|mix| {
            let mut actions = mix.actions();
            actions.all(|a| matches!(a, Action::Overwrite | Action::Insert | Action::Delete))
        }),
        _ => false,
    }
}

/// The standard error that the study gives beside the published seconds of a cell.
fn published_error(cell: &Cell, comparison: &str, gathered: &Gathered<'_>) -> Option<f64> {
    cell.published_seconds?;
    let mut comparisons = gathered.run.plan.study.comparisons.iter();
    let spec = comparisons.find(|known| known.id == comparison)?;
    spec.cells.get(&cell.key)?.published_error_seconds
}

/// What a clock tick of `/proc/PID/stat` lasts: a hundredth of a second on every Linux.
const TICK_NS: f64 = 1e7;

/// A share with the digits that its resolution carries: whole percents where a tick is up to 1% of a
/// block, tens of percents where it is up to 10%, and none where a block is shorter than ten ticks.
fn in_known_digits(share: f64, resolution: Option<f64>) -> f64 {
    let rounded = |parts: f64| (share * parts).round() / parts;
    match resolution {
        None => share,
        Some(off) if off <= 0.01 => rounded(100.0),
        Some(off) if off <= 0.1 => rounded(10.0),
        Some(_) => f64::NAN,
    }
}

/// The blocks by which a cell is described.
pub(crate) struct Described<'a> {
    blocks: Vec<&'a Measurement>,
}

impl<'a> Described<'a> {
    /// The blocks that times are told of, or, of a cell that has none, its latency blocks.
    pub(crate) fn of(cell: &Cell, judge: &Judge<'a>, gathered: &Gathered<'a>) -> Self {
        let mut blocks: Vec<_> = judge.shared.of_cell(&cell.id).collect();
        if judge.blocks.of_cell(&cell.id).next().is_none() {
            let latency = |m: &&&Measurement| m.block == BlockKind::Latency && m.operations > 0;
            let all = gathered.measurements(&cell.id);
            blocks = all.iter().filter(latency).copied().collect();
        }
        Self { blocks }
    }

    fn operations(&self) -> u64 {
        self.sum(|m| m.operations)
    }

    fn sum(&self, of: impl Fn(&Measurement) -> u64) -> u64 {
        total(self.blocks.iter().map(|m| of(m)))
    }

    /// Over all blocks; nothing if there are none, or if one does not know.
    fn sum_if_known(&self, of: impl Fn(&Measurement) -> Option<u64>) -> Option<u64> {
        let known: Vec<u64> = self.blocks.iter().map(|m| of(m)).collect::<Option<_>>()?;
        (!known.is_empty()).then(|| total(known.into_iter()))
    }

    fn median_per_operation(&self, of: impl Fn(&Measurement) -> u64) -> f64 {
        let median = self.median_of(|m| Some(of(m) as f64 / m.operations as f64));
        median.unwrap_or(f64::NAN)
    }

    /// Per round, the logarithm of time per operation.
    fn log_times(&self, metric: Metric, span: Span) -> Vec<f64> {
        let blocks = self.blocks.iter();
        blocks.map(|m| log_time(m, metric, span)).collect()
    }

    /// Over all operations; not a number if there are none.
    fn mean(&self, of: impl Fn(&Measurement) -> u64) -> f64 {
        self.sum(of) as f64 / self.operations() as f64
    }

    /// Over all operations; nothing if a block lacks the counters.
    fn mean_io(&self, of: impl Fn(&IoCounters) -> u64) -> Option<f64> {
        let sum = self.sum_if_known(|m| Some(of(&m.io?)))?;
        Some(sum as f64 / self.operations().max(1) as f64)
    }

    /// Bytes sent to storage per byte written; nothing if a block lacks a counter, or if nothing was
    /// written.
    fn write_amplification(&self) -> Option<f64> {
        let sent = self.sum_if_known(|m| {
            let drained = share_of_timed(m, m.drain_write_bytes?);
            Some(m.io?.storage_write_bytes.saturating_add(drained))
        })?;
        let written = self.sum(|m| m.bytes);
        (written > 0).then(|| sent as f64 / written as f64)
    }

    /// The share of CPU time in the kernel, and by how much it may be off.
    fn kernel_share(&self) -> (f64, Option<f64>) {
        let system = self.sum(|m| m.system_ns);
        let both = system.saturating_add(self.sum(|m| m.user_ns)) as f64;
        let in_ticks = |m: &&Measurement| {
            let mut outside = m.read_from_outside.iter();
            outside.any(|field| matches!(field.as_str(), "user_ns" | "system_ns"))
        };
        let block_ns = both / self.blocks.len() as f64;
        let is_coarse = self.blocks.iter().any(in_ticks);
        let resolution = is_coarse.then(|| (TICK_NS / block_ns).min(1.0));
        let share = in_known_digits(system as f64 / both, resolution);
        (share, resolution)
    }

    /// Over the blocks that know; nothing if none does.
    fn median_of(&self, of: impl Fn(&Measurement) -> Option<f64>) -> Option<f64> {
        median(self.blocks.iter().filter_map(|m| of(m)).collect())
    }

    fn server(&self) -> ServerCost {
        let counted =
            |name| self.median_of(|m| Some(*m.counters.get(name)? as f64 / m.operations as f64));
        ServerCost {
            sent_bytes: counted(NETWORK_SENT),
            received_bytes: counted(NETWORK_RECEIVED),
            cpu_ns: counted(SERVER_CPU),
        }
    }

    /// Only where the block was one transaction of writes.
    fn last_commit(&self) -> Option<f64> {
        self.median_of(|m| {
            let commit = m.outside.last_commit_ns;
            (m.commits == 1 && commit > 0).then_some(commit as f64)
        })
    }

    fn footprint(&self) -> Option<Footprint> {
        let mut all: Vec<Footprint> = self.blocks.iter().filter_map(|m| m.footprint).collect();
        all.sort_by_key(|footprint| footprint.allocated_bytes);
        all.get(all.len() / 2).copied()
    }

    /// Sync calls per commit of the median block, which a checkpoint now and then does not
    /// raise; nothing if no block committed, or its driver does not count them.
    pub(crate) fn syncs_per_commit(&self) -> Option<f64> {
        self.median_of(|m| {
            let commits = (m.commits > 0).then_some(m.commits as f64)?;
            Some(m.syncs?.total() as f64 / commits)
        })
    }

    /// Syncs for each commit, with 0 for blocks that committed nothing.
    fn syncs_per_commit_or_none_made(&self) -> f64 {
        let told = self.blocks.iter().any(|m| m.syncs.is_some());
        let without = if told { 0.0 } else { f64::NAN };
        self.syncs_per_commit().unwrap_or(without)
    }
}
