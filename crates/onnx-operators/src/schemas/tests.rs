//! The tables agree with the file, and the file covers ONNX.

use std::collections::BTreeSet;

use super::*;
use onnx_cast::{DType, Rules};

const SOURCE: &str = include_str!("../../facts/operators.txt");

#[test]
fn every_schema_is_here() {
    let operators = |domain: &str| {
        let schemas = all().iter().filter(|schema| schema.domain == domain);
        let names: BTreeSet<_> = schemas.clone().map(|schema| schema.name).collect();
        (names.len(), schemas.count())
    };
    assert_eq!(operators(""), (203, 629));
    assert_eq!(operators("ai.onnx.ml"), (19, 25));
    assert_eq!(operators("ai.onnx.preview.training"), (4, 4));
    assert_eq!(operators("ai.onnx.preview"), (1, 1));
    assert_eq!(all().len(), 659);
    assert_eq!(LATEST_OPSET, 28);
    assert_eq!(
        i64::from(Rules::default().opset),
        LATEST_OPSET,
        "by default, casts are those of the latest opset"
    );
    assert!(
        all()
            .iter()
            .filter(|schema| schema.domain.is_empty())
            .all(|schema| (1..=LATEST_OPSET).contains(&schema.since_version))
    );
}

#[test]
fn schemas_are_sorted_and_unique() {
    let key = |schema: &Schema| (schema.domain, schema.name, schema.since_version);
    for pair in all().windows(2) {
        assert!(
            key(&pair[0]) < key(&pair[1]),
            "{:?} before {:?}",
            key(&pair[0]),
            key(&pair[1])
        );
    }
    for schema in all() {
        let names: Vec<_> = schema
            .attributes
            .iter()
            .map(|attribute| attribute.name)
            .collect();
        assert!(
            names.windows(2).all(|pair| pair[0] < pair[1]),
            "attributes of {:?}",
            key(schema)
        );
        let formals = [schema.inputs, schema.outputs];
        let last_only = |formals: &[Formal]| {
            formals
                .iter()
                .rev()
                .skip(1)
                .all(|formal| !formal.is_variadic())
        };
        assert!(
            formals.into_iter().all(last_only),
            "variadic formals of {:?}",
            key(schema)
        );
    }
}

