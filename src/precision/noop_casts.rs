//! Casts of a type to itself: their users use what is cast, so that no cast between narrow types is
//! left where the type changes.

use super::constraints::Builder;
use super::rules::refers_to_function;
use crate::graph::{NodeId, TypeSource, ValueId};
use crate::ops::schemas::ValueType;

impl Builder<'_, '_, '_> {
    /// Finds the casts of a type to itself that can be removed. Their results have no type that
    /// changes.
    pub fn find_noop_casts(&mut self) {
        let model = self.model;
        if self.options.weights_only || !self.types.operators.has(&["Cast"]) {
            return;
        }
        for &node in model.topological_order() {
            if let Some((input, output)) = self.noop_cast(node) {
                let source = self.types.source(input);
                if model.can_replace(source, output) {
                    self.types.noop_casts.insert(node, output);
                    self.types.sources.insert(output, source);
                    self.types.kinds[output.index()] = None;
                }
            }
        }
    }

    /// The input and result of a cast of a type that may change to itself.
    fn noop_cast(&self, node: NodeId) -> Option<(ValueId, ValueId)> {
        let model = self.model;
        if self.types.operators.of(node).name != "Cast"
            || refers_to_function(model, node)
            || self.kept(node).is_some()
        {
            return None;
        }
        let cast = model.cast_node(node).ok()?;
        let (TypeSource::Attribute(to), output) = (cast.to, cast.output?) else {
            return None;
        };
        let may_change = |value: ValueId| {
            let is_kept = self.selection.keeps_value(model.name(value));
            !is_kept
                && self.types.kinds[value.index()].is_some()
                && self.types.value_type(value) == Some(ValueType::Tensor(to))
        };
        let is_noop = may_change(self.types.source(cast.input)) && may_change(output);
        (is_noop && model.uses(output).next().is_some() && model.is_removable(output))
            .then_some((cast.input, output))
    }
}
