//! Stowplan: measures, on the user's own machine, where data should live.

mod cli;
mod crossover;
mod engines;
mod error;
mod kvtest;
mod listing;
mod output;
mod progress;
mod report;
mod screen;
mod studies;
mod study;

use clap::Parser;
use cli::{Arguments, Verb};
use error::{CliError, Exit};
use std::process::ExitCode;

fn main() -> ExitCode {
    engines::register();
    let arguments = Arguments::parse_from(kvtest::with_double_dashes(std::env::args_os()));
    arguments.colour.write_global();
    match run(arguments) {
        Ok(exit) => exit.into(),
        Err(error) => {
            anstream::eprintln!(
                "{}",
                screen::message(screen::ERROR, "error", &error.to_string())
            );
            error.exit().into()
        }
    }
}

fn run(arguments: Arguments) -> Result<Exit, CliError> {
    match arguments.verb {
        Verb::Study(options) => study::study(&options),
        Verb::Crossover(options) => crossover::crossover(&options),
        Verb::Report(options) => report::report(&options),
        Verb::Studies => listing::studies(),
        Verb::Stores { name } => listing::stores(name.as_deref()),
        Verb::Init(options) => kvtest::init(&options),
        Verb::Stat(options) => kvtest::stat(&options),
        Verb::Export(options) => kvtest::export(&options),
        Verb::Run(options) => kvtest::run(&options),
        Verb::Kvtest => listing::kvtest(),
        Verb::Worker => study::worker(),
    }
}
