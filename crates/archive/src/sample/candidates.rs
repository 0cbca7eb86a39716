//! The values of a place that samples are drawn from, as one walk found them.

use super::{Pick, Sample, nothing};
use crate::ArchiveError;
use crate::directories::{open_file, open_top};
use crate::error::Doing;
use crate::survey::{Sort, directory, sort, table};
use crate::walk::Met;
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
    /// Surveys a place, and finds the values that samples of at most `most` values, 0 for any number, are drawn
    /// from, in one walk; none above the largest that the place is asked for.
    ///
    /// # Errors
    /// As [`crate::survey::survey`].
    pub fn survey(origin: &Origin, most: u64, seed: u64) -> Result<(Survey, Self), ArchiveError> {
        let mut found = Self {
            origin: origin.clone(),
            most: if most == 0 { u64::MAX } else { most },
            seed,
            strata: BTreeMap::new(),
            bytes: 0,
        };
        let survey = match sort(origin)? {
            Sort::Directory => directory::survey(&origin.place, &mut |met| found.meet(met))?,
            Sort::Database => table::survey(origin, &mut |position, size| {
                found.offer(&[], position, size);
            })?,
        };
        Ok((survey, found))
    }

    /// How many values there are that can be drawn, as far as permissions tell.
    pub fn values(&self) -> u64 {
        self.strata.values().map(|stratum| stratum.values).sum()
    }

    /// Their bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Draws `count` values, all if there are no more or `count` is 0. Files that went away, or cannot be
    /// opened, are not drawn: the next by the hash stand in for them, as far as they are known.
    ///
    /// # Errors
    /// The file system or SQLite refuses, or there is no such value.
    pub fn sample(&mut self, count: u64) -> Result<Sample, ArchiveError> {
        loop {
            let picks = self.picks(count);
            if picks.is_empty() {
                return Err(nothing(&self.origin));
            }
            let closed = unopened(&self.origin, &picks)?;
            if closed.is_empty() {
                return Ok(Sample {
                    origin: self.origin.clone(),
                    picks,
                });
            }
            self.leave_out(&closed);
        }
    }

    /// The values that are drawn, in their order.
    fn picks(&self, count: u64) -> Vec<Pick> {
        let sizes = self.strata.iter();
        let quotas = quotas(
            sizes.map(|(size, found)| (*size, found.values)).collect(),
            count,
        );
        let mut picks = Vec::new();
        for (size, stratum) in &self.strata {
            let quota = quotas.get(size).copied().unwrap_or(0);
            let mut least: Vec<&(u64, Pick)> = stratum.least.iter().collect();
            least.sort_unstable();
            least.truncate(usize::try_from(quota).unwrap_or(usize::MAX));
            picks.extend(least.into_iter().map(|(_, pick)| pick.clone()));
        }
        picks.sort_unstable();
        picks
    }

    fn leave_out(&mut self, closed: &BTreeSet<Vec<u8>>) {
        for stratum in self.strata.values_mut() {
            let before = stratum.least.len();
            stratum
                .least
                .retain(|(_, pick)| !closed.contains(&pick.path));
            stratum.values -= (before - stratum.least.len()) as u64;
        }
    }

    fn meet(&mut self, met: Met<'_>) {
        let Met::Entry(entry) = met else { return };
        let meant = entry.kind == FileType::RegularFile && names::is_inner_path(entry.path);
        if meant && entry.is_readable() {
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
pub(super) fn unopened(origin: &Origin, picks: &[Pick]) -> Result<BTreeSet<Vec<u8>>, ArchiveError> {
    if sort(origin)? == Sort::Database {
        return Ok(BTreeSet::new());
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
