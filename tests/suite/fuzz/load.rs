//! Any bytes are a model, a tensor, or an error; and whatever was read can be looked at.

use onnx_recast::internals::files::{DataFolder, Input};
use onnx_recast::internals::onnx_text;
use onnx_recast::internals::tensor_files;

pub fn run(bytes: &[u8]) {
    let input = Input {
        name: "input".to_owned(),
        bytes: bytes.to_vec().into(),
    };
    if let Ok(array) = tensor_files::read(&input, None, &DataFolder::default()) {
        let _ = array.elements();
    }
    let Some(model) = super::model(bytes) else {
        return;
    };
    for node in model.topological_order() {
        let _ = model.node_path(*node);
    }
    let _ = model.inspect();
    let _ = (
        model.write_dot(&mut std::io::sink()),
        onnx_text::print(model.proto()),
    );
}
