//! The results of a conversion.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{CarriedValue, Expanded, NodeChange, Options};
use crate::graph::{Model, ScopeId, domain_name};
use crate::ops::needs::METADATA_PROPS;

/// The results of a conversion, by node path.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The imported opsets before, by domain. Without ai.onnx if the model neither imports nor uses
    /// it.
    pub from: Opsets,
    /// The opset of ai.onnx that the model imports, if [`Options::from_opset`] overrides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stated_opset: Option<i64>,
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
    pub(crate) needed_by: Option<String>,
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
    pub(crate) fn unchanged(model: &Model, options: &Options) -> Report {
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
