//! A read and an overwrite of a file, step by step.

use super::{KIND, Opening, Options};
use crate::ladder::{Climb, Isolated, Step, steps};
use crate::options::StoreOptions as _;
use stowplan_model::{Operation, Rung, Settings, Workload};

/// From a file that stays open to the one that the name leads to.
const OPENING: &[Step] = steps! {
    open = "directory" | "path": "open and close", "open-close" 1.0;
    layout = "tree": "two more directories on the way to it";
    open = "path": "the whole path instead of a name in an open directory", "open-close-path" 1.0, "open-close" -1.0;
};

const READING: &[Step] = steps! {
    stat = "fstat": "fstat of the open file", "fstat" 1.0;
    stat = "stat": "looking the size up by name before opening", "stat" 1.0;
    read = "stdio": "stdio: its own fstat, buffer and second read", "fstat" 1.0;
    buffer = "fresh": "memory allocated for each value";
};

const WRITING: &[Step] = steps! {
    write = "truncate" | "stdio": "truncating: blocks are given back and taken anew";
    write = "stdio": "a stream: a buffer of a block, and one more call";
    write = "rename": "a new file, renamed over the old one";
    fsync = "file" | "directory": "fsync of the file", "fdatasync" 1.0, "pwrite" -1.0;
    fsync = "directory": "fsync of its directory", "fdatasync" 1.0, "pwrite" -1.0;
};

pub(super) fn of(settings: &Settings, workload: &Workload) -> Vec<Rung> {
    let Ok(options) = Options::from_settings(settings) else {
        return Vec::new();
    };
    // A value under its own name has no rung below it: floors have no names.
    let (lowest, begin, own_file, steps): (_, _, Isolated, _) = match workload.operation {
        _ if options.names => return Vec::new(),
        Operation::Read => {
            let lowest: (_, _, Isolated) = (
                "pread",
                "one read of a file that stays open",
                &[("pread", 1.0)],
            );
            let begin = [("stat", "none"), ("write", "truncate")];
            (lowest, begin, &[], READING)
        }
        Operation::Overwrite => {
            let lowest: (_, _, Isolated) = (
                "pread",
                "one write into a file that stays open",
                &[("pwrite", 1.0)],
            );
            let begin = [("stat", "fstat"), ("write", "in-place")];
            (lowest, begin, &[("fstat", 1.0)], WRITING)
        }
        _ => return Vec::new(),
    };
    let mut climb = Climb::from(lowest, KIND, settings);
    climb.set(&begin);
    let plain = [("read", "plain"), ("buffer", "reused"), ("fsync", "off")];
    climb.set(&plain);
    climb.set(&[("open", "kept")]);
    if options.open != Opening::Kept {
        climb.set(&[("layout", "dir")]);
    }
    climb.rung("a file of its own for each value", own_file);
    climb.steps(OPENING);
    climb.steps(steps);
    climb.finish()
}
