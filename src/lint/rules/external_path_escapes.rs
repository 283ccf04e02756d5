//! A tensor's data lies outside the model's folder, or is not there.
//!
//! ## What it checks
//! Every tensor with external data: that its `location` is a path inside the model's folder, that no link leads out of it, that the
//! file is there and is long enough. Nothing of the file is read. For a model from standard input only the path is judged.
//!
//! ## Why is this bad?
//! A path such as `/etc/passwd` or `../../key` makes a model a way to read files that are none of its business; runtimes refuse it,
//! or did not always. A file that is missing or too short means that the model cannot be loaded: often it was moved without its
//! weights.
//!
//! ## Example
//! ```onnx
//! <ir_version: 8, opset_import: ["": 18]>
//! scale (float[2] x) => (float[2] y) <float[2] w = ["location": "../weights.bin"]> {
//!     y = Mul (x, w)
//! }
//! ```
//! Use instead a file beside the model, or data in the model:
//! ```onnx
//! <ir_version: 8, opset_import: ["": 18]>
//! scale (float[2] x) => (float[2] y) <float[2] w = {0.5, 2}> {
//!     y = Mul (x, w)
//! }
//! ```

use crate::graph::{Body, NodeId, Origin};
use crate::lint::{Finding, Rule, Selected, Severity, Subject, external};
use crate::tensor::{Reference, Tensor, is_external};
use crate::wire::schema::TensorProto;

pub(super) const RULE: Rule = Rule {
    code: "RC207",
    name: "external-path-escapes",
    severity: Severity::Error,
    selected: Selected::ByDefault,
    source: include_str!("external_path_escapes.rs"),
    check,
};

fn check(subject: &Subject) -> Vec<Finding> {
    let model = subject.model;
    let initializers = model.values().filter_map(|value| {
        let tensor = match (model.origin(value), model.body(model.home(value))) {
            (Origin::Initializer { .. }, _) => model.initializer(value)?,
            (Origin::SparseInitializer(index), Body::Graph(graph)) => {
                let sparse = graph.sparse_initializer.get(index as usize)?;
                sparse.values.iter().chain(&sparse.indices).find(|part| is_external(part))?
            }
            _ => return None,
        };
        let problem = problem(subject, tensor)?;
        Some(Finding::at_value(model, value, format!("the data of '{}' is not usable: {problem}", model.name(value))))
    });
    let attributes = subject.nodes().flat_map(|node| judge_attributes(subject, node));
    initializers.chain(attributes).collect()
}

fn judge_attributes(subject: &Subject, node: NodeId) -> Vec<Finding> {
    let attributes = subject.model.node(node).attribute.iter();
    let tensors =
        attributes.flat_map(|attribute| attribute.t.iter().chain(&attribute.tensors).map(move |tensor| (attribute, tensor)));
    let findings = tensors.filter_map(|(attribute, tensor)| {
        let problem = problem(subject, tensor)?;
        Some(Finding::at_node(node, format!("the data of `{}` is not usable: {problem}", attribute.name())))
    });
    findings.collect()
}

fn problem(subject: &Subject, tensor: &TensorProto) -> Option<String> {
    if !is_external(tensor) {
        return None;
    }
    let bytes = Tensor::read(tensor).map_or(0, |tensor| tensor.raw_bytes());
    match Reference::read(tensor) {
        Ok(reference) => external::check(subject.folder, &reference, bytes).err().map(|error| error.to_string()),
        Err(error) => Some(error.to_string()),
    }
}
