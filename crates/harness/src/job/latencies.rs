//! What became of the latencies that a driver took: histograms, as results hold them.

use crate::HarnessError;
use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use std::collections::BTreeMap;
use stowplan_model::Action;

/// Histograms of latencies.
pub(super) struct Latencies {
    all: Histogram<u64>,
    /// Of a mix, by what the operations did.
    of: Option<BTreeMap<Action, Histogram<u64>>>,
}

impl Latencies {
    /// None yet; those of a mix are told apart.
    pub(super) fn new(mix: bool) -> Result<Self, HarnessError> {
        Ok(Self {
            all: new_histogram()?,
            of: mix.then(BTreeMap::new),
        })
    }

    /// Adds those of one thread, in the order of its operations.
    pub(super) fn add(
        &mut self,
        bytes: &[u8],
        mut actions: impl Iterator<Item = Action>,
    ) -> Result<(), HarnessError> {
        for latency in bytes.as_chunks().0 {
            let ns = u64::from(u32::from_le_bytes(*latency));
            self.all.saturating_record(ns);
            let Some((of, action)) = self.of.as_mut().zip(actions.next()) else {
                continue;
            };
            match of.get_mut(&action) {
                Some(histogram) => histogram.saturating_record(ns),
                None => {
                    let mut histogram = new_histogram()?;
                    histogram.saturating_record(ns);
                    of.insert(action, histogram);
                }
            }
        }
        Ok(())
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.all.len()
    }

    /// The histogram of all as text, and those of a mix's actions.
    pub(super) fn texts(&self) -> Result<(String, BTreeMap<Action, String>), HarnessError> {
        let of = self.of.iter().flatten();
        let texts = of
            .map(|(action, histogram)| Ok((*action, serialise(histogram)?)))
            .collect::<Result<_, HarnessError>>()?;
        Ok((serialise(&self.all)?, texts))
    }
}

/// A histogram from 1 ns to one minute with three digits.
fn new_histogram() -> Result<Histogram<u64>, HarnessError> {
    Histogram::new_with_bounds(1, 60_000_000_000, 3)
        .map_err(|error| HarnessError::invalid(format!("cannot make a histogram: {error}")))
}

/// The histogram as text: HDR V2 in base64.
fn serialise(histogram: &Histogram<u64>) -> Result<String, HarnessError> {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(histogram, &mut bytes)
        .map_err(|error| HarnessError::invalid(format!("cannot write a histogram: {error:?}")))?;
    Ok(base64::engine::general_purpose::STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;

    fn read(text: &str) -> Histogram<u64> {
        let bytes = base64::engine::general_purpose::STANDARD.decode(text);
        Deserializer::new()
            .deserialize(&mut &bytes.unwrap()[..])
            .unwrap()
    }

    fn bytes(latencies: &[u32]) -> Vec<u8> {
        latencies.iter().flat_map(|ns| ns.to_le_bytes()).collect()
    }

    #[test]
    fn a_mix_has_a_histogram_for_each_action_beside_that_of_all() {
        let mut latencies = Latencies::new(true).unwrap();
        let actions = [Action::Read, Action::Delete, Action::Scan, Action::Delete];
        latencies
            .add(&bytes(&[1, 999, 1_000_000, u32::MAX]), actions.into_iter())
            .unwrap();
        assert_eq!(latencies.count(), 4);
        let (all, of) = latencies.texts().unwrap();
        assert_eq!((read(&all).len(), read(&all).min()), (4, 1));
        let counts: Vec<_> = of.iter().map(|(a, text)| (*a, read(text).len())).collect();
        assert_eq!(
            counts,
            [(Action::Read, 1), (Action::Delete, 2), (Action::Scan, 1)]
        );
        let mut reads = Latencies::new(false).unwrap();
        reads
            .add(&bytes(&[5]), std::iter::repeat(Action::Read))
            .unwrap();
        assert!(reads.texts().unwrap().1.is_empty());
    }
}
