//! Every public type can be named from another crate, and every public function is called outside
//! of the crate.

use std::collections::HashSet;
use std::fs;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::{Path, PathBuf};

macro_rules! types {
    ($($type:ty,)*) => {
        const TYPES: &[&str] = &[$(stringify!($type)),*];
        $(const _: fn(&$type) = |_| ();)*
    };
}

#[rustfmt::skip]
types! {
    onnx_recast::Array,
    onnx_recast::Cancel,
    onnx_recast::CannotCast,
    onnx_recast::CastOptions,
    dyn onnx_recast::Classified,
    onnx_recast::Comparison,
    onnx_recast::Contested,
    onnx_recast::ConvertOptions,
    onnx_recast::ConvertReport,
    onnx_recast::DType,
    onnx_recast::Error,
    onnx_recast::ErrorKind,
    onnx_recast::FoldOptions,
    onnx_recast::FoldReport,
    onnx_recast::Invalid,
    onnx_recast::LintOptions,
    onnx_recast::MissingKernel,
    onnx_recast::MissingNode,
    onnx_recast::MissingOperator,
    onnx_recast::Model,
    onnx_recast::ModelPlace,
    onnx_recast::OpenOptions,
    onnx_recast::Packing,
    onnx_recast::Phase,
    onnx_recast::Place,
    onnx_recast::Placement,
    onnx_recast::PrecisionOptions,
    onnx_recast::PrecisionReport,
    onnx_recast::Progress,
    dyn onnx_recast::ReadAt,
    onnx_recast::Reason,
    onnx_recast::RoundMode,
    onnx_recast::Rules,
    onnx_recast::RunsOn,
    onnx_recast::Runtime,
    onnx_recast::SaveOptions,
    onnx_recast::SavePlan,
    onnx_recast::Saved,
    onnx_recast::Stored,
    onnx_recast::Tally,
    onnx_recast::Unit,
    onnx_recast::UnknownName,
    onnx_recast::UnknownRuntime,
    onnx_recast::UnusedFile,
    onnx_recast::Version,
    onnx_recast::WrittenDataFile,
    onnx_recast::WrongNode,
    onnx_recast::WrongResult,
    onnx_recast::convert::Blocker,
    onnx_recast::convert::CarriedRole,
    onnx_recast::convert::CarriedValue,
    onnx_recast::convert::Exactness,
    onnx_recast::convert::Expand,
    onnx_recast::convert::Expanded,
    onnx_recast::convert::Explicit,
    onnx_recast::convert::IrVersion,
    onnx_recast::convert::IrVersions,
    onnx_recast::convert::NodeAdapter,
    onnx_recast::convert::NodeChange,
    onnx_recast::convert::OperatorAdapter,
    onnx_recast::convert::Opsets,
    onnx_recast::diff::Difference,
    onnx_recast::diff::DifferenceKind,
    onnx_recast::graph::Attribute,
    onnx_recast::graph::Body,
    onnx_recast::graph::CastNode,
    onnx_recast::graph::Constant,
    onnx_recast::graph::Edit,
    onnx_recast::graph::FreshNames,
    onnx_recast::graph::MetadataKeys,
    onnx_recast::graph::MetadataPlace,
    onnx_recast::graph::NewNodes,
    onnx_recast::graph::NodeId,
    onnx_recast::graph::NonNodeUse,
    onnx_recast::graph::NotConstant,
    onnx_recast::graph::Origin,
    onnx_recast::graph::Refused,
    onnx_recast::graph::ScopeId,
    onnx_recast::graph::ScopeKind,
    onnx_recast::graph::TensorPlace,
    onnx_recast::graph::TypePlace,
    onnx_recast::graph::TypeSource,
    onnx_recast::graph::UnclearCast,
    onnx_recast::graph::ValueId,
    onnx_recast::inspect::CastFacts,
    onnx_recast::inspect::ContradictionFacts,
    onnx_recast::inspect::FunctionFacts,
    onnx_recast::inspect::Initializers,
    onnx_recast::inspect::Inspection,
    onnx_recast::inspect::InterfaceFacts,
    onnx_recast::inspect::RuntimeVersions,
    onnx_recast::inspect::TypeAndShape,
    onnx_recast::inspect::TypeFacts,
    onnx_recast::inspect::ValueFacts,
    onnx_recast::lint::Baseline,
    onnx_recast::lint::CastPair,
    onnx_recast::lint::Config,
    onnx_recast::lint::Diagnostic,
    onnx_recast::lint::Finding,
    onnx_recast::lint::Fix,
    onnx_recast::lint::Ints,
    onnx_recast::lint::Known,
    onnx_recast::lint::Layer,
    onnx_recast::lint::ResolvedCast,
    onnx_recast::lint::ResolvedQuantize,
    onnx_recast::lint::FunctionRule,
    dyn onnx_recast::lint::Rule,
    onnx_recast::lint::RuleFacts,
    onnx_recast::lint::Safety,
    onnx_recast::lint::Selected,
    onnx_recast::lint::Selection,
    onnx_recast::lint::Selector,
    onnx_recast::lint::Severity,
    onnx_recast::lint::Shape,
    onnx_recast::lint::Subject,
    onnx_recast::lint::UnknownRule,
    onnx_recast::lint::ValueType,
    onnx_recast::passes::ComputedNode,
    onnx_recast::passes::Event,
    onnx_recast::passes::Folded,
    onnx_recast::passes::KeptNode,
    dyn onnx_recast::passes::Pass,
    onnx_recast::passes::PassEvents,
    onnx_recast::passes::Plan,
    onnx_recast::passes::Removed,
    onnx_recast::passes::UnknownPass,
    onnx_recast::precision::AddedCast,
    onnx_recast::precision::AssumedOperator,
    onnx_recast::precision::BadAssumption,
    onnx_recast::precision::Io,
    onnx_recast::precision::KeptNode,
    onnx_recast::precision::NarrowedTensor,
    onnx_recast::precision::ObservedRange,
    onnx_recast::precision::OnOverflow,
    onnx_recast::precision::OnUnderflow,
    onnx_recast::precision::Policy,
    onnx_recast::precision::Quantized,
    onnx_recast::proto::AttributeProto,
    onnx_recast::proto::DeviceConfigurationProto,
    onnx_recast::proto::Field,
    onnx_recast::proto::FunctionProto,
    onnx_recast::proto::GraphProto,
    onnx_recast::proto::IntIntListEntryProto,
    onnx_recast::proto::Lossless<onnx_recast::proto::raw::NodeProto>,
    onnx_recast::proto::Malformed,
    onnx_recast::proto::ModelProto,
    onnx_recast::proto::NodeDeviceConfigurationProto,
    onnx_recast::proto::NodeProto,
    onnx_recast::proto::OperatorSetIdProto,
    onnx_recast::proto::PartBox<onnx_recast::proto::raw::NodeProtoRare>,
    onnx_recast::proto::Piece,
    dyn onnx_recast::proto::Recipe,
    onnx_recast::proto::ShardedDimProto,
    onnx_recast::proto::ShardingSpecProto,
    onnx_recast::proto::SimpleShardedDimProto,
    onnx_recast::proto::SparseTensorProto,
    onnx_recast::proto::StringStringEntryProto,
    onnx_recast::proto::TensorAnnotation,
    onnx_recast::proto::TensorProto,
    onnx_recast::proto::TensorShapeProto,
    onnx_recast::proto::TrainingInfoProto,
    onnx_recast::proto::TypeProto,
    onnx_recast::proto::Value,
    onnx_recast::proto::ValueInfoProto,
    onnx_recast::proto::raw::AttributeProto,
    onnx_recast::proto::raw::AttributeProtoLists,
    onnx_recast::proto::raw::AttributeProtoListsBox,
    onnx_recast::proto::raw::AttributeProtoListsRare,
    onnx_recast::proto::raw::AttributeProtoListsRareBox,
    onnx_recast::proto::raw::AttributeProtoTail,
    onnx_recast::proto::raw::AttributeProtoTailBox,
    onnx_recast::proto::raw::DeviceConfigurationProto,
    onnx_recast::proto::raw::FunctionProto,
    onnx_recast::proto::raw::GraphProto,
    onnx_recast::proto::raw::IntIntListEntryProto,
    onnx_recast::proto::raw::ModelProto,
    onnx_recast::proto::raw::NodeDeviceConfigurationProto,
    onnx_recast::proto::raw::NodeProto,
    onnx_recast::proto::raw::NodeProtoRare,
    onnx_recast::proto::raw::NodeProtoRareBox,
    onnx_recast::proto::raw::OperatorSetIdProto,
    onnx_recast::proto::raw::OperatorStatus,
    onnx_recast::proto::raw::ShardedDimProto,
    onnx_recast::proto::raw::ShardingSpecProto,
    onnx_recast::proto::raw::SimpleShardedDimProto,
    onnx_recast::proto::raw::SparseTensorProto,
    onnx_recast::proto::raw::StringStringEntryProto,
    onnx_recast::proto::raw::TensorAnnotation,
    onnx_recast::proto::raw::TensorProto,
    onnx_recast::proto::raw::TensorShapeProto,
    onnx_recast::proto::raw::TrainingInfoProto,
    onnx_recast::proto::raw::TypeProto,
    onnx_recast::proto::raw::ValueInfoProto,
    onnx_recast::proto::raw::Version,
    onnx_recast::proto::raw::attribute_proto::AttributeType,
    onnx_recast::proto::raw::simple_sharded_dim_proto::Dim,
    onnx_recast::proto::raw::tensor_proto::DataLocation,
    onnx_recast::proto::raw::tensor_proto::DataType,
    onnx_recast::proto::raw::tensor_proto::Segment,
    onnx_recast::proto::raw::tensor_shape_proto::Dimension,
    onnx_recast::proto::raw::tensor_shape_proto::dimension::Value,
    onnx_recast::proto::raw::type_proto::Map,
    onnx_recast::proto::raw::type_proto::Opaque,
    onnx_recast::proto::raw::type_proto::Optional,
    onnx_recast::proto::raw::type_proto::Sequence,
    onnx_recast::proto::raw::type_proto::SparseTensor,
    onnx_recast::proto::raw::type_proto::Tensor,
    onnx_recast::proto::raw::type_proto::Value,
    onnx_recast::proto::tensor_proto::Segment,
    onnx_recast::proto::tensor_shape_proto::Dimension,
    onnx_recast::proto::type_proto::Map,
    onnx_recast::proto::type_proto::Opaque,
    onnx_recast::proto::type_proto::Optional,
    onnx_recast::proto::type_proto::Sequence,
    onnx_recast::proto::type_proto::SparseTensor,
    onnx_recast::proto::type_proto::Tensor,
    onnx_recast::verify::Fault,
    onnx_recast::verify::NotVerified,
    onnx_recast::verify::Verification,
    onnx_recast::verify::Verified,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The listing of the public API, except the command, which this crate does not enable.
fn listed() -> Vec<String> {
    let text = fs::read_to_string(root().join(".ci/public_api.txt")).unwrap();
    let is_type = |kind: &str| ["(struct)", "(enum)", "(trait)", "(type alias)"].contains(&kind);
    let types = text
        .lines()
        .filter_map(|line| line.split_once(' ').filter(|(_, kind)| is_type(kind)));
    types
        .map(|(path, _)| path.to_owned())
        .filter(|path| !path.starts_with("onnx_recast::cli::"))
        .collect()
}

/// A trait that has no objects.
const NUMBER: &str = "onnx_recast::Number";
const _: fn() -> onnx_recast::DType = || <f32 as onnx_recast::Number>::DTYPE;

/// A caller may share these between threads, and catch the panics of code that uses them.
const _: () = {
    const fn is_safe<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
    is_safe::<onnx_recast::WrittenDataFile>();
    is_safe::<onnx_recast::Stored>();
    is_safe::<onnx_recast::proto::Piece>();
};

#[test]
fn all_types_of_the_listing_are_named_here() {
    let path = |name: &str| {
        name.trim_start_matches("dyn ")
            .split(['<', ' '])
            .next()
            .unwrap()
            .to_owned()
    };
    let named: Vec<String> = TYPES
        .iter()
        .chain(&[NUMBER])
        .map(|name| path(&name.replace(" :: ", "::")))
        .collect();
    let listed = listed();
    let missing: Vec<&String> = listed.iter().filter(|path| !named.contains(path)).collect();
    let gone: Vec<&String> = named.iter().filter(|path| !listed.contains(path)).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "not named here: {missing:?}\nnot in the listing: {gone:?}"
    );
}

