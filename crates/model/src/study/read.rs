//! A document as a study: what of it has the shape of one, and all that has not.
//!
//! The types of a study stand in results, too, which must be readable when a later version gave
//! them a field more; so they accept what they do not know. In a study file that is a mistake of the
//! user, which is told with all others: what is wrong is left out, and the rest read again.

use super::Study;
use super::like::{Entry, LIKE, Unlike};
use crate::dataset::TAGGED;
use serde::de::value::StrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use toml::de::{DeTable, DeValue};

/// More mistakes are not told at once.
pub(super) const MOST_TOLD: usize = 100;
/// The type of which one may be like another one.
const COMPARISON: &str = "ComparisonSpec";

/// A study file as far as it has the shape of one.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// What has the shape of a study, if enough is left; with all of it where nothing is wrong.
    pub(super) study: Option<Study>,
    /// All that has not: bytes from the start of the text, and what is wrong there.
    pub(super) mistakes: Vec<(usize, String)>,
    /// Names that may stand in what was left out, so that nobody can say of them that they are missing.
    pub(super) lost: Vec<String>,
}

/// Reads a document, and leaves out what is wrong until the rest has the shape of a study.
pub(super) fn read(document: &Entry<'_>, unlike: &[Unlike<'_>]) -> Shape {
    let mut left = Left::default();
    let mut mistakes: Vec<(usize, String)> =
        unlike.iter().map(|lost| lost.mistake.clone()).collect();
    let mut lost = Vec::new();
    for left_out in unlike.iter().flat_map(|unlike| &unlike.left_out) {
        add_names("id", left_out, &mut lost);
    }
    let study = loop {
        let walk = Walk {
            left: &left,
            key: "",
            value: document,
        };
        let Stop { message, at } = match Study::deserialize(walk) {
            Ok(study) => break Some(study),
            Err(stop) => stop,
        };
        let (key, value) = at.unwrap_or(("", document));
        if !(message.starts_with("missing field") && left.is_robbed(value)) {
            mistakes.push((value.span().start, message));
        }
        if std::ptr::eq(value, document) || mistakes.len() >= MOST_TOLD {
            break None;
        }
        add_names(key, value.get_ref(), &mut lost);
        left.out.push(value);
    };
    let unknown = left.unknown.into_inner();
    for key in unknown.values() {
        add_names(key.name, key.value.get_ref(), &mut lost);
    }
    let unknown = unknown.into_iter().map(|(at, key)| (at, key.message));
    Shape {
        study,
        mistakes: unknown.chain(mistakes).collect(),
        lost,
    }
}

/// The names that a key and what is below it give: keys of tables, and what stands at `id`.
fn add_names(key: &str, value: &DeValue<'_>, names: &mut Vec<String>) {
    names.push(key.to_owned());
    match value {
        DeValue::String(id) if key == "id" => names.push(id.to_string()),
        DeValue::Array(entries) => {
            for entry in entries.iter() {
                add_names(key, entry.get_ref(), names);
            }
        }
        DeValue::Table(table) => {
            for (key, value) in table {
                add_names(key.get_ref(), value.get_ref(), names);
            }
        }
        _ => {}
    }
}

/// What is left of a document.
#[derive(Default)]
struct Left<'d> {
    /// What is wrong and not read any more.
    out: Vec<&'d Entry<'d>>,
    /// Keys that mean nothing, by where they stand.
    unknown: RefCell<BTreeMap<usize, UnknownKey<'d>>>,
}

struct UnknownKey<'d> {
    table: &'d Entry<'d>,
    name: &'d str,
    value: &'d Entry<'d>,
    message: String,
}

impl<'d> Left<'d> {
    fn has(&self, value: &Entry<'_>) -> bool {
        !self.out.iter().any(|out| std::ptr::eq(*out, value))
    }

    /// Whether a field may only be missing because it was left out, or has another name.
    fn is_robbed(&self, table: &Entry<'_>) -> bool {
        let unknown = self.unknown.borrow();
        let values = table
            .get_ref()
            .as_table()
            .into_iter()
            .flat_map(DeTable::values);
        unknown.values().any(|key| std::ptr::eq(key.table, table))
            || values.into_iter().any(|value| !self.has(value))
    }
}

/// Something is not of its type's shape.
#[derive(Debug)]
struct Stop<'d> {
    message: String,
    /// The innermost value that is not, and its key.
    at: Option<(&'d str, &'d Entry<'d>)>,
}

impl fmt::Display for Stop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Stop<'_> {}

impl Error for Stop<'_> {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self {
            message: message.to_string(),
            at: None,
        }
    }
}

/// A value of the document, walked by the type that it is to become.
#[derive(Clone, Copy)]
struct Walk<'l, 'd> {
    left: &'l Left<'d>,
    key: &'d str,
    value: &'d Entry<'d>,
}

impl<'l, 'd> Walk<'l, 'd> {
    fn of(self, key: &'d str, value: &'d Entry<'d>) -> Self {
        Self { key, value, ..self }
    }

