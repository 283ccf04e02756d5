"""Where things are, counting cases, running recast on many models."""

import contextlib
import math
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "models").glob("*.onnx"))
FACTS = ROOT / "crates/onnx-operators/facts"
CACHE = ROOT / "conformance/.cache"
WHEEL_DATA = CACHE / "onnx-1.22.0/onnx/backend/test/data"
# The wheel has 1,914.
LEAST_WHEEL_MODELS = 1900
RECAST = Path(os.environ["RECAST"]).absolute()
# Other programs on the same cores have doubled ratios of times of two unchanged programs.
TRIES, SLACK_OF_SAMPLE = 4, 2


class Report:
    """Counts the cases of one check and keeps what failed."""

    def __init__(self, everything, seed=None):
        self.everything, self.seed = everything, seed
        self.cases, self.passed, self.failures, self.notes, self.details = 0, 0, [], [], []
        self.counts, self.skipped = {}, []
        # Whether the counts are compared with those of counts.txt: not those of a run that was asked for other models.
        self.is_counted = seed is None

    def case(self, name, problem=None):
        """One case; `problem` says what is wrong with it, and anything false means nothing is. True if the case passes."""
        self.cases += 1
        self.passed += not problem
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

    def count(self, what, number):
        """A number that counts.txt has, too: of what was compared, since a case may also pass if there is nothing to compare."""
        self.counts[what] = number

    def at_least(self, what, count, floor):
        """One case that passes if enough was counted, in a check without counts in counts.txt."""
        return self.case(what, count < floor and f"{count}, fewer than {floor}")

    def at_least_share(self, what, count, total, share):
        """One case that passes if enough of all was counted."""
        return self.case(what, count < share * total and f"{count} of {total}, fewer than {share:.1%}")

    def ratio(self, name, measure, limit, unit):
        """One case that passes if a ratio of times is within its limit in one of some tries; returns the least. A sample, which may run
        beside other checks, allows twice the limit."""
        limit, least = limit if self.everything else SLACK_OF_SAMPLE * limit, math.inf
        before = self.cases, self.passed
        for _ in range(TRIES):
            # Of tries, the cases of the last count, since their number differs from run to run.
            self.cases, self.passed = before
            least = min(least, measure())
            if least <= limit:
                break
        self.case(name, least > limit and f"{least:.2f} times {unit}, more than {limit}")
        return least

    def sample(self, items, step):
        """One of `step` items; all of them with --all."""
        return items if self.everything else items[::step]

    def note(self, text):
        """Something to say in the check's line."""
        self.notes.append(text)

    def skip(self, reason):
        """Says why there is nothing to check; without it, a check of no case fails."""
        self.skipped.append(reason)
        self.note(f"skipped: {reason}")

    @property
    def failed(self):
        return bool(self.failures) or (self.cases == 0 and not self.skipped)

    def summary(self):
        verdict = "FAIL" if self.failed else "ok  "
        counts = f"{self.passed} of {self.cases} pass"
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


def copy_examples(folder):
    """folder/models with the example models."""
    (folder / "models").mkdir(parents=True)
    for example in EXAMPLES:
        shutil.copy(example, folder / "models")


def path_with_recast(folder, *folders):
    """The variable PATH that begins with `recast`, by a link in a hidden folder, and other folders."""
    tools = folder / ".bin"
    tools.mkdir()
    (tools / "recast").symlink_to(RECAST)
    return ":".join(map(str, [tools, *folders, os.environ["PATH"]]))


def wheel_models():
    """Every model of the onnx wheel's backend tests."""
    models = sorted(WHEEL_DATA.rglob("*.onnx"))
    if len(models) < LEAST_WHEEL_MODELS:
        raise RuntimeError(f"{len(models)} models in {WHEEL_DATA}, fewer than {LEAST_WHEEL_MODELS}")
    return models


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
