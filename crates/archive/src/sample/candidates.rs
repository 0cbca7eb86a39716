//! The values of a place that samples are drawn from, as one walk found them.

use super::{ATTEMPTS, Pick, Sample, nothing};
use crate::ArchiveError;
use crate::directories::{open_file, open_top};
use crate::error::Doing;
use crate::survey::table::Column;
use crate::survey::{Sort, directory, sort, table};
use crate::walk::{Met, look};
use rustix::fs::FileType;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use stowplan_dataset::names;
use stowplan_dataset::random::scatter_all;
use stowplan_model::{Origin, Survey};

/// Of each doubling of size, how many values a place has, and the least of them by a hash of their names (in
/// a table, of their positions): as many as a sample can take of it. Memory grows with these.
#[derive(Debug)]
pub struct Candidates {
    origin: Origin,
    /// The most values of a sample.
    most: u64,
    seed: u64,
    /// Files that could not be opened.
    closed: BTreeSet<Vec<u8>>,
    strata: BTreeMap<u32, Stratum>,
    bytes: u64,
}

/// The values of one doubling of size.
#[derive(Debug, Default)]
struct Stratum {
    values: u64,
    least: BinaryHeap<(u64, Pick)>,
}

impl Candidates {
    /// Surveys a place, and finds the values that samples of at most `most` values are drawn from, in one
    /// walk; none above the largest that the place is asked for.
    ///
    /// # Errors
    /// As [`crate::survey::survey`].
    pub fn survey(origin: &Origin, most: u64, seed: u64) -> Result<(Survey, Self), ArchiveError> {
        let mut found = Self::none(origin, most, seed, BTreeSet::new());
        let survey = match sort(origin)? {
            Sort::Directory => directory::survey(&origin.place, &mut |met| found.meet(met))?,
            Sort::Database => table::survey(origin, &mut |position, size| {
                found.offer(&[], position, size);
            })?,
        };
        Ok((survey, found))
    }

    /// The values that samples of at most `most` are drawn from, 0 for any number, without these files.
    pub(super) fn find(
        origin: &Origin,
        most: u64,
        seed: u64,
        closed: BTreeSet<Vec<u8>>,
    ) -> Result<Self, ArchiveError> {
        let mut found = Self::none(origin, most, seed, closed);
        match sort(origin)? {
            Sort::Directory => look(&origin.place, &mut |met| found.meet(met))?,
            Sort::Database => Column::open(origin)?.lengths(&mut |position, bytes, _| {
                if let Some(size) = bytes {
                    found.offer(&[], position, size);
                }
            })?,
        }
        Ok(found)
    }

    fn none(origin: &Origin, most: u64, seed: u64, closed: BTreeSet<Vec<u8>>) -> Self {
        Self {
            origin: origin.clone(),
            most: if most == 0 { u64::MAX } else { most },
            seed,
            closed,
            strata: BTreeMap::new(),
            bytes: 0,
        }
    }

    /// How many values there are that can be drawn, as far as permissions tell.
    #[must_use]
    pub fn values(&self) -> u64 {
        self.strata.values().map(|stratum| stratum.values).sum()
    }

    /// Their bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Draws `count` values, all if there are no more or `count` is 0. Files that went away, or cannot be
    /// opened, are not drawn: the next by the hash stand in for them.
    ///
    /// # Errors
    /// The file system or SQLite refuses, there is no such value, or ever others cannot be opened.
    pub fn sample(&mut self, count: u64) -> Result<Sample, ArchiveError> {
        for _ in 0..ATTEMPTS {
            let Some(picks) = self.picks(count) else {
                // Too many could not be opened: there are more in the place.
                let closed = std::mem::take(&mut self.closed);
                *self = Self::find(&self.origin, self.most, self.seed, closed)?;
                continue;
            };
            if picks.is_empty() {
                return Err(nothing(&self.origin));
            }
            let found = unopened(&self.origin, &picks)?;
            if found.is_empty() {
                return Ok(Sample {
                    origin: self.origin.clone(),
                    picks,
                });
            }
            self.leave_out(found);
        }
        Err(ArchiveError::Invalid(format!(
            "{} files of {} cannot be opened, though their permissions allow it; look at one: {}",
            self.closed.len(),
            self.origin.place.display(),
            self.closed
                .first()
                .map_or(String::new(), |path| String::from_utf8_lossy(path)
                    .into_owned())
        )))
    }

