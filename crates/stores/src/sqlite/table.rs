//! The table of values: how a key and a value become a row, and a row a value again.

use super::key_failed;
use super::options::Options;
use super::statement::Parameters;
use crate::names::added;
use crate::options::refuse;
use crate::{Buffer, Key, KeyBytes, KeyForm, Result, StoreError};
use rusqlite::Row;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};

impl Options {
    /// Whether a blob handle can be opened on its values: they lie in one column of bytes, in rows
    /// that have a number.
    pub(super) fn takes_blobs(&self) -> bool {
        self.pragmas.columns == 1 && !self.is_text() && self.pragmas.key == KeyForm::Integer
    }

    /// What follows `CREATE TABLE`.
    pub(super) fn defined(&self) -> String {
        let key = match self.pragmas.key {
            KeyForm::Integer => "INTEGER",
            KeyForm::Text => "TEXT",
        };
        let kind = if self.is_text() { "TEXT" } else { "BLOB" };
        let values = self.each(|column| format!("{column} {kind}"));
        let rowid = if self.pragmas.rowid {
            ""
        } else {
            " WITHOUT ROWID"
        };
        format!("kv(k {key} PRIMARY KEY, {}){rowid}", values.join(", "))
    }

    /// Something about each column of the value.
    fn each(&self, of: impl Fn(String) -> String) -> Vec<String> {
        let name = |number| match self.pragmas.columns {
            1 => self.column.to_owned(),
            _ => format!("{}{number}", self.column),
        };
        (1..=self.pragmas.columns)
            .map(|number| of(name(number)))
            .collect()
    }

    /// The columns of the value: a row that is read begins with them.
    fn values(&self) -> String {
        self.each(|column| column).join(",")
    }

    /// By parameter 1, the key.
    pub(super) fn select(&self) -> String {
        format!("SELECT {} FROM kv WHERE k=?1", self.values())
    }

    /// By parameter 1, the key, and 2, the number of rows; the key follows the value.
    pub(super) fn select_from(&self) -> String {
        let values = self.values();
        format!("SELECT {values},k FROM kv WHERE k>=?1 ORDER BY k LIMIT ?2")
    }

    /// By the parameters that [`Self::bind`] sets, for each of so many rows.
    pub(super) fn insert(&self, rows: usize) -> String {
        let row = format!("(?{})", ",?".repeat(self.pragmas.columns));
        let rows = vec![row; rows].join(",");
        format!("INSERT INTO kv(k,{}) VALUES{rows}", self.values())
    }

    /// By the parameters that [`Self::bind_value`] sets, from 1 on; SQLite assigns the key.
    pub(super) fn insert_unnumbered(&self) -> String {
        let row = self.each(|_| "?".to_owned()).join(",");
        format!("INSERT INTO kv({}) VALUES({row})", self.values())
    }

    /// By the parameters that [`Self::bind`] sets.
    pub(super) fn update(&self) -> String {
        let names = self.each(|column| column);
        let set = |(name, parameter): (&String, u32)| format!("{name}=?{parameter}");
        let sets: Vec<String> = names.iter().zip(2..).map(set).collect();
        format!("UPDATE kv SET {} WHERE k=?1", sets.join(","))
    }

    /// By parameter 1, the key.
    pub(super) const DELETE: &'static str = "DELETE FROM kv WHERE k=?1";

