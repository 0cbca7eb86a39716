//! What several targets do.

use std::cell::RefCell;
use std::path::Path;
use stowplan_analysis::analyse;
use stowplan_model::{Record, read_result};
use stowplan_report::document::Detail;
use stowplan_report::render::terminal::{self, TerminalOptions};
use stowplan_report::render::{html, markdown};
use stowplan_report::{csv, github_action, json, run};

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
    let document = run::document(&analysis, "");
    for detail in [Detail::Answer, Detail::Summary, Detail::Full] {
        let options = TerminalOptions {
            width: 80,
            colour: false,
            detail,
        };
        let _ = match detail {
            Detail::Full => terminal::render(&document, &options),
            _ => terminal::on_one_screen(|rows| run::screen(&analysis, rows), &options),
        };
    }
    let _ = html::render(&document);
    let _ = markdown::render(&document);
    let _ = csv::render(&analysis);
    let _ = (json::render(&analysis), github_action::render(&analysis));
}

/// A record as a line of a result.
pub(crate) fn line(record: &Record) -> Vec<u8> {
    let mut line = stowplan_model::encode(record).into_bytes();
    line.push(b'\n');
    line
}
