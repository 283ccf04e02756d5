"""The DNN module of OpenCV, with its default engine."""

from casts.runtimes import newest, older

from runs.runtimes.interface import Interface

FIVE = newest("opencv")._replace(
    notes=("cv2.dnn with its default engine. Results FLOAT count as FLOAT16, and are rounded to it; results UINT16 as bits of BFLOAT16.",
           "Results without elements are None in Python, and count as right.")
)
FOUR = older("opencv", "4.12.0.88")._replace(
    notes=("It computes in FLOAT: such results count as all other types if their elements are right; results of shapes [n] and [] are [n, 1] and [1, 1].",)
)
VERSIONS = {
    FIVE: Interface({"FLOAT16": "FLOAT", "BFLOAT16": "UINT16"}, empty_is_none=True),
    FOUR: Interface(dict.fromkeys("BOOL DOUBLE FLOAT16 INT16 INT32 INT64 INT8 UINT16 UINT32 UINT64 UINT8".split(), "FLOAT"), least_rank=2),
}
NOT_FED = ("KeyError: ",)

FLATTENS = "normalizes along `axis` alone, and does not flatten its input to a matrix"
SCALAR = "gives a result of shape [1] instead of a scalar"

SKIPPED = "skips elements along the axes before the last two"
REDUCTIONS = "ReduceL1 ReduceL2 ReduceLogSum ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare"
OTHERS = "T=double|int32|int64|int8|uint8"
FLOATS = "T=float|float16|double"
# Integers that narrower types lack.
NARROWED = [
    ("int32|int64", "int8|int16|uint8|uint16"),
    ("int16|uint16", "int8|uint8"),
    ("int16|int8", "uint16"),
    ("int8", "uint8"),
    ("uint16", "int16"),
    ("uint8", "int8"),
]

