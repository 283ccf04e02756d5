//! The decision for each cast.

use std::cell::OnceCell;

use super::reason::Reason;
use super::storage::{Chain, Place, Storage};
use crate::cast::{Cast, Contested, RoundMode, Rules, Summary, Tally};
use crate::control::Unit;
use crate::dtype::DType;
use crate::error::{Classified, Invalid};
use crate::facts::infer::{Inferred, infer};
use crate::facts::{self, LATEST_OPSET, ValueType};
use crate::graph::{CastNode, Model, NodeId, Pin, ScopeId, ScopeKind, TypeSource, UnclearCast, ValueId};
use crate::hash::HashMap;
use crate::ir_version::OWN_INITIALIZERS;
use crate::tensor::{Allowance, BadTensor, Content, Failure, Tensor};
use crate::wire::BadLocation;

/// Which results may be folded in addition to those that ONNX defines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Fold results that ONNX leaves undefined, to the values that this project defines.
    pub fold_undefined: bool,
    /// The value of contested results; `None`: they are not folded.
    pub contested: Option<Contested>,
    /// The maximum number of bytes by which the folded tensors may exceed the tensors they replace, in total; `None`: no limit.
    pub max_growth: Option<u64>,
}

/// Decides for every `Cast` and `CastLike` of a model whether it folds.
#[must_use]
pub fn decide<'m>(model: &'m Model, options: &'m Options) -> Decisions<'m> {
    let mut decisions = Decisions {
        model,
        options,
        folds: Vec::new(),
        kept: Vec::new(),
        invalid: None,
        by_output: HashMap::default(),
        chains: HashMap::default(),
        results: Vec::new(),
        allowance: Allowance::default(),
        storage: Storage::default(),
        inferred: OnceCell::new(),
    };
    let counter = model.control().counter(Unit::Nodes, model.topological_order().len() as u64);
    for nodes in model.topological_order().chunks(BATCH) {
        for &node in nodes.iter().filter(|&&node| model.is_cast(node)) {
            if decisions.stop_if_cancelled() {
                return decisions;
            }
            decisions.visit(node);
        }
        counter.add(nodes.len() as u64);
    }
    decisions.stop_if_cancelled();
    decisions.kept.sort_unstable_by_key(|&(node, _)| node);
    decisions
}

/// Nodes after which progress is reported.
const BATCH: usize = 1024;

/// The opset of ai.onnx, if its casts are known.
///
/// # Errors
/// If they are not known.
pub fn known_opset(opset: Option<i64>) -> Result<u32, Reason> {
    match opset {
        Some(known @ 1..=LATEST_OPSET) => Ok(known as u32),
        _ => Err(Reason::OpsetUnknown { opset }),
    }
}

/// The kernel of a `Cast` or `CastLike` of these types.
///
/// # Errors
/// If the opset's operator does not support the types.
pub fn kernel(op_type: &str, from: DType, to: DType, rules: Rules) -> Result<Cast, Reason> {
    let kernel = Cast::new(from, to, rules)?;
    // CastLike has no new version at opset 28, and does not support the types that `Cast` supports since then.
    let admits = |types: &facts::TypeSet, dtype| types.contains(ValueType::Tensor(dtype));
    match facts::schema("", op_type, rules.opset.into()) {
        Some(schema) if admits(&schema.inputs[0].types, from) && admits(&schema.outputs[0].types, to) => Ok(kernel),
        _ => Err(Reason::PairUnsupported { op: op_type.to_owned(), opset: rules.opset, from, to }),
    }
}

/// A cast that folds.
#[derive(Debug)]
pub struct Fold {
    /// The cast.
    pub node: NodeId,
    /// The type that is cast.
    pub from: DType,
    /// The result.
    pub content: Content,
    /// The constant at the start of the chain of casts.
    constant: ValueId,
    pub(super) place: Place,
}

/// The result of one more cast of a constant or of a chain.
#[derive(Debug)]
struct CastResult {
    outcome: Result<(Content, Summary), Failure>,
    /// Whether the model will store it.
    is_stored: bool,
}

/// The properties of a cast that determine its result.
type Step = (DType, bool, RoundMode, u32);

