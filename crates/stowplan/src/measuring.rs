//! Options of the verbs that measure.

use crate::drivers::DriverArgument;
use crate::form::PrintOptions;
use crate::values::{duration, percent};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Cells whose whole interval is within this are called equivalent, unless it is typed.
const EQUIVALENCE: &str = "5%";

/// Options of every verb that measures a plan.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Measuring")]
pub(crate) struct MeasureOptions {
    /// Directory of the result, which must not exist yet, or be empty
    /// [default: stowplan-results/DATE-STUDY-HOST].
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Seed of all orders; the same seed repeats the same accesses.
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Measure until intervals are at most this wide on either side, such as 2%.
    ///
    /// Without it a comparison ends as soon as it is decided.
    #[arg(long, hide_short_help = true, value_name = "PERCENT", allow_hyphen_values = true, value_parser = percent)]
    pub(crate) precision: Option<f64>,
    /// Differences below this do not matter to you.
    ///
    /// Cells whose whole interval is within it are called equivalent.
    #[arg(long, hide_short_help = true, value_name = "PERCENT", allow_hyphen_values = true, value_parser = percent, default_value = EQUIVALENCE)]
    pub(crate) equivalence: f64,
    /// What may be another each time that it goes on.
    #[command(flatten)]
    pub(crate) run: RunOptions,
}

/// Options of a run that is begun, or gone on with.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Measuring")]
pub(crate) struct RunOptions {
    /// Directory, on the file system under test, for the data while it is measured
    /// [default: the directory of the result].
    ///
    /// It is emptied of what was made there at the end. 'stowplan doctor DIR' says whether it is
    /// fit for measuring.
    #[arg(long, value_name = "DIR")]
    pub(crate) work: Option<PathBuf>,
    /// The most rounds per comparison, 1 to 40.
    ///
    /// Fewer than 10 give no interval, and no crossover. With 'resume', more than before: what is undecided is
    /// measured further.
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<u32>,
    /// Time for all of it, such as 90s or 10m, instead of the scale's; comparisons share it.
    ///
    /// What is undecided when it ends is called unresolved, and can be measured further.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) budget: Option<Duration>,
    /// Keep the datasets and built stores.
    #[arg(long, hide_short_help = true)]
    pub(crate) keep: bool,
    /// Begin though the disk seems to have too little room: what a study needs is an estimate.
    ///
    /// A run whose disk is full ends in order, and 'resume' goes on with it.
    #[arg(long, hide_short_help = true)]
    pub(crate) ignore_space: bool,
    /// Say what would be measured, and what that needs, and stop.
    #[arg(long, conflicts_with_all = ["json", "format"])]
    pub(crate) dry_run: bool,
    /// A driver of stores by its command: NAME=COMMAND, words separated by spaces; its stores are
    /// written NAME/STORE.
    #[arg(long, hide_short_help = true, value_name = "NAME=COMMAND", value_parser = crate::drivers::parse)]
    pub(crate) driver: Vec<DriverArgument>,
    /// How to print.
    #[command(flatten)]
    pub(crate) print: PrintOptions,
}
