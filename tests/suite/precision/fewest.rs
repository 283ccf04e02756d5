//! The number of casts is the least possible, found by trying all types of the nodes that may have
//! either.

use numbers::Numbers;
use onnx_recast::precision::Policy;

use super::{all, casts, changed, parsed};
use crate::support::expect_no_failures;

/// What a random node does to types.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Computes: it becomes narrow.
    Narrow,
    /// Is kept by an option.
    Wide,
    /// Moves elements: either.
    Move,
    /// Casts integers that FLOAT16 does not have.
    Integers,
}

/// The operators of a kind, by its number of inputs.
fn operator(kind: Kind, inputs: usize) -> &'static str {
    match (kind, inputs) {
        (Kind::Narrow, 1) => "Tanh",
        (Kind::Narrow, _) => "Add",
        (Kind::Wide, 1) => "Softsign",
        (Kind::Wide, _) => "Sub",
        (Kind::Move, 1) => "Identity",
        (Kind::Move, _) => "Concat <axis = 0>",
        (Kind::Integers, _) => "Cast <to = 1>",
    }
}

/// A node with the values it uses: inputs of the graph first, then constants, then nodes.
struct Node {
    kind: Kind,
    inputs: Vec<usize>,
}

const INPUTS: usize = 2;
const CONSTANTS: usize = 1;

#[test]
fn random_graphs_have_the_fewest_casts() {
    expect_fewest(
        &[Kind::Narrow, Kind::Wide, Kind::Move, Kind::Move, Kind::Move],
        Policy::All,
    );
}

/// A value that must not be narrow is not, nor is one that is computed from it, until Tanh or
/// Softsign brings it back.
#[test]
fn random_graphs_with_unsafe_values_have_the_fewest_casts() {
    let kinds = [
        Kind::Narrow,
        Kind::Narrow,
        Kind::Wide,
        Kind::Move,
        Kind::Move,
        Kind::Move,
        Kind::Integers,
    ];
    expect_fewest(&kinds, Policy::Stable);
}

/// Changes random graphs of nodes of these kinds.
fn expect_fewest(kinds: &[Kind], policy: Policy) {
    let mut numbers = Numbers(0x2545_F491_4F6C_DD1D);
    let mut failures = Vec::new();
    let graphs = std::env::var("FEWEST_CASTS_GRAPHS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(300);
    for graph in 0..graphs {
        let nodes = random_nodes(&mut numbers, kinds);
        let outputs: Vec<usize> = (0..nodes.len())
            .filter(|&node| node + 1 == nodes.len() || numbers.below(6) == 0)
            .collect();
        let text = text(&nodes, &outputs);
        let name = format!("graph {graph}\n{text}");
        let kept = [operator(Kind::Wide, 1), operator(Kind::Wide, 2)].map(str::to_owned);
        let (before, options) = (parsed(&text), all().policy(policy).keep_ops(kept.into()));
        let (after, _) = changed(&name, &before, &options, &mut failures);
        let added = casts(&after) - casts(&before);
        let fewest = fewest(&nodes, &outputs);
        if added != fewest {
            failures.push(format!("{name}\n{added} casts, the fewest are {fewest}"));
        }
    }
    expect_no_failures(failures.into_iter().take(3).collect());
}

fn random_nodes(numbers: &mut Numbers, kinds: &[Kind]) -> Vec<Node> {
    let count = 1 + numbers.below(12);
    let given = INPUTS + CONSTANTS;
    (0..count)
        .map(|node| {
            let kind = kinds[numbers.below(kinds.len())];
            // Recent values are used more often, so that moves follow each other.
            let mut value = || {
                let known = given + node;
                if numbers.below(3) == 0 {
                    numbers.below(known)
                } else {
                    known - 1 - numbers.below(known.min(3))
                }
            };
            let inputs = match kind {
                Kind::Integers => Vec::new(),
                _ if node % 3 == 0 => vec![value(), value()],
                _ => vec![value()],
            };
            Node { kind, inputs }
        })
        .collect()
}

fn name(value: usize) -> String {
    match value {
        0..INPUTS => format!("x{value}"),
        INPUTS => "w".to_owned(),
        _ => format!("v{}", value - INPUTS - CONSTANTS),
    }
}

fn text(nodes: &[Node], outputs: &[usize]) -> String {
    let results: Vec<String> = outputs
        .iter()
        .map(|node| format!("float[n] v{node}"))
        .collect();
    let bodies: Vec<String> = nodes
        .iter()
        .enumerate()
        .map(|(index, node)| {
            let inputs: Vec<String> = node.inputs.iter().map(|&value| name(value)).collect();
            let inputs = if node.kind == Kind::Integers {
                "i".to_owned()
            } else {
                inputs.join(", ")
            };
            format!(
                "v{index} = {} ({inputs})",
                operator(node.kind, node.inputs.len())
            )
        })
        .collect();
    format!(
        "g (float[n] x0, float[n] x1, int32[n] i) => ({}) <float[2] w = {{1, 2}}> {{ {} }}",
        results.join(", "),
        bodies.join(" ")
    )
}

/// Tries all types of the moves.
fn fewest(nodes: &[Node], outputs: &[usize]) -> usize {
    let unsafe_values = unsafe_values(nodes);
    let uses_unsafe = |node: usize| {
        nodes[node]
            .inputs
            .iter()
            .any(|value| unsafe_values.contains(value))
    };
    let is_free = |&node: &usize| nodes[node].kind == Kind::Move && !uses_unsafe(node);
    let moves: Vec<usize> = (0..nodes.len()).filter(is_free).collect();
    let is_narrow = |choice: usize, node: usize| match nodes[node].kind {
        _ if uses_unsafe(node) => false,
        Kind::Narrow => true,
        Kind::Wide | Kind::Integers => false,
        Kind::Move => choice >> moves.iter().position(|&other| other == node).unwrap() & 1 == 1,
    };
    let cost = |choice: usize| {
        let mut cost = 0;
        for value in 0..INPUTS + CONSTANTS + nodes.len() {
            let users = (0..nodes.len()).filter(|&node| nodes[node].inputs.contains(&value));
            let mut used: Vec<bool> = users.map(|node| is_narrow(choice, node)).collect();
            let node = value.checked_sub(INPUTS + CONSTANTS);
            if node.is_some_and(|node| outputs.contains(&node)) {
                used.push(false);
            }
            let (narrow, wide) = (used.contains(&true), used.contains(&false));
            cost += match (value, node) {
                (0..INPUTS, _) => usize::from(narrow),
                (_, None) => usize::from(narrow && wide),
                (_, Some(node)) => usize::from(if is_narrow(choice, node) {
                    wide
                } else {
                    narrow
                }),
            };
        }
        cost
    };
    (0..1 << moves.len()).map(cost).min().unwrap()
}

/// The values that must not be narrow: integers, and what nodes compute from them whose results
/// have no range of their own.
fn unsafe_values(nodes: &[Node]) -> Vec<usize> {
    let mut found = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let has_range = ["Tanh", "Softsign"].contains(&operator(node.kind, node.inputs.len()));
        let carries = node.inputs.iter().any(|value| found.contains(value)) && !has_range;
        if node.kind == Kind::Integers || carries {
            found.push(INPUTS + CONSTANTS + index);
        }
    }
    found
}

mod numbers {
    /// Numbers of a xorshift generator.
    pub struct Numbers(pub u64);

    impl Numbers {
        pub fn below(&mut self, limit: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as usize % limit
        }
    }
}
