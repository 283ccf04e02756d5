//! Whether runtimes run a model.

use serde::Serialize;

use crate::graph::{Model, ScopeId};
use crate::ops::inference::infer;
use crate::ops::kernels::{
    MissingKernel, Table, WrongResult, missing_kernel, operations, wrong_result,
};
use crate::ops::runtimes::Runtime;

/// Whether a runtime runs a model, and what it lacks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunsOn {
    /// Whether it runs the model: it loads the opset and the IR version, and has a kernel for every
    /// node. Kernels that are not known count as present.
    pub runs: bool,
    /// Whether it loads the opset and the IR version.
    pub loads: bool,
    /// Whether its kernels are known.
    pub kernels_known: bool,
    /// The nodes for which it has no kernel, in document order.
    pub missing: Vec<MissingNode>,
    /// The nodes that it runs, but for which it computes something else than ONNX defines, in
    /// document order.
    pub wrong: Vec<WrongNode>,
    /// The number of nodes whose kernels are not known, because their types or the operators of
    /// their domain are not; 0 if no kernels are known.
    pub undecided_nodes: usize,
    /// The known version that a newer one is treated as.
    pub note: Option<String>,
}

/// A node for which a runtime has no kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MissingNode {
    /// The path of the node.
    pub node: String,
    /// Its operator.
    pub op: String,
    /// The kernel.
    #[serde(flatten)]
    pub kernel: MissingKernel,
}

/// A node for which a runtime computes something else than ONNX defines.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WrongNode {
    /// The path of the node.
    pub node: String,
    /// Its operator.
    pub op: String,
    /// What the runtime computes.
    #[serde(flatten)]
    pub result: WrongResult,
}

/// # Runtimes
impl Model {
    /// Whether a runtime runs the model: loads its opset and IR version, and has a kernel for every
    /// node.
    ///
    /// ```
    /// use onnx_recast::{Model, Runtime};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = Model::from_text(
    ///     r#"<ir_version: 10, opset_import: ["": 22]> p (float[1,2,4] x) => (float[1,2,1] y) { [pool] y = GlobalLpPool (x) }"#,
    /// )?;
    /// let runtime: Runtime = "onnxruntime@1.23".parse()?;
    /// let found = model.runs_on(&runtime);
    /// assert!(found.loads && !found.runs);
    /// let missing = &found.missing[0];
    /// assert_eq!((missing.node.as_str(), missing.kernel.opset), ("graph/pool", Some(21)));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn runs_on(&self, runtime: &Runtime) -> RunsOn {
        let loads = runtime.loads(self.opset(ScopeId::MAIN, ""), self.ir_version());
        let (mut missing, mut wrong) = (Vec::new(), Vec::new());
        let mut undecided: Vec<_> = Vec::new();
        let known = Table::of_runtime(runtime);
        if let Some((table, version)) = known {
            let inferred = infer(self);
            for (node, operation) in operations(self, &inferred) {
                if let Some(kernel) = missing_kernel(runtime, &operation) {
                    missing.push(MissingNode {
                        node: self.node_path(node),
                        op: operation.op().to_owned(),
                        kernel,
                    });
                } else if let Some(result) = wrong_result(runtime, &operation) {
                    wrong.push(WrongNode {
                        node: self.node_path(node),
                        op: operation.op().to_owned(),
                        result,
                    });
                } else if !table.support(&operation).certain.contains(version) {
                    undecided.push(node);
                }
            }
        }
        undecided.dedup();
        RunsOn {
            runs: loads && missing.is_empty(),
            loads,
            kernels_known: known.is_some(),
            missing,
            wrong,
            undecided_nodes: undecided.len(),
            note: runtime.note(),
        }
    }
}
