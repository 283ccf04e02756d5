//! Models made to be slow: in each of them something repeats.

use crate::wire_tree::{Node, Tree};

/// Graphs inside graphs, as many as protobuf lets a model have.
const DEEPEST: usize = 32;

const FLOAT: u64 = 1;
const UINT8: u64 = 2;
const INT32: u64 = 6;
const FLOAT16: u64 = 10;
const DOUBLE: u64 = 11;
const BOOL: u64 = 9;

type Fields = Vec<(u32, Node)>;

fn text(text: impl Into<String>) -> Node {
    Node::Bytes(text.into().into_bytes())
}

fn message(fields: Fields) -> Node {
    Node::Message(Tree(fields))
}

/// A node as `GraphProto.node`.
fn node(op: &str, inputs: &[&str], outputs: &[&str], attributes: Fields) -> (u32, Node) {
    let inputs = inputs.iter().map(|&name| (1, text(name)));
    let outputs = outputs.iter().map(|&name| (2, text(name)));
    (
        1,
        message(
            inputs
                .chain(outputs)
                .chain([(4, text(op))])
                .chain(attributes)
                .collect(),
        ),
    )
}

fn int(name: &str, value: u64) -> (u32, Node) {
    (
        5,
        message(vec![
            (1, text(name)),
            (3, Node::Varint(value)),
            (20, Node::Varint(2)),
        ]),
    )
}

fn cast(input: &str, output: &str, to: u64) -> (u32, Node) {
    node("Cast", &[input], &[output], vec![int("to", to)])
}

/// An initializer with one dimension.
fn initializer(name: &str, dtype: u64, raw: Vec<u8>) -> (u32, Node) {
    let elements = raw.len() / if dtype == UINT8 { 1 } else { 4 };
    let fields = vec![
        (1, Node::Varint(elements as u64)),
        (2, Node::Varint(dtype)),
        (8, text(name)),
        (9, Node::Bytes(raw)),
    ];
    (5, message(fields))
}

fn floats(elements: usize) -> Vec<u8> {
    (0..elements)
        .flat_map(|index| (index as f32 * 1e9).to_le_bytes())
        .collect()
}

/// An input (11) or output (12) of a graph.
fn declared(field: u32, name: &str, dtype: u64) -> (u32, Node) {
    let tensor = message(vec![(1, Node::Varint(dtype)), (2, message(vec![]))]);
    (
        field,
        message(vec![(1, text(name)), (2, message(vec![(1, tensor)]))]),
    )
}

/// A graph in an `If`, which has `name`.
fn inside(name: &str, graph: Fields) -> Fields {
    let result = (12, message(vec![(1, text("condition"))]));
    let branch = |name: &str, graph: Fields| {
        (
            5,
            message(vec![
                (1, text(name)),
                (6, message(graph)),
                (20, Node::Varint(5)),
            ]),
        )
    };
    let then_branch = branch("then_branch", [graph, vec![result.clone()]].concat());
    vec![node(
        "If",
        &["condition"],
        &[""],
        vec![
            (3, text(name)),
            then_branch,
            branch("else_branch", vec![result]),
        ],
    )]
}

/// A graph as deep inside others as protobuf lets it be.
fn deep_inside(graph: Fields) -> Fields {
    (1..DEEPEST).fold(graph, |graph, _| inside("", graph))
}

fn opset(field: u32, domain: &str, version: u64) -> (u32, Node) {
    (
        field,
        message(vec![(1, text(domain)), (2, Node::Varint(version))]),
    )
}

fn model(graph: Fields, rest: Fields) -> Vec<u8> {
    let header = vec![
        (1, Node::Varint(10)),
        (7, message(graph)),
        opset(8, "", 21),
        opset(8, "my", 1),
    ];
    Tree(header.into_iter().chain(rest).collect()).write()
}

/// A function of the domain `my`; its nodes are those of a graph.
fn function(name: &str, nodes: Fields) -> (u32, Node) {
    let nodes = nodes.into_iter().map(|(_, node)| (7, node));
    let header = vec![
        (1, text(name)),
        (4, text("x")),
        (5, text("y")),
        (6, text("to")),
        (10, text("my")),
    ];
    (
        25,
        message(
            header
                .into_iter()
                .chain(nodes)
                .chain([opset(9, "", 21), opset(9, "my", 1)])
                .collect(),
        ),
    )
}

fn call(function: &str, output: &str, attributes: Fields) -> (u32, Node) {
    node(
        function,
        &["x"],
        &[output],
        attributes.into_iter().chain([(7, text("my"))]).collect(),
    )
}

