"""Compares the module with the command: casts of all pairs of types, and every model of the onnx wheel.

Run it with the wheel installed: python python/tests/conformance.py FOLDER, that of the unpacked wheel onnx 1.22.0.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import onnx_recast

RECAST = Path(sysconfig.get_path("scripts")) / "recast"
TYPES = [name for name in TensorProto.DataType.keys() if name != "UNDEFINED" and not name.startswith("COMPLEX")]  # noqa: SIM118
BITS = {"INT2": 2, "UINT2": 2, "INT4": 4, "UINT4": 4, "FLOAT4E2M1": 4, "FLOAT6E2M3": 6, "FLOAT6E3M2": 6, "BOOL": 1}
OPSETS = (28, 21, 13)
PRECISIONS = ("FLOAT16", "BFLOAT16", "FLOAT")
LITERALS = ["0", "1", "-1", "1.5", "+2", "1e3", "-1e-3", "448", "65504", "1e9", "127", "inf", "-INF", "NaN", "x", ""]


class Comparison:
    """Counts cases and keeps those that differ."""

    def __init__(self) -> None:
        self.cases: Counter[str] = Counter()
        self.differences: list[str] = []

    def case(self, kind: str, name: str, same: bool) -> None:
        """Count one case."""
        self.cases[kind] += 1
        if not same:
            self.differences.append(f"{kind}: {name}")


def recast(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    return subprocess.run([RECAST, *arguments], capture_output=True, text=True, check=False)


def samples(name: str) -> Any:
    """Return all elements of a type of at most 16 bits, and random bit patterns of others."""
    if name == "STRING":
        return np.array(LITERALS, object)
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(name)))
    if dtype.itemsize > 2:
        patterns = np.random.default_rng(1).integers(0, 256, 4096 * dtype.itemsize, np.uint8)
        small = np.arange(-300, 300).astype(dtype).view(np.uint8)
        return np.concatenate([patterns, small]).view(dtype)
    patterns = np.arange(1 << BITS.get(name, 8 * dtype.itemsize)).astype(f"u{dtype.itemsize}")
    if name in ("INT2", "INT4"):
        # Packages extend the sign to the byte.
        shift = 8 - BITS[name]
        patterns = ((patterns << shift).astype(np.int8) >> shift).view(np.uint8)
    return patterns.view(dtype)


def options_of(target: str) -> Iterator[dict[str, Any]]:
    """Return the combinations of options that matter for a type."""
    yield {}
    if target.startswith("FLOAT8") and target != "FLOAT8E8M0":
        yield {"saturate": False}
    if target == "FLOAT8E8M0":
        yield {"round_mode": "down"}
        yield {"round_mode": "nearest"}


def compare_casts(found: Comparison, folder: Path) -> None:
    """Cast samples of every type to every other, with the command and with the module."""
    given, written = folder / "in.pb", folder / "out.pb"
    for source in TYPES:
        array = samples(source)
        for target in TYPES:
            # A string that is not a number is an error of the whole array.
            for elements in (
                [array] if source != "STRING" else [array[index : index + 1] for index in range(array.size)]
            ):
                given.write_bytes(numpy_helper.from_array(elements).SerializeToString())
                for options in options_of(target) if elements.size != 1 else [{}]:
                    flags = [] if options.get("saturate", True) else ["--no-saturate"]
                    flags += ["--round-mode", options["round_mode"]] if "round_mode" in options else []
                    flags += ["--undefined", "fold", "--contested", "text"]
                    written.unlink(missing_ok=True)
                    done = recast("cast", given, "-o", written, "--to", target, *flags)
                    name = f"{source} to {target} {options} {elements[0] if elements.size == 1 else ''}"
                    try:
                        result = onnx_recast.cast(elements, target, undefined="fold", contested="text", **options)
                    except onnx_recast.CastError as error:
                        found.case("refused casts", f"{name}: {error}, {done}", done.returncode != 0)
                        continue
                    same = done.returncode == 0 and equal(result, onnx.load_tensor(written))
                    found.case("casts", f"{name}: {done}", same)


def equal(result: Any, tensor: TensorProto) -> bool:
    """Compare bits, or strings."""
    expected = numpy_helper.to_array(tensor)
    if result.dtype == object:
        strings = [item.decode() if isinstance(item, bytes) else str(item) for item in expected.reshape(-1).tolist()]
        return bool(result.reshape(-1).tolist() == strings)
    same_type = result.dtype == expected.dtype and result.shape == expected.shape
    return bool(same_type and np.array_equal(result.reshape(-1).view(np.uint8), expected.reshape(-1).view(np.uint8)))


def compare_models(found: Comparison, folder: Path, data: Path) -> None:
    """Fold, convert and change every model as a ModelProto, and its file with the command."""
    inputs = folder / "inputs"
    inputs.mkdir()
    models: dict[Path, onnx.ModelProto] = {}
    for path in sorted(data.rglob("*.onnx")):
        proto = onnx.load(path, load_external_data=False)
        copy = inputs / "__".join(path.relative_to(data).parts)
        copy.write_bytes(proto.SerializeToString())
        models[copy] = proto
    compare(found, "folds", models, folder / "folded", onnx_recast.fold, ["fold"])
    for opset in OPSETS:

        def convert(proto: onnx.ModelProto, opset: int = opset) -> Any:
            return onnx_recast.convert_version(proto, opset)

        arguments = ["convert", "--opset", str(opset)]
        compare(found, f"conversions to {opset}", models, folder / f"opset{opset}", convert, arguments)
    for to in PRECISIONS:

        def change(proto: onnx.ModelProto, to: str = to) -> Any:
            return onnx_recast.convert_precision(proto, to)

        compare(found, f"changes to {to}", models, folder / to, change, ["precision", "--to", to])


def compare(
    found: Comparison,
    kind: str,
    models: dict[Path, onnx.ModelProto],
    folder: Path,
    function: Callable[[onnx.ModelProto], Any],
    arguments: list[str],
) -> None:
    """Compare the bytes of the models, or the errors."""
    folder.mkdir()
    results: dict[Path, bytes] = {}
    errors: dict[Path, onnx_recast.RecastError] = {}
    for path, proto in models.items():
        try:
            results[path] = function(proto).model.SerializeToString()
        except onnx_recast.RecastError as error:
            errors[path] = error
    for batch in batches(results):
        done = recast(*arguments, *batch, "--out-dir", folder, "--quiet")
        for path in batch:
            output = folder / path.name
            same = done.returncode == 0 and output.read_bytes() == results[path]
            found.case(kind, f"{path.name}: {done.stderr}", same)
    for batch in batches(errors):
        report = json.loads(recast(*arguments, *batch, "--dry-run", "--format", "json").stdout)
        refused = {
            one["path"]: [blocker["code"] for blocker in one["blockers"]]
            for one in report["models"]
            if one.get("blockers")
        }
        failed = {one["path"]: one["code"] for one in report["errors"]}
        for path in batch:
            refusal = errors[path]
            codes = [blocker.code for blocker in getattr(refusal, "blockers", ())]
            same = refused.get(str(path)) == codes if codes else failed.get(str(path)) == refusal.kind
            found.case(f"{kind} refused", f"{path.name}: {refusal}", same)


def batches(paths: Iterable[Path]) -> list[list[Path]]:
    """Return lists of paths: a command line has an end."""
    paths = list(paths)
    return [paths[start : start + 400] for start in range(0, len(paths), 400)]


def main() -> None:
    """Compare, and print counts."""
    data = Path(sys.argv[1]) / "onnx" / "backend" / "test" / "data"
    found = Comparison()
    with tempfile.TemporaryDirectory(prefix="recast-module-") as name:
        compare_models(found, Path(name), data)
        compare_casts(found, Path(name))
    print("; ".join(f"{count} {kind}" for kind, count in found.cases.items()))
    for difference in found.differences[:20]:
        print(f"differs: {difference}")
    print(f"{len(found.differences)} of {found.cases.total()} cases differ")
    sys.exit(1 if found.differences or not found.cases else 0)


if __name__ == "__main__":
    main()
