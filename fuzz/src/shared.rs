//! What several targets do.

use std::cell::RefCell;
use std::path::Path;
use stowplan_analysis::analyse;
use stowplan_model::{Record, read_result};
use stowplan_report::terminal::{self, TerminalOptions};
use stowplan_report::{bmf, csv, github_action, html, json, markdown};

/// Calls `look` with a directory of this thread, which whoever began removes with TMPDIR.
pub(crate) fn in_directory<T>(look: impl FnOnce(&Path) -> T) -> T {
    thread_local! {
        static DIRECTORY: RefCell<Option<tempfile::TempDir>> = const { RefCell::new(None) };
    }
    DIRECTORY.with_borrow_mut(|directory| {
        let directory =
            directory.get_or_insert_with(|| tempfile::tempdir().expect("a directory is made"));
        look(directory.path())
    })
}

/// What can be read of a result is analysed and shown in every format.
pub(crate) fn shown(bytes: &[u8]) {
    let (records, _) = read_result(bytes);
    let Ok(analysis) = analyse(&records, None) else {
        return;
    };
    let options = TerminalOptions {
        width: 80,
        colour: false,
        unicode: true,
        verbose: true,
    };
    let _ = terminal::render(&analysis, &options);
    let _ = terminal::brief(&analysis, &options);
    let _ = html::render(&analysis, "");
    let _ = markdown::render(&analysis);
    let _ = csv::render(&analysis);
    let _ = (
        json::render(&analysis),
        bmf::render(&analysis),
        github_action::render(&analysis),
    );
}

/// A record as a line of a result.
pub(crate) fn line(record: &Record) -> Vec<u8> {
    let mut line = stowplan_model::encode(record).into_bytes();
    line.push(b'\n');
    line
}
