//! `stowplan doctor`: what on this machine would spoil a measurement, and how to mend it.

use crate::error::{CliError, Exit};
use crate::form::{DOCUMENT, DocumentOptions};
use crate::{drivers, studies};
use clap::Args;
use std::path::PathBuf;
use stowplan_harness::environment::checks::{Demand, check_up};
use stowplan_harness::plan::{PlanOptions, demand, needs, plan};
use stowplan_report::doctor::{document, json};

/// Options of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorOptions {
    /// The directory in which you would measure.
    ///
    /// A small file is written there, synced a few times, and removed.
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// Judge memory and disk for this study.
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "fasterthanfs")]
    study: String,
    /// Judge for this scale of it [default: standard].
    #[arg(long, value_name = "SCALE")]
    scale: Option<String>,
    /// In which form.
    #[command(flatten)]
    form: DocumentOptions,
}

/// Looks at the machine and says what it found; a failure if that speaks against measuring.
pub(crate) fn doctor(options: &DoctorOptions) -> Result<Exit, CliError> {
    let form = options.form.asked(DOCUMENT)?;
    let checkup = check_up(&options.directory, &demand_of(options)?)?;
    form.write(&document(&checkup), options.form.print.detail(), |_| {
        json(&checkup)
    })?;
    Ok(Exit::done_if(checkup.is_fit()))
}

/// What the study asks for at this scale, and at the one that needs the least disk.
fn demand_of(options: &DoctorOptions) -> Result<Demand, CliError> {
    let mut study = studies::find(&options.study, &[])?;
    let drivers = drivers::of_study(&mut study, &[])?;
    let at = |scale: Option<&String>| {
        let options = PlanOptions {
            scale: scale.cloned(),
            ..PlanOptions::default()
        };
        plan(study.clone(), &options, &drivers)
    };
    let wanted = at(options.scale.as_ref())?;
    let mut smallest = wanted.clone();
    for scale in study.scales.keys() {
        let plan = at(Some(scale))?;
        if needs(&plan, false).disk_bytes < needs(&smallest, false).disk_bytes {
            smallest = plan;
        }
    }
    Ok(demand(&wanted, &smallest))
}
