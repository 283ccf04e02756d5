//! Where reports place the nodes of a legalized model: at nodes of the model before.

use crate::base::hash::HashMap;
use crate::graph::{Model, NodeId};

/// The places of nodes whose paths differ, by the path in the legalized model.
#[derive(Debug, Default)]
pub struct Places(HashMap<String, Place>);

/// A node of the model before.
#[derive(Debug, PartialEq)]
pub struct Place {
    pub path: String,
    pub op: String,
}

impl Places {
    /// Nodes that replace a node are at its place: it is the last of them that has its output.
    pub fn new(original: &Model, legalized: &Model) -> Places {
        let mut places = HashMap::default();
        for (scope, new_scope) in original.scopes().zip(legalized.scopes()) {
            let nodes = original.nodes(scope);
            let makers: HashMap<&str, NodeId> = nodes
                .filter_map(|node| Some((first_output(original, node)?, node)))
                .collect();
            let mut replacing = Vec::new();
            for node in legalized.nodes(new_scope) {
                let Some(output) = first_output(legalized, node) else {
                    continue;
                };
                replacing.push(legalized.node_path(node));
                let Some(&replaced) = makers.get(output) else {
                    continue;
                };
                let path = original.node_path(replaced);
                let differing = replacing.drain(..).filter(|new| *new != path);
                places.extend(differing.map(|new| {
                    let (path, op) = (path.clone(), original.node(replaced).op_type().to_owned());
                    (new, Place { path, op })
                }));
            }
        }
        Places(places)
    }

    /// The place of a node; none if it is the node's own.
    pub fn of(&self, path: &str) -> Option<&Place> {
        self.0.get(path)
    }
}

fn first_output(model: &Model, node: NodeId) -> Option<&str> {
    let outputs = model.node(node).output.iter().map(String::as_str);
    outputs.into_iter().find(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_a_replacement_are_at_the_replaced_node() {
        let model = |nodes: &str| {
            Model::from_text(&format!(
                r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] z) {{ {nodes} }}"#
            ))
            .unwrap()
        };
        let before = model("a = Neg (x) [mine] y = Abs (a) z = Neg (y)");
        let after = model(
            "a = Neg (x) [new] n = Cast <to = 10> (a) [mine] y = Cast <to = 1> (n) z = Neg (y)",
        );
        let places = Places::new(&before, &after);
        let found = ["graph/#0:Neg", "graph/new", "graph/mine", "graph/#3:Neg"].map(|path| {
            places
                .of(path)
                .map(|place| format!("{} {}", place.path, place.op))
        });
        let place = |text: &str| Some(text.to_owned());
        assert_eq!(
            found,
            [
                None,
                place("graph/mine Abs"),
                None,
                place("graph/#2:Neg Neg")
            ]
        );
    }
}