/// Which casts of a model fold, and why the others do not fold.
#[derive(Debug)]
pub struct Decisions<'m> {
    pub(super) model: &'m Model,
    options: &'m Options,
    /// In topological order.
    pub(super) folds: Vec<Fold>,
    /// In document order.
    kept: Vec<(NodeId, Reason)>,
    /// The first invalid cast.
    invalid: Option<Invalid>,
    /// By the value that the cast produces.
    pub(super) by_output: HashMap<ValueId, usize>,
    /// By the chain without its last cast, and that cast: equal casts are computed once.
    chains: HashMap<(Result<Chain, ValueId>, Step), Chain>,
    /// By chain.
    results: Vec<CastResult>,
    allowance: Allowance<ValueId>,
    pub(super) storage: Storage,
    /// The inferred types; inferred when the first one is needed.
    inferred: OnceCell<Inferred>,
}

/// Why a cast is kept.
#[derive(Debug)]
enum Skip {
    Because(Reason),
    /// The model is invalid, at the cast.
    Invalid(Box<Invalid>),
}

impl<R: Into<Reason>> From<R> for Skip {
    fn from(reason: R) -> Skip {
        Skip::Because(reason.into())
    }
}

impl Decisions<'_> {
    /// The casts that fold, in topological order.
    #[must_use]
    pub fn folds(&self) -> &[Fold] {
        &self.folds
    }

    /// The casts that do not fold, in document order.
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
            Err(Skip::Because(reason)) => self.kept.push((node, reason)),
            Err(Skip::Invalid(invalid)) if self.invalid.is_none() => {
                self.invalid = Some(*invalid);
            }
            Err(Skip::Invalid(_)) => {}
        }
    }

    fn fold(&mut self, node: NodeId) -> Result<(), Skip> {
        let cast = self.model.cast_node(node).map_err(|error| match error {
            UnclearCast::Invalid(what) => Skip::Invalid(Box::new(Invalid::at(self.model.node_place(node), what))),
            UnclearCast::CallersDisagree(attribute) => Reason::CallersDisagree { attribute }.into(),
        })?;
        let ambiguous = |&value: &ValueId| self.model.shadows(value) || self.model.pin(value) == Some(Pin::Shadowed);
        if let Some(value) = [Some(cast.input), cast.output].into_iter().flatten().find(ambiguous) {
            return Err(Reason::ShadowedName { name: self.model.name(value).to_owned() }.into());
        }
        let (source, before, constant) = self.source(node, cast.input)?; // Case 1.
        let to = self.resulting_type(&cast)?;
        let (kernel, step) = self.kernel(node, &cast, source.dtype(), to)?; // Case 2.
        self.check_holder(node.scope, to)?;
        let chain = self.compute(constant, &source, kernel, (before, step))?;
        let (content, summary) = self.results[chain].outcome.clone()?;
        let fold = Fold { node, from: source.dtype(), content, constant, place: (chain, self.shared_in(constant, node)) };
        if let (Some(first), false) = (summary.undefined.first, self.options.fold_undefined) {
            let Tally { count, why, .. } = summary.undefined;
            return Err(Reason::UndefinedValue { count, first, why }.into()); // Case 3.
        }
        if let (Some(first), None) = (summary.contested.first, self.options.contested) {
            let Tally { count, why, .. } = summary.contested;
            return Err(Reason::ContestedValue { count, first, why }.into());
        }
        let change = self.change(&cast, &fold); // Case 4.
        let growth = change.growth;
        if let Some(limit) = self.options.max_growth.filter(|&limit| growth > i64::try_from(limit).unwrap_or(i64::MAX)) {
            return Err(Reason::GrowthLimit { growth, limit }.into());
        }
        if change.stores && self.results[chain].is_stored {
            self.take_allowance(constant, fold.content.bytes())?;
        }
        self.results[chain].is_stored |= change.stores;
        self.commit(change);
        if let Some(output) = cast.output {
            self.by_output.insert(output, self.folds.len());
        }
        self.folds.push(fold);
        Ok(())
    }

    /// Computes the result of a cast, unless it is already known, and returns its chain.
    fn compute(
        &mut self,
        constant: ValueId,
        source: &Content,
        kernel: Cast,
        key: (Result<Chain, ValueId>, Step),
    ) -> Result<Chain, Skip> {
        if let Some(&chain) = self.chains.get(&key) {
            return Ok(chain);
        }
        self.take_allowance(constant, source.bytes())?;
        let chain = self.results.len();
        self.results.push(CastResult { outcome: source.cast(kernel), is_stored: false });
        self.chains.insert(key, chain);
        Ok(chain)
    }

    /// Counts one more tensor that is computed from a constant.
    fn take_allowance(&mut self, constant: ValueId, bytes: u64) -> Result<(), Skip> {
        if self.allowance.take(constant, bytes) {
            return Ok(());
        }
        Err(Reason::CastLimit { constant: self.model.name(constant).to_owned() }.into())
    }

    /// The values of a constant or of a folded cast, its chain, and the constant at the start of the chain.
    fn source(&self, node: NodeId, value: ValueId) -> Result<(Content, Result<Chain, ValueId>, ValueId), Skip> {
        if let Some(&fold) = self.by_output.get(&value) {
            let Fold { content, constant, place: (chain, _), .. } = &self.folds[fold];
            return Ok((content.clone(), Ok(*chain), *constant));
        }
        let constant = self.model.constant(value)?;
        let malformed = |error: BadTensor| match error {
            // Only the user can provide the folder, and only for all casts at once.
            BadTensor::Location(BadLocation::NoFolder(_)) => Skip::Because(Reason::DataUnavailable(Box::new(error))),
            _ => {
                let name = self.model.name(value);
                let place = self.model.node_place(node).about_value(name);
                let invalid = Invalid::at(place, format!("input '{name}': {error}"));
                Skip::Invalid(Box::new(Invalid { kind: error.kind(), ..invalid }.because(error)))
            }
        };
        let tensor = Tensor::read(&constant.tensor).map_err(malformed)?;
        let content = tensor.load(self.model.data()).map_err(malformed)?;
        Ok((content.with_cancel(&self.model.control().cancel), Err(value), value))
    }

    fn resulting_type(&self, cast: &CastNode) -> Result<DType, Skip> {
        let like = match cast.to {
            TypeSource::Attribute(to) => return Ok(to),
            TypeSource::Like(like) => like,
        };
        let folded = self.by_output.get(&like).map(|&fold| self.folds[fold].content.dtype());
        let known = folded.or_else(|| self.model.element_type(like));
        let inferred = || self.inferred.get_or_init(|| infer(self.model)).of(like).dtype();
        known.or_else(inferred).ok_or_else(|| Reason::TypeUnknown { like: self.model.name(like).to_owned() }.into())
    }

    fn kernel(&self, node: NodeId, cast: &CastNode, from: DType, to: DType) -> Result<(Cast, Step), Skip> {
        let opset = known_opset(self.model.opset(node.scope, ""))?;
        let rules = cast.rules(opset, self.options.contested.unwrap_or(Contested::Text));
        let kernel = kernel(self.model.node(node).op_type(), from, to, rules)?;
        Ok((kernel, (to, rules.saturate, rules.round_mode, opset)))
    }

    /// Before opset 9, `Constant` supports floating-point types only.
    fn check_holder(&self, scope: ScopeId, to: DType) -> Result<(), Skip> {
        let old = self.model.opset(scope, "").is_some_and(|opset| opset < 9);
        let float = matches!(to, DType::Float16 | DType::Float | DType::Double);
        if old && !float && self.becomes_node(scope) {
            return Err(Reason::ConstantTypeUnsupported { to }.into());
        }
        Ok(())
    }

    /// Whether results in this scope are stored in `Constant` nodes. A function has no initializers. Before IR 4 an initializer
    /// had to be listed as an input, which would change the signature of the graph of an `If` or `Loop`.
    pub(super) fn becomes_node(&self, scope: ScopeId) -> bool {
        let old = self.model.ir_version() < OWN_INITIALIZERS;
        let in_function = matches!(self.model.scope_kind(self.model.root(scope)), ScopeKind::Function(_));
        match self.model.scope_kind(scope) {
            ScopeKind::Function(_) => true,
            ScopeKind::Subgraph { .. } => old || in_function,
            ScopeKind::Main | ScopeKind::Initialization(_) | ScopeKind::Algorithm(_) => false,
        }
    }
}
