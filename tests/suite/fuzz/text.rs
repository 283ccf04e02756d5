//! Any text is a model or an error; a model that was read from text reads back from the text it is
//! printed as, if that has all values.

use onnx_recast::internals::onnx_text;

pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(model) = onnx_text::parse(text) else {
        return;
    };
    let printed = onnx_text::print(&model);
    if printed.contains("...") {
        return;
    }
    let again = onnx_text::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(onnx_text::print(&again), printed);
}

/// The models as text.
pub fn seeds(models: &[Vec<u8>]) -> Vec<Vec<u8>> {
    models
        .iter()
        .filter_map(|bytes| super::model(bytes))
        .map(|model| onnx_text::print(model.proto()).into_bytes())
        .collect()
}
