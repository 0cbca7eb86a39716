//! How the types of this crate are declared: enumerations of words, and what stands in files and messages.

/// Declares an enumeration whose variants have a name each, in files, options and reports; a second one is
/// that of reports.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $Type:ident {
        $($(#[$about:meta])* $Variant:ident = $name:literal $(| $said:literal)?,)+
    }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $(#[$meta])*
        pub enum $Type {
            $($(#[$about])* #[serde(rename = $name)] $Variant,)+
        }

        impl $Type {
            /// All of them, in their order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Variant),+];

            /// The name in files, options and reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$Variant => {
                        let [.., name] = [$name $(, $said)?];
                        name
                    })+
                }
            }
        }

        impl std::fmt::Display for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
pub(crate) use words;

/// Declares types that stand in files and messages.
///
/// A field may be missing, and then has its default: with `| default` it is always written, with `= default`
/// it is left out where it has its default. Variants are kebab-case. All else is as in any declaration.
macro_rules! data {
    () => {};
    ($(#[$meta:meta])* pub struct $Type:ident {
        $($(#[$about:meta])* pub $field:ident : $is:ty $(= $rare:ident)? $(| $missing:ident)?,)*
    } $($rest:tt)*) => {
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $(#[$meta])*
        pub struct $Type {
            $(
                $(#[$about])*
                $(#[serde($rare, skip_serializing_if = "crate::words::is_default")])?
                $(#[serde($missing)])?
                pub $field: $is,
            )*
        }
        $crate::words::data! { $($rest)* }
    };
    ($(#[$meta:meta])* pub enum $Type:ident { $($variants:tt)* } $($rest:tt)*) => {
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        $(#[$meta])*
        pub enum $Type { $($variants)* }
        $crate::words::data! { $($rest)* }
    };
}
pub(crate) use data;

/// Whether a field is left out of what is written.
pub(crate) fn is_default<T: Default + PartialEq>(field: &T) -> bool {
    *field == T::default()
}
