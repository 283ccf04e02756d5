//! Replaces a `Cast` or `CastLike` of a constant by the constant it computes.
//!
//! Folds when: 1. the input is an initializer or `Constant` that no caller can override, or was folded itself, and no name is
//! shadowed; 2. the resulting type is known and one that the opset's cast admits; 3. ONNX defines every resulting value, or the
//! user chose what an undefined or contested one becomes; 4. the folded tensors exceed those they replace by at most `max_growth`
//! bytes.
//! Scope: main graph, subgraphs, training graphs, functions.
//!
//! before: `h = Cast<to = FLOAT16>(w)  y = MatMul(x, h)`     w: FLOAT[2]
//! after:  `                           y = MatMul(x, h)`     h: FLOAT16[2]
//!
//! The result is an initializer; in a function, and in a subgraph of IR 3, a `Constant` node in the cast's place. Casts of one
//! constant to one type share a result, which takes a new name beside the constant if they stand in several graphs. A constant that
//! has lost its last use goes.

mod storage;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use self::storage::{Place, Storage};
use super::{Folded, Options, Pass, Plan, Skipped};
use crate::cast::{Cast, Contested, RoundMode, Rules, Summary, Tally};
use crate::dtype::DType;
use crate::error::Invalid;
use crate::facts::infer::{Inferred, infer};
use crate::facts::{self, LATEST_OPSET, ValueType};
use crate::graph::{CastNode, Edit, Model, NodeId, NotConstant, Pin, ScopeId, ScopeKind, TypeSource, UnclearCast, ValueId};
use crate::ir_version::OWN_INITIALIZERS;
use crate::tensor::{Allowance, BadTensor, CASTS_OF_EACH, Content, Failure, Tensor};
use crate::wire::BadLocation;
use crate::wire::raw::{AttributeProto, attribute_proto::AttributeType};
use crate::wire::schema::NodeProto;

pub(super) const FOLD_CASTS: Pass =
    Pass { name: "fold-casts", summary: "replaces a Cast or CastLike of a constant by the constant it computes", plan };

fn plan(model: &Model, options: &Options) -> Result<Plan, Invalid> {
    let mut planner = Planner {
        model,
        options,
        folds: Vec::new(),
        by_output: HashMap::new(),
        results: HashMap::new(),
        allowance: Allowance::default(),
        storage: Storage::default(),
        skipped: Vec::new(),
        inferred: OnceCell::new(),
    };
    for &node in model.nodes_in_order_of_use() {
        if model.is_cast(node) {
            planner.visit(node)?;
        }
    }
    Ok(planner.finish())
}

/// A cast that will be folded.
struct Fold {
    node: NodeId,
    from: DType,
    content: Content,
    /// The constant that the series begins with.
    constant: ValueId,
    place: Place,
}

/// A constant and the casts it went through, as a number: equal series have equal values.
type Series = usize;

/// What comes of a constant, or of a series, by one more cast.
struct CastResult {
    series: Series,
    outcome: Result<(Content, Summary), Failure>,
    /// Whether the model will hold it.
    is_stored: bool,
}

/// What of a cast decides its result.
type Step = (DType, bool, RoundMode, i64);

struct Planner<'m> {
    model: &'m Model,
    options: &'m Options,
    /// In the order of use.
    folds: Vec<Fold>,
    /// By the value that the cast defines.
    by_output: HashMap<ValueId, usize>,
    /// By the series without its last cast, and that: equal casts are computed once.
    results: HashMap<(Result<Series, ValueId>, Step), CastResult>,
    allowance: Allowance<ValueId>,
    storage: Storage,
    skipped: Vec<(NodeId, Skip)>,
    /// The types that follow from what the model states; found when one is needed.
    inferred: OnceCell<Inferred>,
}

