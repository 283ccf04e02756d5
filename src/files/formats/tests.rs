//! A sample of a few bytes for each format.

use bytes::Bytes;

use super::*;

fn zip(name: &str) -> Vec<u8> {
    [
        b"PK\x03\x04\x14\0\0\0\0\0".as_slice(),
        name.as_bytes(),
        b"PK\x05\x06",
    ]
    .concat()
}

fn with_length(key: u8, value: &[u8]) -> Vec<u8> {
    let length = u8::try_from(value.len()).expect("a sample is short");
    [&[key, length], value].concat()
}

/// Bytes without a pattern, from a linear congruential generator.
fn random() -> Vec<u8> {
    let mut state = 1u64;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..8192).map(next).collect()
}

fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let graph_def = with_length(
        0x0a,
        &[with_length(0x0a, b"x"), with_length(0x12, b"Placeholder")].concat(),
    );
    let saved_model = [
        &[0x08, 0x01][..],
        &with_length(0x12, &with_length(0x12, &graph_def)),
    ]
    .concat();
    // specificationVersion 4, a description, neuralNetwork (500)
    let coreml = [
        &[0x08, 0x04][..],
        &with_length(0x12, &with_length(0x0a, b"\x0a\x01x")),
        &[0xa2, 0x1f, 0x00],
    ]
    .concat();
    let tensor = [
        &[0x08, 0x02, 0x10, 0x01][..],
        &with_length(0x42, b"w"),
        &with_length(0x4a, &[0; 8]),
    ]
    .concat();
    let no_elements = [&[0x08, 0x00, 0x10, 0x01][..], &with_length(0x42, b"w")].concat();
    let legacy = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e\x80\x02\x4d\xe9\x03.\x80\x02}q\x00.\0\0";
    let utf_16 = |text: &str| {
        text.encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>()
    };
    let safetensors = [&16u64.to_le_bytes()[..], b"{\"__metadata__\":{}", &[0; 8]].concat();
    let tar = [vec![b'm'; 257], b"ustar\0".to_vec(), vec![0; 249]].concat();
    let model = [
        &[0x08, 0x0a][..],
        &with_length(
            0x3a,
            &with_length(0x0a, &with_length(0x22, b"If")).repeat(9),
        ),
    ]
    .concat();
    let damaged = [&model[..2], &with_length(0x12, &[0x85; 8]), &model[2..]].concat();
    let bytes_as_text: String = damaged.iter().copied().map(char::from).collect();
    let with_returns = model.iter().flat_map(|&byte| {
        if byte == b'\n' {
            vec![b'\r', b'\n']
        } else {
            vec![byte]
        }
    });
    let graph = [
        with_length(0x0a, &with_length(0x22, b"Relu")),
        with_length(0x5a, &with_length(0x0a, b"x")),
    ]
    .concat();
    vec![
        (
            "git-lfs",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n".to_vec(),
        ),
        (
            "html",
            b"\n<!DOCTYPE html>\n<html lang=\"en\"><head>".to_vec(),
        ),
        ("html", b"<HTML><BODY>Sign in</BODY></HTML>".to_vec()),
        ("html", b"<!-- saved from url=(0024) -->\n<html>".to_vec()),
        (
            "openvino",
            b"<?xml version=\"1.0\"?>\n<net name=\"m\" version=\"11\">\n<layers>".to_vec(),
        ),
        (
            "xml",
            b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>AccessDenied</Code></Error>"
                .to_vec(),
        ),
        (
            "onnx-text",
            b"<ir_version: 10, opset_import: [\"\": 21]>\ng (float x) => (float y) { y = Neg (x) }"
                .to_vec(),
        ),
        (
            "onnx-text",
            b"agraph (float[N] x) => (float[N] y)\n{\n   y = Relu(x)\n}".to_vec(),
        ),
        (
            "onnx-text",
            b"# A comment.\n\n  # => (\n<ir_version: 10>\ng (float x) => (float y) { y = Neg (x) }"
                .to_vec(),
        ),
        (
            "onnx-json",
            b"{\n  \"irVersion\": \"10\",\n  \"graph\": {}\n}".to_vec(),
        ),
        ("json", b"{\"architectures\": [\"BertModel\"]}".to_vec()),
        (
            "onnx-textproto",
            b"ir_version: 10\nproducer_name: \"pytorch\"\ngraph {\n  node {".to_vec(),
        ),
        (
            "tensorflow-text",
            b"node {\n  name: \"x\"\n  op: \"Placeholder\"\n}".to_vec(),
        ),
        (
            "ncnn",
            b"7767517\n75 83\nInput            data 0 1 data".to_vec(),
        ),
        (
            "text",
            "\u{feff}# Models\n\nSee the releases.".as_bytes().to_vec(),
        ),
        ("text", b"# A comment (of a note)\n# => more".to_vec()),
        ("utf-16", utf_16("\u{feff}<html>\r\nCaf\u{e9} \u{1f600}")),
        ("utf-16", utf_16("ir_version: 10\r\n")),
        (
            "utf-16",
            "\u{feff}Not Found"
                .encode_utf16()
                .flat_map(u16::to_be_bytes)
                .collect(),
        ),
        (
            "utf-16",
            "Not Found"
                .encode_utf16()
                .flat_map(u16::to_be_bytes)
                .collect(),
        ),
        ("pytorch", zip("archive/data.pkl")),
        ("torchscript", zip("m/data.pkl m/constants.pkl")),
        ("keras", zip("config.json model.weights.h5")),
        ("npz", zip("arr_0.npy")),
        ("zip", zip("model.onnx")),
        ("zip-empty", [b"PK\x05\x06".as_slice(), &[0; 18]].concat()),
        ("gzip", vec![0x1f, 0x8b, 8, 0]),
        ("zstd", vec![0x28, 0xb5, 0x2f, 0xfd, 0]),
        ("xz", b"\xfd7zXZ\0\0".to_vec()),
        ("bzip2", b"BZh91AY&SY\xff".to_vec()),
        ("lzma", b"\x5d\0\0\x80\0\xff\xff".to_vec()),
        ("lz4", vec![0x04, 0x22, 0x4d, 0x18, 0x64]),
        ("7z", b"7z\xbc\xaf\x27\x1c\0".to_vec()),
        ("rar", b"Rar!\x1a\x07\x01\0".to_vec()),
        ("tar", tar),
        ("safetensors", safetensors.clone()),
        ("safetensors", safetensors[..12].to_vec()),
        ("safetensors", [&2u64.to_le_bytes()[..], b"{}"].concat()),
        (
            "safetensors",
            [&99u64.to_le_bytes()[..], b"{ \"w\": "].concat(),
        ),
        ("gguf", b"GGUF\x03\0\0\0".to_vec()),
        ("tflite", b"\x1c\0\0\0TFL3\0\0".to_vec()),
        ("ort", b"\x18\0\0\0ORTM\0\0".to_vec()),
        ("tensorrt", b"ftrt\0\0\x01".to_vec()),
        ("npy", b"\x93NUMPY\x01\0v\0{'descr': '<f4'".to_vec()),
        ("hdf5", b"\x89HDF\r\n\x1a\n\0".to_vec()),
        ("pickle", b"\x80\x04\x95\x10\0\0\0.".to_vec()),
        ("pickle", b"}q\x00(X\x01\0\0\0aq\x01K\x01s.".to_vec()),
        ("pickle", b"(dp0\nVa\np1\nI1\ns.".to_vec()),
        (
            "pickle",
            b"ccopy_reg\n_reconstructor\np0\n(csklearn.linear_model\nRidge\n.".to_vec(),
        ),
        ("pytorch-legacy", legacy.to_vec()),
        ("saved-model", saved_model),
        ("graph-def", graph_def),
        ("coreml", coreml),
        ("tensor-proto", tensor),
        ("tensor-proto", no_elements),
        ("graph-proto", graph),
        ("text-transfer", with_returns.collect()),
        ("text-transfer", ["\u{feff}".as_bytes(), &model].concat()),
        ("text-transfer", bytes_as_text.into_bytes()),
        (
            "text-transfer",
            String::from_utf8_lossy(&damaged).into_owned().into_bytes(),
        ),
        ("zeros", vec![0; 100]),
        ("random", random()),
    ]
}

