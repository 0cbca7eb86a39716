//! The shape of a study file: what of it can be read, and all that is in the way of the rest.

use super::like::{Unlike, spell_out};
use super::strict::{UnknownKey, add_names, unknown_keys};
use super::{Study, StudyError, line_and_column, parse_error, parse_error_at};
use crate::suggestion;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, ValueDeserializer};

/// More mistakes are not told at once: finding the place of each takes time.
pub(super) const MOST_TOLD: usize = 100;

/// A study file as far as it has the shape of one.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// What has the shape of a study, if enough is left; with all of it where nothing is wrong.
    pub(super) study: Option<Study>,
    /// All that has not.
    pub(super) mistakes: Vec<StudyError>,
    /// Names that may stand in what was left out, so that nobody can say of them that they are missing.
    pub(super) lost: Vec<String>,
}

impl Shape {
    /// Reads a text, and leaves out what is wrong until the rest has the shape of a study.
    pub(super) fn read(text: &str, file: &str) -> Self {
        let (document, errors) = DeTable::parse_recoverable(text);
        let span = document.span();
        let mut document = document.into_inner();
        if !errors.is_empty() {
            return Self::of_no_toml(&errors, text, file);
        }
        let mut left = Left::default();
        let mut shape = Self::default();
        for unlike in spell_out(&mut document) {
            shape.mistakes.push(no_such(&unlike, text, file));
            left.robbed.push(unlike.comparison);
            left.names.push(unlike.name);
        }
        let mut document = Spanned::new(span, DeValue::Table(document));
        while shape.mistakes.len() < MOST_TOLD {
            left.note_unknown_keys(&document);
            let deserializer = ValueDeserializer::from(document.clone());
            match Study::deserialize(deserializer) {
                Ok(study) => {
                    shape.study = Some(study);
                    break;
                }
                Err(error) => {
                    let span = error.span().unwrap_or(0..0);
                    let told = parse_error(&error, text, file);
                    // What several comparisons have from one is there several times.
                    if !left.explains(&error, &span) && !shape.mistakes.contains(&told) {
                        shape.mistakes.push(told);
                    }
                    let filled = missing_text(&error)
                        .is_some_and(|field| left.fill(&mut document, field, &span));
                    if !filled && !left.remove(&mut document, &span) {
                        break;
                    }
                }
            }
        }
        let unknown = left.unknown.values().take(MOST_TOLD);
        let unknown = unknown.map(|key| parse_error_at(&key.message, key.offset, text, file));
        shape.mistakes.splice(0..0, unknown);
        shape.lost = left.names;
        shape
    }

    /// What is no TOML has no shape at all. What follows a mistake on its line is mostly no other one.
    fn of_no_toml(errors: &[toml::de::Error], text: &str, file: &str) -> Self {
        let line = |error: &toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start);
            line_and_column(text, at).0
        };
        let mut told = Vec::new();
        let mut mistakes = Vec::new();
        for error in errors.iter().take(MOST_TOLD) {
            if !told.contains(&line(error)) {
                told.push(line(error));
                mistakes.push(parse_error(error, text, file));
            }
        }
        Self {
            mistakes,
            ..Self::default()
        }
    }
}

fn no_such(unlike: &Unlike, text: &str, file: &str) -> StudyError {
    let Unlike { name, known, .. } = unlike;
    let near = suggestion(name, known.iter().map(String::as_str));
    let message = match name.as_str() {
        "" => "like names a comparison that stands before, by its id".to_owned(),
        name => format!(
            "unknown comparison '{}' (it must stand before){near}",
            name.escape_debug()
        ),
    };
    parse_error_at(&message, unlike.at.start, text, file)
}

/// The field that is missing, if it is a text without which the rest can be judged.
fn missing_text(error: &toml::de::Error) -> Option<&'static str> {
    let field = error.message().strip_prefix("missing field `")?;
    let field = field.split('`').next()?;
    let texts = ["title", "question", "baseline"];
    texts.into_iter().find(|text| *text == field)
}

/// What was left out of a document.
#[derive(Default)]
struct Left {
    /// By where they stand.
    unknown: BTreeMap<usize, UnknownKey>,
    /// The tables and lists in which something is missing now.
    robbed: Vec<Range<usize>>,
    names: Vec<String>,
}

impl Left {
    fn note_unknown_keys(&mut self, document: &Spanned<DeValue<'_>>) {
        for key in unknown_keys::<Study>(document) {
            let names = key.names.clone();
            if self.unknown.insert(key.offset, key).is_none() {
                self.names.extend(names);
            }
        }
    }

    /// Whether a field is only missing because it was left out, or has another name.
    fn explains(&self, error: &toml::de::Error, table: &Range<usize>) -> bool {
        let unknown = self.unknown.values().map(|key| &key.table);
        let mut robbed = unknown.chain(&self.robbed);
        error.message().starts_with("missing field") && robbed.any(|robbed| robbed == table)
    }

    /// Puts an empty text where one is missing in the table that has this place, so that what stands
    /// beside it can be judged.
    fn fill(
        &mut self,
        table: &mut Spanned<DeValue<'_>>,
        field: &'static str,
        place: &Range<usize>,
    ) -> bool {
        let own = table.span();
        match table.get_mut() {
            DeValue::Table(entries) => {
                if own == *place && !entries.contains_key(field) {
                    let empty = Spanned::new(0..0, DeValue::String("".into()));
                    entries.insert(Spanned::new(0..0, field.into()), empty);
                    self.names.push(String::new());
                    return true;
                }
                let mut inner = entries.iter_mut().map(|(_, inner)| inner);
                inner.any(|inner| self.fill(inner, field, place))
            }
            DeValue::Array(list) => list.iter_mut().any(|inner| self.fill(inner, field, place)),
            _ => false,
        }
    }

    /// Removes the innermost value that has this place.
    fn remove(&mut self, from: &mut Spanned<DeValue<'_>>, place: &Range<usize>) -> bool {
        let own = from.span();
        let removed = match from.get_mut() {
            DeValue::Table(table) => {
                let mut inner = table.iter_mut().map(|(_, inner)| inner);
                if inner.any(|inner| self.remove(inner, place)) {
                    return true;
                }
                self.remove_from_table(table, place)
            }
            DeValue::Array(list) => {
                if list.iter_mut().any(|inner| self.remove(inner, place)) {
                    return true;
                }
                self.remove_from_list(list, place)
            }
            _ => false,
        };
        if removed {
            self.robbed.push(own);
        }
        removed
    }

    fn remove_from_table(&mut self, table: &mut DeTable<'_>, place: &Range<usize>) -> bool {
        let here =
            |key: &Spanned<_>, value: &Spanned<_>| key.span() == *place || value.span() == *place;
        let mut entries = table.iter();
        let Some((key, value)) = entries.find(|(key, value)| here(key, value)) else {
            return false;
        };
        add_names(key.get_ref(), value.get_ref(), &mut self.names);
        let key = key.clone();
        table.remove(&key).is_some()
    }

    fn remove_from_list(&mut self, list: &mut DeArray<'_>, place: &Range<usize>) -> bool {
        let Some(value) = list.iter().find(|value| value.span() == *place) else {
            return false;
        };
        add_names("", value.get_ref(), &mut self.names);
        let mut rest = DeArray::new();
        for value in list.iter().filter(|value| value.span() != *place) {
            rest.push(value.clone());
        }
        *list = rest;
        true
    }
}
