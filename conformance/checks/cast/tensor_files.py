"""`recast cast` computes every numeric pair of types as cast_rules.py does, in files that numpy and onnx write and read.

Every pair goes from a TensorProto to a .npy file under one reading of contested values, and back the other way under the other.
"""

import numpy as np
import onnx
from onnx import TensorProto

from support import cast_rules
from support.cast_values import answers_of, difference, interesting_codes, variants
from support.codes import codes, tensor_of_codes
from support.common import recast, scratch_folder

# numpy's own types; all others are stored in .npy files as unsigned integers.
NUMPY = {
    "BOOL": "bool", "FLOAT": "float32", "DOUBLE": "float64", "FLOAT16": "float16", "INT8": "int8", "INT16": "int16", "INT32": "int32",
    "INT64": "int64", "UINT8": "uint8", "UINT16": "uint16", "UINT32": "uint32", "UINT64": "uint64",
}  # fmt: skip


def check(report):
    count = 5_000 if report.everything else 100
    with scratch_folder() as scratch:
        for source in cast_rules.NUMERIC:
            for target in cast_rules.NUMERIC:
                values = interesting_codes(source, target, count)
                for attributes in variants(target):
                    for form, result, reading in (("pb", "npy", "text"), ("npy", "pb", "runtime")):
                        name = f"{source}.{form} to {target}.{result} {attributes or ''}"
                        report.case(name, problem(scratch, values, source, target, attributes, form, result, reading))
        check_size(report, scratch)
    report.note(f"{len(cast_rules.NUMERIC)} types")


def problem(scratch, values, source, target, attributes, form, result, reading):
    """What is wrong with one cast; None if nothing is."""
    input_file, output_file = scratch / f"in.{form}", scratch / f"out.{result}"
    output_file.unlink(missing_ok=True)
    write(input_file, source, values)
    options = ["--to", target.lower(), "--undefined", "fold", "--contested", reading]
    if form == "npy" and source not in NUMPY:
        options += ["--from", source]
    if not attributes.get("saturate", 1):
        options.append("--no-saturate")
    options += ["--round-mode", attributes.get("round_mode", "up")]
    done = recast("cast", input_file, "-o", output_file, *options)
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stderr.strip()}"
    answers = answers_of(values, source, target, 28, attributes)
    return difference(values, answers, read(output_file, target), target, by_runtimes=reading == "runtime")


def write(path, type_name, values):
    width = cast_rules.bits_of(type_name)
    if path.suffix == ".pb":
        onnx.save_tensor(tensor_of_codes("x", type_name, [len(values)], values, width), path)
        return
    array = np.array(values, dtype=f"uint{max(width, 8)}")
    np.save(path, array.view(NUMPY.get(type_name, array.dtype)))


def read(path, type_name):
    """The bit patterns of a file's elements; an AssertionError where it does not have the type."""
    width = cast_rules.bits_of(type_name)
    if path.suffix == ".pb":
        tensor = onnx.load_tensor(path)
        assert TensorProto.DataType.Name(tensor.data_type) == type_name
        return codes(tensor, width)
    array = np.load(path)
    assert array.dtype == NUMPY.get(type_name, f"uint{max(width, 8)}"), array.dtype
    return array.view(f"uint{max(width, 8)}").tolist()


def check_size(report, scratch):
    """A large array keeps its shape and values, in either order of the dimensions."""
    array = np.arange(3_000_000, dtype=np.float32).reshape(1500, 2000) % 1009 / 7
    for name, stored in (("C", array), ("Fortran", np.asfortranarray(array))):
        np.save(scratch / "large.npy", stored)
        done = recast("cast", scratch / "large.npy", "-o", scratch / "half.npy", "--to", "FLOAT16")
        same = done.returncode == 0 and np.array_equal(np.load(scratch / "half.npy"), array.astype(np.float16))
        report.case(f"large array in {name} order", not same and f"it differs: {done.stderr.strip()}")
