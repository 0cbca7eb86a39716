//! `stowplan list`: what there is.

use crate::drivers::{self, DriverArgument, about, is_for_data};
use crate::error::{CliError, Exit};
use crate::screen::{drawable, entry, print, wrap};
use crate::studies::{self, SCALES};
use clap::{Args, ValueEnum};
use stowplan_harness::drivers::{Drivers, Found, Resolved};
use stowplan_model::{Capabilities, Setting, SettingKind, Settings, StoreSpec, Value, spec_size};
use stowplan_stores::registry;

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
    /// What studies ask, what settings mean, and versions of engines.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// Lists what there is.
pub(crate) fn list(options: &ListOptions) -> Result<Exit, CliError> {
    match (options.what, &options.name) {
        (Listed::Stores, _) => stores(options),
        (Listed::Studies, None) => studies(options.verbose),
        (Listed::Drivers, None) => drivers::list(&options.driver, options.verbose),
        (_, Some(name)) => Err(CliError::Usage(format!(
            "{name}: only a store has a page of its own: 'stowplan list stores NAME'; what is in a study is shown \
             by 'stowplan study NAME --dry-run --verbose'"
        ))),
    }
}

pub(crate) fn studies(verbose: bool) -> Result<Exit, CliError> {
    let mut text = String::new();
    for study in studies::built_in()? {
        let mut lines = wrap(&study.title, 62);
        if verbose {
            lines.extend(wrap(&study.question, 62));
            let named = study.scales.keys().map(String::as_str);
            let named = named.filter(|name| !SCALES.contains(name));
            let scales: Vec<&str> = SCALES.into_iter().chain(named).collect();
            lines.extend(wrap(&format!("scales: {}", scales.join(", ")), 62));
        }
        entry(&mut text, &study.name, &lines);
    }
    text.push_str(
        "\nRun one with 'stowplan study NAME'; --dry-run says what it would do.\n\
         What each asks, and its scales: --verbose.\n\
         More to list: 'stowplan list stores', 'stowplan list drivers'.\n",
    );
    print(&drawable(&text));
    Ok(Exit::Done)
}

/// All stores, or the one of a spec (`redb`, `redb:durability=none`).
fn stores(options: &ListOptions) -> Result<Exit, CliError> {
    let (drivers, found) = drivers::to_look_at(&options.driver);
    let text = match &options.name {
        Some(spec) => describe(&drivers, &spec.parse()?, options.verbose)?,
        None => {
            drivers.ask_all();
            all_stores(&drivers, &found, options.verbose)?
        }
    };
    print(&drawable(&text));
    Ok(Exit::Done)
}

/// What is built in, what the drivers that were found host, and how to get more.
fn all_stores(drivers: &Drivers, found: &[Found], verbose: bool) -> Result<String, CliError> {
    let mut text = String::new();
    let built_in = drivers.kinds("")?;
    for kind in registry::all().filter_map(|kind| built_in.get(kind.name())) {
        entry(&mut text, &kind.name, &wrap(&about(kind, verbose), 62));
    }
    for driver in found {
        hosted_by(&mut text, drivers, &driver.name, verbose);
    }
    drivers::missing(&mut text, found);
    text.push_str("\n'stowplan list stores NAME' lists a store's settings.\n");
    Ok(text)
}

/// The stores of a driver as specs name them, or why it cannot be used.
fn hosted_by(text: &mut String, drivers: &Drivers, driver: &str, verbose: bool) {
    match drivers.kinds(driver) {
        Ok(kinds) => {
            for kind in kinds.values().filter(|kind| is_for_data(kind)) {
                entry(
                    text,
                    &drivers.shortest(driver, &kind.name),
                    &wrap(&about(kind, verbose), 62),
                );
            }
        }
        Err(error) => {
            let why = format!("this driver cannot be used: {error}");
            entry(text, driver, &wrap(&why, 62));
        }
    }
}