    /// The key as the table has it; nothing for one that no row can have.
    #[inline]
    pub(super) fn key(&self, key: Key) -> Option<RowKey<'_>> {
        match (self.pragmas.key, &self.names) {
            (KeyForm::Integer, _) => row_id(key).map(RowKey::Number),
            (form @ KeyForm::Text, None) => Some(RowKey::Text(form.bytes(key))),
            (KeyForm::Text, Some(names)) => Some(match names.name(key) {
                Some(name) => RowKey::Name(name.to_bytes()),
                // No value has this key; a scan that begins there begins before all names.
                None if key.0 == 0 => RowKey::Name(b""),
                None => RowKey::Added(added(key)),
            }),
        }
    }

    /// The key of a row of a scan.
    pub(super) fn key_of(&self, row: &Row<'_>) -> Result<Key> {
        let scan_failed = |e: rusqlite::Error| super::failed("scan", &e);
        if self.pragmas.key == KeyForm::Integer {
            let k: i64 = row.get(self.pragmas.columns).map_err(scan_failed)?;
            return Ok(Key(k.unsigned_abs()));
        }
        let k = row.get_ref(self.pragmas.columns).map_err(scan_failed)?;
        let k = k.as_bytes().unwrap_or_default();
        match &self.names {
            None => self.pragmas.key.key(k),
            Some(names) => names.key(k).ok_or_else(|| {
                StoreError::engine(
                    "read a key",
                    format!("'{}' is none of ours", k.escape_ascii()),
                )
            }),
        }
    }

    /// Sets the parameters of the row with this number, from 0, of a statement. rusqlite has SQLite
    /// copy the value here, as it cannot know that the statement runs at once.
    pub(super) fn bind(
        &self,
        parameters: &mut Parameters<'_, '_>,
        row: usize,
        k: &RowKey<'_>,
        value: &[u8],
    ) -> Result<()> {
        let first = 1 + row * (1 + self.pragmas.columns);
        parameters.set(first, k)?;
        self.bind_value(parameters, first + 1, value)
    }

    /// Sets the parameters of a value, of which this is the first.
    pub(super) fn bind_value(
        &self,
        parameters: &mut Parameters<'_, '_>,
        first: usize,
        value: &[u8],
    ) -> Result<()> {
        for column in 0..self.pragmas.columns {
            let piece = &value[self.cut(value, column)..self.cut(value, column + 1)];
            let piece = match self.is_text() {
                true => ValueRef::Text(piece),
                false => ValueRef::Blob(piece),
            };
            parameters.set(first + column, ToSqlOutput::Borrowed(piece))?;
        }
        Ok(())
    }

    /// Where this column begins, from 0, in a value that [`Self::check`] has passed. None begins
    /// within a character.
    fn cut(&self, value: &[u8], column: usize) -> usize {
        let continues = |at: usize| value.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
        let mut at = column * value.len() / self.pragmas.columns;
        while self.is_text() && continues(at) {
            at -= 1;
        }
        at
    }

    /// The key of a new row, if the table can keep that with this value.
    pub(super) fn key_to_insert(&self, key: Key, value: &[u8]) -> Result<RowKey<'_>> {
        refuse! {
            self.names.is_some() && key.0 == 0 => "keep a value of key 0",
                "with names=on the first key is 1, as names begin there";
        }
        self.check(key, value)?;
        let beyond = || {
            let what = format!("insert key {key}");
            StoreError::unsupported(what, "its keys are signed 64-bit numbers")
        };
        self.key(key).ok_or_else(beyond)
    }

    /// Whether the columns can keep a value.
    pub(super) fn check(&self, key: Key, value: &[u8]) -> Result<()> {
        refuse! {
            self.is_text() && std::str::from_utf8(value).is_err() => format!("keep the value of key {key}"),
                "with column_type=text a value is UTF-8, and this is not; use column_type=blob, or a dataset with content = \"guid\"";
        }
        Ok(())
    }

    /// The value of a row, where SQLite has it; for tables of one column.
    #[inline]
    pub(super) fn lend<'r>(&self, row: &'r Row<'_>, key: Key) -> Result<&'r [u8]> {
        debug_assert_eq!(self.pragmas.columns, 1, "a value lies in one place");
        value(row, 0, key)
    }

    /// Copies the value of a row, and returns its size.
    #[inline]
    pub(super) fn copy(&self, row: &Row<'_>, key: Key, buffer: &mut Buffer) -> Result<usize> {
        if self.pragmas.columns == 1 {
            let value = value(row, 0, key)?;
            buffer.copy_from(value)?;
            return Ok(value.len());
        }
        let mut bytes = 0;
        for column in 0..self.pragmas.columns {
            bytes += value(row, column, key)?.len();
        }
        let mut room = buffer.room(bytes)?;
        for column in 0..self.pragmas.columns {
            let piece = value(row, column, key)?;
            let (here, rest) = room.split_at_mut(piece.len());
            here.copy_from_slice(piece);
            room = rest;
        }
        Ok(bytes)
    }
}

