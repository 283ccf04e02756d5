"""Writes models for the fuzz targets to begin with: `python -m generators.fuzz_seeds FOLDER`, which `fuzz/run` calls.

The models of onnx's node tests, which the installed version builds in code for the newest opset of every operator, and random models with
nested graphs and functions. The folder has the name of what it contains once everything is written.
"""

import os
import sys
import warnings
from pathlib import Path

import onnx
from onnx.backend.test.case.node import collect_testcases

from generators.bodies import random_model
from support.environments import name_made

RANDOM_MODELS = 400
# Fewer means that onnx builds its tests in another way.
LEAST_NODE_MODELS = 1800


def main(folder):
    warnings.simplefilter("ignore")
    made = folder / f"onnx-{onnx.__version__}"
    if made.is_dir():
        return
    part = folder / f"{made.name}.part.{os.getpid()}"
    part.mkdir(parents=True)
    cases = [case for case in collect_testcases(None) if case.model is not None]
    if len(cases) < LEAST_NODE_MODELS:
        sys.exit(f"onnx {onnx.__version__} builds {len(cases)} node models, fewer than {LEAST_NODE_MODELS}")
    for case in cases:
        onnx.save(case.model, part / f"{case.name}.onnx")
    for seed in range(RANDOM_MODELS):
        onnx.save(random_model(seed)[0], part / f"random-{seed}.onnx")
    name_made(part, made)
    print(f"{made}: {len(cases)} models of onnx's node tests and {RANDOM_MODELS} random ones")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
