//! Models as text, in ONNX's own text syntax: for tests, documentation and readable diffs.
//!
//! ```
//! let model = onnx_recast::internals::onnx_text::parse(r#"
//!     <ir_version: 10, opset_import: ["": 21]>
//!     agraph (float16[N] x) => (float16[N] y)
//!     <float[1] w = {0.1}>
//!     {
//!         [cast] h = Cast <to = 10> (w)
//!         y = Add (x, h)
//!     }
//! "#).unwrap();
//! assert_eq!(model.graph.as_ref().unwrap().node[0].op_type(), "Cast");
//! ```
//!
//! Supported: the headers of the model and of functions (`ir_version`, `opset_import`,
//! `producer_name`, `producer_version`, `domain`, `model_version`, `doc_string`, `overload`,
//! `metadata_props`), inputs and outputs with types, initializers and value types in a list after
//! them, nodes with an optional `[name]`, attributes of every kind, graphs as attributes, functions
//! after the graph. Elements of tensors are decimal numbers, rounded to their type, or codes in
//! hexadecimal; floats of up to 8 bits are printed as codes. External data is a list of entries
//! instead of the elements: `["location": "file"]`.

mod lexer;
mod parse;
mod parse_attribute;
mod parse_tensor;
mod parser;
mod print;
mod values;

pub use parse::parse;
pub use print::{print, print_attribute_value, print_node, print_tensor_type, print_type};