/// Why a cast stays.
#[derive(Debug, thiserror::Error)]
enum Skip {
    #[error(transparent)]
    NotConstant(#[from] NotConstant),
    #[error("{0}")]
    Because(String),
    /// The model is at fault.
    #[error("{0}")]
    Invalid(String),
}

impl Planner<'_> {
    fn visit(&mut self, node: NodeId) -> Result<(), Invalid> {
        match self.fold(node) {
            Ok(()) => Ok(()),
            Err(Skip::Invalid(what)) => Err(Invalid::at(self.model.node_path(node), what)),
            Err(skip) => {
                self.skipped.push((node, skip));
                Ok(())
            }
        }
    }

    fn fold(&mut self, node: NodeId) -> Result<(), Skip> {
        let cast = self.model.cast_node(node).map_err(|error| match error {
            UnclearCast::Invalid(what) => Skip::Invalid(what),
            UnclearCast::CallersDisagree(_) => Skip::Because(error.to_string()),
        })?;
        let ambiguous = |&value: &ValueId| self.model.shadows(value) || self.model.pin(value) == Some(Pin::Shadowed);
        if let Some(value) = [Some(cast.input), cast.output].into_iter().flatten().find(ambiguous) {
            let name = self.model.name(value);
            return Err(Skip::Because(format!(
                "'{name}' is defined in a scope and in one around it; runtimes differ in which they take"
            )));
        }
        let (source, before, constant) = self.source(cast.input)?; // Case 1.
        let to = self.resulting_type(&cast)?;
        let (kernel, step) = self.kernel(node, &cast, source.dtype(), to)?; // Case 2.
        self.check_holder(node.scope, to)?;
        self.compute(constant, &source, kernel, (before, step))?;
        let result = &self.results[&(before, step)];
        let (content, summary) = result.outcome.clone().map_err(|failure| Skip::Because(failure.to_string()))?;
        let fold = Fold { node, from: source.dtype(), content, constant, place: (result.series, self.shared_in(constant, node)) };
        if !self.options.fold_undefined {
            expect_none(&summary.undefined, "undefined", "--undefined fold")?; // Case 3.
        }
        if self.options.contested.is_none() {
            expect_none(&summary.contested, "contested", "--contested text|runtime")?;
        }
        let change = self.change(&cast, &fold); // Case 4.
        let growth = change.growth();
        if let Some(limit) = self.options.max_growth.filter(|&limit| growth > i64::try_from(limit).unwrap_or(i64::MAX)) {
            return Err(Skip::Because(format!("the model would grow by {growth} bytes, more than --max-growth {limit} allows")));
        }
        if change.stores && self.results[&(before, step)].is_stored {
            self.take_allowance(constant, fold.content.bytes())?;
        }
        self.results.entry((before, step)).and_modify(|result| result.is_stored |= change.stores);
        self.commit(change);
        if let Some(output) = cast.output {
            self.by_output.insert(output, self.folds.len());
        }
        self.folds.push(fold);
        Ok(())
    }

    /// Sees to it that the result of a cast is known.
    fn compute(
        &mut self,
        constant: ValueId,
        source: &Content,
        kernel: Cast,
        key: (Result<Series, ValueId>, Step),
    ) -> Result<(), Skip> {
        if self.results.contains_key(&key) {
            return Ok(());
        }
        self.take_allowance(constant, source.bytes())?;
        let series = self.results.len();
        self.results.insert(key, CastResult { series, outcome: source.cast(kernel), is_stored: false });
        Ok(())
    }

    /// Counts one more tensor that is made of a constant.
    fn take_allowance(&mut self, constant: ValueId, bytes: u64) -> Result<(), Skip> {
        if self.allowance.take(constant, bytes) {
            return Ok(());
        }
        let name = self.model.name(constant);
        let why = format!(
            "'{name}' went through {CASTS_OF_EACH} casts already, or its results are stored as often; it is too large for more in one run"
        );
        Err(Skip::Because(why))
    }

