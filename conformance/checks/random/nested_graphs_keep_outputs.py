"""Random models with If, Loop, Scan and functions compute the same after a fold and after conversions.

Each model of `generators/bodies.py` is folded with the default and with all exact passes, and again, which changes nothing, and converted
to a random older and a random newer opset and back, always with --verify, and compared with itself and with its folds by `recast diff`.
Outputs are equal to the bit (NaN as NaN) in onnxruntime without optimizations and, for folds, in the reference evaluator; it alone decides
what onnxruntime cannot run. After an expansion by ONNX's definition they are close. `nested_graphs_keep_outputs.txt` lists the differences that are
known, with the reason.

`.venv/bin/python -m generators.bodies SEED FILE`, in `conformance/`, writes a model.
"""

import contextlib
import functools
import json
import re
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import onnx

from generators.bodies import random_model
from support.common import batches, recast, scratch_folder
from support.models import all_graphs, why_invalid
from support.processes import in_child, in_processes
from support.runners import RUNNERS, is_close, run_exactly, same_outputs

MODELS, ALL_MODELS, BATCH = 600, 20000, 40
NEWEST, OLDEST = 28, 7
LONGEST = 600  # Seconds for a batch, on a machine with other work.
KNOWN = Path(__file__).with_suffix(".txt")
COUNTED = ("ran", "ran in onnxruntime", "folded", "folded exactly", "equal in onnxruntime", "equal in reference") + tuple(
    f"converted {direction}{way}" for direction in ("down", "up") for way in ("", "-and-back")
)
# What a runner says that lacks an opset, a kernel, a narrow type for an input that the function does not use, or an inference: of the shape
# of a Scan body's output, which ONNX does not require. The reference evaluator has no Scan of opset 8, whose first input is omitted, and none
# along other axes than the first. It does not run the body of a Loop without a condition, unless another node has an output without a name.
LACKING = re.compile(
    r"NOT_IMPLEMENTED|ValidateOpsetForDomain|Unsupported model IR version|No implementation for operator"
    r"|fnuz\)' of input parameter|Type 'tensor\((float8\w+|u?int[24])\)' of input parameter \(\w+\) of operator \(F\d+\)|Subgraph must have the shape set for all outputs"
    r"|Issues with types \[<class 'NoneType'>.*num_scan_inputs|Scan of opset 8 is not implemented|[Cc]annot cast (array data|scalar|dtype)|need at least one array to concatenate"
)
# What onnxruntime says of a node whose input is a value that a subgraph captures, and that it has lost.
LOST = re.compile(r"Missing Input: \w|but got: \(null\)")
CONSTRUCTS = (
    "If", "Loop", "Scan", "nested", "capture", "call", "call in a function", "attribute reference", "attribute passed on", "empty tensor",
    "empty constant", "scalar", "overridable", "cast", "sequence", "constant output", "annotation",
)  # fmt: skip


def check(report):
    count = ALL_MODELS if report.everything else MODELS
    known = known_differences()
    counts, constructs = Counter(), Counter()
    for results in in_processes(trials, batches(range(count), BATCH), restart_after=20):
        for seed, outcomes, contained in results:
            constructs.update(contained)
            for step, outcome, problem in outcomes:
                if problem and (seed, step) in known:
                    outcome, problem = f"known, {known[seed, step]}", None
                counts[outcome] += 1
                report.case(f"seed {seed}, {step}: {outcome}", problem)
    report.note(f"{count} models; {', '.join(f'{what}: {number}' for what, number in sorted(counts.items()))}")
    report.note(f"models with {', '.join(f'{what}: {constructs[what]}' for what in CONSTRUCTS)}")
    for what in COUNTED:
        report.count(what, counts[what])
    for what in CONSTRUCTS:
        report.count(f"models with: {what}", constructs[what])


def known_differences():
    """{(seed, step): reason} of the committed list."""
    return {(int(seed), step): reason for seed, step, reason in rows() if seed.isdigit()}


@functools.cache
def known_operators():
    """{(runner, operator)} of the committed list: what the runner computes differently than ONNX defines."""
    return [(runner, operator) for runner, operator, _ in rows() if not runner.isdigit()]


def rows():
    return [line.split(maxsplit=2) for line in KNOWN.read_text().splitlines() if line.strip() and not line.startswith("#")]


def trials(seeds):
    """The outcomes of each model: (seed, [(step, outcome, problem)], constructs). If onnxruntime ends the process, each model runs alone."""
    results = in_child(functools.partial(run_trials, seeds, tuple(RUNNERS)), LONGEST)
    if results is not None:
        return results
    if len(seeds) > 1:
        return [result for seed in seeds for result in trials([seed])]
    problem = "the process ends, and not for the model as it is"
    if in_child(functools.partial(run_alone, seeds[0]), LONGEST) is None:
        results, problem = in_child(functools.partial(run_trials, seeds, ("reference",)), LONGEST), "the process ends"
    return results or [(seeds[0], [("run", "ended", problem)], [])]


