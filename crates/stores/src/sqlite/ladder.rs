//! A read and an overwrite by SQLite, step by step.

use super::Sqlite;
use super::options::{Api, Journal, Options, Statements, Synchronous};
use crate::Rung;
use crate::ladder::{Climb, Isolated};
use stowplan_model::{Operation, PerTransaction, Settings, Workload, WorkloadSpec};

/// More than any database here has: a cache takes what is in it.
const WHOLE_CACHE: (&str, &str) = ("cache", "16GiB");
/// As much as SQLite maps at most, about (`SQLITE_MAX_MMAP_SIZE`).
const MAPPED: (&str, &str) = ("mmap", "2000M");

pub(super) fn of(settings: &Settings, workload: &Workload) -> Vec<Rung> {
    let Ok(options) = Options::from_settings(settings) else {
        return Vec::new();
    };
    // In memory there is no file to come down to, and floors have no names.
    if !options.on_disk() || options.pragmas.names {
        return Vec::new();
    }
    match workload.operation {
        Operation::Read => reads(settings, &options, workload),
        Operation::Overwrite => overwrites(settings, &options, workload),
        _ => Vec::new(),
    }
}

/// One transaction for all, where the whole has several.
fn in_one_transaction(workload: &Workload) -> WorkloadSpec {
    WorkloadSpec {
        per_transaction: (workload.per_transaction != PerTransaction::All)
            .then_some(PerTransaction::All),
        ..WorkloadSpec::default()
    }
}

fn reads(settings: &Settings, options: &Options, workload: &Workload) -> Vec<Rung> {
    let lowest = "copying the value out of a mapped file";
    let mut climb = Climb::from(
        ("flat", &[("read", "mmap")], lowest, &[("memcpy", 1.0)]),
        &Sqlite,
        settings,
    );
    climb.under(in_one_transaction(workload));
    climb.set(&[
        ("statement", "once"),
        ("preload", "on"),
        WHOLE_CACHE,
        MAPPED,
    ]);
    // The blob interface takes tables of kvtest's form only, and copies.
    let blob = options.table.takes_blobs();
    if blob {
        let step = "finding the row in the b-tree, by the blob interface";
        climb.step(&[("api", "blob")], step, &[]);
    }
    if options.pragmas.api == Api::Sql {
        let step = match blob {
            true => "SQL: binding, stepping, a column",
            false => "finding the row in the b-tree, by SQL",
        };
        climb.step(&[("api", "sql")], step, &[]);
    }
    if options.pragmas.mmap == 0 {
        let step = "reading the pages behind the row's first by pread";
        let isolated: Isolated = &[("pread", 1.0), ("memcpy", -1.0)];
        climb.step(&[("mmap", "0")], step, isolated);
    }
    if !options.pragmas.preload {
        let cache = options.pragmas.cache.to_string();
        climb.step(
            &[("preload", "off"), ("cache", &cache)],
            "reading the row's first page: a miss of SQLite's own cache",
            &[],
        );
    }
    statement_and_transactions(&mut climb, options, workload);
    climb.to(settings)
}

fn overwrites(settings: &Settings, options: &Options, workload: &Workload) -> Vec<Rung> {
    let lowest = "one write into a file that stays open";
    let mut climb = Climb::from(
        ("flat", &[("read", "pread")], lowest, &[("pwrite", 1.0)]),
        &Sqlite,
        settings,
    );
    climb.under(in_one_transaction(workload));
    climb.set(&[("statement", "once"), ("synchronous", "off")]);
    // Without a journal nothing can be undone, so that only one thread can do without.
    if workload.threads == 1 {
        climb.set(&[("journal", "off")]);
    }
    climb.step(&[], "the b-tree, its pages read and written", &[]);
    if workload.threads == 1 && options.journal() != Journal::Off {
        climb.step(&[("journal", options.journal().word())], "the journal", &[]);
    }
    let transactions = climb.has_workload();
    if options.synchronous() != Synchronous::Off {
        let step = match transactions {
            true => "syncs of the one transaction",
            false => "syncs",
        };
        climb.step(&[("synchronous", options.synchronous().word())], step, &[]);
    }
    statement_and_transactions(&mut climb, options, workload);
    climb.to(settings)
}

fn statement_and_transactions(climb: &mut Climb, options: &Options, workload: &Workload) {
    if options.pragmas.statement != Statements::Once {
        let step = match options.pragmas.api {
            Api::Sql => "preparing the statement each time",
            Api::Blob => "opening the blob handle each time",
        };
        climb.step(&[("statement", "each")], step, &[]);
    }
    if options.pragmas.statement == Statements::Literal {
        let step = "keys and values written into the text, and read from it";
        climb.step(&[("statement", "literal")], step, &[]);
    }
    if climb.has_workload() {
        climb.under(WorkloadSpec::default());
        let step = match workload.operation.writes() {
            true => "a transaction each: locks, the journal and syncs for every one",
            false => "a transaction each: locks, and a look whether the file changed",
        };
        climb.step(&[], step, &[]);
    }
}
