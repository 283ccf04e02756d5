//! `Optional`, `OptionalGetElement` and `OptionalHasElement` (versions 15, 18 and 28) where it is
//! known what the optional contains.
//!
//! An optional that nodes only take apart again is not needed: its element is a value of the model.
//! Each of the nodes makes the decision by the same rule, so that either all of them are rewritten
//! or none.

use super::super::context::Context;
use super::super::make;
use super::super::reason::Reason;
use super::adapter::{Adapter, Run, adapter};
use crate::graph::{NodeId, ValueId};
use crate::ops::schemas::{self, ValueType};
use crate::protobuf::schema::AttributeProto;

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("Optional", 15).down(&[Run(remove_pair)]),
    adapter("Optional", 28).down(&[Run(remove_pair)]),
    adapter("OptionalGetElement", 15).down(&[Run(take_element)]),
    adapter("OptionalGetElement", 18).down(&[Run(element_of_what_is_not_optional)]),
    adapter("OptionalGetElement", 28).down(&[Run(take_element)]),
    adapter("OptionalHasElement", 15).down(&[Run(state_presence)]),
    adapter("OptionalHasElement", 18).down(&[Run(presence_of_what_is_not_optional)]),
    adapter("OptionalHasElement", 28).down(&[Run(state_presence)]),
];

/// Since version 18 the input may also be a tensor or a sequence, which is its own element.
fn element_of_what_is_not_optional(cx: &mut Context) -> Result<(), Reason> {
    if matches!(
        cx.input_type(0),
        Some(ValueType::Tensor(_) | ValueType::Sequence(_))
    ) {
        cx.rename_operator("Identity");
    }
    Ok(())
}

/// Since version 18 the input may be missing, or a tensor or a sequence, which are present.
fn presence_of_what_is_not_optional(cx: &mut Context) -> Result<(), Reason> {
    match (cx.input(0), cx.input_type(0)) {
        (None, _) => become_constant(cx, false),
        (_, Some(ValueType::Tensor(_) | ValueType::Sequence(_))) => become_constant(cx, true),
        _ => {}
    }
    Ok(())
}

fn become_constant(cx: &mut Context, is_present: bool) {
    cx.take_input(0);
    cx.node.to_mut().input.clear();
    cx.set_attribute(AttributeProto::tensor(
        "value",
        make::bool_scalar(is_present),
    ));
    cx.rename_operator("Constant");
}

fn remove_pair(cx: &mut Context) -> Result<(), Reason> {
    if content(cx, cx.node.output.first()).is_some() {
        cx.remove();
    }
    Ok(())
}

fn take_element(cx: &mut Context) -> Result<(), Reason> {
    let Some(Some(element)) = content(cx, cx.node.input.first()) else {
        return Ok(());
    };
    cx.set_input_to(0, element);
    cx.rename_operator("Identity");
    Ok(())
}

fn state_presence(cx: &mut Context) -> Result<(), Reason> {
    if let Some(content) = content(cx, cx.node.input.first()) {
        become_constant(cx, content.is_some());
    }
    Ok(())
}

/// Whether the older opset has no optionals, or none of the type of this element.
fn is_new(cx: &Context, element: Option<ValueId>) -> bool {
    let Some(older) = schemas::schema("", "Optional", cx.to).and_then(|older| older.input(0))
    else {
        return true;
    };
    element
        .and_then(|element| cx.source.known(element).value_type)
        .is_some_and(|element| !older.types.contains(element))
}

/// The content of an optional that a node of the model makes, if the older opset lacks it and all
/// uses of it ask for its content. The element must be visible where it is asked for, and have the
/// same name there.
fn content(cx: &Context, optional: Option<&String>) -> Option<Option<ValueId>> {
    let model = cx.source.model;
    let optional = cx.value(optional?)?;
    let producer = model.producer(optional)?;
    let element = model.input(producer, 0);
    let has_input = model
        .node(producer)
        .input
        .first()
        .is_some_and(|name| !name.is_empty());
    if !model.is_op(producer, "Optional")
        || has_input != element.is_some()
        || !model.is_used_by_nodes_only(optional)
    {
        return None;
    }
    let is_visible =
        |user: NodeId| element.is_some_and(|element| model.is_visible(element, user.scope));
    let takes_apart = |user: NodeId| {
        model.is_op(user, "OptionalHasElement")
            || model.is_op(user, "OptionalGetElement") && is_visible(user)
    };
    (model.uses(optional).all(|(user, _)| takes_apart(user)) && is_new(cx, element))
        .then_some(element)
}
