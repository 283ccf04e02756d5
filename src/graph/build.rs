//! Builds the index: walks every scope in document order and resolves each name at its use.

use petgraph::graph::NodeIndex;

use super::calls;
use super::index::{Declared, Index, Link, NonNodeUse, Origin, ValueData, ValueId, Vertex};
use super::model::{Model, ModelSource};
use super::query::domain_name;
use super::scope::{self, Body, NodeId, ScopeId, ScopeKind, graphs_of};
use crate::base::error::{Invalid, ModelPlace, shortened};
use crate::base::hash::HashMap;
use crate::base::threshold::Threshold;
use crate::protobuf::ir_version;
use crate::protobuf::schema::{
    ModelProto, NodeProto, OperatorSetIdProto, StringStringEntryProto, TensorProto, ValueInfoProto,
};
use crate::tensor::{BadTensor, Tensor};

/// # A model of a protobuf message
impl Model {
    /// Indexes a model.
    ///
    /// # Errors
    /// If the model has no graph, a name is defined twice, a value depends on itself, or a tensor
    /// is inconsistent.
    pub fn new(proto: ModelProto) -> Result<Model, Invalid> {
        let model = Model::with_unchecked_tensors(proto)?;
        match model.bad_tensors().first() {
            Some(fault) => Err(fault.clone()),
            None => Ok(model),
        }
    }

    /// Indexes a model that is read and not changed: it may have inconsistent tensors.
    ///
    /// # Errors
    /// If the model has no graph, a name is defined twice, or a value depends on itself.
    pub(crate) fn with_unchecked_tensors(proto: ModelProto) -> Result<Model, Invalid> {
        let (index, bad_tensors) = index(&proto)?;
        Ok(Model {
            proto,
            index,
            source: ModelSource {
                bad_tensors: bad_tensors.into(),
                ..ModelSource::default()
            },
        })
    }
}

/// Indexes a model. Inconsistent initializers are returned as a list.
fn index(model: &ModelProto) -> Result<(Index, Vec<Invalid>), Invalid> {
    let Some(main) = &model.graph else {
        return Err(Invalid::at(
            "model",
            "has no graph: the file is not an ONNX model",
        ));
    };
    let (mut values, mut edges, mut text) = (main.initializer.len() + main.input.len(), 0, 0);
    for node in &main.node {
        values += node.output.len();
        edges += node.input.len() + node.output.len();
        text += node.output.iter().map(String::len).sum::<usize>();
    }
    let index = Index::with_capacity(main.node.len(), values, edges, text);
    let mut builder = Builder {
        model,
        index,
        unresolved: Vec::new(),
        bad_tensors: Vec::new(),
        wide: Vec::new(),
    };
    builder
        .note_imports(ScopeId::MAIN, &model.opset_import)
        .map_err(|what| Invalid::at("opset_import", what))?;
    builder.scope(ScopeKind::Main, Body::Graph(main))?;
    for (position, training) in (0..).zip(&model.training_info) {
        if let Some(graph) = &training.initialization {
            builder.scope(ScopeKind::Initialization(position), Body::Graph(graph))?;
        }
        if let Some(graph) = &training.algorithm {
            builder.scope(ScopeKind::Algorithm(position), Body::Graph(graph))?;
        }
    }
    for training in &model.training_info {
        builder.pin_trained(&training.initialization_binding);
        builder.pin_trained(&training.update_binding);
    }
    for (position, function) in (0..).zip(&model.functions) {
        let scope = ScopeId(builder.index.kinds.len() as u32);
        let key = calls::function_key(function.domain(), function.name(), function.overload());
        builder.index.functions.insert(key, scope);
        builder.scope(ScopeKind::Function(position), Body::Function(function))?;
        let imports = builder.note_imports(scope, &function.opset_import);
        imports.map_err(|what| Invalid::at(builder.place(scope), what))?;
    }
    builder.leave_missing()?;
    for (id, node) in std::mem::take(&mut builder.wide) {
        builder
            .index
            .note_wide(id, node.input.len(), node.output.len());
    }
    builder.pin_annotated();
    builder.pin_shadowed();
    calls::note_callers(model, &mut builder.index);
    calls::note_arguments(model, &mut builder.index);
    let bad_tensors = std::mem::take(&mut builder.bad_tensors);
    Ok((builder.sort()?, bad_tensors))
}

