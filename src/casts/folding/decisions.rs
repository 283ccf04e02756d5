//! The decision for each cast, and for each bit-exact node.

use std::cell::OnceCell;

use super::known::{Computed, Derivation, KnownValue};
use super::leading::leading_to_casts;
use super::reason;
use super::stored_bytes::{ChainId, SharedChain, StoredBytes};
use crate::base::error::Invalid;
use crate::base::hash::{HashMap, HashSet};
use crate::base::options::options;
use crate::base::progress::Unit;
use crate::base::reason::Reason;
use crate::base::threshold::Threshold;
use crate::graph::{CastNode, Model, NodeId, ScopeId, ScopeKind, TypeSource, UnclearCast, ValueId};
use crate::ops::inference::{Inferred, infer_with};
use crate::ops::schemas::{self, LATEST_OPSET, ValueType};
use crate::protobuf::ir_version::OWN_INITIALIZERS;
use crate::tensor::{CastBudget, Content, Failure};
use onnx_cast::{Cast, Contested, DType, RoundMode, Rules, Summary};

options! {
    /// Which results may be folded in addition to those that ONNX defines.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Options {
        /// Fold results that ONNX leaves undefined, to the values that this project defines.
        pub undefined: bool,
        /// The value of contested results; `None`: they are not folded.
        pub contested: Option<Contested>,
        /// The maximum number of bytes by which the folded tensors may exceed the tensors they
        /// replace, in total; `None`: no limit.
        pub max_growth: Option<u64>,
    }
}

/// Which nodes fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Casts of constants, and of what is computed from constants.
    Casts,
    /// Every bit-exact node, too, unless that makes the model larger.
    All,
}

/// Decides for every `Cast` and `CastLike` of a model, and for the other nodes of the extent,
/// whether it folds.
#[must_use]
pub fn decide<'m>(model: &'m Model, options: &'m Options, extent: Extent) -> FoldDecisions<'m> {
    let leading = if extent == Extent::Casts {
        leading_to_casts(model)
    } else {
        HashSet::default()
    };
    let mut decisions = FoldDecisions {
        model,
        options,
        folds: Vec::new(),
        kept: Vec::new(),
        invalid: None,
        by_output: HashMap::default(),
        chains: HashMap::default(),
        results: Vec::new(),
        budget: CastBudget::default(),
        stored_bytes: StoredBytes::default(),
        computed: Computed::default(),
        inferred: OnceCell::new(),
    };
    let counter = model
        .control()
        .counter(Unit::Nodes, model.topological_order().len() as u64);
    // A list of as many reasons as there are casts is not moved while it grows.
    decisions.kept.reserve(
        model
            .topological_order()
            .iter()
            .filter(|&&node| model.is_cast(node))
            .count(),
    );
    for nodes in model.topological_order().chunks(BATCH.get()) {
        for &node in nodes {
            let is_cast = model.is_cast(node);
            if !is_cast && extent == Extent::Casts && !leading.contains(&node) {
                continue;
            }
            if decisions.stop_if_cancelled() {
                return decisions;
            }
            if is_cast {
                decisions.visit(node)
            } else {
                decisions.visit_non_cast(node, extent)
            }
        }
        counter.add(nodes.len() as u64);
    }
    decisions.stop_if_cancelled();
    decisions.kept.sort_unstable_by_key(|&(node, _)| node);
    decisions
}

/// The number of nodes after which progress is reported.
const BATCH: Threshold = Threshold::new("decisions between reports of progress", 1024);

/// The opset of ai.onnx, if its casts are known.
///
/// # Errors
/// If no casts are known for the opset.
pub fn known_opset(opset: Option<i64>) -> Result<u32, Reason> {
    match opset {
        Some(known @ 1..=LATEST_OPSET) => Ok(known as u32),
        _ => Err(reason::opset_unknown(opset)),
    }
}

/// The kernel of a `Cast` or `CastLike` of these types.
///
/// # Errors
/// If the opset's operator does not support the types.
pub fn kernel(op_type: &str, from: DType, to: DType, rules: Rules) -> Result<Cast, Reason> {
    let kernel = Cast::new(from, to, rules)?;
    // CastLike has no new version at opset 28, and does not support the types that `Cast` supports
    // since then.
    let admits = |types: &schemas::TypeSet, dtype| types.contains(ValueType::Tensor(dtype));
    match schemas::schema("", op_type, rules.opset.into()) {
        Some(schema)
            if admits(&schema.inputs[0].types, from) && admits(&schema.outputs[0].types, to) =>
        {
            Ok(kernel)
        }
        _ => Err(reason::type_unsupported(format_args!(
            "{op_type} of opset {} does not support {from} to {to}",
            rules.opset
        ))),
    }
}

/// An output of a node that folds.
#[derive(Debug)]
pub struct Fold {
    /// The node.
    pub node: NodeId,
    /// The type that is cast; `None` for nodes other than casts.
    pub from: Option<DType>,
    /// The result.
    pub content: Content,
    /// The output; `None` if it has no name.
    pub output: Option<ValueId>,
    /// The constant at the start of the chain.
    pub(super) constant: ValueId,
    pub(super) shared: SharedChain,
}

