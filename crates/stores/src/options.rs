//! The settings of a store as one struct, from which their parsing, help and values follow.
//!
//! [`options!`](crate::options!) makes the struct: each field is a setting of the same name, with its
//! description. [`choice!`](crate::choice!) makes the type of a setting that is one of several words:
//! code that matches on it does not compile as long as a new word has no effect.

use crate::{Result, StoreError};
use std::marker::PhantomData;
pub use stowplan_model::{Setting, SettingKind, Settings, Value};

/// The settings of a store, typed; made by [`options!`](crate::options!).
pub trait StoreOptions: Sized + Send + Sync + 'static {
    /// Their descriptions, in the order of the fields.
    const SETTINGS: &'static [Setting];

    /// Reads them; what `settings` leaves out is as it is by default.
    ///
    /// # Errors
    /// A value that the description excludes, or settings that exclude each other.
    fn from_settings(settings: &Settings) -> Result<Self>;
}

/// A type that a setting can have.
pub trait OptionValue: Sized {
    /// What `value` stands for, if it is of this type.
    fn from_value(value: &Value) -> Option<Self>;

    /// The value that stands for it.
    fn value(self) -> Value;
}

impl OptionValue for bool {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Flag(on) => Some(*on),
            Value::Number(_) | Value::Word(_) => None,
        }
    }

    fn value(self) -> Value {
        Value::Flag(self)
    }
}

/// Numbers and sizes.
macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl OptionValue for $number {
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Number(number) => (*number).try_into().ok(),
                    Value::Flag(_) | Value::Word(_) => None,
                }
            }

            fn value(self) -> Value {
                // None has more bits.
                Value::Number(self as u64)
            }
        }
    )+};
}

numbers!(u32, u64, usize);

/// Texts live as long as the process: a driver hears of one store.
impl OptionValue for &'static str {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Word(text) => Some(text.clone().leak()),
            Value::Flag(_) | Value::Number(_) => None,
        }
    }

    fn value(self) -> Value {
        Value::Word(self.to_owned())
    }
}

/// The description of a setting whose values have the type `T`; its name is that of the field.
#[derive(Debug)]
pub struct Described<T>(Setting, PhantomData<fn() -> T>);

/// A setting that is `on` or `off`.
#[must_use]
pub const fn flag(default: bool, help: &'static str) -> Described<bool> {
    let default = if default { "on" } else { "off" };
    Described::new(SettingKind::Flag, default, help)
}

/// A size, from `min` to `max` bytes.
#[must_use]
pub const fn bytes<T>(
    min: u64,
    max: u64,
    default: &'static str,
    help: &'static str,
) -> Described<T> {
    let kind = SettingKind::Bytes {
        min,
        max,
        power_of_two: false,
    };
    Described::new(kind, default, help)
}

/// A number, from `min` to `max`.
#[must_use]
pub const fn number<T>(
    min: u64,
    max: u64,
    default: &'static str,
    help: &'static str,
) -> Described<T> {
    Described::new(SettingKind::Integer { min, max }, default, help)
}

/// A text that must not be seen, given by the name of an environment variable (`$NAME`).
#[must_use]
pub const fn secret(default: &'static str, help: &'static str) -> Described<&'static str> {
    Described::new(SettingKind::Text { secret: true }, default, help)
}

/// One of these words, of which `default` is one. For [`choice!`](crate::choice!).
#[must_use]
pub const fn word<T>(
    words: &'static [&'static str],
    default: &'static str,
    help: &'static str,
) -> Described<T> {
    Described::new(SettingKind::Choice(words), default, help)
}

impl<T> Described<T> {
    const fn new(kind: SettingKind, default: &'static str, help: &'static str) -> Self {
        let setting = Setting {
            name: "",
            kind,
            default,
            help,
            shapes_layout: false,
        };
        Self(setting, PhantomData)
    }

    /// Marks it as one that shapes the stored bytes.
    #[must_use]
    pub const fn shapes_layout(mut self) -> Self {
        self.0.shapes_layout = true;
        self
    }

    /// Accepts powers of two only; for sizes.
    #[must_use]
    pub const fn power_of_two(mut self) -> Self {
        if let SettingKind::Bytes { power_of_two, .. } = &mut self.0.kind {
            *power_of_two = true;
        }
        self
    }

    /// Accepts these words only, of a store that does not offer all.
    #[must_use]
    pub const fn only(mut self, words: &'static [&'static str], default: &'static str) -> Self {
        self.0.kind = SettingKind::Choice(words);
        self.0.default = default;
        self
    }

    /// Says something else of it, where it means something else.
    #[must_use]
    pub const fn with_help(mut self, help: &'static str) -> Self {
        self.0.help = help;
        self
    }

    /// Gives it its name.
    #[must_use]
    pub const fn named(mut self, name: &'static str) -> Setting {
        self.0.name = name;
        self.0
    }
}

impl<T: OptionValue> Described<T> {
    /// The value among `settings`, or else the default.
    ///
    /// # Errors
    /// A value that the description excludes.
    pub fn read(self, name: &'static str, settings: &Settings) -> Result<T> {
        let setting = self.named(name);
        let default = || setting.parse(setting.default).ok();
        let value = settings.get(name).cloned().or_else(default);
        let typed = value.as_ref().and_then(T::from_value);
        typed.ok_or_else(|| {
            let value = value.map_or_else(String::new, |value| value.to_string());
            let (what, why) = (format!("have {name}={value}"), setting.accepts());
            StoreError::unsupported(what, format!("it is {why}"))
        })
    }
}

