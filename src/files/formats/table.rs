//! The formats that are recognised: a row each.

use super::content;

/// A format of files that are passed in place of a model.
#[derive(Debug)]
pub struct Format {
    /// A short name that does not change.
    pub code: &'static str,
    /// The name in a sentence: `a gzip archive`.
    pub name: &'static str,
    /// How to get a model from such a file.
    pub remedy: &'static str,
    sign: Sign,
}

/// How a format is recognised.
#[derive(Debug)]
enum Sign {
    /// By bytes at an offset.
    At(usize, &'static [u8]),
    /// By the first word of a text, in any letter case.
    Text(&'static [&'static str]),
    /// By the beginning of a text.
    InText(fn(&str) -> bool),
    /// By a file that a zip archive lists, whose name contains this.
    Zip(&'static str),
    /// By its content.
    Content(fn(&[u8]) -> bool),
}

impl Format {
    pub(super) fn matches(&self, bytes: &[u8]) -> bool {
        match self.sign {
            Sign::At(offset, sign) => bytes
                .get(offset..)
                .is_some_and(|rest| rest.starts_with(sign)),
            Sign::Text(words) => content::text(bytes).is_some_and(|text| {
                let begins_with = |word: &&str| {
                    text.get(..word.len())
                        .is_some_and(|start| start.eq_ignore_ascii_case(word))
                };
                words.iter().any(begins_with)
            }),
            Sign::InText(matches) => content::text(bytes).is_some_and(|text| matches(&text)),
            Sign::Zip(name) => content::zip_lists(bytes, name),
            Sign::Content(matches) => matches(bytes),
        }
    }
}

const DECOMPRESS: &str = "decompress it and pass the .onnx file";
const UNPACK: &str = "unpack it and pass the .onnx file";
const EXPORT_PYTORCH: &str = "export the model with torch.onnx.export";
const CONVERT_TENSORFLOW: &str = "convert it with tf2onnx";
const DOWNLOAD: &str = "download the file itself, not the page about it";

macro_rules! formats {
    ($($code:literal, $name:literal, $sign:expr, $remedy:expr;)*) => {
        /// All formats, in the order in which they are tried: the more specific first.
        pub const FORMATS: &[Format] = &[$(Format { code: $code, name: $name, remedy: $remedy, sign: $sign }),*];
    };
}

formats! {
    "git-lfs", "a Git LFS pointer", Sign::Text(&["version https://git-lfs.github.com/spec/"]), "run `git lfs pull` to fetch the file";
    "html", "an HTML page", Sign::Text(&["<!doctype html", "<html", "<head", "<body", "<!--"]), DOWNLOAD;
    "openvino", "an OpenVINO model (XML)", Sign::InText(content::is_openvino), "pass the ONNX file that it was converted from";
    "xml", "an XML document", Sign::Text(&["<?xml", "<error>"]), "storage services send an error in this form in place of the file";
    "onnx-text", "ONNX text", Sign::InText(content::is_onnx_text), "parse it with onnx.parser.parse_model";
    "onnx-json", "an ONNX model as JSON", Sign::InText(content::is_onnx_json),
        "convert it in Python: onnx.save(onnx.load(IN, format=\"json\"), OUT)";
    "json", "a JSON document", Sign::InText(content::is_json), "pass the .onnx file";
    "onnx-textproto", "an ONNX model in the text format of protobuf", Sign::InText(content::is_onnx_textproto),
        "convert it in Python: onnx.save(onnx.load(IN, format=\"textproto\"), OUT)";
    "tensorflow-text", "a TensorFlow GraphDef in the text format of protobuf", Sign::InText(content::is_tensorflow_text), CONVERT_TENSORFLOW;
    "ncnn", "an ncnn model", Sign::Text(&["7767517"]), "pass the ONNX file that it was converted from";
    "pytorch-legacy", "a PyTorch checkpoint (pickle)",
        Sign::At(0, b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."), EXPORT_PYTORCH;
    "pickle", "a Python pickle", Sign::Content(content::is_pickle), "export the model to ONNX (torch.onnx.export, skl2onnx)";
    "text", "a text file", Sign::InText(|_| true), "pass the .onnx file";

    "utf-16", "text in UTF-16", Sign::Content(content::is_utf_16),
        "in Windows PowerShell, `>` writes this form: let the program write the file by itself";

    "torchscript", "a TorchScript archive (zip)", Sign::Zip("constants.pkl"), EXPORT_PYTORCH;
    "pytorch", "a PyTorch checkpoint (zip)", Sign::Zip("data.pkl"), EXPORT_PYTORCH;
    "keras", "a Keras model (zip)", Sign::Zip("model.weights.h5"), CONVERT_TENSORFLOW;
    "npz", "a NumPy archive (.npz)", Sign::Zip(".npy"), "it holds arrays, not a graph: pass the .onnx file";
    "zip", "a zip archive", Sign::At(0, b"PK\x03\x04"), UNPACK;
    "zip-empty", "an empty zip archive", Sign::At(0, b"PK\x05\x06"), "pack or download it again";
    "gzip", "gzip-compressed", Sign::At(0, b"\x1f\x8b"), DECOMPRESS;
    "zstd", "zstd-compressed", Sign::At(0, b"\x28\xb5\x2f\xfd"), DECOMPRESS;
    "xz", "xz-compressed", Sign::At(0, b"\xfd7zXZ\0"), DECOMPRESS;
    "bzip2", "bzip2-compressed", Sign::At(0, b"BZh"), DECOMPRESS;
    "lzma", "lzma-compressed", Sign::At(0, b"\x5d\0\0"), DECOMPRESS;
    "lz4", "lz4-compressed", Sign::At(0, b"\x04\x22\x4d\x18"), DECOMPRESS;
    "7z", "a 7z archive", Sign::At(0, b"7z\xbc\xaf\x27\x1c"), UNPACK;
    "rar", "a rar archive", Sign::At(0, b"Rar!\x1a\x07"), UNPACK;
    "tar", "a tar archive", Sign::At(257, b"ustar"), UNPACK;

    "safetensors", "a safetensors file", Sign::Content(content::is_safetensors),
        "it holds tensors, not a graph: export the model to ONNX";
    "gguf", "a GGUF model", Sign::At(0, b"GGUF"), "export the original model to ONNX";
    "tflite", "a TensorFlow Lite model", Sign::At(4, b"TFL3"), "convert it with tf2onnx --tflite";
    "ort", "a model in the ORT format of ONNX Runtime", Sign::At(4, b"ORTM"), "pass the .onnx file that it was made from";
    "tensorrt", "a TensorRT engine", Sign::At(0, b"ftrt"), "pass the ONNX file that it was built from";
    "npy", "a NumPy array (.npy)", Sign::At(0, b"\x93NUMPY"), "it holds a single tensor; use `recast cast`";
    "hdf5", "an HDF5 file, such as a Keras model", Sign::At(0, b"\x89HDF\r\n\x1a\n"), CONVERT_TENSORFLOW;
    "saved-model", "a TensorFlow SavedModel", Sign::Content(content::is_saved_model), "convert its folder with tf2onnx --saved-model";
    "graph-def", "a TensorFlow GraphDef", Sign::Content(content::is_graph_def), "convert it with tf2onnx --graphdef";
    "coreml", "a Core ML model", Sign::Content(content::is_coreml), "pass the ONNX model or the original that it was converted from";
    "tensor-proto", "a single tensor (TensorProto)", Sign::Content(content::is_tensor_proto), "it holds a single tensor; use `recast cast`";
    "graph-proto", "a graph without the model around it (GraphProto)", Sign::Content(content::is_graph_proto),
        "in Python, make a model of it with onnx.helper.make_model";
    "text-transfer", "a binary file that was read and written as text", Sign::Content(content::is_transferred_as_text),
        "download or copy it again in binary mode (in git: `*.onnx binary` in .gitattributes)";
    "zeros", "filled with zero bytes", Sign::Content(content::is_zeros), "its content was lost: download or copy it again";
    "random", "random, compressed or encrypted data", Sign::Content(content::is_random), "decrypt it, or pass the .onnx file";
}
