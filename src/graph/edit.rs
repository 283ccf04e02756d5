//! The only mutation API of a model.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::Model;
use super::change::{
    Changes, add_function, apply_changes, freeze_initializers, import_domain, set_opset,
};
use super::index::{Origin, ValueId};
use super::metadata::{
    Entries, EntriesPlace, MetadataKeys, MetadataPlace, drop_entries, set_entry,
};
use super::new_nodes::NewNodes;
use super::query::tensor_type;
use super::scope::{Body, NodeId, ScopeId, ScopeKind};
use super::tensors::TensorPlace;
use crate::base::error::{Classified, ErrorKind, Invalid, ModelPlace, Place};
use crate::base::hash::{HashMap, HashSet};
use crate::protobuf::schema::{AttributeProto, FunctionProto, NodeProto, TensorProto};
use onnx_cast::DType;

/// One change of a model. Ids are those of the model before any edit of the same batch.
// Variants hold messages by value: a plan has few edits compared with the nodes of the model.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Edit {
    /// Replaces a node by other nodes; by none to remove it.
    ReplaceNode {
        /// The node that is removed.
        node: NodeId,
        /// The nodes that are inserted.
        with: NewNodes,
    },
    /// Adds an initializer to a graph; up to IR 3 it is also listed as an input.
    AddInitializer {
        /// The graph.
        scope: ScopeId,
        /// The initializer, with its name.
        tensor: Box<TensorProto>,
    },
    /// Sets a declared element type.
    SetType {
        /// The value or name that is declared.
        at: TypePlace,
        /// The element type that a declaration must state; other declarations are not changed. If
        /// it is `None`, all types are changed, and a graph gets a declaration without a shape if
        /// there is none.
        from: Option<DType>,
        /// The new element type.
        to: DType,
    },
    /// Removes an initializer and its declarations in the graph.
    RemoveInitializer(ValueId),
    /// Replaces a tensor by another of the same name and shape.
    ReplaceTensor {
        /// The tensor that is removed.
        place: TensorPlace,
        /// The tensor that is inserted.
        with: TensorProto,
        /// Whether the elements of both must have the same number of bits.
        check_width: bool,
    },
    /// Inserts nodes before the node at a position; at the end if there are not that many.
    InsertNodes {
        /// The graph or function.
        scope: ScopeId,
        /// The position before any edit of the batch.
        position: u32,
        /// The nodes that are inserted.
        nodes: Vec<NodeProto>,
    },
    /// Makes a node consume the value of a name. The name must be visible to the node after the
    /// batch.
    RenameInput {
        /// The node.
        node: NodeId,
        /// The index of the input.
        input: u32,
        /// The name.
        name: String,
    },
    /// Renames an output of a node; consumers keep the old name.
    RenameOutput {
        /// The node.
        node: NodeId,
        /// The index of the output.
        output: u32,
        /// The new name.
        name: String,
    },
    /// Replaces the attribute of a node that has a name, or adds an attribute.
    SetAttribute {
        /// The node.
        node: NodeId,
        /// The name of the attribute that is replaced.
        name: Cow<'static, str>,
        /// The attribute, with the same name or another one.
        with: Box<AttributeProto>,
    },
    /// Replaces a value by another in every node that consumes it.
    Rewire {
        /// The value that is replaced.
        from: ValueId,
        /// The value that is used instead.
        to: ValueId,
    },
    /// Adds an initializer of a new name, and replaces values by it in every node that consumes
    /// them.
    ShareInitializer {
        /// The graph.
        scope: ScopeId,
        /// The initializer, with its name.
        tensor: Box<TensorProto>,
        /// The values that are replaced.
        with: Vec<ValueId>,
    },
    /// Sets the opset of ai.onnx. The caller must ensure that every node has the same meaning in
    /// it.
    SetOpset {
        /// A function, or any other outermost scope to mean the model.
        root: ScopeId,
        /// The opset.
        version: i64,
    },
    /// Sets the IR version.
    SetIrVersion(i64),
    /// Turns the overridable initializers of the main graph into constants: they are no longer
    /// inputs.
    FreezeInitializers,
    /// Adds a function, and the import of its domain. The caller must ensure that no function of
    /// the domain has its name.
    AddFunction(Box<FunctionProto>),
    /// Like [`Edit::AddFunction`], before the functions that the model has: onnx's reference
    /// evaluator requires that a function precedes those that call it.
    AddFirstFunction(Box<FunctionProto>),
    /// Imports a version of a domain, other than that of ai.onnx, in a function that does not
    /// import it.
    Import {
        /// The function.
        function: ScopeId,
        /// The domain.
        domain: String,
        /// The version.
        version: i64,
    },
    /// Removes entries of `metadata_props` at every level.
    DropMetadata(MetadataKeys),
    /// Sets an entry of `metadata_props`; a place that does not exist gets none.
    SetMetadata {
        /// What the entry describes.
        at: MetadataPlace,
        /// The key.
        key: Cow<'static, str>,
        /// The new value.
        value: String,
    },
}