/// The result of one more node of a chain.
#[derive(Debug)]
pub(super) struct ChainResult {
    pub outcome: Result<(Content, Summary), Failure>,
    /// Whether the model will store it.
    pub is_stored: bool,
}

/// The properties of a cast that determine its result.
type CastKey = (DType, bool, RoundMode, u32);

/// Which nodes of a model fold, and why the others do not fold.
#[derive(Debug)]
pub struct FoldDecisions<'m> {
    pub(super) model: &'m Model,
    pub(super) options: &'m Options,
    /// In topological order.
    pub(super) folds: Vec<Fold>,
    /// In document order.
    pub(super) kept: Vec<(NodeId, Reason)>,
    /// The first invalid cast.
    invalid: Option<Invalid>,
    /// By the value that the node produces.
    pub(super) by_output: HashMap<ValueId, usize>,
    /// By the chain without its last cast, and that cast: equal casts are computed once.
    chains: HashMap<(Derivation, CastKey), ChainId>,
    /// By chain.
    pub(super) results: Vec<ChainResult>,
    pub(super) budget: CastBudget<ValueId>,
    pub(super) stored_bytes: StoredBytes,
    /// Results that nodes other than casts compute from constants.
    pub(super) computed: Computed,
    /// The inferred types; inferred when the first one is needed.
    inferred: OnceCell<Inferred>,
}

/// Why a node is kept.
#[derive(Debug)]
pub(super) enum Skip {
    NotFolded(Reason),
    /// The model is invalid, at the cast.
    Invalid(Box<Invalid>),
}

impl From<Reason> for Skip {
    fn from(reason: Reason) -> Skip {
        Skip::NotFolded(reason)
    }
}