    /// The values of a constant, or of a cast that will be one; and what they begin with.
    fn source(&self, value: ValueId) -> Result<(Content, Result<Series, ValueId>, ValueId), Skip> {
        if let Some(&fold) = self.by_output.get(&value) {
            let Fold { content, constant, place: (series, _), .. } = &self.folds[fold];
            return Ok((content.clone(), Ok(*series), *constant));
        }
        let constant = self.model.constant(value)?;
        let malformed = |error: BadTensor| match error {
            // Only the user can help that, and only for all casts at once.
            BadTensor::Location(BadLocation::NoFolder(_)) => Skip::Because(error.to_string()),
            _ => Skip::Invalid(format!("input '{}': {error}", self.model.name(value))),
        };
        let tensor = Tensor::read(&constant.tensor).map_err(malformed)?;
        let data = tensor.load(self.model.data()).map_err(malformed)?;
        Ok((Content::new(tensor.dtype(), tensor.dims(), data), Err(value), value))
    }

    fn resulting_type(&self, cast: &CastNode) -> Result<DType, Skip> {
        let like = match cast.to {
            TypeSource::Attribute(to) => return Ok(to),
            TypeSource::Like(like) => like,
        };
        let folded = self.by_output.get(&like).map(|&fold| self.folds[fold].content.dtype());
        let known = folded.or_else(|| self.model.element_type(like));
        let inferred = || self.inferred.get_or_init(|| infer(self.model)).of(like).dtype();
        known
            .or_else(inferred)
            .ok_or_else(|| Skip::Because(format!("the type of '{}', which CastLike copies, is not stated", self.model.name(like))))
    }

    fn kernel(&self, node: NodeId, cast: &CastNode, from: DType, to: DType) -> Result<(Cast, Step), Skip> {
        let opset = match self.model.opset(node.scope, "") {
            Some(opset @ 1..=LATEST_OPSET) => opset,
            Some(opset) => {
                return Err(Skip::Because(format!("the casts of opset {opset} are not known, only those of 1 to {LATEST_OPSET}")));
            }
            None => return Err(Skip::Because("no opset of ai.onnx is imported".to_owned())),
        };
        let rules = Rules {
            saturate: cast.saturate.unwrap_or(true),
            round_mode: cast.round_mode.unwrap_or(RoundMode::Up),
            opset: opset as u32,
            contested: self.options.contested.unwrap_or(Contested::Text),
        };
        let kernel = Cast::new(from, to, rules).map_err(|error| Skip::Because(error.to_string()))?;
        // CastLike had no new version at opset 28, and does not admit what `Cast` does since then.
        let op_type = self.model.node(node).op_type();
        let admits = |types: &facts::TypeSet, dtype| types.contains(ValueType::Tensor(dtype));
        match facts::schema("", op_type, opset) {
            Some(schema) if admits(&schema.inputs[0].types, from) && admits(&schema.outputs[0].types, to) => {}
            _ => return Err(Skip::Because(format!("{op_type} of opset {opset} does not admit {from} to {to}"))),
        }
        Ok((kernel, (to, rules.saturate, rules.round_mode, opset)))
    }

    /// `Constant` holds floating-point numbers only before opset 9.
    fn check_holder(&self, scope: ScopeId, to: DType) -> Result<(), Skip> {
        let old = self.model.opset(scope, "").is_some_and(|opset| opset < 9);
        let float = matches!(to, DType::Float16 | DType::Float | DType::Double);
        if old && !float && self.becomes_node(scope) {
            return Err(Skip::Because(format!("a Constant of this opset cannot be {to}")));
        }
        Ok(())
    }

