"""tract on the CPU."""

from casts.runtimes import newest, older

from runs.runtimes.interface import Interface

SERVER = "tract_models.py"
VERSIONS = {
    newest("tract")._replace(server=SERVER, notes=("Results TDim count as INT64.",)): Interface(),
    older("tract", "0.21.19")._replace(server=SERVER, notes=("Its interface does not give results TDim: these are refused.",)): Interface(),
}
NOT_FED = ("KeyError: ", "TypeError: ")

FLOATS = "T=float|float16|double"
INFINITE = "gives infinity for numbers from 89 on, or in FLOAT16 from 12 on"

REFUSED = [("If", "branches=apart")]
UNKNOWN = []
INSTEAD = [
    ("Attention", "left_window_size=!-1", "ignores `left_window_size`"),
    ("Attention", "right_window_size=!-1", "ignores `right_window_size`"),
    ("GRU LSTM RNN", "clip=*", "ignores `clip`"),
    ("GRU LSTM RNN", "direction=reverse", "computes other numbers with `direction` = reverse"),
    ("ScatterND", "reduction=!none", "ignores `reduction`"),
    ("SpaceToDepth", "mode=CRD", "ignores `mode`"),
]
PARTLY = [
    ("BitShift", "", "computes other numbers for negative shifts, and shifts by all bits"),
    ("Celu", "T=float16", "computes other numbers in FLOAT16"),
    ("Celu", "T=float alpha=*", "computes other numbers with `alpha`"),
    ("LogSoftmax", FLOATS, "takes the logarithms of the probabilities, of which small ones are zero"),
    ("GRU LSTM RNN", "gates=other", "ignores `activations`"),
    ("ReduceLogSumExp", FLOATS, INFINITE),
    ("Softplus", "", INFINITE),
    ("Swish", "alpha=*", "ignores `alpha`"),
]
ENDS = [("GatherND ScatterND", "indices=unknown", "ends at negative indices")]
SPECIAL = []
VARYING = {}
