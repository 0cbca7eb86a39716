//! Samples of a place: which values, drawn by a seed, stratified by size; and datasets made of them.
//!
//! The values of each doubling of size are a stratum, and each stratum gives as large a share of the
//! sample as it has of the place, as far as whole values go. Which values those are depends on the seed and
//! on their names alone (in a table, on their positions): the least by a hash. So memory grows with the
//! sample, not with the place, and the same seed draws the same values. Files that this user cannot open, or
//! that went away, are not drawn: the next by the hash stand in for them.

mod candidates;

pub use candidates::Candidates;

use crate::ArchiveError;
use crate::directories::{open_file, open_top};
use crate::error::Doing;
use crate::survey::sizes::Sizes;
use crate::survey::table::{Column, quoted};
use crate::survey::{Sort, sort, survey};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use rusqlite::types::ValueRef;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use stowplan_dataset::{Dataset, DatasetError, Import};
use stowplan_model::{Content, DatasetSpec, Origin, SizeDistribution, format_size};

/// The most values that are looked at to learn how compressible they are, ...
const COMPRESSED_VALUES: usize = 64;
/// ... and the most bytes of each.
const COMPRESSED_BYTES: u64 = 256 << 10;
/// Bytes that cannot be made smaller than this share are as good as random.
const RANDOM_SHARE: f64 = 0.98;
/// A place changes while it is looked at: so often it is drawn from again, without what went away.
const ATTEMPTS: usize = 8;

/// What fails where a file went away.
const OPEN: &str = "open";

/// Values that were drawn of a place.
#[derive(Debug)]
pub struct Sample {
    origin: Origin,
    /// In the order of their names, or of the rows.
    picks: Vec<Pick>,
}

/// What is done with a value: the name that it has below a directory, its bytes, and the place to name
/// in an error.
pub(crate) type Visit<'v> =
    dyn FnMut(Option<&[u8]>, &mut dyn Read, &Path) -> Result<(), ArchiveError> + 'v;

/// A value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Pick {
    /// Its path from the topmost directory; of a row, none.
    path: Vec<u8>,
    /// Of a row, its position in the table.
    position: u64,
    size: u64,
}

impl Sample {
    /// Draws `count` values of a place, as [`Candidates::sample`] does.
    ///
    /// # Errors
    /// As there.
    pub fn draw(origin: &Origin, count: u64, seed: u64) -> Result<Self, ArchiveError> {
        let (_, mut candidates) = Candidates::survey(origin, count, seed)?;
        candidates.sample(count)
    }

    /// Values of the sample.
    pub fn count(&self) -> u64 {
        self.picks.len() as u64
    }

    /// Their sizes.
    pub fn sizes(&self) -> SizeDistribution {
        let mut sizes = Sizes::default();
        self.picks.iter().for_each(|pick| sizes.add(pick.size));
        SizeDistribution::Histogram {
            bins: sizes.histogram(),
        }
    }

    /// Calls `visit` for all values, in their order.
    pub(crate) fn each(&self, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
        match sort(&self.origin)? {
            Sort::Directory => self.files(visit),
            Sort::Database => self.rows(visit),
        }
    }

    fn files(&self, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
        let root = &self.origin.place;
        let top = open_top(root).doing(OPEN, root)?;
        for Pick { path, .. } in &self.picks {
            let place = root.join(OsStr::from_bytes(path));
            let mut file = open_file(&top, path.as_slice()).doing(OPEN, &place)?;
            visit(Some(path), &mut file, &place)?;
        }
        Ok(())
    }

    fn rows(&self, visit: &mut Visit<'_>) -> Result<(), ArchiveError> {
        let column = Column::open(&self.origin)?;
        let mut positions = self.picks.iter().map(|pick| pick.position).peekable();
        let mut position = 0;
        column.rows(&quoted(&column.column), &mut |row| {
            if positions.next_if_eq(&position).is_some() {
                let value = row.get_ref(0).doing("read", column.path())?;
                let mut bytes = match value {
                    ValueRef::Blob(bytes) | ValueRef::Text(bytes) => bytes,
                    _ => &[],
                };
                visit(None, &mut bytes, column.path())?;
            }
            position += 1;
            Ok(())
        })
    }

