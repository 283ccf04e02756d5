//! The rules that define the results of a cast, together with its types.

use crate::base::choice::choice;
use crate::base::options::options;

/// The rounding of numbers between two powers of two to `FLOAT8E8M0`. Ignored for other types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RoundMode {
    /// To the next higher power, the default of `Cast`.
    Up,
    /// To the next lower power.
    Down,
    /// To the nearest power by value; ties round up.
    Nearest,
}

choice!(RoundMode { "up" => Up, "down" => Down, "nearest" => Nearest });

/// The result of contested elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Contested {
    /// The value in the schema text of the opset or, if it has none, in ONNX's technical notes.
    Text,
    /// The value in ONNX's node tests and in runtimes.
    Runtime,
}

choice!(Contested { "text" => Text, "runtime" => Runtime });

options! {
    /// The rules of a cast, which define its result together with the types.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Rules {
        /// Whether float8 targets saturate on overflow.
        pub saturate: bool,
        /// The rounding to `FLOAT8E8M0`.
        pub round_mode: RoundMode,
        /// The version of the default operator set.
        pub opset: u32,
        /// The result of contested elements.
        pub contested: Contested,
    }
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            saturate: true,
            round_mode: RoundMode::Up,
            opset: 28,
            contested: Contested::Text,
        }
    }
}
