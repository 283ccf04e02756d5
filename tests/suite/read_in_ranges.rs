//! Files that cannot be mapped and are read in ranges: commands do with them what they do with
//! files on the disk, and read what they need.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use onnx_recast::front_ends::{Ran, run_in_memory};
use onnx_recast::proto::Piece;
use onnx_recast::{OpenOptions, ReadAt, SaveOptions, Stored};

use prost::Message;

use crate::in_memory::bytes_of;
use crate::support::{expect_no_failures, model};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A file of zeros that counts what is read of it.
#[derive(Debug)]
struct Zeros {
    bytes: u64,
    read: Arc<Read>,
}

#[derive(Debug, Default)]
struct Read {
    /// All bytes.
    all: AtomicU64,
    /// The largest range.
    longest: AtomicU64,
}

impl ReadAt for Zeros {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        assert!(offset + out.len() as u64 <= self.bytes);
        out.fill(0);
        self.read.all.fetch_add(out.len() as u64, Ordering::Relaxed);
        self.read
            .longest
            .fetch_max(out.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}

/// A model with `w`, which is cast to FLOAT16, and two tensors of 3 GiB that are not cast, in a
/// data file of more than 6 GiB.
fn large() -> (Vec<u8>, u64) {
    let (elements, half) = (2 * MIB, 3 * GIB);
    let tensor = |name: &str, dims: u64, offset: u64| {
        format!(
            "float[{dims}] {name} = [\"location\": \"weights.bin\", \"offset\": \"{offset}\", \"length\": \"{}\"]",
            4 * dims
        )
    };
    let tensors = [
        tensor("a", half / 4, 0),
        tensor("w", elements, half),
        tensor("b", half / 4, half + 4 * elements),
    ]
    .join(", ");
    let text = format!(
        "<ir_version: 10, opset_import: [\"\": 21]> g (int64 i) => (float16 y, float x, float z) <{tensors}> {{
            c = Cast <to = 10> (w) y = Gather (c, i) x = Gather (a, i) z = Gather (b, i)
        }}"
    );
    (model(&text).encode_to_vec(), 2 * half + 4 * elements)
}

/// Runs a command on the large model.
fn run(command: &str) -> (Ran, Arc<Read>) {
    let (model, bytes) = large();
    let read = Arc::default();
    let data = Stored::of_file(Zeros {
        bytes,
        read: Arc::clone(&read),
    });
    let files = [
        (PathBuf::from("model.onnx"), model.into()),
        ("weights.bin".into(), data),
        ("sub/other.txt".into(), Vec::new().into()),
    ];
    let ran = run_in_memory(
        std::iter::once("recast")
            .chain(command.split_whitespace())
            .map(OsString::from),
        files,
        |_| {},
    )
    .unwrap();
    assert_eq!(u8::from(ran.code), 0, "{}", ran.errors);
    (ran, read)
}

/// The pieces of more than a chunk: the range of the data file, or the length of a computed one.
fn long_pieces(pieces: &[Piece]) -> Vec<String> {
    let shown = |piece: &Piece| match piece {
        Piece::Bytes(bytes) => bytes.in_file().map_or_else(
            || format!("{} in memory", bytes.len()),
            |(_, range)| format!("{range:?}"),
        ),
        Piece::Made(recipe) => format!("{} computed", recipe.bytes()),
    };
    pieces
        .iter()
        .filter(|piece| piece.bytes() > MIB)
        .map(shown)
        .collect()
}