#[test]
fn every_line_reads_back() {
    let body = SOURCE.split_once("\n[releases]\n").unwrap().1;
    let (releases, body) = body.split_once("\n\n[types]\n").unwrap();
    let (sets, schemas) = body.split_once("\n\n").unwrap();
    let rendered: Vec<_> = (1..)
        .map_while(|opset| ir_of_opset(opset).map(|ir| format!("{opset} {ir}")))
        .collect();
    assert_eq!(rendered.join("\n"), releases);
    let rendered: Vec<_> = table::SETS
        .iter()
        .map(|(name, types)| format!("{name} = {}", members(*types, " ")))
        .collect();
    assert_eq!(rendered.len(), sets.lines().count());
    for (rendered, line) in rendered.iter().zip(sets.lines()) {
        assert_eq!(rendered, line);
    }
    let mut lines = schemas
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('['));
    for schema in all() {
        for line in text_of(schema) {
            assert_eq!(Some(line.as_str()), lines.next());
        }
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn the_element_types_are_the_crate_s() {
    let section = SOURCE
        .split_once("[elements]\n")
        .unwrap()
        .1
        .split_once("\n\n")
        .unwrap()
        .0;
    let ours: Vec<_> = DType::ALL
        .iter()
        .map(|dtype| format!("{} {}", dtype.number(), dtype.name().to_lowercase()))
        .collect();
    assert_eq!(section, ours.join("\n"));
    for dtype in DType::ALL {
        let admits = |schema: &Schema| {
            schema
                .constraint("T2")
                .unwrap()
                .contains(ValueType::Tensor(*dtype))
        };
        let since = versions("", "Cast")
            .iter()
            .find(|schema| admits(schema))
            .map(|schema| schema.since_version);
        assert_eq!(
            since,
            dtype.cast_since().map(i64::from),
            "the first Cast to {dtype}"
        );
    }
}

#[test]
fn lookups_find_the_version_in_force() {
    let since =
        |domain, name, opset| schema(domain, name, opset).map(|schema| schema.since_version);
    let cases = [
        ("", "Cast", 1, Some(1)),
        ("", "Cast", 5, Some(1)),
        ("ai.onnx", "Cast", 18, Some(13)),
        ("", "Cast", 28, Some(28)),
        ("", "Cast", 99, Some(28)),
        ("", "Cast", 0, None),
        ("", "CastLike", 14, None),
        ("", "CastLike", 15, Some(15)),
        ("", "Nonsense", 28, None),
        ("com.example", "Cast", 28, None),
        ("ai.onnx.ml", "TreeEnsemble", 5, Some(5)),
    ];
    for (domain, name, opset, expected) in cases {
        assert_eq!(
            since(domain, name, opset),
            expected,
            "{domain} {name} {opset}"
        );
    }
    assert!(schema("", "Upsample", 10).unwrap().deprecated);
    assert!(!schema("", "Upsample", 9).unwrap().deprecated);
    assert!(schema("", "Mish", 18).unwrap().function);
    assert_eq!(
        [0, 1, 8, 9, 13, 20, 28, 29, -1].map(ir_of_opset),
        [
            None,
            Some(3),
            Some(3),
            Some(4),
            Some(7),
            Some(9),
            Some(14),
            None,
            None
        ]
    );
}

#[test]
fn formals_stand_for_actual_inputs() {
    let name = |op, opset, index| {
        schema("", op, opset)
            .unwrap()
            .input(index)
            .map(|formal| formal.name)
    };
    assert_eq!(name("Concat", 13, 7), Some("inputs"));
    assert_eq!(name("Clip", 13, 2), Some("max"));
    assert_eq!(name("Clip", 13, 3), None);
    assert_eq!(name("Loop", 13, 1), Some("cond"));
    assert_eq!(name("Loop", 13, 9), Some("v_initial"));
    let batch_normalization = schema("", "BatchNormalization", 9).unwrap();
    assert_eq!(
        (
            batch_normalization.input_count(),
            batch_normalization.output_count()
        ),
        ((5, Some(5)), (1, Some(5)))
    );
    assert_eq!(schema("", "Loop", 10).unwrap().input_count(), (3, None));
    assert_eq!(schema("", "Loop", 11).unwrap().input_count(), (2, None));
    assert_eq!(
        schema("", "Shape", 13)
            .unwrap()
            .output(0)
            .unwrap()
            .fixed_type(),
        Some(ValueType::Tensor(DType::Int64))
    );
    assert_eq!(
        schema("", "Add", 13)
            .unwrap()
            .output(0)
            .unwrap()
            .fixed_type(),
        None
    );
}

#[test]
fn defaults_are_those_of_the_schema() {
    let default = |op, opset, name| {
        schema("", op, opset)
            .unwrap()
            .attribute(name)
            .unwrap()
            .default
    };
    assert_eq!(default("Cast", 19, "saturate"), Some(DefaultValue::Int(1)));
    assert_eq!(
        default("Cast", 24, "round_mode"),
        Some(DefaultValue::String("up"))
    );
    assert_eq!(default("Cast", 24, "to"), None);
    assert_eq!(
        default("Clip", 6, "max"),
        Some(DefaultValue::Float(f32::MAX))
    );
    assert_eq!(default("Clip", 1, "max"), None);
    assert_eq!(
        default("RNN", 7, "activations"),
        Some(DefaultValue::Strings(&["Tanh", "Tanh"]))
    );
    assert_eq!(
        default("MeanVarianceNormalization", 13, "axes"),
        Some(DefaultValue::Ints(&[0, 2, 3]))
    );
}

#[test]
fn sets_hold_their_members_only() {
    let identity = schema("", "Identity", 16).unwrap().constraint("V").unwrap();
    assert!(
        identity.contains(ValueType::Sequence(DType::Float))
            && identity.contains(ValueType::OptionalSequence(DType::String))
    );
    assert!(
        !identity.contains(ValueType::Tensor(DType::Float8E5M2))
            && !identity.contains(ValueType::SparseTensor(DType::Float))
    );
    let zip_map = schema("ai.onnx.ml", "ZipMap", 1)
        .unwrap()
        .constraint("T")
        .unwrap();
    assert_eq!(
        zip_map.iter().map(|t| t.to_string()).collect::<Vec<_>>(),
        ["seq(map(int64,float))", "seq(map(string,float))"]
    );
    for (_, types) in table::SETS {
        assert_eq!(TypeSet::of(&types.iter().collect::<Vec<_>>()), types);
    }
    let [cast_13, cast_19] =
        [13, 19].map(|opset| schema("", "Cast", opset).unwrap().constraint("T1").unwrap());
    assert!(cast_13.is_subset(cast_19) && !cast_19.is_subset(cast_13));
}

/// Writes a schema as the file does.
fn text_of(schema: &Schema) -> Vec<String> {
    let marks = [
        (schema.deprecated, " deprecated"),
        (schema.function, " function"),
    ];
    let marks: String = marks
        .iter()
        .filter(|(set, _)| *set)
        .map(|(_, mark)| *mark)
        .collect();
    let formals = |formals: &[Formal]| formals.iter().map(formal).collect::<Vec<_>>().join(", ");
    let (inputs, outputs) = (formals(schema.inputs), formals(schema.outputs));
    let head = format!("{} {}{marks}:", schema.name, schema.since_version);
    let words = [head.as_str(), &inputs, "->", &outputs];
    let mut lines = vec![
        words
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" "),
    ];
    if !schema.attributes.is_empty() {
        lines.push(format!(
            "  attributes: {}",
            schema
                .attributes
                .iter()
                .map(attribute)
                .collect::<Vec<_>>()
                .join(", ")
        ));
    }
    if !schema.constraints.is_empty() {
        let constraint = |constraint: &Constraint| {
            format!("{} = {}", constraint.variable, set(constraint.types))
        };
        lines.push(format!(
            "  types: {}",
            schema
                .constraints
                .iter()
                .map(constraint)
                .collect::<Vec<_>>()
                .join(", ")
        ));
    }
    lines
}

