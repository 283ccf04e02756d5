"""The checks of conformance: recast beside the onnx package, its node tests and onnxruntime."""
