//! Enumerations of words.

/// Declares an enumeration whose variants have a name each, in files, options and reports.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $Type:ident {
        $($(#[$about:meta])* $Variant:ident = $name:literal,)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $Type {
            $($(#[$about])* #[serde(rename = $name)] $Variant,)+
        }

        impl $Type {
            /// All of them, in their order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Variant),+];

            /// The name in files, options and reports.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$Variant => $name,)+
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
