//! Operations on the table.

use super::assigned::AssignedIds;
use super::blob::BlobHandle;
use super::options::{Api, Options};
use super::statement::{Parameters, Sql, Transaction};
use super::table::{RowKey, row_id};
use super::{counters, database, is_key_taken};
use crate::error::{at, at_key};
use crate::options::refuse;
use crate::{Access, Buffer, Counters, Found, Key, PageFill, Result, Session, StoreError, Visit};
use rusqlite::types::ToSql as _;
use rusqlite::{Connection, Row};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The counter of transactions that changed something and were committed, as SQLite's commit hook
/// counts them.
pub const COMMITS_COUNTED: &str = "Commits";

pub(crate) struct SqliteSession<'c> {
    connection: &'c Connection,
    options: &'c Options,
    /// Transactions that changed something, as the commit hook counts them.
    commits: Arc<AtomicU64>,
    blob: BlobHandle<'c>,
    transaction: Transaction<'c>,
    read: Sql<'c>,
    insert: Sql<'c>,
    /// Where SQLite numbers new rows.
    assigned: Option<AssignedIds<'c>>,
    /// A statement that adds so many rows.
    insert_many: Option<(usize, Sql<'c>)>,
    overwrite: Sql<'c>,
    delete: Sql<'c>,
    scan: Sql<'c>,
    /// Holds the value that a scan shows, if its row has several columns.
    scanned: Buffer,
}

impl<'c> SqliteSession<'c> {
    pub(crate) fn new(
        connection: &'c Connection,
        options: &'c Options,
        commits: Arc<AtomicU64>,
    ) -> Result<Self> {
        let data = |text: String| Sql::of(connection, text, options.pragmas.statement);
        let mut session = Self {
            connection,
            options,
            commits,
            blob: BlobHandle::new(connection, options.pragmas.statement),
            transaction: Transaction::new(connection)?,
            read: data(options.select())?,
            insert: data(options.insert(1))?,
            assigned: match options.assigns_ids() {
                true => Some(AssignedIds::new(connection, options)?),
                false => None,
            },
            insert_many: None,
            overwrite: data(options.update())?,
            delete: Sql::of(connection, Options::DELETE, options.pragmas.statement)?,
            scan: data(options.select_from())?,
            scanned: Buffer::with_capacity(0)?,
        };
        if options.pragmas.preload {
            session.preload()?;
        }
        Ok(session)
    }

    /// The connection that it is a session of.
    pub(crate) fn connection(&self) -> &'c Connection {
        self.connection
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
        let read = self.read.run_with(by_key(&k), |statement| {
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
        if let Some(assigned) = &mut self.assigned {
            assigned.forget();
        }
    }

    /// Whether there is a row of this key; its value is not read.
    pub(crate) fn has(&mut self, key: Key) -> Result<bool> {
        Ok(self.visit(key, |_| Ok(0))? != Found::Missing)
    }

    fn key_to_insert(&self, key: Key, value: &[u8]) -> Result<RowKey<'c>> {
        self.options.check_key(key)?;
        self.options.check(key, value)?;
        self.options.key(key).ok_or_else(|| {
            StoreError::unsupported(
                format!("insert key {key}"),
                "its keys are signed 64-bit numbers",
            )
        })
    }

    fn update_row(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let Some(k) = self.options.key(key) else {
            return Ok(Found::Missing);
        };
        let options = self.options;
        options.check(key, value)?;
        let bind =
            |parameters: &mut Parameters<'_, '_>| Ok(options.bind(parameters, 0, &k, value)?);
        let changed = self
            .overwrite
            .run_with(bind, |statement| Ok(statement.raw_execute()?));
        Ok(match changed.map_err(at_key("overwrite", key))? {
            1 => Found::Bytes(value.len()),
            _ => Found::Missing,
        })
    }
}

/// Sets the only parameter of a statement about a key.
fn by_key(k: &RowKey<'_>) -> impl FnOnce(&mut Parameters<'_, '_>) -> Result<()> {
    move |parameters| Ok(parameters.set(1, k.to_sql()?)?)
}

