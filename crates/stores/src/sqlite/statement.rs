//! Statements, kept or made anew, and the connection that they borrow.

use super::failed;
use super::options::Statements;
use crate::hexadecimal::hexadecimal;
use crate::{Result, StoreError};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement, ToSql};
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
    #[expect(unsafe_code, reason = "what was leaked is taken back")]
    pub(super) fn close(self) -> Result<()> {
        let owned = ManuallyDrop::new(self);
        // SAFETY: it is not dropped.
        let connection = unsafe { owned.take() };
        connection.close().map_err(|(_, e)| failed("close", &e))
    }

    /// # Safety
    /// Nobody may use or drop this afterwards.
    #[expect(unsafe_code, reason = "what was leaked is taken back")]
    unsafe fn take(&self) -> Connection {
        // SAFETY: it was a box, and nobody has taken it back before.
        *unsafe { Box::from_raw(self.0.as_ptr()) }
    }
}

impl Drop for Owned {
    #[expect(unsafe_code, reason = "what was leaked is taken back")]
    fn drop(&mut self) {
        // SAFETY: it is gone afterwards.
        drop(unsafe { self.take() });
    }
}

/// Where the parameters of a statement go.
pub(crate) enum Parameters<'p, 'c> {
    /// They are bound.
    Bound(&'p mut Statement<'c>),
    /// They become text, as a program writes them that formats its SQL.
    Written(&'p mut Vec<String>),
}

impl Parameters<'_, '_> {
    /// Sets a parameter; the first is 1.
    #[inline]
    pub(crate) fn set(&mut self, at: usize, value: impl ToSql) -> Result<()> {
        match self {
            Self::Bound(statement) => statement.raw_bind_parameter(at, value)?,
            Self::Written(literals) => {
                literals.resize(at.max(literals.len()), String::new());
                literals[at - 1] = literal(&value.to_sql()?)?;
            }
        }
        Ok(())
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
        let keeps = statements == Statements::Once;
        let kept = keeps.then(|| prepare(connection, &text).ok());
        Self {
            connection,
            kept: kept.flatten(),
            text,
            statements,
        }
    }

    /// Runs it with the parameters that `bind` sets.
    pub(crate) fn run<T>(
        &mut self,
        bind: impl FnOnce(&mut Parameters<'_, '_>) -> Result<()>,
        work: impl FnOnce(&mut Statement<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut made;
        let statement = match (self.statements, &mut self.kept) {
            (Statements::Literal, _) => {
                let mut literals = Vec::new();
                bind(&mut Parameters::Written(&mut literals))?;
                let text = with_literals(&self.text, &literals)?;
                let made = self.connection.prepare(&text);
                return work(&mut made.map_err(cannot_prepare(&self.text))?);
            }
            (Statements::Each, _) => {
                made = prepare(self.connection, &self.text)?;
                &mut made
            }
            (Statements::Once, Some(kept)) => kept,
            (Statements::Once, none) => none.insert(prepare(self.connection, &self.text)?),
        };
        bind(&mut Parameters::Bound(&mut *statement))?;
        work(statement)
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
    connection.prepare(text).map_err(cannot_prepare(text))
}

/// What is said of a statement is without the values that are written into it.
fn cannot_prepare(text: &str) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
    move |error| failed(format!("prepare {text}"), &error)
}

/// A value as SQL writes it (<https://sqlite.org/lang_expr.html#literal_values_constants_>).
fn literal(value: &ToSqlOutput<'_>) -> Result<String> {
    let value = match value {
        ToSqlOutput::Borrowed(value) => *value,
        ToSqlOutput::Owned(value) => ValueRef::from(value),
        _ => ValueRef::Null,
    };
    Ok(match value {
        ValueRef::Blob(bytes) => blob(bytes),
        ValueRef::Text(text) => quoted(text),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Null | ValueRef::Real(_) => {
            let what = format!(
                "write a value of type {} into a statement",
                value.data_type()
            );
            return Err(StoreError::unsupported(what, "use statement=once"));
        }
    })
}

/// Text between quotation marks; a statement ends at a zero, so text with one is written as its bytes.
fn quoted(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) if !text.contains('\0') => format!("'{}'", text.replace('\'', "''")),
        _ => format!("CAST({} AS TEXT)", blob(text)),
    }
}

fn blob(bytes: &[u8]) -> String {
    format!("X'{}'", hexadecimal(bytes))
}

/// The text of a statement with literals in the places of its parameters: `?` is the next one, `?2` the second.
fn with_literals(text: &str, literals: &[String]) -> Result<String> {
    let mut pieces = text.split('?');
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for (next, piece) in pieces.enumerate() {
        let behind = piece.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = piece[..piece.len() - behind.len()].parse::<usize>();
        let index = number.map_or(next, |number| number.saturating_sub(1));
        let literal = literals.get(index).filter(|literal| !literal.is_empty());
        let missing = || StoreError::said(format!("parameter {} was not set", index + 1));
        filled.push_str(literal.ok_or_else(missing)?);
        filled.push_str(behind);
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_as_a_literal_is_read_as_the_same_value() {
        let connection = Connection::open_in_memory().unwrap();
        let values = [
            ValueRef::Integer(i64::MAX),
            ValueRef::Text(b"it's ? 'quoted'"),
            ValueRef::Text(b"a\0zero"),
            ValueRef::Text(b""),
            ValueRef::Blob(b""),
            ValueRef::Blob(&[0, 39, 255]),
        ];
        for value in values {
            let mut sql = Sql::of(&connection, "SELECT ?1", Statements::Literal);
            let same = sql.run(
                |parameters| parameters.set(1, ToSqlOutput::Borrowed(value)),
                |statement| Ok(statement.raw_query().next()?.unwrap().get_ref(0)? == value),
            );
            assert!(same.unwrap(), "{value:?}");
        }
        let refused = literal(&ToSqlOutput::from(1.5)).unwrap_err().to_string();
        assert!(refused.contains("a value of type Real"), "{refused}");
    }

    #[test]
    fn parameters_are_filled_by_their_numbers_or_one_after_the_other() {
        let literals = ["'a?'", "2"].map(str::to_owned);
        let filled = |text| with_literals(text, &literals).unwrap();
        assert_eq!(filled("VALUES(?,?)"), "VALUES('a?',2)");
        assert_eq!(filled("SET v=?2 WHERE k=?1"), "SET v=2 WHERE k='a?'");
        assert_eq!(filled("COMMIT"), "COMMIT");
        let lacking = with_literals("VALUES(?,?,?)", &literals).unwrap_err();
        assert!(lacking.to_string().contains("parameter 3"), "{lacking}");
    }
}
