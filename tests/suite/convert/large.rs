//! Scopes of many nodes, whose parts are planned at the same time.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use onnx_recast::{ConvertOptions, Model};
use prost::Message;

use crate::support;

const NODES: usize = 5000;

/// A branch in which every node needs a new constant that is named after its output.
fn branch(name: &str) -> String {
    let node = |index: usize| match index {
        0 => "v0 = ReduceMean <axes = [0], keepdims = 1> (x)".to_owned(),
        _ => format!(
            "v{index} = ReduceMean <axes = [0], keepdims = 1> (v{})",
            index - 1
        ),
    };
    let nodes: Vec<String> = (0..NODES).map(node).collect();
    format!(
        "{name} () => (float[1, 3] v{}) {{ {} }}",
        NODES - 1,
        nodes.join("\n")
    )
}

/// Both branches want the same names: the branch that is planned first gets them, the other gets
/// the next ones, as if planned node by node.
#[test]
fn names_do_not_depend_on_the_parts() {
    let text = format!(
        r#"<ir_version: 8, opset_import: ["": 13]> g (bool c, float[2, 3] x) => (float[1, 3] y) {{
            y = If (c) <then_branch = {}, else_branch = {}>
        }}"#,
        branch("yes"),
        branch("no")
    );
    let progress = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&progress);
    let model = Model::from_bytes(support::model(&text).encode_to_vec()).unwrap();
    let mut model = model
        .with_progress(move |progress| noted.lock().unwrap().push((progress.done, progress.total)));
    let report = model.convert(&ConvertOptions::to(18)).unwrap();
    assert_eq!(report.changes.len(), 2 * NODES);

    let branches = &model.proto().graph.as_ref().unwrap().node[0].attribute;
    let mut failures = Vec::new();
    for (branch, suffix) in branches.iter().zip(["_1", ""]) {
        let nodes = &branch.g.as_ref().unwrap().node;
        let names: Vec<&str> = nodes.iter().map(|node| node.output[0].as_str()).collect();
        let expected =
            (0..NODES).flat_map(|index| [format!("v{index}_axes{suffix}"), format!("v{index}")]);
        let wrong = names
            .iter()
            .zip(expected)
            .find(|(name, expected)| *name != expected);
        failures
            .extend(wrong.map(|(name, expected)| {
                format!("{}: {name} instead of {expected}", branch.name())
            }));
        assert_eq!(names.len(), 2 * NODES);
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    }
    support::expect_no_failures(failures);
    let progress = progress.lock().unwrap();
    let total = 2 * NODES as u64 + 1;
    assert!(
        progress.iter().all(|&(done, of)| done <= of && of == total),
        "{progress:?}"
    );
    assert_eq!(progress.iter().map(|(done, _)| done).max(), Some(&total));
}
