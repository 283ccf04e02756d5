//! `recast cast`: tensors in files, of numpy's form and of ONNX's.

use std::fs;
use std::process::Output;

use onnx_recast::proto::{Field, TensorProto, Value, raw};
use prost::Message;
use tempfile::TempDir;

use crate::command::recast;
use crate::support::expect_no_failures;

/// A `.npy` file as numpy would write it.
fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{header:<117}\n").bytes());
    file.extend(data);
    file
}

/// A tensor of one dimension.
fn proto(data_type: i32, elements: i64, data: &[u8]) -> Vec<u8> {
    let tensor = raw::TensorProto {
        dims: vec![elements],
        data_type: Some(data_type),
        ..Default::default()
    };
    let mut tensor = TensorProto::from(tensor);
    tensor.rest_mut().push(Field {
        tag: 9,
        value: Value::Len(data.to_vec().into()),
    });
    tensor.encode_to_vec()
}

fn singles(numbers: &[f32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

/// Runs the command in a folder that holds `in.npy` or `in.pb`; the result is in `out.npy` or
/// `out.pb`.
fn run(input: (&str, &[u8]), arguments: &[&str]) -> (TempDir, Output) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(input.0);
    fs::write(&path, input.1).unwrap();
    let arguments: Vec<String> = arguments
        .iter()
        .map(|argument| argument.replace("DIR", folder.path().to_str().unwrap()))
        .collect();
    let mut all = vec!["cast", path.to_str().unwrap()];
    all.extend(arguments.iter().map(String::as_str));
    let output = recast(&all);
    (folder, output)
}

/// An input's name and content, options, the output's name and content.
type Case<'a> = (&'a str, Vec<u8>, &'a [&'a str], &'a str, Vec<u8>);

