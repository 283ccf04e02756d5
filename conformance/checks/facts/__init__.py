"""proto/onnx.proto and the tables in facts/, beside the packages that they describe."""
