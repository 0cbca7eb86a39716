//! Operations on the table.

use super::assigned::AssignedIds;
use super::blob::BlobHandle;
use super::options::{Api, Options, Statements};
use super::statement::{Owned, Parameters, Sql};
use super::table::{RowKey, row_id};
use super::{counters, database, is_key_taken};
use crate::error::{at, at_key};
use crate::options::refuse;
use crate::{Access, Buffer, Counters, Found, Key, PageFill, Result, Session, StoreError, Visit};
use rusqlite::{Connection, Row};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use stowplan_model::{Setting, Settings};

/// The counter of transactions that changed something and were committed, as SQLite's commit hook
/// counts them.
pub const COMMITS_COUNTED: &str = "Commits";

/// One thread's connection to a database, with all that it keeps prepared.
pub(crate) struct SqliteSession<'s> {
    options: &'s Options,
    /// Transactions that changed something, as the commit hook counts them.
    commits: Arc<AtomicU64>,
    /// Holds the value that a scan shows, if its row has several columns.
    scanned: Buffer,
    /// Dropped before the connection that they borrow.
    sql: Prepared<'static>,
    connection: Owned,
    /// One for each session there is.
    _live: Arc<()>,
}

/// What a session keeps prepared. The statements around a transaction are always kept: they are no part of
/// what `statement` is about.
struct Prepared<'c> {
    blob: BlobHandle<'c>,
    begin_read: Sql<'c>,
    begin_write: Sql<'c>,
    commit: Sql<'c>,
    roll_back: Sql<'c>,
    read: Sql<'c>,
    insert: Sql<'c>,
    /// Where SQLite numbers new rows.
    assigned: Option<AssignedIds<'c>>,
    /// A statement that adds so many rows.
    insert_many: Option<(usize, Sql<'c>)>,
    overwrite: Sql<'c>,
    delete: Sql<'c>,
    scan: Sql<'c>,
}

impl<'c> Prepared<'c> {
    fn of(connection: &'c Connection, options: &Options) -> Self {
        let statements = options.pragmas.statement;
        let data = |text: String| Sql::of(connection, text, statements);
        let kept = |text: &'static str| Sql::of(connection, text, Statements::Once);
        let assigned = || AssignedIds::new(connection, options);
        Self {
            blob: BlobHandle::new(connection, statements),
            begin_read: kept("BEGIN"),
            begin_write: kept("BEGIN IMMEDIATE"),
            commit: kept("COMMIT"),
            roll_back: kept("ROLLBACK"),
            read: data(options.select()),
            insert: data(options.insert(1)),
            assigned: options.assigns_ids().then(assigned),
            insert_many: None,
            overwrite: data(options.update()),
            delete: Sql::of(connection, Options::DELETE, statements),
            scan: data(options.select_from()),
        }
    }
}

impl<'s> SqliteSession<'s> {
    pub(super) fn new(
        mut connection: Connection,
        options: &'s Options,
        live: Arc<()>,
    ) -> Result<Self> {
        let commits = counters::count_commits(&mut connection)?;
        let connection = Owned::new(connection);
        let mut session = Self {
            options,
            commits,
            scanned: Buffer::with_capacity(0)?,
            _live: live,
            sql: Prepared::of(connection.lent(), options),
            connection,
        };
        if options.pragmas.preload {
            session.preload()?;
        }
        Ok(session)
    }

    /// The connection that it is a session of.
    pub(crate) fn connection(&self) -> &Connection {
        self.connection.lent()
    }

    /// What SQLite reports of the settings of a store that this database is part of.
    pub(crate) fn effective_settings_of(&self, known: &[Setting]) -> Result<Settings> {
        let mut effective = Settings::default();
        let reported = self.effective_settings()?;
        for setting in known {
            if let Some(value) = reported.get(setting.name) {
                effective.set(setting.name, value.clone());
            }
        }
        Ok(effective)
    }