/// Refuses the first thing that is there and cannot be: `is_there => "what it cannot", "why, and what would do";`.
macro_rules! refuse {
    ($($is_there:expr => $what:expr, $why:expr;)+) => {
        $(if $is_there {
            return Err(crate::StoreError::unsupported($what, $why));
        })+
    };
}
pub(crate) use refuse;

/// Makes the struct of a store's settings. Each field has a description; `if` names a method that
/// refuses settings that exclude each other. A whole one is `an_example` in the tests below.
#[macro_export]
macro_rules! options {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident $(if $check:path)? {
            $(
                $(#[$of_field:meta])*
                $field_visibility:vis $field:ident: $type:ty = $described:expr,
            )+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visibility struct $name {
            $(
                $(#[$of_field])*
                $field_visibility $field: $type,
            )+
        }

        impl $crate::options::StoreOptions for $name {
            const SETTINGS: &'static [$crate::options::Setting] = &[
                $({
                    const DESCRIBED: $crate::options::Described<$type> = $described;
                    DESCRIBED.named(stringify!($field))
                },)+
            ];

            fn from_settings(settings: &$crate::options::Settings) -> $crate::Result<Self> {
                let options = Self {
                    $($field: {
                        const DESCRIBED: $crate::options::Described<$type> = $described;
                        DESCRIBED.read(stringify!($field), settings)?
                    },)+
                };
                $($check(&options)?;)?
                Ok(options)
            }
        }
    };
}

/// Makes the type of a setting that is one of several words; see [`options!`](crate::options!).
#[macro_export]
macro_rules! choice {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident {
            $( $(#[$of_variant:meta])* $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visibility enum $name {
            $( $(#[$of_variant])* $variant, )+
        }

        impl $name {
            /// The word for it in a spec.
            #[must_use]
            $visibility const fn word(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )+
                }
            }

            /// Its description as a setting.
            #[must_use]
            $visibility const fn setting(
                default: Self,
                help: &'static str,
            ) -> $crate::options::Described<Self> {
                $crate::options::word(&[$($word),+], default.word(), help)
            }
        }

        impl $crate::options::OptionValue for $name {
            fn from_value(value: &$crate::options::Value) -> Option<Self> {
                match value {
                    $( $crate::options::Value::Word(word) if word == $word => {
                        Some(Self::$variant)
                    } )+
                    _ => None,
                }
            }

            fn value(self) -> $crate::options::Value {
                $crate::options::Value::Word(self.word().to_owned())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    choice! {
        enum Sync {
            Off = "off",
            Data = "data",
            All = "all",
        }
    }

    options! {
        struct Options {
            sync: Sync = Sync::setting(Sync::Data, "").only(&["off", "data"], "off"),
            page_size: u32 = bytes(512, 65_536, "1024", "").power_of_two(),
        }
    }

    /// What a store with settings writes.
    mod an_example {
        use crate::options::{bytes, flag};
        use crate::{Result, StoreError};

        choice! {
            /// What a commit syncs.
            pub(super) enum Sync {
                Nothing = "off",
                Data = "data",
            }
        }

        options! {
            /// The settings, typed.
            pub(super) struct Options if Self::go_together {
                pub(super) sync: Sync = Sync::setting(Sync::Nothing, "what a commit syncs"),
                pub(super) page_size: u32 =
                    bytes(512, 65_536, "4096", "size of a page").power_of_two().shapes_layout(),
                wal: bool = flag(true, "whether there is a log"),
            }
        }

        impl Options {
            fn go_together(&self) -> Result<()> {
                match (self.sync, self.wal) {
                    (Sync::Data, false) => Err(StoreError::unsupported("sync", "use wal=on")),
                    (Sync::Data, true) | (Sync::Nothing, _) => Ok(()),
                }
            }
        }
    }

    #[test]
    fn a_struct_of_settings_describes_reads_and_refuses_them() {
        use an_example::{Options, Sync};
        let read = |given: &[(&str, &str)]| {
            let given = given
                .iter()
                .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
            Options::from_settings(&Settings::resolve(Options::SETTINGS, &given.collect()).unwrap())
        };
        assert_eq!(Options::SETTINGS[0].accepts(), "one of off, data");
        let options = read(&[("sync", "data")]).unwrap();
        assert_eq!((options.sync, options.page_size), (Sync::Data, 4096));
        let error = read(&[("sync", "data"), ("wal", "off")]).unwrap_err();
        assert!(error.to_string().contains("use wal=on"), "{error}");
    }

    #[test]
    fn what_is_left_out_is_as_by_default() {
        let options = Options::from_settings(&Settings::default()).unwrap();
        assert_eq!((options.sync, options.page_size), (Sync::Off, 1024));
    }

    #[test]
    fn a_word_that_is_no_choice_is_refused_instead_of_measured_as_another() {
        for value in [Value::Word("dta".to_owned()), Value::Flag(true)] {
            let mut settings = Settings::default();
            settings.set("sync", value);
            let error = Options::from_settings(&settings).unwrap_err().to_string();
            assert!(error.contains("it is one of off, data"), "{error}");
        }
    }

    #[test]
    fn every_choice_has_its_own_word_and_is_read_back_from_its_value() {
        for choice in [Sync::Off, Sync::Data, Sync::All] {
            assert_eq!(Sync::from_value(&choice.value()), Some(choice));
        }
        assert_eq!(u32::from_value(&Value::Number(1 << 32)), None);
    }

    #[test]
    fn sizes_are_checked_as_described() {
        let setting = &Options::SETTINGS[1];
        assert!(setting.parse("2KiB").is_ok());
        assert!(setting.parse("3KiB").is_err());
    }
}
