//! The target of a conversion, and its options.

use std::str::FromStr;

use super::OperatorAdapter;
use super::settings::{Expand, ExpandInto, Explicit, Legalize, Settings};
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
        /// Which operators without an equivalent may be expanded into several nodes.
        pub expand: Expand,
        /// The form into which these operators are expanded.
        pub expand_into: ExpandInto,
        /// Which values of types that the target lacks get wider types.
        pub legalize: Legalize,
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
            expand: Expand::All,
            expand_into: ExpandInto::Nodes,
            legalize: Legalize::Inner,
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
            expand,
            contested,
            runtime,
            ..
        } = *self;
        Settings {
            opset,
            explicit,
            strict,
            expand,
            contested,
            narrows_int64: runtime.is_some_and(|runtime| runtime.narrows_int64()),
        }
    }
}
