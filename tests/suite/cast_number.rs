//! What `recast cast NUMBER` prints.

use crate::lint::command::{Folder, stderr, stdout};
use crate::support::expect_no_failures;

#[test]
fn a_number_is_shown_with_its_bits() {
    let cases: [(&[&str], i32, &str); 23] = [
        (
            &["3.14", "--to", "FLOAT16"],
            0,
            "FLOAT16  3.140625  0x4248 = 0 10000 1001001000\n",
        ),
        (
            &["0.1", "--to", "FLOAT"],
            0,
            "FLOAT  0.10000000149011612  0x3dcccccd = 0 01111011 10011001100110011001101\n",
        ),
        (
            &["1e-30", "--to", "BFLOAT16"],
            0,
            "BFLOAT16  9.98402083170343e-31  0x0da2 = 0 00011011 0100010\n",
        ),
        (
            &["500", "--to", "float8e4m3fn"],
            0,
            "FLOAT8E4M3FN  saturate = 1  448  0x7e = 0 1111 110\nFLOAT8E4M3FN  saturate = 0  NaN  0x7f = 0 1111 111\n",
        ),
        (
            &["500", "--to", "FLOAT8E4M3FN", "--no-saturate"],
            0,
            "FLOAT8E4M3FN  NaN  0x7f = 0 1111 111\n",
        ),
        (
            &["500", "--to", "FLOAT8E4M3FN", "--saturate"],
            0,
            "FLOAT8E4M3FN  448  0x7e = 0 1111 110\n",
        ),
        // Both attributes give the same.
        (
            &["3", "--to", "FLOAT8E5M2"],
            0,
            "FLOAT8E5M2  3  0x42 = 0 10000 10\n",
        ),
        (
            &["3", "--to", "FLOAT8E8M0"],
            0,
            "FLOAT8E8M0  round_mode = up       4  0x81 = 10000001
FLOAT8E8M0  round_mode = down     2  0x80 = 10000000
FLOAT8E8M0  round_mode = nearest  4  0x81 = 10000001
",
        ),
        (
            &["3", "--to", "FLOAT8E8M0", "--round-mode", "down"],
            0,
            "FLOAT8E8M0  2  0x80 = 10000000\n",
        ),
        (&["-3.7", "--to", "INT8"], 0, "INT8  -3  0xfd = 11111101\n"),
        (
            &["-0.0", "--to", "FLOAT16"],
            0,
            "FLOAT16  -0  0x8000 = 1 00000 0000000000\n",
        ),
        (
            &["-inf", "--to", "FLOAT16"],
            0,
            "FLOAT16  -inf  0xfc00 = 1 11111 0000000000\n",
        ),
        (
            &["--to", "FLOAT16", "-Infinity", "--from", "FLOAT"],
            0,
            "FLOAT16  -inf  0xfc00 = 1 11111 0000000000\n",
        ),
        (
            &["--to", "FLOAT6E3M2", "--", "-inf"],
            1,
            "FLOAT6E3M2  undefined  a number beyond the largest of the 6-bit type, which has no infinity\n",
        ),
        (
            &["nan", "--to", "INT8"],
            1,
            "INT8  undefined  a NaN has no integer value\n",
        ),
        (
            &["nan", "--to", "INT8", "--undefined", "fold"],
            0,
            "INT8  0  0x00 = 00000000\n",
        ),
        (
            &["2.5", "--to", "UINT4"],
            1,
            "UINT4  contested  a fraction, cast to a 2- or 4-bit integer: the text rounds to nearest, runtimes truncate\n",
        ),
        (
            &["2.5", "--to", "UINT4", "--contested", "runtime"],
            0,
            "UINT4  2  0x2 = 0010\n",
        ),
        // Neither is a DOUBLE.
        (
            &["9007199254740993", "--to", "UINT64"],
            0,
            "UINT64  9007199254740993  0x0020000000000001 = ",
        ),
        (
            &["18446744073709551615", "--to", "INT8"],
            0,
            "INT8  -1  0xff = 11111111\n",
        ),
        // Rounded twice.
        (
            &["0.1", "--from", "FLOAT16", "--to", "FLOAT"],
            0,
            "FLOAT  0.0999755859375  0x3dccc000 = 0 01111011 10011001100000000000000\n",
        ),
        (
            &["0x7E", "--from", "FLOAT8E4M3FN", "--to", "FLOAT16"],
            0,
            "FLOAT16  448  0x5f00 = 0 10111 1100000000\n",
        ),
        (&["7", "--to", "STRING"], 1, "STRING  undefined  "),
    ];
    let folder = Folder::new();
    let mut failures = Vec::new();
    for (arguments, code, expected) in cases {
        let output = folder.recast(&[&["cast"], arguments].concat());
        let found = stdout(&output);
        if output.status.code() != Some(code)
            || !found.starts_with(expected)
            || (expected.ends_with('\n') && found != expected)
        {
            failures.push(format!(
                "{arguments:?}: {:?}: {found}{}",
                output.status.code(),
                stderr(&output)
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn without_a_type_a_number_is_shown_in_all_of_them() {
    let text = stdout(&Folder::new().recast(&["cast", "1"]));
    let types: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let expected = [
        "DOUBLE",
        "FLOAT",
        "FLOAT16",
        "BFLOAT16",
        "FLOAT8E4M3FN",
        "FLOAT8E4M3FNUZ",
        "FLOAT8E5M2",
        "FLOAT8E5M2FNUZ",
        "FLOAT8E8M0",
        "FLOAT6E2M3",
        "FLOAT6E3M2",
        "FLOAT4E2M1",
        "INT64",
        "UINT64",
        "INT32",
        "UINT32",
        "UINT16",
        "INT16",
        "UINT8",
        "INT8",
        "BOOL",
        "UINT4",
        "INT4",
        "UINT2",
        "INT2",
    ];
    assert_eq!(types, expected);
}

#[test]
fn what_is_no_number_is_a_tensor_with_an_output() {
    let folder = Folder::new();
    // A file that is called like a number is a file.
    folder.write("7", b"");
    let cases: [(&[&str], &str); 6] = [
        (
            &["abc", "--to", "INT8"],
            "abc: is neither a file nor a number",
        ),
        (&["7", "--to", "INT8"], "7: no output given; use -o FILE"),
        (
            &["weights.npy", "-o", "out.npy"],
            "no type is given; use --to TYPE",
        ),
        (
            &["1", "--to", "COMPLEX64"],
            "1: Cast does not support COMPLEX64 in any opset",
        ),
        (
            &["0x100", "--from", "FLOAT8E5M2"],
            "FLOAT8E5M2 has no element of the bits 0x100",
        ),
        (
            &["1", "--to", "FLOAT8E4M3FN", "--opset", "13"],
            "1: Cast does not support FLOAT8E4M3FN before opset 19; the opset is 13",
        ),
    ];
    let mut failures = Vec::new();
    for (arguments, message) in cases {
        let output = folder.recast(&[&["cast"], arguments].concat());
        if (output.status.code(), stderr(&output)) != (Some(2), format!("recast: {message}\n")) {
            failures.push(format!(
                "{arguments:?}: {:?}: {}{}",
                output.status.code(),
                stdout(&output),
                stderr(&output)
            ));
        }
    }
    expect_no_failures(failures);
}