/// The place of a declared element type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypePlace {
    /// The declaration of a value. Only tensors are changed.
    Value(ValueId),
    /// A name in a scope: each declaration in its inputs, its outputs and `value_info`, of tensors,
    /// sequences and optional values. Without a `from`, the name must be one that the batch adds to
    /// a graph.
    Name {
        /// The scope.
        scope: ScopeId,
        /// The name.
        name: String,
    },
}

impl Edit {
    /// Sets the declared element type of a value, or declares it.
    pub(crate) fn set_type(value: ValueId, to: DType) -> Edit {
        Edit::SetType {
            at: TypePlace::Value(value),
            from: None,
            to,
        }
    }

    /// Sets the declared element type of a value, if it is declared.
    pub(crate) fn set_type_if_declared(model: &Model, value: ValueId, to: DType) -> Option<Edit> {
        model
            .declared_type(value)
            .map(|_| Edit::set_type(value, to))
    }

    /// Replaces a tensor by another of the same name, shape and number of bits per element.
    pub(crate) fn replace_tensor(place: TensorPlace, with: TensorProto) -> Edit {
        Edit::ReplaceTensor {
            place,
            with,
            check_width: true,
        }
    }

    /// Replaces a node by another, or by others.
    #[must_use]
    pub fn replace_node(node: NodeId, with: impl Into<NewNodes>) -> Edit {
        Edit::ReplaceNode {
            node,
            with: with.into(),
        }
    }

    /// Removes a node.
    #[must_use]
    pub fn remove_node(node: NodeId) -> Edit {
        Edit::replace_node(node, Vec::new())
    }
}