fn describe(drivers: &Drivers, spec: &StoreSpec, verbose: bool) -> Result<String, CliError> {
    let Resolved {
        kind,
        settings,
        capabilities,
    } = drivers.resolve(spec, None)?;
    let mut text = String::new();
    hanging(&mut text, "", &format!("{}: {}", spec.kind, kind.about));
    text.push('\n');
    let values = kind
        .settings
        .iter()
        .map(|setting| value_line(setting, &settings));
    let values: Vec<String> = values.collect();
    let widest = values.iter().map(String::len).max().unwrap_or(0).min(40);
    for (setting, value) in kind.settings.iter().zip(&values) {
        if verbose {
            text.push_str(&format!("  {value}\n"));
            hanging(&mut text, "      ", &help(setting));
        } else {
            hanging(
                &mut text,
                &format!("  {value:<widest$}  "),
                &setting.accepts(),
            );
        }
    }
    describe_capabilities(&mut text, &capabilities);
    if let Some((name, version)) = &kind.engine {
        let number = version.split(' ').next().unwrap_or_default();
        let version = if verbose { version } else { number };
        hanging(&mut text, "\nEngine: ", &format!("{name} {version}"));
    }
    if kind.settings.is_empty() {
        return Ok(text);
    }
    text.push('\n');
    // Who gave settings knows how a spec is written.
    if spec.settings.is_empty() {
        let example = kind.settings.iter().take(2);
        let example: Vec<String> = example.map(|s| pair(s, settings.get(s.name))).collect();
        let example = example.join(",");
        text.push_str(&format!("A store spec: {}:{example}\n", spec.kind));
    }
    if !verbose {
        text.push_str("What each setting means: --verbose.\n");
    }
    Ok(text)
}

fn describe_capabilities(text: &mut String, can: &Capabilities) {
    let operations: Vec<&str> = can.operations.iter().map(|o| o.name()).collect();
    let deliveries: Vec<&str> = can.deliveries.iter().map(|d| d.name()).collect();
    text.push_str("\nWith these values:\n");
    hanging(text, "  operations   ", &operations.join(", "));
    hanging(text, "  delivery     ", &deliveries.join(", "));
    hanging(
        text,
        "  transactions ",
        if can.transactions { "yes" } else { "no" },
    );
    let durability = &can.durability;
    let code = durability.class.code();
    hanging(text, "  durability   ", &format!("{durability} ({code})"));
}

/// Text behind a head in 80 columns, its further lines below its first.
fn hanging(text: &mut String, head: &str, words: &str) {
    let mut head = head.to_owned();
    let behind = head.trim_start_matches('\n').chars().count().max(2);
    for line in wrap(words, 80 - behind) {
        text.push_str(&format!("{head}{line}\n"));
        head = " ".repeat(behind);
    }
}

/// `cache=64MiB (default 1GiB)`: the default only where the value is another.
fn value_line(setting: &Setting, settings: &Settings) -> String {
    let value = settings.get(setting.name);
    let default = setting.parse(setting.default).ok();
    let line = pair(setting, value);
    match default.filter(|default| Some(default) != value) {
        Some(default) => format!("{line} (default {})", shown(setting, &default)),
        None => line,
    }
}

/// `name=value`.
fn pair(setting: &Setting, value: Option<&Value>) -> String {
    let value = value.map(|value| shown(setting, value));
    format!("{}={}", setting.name, value.unwrap_or_default())
}

/// A value as specs have it; a size in the largest unit in which it is a whole number.
fn shown(setting: &Setting, value: &Value) -> String {
    match (&setting.kind, value) {
        (SettingKind::Bytes { .. }, Value::Number(bytes)) => spec_size(*bytes),
        _ => value.to_string(),
    }
}

fn help(setting: &Setting) -> String {
    format!(
        "{} ({})",
        setting.help.trim_end_matches('.'),
        setting.accepts()
    )
}