    /// A description of a dataset of these values, that says what it is to be otherwise.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn describe(&self, spec: &DatasetSpec) -> Result<DatasetSpec, ArchiveError> {
        Ok(DatasetSpec {
            count: self.count(),
            size: self.sizes(),
            content: self.content()?,
            seed: spec.seed,
            from: spec.from.clone(),
        })
    }

    /// How compressible the values are, by some of them.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn content(&self) -> Result<Content, ArchiveError> {
        let every = self.picks.len().div_ceil(COMPRESSED_VALUES).max(1);
        let some = Self {
            origin: self.origin.clone(),
            picks: self.picks.iter().step_by(every).cloned().collect(),
        };
        let (mut before, mut after) = (0u64, 0u64);
        some.each(&mut |_, value, place| {
            let mut bytes = Vec::new();
            let mut limited = value.take(COMPRESSED_BYTES);
            let read = limited.read_to_end(&mut bytes);
            before += read.doing("read", place)? as u64;
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
            let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish());
            after += packed.doing("compress", place)?.len() as u64;
            Ok(())
        })?;
        let ratio = (after as f64 / before.max(1) as f64 * 100.0).round() / 100.0;
        Ok(match ratio {
            ratio if ratio >= RANDOM_SHARE => Content::Random,
            ratio => Content::Compressible { ratio },
        })
    }
}

/// A description with number, sizes and content as they are in the place that it names; one that
/// names none is returned as it is.
///
/// # Errors
/// As [`survey`] and [`Sample::draw`].
pub fn described(spec: &DatasetSpec) -> Result<DatasetSpec, ArchiveError> {
    if let SizeDistribution::Like { like } = &spec.size {
        let found = survey(&Origin {
            place: like.clone(),
            ..Origin::default()
        })?;
        if found.values == 0 {
            return Err(ArchiveError::Invalid(format!(
                "{} holds no values whose sizes could be taken",
                like.display()
            )));
        }
        return Ok(DatasetSpec {
            size: SizeDistribution::Histogram {
                bins: found.histogram,
            },
            ..spec.clone()
        });
    }
    let Some(origin) = &spec.from else {
        return Ok(spec.clone());
    };
    with_sample(origin, spec, None, &mut |sample| sample.describe(spec))
}

