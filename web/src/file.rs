//! Files of a browser, which are read in ranges.

use std::any::Any;
use std::cell::RefCell;
use std::io;
use std::ops::Range;

use onnx_recast::{ReadAt, Stored};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// A `Blob`, with a method that reads a range of it into a `Uint8Array`.
    pub type Source;

    #[wasm_bindgen(method, getter)]
    fn size(this: &Source) -> f64;

    #[wasm_bindgen(method, catch)]
    fn read(this: &Source, offset: f64, out: &mut [u8]) -> Result<(), JsValue>;
}

thread_local! {
    /// The files of this instance, which has one thread.
    static SOURCES: RefCell<Vec<Source>> = const { RefCell::new(Vec::new()) };
}

/// A file that was given to a run.
#[derive(Debug)]
pub struct BrowserFile {
    /// The position of the file among those of the run.
    number: usize,
    /// Its position among those of the instance.
    index: usize,
    bytes: u64,
}

impl BrowserFile {
    pub fn new(number: usize, source: Source) -> BrowserFile {
        let bytes = source.size() as u64;
        let index = SOURCES.with_borrow_mut(|sources| {
            sources.push(source);
            sources.len() - 1
        });
        BrowserFile {
            number,
            index,
            bytes,
        }
    }

    /// The number of the file and the range of it that some bytes are, if they are in a file of the
    /// browser.
    pub fn of(bytes: &Stored) -> Option<(usize, Range<u64>)> {
        let (source, range) = bytes.in_file()?;
        let file = (source as &dyn Any).downcast_ref::<BrowserFile>()?;
        Some((file.number, range))
    }
}

impl ReadAt for BrowserFile {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let read = SOURCES.with_borrow(|sources| sources[self.index].read(offset as f64, out));
        read.map_err(|error| {
            io::Error::other(
                error
                    .as_string()
                    .unwrap_or_else(|| "cannot be read".to_owned()),
            )
        })
    }
}
