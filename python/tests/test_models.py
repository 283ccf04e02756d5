"""fold, convert_version, lint, fix, inspect and diff: every kind of model, result and error."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir
import pytest
from conftest import MODELS, cast_model, chain
from onnx import TensorProto

import onnx_recast

KINDS: dict[str, Callable[[Path], Any]] = {
    "str": str,
    "path": lambda path: path,
    "bytes": Path.read_bytes,
    "bytearray": lambda path: bytearray(path.read_bytes()),
    "memoryview": lambda path: memoryview(path.read_bytes()),
    "array": lambda path: np.frombuffer(path.read_bytes(), np.uint8),
    "file": lambda path: path.open("rb"),
    "stream": lambda path: io.BytesIO(path.read_bytes()),
    "proto": lambda path: onnx.load(path),
    "ir": lambda path: onnx_ir.load(path),
}


def encoded(model: Any) -> bytes:
    """Return the bytes of a result's model."""
    if isinstance(model, Path):
        return model.read_bytes()
    if isinstance(model, onnx_ir.Model):
        model = onnx_ir.to_proto(model)
    return model if isinstance(model, bytes) else model.SerializeToString()


@pytest.mark.parametrize("kind", KINDS)
def test_fold_accepts_every_kind_and_returns_it(kind: str, fp8: Path) -> None:
    model = KINDS[kind](fp8)
    result = onnx_recast.fold(model)
    expected = {"proto": onnx.ModelProto, "ir": onnx_ir.Model}.get(kind, bytes)
    assert type(result.model) is expected
    assert [(one.node, one.to_type) for one in result.folded] == [
        ("graph/zero_point_cast", "FLOAT8E4M3FN"),
        ("graph/up_weight_cast", "FLOAT8E4M3FN"),
        ("graph/down_weight_cast", "FLOAT8E5M2"),
    ]
    assert [node.op_type for node in onnx.load_from_string(encoded(result.model)).graph.node].count("Cast") == 0


@pytest.mark.parametrize("kind", KINDS)
def test_every_function_accepts_every_kind(kind: str, fp8: Path, tmp_path: Path) -> None:
    def model() -> Any:
        return KINDS[kind](fp8)

    assert onnx_recast.convert_version(model(), 21).to_version == 21
    assert [finding.code for finding in onnx_recast.lint(model(), select=["RC101"])] == ["RC101"]
    assert [finding.code for finding in onnx_recast.fix(model(), select=["RC101"]).fixed] == ["RC101"]
    assert onnx_recast.inspect(model()).ops["Cast"] == 3
    if kind not in ("proto", "ir"):
        assert onnx_recast.diff(model(), fp8) == []
    written = onnx_recast.fold(model(), tmp_path / "out.onnx")
    assert written.model == tmp_path / "out.onnx"
    assert written.saved is not None
    assert written.saved.bytes == (tmp_path / "out.onnx").stat().st_size


def test_the_argument_is_not_changed(fp8: Path) -> None:
    proto = onnx.load(fp8)
    before = proto.SerializeToString()
    buffer = bytearray(fp8.read_bytes())
    functions: list[Callable[[Any], Any]] = [
        onnx_recast.fold,
        lambda model: onnx_recast.convert_version(model, 21),
        onnx_recast.fix,
    ]
    for function in functions:
        assert function(proto).model is not proto
        function(buffer)
    assert proto.SerializeToString() == before
    assert bytes(buffer) == fp8.read_bytes()


def test_a_model_without_a_change_is_the_same_object() -> None:
    folded = onnx_recast.fold(MODELS / "fp8_qdq.onnx").model
    assert onnx_recast.fold(folded).model is folded


