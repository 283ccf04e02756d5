//! Where a tensor's values may stand: `raw_data` and the typed fields, packed or one by one.

use onnx_cast::DType;
use onnx_recast::internals::tensor::{BadTensor, Tensor, Values};
use onnx_recast::proto::TensorProto;
use prost::Message;

use crate::support::expect_no_failures;
use crate::wire_tree::{Node, Tree};

/// A tensor of one dimension with these fields.
fn tensor(dtype: DType, elements: u64, fields: Vec<(u32, Node)>) -> TensorProto {
    let head = [
        (1, Node::Varint(elements)),
        (2, Node::Varint(dtype.number() as u64)),
    ];
    let bytes = Tree(head.into_iter().chain(fields).collect()).write();
    TensorProto::decode(bytes.as_slice()).unwrap()
}

fn varints(numbers: &[i64]) -> Vec<Node> {
    numbers
        .iter()
        .map(|&number| Node::Varint(number as u64))
        .collect()
}

/// The bytes of a packed list: every number without its key.
fn packed(numbers: &[Node]) -> Node {
    let one_by_one = numbers
        .iter()
        .map(|number| Tree(vec![(1, number.clone())]).write()[1..].to_vec());
    Node::Bytes(one_by_one.collect::<Vec<_>>().concat())
}

