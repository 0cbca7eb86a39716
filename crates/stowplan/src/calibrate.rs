//! `stowplan calibrate`: how truly this program measures on this machine.

use crate::drivers;
use crate::error::{CliError, Exit};
use crate::form::{DOCUMENT, Form, Format, PrintOptions};
use crate::loaded::{Loaded, load};
use crate::measuring::{MeasureOptions, RunOptions};
use crate::places::Drawn;
use crate::screen::warn;
use crate::shown::{Shown, show};
use crate::study::{Begun, measure_into};
use crate::values::duration;
use clap::Args;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use stowplan_analysis::calibration::{self as found, Calibration};
use stowplan_harness::calibration::{BesideBusy, Series, plans};
use stowplan_harness::plan::{FULL_SCALE, PlanOptions};
use stowplan_model::RunOutcome;
use stowplan_report::calibration as report;
use stowplan_report::document::Document;
use stowplan_report::run;

/// Options of `calibrate`.
#[derive(Debug, Args)]
pub(crate) struct CalibrateOptions {
    /// How much of it.
    #[arg(long, value_name = "SCALE", value_parser = [FULL_SCALE, "quick"], default_value = FULL_SCALE)]
    scale: String,
    /// Sessions of two identical cells [default: 80, or 16 at the scale 'quick'].
    ///
    /// A quarter as many compare cells whose difference is known. 73 without a false claim show
    /// that the rate of false claims is 5% at most. 0 leaves both out: the clock, the known costs and
    /// the busy comparison are measured all the same.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=2000))]
    sessions: Option<u32>,
    /// Busy processes that it starts beside one comparison; 0 leaves that out.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(0..=256),
        default_value_t = 2
    )]
    busy: u32,
    /// Directory of the result, which must not exist yet, or be empty
    /// [default: stowplan-results/DATE-calibrate-HOST].
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Directory, on the file system under test, for the data while it is measured
    /// [default: the output directory].
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// Seed of all orders; the same seed repeats the same accesses.
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Time for measuring, such as 90s or 3m; what is undecided when it ends counts as such.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// How to print.
    #[command(flatten)]
    print: PrintOptions,
}

impl CalibrateOptions {
    fn series(&self) -> Series {
        let identical = self.sessions.unwrap_or(match self.scale.as_str() {
            FULL_SCALE => 80,
            _ => 16,
        });
        Series {
            identical,
            different: identical.div_ceil(4),
            busy: self.busy,
        }
    }

    fn plan(&self) -> PlanOptions {
        PlanOptions {
            scale: Some(self.scale.clone()),
            ..PlanOptions::default()
        }
    }

    /// As for a study: the procedure is the one that is calibrated.
    fn measure(&self) -> MeasureOptions {
        MeasureOptions {
            output: self.output.clone(),
            seed: self.seed,
            precision: None,
            equivalence: 0.05,
            run: RunOptions {
                work: self.work.clone(),
                budget: self.budget,
                print: self.print.clone(),
                ..RunOptions::default()
            },
        }
    }
}

/// Calibrates; a failure if a figure is beyond its limit.
pub(crate) fn calibrate(options: &CalibrateOptions) -> Result<Exit, CliError> {
    Form::asked(options.print.format(), None, DOCUMENT)?;
    let drivers = drivers::of_stores(&[], &BTreeMap::new())?;
    let (plan, beside) = plans(&options.plan(), &options.series(), &drivers)?;
    let extender = BesideBusy::new(beside, options.busy, || {
        warn(
            "a process that was to keep a CPU busy has ended early, so what was measured beside it was measured on \
             a quieter machine",
        );
    })?;
    let Begun { output, end } =
        measure_into(&plan, &Drawn::new(), &drivers, &options.measure(), |_| {
            extender
        })
        .map_err(again)?;
    let loaded = load(&output.result())?;
    let Some(calibrated) = of(&loaded)? else {
        return Err(CliError::Unreadable(format!(
            "{}: it is no calibration; 'stowplan report' shows other results",
            loaded.path.display()
        )));
    };
    show(&calibrated, &options.print)?;
    match end.outcome {
        RunOutcome::Interrupted => {
            let text = "interrupted; to calibrate, run it again";
            options.print.note(text);
            return Ok(Exit::Interrupted);
        }
        RunOutcome::Budget => options
            .print
            .note("the time was over before everything was measured; --budget gives it more"),
        RunOutcome::Complete => {}
    }
    Ok(Exit::done_if(calibrated.calibration.passed))
}

/// A calibration is not gone on with: part of it is measured beside processes of its own.
fn again(error: CliError) -> CliError {
    match error {
        CliError::Failed { text, .. } => CliError::Failed {
            text,
            go_on: Some("stowplan calibrate".to_owned()),
        },
        error => error,
    }
}

/// A result of a calibration, with what it shows.
pub(crate) struct Calibrated<'l> {
    loaded: &'l Loaded,
    calibration: Calibration,
}

/// What a result shows if it is of a calibration.
pub(crate) fn of(loaded: &Loaded) -> Result<Option<Calibrated<'_>>, CliError> {
    let found = found::calibration(&loaded.records, &loaded.analysis);
    let found = found.map_err(CliError::analysis(&loaded.path))?;
    Ok(found.map(|calibration| Calibrated {
        loaded,
        calibration,
    }))
}

impl Shown for Calibrated<'_> {
    fn document(&self, raw: bool) -> Document {
        let Loaded { analysis, .. } = self.loaded;
        let raw = if raw { self.loaded.raw.as_str() } else { "" };
        report::document(
            &self.calibration,
            analysis,
            raw,
            run::circumstances(analysis),
        )
    }

    fn data(&self, _: Format) -> Result<String, serde_json::Error> {
        report::json(&self.calibration, &self.loaded.analysis)
    }

    fn page(&self) -> Result<PathBuf, CliError> {
        self.loaded.page()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Arguments, Verb};
    use clap::Parser;

    fn typed(arguments: &[&str]) -> CalibrateOptions {
        let arguments = [&["stowplan", "calibrate"], arguments].concat();
        match Arguments::parse_from(arguments).verb {
            Verb::Calibrate(options) => *options,
            verb => panic!("{verb:?}"),
        }
    }

    #[test]
    fn there_are_sessions_enough_to_bound_the_rate_of_false_claims() {
        let sessions = typed(&[]).series().identical;
        assert!(0.025_f64.powf(1.0 / f64::from(sessions)) >= 1.0 - found::FALSE_CLAIMS);
        assert!(typed(&["--scale", "quick"]).series().identical < sessions);
        assert_eq!(typed(&["--sessions", "3"]).series().different, 1);
        assert_eq!(typed(&["--sessions", "0"]).series().different, 0);
    }

    #[test]
    fn the_procedure_is_that_of_studies() {
        let Verb::Study(study) = Arguments::parse_from(["stowplan", "study", "x"]).verb else {
            panic!("not a study");
        };
        let (ours, theirs) = (typed(&[]).measure(), study.measure);
        assert_eq!(ours.equivalence, theirs.equivalence);
        assert_eq!(
            (ours.run.rounds, ours.precision),
            (theirs.run.rounds, theirs.precision)
        );
        assert_eq!(ours.seed, theirs.seed);
    }

    #[test]
    fn only_a_plan_of_its_own_is_a_calibration() {
        let (mut plan, _) = plans(
            &typed(&[]).plan(),
            &typed(&[]).series(),
            &crate::drivers::looked_at(),
        )
        .unwrap();
        assert!(found::is_calibration(&plan));
        plan.study.name = "mine".to_owned();
        assert!(!found::is_calibration(&plan));
    }
}
