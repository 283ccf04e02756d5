#!/usr/bin/env python3
"""Writes the example models of this folder; needs onnx and numpy.

    python models/make.py            write every model
    python models/make.py --check    compare with the files here; exit 1 where one differs

A model is one function: its graph in ONNX text syntax, then its weights. Weights come from integer arithmetic, not from a random
generator, so the bytes are the same on every machine. README.md beside this file says what each model is for.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper, parser

FOLDER = Path(__file__).resolve().parent


def transformer_fp16():
    """One block of a language model after automatic mixed precision: every product in FLOAT16, every sum and norm in FLOAT."""
    width, hidden = 32, 64
    model = parser.parse_model("""
        <ir_version: 9, opset_import: ["": 19], producer_name: "amp-export-example">
        transformer_block (float[batch, tokens, 32] x) => (float[batch, tokens, 32] y)
        <int64[4] split_heads_shape = {0, 0, 4, 8}, int64[3] merge_heads_shape = {0, 0, 32}, float attention_scale = {0.35355338}>
        {
            attention_in = LayerNormalization(x, attention_norm_scale, attention_norm_bias)
            [attention_in_cast] attention_in_half = Cast <to = 10> (attention_in)

            [query_weight_cast] query_weight_half = Cast <to = 10> (query_weight)
            [key_weight_cast] key_weight_half = Cast <to = 10> (key_weight)
            [value_weight_cast] value_weight_half = Cast <to = 10> (value_weight)
            [query_projection] query = MatMul(attention_in_half, query_weight_half)
            [key_projection] key = MatMul(attention_in_half, key_weight_half)
            [value_projection] value = MatMul(attention_in_half, value_weight_half)

            query_split = Reshape(query, split_heads_shape)
            key_split = Reshape(key, split_heads_shape)
            value_split = Reshape(value, split_heads_shape)
            query_heads = Transpose <perm = [0, 2, 1, 3]> (query_split)
            key_heads_transposed = Transpose <perm = [0, 2, 3, 1]> (key_split)
            value_heads = Transpose <perm = [0, 2, 1, 3]> (value_split)

            [scores] scores_half = MatMul(query_heads, key_heads_transposed)
            [attention_scale_cast] attention_scale_half = Cast <to = 10> (attention_scale)
            scores_scaled_half = Mul(scores_half, attention_scale_half)
            [scores_cast] scores_scaled = Cast <to = 1> (scores_scaled_half)
            probabilities = Softmax <axis = -1> (scores_scaled)
            [probabilities_cast] probabilities_half = Cast <to = 10> (probabilities)
            [context] context_heads = MatMul(probabilities_half, value_heads)
            context_split = Transpose <perm = [0, 2, 1, 3]> (context_heads)
            context_half = Reshape(context_split, merge_heads_shape)

            [output_weight_cast] output_weight_half = Cast <to = 10> (output_weight)
            [output_projection] attention_out_half = MatMul(context_half, output_weight_half)
            [attention_out_cast] attention_out = Cast <to = 1> (attention_out_half)
            after_attention = Add(x, attention_out)

            mlp_in = LayerNormalization(after_attention, mlp_norm_scale, mlp_norm_bias)
            [mlp_in_cast] mlp_in_half = Cast <to = 10> (mlp_in)
            [up_weight_cast] up_weight_half = Cast <to = 10> (up_weight)
            [up_bias_cast] up_bias_half = Cast <to = 10> (up_bias)
            [up_projection] up_product = MatMul(mlp_in_half, up_weight_half)
            up = Add(up_product, up_bias_half)
            up_active = Relu(up)
            [down_weight_cast] down_weight_half = Cast <to = 10> (down_weight)
            [down_projection] down_half = MatMul(up_active, down_weight_half)
            [down_cast] down = Cast <to = 1> (down_half)
            y = Add(after_attention, down)
        }""")
    add_weights(
        model,
        attention_norm_scale=np.ones(width, np.float32),
        attention_norm_bias=noise(width, largest=0.1),
        query_weight=noise(width, width, largest=0.3),
        key_weight=noise(width, width, largest=0.3, seed=1),
        value_weight=noise(width, width, largest=0.3, seed=2),
        output_weight=noise(width, width, largest=0.3, seed=3),
        mlp_norm_scale=np.ones(width, np.float32),
        mlp_norm_bias=noise(width, largest=0.1, seed=1),
        up_weight=noise(width, hidden, largest=0.3),
        up_bias=noise(hidden, largest=0.1),
        down_weight=noise(hidden, width, largest=0.2),
    )
    return model


def fp8_qdq():
    """Two layers with float8 weights, as quantizers for FP8 hardware leave them: quantized by casts, never folded."""
    model = parser.parse_model("""
        <ir_version: 9, opset_import: ["": 19], producer_name: "fp8-quantizer-example">
        fp8_block (float[batch, 32] x) => (float[batch, 16] y)
        <float x_scale = {0.03125}, float up_weight_scale = {0.0625}, float down_weight_scale = {0.00390625}, float zero = {0}>
        {
            [zero_point_cast] zero_e4m3 = Cast <to = 17, saturate = 1> (zero)
            [x_quantize] x_e4m3 = QuantizeLinear(x, x_scale, zero_e4m3)
            [x_dequantize] x_quantized = DequantizeLinear(x_e4m3, x_scale, zero_e4m3)

            [up_weight_cast] up_weight_e4m3 = Cast <to = 17> (up_weight_scaled)
            [up_weight_dequantize] up_weight = DequantizeLinear(up_weight_e4m3, up_weight_scale)
            [up_projection] up_product = MatMul(x_quantized, up_weight)
            up = Add(up_product, up_bias)
            up_active = Relu(up)

            [down_weight_cast] down_weight_e5m2 = Cast <to = 19, saturate = 0> (down_weight_scaled)
            [down_weight_dequantize] down_weight = DequantizeLinear(down_weight_e5m2, down_weight_scale)
            [down_projection] down = MatMul(up_active, down_weight)
            y = Add(down, down_bias)
        }""")
    up_weight_scaled = noise(32, 48, largest=4)
    up_weight_scaled[3, 5] = 500  # An outlier above 448, the largest E4M3FN: the cast that does not say `saturate` clips it.
    add_weights(
        model,
        up_weight_scaled=up_weight_scaled,
        up_bias=noise(48, largest=0.1),
        down_weight_scaled=noise(48, 16, largest=96),
        down_bias=noise(16, largest=0.1),
    )
    return model


def control_flow():
    """Casts wherever a graph can hide them: both branches of an If, the body of a Loop, a local function."""
    model = parser.parse_model("""
        <ir_version: 8, opset_import: ["": 18, "example.local": 1]>
        control_flow (float[4] x, bool use_bias, int64 steps) => (float[4] y)
        <float[4] bias = {0.1, 0.2, 0.3, 0.4}, float[4] gain = {1.1, 0.9, 1.01, 0.99}, bool keep_going = {1}>
        {
            [choose] chosen = If (use_bias) <
                then_branch = with_bias () => (float16[4] result) {
                    [constant_cast] constant_half = Cast <to = 10> (bias)
                    [x_cast] x_half = Cast <to = 10> (x)
                    result = Add(x_half, constant_half)
                },
                else_branch = with_gain () => (float16[4] result) {
                    [constant_cast] constant_half = Cast <to = 10> (gain)
                    [x_cast] x_half = Cast <to = 10> (x)
                    result = Mul(x_half, constant_half)
                }
            >
            [repeat] repeated = Loop (steps, keep_going, chosen) <
                body = step (int64 iteration, bool running, float16[4] state) => (bool still_running, float16[4] next_state) {
                    still_running = Identity(running)
                    [gain_cast] constant_half = Cast <to = 10> (gain)
                    scaled = Mul(state, constant_half)
                    offset = Constant <value_floats = [0.5, 0.25, 0.125, 0.0625]> ()
                    [offset_cast] offset_half = Cast <to = 10> (offset)
                    next_state = Add(scaled, offset_half)
                }
            >
            [finish] y = example.local.Scaled <to = 1> (repeated)
        }
        <domain: "example.local", opset_import: ["": 18]>
        Scaled <to> (values) => (result)
        {
            factor = Constant <value_float = 0.7> ()
            [factor_round] factor_half = Cast <to = 10> (factor)
            product = Mul(values, factor_half)
            third = Constant <value_float = 0.3333> ()
            [third_cast] third_cast_to = Cast <to: int = @to> (third)
            [product_cast] product_cast_to = Cast <to: int = @to> (product)
            result = Add(product_cast_to, third_cast_to)
        }""")
    return model


def opset1_string_to():
    """A model of 2017: `to` is a name, not a number, and every initializer is listed as a graph input."""
    model = parser.parse_model("""
        <ir_version: 3, opset_import: ["": 1], producer_name: "early-framework-example">
        mixture (float[3, 8] x, float16[8, 6] gate_weight, double[6, 4] expert_weight, float[4] order) => (float[3, 4] y)
        {
            [gate_weight_cast] gate_weight_float = Cast <to = "FLOAT"> (gate_weight)
            [gate] gate_product = MatMul(x, gate_weight_float)
            gates = Softmax(gate_product)
            [expert_weight_cast] expert_weight_float = Cast <to = "FLOAT"> (expert_weight)
            [experts] mixed = MatMul(gates, expert_weight_float)
            [order_cast] order_integers = Cast <to = "INT64"> (order)
            [reorder] y = Gather <axis = 1> (mixed, order_integers)
        }""")
    add_weights(
        model,
        gate_weight=noise(8, 6, largest=0.5).astype(np.float16),
        expert_weight=noise(6, 4, largest=0.5).astype(np.float64) / 3,
        order=np.array([3, 1, 0, 2], np.float32),
    )
    return model


def subbyte_quant():
    """Weights of four and two bits, still stored eight to thirty-two bits wide before their casts; odd element counts."""
    model = parser.parse_model("""
        <ir_version: 13, opset_import: ["": 25], producer_name: "low-bit-quantizer-example">
        low_bit_layers (float[batch, 32] x) => (float[batch, 15] y)
        <float query_scale = {0.03}, float key_scale = {0.02}, float gate_scale = {0.5}>
        {
            [query_cast] query_int4 = Cast <to = 22> (query_codes)
            [query_dequantize] query_weight = DequantizeLinear(query_int4, query_scale)
            query = MatMul(x, query_weight)

            [key_cast] key_uint4 = Cast <to = 21> (key_codes)
            [key_zero_cast] key_zero_uint4 = Cast <to = 21> (key_zero)
            [key_dequantize] key_weight = DequantizeLinear(key_uint4, key_scale, key_zero_uint4)
            key = MatMul(x, key_weight)

            mixed = Mul(query, key)
            [gate_cast] gate_int2 = Cast <to = 26> (gate_codes)
            [gate_dequantize] gate = DequantizeLinear(gate_int2, gate_scale)
            y = Mul(mixed, gate)
        }""")
    add_weights(
        model,
        query_codes=codes(32, 15, lowest=-8, highest=7).astype(np.float32),
        key_codes=codes(32, 15, lowest=0, highest=15, seed=1).astype(np.int32),
        key_zero=np.array(8, np.uint8),
        gate_codes=codes(15, lowest=-2, highest=1).astype(np.int8),
    )
    return model


def annotated():
    """What a rewrite may lose: metadata and doc strings everywhere, quantization annotations, an overridable weight; CastLike."""
    model = parser.parse_model("""
        <ir_version: 10, opset_import: ["": 21, "example.vendor": 3], producer_name: "annotated-example", producer_version: "1.2",
         domain: "com.example.vision", model_version: 7, doc_string: "A model whose every part is described.",
         metadata_props: ["license": "CC0-1.0", "dataset": "synthetic"]>
        annotated (float[batch, 8] x, float16[8, 8] adapter, float16[1] compute_type) => (float16[batch, 4] y)
        {
            [x_as_compute] x_compute = CastLike(x, compute_type)
            [adapter_use] adapted = MatMul(x_compute, adapter)
            [weight_as_compute] weight_compute = CastLike(weight, compute_type)
            [projection] projected = MatMul(adapted, weight_compute)
            [bias_cast] bias_compute = Cast <to = 10> (bias)
            y = Add(projected, bias_compute)
        }""")
    add_weights(
        model,
        adapter=np.eye(8, dtype=np.float16),  # Also a graph input: a caller may bring another adapter.
        weight=noise(8, 4, largest=0.5),
        bias=noise(4, largest=0.1),
        weight_scale=np.array(0.004, np.float32),
        weight_zero_point=np.array(0, np.int8),
    )
    graph = model.graph
    graph.doc_string = "One projection with an adapter."
    describe(graph, stage="inference")
    annotation = graph.quantization_annotation.add(tensor_name="weight")
    describe_entries(annotation.quant_parameter_tensor_names, SCALE_TENSOR="weight_scale", ZERO_POINT_TENSOR="weight_zero_point")
    for value in [*graph.input, *graph.output]:
        value.doc_string = f"The value {value.name}."
        describe(value, layout="row-major")
    for node in graph.node:
        node.doc_string = f"The step {node.name or node.op_type}."
        describe(node, **{"source.line": str(len(node.input) + 40)})
    for tensor in graph.initializer:
        tensor.doc_string = f"The constant {tensor.name}."
        describe(tensor, trained="yes")
    graph.value_info.append(onnx.helper.make_tensor_value_info("weight_compute", TensorProto.FLOAT16, [8, 4]))
    describe(graph.value_info[0], origin="shape inference")
    return model


def pump():
    """A classifier of the state of a pump, whose first two nodes subtract numbers that FLOAT16 rounds to multiples of 16 and of 2."""
    model = parser.parse_model("""
        <ir_version: 8, opset_import: ["": 17], producer_name: "maintenance-example">
        pump (float[batch, 1] hours, float[batch, 1] service_hours, float[batch, 1] inlet_pressure, float[batch, 1] outlet_pressure)
            => (int64[batch] label, float[batch, 3] probabilities)
        <float[2] scale = {0.01, 0.2}, float[3] healthy = {1, 0, 0}>
        {
            [since_service] since_service = Sub(hours, service_hours)
            [pressure_drop] pressure_drop = Sub(inlet_pressure, outlet_pressure)
            [join] differences = Concat <axis = 1> (since_service, pressure_drop)
            [normalize] features = Mul(differences, scale)
            [hidden] hidden = Gemm(features, hidden_weight, hidden_bias)
            [active] active = Relu(hidden)
            [scores] scores = Gemm(active, score_weight, healthy)
            [probabilities] probabilities = Softmax <axis = 1> (scores)
            [label] label = ArgMax <axis = 1, keepdims = 0> (scores)
        }""")
    add_weights(
        model,
        hidden_weight=np.array([[4, 0], [0, 4]], np.float32),
        hidden_bias=np.array([-2, -2], np.float32),
        score_weight=np.array([[0, 3, 0], [0, 0, 3]], np.float32),
    )
    return model


MODELS = [transformer_fp16, fp8_qdq, control_flow, opset1_string_to, subbyte_quant, annotated, pump]


def noise(*shape, largest, seed=0):
    """Values that look random, spread evenly over ±largest; another seed gives others."""
    return ((hashes(shape, seed) / 2.0**63 - 1) * largest).astype(np.float32)


def codes(*shape, lowest, highest, seed=0):
    """Integers that look random, from lowest to highest; another seed gives others."""
    return (hashes(shape, seed) % np.uint64(highest - lowest + 1)).astype(np.int64) + lowest


def hashes(shape, seed):
    """One 64-bit hash for each element: multiply and shift, three times over."""
    bits = np.arange(1, np.prod(shape) + 1, dtype=np.uint64) + np.uint64(seed << 32)
    for _ in range(3):
        bits *= np.uint64(0x9E3779B97F4A7C15)
        bits ^= bits >> np.uint64(29)
    return bits.reshape(shape)


def add_weights(model, **arrays):
    """Each array becomes an initializer of its name."""
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in arrays.items())


def describe(message, **properties):
    """Adds metadata to a message that can carry it."""
    describe_entries(message.metadata_props, **properties)


def describe_entries(entries, **properties):
    """Adds key and value pairs to a list of them."""
    for key, value in properties.items():
        entries.add(key=key, value=value)


def main():
    differing = []
    for make in MODELS:
        path, contents = FOLDER / f"{make.__name__}.onnx", make().SerializeToString(deterministic=True)
        if "--check" not in sys.argv[1:]:
            path.write_bytes(contents)
        elif not path.is_file() or path.read_bytes() != contents:
            differing.append(path.name)
    if differing:
        sys.exit(f"differs from what make.py writes: {', '.join(differing)}")


if __name__ == "__main__":
    main()