/// Writes a dataset of the values that its description names to `directory`, which must not exist;
/// `progress` hears how many bytes are written. Where these were `drawn`, the place is not walked again.
///
/// # Errors
/// The place does not hold as many values any more, one of them cannot be read, or the dataset cannot be
/// written.
pub fn write(
    spec: &DatasetSpec,
    drawn: Option<&Sample>,
    directory: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<Dataset, ArchiveError> {
    let Some(origin) = &spec.from else {
        return Err(ArchiveError::Invalid(
            "the dataset names no place".to_owned(),
        ));
    };
    with_sample(origin, spec, drawn, &mut |sample| {
        let mut import = Import::begin(directory)?;
        let mut done = 0;
        sample.each(&mut |name, value, place| {
            done += import.add(name, value, place)?;
            progress(done);
            Ok(())
        })?;
        Ok(import.finish(spec)?)
    })
}

/// Does something with the sample that is described, or was `drawn`; with another one where a file of it
/// went away meanwhile.
fn with_sample<T>(
    origin: &Origin,
    spec: &DatasetSpec,
    mut drawn: Option<&Sample>,
    work: &mut dyn FnMut(&Sample) -> Result<T, ArchiveError>,
) -> Result<T, ArchiveError> {
    let mut again = || match drawn.take() {
        Some(sample) => work(sample),
        None => work(&Sample::draw(origin, spec.count, spec.seed)?),
    };
    for _ in 1..ATTEMPTS {
        match again() {
            Err(ArchiveError::Files(DatasetError::Io { action: OPEN, .. })) => {}
            done => return done,
        }
    }
    again()
}

fn nothing(origin: &Origin) -> ArchiveError {
    let limit = origin.largest.map_or(String::new(), |largest| {
        format!(" and has at most {}", format_size(largest))
    });
    ArchiveError::Invalid(format!(
        "{} holds no value that can be read{limit}; there is nothing to measure",
        origin.place.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::candidates::unopened;
    use super::*;
    use std::fs;

    fn place(directory: &Path) -> Origin {
        for index in 0..300u32 {
            let inner = directory.join(format!("d{}", index % 7));
            fs::create_dir_all(&inner).unwrap();
            let size = if index % 3 == 0 { 100 } else { 5_000 };
            let value = vec![index as u8; size];
            fs::write(inner.join(format!("f{index}")), value).unwrap();
        }
        Origin {
            place: directory.to_owned(),
            ..Origin::default()
        }
    }

    fn spec(origin: &Origin, count: u64) -> DatasetSpec {
        DatasetSpec {
            count,
            size: SizeDistribution::AsFound,
            content: Content::Random,
            seed: 1,
            from: Some(origin.clone()),
        }
    }

    #[test]
    fn a_sample_has_the_shares_of_the_place_and_the_seed_decides_which() {
        let directory = tempfile::tempdir().unwrap();
        let origin = place(directory.path());
        let draw = |seed| Sample::draw(&origin, 30, seed).unwrap();
        let sample = draw(1);
        let small = sample.picks.iter().filter(|pick| pick.size == 100);
        assert_eq!((sample.count(), small.count()), (30, 10));
        assert_eq!(sample.picks, draw(1).picks);
        assert_ne!(sample.picks, draw(2).picks);
        assert!(sample.picks.is_sorted());
        assert_eq!(Sample::draw(&origin, 0, 1).unwrap().count(), 300);
        let small = up_to(&origin, 4_999);
        assert_eq!(Sample::draw(&small, 0, 1).unwrap().count(), 100);
    }

    /// A place with no value above so many bytes.
    fn up_to(origin: &Origin, largest: u64) -> Origin {
        Origin {
            largest: Some(largest),
            ..origin.clone()
        }
    }

    #[test]
    fn values_above_a_limit_within_their_doubling_leave_a_dataset_of_the_others() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("place");
        fs::create_dir(&place).unwrap();
        for (index, size) in [4_000, 4_001, 4_002, 4_096, 4_500, 9_000]
            .iter()
            .enumerate()
        {
            fs::write(place.join(format!("f{index}")), vec![0; *size]).unwrap();
        }
        let origin = up_to(
            &Origin {
                place,
                ..Origin::default()
            },
            4_096,
        );
        for (count, found) in [(6, 4), (5, 4), (3, 3)] {
            let described = described(&spec(&origin, count)).unwrap();
            assert_eq!(
                (described.count, described.size.largest() <= 4_096),
                (found, true)
            );
            let path = directory.path().join(format!("data{count}"));
            let dataset = write(&described, None, &path, &mut |_| ()).unwrap();
            assert_eq!(dataset.count(), found, "{count}");
        }
        let refused = Sample::draw(&up_to(&origin, 3_999), 0, 1).unwrap_err();
        assert!(refused.to_string().contains("and has at most"), "{refused}");
    }

    #[test]
    fn what_cannot_be_opened_is_left_out_and_the_next_stands_in_for_it() {
        let directory = tempfile::tempdir().unwrap();
        let origin = place(&directory.path().join("place"));
        let all = Sample::draw(&origin, 0, 1).unwrap().picks;
        let some = Sample::draw(&origin, 30, 1).unwrap().picks;
        let gone = &some[3].path;
        fs::remove_file(origin.place.join(OsStr::from_bytes(gone))).unwrap();
        assert_eq!(
            unopened(&origin, &some).unwrap(),
            [gone.clone()].into_iter().collect()
        );
        assert_eq!(unopened(&origin, &all).unwrap().len(), 1);
        let sample = Sample::draw(&origin, 30, 1).unwrap();
        assert_eq!(sample.count(), 30);
        let kept = |pick: &&Pick| sample.picks.contains(pick);
        assert_eq!(some.iter().filter(kept).count(), 29);
    }

    #[test]
    fn one_walk_surveys_and_finds_the_values_of_every_sample() {
        let directory = tempfile::tempdir().unwrap();
        let origin = place(&directory.path().join("place"));
        let (found, mut candidates) = Candidates::survey(&origin, 60, 1).unwrap();
        assert_eq!(found, survey(&origin).unwrap());
        assert_eq!(
            (candidates.values(), candidates.bytes()),
            (300, found.bytes)
        );
        for count in [1, 30, 60] {
            let alone = Sample::draw(&origin, count, 1).unwrap();
            assert_eq!(candidates.sample(count).unwrap().picks, alone.picks);
        }
        // All that is known of the large ones cannot be opened.
        let all = Sample::draw(&origin, 0, 1).unwrap().picks;
        for pick in all.iter().filter(|pick| pick.size > 100) {
            fs::remove_file(origin.place.join(OsStr::from_bytes(&pick.path))).unwrap();
        }
        let left = candidates.sample(60).unwrap();
        assert!(left.picks.iter().all(|pick| pick.size == 100), "{left:?}");
    }

    #[test]
    fn what_was_drawn_is_written_and_drawn_again_only_where_it_went_away() {
        let directory = tempfile::tempdir().unwrap();
        let origin = place(&directory.path().join("place"));
        let sample = Sample::draw(&origin, 30, 1).unwrap();
        let spec = sample.describe(&spec(&origin, 30)).unwrap();
        for index in 0..300 {
            fs::write(origin.place.join(format!("new{index}")), [7; 10]).unwrap();
        }
        let values = |drawn, to: &str| {
            let path = directory.path().join(to);
            let dataset = write(&spec, drawn, &path, &mut |_| ()).unwrap();
            (1..=dataset.count())
                .filter(|key| dataset.size(*key) == 10)
                .count()
        };
        assert_eq!(values(Some(&sample), "drawn"), 0);
        let again = values(None, "again");
        assert!(again > 10, "{again}");
        let gone = OsStr::from_bytes(&sample.picks[3].path);
        fs::remove_file(origin.place.join(gone)).unwrap();
        assert_eq!(values(Some(&sample), "gone"), again);
    }

    #[test]
    fn files_that_this_user_may_not_read_are_no_values_of_a_sample() {
        // Of these, some may not be read by anybody.
        let place = Path::new("/sys/bus/cpu");
        if !place.join("uevent").exists() {
            eprintln!("no file here that nobody may read");
            return;
        }
        let origin = Origin {
            place: place.to_owned(),
            ..Origin::default()
        };
        let sample = Sample::draw(&origin, 0, 1).unwrap();
        let paths: Vec<&[u8]> = sample.picks.iter().map(|pick| &pick.path[..]).collect();
        assert!(paths.contains(&&b"drivers_autoprobe"[..]), "{paths:?}");
        assert!(!paths.contains(&&b"uevent"[..]), "{paths:?}");
    }

    #[test]
    fn a_dataset_of_a_place_holds_its_bytes_under_its_names() {
        let directory = tempfile::tempdir().unwrap();
        let origin = place(&directory.path().join("place"));
        let described = described(&spec(&origin, 40)).unwrap();
        assert_eq!(described.count, 40);
        assert_eq!(described.size.largest(), 5_000);
        let Content::Compressible { ratio } = described.content else {
            panic!("{described:?}");
        };
        assert!(ratio < 0.1, "{ratio}");
        let path = directory.path().join("data");
        let dataset = write(&described, None, &path, &mut |_| ()).unwrap();
        let names = fs::read(dataset.names_file().unwrap()).unwrap();
        let at = |key: usize| u64::from_le_bytes(names[8 * key + 8..][..8].try_into().unwrap());
        for key in [1usize, 17, 40] {
            let name = &names[at(key) as usize..at(key + 1) as usize - 1];
            let file = origin.place.join(OsStr::from_bytes(name));
            assert_eq!(dataset.value(key as u64), fs::read(file).unwrap(), "{key}");
        }
    }

    #[test]
    fn a_dataset_of_a_column_holds_its_values_by_row() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("x.db");
        let connection = rusqlite::Connection::open(&file).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE t(v BLOB); INSERT INTO t VALUES(x'0102'), (NULL), ('text'), (17);",
            )
            .unwrap();
        let origin = Origin {
            place: file,
            ..Origin::default()
        };
        let described = described(&spec(&origin, 0)).unwrap();
        let dataset = write(&described, None, &directory.path().join("d"), &mut |_| ()).unwrap();
        assert_eq!(dataset.count(), 2);
        assert_eq!(
            (dataset.value(1), dataset.value(2)),
            (&[1, 2][..], &b"text"[..])
        );
        assert!(dataset.names_file().is_none());
    }

    #[test]
    fn a_place_that_has_lost_values_meanwhile_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let origin = place(&directory.path().join("place"));
        let described = described(&spec(&origin, 0)).unwrap();
        fs::remove_file(origin.place.join("d0/f0")).unwrap();
        let refused =
            write(&described, None, &directory.path().join("d"), &mut |_| ()).unwrap_err();
        assert!(
            refused.to_string().contains("299 values were found"),
            "{refused}"
        );
        assert!(!directory.path().join("d").exists());
    }

    #[test]
    fn sizes_like_those_of_a_place_are_its_histogram() {
        let directory = tempfile::tempdir().unwrap();
        let origin = place(&directory.path().join("place"));
        let like = DatasetSpec {
            count: 7,
            size: SizeDistribution::Like { like: origin.place },
            from: None,
            ..spec(&Origin::default(), 7)
        };
        let described = described(&like).unwrap();
        let SizeDistribution::Histogram { bins } = described.size else {
            panic!("{like:?}");
        };
        let values: Vec<u64> = bins.iter().map(|bin| bin.values).collect();
        assert_eq!((described.count, values), (7, vec![100, 200]));
    }
}
