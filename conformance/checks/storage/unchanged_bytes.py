"""A run that changes nothing writes the bytes it read: every model of the onnx wheel's backend tests, and those of models/."""

from support.common import EXAMPLES, batches, copy_with_unique_names, fold_all, scratch_folder, wheel_models



def check(report):
    with scratch_folder() as scratch:
        copies = copy_with_unique_names([*wheel_models(), *EXAMPLES], scratch / "in")
        compared = 0
        for batch in batches(copies):
            for copy, output in fold_all(report, batch, scratch / "out", "--passes", "none").items():
                report.case(copy.stem, copy.read_bytes() != output.read_bytes() and "the output's bytes differ")
                compared += 1
        report.count("compared models", compared)
        report.note(f"{len(copies)} models")
