//! Keys of a study file that mean nothing.
//!
//! The types of a study stand in results, too, which must be readable when a later version gave
//! them a field more; so they accept what they do not know. In a study file that is a mistake of the
//! user. This walks a file beside the types, and finds it.

use super::like::LIKE;
use crate::dataset::TAGGED;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The type of which one may be like another one.
const COMPARISON: &str = "ComparisonSpec";

/// A key that the type at its place does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnknownKey {
    /// Where it stands: bytes from the start of the text.
    pub(super) offset: usize,
    /// Where the table begins and ends in which it stands.
    pub(super) table: Range<usize>,
    /// What is wrong, with the keys that there are.
    pub(super) message: String,
    /// The names that the file would give by it.
    pub(super) names: Vec<String>,
}

/// The keys of a document that `T` does not have, up to something else that is wrong, which is not
/// asked here.
pub(super) fn unknown_keys<T: DeserializeOwned>(
    document: &Spanned<DeValue<'_>>,
) -> Vec<UnknownKey> {
    let unknown = RefCell::new(Vec::new());
    let whole = Walk {
        value: document,
        unknown: &unknown,
    };
    // What else is wrong, reading the file will report.
    let _ = T::deserialize(whole);
    let mut unknown = unknown.into_inner();
    unknown.sort_by_key(|key| key.offset);
    unknown
}

/// In the words of serde, which takes only lists that are known to the compiler.
fn unknown_field(name: &str, known: &[&str]) -> String {
    let known: Vec<String> = known.iter().map(|field| format!("`{field}`")).collect();
    format!(
        "unknown field `{name}`, expected one of {}",
        known.join(", ")
    )
}

/// The walk ended at something that is not of its type's shape.
#[derive(Debug)]
struct Stop;

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not of its type's shape")
    }
}

impl std::error::Error for Stop {}

impl Error for Stop {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// A value of the document, walked by the type that it is to become.
#[derive(Clone, Copy)]
struct Walk<'a, 'i> {
    value: &'a Spanned<DeValue<'i>>,
    /// What was found so far.
    unknown: &'a RefCell<Vec<UnknownKey>>,
}

impl<'a, 'i> Walk<'a, 'i> {
    fn table(self) -> Result<&'a DeTable<'i>, Stop> {
        self.value.get_ref().as_table().ok_or(Stop)
    }

    fn of(self, value: &'a Spanned<DeValue<'i>>) -> Self {
        Self { value, ..self }
    }

    /// Notes the keys of this table that are none of `fields`.
    fn check(self, fields: &[&'static str], known: &[&'static str]) -> Result<(), Stop> {
        for (key, value) in self.table()? {
            let name = key.get_ref();
            if fields.contains(&name.as_ref()) {
                continue;
            }
            let mut names = Vec::new();
            add_names(name, value.get_ref(), &mut names);
            self.unknown.borrow_mut().push(UnknownKey {
                offset: key.span().start,
                table: self.value.span(),
                message: unknown_field(name, known),
                names,
            });
        }
        Ok(())
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

    fn walk_table<'de, V: Visitor<'de>>(
        self,
        is_known: impl Fn(&str) -> bool,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let entries = self.table()?.iter();
        let entries = entries.map(|(key, value)| (key.get_ref().as_ref(), self.of(value)));
        visitor.visit_map(MapDeserializer::new(
            entries.filter(|(key, _)| is_known(key)),
        ))
    }
}

/// The names that a key and what is below it give: keys of tables, and what stands at `id`.
pub(super) fn add_names(key: &str, value: &DeValue<'_>, names: &mut Vec<String>) {
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

impl<'de> IntoDeserializer<'de, Stop> for Walk<'_, '_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Walk<'_, '_> {
    type Error = Stop;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        match self.value.get_ref() {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Boolean(on) => visitor.visit_bool(*on),
            DeValue::Integer(number) => {
                match u64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) => visitor.visit_u64(number),
                    Err(_) => Err(Stop),
                }
            }
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) => visitor.visit_f64(number),
                Err(_) => Err(Stop),
            },
            DeValue::Datetime(_) => Err(Stop),
            DeValue::Array(entries) => visitor.visit_seq(SeqDeserializer::new(
                entries.iter().map(|entry| self.of(entry)),
            )),
            DeValue::Table(_) => {
                self.check_tagged()?;
                self.walk_table(|_| true, visitor)
            }
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        // Which is spelled out before the type is asked.
        let short: &[&str] = if name == COMPARISON { &[LIKE] } else { &[] };
        self.check(fields, &[fields, short].concat())?;
        self.walk_table(|key| fields.contains(&key), visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.walk_table(|_| true, visitor)
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
        let word = self.value.get_ref().as_str().ok_or(Stop)?;
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

    /// The words at which the study is refused, and what is said of each.
    fn refused(text: &str) -> Vec<(String, String)> {
        let document = DeTable::parse(text).unwrap();
        let document = Spanned::new(document.span(), DeValue::Table(document.into_inner()));
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let told = unknown_keys::<Study>(&document).into_iter().map(|key| {
            let at = &text[key.offset..];
            let end = at.find(|c| !word(c)).unwrap_or(at.len());
            (at[..end].to_owned(), key.message)
        });
        told.collect()
    }

    #[test]
    fn a_key_that_means_nothing_is_found_wherever_it_stands() {
        assert_eq!(refused(STUDY), []);
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
            let found = refused(&text);
            assert_eq!(found.len(), 1, "{wrong}: {found:?}");
            let (found, message) = &found[0];
            assert_eq!(found, key);
            let begins = format!("unknown field `{key}`, expected ");
            assert!(message.starts_with(&begins), "{message}");
        }
    }

    #[test]
    fn all_keys_that_mean_nothing_are_found_at_once_and_nothing_is_asked_below_one() {
        let text = STUDY
            .replace(
                "count = 3_000",
                "count = 3\ncuont = { kind = \"guid\", x = 1 }",
            )
            .replace("{ store = ", "{ lable = 1, store = ")
            .replace("[scales.quick]", "[scales.quick]\nabuot = 1");
        let found: Vec<String> = refused(&text).into_iter().map(|(key, _)| key).collect();
        assert_eq!(found, ["cuont", "lable", "abuot"]);
    }

    #[test]
    fn what_else_is_wrong_is_not_asked_here() {
        for text in [
            "",
            &STUDY.replace("\"kvtest\"", "\"kvtets\""),
            &STUDY.replace("0x10", "-1"),
            &STUDY.replace("\"blobs\"", "1979-05-27"),
        ] {
            assert_eq!(refused(text), [], "{text}");
        }
    }
}
