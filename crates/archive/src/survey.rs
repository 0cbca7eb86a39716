//! What a place holds: counted in one pass, in memory that does not grow with the number of files.

pub(crate) mod directory;
pub(crate) mod sizes;
pub(crate) mod table;

use crate::ArchiveError;
use crate::error::Doing;
use crate::foreign::is_database;
use std::collections::BTreeMap;
use stowplan_model::{Oddity, OddityKind, Origin, Survey};

/// The most examples of each kind of oddity.
const EXAMPLES: usize = 3;
/// A value of SQLite's has at most so many bytes (SQLITE_MAX_LENGTH, unless it was built otherwise:
/// <https://sqlite.org/limits.html>).
pub(crate) const MOST_BYTES: u64 = 1_000_000_000;

/// Looks at a place; reads no value.
///
/// # Errors
/// There is nothing, or nothing that holds values; the table or the column that is meant cannot be
/// guessed; the file system or SQLite refuses.
pub fn survey(origin: &Origin) -> Result<Survey, ArchiveError> {
    match sort(origin)? {
        Sort::Directory => directory::survey(&origin.place, &mut |_| ()),
        Sort::Database => table::survey(origin, &mut |_, _| ()),
    }
}

/// What lies at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Directory,
    Database,
}

/// Tells what lies at a place, and that what is asked of it can be meant.
pub(crate) fn sort(origin: &Origin) -> Result<Sort, ArchiveError> {
    let path = &origin.place;
    let metadata = std::fs::metadata(path).doing("open", path)?;
    let named = origin.table.is_some() || origin.column.is_some() || origin.key.is_some();
    match () {
        () if metadata.is_dir() && named => Err(ArchiveError::Invalid(format!(
            "{} is a directory; only a database has tables and columns, so leave them out",
            path.display()
        ))),
        () if metadata.is_dir() => Ok(Sort::Directory),
        () if metadata.is_file() && metadata.len() == 0 => Err(ArchiveError::Invalid(format!(
            "cannot open {}: the file is empty, not an SQLite database",
            path.display()
        ))),
        () if metadata.is_file() && is_database(path).doing("read", path)? => Ok(Sort::Database),
        () => Err(ArchiveError::Invalid(format!(
            "cannot open {}: it is not an SQLite database, nor a directory; name one of them",
            path.display()
        ))),
    }
}

/// What is odd, counted by kind.
#[derive(Debug, Default)]
struct Odd(BTreeMap<OddityKind, Oddity>);

impl Odd {
    fn note(&mut self, kind: OddityKind, path: &[u8]) {
        let odd = self.0.entry(kind).or_insert_with(|| Oddity {
            kind,
            count: 0,
            examples: Vec::new(),
        });
        odd.count += 1;
        if odd.examples.len() < EXAMPLES {
            odd.examples
                .push(String::from_utf8_lossy(path).into_owned());
        }
    }

    fn into_list(self) -> Vec<Oddity> {
        self.0.into_values().collect()
    }
}
