//! Statements, kept or made anew, and the connection that they borrow.

use super::failed;
use super::options::Statements;
use crate::{Result, StoreError};
use rusqlite::{Connection, Statement};
use std::borrow::Cow;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// A connection that the statements beside it borrow. Whoever has both drops the statements first, and lets none
/// of them go elsewhere.
pub(super) struct Owned(NonNull<Connection>);

impl Owned {
    pub(super) fn new(connection: Connection) -> Self {
        Self(NonNull::from(Box::leak(Box::new(connection))))
    }

    /// For the statements.
    #[expect(
        unsafe_code,
        reason = "statements lie in the same struct as what they borrow"
    )]
    pub(super) fn lent(&self) -> &'static Connection {
        // SAFETY: it is on the heap and stays where it is until this is dropped, before which those who
        // borrow it are gone, as is said of this type. Nobody else has it.
        unsafe { self.0.as_ref() }
    }

    /// Closes it; errors that only show at closing come out here.
    pub(super) fn close(self) -> Result<()> {
        let connection = ManuallyDrop::new(self).take();
        connection.close().map_err(|(_, e)| failed("close", &e))
    }

    #[expect(unsafe_code, reason = "what was leaked is taken back")]
    fn take(&self) -> Connection {
        // SAFETY: it was a box, and both callers do without this afterwards.
        *unsafe { Box::from_raw(self.0.as_ptr()) }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// A statement: prepared once and kept, or made anew for each use.
pub(crate) struct Sql<'c> {
    connection: &'c Connection,
    text: Cow<'static, str>,
    statements: Statements,
    kept: Option<Statement<'c>>,
}

impl<'c> Sql<'c> {
    /// One that is kept is prepared here, unless its table was dropped and is perhaps made again.
    pub(crate) fn of(
        connection: &'c Connection,
        text: impl Into<Cow<'static, str>>,
        statements: Statements,
    ) -> Self {
        let text = text.into();
        let keeps = statements != Statements::Each;
        let kept = keeps.then(|| prepare(connection, &text).ok());
        Self {
            connection,
            kept: kept.flatten(),
            text,
            statements,
        }
    }

    /// Runs it with the parameters that `bind` sets. With [`Statements::Literal`] they are written into the
    /// text of another statement, as SQLite writes them.
    pub(crate) fn run<T>(
        &mut self,
        bind: impl FnOnce(&mut Statement<'_>) -> Result<()>,
        work: impl FnOnce(&mut Statement<'_>) -> Result<T>,
    ) -> Result<T> {
        if self.statements == Statements::Each {
            let mut statement = prepare(self.connection, &self.text)?;
            bind(&mut statement)?;
            return work(&mut statement);
        }
        let kept = match &mut self.kept {
            Some(kept) => kept,
            none => none.insert(prepare(self.connection, &self.text)?),
        };
        bind(kept)?;
        if self.statements == Statements::Once {
            return work(kept);
        }
        let too_long = || StoreError::said("the statement with its values is too long");
        let text = kept.expanded_sql().ok_or_else(too_long)?;
        work(&mut prepare(self.connection, &text)?)
    }

    /// Runs one that takes no parameters and returns no rows.
    pub(super) fn execute(&mut self) -> Result<()> {
        let text = self.text.clone();
        let ran = self.run(
            |_| Ok(()),
            |statement| Ok(statement.raw_execute().map(drop)?),
        );
        ran.map_err(|error| error.during(|| text.into_owned()))
    }
}

fn prepare<'c>(connection: &'c Connection, text: &str) -> Result<Statement<'c>> {
    let prepared = connection.prepare(text);
    prepared.map_err(|e| failed(format!("prepare {text}"), &e))
}
