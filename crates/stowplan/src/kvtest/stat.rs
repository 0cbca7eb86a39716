//! `stowplan stat`.

use super::{StatOptions, under_kvtests_lines};
use crate::error::{CliError, Exit};
use crate::form::{DOCUMENT, Form};
use crate::places::survey;
use crate::screen;
use stowplan_archive::ArchiveError;
use stowplan_harness::HarnessError;
use stowplan_kvtest::KvtestError;
use stowplan_kvtest::inspect::{self, Container, Database};
use stowplan_report::document::{Detail, Document, remark};
use stowplan_report::stat::{self, Pages, Stat};

/// The most faults that are shown, as by kvtest.
const FAULTS_SHOWN: u32 = 10;

/// Shows what is in a database of blobs, or in a directory of them.
pub(crate) fn stat(options: &StatOptions) -> Result<Exit, CliError> {
    let form = options.form.asked(DOCUMENT)?;
    if options.column.is_given() {
        return stat_of_any(options, &form, CliError::place);
    }
    let container = match inspect::recognise(&options.place) {
        Ok(container) => container,
        Err(refusal) => {
            return stat_of_any(options, &form, |error| match error {
                // Of a database that SQLite does not open, kvtest's refusal says more.
                ArchiveError::Sqlite { .. } => refusal.into(),
                error => CliError::place(error),
            });
        }
    };
    if options.vacuum {
        vacuum(options, container, &form)?;
    }
    let pages = match container {
        Container::Database => Some(pages(options)?),
        Container::Dir | Container::Tree => None,
    };
    let mut origin = options.column.at(&options.place);
    if container == Container::Database && origin.column.is_none() && origin.table.is_none() {
        // Whatever else lies there.
        (origin.table, origin.column) = (Some("kv".to_owned()), Some("v".to_owned()));
    }
    let found = survey(&origin);
    let stat = Stat {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        place: options.place.display().to_string(),
        held: container.name(),
        survey: found.as_ref().ok().cloned(),
        pages,
    };
    let document = under_kvtests_lines(stat::document(&stat), &form);
    write(options, &form, document, || stat::json(&stat))?;
    if let Err(error) = found {
        return Err(CliError::work(HarnessError::invalid(error.to_string())));
    }
    let mut faults = stat.pages.iter().flat_map(|pages| &pages.integrity);
    Ok(Exit::done_if(faults.all(|line| line == "ok")))
}

/// Shows what is in a place that kvtest would not know.
fn stat_of_any(
    options: &StatOptions,
    form: &Form<'_>,
    refused: impl FnOnce(ArchiveError) -> CliError,
) -> Result<Exit, CliError> {
    if options.vacuum {
        return Err(CliError::Usage(format!(
            "--vacuum is for databases with the table kv, and {} is none; leave it out",
            options.place.display()
        )));
    }
    let found = survey(&options.column.at(&options.place)).map_err(refused)?;
    write(
        options,
        form,
        stowplan_report::survey::document(&found),
        || stowplan_report::survey::json(&found, env!("CARGO_PKG_VERSION")),
    )?;
    Ok(Exit::Done)
}

/// Writes what was found; on a terminal without what a study needs of it, unless that is asked for.
fn write(
    options: &StatOptions,
    form: &Form<'_>,
    mut document: Document,
    json: impl FnOnce() -> serde_json::Result<String>,
) -> Result<(), CliError> {
    let detail = options.form.print.detail();
    if form.is_terminal() && detail == Detail::Summary {
        document
            .blocks
            .push(remark("As datasets for a study file: --verbose."));
    }
    form.write(&document, detail, |_| json())
}

/// As kvtest says it; every other form stands alone.
fn vacuum(options: &StatOptions, container: Container, form: &Form<'_>) -> Result<(), CliError> {
    if container != Container::Database {
        return Err(CliError::Usage(format!(
            "{} is a directory; only a database can be vacuumed, so leave --vacuum out",
            options.place.display()
        )));
    }
    Database::open(&options.place)
        .and_then(|mut database| database.vacuum())
        .map_err(|error| CliError::work(KvtestError::from(error)))?;
    if form.is_terminal() {
        screen::print("Vacuuming....       done");
    }
    Ok(())
}

fn pages(options: &StatOptions) -> stowplan_stores::Result<Pages> {
    let database = Database::open(&options.place)?;
    Ok(Pages {
        page_size: database.number("page_size")?,
        page_count: database.number("page_count")?,
        free: database.number("freelist_count")?,
        integrity: database.integrity_check(FAULTS_SHOWN)?,
    })
}
