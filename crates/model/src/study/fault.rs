//! Where in its text a study is at fault.

use super::{StudyError, line_and_column};
use toml::de::{DeTable, DeValue};

/// What is wrong with a study, and under which keys of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// Keys from the top of the file; a number picks an entry of a list.
    pub(super) path: Vec<String>,
    /// The same for people.
    pub(super) place: String,
    /// What is wrong.
    pub(super) message: String,
}

impl Fault {
    /// The error, with line and column of the innermost key that the file has.
    pub(super) fn located_in(self, text: &str, file: &str) -> StudyError {
        let file = match offset_of(&self.path, text) {
            Some(offset) => {
                let (line, column) = line_and_column(text, offset);
                format!("{file}:{line}:{column}")
            }
            None => file.to_owned(),
        };
        StudyError::Invalid {
            file,
            place: self.place,
            message: self.message,
        }
    }
}

/// Where the value below these keys begins, or that of as many of them as there are.
fn offset_of(path: &[String], text: &str) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut keys = path.iter();
    let mut found = document.get_ref().get(keys.next()?.as_str())?;
    for key in keys {
        let inner = match found.get_ref() {
            DeValue::Array(entries) => key.parse().ok().and_then(|index: usize| entries.get(index)),
            DeValue::Table(table) => table.get(key.as_str()),
            _ => None,
        };
        match inner {
            Some(inner) => found = inner,
            None => break,
        }
    }
    Some(found.span().start)
}
