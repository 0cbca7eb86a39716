//! Keys of a study file that mean nothing.
//!
//! The types of a study stand in results, too, which must be readable when a later version gave
//! them a field more; so they accept what they do not know. In a study file that is a mistake of the
//! user. This walks a file beside the types, and finds it.

use crate::dataset::TAGGED;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use std::fmt;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key that the type at its place does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnknownKey {
    /// Where it stands: bytes from the start of the text.
    pub(super) offset: usize,
    /// What is wrong, with the keys that there are.
    pub(super) message: String,
}

/// The first key of a document that `T` does not have. Whatever else is wrong is not asked here,
/// nor is a text that is no TOML.
pub(super) fn unknown_key<T: DeserializeOwned>(text: &str) -> Option<UnknownKey> {
    let document = DeTable::parse(text).ok()?;
    let span = document.span();
    let document = Spanned::new(span, DeValue::Table(document.into_inner()));
    match T::deserialize(Walk(&document)) {
        Err(Stop::Unknown(key)) => Some(key),
        Err(Stop::Other) | Ok(_) => None,
    }
}

/// Why the walk ended.
#[derive(Debug)]
enum Stop {
    Unknown(UnknownKey),
    /// Something that reading the file will report.
    Other,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(key) => f.write_str(&key.message),
            Self::Other => f.write_str("not of its type's shape"),
        }
    }
}

impl std::error::Error for Stop {}

impl Error for Stop {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Other
    }
}

/// A value of the document, walked by the type that it is to become.
#[derive(Clone, Copy)]
struct Walk<'a, 'i>(&'a Spanned<DeValue<'i>>);

impl<'a, 'i> Walk<'a, 'i> {
    fn table(self) -> Result<&'a DeTable<'i>, Stop> {
        self.0.get_ref().as_table().ok_or(Stop::Other)
    }

    /// Every key of this table is one of `fields`.
    fn check(self, fields: &[&'static str], known: &'static [&'static str]) -> Result<(), Stop> {
        let mut keys = self.table()?.keys();
        match keys.find(|key| !fields.contains(&key.get_ref().as_ref())) {
            None => Ok(()),
            Some(key) => Err(Stop::Unknown(UnknownKey {
                offset: key.span().start,
                message: serde::de::value::Error::unknown_field(key.get_ref(), known).to_string(),
            })),
        }
    }

    /// A table whose other keys depend on the value of one of them.
    fn check_tagged(self) -> Result<(), Stop> {
        let table = self.table()?;
        let is = |tag: &str, value: &str| {
            let found = table.get(tag).and_then(|found| found.get_ref().as_str());
            found == Some(value)
        };
        match TAGGED.iter().find(|(tag, value, _)| is(tag, value)) {
            Some((tag, _, fields)) => self.check(&[&[*tag][..], fields].concat(), fields),
            None => Ok(()),
        }
    }

    fn walk_table<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let entries = self.table()?.iter();
        let entries = entries.map(|(key, value)| (key.get_ref().as_ref(), Walk(value)));
        visitor.visit_map(MapDeserializer::new(entries))
    }
}

impl<'de> IntoDeserializer<'de, Stop> for Walk<'_, '_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Walk<'_, '_> {
    type Error = Stop;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        match self.0.get_ref() {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Boolean(on) => visitor.visit_bool(*on),
            DeValue::Integer(number) => {
                match u64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) => visitor.visit_u64(number),
                    Err(_) => Err(Stop::Other),
                }
            }
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) => visitor.visit_f64(number),
                Err(_) => Err(Stop::Other),
            },
            DeValue::Datetime(_) => Err(Stop::Other),
            DeValue::Array(entries) => {
                visitor.visit_seq(SeqDeserializer::new(entries.iter().map(Walk)))
            }
            DeValue::Table(_) => {
                self.check_tagged()?;
                self.walk_table(visitor)
            }
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.check(fields, fields)?;
        self.walk_table(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.walk_table(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let word = self.0.get_ref().as_str().ok_or(Stop::Other)?;
        visitor.visit_enum(word.into_deserializer())
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Study;

    const STUDY: &str = r#"
name = "t"
title = "T"
question = "?"
[datasets.blobs]
count = 3_000
size = { distribution = "kvtest", size = 2, variance = 1 }
content = { kind = "compressible", ratio = 0.5 }
[[comparison]]
id = "reads"
title = "reads"
dataset = "blobs"
baseline = "dir"
workload = { mix = { read = 1, overwrite = 0 }, per_transaction = 10 }
[comparison.cells]
dir = { store = "files:layout=dir" }
[scales.quick]
count = { blobs = 0x10 }
"#;

    /// The word at which the study is refused, and what is said.
    fn refused(text: &str) -> Option<(String, String)> {
        let key = unknown_key::<Study>(text)?;
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let at = &text[key.offset..];
        let end = at.find(|c| !word(c)).unwrap_or(at.len());
        Some((at[..end].to_owned(), key.message))
    }

    #[test]
    fn a_key_that_means_nothing_is_found_wherever_it_stands() {
        assert_eq!(refused(STUDY), None);
        let spoiled = [
            ("name = \"t\"", "nam = \"t\"", "nam"),
            ("count = 3_000", "count = 3\ncuont = 1", "cuont"),
            ("variance = 1", "varianc = 1", "varianc"),
            ("ratio = 0.5", "raito = 0.5", "raito"),
            ("overwrite = 0", "overwriet = 0", "overwriet"),
            ("{ store = ", "{ lable = 1, store = ", "lable"),
            ("per_transaction", "per_transacton", "per_transacton"),
            ("[scales.quick]", "[scales.quick]\nabuot = 1", "abuot"),
        ];
        for (right, wrong, key) in spoiled {
            let text = STUDY.replace(right, wrong);
            assert_ne!(text, STUDY);
            let (found, message) = refused(&text).unwrap_or_else(|| panic!("{wrong} is accepted"));
            assert_eq!(found, key);
            let begins = format!("unknown field `{key}`, expected ");
            assert!(message.starts_with(&begins), "{message}");
        }
    }

    #[test]
    fn what_else_is_wrong_is_not_asked_here() {
        for text in [
            "",
            "name = [",
            &STUDY.replace("\"kvtest\"", "\"kvtets\""),
            &STUDY.replace("0x10", "-1"),
            &STUDY.replace("\"blobs\"", "1979-05-27"),
        ] {
            assert_eq!(refused(text), None, "{text}");
        }
    }
}