impl Session for SqliteSession<'_> {
    fn begin(&mut self, access: Access) -> Result<()> {
        self.transaction.begin(access)
    }

    fn commit(&mut self) -> Result<()> {
        self.blob.close()?;
        self.transaction.commit()
    }

    fn rollback(&mut self) -> Result<()> {
        refuse! {
            !self.options.undoes() => "roll back", "with journal=off nothing is kept to go back to";
        }
        // Whatever it says, undoing goes on.
        let closed = self.blob.close();
        self.renumber();
        self.transaction.roll_back().and(closed)
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        let options = self.options;
        match self.options.pragmas.api {
            Api::Sql => self.visit(key, |row| options.copy(row, key, buffer)),
            Api::Blob => match row_id(key) {
                Some(k) => self.blob.read(k, buffer),
                None => Ok(Found::Missing),
            },
        }
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        let options = self.options;
        let refused = |why| Err(StoreError::unsupported("deliver in place", why));
        match self.options.pragmas.api {
            Api::Sql if options.pragmas.columns == 1 => self.visit(key, |row| {
                let value = options.lend(row, key)?;
                visit(value);
                Ok(value.len())
            }),
            Api::Sql => refused("the value lies in several columns; use delivery \"copy\""),
            Api::Blob => refused("the blob interface copies; use api=sql, or delivery \"copy\""),
        }
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let k = self.key_to_insert(key, value)?;
        let options = self.options;
        if let (Some(assigned), RowKey::Number(number)) = (&mut self.assigned, &k)
            && assigned.is_next(*number)?
        {
            let bind =
                |parameters: &mut Parameters<'_, '_>| Ok(options.bind_value(parameters, 1, value)?);
            let inserted = assigned.insert(*number, key, bind);
            return inserted.map_err(at_key("insert", key));
        }
        let bind =
            |parameters: &mut Parameters<'_, '_>| Ok(options.bind(parameters, 0, &k, value)?);
        let inserted = self
            .insert
            .run_with(bind, |statement| match statement.raw_execute() {
                Err(error) if is_key_taken(&error) => Err(StoreError::key_exists(key)),
                inserted => Ok(inserted.map(drop)?),
            });
        self.renumber();
        inserted.map_err(at_key("insert", key))
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        match (self.options.pragmas.api, row_id(key)) {
            (Api::Sql, _) => self.update_row(key, value),
            (Api::Blob, Some(k)) => self.blob.overwrite(k, value),
            (Api::Blob, None) => Ok(Found::Missing),
        }
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        let Some(k) = self.options.key(key) else {
            return Ok(false);
        };
        // A row that a blob handle stands on must not vanish below it.
        self.blob.close()?;
        let delete = &mut self.delete;
        let deleted = delete.run_with(by_key(&k), |statement| Ok(statement.raw_execute()? > 0));
        self.renumber();
        deleted.map_err(at_key("delete", key))
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let Some(k) = self.options.key(from) else {
            return Ok(0);
        };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let (options, buffer) = (self.options, &mut self.scanned);
        let set = |parameters: &mut Parameters<'_, '_>| {
            by_key(&k)(parameters)?;
            Ok(parameters.set(2, limit.into())?)
        };
        let scanned = self.scan.run_with(set, |statement| {
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
        database::create_table(self.connection, self.options)
    }

    fn drop_table(&mut self) -> Result<()> {
        // An open handle is a running statement, which keeps the table.
        self.blob.close()?;
        self.renumber();
        database::drop_table(self.connection)
    }

    fn counters(&mut self) -> Result<Counters> {
        let mut counters = counters::of(self.connection)?;
        counters.insert(
            COMMITS_COUNTED.to_owned(),
            self.commits.load(Ordering::Relaxed),
        );
        Ok(counters)
    }

    fn page_fill(&mut self) -> Result<PageFill> {
        counters::page_fill(self.connection)
    }

    fn check_integrity(&mut self) -> Result<()> {
        counters::check_integrity(self.connection)
    }

    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        let [(first, _), _, ..] = rows else {
            return rows
                .iter()
                .try_for_each(|(key, value)| self.insert(*key, value));
        };
        let kept = self.insert_many.take();
        let mut insert = match kept.filter(|(count, _)| *count == rows.len()) {
            Some((_, insert)) => insert,
            None => Sql::of(
                self.connection,
                self.options.insert(rows.len()),
                self.options.pragmas.statement,
            )?,
        };
        let bind = |parameters: &mut Parameters<'_, '_>| {
            for (index, (key, value)) in rows.iter().enumerate() {
                let k = self.key_to_insert(*key, value)?;
                self.options.bind(parameters, index, &k, value)?;
            }
            Ok(())
        };
        let inserted = insert.run_with(bind, |statement| Ok(statement.raw_execute().map(drop)?));
        let many = || format!("insert {} rows from key {first} on", rows.len());
        let inserted = inserted.map_err(|error| error.during(many));
        self.insert_many = Some((rows.len(), insert));
        self.renumber();
        inserted
    }
}