def test_fold_options() -> None:
    undefined = cast_model(np.array([np.nan], np.float32), TensorProto.INT8)
    result = onnx_recast.fold(undefined)
    assert [(one.node, one.code) for one in result.kept] == [("graph/cast", "undefined-value")]
    assert len(onnx_recast.fold(undefined, undefined="fold").folded) == 1
    growing = cast_model(np.arange(100, dtype=np.int8), TensorProto.FLOAT)
    assert [one.code for one in onnx_recast.fold(growing, max_growth=10).kept] == ["growth-limit"]
    assert onnx_recast.fold(growing, passes=[]).folded == ()
    growing.metadata_props.add(key="k", value="v")
    assert not onnx_recast.fold(growing, drop_metadata=True).model.metadata_props
    with pytest.warns(UserWarning, match="no metadata has the key 'other'") as warned:
        assert onnx_recast.fold(growing, drop_metadata=["other"]).model.metadata_props
    assert warned[0].filename == __file__
    overridable = cast_model(np.array([1], np.float32), TensorProto.FLOAT16)
    overridable.graph.input.append(onnx.helper.make_tensor_value_info("w", TensorProto.FLOAT, [1]))
    assert [one.code for one in onnx_recast.fold(overridable).kept] == ["overridable"]
    assert len(onnx_recast.fold(overridable, freeze_initializers=True).folded) == 1
    cases: list[dict[str, Any]] = [{"undefined": "maybe"}, {"contested": "maybe"}, {"passes": ["none"]}]
    for options in cases:
        with pytest.raises(ValueError, match=r"maybe|unknown pass 'none'"):
            onnx_recast.fold(undefined, **options)
    with pytest.raises(ValueError, match="pass output=PATH"):
        onnx_recast.fold(undefined, external_data="w.bin")


def test_convert_options(transformer: Path) -> None:
    result = onnx_recast.convert_version(transformer, 15)
    assert (result.from_version, result.to_version, result.ir_version.after) == (19, 15, 8)
    assert [one.exactness for one in result.expansions] == ["by-definition"] * 2
    assert onnx_recast.convert_version(transformer, "latest").to_version == onnx_recast.LATEST_OPSET
    assert onnx_recast.convert_version(transformer, 20, ir_version=10).ir_version.after == 10
    assert onnx_recast.convert_version(transformer, 20, ir_version="keep").ir_version.after == 9
    cases: list[dict[str, Any]] = [{"exact_only": True}, {"no_expand": True}]
    for options in cases:
        with pytest.raises(onnx_recast.ConversionError) as raised:
            onnx_recast.convert_version(transformer, 15, **options)
        assert raised.value.nearest == 17
        assert {blocker.op for blocker in raised.value.blockers} == {"LayerNormalization"}
    cases = [
        {"explicit": "x"},
        {"expand": "x"},
        {"contested": "x"},
        {"ir_version": "x"},
        {"from_opset": 0},
    ]
    for options in cases:
        with pytest.raises(ValueError, match=r"x|from_opset"):
            onnx_recast.convert_version(transformer, 15, **options)
    for opset in (0, 29):
        with pytest.raises(ValueError, match="between 1 and 28"):
            onnx_recast.convert_version(transformer, opset)


def test_expansions_become_functions(transformer: Path) -> None:
    result = onnx_recast.convert_version(onnx.load(transformer), 15, expand="function")
    assert [(one.domain, one.name) for one in result.model.functions] == [("recast.expanded", "LayerNormalization")]
    assert sum(node.op_type == "LayerNormalization" for node in result.model.graph.node) == 2
    onnx.checker.check_model(result.model)
    assert not onnx_recast.convert_version(onnx.load(transformer), 15, expand="nodes").model.functions


