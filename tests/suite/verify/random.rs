//! Right results of random models are accepted: of all tiers of passes, each pass alone, precision
//! and conversions.

use onnx_recast::internals::{all_passes, run_passes};
use std::fmt::Write as _;

use onnx_recast::internals::graph::with_unchecked_tensors;
use onnx_recast::passes::{DEFAULT, EXACT, LOSSY, Options, Pass};
use onnx_recast::precision::Io;
use onnx_recast::proto::ModelProto;
use onnx_recast::verify::Verification;
use onnx_recast::{Contested, ConvertOptions, DType, Model, PrecisionOptions};

use crate::kept::written;
use crate::support::{expect_no_failures, model};

/// The number of models: `PROPTEST_CASES`, or few.
fn cases() -> u64 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(20)
}

/// The first seed: `PROPTEST_SEED`, or zero.
fn first_seed() -> u64 {
    std::env::var("PROPTEST_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(0)
}

#[test]
fn right_results_of_random_models_are_accepted() {
    let mut failures = Vec::new();
    let (mut changed, mut computed) = (0, 0);
    for seed in first_seed()..first_seed() + cases() {
        let text = Generator::model(seed);
        let original = Model::new(model(&text)).unwrap_or_else(|error| panic!("{error}\n{text}"));
        for (name, run) in runs(seed) {
            match run(&original) {
                Run::Refused(faults) => {
                    failures.push(format!("== seed {seed}, {name}: {faults}\n{text}"))
                }
                Run::Verified { constants } => {
                    changed += 1;
                    computed += constants;
                }
                Run::Unchanged => {}
            }
        }
    }
    assert!(
        changed as u64 > 2 * cases() && computed as u64 > 2 * cases(),
        "{changed} results, {computed} constants"
    );
    expect_no_failures(failures);
}

enum Run {
    /// The run failed, or changed nothing.
    Unchanged,
    Verified {
        constants: usize,
    },
    Refused(String),
}

type Runner = Box<dyn Fn(&Model) -> Run>;

/// The result as it is written, which is opened for verification.
fn verify(original: &Model, result: &Model, verification: &Verification) -> Run {
    if original.proto() == result.proto() {
        return Run::Unchanged;
    }
    let proto = ModelProto::from_bytes(written(result.proto()).into()).unwrap();
    match verification.check(&with_unchecked_tensors(proto).unwrap()) {
        Ok(verified) => Run::Verified {
            constants: verified.constants,
        },
        Err(faults) => Run::Refused(format!("{:?}", faults.faults)),
    }
}

fn of_passes(list: Vec<&'static dyn Pass>, options: Options) -> Runner {
    Box::new(
        move |original| match run_passes(original.clone(), &list, &options) {
            Ok((result, _)) => verify(
                original,
                &result,
                &Verification::of_passes(original, &list, &options),
            ),
            Err(error) => Run::Refused(format!("the passes fail: {error}")),
        },
    )
}

fn of_precision(options: PrecisionOptions) -> Runner {
    Box::new(move |original| {
        let mut result = original.clone();
        match result.change_precision(&options) {
            Ok(report) => verify(
                original,
                &result,
                &Verification::of_precision(original, &report),
            ),
            Err(_) => Run::Unchanged,
        }
    })
}

fn of_conversion(opset: i64) -> Runner {
    Box::new(move |original| {
        let options = ConvertOptions::to(opset);
        let mut result = original.clone();
        match result.convert(&options) {
            Ok(_) => verify(
                original,
                &result,
                &Verification::of_conversion(original, &options),
            ),
            Err(_) => Run::Unchanged,
        }
    })
}

fn runs(seed: u64) -> Vec<(String, Runner)> {
    let mut runs: Vec<(String, Runner)> = Vec::new();
    let all = Options::default()
        .undefined(true)
        .contested(Some(if seed.is_multiple_of(2) {
            Contested::Text
        } else {
            Contested::Runtime
        }));
    runs.push((
        "default".to_owned(),
        of_passes(DEFAULT.to_vec(), Options::default()),
    ));
    runs.push(("default, all".to_owned(), of_passes(DEFAULT.to_vec(), all)));
    runs.push((
        "exact".to_owned(),
        of_passes(EXACT.to_vec(), Options::default()),
    ));
    runs.push(("exact, all".to_owned(), of_passes(EXACT.to_vec(), all)));
    runs.push((
        "exact and lossy".to_owned(),
        of_passes([EXACT, LOSSY].concat(), Options::default()),
    ));
    for (_, pass) in all_passes() {
        runs.push((
            pass.name().to_owned(),
            of_passes(vec![pass], Options::default()),
        ));
    }
    for to in [DType::Float16, DType::Bfloat16] {
        for io in [Io::Keep, Io::Convert] {
            runs.push((
                format!("precision {to} {io:?}"),
                of_precision(PrecisionOptions::to(to).io(io)),
            ));
            runs.push((
                format!("emulation of {to} {io:?}"),
                of_precision(PrecisionOptions::to(to).io(io).emulate(true)),
            ));
        }
    }
    runs.push((
        "precision FLOAT".to_owned(),
        of_precision(PrecisionOptions::to(DType::Float)),
    ));
    for opset in [18, 23] {
        runs.push((format!("opset {opset}"), of_conversion(opset)));
    }
    runs
}

/// A value of a random model: most have the shape `[2, 3]`.
#[derive(Clone)]
struct Made {
    name: String,
    dtype: DType,
    dims: Vec<i64>,
}

/// Makes a random model, which is valid.
struct Generator {
    random: u64,
    next: usize,
    functions: String,
    function_count: usize,
}

const FLOATS: &[DType] = &[DType::Float, DType::Float16, DType::Double, DType::Bfloat16];
const TYPES: &[DType] = &[
    DType::Float,
    DType::Float,
    DType::Float16,
    DType::Float16,
    DType::Double,
    DType::Bfloat16,
    DType::Int64,
    DType::Int64,
    DType::Int32,
    DType::Int8,
    DType::Uint8,
    DType::Uint64,
    DType::Bool,
    DType::Int4,
    DType::Float8E4M3Fn,
    DType::Float8E5M2,
    DType::Float8E4M3Fnuz,
];
const INTEGERS: &[DType] = &[DType::Int64, DType::Int32, DType::Int8, DType::Uint8];

impl Generator {
    /// The text of a model.
    fn model(seed: u64) -> String {
        let mut generator = Generator {
            random: seed,
            next: 0,
            functions: String::new(),
            function_count: 0,
        };
        let mut values = Vec::new();
        let mut inputs = Vec::new();
        for (name, dtype) in [
            ("x", DType::Float),
            ("h", DType::Float16),
            ("l", DType::Int64),
            ("b", DType::Int8),
            ("z", *generator.one_of(TYPES)),
        ] {
            inputs.push(format!("{}[2, 3] {name}", text(dtype)));
            values.push(Made {
                name: name.to_owned(),
                dtype,
                dims: vec![2, 3],
            });
        }
        inputs.push("bool c".to_owned());
        let mut initializers = generator.constants();
        for name in ["w", "v", "k"] {
            let dtype = *generator.one_of(TYPES);
            initializers.push(generator.initializer(name, dtype));
            values.push(Made {
                name: name.to_owned(),
                dtype,
                dims: vec![2, 3],
            });
            if generator.below(8) == 0 {
                inputs.push(format!("{}[2, 3] {name}", text(dtype)));
            }
        }
        let mut nodes = String::new();
        let count = 3 + generator.below(14);
        generator.body(&mut nodes, &mut values, count, 0);
        let mut outputs: Vec<String> = Vec::new();
        for _ in 0..1 + generator.below(4) {
            let made = &values[8 + generator.below(values.len() - 8)];
            let output = format!("{}{:?} {}", text(made.dtype), made.dims, made.name);
            if !outputs.contains(&output) {
                outputs.push(output);
            }
        }
        format!(
            "<ir_version: 10, opset_import: [\"\": 21, \"local\": 1]> g ({}) => ({})\n<{}> {{\n{nodes}}}\n{}",
            inputs.join(", "),
            outputs.join(", "),
            initializers.join(", "),
            generator.functions
        )
    }

    /// The integers that data movement uses.
    fn constants(&self) -> Vec<String> {
        CONSTANTS
            .iter()
            .map(|(name, value)| format!("{} = {value}", name))
            .collect()
    }

    fn initializer(&mut self, name: &str, dtype: DType) -> String {
        let numbers: Vec<String> = (0..6)
            .map(|_| match dtype {
                DType::Bool => self.below(2).to_string(),
                dtype if FLOATS.contains(&dtype) => (*self.one_of(&[
                    "1.5", "-2", "0", "-0.0", "300", "70000", "0.1", "nan", "inf", "3",
                ]))
                .to_owned(),
                DType::Float8E4M3Fn | DType::Float8E5M2 | DType::Float8E4M3Fnuz => {
                    self.below(100).to_string()
                }
                DType::Int4 => self.below(8).to_string(),
                _ => self.below(120).to_string(),
            })
            .collect();
        format!("{}[2, 3] {name} = {{{}}}", text(dtype), numbers.join(", "))
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.random;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ mixed >> 31) % bound as u64) as usize
    }

    fn one_of<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("n{}", self.next)
    }

    /// A value; the last ones are more likely.
    fn any(&mut self, values: &[Made]) -> Made {
        let recent = values.len().saturating_sub(4);
        match self.below(2) {
            0 => values[self.below(values.len())].clone(),
            _ => values[recent + self.below(values.len() - recent)].clone(),
        }
    }

    /// A value that a condition fits, if there is one in a few attempts.
    fn fitting(&mut self, values: &[Made], fits: impl Fn(&Made) -> bool) -> Option<Made> {
        (0..12).map(|_| self.any(values)).find(fits)
    }

    fn body(&mut self, nodes: &mut String, values: &mut Vec<Made>, count: usize, depth: usize) {
        for _ in 0..count {
            for _ in 0..10 {
                if let Some(made) = self.node(nodes, values, depth) {
                    values.extend(made);
                    break;
                }
            }
        }
    }

    /// Adds a node; returns its results.
    fn node(&mut self, nodes: &mut String, values: &[Made], depth: usize) -> Option<Vec<Made>> {
        let name = self.fresh();
        let label = if self.below(3) == 0 {
            format!("[{name}_node] ")
        } else {
            String::new()
        };
        let of = self.any(values);
        let (input, dims) = (&of.name, &of.dims);
        let made = |dtype: DType, dims: &[i64]| {
            Some(vec![Made {
                name: name.clone(),
                dtype,
                dims: dims.to_vec(),
            }])
        };
        let is_square = *dims == [2, 3];
        let (node, results) = match self.below(if depth == 0 { 40 } else { 26 }) {
            0..=8 => {
                let to = *self.one_of(TYPES);
                let saturate = if to.is_float8() && self.below(2) == 0 {
                    ", saturate = 0"
                } else {
                    ""
                };
                (
                    format!("Cast <to = {}{saturate}> ({input})", to.number()),
                    made(to, dims),
                )
            }
            9 => {
                let like = self.any(values);
                (
                    format!("CastLike ({input}, {})", like.name),
                    made(like.dtype, dims),
                )
            }
            10 | 11 => (format!("Identity ({input})"), made(of.dtype, dims)),
            12 => {
                let reversed: Vec<i64> = dims.iter().rev().copied().collect();
                (format!("Transpose ({input})"), made(of.dtype, &reversed))
            }
            13 if dims.len() == 2 => match self.below(3) {
                0 => (
                    format!("Transpose <perm = [0, 1]> ({input})"),
                    made(of.dtype, dims),
                ),
                1 => (format!("Reshape ({input}, keep)"), made(of.dtype, dims)),
                _ => (
                    format!("Reshape ({input}, flat)"),
                    made(of.dtype, &[dims.iter().product()]),
                ),
            },
            14 if is_square => match self.below(3) {
                0 => (
                    format!("Slice ({input}, first, second, second)"),
                    made(of.dtype, &[2, 1]),
                ),
                1 => (
                    format!("Gather <axis = 1> ({input}, three)"),
                    made(of.dtype, &[2, 3]),
                ),
                _ => (
                    format!("Unsqueeze ({input}, first)"),
                    made(of.dtype, &[1, 2, 3]),
                ),
            },
            15 if is_square => {
                let second = self.fresh();
                let outputs = match self.below(4) {
                    0 => format!("\"\", {second}"),
                    1 => format!("{name}, \"\""),
                    _ => format!("{name}, {second}"),
                };
                let _ = writeln!(
                    nodes,
                    "{label}{outputs} = Split <axis = 0, num_outputs = 2> ({input})"
                );
                let part = |name: &String| Made {
                    name: name.clone(),
                    dtype: of.dtype,
                    dims: vec![1, 3],
                };
                let results = [&name, &second]
                    .into_iter()
                    .filter(|name| outputs.contains(name.as_str()))
                    .map(part);
                return Some(results.collect());
            }
            16 => {
                let same = self.fitting(values, |other| {
                    other.dtype == of.dtype && other.dims == *dims
                })?;
                if dims.is_empty() {
                    return None;
                }
                let mut joined = dims.clone();
                joined[0] *= 2;
                (
                    format!("Concat <axis = 0> ({input}, {})", same.name),
                    made(of.dtype, &joined),
                )
            }
            17 | 18 => {
                let left = self.fitting(values, |other| {
                    INTEGERS.contains(&other.dtype) || FLOATS.contains(&other.dtype)
                })?;
                let right = self.fitting(values, |other| {
                    other.dtype == left.dtype && other.dims == left.dims
                })?;
                let operator = *self.one_of(&["Add", "Sub", "Mul", "Max", "Min"]);
                (
                    format!("{operator} ({}, {})", left.name, right.name),
                    made(left.dtype, &left.dims),
                )
            }
            19 => {
                let of = self.fitting(values, |other| FLOATS.contains(&other.dtype))?;
                let operator = *self.one_of(&["Relu", "Neg", "Sigmoid", "Softmax <axis = 0>"]);
                if of.dims.is_empty() {
                    return None;
                }
                (
                    format!("{operator} ({})", of.name),
                    made(of.dtype, &of.dims),
                )
            }
            20 => (
                format!("Shape ({input})"),
                made(DType::Int64, &[dims.len() as i64]),
            ),
            21 => (format!("Size ({input})"), made(DType::Int64, &[])),
            22 => {
                let of = self.fitting(values, |other| {
                    other.dims.len() == 2 && FLOATS[..3].contains(&other.dtype)
                })?;
                (format!("EyeLike ({})", of.name), made(of.dtype, &of.dims))
            }
            23 => {
                // The number of places is not known.
                let of = self.fitting(values, |other| {
                    !other.dims.is_empty() && !is_narrow(other.dtype)
                })?;
                let places = self.fresh();
                let _ = writeln!(nodes, "{places} = NonZero ({})", of.name);
                let rank = of.dims.len() as i64;
                match self.below(3) {
                    0 => (
                        format!("Shape <end = 1> ({places})"),
                        made(DType::Int64, &[1]),
                    ),
                    1 => {
                        let _ = writeln!(nodes, "{places}_shape = Shape ({places})");
                        (
                            format!("Cast <to = 1> ({places}_shape)"),
                            made(DType::Float, &[2]),
                        )
                    }
                    _ => {
                        let _ = writeln!(nodes, "{places}_size = Size ({places})");
                        let _ = rank;
                        (
                            format!("Cast <to = 10> ({places}_size)"),
                            made(DType::Float16, &[]),
                        )
                    }
                }
            }
            24 => {
                let of = self.fitting(values, |other| *other.dims == [2, 3])?;
                let kept = self.fresh();
                let _ = writeln!(nodes, "{kept} = Compress <axis = 1> ({}, mask)", of.name);
                match self.below(2) {
                    0 => (format!("Shape ({kept})"), made(DType::Int64, &[2])),
                    _ => (format!("Size ({kept})"), made(DType::Int64, &[])),
                }
            }
            25 => {
                let left = self.fitting(values, |other| INTEGERS.contains(&other.dtype))?;
                let right = self.fitting(values, |other| {
                    other.dtype == left.dtype && other.dims == left.dims
                })?;
                let operator = *self.one_of(&["Equal", "Less", "Greater"]);
                (
                    format!("{operator} ({}, {})", left.name, right.name),
                    made(DType::Bool, &left.dims),
                )
            }
            26..=28 => return self.branches(nodes, values, depth, name),
            29 | 30 => return self.iteration(nodes, values, depth, name),
            31 => return self.scan(nodes, values, depth, name),
            32..=36 => return self.call(nodes, values, name),
            37 => {
                let of = self.fitting(values, |other| {
                    *other.dims == [2, 3] && FLOATS[..3].contains(&other.dtype)
                })?;
                let list = self.fresh();
                let _ = writeln!(
                    nodes,
                    "{list} = SequenceConstruct ({}, {})",
                    of.name, of.name
                );
                (
                    format!("SequenceAt ({list}, zero)"),
                    made(of.dtype, &of.dims),
                )
            }
            38 => {
                let to = *self.one_of(FLOATS);
                let _ = writeln!(
                    nodes,
                    "{name}_first = Cast <to = {}> ({input})",
                    to.number()
                );
                (
                    format!("Cast <to = {}> ({name}_first)", of.dtype.number()),
                    made(of.dtype, dims),
                )
            }
            _ => return None,
        };
        let _ = writeln!(nodes, "{label}{name} = {node}");
        results
    }

    /// The nodes of a graph inside of a node, and its result, which has a type and the shape
    /// `[2, 3]`.
    fn inner(
        &mut self,
        values: &[Made],
        count: usize,
        depth: usize,
        dtype: DType,
    ) -> (String, String) {
        let (mut nodes, mut values) = (String::new(), values.to_vec());
        self.body(&mut nodes, &mut values, count, depth + 1);
        let last = values
            .iter()
            .rev()
            .find(|made| made.dims == [2, 3])
            .unwrap()
            .clone();
        let result = self.fresh();
        let _ = if last.dtype == dtype {
            writeln!(nodes, "{result} = Identity ({})", last.name)
        } else {
            writeln!(
                nodes,
                "{result} = Cast <to = {}> ({})",
                dtype.number(),
                last.name
            )
        };
        (nodes, result)
    }

    fn branches(
        &mut self,
        nodes: &mut String,
        values: &[Made],
        depth: usize,
        name: String,
    ) -> Option<Vec<Made>> {
        let dtype = *self.one_of(TYPES);
        let graphs: Vec<String> = ["t", "e"]
            .map(|graph| {
                let count = self.below(5);
                let (inner, result) = self.inner(values, count, depth, dtype);
                format!(
                    "{graph} () => ({}[2, 3] {result}) {{ {inner} }}",
                    text(dtype)
                )
            })
            .into();
        let _ = writeln!(
            nodes,
            "{name} = If (c) <then_branch = {}, else_branch = {}>",
            graphs[0], graphs[1]
        );
        Some(vec![Made {
            name,
            dtype,
            dims: vec![2, 3],
        }])
    }

    fn iteration(
        &mut self,
        nodes: &mut String,
        values: &[Made],
        depth: usize,
        name: String,
    ) -> Option<Vec<Made>> {
        let start = self.fitting(values, |made| made.dims == [2, 3])?;
        let carried = Made {
            name: format!("{name}_p"),
            ..start.clone()
        };
        let inside: Vec<Made> = values.iter().cloned().chain([carried.clone()]).collect();
        let count = self.below(5);
        let (inner, result) = self.inner(&inside, count, depth, start.dtype);
        let dtype = text(start.dtype);
        let _ = writeln!(
            nodes,
            "{name} = Loop <body = b (int64 {name}_i, bool {name}_t, {dtype}[2, 3] {}) => (bool {name}_u, {dtype}[2, 3] {result}) {{ {name}_u = Identity ({name}_t) {inner} }}> (trips, yes, {})",
            carried.name, start.name
        );
        Some(vec![Made { name, ..start }])
    }

    fn scan(
        &mut self,
        nodes: &mut String,
        values: &[Made],
        depth: usize,
        name: String,
    ) -> Option<Vec<Made>> {
        let of = self.fitting(values, |made| made.dims == [2, 3])?;
        let to = *self.one_of(TYPES);
        let row = Made {
            name: format!("{name}_r"),
            dtype: of.dtype,
            dims: vec![3],
        };
        let (mut inner, mut rows) = (String::new(), vec![row.clone()]);
        let count = self.below(3);
        self.body(&mut inner, &mut rows, count, depth + 1);
        let last = rows
            .iter()
            .rev()
            .find(|made| made.dims == [3])
            .unwrap()
            .clone();
        let _ = writeln!(
            inner,
            "{name}_q = Cast <to = {}> ({})",
            to.number(),
            last.name
        );
        let _ = writeln!(
            nodes,
            "{name} = Scan <num_scan_inputs = 1, body = b ({}[3] {}) => ({}[3] {name}_q) {{ {inner} }}> ({})",
            text(of.dtype),
            row.name,
            text(to),
            of.name
        );
        Some(vec![Made {
            name,
            dtype: to,
            dims: vec![2, 3],
        }])
    }

    /// A call of a new function of one or two values, or two calls of it.
    fn call(&mut self, nodes: &mut String, values: &[Made], name: String) -> Option<Vec<Made>> {
        let first = self.fitting(values, |made| made.dims == [2, 3])?;
        self.function_count += 1;
        let function = format!("F{}", self.function_count);
        let parameter = Made {
            name: format!("{name}_p"),
            ..first.clone()
        };
        let (mut inner, dtype) = (String::new(), *self.one_of(TYPES));
        for (constant, value) in CONSTANTS {
            let (stated, constant) = constant.rsplit_once(' ').unwrap();
            let _ = writeln!(inner, "{constant} = Constant <value = {stated} {value}> ()");
        }
        let weight = self.initializer("w", DType::Float);
        let (stated, list) = weight.split_once(" w = ").unwrap();
        let _ = writeln!(inner, "{name}_w = Constant <value = {stated} {list}> ()");
        let weight = Made {
            name: format!("{name}_w"),
            dtype: DType::Float,
            dims: vec![2, 3],
        };
        let count = 1 + self.below(6);
        // Nodes with graphs use a condition of the main graph.
        let (body, result) = self.inner(&[weight, parameter.clone()], count, 0, dtype);
        inner.push_str(&body);
        let _ = writeln!(
            self.functions,
            "<domain: \"local\", opset_import: [\"\": 21, \"local\": 1]> {function} ({}) => ({result}) {{\n{inner}}}",
            parameter.name
        );
        let _ = writeln!(nodes, "{name} = local.{function} ({})", first.name);
        let mut results = vec![Made {
            name: name.clone(),
            dtype,
            dims: vec![2, 3],
        }];
        if self.below(3) == 0 {
            let again = self.fitting(values, |made| {
                made.dims == [2, 3] && made.dtype == first.dtype
            })?;
            let _ = writeln!(nodes, "{name}_again = local.{function} ({})", again.name);
            results.push(Made {
                name: format!("{name}_again"),
                dtype,
                dims: vec![2, 3],
            });
        }
        Some(results)
    }
}

const CONSTANTS: &[(&str, &str)] = &[
    ("int64[2] keep", "{0, -1}"),
    ("int64[1] flat", "{-1}"),
    ("int64[1] first", "{0}"),
    ("int64[1] second", "{1}"),
    ("int64[3] three", "{2, 0, 1}"),
    ("int64 zero", "{0}"),
    ("int64 trips", "{2}"),
    ("bool yes", "{1}"),
    ("bool[3] mask", "{1, 0, 1}"),
];

/// Types that few operators support.
fn is_narrow(dtype: DType) -> bool {
    dtype.is_float8() || dtype.bits() < 8 || dtype == DType::Bfloat16
}

fn text(dtype: DType) -> String {
    dtype.name().to_lowercase()
}