    /// The values that are drawn, in their order; nothing where too few of a stratum are known.
    fn picks(&self, count: u64) -> Option<Vec<Pick>> {
        let sizes = self.strata.iter();
        let quotas = quotas(
            sizes.map(|(size, found)| (*size, found.values)).collect(),
            count,
        );
        let mut picks = Vec::new();
        for (size, stratum) in &self.strata {
            let quota = quotas.get(size).copied().unwrap_or(0).min(stratum.values);
            if quota > stratum.least.len() as u64 {
                return None;
            }
            let mut least: Vec<&(u64, Pick)> = stratum.least.iter().collect();
            least.sort_unstable();
            least.truncate(usize::try_from(quota).unwrap_or(usize::MAX));
            picks.extend(least.into_iter().map(|(_, pick)| pick.clone()));
        }
        picks.sort_unstable();
        Some(picks)
    }

    fn leave_out(&mut self, paths: Vec<Vec<u8>>) {
        self.closed.extend(paths);
        for stratum in self.strata.values_mut() {
            let before = stratum.least.len();
            stratum
                .least
                .retain(|(_, pick)| !self.closed.contains(&pick.path));
            stratum.values -= (before - stratum.least.len()) as u64;
        }
    }

    fn meet(&mut self, met: Met<'_>) {
        let Met::Entry(entry) = met else { return };
        let meant = entry.kind == FileType::RegularFile && names::is_inner_path(entry.path);
        if meant && entry.is_readable() && !self.closed.contains(entry.path) {
            self.offer(
                entry.path,
                0,
                u64::try_from(entry.stat.st_size).unwrap_or(0),
            );
        }
    }

    /// A file of a path, or the row at a position.
    fn offer(&mut self, path: &[u8], position: u64, size: u64) {
        let largest = self.origin.largest.unwrap_or(u64::MAX);
        // Replacing nothing by nothing writes nothing, and reading it reads nothing.
        if size == 0 || size > largest {
            return;
        }
        self.bytes = self.bytes.saturating_add(size);
        let stratum = self.strata.entry(octave(size)).or_default();
        stratum.values += 1;
        let hash = match path {
            [] => scatter_all(&[self.seed, position]),
            path => hash_of(self.seed, path),
        };
        let least = &mut stratum.least;
        let full = least.len() as u64 >= self.most;
        if full && least.peek().is_some_and(|(worst, _)| *worst <= hash) {
            return;
        }
        let pick = Pick {
            path: path.to_owned(),
            position,
            size,
        };
        least.push((hash, pick));
        if full {
            least.pop();
        }
    }
}

/// Those of the files that cannot be opened.
pub(super) fn unopened(origin: &Origin, picks: &[Pick]) -> Result<Vec<Vec<u8>>, ArchiveError> {
    if sort(origin)? == Sort::Database {
        return Ok(Vec::new());
    }
    let root = &origin.place;
    let top = open_top(root).doing(super::OPEN, root)?;
    let paths = picks.iter().map(|pick| &pick.path);
    let closed = paths.filter(|path| open_file(&top, path.as_slice()).is_err());
    Ok(closed.cloned().collect())
}

/// The doubling of a size.
fn octave(size: u64) -> u32 {
    size.checked_ilog2().map_or(0, |octave| octave + 1)
}

/// How many values each stratum, of which it is told how many it has, gives: its share, rounded so that
/// they add up (the largest remainders are rounded up).
fn quotas(mut strata: BTreeMap<u32, u64>, count: u64) -> BTreeMap<u32, u64> {
    let all: u64 = strata.values().sum();
    if count == 0 || count >= all {
        return strata
            .into_keys()
            .map(|stratum| (stratum, u64::MAX))
            .collect();
    }
    let share = |values: u64| u128::from(values) * u128::from(count);
    let mut remainders: Vec<(u128, u32)> = Vec::new();
    let mut left = count;
    for (stratum, values) in &mut strata {
        let product = share(*values);
        remainders.push((product % u128::from(all), *stratum));
        *values = u64::try_from(product / u128::from(all)).unwrap_or(u64::MAX);
        left -= *values;
    }
    remainders.sort_unstable_by(|a, b| b.cmp(a));
    for (_, stratum) in remainders
        .into_iter()
        .take(usize::try_from(left).unwrap_or(0))
    {
        strata.entry(stratum).and_modify(|values| *values += 1);
    }
    strata
}

/// A number that depends on every byte of a path, the same on every machine.
fn hash_of(seed: u64, path: &[u8]) -> u64 {
    let words = path.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    words.fold(scatter_all(&[seed, path.len() as u64]), |hash, word| {
        scatter_all(&[hash, word])
    })
}
