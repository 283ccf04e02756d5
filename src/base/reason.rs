//! Reasons: a code for programs and a clause for people.
//!
//! An area lists its reasons in one place, each in one entry: [`reasons`] if the list has the
//! texts, [`codes`](super::codes::codes) if the text is written where the reason is found. The
//! tables of `docs/output.md` are generated from the lists, and `recast explain` prints them.

use std::borrow::Cow;
use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};

/// Why something was kept, removed or refused: a code for programs, and a clause without a full
/// stop for people, which is its [`Display`](fmt::Display).
///
/// `recast explain CODE` prints what a code means. Codes never change; there may be more of them in
/// every release, and passes and adapters of other crates have their own.
///
/// ```
/// use onnx_recast::{FoldOptions, Model};
///
/// # fn main() -> Result<(), onnx_recast::Error> {
/// let mut model = Model::from_text(
///     r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float16 y) { y = Cast <to = 10> (x) }"#,
/// )?;
/// let report = model.fold(&FoldOptions::default())?;
/// let reason = &report.kept()[0].reason;
/// assert_eq!(reason.code(), "not-constant");
/// assert_eq!(reason.to_string(), "its input is not constant");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reason {
    code: &'static str,
    text: Cow<'static, str>,
}

impl Reason {
    /// A reason with a code in kebab-case, and a clause without a full stop.
    pub fn new(code: impl Into<&'static str>, text: impl Into<Cow<'static, str>>) -> Reason {
        Reason {
            code: code.into(),
            text: text.into(),
        }
    }

    /// The code, in kebab-case; it never changes.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.code
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it has this code.
    pub(crate) fn is(&self, code: impl Into<&'static str>) -> bool {
        self.code == code.into()
    }

    /// The same reason in other words.
    pub(crate) fn with_text(self, text: impl Into<Cow<'static, str>>) -> Reason {
        Reason::new(self.code, text)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The keys `code` and `reason`.
impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut keys = serializer.serialize_struct("Reason", 2)?;
        keys.serialize_field("code", self.code)?;
        keys.serialize_field("reason", &*self.text)?;
        keys.end()
    }
}

/// Declares the reasons of an area, each as a function that makes it, from entries
/// `name(data: Type) = "code": "meaning" => text;`, and their meanings, as `MEANINGS`.
/// The second of two entries with the same code has no meaning.
macro_rules! reasons {
    ($($name:ident($($data:ident: $type:ty),*) = $code:literal $(: $meaning:literal)? => $text:expr;)*) => {
        /// The meanings of all codes, in the order of the manual.
        pub const MEANINGS: &[$crate::base::codes::CodeMeaning] =
            &[$($($crate::base::codes::CodeMeaning { code: $code, meaning: $meaning },)?)*];

        $(
            #[doc = concat!("`", $code, "`" $(, ": ", $meaning)?, ".")]
            pub fn $name($($data: $type),*) -> $crate::base::reason::Reason {
                $crate::base::reason::Reason::new($code, $text)
            }
        )*
    };
}

pub(crate) use reasons;
