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
//! constant to one type share a result. A constant that has lost its last use goes.

use std::collections::HashMap;

use super::{Folded, Options, Pass, Plan, Skipped};
use crate::cast::{Cast, Contested, RoundMode, Rules, Summary, Tally};
use crate::dtype::DType;
use crate::error::Invalid;
use crate::facts::{self, LATEST_OPSET, ValueType};
use crate::graph::{CastNode, Edit, Model, NodeId, NotConstant, Pin, ScopeId, ScopeKind, TypeSource, UnclearCast, ValueId};
use crate::ir_version::OWN_INITIALIZERS;
use crate::tensor::{Allowance, BadTensor, CASTS_OF_EACH, Content, Data, Failure, Tensor, Values};
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
        uses_left: HashMap::new(),
        growth: 0,
        skipped: Vec::new(),
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
    series: Series,
    /// The constant that the series begins with.
    constant: ValueId,
}

/// A constant and the casts it went through, as a number: equal series have equal values.
type Series = usize;

/// What comes of a constant, or of a series, by one more cast.
struct CastResult {
    series: Series,
    outcome: Result<(Content, Summary), Failure>,
    is_folded: bool,
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
    /// Uses that remain after the folds so far, of values that lost one.
    uses_left: HashMap<ValueId, usize>,
    growth: i64,
    skipped: Vec<(NodeId, Skip)>,
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
        let (series, is_new) = (result.series, !result.is_folded);
        if !self.options.fold_undefined {
            expect_none(&summary.undefined, "undefined", "--undefined fold")?; // Case 3.
        }
        if self.options.contested.is_none() {
            expect_none(&summary.contested, "contested", "--contested text|runtime")?;
        }
        self.spend(&cast, if is_new { content.bytes() } else { 0 })?; // Case 4.
        self.results.entry((before, step)).and_modify(|result| result.is_folded = true);
        if let Some(output) = cast.output {
            self.by_output.insert(output, self.folds.len());
        }
        self.folds.push(Fold { node, from: source.dtype(), content, series, constant });
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
        if !self.allowance.take(constant, source.bytes()) {
            let name = self.model.name(constant);
            let why = format!("'{name}' went through {CASTS_OF_EACH} casts already, and is too large for more in one run");
            return Err(Skip::Because(why));
        }
        let series = self.results.len();
        self.results.insert(key, CastResult { series, outcome: source.cast(kernel), is_folded: false });
        Ok(())
    }

    /// The values of a constant, or of a cast that will be one; and what they begin with.
    fn source(&self, value: ValueId) -> Result<(Content, Result<Series, ValueId>, ValueId), Skip> {
        if let Some(&fold) = self.by_output.get(&value) {
            let Fold { content, series, constant, .. } = &self.folds[fold];
            return Ok((content.clone(), Ok(*series), *constant));
        }
        let constant = self.model.constant(value)?;
        let malformed = |error: BadTensor| match error {
            // Only the user can help that, and only for all casts at once.
            BadTensor::Location(BadLocation::NoFolder(_)) => Skip::Because(error.to_string()),
            _ => Skip::Invalid(format!("input '{}': {error}", self.model.name(value))),
        };
        let tensor = Tensor::read(&constant.tensor).map_err(malformed)?;
        let data = match tensor.values().map_err(malformed)? {
            Values::Raw(raw) => Data::Numbers(raw, Vec::new()),
            Values::Strings(strings) => Data::Strings(strings),
            Values::External(reference) => {
                let bytes = reference.bytes(tensor.raw_bytes(), self.model.data()).map_err(malformed)?;
                Data::Numbers(bytes, Vec::new())
            }
        };
        Ok((Content::new(tensor.dtype(), tensor.dims(), data), Err(value), value))
    }

    fn resulting_type(&self, cast: &CastNode) -> Result<DType, Skip> {
        let like = match cast.to {
            TypeSource::Attribute(to) => return Ok(to),
            TypeSource::Like(like) => like,
        };
        let folded = self.by_output.get(&like).map(|&fold| self.folds[fold].content.dtype());
        let known = folded.or_else(|| self.model.element_type(like));
        known.ok_or_else(|| Skip::Because(format!("the type of '{}', which CastLike copies, is not stated", self.model.name(like))))
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

    /// Takes the cast's uses of its inputs away, and the bytes of its result from what the file may grow by.
    fn spend(&mut self, cast: &CastNode, bytes: u64) -> Result<(), Skip> {
        let mut inputs = vec![cast.input];
        if let TypeSource::Like(like) = cast.to {
            inputs.push(like);
        }
        let mut growth = self.growth + if cast.output.is_some() { bytes as i64 } else { 0 };
        let mut left: HashMap<ValueId, usize> = HashMap::new();
        for &input in &inputs {
            let before = self.uses_left.get(&input).copied();
            let uses = left.entry(input).or_insert_with(|| before.unwrap_or_else(|| self.model.uses(input).count()));
            *uses -= 1;
            if *uses == 0 && self.is_free(input) {
                growth -= self.bytes(input) as i64;
            }
        }
        match self.options.max_growth {
            Some(limit) if growth > i64::try_from(limit).unwrap_or(i64::MAX) => {
                Err(Skip::Because(format!("the model would grow by {growth} bytes, more than --max-growth {limit} allows")))
            }
            _ => {
                self.growth = growth;
                self.uses_left.extend(left);
                Ok(())
            }
        }
    }

    /// Whether a value may go once no node uses it.
    fn is_free(&self, value: ValueId) -> bool {
        self.model.output_of(value).is_empty() && self.model.pin(value).is_none()
    }

    fn bytes(&self, value: ValueId) -> u64 {
        match (self.by_output.get(&value), self.model.constant(value)) {
            (Some(&fold), _) => self.folds[fold].content.bytes(),
            (None, Ok(constant)) => Tensor::read(&constant.tensor).map_or(0, |tensor| tensor.stored_bytes()),
            (None, Err(_)) => 0,
        }
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
        let representatives = self.representatives();
        let outputs: HashMap<usize, ValueId> = self.by_output.iter().map(|(&value, &fold)| (fold, value)).collect();
        for (index, fold) in std::mem::take(&mut self.folds).into_iter().enumerate() {
            let mut with = Vec::new();
            if let Some(&output) = outputs.get(&index).filter(|&&output| self.is_needed(output)) {
                match representatives.get(&output) {
                    Some(&to) => plan.edits.push(Edit::Rewire { from: output, to }),
                    None if self.becomes_node(fold.node.scope) => {
                        with.push(constant_node(self.model.node(fold.node), fold.content));
                    }
                    None => {
                        let tensor = Box::new(fold.content.into_tensor(self.model.name(output)));
                        plan.edits.push(Edit::AddInitializer { scope: fold.node.scope, tensor });
                    }
                }
            }
            plan.edits.push(Edit::ReplaceNode { node: fold.node, with });
        }
        plan
    }

    /// Whether something but folded casts uses the value.
    fn is_needed(&self, value: ValueId) -> bool {
        let uses = self.uses_left.get(&value).copied();
        uses.unwrap_or_else(|| self.model.uses(value).count()) > 0 || !self.is_free(value)
    }

    /// By value: the equal one that stands for it. One whose name must stay stands for itself, and so does one that a user of the
    /// other could not see.
    fn representatives(&self) -> HashMap<ValueId, ValueId> {
        let mut values: Vec<(&Fold, ValueId)> = self.by_output.iter().map(|(&value, &fold)| (&self.folds[fold], value)).collect();
        values.retain(|&(_, value)| self.is_needed(value));
        values.sort_unstable_by_key(|(fold, _)| fold.node);
        let mut first: HashMap<Series, (&Fold, ValueId)> = HashMap::new();
        for &(fold, value) in &values {
            let chosen = first.entry(fold.series).or_insert((fold, value));
            if !self.is_free(value) && self.is_free(chosen.1) && !self.becomes_node(fold.node.scope) {
                *chosen = (fold, value);
            }
        }
        let mut representatives = HashMap::new();
        for (fold, value) in values {
            let (chosen_fold, chosen) = first[&fold.series];
            // An initializer is defined before all nodes, a `Constant` only before those that follow it in its scope.
            let precedes = !self.becomes_node(chosen_fold.node.scope) || chosen_fold.node.scope == fold.node.scope;
            let sees = |(user, _): (NodeId, u32)| self.model.is_visible(chosen, user.scope);
            if chosen != value && precedes && self.is_free(value) && self.model.uses(value).all(sees) {
                representatives.insert(value, chosen);
            }
        }
        representatives
    }

    fn remove_unused_constants(&self, plan: &mut Plan) {
        let mut unused: Vec<ValueId> = self.uses_left.keys().copied().filter(|&value| !self.is_needed(value)).collect();
        unused.sort_unstable();
        for value in unused.into_iter().filter(|value| !self.by_output.contains_key(value)) {
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
