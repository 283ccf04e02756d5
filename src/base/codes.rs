//! Enums whose variants have codes for programs and meanings for people, each in one line.
//!
//! The tables of `docs/output.md` are generated from them, and `recast explain` prints them.

/// A code with its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeMeaning {
    /// The code, in kebab-case; it never changes.
    pub code: &'static str,
    /// The meaning: a clause without a full stop, in Markdown.
    pub meaning: &'static str,
}

/// Declares an enum from lines `Variant = "code": "meaning",`.
macro_rules! codes {
    ($(#[$attribute:meta])* pub enum $name:ident { $($variant:ident = $code:literal: $meaning:literal,)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $(#[doc = concat!("`", $code, "`: ", $meaning, ".")] $variant,)*
        }

        impl $name {
            /// The code, in kebab-case; it never changes.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $($name::$variant => $code),* }
            }

            /// The meanings of all codes, in the order of the manual.
            pub(crate) const MEANINGS: &[$crate::base::codes::CodeMeaning] =
                &[$($crate::base::codes::CodeMeaning { code: $code, meaning: $meaning }),*];
        }

        impl From<$name> for &'static str {
            fn from(code: $name) -> &'static str {
                code.code()
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.code())
            }
        }
    };
}

pub(crate) use codes;