    /// Reads every row. A table that was dropped has none.
    fn preload(&mut self) -> Result<()> {
        match self.scan(Key(0), usize::MAX, &mut |_, _| ()) {
            Err(error) if error.is_no_table() => Ok(()),
            scanned => scanned.map(drop),
        }
    }

    /// Shows the row of `key` where it lies in SQLite's memory, before the statement is reset.
    fn visit(&mut self, key: Key, visit: impl FnOnce(&Row<'_>) -> Result<usize>) -> Result<Found> {
        let Some(k) = self.options.key(key) else {
            return Ok(Found::Missing);
        };
        let read = self.sql.read.run(by_key(&k), |statement| {
            let mut rows = statement.raw_query();
            match rows.next()? {
                None => Ok(Found::Missing),
                Some(row) => visit(row).map(Found::Bytes),
            }
        });
        read.map_err(at_key("read", key))
    }

    /// What SQLite assigns next is to be looked up.
    fn renumber(&mut self) {
        if let Some(assigned) = &mut self.sql.assigned {
            assigned.largest = None;
        }
    }

    /// Whether there is a row of this key; its value is not read.
    pub(crate) fn has(&mut self, key: Key) -> Result<bool> {
        Ok(self.visit(key, |_| Ok(0))? != Found::Missing)
    }

    fn update_row(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let (options, Some(k)) = (self.options, self.options.key(key)) else {
            return Ok(Found::Missing);
        };
        options.check(key, value)?;
        let changed = self.sql.overwrite.run(
            |parameters| options.bind(parameters, 0, &k, value),
            |statement| Ok(statement.raw_execute()?),
        );
        Ok(match changed.map_err(at_key("overwrite", key))? {
            1 => Found::Bytes(value.len()),
            _ => Found::Missing,
        })
    }
}

/// Sets the only parameter of a statement about a key.
fn by_key(k: &RowKey<'_>) -> impl FnOnce(&mut Parameters<'_, '_>) -> Result<()> {
    move |parameters| parameters.set(1, k)
}

impl Session for SqliteSession<'_> {
    fn effective_settings(&self) -> Result<Settings> {
        database::effective_settings(self.connection(), self.options)
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self {
            sql, connection, ..
        } = *self;
        drop(sql);
        connection.close()
    }

    /// One that writes takes the lock at once: if it only did so at its first write, another
    /// could have written since its first read, and it could but fail.
    fn begin(&mut self, access: Access) -> Result<()> {
        match access {
            Access::Read => self.sql.begin_read.execute(),
            Access::Write => self.sql.begin_write.execute(),
        }
    }

    fn commit(&mut self) -> Result<()> {
        self.sql.blob.close()?;
        self.sql.commit.execute()
    }

