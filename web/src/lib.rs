//! The command `recast` for JavaScript: each run gets the files of a browser, and returns what it
//! printed and wrote.

mod file;

use onnx_recast::front_ends::{Ran, recorded_panics, run_in_memory};
use onnx_recast::proto::Piece;
use onnx_recast::{Phase, Progress, Stored};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use file::{BrowserFile, Source};

/// The files of a run, and then its results.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Run {
    files: Vec<(String, Stored)>,
    ran: Option<Ran>,
}

/// A piece of a file that a run wrote.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Part {
    /// Its length in bytes.
    pub length: f64,
    /// The number of the given file of which it is a part, if it is.
    pub file: Option<usize>,
    /// Its offset in that file.
    pub offset: f64,
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
    pub fn insert(&mut self, name: String, source: Source) {
        self.files.push((
            name,
            Stored::of_file(BrowserFile::new(self.files.len(), source)),
        ));
    }

    /// Runs the command with the arguments after its name, and returns its exit code.
    ///
    /// # Errors
    /// If a file cannot have its name, or cannot be read.
    pub fn run(&mut self, arguments: Vec<String>) -> Result<u8, String> {
        let arguments = std::iter::once("recast".to_owned())
            .chain(arguments)
            .map(Into::into);
        let files = self
            .files
            .drain(..)
            .map(|(name, bytes)| (name.into(), bytes));
        let ran = run_in_memory(arguments, files, report).map_err(|error| error.to_string())?;
        let code = ran.code.into();
        self.ran = Some(ran);
        Ok(code)
    }

    /// What the command printed.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn output(&self) -> String {
        self.ran
            .as_ref()
            .map_or_else(String::new, |ran| ran.output.clone())
    }

    /// What the command said on standard error.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn errors(&self) -> String {
        self.ran
            .as_ref()
            .map_or_else(String::new, |ran| ran.errors.clone())
    }

    /// The names of the files that the command wrote.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn written(&self) -> Vec<String> {
        self.ran
            .iter()
            .flat_map(|ran| &ran.written)
            .map(|(path, _)| path.display().to_string())
            .collect()
    }

    /// The pieces of a file that the command wrote, by its position in [`Run::written`].
    #[must_use]
    pub fn parts(&self, file: usize) -> Vec<Part> {
        self.pieces(file).iter().map(Part::of).collect()
    }

    /// Copies or computes the bytes of a piece from an offset.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn read(
        &self,
        file: usize,
        part: usize,
        offset: f64,
        length: usize,
    ) -> Result<Vec<u8>, JsValue> {
        let Some(piece) = self.pieces(file).get(part) else {
            return Ok(Vec::new());
        };
        let mut bytes = vec![0; length];
        piece.fill(offset as u64, &mut bytes);
        piece
            .failure()
            .map_or(Ok(bytes), |error| Err(error.to_string().into()))
    }

    fn pieces(&self, file: usize) -> &[Piece] {
        self.ran
            .as_ref()
            .and_then(|ran| ran.written.get(file))
            .map_or(&[], |(_, pieces)| pieces)
    }
}

impl Part {
    fn of(piece: &Piece) -> Part {
        let place = match piece {
            Piece::Bytes(bytes) => BrowserFile::of(bytes),
            Piece::Made(_) => None,
        };
        let (file, offset) = place.map_or((None, 0), |(file, range)| (Some(file), range.start));
        Part {
            length: piece.bytes() as f64,
            file,
            offset: offset as f64,
        }
    }
}

#[wasm_bindgen]
extern "C" {
    /// Shows how far a run is: a phase, how much of it is done, and how much there is.
    #[wasm_bindgen(js_name = recastProgress)]
    fn show_progress(phase: &str, done: f64, total: f64);
}

fn report(progress: Progress) {
    let phase = match progress.phase {
        Phase::Planning => "planning",
        Phase::Writing => "writing",
        Phase::Flushing => "flushing",
        Phase::Verifying => "verifying",
        _ => "working",
    };
    show_progress(phase, progress.done as f64, progress.total as f64);
}

/// The messages of the panics of this instance, to be read after a run that did not return: a panic
/// ends the instance.
#[wasm_bindgen]
#[must_use]
pub fn panics() -> Vec<String> {
    recorded_panics()
}
