//! Adapters from other crates.

use std::fmt;
use std::sync::Arc;

use crate::convert::context::Context;
use crate::convert::reason::{NodeInvalid, Reason};
use crate::protobuf::schema::{AttributeProto, NodeProto};
use onnx_cast::DType;

/// The change of an operator of ai.onnx between two consecutive versions, defined outside of this
/// crate. It takes precedence over the adapter of this crate for the same step; the adapted node is
/// validated against the schema of the new version.
///
/// ```
/// use onnx_recast::Reason;
/// use onnx_recast::convert::OperatorAdapter;
/// use onnx_recast::{ConvertOptions, Model};
///
/// # fn main() -> Result<(), onnx_recast::Error> {
/// // Gelu is new in opset 20. The runtime that this is for has the operator in its own domain.
/// let domain = "com.microsoft".to_owned();
/// let gelu = OperatorAdapter::new("Gelu", 20).on_downgrade(move |node| match node.attribute("approximate") {
///     Some(mode) if mode.s() != b"none" => Err(Reason::new("attribute-unsupported", "the runtime has the exact Gelu only")),
///     _ => {
///         node.set_operator(&domain, "Gelu")?;
///         Ok(())
///     }
/// });
///
/// let mut model = Model::from_text(
///     r#"<ir_version: 9, opset_import: ["": 20, "com.microsoft": 1]> g (float[2] x) => (float[2] y) { y = Gelu (x) }"#,
/// )?;
/// model.convert(&ConvertOptions::to(17).adapters(vec![gelu]))?;
/// assert!(model.to_text().contains("y = com.microsoft.Gelu (x)"), "{}", model.to_text());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct OperatorAdapter {
    op: Arc<str>,
    opset: i64,
    up: NodeAction,
    down: NodeAction,
}

/// Changes a node, or states why that is not possible.
type NodeAction = Arc<dyn Fn(&mut NodeAdapter) -> Result<(), Reason> + Send + Sync>;

impl OperatorAdapter {
    /// An adapter for an operator of ai.onnx and the step to or from the version that this opset
    /// introduced. Nodes stay as they are until an action is added.
    #[must_use]
    pub fn new(op: &str, opset: i64) -> OperatorAdapter {
        OperatorAdapter {
            op: op.into(),
            opset,
            up: Arc::new(|_| Ok(())),
            down: Arc::new(|_| Ok(())),
        }
    }

    /// The action of an upgrade to the opset. It runs on several threads.
    #[must_use]
    pub fn on_upgrade(
        self,
        action: impl Fn(&mut NodeAdapter) -> Result<(), Reason> + Send + Sync + 'static,
    ) -> OperatorAdapter {
        OperatorAdapter {
            up: Arc::new(action),
            ..self
        }
    }

    /// The action of a downgrade below the opset. It runs on several threads.
    #[must_use]
    pub fn on_downgrade(
        self,
        action: impl Fn(&mut NodeAdapter) -> Result<(), Reason> + Send + Sync + 'static,
    ) -> OperatorAdapter {
        OperatorAdapter {
            down: Arc::new(action),
            ..self
        }
    }

    /// Whether the adapter is for the step between the version of an operator that this opset
    /// introduced and the one before.
    pub(in crate::convert) fn is_for(&self, op: &str, opset: i64) -> bool {
        *self.op == *op && self.opset == opset
    }

    /// Adapts a node.
    pub(in crate::convert) fn adapt(
        &self,
        node: &mut NodeAdapter,
        is_up: bool,
    ) -> Result<(), Reason> {
        let action = if is_up { &self.up } else { &self.down };
        action(node)
    }
}

impl fmt::Debug for OperatorAdapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperatorAdapter")
            .field("op", &self.op)
            .field("opset", &self.opset)
            .finish_non_exhaustive()
    }
}

/// The node that an [`OperatorAdapter`] changes.
#[allow(missing_debug_implementations)]
pub struct NodeAdapter<'c, 'a, 'm>(pub(in crate::convert) &'c mut Context<'a, 'm>);

impl NodeAdapter<'_, '_, '_> {
    /// The node as it is now.
    #[must_use]
    pub fn node(&self) -> &NodeProto {
        &self.0.node
    }

    /// The attribute of this name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&AttributeProto> {
        self.0
            .node
            .attribute
            .iter()
            .find(|attribute| attribute.name() == name)
    }

    /// Adds an attribute, or replaces the one of the same name.
    pub fn set_attribute(&mut self, attribute: AttributeProto) {
        self.0.set_attribute(attribute);
    }

    /// Removes an attribute.
    pub fn remove_attribute(&mut self, name: &str) {
        self.0.remove_attribute(name);
    }

    /// Makes the node a call of another operator. Operators of other domains are not validated.
    ///
    /// # Errors
    /// If the model, or the function that contains the node, does not import the domain.
    pub fn set_operator(&mut self, domain: &str, op: &str) -> Result<(), Reason> {
        let source = &self.0.source;
        if source.model.opset(source.id.scope, domain).is_none() {
            return Err(Reason::new(
                NodeInvalid,
                format!("'{domain}' has no opset_import"),
            ));
        }
        self.0.rename_operator(op);
        self.0.node.to_mut().domain = (!domain.is_empty()).then(|| domain.to_owned());
        Ok(())
    }

    /// The element type of an input, if it is known.
    #[must_use]
    pub fn element_type(&self, input: usize) -> Option<DType> {
        self.0.known_input(input).dtype()
    }

    /// The rank of an input, if it is known.
    #[must_use]
    pub fn rank(&self, input: usize) -> Option<usize> {
        self.0.known_input(input).rank()
    }

    /// Adds a warning to the report.
    ///
    /// # Errors
    /// If warnings are treated as errors.
    pub fn warn(&mut self, what: impl Into<String>) -> Result<(), Reason> {
        self.0.warn(&what.into())
    }
}
