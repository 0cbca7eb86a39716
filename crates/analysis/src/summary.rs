//! What was measured of one cell.

use crate::{
    CellSummary, Estimate, Interval, LatencySummary, Metric, ServerCost,
    block_time::block_time,
    blocks::{Span, flush_of_timed, log_time, share_of_timed},
    counts::counts,
    driver_cost,
    estimate::median,
    gathered::Gathered,
    judge::Judge,
    percentiles::intervals,
    space,
    work::operations_per_commit,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use hdrhistogram::{Histogram, serialization::Deserializer};
use std::collections::BTreeMap;
use stowplan_model::{
    Action, BlockKind, Cell, Footprint, IoCounters, Measurement, NETWORK_RECEIVED, NETWORK_SENT,
    Operation, SERVER_CPU, Statistic,
};

/// A cell's time is described by a plain 95% interval: nothing is decided on it.
const ALPHA_OF_TIMES: f64 = 0.05;

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
        corrected_ns: described.corrected(),
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
        peak_memory_bytes: described.peak_memory(),
        last_commit_ns,
        commits: described
            .median_of(|m| Some(m.commits as f64))
            .unwrap_or(f64::NAN),
        block_footprint: described.footprint(),
        space_per_value_byte: space::per_value_byte(cell, gathered),
        page_fill: described.median_of(|m| m.page_fill),
        index_fill: described.median_of(|m| m.index_fill),
        conflicts: total(described.blocks.iter().map(|m| m.conflicts)),
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

/// The logarithms of a series.
pub(crate) fn logs(series: &[(u32, f64)]) -> Vec<f64> {
    series.iter().map(|(_, log)| *log).collect()
}

/// Location of times given by their logarithms, in nanoseconds: estimated as ratios are. With
/// fewer rounds than an interval needs, the range of the rounds stands in its place.
pub(crate) fn location(logs: &[f64], metric: Metric) -> Option<Interval> {
    let estimate = match metric {
        Metric::Corrected => Estimate::hodges_lehmann(logs, ALPHA_OF_TIMES),
        Metric::Wall => Estimate::median(logs, ALPHA_OF_TIMES),
    };
    let (location, low, high) = match estimate {
        Some(estimate) => (estimate.estimate, estimate.low, estimate.high),
        None => (
            median(logs.to_vec())?,
            logs.iter().copied().reduce(f64::min)?,
            logs.iter().copied().reduce(f64::max)?,
        ),
    };
    Some(Interval {
        estimate: location.exp(),
        low: low.exp(),
        high: high.exp(),
    })
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

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
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
        total(self.blocks.iter().map(|m| m.operations))
    }

    fn median_per_operation(&self, of: impl Fn(&Measurement) -> u64) -> f64 {
        let per_operation = |m: &&Measurement| of(m) as f64 / m.operations as f64;
        median(self.blocks.iter().map(per_operation).collect()).unwrap_or(f64::NAN)
    }

    /// Per round, the logarithm of time per operation.
    fn log_times(&self, metric: Metric, span: Span) -> Vec<f64> {
        let blocks = self.blocks.iter();
        blocks.map(|m| log_time(m, metric, span)).collect()
    }

    /// Over all operations; not a number if there are none.
    fn mean(&self, of: impl Fn(&Measurement) -> u64) -> f64 {
        let sum = total(self.blocks.iter().map(|m| of(m)));
        sum as f64 / self.operations() as f64
    }

    /// Over all operations; nothing if a block lacks the counters.
    fn mean_io(&self, of: impl Fn(&IoCounters) -> u64) -> Option<f64> {
        let counters: Vec<IoCounters> = self.blocks.iter().map(|m| m.io).collect::<Option<_>>()?;
        let sum = total(counters.iter().map(of));
        (!counters.is_empty()).then(|| sum as f64 / self.operations().max(1) as f64)
    }

    /// Bytes sent to storage per byte written; nothing if a block lacks a counter, or if nothing was
    /// written.
    fn write_amplification(&self) -> Option<f64> {
        let sent = |m: &&Measurement| {
            let drained = share_of_timed(m, m.drain_write_bytes?);
            Some(m.io?.storage_write_bytes.saturating_add(drained))
        };
        let sent: Vec<u64> = self.blocks.iter().map(sent).collect::<Option<_>>()?;
        let sent = total(sent.into_iter());
        let written = total(self.blocks.iter().map(|m| m.bytes));
        (written > 0).then(|| sent as f64 / written as f64)
    }

    /// The share of CPU time in the kernel, and by how much it may be off.
    fn kernel_share(&self) -> (f64, Option<f64>) {
        let system = total(self.blocks.iter().map(|m| m.system_ns));
        let user = total(self.blocks.iter().map(|m| m.user_ns));
        let both = system.saturating_add(user) as f64;
        let in_ticks = |m: &&Measurement| {
            let mut outside = m.read_from_outside.iter();
            outside.any(|field| matches!(field.as_str(), "user_ns" | "system_ns"))
        };
        let block_ns = both / self.blocks.len() as f64;
        let resolution = self
            .blocks
            .iter()
            .any(in_ticks)
            .then(|| (TICK_NS / block_ns).min(1.0));
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
            (m.commits == 1 && m.outside.last_commit_ns > 0)
                .then_some(m.outside.last_commit_ns as f64)
        })
    }

    /// Corrected time per operation, where it is known.
    fn corrected(&self) -> Option<f64> {
        self.median_of(|m| Some(m.corrected_ns()? as f64 / m.operations as f64))
    }

    fn footprint(&self) -> Option<Footprint> {
        let mut all: Vec<Footprint> = self.blocks.iter().filter_map(|m| m.footprint).collect();
        all.sort_by_key(|footprint| footprint.allocated_bytes);
        all.get(all.len() / 2).copied()
    }

    fn peak_memory(&self) -> Option<u64> {
        self.blocks.iter().filter_map(|m| m.peak_memory_bytes).max()
    }

    /// Sync calls per commit of the median block, which a checkpoint now and then does not
    /// raise; nothing if no block committed, or its driver does not count them.
    pub(crate) fn syncs_per_commit(&self) -> Option<f64> {
        let committing = self.blocks.iter().filter(|m| m.commits > 0);
        median(
            committing
                .filter_map(|m| Some(m.syncs?.total() as f64 / m.commits as f64))
                .collect(),
        )
    }

    /// The same, with 0 for blocks that committed nothing.
    fn syncs_per_commit_or_none_made(&self) -> f64 {
        let told = self.blocks.iter().any(|m| m.syncs.is_some());
        let without = if told { 0.0 } else { f64::NAN };
        self.syncs_per_commit().unwrap_or(without)
    }
}