#[test]
fn each_format_is_recognised() {
    let mut failures = Vec::new();
    for (code, sample) in samples() {
        let error = read_model(&Bytes::from(sample))
            .map(drop)
            .expect_err("a sample is not a model");
        match error.what {
            Fact::Foreign(format) if format.code == code => {}
            other => failures.push(format!("{code}: {other}")),
        }
    }
    let sampled: Vec<&str> = samples().into_iter().map(|(code, _)| code).collect();
    let unsampled = FORMATS
        .iter()
        .map(|format| format.code)
        .filter(|code| !sampled.contains(code));
    failures.extend(unsampled.map(|code| format!("{code}: no sample")));
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_saved_model_has_the_schema_version_1() {
    let mut samples = samples().into_iter();
    let (_, mut sample) = samples.find(|(code, _)| *code == "saved-model").unwrap();
    sample[1] = 2;
    let error = read_model(&Bytes::from(sample)).map(drop).unwrap_err();
    let is_saved_model =
        matches!(error.what, Fact::Foreign(format) if format.code == "saved-model");
    assert!(!is_saved_model, "{}", error.what);
}

#[test]
fn no_beginning_of_a_sample_is_more_than_an_error() {
    for (_, sample) in samples() {
        for end in 0..sample.len().min(300) {
            assert!(read_model(&Bytes::copy_from_slice(&sample[..end])).is_err());
        }
    }
}

#[test]
fn a_model_that_is_cut_off_or_malformed_is_told_so() {
    // ir_version 10; graph { node { op_type "If" attribute { name "g" } } }
    let attribute = with_length(0x2a, &with_length(0x0a, b"g"));
    let node = with_length(
        0x0a,
        &[with_length(0x22, b"If"), attribute.clone(), attribute].concat(),
    );
    let model = [&[0x08, 0x0a][..], &with_length(0x3a, &node)].concat();
    assert!(read_model(&Bytes::from(model.clone())).is_ok());
    let broken = |at: usize, byte: u8| {
        let mut model = model.clone();
        model[at] = byte;
        model
    };
    let name = model.len() - 1;
    let cut_off = |place: &str, missing: &str| {
        format!("is cut off{place}: at least {missing} missing; download or copy it again")
    };
    let no_model = |why: &str| format!("is not an ONNX model: {why}");
    let in_attribute = |why: &str| no_model(&format!("`graph.node[0].attribute[1]{why}"));
    let cases = [
        (vec![], "is empty, not an ONNX model; download or copy it again".to_owned()),
        (model[..name].to_vec(), cut_off(" within `graph`", "1 byte is")),
        (vec![0x08, 0x0a], no_model("it has no graph")),
        (broken(name, 0xff), in_attribute(".name` at byte 17: the text is not UTF-8")),
        (broken(name - 1, 9), in_attribute(".name` at byte 17: the field is longer than the message around it")),
        (broken(name - 2, 0x07), in_attribute("` at byte 15: invalid wire type value: 7")),
        // Cut off after the key of a field, within its length, within a number, and within a key.
        (vec![0x08, 0x0a, 0x3a], cut_off(" within `graph`", "1 byte is")),
        (vec![0x08, 0x0a, 0x3a, 0xff], cut_off(" within `graph`", "1 byte is")),
        (vec![0x08, 0x0a, 0x28, 0x80], cut_off(" within `model_version`", "1 byte is")),
        (vec![0x08, 0x0a, 0xca], cut_off("", "1 byte is")),
        // None of these is: another type of the field, no field of a model, a number of more than
        // 64 bits.
        (vec![0x08, 0x0a, 0x38, 0xff], no_model("`graph` at byte 2: invalid wire type: Varint (expected LengthDelimited)")),
        (vec![0x08, 0x0a, 0x7a, 0xff], no_model("byte 2: the bytes are not a valid varint")),
        ([&[0x08, 0x0a, 0x3a][..], &[0xff; 10]].concat(), no_model("`graph` at byte 2: the bytes are not a valid varint")),
        // A length of 1 MiB and one byte, and of more.
        (vec![0x08, 0x0a, 0x3a, 0x81, 0x80, 0x40, 0x00], cut_off(" within `graph`", "1048576 bytes are")),
        (
            vec![0x08, 0x0a, 0x3a, 0x82, 0x80, 0x40, 0x00],
            "is damaged or cut off: the length of `graph` exceeds the file by 1048577 bytes; download or copy it again".to_owned(),
        ),
        (vec![0x07, 0x80, 0xff], no_model("byte 0: invalid wire type value: 7")),
    ];
    let mut failures = Vec::new();
    for (bytes, expected) in cases {
        let found = read_model(&Bytes::from(bytes))
            .map(drop)
            .expect_err("not a model")
            .to_string();
        if found != expected {
            failures.push(format!("expected: {expected}\nfound:    {found}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
