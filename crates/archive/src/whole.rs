//! What work on all values takes, in files and in one database: listing, copying and deleting them, and
//! giving the space of deleted rows back. Tried with a sample in a temporary directory, files and database in
//! turns; the place itself is only read.

use crate::ArchiveError;
use crate::error::{Doing, Refused};
use crate::sample::Sample;
use crate::sqlar::TABLE;
use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;
use stowplan_dataset::room;
use stowplan_dataset::temporary::{Temporary, Use};
use stowplan_model::{Seconds, Took, WholeSet};

/// How often everything is tried.
const TRIES: u32 = 5;

pub(crate) const TEMPORARY: Use = Use {
    prefix: ".stowplan-whole-",
    suffix: ".tmp",
    mode: 0o700,
    holds: |name| {
        let mut databases = ["all.sqlar", "copy.sqlar"].into_iter();
        let is_of = |rest: &str| ["", "-journal", "-wal", "-shm"].contains(&rest);
        ["files", "files-copy"].contains(&name)
            || databases.any(|own| name.strip_prefix(own).is_some_and(is_of))
    },
};

/// What it takes for values of a place that has names, in a database with pages of `page_size` bytes.
///
/// # Errors
/// The place cannot be read, or nothing can be written below `work`.
pub fn measure(sample: &Sample, page_size: u64, work: &Path) -> Result<WholeSet, ArchiveError> {
    let temporary = Temporary::create(&TEMPORARY, work)?;
    let place = Copies::fill(temporary.path(), sample, page_size)?;
    // To list, copy and delete files, and rows.
    let mut times: [Vec<f64>; 6] = Default::default();
    let (mut vacuum, mut vacuum_bytes) = (Vec::new(), 0);
    for number in 0..TRIES {
        // Whoever comes first finds caches in another state.
        for is_files in [number % 2 == 0, number % 2 != 0] {
            let (first, took) = match is_files {
                true => (0, place.files()?),
                false => (3, place.database()?),
            };
            for (times, seconds) in times[first..].iter_mut().zip(took) {
                times.push(seconds);
            }
        }
        let (seconds, bytes) = place.vacuum()?;
        vacuum.push(seconds);
        vacuum_bytes = vacuum_bytes.max(bytes);
    }
    let [list, copy, delete, list_rows, copy_rows, delete_rows] = times.map(Seconds::of);
    let took = |files, database| Took { files, database };
    Ok(WholeSet {
        values: sample.count(),
        bytes: place.bytes,
        tries: TRIES,
        list: took(list, list_rows),
        copy: took(copy, copy_rows),
        delete: took(delete, delete_rows),
        vacuum: Seconds::of(vacuum),
        vacuum_bytes,
    })
}

/// Values as files and, the same, in a database.
struct Copies {
    files: PathBuf,
    files_copy: PathBuf,
    database: PathBuf,
    database_copy: PathBuf,
    bytes: u64,
}

impl Copies {
    fn fill(directory: &Path, sample: &Sample, page_size: u64) -> Result<Self, ArchiveError> {
        let (files, database) = (directory.join("files"), directory.join("all.sqlar"));
        let bytes = fill(&files, &database, sample, page_size, false)?;
        // What is still to be written would be, while others are measured.
        room::sync_below(directory)?;
        Ok(Self {
            files,
            files_copy: directory.join("files-copy"),
            database,
            database_copy: directory.join("copy.sqlar"),
            bytes,
        })
    }

    /// Seconds to list, copy and delete all files.
    fn files(&self) -> Result<[f64; 3], ArchiveError> {
        let listed = seconds(|| list(&self.files, &mut |_, _| Ok(())))?;
        let copied = seconds(|| {
            list(&self.files, &mut |path, is_directory| {
                let below = path.strip_prefix(&self.files).unwrap_or(path);
                let to = self.files_copy.join(below);
                match is_directory {
                    true => fs::create_dir(&to),
                    false => fs::copy(path, &to).map(drop),
                }
                .doing("write", &to)
            })
        })?;
        // Of the database's copy the commit that deletes would write all, of the files' nothing would.
        room::sync_below(&self.files_copy)?;
        let removed = || fs::remove_dir_all(&self.files_copy);
        let deleted = seconds(|| removed().doing("remove", &self.files_copy))?;
        Ok([listed, copied, deleted])
    }

