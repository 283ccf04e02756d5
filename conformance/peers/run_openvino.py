"""Prints the version of OpenVINO, and the first element that a model computes from zeros on a CPU: run_openvino.py MODEL"""

import json
import sys

import numpy as np
import openvino

core = openvino.Core()
compiled = core.compile_model(core.read_model(sys.argv[1]), "CPU")
(value, *_) = compiled({"x": np.zeros(1, np.float32)})[0]
print(json.dumps([openvino.__version__, str(value)]))
