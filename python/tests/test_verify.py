"""Verification of results, natively and with onnxruntime: what passes, what is refused, and what is left as it was."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir
import pytest
from conftest import MODELS, cast_model, files
from onnx import TensorProto

import onnx_recast
from onnx_recast import VerificationError, compare_runs

HEADER = '<ir_version: 10, opset_import: ["": 21]>'
# The models that onnxruntime runs, and an opset that each can be converted to.
RUN = {"annotated": 22, "control_flow": 13, "fp8_qdq": 22, "subbyte_quant": 26, "transformer_fp16": 15}


def parsed(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEADER + text)


@pytest.mark.parametrize("name", [path.stem for path in sorted(MODELS.glob("*.onnx"))])
def test_folds_are_verified(name: str, tmp_path: Path) -> None:
    path = MODELS / f"{name}.onnx"
    plain = onnx_recast.fold(path, verify=False)
    assert plain.verified is None
    in_memory = onnx_recast.fold(path)
    written = onnx_recast.fold(path, tmp_path / "out.onnx")
    assert in_memory.model == plain.model == (tmp_path / "out.onnx").read_bytes()
    assert in_memory.verified is not None
    assert in_memory.verified == written.verified
    # pump.onnx alone has no cast of a constant.
    assert in_memory.verified.constants >= 2 or name == "pump"
    assert in_memory.verified.nodes == onnx_recast.inspect(plain.model).nodes


def test_the_extent_is_a_line() -> None:
    comparison = compare_runs(MODELS / "fp8_qdq.onnx", MODELS / "fp8_qdq.onnx")
    verified = onnx_recast.results.Verified(nodes=1, constants=1, elements=1, outputs=tuple(comparison))
    assert str(verified) == "1 node, 1 constant of 1 element, 1 output in onnxruntime"
    assert str(onnx_recast.results.Verified(nodes=2, constants=0, elements=0)) == "2 nodes, 0 constants of 0 elements"


@pytest.mark.parametrize("name", RUN)
def test_folds_and_conversions_give_the_same_bits_in_onnxruntime(name: str, tmp_path: Path) -> None:
    path = MODELS / f"{name}.onnx"
    results: list[Any] = [
        onnx_recast.fold(path, verify="onnxruntime"),
        onnx_recast.fold(path, tmp_path / "out.onnx", passes=["exact"], verify="onnxruntime"),
        onnx_recast.convert_version(path, RUN[name], tmp_path / "converted.onnx", verify="onnxruntime"),
    ]
    for result in results:
        assert [one.outcome for one in result.verified.outputs] == ["equal"]
    assert {path.name for path in tmp_path.iterdir()} == {"out.onnx", "converted.onnx"}


@pytest.mark.parametrize("verify", [True, "onnxruntime"])
def test_data_files_and_all_kinds_of_models(verify: Any, external: Callable[[], Path], tmp_path: Path) -> None:
    path = external()
    folder = tmp_path / "out"
    folder.mkdir()
    kinds: list[tuple[Any, dict[str, Any]]] = [
        (path, {}),
        (path, {"external_data": "inline"}),
        (path, {"output": folder / "m.onnx"}),
        (path, {"output": folder / "moved.onnx", "external_data": "moved.data"}),
        (path.read_bytes(), {"base_dir": path.parent}),
        (onnx.load(path), {}),
        (onnx_ir.load(path), {}),
    ]
    for model, options in kinds:
        result = onnx_recast.fold(model, verify=verify, **options)
        assert result.verified is not None
        assert (result.verified.constants, result.verified.elements) == (1, 4096)
        assert len(result.verified.outputs) == (verify == "onnxruntime")
    onnx_recast.fold(path, path, verify=verify)
    assert not onnx_recast.inspect(path).casts


def test_prepared_models_are_verified() -> None:
    model = cast_model(np.array([1], np.float32), TensorProto.FLOAT16)
    model.graph.input.append(onnx.helper.make_tensor_value_info("w", TensorProto.FLOAT, [1]))
    model.metadata_props.add(key="k", value="v")
    for verify in (True, "onnxruntime"):
        result = onnx_recast.fold(model, freeze_initializers=True, drop_metadata=True, verify=verify)
        assert result.verified is not None
        assert result.verified.constants == 1


def test_a_fault_that_the_native_module_finds_is_an_error(external: Callable[[], Path]) -> None:
    """The weights change after they were cast and before the result is verified."""
    path = external()
    data = path.with_name("m.data")

    def change(done: int, total: int) -> None:
        if done == total > 4096:
            with data.open("r+b") as file:
                file.seek(40)
                file.write(np.float32(-1).tobytes())

    with pytest.raises(VerificationError, match="a fault of onnx-recast, and was not written") as raised:
        onnx_recast.fold(path, verify=True, progress=change)
    assert raised.value.kind == "not-verified"
    faults = raised.value.faults
    assert [fault.path for fault in faults] == ["graph/y", "graph"]
    assert all("another value at element 10" in str(fault) for fault in faults)
    assert str(faults[0]) in str(raised.value)
    assert str(raised.value).endswith("verify=False leaves the verification out")
    assert raised.value.outputs == ()
    assert "another value at element 10" in raised.value._repr_html_()


def test_a_wrong_result_replaces_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result of another model is planted."""
    right = cast_model(np.array([1, 2], np.float32), TensorProto.FLOAT16).SerializeToString()
    wrong = cast_model(np.array([1, 3], np.float32), TensorProto.FLOAT16).SerializeToString()
    fold = onnx_recast._recast.fold

    def planted(given: Any, output: Any, options: Any, check: bool, watch: Any) -> Any:
        assert given["source"] == right
        return fold({"source": wrong, "base_dir": None}, output, options, check, watch)

    monkeypatch.setattr("onnx_recast._recast.fold", planted)
    (tmp_path / "old.onnx").write_bytes(b"old")
    before = files(tmp_path)
    for output in (None, tmp_path / "old.onnx", tmp_path / "new.onnx"):
        with pytest.raises(VerificationError, match=r"\n  y +FLOAT16\[2\] +different +1 +0\.5 +0\.5$") as raised:
            onnx_recast.fold(right, output, verify="onnxruntime")
        assert raised.value.kind == "not-verified"
        assert raised.value.path == (None if output is None else str(output))
        assert [fault.path for fault in raised.value.faults] == ["graph/y"]
        assert [one.outcome for one in raised.value.outputs] == ["different"]
        assert "different" in raised.value._repr_html_()
        again = pickle.loads(pickle.dumps(raised.value))
        assert (again.faults, again.outputs) == (raised.value.faults, raised.value.outputs)
        assert files(tmp_path) == before