/// Percentiles over all latency blocks of a cell; nothing if it has none.
pub(crate) fn latency(
    measurements: &[&Measurement],
    problems: &mut Vec<String>,
) -> Option<LatencySummary> {
    let texts = timed(measurements);
    let texts = texts.filter_map(|m| Some((m, m.latency.as_ref()?)));
    percentiles(texts, problems)
}

/// The same of each action of a mix.
fn latencies(
    measurements: &[&Measurement],
    problems: &mut Vec<String>,
) -> BTreeMap<Action, LatencySummary> {
    let of_action = |action: Action| {
        let texts = timed(measurements);
        let texts = texts.filter_map(move |m| Some((m, m.latencies.get(&action)?)));
        Some((action, percentiles(texts, problems)?))
    };
    Action::ALL.into_iter().filter_map(of_action).collect()
}

/// Counting slows down what it counts.
fn timed<'a>(measurements: &[&'a Measurement]) -> impl Iterator<Item = &'a Measurement> {
    let measurements = measurements.iter().copied();
    measurements.filter(|m| m.block != BlockKind::Counting)
}

fn percentiles<'a>(
    histograms: impl Iterator<Item = (&'a Measurement, &'a String)>,
    problems: &mut Vec<String>,
) -> Option<LatencySummary> {
    let mut merged = Histogram::<u64>::new(3).ok()?;
    let mut blocks: Vec<Histogram<u64>> = Vec::new();
    for (measurement, text) in histograms {
        let added = decode(text).and_then(|histogram| {
            merged
                .add(&histogram)
                .map_err(|error| format!("cannot be merged: {error:?}"))?;
            blocks.push(histogram);
            Ok(())
        });
        if let Err(error) = added {
            problems.push(format!(
                "the latency histogram of {}, round {}, {error}",
                measurement.cell, measurement.round
            ));
        }
    }
    if merged.is_empty() {
        return None;
    }
    let shown: Vec<f64> = TOLD.into_iter().filter(|p| is_known(&merged, *p)).collect();
    let value = |percentile: f64| {
        let value = || merged.value_at_quantile(percentile / 100.0);
        shown.contains(&percentile).then(value)
    };
    let [p50_ns, p90_ns, p95_ns, p99_ns, p999_ns] = TOLD.map(value);
    Some(LatencySummary {
        count: merged.len(),
        blocks: blocks.len(),
        mean_ns: merged.mean(),
        p50_ns,
        p90_ns,
        p95_ns,
        p99_ns,
        p999_ns,
        intervals: intervals(&blocks, &shown),
        max_ns: merged.max(),
        curve: curve(&merged),
    })
}

/// The percentiles that are told by name.
const TOLD: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

/// Whether enough operations lie beyond a percentile: with fewer it would be noise.
fn is_known(merged: &Histogram<u64>, percentile: f64) -> bool {
    let beyond = BEYOND
        .into_iter()
        .find(|beyond| within(*beyond) == percentile);
    beyond.is_some_and(|beyond| has_enough(merged, beyond))
}