#[test]
fn of_a_data_file_beyond_the_memory_only_what_is_cast_is_read() {
    let (half, cast) = (3 * GIB, 8 * MIB);
    let whole = format!("{:?}", 0..2 * half + cast);
    let moved = format!("{:?}, {:?}", 0..half, half + cast..2 * half + cast);
    let computed = format!("{} computed", cast / 2);
    // The files that are written with their long pieces, and how many bytes are read: a survey of
    // what is cast. The verification reads the source of a cast, and once more to compute the
    // result; values that only move are not read. Grains at ends of parts are computed twice.
    let grains = 8192;
    let folded = format!("folded.onnx: ; folded.onnx.data: {computed}");
    let cases = [
        (
            "fold model.onnx -o folded.onnx --no-verify",
            folded.clone(),
            cast,
        ),
        ("fold model.onnx -o folded.onnx", folded, 4 * cast + grains),
        (
            "fold model.onnx -o sub/out.onnx --no-verify",
            format!("sub/out.onnx: ; sub/out.onnx.data: {moved}, {computed}"),
            cast,
        ),
        (
            "fold model.onnx -o sub/out.onnx",
            format!("sub/out.onnx: ; sub/out.onnx.data: {moved}, {computed}"),
            4 * cast + grains,
        ),
        (
            "convert model.onnx --opset 22 -o sub/out.onnx",
            format!("sub/out.onnx: ; sub/weights.bin: {whole}"),
            0,
        ),
        (
            "fold model.onnx -o folded.onnx --external-data new.bin",
            format!("folded.onnx: ; new.bin: {moved}, {computed}"),
            4 * cast + grains,
        ),
    ];
    let mut failures = Vec::new();
    for (command, expected, most) in cases {
        let (ran, read) = run(command);
        let file = |(path, pieces): &(PathBuf, Vec<Piece>)| {
            format!("{}: {}", path.display(), long_pieces(pieces).join(", "))
        };
        let found = ran.written.iter().map(file).collect::<Vec<_>>().join("; ");
        if found != expected {
            failures.push(format!("{command}: wrote {found}, expected {expected}"));
        }
        let (all, longest) = (
            read.all.load(Ordering::Relaxed),
            read.longest.load(Ordering::Relaxed),
        );
        if all > most || longest > MIB {
            failures.push(format!("{command}: read {all} bytes, expected at most {most}, and {longest} of them at once"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn tensors_are_computed_when_they_are_read() {
    let (ran, read) = run("fold model.onnx -o folded.onnx");
    let surveyed = read.all.load(Ordering::Relaxed);
    let bytes: Vec<Vec<u8>> = ran
        .written
        .into_iter()
        .map(|(_, pieces)| bytes_of(pieces))
        .collect();
    assert_eq!(bytes[1], vec![0; 4 << 20]);
    let computed = read.all.load(Ordering::Relaxed) - surveyed;
    assert!(
        (8 * MIB..8 * MIB + 8192).contains(&computed),
        "grains at ends of parts are computed twice: {computed}"
    );
}

/// A file that is read in ranges.
pub fn readable(bytes: Vec<u8>) -> Stored {
    Stored::of_file(Changing {
        bytes,
        reads: Mutex::new(u64::MAX),
    })
}

/// A file that can be read until it is changed.
#[derive(Debug)]
struct Changing {
    bytes: Vec<u8>,
    /// Reads that succeed.
    reads: Mutex<u64>,
}

impl ReadAt for Changing {
    fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut reads = self.reads.lock().unwrap();
        *reads = reads
            .checked_sub(1)
            .ok_or_else(|| io::Error::other("has changed since it was chosen"))?;
        out.copy_from_slice(&self.bytes[offset as usize..][..out.len()]);
        Ok(())
    }
}

const SMALL: &str = r#"<ir_version: 10, opset_import: ["": 21]>
g (float[4] x) => (float16[4] y) <float[4] w = ["location": "w.bin", "offset": "0", "length": "16"]> {
  c = Cast <to = 10> (w) d = Cast <to = 10> (x) y = Add (c, d)
}"#;

#[test]
fn nothing_is_made_of_a_file_that_cannot_be_read() {
    let command = ["recast", "fold", "model.onnx", "-o", "folded.onnx"];
    let mut failures = Vec::new();
    for (file, reads) in [("model.onnx", 0), ("w.bin", 0)] {
        let source = |name: &str, bytes: Vec<u8>| {
            let reads = if name == file { reads } else { u64::MAX };
            (
                PathBuf::from(name),
                Stored::of_file(Changing {
                    bytes,
                    reads: Mutex::new(reads),
                }),
            )
        };
        let files = [
            source("model.onnx", model(SMALL).encode_to_vec()),
            source("w.bin", vec![0; 16]),
        ];
        match run_in_memory(command.map(Into::into), files, |_| {}) {
            Err(error)
                if error.to_string() == format!("{file}: has changed since it was chosen") => {}
            Err(error) => failures.push(format!("{file}: {error}")),
            Ok(ran) => failures.push(format!("{file}: {}{}", ran.output, ran.errors)),
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_when_a_model_is_saved_or_when_its_bytes_are_read() {
    for (elements, is_saved) in [(4, false), (4096, true)] {
        let text = SMALL
            .replace("[4]", &format!("[{elements}]"))
            .replace("\"16\"", &format!("\"{}\"", 4 * elements));
        let changing = Stored::of_file(Changing {
            bytes: vec![0; 4 * elements],
            reads: Mutex::new(0),
        });
        let mut model = OpenOptions::new()
            .data_files(move |_| Ok(changing.clone()))
            .from_bytes(model(&text).encode_to_vec())
            .unwrap();
        model.fold(&onnx_recast::FoldOptions::default()).unwrap();
        let save = || {
            let saved = model.clone().into_files(&SaveOptions::default());
            saved.unwrap_err().to_string()
        };
        if is_saved {
            // A long tensor is computed when the file is read.
            let error = save();
            assert_eq!(error, "model.onnx.data: has changed since it was chosen");
        }
        let error = save();
        assert!(
            error.ends_with("w.bin: has changed since it was chosen"),
            "{error}"
        );
    }
}
