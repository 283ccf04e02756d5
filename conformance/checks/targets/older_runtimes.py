"""`convert --target` for the older versions of OpenVINO, OpenCV and tract that the facts know: as `conversions_for_openvino` judges the newest one.

Only with --all. Each version runs in packages of its own. What a conversion adds to a model was chosen for the newest version; KNOWN are the tests
of which an older one computes it otherwise.
"""

from support.target import older_targets

ONLY_WITH_ALL = "needs packages of 200 MB"
# One of so many tests of the operators that a version computes right.
OTHERS = 5
KNOWN = {
    "openvino@2024.6": {
        "bitshift_left_int32_28",
        "bitshift_right_int32_28",
        "test_bitcast_uint32_to_int32",
        "test_dft",
        "test_dft_inverse",
        "test_sce_NCd1d2d3d4d5_none_no_weight_log_prob",
        "test_sce_mean_3d_log_prob",
        *(f"topk_axis_1_largest_{largest}_k_1_{opset}" for largest in (0, 1) for opset in (11, 24)),
    },
    "opencv@4.12": {
        *(f"bitshift_{direction}_{kind}_11" for direction in ("left", "right") for kind in ("uint8", "uint16")),
        "combination_softplus_output_13",
        "reduceprod_last_int32_18",
        "test_bitwise_not_2d",
        "test_bitwise_not_4d",
        "test_gemm_transposeA",
        "test_gemm_transposeB",
    },
    "tract@0.21": {
        "test_attention_3d_transpose_verification",
        "test_bitshift_left_int64",
        "test_bitshift_right_int64",
        "test_causal_conv_with_state_kernel_size_one",
    },
}


def check(report):
    for target in older_targets():
        with target:
            target.check(report, OTHERS, KNOWN.get(target.name, ()))
