"""Random nodes, valid or not, are converted to random opsets and changed in precision, or refused; the same again changes nothing.

A fault of a node that shows only in the result, after a conversion, is one that was not found before. Sample: 1,200 nodes; `--all`: 40,000
of each.
"""

import json
import random

import onnx

from generators.any_nodes import LATEST, any_node
from support.common import batches, recast, scratch_folder

NODES, SAMPLE = 40_000, 1_200
PRECISIONS = (
    ("--to", "FLOAT16"),
    ("--to", "BFLOAT16", "--policy", "all"),
    ("--to", "FLOAT16", "--policy", "all", "--io", "convert"),
    ("--to", "BFLOAT16", "--weights-only"),
    ("--to", "FLOAT16", "--io", "convert", "--target", "onnxruntime@1.32"),
    ("--to", "FLOAT"),
    ("--from", "DOUBLE", "--to", "FLOAT"),
    ("--from", "FLOAT16", "--to", "BFLOAT16"),
    ("--from", "BFLOAT16", "--to", "FLOAT16", "--io", "convert"),
)


def check(report):
    done = {"convert": 0, "precision": 0}
    seeds = range(NODES if report.everything else SAMPLE)
    for batch in batches(seeds):
        choices = random.Random(batch[0])
        for command, options in (("convert", ("--opset", str(choices.randint(1, LATEST)))), ("precision", choices.choice(PRECISIONS))):
            with scratch_folder() as scratch:
                done[command] += run_twice(report, scratch, batch, (command, *options))
    report.note(f"{done['convert']} conversions and {done['precision']} changes of precision of {len(seeds)} nodes")
    for command, number in done.items():
        report.count(f"nodes of recast {command}", number)


def run_twice(report, scratch, seeds, command):
    """Runs a command on the models of these seeds, and again on what it wrote; returns how many it wrote."""
    before, first, second = (scratch / name for name in ("before", "first", "second"))
    before.mkdir()
    for seed in seeds:
        onnx.save(any_node(seed), before / f"{seed}.onnx")
    written, _ = written_by(report, command, before, first)
    again, faults = written_by(report, command, first, second)
    for name in sorted(written):
        changed = name in again and (first / name).read_bytes() != (second / name).read_bytes() and "a second run changes it"
        report.case(f"recast {' '.join(command)}, node {name.removesuffix('.onnx')}", faults.get(name) or changed)
    return len(written)


def written_by(report, command, models, folder):
    """The names of the models that a command writes into a folder, and why it refuses the others."""
    paths = sorted(models.iterdir())
    tried = recast(*command, *paths, "--dry-run", "--format", "json")
    document = json.loads(tried.stdout)
    refused = {error["path"].rsplit("/", 1)[1]: error["message"] for error in document["errors"]}
    for model in document["models"]:
        if model.get("blockers"):
            refused[model["path"].rsplit("/", 1)[1]] = model["blockers"][0]["reason"]
    accepted = [path for path in paths if path.name not in refused]
    folder.mkdir()
    done = recast(*command, *accepted, "--out-dir", folder)
    report.case(f"recast {' '.join(command)} of {len(accepted)} nodes", done.returncode != 0 and f"exit code {done.returncode}: {done.stderr[:500]}")
    return {path.name for path in folder.iterdir()}, refused