def run_alone(seed):
    """Whether onnxruntime runs a model, if it does not end the process."""
    with scratch_folder() as folder:
        return bool(Trial(seed, folder, ("onnxruntime",)).expected)


def run_trials(seeds, runners):
    warnings.simplefilter("ignore")
    with scratch_folder() as folder:
        every = [Trial(seed, folder, runners) for seed in seeds]
        fit = [trial for trial in every if trial.is_valid]
        for step, options in (("fold", ()), ("fold-exact", ("--passes", "exact"))):
            for trial, answer in run_recast(fit, folder / step, "fold", *options):
                trial.judge_fold(step, answer)
            folded = [trial for trial in fit if step in trial.folded]
            for trial, answer in run_recast(folded, folder / f"{step}-again", "fold", *options, path_of=lambda trial: trial.folded[step]):
                trial.judge_second_fold(f"{step}-again", answer, trial.folded[step])
        for step, targets in (("down", lambda trial: trial.lower), ("up", lambda trial: trial.higher)):
            for trial, answer in convert(fit, folder / step, targets):
                trial.judge_conversion(step, answer)
            arrived = [trial for trial in fit if step in trial.converted]
            for trial, answer in convert(arrived, folder / f"{step}-and-back", lambda trial: trial.opset, lambda trial: trial.converted[step]):
                trial.judge_conversion(f"{step}-and-back", answer)
        return [(trial.seed, trial.outcomes, trial.constructs) for trial in every]


def convert(trials, folder, target_of, path_of=lambda trial: trial.path):
    """(trial, answer) of conversions. Of several models all are converted or none, so that those that are refused are found first."""
    groups = {}
    for trial in trials:
        if target_of(trial) is not None:
            groups.setdefault((target_of(trial), trial.options), []).append(trial)
    for (target, options), group in groups.items():
        arguments = ("convert", "--opset", str(target), *options)
        dry = dict(run_recast(group, None, *arguments, path_of=path_of))
        refused = [trial for trial in group if dry[trial].code != 0]
        yield from ((trial, dry[trial]) for trial in refused)
        yield from run_recast([trial for trial in group if trial not in refused], folder, *arguments, path_of=path_of)


class Answer:
    """The answer of recast for a model."""

    def __init__(self, code, entry, path, message):
        self.code, self.entry, self.path, self.message = code, entry, path, message


def run_recast(trials, folder, command, *options, path_of=lambda trial: trial.path):
    """(trial, answer) of a command; with --verify, if results are written. Where it fails for some, it runs for each."""

    if not trials:
        return []
    output = ("--out-dir", folder, "--verify") if folder else ("--dry-run",)
    if folder:
        folder.mkdir(exist_ok=True)
    done = recast(command, *map(path_of, trials), *options, *output, "--format", "json", "--quiet")
    if done.returncode != 0 and len(trials) > 1:
        return [answer for trial in trials for answer in run_recast([trial], folder, command, *options, path_of=path_of)]
    entries = {}
    with contextlib.suppress(ValueError):
        entries = {entry["path"]: entry for entry in json.loads(done.stdout)["models"]}
    message = f"exit code {done.returncode}: {done.stderr.strip()[:800]}"
    paths = [path_of(trial) for trial in trials]
    return [
        (trial, Answer(done.returncode, entries.get(str(path), {}), folder and folder / path.name, message)) for trial, path in zip(trials, paths)
    ]