    /// Seconds to list, copy and delete all rows. Each opens the database, as a program would.
    fn database(&self) -> Result<[f64; 3], ArchiveError> {
        let listed = seconds(|| {
            let database = Connection::open(&self.database)?;
            let mut statement = database.prepare("SELECT name, sz FROM sqlar")?;
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                std::hint::black_box(row.get_ref(0).and(row.get_ref(1))?);
            }
            Ok::<_, rusqlite::Error>(())
        });
        let listed = listed.doing("read", &self.database)?;
        // The one of the try before: to write over a file is other work than to make one.
        match fs::remove_file(&self.database_copy) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error.refused("remove", &self.database_copy));
            }
            _ => {}
        }
        let copied = seconds(|| self.copy())?;
        let synced = fs::File::open(&self.database_copy).and_then(|file| file.sync_all());
        synced.doing("sync", &self.database_copy)?;
        let deleted = seconds(|| self.change_copy("DELETE FROM sqlar"))?;
        Ok([listed, copied, deleted])
    }

    fn copy(&self) -> Result<(), ArchiveError> {
        let copied = fs::copy(&self.database, &self.database_copy);
        copied.map(drop).doing("write", &self.database_copy)
    }

    fn change_copy(&self, sql: &str) -> Result<(), ArchiveError> {
        let changed = Connection::open(&self.database_copy);
        let changed = changed.and_then(|database| database.execute_batch(sql));
        changed.doing("write", &self.database_copy)
    }

    /// Seconds of `VACUUM` after half of the rows were deleted, and the bytes that it needs beside the database at
    /// most: the temporary copy, which is as large as what results, and the journal with what was there.
    fn vacuum(&self) -> Result<(f64, u64), ArchiveError> {
        self.copy()?;
        self.change_copy("DELETE FROM sqlar WHERE rowid % 2")?;
        let size = || {
            let found = fs::metadata(&self.database_copy);
            let length = found.map(|found| found.len());
            length.doing("look at", &self.database_copy)
        };
        let before = size()?;
        let seconds = seconds(|| self.change_copy("VACUUM"))?;
        Ok((seconds, before + size()?))
    }
}

/// Writes values as files below a directory and as rows of an archive, and returns their bytes. Values without
/// names have numbers, or texts of 36 characters.
pub(crate) fn fill(
    files: &Path,
    database: &Path,
    sample: &Sample,
    page_size: u64,
    integer_keys: bool,
) -> Result<u64, ArchiveError> {
    let table = match integer_keys {
        true => TABLE.replace("name TEXT", "name INTEGER"),
        false => TABLE.to_owned(),
    };
    let rows = Connection::open(database).doing("write", database)?;
    let begin = format!("PRAGMA page_size={page_size}; {table}; BEGIN");
    rows.execute_batch(&begin).doing("write", database)?;
    let mut insert = rows
        .prepare("INSERT INTO sqlar VALUES(?1, 33188, 0, length(?2), ?2)")
        .doing("write", database)?;
    let (mut bytes, mut number) = (0, 0);
    sample.each(&mut |name, value, from| {
        let mut content = Vec::new();
        value.read_to_end(&mut content).doing("read", from)?;
        let numbered = match integer_keys {
            true => format!("{number}"),
            false => format!("{number:036}"),
        };
        let name = name.unwrap_or(numbered.as_bytes());
        write_file(&files.join(OsStr::from_bytes(name)), &content)?;
        (bytes, number) = (bytes + content.len() as u64, number + 1);
        // Two names that are no UTF-8 would be the same text.
        let name = ToSqlOutput::Borrowed(ValueRef::Text(name));
        insert
            .execute((name, content))
            .map(drop)
            .doing("write", database)
    })?;
    drop(insert);
    rows.execute_batch("COMMIT").doing("write", database)?;
    Ok(bytes)
}

fn seconds<E>(work: impl FnOnce() -> Result<(), E>) -> Result<f64, E> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed().as_secs_f64())
}

fn write_file(path: &Path, content: &[u8]) -> Result<(), ArchiveError> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).doing("make directory", parent)?;
    fs::write(path, content).doing("write", path)
}

