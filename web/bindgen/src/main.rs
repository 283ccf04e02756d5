//! Makes the JavaScript beside a WebAssembly module: `recast-bindgen MODULE FOLDER`. The command of
//! wasm-bindgen does the same, and needs many more packages.

use std::env;
use std::error::Error;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1);
    let (Some(module), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: recast-bindgen MODULE FOLDER".into());
    };
    Bindgen::new()
        .input_path(module)
        .no_modules(true)?
        .typescript(false)
        .generate(folder)?;
    Ok(())
}
