//! What `stowplan calibrate` measures: comparisons whose answers are known, by the way of any other
//! study.

use crate::busy::{self, Busy};
use crate::drivers::Drivers;
use crate::plan::{self, PlanOptions};
use crate::runner::Extender;
use crate::worker_process::WorkerCommand;
use crate::{HarnessError, Result};
use stowplan_model::{ComparisonSpec, Extension, Plan, Study};

const STUDY: &str = include_str!("calibrate.toml");

/// The patterns of the sessions of two identical cells, which take turns.
const IDENTICAL: [&str; 2] = ["aa-files", "aa-sqlite"];
/// The pattern of the sessions of cells that differ by a known share.
const DIFFERENT: &str = "ab";
/// Evicts what others read warm, and so comes after them.
const COLD: &str = "cold";
/// Measured while other processes keep the CPUs busy.
const BUSY: &str = "known-busy";

/// How much of each series is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Series {
    /// Sessions of two identical cells.
    pub identical: u32,
    /// Sessions of cells that differ by a known share.
    pub different: u32,
    /// Processes that keep the CPUs busy beside one comparison; 0: it is left out.
    pub busy: u32,
}

/// What a calibration measures, and what follows it beside busy processes.
///
/// # Errors
/// There is no such scale.
pub fn plans(
    options: &PlanOptions,
    series: &Series,
    drivers: &Drivers,
) -> Result<(Plan, Option<Extension>)> {
    let study = Study::parse(STUDY, "calibrate.toml")
        .map_err(|error| HarnessError::invalid(error.to_string()))?;
    let busy = match series.busy {
        0 => None,
        processes => Some(beside(&study, options, processes, drivers)?),
    };
    let plan = plan::plan(expanded(study, series), options, drivers)?;
    Ok((plan, busy))
}

/// Has one more comparison measured beside busy processes.
pub struct BesideBusy {
    extension: Option<Extension>,
    processes: u32,
    running: Option<Busy>,
    command: WorkerCommand,
    ended_early: fn(),
}

impl BesideBusy {
    /// Measures `extension` beside so many `processes`; `ended_early` is called where one of them did.
    ///
    /// # Errors
    /// The program of this process cannot be told.
    pub fn new(extension: Option<Extension>, processes: u32, ended_early: fn()) -> Result<Self> {
        Ok(Self {
            extension,
            processes,
            running: None,
            command: busy::command(false)?,
            ended_early,
        })
    }
}

impl Extender for BesideBusy {
    fn extend(&mut self, _: &Plan) -> Result<Option<Extension>> {
        if self.running.take().is_some_and(|mut busy| !busy.all_run()) {
            (self.ended_early)();
        }
        let Some(extension) = self.extension.take() else {
            return Ok(None);
        };
        self.running = Some(Busy::start(&self.command, self.processes)?);
        Ok(Some(extension))
    }

    fn expected(&self) -> usize {
        usize::from(self.extension.is_some())
    }
}

/// The study with a comparison for each session in place of the patterns. The two series are spread
/// over each other, so that a run that ends early has some of both.
fn expanded(mut study: Study, series: &Series) -> Study {
    let patterns = std::mem::take(&mut study.comparisons);
    let pattern = |id: &str| patterns.iter().find(|spec| spec.id == id);
    let single = |spec: &&ComparisonSpec| {
        let id = spec.id.as_str();
        !IDENTICAL.contains(&id) && ![DIFFERENT, COLD, BUSY].contains(&id)
    };
    let sessions = sessions(series).into_iter();
    let sessions = sessions.filter_map(|(id, number)| Some(session(pattern(id)?, number)));
    study.comparisons = patterns
        .iter()
        .filter(single)
        .cloned()
        .chain(sessions)
        .chain(pattern(COLD).cloned())
        .collect();
    study
}

/// The sessions of both series in their order: pattern and number.
fn sessions(series: &Series) -> Vec<(&'static str, u32)> {
    let place = |number: u32, of: u32| f64::from(2 * number + 1) / f64::from(2 * of);
    let identical = (0..series.identical).map(|n| {
        let pattern = IDENTICAL[n as usize % IDENTICAL.len()];
        (place(n, series.identical), pattern, n)
    });
    let different = (0..series.different).map(|n| (place(n, series.different), DIFFERENT, n));
    let mut all: Vec<(f64, &str, u32)> = identical.chain(different).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.into_iter()
        .map(|(_, pattern, number)| (pattern, number + 1))
        .collect()
}

fn session(pattern: &ComparisonSpec, number: u32) -> ComparisonSpec {
    ComparisonSpec {
        id: format!("{}-{number:03}", pattern.id),
        title: format!("{}, session {number}", pattern.title),
        ..pattern.clone()
    }
}

/// What is measured beside busy processes.
fn beside(
    study: &Study,
    options: &PlanOptions,
    processes: u32,
    drivers: &Drivers,
) -> Result<Extension> {
    let mut study = study.clone();
    study.comparisons.retain(|spec| spec.id == BUSY);
    for spec in &mut study.comparisons {
        spec.title = match processes {
            1 => "Known costs beside a busy process".to_owned(),
            many => format!("Known costs beside {many} busy processes"),
        };
    }
    let plan = plan::plan(study, options, drivers)?;
    Ok(Extension {
        datasets: plan.datasets,
        comparisons: plan.comparisons,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(series: Series) -> Vec<String> {
        let (plan, _) = plans(&PlanOptions::default(), &series, &Drivers::built_in()).unwrap();
        plan.comparisons.into_iter().map(|c| c.id).collect()
    }

    #[test]
    fn the_series_are_spread_over_each_other_and_cold_comes_last() {
        let found = ids(Series {
            identical: 4,
            different: 2,
            busy: 2,
        });
        let expected = [
            "clock",
            "known",
            "aa-files-001",
            "ab-001",
            "aa-sqlite-002",
            "aa-files-003",
            "ab-002",
            "aa-sqlite-004",
            "cold",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn without_sessions_and_busy_processes_the_rest_is_measured() {
        let series = Series {
            identical: 0,
            different: 0,
            busy: 0,
        };
        assert_eq!(ids(series), ["clock", "known", "cold"]);
        let (_, busy) = plans(&PlanOptions::default(), &series, &Drivers::built_in()).unwrap();
        assert_eq!(busy, None);
    }

    #[test]
    fn what_follows_beside_busy_processes_says_how_many_there_are() {
        let series = Series {
            identical: 1,
            different: 1,
            busy: 3,
        };
        for scale in ["full", "quick"] {
            let options = PlanOptions {
                scale: Some(scale.to_owned()),
                ..PlanOptions::default()
            };
            let (plan, busy) = plans(&options, &series, &Drivers::built_in()).unwrap();
            let busy = busy.unwrap();
            assert_eq!(busy.comparisons.len(), 1);
            assert_eq!(
                busy.comparisons[0].title,
                "Known costs beside 3 busy processes"
            );
            // What it needs stays where it is.
            for (name, dataset) in &busy.datasets {
                assert_eq!(plan.datasets.get(name), Some(dataset));
            }
            for comparison in plan.comparisons.iter().chain(&busy.comparisons) {
                assert!(comparison.not_applicable.is_empty(), "{}", comparison.id);
            }
        }
    }
}