fn formal(formal: &Formal) -> String {
    let mark = match formal.occurrence {
        Occurrence::Single => "",
        Occurrence::Optional => "?",
        Occurrence::Variadic {
            at_least: 0,
            homogeneous: true,
        } => "*",
        Occurrence::Variadic {
            at_least: 0,
            homogeneous: false,
        } => "*~",
        Occurrence::Variadic {
            homogeneous: true, ..
        } => "+",
        Occurrence::Variadic {
            homogeneous: false, ..
        } => "+~",
    };
    format!("{mark}{}:{}", formal.name, formal.type_name)
}

fn attribute(attribute: &Attribute) -> String {
    let quoted = |text: &str| format!("\"{text}\"");
    let list = |words: Vec<String>| format!(" = [{}]", words.join(" "));
    let default = match attribute.default {
        None if attribute.required => "!".to_owned(),
        None => String::new(),
        Some(DefaultValue::Int(value)) => format!(" = {value}"),
        Some(DefaultValue::Float(value)) => format!(" = {value:?}"),
        Some(DefaultValue::String(value)) => format!(" = {}", quoted(value)),
        Some(DefaultValue::Ints(values)) => list(values.iter().map(i64::to_string).collect()),
        Some(DefaultValue::Strings(values)) => {
            list(values.iter().map(|value| quoted(value)).collect())
        }
    };
    let words = format!("{:?}", attribute.kind)
        .replace("SparseTensor", "Sparse_Tensor")
        .replace("TypeProto", "Type_Proto");
    format!("{} {}{default}", attribute.name, words.to_uppercase())
}

