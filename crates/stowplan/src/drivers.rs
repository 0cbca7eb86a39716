//! Drivers: those that a study or the command line names, and those that are found; and what lists and
//! checks them.

use crate::error::{CliError, Exit};
use crate::screen::{self, drawable, print, wrap};
use clap::{Args, Subcommand};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use stowplan_harness::HarnessError;
use stowplan_harness::conformance::{Outcome, Verdict, check as conformance};
use stowplan_harness::disk::WorkDirectory;
use stowplan_harness::drivers::{Drivers, Found, KNOWN, Kind, KnownDriver, Search, find};
use stowplan_harness::interrupt::Interrupt;
use stowplan_harness::worker_process::WorkerCommand;
use stowplan_model::{DriverSpec, Settings, StoreSpec, Study};
use stowplan_stores::registry;

/// Options of `drivers`.
#[derive(Debug, Args)]
pub(crate) struct DriversOptions {
    /// A driver by its command: NAME=COMMAND, words separated by spaces.
    #[arg(long, hide_short_help = true, value_name = "NAME=COMMAND", value_parser = parse, global = true)]
    pub(crate) driver: Vec<DriverArgument>,
    /// What to do.
    #[command(subcommand)]
    pub(crate) verb: DriversVerb,
}

/// What to do with drivers.
#[derive(Debug, Subcommand)]
pub(crate) enum DriversVerb {
    /// Check that a driver does what the protocol asks for (docs/driver-format.md).
    Check {
        /// Its name, or the path of its program; 'built-in' is the program itself.
        name: String,
        /// Only this kind of store, or this store spec, such as kv or kv:cache=1MiB.
        #[arg(value_name = "KIND|SPEC")]
        store: Option<String>,
    },
}

/// A driver as it is typed: its name, and its command.
pub(crate) type DriverArgument = (String, DriverSpec);

/// Reads `NAME=COMMAND`.
pub(crate) fn parse(text: &str) -> Result<DriverArgument, String> {
    let (name, command) = text
        .split_once('=')
        .ok_or("write NAME=COMMAND, such as mine='python3 driver.py'")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || !name.chars().all(plain) {
        return Err("a name consists of letters, digits, '-' and '_'".to_owned());
    }
    let command: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    match command.is_empty() {
        true => Err("the command is missing".to_owned()),
        false => Ok((name.to_owned(), DriverSpec { command })),
    }
}

/// The drivers that a study can use: its own, those that were typed (which then are its own, so that its
/// result names them), and, where it names others, those that are found.
pub(crate) fn of_study(
    study: &mut Study,
    typed: &[DriverArgument],
) -> Result<Rc<Drivers>, CliError> {
    study.drivers.extend(typed.iter().cloned());
    let whole = study.clone().expanded();
    let cells = whole.comparisons.iter().flat_map(|c| c.cells.values());
    let stores: Vec<&StoreSpec> = cells.map(|cell| &cell.store).collect();
    of_stores(&stores, &study.drivers)
}

/// The drivers of stores: those that are given, and the others as they are found.
pub(crate) fn of_stores(
    stores: &[&StoreSpec],
    given: &BTreeMap<String, DriverSpec>,
) -> Result<Rc<Drivers>, CliError> {
    let missing = |store: &&StoreSpec| match store.driver() {
        "" => registry::find(store.name()).is_err() && !given.contains_key(store.name()),
        driver => !given.contains_key(driver),
    };
    let search = match stores.iter().any(missing) {
        true => Search::of_this_process(),
        false => Search::default(),
    };
    Ok(Rc::new(hosting(&find(&with(search, given)))?))
}

/// A search with drivers whose commands are given.
fn with(mut search: Search, given: &BTreeMap<String, DriverSpec>) -> Search {
    let commands = given.iter();
    let commands = commands.map(|(name, spec)| (name.clone(), spec.command.clone()));
    search.given.extend(commands);
    search
}

fn hosting(found: &[Found]) -> Result<Drivers, HarnessError> {
    let mut drivers = Drivers::new(WorkerCommand::this_executable()?, Interrupt::never());
    add(&mut drivers, found);
    Ok(drivers)
}

