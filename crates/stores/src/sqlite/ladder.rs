//! A read and an overwrite by SQLite, step by step.

use super::KIND;
use super::options::{Api, Options};
use crate::ladder::{Climb, steps};
use stowplan_model::{Operation, PerTransaction, Rung, Settings, Workload, WorkloadSpec};

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
    let mut climb = Climb::from(("mmap", lowest, &[("memcpy", 1.0)]), KIND, settings);
    climb.under(in_one_transaction(workload));
    climb.set(&[
        ("statement", "once"),
        ("preload", "on"),
        WHOLE_CACHE,
        MAPPED,
    ]);
    // The blob interface takes tables of kvtest's form only, and copies.
    let blob = options.takes_blobs();
    if blob {
        climb.set(&[("api", "blob")]);
        climb.rung("finding the row in the b-tree, by the blob interface", &[]);
    }
    if options.pragmas.api == Api::Sql {
        climb.set(&[("api", "sql")]);
        let by_sql = match blob {
            true => "SQL: binding, stepping, a column",
            false => "finding the row in the b-tree, by SQL",
        };
        climb.rung(by_sql, &[]);
    }
    climb.steps(steps! {
        mmap = "0": "reading the pages behind the row's first by pread", "pread" 1.0, "memcpy" -1.0;
    });
    if !options.pragmas.preload {
        climb.set(&[("cache", &options.pragmas.cache.to_string())]);
        climb.take(
            "preload",
            "reading the row's first page: a miss of SQLite's own cache",
        );
    }
    statement_and_transactions(&mut climb, options, workload);
    climb.finish()
}

fn overwrites(settings: &Settings, options: &Options, workload: &Workload) -> Vec<Rung> {
    let lowest = "one write into a file that stays open";
    let mut climb = Climb::from(("pread", lowest, &[("pwrite", 1.0)]), KIND, settings);
    climb.under(in_one_transaction(workload));
    climb.set(&[("statement", "once"), ("synchronous", "off")]);
    // Without a journal nothing can be undone, so that only one thread can do without.
    if workload.threads == 1 {
        climb.set(&[("journal", "off")]);
    }
    climb.rung("the b-tree, its pages read and written", &[]);
    climb.take("journal", "the journal");
    let syncs = match climb.has_workload() {
        true => "syncs of the one transaction",
        false => "syncs",
    };
    climb.take("synchronous", syncs);
    statement_and_transactions(&mut climb, options, workload);
    climb.finish()
}

fn statement_and_transactions(climb: &mut Climb<'_>, options: &Options, workload: &Workload) {
    climb.steps(match options.pragmas.api {
        Api::Sql => steps! { statement = "each" | "literal": "preparing the statement each time"; },
        Api::Blob => {
            steps! { statement = "each" | "literal": "opening the blob handle each time"; }
        }
    });
    climb.steps(steps! {
        statement = "literal": "keys and values written into the text, and read from it";
    });
    if climb.has_workload() {
        climb.under(WorkloadSpec::default());
        let step = match workload.operation.writes() {
            true => "a transaction each: locks, the journal and syncs for every one",
            false => "a transaction each: locks, and a look whether the file changed",
        };
        climb.rung(step, &[]);
    }
}
