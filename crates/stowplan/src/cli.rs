//! What can be typed: the verbs, whose options stand with what does them.

use clap::{ArgAction, Args, ColorChoice, Command, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::ffi::OsString;
use std::path::PathBuf;

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

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Measure your own files or database: where do they belong?
    Advise(Box<crate::advise::AdviseOptions>),
    /// Run a study: built in, or a file of yours.
    #[command(visible_alias = "run")]
    Study(Box<crate::study::StudyOptions>),
    /// Go on with a run that was broken off or ran out of time.
    Resume(Box<crate::study::ResumeOptions>),
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
    List(crate::listing::ListOptions),
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
    Man(ManOptions),
    /// What completes verbs, options and names in your shell.
    Completions(CompletionsOptions),
}

/// Options of `man`; here, as the manual and what completes are made of all of this.
#[derive(Debug, Args)]
pub(crate) struct ManOptions {
    /// The verb whose page to print; none prints that of stowplan itself.
    #[arg(value_name = "VERB", conflicts_with = "to")]
    pub(crate) verb: Option<String>,
    /// Write all pages into this directory, which is made if need be.
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
}

/// Options of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsOptions {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
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
