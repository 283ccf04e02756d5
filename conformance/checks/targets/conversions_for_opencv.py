"""`convert --target opencv` writes what OpenCV computes as ONNX defines it."""

from support.target import Target

# In a sample, one of so many tests of the operators that OpenCV computes right.
OTHERS = 20


def check(report):
    with Target("opencv") as target:
        target.check(report, OTHERS)
