"""`recast lint` on the onnx wheel's models: what it finds, what its fixes change, what its documentation says, and how long it takes."""

import json
import re
import shutil
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support.common import EXAMPLES, RECAST, WHEEL_DATA, copy_with_unique_names, recast, scratch_folder, wheel_models
from support.measure import measured
from support.models import all_graphs, external_tensor, passes_checker, sample_inputs
from support.runners import compare_outputs

FLOAT8 = ["FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"]

# What the default rules find in the backend tests of the wheel: the rule, the names of the tests, the types.
EXPECTED = [
    ("RC101", ["test_cast_{from_type}_to_{to}", "test_castlike_{from_type}_to_{to}"]),
    (
        "RC103",
        [
            "test_cast_no_saturate_{from_type}_to_{to}",
            "test_castlike_no_saturate_{from_type}_to_{to}",
            "test_castlike_no_saturate_{from_type}_to_{to}_expanded",
        ],
    ),
]
ALSO_EXPECTED = {("RC102", "test_quantizelinear_e4m3fn"), ("RC102", "test_quantizelinear_e5m2")}


def check(report):
    check_wheel(report)
    check_documentation(report)
    with scratch_folder() as folder:
        check_fixes(report, folder, "safe", ["--select", "ALL", "--fix"])
        check_fixes(report, folder, "waste", ["--select", "RC4", "--fix", "--unsafe-fixes"])
        check_large_model(report, folder)


def lint(*arguments):
    """The JSON document of a run, its exit code, and the seconds it took."""
    start = time.monotonic()
    done = recast("lint", "--isolated", "--format", "json", *arguments)
    return (json.loads(done.stdout) if done.stdout else {"findings": [], "errors": [done.stderr]}), done.returncode, time.monotonic() - start


def check_wheel(report):
    document, code, seconds = lint(WHEEL_DATA)
    report.case("every model of the wheel is judged", document["errors"])
    report.case("the wheel: exit code", code != 1 and f"{code}, not 1")
    found = {(finding["code"], Path(finding["path"]).parent.name) for finding in document["findings"]}
    names = [(code, pattern) for code, patterns in EXPECTED for pattern in patterns]
    expected = {
        (code, pattern.format(from_type=from_type, to=to)) for code, pattern in names for from_type in ["FLOAT", "FLOAT16"] for to in FLOAT8
    } | ALSO_EXPECTED
    report.case("the wheel: findings", found != expected and f"unexpected: {found - expected}; missing: {expected - found}")
    report.case("the wheel: one finding a test", len(document["findings"]) != len(expected) and len(document["findings"]))
    for (code, name), silent in silent_casts().items():
        report.case(f"{code} in {name} by the onnx package", ((code, name) in found) != silent and f"expected {silent}")
    _, _, all_seconds = lint(WHEEL_DATA, "--select", "ALL")
    report.note(f"{len(wheel_models())} models in {seconds:.2f} s, with all rules {all_seconds:.2f} s")


def silent_casts():
    """{(code, test): whether a cast there leaves `saturate` out, or states 0}, read by the onnx package, where the type is in `to`."""
    answers = {}
    for path in wheel_models():
        model = onnx.load(path, load_external_data=False)
        for node in (node for graph in all_graphs(model) for node in graph.node if node.op_type == "Cast"):
            attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
            to = attributes.get("to")
            if isinstance(to, int) and TensorProto.DataType.Name(to) in [*FLOAT8, "FLOAT8E8M0"]:
                name = path.parent.name
                answers["RC101", name] = answers.get(("RC101", name), False) or "saturate" not in attributes
                answers["RC103", name] = answers.get(("RC103", name), False) or attributes.get("saturate") == 0
    return answers


