//! Stowplan: measures, on the user's own machine, where data should live.

mod advise;
mod archive;
mod calibrate;
mod claims;
mod cli;
mod compare;
mod crash;
mod crossover;
mod doctor;
mod drivers;
mod error;
mod form;
mod kvtest;
mod listing;
mod loaded;
mod manual;
mod measuring;
mod output;
mod parts;
mod places;
mod progress;
mod report;
mod screen;
mod shown;
mod studies;
mod study;
mod typed;
mod values;

use clap::FromArgMatches;
use cli::{Arguments, Verb};
use error::{CliError, Exit};
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Where it cannot be, such a write ends the program.
    let _ = stowplan_driver::survive_large_files();
    if let Some(commit) = option_env!("STOWPLAN_COMMIT") {
        stowplan_harness::environment::built_from(commit);
    }
    // Each block starts one of these: they do not wait until the commands for people are built.
    let exit = parts::started().unwrap_or_else(for_people);
    match exit {
        Exit::Done if screen::lost() => Exit::Failed.into(),
        exit => exit.into(),
    }
}

/// Does what was typed.
fn for_people() -> Exit {
    let typed = kvtest::as_typed(std::env::args_os());
    let matches = cli::command().try_get_matches_from(&typed);
    match matches.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => {
            cli::use_colour(arguments.colour);
            ended(run(arguments))
        }
        Err(answer) => tell(&answer, &typed),
    }
}

/// How it ended, with what went wrong on stderr.
fn ended(result: Result<Exit, CliError>) -> Exit {
    result.unwrap_or_else(|error| {
        if error.exit() == Exit::Interrupted {
            screen::warn(&error.to_string());
            return Exit::Interrupted;
        }
        for line in error.lines() {
            complain(&line, error.command());
        }
        error.exit()
    })
}

/// What went wrong, and the command to type about it, if there is one.
fn complain(text: &str, command: Option<&str>) {
    screen::say(&screen::message(screen::ERROR, "error", text, command));
}

/// Prints the help or the version that was asked for, or what is wrong with what was typed.
fn tell(answer: &clap::Error, typed: &[OsString]) -> Exit {
    cli::use_colour(cli::colour_typed(typed));
    let text = answer.render().ansi().to_string();
    match answer.kind() {
        clap::error::ErrorKind::DisplayHelp | clap::error::ErrorKind::DisplayVersion => {
            screen::print(&screen::drawable(&text));
            Exit::Done
        }
        clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            screen::say(screen::drawable(&text).trim_end());
            Exit::Usage
        }
        _ => {
            let mut root = cli::command();
            root.build();
            let words = typed.iter().skip(1);
            let verb = words.fold(&root, |verb, word| {
                verb.find_subcommand(word).unwrap_or(verb)
            });
            complain(&typed::wrong(answer, verb), None);
            Exit::Usage
        }
    }
}

fn run(arguments: Arguments) -> Result<Exit, CliError> {
    match arguments.verb {
        Verb::Advise(options) => advise::advise(*options),
        Verb::Study(options) => study::study(&options),
        Verb::Resume(options) => study::resume(&options),
        Verb::Crossover(options) => crossover::crossover(&options),
        Verb::Report(options) => report::report(&options),
        Verb::Compare(options) => compare::compare(&options),
        Verb::Claims(options) => claims::claims(&options),
        Verb::Calibrate(options) => calibrate::calibrate(&options),
        Verb::Doctor(options) => doctor::doctor(&options),
        Verb::List(options) => listing::list(&options),
        Verb::Drivers(options) => drivers::check(&options),
        Verb::Pack(options) => archive::pack(&options),
        Verb::Unpack(options) => archive::unpack(&options),
        Verb::Ls(options) => archive::ls(&options),
        Verb::Cat(options) => archive::cat(&options),
        Verb::Verify(options) => archive::verify(&options),
        Verb::Add(options) => archive::add(&options),
        Verb::Rm(options) => archive::rm(&options),
        Verb::Mount(options) => archive::mount(&options),
        Verb::Stat(options) => kvtest::stat(&options),
        Verb::Kvtest { verb } => kvtest::kvtest(&verb),
        Verb::Man(options) => manual::man(&options),
        Verb::Completions(options) => Ok(manual::completions(&options)),
        Verb::Crash(options) => crash::crash(&options),
    }
}
