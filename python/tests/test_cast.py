"""cast and cast_like."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

import onnx_recast
from onnx_recast._dtypes import ML_DTYPES, NUMPY

NUMERIC = {name: np.dtype(numpy) for name, numpy in NUMPY.items() if not name.startswith("COMPLEX")} | {
    name: np.dtype(getattr(ml_dtypes, of_ml_dtypes)) for name, of_ml_dtypes in ML_DTYPES.items()
}


@pytest.mark.parametrize(("source", "target"), list(itertools.product(NUMERIC, NUMERIC)))
def test_small_numbers_survive_between_all_types(source: str, target: str) -> None:
    """0 and 1 are in every type but FLOAT8E8M0, which has no 0."""
    numbers = [1, 1] if "FLOAT8E8M0" in (source, target) else [0, 1]
    array = np.array(numbers * 500, np.float32).astype(NUMERIC[source])
    result = onnx_recast.cast(array, target, undefined="fold", contested="text")
    assert result.dtype == NUMERIC[target]
    assert result.astype(np.float32).tolist() == numbers * 500


@pytest.mark.parametrize("name", NUMERIC)
def test_strings_both_ways(name: str) -> None:
    array = np.ones(3, np.float32).astype(NUMERIC[name])
    strings = onnx_recast.cast(array, "STRING", undefined="fold", contested="text")
    assert strings.dtype == object
    assert all(type(string) is str for string in strings)
    if name != "BOOL":
        assert onnx_recast.cast(["1"] * 3, name, undefined="fold").tolist() == array.tolist()


def test_each_element_is_rounded_once() -> None:
    random = np.random.default_rng(1)
    numbers = random.standard_normal(100_000).astype(np.float32) * np.float32(100)
    for target in ("FLOAT16", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E5M2"):
        expected = np.clip(numbers, -448, 448).astype(NUMERIC[target])
        result = onnx_recast.cast(np.clip(numbers, -448, 448), target)
        np.testing.assert_array_equal(result.view(np.uint8), expected.view(np.uint8))


def test_options() -> None:
    big = np.array([1e9], np.float32)
    assert onnx_recast.cast(big, "FLOAT8E4M3FN").tolist() == [448]
    assert np.isnan(onnx_recast.cast(big, "FLOAT8E4M3FN", saturate=False).astype(np.float32))
    modes: dict[Literal["up", "down", "nearest"], int] = {"up": 4, "down": 2, "nearest": 2}
    for mode, expected in modes.items():
        assert float(onnx_recast.cast(np.float32(2.75), "FLOAT8E8M0", round_mode=mode)) == expected
    cases: list[dict[str, Any]] = [{"round_mode": "x"}, {"undefined": "x"}, {"contested": "x"}]
    for options in cases:
        with pytest.raises(ValueError, match="'x'"):
            onnx_recast.cast(big, "FLOAT16", **options)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24, dtype=np.float32).reshape(2, 3, 4)[:, ::2, ::-1],
        np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
        np.broadcast_to(np.float32(7), (3, 4)),
        np.arange(5, dtype=">f4"),
        np.arange(5, dtype=">i8")[::2],
        np.array(2.5, np.float32),
        np.zeros((0, 3), np.float32),
        np.float64(1.5),
        3,
        [[1, 2], [3, 4]],
    ],
    ids=lambda array: f"{type(array).__name__}-{getattr(array, 'dtype', '')}-{getattr(array, 'strides', '')}",
)
def test_every_memory_layout(array: Any) -> None:
    expected = np.asarray(array).astype(np.float16)
    result = onnx_recast.cast(array, "FLOAT16")
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(result, expected)


def test_arrays_of_ml_dtypes_in_every_layout() -> None:
    array = np.arange(-8, 8).astype(ml_dtypes.int4).reshape(4, 4)
    for view in (array, array.T, array[::2, ::-1], array[1, 1], array[:0]):
        np.testing.assert_array_equal(onnx_recast.cast(view, "INT32"), view.astype(np.int32))
    back = onnx_recast.cast(np.arange(-8, 8), "INT4")
    np.testing.assert_array_equal(back.view(np.uint8), array.reshape(-1).view(np.uint8))


@pytest.mark.parametrize(
    "to", ["float16", "FLOAT16", TensorProto.FLOAT16, 10, np.float16, np.dtype("float16"), np.dtype(">f2")]
)
def test_names_of_types(to: Any) -> None:
    assert onnx_recast.cast([1.5], to).dtype == np.float16


def test_strings_of_every_kind() -> None:
    for strings in (["1", "2"], np.array(["1", "2"]), np.array([b"1", b"2"]), np.array(["1", b"2"], object)):
        assert onnx_recast.cast(strings, "INT64").tolist() == [1, 2]
    assert onnx_recast.cast("3", "INT64") == 3
    assert onnx_recast.cast([["a", "é"]], "STRING").tolist() == [["a", "é"]]
    with pytest.raises(TypeError, match="element 1 is a int"):
        onnx_recast.cast(np.array(["1", 2], object), "INT64")


def test_arrays_that_pass_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies and strings are made in parts, so that they can be interrupted."""
    monkeypatch.setattr("onnx_recast._operations.cast._STEP", 3)
    random = np.random.default_rng(1)
    for shape in [(7,), (200,), (3, 5), (60, 4, 7), (2, 3000), (1, 1, 1000)]:
        array = random.integers(-100, 100, shape).astype(np.int16)
        for view in (array, array.T, array[::-1], array[..., ::2], array.astype(">i2")):
            np.testing.assert_array_equal(onnx_recast.cast(view, "FLOAT"), view.astype(np.float32))
            strings = onnx_recast.cast(view, "STRING")
            assert strings.tolist() == view.astype(object).astype(str).tolist()
            for kind in (strings, strings.astype(str), strings[..., ::2]):
                np.testing.assert_array_equal(onnx_recast.cast(kind, "INT16"), kind.astype(np.int16))
    with pytest.raises(TypeError, match="element 4 is a float"):
        onnx_recast.cast(np.array(["1", "2", "3", "4", 5.0], object), "INT64")
    with pytest.raises(onnx_recast.CastError) as raised:
        onnx_recast.cast(["1", "2", "3", "4", "x"], "INT64")
    assert raised.value.index == 4


