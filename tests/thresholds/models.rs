//! Random models: constants of every type in every storage, with casts and moves of them in the
//! main graph, a branch and a function.

use std::collections::HashMap;

use onnx_cast::{Cast, Class, DType, RoundMode, Rules, convert_element, packed};
use onnx_recast::internals::tensor::{RAW_DATA, Reference, moved_to_file};
use onnx_recast::proto::{Field, GraphProto, ModelProto, NodeProto, TensorProto, Value, raw};
use proptest::prelude::*;
use prost::Message;
use prost::encoding::encode_varint;

use crate::support;

/// Where the elements of a constant are stored.
#[derive(Clone, Debug)]
pub enum Storage {
    Raw,
    Typed,
    /// In the data file, so many bytes after the tensor before.
    File(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scope {
    Initializer,
    Constant,
    Branch,
    Function,
}

#[derive(Clone, Copy, Debug)]
pub enum Step {
    Cast(DType),
    Transpose,
}

/// A constant, and what is computed from it in sequence.
#[derive(Clone, Debug)]
pub struct Chain {
    dtype: DType,
    dims: [usize; 2],
    storage: Storage,
    scope: Scope,
    steps: Vec<Step>,
    /// Whether the elements are any codes, whose casts ONNX may leave undefined, instead of a few
    /// numbers.
    is_wild: bool,
    seed: u64,
}

#[derive(Clone, Debug)]
pub struct Sketch {
    pub opset: u32,
    pub chains: Vec<Chain>,
    /// Nodes without constants.
    pub others: usize,
    /// Whether the files are read in ranges.
    pub in_ranges: bool,
    /// The seed of the small thresholds.
    pub seed: u64,
}

/// The values of a model: the elements of each by its name, as far as they are defined by element.
pub type Reference64 = HashMap<String, (DType, Vec<u64>)>;

/// A model, its data file, and what its constants and the results of their casts are.
pub struct Made {
    pub model: ModelProto,
    pub data: Vec<u8>,
    pub expected: Reference64,
}

pub fn sketches() -> impl Strategy<Value = Sketch> {
    let opsets = prop::sample::select(vec![19_u32, 21, 25, 28]);
    (opsets, any::<bool>(), 0..40_usize, 0..1000_u64).prop_flat_map(
        |(opset, in_ranges, others, seed)| {
            prop::collection::vec(chains(opset), 1..7).prop_map(move |chains| Sketch {
                opset,
                chains,
                others,
                in_ranges,
                seed,
            })
        },
    )
}

fn chains(opset: u32) -> impl Strategy<Value = Chain> {
    let types: Vec<DType> = DType::ALL
        .iter()
        .copied()
        .filter(|dtype| dtype.cast_since().is_some_and(|since| since <= opset))
        .collect();
    let constants: Vec<DType> = types
        .iter()
        .copied()
        .chain([
            DType::Complex64,
            DType::Complex128,
            DType::Float,
            DType::Float,
        ])
        .collect();
    let storage = prop_oneof![
        Just(Storage::Raw),
        Just(Storage::Typed),
        (0..9_usize).prop_map(Storage::File)
    ];
    let scope = prop_oneof![
        3 => Just(Scope::Initializer),
        1 => Just(Scope::Constant),
        1 => Just(Scope::Branch),
        1 => Just(Scope::Function),
    ];
    let step = prop_oneof![
        8 => prop::sample::select(types).prop_map(Step::Cast),
        1 => Just(Step::Cast(DType::String)),
        2 => Just(Step::Transpose),
    ];
    let dims = prop_oneof![8 => (1..4_usize, 0..30_usize), 4 => (1..2_usize, 30..140_usize), 1 => (1..2_usize, 500..600_usize)];
    let parts = (
        prop::sample::select(constants),
        dims,
        storage,
        scope,
        prop::collection::vec(step, 0..5),
        prop::bool::weighted(0.4),
        any::<u64>(),
    );
    parts.prop_map(
        |(dtype, (rows, columns), storage, scope, steps, is_wild, seed)| {
            let is_cast = dtype.class() != Class::Complex;
            let steps = steps
                .into_iter()
                .filter(|step| is_cast || matches!(step, Step::Transpose))
                .collect();
            // Elements of a function or a branch are in the model.
            let storage = if matches!(scope, Scope::Initializer | Scope::Constant) {
                storage
            } else {
                Storage::Raw
            };
            Chain {
                dtype,
                dims: [rows, columns],
                storage,
                scope,
                steps,
                is_wild,
                seed,
            }
        },
    )
}

fn rules(opset: u32) -> Rules {
    Rules::default()
        .saturate(true)
        .round_mode(RoundMode::Up)
        .opset(opset)
}

impl Chain {
    fn type_name(dtype: DType) -> String {
        dtype.name().to_lowercase()
    }

    /// The code of an element; only the low bits of the type count.
    fn code(&self, index: usize) -> u64 {
        let mixed = (self.seed ^ index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ mixed >> 32;
        if self.is_wild || self.dtype.class() == Class::Complex {
            return mixed & packed::mask(self.dtype.bits().min(64));
        }
        let numbers: &[f32] = match self.dtype.class() {
            Class::Float if self.seed.is_multiple_of(2) => {
                &[0.0, 1.0, 0.5, 1.5, 3.0, 0.1, 70_000.0, 1e-6]
            }
            _ => &[0.0, 1.0],
        };
        let number = numbers[mixed as usize % numbers.len()];
        let cast = Cast::new(DType::Float, self.dtype, rules(28));
        cast.map_or(number.to_bits().into(), |cast| {
            convert_element(&cast, number.to_bits().into()).0
        })
    }

    fn elements(&self) -> usize {
        self.dims[0] * self.dims[1]
    }

    fn codes(&self) -> Vec<u64> {
        (0..self.elements()).map(|index| self.code(index)).collect()
    }

    /// The elements as in `raw_data`.
    fn raw(&self) -> Vec<u8> {
        let bits = self.dtype.bits();
        if bits == 128 {
            return (0..2 * self.elements())
                .flat_map(|index| self.code(index).to_le_bytes())
                .collect();
        }
        let mut bytes = vec![0; packed::size(bits, self.elements())];
        self.codes()
            .into_iter()
            .enumerate()
            .for_each(|(index, code)| packed::put(bits, &mut bytes, index, code));
        bytes
    }

    /// The typed field of these elements: fixed numbers and varints in packed encoding.
    fn typed(&self, raw: &[u8]) -> Field {
        let varints = |numbers: &mut dyn Iterator<Item = u64>| {
            let mut bytes = Vec::new();
            numbers.for_each(|number| encode_varint(number, &mut bytes));
            bytes
        };
        let (tag, bytes) = match self.dtype {
            DType::Float | DType::Complex64 => (4, raw.to_vec()),
            DType::Double | DType::Complex128 => (10, raw.to_vec()),
            DType::Int64 => (7, varints(&mut self.codes().into_iter())),
            DType::Uint32 | DType::Uint64 => (11, varints(&mut self.codes().into_iter())),
            // Bytes with two or four elements each; six bits have one each.
            dtype if matches!(dtype.bits(), 2 | 4) => {
                (5, varints(&mut raw.iter().map(|&byte| byte.into())))
            }
            dtype => {
                let shift = 64 - dtype.bits();
                let entry = |code: u64| match dtype.class() {
                    Class::Signed => ((code << shift).cast_signed() >> shift).cast_unsigned(),
                    _ => code,
                };
                (5, varints(&mut self.codes().into_iter().map(entry)))
            }
        };
        Field {
            tag,
            value: Value::Len(bytes.into()),
        }
    }

    fn tensor(&self, name: &str, data: &mut Vec<u8>) -> TensorProto {
        let dims = self.dims.map(|dim| dim as i64).to_vec();
        let mut tensor = TensorProto::from(raw::TensorProto {
            dims,
            data_type: Some(self.dtype.number()),
            name: Some(name.to_owned()),
            ..Default::default()
        });
        if self.dtype == DType::String {
            let texts = ["0", "1", "1.5", "-2", "300"];
            tensor.string_data = (0..self.elements())
                .map(|index| texts[self.seed as usize % 4 * index % 5].into())
                .collect();
            return tensor;
        }
        let raw = self.raw();
        match self.storage {
            Storage::Raw => tensor.rest_mut().push(Field {
                tag: RAW_DATA,
                value: Value::Len(raw.into()),
            }),
            Storage::Typed => {
                let field = self.typed(&raw);
                tensor.rest_mut().push(field);
            }
            Storage::File(before) => {
                data.resize(data.len() + before, 0);
                let (offset, length) = (data.len() as u64, Some(raw.len() as u64));
                data.extend(raw);
                tensor = moved_to_file(
                    &tensor,
                    &Reference {
                        location: "w.bin".to_owned(),
                        offset,
                        length,
                    },
                );
            }
        }
        tensor
    }

    /// The nodes of the steps, and the type and shape of the last value.
    fn nodes(&self, number: usize) -> (String, DType, [usize; 2]) {
        let (mut nodes, mut dtype, mut dims) = (String::new(), self.dtype, self.dims);
        for (step, done) in self.steps.iter().zip(0..) {
            let (input, output) = (name(number, done), name(number, done + 1));
            match step {
                Step::Cast(to) => {
                    nodes.push_str(&format!(
                        "[{output}] {output} = Cast <to = {}> ({input})\n",
                        to.number()
                    ));
                    dtype = *to;
                }
                Step::Transpose => {
                    nodes.push_str(&format!(
                        "[{output}] {output} = Transpose <perm = [1, 0]> ({input})\n"
                    ));
                    dims = [dims[1], dims[0]];
                }
            }
        }
        (nodes, dtype, dims)
    }

    /// The elements of every value of the chain, one at a time, by the definition of the casts.
    fn expect(&self, number: usize, opset: u32, expected: &mut Reference64) {
        if self.dtype == DType::String || self.dtype.bits() == 128 {
            return;
        }
        let (mut dtype, mut dims, mut codes) = (self.dtype, self.dims, self.codes());
        expected.insert(name(number, 0), (dtype, codes.clone()));
        for (step, done) in self.steps.iter().zip(1..) {
            match *step {
                Step::Transpose => {
                    let [rows, columns] = dims;
                    codes = (0..codes.len())
                        .map(|index| codes[index % rows * columns + index / rows])
                        .collect();
                    dims = [columns, rows];
                }
                Step::Cast(to) => {
                    if to == DType::String {
                        return;
                    }
                    let cast = Cast::new(dtype, to, rules(opset)).unwrap();
                    codes
                        .iter_mut()
                        .for_each(|code| *code = convert_element(&cast, *code).0);
                    dtype = to;
                }
            }
            expected.insert(name(number, done), (dtype, codes.clone()));
        }
    }
}

/// The name of a value: the constant of a chain is its step 0.
fn name(chain: usize, step: usize) -> String {
    format!("c{chain}_{step}")
}

impl Sketch {
    /// The model. The last value of each chain is an output, or is multiplied by the input, if it
    /// is of type FLOAT.
    pub fn build(&self) -> Made {
        let (mut inits, mut nodes, mut outputs) = (Vec::new(), String::new(), Vec::new());
        let (mut functions, mut data, mut expected, mut tensors) =
            (String::new(), Vec::new(), HashMap::new(), HashMap::new());
        for (number, chain) in self.chains.iter().enumerate() {
            let (steps, dtype, [rows, columns]) = chain.nodes(number);
            let (first, last) = (name(number, 0), name(number, chain.steps.len()));
            tensors.insert(first.clone(), chain.tensor(&first, &mut data));
            chain.expect(number, self.opset, &mut expected);
            // The values are replaced by those of the tensor.
            let constant = format!("[{first}] {first} = Constant <value = float {{0}}> ()\n");
            let value_type = format!("{}[{rows}, {columns}]", Chain::type_name(dtype));
            let end = if dtype == DType::Float {
                format!("y{number} = Mul ({last}, x)\n")
            } else {
                format!("y{number} = Identity ({last})\n")
            };
            match chain.scope {
                Scope::Initializer => {
                    inits.push(format!("float {first} = {{0}}"));
                    nodes.push_str(&format!("{steps}{end}"));
                }
                Scope::Constant => nodes.push_str(&format!("{constant}{steps}{end}")),
                Scope::Branch => nodes.push_str(&format!(
                    "y{number} = If (b) <then_branch = t{number} () => ({value_type} {last}) {{ {constant} {steps} }}, \
                     else_branch = e{number} () => ({value_type} z{number}) {{ z{number} = my.Other (x) }}>\n"
                )),
                Scope::Function => {
                    nodes.push_str(&format!("f{number} = my.F{number} (x)\ny{number} = Identity (f{number})\n"));
                    functions.push_str(&format!(
                        "<domain: \"my\", opset_import: [\"\": {}, \"my\": 1]> F{number} (x) => ({last}) {{ {constant} {steps} }}\n",
                        self.opset
                    ));
                }
            }
            outputs.push(format!("{value_type} y{number}"));
        }
        let mut before = "x".to_owned();
        for other in 0..self.others {
            let operator = ["Relu", "Neg", "Exp", "Softmax"][other % 4];
            nodes.push_str(&format!(
                "[other{other}] o{other} = {operator} ({before})\n"
            ));
            before = format!("o{other}");
        }
        outputs.push(format!("float[1] {before}").replace(" x", " last"));
        if self.others == 0 {
            nodes.push_str("last = Identity (x)\n");
        }
        let text = format!(
            "<ir_version: 14, opset_import: [\"\": {}, \"my\": 1]> g (float[1] x, bool b) => ({}) <{}> {{ {nodes} }} {functions}",
            self.opset,
            outputs.join(", "),
            inits.join(", ")
        );
        let mut model = support::model(&text);
        fill(model.graph.as_mut().unwrap(), &tensors);
        model
            .functions
            .iter_mut()
            .for_each(|function| fill_nodes(&mut function.node, &tensors));
        // Decoded as a file would be, not as the parser left it.
        let model = ModelProto::from_bytes(model.encode_to_vec().into()).unwrap();
        Made {
            model,
            data,
            expected,
        }
    }
}

/// Gives the constants of a graph their tensors, which have their names.
fn fill(graph: &mut GraphProto, tensors: &HashMap<String, TensorProto>) {
    graph
        .initializer
        .iter_mut()
        .for_each(|tensor| *tensor = tensors[tensor.name()].clone());
    fill_nodes(&mut graph.node, tensors);
}

fn fill_nodes(nodes: &mut [NodeProto], tensors: &HashMap<String, TensorProto>) {
    for node in nodes {
        let output = node.output[0].clone();
        for attribute in &mut node.attribute {
            if attribute.t.is_some() {
                attribute.t = Some(tensors[&output].clone());
            }
            if let Some(graph) = &mut attribute.g {
                fill(graph, tensors);
            }
        }
    }
}
