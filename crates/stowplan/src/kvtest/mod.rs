//! SQLite's kvtest, verb for verb: `init`, `stat`, `export` and `run`.

mod export;
mod init;
mod options;
mod run;
mod stat;
mod words;

pub(crate) use export::export;
pub(crate) use init::init;
pub(crate) use options::with_double_dashes;
pub(crate) use options::{
    ColumnOptions, ExportOptions, InitOptions, MAPPING, RunOptions, StatOptions,
};
pub(crate) use run::run;
pub(crate) use stat::stat;

use crate::form::Form;
use stowplan_report::document::Document;

/// On a terminal kvtest's lines stand first, without a title, so that what reads kvtest's output
/// reads ours.
fn under_kvtests_lines(document: Document, form: &Form<'_>) -> Document {
    if !form.is_terminal() {
        return document;
    }
    Document {
        title: String::new(),
        ..document
    }
}
