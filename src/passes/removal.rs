//! The reasons why passes remove nodes and constants.

use crate::base::reason::reasons;

reasons! {
    unused() = "unused": "nothing uses it"
        => "nothing uses it";
    used_by_folded_nodes() = "used-by-folded-nodes": "only nodes that were replaced by constants used it"
        => "only folded nodes used it";
    returns_input(input: &str) = "returns-input": "the node returns its input, which is used in its place"
        => format!("it returns its input '{input}'");
    changes_nothing(same: &str) = "changes-nothing": "the cast changes nothing; its input, or the input of the casts before it, is used in its place"
        => format!("the cast changes nothing: '{same}' is used in its place");
    merged(same: &str) = "merged": "it is equal to another value, which is used in its place"
        => format!("merged into '{same}'");
    round_trip(exact: &str) = "round-trip": "the cast only undid the rounding of another cast; the value before both is used in its place"
        => format!("it casts back what was rounded: '{exact}' is used in its place");
    moved(node: &str) = "moved": "the cast was moved before or behind another node, where one cast is enough"
        => format!("the cast was moved past {node}");
    named_by_producer(node: &str) = "named-by-producer": "the node that computes the value gives it the name of the output"
        => format!("{node} computes the output directly");
}
