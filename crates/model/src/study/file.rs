//! A study file as TOML: its document, in which what is written in short is spelled out, and the places of
//! what is wrong with it.

use super::like::{Entry, Unlike, spell_out};
use super::read::{MOST_TOLD, read};
use super::{Study, check};
use crate::{parse_size, suggestion};
use std::collections::BTreeSet;
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The mistakes of a study file, a line each; at least one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", .0.join("\n"))]
pub struct StudyError(pub Vec<String>);

/// The text of a study file.
#[derive(Debug)]
pub struct StudyFile<'t> {
    text: &'t str,
    name: &'t str,
    document: Entry<'t>,
    /// Comparisons that should be like one that is not there.
    unlike: Vec<Unlike<'t>>,
    /// What is no TOML.
    broken: Vec<toml::de::Error>,
}

/// A study file as far as it could be read.
#[derive(Debug)]
pub struct Reading {
    /// All of it that has the shape of a study, where enough is left: without mistakes the whole.
    pub study: Option<Study>,
    /// What is wrong, each with file, line and column.
    pub mistakes: Vec<String>,
    /// Names that may stand in what was left out.
    lost: Vec<String>,
}

impl Reading {
    /// Whether nobody can say of a name that it is missing: what could not be read may give it.
    pub fn may_give(&self, name: &str) -> bool {
        self.lost.iter().any(|lost| lost == name)
    }
}

impl<'t> StudyFile<'t> {
    /// The file of this name.
    pub fn of(text: &'t str, name: &'t str) -> Self {
        let (document, broken) = DeTable::parse_recoverable(text);
        let span = document.span();
        let mut document = document.into_inner();
        let unlike = spell_out(&mut document);
        let document = Spanned::new(span, DeValue::Table(document));
        Self {
            text,
            name,
            document,
            unlike,
            broken,
        }
    }

    /// Reads the study, checks that its names refer to something, and goes on behind each mistake.
    pub fn read(&self) -> Reading {
        if !self.broken.is_empty() {
            return Reading {
                study: None,
                mistakes: self.no_toml(),
                lost: Vec::new(),
            };
        }
        let mut shape = read(&self.document, &self.unlike);
        let mut mistakes: Vec<String> = Vec::new();
        for (at, message) in &shape.mistakes {
            let told = self.mistake_at(*at, message);
            // What several comparisons have from one is there several times.
            if !mistakes.contains(&told) {
                mistakes.push(told);
            }
        }
        if let Some(study) = &mut shape.study {
            study.name_drivers();
            let told =
                |keys: &[String], place: &str, message: &str| self.mistake(keys, place, message);
            mistakes.extend(check::all(study, &shape.lost, &told));
        }
        mistakes.truncate(MOST_TOLD);
        Reading {
            study: shape.study,
            mistakes,
            lost: shape.lost,
        }
    }

    /// What follows a mistake on its line is mostly no other one.
    fn no_toml(&self) -> Vec<String> {
        let mut lines = BTreeSet::new();
        let errors = self.broken.iter();
        let errors =
            errors.map(|error| (error.span().map_or(0, |span| span.start), error.message()));
        let first = errors.filter(|(at, _)| lines.insert(self.line_and_column(*at).0));
        let first = first.take(MOST_TOLD);
        first
            .map(|(at, message)| self.mistake_at(at, message))
            .collect()
    }

    /// A mistake under these keys, with line and column of the innermost that is there; a number picks an
    /// entry of a list. `place` is where it stands in words.
    pub fn mistake(&self, keys: &[String], place: &str, message: &str) -> String {
        let mut found = &self.document;
        for key in keys {
            let inner = match found.get_ref() {
                DeValue::Array(entries) => key.parse().ok().and_then(|at: usize| entries.get(at)),
                DeValue::Table(table) => table.get(key.as_str()),
                _ => None,
            };
            match inner {
                Some(inner) => found = inner,
                None => break,
            }
        }
        let file = self.name;
        if std::ptr::eq(found, &raw const self.document) {
            return format!("{file}: {place}: {message}");
        }
        let (line, column) = self.line_and_column(found.span().start);
        format!("{file}:{line}:{column}: {place}: {message}")
    }

    /// A mistake at a byte of the text.
    fn mistake_at(&self, offset: usize, message: &str) -> String {
        let message = message.trim().replace('\n', "; ");
        let offset = offset.min(self.text.len());
        let (line, column) = self.line_and_column(offset);
        let said = in_words(&message, &self.text[offset..]);
        let near = suggestion_for(&said);
        format!("{}:{line}:{column}: {said}{near}", self.name)
    }

    /// Line and column, from 1, of a byte of the text.
    fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let before = &self.text[..offset.min(self.text.len())];
        let line_start = before.rfind('\n').map_or(0, |index| index + 1);
        (
            before.matches('\n').count() + 1,
            before[line_start..].chars().count() + 1,
        )
    }
}

/// What the parser says, for people who do not program in its language. `at` is the text from the
/// mistake on.
fn in_words(message: &str, at: &str) -> String {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let value = at.split(|c| !word(c)).next().unwrap_or_default();
    if message.starts_with("string values must be quoted") && parse_size(value).is_ok() {
        return format!(
            "'{value}' is no number; a size with a unit stands in quotes (\"{value}\"), other numbers \
             are written out"
        );
    }
    let types = ["u64", "u32", "u16", "u8", "usize"];
    match message.rsplit_once("expected ") {
        Some((said, wanted)) if types.contains(&wanted) => {
            format!("{said}expected a whole number, 0 or more")
        }
        Some((said, "f64" | "f32")) => format!("{said}expected a number"),
        _ => message.to_owned(),
    }
}

/// serde lists what it expected between back quotes; the first quoted word is the wrong one.
fn suggestion_for(message: &str) -> String {
    if !message.starts_with("unknown ") {
        return String::new();
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let wrong = quoted.next();
    wrong.map_or_else(String::new, |wrong| suggestion(wrong, quoted))
}
