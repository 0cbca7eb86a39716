//! Study files: read, written as a result holds them, expanded and planned.

use std::path::Path;
use stowplan_harness::drivers::Drivers;

pub(crate) fn look(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Some(study) = stowplan_model::hostile::study(text) {
        let drivers = Drivers::described_by(stowplan_driver::describe);
        stowplan_harness::hostile::planned(&study, &drivers);
    }
}

/// The built-in studies.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../studies");
    let entries = std::fs::read_dir(directory).expect("the studies are there");
    let paths = entries.flatten().map(|entry| entry.path());
    let files = paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    files
        .map(|path| std::fs::read(path).expect("a study is there"))
        .collect()
}
