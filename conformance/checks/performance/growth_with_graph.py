"""How the time and memory of a fold grow with the graph: 10,000 to 250,000 nodes, a fifth of them casts of tiny constants.

Beside it, in the same run, what the onnx package takes to read and write the model. And a file that is little but messages.
"""

import itertools
import statistics
import time
from dataclasses import dataclass

import onnx
from onnx import TensorProto, helper

from support.common import RECAST, recast, scratch_folder
from support.measure import measured, run
from support.wire import field

NODES = [10_000, 50_000, 250_000]
RUNS = 5
RUNS_IN_TURN = 15
LONGEST = 1.5  # Times what onnx.load and onnx.save take.
# Times a fold without passes of the same model.
LONGEST_PRECISION = 3
MOST_GROWTH = 2  # Of the processor time a node, from each size to the next, which is five times as large.
BOMB = 100_000_000  # Bytes.
MANY, ALL_MANY = 500_000, 1_000_000  # Nodes of 30 bytes.
# Times the files that are read. A verification reads the result, too, and converts again.
MOST_MEMORY, MOST_MEMORY_VERIFIED = 25, 40
# A conversion checks the types of all nodes, and keeps them while each node is expanded.
MOST_MEMORY_EXPANDED, MOST_MEMORY_EXPANDED_VERIFIED = 26, 65
LONGEST_READ = 2  # Times the processor time of onnx.load, for commands that make nothing for each node.


@dataclass
class Case:
    """A command and the files that it reads."""

    name: str
    command: list
    files: list
    exit_code: int = 0
    most_memory: float = MOST_MEMORY  # Times the files.
    is_timed: bool = True  # Whether the command makes nothing for each node.


def check(report):
    with scratch_folder() as folder:
        for nodes in NODES:
            check_size(report, folder, nodes)
        for smaller, larger in itertools.pairwise(NODES):
            for name, verify in (("growth", "--no-verify"), ("growth, verified", "--verify")):
                report.ratio(f"{larger} nodes: {name}", lambda: growth(folder, smaller, larger, verify), MOST_GROWTH, "the seconds a node")
        check_precision(report, folder, 50_000)
        check_bomb(report, folder)
        check_commands(report, folder, ALL_MANY if report.everything else MANY)


def growth(folder, smaller, larger, verify):
    """The seconds a node of the larger model, as a multiple of those of the smaller."""
    seconds = lambda nodes: processor_seconds(file_of(folder, nodes), folder / "out.onnx", verify=verify)
    of_smaller, of_larger = (seconds(nodes) / nodes for nodes in (smaller, larger))
    return of_larger / of_smaller


def file_of(folder, nodes):
    return folder / f"{nodes}.onnx"


def check_size(report, folder, nodes):
    source, output = file_of(folder, nodes), folder / "out.onnx"
    onnx.save(model(nodes), source)
    runs = [run([RECAST, "fold", source, "-o", output, "--no-verify", "--quiet"]) for _ in range(RUNS)]
    seconds, memory = min(seconds for _, seconds, _ in runs), max(memory for _, _, memory in runs)
    size = source.stat().st_size / 2**20

    def share():
        theirs = min(seconds_of_onnx(source, folder / "saved.onnx") for _ in range(2))
        ours = processor_seconds(source, output)
        report.details.append(f"{nodes} nodes: {ours:.3f} s of processor time; onnx.load and onnx.save {theirs:.3f} s")
        return ours / theirs

    report.case(f"{nodes} nodes: exit code", max(code for code, _, _ in runs))
    report.case(f"{nodes} nodes: casts", any(node.op_type == "Cast" for node in onnx.load(output).graph.node) and "casts stay")
    report.ratio(f"{nodes} nodes: time", share, LONGEST, "the time of onnx.load and onnx.save")
    report.case(f"{nodes} nodes: memory", memory > 50 * size + 16 and f"{memory:.0f} MiB for a file of {size:.1f}")
    plain = processor_seconds(source, output, "--passes", "none")
    report.details.append(f"{nodes} nodes: {seconds:.3f} s, {memory:.0f} MiB; {plain:.3f} s of processor time without passes")


