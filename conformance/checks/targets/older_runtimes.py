"""`convert --target` for the older versions of OpenVINO, OpenCV and tract that the facts know: as `conversions_for_openvino` judges the newest one.

Only with --all. Each version runs in packages of its own.
"""

from support.target import older_targets

ONLY_WITH_ALL = "needs packages of 200 MB"
# One of so many tests of the operators that a version computes right.
OTHERS = 5


def check(report):
    for target in older_targets():
        with target:
            target.check(report, OTHERS)
