//! A model that nothing changes is written with its own bytes; one that is encoded anew says the
//! same.

use onnx_recast::proto::ModelProto;
use prost::Message;

pub fn run(bytes: &[u8]) {
    let Ok(model) = ModelProto::from_bytes(bytes.to_vec().into()) else {
        assert!(
            ModelProto::decode(bytes).is_err(),
            "one way of decoding refuses what the other takes"
        );
        return;
    };
    assert!(
        super::written(&model) == bytes,
        "an unchanged model is written with other bytes"
    );
    // Decoded this way, messages do not know the bytes they came from, so that all are encoded
    // anew.
    let anew = ModelProto::decode(bytes).expect("one way of decoding takes what the other refuses");
    let encoded = super::written(&anew);
    assert_eq!(encoded, anew.encode_to_vec());
    let again =
        ModelProto::from_bytes(encoded.clone().into()).expect("what was encoded can be decoded");
    // A NaN among the attributes is not equal to itself.
    if model == model.clone() {
        assert!(model == anew, "the ways of decoding differ");
        assert!(
            model == again,
            "a model that was encoded anew says something else"
        );
    }
    let again = ModelProto::decode(encoded.as_slice()).expect("what was encoded can be decoded");
    assert_eq!(
        super::written(&again),
        encoded,
        "encoding is no fixed point"
    );
}