    /// Notes the keys of a table that are none of `fields`, in the words of serde, which takes only lists
    /// that are known to the compiler.
    fn check(self, table: &'d DeTable<'d>, fields: &[&str], known: &[&str]) {
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            if fields.contains(&name) {
                continue;
            }
            let message = match ["chart", "bars", "lines", "published", "space"].contains(&name) {
                true if fields.contains(&"figure") => format!(
                    "[[{name}]] is [[figure]] now; what its keys are called stands in docs/study-format.md, \"Figures\""
                ),
                _ => format!(
                    "unknown field `{name}`, expected one of `{}`",
                    known.join("`, `")
                ),
            };
            let unknown = UnknownKey {
                table: self.value,
                name,
                value,
                message,
            };
            let mut all = self.left.unknown.borrow_mut();
            all.insert(key.span().start, unknown);
        }
    }

    /// A table whose other keys depend on the value of one of them.
    fn check_tagged(self, table: &'d DeTable<'d>) {
        let is = |tag: &str, value: &str| {
            let found = table.get(tag).and_then(|found| found.get_ref().as_str());
            found == Some(value)
        };
        if let Some((tag, _, fields)) = TAGGED.iter().find(|(tag, value, _)| is(tag, value)) {
            self.check(table, &[&[*tag][..], fields].concat(), fields);
        }
    }

    fn walk_table<'de, V: Visitor<'de>>(
        self,
        table: &'d DeTable<'d>,
        is_known: impl Fn(&str) -> bool,
        visitor: V,
    ) -> Result<V::Value, Stop<'d>> {
        let entries = table.iter();
        let entries = entries.map(|(key, value)| (key.get_ref().as_ref(), value));
        let entries = entries.filter(|(key, value)| is_known(key) && self.left.has(value));
        let walks = entries.map(|(key, value)| self.of(key, value)).collect();
        visitor.visit_map(Inner::of(walks))
    }
}

/// What is in a table or a list.
struct Inner<'l, 'd> {
    walks: std::vec::IntoIter<Walk<'l, 'd>>,
    /// Whose key was read.
    value: Option<Walk<'l, 'd>>,
}

impl<'l, 'd> Inner<'l, 'd> {
    fn of(walks: Vec<Walk<'l, 'd>>) -> Self {
        Self {
            walks: walks.into_iter(),
            value: None,
        }
    }

    /// The next value; an error is its own unless it is one of a value in it.
    fn next<'de, S: DeserializeSeed<'de>>(
        walk: Option<Walk<'_, 'd>>,
        seed: S,
    ) -> Result<Option<S::Value>, Stop<'d>> {
        let read = walk.map(|walk| {
            seed.deserialize(walk).map_err(|stop| Stop {
                at: stop.at.or(Some((walk.key, walk.value))),
                ..stop
            })
        });
        read.transpose()
    }
}

impl<'de, 'd> SeqAccess<'de> for Inner<'_, 'd> {
    type Error = Stop<'d>;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Stop<'d>> {
        Self::next(self.walks.next(), seed)
    }
}

impl<'de, 'd> MapAccess<'de> for Inner<'_, 'd> {
    type Error = Stop<'d>;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Stop<'d>> {
        self.value = self.walks.next();
        let key = self.value.map(|walk| walk.key.into_deserializer());
        key.map(|key: StrDeserializer<'_, Stop<'d>>| seed.deserialize(key))
            .transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Stop<'d>> {
        let read = Self::next(self.value.take(), seed)?;
        read.ok_or_else(|| Stop::custom("a value without a key"))
    }
}

impl<'de, 'd> Deserializer<'de> for Walk<'_, 'd> {
    type Error = Stop<'d>;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop<'d>> {
        match self.value.get_ref() {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Boolean(on) => visitor.visit_bool(*on),
            DeValue::Integer(number) => {
                let (digits, radix) = (number.as_str(), number.radix());
                let signed = i64::from_str_radix(digits, radix);
                match (u64::from_str_radix(digits, radix), signed) {
                    (Ok(number), _) => visitor.visit_u64(number),
                    (_, Ok(number)) => visitor.visit_i64(number),
                    _ => Err(Stop::custom(format_args!("{digits} is too large a number"))),
                }
            }
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) if f64::is_finite(number) => visitor.visit_f64(number),
                // TOML knows it, and results, which are JSON, do not.
                _ => Err(Stop::custom(format_args!(
                    "{} is no number that a result can hold",
                    number.as_str()
                ))),
            },
            DeValue::Datetime(_) => Err(Stop::invalid_type(Unexpected::Other("date"), &visitor)),
            DeValue::Array(entries) => {
                let entries = entries.iter().filter(|entry| self.left.has(entry));
                let walks = entries.map(|entry| self.of("", entry)).collect();
                visitor.visit_seq(Inner::of(walks))
            }
            DeValue::Table(table) => {
                self.check_tagged(table);
                self.walk_table(table, |_| true, visitor)
            }
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop<'d>> {
        let Some(table) = self.value.get_ref().as_table() else {
            return self.deserialize_any(visitor);
        };
        // Which is spelled out before the type is asked.
        let short: &[&str] = if name == COMPARISON { &[LIKE] } else { &[] };
        self.check(table, fields, &[fields, short].concat());
        self.walk_table(table, |key| fields.contains(&key), visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop<'d>> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Stop<'d>> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop<'d>> {
        match self.value.get_ref().as_str() {
            Some(word) => visitor.visit_enum(word.into_deserializer()),
            None => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}
