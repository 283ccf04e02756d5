//! The command `recast` for JavaScript: each run gets its files as arrays and returns what it printed and wrote.

use onnx_recast::cli::{Ran, recorded_panics, run_in_memory};
use wasm_bindgen::prelude::wasm_bindgen;

/// The files of a run, and then its results.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Run {
    files: Vec<(String, Vec<u8>)>,
    ran: Option<Ran>,
}

#[wasm_bindgen]
impl Run {
    /// A run without files.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Run {
        Run::default()
    }

    /// Adds a file to the current folder of the command.
    pub fn insert(&mut self, name: String, bytes: Vec<u8>) {
        self.files.push((name, bytes));
    }

    /// Runs the command with the arguments after its name, and returns its exit code.
    ///
    /// # Errors
    /// If a file cannot have its name.
    pub fn run(&mut self, arguments: Vec<String>) -> Result<u8, String> {
        let arguments = std::iter::once("recast".to_owned()).chain(arguments).map(Into::into);
        let files = self.files.drain(..).map(|(name, bytes)| (name.into(), bytes.into()));
        let ran = run_in_memory(arguments, files).map_err(|error| error.to_string())?;
        let code = ran.code.into();
        self.ran = Some(ran);
        Ok(code)
    }

    /// What the command printed.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn output(&self) -> String {
        self.ran.as_ref().map_or_else(String::new, |ran| ran.output.clone())
    }

    /// What the command said on standard error.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn errors(&self) -> String {
        self.ran.as_ref().map_or_else(String::new, |ran| ran.errors.clone())
    }

    /// The names of the files that the command wrote.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn written(&self) -> Vec<String> {
        self.ran.iter().flat_map(|ran| &ran.written).map(|(path, _)| path.display().to_string()).collect()
    }

    /// The bytes of a file that the command wrote, by its position in [`Run::written`].
    #[must_use]
    pub fn bytes(&self, index: usize) -> Option<Vec<u8>> {
        Some(self.ran.as_ref()?.written.get(index)?.1.to_vec())
    }
}

/// The messages of the panics of this instance, to be read after a run that did not return: a panic ends the instance.
#[wasm_bindgen]
#[must_use]
pub fn panics() -> Vec<String> {
    recorded_panics()
}
