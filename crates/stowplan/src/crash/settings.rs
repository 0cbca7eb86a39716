//! What is tested: the stores that were named, all of them, or a program.

use super::CrashOptions;
use crate::error::CliError;
use std::ffi::OsString;
use stowplan_crashlab::{Subject, Verifier};
use stowplan_model::{Durability, DurabilityClaim, StoreSpec};
use stowplan_stores::registry;

/// Settings that differ in what they promise or in how they keep it, and all that a built-in study credits with
/// keeping anything when the power goes.
const MATRIX: &str = include_str!("matrix.txt");

/// What the command line asks for.
pub(super) fn subjects(options: &CrashOptions) -> Result<Vec<Subject>, CliError> {
    if let (Some(program), Some(check)) = (&options.program, &options.check) {
        let name = options.name.clone().unwrap_or_else(|| short(program));
        return Ok(vec![of_program((name, program), check, options.promise)]);
    }
    let all: Vec<String> = MATRIX.lines().map(str::to_owned).collect();
    let named = match options.stores.is_empty() {
        true => &all[..],
        false => &options.stores[..],
    };
    named.iter().map(|spec| of_store(spec, options)).collect()
}

/// The beginning of a command, in a line.
fn short(program: &str) -> String {
    const MOST: usize = 24;
    let words = program.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", words[..end].trim_end()),
        None => words,
    }
}

fn of_program((name, program): (String, &str), check: &str, class: Durability) -> Subject {
    Subject {
        name,
        claim: DurabilityClaim {
            class,
            atomic: class >= Durability::Consistent,
            delayed: false,
        },
        transactions: true,
        command: ["sh", "-c", program].map(OsString::from).to_vec(),
        verifier: Verifier::Command(check.into()),
    }
}

fn of_store(spec: &str, options: &CrashOptions) -> Result<Subject, CliError> {
    let store: StoreSpec = spec
        .parse()
        .map_err(|error| CliError::Usage(format!("store spec '{spec}': {error}")))?;
    let resolved = registry::resolve(&store, 0)?;
    let can = &resolved.capabilities;
    if !can.persistent || !resolved.kind.keeps_values() {
        return Err(CliError::Usage(format!(
            "'{spec}' keeps nothing that a power cut could leave; 'stowplan list stores' lists them"
        )));
    }
    let arguments = |verb: &str| -> Vec<OsString> {
        let (seed, transactions) = (options.seed.to_string(), options.transactions.to_string());
        [verb, spec, &seed, &transactions]
            .map(OsString::from)
            .to_vec()
    };
    // This program itself.
    let mut command = vec![OsString::new()];
    command.extend(arguments("crash-workload"));
    Ok(Subject {
        name: spec.to_owned(),
        claim: can.durability,
        transactions: can.transactions,
        command,
        verifier: Verifier::Store(arguments("crash-judge")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Settings of how values are read or statements prepared, of who chooses a row number, and of memory: they write the same bytes in the
    /// same order.
    const NOTHING_IS_WRITTEN_BY: [&str; 9] = [
        "cache",
        "preload",
        "statement",
        "open",
        "stat",
        "read",
        "buffer",
        "names",
        "ids",
    ];

    /// The store with every setting that what it writes depends on.
    fn written(resolved: &stowplan_stores::registry::Resolved) -> String {
        let settings = resolved.settings.iter();
        let settings = settings.filter(|(name, _)| !NOTHING_IS_WRITTEN_BY.contains(name));
        let pairs: Vec<String> = settings
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        format!("{}:{}", resolved.kind.name(), pairs.join(","))
    }

    #[test]
    fn whatever_a_study_credits_with_surviving_a_power_cut_is_put_to_it() {
        let resolve = |spec: &StoreSpec| registry::resolve(spec, 0);
        let tested = MATRIX
            .lines()
            .map(|spec| written(&resolve(&spec.parse().unwrap()).unwrap()));
        let tested: BTreeSet<String> = tested.collect();
        let studies = crate::studies::built_in().unwrap().into_iter();
        let expanded: Vec<_> = studies.map(stowplan_model::Study::expanded).collect();
        let comparisons = expanded.iter().flat_map(|study| &study.comparisons);
        let mut credited = 0;
        for cell in comparisons.flat_map(|comparison| comparison.cells.values()) {
            // Others belong to drivers, which the lab does not run.
            let Ok(resolved) = resolve(&cell.store) else {
                continue;
            };
            let can = &resolved.capabilities;
            let lasts = can.persistent && resolved.kind.keeps_values();
            if lasts && can.durability.class >= Durability::Consistent {
                credited += 1;
                let needed = written(&resolved);
                assert!(
                    tested.contains(&needed),
                    "{}: MATRIX lacks {needed}",
                    cell.store
                );
            }
        }
        assert!(credited > 100, "{credited}");
    }

    #[test]
    fn every_setting_stands_there_once_and_the_documents_say_how_many_there_are() {
        let different: BTreeSet<&str> = MATRIX.lines().collect();
        assert_eq!(different.len(), MATRIX.lines().count());
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/crash.md");
        let text = std::fs::read_to_string(path).unwrap();
        let told = format!("a list of {} settings", MATRIX.lines().count());
        assert!(text.contains(&told), "docs/crash.md: {told}");
    }
}