fn add(drivers: &mut Drivers, found: &[Found]) {
    for driver in found {
        drivers.add(&driver.name, driver.command.clone());
    }
}

/// Whether a kind is a place for data, and does not only measure what its driver costs.
pub(crate) fn is_for_data(kind: &Kind) -> bool {
    !kind.keeps_nothing && kind.name != "null"
}

/// Those that are found, and the stores that are built in, of which this process tells itself.
pub(crate) fn to_look_at(typed: &[DriverArgument]) -> (Drivers, Vec<Found>) {
    let found = find(&search(typed));
    let mut drivers = looked_at();
    add(&mut drivers, &found);
    (drivers, found)
}

/// What this process can find, with the drivers that were typed.
fn search(typed: &[DriverArgument]) -> Search {
    with(Search::of_this_process(), &typed.iter().cloned().collect())
}

/// Checks a driver.
pub(crate) fn check(options: &DriversOptions) -> Result<Exit, CliError> {
    let DriversVerb::Check { name, store } = &options.verb;
    let mut search = search(&options.driver);
    let name = named(&mut search, name);
    checked(&hosting(&find(&search))?, name, store.as_deref())
}

/// Lists what is found.
pub(crate) fn list(typed: &[DriverArgument], verbose: bool) -> Result<Exit, CliError> {
    let found = find(&search(typed));
    let drivers = hosting(&found)?;
    drivers.ask_all();
    print_all(&drivers, &found, verbose);
    Ok(Exit::Done)
}

/// The name of a driver that is asked for. A path is the command of one, which is called as its file is.
fn named<'n>(search: &mut Search, asked: &'n str) -> &'n str {
    let Some((_, file)) = asked.rsplit_once('/') else {
        return asked;
    };
    let name = file.strip_prefix("stowplan-driver-").unwrap_or(file);
    search.given.insert(name.to_owned(), vec![asked.to_owned()]);
    name
}

fn print_all(drivers: &Drivers, found: &[Found], verbose: bool) {
    let mut text = String::new();
    entry(&mut text, drivers, "", "this program", verbose);
    for driver in found {
        let command = &driver.command;
        let words = command.arguments.iter().map(String::as_str);
        let program = command.program.to_string_lossy();
        let line: Vec<&str> = std::iter::once(&*program).chain(words).collect();
        entry(&mut text, drivers, &driver.name, &line.join(" "), verbose);
    }
    missing(&mut text, found);
    text.push_str(match verbose {
        false => "\nWhat each store is, and where drivers are looked for: --verbose.\n",
        true => {
            "\nA store of a driver is written DRIVER/STORE, as in mine/sqlite:journal=wal.\n\
             Where both are called alike, and none that is built in is, STORE is enough.\n\
             Drivers are programs called stowplan-driver-NAME, beside this one, in the\n\
             directories of STOWPLAN_DRIVERS, on PATH, or in stowplan/drivers of the user's\n\
             data (~/.local/share); or commands that a study or --driver gives.\n"
        }
    });
    print(&drawable(&text));
}

/// One driver: its name, what it says of itself, its stores, or why it cannot be used.
fn entry(text: &mut String, drivers: &Drivers, name: &str, command: &str, verbose: bool) {
    let shown = if name.is_empty() { "built-in" } else { name };
    let mut lines = vec![];
    match drivers
        .kinds(name)
        .and_then(|kinds| Ok((kinds, drivers.tool(name)?)))
    {
        Ok((kinds, tool)) => {
            lines.push(tool);
            if verbose {
                lines.push(command.to_owned());
                for kind in kinds.values() {
                    let line = format!("{}: {}", kind.name, about(kind, true));
                    lines.extend(wrap(&line, 62));
                }
            } else {
                let names: Vec<&str> = kinds.keys().map(String::as_str).collect();
                lines.extend(wrap(&names.join(", "), 62));
            }
        }
        Err(error) => {
            lines.push(command.to_owned());
            lines.extend(wrap(&format!("cannot be used: {error}"), 62));
        }
    }
    screen::entry(text, shown, &lines);
}

