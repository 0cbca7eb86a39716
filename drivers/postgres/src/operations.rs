//! The operations.

use crate::server::Server;
use crate::statements::Asked;
use std::pin::pin;
use stowplan_stores::kv::{Rows, Visit, shown};
use stowplan_stores::{Found, Key, Result};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, Row, Statement};

impl Server {
    /// The statement for it; where each operation prepares its own, a new one.
    async fn statement(&self, asked: Asked) -> std::result::Result<Statement, Error> {
        match self.prepared.get(asked as usize) {
            Some(statement) => Ok(statement.clone()),
            None => self.client.prepare(&self.texts[asked as usize]).await,
        }
    }

    fn rows(&self, asked: Asked, with: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        self.wait("read", async {
            let statement = self.statement(asked).await?;
            self.client.query(&statement, with).await
        })
    }

    /// Whether a row was changed.
    fn changes(&self, action: &str, asked: Asked, with: &[&(dyn ToSql + Sync)]) -> Result<bool> {
        let changed = self.wait(action, async {
            let statement = self.statement(asked).await?;
            self.client.execute(&statement, with).await
        });
        Ok(changed? > 0)
    }

    pub(crate) fn copy(&self, rows: &[(Key, &[u8])]) -> Result<()> {
        let sql = format!("COPY {} FROM STDIN (FORMAT binary)", self.name);
        let copying = async {
            let sink = self.client.copy_in(&sql).await?;
            let mut writer = pin!(BinaryCopyInWriter::new(sink, &[Type::INT8, Type::BYTEA]));
            for (key, value) in rows {
                writer.as_mut().write(&[&number(*key), value]).await?;
            }
            writer.finish().await
        };
        self.wait("copy rows", copying).map(drop)
    }
}

/// Keys are numbers of values, far below 2^63.
fn number(key: Key) -> i64 {
    i64::try_from(key.0).unwrap_or(i64::MAX)
}

impl Rows for Server {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let rows = self.rows(Asked::Read, &[&number(key)])?;
        shown(rows.first().map(|row| row.get(0)), show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let most = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self.rows(Asked::Scan, &[&number(from), &most])?;
        for row in &rows {
            let key: i64 = row.get(0);
            visit(Key(key.unsigned_abs()), row.get(1));
        }
        Ok(rows.len())
    }

    fn put(&mut self, key: Key, value: &[u8], there: bool) -> Result<bool> {
        let (action, asked) = match there {
            true => ("overwrite", Asked::Overwrite),
            false => ("insert", Asked::Insert),
        };
        self.changes(action, asked, &[&number(key), &value])
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        self.changes("delete", Asked::Delete, &[&number(key)])
    }
}
