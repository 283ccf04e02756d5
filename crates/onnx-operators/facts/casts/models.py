"""Models of one Cast, with the numbers as an input or as a constant."""

from onnx import TensorProto, helper

from support.cast_rules import ADMITTED_SINCE, bits_of
from support.codes import tensor_of_codes

# From opset 24 on, the text defines infinity to FNUZ types.
USUAL_OPSET = 24
IR_VERSIONS = {20: 9, 21: 10, 22: 10, 23: 11, 24: 12, 25: 13, 28: 14}


def opset_for(source, target, newest):
    """The usual opset or the first that admits both types, but not newer than a runtime loads; None if it loads none."""
    needed = max(ADMITTED_SINCE.get(name, 1) for name in (source, target))
    return None if needed > newest else min(max(needed, USUAL_OPSET), newest)


def cast_model(source, target, attributes, count, opset, constant=None, through=None):
    """The bytes of a model that casts `count` elements of `source` to `target`. `constant`, bit patterns or strings, makes them an
    initializer; `through` is a type to which the result is cast, which holds all of its numbers."""
    targets = [target, through] if through else [target]
    names = ["x", *(f"y{index}" for index in range(len(targets)))]
    nodes = [
        helper.make_node("Cast", [names[index]], [names[index + 1]], to=number_of(to), **(attributes if index == 0 else {}))
        for index, to in enumerate(targets)
    ]
    inputs = [] if constant is not None else [helper.make_tensor_value_info("x", number_of(source), [count])]
    outputs = [helper.make_tensor_value_info(names[-1], number_of(targets[-1]), [count])]
    graph = helper.make_graph(nodes, "cast", inputs, outputs)
    if constant is not None:
        graph.initializer.append(tensor_of("x", source, constant))
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, ir_version=IR_VERSIONS[opset], opset_imports=imports).SerializeToString()


def tensor_of(name, type_name, elements):
    if type_name != "STRING":
        return tensor_of_codes(name, type_name, [len(elements)], elements, bits_of(type_name))
    tensor = TensorProto(name=name, data_type=TensorProto.STRING, dims=[len(elements)])
    tensor.string_data.extend(element.encode() for element in elements)
    return tensor


def value_of(type_name, elements):
    """Elements as a value of the servers: (number of the type, shape, bytes or strings)."""
    number, shape = number_of(type_name), (len(elements),)
    if type_name == "STRING":
        return number, shape, list(elements)
    return number, shape, tensor_of("x", type_name, elements).raw_data


def elements_of(value, width):
    """The bit patterns or strings of a value of the servers."""
    _, shape, data = value
    if isinstance(data, list):
        return [each.decode() if isinstance(each, bytes) else str(each) for each in data]
    count = 1
    for size in shape:
        count *= size
    stream = int.from_bytes(data, "little")
    return [stream >> (index * width) & ((1 << width) - 1) for index in range(count)]


def number_of(type_name):
    return TensorProto.DataType.Value(type_name)
