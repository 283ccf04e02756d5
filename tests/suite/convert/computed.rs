//! What opsets take as an attribute, computed by the model; transforms and samples of operators that older opsets lack.

use onnx_recast::internals::convert::{Exactness, Options};

use super::{case, convert_text, run};
use crate::support::expect_no_failures;

#[test]
fn parts_of_computed_lengths() {
    run(&[
        case(
            13,
            "(float[6,4] x, int64[2] s) => (float[a,4] p, float[b,4] q)",
            "p, q = Split (x, s)",
            12,
            "p_axes = Constant <value: tensor = int64[1] {0}> ()
             p_end_0 = Constant <value: tensor = int64[1] {0}> ()
             p_index_0 = Constant <value: tensor = int64[1] {0}> ()
             p_length_0 = Gather <axis: int = 0> (s, p_index_0)
             p_end_1 = Add (p_end_0, p_length_0)
             p = Slice (x, p_end_0, p_end_1, p_axes)
             p_index_1 = Constant <value: tensor = int64[1] {1}> ()
             p_length_1 = Gather <axis: int = 0> (s, p_index_1)
             p_end_2 = Add (p_end_1, p_length_1)
             q = Slice (x, p_end_1, p_end_2, p_axes)",
        ),
        case(
            13,
            "(float[6,4] x, int64[2] s) => (float[a,4] p, float[b,4] q)",
            "p, q = Split (x, s)",
            9,
            "no: input 'p_end_1' is not constant",
        ),
    ]);
}

#[test]
fn slices_with_steps() {
    run(&[
        case(
            10,
            "(float[5,n,3] x) => (float[a,b,c] y) <int64[3] s = {-1, 1, 0}, int64[3] e = {-100, 9, 3}, int64[3] a = {0, 1, 2}, int64[3] t = {-2, 1, 2}>",
            "y = Slice (x, s, e, a, t)",
            9,
            "y_places_0 = Constant <value: tensor = int64[3] {4, 2, 0}> ()
             y_data_1 = Gather <axis: int = 0> (x, y_places_0)
             y_data_2 = Slice <axes: ints = [1], starts: ints = [1], ends: ints = [9]> (y_data_1)
             y_places_2 = Constant <value: tensor = int64[2] {0, 2}> ()
             y = Gather <axis: int = 2> (y_data_2, y_places_2)",
        ),
        case(
            10,
            "(float[n] x) => (float[a] y) <int64[1] s = {0}, int64[1] e = {9}, int64[1] a = {0}, int64[1] t = {2}>",
            "y = Slice (x, s, e, a, t)",
            9,
            "no: the length of axis 0 must be known",
        ),
    ]);
}

#[test]
fn pads_of_computed_axes() {
    run(&[case(
        18,
        "(float[2,3] x, int64[2] p, int32[1] a) => (float[b,c] y)",
        "y = Pad (x, p, , a)",
        17,
        "y_axes = Cast <to: int = 7> (a)
             y_rank = Constant <value: tensor = int64[1] {2}> ()
             y_zeros = Constant <value: tensor = int64[4] {0, 0, 0, 0}> ()
             y_from_front = Mod (y_axes, y_rank)
             y_at_end = Add (y_from_front, y_rank)
             y_places = Concat <axis: int = 0> (y_from_front, y_at_end)
             y_pads = ScatterElements (y_zeros, y_places, p)
             y = Pad (x, y_pads)",
    )]);
}

