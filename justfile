# `just` lists the commands; `just ready` is what to run before a change is proposed.
_default:
    @just --list

# All checks but those that run only if they are named
ready:
    .ci/run

# The tests that need nothing but cargo
test:
    .ci/run test

# Formatting, clippy and documentation
style:
    .ci/run style docs

# The comparison with the onnx package, its test data and onnxruntime; --all for everything
conformance *ARGUMENTS:
    conformance/run {{ARGUMENTS}}

# The example models anew (needs a Python with onnx)
models:
    python3 models/make.py

# The operator facts anew (needs a Python with onnx 1.23.2)
facts:
    python3 crates/onnx-operators/facts/generate.py

# Each fuzz target, or those that are named, for some seconds (needs nightly and cargo-fuzz)
fuzz SECONDS *TARGETS:
    fuzz/run {{SECONDS}} {{TARGETS}}

# The kernels beside memcpy and a plain loop
bench:
    cargo bench

# The page that runs recast in a browser, on http://localhost:8000/recast.html
web:
    web/build
    python3 -m http.server --bind localhost --directory web/dist 8000