/// The drivers that are known and were not found, with their stores and the command that brings each.
pub(crate) fn missing(text: &mut String, found: &[Found]) {
    let is_missing = |known: &&KnownDriver| found.iter().all(|driver| driver.name != known.name);
    let mut missing = KNOWN.iter().filter(is_missing).peekable();
    if missing.peek().is_some() {
        text.push_str("\nMore come with drivers, in a checkout of stowplan:\n");
    }
    for driver in missing {
        let mut lines = vec![driver.how_to_get()];
        // Its kind alone names it, unless one that is built in has that name.
        let is_short = driver.kinds == [driver.name] && registry::find(driver.name).is_err();
        if !is_short {
            let kinds: Vec<String> = driver
                .kinds
                .iter()
                .map(|kind| format!("{}/{kind}", driver.name))
                .collect();
            lines.extend(wrap(&kinds.join(", "), 62));
        }
        screen::entry(text, driver.name, &lines);
    }
}

/// What a kind is, with its engine and the engine's version where that is asked for.
pub(crate) fn about(kind: &Kind, verbose: bool) -> String {
    let engine = kind.engine.as_ref().filter(|_| verbose);
    let engine = engine.map(|(name, version)| {
        let version = version.split_whitespace().next().unwrap_or_default();
        format!(" ({name} {version})")
    });
    format!("{}{}", kind.about, engine.unwrap_or_default())
}

/// Runs the conformance suite, and prints what came of each check of a store; of several stores how many passed,
/// and what failed.
fn checked(drivers: &Drivers, name: &str, store: Option<&str>) -> Result<Exit, CliError> {
    let driver = if name == "built-in" { "" } else { name };
    let kinds = drivers.kinds(driver)?;
    let specs: Vec<StoreSpec> = match store {
        Some(text) => vec![text.parse()?],
        None => {
            // The program's own `null` is a rival for the measuring process, and checked by it.
            let checked = kinds
                .values()
                .filter(|kind| is_for_data(kind) || kind.keeps_nothing);
            let spec = |kind: &Rc<Kind>| StoreSpec::spelled_out(&kind.name, &Settings::default());
            checked.map(spec).collect()
        }
    };
    let work = WorkDirectory::create_below(Path::new("."))?;
    let (several, mut failed) = (specs.len() > 1, false);
    for spec in specs {
        let spec = spec.of_driver(driver);
        if !several {
            print(&drawable(&format!("{spec}\n")));
        }
        let outcomes = conformance(drivers, &spec, work.path())?;
        let has_failed = |outcome: &&Outcome| matches!(outcome.verdict, Verdict::Failed(_));
        let left_out = |outcome: &&Outcome| matches!(outcome.verdict, Verdict::LeftOut(_));
        let fails = outcomes.iter().filter(has_failed).count();
        failed |= fails > 0;
        let mut said = String::new();
        if several {
            let others = outcomes.iter().filter(left_out).count();
            let passed = outcomes.len() - fails - others;
            let sums = format!("{passed} ok, {others} left out, {fails} failed");
            screen::entry(&mut said, spec.name(), &[sums]);
        }
        for outcome in outcomes.iter().filter(|one| !several || has_failed(one)) {
            let (word, why) = match &outcome.verdict {
                Verdict::Passed => ("ok", None),
                Verdict::LeftOut(why) => ("left out", Some(why)),
                Verdict::Failed(why) => ("FAILED", Some(why)),
            };
            said.push_str(&format!("  {word:<10}{}\n", outcome.check));
            for line in why.iter().flat_map(|why| wrap(why, 68)) {
                said.push_str(&format!("{:12}{line}\n", ""));
            }
        }
        print(&drawable(&said));
    }
    work.remove()?;
    if several {
        print("\nEach check of one store, and why it is left out: name it behind the driver.\n");
    }
    Ok(Exit::done_if(!failed))
}

/// The program's own stores, for plans that are never run.
pub(crate) fn looked_at() -> Drivers {
    Drivers::described_by(stowplan_driver::describe)
}
