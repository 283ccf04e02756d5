//! Converts a model from one opset to another: to an equivalent model, or not at all.
//!
//! Every node is converted one version of its operator at a time. An adapter (`adapters`) describes
//! what changes between two versions; the adapted node is validated against the schema of the new
//! version. If a version has no equivalent, or it is unknown whether it has, the node is a blocker,
//! and the model stays unchanged.
//!
//! A model that uses no operator of ai.onnx keeps its nodes: only the import and the IR version are
//! updated.
//!
//! Scope: the main graph, subgraphs, functions (by their own `opset_import`) and training graphs.

mod adapter;
mod adapters;
mod bodies;
mod carried_value;
mod check;
mod consistency;
mod context;
mod convert_node;
mod copies;
mod derived_constants;
pub(crate) mod engine;
mod expand;
mod expanded;
mod expansion_body;
mod expansions;
mod functions;
mod ir;
mod kernels;
mod legalize;
mod lowest;
mod make;
mod operator_adapter;
mod part;
mod plan;
mod planned;
pub(crate) mod reason;
mod settings;
mod simplify;
mod target_opset;
mod valid;
mod value;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use self::settings::Settings;
use crate::base::choice::UnknownName;
use crate::base::error::Invalid;
use crate::base::options::options;
use crate::base::printable::plural;
use crate::base::reason::Reason;
use crate::graph::{Model, ScopeId, domain_name};
use crate::ops::needs::METADATA_PROPS;
use crate::ops::runtimes::Runtime;
use onnx_cast::Contested;

pub use crate::passes::NodeChange;
pub(crate) use adapters::differing_operators;
pub use carried_value::{CarriedRole, CarriedValue};
pub(crate) use copies::copy_for_calls;
pub(crate) use engine::{PlannedConversion, convert, expect_valid, plan, plan_valid, read};
pub use expanded::{Exactness, Expanded};
pub(crate) use lowest::{lowest, lowest_that_runs};
pub use operator_adapter::{NodeAdapter, OperatorAdapter};
pub use settings::{Expand, ExpandInto, Explicit, Legalize};
pub(crate) use valid::expect_defined;

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

    fn settings(&self) -> Settings {
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

/// The results of a conversion, by node path.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The imported opsets before, by domain. Without ai.onnx if the model neither imports nor uses
    /// it.
    pub from: Opsets,
    /// The opset of ai.onnx that the model imports, if [`Options::from_opset`] overrides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stated_opset: Option<i64>,
    /// The requested opsets, by domain.
    pub to: Opsets,
    /// The IR version.
    pub ir_version: IrVersions,
    /// Nodes that changed.
    pub changes: Vec<NodeChange>,
    /// Operators that were expanded into several nodes.
    pub expansions: Vec<Expanded>,
    /// Values whose types the target lacks, and that have wider ones.
    pub carried: Vec<CarriedValue>,
    /// Warnings about converted nodes.
    pub warnings: Vec<NodeChange>,
    /// Notes: why another opset than the requested one was taken, and which kernels are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Versions of operator sets by domain; the default domain is `ai.onnx`.
pub type Opsets = BTreeMap<String, i64>;

/// The IR version before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct IrVersions {
    /// Before.
    pub from: i64,
    /// After.
    pub to: i64,
    /// What the model contains that needs this version, if its opset needs a lower one.
    pub needed_by: Option<String>,
}

impl IrVersions {
    /// Whether only `metadata_props` need this version.
    pub(crate) fn is_for_metadata(&self) -> bool {
        self.needed_by
            .as_ref()
            .is_some_and(|what| what.starts_with(METADATA_PROPS))
    }
}

impl Report {
    /// The report of a conversion that has not changed anything yet.
    #[must_use]
    pub fn unchanged(model: &Model, options: &Options) -> Report {
        let onnx = || domain_name("").to_owned();
        let imports = model.proto().opset_import.iter();
        let mut from: Opsets = imports
            .map(|import| (domain_name(import.domain()).to_owned(), import.version()))
            .collect();
        // The oldest models import no opset.
        from.extend(model.opset(ScopeId::MAIN, "").map(|opset| (onnx(), opset)));
        let stated_opset = options.from_opset.and_then(|_| from.get(&onnx()).copied());
        from.extend(options.from_opset.map(|opset| (onnx(), opset)));
        let mut to = from.clone();
        to.entry(onnx()).and_modify(|opset| *opset = options.opset);
        let ir_version = IrVersions {
            from: model.ir_version(),
            to: model.ir_version(),
            needed_by: None,
        };
        Report {
            from,
            stated_opset,
            to,
            ir_version,
            ..Report::default()
        }
    }
}

/// A node that cannot be converted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Blocker {
    /// The node's path.
    pub node: String,
    /// Its operator.
    pub op: String,
    /// The step that is not possible: the opsets before and after it.
    pub opset_step: (i64, i64),
    /// The obstacle.
    #[serde(flatten)]
    pub reason: Reason,
}

impl fmt::Display for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.reason.is_about_step() {
            return write!(f, "{}: {}", self.node, self.reason);
        }
        let (from, to) = self.opset_step;
        write!(
            f,
            "{} ({}), opset {from} to {to}: {}",
            self.node, self.op, self.reason
        )
    }
}

/// Why a model was not converted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotConverted {
    /// Nodes that cannot be converted; all of them.
    #[error("{} cannot be converted", plural(.blockers.len(), "node"))]
    Blocked {
        /// The opset of ai.onnx that the model imports; none if it does not import ai.onnx.
        from: Option<i64>,
        /// Every unsupported node.
        blockers: Vec<Blocker>,
        /// The opset closest to the requested one to which the model can be converted.
        nearest: Option<i64>,
    },
    /// The options or the model are invalid, and another option helps.
    #[error("{error}")]
    Avoidable {
        /// The fault.
        error: Invalid,
        /// The remedy.
        remedy: Remedy,
    },
    /// The options or the model are invalid.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// The option that makes a refused conversion possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// To state the opset that the model is in: [`Options::from_opset`].
    StateOpset,
    /// To drop `metadata_props`: [`Edit::DropMetadata`](crate::graph::Edit::DropMetadata).
    DropMetadata,
}
