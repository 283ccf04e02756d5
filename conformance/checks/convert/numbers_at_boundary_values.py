"""Exact rewrites of integers, comparisons and sums, on the numbers at which they could go wrong: infinities, NaN, -0, and the first and last of a type.

numpy says what is right, and onnxruntime computes the same with the converted models.
"""

import numpy as np

from checks.convert.expansions_at_boundary_values import compare, shifted

FLOATS = np.array([-np.inf, -3.4028235e38, -2.5, -1e-45, -0.0, 0, 1e-45, 0.5, 1.5, 3.4028235e38, np.inf, np.nan], np.float32)


def check(report):
    bits(report)
    short_shifts(report)
    comparisons(report)
    counted(report)
    placed(report)
    broadcast(report)
    quantized(report)
    low_bits(report)
    powers(report)


def bits(report):
    for name in ("int64", "uint64", "int32", "uint32", "uint8"):
        info = np.iinfo(name)
        powers = [1 << place for place in range(info.bits - 1)]
        values = [info.min, info.max, info.max - 1, 0, *powers, *(power - 1 for power in powers)]
        values += [-power for power in powers] + [-power - 1 for power in powers] if info.min else [1 << (info.bits - 1)]
        numbers = np.array(values, name)
        feed = {"a": numbers[:, None], "b": numbers[None]}
        for op, compute in (("And", np.bitwise_and), ("Or", np.bitwise_or), ("Xor", np.bitwise_xor)):
            text = f"g ({name}[n,1] a, {name}[1,m] b) => ({name}[n,m] c) {{ c = Bitwise{op} (a, b) }}"
            compare(report, text, 18, (17, 12, 9), [feed], [compute(feed["a"], feed["b"])])


def short_shifts(report):
    """By less than all bits: other shifts are undefined."""
    for name in ("uint8", "uint16", "uint32", "uint64"):
        size = np.iinfo(name).bits
        numbers = np.array([0, 1, 3, 1 << (size - 1), (1 << size) - 1], name)[:, None]
        by = np.array([0, 1, size - 2, size - 1], name)[None]
        for direction in ("LEFT", "RIGHT") if size < 64 else ("RIGHT",):
            expected = [[shifted(int(number), int(count), size, direction) for count in by[0]] for number in numbers[:, 0]]
            text = f'g ({name}[n,1] x, {name}[1,m] b) => ({name}[n,m] y) {{ y = BitShift <direction = "{direction}"> (x, b) }}'
            compare(report, text, 11, (10, 9, 7), [{"x": numbers, "b": by}], [np.array(expected, name)])


