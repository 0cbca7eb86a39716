//! The survey of a column of a table, and the statements that read it.

use super::sizes::Sizes;
use super::{MOST_BYTES, Odd};
use crate::ArchiveError;
use crate::error::Doing;
use crate::foreign::{is_write_ahead, look_at};
use rusqlite::Connection;
use std::fs::File;
use std::path::{Path, PathBuf};
use stowplan_model::{OddityKind, Origin, Survey};

/// The most tables and columns that are named where one has to be chosen.
const MOST_NAMED: usize = 8;

/// A column of values, opened to be read: what it holds stays the same for as long as this lives.
pub(crate) struct Column {
    connection: Connection,
    path: PathBuf,
    pub(crate) table: String,
    pub(crate) column: String,
    pub(crate) key: Option<String>,
}

impl Column {
    /// Opens the column that is meant.
    pub(crate) fn open(origin: &Origin) -> Result<Self, ArchiveError> {
        let path = &origin.place;
        let file = path.canonicalize().doing("open", path)?;
        let write_ahead = is_wal(&file).doing("open", path)?;
        let connection = look_at(&file, write_ahead).doing("open the database", path)?;
        connection
            .execute_batch("BEGIN")
            .doing("open the database", path)?;
        let candidates = candidates(&connection, origin).doing("read the tables of", path)?;
        let (table, column) = choose(candidates, origin)?;
        let key = match &origin.key {
            Some(key) => Some(key.clone()),
            None => primary_key(&connection, &table).doing("read the tables of", path)?,
        };
        Ok(Self {
            connection,
            path: path.clone(),
            table,
            column,
            key,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Calls `visit` for each row, in the table's own order, with what follows `SELECT`.
    pub(crate) fn rows(
        &self,
        what: &str,
        visit: &mut dyn FnMut(&rusqlite::Row<'_>) -> Result<(), ArchiveError>,
    ) -> Result<(), ArchiveError> {
        let text = format!("SELECT {what} FROM {}", quoted(&self.table));
        let mut statement = self.connection.prepare(&text).doing("read", &self.path)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().doing("read", &self.path)? {
            visit(row)?;
        }
        Ok(())
    }

    /// Of each row: its position from 0, and the bytes of its value; none for a null or a number.
    pub(crate) fn lengths(
        &self,
        visit: &mut dyn FnMut(u64, Option<u64>, u64),
    ) -> Result<(), ArchiveError> {
        let column = quoted(&self.column);
        let key = self.key.as_deref().map_or("NULL".to_owned(), quoted);
        let what = format!(
            "CASE WHEN typeof({column}) IN ('blob','text') THEN octet_length({column}) END, \
             octet_length({key})"
        );
        let mut position = 0;
        self.rows(&what, &mut |row| {
            let number = |index| {
                let number: Option<i64> = row.get(index).doing("read", &self.path)?;
                Ok::<_, ArchiveError>(number.map(i64::unsigned_abs))
            };
            visit(position, number(0)?, number(1)?.unwrap_or(0));
            position += 1;
            Ok(())
        })
    }

    /// Whether rows are found by an integer: the key, or where there is none, the row's own number.
    fn has_integer_keys(&self) -> Result<bool, ArchiveError> {
        let Some(key) = self.key.as_deref().map(quoted) else {
            return Ok(true);
        };
        let text = format!(
            "SELECT typeof({key}) = 'integer' FROM {} LIMIT 1",
            quoted(&self.table)
        );
        let found = self.connection.query_row(&text, [], |row| row.get(0));
        found.doing("read", &self.path)
    }

    fn pragma(&self, name: &str) -> Result<u64, ArchiveError> {
        self.connection
            .query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0))
            .map(i64::unsigned_abs)
            .doing("read", &self.path)
    }
}

fn is_wal(path: &Path) -> std::io::Result<bool> {
    is_write_ahead(&File::open(path)?)
}

/// Counts the values of a column; `value` hears the position and the size of each.
pub(crate) fn survey(
    origin: &Origin,
    value: &mut dyn FnMut(u64, u64),
) -> Result<Survey, ArchiveError> {
    let column = Column::open(origin)?;
    let mut sizes = Sizes::default();
    let mut odd = Odd::default();
    let mut longest_name = 0;
    column.lengths(&mut |position, bytes, key| {
        let row = || format!("row {}", position + 1).into_bytes();
        match bytes {
            Some(bytes) => {
                sizes.add(bytes);
                value(position, bytes);
            }
            None => odd.note(OddityKind::NoBytes, &row()),
        }
        if bytes.is_some_and(|bytes| bytes > MOST_BYTES) {
            odd.note(OddityKind::TooLarge, &row());
        }
        longest_name = longest_name.max(key);
    })?;
    let page_size = column.pragma("page_size")?;
    Ok(Survey {
        page_size: Some(page_size),
        integer_keys: sizes.count > 0 && column.has_integer_keys()?,
        wal: is_wal(&origin.place).doing("read", &origin.place)?,
        allocated_bytes: page_size.saturating_mul(column.pragma("page_count")?),
        longest_name,
        longest_path: longest_name,
        odd: odd.into_list(),
        origin: Origin {
            table: Some(column.table),
            column: Some(column.column),
            key: column.key,
            ..origin.clone()
        },
        ..sizes.survey()
    })
}

/// A name as SQL has it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Tables and columns that may be meant: those that were named, else columns of blobs.
fn candidates(connection: &Connection, origin: &Origin) -> rusqlite::Result<Vec<(String, String)>> {
    const COLUMNS: &str = "SELECT t.name, c.name, upper(c.type) FROM pragma_table_list AS t \
        JOIN pragma_table_info(t.name) AS c \
        WHERE t.schema='main' AND t.type='table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
        ORDER BY t.name, c.cid";
    let is = |named: &Option<String>, name: &str| {
        named
            .as_ref()
            .is_none_or(|named| named.eq_ignore_ascii_case(name))
    };
    let mut found = Vec::new();
    let mut statement = connection.prepare(COLUMNS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (table, column, kind): (String, String, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        let meant = origin.column.is_some() || kind.is_empty() || kind.contains("BLOB");
        if meant && is(&origin.table, &table) && is(&origin.column, &column) {
            found.push((table, column));
        }
    }
    Ok(found)
}

fn choose(
    candidates: Vec<(String, String)>,
    origin: &Origin,
) -> Result<(String, String), ArchiveError> {
    let place = origin.place.display();
    match &candidates[..] {
        [(table, column)] => Ok((table.clone(), column.clone())),
        [] if origin.table.is_some() || origin.column.is_some() => {
            Err(ArchiveError::Invalid(format!(
                "{place} has no such table with such a column of blobs; name both, by --table and --column"
            )))
        }
        [] => Err(ArchiveError::Invalid(format!(
            "{place} has no table with a column of blobs; name one of another type by --table and --column"
        ))),
        several => {
            let named = several.iter().take(MOST_NAMED);
            let named: Vec<String> = named
                .map(|(table, column)| format!("--table {table} --column {column}"))
                .collect();
            let more = if several.len() > MOST_NAMED {
                ", …"
            } else {
                ""
            };
            Err(ArchiveError::Invalid(format!(
                "{place} has several columns of blobs; choose one: {}{more}",
                named.join(", ")
            )))
        }
    }
}

/// The column that is the primary key by itself.
fn primary_key(connection: &Connection, table: &str) -> rusqlite::Result<Option<String>> {
    let mut statement =
        connection.prepare("SELECT name FROM pragma_table_info(?1) WHERE pk>0 LIMIT 2")?;
    let names: Vec<String> = statement
        .query_map([table], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(match <[String; 1]>::try_from(names) {
        Ok([name]) => Some(name),
        Err(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey;

    fn database(directory: &Path, sql: &str) -> Origin {
        let place = directory.join("x.db");
        let connection = Connection::open(&place).unwrap();
        connection.execute_batch(sql).unwrap();
        Origin {
            place,
            ..Origin::default()
        }
    }

    #[test]
    fn the_only_column_of_blobs_is_meant_with_the_primary_key() {
        let directory = tempfile::tempdir().unwrap();
        let origin = database(
            directory.path(),
            "CREATE TABLE pictures(name TEXT PRIMARY KEY, taken INT, \"the data\" BLOB);
             INSERT INTO pictures VALUES('a.jpg', 1, zeroblob(100000)), ('bb.jpg', 2, x'0102'),
               ('c', 3, NULL), ('d', 4, 'text ü'), ('e', 5, 17);",
        );
        let found = survey::survey(&origin).unwrap();
        let origin = &found.origin;
        assert_eq!(origin.table.as_deref(), Some("pictures"));
        assert_eq!(origin.column.as_deref(), Some("the data"));
        assert_eq!(origin.key.as_deref(), Some("name"));
        assert_eq!((found.values, found.bytes), (3, 100_009));
        assert_eq!((found.longest_name, found.largest), (6, 100_000));
        assert_eq!(found.count_of(OddityKind::NoBytes), 2);
        assert!(found.allocated_bytes > 100_000 && found.page_size == Some(4096));
    }

    #[test]
    fn where_several_columns_can_be_meant_they_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let origin = database(
            directory.path(),
            "CREATE TABLE a(x BLOB, y BLOB); CREATE TABLE b(n INTEGER PRIMARY KEY, z BLOB);",
        );
        let refused = survey::survey(&origin).unwrap_err().to_string();
        assert!(
            refused.contains("--table a --column y, --table b --column z"),
            "{refused}"
        );
        let named = Origin {
            table: Some("B".to_owned()),
            ..origin.clone()
        };
        let found = survey::survey(&named).unwrap().origin;
        assert_eq!(
            (found.column.as_deref(), found.key.as_deref()),
            (Some("z"), Some("n"))
        );
        let missing = Origin {
            column: Some("q".to_owned()),
            ..origin
        };
        let refused = survey::survey(&missing).unwrap_err().to_string();
        assert!(refused.contains("no such table"), "{refused}");
    }

    #[test]
    fn looking_leaves_nothing_beside_a_database_in_wal_mode_whatever_its_name() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("100%?#.db");
        Connection::open(&place)
            .unwrap()
            .execute_batch(
                "PRAGMA journal_mode=wal; CREATE TABLE t(v BLOB); INSERT INTO t VALUES('x')",
            )
            .unwrap();
        let origin = Origin {
            place,
            ..Origin::default()
        };
        let found = survey::survey(&origin).unwrap();
        assert_eq!((found.values, found.wal), (1, true));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_place_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("text");
        std::fs::write(&file, "dear").unwrap();
        let told = |place: &Path| {
            let origin = Origin {
                place: place.to_owned(),
                ..Origin::default()
            };
            survey::survey(&origin).unwrap_err().to_string()
        };
        assert!(told(&file).contains("not an SQLite database, nor a directory"));
        assert!(told(&directory.path().join("nowhere")).contains("nowhere"));
    }
}
