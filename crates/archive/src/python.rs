//! What a read takes a program in Python: its calls add microseconds to a read, more on one side than on the
//! other, and as much as files and a database differ by below it.

use crate::ArchiveError;
use crate::error::{Doing, Refused};
use crate::sample::Sample;
use crate::whole::{TEMPORARY, fill};
use rusqlite::Connection;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use stowplan_dataset::temporary::Temporary;
use stowplan_model::PythonReads;

const SCRIPT: &str = include_str!("python.py");
const ROUNDS: usize = 20;
/// Reads of a round from each.
const VISITED: usize = 2_000;

/// How values are kept and read.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// Bytes of a page of the database.
    pub page_size: u64,
    /// Bytes of the database's cache.
    pub cache: u64,
    /// Whether keys of rows are integers, where values have no names.
    pub integer_keys: bool,
    /// The largest value, in bytes, that is a row where larger ones are files, if that is to be timed.
    pub split: Option<u64>,
    /// Whether values are read in the order of their keys.
    pub ascending: bool,
}

/// Times reads of these values by `python3`; nothing where there is none, or it has no `sqlite3`.
///
/// # Errors
/// The place cannot be read, nothing can be written below `work`, or the program fails otherwise.
pub fn measure(
    sample: &Sample,
    reading: Reading,
    work: &Path,
) -> Result<Option<PythonReads>, ArchiveError> {
    // Isolated: no module of the directory where this runs is taken for one of Python's own, and nothing is compiled to
    // a file.
    let python = || {
        let mut python = Command::new("python3");
        python.args(["-I", "-S", "-B", "-c"]);
        python
    };
    match python().arg("import sqlite3").output() {
        Ok(tried) if tried.status.success() => {}
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.refused("run", Path::new("python3"))),
    }
    let temporary = Temporary::create(&TEMPORARY, work)?;
    let at = |name: &str| temporary.path().join(name);
    let (files, database) = (at("files"), at("all.sqlar"));
    fill(
        &files,
        &database,
        sample,
        reading.page_size,
        reading.integer_keys,
    )?;
    let wal = |database: Connection| database.execute_batch("PRAGMA journal_mode=wal");
    Connection::open(&database)
        .and_then(wal)
        .doing("write", &database)?;
    let order = if reading.ascending {
        "ascending"
    } else {
        "random"
    };
    let done = python()
        .arg(SCRIPT)
        .args([&database, &files])
        .arg((reading.cache >> 10).to_string())
        .arg(reading.split.unwrap_or(0).to_string())
        .args([order, &ROUNDS.to_string(), &VISITED.to_string()])
        .output()
        .doing("run", Path::new("python3"))?;
    let said = String::from_utf8_lossy(&done.stderr);
    let why = said.lines().last().unwrap_or("it said nothing");
    let refused = || ArchiveError::Invalid(format!("python3 ended with {}: {why}", done.status));
    let rounds = reads(&String::from_utf8_lossy(&done.stdout));
    rounds
        .filter(|_| done.status.success())
        .map(Some)
        .ok_or_else(refused)
}

/// What the script prints.
fn reads(printed: &str) -> Option<PythonReads> {
    let mut reads = PythonReads::default();
    for line in printed.lines() {
        let mut times = line.split(' ').map(str::parse::<f64>);
        reads.files.push(times.next()?.ok()?);
        reads.database.push(times.next()?.ok()?);
        reads.together.push(times.next()?.ok()?);
        reads.split.extend(times.next().and_then(Result::ok));
    }
    (reads.files.len() == ROUNDS).then_some(reads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_model::Origin;

    fn reading() -> Reading {
        Reading {
            page_size: 4_096,
            cache: 1 << 20,
            integer_keys: false,
            split: Some(9_000),
            ascending: false,
        }
    }

    #[test]
    fn reads_of_a_program_in_python_are_timed_in_turns_and_nothing_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let (place, work) = (
            directory.path().join("place"),
            directory.path().join("work"),
        );
        std::fs::create_dir_all(place.join("d \u{e4}")).unwrap();
        std::fs::create_dir(&work).unwrap();
        for index in 0..60 {
            let size = if index % 2 == 0 { 3_000 } else { 40_000 };
            std::fs::write(place.join(format!("d \u{e4}/v{index}")), vec![7; size]).unwrap();
        }
        let origin = Origin {
            place,
            ..Origin::default()
        };
        let sample = Sample::draw(&origin, 40, 1).unwrap();
        for ascending in [false, true] {
            let reading = Reading {
                ascending,
                ..reading()
            };
            let Some(reads) = measure(&sample, reading, &work).unwrap() else {
                eprintln!("there is no python3 with sqlite3 here");
                return;
            };
            let all = [&reads.files, &reads.database, &reads.together, &reads.split];
            for times in all {
                assert_eq!(times.len(), ROUNDS, "{reads:?}");
                assert!(times.iter().all(|time| *time > 0.0), "{reads:?}");
            }
        }
        assert_eq!(std::fs::read_dir(&work).unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_time_of_each_is_refused() {
        let whole = "1.5 2 3\n".repeat(ROUNDS);
        let found = reads(&whole).unwrap();
        assert_eq!(
            (found.files[0], found.together[1], found.split.len()),
            (1.5, 3.0, 0)
        );
        assert_eq!(reads(&whole.replacen("2 3", "2", 1)), None);
        assert_eq!(reads("1 2 3 4\n"), None);
    }
}