def comparisons(report):
    for positive in (0, 1):
        for negative in (0, 1):
            expected = np.isposinf(FLOATS) & bool(positive) | np.isneginf(FLOATS) & bool(negative)
            for name in ("float", "double"):
                data = FLOATS.astype({"float": np.float32, "double": np.float64}[name])
                attributes = f"detect_positive = {positive}, detect_negative = {negative}"
                compare(report, f"g ({name}[n] x) => (bool[n] y) {{ y = IsInf <{attributes}> (x) }}", 10, (9, 7), [{"x": data}], [expected])
    longs = np.array([0, 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
    feed = {"a": longs[:, None], "b": longs[None]}
    compare(report, "g (uint64[n,1] a, uint64[1,m] b) => (bool[n,m] c) { c = Equal (a, b) }", 11, (10, 7), [feed], [feed["a"] == feed["b"]])


def counted(report):
    """The limit is rounded up; a negative one leaves nothing."""
    for name, dtype in (("float", np.float32), ("double", np.float64)):
        text = f"g ({name} l) => ({name}[n] y) <{name} s = {{0}}, {name} d = {{1}}> {{ y = Range (s, l, d) }}"
        limits = [dtype(limit) for limit in (0, -0.0, 0.25, 1, 1.5, 7, -1, -7.5, 1000)]
        compare(report, text, 11, (10, 9, 8, 7), [{"l": np.array(limit)} for limit in limits], [np.arange(np.ceil(limit), dtype=dtype) for limit in limits])


def placed(report):
    """Indices in the range, at its ends and beyond."""
    indices = np.array([-7, -6, -5, -4, -1, 0, 1, 4, 5, 6, 9])
    wanted = np.where((indices >= -5) & (indices < 5), indices % 5, 5)
    expected = np.where(np.arange(5)[None] == wanted[:, None], np.float32(3), np.float32(-1))
    for name in ("int64", "float"):
        text = f"g ({name}[n] i, int64[1] d, float[2] v) => (float[n,m] y) {{ y = OneHot (i, d, v) }}"
        feed = {"i": indices.astype({"int64": np.int64, "float": np.float32}[name]), "d": np.array([5]), "v": np.array([-1, 3], np.float32)}
        compare(report, text, 11, (10, 9), [feed], [expected])


def broadcast(report):
    for name, dtype in (("float", np.float32), ("double", np.float64)):
        data = FLOATS.astype(dtype)
        for left, right in (((12, 1), (1, 12)), ((12, 12), ()), ((12, 12), (12,))):
            feed = {"a": np.resize(data, left), "b": np.resize(data[::-1], right)}
            dims = [",".join("nmkl"[2 * place : 2 * place + len(shape)]) for place, shape in enumerate((left, right))]
            inputs = [f"{name}[{each}] {value}" if each else f"{name} {value}" for each, value in zip(dims, "ab")]
            for op, compute in (("Max", np.maximum), ("Min", np.minimum), ("Sum", np.add)):
                with np.errstate(all="ignore"):
                    expected = compute(feed["a"], feed["b"])
                if op != "Sum":
                    # The sign of the larger of two zeros is a runtime's.
                    feed = {key: np.where(value == 0, dtype(0), value).astype(dtype) for key, value in feed.items()}
                    expected = np.where(expected == 0, dtype(0), expected).astype(dtype)
                text = f"g ({', '.join(inputs)}) => ({name}[p,q] y) {{ y = {op} (a, b) }}"
                compare(report, text, 8, (7,), [feed], [expected])


def quantized(report):
    random = np.random.default_rng(0)
    for name in ("int16", "uint16"):
        info = np.iinfo(name)
        every = np.arange(info.min, info.max + 1).astype(name)
        halves = np.arange(2 * info.min - 9, 2 * info.max + 9).astype(np.float32) / 2
        data = np.concatenate([halves, random.normal(scale=1e5, size=10000).astype(np.float32), np.array([1e30, -1e30, np.inf, -np.inf], np.float32)])
        for zero in (0, info.min, info.max, 7):
            for scale in (1.0, 0.3):
                state = f"<float s = {{{scale}}}, {name} z = {{{zero}}}>"
                text = f"g ({name}[n] x) => (float[n] y) {state} {{ y = DequantizeLinear (x, s, z) }}"
                expected = (every.astype(np.int32) - np.int32(zero)).astype(np.float32) * np.float32(scale)
                compare(report, text, 21, (20, 12, 9), [{"x": every}], [expected])
                text = f"g (float[n] x) => ({name}[n] y) {state} {{ y = QuantizeLinear (x, s, z) }}"
                whole = np.rint(data / np.float32(scale)).astype(np.float64) + zero
                compare(report, text, 21, (20, 12, 9), [{"x": data}], [np.clip(whole, info.min, info.max).astype(name)])


def low_bits(report):
    """Casts of integers to integers of 4 and 2 bits, and of fractions as ONNX's text and as its node tests have it."""
    longs = np.array([*range(-300, 300), 2**31 - 1, -(2**31), 2**31, 2**32 + 5, 2**63 - 1, -(2**63)])
    for kind, size, opset in (("INT4", 4, 21), ("UINT4", 4, 21), ("INT2", 2, 25), ("UINT2", 2, 25)):
        least, greatest = (-(1 << size - 1), (1 << size - 1) - 1) if kind.startswith("INT") else (0, (1 << size) - 1)
        code = {"INT4": 22, "UINT4": 21, "INT2": 26, "UINT2": 25}[kind]
        text = f"g (int64[n] x) => (float[n] y) {{ q = Cast <to = {code}> (x) y = Cast <to = 1> (q) }}"
        expected = (longs - least) % (1 << size) + least
        targets = (opset - 1, 13, 9)
        compare(report, text, opset, targets, [{"x": longs}], [expected.astype(np.float32)])
        fractions = np.arange(4 * least - 1, 4 * greatest + 2).astype(np.float32) / 4
        for choice, whole in (("text", np.rint(fractions)), ("runtime", np.trunc(fractions))):
            expected = ((whole.astype(np.int64) - least) % (1 << size) + least).astype(np.float32)
            text = f"g (float[n] x) => (float[n] y) {{ q = Cast <to = {code}> (x) y = Cast <to = 1> (q) }}"
            compare(report, text, opset, targets, [{"x": fractions}], [expected], options=("--contested", choice))


def powers(report):
    """Casts to FLOAT8E8M0, where ONNX defines the result: in the range of the type always, beyond it with two of the modes."""
    exact = np.exp2(np.arange(-127, 128, dtype=np.float64))
    near = np.concatenate([exact, 1.5 * exact[:-1], 1.25 * exact[1:-1]]).astype(np.float32)
    random = np.random.default_rng(0).integers(0, 0x7F000000, 100000, dtype=np.uint32).view(np.float32)
    data = np.concatenate([near, np.nextafter(near, np.float32(0)), np.nextafter(near, np.float32(np.inf)), random, [np.float32(np.nan)]])
    data = data[np.isnan(data) | (data >= exact[0]) & (data <= exact[-1])]
    outside = np.array([0, 1e-45, 5e-39, 1.8e38, 3.4028235e38, np.inf], np.float32)
    for mode in ("up", "down", "nearest"):
        for saturate in (1, 0):
            is_defined = (mode, saturate) in (("up", 1), ("nearest", 0))
            numbers = np.concatenate([data, outside]) if is_defined else data
            with np.errstate(all="ignore"):
                below = np.exp2(np.frexp(numbers.astype(np.float64))[1] - 1.0)
            above = np.where(below < numbers, 2 * below, below)
            expected = {"up": above, "down": below, "nearest": np.where(numbers < 1.5 * below, below, np.maximum(above, below))}[mode]
            if is_defined:
                expected[-6:] = [exact[0]] * 3 + [exact[-1]] * 3 if saturate else np.nan
            expected = np.where(np.isnan(numbers), np.nan, expected).astype(np.float32)
            text = f"""g (float[n] x) => (float[n] y) {{
                q = Cast <to = 24, round_mode = "{mode}", saturate = {saturate}> (x) y = Cast <to = 1> (q) }}"""
            compare(report, text, 24, (23, 18, 9), [{"x": numbers}], [expected])