/// What lies beyond the percentiles of a curve, in thousandths of a percent: four to a decade.
const BEYOND: [u32; 18] = [
    50_000, 30_000, 20_000, 10_000, 5_000, 3_000, 2_000, 1_000, 500, 300, 200, 100, 50, 30, 20, 10,
    5, 1,
];
/// A percentile of a curve has at least this many operations beyond it.
const LEAST_BEYOND: u64 = 10;

/// Everything, in thousandths of a percent.
const ALL: u32 = 100_000;

/// The percentile beyond which so many thousandths of a percent lie: from whole numbers, so that 99.9
/// is as near to 99.9 as can be.
fn within(beyond: u32) -> f64 {
    f64::from(ALL - beyond) / 1_000.0
}

fn has_enough(merged: &Histogram<u64>, beyond: u32) -> bool {
    merged.len().saturating_mul(u64::from(beyond)) >= LEAST_BEYOND * u64::from(ALL)
}

/// The percentiles from the median on that have enough operations beyond them.
fn curve(merged: &Histogram<u64>) -> Vec<(f64, u64)> {
    let shares = BEYOND
        .into_iter()
        .filter(|beyond| has_enough(merged, *beyond));
    shares
        .map(|beyond| {
            let share = f64::from(ALL - beyond) / f64::from(ALL);
            (within(beyond), merged.value_at_quantile(share))
        })
        .collect()
}

/// A histogram from its text.
pub(crate) fn decode(text: &str) -> Result<Histogram<u64>, String> {
    let bytes = STANDARD
        .decode(text)
        .map_err(|error| format!("is not base64: {error}"))?;
    check_histogram(&bytes)?;
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| format!("cannot be read: {error}"))
}

/// The sum of what blocks counted. A number of a damaged result may be any.
pub(crate) fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// A damaged histogram must not be given to the library: it takes as much memory as a header
/// announces, inflates what is compressed without bound, and negates a count of -2^63. The form is
/// that of HdrHistogram's V2 encoding: cookie, length of the payload, five more words of header,
/// payload.
fn check_histogram(bytes: &[u8]) -> Result<(), String> {
    const COOKIE: u32 = 0x1c84_9313;
    const HEADER_BYTES: usize = 40;
    const LEAST_COUNT: [u8; 9] = [0xff; 9];
    let word = |at: usize| {
        let four = bytes.get(at..)?.first_chunk()?;
        Some(u32::from_be_bytes(*four))
    };
    let payload = bytes.get(HEADER_BYTES..).unwrap_or_default();
    if word(0) != Some(COOKIE) || word(4).is_none_or(|length| length as usize != payload.len()) {
        return Err("is no whole histogram".to_owned());
    }
    if payload.windows(9).any(|nine| nine == LEAST_COUNT) {
        return Err("has a count that none can be".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer, V2Serializer};

    fn encoded(histogram: &Histogram<u64>) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2Serializer::new()
            .serialize(histogram, &mut bytes)
            .unwrap();
        bytes
    }

    #[test]
    fn a_damaged_histogram_is_refused_and_takes_no_more_memory_than_a_whole_one() {
        let whole = encoded(&histogram(1..=1000));
        assert_eq!(decode(&STANDARD.encode(&whole)).unwrap().len(), 1000);
        let refused = |bytes: &[u8]| decode(&STANDARD.encode(bytes)).unwrap_err();
        // Four gigabytes are announced.
        let mut large = whole.clone();
        large[4..8].fill(0xff);
        assert_eq!(refused(&large), "is no whole histogram");
        assert_eq!(refused(&whole[..whole.len() - 1]), "is no whole histogram");
        assert_eq!(refused(b""), "is no whole histogram");
        let mut least = whole.clone();
        least.splice(40.., [0xff; 9]);
        least[4..8].copy_from_slice(&9u32.to_be_bytes());
        assert_eq!(refused(&least), "has a count that none can be");
        let mut compressed = Vec::new();
        let mut serializer = V2DeflateSerializer::new();
        serializer
            .serialize(&histogram(1..=1000), &mut compressed)
            .unwrap();
        assert_eq!(refused(&compressed), "is no whole histogram");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x81;
            let _ = decode(&STANDARD.encode(&damaged)).map(|found| curve(&found));
        }
    }

    fn histogram(values: std::ops::RangeInclusive<u64>) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).unwrap();
        values.for_each(|value| histogram.record(value).unwrap());
        histogram
    }

    #[test]
    fn a_curve_goes_as_far_as_ten_operations_lie_beyond_it() {
        let curve = curve(&histogram(1..=1000));
        assert_eq!(curve.first(), Some(&(50.0, 500)));
        assert_eq!(curve.last(), Some(&(99.0, 990)));
        assert!(curve.contains(&(98.0, 980)), "{curve:?}");
        assert!(curve.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1));
    }

    #[test]
    fn a_curve_of_few_operations_has_no_point() {
        assert_eq!(curve(&histogram(1..=19)), []);
        assert_eq!(curve(&histogram(1..=20)), [(50.0, 10)]);
        assert_eq!(curve(&Histogram::new(3).unwrap()), []);
    }
}
