//! Parameters as text within a statement, as a program writes them that formats its SQL.

use crate::hexadecimal::hexadecimal;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// A value as SQL writes it (<https://sqlite.org/lang_expr.html#literal_values_constants_>).
pub(super) fn literal(value: &ToSqlOutput<'_>) -> rusqlite::Result<String> {
    let value = match value {
        ToSqlOutput::Borrowed(value) => *value,
        ToSqlOutput::Owned(value) => value.into(),
        _ => return Err(rusqlite::Error::InvalidQuery),
    };
    Ok(match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => quoted(text),
        ValueRef::Blob(bytes) => blob(bytes),
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

/// The text of a statement with `literals` in the places of its parameters: `?` is the next one, `?2` the
/// second.
pub(super) fn with_literals(text: &str, literals: &[String]) -> String {
    let mut pieces = text.split('?');
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for (next, piece) in pieces.enumerate() {
        let behind = piece.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = piece[..piece.len() - behind.len()].parse::<usize>();
        let index = number.map_or(next, |number| number.saturating_sub(1));
        filled.push_str(literals.get(index).map_or("NULL", String::as_str));
        filled.push_str(behind);
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_as_a_literal_is_read_as_the_same_value() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let values = [
            ValueRef::Null,
            ValueRef::Integer(i64::MAX),
            ValueRef::Text(b"it's ? 'quoted'"),
            ValueRef::Text(b"a\0zero"),
            ValueRef::Text(b""),
            ValueRef::Blob(b""),
            ValueRef::Blob(&[0, 39, 255]),
        ];
        for value in values {
            let text = literal(&ToSqlOutput::Borrowed(value)).unwrap();
            let read = |row: &rusqlite::Row<'_>| Ok(row.get_ref(0)? == value);
            let sql = with_literals("SELECT ?1", &[text]);
            assert!(connection.query_row(&sql, [], read).unwrap(), "{sql}");
        }
    }

    #[test]
    fn parameters_are_filled_by_their_numbers_or_one_after_the_other() {
        let literals = ["'a?'", "2"].map(str::to_owned);
        let filled = |text| with_literals(text, &literals);
        assert_eq!(filled("VALUES(?,?)"), "VALUES('a?',2)");
        assert_eq!(filled("SET v=?2 WHERE k=?1"), "SET v=2 WHERE k='a?'");
        assert_eq!(filled("COMMIT"), "COMMIT");
    }
}