class Trial:
    """A model, what it computes, and what became of it."""

    def __init__(self, seed, folder, runners):
        self.seed, self.outcomes, self.folded, self.converted, self.classes = seed, [], {}, {}, set()
        model, self.inputs, constructs = random_model(seed)
        self.constructs = [name for name, number in constructs.items() if number]
        self.path = folder / f"{seed}.onnx"
        onnx.save(model, self.path)
        self.opset = model.opset_import[0].version
        # Numbers of their own: a change here makes no other models.
        choices = np.random.default_rng(seed)
        self.lower = int(choices.integers(OLDEST, self.opset)) if self.opset > OLDEST else None
        self.higher = int(choices.integers(self.opset + 1, NEWEST + 1)) if self.opset < NEWEST else None
        self.options = ("--exact-only",) if choices.random() < 0.7 else ()
        self.expected = {}
        problem = why_invalid(self.path)
        self.is_valid = not problem
        if problem:
            self.add("model", "not valid", f"the generator made an invalid model: {problem}")
            return
        for runner in runners:
            with contextlib.suppress(Exception):
                self.expected[runner] = RUNNERS[runner](self.path, self.inputs)
        if self.expected:
            self.add("run", "ran")
            self.add("run", "ran in onnxruntime" if "onnxruntime" in self.expected else "ran in the reference evaluator only")
        else:
            self.add("run", "not run")

    def add(self, step, outcome, problem=None):
        self.outcomes.append((step, outcome, problem))

    def judge_fold(self, step, answer):
        if answer.code != 0:
            self.add(step, fault_of(answer), answer.message)
            return
        self.folded[step] = answer.path
        is_changed = self.path.read_bytes() != answer.path.read_bytes()
        self.add(step, ("folded exactly" if step == "fold-exact" else "folded") if is_changed else "nothing to fold")
        self.judge_diff(f"{step}-diff", answer.path, is_changed)
        if is_changed:
            self.judge_result(step, answer.path, self.expected, may_be_close=False)

    def judge_second_fold(self, step, answer, folded):
        if answer.code != 0:
            self.add(step, fault_of(answer), answer.message)
        elif folded.read_bytes() != answer.path.read_bytes():
            self.add(step, "not all at once", f"a second fold changes the model: {recast('diff', folded, answer.path).stdout[:400]}")

    def judge_diff(self, step, path, is_changed):
    
        for other, is_other in ((self.path, False), (path, is_changed)):
            done = recast("diff", self.path, other, "--quiet")
            if done.returncode != int(is_other):
                self.add(step, "diff is wrong", f"exit code {done.returncode}, expected {int(is_other)}: {done.stdout[:300]}{done.stderr[:300]}")

    def judge_conversion(self, step, answer):
        way_back = step.endswith("-and-back")
        if answer.code == 1 and answer.entry.get("blockers"):
            self.add(step, f"refused {step}")
            return
        if answer.code != 0:
            self.add(step, fault_of(answer), answer.message)
            return
        self.add(step, f"converted {step}")
        self.classes |= {expanded["class"] for expanded in answer.entry["expansions"]}
        if not way_back:
            self.converted[step] = answer.path
        # The reference evaluator runs old opsets as if they were newer: it decides only where onnxruntime cannot.
        runners = ["onnxruntime"] if "onnxruntime" in self.expected else ["reference"]
        self.judge_result(step, answer.path, runners, may_be_close="by-definition" in self.classes)

    def judge_result(self, step, path, runners, may_be_close):
        problem = why_invalid(path)
        if problem:
            self.add(step, "invalid", problem)
            return
        found, problems = {}, {}
        for runner in [each for each in runners if each in self.expected]:
            try:
                found[runner] = RUNNERS[runner](path, self.inputs)
            except Exception as error:
                if any(LACKING.search(str(cause)) for cause in causes_of(error)):
                    self.add(step, "result not run")
                else:
                    problems[runner] = f"does not run in {runner}", str(error)[-600:]
                continue
            if same_outputs(self.expected[runner], found[runner]):
                self.add(step, f"equal in {runner}")
            elif may_be_close and same_outputs(self.expected[runner], found[runner], is_close):
                self.add(step, f"close in {runner}")
            else:
                problems[runner] = f"differs in {runner}", difference(self.expected[runner], found[runner])
        for runner, (outcome, problem) in problems.items():
            has_other = set(found) - set(problems)
            reason = self.why_known(path, runner, has_other) if runner in found else self.why_lost(path, runner, problem, has_other)
            self.add(step, *((reason, None) if reason else (outcome, problem)))

    def why_known(self, path, runner, has_other):
        """The known reason of a difference, which something else has to find equal: the other runner, or the exact one."""
        operators = {node.op_type for each in (self.path, path) for graph in all_graphs(onnx.load(each)) for node in graph.node}
        with contextlib.suppress(Exception):
            (before, undefined), (after, _) = run_exactly(self.path, self.inputs), run_exactly(path, self.inputs)
            if undefined:
                return "known: casts that ONNX does not define"
            has_other = has_other or same_outputs(before, after)
            # The casts are not at fault where the runner computes what ONNX defines.
            if same_outputs(before, self.expected[runner]):
                operators -= {"Cast", "CastLike"}
        reasons = [operator for each, operator in known_operators() if each == runner and operator in operators]
        return f"known: {runner} {reasons[0]}" if reasons and has_other else None


    def why_lost(self, path, runner, problem, has_other):
        """The known reason why a result does not run, which something else has to find equal."""
        if runner != "onnxruntime" or not LOST.search(problem):
            return None
        with contextlib.suppress(Exception):
            (before, _), (after, _) = run_exactly(self.path, self.inputs), run_exactly(path, self.inputs)
            has_other = has_other or same_outputs(before, after)
        return "known: onnxruntime loses captured values" if has_other else None


def causes_of(error):
    """An error, and those that it was raised for: the reference evaluator states those of numpy in other words."""
    while error:
        yield error
        error = error.__cause__ or error.__context__


def fault_of(answer):
    text = answer.message
    if re.search(r"bug|panic|internal", text):
        return "internal error"
    return "refused by --verify" if "verif" in text else "refused"


def difference(expected, found):

    pairs = [(left, right) for left, right in zip(expected, found) if not same_outputs([left], [right])]
    words = lambda array: f"{array.dtype}{array.shape} {array.flatten()[:8]}"
    return "; ".join(f"{words(left)} before, {words(right)} after" for left, right in pairs)
