//! SQLite's own check of a whole database.

use super::failed;
use crate::{Result, StoreError};
use rusqlite::Connection;

/// Reads every page, and compares indexes with their tables.
///
/// # Errors
/// Something is damaged: the first thing that SQLite says of it.
pub(crate) fn check(connection: &Connection) -> Result<()> {
    let said = connection.query_row("PRAGMA integrity_check(1)", [], |row| {
        row.get::<_, String>(0)
    });
    match said.map_err(|e| failed("check the database", &e))?.as_str() {
        "ok" => Ok(()),
        damage => Err(StoreError::engine(
            super::STORE,
            "check the database",
            damage.lines().collect::<Vec<_>>().join("; "),
        )),
    }
}
