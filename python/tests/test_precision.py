"""convert_precision does what the command does, with the options of the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir
import pytest
from conftest import MODELS, recast

import onnx_recast

untyped: Any = onnx_recast

MODEL = """<ir_version: 10, opset_import: ["": 19]>
g (float[2] x, bool[2] c) => (float[2] y, float[2] z)
<float[2] w = {0.1, 1e-9}, float[2] mask = {-3.4e38, 0}, float far = {1e9}, float epsilon = {1e-12},
    int8[2] steps = {1, 2}, float step = {0.25}> {
    [weigh] a = Mul (x, w)
    [quantized] b = DequantizeLinear (steps, step)
    [add] v = Add (a, b)
    [masked] m = Where (c, v, mask)
    [soft] s = Softmax (m)
    [grow] e = Exp (s)
    [shift] d = Add (e, epsilon)
    [divide] q = Div (s, d)
    [power] y = Sin (q)
    [last] z = Div (q, far)
}"""
"""A model that every option changes in another way."""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(MODEL), path)
    return path


def of_command(path: Path, *arguments: str) -> tuple[dict[str, Any], bytes]:
    """Return the report of the command and the bytes that it writes."""
    output = path.with_name("command.onnx")
    done = recast("precision", path, *arguments, "-o", output, "--verify", "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["models"][0], output.read_bytes()


ONLY_IN_COMMAND = {
    *("path", "output", "bytes_in", "bytes_out", "before", "after"),
    *("frozen_initializers", "dropped_metadata"),
}
"""What callers know, or `inspect` tells, and what was done first."""


def equal_to_command(path: Path, arguments: list[str], **options: Any) -> bytes:
    """Compare report and bytes of the function and of the command, and return the bytes."""
    report, written = of_command(path, *arguments)
    output = path.with_name("python.onnx")
    found = untyped.convert_precision(path, output=output, verify=True, **options).to_dict()
    saved = found.pop("saved")
    assert saved["bytes"] == len(written)
    # The command has one list of notes, if there are any.
    assert [*found.pop("notes"), *saved["notes"]] == report.pop("notes", [])
    assert found["verified"].pop("outputs") == []
    if found["opset"] is None:  # The command has the key if it was changed.
        del found["opset"]
    assert found == {name: value for name, value in report.items() if name not in ONLY_IN_COMMAND}
    assert output.read_bytes() == written
    return written


@pytest.mark.parametrize("to", ["FLOAT16", "BFLOAT16", "FLOAT"])
def test_all_models_are_changed_as_by_the_command(to: str, tmp_path: Path) -> None:
    for source in [*MODELS.glob("*.onnx")]:
        path = tmp_path / source.name
        path.write_bytes(source.read_bytes())
        equal_to_command(path, ["--to", to], to=to)


CASES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "io": (["--io", "convert"], {"io": "convert"}),
    "io-names": (["--io", "x=FLOAT16"], {"io": {"x": np.float16}}),
    "io-both": (["--io", "convert", "--io", "x=FLOAT"], {"io": ["convert", "x=FLOAT"]}),
    "policy": (["--policy", "all"], {"policy": "all"}),
    "keep_op": (["--keep-op", "Softmax,Sin"], {"keep_op": ["Softmax", "Sin"]}),
    "keep_node": (["--keep-node", "graph/so*"], {"keep_node": ["graph/so*"]}),
    "keep_value": (["--keep-value", "a"], {"keep_value": "a"}),
    "also_op": (["--also-op", "Exp"], {"also_op": ["Exp"]}),
    "also_node": (["--also-node", "graph/gr*"], {"also_node": ["graph/gr*"]}),
    "only_op": (["--only-op", "Softmax"], {"only_op": ["Softmax"]}),
    "only_node": (["--only-node", "weigh"], {"only_node": ["weigh"]}),
    "weights_only": (["--weights-only"], {"weights_only": True}),
    "emulate": (["--emulate"], {"emulate": True}),
    "on_overflow-keep": (["--on-overflow", "keep"], {"on_overflow": "keep"}),
    "on_overflow-saturate": (["--on-overflow", "saturate"], {"on_overflow": "saturate"}),
    "on_overflow-infinity": (["--on-overflow", "infinity"], {"on_overflow": "infinity"}),
    "on_underflow": (["--on-underflow", "keep"], {"on_underflow": "keep"}),
    "quantized": (["--quantized", "scales"], {"quantized": "scales"}),
    "ranges": (["--ranges", "ranges.json"], {"ranges": {"s": [0, 1e6], "q": {"min": 0, "max": 1}}}),
    "range_limit": (
        ["--ranges", "ranges.json", "--range-limit", "8"],
        {"ranges": {"s": [0, 9], "q": {"min": 0, "max": 8}}, "range_limit": 8},
    ),
    "opset": (["--opset", "21"], {"opset": 21}),
    "opset-latest": (["--opset", "latest"], {"opset": "latest"}),
    "freeze_initializers": (["--freeze-initializers"], {"freeze_initializers": True}),
    "drop_metadata": (["--drop-metadata"], {"drop_metadata": True}),
}


@pytest.mark.parametrize("case", CASES)
def test_options_have_the_effects_of_those_of_the_command(
    case: str, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(model.parent)
    arguments, options = CASES[case]
    Path("ranges.json").write_text(json.dumps(options.get("ranges")))
    graph = onnx.load(model)
    graph.graph.input.extend(onnx.ValueInfoProto(name="w", type=value.type) for value in graph.graph.input[:1])
    graph.metadata_props.add(key="author", value="me")
    onnx.save(graph, model)
    written = equal_to_command(model, ["--to", "FLOAT16", *arguments], **options)
    assert written != onnx_recast.convert_precision(model).model


def test_patterns_that_match_nothing_are_told(model: Path) -> None:
    with pytest.warns(UserWarning, match=r"nothing of the model matches 'none\*' \(and 2 more\)"):
        result = onnx_recast.convert_precision(
            model, keep_node=["none*"], keep_value=["no"], ranges={"nowhere": (0, 1)}
        )
    assert result.unmatched == ("none*", "no", "nowhere")


def test_the_type_that_changes_can_be_stated(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    text = '<ir_version: 8, opset_import: ["": 13]> g (double[2] x) => (double[2] y) { a = Sin (x) y = Cos (a) }'
    onnx.save(onnx.parser.parse_model(text), path)
    unchanged = onnx_recast.convert_precision(path, "FLOAT")
    assert (unchanged.changed, unchanged.from_type) == (False, None)
    assert "values of type DOUBLE change if `from` is DOUBLE" in unchanged.notes[0]
    result = onnx_recast.convert_precision(path, "FLOAT", from_type=np.float64)
    assert (result.changed, result.from_type, len(result.casts_added)) == (True, "DOUBLE", 2)
    equal_to_command(path, ["--from", "DOUBLE", "--to", "FLOAT"], to="FLOAT", from_type="DOUBLE")


def test_an_operator_of_another_domain_can_be_assumed_to_support_the_type(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    text = """<ir_version: 8, opset_import: ["": 13, "com.example": 1]>
        g (float[2] x) => (float[2] y) { a = Sin (x) y = com.example.Norm (a) }"""
    onnx.save(onnx.parser.parse_model(text), path)
    assumed = "com.example::Norm=FLOAT16"
    equal_to_command(path, ["--to", "FLOAT16", "--assume", assumed], assume=[assumed])
    assert onnx_recast.convert_precision(path, assume=assumed).kept == ()
    assert [one.code for one in onnx_recast.convert_precision(path).kept] == ["foreign-domain"]


def test_opset_auto_admits_more_operators(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    text = '<ir_version: 8, opset_import: ["": 13]> g (float[2] x) => (float[2] y) { a = Sin (x) y = Cos (a) }'
    onnx.save(onnx.parser.parse_model(text), path)
    kept = onnx_recast.convert_precision(path, "BFLOAT16")
    assert (kept.changed, kept.later_opset) == (False, onnx_recast.results.LaterOpset(22, 2))
    equal_to_command(path, ["--to", "BFLOAT16", "--opset", "auto"], to="BFLOAT16", opset="auto")
    result = onnx_recast.convert_precision(path, "BFLOAT16", opset="auto")
    assert (str(result.opset), result.changed, result.kept) == ("13 -> 22", True, ())


def test_nodes_without_a_kernel_of_the_target_keep_their_types(model: Path) -> None:
    for to, target, codes, notes in [
        ("BFLOAT16", "onnxruntime@1.20", {"no-kernel"}, 0),
        ("FLOAT16", "tensorrt@10.0", {"sensitive-operator", "unsafe-constant", "unsafe-guard"}, 1),
    ]:
        equal_to_command(model, ["--to", to, "--target", target], to=to, target=target)
        result = onnx_recast.convert_precision(model, to, target=target)
        assert {node.code for node in result.kept} >= codes
        assert len(result.notes) == notes
    with pytest.raises(ValueError, match="tensorrt"):
        onnx_recast.convert_precision(model, target="tensorrt@8.0")


def test_ranges_of_a_file_are_those_of_a_mapping(model: Path, tmp_path: Path) -> None:
    ranges = {"s": [0.0, 1e6], "m": [-1.0, 1.0]}
    file = tmp_path / "ranges.json"
    file.write_text(json.dumps(ranges))
    of_mapping = onnx_recast.convert_precision(model, ranges=ranges)
    assert "beyond-range" in {node.code for node in of_mapping.kept}
    assert onnx_recast.convert_precision(model, ranges=file) == of_mapping


def test_results_are_of_the_kind_of_the_model(model: Path, tmp_path: Path) -> None:
    expected = onnx_recast.convert_precision(model)
    assert expected.changed
    proto = onnx.load(model)
    result = onnx_recast.convert_precision(proto, 10)
    assert type(result.model) is onnx.ModelProto
    assert result.model == onnx.load_from_string(expected.model)
    assert proto == onnx.load(model)
    assert type(onnx_recast.convert_precision(onnx_ir.load(model)).model) is onnx_ir.Model
    assert onnx_recast.convert_precision(model, np.float16, tmp_path / "o.onnx").model == tmp_path / "o.onnx"
    assert (tmp_path / "o.onnx").read_bytes() == expected.model
    assert type(expected).from_dict({**expected.to_dict(), "model": expected.model}) == expected


def test_a_second_run_gives_the_same_object(model: Path) -> None:
    once = onnx_recast.convert_precision(model).model
    again = onnx_recast.convert_precision(once)
    assert again.model is once
    assert not again.changed


def test_constants_are_those_of_cast(model: Path) -> None:
    found = onnx_recast.convert_precision(model)
    weights = {
        one.name: onnx.numpy_helper.to_array(one) for one in onnx.load_from_string(found.model).graph.initializer
    }
    assert weights["w"].tobytes() == onnx_recast.cast(np.array([0.1, 1e-9], np.float32), "FLOAT16").tobytes()
    assert [(one.overflowed, one.bound) for one in found.tensors if one.tensor.endswith("mask")] == [(1, 32752.0)]
    assert [one.became_zero for one in found.tensors if one.tensor.endswith("w")] == [1]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"to": "INT8"}, ValueError, "INT8"),
        ({"to": "FLOAT17"}, ValueError, "to: "),
        ({"io": "change"}, ValueError, "io: expected 'keep' or 'convert', not 'change'"),
        ({"io": "x=FLOAT17"}, ValueError, "io: "),
        ({"io": {"none": "FLOAT16"}}, ValueError, "none"),
        ({"keep_node": ["[a"]}, ValueError, "invalid pattern"),
        ({"keep_op": ["Sofmax"]}, ValueError, "did you mean Softmax?"),
        ({"from_type": "INT8"}, ValueError, "values of type INT8 do not change"),
        ({"assume": ["Norm"]}, ValueError, "assume: 'Norm' is not DOMAIN::OP=TYPE"),
        ({"on_overflow": "refuse"}, onnx_recast.RecastError, "beyond the range"),
        ({"on_underflow": "refuse"}, onnx_recast.RecastError, "would become zero"),
        ({"ranges": {"x": [1]}}, TypeError, "ranges: 'x': expected the least and the greatest number"),
        ({"ranges": {"x": "12"}}, TypeError, "ranges: 'x': expected the least and the greatest number"),
        ({"range_limit": "8"}, TypeError, "range_limit: expected a number, not str"),
        ({"range_limit": True}, TypeError, "range_limit: expected a number, not bool"),
        ({"range_limit": 0}, ValueError, "a range limit of 0 keeps all values"),
        ({"ranges": "m.onnx"}, ValueError, "m.onnx is not a JSON object of ranges"),
        ({"ranges": "list.json"}, TypeError, "list.json: expected a mapping"),
        ({"verify": "tensorrt"}, ValueError, "verify: expected True, False or 'onnxruntime'"),
        ({"tolerance": 0.1}, ValueError, "tolerance: it is used with verify='onnxruntime' only"),
        ({"verify": "onnxruntime", "tolerance": "1"}, TypeError, "tolerance: expected a number, not str"),
        ({"opset": 5}, onnx_recast.ConversionError, "opset"),
    ],
)
def test_errors(
    options: dict[str, Any], error: type[Exception], message: str, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(model.parent)
    Path("list.json").write_text("[1]")
    with pytest.raises(error) as raised:
        untyped.convert_precision(model, **{"output": "out.onnx", **options})
    assert message in str(raised.value)
    assert not Path("out.onnx").exists()
