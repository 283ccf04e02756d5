"""The runtimes that are run: a file here for each, and a line below.

A file has VERSIONS, how each is installed and asked, newest first, with what its interface in Python gives (interface.py); NOT_FED, how the
answers begin that say that the interface, not the runtime, lacks a type; and what the newest version is known to compute instead of what ONNX
defines: lists of operators, conditions, and a phrase. `!` before a value means any other. A phrase completes the sentence "openvino 2026.4 …".

REFUSED has no phrases: the outcome of its tests is found, too, but not that it depends on a rank. UNKNOWN are such nodes, if others like them are
right in larger models.

All tests of the operators of INSTEAD for which the conditions hold have to be wrong; wrong ones for which none hold are listed as unknown. Whether a
node of PARTLY is wrong depends on the values of its inputs: some of its tests have to be wrong. A node of ENDS ends the run for some values: some of
its tests have to be refused. A node of SPECIAL is wrong for infinities or NaN alone. An older version has the lines that its tests confirm.
"""

from runs.runtimes import opencv, openvino, tract

ALL = {"openvino": openvino, "opencv": opencv, "tract": tract}