def check_precision(report, folder, nodes):
    """A change of precision, in which every value and constant changes its type."""
    source, output = folder / "float.onnx", folder / "half.onnx"
    onnx.save(model(nodes, TensorProto.FLOAT), source)
    for policy in ("all", "stable"):
        options = ("--to", "FLOAT16", "--policy", policy)
        share = lambda: beside_no_passes(report, source, output, options)
        report.ratio(f"{nodes} nodes: precision, policy {policy}", share, LONGEST_PRECISION, "a fold without passes")
        half = sum(tensor.data_type == TensorProto.FLOAT16 for tensor in onnx.load(output).graph.initializer)
        report.case(f"{nodes} nodes: precision, policy {policy}: constants", half != nodes // 5 and f"{half} of {nodes // 5} are FLOAT16")
        _, _, memory = run([RECAST, "precision", source, "-o", output, "--no-verify", "--quiet", *options])
        report.details.append(f"{nodes} nodes: precision, policy {policy}: {memory:.0f} MiB")


def beside_no_passes(report, source, output, options):
    """The processor time of a change of precision as a multiple of a fold without passes. They run in turn; medians, because a process
    that ends early does not free its model, and is the faster for it."""
    plain, ours = [], []
    for _ in range(RUNS_IN_TURN):
        plain.append(processor_seconds(source, output, "--passes", "none", runs=1))
        ours.append(processor_seconds(source, output, *options, command="precision", runs=1))
    plain, ours = statistics.median(plain), statistics.median(ours)
    report.details.append(f"precision {' '.join(options)}: {ours:.3f} s of processor time, {ours / plain:.2f} times the {plain:.3f} s without passes")
    return ours / plain


def processor_seconds(source, output, *options, command="fold", runs=RUNS, verify="--no-verify"):
    command = [RECAST, command, source, "-o", output, verify, "--quiet", *options]
    return min(measured(command, output.with_suffix(".txt")).processor_seconds for _ in range(runs))


def seconds_to_load(source):
    start = time.process_time()
    onnx.load(source)
    return time.process_time() - start


def seconds_of_onnx(source, output):
    start = time.process_time()
    onnx.save(onnx.load(source), output)
    return time.process_time() - start


def model(nodes, weights=TensorProto.FLOAT16):
    """A chain in which every fifth node casts a constant of four numbers and two of the others use it. With weights of FLOAT, it is FLOAT
    throughout, and the fifth node negates the constant."""
    steps, constants, last = [], [], "x"
    for index in range(nodes // 5):
        half = f"half_{index}"
        if weights == TensorProto.FLOAT16:
            steps.append(helper.make_node("Cast", [f"weight_{index}"], [half], f"cast_{index}", to=weights))
        else:
            steps.append(helper.make_node("Neg", [f"weight_{index}"], [half], f"neg_{index}"))
        for op, inputs in (("Add", [half]), ("Relu", []), ("Mul", [half]), ("Neg", [])):
            name = f"{op}_{index}"
            steps.append(helper.make_node(op, [last, *inputs], [name], f"node_{name}"))
            last = name
        constants.append(helper.make_tensor(f"weight_{index}", TensorProto.FLOAT, [4], [index / 2, 1, 2, 3]))
    x, y = (helper.make_tensor_value_info(name, weights, [4]) for name in ("x", last))
    return helper.make_model(helper.make_graph(steps, "growth", [x], [y], constants), opset_imports=[helper.make_opsetid("", 21)])


def check_bomb(report, folder):
    """Empty nodes of two bytes each."""
    source = folder / "bomb.onnx"
    source.write_bytes(field(7, field(1, b"") * (BOMB // 2)))
    done = recast("inspect", source)
    refused = done.returncode == 2 and "which no file of this size needs" in done.stderr
    report.case(f"{BOMB} bytes of empty nodes", not refused and f"{done.returncode}: {done.stderr.strip()}")
    code, seconds, memory = run([RECAST, "inspect", source])
    report.case(f"{BOMB} bytes of empty nodes: memory", memory > MOST_MEMORY * BOMB / 2**20 and f"{memory:.0f} MiB")
    report.details.append(f"{BOMB} bytes of empty nodes: refused after {seconds:.1f} s with {memory:.0f} MiB")


def check_commands(report, folder, many):
    """The memory of every command on models of so many nodes, as a multiple of the files."""
    relu, sqrt, cast = (folder / name for name in ("relu.onnx", "sqrt.onnx", "cast.onnx"))
    softmax, unknown, output = folder / "softmax.onnx", folder / "unknown.onnx", folder / "out.onnx"
    relu.write_bytes(chain(many, b"Relu"))
    sqrt.write_bytes(chain(many, b"Sqrt"))
    softmax.write_bytes(chain(many, b"Softmax", shape=field(2, field(1, b"\x08\x02") + field(1, b"\x08\x03"))))  # 2 × 3 floats.
    cast.write_bytes(chain(many, b"Cast", field(5, field(1, b"to") + b"\x18\x01\xa0\x01\x02")))
    unknown.write_bytes(chain(many, b"Erfc"))
    formats = ["concise", "full", "json", "jsonl", "github", "gitlab", "junit", "sarif"]
    converted = ["convert", softmax, "--opset", "12", "-o", output, "--no-verify"]
    expanded = {"most_memory": MOST_MEMORY_EXPANDED, "is_timed": False}
    cases = [
        Case("inspect", ["inspect", relu], [relu]),
        Case("inspect --format json", ["inspect", relu, "--format", "json"], [relu]),
        Case("inspect --format dot", ["inspect", relu, "--format", "dot"], [relu], is_timed=False),
        Case("fold", ["fold", relu, "-o", output, "--no-verify"], [relu]),
        Case("fold over an output", ["fold", relu, "-o", output, "--no-verify"], [relu]),
        Case("fold, no cast folded", ["fold", cast, "-o", output, "--no-verify"], [cast], is_timed=False),
        Case("convert", ["convert", relu, "--opset", "21", "-o", output, "--no-verify"], [relu]),
        Case("convert, every node expanded", converted, [softmax], **expanded),
        Case("convert, every node expanded, --format json", [*converted, "--format", "json"], [softmax], **expanded),
        Case("fold, verified", ["fold", relu, "-o", output], [relu], most_memory=MOST_MEMORY_VERIFIED, is_timed=False),
        Case("convert, verified", ["convert", relu, "--opset", "21", "-o", output], [relu], most_memory=MOST_MEMORY_VERIFIED, is_timed=False),
        Case("convert, every node expanded, verified", converted[:-1], [softmax], most_memory=MOST_MEMORY_EXPANDED_VERIFIED, is_timed=False),
        Case("diff", ["diff", relu, sqrt], [relu, sqrt], exit_code=1, is_timed=False),
        Case("diff --format json", ["diff", relu, sqrt, "--format", "json"], [relu, sqrt], exit_code=1, is_timed=False),
        *(Case(f"lint --format {name}", ["lint", relu, "--format", name], [relu]) for name in formats),
        *(
            Case(f"lint --format {name}, a finding a node", ["lint", unknown, "--format", name], [unknown], exit_code=1, is_timed=False)
            for name in formats
        ),
    ]
    theirs = min(seconds_to_load(relu) for _ in range(2))
    report.details.append(f"{many} nodes: onnx.load: {theirs:.2f} s")
    for case in cases:
        code, seconds, memory = run([RECAST, *case.command])
        times = memory / sum(file.stat().st_size / 2**20 for file in case.files)
        name = f"{many} nodes: {case.name}"
        report.case(f"{name}: exit code", code != case.exit_code and (code or "0"))
        report.case(f"{name}: memory", times > case.most_memory and f"{times:.1f} times the files")
        report.details.append(
            f"{name}: {seconds:.2f} s, {seconds / theirs:.2f} times onnx.load, {memory:.0f} MiB, {times:.1f} times the files"
        )
        if case.is_timed:
            report.ratio(f"{name}: time", lambda: processor_share(case, folder, theirs), LONGEST_READ, "the time of onnx.load")
    limit = f"{many // 10_000}M"
    done = recast("inspect", relu, "--max-memory", limit)
    refused = done.returncode == 2 and "raise it with --max-memory" in done.stderr
    report.case(f"{many} nodes: --max-memory {limit}", not refused and f"{done.returncode}: {done.stderr.strip()}")


def processor_share(case, folder, theirs):
    return measured([RECAST, *case.command], folder / "out.txt").processor_seconds / theirs


def chain(many, op, attributes=b"", shape=b""):
    """A chain of one operator. Written as bytes: the onnx package takes minutes for a million nodes."""
    names = [b"v%08d" % index for index in range(many + 1)]
    nodes = [field(1, field(1, names[index]) + field(2, names[index + 1]) + field(4, op) + attributes) for index in range(many)]
    kind = field(1, b"\x08\x01" + shape)
    ends = [field(number, field(1, name) + field(2, kind)) for number, name in ((11, names[0]), (12, names[many]))]
    return b"\x08\x08" + field(7, b"".join([*nodes, field(2, b"g"), *ends])) + field(8, b"\x10\x0d")
