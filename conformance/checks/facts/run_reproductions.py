"""The models of facts/reproductions that runtimes compute wrong: onnx's reference evaluator or onnxruntime computes what their comments say that
ONNX defines, and no runtime has to be believed."""

import sys
from collections import Counter

from support.common import FACTS

sys.path.append(str(FACTS))
from casts.runtimes import RUNTIMES, Process, newest  # noqa: E402
from runs import reproductions  # noqa: E402


def check(report):
    counts = Counter()
    with Process(RUNTIMES[0]) as reference, Process(newest("onnxruntime")) as onnxruntime:
        for file in sorted(FACTS.glob("reproductions/*/*.onnxtxt")):
            contents = file.read_text()
            problems = {process.runtime.name: reproductions.problem(contents, process) for process in (reference, onnxruntime)}
            report.case(f"{file.parent.name}/{file.name}", all(problems.values()) and str(problems))
            counts[" and ".join(name for name, problem in problems.items() if not problem)] += 1
    for names, count in sorted(counts.items()):
        report.count(f"computed by {names}", count)
