"""`convert --target tract` writes what tract computes as ONNX defines it."""

from support.target import Target

# In a sample, one of so many tests of the operators that tract computes right.
OTHERS = 20


def check(report):
    with Target("tract") as target:
        target.check(report, OTHERS)
