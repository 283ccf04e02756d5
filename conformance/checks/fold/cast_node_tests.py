"""Folding a Cast computes what ONNX's own node tests expect, to the bit.

Every test_cast* and test_castlike* of the onnx wheel, with its input made an initializer, is folded three times:

1. `--undefined fold --contested runtime`: no cast stays, and the new initializer is the test's expected output;
2. without options: a cast stays exactly if ONNX leaves one of its values undefined or contested, by cast_rules.py;
3. `--undefined fold --contested text`: the new initializer is what cast_rules.py says.
"""

from collections import namedtuple

import onnx
from onnx import TensorProto

from support import cast_rules
from support.codes import codes
from support.common import WHEEL_DATA, batches, fold_all, scratch_folder
from support.models import count_casts

# The node tests whose expected output is not what the schema's text says, and why. A test too many or too few here is a failure.
NAN_TO_FLOAT4 = (
    "the input holds a NaN: ONNX's note on float4 says 6, the test expects what ml_dtypes computes, -0 for +NaN and 0 for -NaN"
)
CONTRADICT_THE_TEXT = {
    f"test_{form.format(source)}": NAN_TO_FLOAT4
    for source in ("FLOAT", "FLOAT16")
    for form in ("cast_{}_to_FLOAT4E2M1", "castlike_{}_to_FLOAT4E2M1", "castlike_{}_to_FLOAT4E2M1_expanded")
}

Case = namedtuple("Case", "path expected answers")


def check(report):
    with scratch_folder() as scratch:
        (scratch / "in").mkdir()
        cases = {}
        for folder in sorted(WHEEL_DATA.glob("node/test_cast*")):
            case = constant_input_case(folder, scratch / "in")
            cases[case.path] = case
            report.case(f"{folder.name}, contradiction", unlisted_contradiction(case))
        runs = {
            "runtime": ["--undefined", "fold", "--contested", "runtime"],
            "default": [],
            "text": ["--undefined", "fold", "--contested", "text"],
        }
        compared = 0
        for run, options in runs.items():
            for batch in batches(cases):
                for path, output in fold_all(report, batch, scratch / run, *options).items():
                    report.case(f"{path.stem}, {run}", problem(run, cases[path], output))
                    compared += 1
        report.count("compared folds", compared)
        stay = [case for case in cases.values() if kinds(case) != {"defined"}]
        report.count("tests with undefined or contested values", len(stay))
        report.note(
            f"{len(cases)} node tests; {len(stay)} with undefined or contested values; "
            f"{len(CONTRADICT_THE_TEXT)} contradict the text: {NAN_TO_FLOAT4}"
        )


def constant_input_case(folder, destination):
    """The node test with its first input as an initializer, and what is expected of it."""
    model = onnx.load(folder / "model.onnx")
    source = onnx.load_tensor(folder / "test_data_set_0/input_0.pb")
    expected = onnx.load_tensor(folder / "test_data_set_0/output_0.pb")
    source.name = model.graph.input[0].name
    del model.graph.input[0]
    model.graph.initializer.append(source)
    path = destination / f"{folder.name}.onnx"
    onnx.save(model, path)
    return Case(path, expected, expected_answers(model, source, expected.data_type))


def expected_answers(model, source, target_number):
    """What cast_rules says of every element."""
    attributes = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in model.graph.node[0].attribute}
    source_type, target_type = map(TensorProto.DataType.Name, (source.data_type, target_number))
    saturate, round_mode = attributes.get("saturate", 1) != 0, attributes.get("round_mode", b"up").decode()
    return [
        cast_rules.cast(code, source_type, target_type, model.opset_import[0].version, saturate, round_mode)
        for code in codes(source, cast_rules.bits_of(source_type))
    ]


def unlisted_contradiction(case):
    """Whether the test says other than the text, against the list above."""
    by_text = [answer.text for answer in case.answers]
    contradicts, listed = first_difference(case, by_text, case.expected) is not None, case.path.stem in CONTRADICT_THE_TEXT
    return contradicts != listed and f"contradicts the text: {contradicts}, listed: {listed}"


def kinds(case):
    return {answer.kind for answer in case.answers}


def problem(run, case, output):
    """What is wrong with one folded model; None if nothing is."""
    model = onnx.load(output)
    casts_left = count_casts(model)
    if run == "default" and kinds(case) != {"defined"}:
        if casts_left != 1:
            return f"the cast is folded, though values are {kinds(case)}"
        return case.path.read_bytes() != output.read_bytes() and "the cast stays, but the model differs"
    if casts_left:
        return "the cast stays"
    folded = next((tensor for tensor in model.graph.initializer if tensor.name == model.graph.output[0].name), None)
    if folded is None:
        return "no initializer has the output's name"
    type_name = TensorProto.DataType.Name(case.expected.data_type)
    if folded.data_type != case.expected.data_type or list(folded.dims) != list(case.expected.dims):
        return (
            f"type {TensorProto.DataType.Name(folded.data_type)}{list(folded.dims)}, expected {type_name}{list(case.expected.dims)}"
        )
    wanted = codes(case.expected, cast_rules.bits_of(type_name)) if run == "runtime" else [answer.text for answer in case.answers]
    return first_difference(case, wanted, folded) or storage_problem(folded, type_name)


def first_difference(case, wanted_codes, tensor):
    """The first element of a tensor that is not what was wanted, as text; NaN equals NaN, and None wants nothing."""
    type_name = TensorProto.DataType.Name(case.expected.data_type)
    for index, (wanted, actual) in enumerate(zip(wanted_codes, codes(tensor, cast_rules.bits_of(type_name)), strict=True)):
        both_nan = wanted is not None and cast_rules.is_nan(wanted, type_name) and cast_rules.is_nan(actual, type_name)
        if wanted not in (None, actual) and not both_nan:
            return f"element {index} is {actual:#x}, not {wanted:#x}"
    return None


def storage_problem(tensor, type_name):
    """Folded tensors are raw_data, packed, the unused bits of the last byte zero."""
    width = cast_rules.bits_of(type_name)
    elements = 1
    for dim in tensor.dims:
        elements *= dim
    if len(tensor.raw_data) != (elements * width + 7) // 8:
        return f"raw_data holds {len(tensor.raw_data)} bytes for {elements} elements of {width} bits"
    used_bits_of_last_byte = (elements * width - 1) % 8 + 1
    return elements > 0 and tensor.raw_data[-1] >> used_bits_of_last_byte != 0 and "the last byte's unused bits are not zero"