    /// Whether results of this scope stand in `Constant` nodes. A function has no initializers, and before IR 4 an initializer had
    /// to be listed as an input, which the graph of an `If` or `Loop` cannot do without changing what it is called with.
    fn becomes_node(&self, scope: ScopeId) -> bool {
        let old = self.model.ir_version() < OWN_INITIALIZERS;
        let in_function = matches!(self.model.scope_kind(self.model.root(scope)), ScopeKind::Function(_));
        match self.model.scope_kind(scope) {
            ScopeKind::Function(_) => true,
            ScopeKind::Subgraph { .. } => old || in_function,
            ScopeKind::Main | ScopeKind::Initialization(_) | ScopeKind::Algorithm(_) => false,
        }
    }

    fn finish(mut self) -> Plan {
        let mut plan = Plan::default();
        self.remove_unused_constants(&mut plan);
        self.report(&mut plan);
        let replaced: HashSet<ValueId> = self.share(&mut plan.edits).into_iter().collect();
        let is_stored = |output: ValueId| self.is_needed(output) && !replaced.contains(&output);
        let outputs: HashMap<usize, ValueId> =
            self.by_output.iter().filter(|&(&value, _)| is_stored(value)).map(|(&value, &fold)| (fold, value)).collect();
        for (index, fold) in std::mem::take(&mut self.folds).into_iter().enumerate() {
            let mut with = Vec::new();
            match outputs.get(&index) {
                Some(_) if self.becomes_node(fold.node.scope) => {
                    with.push(constant_node(self.model.node(fold.node), fold.content));
                }
                Some(&output) => {
                    let tensor = Box::new(fold.content.into_tensor(self.model.name(output)));
                    plan.edits.push(Edit::AddInitializer { scope: fold.node.scope, tensor });
                }
                None => {}
            }
            plan.edits.push(Edit::ReplaceNode { node: fold.node, with });
        }
        plan
    }

    fn remove_unused_constants(&self, plan: &mut Plan) {
        for value in self.unneeded().into_iter().filter(|value| !self.by_output.contains_key(value)) {
            let Ok(constant) = self.model.constant(value) else {
                continue;
            };
            plan.edits.push(match constant.node {
                Some(node) => Edit::ReplaceNode { node, with: Vec::new() },
                None => Edit::RemoveInitializer(value),
            });
            let scope = self.model.scope_path(self.model.home(value));
            plan.report.removed_initializers.push(format!("{scope}/{}", self.model.name(value)));
        }
    }

    fn report(&mut self, plan: &mut Plan) {
        let mut folds: Vec<&Fold> = self.folds.iter().collect();
        folds.sort_unstable_by_key(|fold| fold.node);
        plan.report.folded.extend(folds.into_iter().map(|fold| Folded {
            node: self.model.node_path(fold.node),
            input: self.model.node(fold.node).input.first().cloned().unwrap_or_default(),
            from: fold.from.name(),
            to: fold.content.dtype().name(),
            elements: fold.content.elements() as u64,
        }));
        self.skipped.sort_unstable_by_key(|&(node, _)| node);
        let skipped = self.skipped.iter();
        plan.report
            .skipped
            .extend(skipped.map(|(node, skip)| Skipped { node: self.model.node_path(*node), reason: skip.to_string() }));
    }
}

fn expect_none(tally: &Tally, what: &str, option: &str) -> Result<(), Skip> {
    match tally.first {
        Some(first) => Err(Skip::Because(format!(
            "{count} of its results {are} {what}, the first at element {first}: {why}; {option} folds anyway",
            count = tally.count,
            are = if tally.count == 1 { "is" } else { "are" },
            why = tally.why,
        ))),
        None => Ok(()),
    }
}

/// The `Constant` that takes a cast's place, with the cast's name, documentation and metadata.
fn constant_node(cast: &NodeProto, content: Content) -> NodeProto {
    let mut node = cast.clone();
    node.op_type = Some("Constant".to_owned());
    node.input.clear();
    node.attribute = vec![
        AttributeProto {
            name: Some("value".to_owned()),
            r#type: Some(AttributeType::Tensor.into()),
            t: Some(content.into_tensor("")),
            ..AttributeProto::default()
        }
        .into(),
    ];
    node
}