# It ends if a reduction names all axes: it looks for one that is left.
REFUSED = [("GRU", "activations=*"), ("LSTM", "gates=other"), ("Resize", "coordinate_transformation_mode=tf_crop_and_resize"), ("ReduceLogSumExp", "reduced=all"), (REDUCTIONS, f"reduced=all {OTHERS}")]
# It needs the shape of an output, not that of another value. Loops in models of TensorFlow run.
UNKNOWN = [("If", "branches=apart"), ("Loop", "")]
COMBINED = [
    ("Add", "LayerNormalization"),
    ("Div", "LpNormalization"),
    ("Div", "Softmax"),
    ("Log", "Softplus"),
    ("Mul", "Gelu"),
    ("Mul", "HardSwish"),
    ("Mul", "Mish"),
    ("Sub", "LogSoftmax"),
]
# Types that OpenCV 4 does not have.
SMALL_TYPES = "T2=float4e2m1|float8e4m3fn|float8e4m3fnuz|float8e5m2|float8e5m2fnuz|float8e8m0|int2|int4|uint2|uint4"
INSTEAD = [
    ("Cast", SMALL_TYPES, "gives its input, in FLOAT"),
    ("Softmax LogSoftmax Hardmax", "axis=0 rank=!1", FLATTENS),
    ("Softmax LogSoftmax Hardmax", "axis=1 rank=!2", FLATTENS),
    ("Softmax LogSoftmax Hardmax", "axis=2 rank=!3", FLATTENS),
    ("AffineGrid", "T1=double", "gives a result of type FLOAT"),
    ("Attention", "left_window_size=!-1", "ignores `left_window_size`"),
    ("Attention", "right_window_size=!-1", "ignores `right_window_size`"),
    ("ConvTranspose", "auto_pad=SAME_UPPER|SAME_LOWER", "gives a smaller result with `auto_pad`"),
    ("GRU LSTM", "clip=*", "ignores `clip`"),
    ("Det", "rank=2", SCALAR),
    ("Dropout", "output:mask=*", "gives a mask of type FLOAT"),
    ("GridSample", "mode=bicubic|cubic", "computes other numbers with cubic interpolation"),
    ("GRU LSTM", "direction=reverse", "computes other numbers with `direction` = reverse"),
    ("GroupNormalization InstanceNormalization LRN LpNormalization RMSNormalization", "T=double", "reads the numbers as those of FLOAT"),
    ("MaxPool", "storage_order=1 output:Indices=*", "ignores `storage_order`"),
    ("Mod", "T=float|float16|double fmod=0", "computes other numbers with `fmod` = 0"),
    ("NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", "reduction=mean|sum", SCALAR),
    ("NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", "T=double", "gives a result of type FLOAT"),
    ("Pow", "T=double|int32|int64 T1=float", "gives a result of type FLOAT"),
    (f"{REDUCTIONS} ReduceLogSumExp", "reduced=apart", SKIPPED),
    ("ReduceLogSumExp", "reduced=last", SKIPPED),
    (REDUCTIONS, f"reduced=last {OTHERS}", SKIPPED),
    ("Resize", "antialias=1", "computes other numbers with `antialias` = 1"),
    ("Resize", "exclude_outside=1", "computes other numbers with `exclude_outside` = 1"),
    ("Resize", "mode=linear", "takes coordinates for those of half_pixel"),
    ("Resize", "keep_aspect_ratio_policy=not_larger|not_smaller", "ignores `keep_aspect_ratio_policy`"),
    *((op, f"combination={name}", f"takes it and the nodes before it for {name}, and computes something else or fails") for op, name in COMBINED),
    ("Reshape", "combination=Reshape", "copies dimensions of the input of the Reshape before it"),
    ("Size", "", SCALAR),
    ("SpaceToDepth", "mode=CRD", "ignores `mode`"),
]
PARTLY = [
    (f"{REDUCTIONS} ReduceLogSumExp", "reduced=unknown", SKIPPED),
    ("ReduceMean", "T=int32|int64", "rounds means of integers to the nearest one"),
    ("Resize", "scaled_length=fraction", "computes the scales anew, from the lengths that were rounded"),
    ("Resize", "coordinate_transformation_mode=half_pixel_symmetric", "computes other numbers with half_pixel_symmetric"),
    ("Resize", "mode=linear rows=one", "reads memory to which nothing was written"),
    ("MaxPool", "last_window=padding|unknown", "keeps a last window that begins in the padding"),
    ("Swish", "alpha=*", "ignores `alpha`"),
    *(("Cast CastLike", f"T1={wide} T2={narrow}", "gives the largest or the smallest number for integers that the type lacks") for wide, narrow in NARROWED),
    ("AveragePool Conv MaxPool", "auto_pad=SAME_UPPER steps=more", "computes other numbers with `auto_pad` = SAME_UPPER and strides"),
    ("AveragePool Conv MaxPool", "auto_pad=SAME_LOWER", "computes other numbers with `auto_pad` = SAME_LOWER"),
    ("GatherND", "indices=unknown", "reads other memory at negative indices"),
    ("LogSoftmax", "T=float|float16", "takes the logarithms of the probabilities, of which small ones are zero"),
    ("MatMul", "batches=fewer", "takes the batches of a constant for others"),
    ("ReduceLogSumExp", f"{FLOATS} empty=-", "gives infinity for numbers from 89 on"),
    ("Softplus", "", "gives infinity for numbers from 89 on"),
    ("Tanh", "", "gives NaN for numbers from 45 on"),
]
ENDS = []
SPECIAL = []
# What is read there differs from run to run.
ONE_ROW = [f"resize_linear_{resize}_exclude_0_{opset}" for resize in ("4_by_0.6", "4_by_2.0", "5_by_0.8", "5_by_1.5") for opset in (11, 13, 18, 19)]
OTHER_MEMORY = [*(f"gathernd_at_negative_indices_{opset}" for opset in (11, 12, 13)), *(f"gathernd_at_negative_indices_of_batches_{opset}" for opset in (12, 13))]
VARYING = dict.fromkeys([*ONE_ROW, *OTHER_MEMORY, "test_resize_downsample_scales_linear_half_pixel_symmetric"], "other numbers in each run")
