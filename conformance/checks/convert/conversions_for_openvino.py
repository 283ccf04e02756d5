"""`convert --target openvino@V` writes what OpenVINO computes as ONNX defines it.

The guarded casts to FLOAT8 are run on all FLOAT16 values, and on FLOAT values that include all ties.
"""

import ml_dtypes
import numpy as np
import onnx

from support.common import scratch_folder
from support.target import Target

# In a sample, one of so many tests of the operators that OpenVINO computes right.
OTHERS = 20
FLOAT8 = {17: ("float8e4m3fn", ml_dtypes.float8_e4m3fn), 19: ("float8e5m2", ml_dtypes.float8_e5m2)}
RANDOM_FLOATS = 1_000_000


def check(report):
    with Target("openvino") as target:
        target.check(report, OTHERS)
        for to in FLOAT8:
            report.case(f"FLOAT16 to {FLOAT8[to][0]}", guarded(target, to, np.arange(1 << 16, dtype=np.uint16).view(np.float16)))
            report.case(f"FLOAT to {FLOAT8[to][0]}", guarded(target, to, floats(to)))


def floats(to):
    """Random bit patterns, the numbers of the type and the ties between them, and the FLOAT values next to each."""
    codes = np.arange(256, dtype=np.uint8).view(FLOAT8[to][1]).astype(np.float32)
    numbers = np.sort(codes[np.isfinite(codes)])
    near = np.concatenate([numbers, (numbers[1:] + numbers[:-1]) / 2])
    beside = [np.nextafter(near, np.float32(end)) for end in (-np.inf, np.inf)]
    random = np.random.default_rng(47).integers(0, 1 << 32, RANDOM_FLOATS, np.uint32).view(np.float32)
    return np.concatenate([near, *beside, random, np.float32([np.nan, np.inf, -np.inf])])


def guarded(target, to, array):
    """What the guarded cast makes of an array, if it is not what ONNX defines: NaN is NaN, everything else is clipped and rounded."""
    name, dtype = FLOAT8[to]
    source = "float16" if array.dtype == np.float16 else "float"
    text = f'<ir_version: 10, opset_import: ["": 21]> g ({source}[N] x) => ({name}[N] y) {{ y = Cast <to = {to}> (x) }}'
    with scratch_folder() as folder:
        original, output = folder / "original.onnx", folder / "model.onnx"
        onnx.save(onnx.parser.parse_model(text), original)
        done = target.convert(original, output)
        if done.returncode != 0:
            return done.stdout + done.stderr
        answer = target.process.ask("run", output.read_bytes(), {"x": (onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape, array.tobytes())}, True)
    if isinstance(answer, str):
        return answer
    largest = float(ml_dtypes.finfo(dtype).max)
    expected = np.clip(array.astype(np.float32), -largest, largest).astype(dtype)
    found = np.frombuffer(answer[0][2], dtype)
    same = (found.view("u1") == expected.view("u1")) | (np.isnan(found.astype("f4")) & np.isnan(expected.astype("f4")))
    return not same.all() and f"{np.count_nonzero(~same)} of {len(same)} differ, the first is {array[np.argmin(same)]}"
