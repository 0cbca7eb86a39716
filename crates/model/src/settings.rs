//! Typed settings of a store: described once, and from that description parsed, validated,
//! listed by `stowplan list stores NAME`, and read back.

use crate::{parse_size, spec_size, suggestion};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// A text that lives as long as the process; those of a driver, too, which is asked once.
type Lasting = &'static str;
/// Several of them.
type LastingWords = &'static [Lasting];

/// One setting of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Setting {
    /// Its name in a store spec: lower case, words joined by `_`.
    #[serde(deserialize_with = "lasting")]
    pub name: Lasting,
    /// Its type and range.
    pub kind: SettingKind,
    /// Its value where a spec says nothing, in spec syntax.
    #[serde(deserialize_with = "lasting")]
    pub default: Lasting,
    /// One line of help.
    #[serde(default, deserialize_with = "lasting")]
    pub help: Lasting,
    /// Whether the value shapes the stored bytes: stores that agree in all of these can share
    /// one built copy.
    #[serde(default)]
    pub shapes_layout: bool,
}

/// The type of a setting and what it accepts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SettingKind {
    /// `on` or `off`.
    Flag,
    /// A size in bytes within a range.
    Bytes {
        /// Smallest accepted value, in bytes.
        min: u64,
        /// Largest accepted value, in bytes.
        max: u64,
        /// Whether it must be a power of two.
        #[serde(default)]
        power_of_two: bool,
    },
    /// A whole number within a range.
    Integer {
        /// Smallest accepted value.
        min: u64,
        /// Largest accepted value.
        max: u64,
    },
    /// One of these words.
    Choice(#[serde(deserialize_with = "lasting_words")] LastingWords),
    /// Any text. A secret is given by the name of an environment variable (`$NAME`), so that it
    /// stands in no file; the driver inherits the variable.
    Text {
        /// Whether it must not be seen.
        #[serde(default)]
        secret: bool,
    },
}

fn lasting<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Lasting, D::Error> {
    static KNOWN: Known<str> = Mutex::new(BTreeSet::new());
    Ok(kept(&KNOWN, Box::deserialize(deserializer)?))
}

fn lasting_words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LastingWords, D::Error> {
    #[derive(Deserialize)]
    struct Word(#[serde(deserialize_with = "lasting")] Lasting);

    static KNOWN: Known<[Lasting]> = Mutex::new(BTreeSet::new());
    let words = Vec::<Word>::deserialize(deserializer)?.into_iter();
    Ok(kept(&KNOWN, words.map(|Word(word)| word).collect()))
}

/// What is kept for as long as the process lasts.
type Known<T> = Mutex<BTreeSet<&'static T>>;

/// Keeps something once for all who tell it.
fn kept<T: Ord + ?Sized>(known: &Known<T>, told: Box<T>) -> &'static T {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = known.get(&*told) {
        return kept;
    }
    let kept: &'static T = Box::leak(told);
    known.insert(kept);
    kept
}

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Value {
    /// On or off.
    Flag(bool),
    /// A size in bytes, or a number.
    Number(u64),
    /// A word.
    Word(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(on) => f.pad(if *on { "on" } else { "off" }),
            Self::Number(n) => f.pad(&n.to_string()),
            Self::Word(word) => f.pad(word),
        }
    }
}

/// Why a setting could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct SettingError(String);

impl Setting {
    /// Reads a value as written in a spec.
    ///
    /// # Errors
    /// A value of the wrong kind or out of range.
    pub fn parse(&self, text: &str) -> Result<Value, SettingError> {
        let wrong =
            |why| SettingError(format!("setting '{}' cannot be '{text}': {why}", self.name));
        self.parse_value(text).map_err(wrong)
    }

    fn parse_value(&self, text: &str) -> Result<Value, String> {
        let (value, near) = match self.kind {
            SettingKind::Flag => {
                let on = ["on", "true", "yes", "1"].contains(&text);
                let off = ["off", "false", "no", "0"].contains(&text);
                ((on || off).then_some(Value::Flag(on)), String::new())
            }
            SettingKind::Choice(words) => {
                let word = words.iter().find(|word| word.eq_ignore_ascii_case(text));
                let near = match word {
                    Some(_) => String::new(),
                    None => suggestion(text, words.iter().copied()),
                };
                (word.map(|word| Value::Word((*word).to_owned())), near)
            }
            SettingKind::Bytes {
                min,
                max,
                power_of_two,
            } => {
                let size = parse_size(text).map_err(|e| e.to_string())?;
                let fits = (min..=max).contains(&size) && (!power_of_two || size.is_power_of_two());
                (fits.then_some(Value::Number(size)), String::new())
            }
            SettingKind::Integer { min, max } => {
                let number = crate::parse_count(text).map_err(|e| e.to_string())?;
                let fits = (min..=max).contains(&number);
                (fits.then_some(Value::Number(number)), String::new())
            }
            SettingKind::Text { secret } => {
                let fits = !secret || text == self.default || text.starts_with('$');
                (fits.then(|| Value::Word(text.to_owned())), String::new())
            }
        };
        value.ok_or_else(|| format!("it is {}{near}", self.accepts()))
    }

