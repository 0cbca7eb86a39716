//! Where values lie: within their files, and on the device below.

use crate::platform::Extent;
use crate::{HarnessError, Result, platform};
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use stowplan_model::{Pieces, PlacementRecord};

/// Values that are looked at.
const SAMPLE: u64 = 500;

/// Keys that are looked at, spread over all of them.
pub(crate) fn sample(count: u64) -> Vec<u64> {
    let step = (count / SAMPLE).max(1);
    (1..=count)
        .step_by(usize::try_from(step).unwrap_or(usize::MAX))
        .collect()
}

/// Where values lie, as the store tells of pieces of files and the system of files.
///
/// # Errors
/// The file system refuses.
pub(crate) fn of(pieces: &[Pieces], instance: &str) -> Result<Option<PlacementRecord>> {
    let mut extents: BTreeMap<&Path, Option<Vec<Extent>>> = BTreeMap::new();
    for piece in pieces {
        if !extents.contains_key(piece.file.as_path()) {
            let file = File::open(&piece.file).map_err(HarnessError::io("open", &piece.file))?;
            extents.insert(
                &piece.file,
                platform::extents(&file).filter(|e| !e.is_empty()),
            );
        }
    }
    Ok((!pieces.is_empty()).then(|| record(instance, pieces, &extents)))
}

fn record(
    instance: &str,
    pieces: &[Pieces],
    extents: &BTreeMap<&Path, Option<Vec<Extent>>>,
) -> PlacementRecord {
    let on_device = |piece: &Pieces| {
        let extents = extents.get(piece.file.as_path())?.as_ref()?;
        Some(pieces_on_device(&piece.ranges, extents))
    };
    PlacementRecord {
        instance: instance.to_owned(),
        values: pieces.len() as u64,
        pieces_per_value: mean(pieces.iter().map(|piece| piece.ranges.len() as u64)),
        overflow_pages_per_value: pieces
            .iter()
            .map(|piece| piece.overflow_pages)
            .collect::<Option<Vec<u64>>>()
            .map(|pages| mean(pages.into_iter())),
        device_pieces_per_value: pieces
            .iter()
            .map(on_device)
            .collect::<Option<Vec<u64>>>()
            .map(|pieces| mean(pieces.into_iter())),
        files: extents.len() as u64,
    }
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn mean(counts: impl ExactSizeIterator<Item = u64>) -> f64 {
    let number = counts.len().max(1);
    counts.sum::<u64>() as f64 / number as f64
}

/// How many pieces these ranges of a file are on the device: ranges and extents that follow each
/// other there are one.
fn pieces_on_device(ranges: &[Range<u64>], extents: &[Extent]) -> u64 {
    let mut pieces = 0;
    let mut end = None;
    for range in ranges {
        for extent in extents {
            let start = range.start.max(extent.logical);
            let stop = range.end.min(extent.logical + extent.bytes);
            if start >= stop {
                continue;
            }
            let physical = extent.physical + (start - extent.logical);
            pieces += u64::from(end != Some(physical));
            end = Some(physical + (stop - start));
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(logical: u64, physical: u64, bytes: u64) -> Extent {
        Extent {
            logical,
            physical,
            bytes,
        }
    }

    fn ranges_of(ends: &[(u64, u64)]) -> Vec<Range<u64>> {
        ends.iter().map(|(start, end)| *start..*end).collect()
    }

    #[test]
    fn what_follows_each_other_on_the_device_is_one_piece() {
        let extents = [
            extent(0, 1000, 100),
            extent(100, 1100, 100),
            extent(200, 9000, 100),
        ];
        let pieces = |ranges: &[(u64, u64)]| pieces_on_device(&ranges_of(ranges), &extents);
        assert_eq!(pieces(&[(0, 50)]), 1);
        // Two extents that touch.
        assert_eq!(pieces(&[(50, 150)]), 1);
        assert_eq!(pieces(&[(150, 250)]), 2);
        assert_eq!(pieces(&[(0, 50), (60, 70)]), 2);
        assert_eq!(pieces(&[(0, 50), (50, 60)]), 1);
        // Nothing of it was ever written.
        assert_eq!(pieces(&[(300, 400)]), 0);
    }

    #[test]
    fn a_record_gives_means_and_says_what_is_not_known() {
        let file = Path::new("/data/db");
        let value = |ranges: &[(u64, u64)], overflow| Pieces {
            file: file.to_owned(),
            ranges: ranges_of(ranges),
            overflow_pages: overflow,
        };
        let pieces = [
            value(&[(0, 10)], Some(0)),
            value(&[(10, 20), (90, 95)], Some(3)),
        ];
        let known = BTreeMap::from([(file, Some(vec![extent(0, 0, 50), extent(50, 700, 50)]))]);
        let found = record("db", &pieces, &known);
        assert_eq!(
            found,
            PlacementRecord {
                instance: "db".to_owned(),
                values: 2,
                pieces_per_value: 1.5,
                overflow_pages_per_value: Some(1.5),
                device_pieces_per_value: Some(1.5),
                files: 1,
            }
        );
        let unknown = record(
            "db",
            &[value(&[(0, 10)], None)],
            &BTreeMap::from([(file, None)]),
        );
        assert_eq!(unknown.device_pieces_per_value, None);
        assert_eq!(unknown.overflow_pages_per_value, None);
    }

    #[test]
    fn the_extents_of_a_written_file_cover_it() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, vec![1; 1 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        file.sync_all().unwrap();
        let Some(extents) = platform::extents(&file) else {
            eprintln!("not tested: this file system does not tell");
            return;
        };
        let bytes: u64 = extents.iter().map(|extent| extent.bytes).sum();
        assert!(bytes >= 1 << 20, "{extents:?}");
    }
}
