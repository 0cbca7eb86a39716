//! The operations, as statements.

use crate::STORE;
use crate::options::{Form, Loading, Prepare};
use crate::server::Server;
use std::pin::pin;
use stowplan_stores::{Access, Buffer, Found, Key, Result, Session, StoreError};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Row, Statement};

/// What is asked of the server.
#[derive(Clone, Copy)]
enum Asked {
    Read,
    Insert,
    Overwrite,
    Delete,
    Scan,
}

const ALL: [Asked; 5] = [
    Asked::Read,
    Asked::Insert,
    Asked::Overwrite,
    Asked::Delete,
    Asked::Scan,
];

impl Asked {
    /// Inserting a key that is there, or changing one that is not, changes no row: an error would end the
    /// transaction.
    fn sql(self, form: Form, table: &str) -> String {
        let (shown, kept) = match form {
            Form::Bytea => ("v", "$2::bytea"),
            Form::LargeObject => ("lo_get(v)", "lo_from_bytea(0, $2::bytea)"),
        };
        match (self, form) {
            (Self::Read, _) => format!("SELECT {shown} FROM {table} WHERE k = $1"),
            (Self::Scan, _) => {
                format!("SELECT k, {shown} FROM {table} WHERE k >= $1 ORDER BY k LIMIT $2")
            }
            (Self::Insert, Form::Bytea) => {
                format!("INSERT INTO {table} VALUES ($1, {kept}) ON CONFLICT DO NOTHING")
            }
            (Self::Insert, Form::LargeObject) => format!(
                "INSERT INTO {table} SELECT $1::bigint, {kept} \
                 WHERE NOT EXISTS (SELECT FROM {table} WHERE k = $1::bigint)"
            ),
            (Self::Overwrite, Form::Bytea) => {
                format!("UPDATE {table} SET v = {kept} WHERE k = $1")
            }
            (Self::Overwrite, Form::LargeObject) => format!(
                "WITH old AS (SELECT k, lo_unlink(v) FROM {table} WHERE k = $1 FOR UPDATE) \
                 UPDATE {table} t SET v = {kept} FROM old WHERE t.k = old.k"
            ),
            (Self::Delete, Form::Bytea) => format!("DELETE FROM {table} WHERE k = $1"),
            (Self::Delete, Form::LargeObject) => format!(
                "WITH gone AS (DELETE FROM {table} WHERE k = $1 RETURNING v) \
                 SELECT lo_unlink(v) FROM gone"
            ),
        }
    }
}

pub(crate) struct PgSession<'c> {
    server: &'c Server,
    texts: Vec<String>,
    /// None of them where each operation prepares its own.
    prepared: Vec<Statement>,
    copy: String,
    /// Whether a transaction is open.
    open: bool,
    /// Whose the table was that was dropped.
    dropped: Option<String>,
}

impl<'c> PgSession<'c> {
    pub(crate) fn new(server: &'c Server) -> Result<Self> {
        let table = &server.name;
        let texts = ALL.map(|asked| asked.sql(server.options.form, table));
        // Also where each operation prepares its own: it tells whether there is a table.
        let prepare =
            |text: &String| server.wait("prepare a statement", server.client.prepare(text));
        let prepared = texts.iter().map(prepare).collect::<Result<Vec<_>>>()?;
        Ok(Self {
            server,
            texts: texts.to_vec(),
            prepared: match server.options.statement {
                Prepare::Once => prepared,
                Prepare::Each => Vec::new(),
            },
            copy: format!("COPY {table} FROM STDIN (FORMAT binary)"),
            open: false,
            dropped: None,
        })
    }

    fn rows(&self, asked: Asked, with: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        let Self { server, .. } = self;
        let client = &server.client;
        match self.prepared.get(asked as usize) {
            Some(statement) => server.wait("read", client.query(statement, with)),
            None => server.wait("read", client.query(&self.texts[asked as usize], with)),
        }
    }

