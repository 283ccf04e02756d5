"""What the checks share: where things are, counting cases, running recast, running models, comparing tensors."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "models").glob("*.onnx"))
CACHE = ROOT / "conformance/.cache"
WHEEL_DATA = CACHE / "onnx-1.22.0/onnx/backend/test/data"
RECAST = Path(os.environ["RECAST"]).absolute()
# Warnings of kernels, which no session's options suppress.
onnxruntime.set_default_logger_severity(4)


class Report:
    """Counts the cases of one check and keeps what failed."""

    def __init__(self, everything):
        self.everything = everything
        self.cases, self.failures, self.notes, self.details = 0, [], [], []

    def case(self, name, problem=None):
        """One case; `problem` says what is wrong with it, and anything false means nothing is. True if the case passes."""
        self.cases += 1
        if problem:
            self.failures.append(f"{name}: {problem}")
        return not problem

    def attempt(self, name, action):
        """One case that passes if the action raises nothing; returns what the action does, None if it fails."""
        try:
            result = action()
        except Exception as error:
            self.case(name, f"{type(error).__name__}: {error}")
            return None
        self.case(name)
        return result

    def note(self, text):
        """Something to say in the check's line."""
        self.notes.append(text)

    def skip(self, reason):
        """Says why there is nothing to check; without it, a check of no case fails."""
        self.note(f"skipped: {reason}")

    @property
    def failed(self):
        skipped = any(note.startswith("skipped") for note in self.notes)
        return bool(self.failures) or (self.cases == 0 and not skipped)

    def summary(self):
        verdict = "FAIL" if self.failed else "ok  "
        counts = f"{self.cases - len(self.failures)} of {self.cases} pass"
        return "; ".join([f"{verdict} {counts}", *self.notes])


def recast(*arguments):
    """Runs recast; its exit code, stdout and stderr."""
    return subprocess.run([RECAST, *arguments], capture_output=True, text=True)


def fold_all(report, models, output_folder, *options):
    """Folds many models in one run, each of which must succeed. Returns {input: output}; failures are reported."""
    output_folder.mkdir(exist_ok=True)
    models = list(models)
    done = recast("fold", *models, "--out-dir", output_folder, *options)
    if done.returncode != 0 and len(models) > 1:
        # One bad model fails the run; one by one, the good ones are still compared.
        return {model: output for each in models for model, output in fold_all(report, [each], output_folder, *options).items()}
    if done.returncode != 0:
        report.case(f"recast fold {models[0].name} {' '.join(options)}", f"exit code {done.returncode}: {done.stderr.strip()}")
        return {}
    return {model: output_folder / model.name for model in models}


@contextlib.contextmanager
def scratch_folder():
    """A folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="recast-conformance-") as name:
        yield Path(name)


def wheel_models():
    """Every model of the onnx wheel's backend tests."""
    return sorted(WHEEL_DATA.rglob("*.onnx"))


def copy_with_unique_names(models, folder):
    """Most models are called `model.onnx`; the copies carry their path in their name. Returns {copy: original}."""
    folder.mkdir(parents=True, exist_ok=True)
    copies = {}
    for model in models:
        base = WHEEL_DATA if model.is_relative_to(WHEEL_DATA) else ROOT
        copy = folder / "__".join(model.relative_to(base).parts)
        shutil.copyfile(model, copy)
        copies[copy] = model
    return copies


def batches(items, size=400):
    """Lists of at most `size`: a command line has an end."""
    items = list(items)
    return [items[start : start + size] for start in range(0, len(items), size)]


def all_graphs(model):
    """The main graph, every subgraph at any depth, and every function body."""
    waiting = [model.graph, *model.functions, *(info.algorithm for info in model.training_info)]
    while waiting:
        graph = waiting.pop()
        yield graph
        for node in graph.node:
            for attribute in node.attribute:
                waiting += [attribute.g] if attribute.HasField("g") else []
                waiting += attribute.graphs


def count_casts(model):
    """How many Cast and CastLike nodes a model holds, at any depth."""
    return sum(node.op_type in ("Cast", "CastLike") for graph in all_graphs(model) for node in graph.node)


def why_invalid(path):
    """Why onnx.checker refuses a model, inferred types included; nothing if it accepts it."""
    try:
        onnx.checker.check_model(path, full_check=True)
    except Exception as error:
        return f"onnx.checker: {str(error)[:600]}"
    return None


def passes_checker(path):
    """Whether onnx.checker accepts a model, inferred types included."""
    return why_invalid(path) is None


def sample_inputs(model):
    """A value for every input that has no initializer; unknown dimensions are 2."""
    initialized = {tensor.name for tensor in model.graph.initializer}
    return {value.name: sample_array(value.type.tensor_type) for value in model.graph.input if value.name not in initialized}


