//! What can be typed. Validating here needs nothing but the text itself.

use crate::drivers::DriverArgument;
use crate::form::Format;
use crate::screen::note;
use crate::values::{duration, named_directory, one_of, percent};
use clap::{ArgAction, Args, ColorChoice, Command, CommandFactory, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use stowplan_model::{CacheState, Durability};
use stowplan_report::document::Detail;

/// Measures, on your own machine, where data should live: in SQLite (and with which settings),
/// in plain files, or in another store.
#[derive(Debug, Parser)]
#[command(
    name = "stowplan",
    version,
    about,
    max_term_width = 80,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    disable_help_flag = true
)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) verb: Verb,
    /// Whether to use colour; NO_COLOR is respected.
    #[arg(long = "color", hide_short_help = true, value_enum, default_value_t = ColorChoice::Auto, global = true, value_name = "WHEN", help_heading = "Printing")]
    pub(crate) colour: ColorChoice,
    /// Print this; 'stowplan help VERB' prints everything.
    #[arg(long, short, global = true, action = ArgAction::HelpShort)]
    help: Option<bool>,
}

/// What `--help` teaches each verb by: command lines that work as they stand, or with a name replaced. Lines fit
/// 80 columns and are ASCII.
const EXAMPLES: &str = include_str!("examples.txt");

/// The arguments, with the examples of each verb.
pub(crate) fn command() -> Command {
    with_examples(Arguments::command(), "stowplan")
}

fn with_examples(mut command: Command, name: &str) -> Command {
    for verb in command.get_subcommands_mut() {
        let name = format!("{name} {}", verb.get_name());
        *verb = with_examples(std::mem::take(verb), &name);
    }
    let (_, found) = EXAMPLES.split_once(&format!("[{name}]\n")).unzip();
    match found.and_then(|found| found.split("\n\n[").next()) {
        Some(examples) => taught(command, examples.trim_end()),
        None => command,
    }
}

/// One screen for `--help`, with the first examples; all of them for `help`.
fn taught(command: Command, examples: &str) -> Command {
    /// Lines of examples on the one screen.
    const FIRST: usize = 5;
    let lines = || examples.lines().take_while(|line| !line.is_empty());
    let mut first: Vec<&str> = lines().take(FIRST).collect();
    // No example without what explains it.
    if lines()
        .nth(FIRST)
        .is_some_and(|next| next.starts_with("   "))
    {
        first.pop();
    }
    let first = first.join("\n");
    command
        .after_help(first)
        .after_long_help(examples.to_owned())
}

/// Cells whose whole interval is within this are called equivalent, unless it is typed.
const EQUIVALENCE: &str = "5%";

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Measure your own files or database: where do they belong?
    Advise(Box<crate::advise::AdviseOptions>),
    /// Run a study: built in, or a file of yours.
    #[command(visible_alias = "run")]
    Study(Box<StudyOptions>),
    /// Go on with a run that was broken off or ran out of time.
    Resume(Box<ResumeOptions>),
    /// Find the size at which the order of two stores changes.
    Crossover(Box<crate::crossover::CrossoverOptions>),
    /// Render a result again, or one study from several machines.
    Report(crate::report::ReportOptions),
    /// Compare results of two versions, settings, machines: regressions?
    Compare(crate::compare::CompareOptions),
    /// What published studies claim, and whether it holds here.
    Claims(Box<crate::claims::ClaimsOptions>),
    /// Cut the power, many times: what does each setting lose?
    Crash(Box<crate::crash::CrashOptions>),
    /// What here would spoil a measurement, and how is it mended?
    Doctor(crate::doctor::DoctorOptions),
    /// How truly does this program measure on this machine?
    Calibrate(Box<crate::calibrate::CalibrateOptions>),
    /// What there is: studies, stores with their settings, drivers.
    List(ListOptions),
    /// Check a driver of stores.
    Drivers(crate::drivers::DriversOptions),
    /// Pack a directory into one SQLite Archive.
    Pack(crate::archive::PackOptions),
    /// Unpack an SQLite Archive into a directory.
    Unpack(crate::archive::UnpackOptions),
    /// List what is in an SQLite Archive.
    Ls(crate::archive::LsOptions),
    /// Print files of an SQLite Archive.
    Cat(crate::archive::CatOptions),
    /// Is an SQLite Archive whole: its database, names, and values?
    Verify(crate::archive::VerifyOptions),
    /// Put files into an SQLite Archive, or replace them.
    Add(crate::archive::AddOptions),
    /// Take files out of an SQLite Archive.
    Rm(crate::archive::RmOptions),
    /// Show an SQLite Archive as a directory, read-only.
    Mount(crate::archive::MountOptions),
    /// What is in a directory, or a database: sizes, and what is odd.
    Stat(crate::kvtest::StatOptions),
    /// SQLite's kvtest, verb for verb: init, stat, export and run.
    Kvtest {
        /// Which of its verbs.
        #[command(subcommand)]
        verb: crate::kvtest::Verb,
    },
    /// Print the manual, or write it as man pages.
    Man(crate::manual::ManOptions),
    /// What completes verbs, options and names in your shell.
    Completions(crate::manual::CompletionsOptions),
}