def check_documentation(report):
    """Each rule's examples are models in ONNX's own text: the first has the finding, the second is valid and has not."""
    rules = json.loads(recast("rule", "--format", "json").stdout)["rules"]
    with scratch_folder() as folder:
        for rule in rules:
            blocks = [block.split("```")[0] for block in rule["documentation"].split("```onnx\n")[1:]]
            report.case(f"{rule['code']}: two examples", len(blocks) != 2 and f"{len(blocks)}")
            for index, block in enumerate(blocks):
                path = folder / f"{rule['code']}-{index}.onnx"
                model = report.attempt(f"{rule['code']}: example {index + 1} is read by the onnx package", lambda text=block: onnx.parser.parse_model(text))
                if model is None:
                    continue
                # onnx's parser takes the numbers of a FLOAT16 tensor for codes, recast's for values.
                for tensor in model.graph.initializer:
                    if tensor.data_type == TensorProto.FLOAT16:
                        tensor.CopyFrom(numpy_helper.from_array(np.array(tensor.int32_data, np.float16), tensor.name))
                path.write_bytes(model.SerializeToString())
                target = re.search(r"With the target `(.*)`:", rule["documentation"])
                document, _, _ = lint(path, "--select", rule["code"], *(["--target", target[1]] if target else []))
                codes = {finding["code"] for finding in document["findings"]}
                expected = {rule["code"]} if index == 0 else set()
                report.case(f"{rule['code']}: example {index + 1}", codes != expected and f"found {codes}")
                if index == 1:
                    report.attempt(f"{rule['code']}: the good example is valid", lambda path=path: onnx.checker.check_model(path, full_check=True))


def check_fixes(report, folder, name, options):
    """Fixing ends, keeps models valid and their outputs equal, and leaves the others as they were, to the byte."""
    originals = copy_with_unique_names([*EXAMPLES, *wheel_models()], folder / name)
    before = folder / f"{name}-before"
    shutil.copytree(folder / name, before)
    document, code, _ = lint(folder / name, *options, "--exit-zero")
    report.case(f"{name} fixes: the run", document["errors"] or (code != 0 and code))
    fixed = {Path(finding["path"]) for finding in document["fixed"]}
    again, _, _ = lint(folder / name, *options, "--exit-zero")
    report.case(f"{name} fixes: a second run has nothing to do", again["fixed"])
    judged = 0
    for copy in originals:
        old = before / copy.name
        if copy not in fixed:
            report.case(f"{name} fixes, {copy.name}", copy.read_bytes() != old.read_bytes() and "changed without a fix")
            continue
        report.case(f"{name} fixes, {copy.name}: validity", passes_checker(old) and not passes_checker(copy) and "not valid any more")
        runner, problem = compare_outputs(old, copy, sample_inputs(onnx.load(old)))
        judged += runner is not None
        report.case(f"{name} fixes, {copy.name}: outputs", problem)
    report.count(f"{name} fixes: models that run", judged)
    report.note(f"{name} fixes: {len(document['fixed'])} in {len(fixed)} models, {judged} of which run")


def check_large_model(report, folder):
    """6 GiB of external data, which must not be read."""
    rows, columns = 1 << 20, 1536
    weight = external_tensor("weight", TensorProto.FLOAT, [rows, columns], "weight.bin", 0, 4 * rows * columns)
    nodes = [
        helper.make_node("MatMul", ["x", "weight"], ["product"], "product"),
        helper.make_node("Cast", ["product"], ["y"], "quantize", to=TensorProto.FLOAT8E4M3FN),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, rows])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT8E4M3FN, [1, columns])
    graph = helper.make_graph(nodes, "large", [x], [y], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    path = folder / "large.onnx"
    path.write_bytes(model.SerializeToString())
    with open(folder / "weight.bin", "wb") as data:
        data.truncate(4 * rows * columns)
    code, seconds, _, megabytes = measured([RECAST, "lint", "--isolated", path, "--format", "json"], folder / "out.json")
    found = [finding["code"] for finding in json.loads((folder / "out.json").read_text())["findings"]]
    report.case("6 GiB of external data: findings", (code, found) != (1, ["RC101"]) and f"{code}, {found}")
    report.note(f"6 GiB of external data: {seconds * 1000:.0f} ms, {megabytes:.0f} MB")