#[test]
fn recurrent_networks_with_the_batch_first() {
    run(&[case(
        14,
        "(float[b,t,1] x, float[1,4,1] w, float[1,4,1] r, float[b,1,1] i, float[b,1,1] j) => (float[b,t,1,1] y, float[b,1,1] h, float[b,1,1] c)",
        "y, h, c = LSTM <hidden_size = 1, layout = 1> (x, w, r, , , i, j)",
        13,
        "y_time_first_data = Transpose <perm: ints = [1, 0, 2]> (x)
             y_initial_h = Transpose <perm: ints = [1, 0, 2]> (i)
             y_initial_c = Transpose <perm: ints = [1, 0, 2]> (j)
             y_time_first_2, y_time_first_1, y_time_first = LSTM <hidden_size: int = 1> (y_time_first_data, w, r, \"\", \"\", y_initial_h, y_initial_c)
             y = Transpose <perm: ints = [2, 0, 1, 3]> (y_time_first_2)
             h = Transpose <perm: ints = [1, 0, 2]> (y_time_first_1)
             c = Transpose <perm: ints = [1, 0, 2]> (y_time_first)",
    )]);
}

#[test]
fn random_values() {
    run(&[case(
        15,
        "(float16[2] x) => (bool[2] y)",
        "y = Bernoulli <dtype = 9, seed = 2.5> (x)",
        14,
        "y_probability = Cast <to: int = 1> (x)
             y_value = RandomUniformLike <high: float = 1, low: float = 0, dtype: int = 1, seed: float = 2.5> (y_probability)
             y_is_one = Less (y_value, y_probability)
             y = Cast <to: int = 9> (y_is_one)",
    )]);
}

#[test]
fn transforms_along_computed_axes() {
    run(&[
        case(
            20,
            "(float[2,3,1] x, int64 a) => (float[b,c,2] y)",
            "y = DFT (x, , a)",
            19,
            "y_rank = Constant <value: tensor = int64[1] {3}> ()
             y_from_zero = Add (a, y_rank)
             y_table = Constant <value: tensor = int64[6, 4] {1, 2, 3, 1, 2, 3, 1, 1, 6, 1, 1, 1, 1, 2, 3, 1, ...}> ()
             y_selected = Gather <axis: int = 0> (y_table, y_from_zero)
             y_list = Constant <value: tensor = int64[1] {-1}> ()
             y_four = Reshape (y_selected, y_list)
             y_table_1 = Constant <value: tensor = int64[6, 3] {-1, 3, 2, 2, -1, 2, 2, 3, 2, -1, 3, 2, 2, -1, 2, 2, ...}> ()
             y_selected_1 = Gather <axis: int = 0> (y_table_1, y_from_zero)
             y_list_1 = Constant <value: tensor = int64[1] {-1}> ()
             y_shape = Reshape (y_selected_1, y_list_1)
             y_four_axes = Reshape (x, y_four)
             y_flat = DFT <axis: int = 1> (y_four_axes)
             y = Reshape (y_flat, y_shape)",
        ),
        case(20, "(float[n,3,1] x, int64 a) => (float[b,c,2] y)", "y = DFT (x, , a)", 19, "no: input 'a' is not constant"),
    ]);
}

/// The expansions are long; the conformance check `rewrites` computes them.
#[test]
fn transforms_and_samples_are_expanded_by_definition() {
    let cases: &[(i64, &str, Result<i64, &str>)] = &[
        (20, "(float[n,4,1] x) => (float[n,4,2] y) { y = DFT (x) }", Ok(7)),
        (17, "(double[n,m,2] x, int64 l) => (double[n,k,2] y) { y = DFT <inverse = 1> (x, l) }", Ok(10)),
        (
            17,
            "(float[n,m,2] x) => (float[n,k,1] y) { y = DFT <inverse = 1, onesided = 1> (x) }",
            Err("`inverse` and `onesided` are both set"),
        ),
        (17, "(float[n,m,k] x) => (float[n,m,2] y) { y = DFT (x) }", Err("it is unknown whether the signal is complex")),
        (17, "(float[n,m,1] x, int64 s, float[4] w) => (float[n,f,3,2] y) { y = STFT (x, s, w) }", Ok(7)),
        (20, "(float[n,2,3] t, int64[4] s) => (float[n,h,w,2] y) { y = AffineGrid (t, s) }", Ok(8)),
        (
            20,
            "(float[n,2,3] t) => (float[n,1,4,2] y) <int64[4] s = {1, 1, 1, 4}> { y = AffineGrid <align_corners = 1> (t, s) }",
            Err("runtimes disagree on the corners of an image that is one pixel wide"),
        ),
        (20, "(float[n,c,h,w] x, float[n,a,b,2] g) => (float[n,c,a,b] y) { y = GridSample (x, g) }", Ok(9)),
        (20, "(float[n,c,d,h,w] x, float[n,a,b,e,3] g) => (float[n,c,a,b,e] y) { y = GridSample (x, g) }", Ok(9)),
        (16, "(float[n,c,h,w] x, float[n,a,b,2] g) => (float[n,c,a,b] y) { y = GridSample <mode = \"nearest\"> (x, g) }", Ok(9)),
        (
            20,
            "(float[n,c,h,w] x, float[n,a,b,2] g) => (float[n,c,a,b] y) { y = GridSample <mode = \"cubic\", padding_mode = \"border\"> (x, g) }",
            Err("ONNX does not define it"),
        ),
        (
            20,
            "(float16[n,c,h,w] x, float[n,a,b,2] g) => (float16[n,c,a,b] y) { y = GridSample (x, g) }",
            Err("FLOAT16 is interpolated at points of FLOAT"),
        ),
        (20, "(x, g) => (y) { y = GridSample (x, g) }", Err("the rank of the inputs is unknown")),
    ];
    let mut failures = Vec::new();
    for (opset, graph, expected) in cases {
        let source = format!("<ir_version: 8, opset_import: [\"\": {opset}]> g {graph}");
        let lowest = (7..*opset).find_map(|to| Some((to, convert_text(&source, &Options::to(to)).ok()?)));
        let first_refusal = convert_text(&source, &Options::to(15)).err().map(|error| format!("{error:?}"));
        match (lowest, expected) {
            (Some((to, conversion)), Ok(expected)) if to == *expected => {
                if conversion.report.expansions[0].class != Exactness::ByDefinition {
                    failures.push(format!("{graph}: {:?}", conversion.report.expansions));
                }
            }
            (_, Err(part)) if first_refusal.as_ref().is_some_and(|reason| reason.contains(part)) => {}
            (lowest, _) => failures.push(format!("{graph}: {:?}, {first_refusal:?}", lowest.map(|(to, _)| to))),
        }
    }
    expect_no_failures(failures);
}