def sample_array(tensor_type):
    shape = [dim.dim_value or 2 for dim in tensor_type.shape.dim]
    wave = 2 * np.sin(1 + np.arange(int(np.prod(shape)))).reshape(shape)
    return np.asarray(wave).astype(helper.tensor_dtype_to_np_dtype(tensor_type.elem_type))


def run_model(path, inputs, runner):
    """The outputs of a model as arrays; the runner is `onnxruntime` or `reference`."""
    if runner == "reference":
        model = onnx.load(path)
        named_casts = [CastByName] if model.opset_import[0].version < 6 else []
        return ReferenceEvaluator(model, new_ops=named_casts).run(None, inputs)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    # Fused and repacked operators round differently, and some are wrong for odd shapes: the graph must run unoptimized.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.disable_prepacking", "1")
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session.run(None, {name: onnxruntime_input(value) for name, value in inputs.items()})


def onnxruntime_input(value):
    """Element types that numpy lacks go in as bits."""
    if not isinstance(value, np.ndarray) or value.dtype.isbuiltin:
        return value
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits(value), helper.np_dtype_to_tensor_dtype(value.dtype))


def compare_outputs(before, after, inputs):
    """Runs both models on the same inputs. Returns what judged them, None if neither runner can run the first, and what differs.

    onnxruntime decides where its outputs are equal to the bit. On a CPU it drops casts to FLOAT16 in front of operators without a
    FLOAT16 kernel, so that constants are not rounded before a fold and are after it: where outputs are merely close, the reference
    evaluator decides.
    """
    close_in_onnxruntime = False
    for runner in ("onnxruntime", "reference"):
        try:
            expected = run_model(before, inputs, runner)
        except Exception:
            continue
        try:
            actual = run_model(after, inputs, runner)
        except Exception as error:
            return runner, f"runs in {runner} before, not after: {error}"
        if all(map(same_value, expected, actual)):
            return runner, None
        close_in_onnxruntime = runner == "onnxruntime" and all(map(close_value, expected, actual))
        if not close_in_onnxruntime:
            return runner, f"outputs differ in {runner}: {expected} before, {actual} after"
    return ("onnxruntime, closely", None) if close_in_onnxruntime else (None, None)


def same_value(left, right):
    """Equality to the bit, NaN as NaN; sequences and absent optionals too."""
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same_value, left, right))
    if left is None or right is None:
        return left is right
    left, right = np.asarray(left), np.asarray(right)
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    if left.dtype.kind in "OUS":
        return bool((left == right).all())
    return bool(((bits(left) == bits(right)) | ((left != left) & (right != right))).all())


def close_value(left, right):
    """Equality of floats up to the rounding of FLOAT16."""
    if not isinstance(left, np.ndarray) or left.dtype.kind != "f" or left.dtype != right.dtype or left.shape != right.shape:
        return same_value(left, right)
    tolerance = 2.0**-7
    return np.allclose(left, right, rtol=tolerance, atol=tolerance * np.nanmax(np.abs(left), initial=0), equal_nan=True)


def bits(array):
    """The bit patterns of an array, as unsigned integers of its width."""
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}") if array.dtype.itemsize <= 8 else array


def array_of_codes(type_name, element_codes, width):
    """An array with these bit patterns; narrow integers are sign-extended, as numpy's users expect them."""
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(type_name)))
    if type_name in ("INT2", "INT4"):
        element_codes = [code | 0x100 - (1 << width) if code >> (width - 1) else code for code in element_codes]
    return np.array(element_codes, f"u{dtype.itemsize}").view(dtype)


def codes(tensor, width):
    """The bit patterns of a tensor's elements as integers, for every kind of storage; `width` in bits."""
    return array_codes(numpy_helper.to_array(tensor), width)


def array_codes(array, width):
    """The bit patterns of an array's elements."""
    return [code & ((1 << width) - 1) for code in bits(array).flatten().tolist()]


def tensor_of_codes(name, type_name, shape, element_codes, width):
    """A tensor with these bit patterns in raw_data."""
    tensor = TensorProto(name=name, data_type=TensorProto.DataType.Value(type_name), dims=shape)
    stream = sum(code << (index * width) for index, code in enumerate(element_codes))
    tensor.raw_data = stream.to_bytes((len(element_codes) * width + 7) // 8, "little")
    return tensor


class CastByName(OpRun):
    """Cast before opset 6, whose `to` is a name; onnx's reference evaluator has only the later ones."""

    op_domain = ""

    def _run(self, x, to=None, **defaults_of_later_versions):
        return (x.astype(helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(to))),)


CastByName.__name__ = "Cast"  # The reference evaluator finds an operator by the name of its class.
