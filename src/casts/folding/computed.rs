//! Results that nodes other than casts compute from constants.

use prost::Message;

use super::decisions::{ChainResult, Extent, Fold, FoldDecisions, Skip};
use super::known::{Derivation, Key, KnownValue};
use super::reason;
use super::stored_bytes::ChainId;
use crate::base::error::{Classified, Invalid};
use crate::base::reason::Reason;
use crate::files::BadLocation;
use crate::graph::{NodeId, ValueId};
use crate::ops::compute::{self, Call, Needs, NotComputed, Operator, TypeAndShape};
use crate::ops::schemas::Schema;
use crate::tensor::{BadTensor, Content};
use onnx_cast::Summary;

/// The number of bytes by which a model may grow to save one node other than a cast.
const WORTH_A_NODE: u64 = 1024;

/// The number of bytes by which a result may exceed the tensors it is computed from, unless the
/// options say otherwise.
const LARGEST_RESULT: u64 = 1 << 20;

impl FoldDecisions<'_> {
    /// The constant of a value that a node uses, if it is known.
    pub(super) fn known(&self, node: NodeId, value: ValueId) -> Result<KnownValue, Skip> {
        if let Some(&fold) = self.by_output.get(&value) {
            let Fold {
                content,
                constant,
                shared: (chain, _),
                ..
            } = &self.folds[fold];
            return Ok(KnownValue {
                content: content.clone(),
                derivation: Derivation::Chain(*chain),
                constant: *constant,
            });
        }
        if let Some(known) = self.computed.values.get(&value) {
            return Ok(known.clone());
        }
        if let Some((node, why)) = self.computed.failed.get(&value) {
            return Err(reason::input_not_computed(&self.model.node_path(*node), why).into());
        }
        let constant = self.model.constant(value).map_err(Reason::from)?;
        let malformed = |error: BadTensor| {
            // Only the user can provide the folder, and only for all casts at once.
            if let BadTensor::Location(BadLocation::NoFolder(_)) = error {
                return reason::data_unavailable(&error).into();
            }
            let name = self.model.name(value);
            let place = self.model.node_place(node).about_value(name);
            let invalid = Invalid::at(place, format!("input '{name}': {error}"));
            Skip::Invalid(Box::new(
                Invalid {
                    kind: error.kind(),
                    ..invalid
                }
                .with_source(error),
            ))
        };
        let content = self.model.content(&constant.tensor).map_err(malformed)?;
        Ok(KnownValue {
            content: content.with_cancel(&self.model.control().cancel),
            derivation: Derivation::Constant(value),
            constant: value,
        })
    }

    /// Computes the results of a node other than a cast from its known inputs, and folds the node
    /// if the extent includes it. Nodes that are not bit-exact are skipped.
    pub(super) fn visit_non_cast(&mut self, node: NodeId, extent: Extent) {
        let Some((operator, schema)) = compute::operator(self.model, node) else {
            return;
        };
        // Without an output there is nothing to fold; whether the node is removed is decided by
        // `dead-nodes`.
        if self.model.outputs(node).next().is_none() {
            return;
        }
        let links = self.model.inputs(node).chain(self.model.outputs(node));
        if links
            .map(|(_, value)| value)
            .any(|value| self.is_ambiguous(value))
        {
            return;
        }
        let Some((inputs, first)) = self.inputs(node, operator) else {
            return;
        };
        match self.compute(node, (operator, schema), inputs, first) {
            Ok(results) => {
                self.computed.values.extend(results);
                self.computed.nodes.insert(node);
                self.count_outputs(node);
                if extent == Extent::All
                    && let Err(Skip::NotFolded(reason)) = self.fold_other(node)
                {
                    self.kept.push((node, reason));
                }
            }
            Err(why) => {
                let failed = self
                    .model
                    .outputs(node)
                    .map(|(_, value)| (value, (node, why.clone())));
                self.computed.failed.extend(failed);
                if extent == Extent::All {
                    self.kept.push((node, why.into()));
                }
            }
        }
    }

    /// The inputs of a node by index, and the type and shape of the first if no more is needed;
    /// `None` if they are not known.
    fn inputs(
        &self,
        node: NodeId,
        operator: &Operator,
    ) -> Option<(Vec<Option<KnownValue>>, Option<TypeAndShape>)> {
        let mut inputs: Vec<Option<KnownValue>> = vec![None; self.model.node(node).input.len()];
        for (index, value) in self.model.inputs(node) {
            match self.known(node, value) {
                Ok(known) => *inputs.get_mut(index as usize)? = Some(known),
                Err(_) if operator.needs == Needs::Shape && index == 0 => {
                    let inferred = self.inferred().of(value);
                    let dims = inferred.static_shape()?;
                    return Some((Vec::new(), Some((inferred.dtype(), dims))));
                }
                Err(_) => return None,
            }
        }
        Some((inputs, None))
    }

    /// The results of a node, by output.
    fn compute(
        &mut self,
        node: NodeId,
        (operator, schema): (&Operator, &'static Schema),
        inputs: Vec<Option<KnownValue>>,
        first: Option<TypeAndShape>,
    ) -> Result<Vec<(ValueId, KnownValue)>, NotComputed> {
        let model = self.model;
        let outputs: Vec<(u32, ValueId)> = model.outputs(node).collect();
        let Some(&(_, any_output)) = outputs.first() else {
            return Ok(Vec::new());
        };
        if let ("Identity", [Some(known)]) = (schema.name, inputs.as_slice()) {
            return Ok(outputs
                .into_iter()
                .map(|(_, value)| (value, known.clone()))
                .collect());
        }
        let constant = inputs
            .iter()
            .flatten()
            .next()
            .map_or(any_output, |known| known.constant);
        let proto = model.node(node);
        let has_references = proto
            .attribute
            .iter()
            .any(|attribute| !attribute.tail().ref_attr_name().is_empty());
        let mut attributes: Vec<Vec<u8>> = proto
            .attribute
            .iter()
            .map(|attribute| attribute.encode_to_vec())
            .collect();
        attributes.sort_unstable();
        let key = Key {
            operator: (schema.name, schema.since_version),
            attributes,
            inputs: inputs
                .iter()
                .map(|known| known.as_ref().map(|known| known.derivation))
                .collect(),
            first: first.clone(),
        };
        let known = |decisions: &FoldDecisions, chains: &[ChainId]| {
            let result = |&(index, value): &(u32, ValueId)| {
                let chain = *chains.get(index as usize)?;
                let (content, _) = decisions.results[chain].outcome.as_ref().ok()?;
                Some((
                    value,
                    KnownValue {
                        content: content.clone(),
                        derivation: Derivation::Chain(chain),
                        constant,
                    },
                ))
            };
            outputs.iter().filter_map(result).collect::<Vec<_>>()
        };
        if let Some(chains) = self
            .computed
            .chains
            .get(&key)
            .filter(|chains| !has_references && chains.len() >= proto.output.len())
        {
            return Ok(known(self, chains));
        }
        let inputs: Vec<Option<Content>> = inputs
            .into_iter()
            .map(|known| known.map(|known| known.content))
            .collect();
        let before: u64 = inputs.iter().flatten().map(Content::bytes).sum();
        let limit = self.options.max_growth.unwrap_or(LARGEST_RESULT);
        let results = operator.compute(&Call {
            model,
            node,
            schema,
            inputs,
            first,
            limit,
            contested: self.options.contested,
        })?;
        let bytes: u64 = results.iter().map(Content::bytes).sum();
        if !self.budget.try_spend(constant, bytes)
            || !self.budget.try_spend_extra(bytes.saturating_sub(before))
        {
            let why = format!(
                "too many results are computed from '{}'",
                model.name(constant)
            );
            return Err(NotComputed::LeftToRuntimes(why));
        }
        let chains: Vec<ChainId> = (self.results.len()..).take(results.len()).collect();
        self.results
            .extend(results.into_iter().map(|content| ChainResult {
                outcome: Ok((content, Summary::default())),
                is_stored: false,
            }));
        let known = known(self, &chains);
        if !has_references {
            self.computed.chains.insert(key, chains);
        }
        Ok(known)
    }

    /// Folds a node whose outputs are computed, if that does not make the model larger.
    fn fold_other(&mut self, node: NodeId) -> Result<(), Skip> {
        let mut folds = Vec::new();
        for (_, output) in self.model.outputs(node) {
            let Some(KnownValue {
                content,
                derivation,
                constant,
            }) = self.computed.values.get(&output).cloned()
            else {
                return Ok(());
            };
            // The value of an Identity is the constant itself, which is used in its place.
            let Derivation::Chain(chain) = derivation else {
                return Ok(());
            };
            self.check_holder(node.scope, content.dtype())?;
            let shared = (chain, self.shared_in(constant, node));
            folds.push(Fold {
                node,
                from: None,
                content,
                output: Some(output),
                constant,
                shared,
            });
        }
        let model = self.model;
        let change = self.change(model.inputs(node).map(|(_, value)| value), &folds);
        let growth = change.after.growth - self.stored_bytes.growth;
        if growth > WORTH_A_NODE as i64 {
            return Err(reason::not_worth_node(growth, WORTH_A_NODE).into());
        }
        self.check_growth(change.after.growth)?;
        self.commit(change);
        folds.into_iter().for_each(|fold| self.add(fold));
        Ok(())
    }

    /// The node that computes a value, if it is not a cast and does not fold.
    pub(super) fn computing_node(&self, value: ValueId) -> Option<NodeId> {
        let is_computed = |node: &NodeId| {
            self.computed.nodes.contains(node) && !self.by_output.contains_key(&value)
        };
        self.model.producer(value).filter(is_computed)
    }
}