/// A batch of edits that would break the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the edits are refused: {0}")]
pub struct Refused(#[from] pub Invalid);

impl Classified for Refused {
    fn kind(&self) -> ErrorKind {
        self.0.kind()
    }

    fn place(&self) -> Option<Place> {
        self.0.place()
    }

    fn message(&self) -> String {
        format!("the edits are refused: {}", self.0.message())
    }
}

/// The edits of a batch, by what they change.
#[derive(Default)]
struct Batch {
    scopes: HashMap<ScopeId, Changes>,
    /// Outermost scopes, and their opsets of ai.onnx.
    opsets: Vec<(ScopeId, i64)>,
    ir_version: Option<i64>,
    functions: Vec<FunctionProto>,
    first_functions: Vec<FunctionProto>,
    /// Functions, and the domains and versions that they import.
    imports: Vec<(ScopeId, String, i64)>,
    /// The names of initializers of the main graph that are no longer inputs.
    frozen: HashSet<String>,
    dropped: Vec<(MetadataKeys, Entries)>,
    /// Places, keys and values of metadata.
    metadata: Vec<(EntriesPlace, Cow<'static, str>, String)>,
}

impl Batch {
    /// The changes of a scope.
    fn of(&mut self, scope: ScopeId) -> &mut Changes {
        self.scopes.entry(scope).or_default()
    }
}

/// # Edits
impl Model {
    /// The model with a batch of edits applied.
    ///
    /// # Errors
    /// See [`Model::apply`].
    pub(crate) fn with_edits(self, edits: Vec<Edit>) -> Result<Model, Refused> {
        if edits.is_empty() {
            return Ok(self);
        }
        let keeps_index = self.keeps_index(&edits);
        let missing = if keeps_index {
            BTreeSet::new()
        } else {
            self.check_removals(&edits)?;
            self.missing()
        };
        self.check_replaced_tensors(&edits)?;
        let mut batch = Batch::default();
        batch
            .of(ScopeId::MAIN)
            .nodes
            .reserve_exact(edits.iter().filter(|edit| is_of_main_node(edit)).count());
        for edit in edits {
            self.sort_into(&mut batch, edit)?;
        }
        let Model {
            mut proto,
            index,
            source,
        } = self;
        let (kinds, mut kept) = if keeps_index {
            (index.kinds.clone(), Some(index))
        } else {
            // Frees the rest of the old index before the new one is built.
            (index.into_kinds(), None)
        };
        for (keys, entries) in batch.dropped {
            drop_entries(&mut proto, &kinds, &entries, &keys);
        }
        for (place, key, value) in batch.metadata {
            set_entry(&mut proto, &kinds, place, &key, value);
        }
        for (root, version) in batch.opsets {
            set_opset(&mut proto, kinds[root.0 as usize], version);
            if let Some(index) = &mut kept {
                let importing = if matches!(kinds[root.0 as usize], ScopeKind::Function(_)) {
                    root
                } else {
                    ScopeId::MAIN
                };
                index
                    .opsets
                    .entry(importing)
                    .or_default()
                    .insert("", version);
            }
        }
        if batch.ir_version.is_some() {
            proto.ir_version = batch.ir_version;
        }
        freeze_initializers(&mut proto, &batch.frozen);
        apply_changes(&mut proto, &kinds, batch.scopes);
        for (function, domain, version) in batch.imports {
            import_domain(&mut proto, kinds[function.0 as usize], &domain, version);
        }
        for (position, function) in batch.first_functions.into_iter().enumerate() {
            add_function(&mut proto, position, function);
        }
        for function in batch.functions {
            let last = proto.functions.len();
            add_function(&mut proto, last, function);
        }
        if let Some(index) = kept {
            debug_assert!(
                Model::with_unchecked_tensors(proto.clone())
                    .is_ok_and(|model| model.index.is_like(&index)),
                "the index is no longer valid"
            );
            return Ok(Model {
                proto,
                index,
                source,
            });
        }
        let changed = Model {
            source,
            ..Model::new(proto)?
        };
        match changed.missing().difference(&missing).next() {
            Some((path, name)) => {
                let place = ModelPlace::of_scope(path.clone()).about_value(name);
                Err(Invalid::at(place, format!("'{name}' is used, but no longer defined")).into())
            }
            None => Ok(changed),
        }
    }

    /// Whether the value's name refers to it in `scope`, and not to a value that shadows it.
    #[must_use]
    pub fn is_visible(&self, value: ValueId, scope: ScopeId) -> bool {
        self.lookup(scope, self.name(value)) == Some(value)
    }

    /// Whether names of `outer` are visible in `scope`, unless they are shadowed.
    fn is_inside(&self, scope: ScopeId, outer: ScopeId) -> bool {
        std::iter::successors(Some(scope), |&scope| self.enclosing(scope))
            .any(|scope| scope == outer)
    }

    /// Sorts an edit of a declared element type.
    fn sort_type_into(
        &self,
        batch: &mut Batch,
        at: TypePlace,
        from: Option<DType>,
        to: DType,
    ) -> Result<(), Refused> {
        match (at, from) {
            (TypePlace::Name { scope, name }, Some(from)) => {
                batch.of(scope).retyped.insert(name, (from, to));
            }
            (TypePlace::Name { scope, name }, None) => {
                batch.of(scope).newly_declared.push((name, to))
            }
            (TypePlace::Value(value), Some(from)) => {
                let scope = self.scope_of(value);
                let stated = self.declared(value).and_then(|info| info.r#type.as_ref());
                if let Some(place) = self.index.value(value).declared
                    && stated.and_then(tensor_type) == Some(from)
                {
                    batch.of(scope).declared.push((place, to));
                }
            }
            (TypePlace::Value(value), None) => {
                let scope = self.scope_of(value);
                match (self.index.value(value).declared, self.body(scope)) {
                    (Some(place), _) => batch.of(scope).declared.push((place, to)),
                    (None, Body::Graph(_)) => batch
                        .of(scope)
                        .newly_declared
                        .push((self.name(value).to_owned(), to)),
                    (None, Body::Function(_)) => {
                        return Err(self.refuse(value, "has no declared type"));
                    }
                }
            }
        }
        Ok(())
    }

    fn sort_into(&self, batch: &mut Batch, edit: Edit) -> Result<(), Refused> {
        match edit {
            Edit::ReplaceNode { node, with } => {
                batch.of(node.scope).nodes.push((node.position, with))
            }
            Edit::AddInitializer { scope, tensor } => batch.of(scope).added.push(*tensor),
            Edit::RemoveInitializer(value) => match self.origin(value) {
                Origin::Initializer { input: Some(_), .. } if self.constant(value).is_err() => {
                    return Err(self.refuse(value, "is an input that a caller can override"));
                }
                Origin::Initializer { .. } => {
                    batch
                        .of(self.scope_of(value))
                        .removed
                        .insert(self.name(value).to_owned());
                }
                _ => return Err(self.refuse(value, "is not an initializer")),
            },
            Edit::ReplaceTensor { place, with, .. } => {
                batch.of(place.scope()).tensors.push((place, with));
            }
            Edit::InsertNodes {
                scope,
                position,
                nodes,
            } => batch
                .of(scope)
                .inserted
                .entry(position)
                .or_default()
                .extend(nodes),
            Edit::RenameInput { node, input, name } => {
                batch
                    .of(node.scope)
                    .inputs
                    .push((node.position, input, name))
            }
            Edit::RenameOutput { node, output, name } => {
                batch
                    .of(node.scope)
                    .outputs
                    .push((node.position, output, name))
            }
            Edit::SetAttribute { node, name, with } => {
                batch
                    .of(node.scope)
                    .attributes
                    .push((node.position, name, *with))
            }
            Edit::SetType { at, from, to } => self.sort_type_into(batch, at, from, to)?,
            Edit::Rewire { from, to } => {
                for (user, input) in self.uses(from) {
                    if !self.is_visible(to, user.scope) {
                        return Err(
                            self.refuse(to, &format!("is not visible at {}", self.node_path(user)))
                        );
                    }
                    batch.of(user.scope).inputs.push((
                        user.position,
                        input,
                        self.name(to).to_owned(),
                    ));
                }
            }
            Edit::ShareInitializer {
                scope,
                tensor,
                with,
            } => {
                for (user, input) in with.into_iter().flat_map(|from| self.uses(from)) {
                    if !self.is_inside(user.scope, scope)
                        || self.lookup(user.scope, tensor.name()).is_some()
                    {
                        let place = ModelPlace::of_value(
                            &self.scope_path(scope),
                            "initializer",
                            tensor.name(),
                        );
                        let reason = format!("would not be visible to {}", self.node_path(user));
                        return Err(Invalid::at(place, reason).into());
                    }
                    batch.of(user.scope).inputs.push((
                        user.position,
                        input,
                        tensor.name().to_owned(),
                    ));
                }
                batch.of(scope).added.push(*tensor);
            }
            Edit::SetOpset { root, version } => batch.opsets.push((root, version)),
            Edit::SetIrVersion(version) => batch.ir_version = Some(version),
            Edit::FreezeInitializers => {
                batch.frozen = self
                    .overridable_initializers()
                    .into_iter()
                    .map(str::to_owned)
                    .collect()
            }
            Edit::AddFunction(function) => batch.functions.push(*function),
            Edit::AddFirstFunction(function) => batch.first_functions.push(*function),
            Edit::Import {
                function,
                domain,
                version,
            } => batch.imports.push((function, domain, version)),
            Edit::DropMetadata(keys) => {
                let entries = self.metadata_entries(&keys);
                batch.dropped.push((keys, entries));
            }
            Edit::SetMetadata { at, key, value } => {
                let place = self.entries_place(at);
                batch
                    .metadata
                    .extend(place.map(|place| (place, key, value)));
            }
        }
        Ok(())
    }

    pub(super) fn refuse(&self, value: ValueId, reason: &str) -> Refused {
        let place = ModelPlace::of_value(
            &self.scope_path(self.scope_of(value)),
            "value",
            self.name(value),
        );
        Refused(Invalid::at(place, reason))
    }

    fn missing(&self) -> BTreeSet<(String, String)> {
        let missing = self
            .values()
            .filter(|&value| self.origin(value) == Origin::Missing);
        missing
            .map(|value| {
                (
                    self.scope_path(self.scope_of(value)),
                    self.name(value).to_owned(),
                )
            })
            .collect()
    }
}

fn is_of_main_node(edit: &Edit) -> bool {
    matches!(edit, Edit::ReplaceNode { node, .. } if node.scope == ScopeId::MAIN)
}