struct Builder<'m> {
    model: &'m ModelProto,
    index: Index,
    /// Uses of names that are not defined yet.
    unresolved: Vec<Use<'m>>,
    bad_tensors: Vec<Invalid>,
    /// Nodes with more than [`NARROW`] inputs or outputs.
    wide: Vec<(NodeId, &'m NodeProto)>,
}

/// The maximum number of inputs or outputs of a node for which a search in the graph is as fast as
/// a table.
const NARROW: Threshold = Threshold::new("inputs of a narrow node", 16).or_zero();

/// A use of a name.
#[derive(Clone, Copy)]
struct Use<'m> {
    scope: ScopeId,
    name: &'m str,
    by: User,
}

#[derive(Clone, Copy)]
enum User {
    Node(NodeId, u32),
    Output(ScopeId),
}

impl<'m> Builder<'m> {
    fn scope(&mut self, kind: ScopeKind, body: Body<'m>) -> Result<(), Invalid> {
        let scope = self
            .index
            .add_scope(kind, body.nodes().len(), body.value_count());
        let first_unresolved = self.unresolved.len();

        for (input, name) in (0..).zip(body.input_names()) {
            self.define(scope, name, Origin::Input(input))?;
        }
        if let Body::Graph(graph) = body {
            for (initializer, tensor) in (0..).zip(&graph.initializer) {
                if let Some(error) = self.fault(tensor) {
                    let scope = scope::scope_path(self.model, &self.index.kinds, scope);
                    self.bad_tensors.push(Invalid::caused_by(
                        ModelPlace::of_value(&scope, "initializer", tensor.name()),
                        error,
                    ));
                }
                self.define_initializer(scope, tensor.name(), |input| Origin::Initializer {
                    index: initializer,
                    input,
                })?;
            }
            for (sparse, tensor) in (0..).zip(&graph.sparse_initializer) {
                let name = tensor.values.as_ref().map_or("", |values| values.name());
                self.define_initializer(scope, name, |_| Origin::SparseInitializer(sparse))?;
            }
        }
        for (position, node) in (0..).zip(body.nodes()) {
            self.node(NodeId { scope, position }, node)?;
        }
        for name in body.output_names() {
            self.resolve(Use {
                scope,
                name,
                by: User::Output(scope),
            });
        }
        self.resolve_later_definitions(scope, first_unresolved);
        self.note_declarations(scope, body);
        Ok(())
    }

    fn node(&mut self, id: NodeId, node: &'m NodeProto) -> Result<(), Invalid> {
        let vertex = self.index.graph.add_node(Vertex::Node(id));
        self.index.nodes[id.scope.0 as usize].push(vertex);
        if node.input.len().max(node.output.len()) > NARROW.get() {
            self.wide.push((id, node));
        }
        for (input, name) in (0..).zip(&node.input) {
            if !name.is_empty() {
                self.resolve(Use {
                    scope: id.scope,
                    name,
                    by: User::Node(id, input),
                });
            }
        }
        for (attribute, proto) in (0..).zip(&node.attribute) {
            if let Some(error) = proto.t.as_ref().and_then(|tensor| self.fault(tensor)) {
                let node = scope::node_place(self.model, &self.index.kinds, id);
                self.bad_tensors
                    .push(Invalid::caused_by(node.part(proto.name()), error));
            }
            for (list_index, graph) in graphs_of(proto) {
                self.scope(
                    ScopeKind::Subgraph {
                        owner: id,
                        attribute,
                        list_index,
                    },
                    Body::Graph(graph),
                )?;
            }
        }
        for (output, name) in (0..).zip(&node.output) {
            if !name.is_empty() {
                let value = self.define(id.scope, name, Origin::Node { node: id, output })?;
                let value = self.index.value(value).vertex;
                self.index
                    .graph
                    .add_edge(vertex, value, Link::Output(output));
            }
        }
        Ok(())
    }

    fn define(
        &mut self,
        scope: ScopeId,
        name: &'m str,
        origin: Origin,
    ) -> Result<ValueId, Invalid> {
        let value = self.add_value(scope, name, origin)?;
        match self.index.bind_name(value) {
            Some(_) if !name.is_empty() => Err(Invalid::at(
                self.place(scope).about_value(name),
                format!("the name '{name}' is defined twice"),
            )),
            _ => Ok(value),
        }
    }