def test_nothing_is_written_if_the_original_cannot_be_run(tmp_path: Path) -> None:
    cases: list[tuple[Any, str]] = [
        (parsed("g (float[2] x) => (float[2] y) { y = other.domain.Fn(x) }"), "cannot load the original"),
        (
            parsed(
                "g () => (float[2] y, float16[1] h) <float[1] w = {1}> { h = Cast<to=10>(w)\n"
                " y = RandomNormal<shape=[2]>() }"
            ),
            "different results each",
        ),
        (
            parsed("g (seq(float[2]) x, int64 i) => (float[2] y) { y = SequenceAt(x, i) }"),
            "'x' of the original is not a",
        ),
        (
            parsed("g (float[2,3] x, float[2,4] w) => (float[N,M] y) { y = MatMul(x, w) }"),
            "cannot (load|run) the original",
        ),
    ]
    for model, expected in cases:
        with pytest.raises(VerificationError, match=expected) as raised:
            onnx_recast.fold(model, tmp_path / "out.onnx", verify="onnxruntime")
        assert "cannot be compared" in str(raised.value)
        assert files(tmp_path) == {}


def constant(values: str, kind: str = "float") -> onnx.ModelProto:
    """Return a model whose output has these elements, given as bits."""
    bits = [int(one, 16) for one in values.split()]
    dtype, number = {"float": (np.uint32, 1), "float16": (np.uint16, 10), "double": (np.uint64, 11)}.get(
        kind, (np.uint16, 16)
    )
    tensor = onnx.helper.make_tensor("c", number, [len(bits)], np.array(bits, dtype).tobytes(), raw=True)
    node = onnx.helper.make_node("Identity", ["c"], ["y"])
    output = onnx.helper.make_tensor_value_info("y", number, [len(bits)])
    graph = onnx.helper.make_graph([node], "g", [], [output], [tensor])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10)


