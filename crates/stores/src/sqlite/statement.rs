//! Statements, and what goes with every one of them.

use super::failed;
use super::literal::{literal, with_literals};
use super::options::Statements;
use crate::{Access, Result};
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, Statement};
use std::borrow::Cow;

/// A statement: prepared once and kept, or made anew for each use.
pub(crate) struct Sql<'c> {
    connection: &'c Connection,
    text: Cow<'static, str>,
    statements: Statements,
    kept: Option<Statement<'c>>,
}

impl<'c> Sql<'c> {
    /// One that is kept is prepared here, unless it is for a table that was dropped and is perhaps
    /// made again.
    pub(crate) fn of(
        connection: &'c Connection,
        text: impl Into<Cow<'static, str>>,
        statements: Statements,
    ) -> Result<Self> {
        let text = text.into();
        let kept = match statements {
            Statements::Each | Statements::Literal => None,
            Statements::Once => match prepare(connection, &text) {
                Ok(statement) => Some(statement),
                Err(error) if has_table(connection)? => return Err(error),
                Err(_) => None,
            },
        };
        Ok(Self {
            connection,
            text,
            statements,
            kept,
        })
    }

    pub(crate) fn run<T>(
        &mut self,
        work: impl FnOnce(&mut Statement<'_>) -> Result<T>,
    ) -> Result<T> {
        if let Some(statement) = &mut self.kept {
            return work(statement);
        }
        let mut statement = prepare(self.connection, &self.text)?;
        let outcome = work(&mut statement);
        if self.statements == Statements::Once {
            self.kept = Some(statement);
        }
        outcome
    }

    /// Runs a statement with parameters, which `set` sets in their order.
    pub(crate) fn run_with<T>(
        &mut self,
        set: impl FnOnce(&mut Parameters<'_, '_>) -> Result<()>,
        work: impl FnOnce(&mut Statement<'_>) -> Result<T>,
    ) -> Result<T> {
        if self.statements == Statements::Literal {
            let mut literals = Vec::new();
            set(&mut Parameters::Written(&mut literals))?;
            let text = with_literals(&self.text, &literals);
            return work(&mut prepare(self.connection, &text)?);
        }
        self.run(|statement| {
            set(&mut Parameters::Bound(statement))?;
            work(statement)
        })
    }

    /// Runs a statement that takes no parameters and returns no rows.
    fn execute(&mut self) -> Result<()> {
        let text = self.text.clone();
        self.run(|statement| match statement.raw_execute() {
            Ok(_) => Ok(()),
            Err(error) => Err(failed(text, &error)),
        })
    }
}

/// Where the parameters of a statement go.
pub(crate) enum Parameters<'p, 's> {
    /// To a statement that was prepared.
    Bound(&'p mut Statement<'s>),
    /// Into the text of one that will be.
    Written(&'p mut Vec<String>),
}

impl Parameters<'_, '_> {
    /// Sets the parameter of this number, from 1; those before it have been set.
    #[inline]
    pub(super) fn set(&mut self, number: usize, value: ToSqlOutput<'_>) -> rusqlite::Result<()> {
        match self {
            Self::Bound(statement) => statement.raw_bind_parameter(number, value),
            Self::Written(literals) => {
                literals.push(literal(&value)?);
                Ok(())
            }
        }
    }
}

fn prepare<'c>(connection: &'c Connection, text: &str) -> Result<Statement<'c>> {
    connection
        .prepare(text)
        .map_err(|e| failed(format!("prepare {text}"), &e))
}

fn has_table(connection: &Connection) -> Result<bool> {
    connection
        .table_exists(None, "kv")
        .map_err(|e| failed("look for the table kv", &e))
}

/// The statements around a batch, always kept: they are no part of what `statement` is about.
pub(crate) struct Transaction<'c> {
    connection: &'c Connection,
    begin_read: Sql<'c>,
    begin_write: Sql<'c>,
    commit: Sql<'c>,
    roll_back: Sql<'c>,
}

impl<'c> Transaction<'c> {
    pub(crate) fn new(connection: &'c Connection) -> Result<Self> {
        let kept = |text| Sql::of(connection, text, Statements::Once);
        Ok(Self {
            connection,
            begin_read: kept("BEGIN")?,
            begin_write: kept("BEGIN IMMEDIATE")?,
            commit: kept("COMMIT")?,
            roll_back: kept("ROLLBACK")?,
        })
    }

    /// One that writes takes the lock at once: if it only did so at its first write, another
    /// could have written since its first read, and it could but fail.
    pub(crate) fn begin(&mut self, access: Access) -> Result<()> {
        match access {
            Access::Read => self.begin_read.execute(),
            Access::Write => self.begin_write.execute(),
        }
    }

    pub(crate) fn commit(&mut self) -> Result<()> {
        self.commit.execute()
    }

    /// Does nothing if no transaction is open: some errors of SQLite end it by themselves.
    pub(crate) fn roll_back(&mut self) -> Result<()> {
        if self.connection.is_autocommit() {
            return Ok(());
        }
        self.roll_back.execute()
    }
}
