//! Compiles `proto/onnx.proto` into Rust types.

#[path = "build/parts.rs"]
mod parts;
#[path = "build/schema.rs"]
mod schema;

fn main() {
    println!("cargo:rerun-if-changed=build");
    let out_dir =
        std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    schema::generate(&out_dir);
}
