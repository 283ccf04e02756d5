//! The values to change, and the values to keep.

use std::collections::BTreeMap;
use std::str::FromStr;

use globset::GlobSet;

use crate::base::choice::choice;
use crate::base::error::{Error, ErrorKind, shortened};
use crate::base::options::options;
use crate::base::patterns;
use crate::graph::{Model, NodeId};
use crate::ops::runtimes::Runtime;
use onnx_cast::DType;

options! {
    /// The type that values get, and what keeps its type.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// The type: FLOAT16 or BFLOAT16 for the values of type FLOAT, FLOAT for those of type
        /// FLOAT16 and BFLOAT16.
        pub dtype: DType,
        /// The type of the values that change, if it is another one: DOUBLE, FLOAT, FLOAT16 or
        /// BFLOAT16.
        pub from: Option<DType>,
        /// The types of the inputs and outputs of the model.
        pub io: Io,
        /// The types of some inputs and outputs, by name, whatever `io` is.
        pub signature: Vec<(String, DType)>,
        /// Which operators keep their types because they are sensitive.
        pub policy: Policy,
        /// Operators that keep their types.
        pub keep_ops: Vec<String>,
        /// Nodes that keep their types: patterns of paths and names.
        pub keep_nodes: Vec<String>,
        /// Values that keep their types: patterns of names.
        pub keep_values: Vec<String>,
        /// Operators whose types change although the policy keeps them.
        pub also_ops: Vec<String>,
        /// Nodes whose types change although the policy keeps them: patterns of paths and names.
        pub also_nodes: Vec<String>,
        /// Operators of unknown domains, and the type that they support.
        pub assumed_ops: Vec<AssumedOperator>,
        /// If there are any: the only operators whose types change.
        pub only_ops: Vec<String>,
        /// If there are any: patterns of the paths and names of the only nodes whose types change.
        pub only_nodes: Vec<String>,
        /// Whether constants alone change their type, and are cast to the type that they had.
        pub weights_only: bool,
        /// Whether values keep the type FLOAT, and are rounded to the numbers of the type instead,
        /// by functions. The model then computes in FLOAT what it would compute in the type.
        pub emulate: bool,
        /// The treatment of finite constants beyond the range of the type.
        pub on_overflow: OnOverflow,
        /// The treatment of constants other than zero that become zero.
        pub on_underflow: OnUnderflow,
        /// What becomes of quantized operators and their scales.
        pub quantized: Quantized,
        /// By name: the numbers that a value was observed to have. Values beyond the range of the
        /// type, those all of whose numbers are below its normal numbers, and those of which a
        /// number would become zero where something divides by it or takes its logarithm, keep
        /// their types.
        pub ranges: BTreeMap<String, ObservedRange>,
        /// The magnitude beyond which observed values keep their types, if it is less than the
        /// largest number of the type.
        pub range_limit: Option<f64>,
        /// The runtime that has to run the result: nodes for which it has no kernel in their new
        /// types keep the old ones.
        pub target: Option<Runtime>,
    }
}

impl Options {
    /// The default options for a type.
    #[must_use]
    pub fn to(dtype: DType) -> Options {
        Options {
            dtype,
            from: None,
            io: Io::Keep,
            signature: Vec::new(),
            policy: Policy::Stable,
            keep_ops: Vec::new(),
            keep_nodes: Vec::new(),
            keep_values: Vec::new(),
            also_ops: Vec::new(),
            also_nodes: Vec::new(),
            assumed_ops: Vec::new(),
            only_ops: Vec::new(),
            only_nodes: Vec::new(),
            weights_only: false,
            emulate: false,
            on_overflow: OnOverflow::Mask,
            on_underflow: OnUnderflow::Allow,
            quantized: Quantized::Keep,
            ranges: BTreeMap::new(),
            range_limit: None,
            target: None,
        }
    }
}

/// The numbers that a value was observed to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObservedRange {
    /// The least number.
    pub min: f64,
    /// The greatest number.
    pub max: f64,
    /// The least magnitude of a number other than zero, if it was measured.
    pub least: Option<f64>,
}

impl From<[f64; 2]> for ObservedRange {
    fn from([min, max]: [f64; 2]) -> ObservedRange {
        ObservedRange {
            min,
            max,
            least: None,
        }
    }
}

/// An operator whose types are not known. It is assumed to support a type in all inputs and outputs
/// whose types change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssumedOperator {
    /// Its domain.
    pub(crate) domain: String,
    /// Its name.
    pub(crate) operator: String,
    /// The type, which is that of the change.
    pub(crate) dtype: DType,
}

/// A text that is not `DOMAIN::OP=TYPE`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not DOMAIN::OP=TYPE, such as com.example::Norm=FLOAT16")]
pub struct BadAssumption(String);

impl FromStr for AssumedOperator {
    type Err = BadAssumption;