    /// An initializer may have the name of an input: both are then one value.
    fn define_initializer(
        &mut self,
        scope: ScopeId,
        name: &'m str,
        origin: impl Fn(Option<u32>) -> Origin,
    ) -> Result<(), Invalid> {
        if let Some(value) = self.index.local(scope, name)
            && let Origin::Input(input) = self.index.value(value).origin
        {
            self.index.values[value.index()].origin = origin(Some(input));
            return Ok(());
        }
        self.define(scope, name, origin(None)).map(|_| ())
    }

    fn add_value(
        &mut self,
        scope: ScopeId,
        name: &str,
        origin: Origin,
    ) -> Result<ValueId, Invalid> {
        let value = self.index.add_value(scope, name, origin);
        value.ok_or_else(|| Invalid::at("model", "the names of its values exceed 4 GiB"))
    }

    /// Binds a use to the current definition of the name, or defers it.
    fn resolve(&mut self, used: Use<'m>) {
        let value = self
            .index
            .newest(used.scope, used.name)
            .or_else(|| self.index.lookup(used.scope, used.name));
        match value {
            Some(value) => self.bind(used, value),
            None => self.unresolved.push(used),
        }
    }

    /// At the end of a scope: binds the deferred uses inside it to the definitions of the scope.
    fn resolve_later_definitions(&mut self, scope: ScopeId, first_unresolved: usize) {
        for used in self.unresolved.split_off(first_unresolved) {
            match self.index.local(scope, used.name) {
                Some(value) => self.bind(used, value),
                None => self.unresolved.push(used),
            }
        }
    }

    fn leave_missing(&mut self) -> Result<(), Invalid> {
        let mut missing = HashMap::default();
        for used in std::mem::take(&mut self.unresolved) {
            let scope = scope::root(&self.index.kinds, used.scope);
            let value = match missing.get(&(scope, used.name)) {
                Some(&value) => value,
                None => self.add_value(scope, used.name, Origin::Missing)?,
            };
            missing.insert((scope, used.name), value);
            self.bind(used, value);
        }
        Ok(())
    }

    fn bind(&mut self, used: Use<'m>, value: ValueId) {
        let ValueData { vertex, scope, .. } = *self.index.value(value);
        match used.by {
            User::Node(node, input) => {
                let user = self.index.vertex(node);
                self.index.graph.add_edge(vertex, user, Link::Input(input));
            }
            User::Output(scope) => self
                .index
                .scopes_that_output
                .entry(value)
                .or_default()
                .push(scope),
        }
        if let Some(holder) = self.holder_in(scope, used.scope) {
            self.index.graph.add_edge(vertex, holder, Link::Capture);
        }
    }

    /// The node of scope `outer` whose attribute contains the scope `inner`, if there is one.
    fn holder_in(&self, outer: ScopeId, inner: ScopeId) -> Option<NodeIndex> {
        let mut scope = inner;
        while scope != outer {
            match self.index.kinds[scope.0 as usize] {
                ScopeKind::Subgraph { owner, .. } if owner.scope == outer => {
                    return Some(self.index.vertex(owner));
                }
                _ => scope = scope::enclosing(&self.index.kinds, scope)?,
            }
        }
        None
    }

    /// A domain may be imported twice at the same version, under either spelling of ai.onnx:
    /// exporters do that, and runtimes accept it.
    fn note_imports(
        &mut self,
        root: ScopeId,
        imports: &[OperatorSetIdProto],
    ) -> Result<(), String> {
        for import in imports {
            let (domain, version) = (domain_name(import.domain()), import.version());
            let opsets = self.index.opsets.entry(root).or_default();
            if let Some(other) = opsets
                .insert(domain, version)
                .filter(|other| *other != version)
            {
                let domain = shortened(domain);
                return Err(format!(
                    "imports two versions of {domain}, {other} and {version}: remove the wrong one"
                ));
            }
        }
        Ok(())
    }

