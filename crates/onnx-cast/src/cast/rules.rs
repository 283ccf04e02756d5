//! The rules that define the results of a cast, together with its types.

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

crate::choice!(pub RoundMode { "up" => Up, "down" => Down, "nearest" => Nearest });

impl RoundMode {
    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            RoundMode::Up => "up",
            RoundMode::Down => "down",
            RoundMode::Nearest => "nearest",
        }
    }
}

/// The result of contested elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contested {
    /// The value in the schema text of the opset or, if it has none, in ONNX's technical notes.
    Text,
    /// The value in ONNX's node tests and in runtimes.
    Runtime,
}

crate::choice!(pub Contested { "text" => Text, "runtime" => Runtime });

/// The rules of a cast, which define its result together with the types.
///
/// The default is the newest opset with the defaults of its `Cast`; set fields, or call the method
/// of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

impl Rules {
    /// Sets [`Rules::saturate`](#structfield.saturate).
    #[must_use]
    pub fn saturate(self, saturate: bool) -> Rules {
        Rules { saturate, ..self }
    }

    /// Sets [`Rules::round_mode`](#structfield.round_mode).
    #[must_use]
    pub fn round_mode(self, round_mode: RoundMode) -> Rules {
        Rules { round_mode, ..self }
    }

    /// Sets [`Rules::opset`](#structfield.opset).
    #[must_use]
    pub fn opset(self, opset: u32) -> Rules {
        Rules { opset, ..self }
    }

    /// Sets [`Rules::contested`](#structfield.contested).
    #[must_use]
    pub fn contested(self, contested: Contested) -> Rules {
        Rules { contested, ..self }
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