/// Options of `study`.
#[derive(Debug, Args)]
pub(crate) struct StudyOptions {
    /// A built-in study, or a study file; none lists the built-in ones.
    #[arg(value_name = "NAME|FILE.toml")]
    pub(crate) study: Option<String>,
    /// How much: 'quick' for a first answer in a minute, 'full' for everything, at the published sizes, as long
    /// as it takes [default: standard, 3 minutes].
    ///
    /// A study may have more scales: 'stowplan list studies' lists them.
    #[arg(long, value_name = "SCALE")]
    pub(crate) scale: Option<String>,
    /// Only comparisons in this state of the page cache.
    ///
    /// Cold is proved by looking into the cache, and means cold in this guest: a host's own
    /// cache cannot be seen.
    #[arg(long, hide_short_help = true, value_parser = one_of(CACHE_STATES, CacheState::name), value_name = "STATE")]
    pub(crate) cache_state: Option<CacheState>,
    /// Only writes that promise at least this.
    ///
    /// What each store promises with which settings: 'stowplan list stores NAME'.
    #[arg(long, hide_short_help = true, value_parser = one_of(DURABILITIES, Durability::name), value_name = "CLASS")]
    pub(crate) durability: Option<Durability>,
    /// Only this comparison (read) or cell (read/sql); may be repeated.
    ///
    /// The baseline of a comparison always comes along; --dry-run lists them all.
    #[arg(long, value_name = "CELL")]
    pub(crate) only: Vec<String>,
    /// A directory on a file system that cells are on (on = "NAME" in the study), such as xfs=/mnt/xfs; may be
    /// repeated.
    ///
    /// The data of these cells lies below it. Without it a run makes ext4, xfs, btrfs and tmpfs for itself, as
    /// root, and leaves these cells out otherwise (docs/file-systems.md).
    #[arg(long, hide_short_help = true, value_name = "NAME=DIR", value_parser = named_directory)]
    pub(crate) on: Vec<(String, PathBuf)>,
    /// Take costs apart, step by step: adds the cells for that, in the same rounds.
    ///
    /// For reads and overwrites of single values by files and SQLite; --dry-run lists the cells,
    /// and docs/why.md says how to read what comes of them.
    #[arg(long)]
    pub(crate) why: bool,
    /// How to measure.
    #[command(flatten)]
    pub(crate) measure: MeasureOptions,
}

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

/// Options of `resume`.
#[derive(Debug, Args)]
pub(crate) struct ResumeOptions {
    /// The directory of the result; it says what is measured.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// How it goes on.
    #[command(flatten)]
    pub(crate) run: RunOptions,
}