    /// Whether a row was changed.
    fn changes(&self, action: &str, asked: Asked, with: &[&(dyn ToSql + Sync)]) -> Result<bool> {
        let Self { server, .. } = self;
        let client = &server.client;
        let changed = match self.prepared.get(asked as usize) {
            Some(statement) => server.wait(action, client.execute(statement, with)),
            None => server.wait(action, client.execute(&self.texts[asked as usize], with)),
        };
        Ok(changed? > 0)
    }

    fn show(&self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let rows = self.rows(Asked::Read, &[&number(key)])?;
        let Some(row) = rows.first() else {
            return Ok(Found::Missing);
        };
        let value: &[u8] = row.get(0);
        show(value)?;
        Ok(Found::Bytes(value.len()))
    }

    fn copied(&self, rows: &[(Key, &[u8])]) -> Result<()> {
        let copying = async {
            let sink = self.server.client.copy_in(&self.copy).await?;
            let mut writer = pin!(BinaryCopyInWriter::new(sink, &[Type::INT8, Type::BYTEA]));
            for (key, value) in rows {
                writer.as_mut().write(&[&number(*key), value]).await?;
            }
            writer.finish().await
        };
        self.server.wait("copy rows", copying).map(drop)
    }
}

/// Keys are numbers of values, far below 2^63.
fn number(key: Key) -> i64 {
    i64::try_from(key.0).unwrap_or(i64::MAX)
}

impl Session for PgSession<'_> {
    /// One that reads sees one state.
    fn begin(&mut self, access: Access) -> Result<()> {
        self.open = true;
        self.server.run(match access {
            Access::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Access::Write => "BEGIN",
        })
    }

    fn commit(&mut self) -> Result<()> {
        self.open = false;
        self.server.run("COMMIT")
    }

    fn rollback(&mut self) -> Result<()> {
        self.open = false;
        self.server.run("ROLLBACK")
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        self.show(key, |value| buffer.copy_from(value))
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        self.show(key, |value| {
            visit(value);
            Ok(())
        })
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        match self.changes("insert", Asked::Insert, &[&number(key), &value])? {
            true => Ok(()),
            false => Err(StoreError::key_exists(STORE, key)),
        }
    }

    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        let options = &self.server.options;
        let copies = (options.form, options.load) == (Form::Bytea, Loading::Copy);
        if copies || self.open {
            return self.load(rows);
        }
        self.begin(Access::Write)?;
        match self.load(rows) {
            Ok(()) => self.commit(),
            Err(error) => self.rollback().and(Err(error)),
        }
    }

    fn load(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        let options = &self.server.options;
        match (options.form, options.load) {
            (Form::Bytea, Loading::Copy) => self.copied(rows),
            _ => rows
                .iter()
                .try_for_each(|(key, value)| self.insert(*key, value)),
        }
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        Ok(
            match self.changes("overwrite", Asked::Overwrite, &[&number(key), &value])? {
                true => Found::Bytes(value.len()),
                false => Found::Missing,
            },
        )
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        self.changes("delete", Asked::Delete, &[&number(key)])
    }

    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        let most = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self.rows(Asked::Scan, &[&number(from), &most])?;
        for row in &rows {
            let key: i64 = row.get(0);
            visit(Key(key.unsigned_abs()), row.get(1));
        }
        Ok(rows.len())
    }

    fn create_table(&mut self) -> Result<()> {
        self.server.make_table()?;
        let owner = self.dropped.take();
        owner.map_or(Ok(()), |owner| self.server.mark(&owner))
    }

    fn drop_table(&mut self) -> Result<()> {
        let of_ours = |(name, _): &(String, String)| *name == self.server.name;
        let owner = self.server.marked()?.into_iter().find(of_ours);
        self.dropped = owner.map(|(_, owner)| owner);
        self.server.remove_table(&self.server.name)
    }
}
