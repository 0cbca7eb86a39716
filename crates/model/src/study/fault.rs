//! Where in its text a study is at fault.

use super::like::spell_out;
use super::{StudyError, line_and_column};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Keys that have another name in older files, which is read as well: the types say so to serde.
pub(super) const RENAMED: [(&str, &str); 2] = [("claim", "hypothesis"), ("quote", "claim")];

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

/// What stands under a key, or under the name that the key has in older files.
fn under<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<&'t Spanned<DeValue<'i>>> {
    let renamed = RENAMED.iter().find(|(name, _)| *name == key);
    let older = || renamed.and_then(|(_, older)| table.get(*older));
    table.get(key).or_else(older)
}

/// Where the value below these keys begins, or that of as many of them as there are.
fn offset_of(path: &[String], text: &str) -> Option<usize> {
    let mut document = DeTable::parse(text).ok()?.into_inner();
    spell_out(&mut document);
    let mut keys = path.iter();
    let mut found = under(&document, keys.next()?)?;
    for key in keys {
        let inner = match found.get_ref() {
            DeValue::Array(entries) => key.parse().ok().and_then(|index: usize| entries.get(index)),
            DeValue::Table(table) => under(table, key),
            _ => None,
        };
        match inner {
            Some(inner) => found = inner,
            None => break,
        }
    }
    Some(found.span().start)
}
