"""OpenVINO on the CPU. FLOAT8 has the sources of facts/casts.txt."""

from casts.runtimes import newest, older

from runs.runtimes.interface import Interface

NEWEST = newest("openvino")
NEWEST = NEWEST._replace(notes=(*NEWEST.notes, "Integers of 64 bits are computed in 32 bits."))
VERSIONS = {NEWEST: Interface(), older("openvino", "2025.4.1"): Interface(), older("openvino", "2024.6.0"): Interface()}
NOT_FED = ("RuntimeError: Check 'ov_type_it", "IndexError: map::at")

SOURCES = "T1=float|float16|bfloat16|int16|uint16|int32|uint32|int64|uint64"
FLATTENS = "normalizes along `axis` alone, and does not flatten its input to a matrix"

REFUSED = [("GridSample", "rank=!4"), ("If", "branches=apart"), ("Resize", "coordinate_transformation_mode=tf_crop_and_resize")]

REDUCED = "ReduceL1 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare"

# With a SequenceAt behind it, it runs.
UNKNOWN = [("SplitToSequence", "")]
INSTEAD = [
    ("ReduceL1 ReduceLogSum ReduceLogSumExp", "reduced=apart|few|last|unknown axes=*", "ignores `axes`, and reduces along all axes"),
    ("Cast CastLike", f"{SOURCES} T2=float8e4m3fn saturate=1", "does not saturate: numbers beyond 448 become NaN"),
    ("Cast CastLike", f"{SOURCES} T2=float8e5m2 saturate=1", "does not saturate: numbers beyond 57344 become infinities"),
    ("Cast CastLike", "T2=float8e8m0", "rounds to the power of two below, whatever `round_mode` is"),
    ("Attention", "T1=float left_window_size=!-1", "ignores `left_window_size`"),
    ("Attention", "right_window_size=!-1", "ignores `right_window_size`"),
    ("Attention", "is_causal=1 qk_matmul_output_mode=2", "computes other numbers with `is_causal` = 1 and `qk_matmul_output_mode` = 2"),
    ("DFT", "onesided=1", "gives a result of another shape with `onesided` = 1"),
    ("GRU LSTM RNN", "layout=1", "computes other numbers with `layout` = 1"),
    ("LSTM", "input:P=*", "computes other numbers with peepholes"),
    ("Resize", "exclude_outside=1", "computes other numbers with `exclude_outside` = 1"),
    ("Resize", "antialias=1", "computes other numbers with `antialias` = 1"),
    ("Resize", "keep_aspect_ratio_policy=not_larger|not_smaller", "ignores `keep_aspect_ratio_policy`"),
    ("RoiAlign", "mode=max", "computes other numbers with `mode` = max"),
    ("Softmax", "axis=0 rank=!1", FLATTENS),
    ("Softmax", "axis=1 rank=!2", FLATTENS),
    ("Softmax", "axis=2 rank=!3", FLATTENS),
    ("SpaceToDepth", "mode=CRD", "ignores `mode`"),
]

PARTLY = [
    (REDUCED, "combination=Elementwise", "computes the operator behind it in FLOAT together with it: it rounds quotients, and can give 0 for half of the results"),
    ("Div", "T=int8|uint8", "rounds quotients to the nearest integer where the shape is not static"),
    ("BitShift", "T=uint8|uint32|uint64|int8|int16|int32|int64", "computes shifts in FLOAT, within the range of the type: large and negative numbers, and shifts by all bits, become others"),
    ("DFT", "value:axis=-", "transforms along axis 1, whatever `axis` is"),
    ("DFT", "value:axis=!1", "transforms along axis 1, whatever `axis` is"),
    ("MaxPool", "last_window=padding|unknown", "keeps a last window that begins in the padding"),
    ("NonMaxSuppression", "", "suppresses boxes that overlap as much as `iou_threshold`, too"),
    (
        "Resize",
        "coordinate_transformation_mode=align_corners scaled_length=fraction|unknown",
        "aligns the corners of the rounded length, not of the length times the scale",
    ),
    ("Tile", "value:repeats=-", "leaves parts of the result uninitialized if `repeats` is computed"),
    ("TopK", "", "gives the indices of equal elements in any order, not the lowest first"),
]
ENDS = []
SPECIAL = [
    ("ReduceMax", "T=float|double|float16|bfloat16", "gives the lowest number where every element is -infinity"),
    ("ReduceMin", "T=float|double|float16|bfloat16", "gives the largest number where every element is infinity"),
]
# Wrong results that are within the tolerance of BFLOAT16.
CLOSE = ["types_lstm_22_11111111_2_hidden_size_t_bfloat16_t1_int32", *(f"types_resize_{since}_101_1_cubic_coeff_a_exclude_outside_mode_t1_bfloat16" for since in (13, 18, 19))]
# Tests that are right on some processors, and what others computed.
VARYING = {
    "test_attention_4d_causal_padded_kv_bf16": "24 of 192 elements: 0.498046875 instead of 0.0, 0.4140625 instead of 0.0, 0.224609375 instead of 0.0",
    **dict.fromkeys(CLOSE, "other numbers, within the tolerance"),
}
