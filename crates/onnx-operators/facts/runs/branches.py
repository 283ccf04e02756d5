"""Models of If, Loop and Scan, of which the node tests have tensors in old versions alone, and sequences and optional values in others; and of
a function of a model. The expected outputs are those of numpy."""

import numpy as np
from onnx import numpy_helper, parser, save

# The last opset of each version of If, Loop and Scan.
LAST_OPSETS = (10, 12, 15, 18, 20, 22, 23, 24, 28)
TYPES = {"float": np.float32, "float16": np.float16, "double": np.float64, "int64": np.int64, "int32": np.int32, "uint8": np.uint8, "bool": np.bool_}
FIRST_WITH_SEQUENCES = 13
# The test of a function of a model.
FUNCTION = "model_function_18"
REVERSED = "r = Constant <value = int64[4] {3, 2, 1, 0}> ()"


def write(folder):
    """A `model.onnx` for each, beside a folder with its data."""
    for name, opset, text, inputs, outputs in models():
        model = parser.parse_model(text)
        path = folder / f"{name}_{opset}" / "model.onnx"
        data = path.parent / "test_data_set_0"
        data.mkdir(parents=True)
        save(model, path)
        for kind, arrays in (("input", inputs), ("output", outputs)):
            for index, array in enumerate(arrays):
                stored = numpy_helper.from_list(array) if isinstance(array, list) else numpy_helper.from_array(array)
                (data / f"{kind}_{index}.pb").write_bytes(stored.SerializeToString())


def models():
    twice = '<domain: "local", opset_import: ["": 18]> Twice (a) => (b) { b = Add (a, a) }'
    numbers = np.arange(4, dtype=np.float32)
    call = f'<ir_version: 8, opset_import: ["": 18, "local": 1]> g (float[4] x) => (float[4] y) {{ y = local.Twice (x) }} {twice}'
    yield "model_function", 18, call, [numbers], [2 * numbers]
    for opset in LAST_OPSETS:
        for name, dtype in TYPES.items():
            x = np.array([0, 1, 5, 7]).astype(dtype)
            z, rows = x[[1, 1, 0, 3]], np.stack([x, x[[2, 2, 1, 0]], x[[3, 0, 0, 1]]])
            for flag in (True, False):
                graph = f"""(bool c, {name}[4] x, {name}[4] z) => ({name}[4] y) {{
                    y = If (c) <then_branch = t () => ({name}[4] a) {{ {REVERSED} a = Gather (x, r) }},
                        else_branch = e () => ({name}[4] b) {{ b = Identity (z) }}> }}"""
                yield f"if_{flag}_{name}".lower(), opset, head(opset) + graph, [np.array(flag), x, z], [x[::-1] if flag else z]
            if opset >= FIRST_WITH_SEQUENCES:
                graph = f"""(bool c, {name}[4] x, {name}[4] z) => (seq({name}[4]) y) {{
                    y = If (c) <then_branch = t () => (seq({name}[4]) a) {{ a = SequenceConstruct (x, z) }},
                        else_branch = e () => (seq({name}[4]) b) {{ b = SequenceConstruct (z) }}> }}"""
                yield f"if_sequence_{name}", opset, head(opset) + graph, [np.array(True), x, z], [[x, z]]
            graph = f"""(int64 n, bool c, {name}[4] x) => ({name}[4] y, {name}[k,4] s) {{
                y, s = Loop (n, c, x) <body = step (int64 i, bool goes, {name}[4] a) => (bool go, {name}[4] b, {name}[4] d) {{
                    go = Identity (goes) {REVERSED} b = Gather (a, r) d = Identity (a) }}> }}"""
            yield f"loop_{name}", opset, head(opset) + graph, [np.array(3), np.array(True), x], [x[::-1], np.stack([x, x[::-1], x])]
            graph = f"""({name}[4] x, {name}[3,4] u) => ({name}[4] y, {name}[3,4] v) {{
                y, v = Scan <num_scan_inputs = 1, body = step ({name}[4] a, {name}[4] e) => ({name}[4] b, {name}[4] d) {{
                    {REVERSED} b = Gather (a, r) d = Gather (e, r) }}> (x, u) }}"""
            yield f"scan_{name}", opset, head(opset) + graph, [x, rows], [x[::-1], rows[:, ::-1]]
        for flag in (True, False):
            graph = """(bool c, float[4] x) => (float[] y) {
                y = If (c) <then_branch = t () => (float[4] a) { a = Identity (x) },
                    else_branch = e () => (float[2,2] b) { s = Constant <value = int64[2] {2, 2}> () b = Reshape (x, s) }> }"""
            x = np.arange(4, dtype=np.float32)
            yield f"if_{flag}_ranks".lower(), opset, head(opset) + graph, [np.array(flag), x], [x if flag else x.reshape(2, 2)]
        x, z, rows = np.arange(4, dtype=np.float32), np.ones(4, np.float32), np.arange(12, dtype=np.float32).reshape(3, 4)
        graph = """(float[4] x, float[3,4] u, float[4] z) => (float[4] y, float[3,4] v) {
            y, v = Scan <num_scan_inputs = 1, body = step (float[4] a, float[4] e) => (float[4] b, float[4] d) {
                b = Add (a, e) d = Add (e, z) }> (x, u) }"""
        yield "scan_captures", opset, head(opset) + graph, [x, rows, z], [x + rows.sum(axis=0), rows + z]


def head(opset):
    return f'<ir_version: {10 if opset > 20 else 8}, opset_import: ["": {opset}]> g '