/// What is listed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Listed {
    /// The built-in studies.
    Studies,
    /// The stores, or one store's settings.
    Stores,
    /// The drivers that host stores.
    Drivers,
}

/// Options of `list`.
#[derive(Debug, Args)]
pub(crate) struct ListOptions {
    /// What.
    #[arg(value_enum, value_name = "WHAT", default_value = "studies")]
    pub(crate) what: Listed,
    /// Of the stores only this one, or a store spec: what it promises with these settings.
    #[arg(value_name = "NAME|SPEC")]
    pub(crate) name: Option<String>,
    /// A driver by its command: NAME=COMMAND, words separated by spaces.
    #[arg(long, hide_short_help = true, value_name = "NAME=COMMAND", value_parser = crate::drivers::parse)]
    pub(crate) driver: Vec<DriverArgument>,
}

/// How what was found is printed on stdout, and what besides.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Printing")]
pub(crate) struct PrintOptions {
    /// Write this format, and nothing else, instead of text.
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "json")]
    pub(crate) format: Option<Format>,
    /// Short for '--format json'.
    #[arg(long, hide_short_help = true)]
    pub(crate) json: bool,
    /// Print what was found only, and no progress.
    #[arg(long, short, hide_short_help = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print all that was found, not its summary.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

impl PrintOptions {
    /// The format that is asked for; nothing is text.
    pub(crate) fn format(&self) -> Option<Format> {
        self.format.or(self.json.then_some(Format::Json))
    }

    /// The option that asked for a format, as it was typed.
    pub(crate) fn asked(&self) -> Option<String> {
        let named = self
            .format
            .map(|format| format!("--format {}", format.name()));
        named.or(self.json.then(|| "--json".to_owned()))
    }

    /// Whether nobody wants to see how far it is.
    pub(crate) fn is_silent(&self) -> bool {
        self.quiet || self.format().is_some()
    }

    /// Says on stderr what is worth knowing, unless nothing but what was found is to be printed.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            note(text);
        }
    }

    /// How much of a document is shown on a terminal.
    pub(crate) fn detail(&self) -> Detail {
        match (self.quiet, self.verbose) {
            (true, _) => Detail::Answer,
            (_, true) => Detail::Full,
            _ => Detail::Summary,
        }
    }
}

/// When to use colour, as it was typed among arguments that could not be read as a whole.
pub(crate) fn colour_typed(arguments: &[OsString]) -> ColorChoice {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let pairs = words.windows(2).filter(|pair| pair[0] == "--color");
    let joined = words
        .iter()
        .filter_map(|word| word.strip_prefix("--color="));
    let choice = joined.chain(pairs.map(|pair| pair[1])).next_back();
    choice
        .and_then(|choice| ColorChoice::from_str(choice, false).ok())
        .unwrap_or(ColorChoice::Auto)
}

/// Makes it the choice for everything printed.
pub(crate) fn use_colour(when: ColorChoice) {
    match when {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    }
    .write_global();
}

/// States of the page cache that can be asked for.
pub(crate) const CACHE_STATES: &[(CacheState, &str)] = &[
    (CacheState::Warm, "In the page cache"),
    (CacheState::Cold, "Data not in memory, names still are"),
    (
        CacheState::AllCold,
        "Nothing in memory, as after a reboot; for the whole machine, so it takes root",
    ),
    (
        CacheState::AsFound,
        "As it happens to be; nothing is checked",
    ),
];

/// What an acknowledged write survives.
pub(crate) const DURABILITIES: &[(Durability, &str)] = &[
    (Durability::None, "Nothing is promised"),
    (
        Durability::ProcessCrash,
        "It survives the end of the process",
    ),
    (
        Durability::Consistent,
        "Power loss leaves a consistent state",
    ),
    (Durability::Durable, "It survives power loss"),
];
