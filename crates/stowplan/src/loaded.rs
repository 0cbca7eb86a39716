//! A result as it is read.

use crate::error::CliError;
use crate::output::RESULT;
use crate::screen::warn;
use std::path::{Path, PathBuf};
use stowplan_analysis::{Analysis, AnalysisError, analyse};
use stowplan_model::{Record, Warning, WarningKind, read_result};

/// A result as it was read.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Its file.
    pub(crate) path: PathBuf,
    /// The text of that file; bytes that are no UTF-8 are replaced.
    pub(crate) raw: String,
    /// The lines that could be read.
    pub(crate) records: Vec<Record>,
    /// What they say.
    pub(crate) analysis: Analysis,
}

impl Loaded {
    /// Analyses records that were changed.
    pub(crate) fn analyse_again(&mut self) -> Result<(), CliError> {
        let analysis = analyse(&self.records, None);
        self.analysis = analysis.map_err(CliError::analysis(&self.path))?;
        Ok(())
    }
}

/// Reads and analyses a result: its directory, or its `result.jsonl`. Lines that cannot be read
/// are named on stderr and left out.
///
/// # Errors
/// It cannot be read, or is no result that this version understands.
pub(crate) fn load(path: &Path) -> Result<Loaded, CliError> {
    let path = file_of(path)?;
    let bytes = std::fs::read(&path).map_err(CliError::io("read result", &path))?;
    let (mut records, problems) = read_result(&bytes);
    records.extend(damage(&problems).map(Record::Warning));
    let raw = String::from_utf8_lossy(&bytes).into_owned();
    let analysis = analyse(&records, None).map_err(|error| match error {
        AnalysisError::NoHeader => CliError::Unreadable(no_header(&path, &problems)),
        error => CliError::analysis(&path)(error),
    })?;
    warn_of(&path, &problems);
    Ok(Loaded {
        path,
        raw,
        records,
        analysis,
    })
}

/// The `result.jsonl` that is meant.
fn file_of(path: &Path) -> Result<PathBuf, CliError> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let file = path.join(RESULT);
    if file.exists() {
        return Ok(file);
    }
    path.read_dir()
        .map_err(CliError::io("read directory", path))?;
    let (below, path) = (results_in(path).len(), path.display());
    Err(CliError::Usage(match below {
        0 => {
            format!("{path} has no result.jsonl; give the directory of a run, or its result.jsonl")
        }
        _ => format!(
            "{path} has no result.jsonl; {below} directories in it have one: give one, or {path}/*"
        ),
    }))
}

/// The directories in one that have a result each.
pub(crate) fn results_in(directory: &Path) -> Vec<PathBuf> {
    let entries = directory.read_dir().into_iter().flatten().flatten();
    let mut below: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    below.retain(|path| path.join(RESULT).is_file());
    below.sort();
    below
}

/// Why nothing can be made of a file without a header, in a line.
fn no_header(path: &Path, problems: &[String]) -> String {
    let first = problems
        .first()
        .filter(|first| first.starts_with("line 1: "));
    let why = match first {
        Some(first) => format!("{first}; was it cut off, or is it one of stowplan?"),
        None => "the run ended before it recorded anything, or it is none of stowplan".to_owned(),
    };
    let path = path.display();
    format!(
        "{path}: there is no header of a run in it: {why}; give the directory of a run, or run the study again"
    )
}

/// Names the lines that are left out; of many, some.
fn warn_of(path: &Path, problems: &[String]) {
    const NAMED: usize = 5;
    for problem in problems.iter().take(NAMED) {
        warn(&format!(
            "{}: {problem}; the line is left out",
            path.display()
        ));
    }
    if problems.len() > NAMED {
        let more = problems.len() - NAMED;
        let lines = if more == 1 { "line is" } else { "lines are" };
        warn(&format!("{}: {more} more {lines} left out", path.display()));
    }
}

/// What the reports say of lines that could not be read.
fn damage(problems: &[String]) -> Option<Warning> {
    let (first, more) = problems.split_first()?;
    let more = match more.len() {
        0 => String::new(),
        n => format!(", and {n} more"),
    };
    Some(Warning {
        kind: WarningKind::Other,
        message: format!("The result is damaged; what its lines held is left out: {first}{more}."),
        advice: "'stowplan resume' measures again what is missing.".to_owned(),
    })
}
