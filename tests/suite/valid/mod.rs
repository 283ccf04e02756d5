//! Models that are valid and look odd, and models that cannot be one: what the commands make of
//! them.

mod from_opset;
mod imports;
mod invalid;
mod other_domains;
mod overlapping;
mod prepared;

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use onnx_recast::internals::onnx_text;
use onnx_recast::proto::ModelProto;
use prost::Message;
use serde_json::Value;
use tempfile::TempDir;

use crate::command::recast;
use crate::support::model;

/// A folder of its own for models that are written as text.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn named(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn put(&self, name: &str, text: &str) -> String {
        self.put_proto(name, &model(text))
    }

    fn put_proto(&self, name: &str, proto: &ModelProto) -> String {
        fs::write(self.path(name), proto.encode_to_vec()).unwrap();
        self.named(name)
    }

    fn read(&self, name: &str) -> ModelProto {
        ModelProto::decode(fs::read(self.path(name)).unwrap().as_slice()).unwrap()
    }

    fn read_text(&self, name: &str) -> String {
        onnx_text::print(&self.read(name))
    }
}

fn document(done: &Output) -> Value {
    serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}\n{}", said(done)))
}

fn said(done: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    )
}
