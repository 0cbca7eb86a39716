//! A read and an overwrite of a file, step by step.

use super::name::Layout;
use super::{KIND, Memory, Opening, Options, ReadMode, Sizing, WriteMode};
use crate::Rung;
use crate::ladder::{Climb, Isolated};
use crate::options::StoreOptions as _;
use stowplan_model::{Operation, Settings, Workload};

pub(super) fn of(settings: &Settings, workload: &Workload) -> Vec<Rung> {
    let Ok(options) = Options::from_settings(settings) else {
        return Vec::new();
    };
    if options.names {
        return Vec::new();
    }
    match workload.operation {
        Operation::Read => reads(settings, options),
        Operation::Overwrite => overwrites(settings, options),
        _ => Vec::new(),
    }
}

fn reads(settings: &Settings, options: Options) -> Vec<Rung> {
    let lowest = "one read of a file that stays open";
    let mut climb = Climb::from(
        ("flat", &[("read", "pread")], lowest, &[("pread", 1.0)]),
        KIND,
        settings,
    );
    climb.set(&[
        ("open", "kept"),
        ("stat", "none"),
        ("read", "plain"),
        ("buffer", "reused"),
        ("write", "truncate"),
        ("fsync", "off"),
    ]);
    open(&mut climb, options, &[]);
    climb.step(
        options.stat == Sizing::Fstat,
        &[("stat", "fstat")],
        "fstat of the open file",
        &[("fstat", 1.0)],
    );
    climb.step(
        options.stat == Sizing::Stat,
        &[("stat", "stat")],
        "looking the size up by name before opening",
        &[("stat", 1.0)],
    );
    climb.step(
        options.read == ReadMode::Stdio,
        &[("read", "stdio")],
        "stdio: its own fstat, buffer and second read",
        &[("fstat", 1.0)],
    );
    climb.step(
        options.buffer == Memory::Fresh,
        &[("buffer", "fresh")],
        "memory allocated for each value",
        &[],
    );
    climb.to(settings)
}

fn overwrites(settings: &Settings, options: Options) -> Vec<Rung> {
    let lowest = "one write into a file that stays open";
    let mut climb = Climb::from(
        ("flat", &[("read", "pread")], lowest, &[("pwrite", 1.0)]),
        KIND,
        settings,
    );
    climb.set(&[
        ("open", "kept"),
        ("stat", "fstat"),
        ("read", "plain"),
        ("buffer", "reused"),
        ("write", "in-place"),
        ("fsync", "off"),
    ]);
    open(&mut climb, options, &[("fstat", 1.0)]);
    let stream = options.write == WriteMode::Stdio;
    climb.step(
        options.write == WriteMode::Truncate || stream,
        &[("write", "truncate")],
        "truncating: blocks are given back and taken anew",
        &[],
    );
    climb.step(
        stream,
        &[("write", "stdio")],
        "a stream: a buffer of a block, and one more call",
        &[],
    );
    climb.step(
        options.write == WriteMode::Rename,
        &[("write", "rename")],
        "a new file, renamed over the old one",
        &[],
    );
    let (syncs, fsync): (_, Isolated) = (
        options.syncs_per_overwrite(),
        &[("fdatasync", 1.0), ("pwrite", -1.0)],
    );
    climb.step(syncs > 0, &[("fsync", "file")], "fsync of the file", fsync);
    climb.step(
        syncs > 1,
        &[("fsync", "directory")],
        "fsync of its directory",
        fsync,
    );
    climb.to(settings)
}

/// From the file of its own that stays open to the one that is opened by its path.
fn open(climb: &mut Climb, options: Options, own_file: Isolated) {
    let opens = options.open != Opening::Kept;
    let tree = options.layout == Layout::Tree;
    if opens && tree {
        climb.set(&[("layout", "dir")]);
    }
    climb.step(true, &[], "a file of its own for each value", own_file);
    climb.step(
        opens,
        &[("open", "directory")],
        "open and close",
        &[("open-close", 1.0)],
    );
    climb.step(
        opens && tree,
        &[("layout", "tree")],
        "two more directories on the way to it",
        &[],
    );
    climb.step(
        options.open == Opening::Path,
        &[("open", "path")],
        "the whole path instead of a name in an open directory",
        &[("open-close-path", 1.0), ("open-close", -1.0)],
    );
}
