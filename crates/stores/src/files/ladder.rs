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
    match options.stat {
        Sizing::Fstat => {
            climb.step(
                &[("stat", "fstat")],
                "fstat of the open file",
                &[("fstat", 1.0)],
            );
        }
        Sizing::Stat => {
            let step = "looking the size up by name before opening";
            climb.step(&[("stat", "stat")], step, &[("stat", 1.0)]);
        }
        Sizing::None => {}
    }
    if options.read == ReadMode::Stdio {
        let step = "stdio: its own fstat, buffer and second read";
        climb.step(&[("read", "stdio")], step, &[("fstat", 1.0)]);
    }
    if options.buffer == Memory::Fresh {
        climb.step(
            &[("buffer", "fresh")],
            "memory allocated for each value",
            &[],
        );
    }
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
    match options.write {
        WriteMode::InPlace => {}
        WriteMode::Truncate => {
            let step = "truncating: blocks are given back and taken anew";
            climb.step(&[("write", "truncate")], step, &[]);
        }
        WriteMode::Stdio => {
            let step = "truncating: blocks are given back and taken anew";
            climb.step(&[("write", "truncate")], step, &[]);
            let step = "a stream: a buffer of a block, and one more call";
            climb.step(&[("write", "stdio")], step, &[]);
        }
        WriteMode::Rename => {
            let step = "a new file, renamed over the old one";
            climb.step(&[("write", "rename")], step, &[]);
        }
    }
    if options.syncs_per_overwrite() > 0 {
        let fsync: &[(&str, f64)] = &[("fdatasync", 1.0), ("pwrite", -1.0)];
        climb.step(&[("fsync", "file")], "fsync of the file", fsync);
    }
    if options.syncs_per_overwrite() > 1 {
        climb.step(
            &[("fsync", "directory")],
            "fsync of its directory",
            &[("fdatasync", 1.0), ("pwrite", -1.0)],
        );
    }
    climb.to(settings)
}

/// From the file of its own that stays open to the one that is opened by its path.
fn open(climb: &mut Climb, options: Options, own_file: Isolated) {
    let opens = options.open != Opening::Kept;
    let tree = options.layout == Layout::Tree;
    if opens && tree {
        climb.set(&[("layout", "dir")]);
    }
    climb.step(&[], "a file of its own for each value", own_file);
    if !opens {
        return;
    }
    climb.step(
        &[("open", "directory")],
        "open and close",
        &[("open-close", 1.0)],
    );
    if tree {
        climb.step(
            &[("layout", "tree")],
            "two more directories on the way to it",
            &[],
        );
    }
    if options.open == Opening::Path {
        climb.step(
            &[("open", "path")],
            "the whole path instead of a name in an open directory",
            &[("open-close-path", 1.0), ("open-close", -1.0)],
        );
    }
}
