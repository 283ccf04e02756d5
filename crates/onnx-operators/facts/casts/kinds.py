"""What docs/runtimes-casts.md says: the kinds of disagreement, each with a value that shows it, and the text around them."""

from collections import namedtuple

# A kind of disagreement, and the value that shows it.
Row = namedtuple("Row", "kind value source target attributes", defaults=[""])
TABLES = {
    "To float8": [
        Row("beyond the largest, saturated", "500", "FLOAT", "FLOAT8E4M3FN"),
        Row("infinity, saturated", "INF", "FLOAT", "FLOAT8E5M2"),
        Row("beyond the largest, `saturate` = 0", "500", "FLOAT", "FLOAT8E4M3FN", "saturate=0"),
        Row("just beyond the largest, `saturate` = 0", "490", "FLOAT", "FLOAT8E4M3FN", "saturate=0"),
        Row("the same, a format with infinity", "61440", "FLOAT", "FLOAT8E5M2", "saturate=0"),
        Row("NaN", "NaN", "FLOAT", "FLOAT8E4M3FN"),
        Row("next to a tie", "1.0625002", "FLOAT", "FLOAT8E4M3FN"),
        Row("subnormal", "0.001953125", "FLOAT", "FLOAT8E4M3FN"),
        Row("from float8: zero", "0", "FLOAT8E4M3FN", "FLOAT"),
    ],
    "Between floats and from integers": [
        Row("DOUBLE next to a tie", "1.0004882812509095", "DOUBLE", "FLOAT16"),
        Row("integer next to a tie", "1077936129", "INT32", "BFLOAT16"),
        Row("64-bit integer", "3000000000", "INT64", "FLOAT"),
        Row("64-bit integer next to a tie", "1152921573326323713", "INT64", "FLOAT"),
        Row("beyond the largest", "70000", "INT32", "FLOAT16"),
        Row("subnormal", "1e-45", "FLOAT", "DOUBLE"),
        Row("infinity", "INF", "DOUBLE", "FLOAT"),
        Row("NaN", "NaN", "FLOAT", "BFLOAT16"),
        Row("infinity to powers of two", "INF", "FLOAT", "FLOAT8E8M0"),
    ],
    "To integers": [
        Row("integer that does not fit", "300", "INT32", "INT8"),
        Row("negative integer", "-1", "INT32", "UINT8"),
        Row("64-bit integer that does not fit", "3000000000", "INT64", "INT32"),
        Row("fraction", "1.5", "FLOAT", "INT32"),
        Row("fraction to 4 bits", "1.5", "FLOAT", "INT4"),
        Row("fraction that rounds out of 4 bits", "7.5", "FLOAT", "INT4"),
        Row("beyond 4 bits", "19", "FLOAT", "INT4"),
        Row("beyond the range", "300", "FLOAT", "INT8"),
        Row("negative to unsigned", "-1", "FLOAT", "UINT8"),
        Row("far beyond the range", "3000000000", "FLOAT", "INT32"),
        Row("infinity", "INF", "FLOAT", "INT8"),
        Row("NaN", "NaN", "FLOAT", "INT32"),
    ],
    "To BOOL": [
        Row("fraction", "0.5", "FLOAT", "BOOL"),
        Row("NaN", "NaN", "FLOAT", "BOOL"),
        Row("subnormal", "1e-45", "FLOAT", "BOOL"),
        Row("64-bit integer", "4294967296", "INT64", "BOOL"),
        Row("−0 of float8", "-0", "FLOAT8E4M3FN", "BOOL"),
    ],
    "Strings": [
        Row("next to a tie", "16777217.00000000001", "STRING", "FLOAT"),
        Row("beyond the largest", "1e400", "STRING", "FLOAT"),
        Row("digits, then letters", "3abc", "STRING", "FLOAT"),
        Row("separated digits", "1_000", "STRING", "INT32"),
        Row("fraction to an integer", "1.5", "STRING", "INT32"),
        Row("large FLOAT", "3000000000", "FLOAT", "STRING"),
        Row("NaN to a string", "NaN", "FLOAT", "STRING"),
    ],
}

INTRODUCTION = """\
# How runtimes disagree about Cast

Runtimes agree on numbers that the target type has. They disagree on numbers beyond its range, NaN, infinities, fractions, numbers next to ties,
64-bit integers and strings, even where ONNX defines the result: **{wrong} of {count} runtimes compute casts otherwise than ONNX defines them.**
If a model depends on such values, [fold](fold.md) the casts of its constants, and [guard](#what-to-do) those of its inputs.

Each was run with edge values of each pair of types, on a CPU (x86-64 with AVX-512). Pairs by result:

{counts}

The tables have one value for each kind of disagreement.

| cell | meaning |
|---|---|
| = | the result that ONNX defines |
| – | refused: the model does not load or run |
| *type* | the result has another type, without an error |
| ! | even 1 becomes another number |
| a, b | a for an input, b for a constant |

`crates/onnx-operators/facts/casts.txt` has more values and the rules that runtimes follow; `reproductions/` beside it, a model for each wrong result of the tables.
"""

ENDING = """\
## What to do

| cast | guard |
|---|---|
| of a constant | `recast fold` stores the result that ONNX defines |
| to float8 | `Clip` to the largest number before it, such as ±448 for FLOAT8E4M3FN: what `saturate` = 1 computes |
| of a fraction to an integer | `Floor`, `Ceil` or `Round` before it |
| of a float to an integer | `Clip` to the range before it |
| of an integer to a narrower one | `Clip`, or `Mod` for the low bits |
| to BOOL | `Equal` with 0, then `Not` |
| of a 64-bit integer | keep it within 32 bits |
| of NaN | `IsNaN` and `Where` before it and before `Clip`, which treats NaN differently too |
| of a string | convert it outside of the model |

No guard helps against a runtime that rounds twice: results next to ties are one code off.

`recast lint` reports casts that do not [state `saturate`](float8.md), and constants with [undefined results](lint.md). [What every cast
means](cast.md) defines each result. [Why results of casts differ](why-casts-differ.md) explains the causes.
"""
