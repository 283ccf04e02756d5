//! The structure of a model that the walk uses, and what the model declares.

use super::known::{Fact, UNKNOWN};
use super::length::Symbols;
use crate::base::hash::HashMap;
use crate::graph::{Body, Model, NodeId, Origin, ScopeId, ScopeKind, ValueId};
use crate::ops::schemas::canonical_domain;
use crate::protobuf::schema::ValueInfoProto;

/// The structure of the model that the walk uses.
pub(super) struct Bodies<'m> {
    /// By scope: its nodes in topological order.
    pub(super) order: HashMap<ScopeId, Vec<NodeId>>,
    /// By scope: its values that no node produces.
    pub(super) given: HashMap<ScopeId, Vec<ValueId>>,
    /// By node: the bodies in its attributes.
    pub(super) inner: HashMap<NodeId, Vec<ScopeId>>,
    pub(super) declared: Declared,
    pub(super) functions: HashMap<(&'m str, &'m str, &'m str), ScopeId>,
    /// By function: the values of its body and of nested bodies.
    pub(super) values: HashMap<ScopeId, Vec<ValueId>>,
}

impl<'m> Bodies<'m> {
    pub(super) fn new(model: &'m Model) -> (Bodies<'m>, Symbols<'m>) {
        let mut symbols = Symbols::default();
        let mut bodies = Bodies {
            order: HashMap::default(),
            given: HashMap::default(),
            inner: model.subgraphs(),
            declared: Declared::of_values(model.value_count()),
            functions: HashMap::default(),
            values: HashMap::default(),
        };
        for &node in model.topological_order() {
            let nodes = || Vec::with_capacity(model.nodes(node.scope).len());
            bodies
                .order
                .entry(node.scope)
                .or_insert_with(nodes)
                .push(node);
        }
        for value in model.values() {
            let scope = model.scope_of(value);
            if !matches!(model.origin(value), Origin::Node { .. }) {
                bodies.given.entry(scope).or_default().push(value);
            }
            let root = model.root(scope);
            if let ScopeKind::Function(_) = model.scope_kind(root) {
                bodies.values.entry(root).or_default().push(value);
            }
        }
        for scope in model.scopes() {
            bodies.declare(model, scope, &mut symbols);
        }
        (bodies, symbols)
    }

    /// Forgets the declared shapes of the results of nodes.
    pub(super) fn forget_results(&mut self, model: &Model) {
        for value in model
            .values()
            .filter(|&value| matches!(model.origin(value), Origin::Node { .. }))
        {
            if let Some(declared) = self.declared.get_mut(value) {
                declared.shape = None;
            }
        }
    }

    /// Dimensions of a body have no symbols: in a loop, they may differ between iterations.
    fn declare(&mut self, model: &'m Model, scope: ScopeId, symbols: &mut Symbols<'m>) {
        let body = model.body(scope);
        let has_symbols = !matches!(
            model.scope_kind(scope),
            ScopeKind::Subgraph { .. } | ScopeKind::Function(_)
        );
        let [inputs, outputs]: [&'m [ValueInfoProto]; 2] = match body {
            Body::Graph(graph) => [&graph.input, &graph.output],
            Body::Function(function) => {
                let key = (
                    canonical_domain(function.domain()),
                    function.name(),
                    function.overload(),
                );
                self.functions.insert(key, scope);
                [&[], &[]]
            }
        };
        let infos = [(true, inputs), (false, outputs), (false, body.value_info())];
        for (is_input, info) in infos
            .into_iter()
            .flat_map(|(is_input, infos)| infos.iter().map(move |info| (is_input, info)))
        {
            if let (Some(proto), Some(value)) = (&info.r#type, model.defined(scope, info.name())) {
                let declared = Fact::of_type_with(proto, |name| match name {
                    _ if !has_symbols => None,
                    "" if is_input => symbols.unnamed(),
                    "" => None,
                    name => symbols.named(scope, name),
                });
                self.declared.add(value, declared);
            }
        }
    }
}

/// The facts that a model declares, of few of its values in most models.
pub(super) struct Declared {
    /// By the value's index: the position in `facts` after 0; 0 without a fact.
    positions: Vec<u32>,
    facts: Vec<Fact>,
}

impl Declared {
    fn of_values(count: usize) -> Declared {
        Declared {
            positions: vec![0; count],
            facts: Vec::new(),
        }
    }

    pub(super) fn of(&self, value: ValueId) -> &Fact {
        match self.positions[value.index()] {
            0 => &UNKNOWN,
            position => &self.facts[position as usize - 1],
        }
    }

    fn get_mut(&mut self, value: ValueId) -> Option<&mut Fact> {
        let position = self.positions[value.index()].checked_sub(1)?;
        self.facts.get_mut(position as usize)
    }

    /// Adds a fact to what is declared of a value.
    fn add(&mut self, value: ValueId, fact: Fact) {
        if let Some(declared) = self.get_mut(value) {
            *declared = std::mem::take(declared).and(&fact);
        } else {
            self.facts.push(fact);
            self.positions[value.index()] = self.facts.len() as u32;
        }
    }
}
