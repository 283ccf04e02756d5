"""What mutants of the command write, compared with what the command writes.

Every command is run on every model by the command without a mutant, which also lists the mutants whose place is reached. A mutant is run on
the models that reach it. An output that differs is kept, for `judge`.
"""

import hashlib
import json
import os
import resource
import shutil
import subprocess
from collections import Counter
from multiprocessing.pool import ThreadPool

from mutants.build import area_of
from mutants.models import write_models

IN_PLACE = "--in-place"
# What users write models with, with default options otherwise: results are verified.
COMMANDS = {
    "fold": ["fold"],
    "fold in place": ["fold", IN_PLACE],
    "exact": ["fold", "--passes", "exact"],
    "float16": ["precision", "--to", "FLOAT16"],
    "float": ["precision", "--to", "FLOAT"],
    "opset 28": ["convert", "--opset", "28"],
    "opset 17": ["convert", "--opset", "17"],
}
# Of processes at once.
JOBS = 2
LONGEST, LONGEST_ALONE = 120, 10  # Seconds.
MOST_KILLED = 6
LARGEST_FILE = 1 << 26
COMPARED = ("passes", "casts", "ops/compute", "onnx-cast", "tensor", "files", "storage")


class Bench:
    """The models, the command with mutants, and what it writes without one."""

    def __init__(self, folder):
        self.folder, self.models, self.outputs = folder, folder / "models", folder / "outputs"
        self.program = folder / "target/release/recast"
        self.mutants = [each for each in json.loads((folder / "mutants.json").read_text()) if "why_not" not in each]

    def prepare(self):
        """Writes the models, and runs every command on each without a mutant."""
        shutil.rmtree(self.models, ignore_errors=True)
        self.models.mkdir()
        names = [path.name for path in write_models(self.models)]
        shutil.rmtree(self.outputs, ignore_errors=True)
        jobs = [(command, name) for command in COMMANDS for name in names]
        with ThreadPool(JOBS) as pool:
            found = pool.starmap(self.reach, jobs)
        rows = [{"command": command, "model": name, **each} for (command, name), each in zip(jobs, found)]
        (self.folder / "reached.json").write_text(json.dumps(rows))
        codes = Counter((row["command"], row["code"]) for row in rows)
        print(len(names), "models;", ", ".join(f"{command}: exit code {code} for {number}" for (command, code), number in sorted(codes.items())))

    def reach(self, command, name):
        output = self.outputs / "none" / command
        output.mkdir(parents=True, exist_ok=True)
        list_file = self.folder / f"reached-{command.replace(' ', '')}-{name}"
        list_file.touch()
        code = self.run(command, [name], output, LONGEST, MUTANTS_REACHED=str(list_file))
        numbers = sorted({int(line) for line in list_file.read_text().split()})
        list_file.unlink()
        return {"code": code, "files": self.written(command, output, name), "reached": numbers}

    def run(self, command, names, output, seconds, **environment):
        """The exit code; none if the process had to be killed."""
        arguments = ["nice", "-n", "15", self.program, *COMMANDS[command], "--quiet"]
        if IN_PLACE in arguments:
            for path in (path for name in names for path in paths_of(self.models, name)):
                shutil.copy(path, output)
            arguments += [output / name for name in names]
        else:
            arguments += [*(self.models / name for name in names), "--out-dir", output]
        environment = {**os.environ, "RUST_BACKTRACE": "0", **environment}
        try:
            done = subprocess.run(
                arguments, env=environment, timeout=seconds, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limit_files
            )
        except subprocess.TimeoutExpired:
            return None
        return done.returncode

    def written(self, command, folder, name):
        """The files of an output, with their digests; none if there is no output, or the model is what it was."""
        found = files_of(folder, name)
        return {} if IN_PLACE in COMMANDS[command] and found == files_of(self.models, name) else found

    def compare(self, mutant):
        """What a mutant writes instead, for each command: counts, and the models whose outputs differ."""
        number = mutant["number"]
        rows = [row for row in json.loads((self.folder / "reached.json").read_text()) if number in row["reached"]]
        result = {"number": number, "name": mutant["name"], "counts": Counter(), "differing": []}
        for command in COMMANDS:
            expected = {row["model"]: row for row in rows if row["command"] == command}
            if not expected:
                continue
            output = self.outputs / str(number) / command
            shutil.rmtree(output, ignore_errors=True)
            output.mkdir(parents=True)
            killed = self.run_all(command, list(expected), output, number)
            for name, row in expected.items():
                found = self.written(command, output, name)
                kind = kind_of(row["files"], found, name in killed)
                result["counts"][kind] += 1
                if kind in ("differs", "added"):
                    result["differing"].append([command, name, kind])
                else:
                    for path in paths_of(output, name):
                        path.unlink()
        (self.folder / "results").mkdir(exist_ok=True)
        (self.folder / f"results/{number}.json").write_text(json.dumps(result))
        print(number, mutant["name"], dict(result["counts"]), flush=True)
        return result

    def run_all(self, command, names, output, number):
        """Runs a mutant on models. After a crash, or if it does not end, those without an output run alone; returns those that are killed."""
        code = self.run(command, names, output, LONGEST, MUTANT=str(number))
        killed = []
        if code in (0, 1, 2):
            return killed
        waiting = [name for name in names if not self.written(command, output, name)]
        for at, name in enumerate(waiting):
            if self.run(command, [name], output, LONGEST_ALONE, MUTANT=str(number)) is None:
                killed.append(name)
            if len(killed) >= MOST_KILLED:
                return killed + waiting[at + 1 :]
        return killed


def prepare(folder):
    Bench(folder).prepare()


def compare_all(folder, numbers=()):
    bench = Bench(folder)
    chosen = [mutant for mutant in bench.mutants if is_compared(mutant) and (not numbers or mutant["number"] in numbers)]
    chosen = [mutant for mutant in chosen if numbers or not (folder / f"results/{mutant['number']}.json").is_file()]
    with ThreadPool(JOBS) as pool:
        list(pool.imap_unordered(bench.compare, chosen))


def is_compared(mutant):
    return area_of(mutant) in COMPARED


def kind_of(expected, found, is_killed):
    if found == expected:
        return "killed" if is_killed else "same"
    if not found:
        return "killed" if is_killed else "refused"
    return "differs" if expected else "added"


def files_of(folder, name):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths_of(folder, name)}


def paths_of(folder, name):
    """A model and its data files."""
    stem = name.removesuffix(".onnx")
    paths = [folder / name, *sorted(folder.glob(f"{stem}.*.bin")), *sorted(folder.glob(f"{stem}.onnx.data"))]
    return [path for path in paths if path.is_file()]


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
