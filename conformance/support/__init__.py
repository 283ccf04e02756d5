"""What checks share: running recast and models, comparing, the corpus, casts by the text of ONNX."""