#[test]
fn files_become_the_files_that_numpy_and_onnx_expect() {
    let floats = npy("<f4", "(3,)", &singles(&[1.0, -2.5, 448.0]));
    let whole = npy("<f4", "(1, 3)", &singles(&[1.0, -2.0, 7.0]));
    let cases: Vec<Case> = vec![
        (
            "in.npy",
            floats.clone(),
            &["--to", "float16"],
            "out.npy",
            npy("<f2", "(3,)", &[0x00, 0x3C, 0x00, 0xC1, 0x00, 0x5F]),
        ),
        (
            "in.npy",
            floats.clone(),
            &["--to", "BFLOAT16"],
            "out.npy",
            npy("<u2", "(3,)", &[0x80, 0x3F, 0x20, 0xC0, 0xE0, 0x43]),
        ),
        (
            "in.npy",
            floats.clone(),
            &["--to", "Float8E4M3FN"],
            "out.npy",
            npy("|u1", "(3,)", &[0x38, 0xC2, 0x7E]),
        ),
        (
            "in.npy",
            floats.clone(),
            &["--to", "float8e4m3fnuz", "--no-saturate"],
            "out.npy",
            npy("|u1", "(3,)", &[0x40, 0xCA, 0x80]),
        ),
        (
            "in.npy",
            floats.clone(),
            &["--to", "float8e4m3fn"],
            "out.pb",
            proto(17, 3, &[0x38, 0xC2, 0x7E]),
        ),
        (
            "in.npy",
            whole.clone(),
            &["--to", "int4"],
            "out.npy",
            npy("|u1", "(1, 3)", &[0x1, 0xE, 0x7]),
        ),
        (
            "in.npy",
            npy("<f4", "(3,)", &singles(&[1.0, -2.0, 7.0])),
            &["--to", "int4"],
            "out.pb",
            proto(22, 3, &[0xE1, 0x07]),
        ),
        (
            "in.pb",
            proto(22, 3, &[0xE1, 0x07]),
            &["--to", "int4"],
            "out.npy",
            npy("|u1", "(3,)", &[0x1, 0xE, 0x7]),
        ),
        (
            "in.pb",
            proto(22, 3, &[0xE1, 0xF7]),
            &["--to", "int8"],
            "out.npy",
            npy("|i1", "(3,)", &[0x01, 0xFE, 0x07]),
        ),
        (
            "in.npy",
            npy("|u1", "(3,)", &[0xF1, 0x0E, 0x07]),
            &["--from", "int4", "--to", "int8"],
            "out.npy",
            npy("|i1", "(3,)", &[0x01, 0xFE, 0x07]),
        ),
        (
            "in.npy",
            npy("<V2", "(1,)", &[0x80, 0x3F]),
            &["--from", "bfloat16", "--to", "float"],
            "out.npy",
            npy("<f4", "(1,)", &singles(&[1.0])),
        ),
        (
            "in.npy",
            npy("<U2", "(2,)", b"1\0\0\0\0\0\0\0-\0\0\x002\0\0\0"),
            &["--to", "int16"],
            "out.npy",
            npy("<i2", "(2,)", &[1, 0, 0xFE, 0xFF]),
        ),
        (
            "in.npy",
            npy("|S3", "(2,)", b"1.5inf"),
            &["--to", "float"],
            "out.npy",
            npy("<f4", "(2,)", &singles(&[1.5, f32::INFINITY])),
        ),
        (
            "in.npy",
            npy("|i1", "(2,)", &[7, 0xFF]),
            &["--to", "string"],
            "out.npy",
            npy("<U2", "(2,)", b"7\0\0\0\0\0\0\0-\0\0\x001\0\0\0"),
        ),
        (
            "in.npy",
            npy("<f8", "()", &3.0_f64.to_le_bytes()),
            &["--to", "uint8"],
            "out.npy",
            npy("|u1", "()", &[3]),
        ),
        (
            "in.npy",
            npy("<f8", "(0, 5)", &[]),
            &["--to", "bool"],
            "out.npy",
            npy("|b1", "(0, 5)", &[]),
        ),
        (
            "in.npy",
            npy("<f4", "(1,)", &singles(&[2.5])),
            &["--to", "uint2", "--contested", "runtime"],
            "out.npy",
            npy("|u1", "(1,)", &[2]),
        ),
        (
            "in.npy",
            npy("<f4", "(1,)", &singles(&[-1.0])),
            &["--to", "uint8", "--undefined", "fold"],
            "out.npy",
            npy("|u1", "(1,)", &[0]),
        ),
        (
            "in.npy",
            npy("<f4", "(1,)", &singles(&[5.0])),
            &["--to", "float8e8m0", "--round-mode", "down"],
            "out.npy",
            npy("|u1", "(1,)", &[129]),
        ),
    ];
    let mut failures = Vec::new();
    for (name, input, options, output, expected) in cases {
        let out = format!("DIR/{output}");
        let (folder, done) = run((name, &input), &[options, &["-o", &out]].concat());
        let found = fs::read(folder.path().join(output)).unwrap_or_default();
        if done.status.code() != Some(0) || found != expected {
            let (found, expected) = (
                String::from_utf8_lossy(&found),
                String::from_utf8_lossy(&expected),
            );
            failures.push(format!(
                "{name} {options:?}: {done:?}\n{found:?}\n{expected:?}"
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn what_onnx_leaves_open_is_not_written_unless_asked_for() {
    let numbers = npy("<f4", "(4,)", &singles(&[1.0, 0.5, 99.0, f32::NAN]));
    let cases: [(&[&str], i32, &[&str]); 4] = [
        (
            &[],
            1,
            &[
                "2 elements are undefined, the first at index 2",
                "1 element is contested, the first at index 1",
            ],
        ),
        (&["--undefined", "fold"], 1, &["1 element is contested"]),
        (&["--contested", "text"], 1, &["2 elements are undefined"]),
        (&["--undefined", "fold", "--contested", "text"], 0, &[]),
    ];
    for (options, code, words) in cases {
        let (folder, done) = run(
            ("in.npy", &numbers),
            &[options, &["--to", "int4", "-o", "DIR/out.npy"]].concat(),
        );
        let message = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(code), "{options:?}: {message}");
        assert_eq!(
            folder.path().join("out.npy").exists(),
            code == 0,
            "{options:?}"
        );
        assert_eq!(message.lines().count(), words.len(), "{message}");
        assert!(
            words.iter().all(|words| message.contains(words)),
            "{options:?}: {message}"
        );
    }
}

#[test]
fn what_cannot_be_cast_is_an_error_that_says_why() {
    let one = singles(&[1.0]);
    let cases: Vec<(Vec<u8>, &[&str], &str)> = vec![
        (
            npy("<f4", "(1,)", &one),
            &["--to", "float8e5m2", "--opset", "18"],
            "before opset 19",
        ),
        (
            npy("<f4", "(1,)", &one),
            &["--to", "float16", "--opset", "29"],
            "there is no opset 29",
        ),
        (
            npy("<f4", "(1,)", &one),
            &["--to", "float16", "--opset", "0"],
            "there is no opset 0",
        ),
        (
            npy("<f4", "(1,)", &one),
            &["--to", "complex64"],
            "in any opset",
        ),
        (
            npy("<f4", "(1,)", &one),
            &["--to", "float7"],
            "'float7' is not an ONNX element type",
        ),
        (npy(">f4", "(1,)", &one), &["--to", "float16"], "big-endian"),
        (
            npy("<f4", "(2,)", &one),
            &["--to", "float16"],
            "has 4 bytes of data, but '<f4' of shape [2] needs 8",
        ),
        (
            npy("<f4", "(9999999999, 9999999999)", &one),
            &["--to", "float16"],
            "has an invalid shape",
        ),
        (
            npy("<U0", "(9999999999,)", &[]),
            &["--to", "float16"],
            "has the data type '<U0'",
        ),
        (
            npy("|O", "(1,)", &one),
            &["--to", "float16"],
            "has the data type '|O'",
        ),
        (
            npy("<c8", "(1,)", &one),
            &["--to", "float16"],
            "has the data type '<c8'",
        ),
        (
            npy("<f4", "(1,)", &one),
            &["--from", "bfloat16", "--to", "float"],
            "cannot represent BFLOAT16",
        ),
        (
            npy("|i1", "(1,)", &[1]),
            &["--from", "int4", "--to", "float"],
            "only unsigned integers",
        ),
        (npy("|V1", "(1,)", &[1]), &["--to", "float"], "use --from"),
        (
            npy("|S3", "(2,)", b"1.5x.5"),
            &["--to", "float"],
            "element 1: 'x.5' cannot be cast to FLOAT",
        ),
        (
            npy("<U1", "(1,)", &[0, 0xD8, 0, 0]),
            &["--to", "float"],
            "not valid Unicode, at index 0",
        ),
        (
            b"\x93NUMPY\x01\x00\xFF\xFF{".to_vec(),
            &["--to", "float"],
            "has a truncated header",
        ),
        (
            b"\x93NUMPY".to_vec(),
            &["--to", "float"],
            "has a truncated header",
        ),
        (
            b"\x93NUMPY\x09\x00".to_vec(),
            &["--to", "float"],
            "version 9",
        ),
        (
            b"not a tensor".to_vec(),
            &["--to", "float"],
            "is a text file, not a .npy file or a TensorProto",
        ),
        (
            proto(1, 3, &one),
            &["--to", "float16"],
            "raw_data holds 4 bytes",
        ),
        (
            proto(1, 1, &one),
            &["--from", "int4", "--to", "float16"],
            "omit --from",
        ),
        (proto(99, 1, &one), &["--to", "float16"], "data_type 99"),
    ];
    let mut failures = Vec::new();
    for (input, options, words) in cases {
        let (folder, done) = run(
            ("in.bin", &input),
            &[options, &["-o", "DIR/out.npy"]].concat(),
        );
        let message = String::from_utf8(done.stderr).unwrap();
        if done.status.code() != Some(2)
            || !message.contains(words)
            || folder.path().join("out.npy").exists()
        {
            failures.push(format!("{words}: {:?} {message}", done.status.code()));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_tensor_proto_keeps_its_name_and_what_the_schema_does_not_know() {
    let mut tensor = TensorProto::decode(proto(1, 1, &singles(&[1.0])).as_slice()).unwrap();
    tensor.name = Some("weights".to_owned());
    tensor.doc_string = Some("words".into());
    tensor.rest_mut().push(Field {
        tag: 4000,
        value: Value::Varint(7),
    });
    let (folder, done) = run(
        ("in.pb", &tensor.encode_to_vec()),
        &["--to", "float16", "-o", "DIR/out.pb"],
    );
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let cast =
        TensorProto::decode(fs::read(folder.path().join("out.pb")).unwrap().as_slice()).unwrap();
    assert_eq!(
        (cast.name(), cast.doc_string(), cast.data_type),
        ("weights", &b"words"[..], Some(10))
    );
    assert_eq!(cast.undecoded(4000), Some(&Value::Varint(7)));
    assert_eq!(
        cast.undecoded(9),
        Some(&Value::Len(vec![0x00, 0x3C].into()))
    );
}

#[test]
fn large_tensors_are_cast_in_parts() {
    let numbers: Vec<f32> = (0..300_007)
        .map(|index| (index % 15) as f32 - 7.0)
        .collect();
    let (folder, done) = run(
        ("in.npy", &npy("<f4", "(300007,)", &singles(&numbers))),
        &["--to", "int4", "-o", "DIR/out.npy"],
    );
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let file = fs::read(folder.path().join("out.npy")).unwrap();
    let expected: Vec<u8> = numbers
        .iter()
        .map(|&number| number as i8 as u8 & 0xF)
        .collect();
    assert!(
        file == npy("|u1", "(300007,)", &expected),
        "the elements differ"
    );
    let (_, done) = run(
        ("in.npy", &npy("<f4", "(300007,)", &singles(&numbers))),
        &["--to", "uint4", "-o", "DIR/out.npy"],
    );
    let message = String::from_utf8(done.stderr).unwrap();
    assert!(
        message.contains("140007 elements are undefined, the first at index 0"),
        "{message}"
    );
}

#[test]
fn strings_that_one_of_them_would_make_long_are_refused() {
    let tensor = |length: usize| {
        let strings = (0..100_000)
            .map(|_| "")
            .map(String::from)
            .chain(["a".repeat(length)]);
        let string_data = strings.map(Into::into).collect();
        let tensor = raw::TensorProto {
            dims: vec![100_001],
            data_type: Some(8),
            string_data,
            ..Default::default()
        };
        TensorProto::from(tensor).encode_to_vec()
    };
    let arguments = ["--to", "string", "-o", "DIR/out.npy"];
    let (folder, done) = run(("in.pb", &tensor(100_000)), &arguments);
    let message = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(2), "{message}");
    assert!(
        message.contains("has a string of 100000 characters")
            && !folder.path().join("out.npy").exists(),
        "{message}"
    );
    let (folder, done) = run(("in.pb", &tensor(100)), &arguments);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    assert!(fs::metadata(folder.path().join("out.npy")).unwrap().len() > 40_000_000);
}

#[test]
fn values_in_another_file_are_found_beside_the_tensor() {
    let pair = |key: &str, value: &str| {
        raw::StringStringEntryProto {
            key: Some(key.to_owned()),
            value: Some(value.to_owned()),
        }
        .into()
    };
    let tensor = |location: &str| {
        let data_location = Some(raw::tensor_proto::DataLocation::External.into());
        let external_data = vec![pair("location", location), pair("offset", "4")];
        let tensor = raw::TensorProto {
            dims: vec![2],
            data_type: Some(1),
            data_location,
            external_data,
            ..Default::default()
        };
        TensorProto::from(tensor).encode_to_vec()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("values.bin"), singles(&[9.0, 1.0, -2.5])).unwrap();
    for (location, code) in [("values.bin", 0), ("../values.bin", 2), ("other.bin", 2)] {
        fs::write(path("in.pb"), tensor(location)).unwrap();
        let done = recast(&[
            "cast",
            &path("in.pb"),
            "-o",
            &path("out.pb"),
            "--to",
            "float16",
        ]);
        assert_eq!(done.status.code(), Some(code), "{location}: {done:?}");
    }
    assert_eq!(
        fs::read(path("out.pb")).unwrap(),
        proto(10, 2, &[0x00, 0x3C, 0x00, 0xC1])
    );
    // In a folder that is allowed by name.
    fs::create_dir(path("inside")).unwrap();
    fs::write(path("inside/in.pb"), tensor("../values.bin")).unwrap();
    for (allow, code) in [
        (&[][..], 2),
        (&["--allow-data-dir", folder.path().to_str().unwrap()], 0),
    ] {
        let done = recast(
            &[
                &[
                    "cast",
                    &path("inside/in.pb"),
                    "-o",
                    &path("out.npy"),
                    "--to",
                    "float16",
                ],
                allow,
            ]
            .concat(),
        );
        assert_eq!(done.status.code(), Some(code), "{allow:?}: {done:?}");
        let remedy = "; use --allow-data-dir DIR to allow its folder\n";
        assert_eq!(
            String::from_utf8(done.stderr.clone())
                .unwrap()
                .ends_with(remedy),
            code == 2,
            "{allow:?}: {done:?}"
        );
    }
}