fn set(types: TypeSet) -> String {
    let inline = members(types, "|");
    if types.iter().count() <= 3 {
        return inline;
    }
    let name = table::SETS.iter().find(|(_, known)| *known == types);
    format!(
        "@{}",
        name.unwrap_or_else(|| panic!("{inline} has no name")).0
    )
}

fn members(types: TypeSet, separator: &str) -> String {
    let plain = |value_type: ValueType| match value_type {
        ValueType::Tensor(dtype) => dtype.name().to_lowercase(),
        other => other.to_string(),
    };
    types.iter().map(plain).collect::<Vec<_>>().join(separator)
}

/// The number of attributes with a default that an operator gained in a later version. A new one
/// changes this number: before updating it, check that the versions without the attribute behave as
/// its default says.
const LATER_DEFAULTS: usize = 56;

#[test]
fn what_versions_imply_that_do_not_have_an_attribute_was_looked_at() {
    let later = operators()
        .flat_map(|versions| versions.windows(2))
        .flat_map(|pair| {
            let came = |attribute: &&Attribute| {
                attribute.default.is_some() && pair[0].attribute(attribute.name).is_none()
            };
            pair[1]
                .attributes
                .iter()
                .filter(came)
                .map(|attribute| (&pair[1], attribute))
        });
    let later: Vec<_> = later.collect();
    assert_eq!(later.len(), LATER_DEFAULTS);
    let differs = |(schema, attribute): &&(&Schema, &Attribute)| {
        implied(schema, attribute.name, 1) != attribute.default
    };
    let others: Vec<_> = later
        .iter()
        .filter(differs)
        .map(|(schema, attribute)| format!("{schema} {}", attribute.name))
        .collect();
    let expected = [
        "DequantizeLinear-13 axis",
        "GroupNormalization-21 stash_type",
        "QuantizeLinear-13 axis",
        "Resize-11 coordinate_transformation_mode",
        "Resize-11 nearest_mode",
        "RoiAlign-16 coordinate_transformation_mode",
    ];
    assert_eq!(others, expected);
}

/// `schema` finds them by name, and prefers ONNX's operator of the same name.
#[test]
fn operators_of_onnxruntime_are_older_than_those_of_onnx() {
    let names: BTreeSet<&str> = all_of_onnxruntime()
        .iter()
        .map(|schema| schema.name)
        .collect();
    assert_eq!((names.len(), all_of_onnxruntime().len()), (11, 18));
    assert!(all_of_onnxruntime().is_sorted_by_key(|schema| (schema.name, schema.since_version)));
    for name in names {
        let versions_here = versions_of_onnxruntime("", name);
        assert!(versions_here.is_sorted_by_key(|schema| schema.since_version));
        assert!(versions_here.iter().all(|schema| schema.of_onnxruntime));
        let last = versions_here.last().map(|schema| schema.since_version);
        let first = versions("", name)
            .first()
            .map(|schema| schema.since_version);
        assert!(first.is_none_or(|first| last < Some(first)), "{name}");
    }
    for (domain, name, opset, expected) in [
        ("", "SimplifiedLayerNormalization", 28, Some((1, true))),
        ("ai.onnx", "LayerNormalization", 16, Some((1, true))),
        ("", "LayerNormalization", 17, Some((17, false))),
        ("", "ThresholdedRelu", 9, Some((1, true))),
        ("", "ThresholdedRelu", 10, Some((10, false))),
        ("", "Affine", 10, Some((10, true))),
        ("com.microsoft", "Affine", 1, None),
        ("", "GRUUnit", 1, None),
    ] {
        let found = schema(domain, name, opset);
        let found = found.map(|schema| (schema.since_version, schema.of_onnxruntime));
        assert_eq!(found, expected, "{domain}:{name}, opset {opset}");
    }
    assert!(all().iter().all(|schema| !schema.of_onnxruntime));
}