    fn from_str(text: &str) -> Result<AssumedOperator, BadAssumption> {
        let parsed = || {
            let (operator, dtype) = text.rsplit_once('=')?;
            let (domain, operator) = operator.rsplit_once("::")?;
            let is_complete = !domain.is_empty() && !operator.is_empty();
            let dtype = dtype.parse().ok().filter(|_| is_complete)?;
            Some(AssumedOperator {
                domain: domain.to_owned(),
                operator: operator.to_owned(),
                dtype,
            })
        };
        parsed().ok_or_else(|| BadAssumption(shortened(text).into_owned()))
    }
}

/// The types of the inputs and outputs of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Io {
    /// Those of the model.
    #[default]
    Keep,
    /// The requested type.
    Convert,
}

choice!(pub(crate) Io { "keep" => Keep, "convert" => Convert });

/// Which operators keep their types because they are sensitive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// None.
    All,
    /// Those whose range or sum commonly leaves FLOAT16: see
    /// [`sensitive_operators`](super::sensitive_operators).
    #[default]
    Stable,
}

choice!(pub(crate) Policy { "all" => All, "stable" => Stable });

/// The treatment of finite constants beyond the range of the type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnOverflow {
    /// Half of the largest number if the constant is a mask, the largest number if it is a bound;
    /// any other constant keeps its type.
    #[default]
    Mask,
    /// The constant and its consumers keep their types.
    Keep,
    /// The largest number of the type.
    Saturate,
    /// Infinity.
    Infinity,
    /// The model is not changed.
    Refuse,
}

choice!(pub(crate) OnOverflow { "mask" => Mask, "keep" => Keep, "saturate" => Saturate, "infinity" => Infinity, "refuse" => Refuse });

/// The treatment of constants with elements other than zero that become zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnUnderflow {
    /// They become zero, except scalars that divide, or keep a divisor, a root or a logarithm from
    /// zero.
    #[default]
    Allow,
    /// The constant and its consumers keep their types.
    Keep,
    /// The model is not changed.
    Refuse,
}

choice!(pub(crate) OnUnderflow { "allow" => Allow, "keep" => Keep, "refuse" => Refuse });

/// What becomes of quantized operators and their scales.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantized {
    /// Scales, and operators between DequantizeLinear and QuantizeLinear, keep their types, so that
    /// runtimes fuse them to operators of integers.
    #[default]
    Keep,
    /// Scales that are normal numbers of the type change, where DequantizeLinear and QuantizeLinear
    /// support it, and so do the operators.
    Scales,
}

choice!(pub(crate) Quantized { "keep" => Keep, "scales" => Scales });

/// The patterns of some options, compiled.
pub(super) struct Selection<'o> {
    pub options: &'o Options,
    pub keep_nodes: GlobSet,
    pub keep_values: GlobSet,
    pub also_nodes: GlobSet,
    pub only_nodes: GlobSet,
}

impl<'o> Selection<'o> {
    /// # Errors
    /// If a pattern is invalid.
    pub fn new(options: &'o Options) -> Result<Selection<'o>, Error> {
        let compiled = |list: &[String]| {
            patterns::of_names(list).map_err(|bad| Error::new(ErrorKind::Usage, bad.to_string()))
        };
        Ok(Selection {
            options,
            keep_nodes: compiled(&options.keep_nodes)?,
            keep_values: compiled(&options.keep_values)?,
            also_nodes: compiled(&options.also_nodes)?,
            only_nodes: compiled(&options.only_nodes)?,
        })
    }

    /// Whether the options say that a node keeps its types.
    pub fn keeps_node(&self, model: &Model, node: NodeId) -> bool {
        let only_ops = &self.options.only_ops;
        let is_only = (only_ops.is_empty() && self.only_nodes.is_empty())
            || is_named(model, node, only_ops, &self.only_nodes);
        !is_only || self.names_kept_node(model, node)
    }

    /// Whether the options name a node as one that keeps its types.
    pub fn names_kept_node(&self, model: &Model, node: NodeId) -> bool {
        is_named(model, node, &self.options.keep_ops, &self.keep_nodes)
    }

    /// Whether the options say that a node changes its types although the policy keeps them.
    pub fn changes_node(&self, model: &Model, node: NodeId) -> bool {
        is_named(model, node, &self.options.also_ops, &self.also_nodes)
    }

    /// Whether the options say that an operator of a domain supports the type.
    pub fn assumes(&self, domain: &str, operator: &str) -> bool {
        self.options
            .assumed_ops
            .iter()
            .any(|assumed| assumed.domain == domain && assumed.operator == operator)
    }

    /// Whether the options say that a value keeps its type.
    pub fn keeps_value(&self, name: &str) -> bool {
        !self.keep_values.is_empty() && self.keep_values.is_match(name)
    }
}

/// Whether a node is one of some operators, or patterns match its name or its path.
fn is_named(model: &Model, node: NodeId, operators: &[String], patterns: &GlobSet) -> bool {
    if operators.is_empty() && patterns.is_empty() {
        return false;
    }
    let proto = model.node(node);
    operators.iter().any(|operator| operator == proto.op_type())
        || (!patterns.is_empty()
            && (patterns.is_match(proto.name()) || patterns.is_match(model.node_path(node))))
}
