//! Queries of scopes.

use crate::base::error::ModelPlace;
use crate::base::hash::HashMap;
use crate::graph::index::ValueId;
use crate::graph::model::Model;
use crate::graph::scope::{Body, NodeId, ScopeId, ScopeKind, body, enclosing, root, scope_path};
use crate::protobuf::ir_version::OPSET_IMPORT;

/// # Scopes: graphs, subgraphs, functions, and the opsets that they import
impl Model {
    /// All scopes; an inner scope comes after the enclosing one.
    pub fn scopes(&self) -> impl DoubleEndedIterator<Item = ScopeId> + use<> {
        (0..self.index.kinds.len() as u32).map(ScopeId)
    }

    /// Which body a scope is.
    #[must_use]
    pub fn scope_kind(&self, scope: ScopeId) -> ScopeKind {
        self.index.kinds[scope.0 as usize]
    }

    /// By node: the graphs in its attributes.
    pub(crate) fn subgraphs(&self) -> HashMap<NodeId, Vec<ScopeId>> {
        let mut subgraphs: HashMap<NodeId, Vec<ScopeId>> = HashMap::default();
        for scope in self.scopes() {
            if let ScopeKind::Subgraph { owner, .. } = self.scope_kind(scope) {
                subgraphs.entry(owner).or_default().push(scope);
            }
        }
        subgraphs
    }

    /// The enclosing scope, whose names are visible inside this one.
    #[must_use]
    pub fn enclosing(&self, scope: ScopeId) -> Option<ScopeId> {
        enclosing(&self.index.kinds, scope)
    }

    /// The protobuf message of a scope.
    ///
    /// # Panics
    /// If the scope belongs to another model.
    #[must_use]
    pub fn body(&self, scope: ScopeId) -> Body<'_> {
        body(&self.proto, &self.index.kinds, scope).expect("a scope of this model has a body")
    }

    /// The path of a scope in errors and reports: `graph`, `graph/if_1.then_branch`,
    /// `function/my.domain:Fn`.
    #[must_use]
    pub fn scope_path(&self, scope: ScopeId) -> String {
        scope_path(&self.proto, &self.index.kinds, scope)
    }

    /// The place of a scope in errors.
    #[must_use]
    pub(crate) fn scope_place(&self, scope: ScopeId) -> ModelPlace {
        ModelPlace::of_scope(self.scope_path(scope))
    }

    /// The outermost enclosing scope.
    #[must_use]
    pub fn root(&self, scope: ScopeId) -> ScopeId {
        root(&self.index.kinds, scope)
    }

    /// The main graph, function or training graph that contains a scope. Its root is the main graph
    /// for a training graph, which sees the names of that.
    pub(crate) fn top_level(&self, scope: ScopeId) -> ScopeId {
        self.owners(scope).last().map_or(scope, |node| node.scope)
    }

    /// Whether a scope is in a training graph.
    pub(crate) fn is_training(&self, scope: ScopeId) -> bool {
        matches!(
            self.scope_kind(self.top_level(scope)),
            ScopeKind::Initialization(_) | ScopeKind::Algorithm(_)
        )
    }

    /// The opset of a domain that a scope is written in: a function imports its own opsets, any
    /// other scope uses the model's. A model of IR 1 or 2 has no imports and is written in opset 1.
    #[must_use]
    pub fn opset(&self, scope: ScopeId, domain: &str) -> Option<i64> {
        let root = self.root(scope);
        let stated = self
            .index
            .opsets
            .get(&root)
            .and_then(|opsets| opsets.get(domain));
        stated.or_else(|| {
            let has_no_imports =
                self.ir_version() < OPSET_IMPORT && self.proto().opset_import.is_empty();
            (has_no_imports && matches!(self.body(root), Body::Graph(_))).then_some(1)
        })
    }

    /// The model's IR version; zero if it is missing.
    #[must_use]
    pub fn ir_version(&self) -> i64 {
        self.proto().ir_version()
    }

    /// The value that a name refers to at the end of a scope.
    #[must_use]
    pub fn lookup(&self, scope: ScopeId, name: &str) -> Option<ValueId> {
        self.index.lookup(scope, name)
    }

    /// The value that a scope itself defines under a name.
    pub(crate) fn defined(&self, scope: ScopeId, name: &str) -> Option<ValueId> {
        self.index.local(scope, name)
    }
}
