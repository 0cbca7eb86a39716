//! Fuzz targets of every parser in one program, because linking ten takes minutes.
//!
//! What must hold of an input stands in the crates, in their modules `hostile`, where property tests
//! hold it against random damage in every `cargo test`. A target only gives it what libFuzzer found.
//!
//! `STOWPLAN_FUZZ_TARGET` names the target. Without it, the inputs that fuzzing begins with are
//! written below the directory that `STOWPLAN_FUZZ_SEEDS` names, in one directory per target.
#![no_main]

mod archive;
mod database;
mod dataset;
mod index;
mod message;
mod result;
mod sequence;
mod shared;
mod study;
mod system;
mod words;

#[path = "../../crates/report/tests/report/fixture.rs"]
#[allow(dead_code, reason = "the tests of reports use all of it")]
mod fixture;
#[path = "../../crates/report/tests/report/measured_run.rs"]
#[allow(dead_code, reason = "the tests of reports use all of it")]
mod measured_run;
#[path = "../../crates/stowplan/src/values.rs"]
#[allow(dead_code, reason = "the program uses all of it")]
mod values;

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::OnceLock;

type Look = fn(&[u8]);
type Seeds = fn() -> Vec<Vec<u8>>;

/// The names of the targets, what each does with an input, and where its inputs begin.
const TARGETS: [(&str, Look, Seeds); 10] = [
    ("study", study::look, study::seeds),
    ("words", words::look, words::seeds),
    ("result", result::look, result::seeds),
    ("message", message::look, message::seeds),
    ("dataset", dataset::look, dataset::seeds),
    ("sequence", sequence::look, sequence::seeds),
    ("system", system::look, system::seeds),
    ("database", database::look, database::seeds),
    ("index", index::look, index::seeds),
    ("archive", archive::look, archive::seeds),
];

static CHOSEN: OnceLock<Look> = OnceLock::new();

fuzz_target!(init: begin(), |data: &[u8]| {
    if let Some(look) = CHOSEN.get() {
        look(data);
    }
});

fn begin() {
    let variable = |name| std::env::var(name).ok();
    if let Some(name) = variable("STOWPLAN_FUZZ_TARGET") {
        let target = TARGETS.iter().find(|target| target.0 == name);
        let (_, look, _) = target.expect("STOWPLAN_FUZZ_TARGET names a target");
        CHOSEN.get_or_init(|| *look);
    } else {
        let directory = variable("STOWPLAN_FUZZ_SEEDS").expect("STOWPLAN_FUZZ_TARGET is set");
        write_seeds(Path::new(&directory));
        std::process::exit(0);
    }
}

fn write_seeds(directory: &Path) {
    for (name, _, seeds) in TARGETS {
        let place = directory.join(name);
        std::fs::create_dir_all(&place).expect("a directory is made");
        for (number, seed) in seeds().into_iter().enumerate() {
            std::fs::write(place.join(format!("seed-{number}")), seed).expect("a seed is written");
        }
    }
}