impl FoldDecisions<'_> {
    /// The outputs of nodes that fold, in topological order.
    #[must_use]
    pub fn folds(&self) -> &[Fold] {
        &self.folds
    }

    /// The casts that do not fold, and the other nodes with known inputs that do not, in document
    /// order.
    #[must_use]
    pub fn kept(&self) -> &[(NodeId, Reason)] {
        &self.kept
    }

    /// The first invalid cast, if there is one: invalid casts are neither folded nor kept.
    #[must_use]
    pub fn invalid(&self) -> Option<&Invalid> {
        self.invalid.as_ref()
    }

    /// Takes a cancelled operation for an invalid model: nothing is folded.
    fn stop_if_cancelled(&mut self) -> bool {
        let cancelled = self.model.control().check().err();
        let stops = cancelled.is_some();
        self.invalid = cancelled.or(self.invalid.take());
        stops
    }

    fn visit(&mut self, node: NodeId) {
        match self.fold(node) {
            Ok(()) => {}
            Err(Skip::NotFolded(reason)) => self.kept.push((node, reason)),
            Err(Skip::Invalid(invalid)) if self.invalid.is_none() => {
                self.invalid = Some(*invalid);
            }
            Err(Skip::Invalid(_)) => {}
        }
    }

    fn fold(&mut self, node: NodeId) -> Result<(), Skip> {
        let cast = self.model.cast_node(node).map_err(|error| match error {
            UnclearCast::Invalid(what) => {
                Skip::Invalid(Box::new(Invalid::at(self.model.node_place(node), what)))
            }
            UnclearCast::CallersDisagree(attribute) => reason::callers_disagree(&attribute).into(),
        })?;
        if let Some(value) = [Some(cast.input), cast.output]
            .into_iter()
            .flatten()
            .find(|&value| self.is_ambiguous(value))
        {
            return Err(reason::shadowed_name(self.model.name(value)).into());
        }
        let source = self.known(node, cast.input)?; // Case 1.
        let (constant, from) = (source.constant, source.content.dtype());
        let to = self.resulting_type(&cast)?;
        let (kernel, step) = self.kernel(node, &cast, from, to)?; // Case 2.
        self.check_holder(node.scope, to)?;
        let chain = self.cast(&source, kernel, step)?;
        let (content, summary) = self.results[chain].outcome.clone().map_err(Reason::from)?;
        let shared = (chain, self.shared_in(constant, node));
        let fold = Fold {
            node,
            from: Some(from),
            content,
            output: cast.output,
            constant,
            shared,
        };
        if let (Some(first), false) = (summary.undefined.first, self.options.undefined) {
            return Err(reason::undefined_value(&summary.undefined, first).into()); // Case 3.
        }
        if let (Some(first), None) = (summary.contested.first, self.options.contested) {
            return Err(reason::contested_value(&summary.contested, first).into());
        }
        let like = match cast.to {
            TypeSource::Like(like) => Some(like),
            TypeSource::Attribute(_) => None,
        };
        let inputs = [Some(cast.input), like].into_iter().flatten();
        let change = self.change(inputs, std::slice::from_ref(&fold)); // Case 4.
        self.check_growth(change.after.growth)?;
        if change.stores && self.results[chain].is_stored {
            self.spend_cast(constant, fold.content.bytes())?;
        }
        self.results[chain].is_stored |= change.stores;
        self.commit(change);
        self.add(fold);
        Ok(())
    }

    /// Whether runtimes may take a value for another one of the same name.
    pub(super) fn is_ambiguous(&self, value: ValueId) -> bool {
        self.model.shadows(value) || self.model.is_shadowed(value)
    }

    /// Checks the growth of the model against the limit of the options.
    pub(super) fn check_growth(&self, growth: i64) -> Result<(), Skip> {
        match self
            .options
            .max_growth
            .filter(|&limit| growth > i64::try_from(limit).unwrap_or(i64::MAX))
        {
            Some(limit) => Err(reason::growth_limit(growth, limit).into()),
            None => Ok(()),
        }
    }

    pub(super) fn add(&mut self, fold: Fold) {
        if let Some(output) = fold.output {
            self.by_output.insert(output, self.folds.len());
        }
        self.folds.push(fold);
    }

    /// Computes the result of a cast, unless it is already known, and returns its chain.
    fn cast(&mut self, source: &KnownValue, kernel: Cast, step: CastKey) -> Result<ChainId, Skip> {
        let key = (source.derivation, step);
        if let Some(&chain) = self.chains.get(&key) {
            return Ok(chain);
        }
        self.spend_cast(source.constant, source.content.bytes())?;
        let chain = self.results.len();
        self.results.push(ChainResult {
            outcome: source.content.cast(kernel),
            is_stored: false,
        });
        self.chains.insert(key, chain);
        Ok(chain)
    }

    /// Counts one more tensor that is computed from a constant.
    pub(super) fn spend_cast(&mut self, constant: ValueId, bytes: u64) -> Result<(), Skip> {
        if self.budget.try_spend(constant, bytes) {
            return Ok(());
        }
        Err(reason::cast_limit(self.model.name(constant)).into())
    }

    fn resulting_type(&self, cast: &CastNode) -> Result<DType, Skip> {
        let like = match cast.to {
            TypeSource::Attribute(to) => return Ok(to),
            TypeSource::Like(like) => like,
        };
        let folded = self
            .by_output
            .get(&like)
            .map(|&fold| self.folds[fold].content.dtype());
        let known = folded.or_else(|| self.model.element_type(like));
        known
            .or_else(|| self.inferred().of(like).dtype())
            .ok_or_else(|| reason::type_unknown(self.model.name(like)).into())
    }

    pub(super) fn inferred(&self) -> &Inferred {
        self.inferred
            .get_or_init(|| infer_with(self.model, self.options.contested))
    }

    fn kernel(
        &self,
        node: NodeId,
        cast: &CastNode,
        from: DType,
        to: DType,
    ) -> Result<(Cast, CastKey), Skip> {
        let opset = known_opset(self.model.opset(node.scope, ""))?;
        let rules = cast.rules(opset, self.options.contested.unwrap_or(Contested::Text));
        let kernel = kernel(self.model.node(node).op_type(), from, to, rules)?;
        Ok((kernel, (to, rules.saturate, rules.round_mode, opset)))
    }

    pub(super) fn check_holder(&self, scope: ScopeId, to: DType) -> Result<(), Skip> {
        if self.becomes_node(scope) && !self.is_constant_of(scope, to) {
            return Err(reason::constant_type_unsupported(to).into());
        }
        Ok(())
    }

    /// Whether `Constant` supports a type: before opset 9, floating-point types only.
    fn is_constant_of(&self, scope: ScopeId, dtype: DType) -> bool {
        let old = self.model.opset(scope, "").is_some_and(|opset| opset < 9);
        !old || matches!(dtype, DType::Float16 | DType::Float | DType::Double)
    }

    /// Whether a result is stored in a `Constant` node because it is an output of a subgraph
    /// without a declared type: onnx does not infer the type of an initializer that is one.
    pub(super) fn is_node_of_subgraph(&self, output: ValueId, dtype: DType) -> bool {
        let scope = self.model.scope_of(output);
        let is_subgraph = matches!(self.model.scope_kind(scope), ScopeKind::Subgraph { .. });
        let is_declared = self.model.declared_type(output).is_some();
        is_subgraph
            && !is_declared
            && !self.model.scopes_that_output(output).is_empty()
            && self.is_constant_of(scope, dtype)
    }

    /// Whether results in this scope are stored in `Constant` nodes. A function has no
    /// initializers. Before IR 4 an initializer had to be listed as an input, which would change
    /// the signature of the graph of an `If` or `Loop`.
    pub(super) fn becomes_node(&self, scope: ScopeId) -> bool {
        let old = self.model.ir_version() < OWN_INITIALIZERS;
        let in_function = matches!(
            self.model.scope_kind(self.model.root(scope)),
            ScopeKind::Function(_)
        );
        match self.model.scope_kind(scope) {
            ScopeKind::Function(_) => true,
            ScopeKind::Subgraph { .. } => old || in_function,
            ScopeKind::Main | ScopeKind::Initialization(_) | ScopeKind::Algorithm(_) => false,
        }
    }
}