OUTCOMES: list[tuple[str, str, str, str, float]] = [
    ("float", "3f800000 7fc00001 80000000", "3f800000 7fc00001 80000000", "equal", 0),
    ("float", "00000000 3f800000", "80000000 3f800000", "equal by value", 0),
    ("float", "7fc00000", "ffc00001", "equal by value", 0),
    ("float", "3f800000", "3f800010", "last digits", 16 * 2.0**-23),
    ("float", "3f800000", "3f800011", "different", 17 * 2.0**-23),
    ("float", "00000001", "80000001", "last digits", 2.0**-148),
    ("float", "3f800000", "7fc00000", "different", np.inf),
    ("float", "7f7fffff", "7f800000", "different", np.inf),
    ("float16", "3c00", "3c10", "last digits", 2.0**-6),
    ("float16", "3c00", "3c11", "different", 17 * 2.0**-10),
    ("bfloat16", "3f80", "3f82", "last digits", 2.0**-6),
    ("bfloat16", "3f80", "3f83", "different", 3 * 2.0**-7),
    ("double", "3ff0000000000000", "3ff0000000000001", "last digits", 2.0**-52),
    ("double", "7fefffffffffffff", "ffefffffffffffff", "different", np.inf),
]


@pytest.mark.parametrize(("kind", "left", "right", "outcome", "difference"), OUTCOMES)
def test_outcomes(kind: str, left: str, right: str, outcome: str, difference: float) -> None:
    compared = compare_runs(constant(left, kind), constant(right, kind))
    assert [(one.outcome, one.largest_difference) for one in compared] == [(outcome, difference)]


OTHER_TYPES = [
    ("int64[1] y", "Constant<value=int64[1] {-9223372036854775807}>()", "Constant<value=int64[1] {1}>()", 2.0**63),
    ("int8[1] y", "Constant<value=int8[1] {-128}>()", "Constant<value=int8[1] {127}>()", 255),
    ("bool[1] y", "Constant<value=bool[1] {1}>()", "Constant<value=bool[1] {0}>()", None),
    ("string[1] y", 'Constant<value=string[1] {"a"}>()', 'Constant<value=string[1] {"b"}>()', None),
    ("float[N] y", "Constant<value=float[1] {1}>()", "Constant<value=float[2] {1, 1}>()", None),
]


@pytest.mark.parametrize(("output", "left", "right", "difference"), OTHER_TYPES)
def test_other_types_differ_or_not(output: str, left: str, right: str, difference: float | None) -> None:
    models = [parsed(f"g () => ({output}) {{ y = {node} }}") for node in (left, right)]
    assert compare_runs(models[0], models[0])[0].outcome == "equal"
    (compared,) = compare_runs(*models)
    assert (compared.outcome, compared.largest_difference) == ("different", difference)


def test_sequences_and_types_that_numpy_lacks() -> None:
    sequence = parsed("g (float[2] x) => (seq(float[2]) y) { y = SequenceConstruct(x, x) }")
    (compared,) = compare_runs(sequence, sequence)
    assert (compared.outcome, compared.shape) == ("equal", None)
    for kind in ("bfloat16", "float8e4m3fn", "float8e5m2", "string", "bool", "uint16", "double"):
        model = parsed(f"g ({kind}[N] x) => ({kind}[N] y) {{ y = Identity(x) }}")
        (compared,) = compare_runs(model, model)
        assert (compared.type, compared.shape, compared.outcome) == (kind.upper(), (2,), "equal")
    packed = parsed("g (float[3] x) => (int4[3] y) { y = Cast<to=22>(x) }")
    (compared,) = compare_runs(packed, packed, {"x": [1, -8, 7]})
    assert (compared.type, compared.shape, compared.outcome) == ("INT4", (3,), "equal")


def test_float16_is_rounded_before_operators_without_a_kernel() -> None:
    """Otherwise, onnxruntime drops the cast, and multiplies by 1.0001, which FLOAT16 rounds to 1."""
    model = parsed(
        "g (float16[1] x) => (float[1] y) <float[1] w = {1.0001}> "
        "{ h = Cast<to=10>(w)\n s = Mul(x, h)\n y = Cast<to=1>(s) }"
    )
    rounded = parsed("g (float16[1] x) => (float[1] y) { y = Cast<to=1>(x) }")
    (compared,) = compare_runs(model, rounded, {"x": np.ones(1, np.float16)})
    assert compared.outcome == "equal"
    (compared,) = compare_runs(model, onnx_recast.fold(model).model)
    assert compared.outcome == "equal"


def test_float16_is_rounded_between_operators_without_a_kernel() -> None:
    """The square of 300 is infinite; onnxruntime also computes a single Identity between both in FLOAT."""
    model = parsed("g (float16[1] x) => (float16[1] y) { s = Mul(x, x)\n y = Sqrt(s) }")
    infinite = parsed("g (float16[1] x) => (float16[1] y) <float16[1] w = {31744}> { y = Max(x, w) }")
    (compared,) = compare_runs(model, infinite, {"x": np.full(1, 300, np.float16)})
    assert compared.outcome == "equal"


