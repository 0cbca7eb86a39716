//! `stowplan studies` and `stowplan stores`: what there is.

use crate::error::{CliError, Exit};
use crate::screen::{print, wrap};
use crate::studies;
use stowplan_model::{Setting, Settings};
use stowplan_stores::{StoreKind, registry};

pub(crate) fn kvtest() -> Result<Exit, CliError> {
    print(&format!("{}\n", crate::kvtest::MAPPING));
    Ok(Exit::Done)
}

pub(crate) fn studies() -> Result<Exit, CliError> {
    for study in studies::built_in()? {
        anstream::println!("{:<16}{}", study.name, study.title);
        for line in wrap(&study.question, 62) {
            anstream::println!("{:16}{line}", "");
        }
        let scales: Vec<&str> = study
            .scales
            .keys()
            .map(String::as_str)
            .chain(["seed"])
            .collect();
        anstream::println!("{:16}scales: {}", "", scales.join(", "));
    }
    anstream::println!(
        "\nRun one with 'stowplan study NAME'; 'stowplan study NAME --dry-run' shows its cells."
    );
    Ok(Exit::Done)
}

pub(crate) fn stores(name: Option<&str>) -> Result<Exit, CliError> {
    match name {
        Some(name) => describe(registry::find(name)?),
        None => list(),
    }
    Ok(Exit::Done)
}

/// What there is, then what there could be.
fn list() {
    for kind in registry::all() {
        let engine = kind.engine().map(|(name, version)| {
            format!(
                " ({name} {})",
                version.split_whitespace().next().unwrap_or_default()
            )
        });
        let about = format!("{}{}", kind.about(), engine.unwrap_or_default());
        entry(kind.name(), &wrap(&about, 62));
    }
    for store in registry::left_out() {
        let about = format!("{} ({})", store.about, store.engine);
        let mut lines = wrap(&about, 62);
        lines.push(store.hint());
        entry(store.name, &lines);
    }
    anstream::println!("\n'stowplan stores NAME' lists a store's settings.");
}

/// The name on the left, and the lines beside it.
fn entry(name: &str, lines: &[String]) {
    let names = std::iter::once(name).chain(std::iter::repeat(""));
    for (name, line) in names.zip(lines) {
        anstream::println!("{name:<16}{line}");
    }
}

fn describe(kind: &dyn StoreKind) {
    anstream::println!("{}: {}\n", kind.name(), kind.about());
    for setting in kind.settings() {
        anstream::println!("  {}={}", setting.name, setting.default);
        for line in wrap(&help(setting), 72) {
            anstream::println!("      {line}");
        }
    }
    if let Ok(settings) = Settings::resolve(kind.settings(), &Default::default())
        && let Ok(can) = kind.capabilities(&settings)
    {
        let operations: Vec<&str> = can.operations.iter().map(|o| o.name()).collect();
        let deliveries: Vec<&str> = can.deliveries.iter().map(|d| d.name()).collect();
        anstream::println!("\nWith these values:");
        anstream::println!("  operations   {}", operations.join(", "));
        anstream::println!("  delivery     {}", deliveries.join(", "));
        anstream::println!(
            "  transactions {}",
            if can.transactions { "yes" } else { "no" }
        );
        anstream::println!(
            "  durability   {} ({})",
            can.durability,
            can.durability.class.code()
        );
    }
    if let Some((name, version)) = kind.engine() {
        anstream::println!("\nEngine:");
        for line in wrap(&format!("{name} {version}"), 76) {
            anstream::println!("  {line}");
        }
    }
    let example = kind
        .settings()
        .iter()
        .map(|s| format!("{}={}", s.name, s.default))
        .take(2);
    anstream::println!(
        "\nA store spec: {}:{}",
        kind.name(),
        example.collect::<Vec<_>>().join(",")
    );
}

fn help(setting: &Setting) -> String {
    format!(
        "{} ({})",
        setting.help.trim_end_matches('.'),
        setting.accepts()
    )
}
