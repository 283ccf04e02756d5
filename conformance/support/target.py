"""Conversions for a runtime whose results are known from running models: each result is run, in a process and with packages of its own.

The models are onnx's node tests and those of facts/runs: boundaries.py and extremes.py, which runtimes compute wrong for some values of their inputs,
and branches.py, with subgraphs and a function. A sample runs all of these, and some of the node tests: more of operators that the facts call wrong,
partly wrong or special than of others; and some of those with other element types.
"""

import sys
from collections import Counter

import onnx

from support.common import FACTS, recast, scratch_folder

sys.path.append(str(FACTS))
from casts.runtimes import Process  # noqa: E402
from runs.page import lines_in  # noqa: E402
from runs.running import SECONDS, decode, encode, outcome_of, versions_of  # noqa: E402
from runs.runtimes import ALL  # noqa: E402
from runs.tests import node_tests, only_node, values, written_tests  # noqa: E402
from runs.text import minor  # noqa: E402


# In a sample, one of so many tests of the operators that a runtime does not always compute right.
SUSPECTS = 3
# In a sample, one of so many tests with other element types.
TYPES = 40


class Target:
    """A runtime in a version that the facts were measured with, by default the newest. Its process ends with the `with` statement."""

    def __init__(self, runtime, version=0):
        self.runtime = versions_of(runtime)[version]
        self.name = f"{runtime}@{minor(self.runtime)}"
        self.process = Process(self.runtime, SECONDS)

    def __enter__(self):
        self.process.__enter__()
        return self

    def __exit__(self, *failure):
        return self.process.__exit__(*failure)

    def check(self, report, others, known=()):
        """Converts and runs the models. A model that is right must be converted, and be right afterwards. No result may be wrong, except for
        infinities and NaN, and where the conversion notes that it is not known; `known` tests are others. A second conversion changes nothing."""
        counts = Counter()
        for test in self.tests_of(report, others):
            before, after, is_noted, again = self.outcomes(test)
            # A runtime may refuse what a conversion adds to a model that it computes wrong, or to one of several nodes.
            is_single = only_node(onnx.load(test.model)) is not None
            worse = before == "right" and after != "right" and (is_single or after != "no file")
            is_bad = (worse or after == "wrong") and not is_noted and test.name not in known
            report.case(f"{self.name}: {test.name}", is_bad and f"{before} before, {after} after")
            report.case(f"{self.name}: {test.name}, converted twice", again)
            # What is not known may differ between runs.
            counts["not known" if is_noted else (before, after)] += 1
        report.count("models that become right", counts["wrong", "right"])
        report.count("models that stay wrong", counts["wrong", "wrong"])
        report.count("models of which the conversion notes that it is not known", counts.pop("not known", 0))
        for (before, after), count in sorted(counts.items()):
            report.details.append(f"{self.name}: {before:10} before, {after:10} after: {count}")

    def tests_of(self, report, others):
        files = (FACTS / f"runs/{name}.txt" for name in (self.runtime.name, f"{self.runtime.name}-{minor(self.runtime)}"))
        lines = [line for file in files if file.exists() for line in lines_in(file.read_text())]
        operators = {line.operator for line in lines if line.outcome in ("wrong", "partly", "special")}

        def is_suspect(test):
            node = only_node(onnx.load(test.model))
            return node is None and "attention" in test.name or node is not None and node.op_type in operators

        tests, types = node_tests(), written_tests("types")
        if not report.everything:
            suspects = [test for test in tests if is_suspect(test)]
            rest = [test for test in tests if test not in suspects]
            tests, types = [*suspects[::SUSPECTS], *rest[::others]], types[::TYPES]
        return [*(test for name in ("boundaries", "branches", "combinations", "extremes") for test in written_tests(name)), *tests, *types]

    def outcomes(self, test):
        """What the runtime makes of a model, and of its conversion; whether the conversion notes that this is not known; and what a second
        conversion changes."""
        model, inputs, expected = values(test)
        is_varying = test.name in ALL[self.runtime.name].VARYING
        before = "wrong" if is_varying else outcome_of(self.process, model, inputs, expected)[0]
        with scratch_folder() as folder:
            output, second = folder / "model.onnx", folder / "second.onnx"
            done = self.convert(test.model, output)
            if done.returncode != 0 or not output.exists():
                return before, "no file", False, None
            is_noted = notes_unknown(done)
            done = self.convert(output, second)
            again = (done.returncode != 0 and done.stdout + done.stderr) or (second.read_bytes() != output.read_bytes() and "it changes")
            return before, outcome_of(self.process, onnx.load(output), inputs, expected)[0], is_noted, again

    def convert(self, model, output):
        return recast("convert", model, "--target", self.name, "-o", output)

    def run(self, model, feeds):
        """The outputs of a model in a file, or the message with which the runtime refuses it."""
        answer = self.process.ask("run", model.read_bytes(), {name: encode(value) for name, value in feeds.items()}, True)
        return answer if isinstance(answer, str) else [decode(value) for value in answer]


def older_targets():
    """Those of the versions before the newest, of all runtimes."""
    for runtime in ALL:
        yield from (Target(runtime, version) for version in range(1, len(versions_of(runtime))))


def notes_unknown(done):
    """Whether a conversion notes that it is not known what the runtime computes."""
    return "it is not known whether" in done.stdout