    /// Later types take precedence: the declaration of an input or output overrides `value_info`.
    fn note_declarations(&mut self, scope: ScopeId, body: Body<'m>) {
        let (inputs, outputs) = match body {
            Body::Graph(graph) => (graph.input.as_slice(), graph.output.as_slice()),
            Body::Function(_) => Default::default(),
        };
        let listed = |infos: &'m [ValueInfoProto], place: fn(u32) -> Declared| {
            (0..)
                .zip(infos)
                .map(move |(index, info)| (info.name(), place(index)))
        };
        let all = listed(body.value_info(), Declared::ValueInfo)
            .chain(listed(outputs, Declared::Output))
            .chain(listed(inputs, Declared::Input));
        for (name, place) in all {
            self.change(scope, name, |value| value.declared = Some(place));
        }
    }

    /// A binding assigns to an initializer of the main graph or of a training algorithm.
    fn pin_trained(&mut self, bindings: &[StringStringEntryProto]) {
        let holds = |kind: &ScopeKind| matches!(kind, ScopeKind::Main | ScopeKind::Algorithm(_));
        let scopes = (0..).zip(&self.index.kinds).filter(|(_, kind)| holds(kind));
        let scopes: Vec<ScopeId> = scopes.map(|(scope, _)| ScopeId(scope)).collect();
        for binding in bindings {
            for &scope in &scopes {
                self.change(scope, binding.key(), |value| {
                    value.non_node_use = Some(NonNodeUse::Trained)
                });
            }
        }
    }

    /// The annotations of a graph may refer to values of enclosing scopes, including values that
    /// are defined later.
    fn pin_annotated(&mut self) {
        let mut annotated = Vec::new();
        for scope in (0..self.index.kinds.len() as u32).map(ScopeId) {
            let annotations = scope::body(self.model, &self.index.kinds, scope)
                .map_or(&[][..], Body::annotations);
            for annotation in annotations {
                let parameters = annotation
                    .quant_parameter_tensor_names
                    .iter()
                    .map(|entry| entry.value());
                let names = parameters.chain([annotation.tensor_name()]);
                annotated.extend(names.filter_map(|name| self.index.lookup(scope, name)));
            }
        }
        for value in annotated {
            // A value that training updates is not a constant.
            self.index.values[value.index()]
                .non_node_use
                .get_or_insert(NonNodeUse::Annotated);
        }
    }

    /// An enclosing scope may define a name after an inner scope has defined it.
    fn pin_shadowed(&mut self) {
        let mut shadowed = Vec::new();
        for scope in (0..self.index.kinds.len() as u32).map(ScopeId) {
            if let Some(outer) = scope::enclosing(&self.index.kinds, scope) {
                let names = self
                    .index
                    .named_in(scope)
                    .map(|value| self.index.name(value));
                shadowed.extend(names.filter_map(|name| self.index.lookup(outer, name)));
            }
        }
        for value in shadowed {
            self.index.values[value.index()].is_shadowed = true;
        }
    }

    fn change(&mut self, scope: ScopeId, name: &str, change: impl FnOnce(&mut ValueData)) {
        if let Some(value) = self.index.local(scope, name) {
            change(&mut self.index.values[value.index()]);
        }
    }

    /// A model of a later IR version may have tensors of unknown types, which are skipped.
    fn fault(&self, tensor: &TensorProto) -> Option<BadTensor> {
        match Tensor::read(tensor) {
            Err(BadTensor::UnknownType(_)) if self.model.ir_version() > ir_version::LATEST => None,
            read => read.err(),
        }
    }

    /// ONNX requires that nodes are sorted topologically. If they are, every edge leads to a later
    /// vertex, and the topological order is the document order.
    fn sort(mut self) -> Result<Index, Invalid> {
        let graph = &self.index.graph;
        let mut order = Vec::with_capacity(self.index.nodes.iter().map(Vec::len).sum());
        let mut add = |vertex| match graph[vertex] {
            Vertex::Node(node) => order.push(node),
            Vertex::Value(_) => {}
        };
        if graph
            .raw_edges()
            .iter()
            .all(|edge| edge.source() < edge.target())
        {
            graph.node_indices().for_each(&mut add)
        } else {
            let sorted = petgraph::algo::toposort(graph, None)
                .map_err(|cycle| self.cycle(cycle.node_id()))?;
            sorted.into_iter().for_each(&mut add);
        }
        self.index.order = order;
        Ok(self.index)
    }

    fn cycle(&self, on_cycle: NodeIndex) -> Invalid {
        match &self.index.graph[on_cycle] {
            Vertex::Node(node) => Invalid::at(
                scope::node_place(self.model, &self.index.kinds, *node),
                "depends on its own output",
            ),
            Vertex::Value(value) => {
                let (scope, name) = (self.index.value(*value).scope, self.index.name(*value));
                Invalid::at(
                    self.place(scope).about_value(name),
                    format!("the value '{name}' depends on itself"),
                )
            }
        }
    }

    /// The place of a scope in errors.
    fn place(&self, scope: ScopeId) -> ModelPlace {
        ModelPlace::of_scope(scope::scope_path(self.model, &self.index.kinds, scope))
    }
}
