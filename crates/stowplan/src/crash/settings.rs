//! What is tested: the stores that were named, all of them, or a program.

use super::CrashOptions;
use crate::error::CliError;
use std::ffi::OsString;
use stowplan_crashlab::{Subject, Verifier};
use stowplan_model::{Durability, DurabilityClaim, StoreSpec};
use stowplan_stores::registry;

/// Settings that differ in what they promise, or in how they keep it.
const MATRIX: [&str; 37] = [
    "sqlite:journal=wal,synchronous=full",
    "sqlite:journal=wal,synchronous=normal",
    "sqlite:journal=wal,synchronous=off",
    "sqlite:journal=delete,synchronous=extra",
    "sqlite:journal=delete,synchronous=full",
    "sqlite:journal=delete,synchronous=normal",
    "sqlite:journal=delete,synchronous=off",
    "sqlite:journal=truncate,synchronous=extra",
    "sqlite:journal=truncate,synchronous=full",
    "sqlite:journal=truncate,synchronous=normal",
    "sqlite:journal=persist,synchronous=full",
    "sqlite:journal=persist,synchronous=normal",
    "sqlite:journal=memory,synchronous=full",
    "sqlite:journal=off,synchronous=full",
    "sqlite:journal=wal,synchronous=full,api=blob",
    "sqlite:journal=delete,synchronous=full,locking=exclusive",
    "files:write=truncate",
    "files:write=truncate,fsync=file",
    "files:write=in-place,fsync=file",
    "files:write=rename",
    "files:write=rename,fsync=file",
    "files:write=rename,fsync=directory",
    "files:write=rename,fsync=directory,layout=tree",
    "files-indexed",
    "files-indexed:write=rename,fsync=directory",
    "split:write=rename,fsync=directory,journal=wal,synchronous=full",
    "sqlite-buffered",
    "lmdb",
    "lmdb:write_map=on",
    "lmdb:sync=no-meta",
    "lmdb:sync=none",
    "redb",
    "redb:durability=none",
    "fjall",
    "document",
    "document:fsync=file",
    "document:fsync=directory",
];

/// What the command line asks for.
pub(super) fn subjects(options: &CrashOptions) -> Result<Vec<Subject>, CliError> {
    if let (Some(program), Some(check)) = (&options.program, &options.check) {
        return Ok(vec![of_program(program, check, options.promise.into())]);
    }
    let all = MATRIX.map(str::to_owned);
    let named = match options.stores.is_empty() {
        true => &all[..],
        false => &options.stores[..],
    };
    named.iter().map(|spec| of_store(spec, options)).collect()
}

fn of_program(program: &str, check: &str, class: Durability) -> Subject {
    Subject {
        name: program.to_owned(),
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
            "'{spec}' keeps nothing that a power cut could leave; 'stowplan stores' lists stores"
        )));
    }
    let arguments = |verb: &str| -> Vec<OsString> {
        let (seed, transactions) = (options.seed.to_string(), options.transactions.to_string());
        let words = [
            verb,
            "--store",
            spec,
            "--seed",
            &seed,
            "--transactions",
            &transactions,
        ];
        words.map(OsString::from).to_vec()
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

    #[test]
    fn every_setting_stands_there_once_and_the_documents_say_how_many_there_are() {
        let different: BTreeSet<&str> = MATRIX.into_iter().collect();
        assert_eq!(different.len(), MATRIX.len());
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/crash.md");
        let text = std::fs::read_to_string(path).unwrap();
        let told = format!("a list of {} settings", MATRIX.len());
        assert!(text.contains(&told), "docs/crash.md: {told}");
    }
}