/// A key as a table has it.
pub(super) enum RowKey<'n> {
    Number(i64),
    Text(KeyBytes),
    Name(&'n [u8]),
    Added(String),
}

impl ToSql for RowKey<'_> {
    #[inline]
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Number(number) => ToSqlOutput::from(*number),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_ref())),
            Self::Name(name) => ToSqlOutput::Borrowed(ValueRef::Text(name)),
            Self::Added(name) => ToSqlOutput::Borrowed(ValueRef::Text(name.as_bytes())),
        })
    }
}

/// Row ids are signed; no row has a key beyond them.
pub(crate) fn row_id(key: Key) -> Option<i64> {
    i64::try_from(key.0).ok()
}

/// The value in a column of a row.
pub(crate) fn value<'r>(row: &'r Row<'_>, column: usize, key: Key) -> Result<&'r [u8]> {
    match row.get_ref(column) {
        Ok(ValueRef::Blob(bytes) | ValueRef::Text(bytes)) => Ok(bytes),
        Ok(other) => {
            let detail = format!("it is of type {}, not a blob", other.data_type());
            Err(StoreError::damaged(key, detail))
        }
        Err(error) => Err(key_failed("read", key, &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Names;
    use crate::{sqlite, testing};
    use stowplan_dataset::names;

    fn options(given: &[(&str, &str)]) -> Options {
        let settings = testing::settings(sqlite::KIND, given);
        Options::from_settings(&settings).unwrap()
    }

    fn of_text() -> Options {
        options(&[
            ("key", "text"),
            ("rowid", "off"),
            ("columns", "3"),
            ("column_type", "text"),
        ])
    }

    #[test]
    fn the_table_of_the_defaults_is_that_of_kvtest() {
        let table = options(&[]);
        assert_eq!(table.definition, "kv(k INTEGER PRIMARY KEY, v BLOB)");
        assert_eq!(table.select(), "SELECT v FROM kv WHERE k=?1");
        assert_eq!(table.insert(1), "INSERT INTO kv(k,v) VALUES(?,?)");
        assert_eq!(table.update(), "UPDATE kv SET v=?2 WHERE k=?1");
    }

    #[test]
    fn no_value_has_key_0_where_values_have_names() {
        let place = tempfile::tempdir().unwrap();
        let store = place.path().join("store");
        names::write(&names::beside(&store), [&b"a"[..]].into_iter()).unwrap();
        let names = Names::of(&store, true).unwrap();
        let table = of_text().with_names(names);
        assert!(table.key_to_insert(Key(0), b"").is_err());
        assert!(table.key_to_insert(Key(1), b"").is_ok());
        assert!(table.key_to_insert(Key(2), b"").is_ok());
        assert!(of_text().key_to_insert(Key(0), b"").is_ok());
    }

    #[test]
    fn statements_have_every_column() {
        assert_eq!(
            of_text().definition,
            "kv(k TEXT PRIMARY KEY, v1 TEXT, v2 TEXT, v3 TEXT) WITHOUT ROWID"
        );
        assert_eq!(
            of_text().insert(2),
            "INSERT INTO kv(k,v1,v2,v3) VALUES(?,?,?,?),(?,?,?,?)"
        );
        assert_eq!(
            of_text().update(),
            "UPDATE kv SET v1=?2,v2=?3,v3=?4 WHERE k=?1"
        );
        assert_eq!(
            of_text().select_from(),
            "SELECT v1,v2,v3,k FROM kv WHERE k>=?1 ORDER BY k LIMIT ?2"
        );
    }
}
