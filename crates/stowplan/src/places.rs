//! Places of the user's: what they hold, and the datasets of studies that are made of them.

use crate::error::CliError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use stowplan_archive::ArchiveError;
use stowplan_archive::sample::{self, Candidates, Sample};
use stowplan_harness::HarnessError;
use stowplan_harness::environment::examine;
use stowplan_harness::runner::{Event, Observer, dataset_directory};
use stowplan_model::{Origin, Plan, SizeDistribution, Study, Survey};

/// Values of datasets that were drawn already, by the names of the datasets.
pub(crate) type Drawn = BTreeMap<String, Sample>;

/// What a place holds, and on which file system.
pub(crate) fn survey(origin: &Origin) -> Result<Survey, ArchiveError> {
    stowplan_archive::survey::survey(origin).map(on_file_system)
}

/// Surveys a place and finds, in one walk, the values of at most `largest` bytes that samples of at most
/// `most` values are drawn from.
pub(crate) fn survey_to_draw(
    origin: &Origin,
    largest: u64,
    most: u64,
    seed: u64,
) -> Result<(Survey, Candidates), CliError> {
    let limited = Origin {
        largest: Some(largest),
        ..origin.clone()
    };
    let found = Candidates::survey(&limited, most, seed);
    let (mut found, candidates) = found.map_err(CliError::place)?;
    found.origin.largest = origin.largest;
    Ok((on_file_system(found), candidates))
}

fn on_file_system(found: Survey) -> Survey {
    let kind = examine(&found.origin.place).file_system.kind;
    Survey {
        file_system: (!kind.is_empty()).then_some(kind),
        ..found
    }
}

/// Makes the places that a study file names independent of where this process works: they lie beside
/// the file.
pub(crate) fn beside(directory: &Path, study: &mut Study) {
    let absolute = |place: &mut PathBuf| {
        if let Ok(path) = std::path::absolute(directory.join(&*place)) {
            *place = path;
        }
    };
    for dataset in study.datasets.values_mut() {
        if let Some(from) = &mut dataset.from {
            absolute(&mut from.place);
        }
        if let SizeDistribution::Like { like } = &mut dataset.size {
            absolute(like);
        }
    }
}

/// Looks at the places that a study's datasets come from: how many values, their sizes, how compressible
/// they are.
pub(crate) fn look(study: &mut Study) -> Result<(), CliError> {
    for dataset in study.datasets.values_mut() {
        *dataset = sample::described(dataset).map_err(CliError::place)?;
    }
    Ok(())
}

/// Writes the datasets of a plan that are made of the user's values to a work directory, where a run
/// looks for them.
pub(crate) fn fetch(
    plan: &Plan,
    drawn: &Drawn,
    work: &Path,
    observer: &mut dyn Observer,
) -> Result<(), HarnessError> {
    for (name, spec) in plan.datasets.iter().filter(|(_, spec)| spec.from.is_some()) {
        let what = format!("copying values for dataset {name}");
        let total = spec.count.saturating_mul(spec.size.mean());
        let directory = dataset_directory(work, name);
        let written = sample::write(spec, drawn.get(name), &directory, &mut |done| {
            let (what, done) = (what.as_str(), done.min(total));
            observer.event(Event::Preparing { what, done, total });
        });
        written.map_err(|error| HarnessError::invalid(error.to_string()))?;
    }
    Ok(())
}
