"""The runtimes that are run: a file here for each, and a line below.

A file has RUNTIME, how it is installed and asked; READ_AS, the types that its interface gives in the place of others; EMPTY_IS_NONE, whether
it gives None in the place of results without elements; NOT_FED, how the answers begin
that say that the interface, not the runtime, lacks a type; and what it is known to compute instead of what ONNX defines:
lists of operators, conditions, and a phrase. `!` before a value means any other. A phrase completes the sentence "openvino 2026.4 …".

REFUSED has no phrases: the outcome of its tests is found, too, but not that it depends on a rank.

All tests of the operators of INSTEAD for which the conditions hold have to be wrong; wrong ones for which none hold are listed as unknown. Whether a
node of PARTLY is wrong depends on the values of its inputs: some of its tests have to be wrong. A node of ENDS ends the run for some values: some of
its tests have to be refused. A node of SPECIAL is wrong for infinities or NaN alone.
"""

from runs.runtimes import opencv, openvino, tract

ALL = {"openvino": openvino, "opencv": opencv, "tract": tract}