/// The words of the sources in a folder, or of their examples in documentation.
fn words(folder: &Path, line: fn(&str) -> bool, words: &mut HashSet<String>) {
    for entry in
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
    {
        let path = entry.unwrap().path();
        if path.is_dir() {
            self::words(&path, line, words);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let lines = text.lines().filter(|text| line(text.trim_start()));
            words.extend(
                lines
                    .flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'))
                    .map(str::to_owned),
            );
        }
    }
}

/// Generated messages have the functions of prost. The listing has the arguments of functions in
/// parentheses.
#[test]
fn all_functions_of_the_listing_are_called_outside_of_the_crate() {
    let text = fs::read_to_string(root().join(".ci/public_api.txt")).unwrap();
    let mut called = HashSet::new();
    for folder in [
        "benches",
        "examples/extension",
        "fuzz/targets",
        "python/src",
        "tests",
        "web/src",
    ] {
        words(&root().join(folder), |_| true, &mut called);
    }
    words(
        &root().join("src"),
        |line| line.starts_with("//"),
        &mut called,
    );
    let functions = text
        .lines()
        .filter(|line| !line.starts_with("onnx_recast::proto::raw::"));
    let functions =
        functions.filter_map(|line| Some((line, line.split_once('(')?.0.rsplit("::").next()?)));
    let never: Vec<&str> = functions
        .filter(|(_, name)| !name.contains(' ') && !called.contains(*name))
        .map(|(line, _)| line)
        .collect();
    assert!(
        never.is_empty(),
        "make these private, or call them in a test: {never:#?}"
    );
}