def test_contested_nodes_are_read_as_requested() -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 3, opset_import: ["": 6]>
        g (float[3,2] x, float[2] s, float[2] b, float[2] m, float[2] v) => (float[3,2] y) {
            y = BatchNormalization (x, s, b, m, v)
        }"""
    )
    with pytest.raises(onnx_recast.ConversionError) as raised:
        onnx_recast.convert_version(model, 9)
    assert [blocker.code for blocker in raised.value.blockers] == ["contested"]
    with pytest.raises(onnx_recast.ConversionError):
        onnx_recast.convert_version(model, 9, contested="refuse")
    outputs = [
        len(onnx_recast.convert_version(model, 9, contested=contested).model.graph.node[0].output)
        for contested in ("text", "runtime")
    ]
    assert outputs == [5, 1]


def test_options_of_a_wrong_type_or_size_are_named(transformer: Path) -> None:
    cases: list[tuple[Callable[..., Any], dict[str, Any], type[Exception], str]] = [
        (
            onnx_recast.convert_version,
            {"opset": "21"},
            TypeError,
            "opset: expected an integer, not str",
        ),
        (
            onnx_recast.convert_version,
            {"opset": 21.0},
            TypeError,
            "opset: expected an integer, not float",
        ),
        (
            onnx_recast.convert_version,
            {"opset": 21, "from_opset": 29},
            ValueError,
            "from_opset: expected an integer between 1 and 28",
        ),
        (
            onnx_recast.convert_version,
            {"opset": 21, "ir_version": 1.5},
            TypeError,
            "ir_version: expected an integer, not float",
        ),
        (
            onnx_recast.convert_version,
            {"target": 17},
            TypeError,
            "target: expected a name such as 'onnxruntime@1.17', not int",
        ),
        (onnx_recast.fold, {"max_growth": -1}, ValueError, "max_growth: expected an integer between 0"),
        (onnx_recast.fold, {"passes": "fold"}, ValueError, "unknown pass 'fold'"),
        (onnx_recast.fold, {"output": ""}, ValueError, "output: the path is empty"),
    ]
    for function, options, error, message in cases:
        with pytest.raises(error, match=message):
            function(transformer, **options)
    number: Any = np.int64(21)
    assert onnx_recast.convert_version(transformer, number).to_version == 21


def test_a_target_is_a_runtime_that_loads_the_result(transformer: Path, tmp_path: Path) -> None:
    result = onnx_recast.convert_version(transformer, target="tensorrt@8.6.1")
    assert (result.from_version, result.to_version) == (19, 17)
    assert "tensorrt 8.4 to 10.14" in map(str, onnx_recast.inspect(result.model).targets)
    written = onnx_recast.convert_version(transformer, None, tmp_path / "m.onnx", target="ONNXRuntime@1.31")
    assert (written.to_version, onnx.load(written.model).opset_import[0].version) == (19, 19)
    with pytest.raises(TypeError, match="target: expected an opset or a target, not both"):
        onnx_recast.convert_version(transformer, 17, target="tensorrt@8.6")
    cases: list[tuple[str, dict[str, Any]]] = [
        (r"target: unknown runtime 'tensorrtx'; did you mean tensorrt\?", {"target": "tensorrtx@8.6"}),
        ("target: unknown version '1.6'; onnxruntime@1.5.2 is the last before it", {"target": "onnxruntime@1.6"}),
        ("target: expected RUNTIME@VERSION", {"target": "onnxruntime"}),
        ("onnxruntime 1.17 loads IR versions up to 9", {"target": "onnxruntime@1.17", "ir_version": 10}),
    ]
    for message, options in cases:
        with pytest.raises(ValueError, match=message):
            onnx_recast.convert_version(transformer, **options)


def test_a_model_runs_where_its_nodes_have_kernels() -> None:
    text = '<ir_version: 10, opset_import: ["": 22]> g (float[1,2,4] x) => (float[1,2,1] y) { y = GlobalLpPool (x) }'
    model = onnx.parser.parse_model(text)
    found = onnx_recast.runs_on(model, "onnxruntime@1.31")
    assert (bool(found), found.loads, found.kernels_known, found.note) == (False, True, True, None)
    (missing,) = found.missing
    assert (missing.op, missing.operation, missing.opset) == ("GlobalLpPool", "GlobalLpPool-22 of tensor(float)", 21)
    assert not any(one.runtime == "onnxruntime" and one.kernels for one in onnx_recast.runs_on(model))
    lacking = [one for one in onnx_recast.inspect(model).lacking if one.newest_opset is None]
    assert {one.operators for one in lacking if one.runtime == "onnxruntime"} == {("GlobalLpPool-22 of tensor(float)",)}
    result = onnx_recast.convert_version(model, target="onnxruntime@1.31")
    assert result.to_version == 21
    assert "onnxruntime 1.31 has no kernel for GlobalLpPool-22" in result.notes[0]
    assert onnx_recast.runs_on(result.model, "onnxruntime@1.31")
    (versions,) = (one for one in onnx_recast.runs_on(result.model) if one.kernels and one.runtime == "onnxruntime")
    assert str(versions) == f"onnxruntime 1.18 or later (known to {versions.last})"
    assert "is treated as" in str(onnx_recast.runs_on(model, "onnxruntime@9.99").note)
    with pytest.raises(ValueError, match="target: unknown runtime 'tflite'"):
        onnx_recast.runs_on(model, "tflite@2")
    operators = onnx_recast.missing_operators("onnxruntime@1.31") or []
    assert {one.operation: one.opset for one in operators}["GlobalLpPool-22"] == 21
    assert onnx_recast.missing_operators("rknn@2.0") is None


def test_every_target_loads_what_is_converted_for_it() -> None:
    runtimes = onnx_recast.targets()
    assert {runtime.name for runtime in runtimes} >= {"onnxruntime", "tensorrt"}
    for runtime in runtimes:
        result = onnx_recast.convert_version(chain(2), target=f"{runtime.name}@{runtime.last}")
        assert result.to_version is not None
        assert result.to_version <= min(13, runtime.opset)
        supported = {versions.runtime for versions in onnx_recast.inspect(result.model).targets}
        assert runtime.name in supported, runtime


def test_a_wider_type_carries_one_that_the_opset_lacks() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) <float s = {0.5}, int4 z = {1}>'
        " { q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, z) }"
    )
    carried = onnx_recast.convert_version(model, 20).carried
    assert {one.value: (one.from_type, one.to_type, one.exactness) for one in carried} == {
        "graph/q": ("INT4", "INT8", "exact"),
        "graph/z": ("INT4", "INT8", "exact"),
    }
    with pytest.raises(onnx_recast.ConversionError):
        onnx_recast.convert_version(model, 20, no_legalize=True)


def test_inputs_and_outputs_get_wider_types_if_they_may() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 21]> g (int4[2] x) => (float[2] y) { y = Cast <to = 1> (x) }'
    )
    with pytest.raises(onnx_recast.ConversionError):
        onnx_recast.convert_version(model, 20)
    result = onnx_recast.convert_version(model, 20, legalize_io=True)
    assert [(one.value, one.to_type, one.role) for one in result.carried] == [("graph/x", "INT8", "input")]
    assert result.model.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.INT8
    with pytest.raises(ValueError, match="no_legalize or legalize_io"):
        onnx_recast.convert_version(model, 20, no_legalize=True, legalize_io=True)


def test_a_refused_conversion_lists_blockers_and_writes_nothing(fp8: Path, tmp_path: Path) -> None:
    with pytest.raises(onnx_recast.ConversionError, match="3 nodes cannot be converted") as raised:
        onnx_recast.convert_version(fp8, 18, tmp_path / "out.onnx")
    error = raised.value
    assert isinstance(error, RuntimeError)
    assert error.path == str(fp8)
    assert len(error.blockers) == 3
    assert error.blockers[0].opset_step == (19, 18)
    assert error.nearest is None
    assert list(tmp_path.iterdir()) == []
    assert "<td>Cast</td>" in error._repr_html_()


def test_lint_options(fp8: Path, tmp_path: Path) -> None:
    codes = {finding.code for finding in onnx_recast.lint(fp8)}
    assert "RC101" in codes
    assert {finding.code for finding in onnx_recast.lint(fp8, ignore=["RC101"])} == codes - {"RC101"}
    config = tmp_path / "recast.toml"
    config.write_text('[lint]\nselect = ["RC104"]\n')
    assert {finding.code for finding in onnx_recast.lint(fp8, config=config)} == {"RC104"}
    with pytest.raises(ValueError, match="unknown rule or prefix 'XX'"):
        onnx_recast.lint(fp8, select=["XX"])
    config.write_text("[lint]\nunknown = 1\n")
    with pytest.raises(onnx_recast.RecastError, match="unknown field") as raised:
        onnx_recast.lint(fp8, config=config)
    assert raised.value.kind == "bad-configuration"


def test_fix_reports_what_remains(fp8: Path) -> None:
    result = onnx_recast.fix(fp8, select=["RC101", "RC104"])
    assert [finding.code for finding in result.fixed] == ["RC101"]
    assert [finding.code for finding in result.remaining] == ["RC104"]
    assert result.fixed[0].fix is not None
    assert result.fixed[0].fix.safety == "safe"


def test_assert_no_findings(fp8: Path) -> None:
    from onnx_recast.testing import assert_no_findings

    assert_no_findings(fp8, select=["RC2"])
    with pytest.raises(AssertionError, match=r"(?s)1 finding:\n.*up_weight_cast: RC101 warning"):
        assert_no_findings(fp8, select=["RC101"])


def test_the_ir_pass_folds() -> None:
    from onnx_recast.ir_passes import FoldCasts

    model = onnx_ir.load(MODELS / "fp8_qdq.onnx")
    passes = onnx_ir.passes.Sequential(FoldCasts(), FoldCasts())
    result = passes(model)
    assert result.modified
    assert not [node for node in result.model.graph if node.op_type == "Cast"]
    assert [node for node in model.graph if node.op_type == "Cast"]


def test_external_data_by_path_and_by_folder(external: Callable[[], Path], tmp_path: Path) -> None:
    path = external()
    by_path = onnx_recast.fold(path, tmp_path / "by_path" / ".." / "one.onnx")
    assert by_path.saved is not None
    for model in (path.read_bytes(), onnx.load(path, load_external_data=False)):
        assert [one.code for one in onnx_recast.fold(model).kept] == ["data-unavailable"]
        inline = onnx_recast.fold(model, external_data="inline", base_dir=path.parent)
        tensor = onnx.load_from_string(encoded(inline.model)).graph.initializer[0]
        values = onnx.numpy_helper.to_array(tensor)
        np.testing.assert_array_equal(values, np.arange(4096).astype(np.float16))
    ir = onnx_recast.fold(onnx_ir.load(path))
    assert len(ir.folded) == 1
    written = onnx_recast.fold(path, tmp_path / "two.onnx", external_data="two.data")
    assert written.saved is not None
    assert written.saved.data_file is not None
    assert written.saved.data_file.bytes == 8192


def test_an_ir_model_keeps_its_data_files(external: Callable[[], Path]) -> None:
    model = onnx_recast.convert_version(onnx_ir.load(external()), 23).model
    values = model.graph.initializers["w"].const_value
    assert values is not None
    np.testing.assert_array_equal(values.numpy(), np.arange(4096, dtype=np.float32))


def test_errors_of_the_operating_system_keep_their_class(fp8: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist") as raised:
        onnx_recast.fold(tmp_path / "none.onnx")
    assert raised.value.filename == str(tmp_path / "none.onnx")
    with pytest.raises(IsADirectoryError):
        onnx_recast.inspect(tmp_path)
    with pytest.raises(FileNotFoundError):
        onnx_recast.fold(fp8, tmp_path / "no" / "folder.onnx")
    if os.geteuid() != 0:
        secret = tmp_path / "secret.onnx"
        secret.touch(0o000)
        with pytest.raises(PermissionError):
            onnx_recast.inspect(secret)


@pytest.mark.skipif(sys.platform == "win32", reason="the system has no such limit")
@pytest.mark.parametrize("options", [{}, {"external_data": "m.data"}, {"verify": True}])
def test_errors_of_the_operating_system_keep_their_number(options: dict[str, Any], tmp_path: Path) -> None:
    """A file that is longer than the process may write stands for a disk that is full: both end a write."""
    onnx.save(cast_model(np.arange(1 << 16, dtype=np.float32), TensorProto.FLOAT16), tmp_path / "m.onnx")
    (tmp_path / "out").mkdir()
    script = """if True:
        import errno, json, resource, sys
        import onnx_recast
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try: onnx_recast.fold("m.onnx", "out/m.onnx", **json.loads(sys.argv[1]))
        except OSError as error: print(errno.errorcode[error.errno], error.filename)"""
    run = [sys.executable, "-c", script, json.dumps(options)]
    printed = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path, check=True).stdout
    assert printed == "EFBIG out/m.onnx\n"
    assert list((tmp_path / "out").iterdir()) == []


def test_invalid_models_say_where(fp8: Path, tmp_path: Path) -> None:
    with pytest.raises(onnx_recast.InvalidModelError) as raised:
        onnx_recast.inspect(fp8.read_bytes().replace(b"zero_point_cast", b"zero_point_\xffast"))
    assert isinstance(raised.value, ValueError)
    assert (raised.value.kind, raised.value.field) == ("malformed-protobuf", "graph.node[0].name")
    assert raised.value.offset is not None
    invalid = cast_model(np.array([1], np.float32), TensorProto.FLOAT16)
    del invalid.graph.node[0].attribute[:]
    with pytest.raises(onnx_recast.InvalidModelError, match="graph/cast") as raised:
        onnx_recast.fold(invalid)
    assert (raised.value.kind, raised.value.node) == ("invalid-model", "graph/cast")
    (tmp_path / "page.onnx").write_text("<!DOCTYPE html><html></html>")
    with pytest.raises(onnx_recast.InvalidModelError, match=r"page\.onnx") as raised:
        onnx_recast.lint(tmp_path / "page.onnx")
    assert raised.value.kind == "not-a-model"
    assert raised.value.path == str(tmp_path / "page.onnx")


def test_objects_that_are_not_models() -> None:
    for model in (None, 1, 1.5, {"a": 1}, object()):
        with pytest.raises(TypeError, match="expected a path, bytes, a binary file"):
            onnx_recast.fold(model)
    with pytest.raises(TypeError, match="binary mode"):
        onnx_recast.fold(io.StringIO("text"))


def test_results_are_values(fp8: Path) -> None:
    results: list[Any] = [
        onnx_recast.fold(fp8),
        onnx_recast.convert_version(fp8, 23),
        onnx_recast.fix(fp8),
        onnx_recast.lint(fp8)[0],
        onnx_recast.inspect(fp8),
        onnx_recast.targets()[0],
        onnx_recast.runs_on(fp8, "onnxruntime@1.17"),
        onnx_recast.diff(fp8, onnx_recast.fold(fp8).model)[0],
    ]
    for result in results:
        assert pickle.loads(pickle.dumps(result)) == result
        assert type(result).__name__ in repr(result)
        facts = json.loads(json.dumps(result.to_dict()))
        assert type(result).from_dict({**facts, "model": getattr(result, "model", None)}) == result
        assert result._repr_html_().startswith("<table>")
        with pytest.raises(AttributeError):
            setattr(result, dataclasses.fields(result)[0].name, None)
    assert onnx_recast.fold(fp8) == onnx_recast.fold(fp8)
    assert onnx_recast.fold(fp8) != onnx_recast.fold(fp8, passes=[])


def test_names_are_escaped_in_html() -> None:
    model = cast_model(np.array([1], np.float32), TensorProto.FLOAT16)
    model.graph.node[0].name = "<script>"
    page = onnx_recast.fold(model)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_errors_can_be_pickled(fp8: Path) -> None:
    for call in (
        lambda: onnx_recast.convert_version(fp8, 18),
        lambda: onnx_recast.inspect(b"\xff"),
        lambda: onnx_recast.cast(np.array([np.nan], np.float32), "INT8"),
    ):
        with pytest.raises(onnx_recast.RecastError) as raised:
            call()
        again = pickle.loads(pickle.dumps(raised.value))
        assert type(again) is type(raised.value)
        assert (str(again), again.__dict__) == (str(raised.value), raised.value.__dict__)


def test_threads_give_equal_results(fp8: Path, transformer: Path) -> None:
    models = [path.read_bytes() for path in (fp8, transformer)] * 50
    expected = [onnx_recast.convert_version(model, 23) for model in models]
    start = threading.Barrier(8)

    def convert_all() -> list[onnx_recast.results.ConvertResult[bytes]]:
        start.wait()
        return [onnx_recast.convert_version(model, 23) for model in models]

    with ThreadPoolExecutor(8) as threads:
        for future in [threads.submit(convert_all) for _ in range(8)]:
            assert future.result() == expected


def test_other_threads_run_while_a_model_is_converted() -> None:
    # So many that their conversion takes longer than the time for which a thread has a core.
    count = 100_000
    nodes = [onnx.helper.make_node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(count)]
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(nodes, "g", [value("v0", 1, [1])], [value(f"v{count}", 1, [1])])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)]).SerializeToString()
    done = threading.Event()
    ticks = 0

    def work() -> None:
        onnx_recast.convert_version(model, 28)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        ticks += 1
    thread.join()
    assert ticks > 1000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_has_threads_of_its_own(fp8: Path) -> None:
    expected = onnx_recast.fold(fp8)
    array = np.zeros(1 << 20, np.float32)
    onnx_recast.cast(array, "FLOAT16")
    child = os.fork()
    if child == 0:
        equal = onnx_recast.fold(fp8) == expected and onnx_recast.cast(array, "FLOAT16").size == array.size
        os._exit(0 if equal else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_hostile_bytes_are_errors(fp8: Path) -> None:
    random = np.random.default_rng(1)
    model = fp8.read_bytes()
    functions: list[Callable[[bytes], Any]] = [
        onnx_recast.fold,
        lambda bad: onnx_recast.convert_version(bad, 13),
        lambda bad: onnx_recast.lint(bad, select=["ALL"]),
        lambda bad: onnx_recast.fix(bad, unsafe_fixes=True),
        onnx_recast.inspect,
        lambda bad: onnx_recast.diff(bad, model),
    ]
    samples = [b"", b"\x00", b"\xff" * 100, random.bytes(1000)]
    for _ in range(300):
        bad = bytearray(model)
        for position in random.integers(0, len(bad), 4):
            bad[position] = random.integers(0, 256)
        samples.append(bytes(bad[: random.integers(1, len(bad))]) if random.random() < 0.2 else bytes(bad))
    failures = []
    for sample in samples:
        for function in functions:
            try:
                function(sample)
            except (onnx_recast.InvalidModelError, onnx_recast.ConversionError):
                pass
            except BaseException as error:
                failures.append(repr(error))
    assert not failures