    /// Does nothing if no transaction is open: some errors of SQLite end it by themselves.
    fn rollback(&mut self) -> Result<()> {
        refuse! {
            !self.options.undoes() => "roll back", "with journal=off nothing is kept to go back to";
        }
        // Whatever it says, undoing goes on.
        let closed = self.sql.blob.close();
        self.renumber();
        if self.connection().is_autocommit() {
            return closed;
        }
        self.sql.roll_back.execute().and(closed)
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        let options = self.options;
        match (options.pragmas.api, row_id(key)) {
            (Api::Sql, _) => self.visit(key, |row| options.copy(row, key, buffer)),
            (Api::Blob, Some(k)) => self.sql.blob.read(k, buffer),
            (Api::Blob, None) => Ok(Found::Missing),
        }
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        let options = self.options;
        refuse! {
            options.pragmas.api == Api::Blob => "deliver in place",
                "the blob interface copies; use api=sql, or delivery \"copy\"";
            options.pragmas.columns > 1 => "deliver in place",
                "the value lies in several columns; use delivery \"copy\"";
        }
        self.visit(key, |row| {
            let value = options.lend(row, key)?;
            visit(value);
            Ok(value.len())
        })
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let options = self.options;
        let k = options.key_to_insert(key, value)?;
        if let (Some(assigned), RowKey::Number(number)) = (&mut self.sql.assigned, &k)
            && assigned.is_next(*number)?
        {
            let bind =
                |parameters: &mut Parameters<'_, '_>| options.bind_value(parameters, 1, value);
            let inserted = assigned.insert(*number, key, bind);
            return inserted.map_err(at_key("insert", key));
        }
        let inserted = self.sql.insert.run(
            |parameters| options.bind(parameters, 0, &k, value),
            |statement| match statement.raw_execute() {
                Err(error) if is_key_taken(&error) => Err(StoreError::key_exists(key)),
                inserted => Ok(inserted.map(drop)?),
            },
        );
        self.renumber();
        inserted.map_err(at_key("insert", key))
    }

    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        let [(first, _), _, ..] = rows else {
            let mut rows = rows.iter();
            return rows.try_for_each(|(key, value)| self.insert(*key, value));
        };
        let (options, many) = (self.options, rows.len());
        let kept = self.sql.insert_many.take_if(|(count, _)| *count == many);
        let (_, mut insert) = kept.unwrap_or_else(|| {
            let (text, statements) = (options.insert(many), options.pragmas.statement);
            (many, Sql::of(self.connection.lent(), text, statements))
        });
        let bind = |parameters: &mut Parameters<'_, '_>| {
            rows.iter().enumerate().try_for_each(|(row, (key, value))| {
                let k = options.key_to_insert(*key, value)?;
                options.bind(parameters, row, &k, value)
            })
        };
        let inserted = insert.run(bind, |statement| Ok(statement.raw_execute().map(drop)?));
        self.sql.insert_many = Some((many, insert));
        self.renumber();
        inserted.map_err(|error| error.during(|| format!("insert {many} rows from key {first} on")))
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        match (self.options.pragmas.api, row_id(key)) {
            (Api::Sql, _) => self.update_row(key, value),
            (Api::Blob, Some(k)) => self.sql.blob.overwrite(k, value),
            (Api::Blob, None) => Ok(Found::Missing),
        }
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        let Some(k) = self.options.key(key) else {
            return Ok(false);
        };
        // A row that a blob handle stands on must not vanish below it.
        self.sql.blob.close()?;
        let delete = &mut self.sql.delete;
        let deleted = delete.run(by_key(&k), |statement| Ok(statement.raw_execute()? > 0));
        self.renumber();
        deleted.map_err(at_key("delete", key))
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let Some(k) = self.options.key(from) else {
            return Ok(0);
        };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let (options, buffer) = (self.options, &mut self.scanned);
        let bind = |parameters: &mut Parameters<'_, '_>| {
            by_key(&k)(parameters)?;
            parameters.set(2, limit)
        };
        let scanned = self.sql.scan.run(bind, |statement| {
            let mut rows = statement.raw_query();
            let mut visited = 0;
            while let Some(row) = rows.next()? {
                let key = options.key_of(row)?;
                if options.pragmas.columns == 1 {
                    visit(key, options.lend(row, key)?);
                } else {
                    options.copy(row, key, buffer)?;
                    visit(key, buffer.bytes());
                }
                visited += 1;
            }
            Ok(visited)
        });
        scanned.map_err(at("scan"))
    }

    fn create_table(&mut self) -> Result<()> {
        self.renumber();
        database::create_table(self.connection(), self.options)
    }

    fn drop_table(&mut self) -> Result<()> {
        // An open handle is a running statement, which keeps the table.
        self.sql.blob.close()?;
        self.renumber();
        database::drop_table(self.connection())
    }

    fn counters(&mut self) -> Result<Counters> {
        let mut counters = counters::of(self.connection())?;
        let commits = self.commits.load(Ordering::Relaxed);
        counters.insert(COMMITS_COUNTED.to_owned(), commits);
        Ok(counters)
    }

    fn page_fill(&mut self) -> Result<PageFill> {
        counters::page_fill(self.connection())
    }

    fn check_integrity(&mut self) -> Result<()> {
        counters::check_integrity(self.connection())
    }
}
