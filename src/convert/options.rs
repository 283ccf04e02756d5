//! The target of a conversion, and its options.

use std::str::FromStr;

use super::OperatorAdapter;
use super::settings::{AllowedExpansions, Expand, Explicit, Settings};
use crate::base::choice::UnknownName;
use crate::base::options::options;
use crate::ops::runtimes::Runtime;
use onnx_cast::Contested;

options! {
    /// The target of a conversion, and its options.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// The opset of ai.onnx to convert to.
        pub opset: i64,
        /// The opset that the model is read in, and functions that state the same one; none for the
        /// one that it states.
        pub from_opset: Option<i64>,
        /// The IR version of the result.
        pub ir_version: IrVersion,
        /// Which defaults are written out.
        pub explicit: Explicit,
        /// Whether warnings are blockers.
        pub strict: bool,
        /// Whether operators without an equivalent are blockers, instead of being expanded into
        /// several nodes.
        pub no_expand: bool,
        /// Whether operators without a bit-exact expansion are blockers.
        pub exact_only: bool,
        /// The form into which operators are expanded.
        pub expand: Expand,
        /// Whether values keep types that the target lacks, which are then blockers, instead of
        /// getting wider types.
        pub no_legalize: bool,
        /// Whether inputs and outputs of the model get wider types, too.
        pub legalize_io: bool,
        /// How to read nodes on which the text of ONNX contradicts itself, or onnx's converter;
        /// none to refuse them.
        pub contested: Option<Contested>,
        /// The runtime that has to run the result. If it lacks kernels for nodes in `opset`, the
        /// closest lower opset in which it has the kernels is taken, or else the closest higher
        /// one.
        pub runtime: Option<Runtime>,
        /// Adapters of other crates.
        pub adapters: Vec<OperatorAdapter>,
    }
}

/// The IR version of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IrVersion {
    /// The lowest that the opset and the model's contents need when downgrading; when upgrading,
    /// never lowered.
    #[default]
    Auto,
    /// That of the model.
    Keep,
    /// As for [`IrVersion::Auto`], but at most this version. A model that needs a newer one is not
    /// converted.
    AtMost(i64),
    /// This version.
    Number(i64),
}

impl FromStr for IrVersion {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<IrVersion, UnknownName> {
        match name {
            "auto" => Ok(IrVersion::Auto),
            "keep" => Ok(IrVersion::Keep),
            number => number
                .parse()
                .map(IrVersion::Number)
                .map_err(|_| UnknownName::among(&["auto", "keep", "a number"])),
        }
    }
}

impl Options {
    /// The default options for an opset.
    #[must_use]
    pub fn to(opset: i64) -> Options {
        Options {
            opset,
            from_opset: None,
            ir_version: IrVersion::Auto,
            explicit: Explicit::Relevant,
            strict: false,
            no_expand: false,
            exact_only: false,
            expand: Expand::Nodes,
            no_legalize: false,
            legalize_io: false,
            contested: None,
            runtime: None,
            adapters: Vec::new(),
        }
    }

    pub(super) fn settings(&self) -> Settings {
        let Options {
            opset,
            explicit,
            strict,
            no_expand,
            exact_only,
            contested,
            runtime,
            ..
        } = *self;
        Settings {
            opset,
            explicit,
            strict,
            expansions: match (no_expand, exact_only) {
                (true, _) => AllowedExpansions::None,
                (false, true) => AllowedExpansions::Exact,
                (false, false) => AllowedExpansions::All,
            },
            contested,
            narrows_int64: runtime.is_some_and(|runtime| runtime.narrows_int64()),
        }
    }
}
