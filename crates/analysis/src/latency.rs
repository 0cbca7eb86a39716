//! Percentiles of single operations.

use crate::percentiles::{PercentileInterval, intervals};
use base64::{Engine, engine::general_purpose::STANDARD};
use hdrhistogram::{Histogram, serialization::Deserializer};
use serde::Serialize;
use std::collections::BTreeMap;
use stowplan_model::{Action, BlockKind, Measurement};

/// Percentiles of the latency of one operation, in nanoseconds, over all latency blocks; none where
/// fewer than ten operations lie beyond it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LatencySummary {
    /// Operations.
    pub count: u64,
    /// Blocks that they are of.
    pub blocks: usize,
    /// Mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: Option<u64>,
    /// 90%.
    pub p90_ns: Option<u64>,
    /// 95%.
    pub p95_ns: Option<u64>,
    /// 99%.
    pub p99_ns: Option<u64>,
    /// 99.9%.
    pub p999_ns: Option<u64>,
    /// Those of these that are there, with intervals; none of fewer than five blocks.
    pub intervals: Vec<PercentileInterval>,
    /// Largest.
    pub max_ns: u64,
    /// The tail as (percentile, nanoseconds), both rising, from the median to 99.999% at most. Where
    /// fewer than ten operations lie beyond a percentile, it is left out: it would be noise.
    pub curve: Vec<(f64, u64)>,
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

/// Summaries of the latency of each action of a mix.
pub(crate) fn latencies(
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
    let curve = curve(&merged);
    let known = |percentile: f64| {
        let mut points = curve.iter().filter(|(known, _)| *known == percentile);
        points.next().map(|(_, ns)| *ns)
    };
    let [p50_ns, p90_ns, p95_ns, p99_ns, p999_ns] = TOLD.map(known);
    let shown = TOLD.into_iter().filter(|told| known(*told).is_some());
    let shown: Vec<f64> = shown.collect();
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
        curve,
    })
}

/// The percentiles that are told by name.
const TOLD: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

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

    fn histogram(values: std::ops::RangeInclusive<u64>) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).unwrap();
        values.for_each(|value| histogram.record(value).unwrap());
        histogram
    }

    #[test]
    fn a_damaged_histogram_is_refused_and_takes_no_more_memory_than_a_whole_one() {
        let (mut whole, mut compressed) = (Vec::new(), Vec::new());
        let thousand = histogram(1..=1000);
        let mut plain = V2Serializer::new();
        plain.serialize(&thousand, &mut whole).unwrap();
        let mut deflate = V2DeflateSerializer::new();
        deflate.serialize(&thousand, &mut compressed).unwrap();
        assert_eq!(decode(&STANDARD.encode(&whole)).unwrap().len(), 1000);
        // Four gigabytes are announced.
        let mut large = whole.clone();
        large[4..8].fill(0xff);
        let mut least = whole.clone();
        least.splice(40.., [0xff; 9]);
        least[4..8].copy_from_slice(&9u32.to_be_bytes());
        for (damaged, error) in [
            (&large[..], "is no whole histogram"),
            (&whole[..whole.len() - 1], "is no whole histogram"),
            (b"", "is no whole histogram"),
            (&compressed, "is no whole histogram"),
            (&least, "has a count that none can be"),
        ] {
            assert_eq!(decode(&STANDARD.encode(damaged)).unwrap_err(), error);
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x81;
            let _ = decode(&STANDARD.encode(&damaged)).map(|found| curve(&found));
        }
    }

    #[test]
    fn a_curve_goes_as_far_as_ten_operations_lie_beyond_it() {
        let whole = curve(&histogram(1..=1000));
        let ends = (whole.first(), whole.last());
        assert_eq!(ends, (Some(&(50.0, 500)), Some(&(99.0, 990))));
        assert!(whole.contains(&(98.0, 980)), "{whole:?}");
        assert!(whole.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1));
        assert_eq!(curve(&histogram(1..=19)), []);
        assert_eq!(curve(&histogram(1..=20)), [(50.0, 10)]);
        assert_eq!(curve(&Histogram::new(3).unwrap()), []);
    }
}