    /// What the setting accepts, in words, for help and messages.
    pub fn accepts(&self) -> String {
        match &self.kind {
            SettingKind::Flag => "on or off".to_owned(),
            SettingKind::Choice(words) => format!("one of {}", words.join(", ")),
            SettingKind::Bytes {
                min,
                max,
                power_of_two,
            } => {
                let power = if *power_of_two {
                    ", a power of two"
                } else {
                    ""
                };
                // Nothing has so many bytes: such a limit is none for a user.
                if *max >= i64::MAX.unsigned_abs() {
                    format!("a size of at least {}{power}", spec_size(*min))
                } else {
                    format!(
                        "a size from {} to {}{power}",
                        spec_size(*min),
                        spec_size(*max)
                    )
                }
            }
            SettingKind::Integer { min, max } => format!("a number from {min} to {max}"),
            SettingKind::Text { secret: false } => "any text".to_owned(),
            SettingKind::Text { secret: true } => {
                "a secret: name the environment variable that holds it ($NAME)".to_owned()
            }
        }
    }
}

/// Values for the settings of one store, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, Value>);

impl Settings {
    /// Every described setting with its value from `given`, or its default.
    ///
    /// # Errors
    /// An unknown name (with the nearest known one) or a value that is not accepted.
    pub fn resolve(
        described: &[Setting],
        given: &BTreeMap<String, String>,
    ) -> Result<Self, SettingError> {
        let names = || described.iter().map(|setting| setting.name);
        if let Some(name) = given.keys().find(|name| names().all(|n| n != **name)) {
            let near = suggestion(name, names());
            let known = names().collect::<Vec<_>>().join(", ");
            return Err(SettingError(format!(
                "unknown setting '{name}'; known: {known}{near}"
            )));
        }
        let value = |setting: &Setting| {
            let text = given
                .get(setting.name)
                .map_or(setting.default, String::as_str);
            Ok((setting.name.to_owned(), setting.parse(text)?))
        };
        let values = described.iter().map(value);
        values.collect::<Result<_, _>>().map(Self)
    }

    /// As [`Self::resolve`]; but a `cache` that is not given gets the memory budget, in bytes, where there is one, as
    /// far as the setting allows.
    ///
    /// # Errors
    /// As there.
    pub fn resolve_within(
        described: &[Setting],
        given: &BTreeMap<String, String>,
        memory_budget: Option<u64>,
    ) -> Result<Self, SettingError> {
        /// The setting that gets it.
        const CACHE: &str = "cache";
        let mut settings = Self::resolve(described, given)?;
        let open = |setting: &&Setting| setting.name == CACHE && !given.contains_key(CACHE);
        let cache = described.iter().find(open).map(|setting| &setting.kind);
        if let (Some(budget), Some(SettingKind::Bytes { min, max, .. })) = (memory_budget, cache) {
            settings.set(CACHE, Value::Number(budget.clamp(*min, *max)));
        }
        Ok(settings)
    }

    /// Sets one value: for settings as an engine reports them.
    pub fn set(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// The value of a setting, if it has one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The word chosen for a setting; empty where it has none, which matches no choice.
    pub fn word(&self, name: &str) -> &str {
        match self.0.get(name) {
            Some(Value::Word(word)) => word,
            _ => "",
        }
    }

    /// The number or size of a setting; 0 where it has none.
    pub fn number(&self, name: &str) -> u64 {
        match self.0.get(name) {
            Some(Value::Number(number)) => *number,
            _ => 0,
        }
    }

    /// Whether a flag is on.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.0.get(name), Some(Value::Flag(true)))
    }

    /// Names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Only those settings that shape the stored bytes.
    pub fn layout(&self, described: &[Setting]) -> Self {
        let shapes = |name: &str| described.iter().any(|s| s.name == name && s.shapes_layout);
        let mut layout = self.clone();
        layout.0.retain(|name, _| shapes(name));
        layout
    }

    /// The settings of `self` that `effective` reports with another value:
    /// (name, asked, effective).
    pub fn differences(&self, effective: &Self) -> Vec<(String, Value, Value)> {
        self.0
            .iter()
            .filter_map(|(name, asked)| {
                let got = effective.get(name)?;
                (got != asked).then(|| (name.clone(), asked.clone(), got.clone()))
            })
            .collect()
    }
}

impl fmt::Display for Settings {
    /// `name=value,name=value`, by name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(|(n, v)| format!("{n}={v}")).collect();
        f.pad(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESCRIBED: &[Setting] = &[
        Setting {
            name: "page_size",
            kind: SettingKind::Bytes {
                min: 512,
                max: 65_536,
                power_of_two: true,
            },
            default: "4096",
            help: "",
            shapes_layout: true,
        },
        Setting {
            name: "journal",
            kind: SettingKind::Choice(&["delete", "wal"]),
            default: "delete",
            help: "",
            shapes_layout: false,
        },
    ];

    fn resolve(name: &str, value: &str) -> Result<Settings, SettingError> {
        Settings::resolve(DESCRIBED, &[(name.to_owned(), value.to_owned())].into())
    }

    #[test]
    fn defaults_fill_what_a_spec_leaves_out_and_what_the_engine_changed_is_a_difference() {
        let asked = resolve("journal", "WAL").unwrap();
        assert_eq!(asked.to_string(), "journal=wal,page_size=4096");
        assert_eq!(asked.layout(DESCRIBED).to_string(), "page_size=4096");
        let mut effective = asked.clone();
        effective.set("journal", Value::Word("delete".into()));
        effective.set("version", Value::Word("3".into()));
        let differences = asked.differences(&effective);
        assert_eq!(differences.len(), 1);
        assert_eq!(differences[0].0, "journal");
    }

    #[test]
    fn unknown_names_and_values_name_the_nearest_known_one() {
        for (name, value, said) in [
            ("pagesize", "4096", "did you mean 'page_size'?"),
            ("journal", "wall", "did you mean 'wal'?"),
            ("page_size", "5000", "power of two"),
        ] {
            let message = resolve(name, value).unwrap_err().to_string();
            assert!(message.contains(said), "{message}");
        }
    }
}