/// Visits a directory and everything below it, and looks at the size of each file.
fn list(
    directory: &Path,
    visit: &mut dyn FnMut(&Path, bool) -> Result<(), ArchiveError>,
) -> Result<(), ArchiveError> {
    visit(directory, true)?;
    for entry in fs::read_dir(directory).doing("list", directory)? {
        let entry = entry.doing("list", directory)?;
        let found = entry.metadata().doing("list", directory)?;
        match found.is_dir() {
            true => list(&entry.path(), visit)?,
            false => {
                std::hint::black_box(found.len());
                visit(&entry.path(), false)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foreign::beside;
    use std::os::unix::fs::MetadataExt;
    use stowplan_model::Origin;

    fn place_of_60_values(directory: &Path) -> Origin {
        let place = directory.join("place");
        for index in 0..60 {
            write_file(&place.join(format!("d{}/ü{index}", index % 3)), &[7; 9_000]).unwrap();
        }
        Origin {
            place,
            ..Origin::default()
        }
    }

    #[test]
    fn values_whose_names_are_no_text_are_all_in_the_database_too() {
        let directory = tempfile::tempdir().unwrap();
        let origin = Origin {
            place: directory.path().join("place"),
            ..Origin::default()
        };
        for name in [&b"\xfe"[..], b"\xff", b"a"] {
            write_file(&origin.place.join(OsStr::from_bytes(name)), b"value").unwrap();
        }
        let sample = Sample::draw(&origin, 3, 1).unwrap();
        let place = Copies::fill(directory.path(), &sample, 4_096).unwrap();
        let rows = Connection::open(&place.database).unwrap();
        let rows = rows.query_row("SELECT count(*) FROM sqlar", [], |row| row.get(0));
        let files = fs::read_dir(&place.files).unwrap().count();
        assert_eq!((rows, files), (Ok(3), 3));
    }

    #[test]
    fn each_try_makes_the_copy_of_the_database_anew() {
        let directory = tempfile::tempdir().unwrap();
        let sample = Sample::draw(&place_of_60_values(directory.path()), 40, 1).unwrap();
        let place = Copies::fill(directory.path(), &sample, 4_096).unwrap();
        place.vacuum().unwrap();
        // Held, so that no other file gets its number.
        let left = fs::File::open(&place.database_copy).unwrap();
        place.database().unwrap();
        assert_eq!(left.metadata().unwrap().nlink(), 0);
    }

    #[test]
    fn whatever_a_kill_leaves_of_it_is_known_as_our_own() {
        let directory = tempfile::tempdir().unwrap();
        let sample = Sample::draw(&place_of_60_values(directory.path()), 4, 1).unwrap();
        let place = Copies::fill(directory.path(), &sample, 4_096).unwrap();
        let databases = [&place.database, &place.database_copy];
        let journals = databases.map(|database| beside(database, "-journal"));
        let all = [&place.files, &place.files_copy];
        for path in all.into_iter().chain(databases).chain(&journals) {
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!((TEMPORARY.holds)(name), "{name}");
        }
    }

    #[test]
    fn work_on_all_values_is_tried_and_nothing_is_left_or_changed() {
        let directory = tempfile::tempdir().unwrap();
        let work = directory.path().join("work");
        fs::create_dir(&work).unwrap();
        let origin = place_of_60_values(directory.path());
        let sample = Sample::draw(&origin, 40, 1).unwrap();
        let whole = measure(&sample, 4_096, &work).unwrap();
        assert_eq!(
            (whole.values, whole.bytes, whole.tries),
            (40, 360_000, TRIES)
        );
        for seconds in [
            whole.list.files,
            whole.list.database,
            whole.copy.files,
            whole.copy.database,
            whole.delete.files,
            whole.delete.database,
            whole.vacuum,
        ] {
            assert!(
                0.0 < seconds.least && seconds.least <= seconds.median,
                "{whole:?}"
            );
            assert!(seconds.median <= seconds.most, "{whole:?}");
        }
        // Half of the values are left, and lie in the temporary copy.
        assert!(
            (180_000..1_000_000).contains(&whole.vacuum_bytes),
            "{whole:?}"
        );
        assert_eq!(fs::read_dir(&work).unwrap().count(), 0);
        assert_eq!(fs::read_dir(origin.place.join("d0")).unwrap().count(), 20);
    }
}
