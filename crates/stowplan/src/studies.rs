//! The studies: those built into the program, and the user's files.

use crate::drivers::{self, DriverArgument};
use crate::error::CliError;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use stowplan_harness::HarnessError;
use stowplan_harness::drivers::Drivers;
use stowplan_harness::plan::{self, Extent, StudyFault};
use stowplan_model::{Reading, Study, StudyError, StudyFile, suggestion};

/// More than any study has; a device such as `/dev/zero` has no end.
const TEXT_BYTES: u64 = 16 << 20;

/// More of what stores say is not told at once.
const MOST_TOLD: usize = 100;

/// Scales that every built-in study has.
pub(crate) const SCALES: [&str; 3] = ["quick", "standard", "full"];

/// Names and texts of studies that lie in `studies`.
macro_rules! built_in {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../studies/", $name, ".toml")))),*]
    };
}

/// Name and text of each built-in study.
const BUILT_IN: &[(&str, &str)] = built_in!(
    "fasterthanfs" "intern-v-extern" "sqlite-builds" "in-memory" "blob-or-not" "crud" "neighbours"
    "scanner" "ycsb" "dbench" "filesystems" "why" "bindings" "servers"
);

/// Every built-in study.
pub(crate) fn built_in() -> Result<Vec<Study>, CliError> {
    BUILT_IN
        .iter()
        .map(|(name, text)| Ok(Study::parse(text, &format!("{name}.toml"))?))
        .collect()
}

/// The names of the built-in studies.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// A built-in study by name, or a file: anything that ends in `.toml` or contains a `/`. Where something
/// is wrong with a file, the stores in the rest of it are asked as well, with the help of the drivers that
/// were `typed`.
pub(crate) fn find(name: &str, typed: &[DriverArgument]) -> Result<Study, CliError> {
    if let Some((name, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return Ok(Study::parse(text, &format!("{name}.toml"))?);
    }
    let path = Path::new(name);
    if name.ends_with(".toml") || name.contains(std::path::is_separator) {
        let text = text_of(path)?;
        let file = StudyFile::of(&text, name);
        let mut reading = file.read();
        let mut study = reading.study.take();
        let directory = path.parent().unwrap_or(Path::new(""));
        let commands = study.iter_mut().flat_map(|study| {
            let Study {
                drivers, servers, ..
            } = study;
            drivers.values_mut().chain(servers.values_mut())
        });
        for word in commands.flat_map(|driver| &mut driver.command) {
            beside(directory, word);
        }
        if let Some(study) = &mut study {
            crate::places::beside(directory, study);
        }
        return match study {
            Some(study) if reading.mistakes.is_empty() => Ok(study),
            study => Err(all_mistakes(reading, study, &file, typed).into()),
        };
    }
    if path.exists() {
        return Err(CliError::Usage(format!(
            "{name} is no study: a file of one ends in .toml; 'stowplan kvtest run {name}' times its blobs as \
             kvtest does, and 'stowplan advise {name}' says where its values belong"
        )));
    }
    Err(CliError::Usage(format!(
        "there is no study '{name}' (a file's name must end in .toml); built in: {}{}",
        names().collect::<Vec<_>>().join(", "),
        suggestion(name, names())
    )))
}

/// What a plan was refused for, with line and column, and with all else in a study file that cannot be
/// measured as it is written; the refusal as it is where it is none of these, or the text cannot be read
/// again.
pub(crate) fn located(
    refusal: HarnessError,
    name: &str,
    study: &Study,
    drivers: &Drivers,
) -> CliError {
    let path = Path::new(name);
    let Some(text) = path.is_file().then(|| text_of(path).ok()).flatten() else {
        return refusal.into();
    };
    let faults = plan::faults(study, Extent::Whole, drivers);
    let told = refusal.to_string();
    if !faults.iter().any(|fault| fault.refusal == told) {
        return refusal.into();
    }
    let file = StudyFile::of(&text, name);
    let told = faults.iter().take(MOST_TOLD);
    StudyError(told.map(|fault| at(fault, &file)).collect()).into()
}

/// The mistakes of a file, and those of the stores in what could be read of it: the study, if that is enough
/// for one.
fn all_mistakes(
    reading: Reading,
    study: Option<Study>,
    file: &StudyFile<'_>,
    typed: &[DriverArgument],
) -> StudyError {
    let asked = study.and_then(|mut study| {
        let drivers = drivers::of_study(&mut study, typed).ok()?;
        Some(plan::faults(&study, Extent::Part, &drivers))
    });
    // The driver of a store may stand in what could not be read.
    let known = |fault: &&StudyFault| {
        let named = fault.message.split('\'').nth(1);
        !named.is_some_and(|name| reading.may_give(name))
    };
    let asked = asked.iter().flatten().filter(known).take(MOST_TOLD);
    let asked = asked.map(|fault| at(fault, file));
    StudyError(reading.mistakes.iter().cloned().chain(asked).collect())
}

/// A fault with line and column.
fn at(fault: &StudyFault, file: &StudyFile<'_>) -> String {
    file.mistake(&fault.keys, &fault.place, &fault.message)
}

/// The text of a study file, which may be a pipe as well.
fn text_of(path: &Path) -> Result<String, CliError> {
    let refused = || CliError::io("read study", path);
    let file = File::open(path).map_err(refused())?;
    let mut text = String::new();
    let mut limited = file.take(TEXT_BYTES + 1);
    let read = limited.read_to_string(&mut text).map_err(refused())?;
    if read as u64 > TEXT_BYTES {
        return Err(CliError::Usage(format!(
            "{} is longer than any study ({} MiB and more); name a study file",
            path.display(),
            TEXT_BYTES >> 20
        )));
    }
    Ok(text)
}

/// Makes the path of a word that names a file beside a study independent of where this process works.
fn beside(directory: &Path, word: &mut String) {
    let path = directory.join(&*word);
    if path.is_file()
        && let Ok(path) = std::path::absolute(path)
        && let Some(text) = path.to_str()
    {
        text.clone_into(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_harness::plan::{PlanOptions, plan};

    #[test]
    fn every_built_in_study_has_its_name_and_expands_at_every_scale() {
        for ((name, _), study) in BUILT_IN.iter().zip(built_in().unwrap()) {
            assert_eq!(*name, study.name);
            let scales: Vec<String> = study
                .scales
                .keys()
                .cloned()
                .chain(["full".into(), "standard".into()])
                .collect();
            for scale in scales {
                let comparisons = study.comparisons.iter();
                let on = comparisons
                    .flat_map(|c| c.cells.values())
                    .flat_map(|c| c.on.clone());
                let options = PlanOptions {
                    scale: Some(scale),
                    // Whatever this machine can make.
                    on: on.map(|on| (on, ".".into())).collect(),
                    ..PlanOptions::default()
                };
                let taken_apart = PlanOptions {
                    why: true,
                    ..options.clone()
                };
                for options in [options, taken_apart] {
                    let plan = plan(study.clone(), &options, &crate::drivers::looked_at()).unwrap();
                    let left_out = plan.comparisons.iter().flat_map(|c| &c.not_applicable);
                    for (cell, why) in left_out {
                        // Scanners take root.
                        let expected = ["was not found", "scanner"]
                            .iter()
                            .any(|words| why.contains(words));
                        assert!(expected, "{name}, {cell}: {why}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_file_without_an_end_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("endless.toml");
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let message = find(path.to_str().unwrap(), &[]).unwrap_err().to_string();
        assert!(message.contains("longer than any study"), "{message}");
    }
}