def test_rounding_leaves_types_without_a_kernel_alone() -> None:
    """There is no Identity of INT4."""
    model = parsed(
        "g (float16[2,1] x) => (float16[2,1] y) <float[1,2] w = {1, -2}, float16 s = {1}> "
        "{ i = Cast<to=22>(w)\n t = Transpose(i)\n d = DequantizeLinear(t, s)\n y = Add(x, d) }"
    )
    assert [one.outcome for one in compare_runs(model, model)] == ["equal"]


def test_symbolic_dimensions_have_one_size_per_name() -> None:
    model = parsed(
        "g (float[N,M] x, float[M,N] w, float[?] q) => (float[N,N] y, float[?] z) { y = MatMul(x, w)\n z = Neg(q) }"
    )
    assert [one.shape for one in compare_runs(model, model)] == [(2, 2), (2,)]
    gather = parsed("g (float[N,4] x, int64[K] i) => (float[K,4] y) { y = Gather(x, i) }")
    assert [one.shape for one in compare_runs(gather, gather, seed=7)] == [(3, 4)]


def test_given_inputs() -> None:
    left = parsed("g (float[N] x) => (float[N] y) { y = Abs(x) }")
    right = parsed("g (float[N] x) => (float[N] y) { y = Identity(x) }")
    assert [one.outcome for one in compare_runs(left, right, {"x": [1, 2]})] == ["equal"]
    (compared,) = compare_runs(left, right, [{"x": [1]}, {"x": np.array([-3, 1, 2], np.float32)}, {"x": [-1]}])
    assert (compared.outcome, compared.shape, compared.largest_difference) == ("different", (3,), 6)
    assert str(compared) == "y (FLOAT[3]): different by up to 6, relative error 2"
    result = onnx_recast.fold(left, verify="onnxruntime", inputs={"x": [1]})
    assert result.verified is not None
    assert result.verified.outputs[0].shape == (1,)
    assert "equal" in result._repr_html_()
    assert result.to_dict()["verified"]["outputs"][0]["shape"] == [1]
    cases: list[tuple[Any, str]] = [
        ({}, "'x' of the left model is missing"),
        ({"x": [1], "z": [1]}, "has no input 'z'"),
        ({"x": np.ones(1)}, "'x' is float64; must be float32"),
        ([], "the sequence is empty"),
    ]
    for inputs, expected in cases:
        with pytest.raises(ValueError, match=expected):
            compare_runs(left, right, inputs)


def test_models_with_other_outputs_cannot_be_compared() -> None:
    left, right = (parsed(f"g (float[2] x) => (float[2] {name}) {{ {name} = Neg(x) }}") for name in "yz")
    with pytest.raises(VerificationError, match="has the outputs 'y'; the right model 'z'"):
        compare_runs(left, right)


def test_last_digits_are_allowed_for_conversions_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from onnx_recast.results import OutputComparison, OutputComparisons

    path = MODELS / "fp8_qdq.onnx"
    for outcome, fold, convert in (
        ("equal by value", True, True),
        ("last digits", False, True),
        ("different", False, False),
    ):
        one = OutputComparison("y", "FLOAT", (1,), outcome, 1.0)  # type: ignore[arg-type]
        compared = OutputComparisons((one,))
        monkeypatch.setattr("onnx_recast._verify.compare_inputs", lambda *_, compared=compared: compared)
        calls: list[tuple[Callable[[], Any], bool]] = [
            (lambda: onnx_recast.fold(path, tmp_path / "o.onnx", verify="onnxruntime"), fold),
            (lambda: onnx_recast.convert_version(path, 21, tmp_path / "o.onnx", verify="onnxruntime"), convert),
        ]
        for call, passes in calls:
            if passes:
                assert call().verified.outputs == compared
                (tmp_path / "o.onnx").unlink()
            else:
                with pytest.raises(VerificationError):
                    call()
            assert files(tmp_path) == {}