#[test]
fn typed_fields_hold_what_raw_data_would() {
    let floats = |values: &[f32]| {
        values
            .iter()
            .map(|value| Node::Fixed32(value.to_le_bytes()))
            .collect::<Vec<_>>()
    };
    let doubles = |values: &[f64]| {
        values
            .iter()
            .map(|value| Node::Fixed64(value.to_le_bytes()))
            .collect::<Vec<_>>()
    };
    // Type, elements, field, numbers, raw_data.
    type Case = (DType, u64, u32, Vec<Node>, Vec<u8>);
    let cases: Vec<Case> = vec![
        (
            DType::Float,
            2,
            4,
            floats(&[1.5, -2.0]),
            [1.5f32, -2.0]
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect(),
        ),
        (
            DType::Double,
            2,
            10,
            doubles(&[1.5, -2.0]),
            [1.5f64, -2.0]
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect(),
        ),
        (
            DType::Int32,
            2,
            5,
            varints(&[-1, 7]),
            vec![255, 255, 255, 255, 7, 0, 0, 0],
        ),
        (
            DType::Int64,
            2,
            7,
            varints(&[-2, 7]),
            [-2i64, 7]
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect(),
        ),
        (DType::Uint64, 1, 11, varints(&[-1]), vec![255; 8]),
        (
            DType::Uint32,
            1,
            11,
            varints(&[0xffff_fffe]),
            vec![254, 255, 255, 255],
        ),
        (DType::Int16, 2, 5, varints(&[-2, 3]), vec![254, 255, 3, 0]),
        (DType::Uint16, 1, 5, varints(&[65535]), vec![255, 255]),
        (
            DType::Int8,
            3,
            5,
            varints(&[-1, 127, -128]),
            vec![255, 127, 128],
        ),
        (DType::Uint8, 2, 5, varints(&[255, 1]), vec![255, 1]),
        (DType::Bool, 3, 5, varints(&[0, 1, 255]), vec![0, 1, 1]),
        (
            DType::Float16,
            2,
            5,
            varints(&[0x3c00, 0xc000]),
            vec![0x00, 0x3c, 0x00, 0xc0],
        ),
        (DType::Bfloat16, 1, 5, varints(&[0x3f80]), vec![0x80, 0x3f]),
        (
            DType::Float8E4M3Fn,
            2,
            5,
            varints(&[0x38, 0xc0]),
            vec![0x38, 0xc0],
        ),
        (DType::Float8E8M0, 1, 5, varints(&[127]), vec![127]),
        (DType::Int4, 3, 5, varints(&[0x78, 0x1]), vec![0x78, 0x1]),
        (DType::Float4E2M1, 1, 5, varints(&[0x7]), vec![0x7]),
        // ONNX does not say that the padding bits of an entry are zero.
        (DType::Int4, 3, 5, varints(&[0x78, 0xF1]), vec![0x78, 0xF1]),
        (DType::Uint2, 1, 5, varints(&[0xFD]), vec![0xFD]),
        (
            DType::Uint2,
            5,
            5,
            varints(&[0b11_10_01_00, 1]),
            vec![0b11_10_01_00, 1],
        ),
        (
            DType::Float6E3M2,
            5,
            5,
            varints(&[0x3f, 0, 0x3f, 0, 0x21]),
            vec![0x3f, 0xf0, 0x03, 0x21],
        ),
        (
            DType::Complex64,
            1,
            4,
            floats(&[1.0, 2.0]),
            [1.0f32, 2.0]
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect(),
        ),
        (DType::Float, 0, 4, vec![], vec![]),
    ];
    let mut failures = Vec::new();
    for (dtype, elements, tag, numbers, raw) in cases {
        let one_by_one: Vec<(u32, Node)> =
            numbers.iter().map(|number| (tag, number.clone())).collect();
        let forms = [
            ("one by one", one_by_one),
            ("packed", vec![(tag, packed(&numbers))]),
            ("raw_data", vec![(9, Node::Bytes(raw.clone()))]),
        ];
        for (form, fields) in forms {
            let proto = tensor(dtype, elements, fields);
            let found = Tensor::read(&proto).and_then(|tensor| tensor.values());
            if found != Ok(Values::Raw(raw.clone().into())) {
                failures.push(format!("{dtype} {form}: expected {raw:?}, found {found:?}"));
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn packed_floats_are_not_copied() {
    let proto = tensor(DType::Float, 2, vec![(4, Node::Bytes(vec![0; 8]))]);
    let Ok(Values::Raw(first)) = Tensor::read(&proto).unwrap().values() else {
        panic!("the values are there")
    };
    let Ok(Values::Raw(second)) = Tensor::read(&proto).unwrap().values() else {
        panic!("the values are there")
    };
    assert_eq!(first.as_ptr(), second.as_ptr());
}

#[test]
fn tensors_that_contradict_themselves_are_refused() {
    let raw = |bytes: usize| vec![(9, Node::Bytes(vec![0; bytes]))];
    let cases = [
        (
            "raw_data too short",
            tensor(DType::Float, 2, raw(7)),
            "raw_data holds 7 bytes, but FLOAT[2] needs 8",
        ),
        (
            "raw_data too long",
            tensor(DType::Int4, 3, raw(3)),
            "raw_data holds 3 bytes, but INT4[3] needs 2",
        ),
        (
            "too few numbers",
            tensor(DType::Int64, 2, vec![(7, Node::Varint(1))]),
            "int64_data holds 1 entries, but INT64[2] needs 2",
        ),
        (
            "too many numbers",
            tensor(DType::Int4, 2, vec![(5, Node::Bytes(vec![1, 1]))]),
            "int32_data holds 2 entries, but INT4[2] needs 1",
        ),
        (
            "no values at all",
            tensor(DType::Float, 1, vec![]),
            "float_data holds 0 entries, but FLOAT[1] needs 1",
        ),
        (
            "a number cut off",
            tensor(DType::Int32, 1, vec![(5, Node::Bytes(vec![0x80]))]),
            "int32_data does not have the protobuf encoding of its type",
        ),
        (
            "beyond 6 bits",
            tensor(DType::Float6E2M3, 1, vec![(5, Node::Varint(64))]),
            "int32_data[0] is 64, which does not fit FLOAT6E2M3: expected 0 to 63",
        ),
        (
            "beyond a half",
            tensor(DType::Float16, 2, vec![(5, packed(&varints(&[1, 65536])))]),
            "int32_data[1] is 65536, which does not fit FLOAT16: expected 0 to 65535",
        ),
        (
            "beyond a byte",
            tensor(DType::Uint8, 1, vec![(5, Node::Varint(256))]),
            "int32_data[0] is 256, which does not fit UINT8",
        ),
        (
            "beyond a signed byte",
            tensor(DType::Int8, 1, vec![(5, Node::Varint(128))]),
            "int32_data[0] is 128, which does not fit INT8: expected -128 to 127",
        ),
        (
            "a negative bit pattern",
            tensor(DType::Bfloat16, 1, vec![(5, Node::Varint(u64::MAX))]),
            "int32_data[0] is -1, which does not fit BFLOAT16",
        ),
        (
            "beyond a bool",
            tensor(DType::Bool, 1, vec![(5, Node::Varint(256))]),
            "int32_data[0] is 256, which does not fit BOOL",
        ),
        (
            "two nibbles and more",
            tensor(DType::Int4, 2, vec![(5, Node::Varint(0x121))]),
            "int32_data[0] is 289, which does not fit INT4",
        ),
        (
            "beyond 32 bits",
            tensor(DType::Uint32, 1, vec![(11, Node::Varint(1 << 32))]),
            "uint64_data[0] is 4294967296, which does not fit UINT32",
        ),
        (
            "too few strings",
            tensor(DType::String, 2, vec![(6, Node::Bytes(vec![]))]),
            "string_data holds 1 strings, but STRING[2] needs 2",
        ),
        (
            "a negative dimension",
            tensor(DType::Float, u64::MAX, raw(0)),
            "invalid dims [-1]: negative, or too many elements",
        ),
        (
            "more bytes than 64 bits count",
            tensor(DType::Double, 1 << 62, raw(0)),
            "]: negative, or too many elements",
        ),
    ];
    let mut failures = Vec::new();
    for (name, proto, expected) in cases {
        let found = Tensor::read(&proto)
            .and_then(|tensor| tensor.values())
            .map_err(|error: BadTensor| error.to_string());
        if !matches!(&found, Err(message) if message.contains(expected)) {
            failures.push(format!("{name}: expected '{expected}', found {found:?}"));
        }
    }
    expect_no_failures(failures);
}
