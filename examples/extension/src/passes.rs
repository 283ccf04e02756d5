//! Passes.

use std::fmt;

use onnx_recast::graph::Edit;
use onnx_recast::passes::{Event, Pass, Plan};
use onnx_recast::{Classified, ErrorKind, FoldOptions, Invalid, Model, Reason};

/// Removes `Identity` nodes; their consumers use the input instead.
#[derive(Debug)]
pub struct RemoveIdentities;

impl Pass for RemoveIdentities {
    fn name(&self) -> &'static str {
        "remove-identities"
    }

    fn docs(&self) -> &'static str {
        "Removes Identity nodes whose outputs are not outputs of a graph.\n"
    }

    fn plan(&self, model: &Model, _: &FoldOptions) -> Result<Plan, Invalid> {
        let mut plan = Plan::default();
        for &node in model
            .topological_order()
            .iter()
            .filter(|&&node| model.node(node).op_type() == "Identity")
        {
            let (Some(input), Some((_, output))) =
                (model.input(node, 0), model.outputs(node).next())
            else {
                continue;
            };
            if model.scopes_that_output(output).is_empty() && model.non_node_use(output).is_none() {
                plan.edits.push(Edit::Rewire {
                    from: output,
                    to: input,
                });
                let text = format!("it returns its input '{}'", model.name(input));
                plan.remove_node(model, node, Reason::new("returns-input", text));
            }
        }
        Ok(plan)
    }

    fn ensures(&self, model: &Model, events: &[Event]) -> Result<(), String> {
        let removed = |path: &String| {
            !model
                .topological_order()
                .iter()
                .any(|&node| model.node_path(node) == *path)
        };
        let paths = events.iter().filter_map(|event| {
            if let Event::RemovedNode { node, .. } = event {
                Some(node)
            } else {
                None
            }
        });
        match paths.into_iter().find(|path| !removed(path)) {
            Some(path) => Err(format!("{path} was removed but is still there")),
            None => Ok(()),
        }
    }
}

/// Fails if a node calls an operator of a domain that the runtime does not have. It changes
/// nothing.
#[derive(Debug)]
pub struct RequireKnownDomains;

impl Pass for RequireKnownDomains {
    fn name(&self) -> &'static str {
        "require-known-domains"
    }

    fn docs(&self) -> &'static str {
        "Fails if a node calls an operator of an unknown domain.\n"
    }

    fn plan(&self, model: &Model, _: &FoldOptions) -> Result<Plan, Invalid> {
        let mut nodes = model.topological_order().iter();
        match nodes
            .find(|&&node| !["", "ai.onnx", "my.runtime"].contains(&model.node(node).domain()))
        {
            Some(&node) => {
                let cause = UnknownDomain(model.node(node).domain().to_owned());
                Err(Invalid::caused_by(model.node_path(node), cause))
            }
            None => Ok(Plan::default()),
        }
    }
}

/// The runtime does not have this domain. [`onnx_recast::Error::cause`] returns it to the caller of
/// the pass.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownDomain(pub String);

impl fmt::Display for UnknownDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the runtime has no domain {:?}", self.0)
    }
}

impl std::error::Error for UnknownDomain {}

impl Classified for UnknownDomain {
    fn kind(&self) -> ErrorKind {
        ErrorKind::InvalidModel
    }
}
