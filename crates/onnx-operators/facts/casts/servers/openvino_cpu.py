"""Runs models in OpenVINO on the CPU, in FLOAT (its default may be BFLOAT16 or FLOAT16)."""

import numpy as np
import openvino as ov
from serving import NUMPY, STRING, array_of, serve

CORE = ov.Core()
NAMES = {1: "f32", 2: "u8", 3: "i8", 4: "u16", 5: "i16", 6: "i32", 7: "i64", 8: "string", 9: "boolean", 10: "f16", 11: "f64", 12: "u32", 13: "u64"}
NAMES |= {16: "bf16", 17: "f8e4m3", 19: "f8e5m2", 21: "u4", 22: "i4", 23: "f4e2m1", 24: "f8e8m0", 25: "u2"}
TYPES = {name: number for number, name in NAMES.items()}
CONFIG = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}


def run(model, inputs):
    compiled = CORE.compile_model(CORE.read_model(model), "CPU", CONFIG)
    request = compiled.create_infer_request()
    for name, port in ports_of(compiled, inputs).items():
        request.set_tensor(port, tensor_of(inputs[name]))
    request.infer()
    return [value_of(request.get_output_tensor(index)) for index in range(len(compiled.outputs))]


def ports_of(compiled, inputs):
    """The ports of inputs. A port may have lost the name of its tensor; its node has not, unless the input is an output, too: such ports are those
    of the inputs that are left, in their order. Inputs that nothing uses have no port."""
    ports = {name: port for port in compiled.inputs for name in {*port.names, port.node.friendly_name}}
    found = {name: ports[name] for name in inputs if name in ports}
    unnamed = [port for port in compiled.inputs if inputs.keys().isdisjoint({*port.names, port.node.friendly_name})]
    return found | dict(zip((name for name in inputs if name not in ports), unnamed))


def value_of(tensor):
    number, shape = TYPES[tensor.element_type.to_string()], tuple(tensor.shape)
    if number == STRING:
        return number, shape, [str(each) for each in tensor.str_data.ravel().tolist()]
    return number, shape, np.ascontiguousarray(tensor.data).tobytes()


def tensor_of(value):
    number, shape, data = value
    if number in NUMPY or number == STRING:
        return ov.Tensor(np.array(array_of(value)))
    tensor = ov.Tensor(getattr(ov.Type, NAMES[number]), ov.Shape(shape))
    tensor.data.view("u1").ravel()[:] = np.frombuffer(data, "u1")
    return tensor


serve(run)