def test_cast_like() -> None:
    assert onnx_recast.cast_like([1.5], np.zeros(1, ml_dtypes.bfloat16)).dtype == ml_dtypes.bfloat16
    assert onnx_recast.cast_like([15], ["text"]).tolist() == ["15"]
    assert onnx_recast.cast_like(
        np.array([1e9], np.float32), np.zeros(1, ml_dtypes.float8_e5m2), saturate=False
    ).tolist() == [np.inf]


@pytest.mark.parametrize(
    ("array", "to", "kind", "index"),
    [
        (np.array([1, np.nan], np.float32), "INT8", "undefined", 1),
        (["1", "x"], "FLOAT", "invalid-literal", 1),
        (np.zeros(1, np.complex64), "FLOAT", "type-unsupported", None),
        (np.zeros(1, np.float32), "COMPLEX64", "type-unsupported", None),
    ],
)
def test_errors(array: Any, to: str, kind: str, index: int | None) -> None:
    with pytest.raises(onnx_recast.CastError) as raised:
        onnx_recast.cast(array, to)
    assert isinstance(raised.value, ValueError)
    assert (raised.value.kind, raised.value.index) == (kind, index)


def test_an_old_opset_has_fewer_types() -> None:
    with pytest.raises(onnx_recast.CastError, match="before opset 19") as raised:
        onnx_recast.cast([1.0], "FLOAT8E5M2", opset=18)
    assert raised.value.kind == "type-unsupported"
    for opset in (0, 29):
        with pytest.raises(ValueError, match="opset: expected an integer between 1 and 28"):
            onnx_recast.cast([1.0], "FLOAT16", opset=opset)


def test_unknown_types() -> None:
    cases: list[tuple[Any, str]] = [
        ("float32", "did you mean FLOAT?"),
        (99, "99"),
        (np.dtype("M8[s]"), "no element type"),
    ]
    for to, message in cases:
        with pytest.raises(ValueError, match=message.replace("?", r"\?")):
            onnx_recast.cast([1.0], to)
    with pytest.raises(ValueError, match="no element type for datetime64"):
        onnx_recast.cast(np.zeros(1, "M8[s]"), "FLOAT")


def test_the_numbers_of_types_are_those_of_onnx() -> None:
    for name, number in TensorProto.DataType.items():
        if name == "UNDEFINED" or name.startswith("COMPLEX"):
            continue
        result = onnx_recast.cast(np.ones(1, np.float32), number, undefined="fold")
        assert result.dtype == helper.tensor_dtype_to_np_dtype(number), name


def test_without_ml_dtypes_the_error_names_it(tmp_path: Path) -> None:
    (tmp_path / "ml_dtypes.py").write_text("raise ModuleNotFoundError('no', name='ml_dtypes')\n")
    script = """import onnx_recast
try: onnx_recast.cast([1.0], "BFLOAT16")
except ImportError as error: print(error.name, error)"""
    env = {"PYTHONPATH": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=env, cwd=tmp_path, check=True
    )
    assert run.stdout == "ml_dtypes BFLOAT16 needs the package ml_dtypes: pip install ml_dtypes\n"