/// An input of a graph with as many dimensions.
fn of_many_dimensions(name: &str, dimensions: usize) -> (u32, Node) {
    let dims = (0..dimensions).map(|_| (1, message(vec![(1, Node::Varint(1))])));
    let tensor = message(vec![(1, Node::Varint(FLOAT)), (2, message(dims.collect()))]);
    (
        11,
        message(vec![(1, text(name)), (2, message(vec![(1, tensor)]))]),
    )
}

/// One thing for each number.
fn each<T>(many: usize, make: impl Fn(usize) -> T) -> Vec<T> {
    (0..many).map(make).collect()
}

/// What repeats, the model, and whether `convert` gets it too.
pub fn models(many: usize) -> Vec<(&'static str, Vec<u8>, bool)> {
    let step = |index: usize| format!("v{index}");
    let chain = || {
        each(many, |index| {
            node("Neg", &[&step(index)], &[&step(index + 1)], vec![])
        })
    };
    let constant = || initializer("v0", FLOAT, floats(1));
    let interface = |output: &str, dtype| [declared(11, "v0", FLOAT), declared(12, output, dtype)];
    let inputs = || vec![declared(11, "v0", FLOAT), declared(11, "condition", BOOL)];
    let last = step(many);
    let round_mode = || {
        (
            5,
            message(vec![
                (1, text("round_mode")),
                (4, text("up")),
                (20, Node::Varint(3)),
            ]),
        )
    };
    let casts_in_a_row = |other: u64| {
        each(many, |index| {
            cast(
                &step(index),
                &step(index + 1),
                if index % 2 == 0 { other } else { FLOAT },
            )
        })
    };
    vec![
        (
            "a chain of nodes",
            model([chain(), interface(&last, FLOAT).to_vec()].concat(), vec![]),
            true,
        ),
        (
            "a chain of nodes, the last one first",
            model(
                chain()
                    .into_iter()
                    .rev()
                    .chain(interface(&last, FLOAT))
                    .collect(),
                vec![],
            ),
            true,
        ),
        (
            "a chain of casts",
            model(
                [casts_in_a_row(FLOAT16), interface(&last, FLOAT).to_vec()].concat(),
                vec![],
            ),
            true,
        ),
        (
            "a chain of casts of a constant",
            model(
                [
                    casts_in_a_row(FLOAT16),
                    vec![constant(), declared(12, &last, FLOAT)],
                ]
                .concat(),
                vec![],
            ),
            false,
        ),
        (
            "a chain of casts of a large constant, each of which has to be looked at",
            model(
                [
                    casts_in_a_row(INT32),
                    vec![
                        initializer("v0", FLOAT, vec![0; 4 << 18]),
                        declared(12, &last, FLOAT),
                    ],
                ]
                .concat(),
                vec![],
            ),
            false,
        ),
        (
            "casts of one large constant that are not defined",
            model(
                [
                    each(many, |index| cast("w", &step(index), INT32)),
                    vec![initializer("w", FLOAT, floats(1 << 18))],
                ]
                .concat(),
                vec![],
            ),
            false,
        ),
        (
            "graphs in graphs",
            model(
                [
                    deep_inside(inside("", vec![node("Neg", &["v0"], &["y"], vec![])])),
                    inputs(),
                ]
                .concat(),
                vec![],
            ),
            true,
        ),
        (
            "uses of an outer name, deep inside",
            model(
                [
                    deep_inside(each(many, |index| {
                        node("Neg", &["v0"], &[&format!("h{index}")], vec![])
                    })),
                    inputs(),
                ]
                .concat(),
                vec![],
            ),
            true,
        ),
        (
            "uses of a name that is not defined, deep inside",
            model(
                deep_inside(each(many, |_| node("Neg", &["undefined"], &[], vec![]))),
                vec![],
            ),
            false,
        ),
        (
            "casts of an outer constant, deep inside",
            model(
                [
                    deep_inside(each(many, |index| {
                        cast("v0", &format!("h{index}"), FLOAT16)
                    })),
                    vec![constant()],
                ]
                .concat(),
                vec![],
            ),
            false,
        ),
        (
            "casts inside a node with a name of a megabyte",
            model(
                [
                    inside(
                        &"n".repeat(1 << 20),
                        each(many, |index| cast("v0", &step(index), FLOAT16)),
                    ),
                    vec![constant()],
                ]
                .concat(),
                vec![],
            ),
            false,
        ),
        (
            "equal casts, all for one node",
            model(
                each(many, |index| cast("v0", &format!("h{index}"), FLOAT16))
                    .into_iter()
                    .chain([
                        node(
                            "Concat",
                            &each(many, |index| format!("h{index}"))
                                .iter()
                                .map(String::as_str)
                                .collect::<Vec<_>>(),
                            &["y"],
                            vec![int("axis", 0)],
                        ),
                        declared(11, "v0", FLOAT),
                        declared(12, "y", FLOAT16),
                    ])
                    .collect(),
                vec![],
            ),
            false,
        ),
        (
            "attributes of one node that its operator does not have",
            model(
                vec![node(
                    "Cast",
                    &["x"],
                    &["y"],
                    [
                        vec![int("to", FLOAT16)],
                        each(many, |index| int(&step(index), 1)),
                    ]
                    .concat(),
                )],
                vec![],
            ),
            false,
        ),
        (
            "one attribute of a newer opset, as often in one node",
            model(
                vec![node(
                    "Cast",
                    &["x"],
                    &["y"],
                    [vec![int("to", FLOAT16)], each(many, |_| round_mode())].concat(),
                )],
                vec![],
            ),
            false,
        ),
        (
            "inputs of one node that may be float8",
            model(
                [
                    vec![node(
                        "Concat",
                        &each(many, step)
                            .iter()
                            .map(String::as_str)
                            .collect::<Vec<_>>(),
                        &["y"],
                        vec![int("axis", 0)],
                    )],
                    each(many, |index| initializer(&step(index), UINT8, vec![0])),
                ]
                .concat(),
                vec![],
            ),
            false,
        ),
        (
            "reasons for which casts stay",
            model(
                each(many, |index| {
                    node("CastLike", &["v0", &step(index)], &[], vec![])
                })
                .into_iter()
                .chain([constant()])
                .collect(),
                vec![],
            ),
            false,
        ),
        (
            "calls of a function with as many casts to what they say",
            model(
                each(many, |index| {
                    call("F", &step(index), vec![int("to", FLOAT16)])
                }),
                vec![function(
                    "F",
                    each(many, |index| {
                        let reference = (
                            5,
                            message(vec![
                                (1, text("to")),
                                (20, Node::Varint(2)),
                                (21, text("to")),
                            ]),
                        );
                        [
                            node("Constant", &[], &[&step(index)], vec![int("value_int", 1)]),
                            node("Cast", &[&step(index)], &[], vec![reference]),
                        ]
                    })
                    .concat(),
                )],
            ),
            false,
        ),
        (
            "a chain of nodes behind a tensor of more dimensions than that, and a cast, whose input has a type that is asked for",
            model(
                [
                    chain(),
                    vec![
                        of_many_dimensions("v0", 10 * many),
                        cast(&last, "y", FLOAT16),
                    ],
                ]
                .concat(),
                vec![],
            ),
            true,
        ),
        (
            "functions that call one another",
            model(
                vec![call("F0", "y", vec![])],
                each(many, |index| {
                    let next = |output: &str| call(&format!("F{}", index + 1), output, vec![]);
                    function(&format!("F{index}"), vec![next("t"), next("y")])
                }),
            ),
            false,
        ),
        (
            "opsets that are imported, and casts",
            model(
                each(many, |_| cast("v0", "", FLOAT16))
                    .into_iter()
                    .chain([constant()])
                    .collect(),
                each(many, |index| opset(8, &step(index), 1)),
            ),
            false,
        ),
        (
            "branches that cast one large constant, and use or give the result",
            model(
                [
                    (0..many / 50)
                        .flat_map(|_| {
                            let output = (12, message(vec![(1, text("r"))]));
                            let used = vec![
                                cast("w", "h", DOUBLE),
                                node("Neg", &["h"], &["r"], vec![]),
                                output.clone(),
                            ];
                            [
                                inside("", used),
                                inside("", vec![cast("w", "r", DOUBLE), output]),
                            ]
                            .concat()
                        })
                        .collect(),
                    vec![initializer("w", FLOAT, floats(1 << 18))],
                ]
                .concat(),
                vec![],
            ),
            false,
        ),
        (
            "uses of equal casts, the first of which has a name of a megabyte",
            model(
                each(many, |index| match index {
                    0 => [
                        cast("v0", &"n".repeat(1 << 20), FLOAT16),
                        node("Neg", &[&"n".repeat(1 << 20)], &[], vec![]),
                    ],
                    _ => [
                        cast("v0", &step(index), FLOAT16),
                        node("Neg", &[&step(index)], &[], vec![]),
                    ],
                })
                .into_iter()
                .flatten()
                .chain([constant()])
                .collect(),
                vec![],
            ),
            false,
        ),
        (
            "a branch for each",
            model(
                [
                    each(many, |_| inside("", vec![cast("v0", "y", BOOL)])).concat(),
                    vec![constant()],
                ]
                .concat(),
                vec![],
            ),
            false,
        ),
    ]
}