def test_differences_of_floating_point_outputs_are_measured() -> None:
    cases: list[tuple[list[float], list[float], tuple[float, float, float]]] = [
        ([1, 2, -4], [1, 2, -4], (0, 0, 0)),
        ([1, 2, -4], [1, 3, -4], (1, 1 / 3, 0.25)),
        ([0, 0], [0, 1], (1, 0.5, np.inf)),
        ([1, np.inf, np.nan], [2, np.inf, np.nan], (1, 1 / 3, 1)),
        ([1, 2], [1, np.inf], (np.inf, np.inf, np.inf)),
    ]
    identity = parsed("g (float[N] x) => (float[N] y) { y = Identity(x) }")
    planted = parsed("g (float[N] x, float[N] z) => (float[N] y) { y = Identity(z) }")
    both = parsed("g (float[N] x, float[N] z) => (float[N] y) { y = Identity(x) }")
    assert [one.relative_error for one in compare_runs(identity, identity)] == [0.0]
    for left, right, expected in cases:
        (one,) = compare_runs(both, planted, {"x": left, "z": right})
        assert (one.largest_difference, one.mean_difference, one.relative_error) == pytest.approx(expected)


def test_comparisons_are_a_table() -> None:
    left = parsed("g (float[N] x, int8[N] i) => (float[N] y, int8[N] label) { y = Abs(x)\n label = Identity(i) }")
    right = parsed("g (float[N] x, int8[N] i) => (float[N] y, int8[N] label) { y = Neg(x)\n label = Identity(i) }")
    outputs = compare_runs(left, right, {"x": [1, -2], "i": [3, 4]})
    assert str(outputs).splitlines() == [
        "output  type      outcome    largest  mean  relative error",
        "y       FLOAT[2]  different  2        1     1",
        "label   INT8[2]   equal      0        -     -",
    ]
    assert "<td>0.5</td>" in compare_runs(left, right, {"x": [1, -2, -2, -2], "i": [1] * 4})._repr_html_()


def test_precision_is_verified_with_a_tolerance(tmp_path: Path) -> None:
    model = parsed("g (float[N] x) => (float[N] y) { s = Mul(x, x)\n y = Sqrt(s) }")
    output = tmp_path / "half.onnx"
    with pytest.raises(VerificationError, match=r"differ in onnxruntime by more than the tolerance of 0\.01") as raised:
        onnx_recast.convert_precision(model, output=output, policy="all", verify="onnxruntime", inputs={"x": [300]})
    assert [(one.description, one.relative_error) for one in raised.value.outputs] == [("FLOAT[1]", np.inf)]
    assert files(tmp_path) == {}
    result = onnx_recast.convert_precision(model, output=output, verify="onnxruntime", inputs={"x": [300]})
    assert result.verified is not None
    assert [one.relative_error <= 1e-2 for one in result.verified.outputs if one.relative_error is not None] == [True]
    with pytest.raises(VerificationError, match="tolerance of 1e-08"):
        onnx_recast.convert_precision(model, policy="all", verify="onnxruntime", inputs={"x": [0.1]}, tolerance=1e-8)


def test_inputs_and_outputs_may_change_their_floating_point_types() -> None:
    model = parsed("g (float[N] x) => (float[N] y, int64[1] n) { y = Relu(x)\n n = Shape(x) }")
    result = onnx_recast.convert_precision(model, io="convert", verify="onnxruntime", inputs={"x": [0.1, -2, 7]})
    assert result.verified is not None
    first, second = result.verified.outputs
    assert (first.outcome, second.outcome) == ("different", "equal")
    assert first.relative_error is not None
    assert 0 < first.relative_error < 1e-3


def test_options_that_exclude_each_other() -> None:
    path = MODELS / "fp8_qdq.onnx"
    with pytest.raises(ValueError, match="expected True, False or 'onnxruntime', not 'tensorrt'"):
        onnx_recast.fold(path, verify="tensorrt")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="verify='onnxruntime' only"):
        onnx_recast.fold(path, verify=True, inputs={})
    with pytest.raises(ValueError, match="tolerance: it is used with verify='onnxruntime' only"):
        onnx_recast.fold(path, tolerance=0.1)
    with pytest.raises(ValueError, match="from_opset"):
        onnx_recast.convert_version(path, 21, from_opset=20, verify="onnxruntime")


@pytest.mark.parametrize("package", ["onnx", "onnxruntime"])
def test_a_package_that_is_not_installed_is_named(
    package: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    calls: list[Callable[[], object]] = [
        lambda: onnx_recast.fold(MODELS / "fp8_qdq.onnx", tmp_path / "o.onnx", verify="onnxruntime"),
        lambda: compare_runs(MODELS / "fp8_qdq.onnx", MODELS / "fp8_qdq.onnx"),
    ]
    for call in calls:
        with pytest.raises(ImportError, match=f"pip install {package} ") as raised:
            call()
        assert raised.value.name == package
        assert files(tmp_path) == {}
