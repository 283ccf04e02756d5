//! Whatever a model says of its data files, and whatever name is asked for a new one: nothing
//! outside the folder is read or written, files that are no part of the output stay, and what is
//! written holds the values that were read.

use onnx_recast::internals::{onnx_text, run_passes};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use onnx_recast::internals::files::DataFolder;
use onnx_recast::internals::graph::{data, with_data};
use onnx_recast::internals::tensor::{Tensor, Values};
use onnx_recast::passes::{self, DEFAULT};
use onnx_recast::proto::TensorProto;
use onnx_recast::proto::raw::StringStringEntryProto;
use onnx_recast::proto::raw::tensor_proto::DataLocation;
use onnx_recast::{Model, Placement, SaveOptions as Options};
use prost::Message;

/// Three tensors of 16 bytes: one is cast, one is cast and kept, one is kept.
const MODEL: &str = r#"<ir_version: 10, opset_import: ["": 21]> g () => (h, i, b, c)
    <float[4] a = {0, 0, 0, 0}, float[4] b = {0, 0, 0, 0}, float[4] c = {0, 0, 0, 0}>
    { h = Cast <to = 10> (a) i = Cast <to = 1> (b) }"#;

/// What stands outside of the model's folder, and nowhere else.
const SECRET: &[u8; 16] = b"nobody reads me!";

/// The first line says how the model is written, and as what; the others are the keys of the
/// tensors, parted by empty lines.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some((how, keys)) = text.split_once('\n') else {
        return;
    };
    let Some((output, placement)) = how.split_once(' ') else {
        return;
    };
    let world = World::new(keys);
    let output = match output {
        "in-place" => world.input.clone(),
        "beside" => world.root.path().join("model/out.onnx"),
        _ => world.root.path().join("out/out.onnx"),
    };
    let destination = match placement {
        "keep" => Placement::Keep,
        "inline" => Placement::Inline,
        name => Placement::File(name.to_owned()),
    };
    let options = Options::default().placement(destination).threshold(0);
    let before = world.files();
    let written = world.fold(&output, &options);
    let after = world.files();
    for (path, content) in &before {
        let is_right = match after.get(path) {
            Some(found) if found == content => true,
            // The name that was asked for may be one of a file that no model needs.
            Some(_) => {
                written.is_some() && (*path == output || *path == output.with_file_name(placement))
            }
            None => false,
        };
        assert!(is_right, "{} was changed", path.display());
    }
    for (path, content) in after.iter().filter(|(path, _)| !before.contains_key(*path)) {
        assert!(
            written.is_some() && path.starts_with(output.parent().expect("it has a folder")),
            "{} is new",
            path.display()
        );
        let holds_secret = content.windows(SECRET.len()).any(|window| window == SECRET);
        assert!(
            !holds_secret,
            "{} holds what stands outside",
            path.display()
        );
    }
    if let Some(values) = written {
        assert_eq!(
            world.values(&Model::open(&output).expect("it is sound")),
            values,
            "other values were written than read"
        );
    }
}

struct World {
    root: tempfile::TempDir,
    input: PathBuf,
}

impl World {
    /// A folder for the model with data files, one for the output, and one with what must not be
    /// read; and links between them.
    fn new(keys: &str) -> World {
        // In memory where the system has such a folder: every run writes and flushes files.
        let memory = Path::new("/dev/shm");
        let root = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        let root = root.expect("a temporary folder");
        let at = |path: &str| root.path().join(path);
        for folder in ["model/sub", "out", "outside"] {
            fs::create_dir_all(at(folder)).expect("a folder");
        }
        fs::write(at("outside/secret"), SECRET.repeat(8)).expect("a file");
        fs::write(at("model/weights"), (0..64).collect::<Vec<u8>>()).expect("a file");
        fs::write(at("model/sub/more"), (64..112).collect::<Vec<u8>>()).expect("a file");
        #[cfg(unix)]
        for (link, to) in [
            ("model/link", "../outside/secret"),
            ("model/door", "../outside"),
            ("model/inner", "sub/more"),
        ] {
            std::os::unix::fs::symlink(to, at(link)).expect("a link");
        }
        let mut model = onnx_text::parse(MODEL).expect("the model is sound");
        let tensors = &mut model.graph.as_mut().expect("it has a graph").initializer;
        for (tensor, keys) in tensors.iter_mut().zip(keys.split("\n\n")) {
            refer(tensor, keys);
        }
        let input = at("model/model.onnx");
        fs::write(&input, model.encode_to_vec()).expect("a file");
        World { root, input }
    }

    fn folder(&self) -> PathBuf {
        self.root.path().join("model")
    }

    /// Folds and writes the model. The values of the result's tensors; none if it was not written.
    fn fold(&self, output: &Path, options: &Options) -> Option<BTreeMap<String, Bytes>> {
        let model = Model::open(&self.input).ok()?;
        let model = run_passes(model, DEFAULT, &passes::Options::default())
            .ok()?
            .0;
        let data_files = data(&model).clone();
        let values = Model::new(model.proto().clone()).expect("a folded model is sound");
        let values = with_data(values, DataFolder::of_model(&self.input));
        let plan = model.into_plan(output, options);
        let folder = fs::canonicalize(self.folder()).expect("it is there");
        for opened in data_files.opened() {
            assert!(opened.starts_with(&folder), "{} was read", opened.display());
        }
        let plan = plan.ok()?;
        for file in plan.files() {
            assert!(
                file.starts_with(output.parent().expect("it has a folder")),
                "{} would be written",
                file.display()
            );
        }
        let values = self.values(&values);
        plan.execute().ok().map(|_| values)
    }

    /// By name: the values of all initializers, or why they cannot be read: what an in-place run
    /// leaves as it is need not be there.
    fn values(&self, model: &Model) -> BTreeMap<String, Bytes> {
        let read = |proto: &TensorProto| match Tensor::read(proto)
            .and_then(|tensor| Ok((tensor, tensor.values()?)))
        {
            Ok((_, Values::Raw(raw))) => raw,
            Ok((tensor, Values::External(reference))) => {
                let bytes = reference.bytes(tensor.raw_bytes(), data(model));
                bytes.map_or_else(|error| error.to_string().into(), |bytes| bytes.to_bytes())
            }
            other => panic!("{other:?}"),
        };
        let tensors = model
            .proto()
            .graph
            .iter()
            .flat_map(|graph| &graph.initializer);
        tensors
            .map(|tensor| {
                (
                    tensor.name().to_owned(),
                    Bytes::copy_from_slice(&read(tensor)),
                )
            })
            .collect()
    }

    /// All files with their content, and links with where they lead.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.root.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)
                .expect("a folder")
                .map(|entry| entry.expect("an entry"))
            {
                match entry.file_type().expect("a type") {
                    kind if kind.is_dir() => folders.push(entry.path()),
                    kind if kind.is_symlink() => {
                        let to = fs::read_link(entry.path()).expect("a link");
                        files.insert(entry.path(), to.into_os_string().into_encoded_bytes());
                    }
                    _ => drop(files.insert(entry.path(), fs::read(entry.path()).expect("a file"))),
                }
            }
        }
        files
    }
}

/// Gives a tensor these keys, a `key=value` a line; without any, it keeps its values.
fn refer(tensor: &mut TensorProto, keys: &str) {
    let entries = keys.lines().filter_map(|line| line.split_once('='));
    let entries = entries.map(|(key, value)| StringStringEntryProto {
        key: Some(key.to_owned()),
        value: Some(value.to_owned()),
    });
    let entries: Vec<_> = entries.map(Into::into).collect();
    if !entries.is_empty() {
        *tensor = onnx_recast::internals::tensor::without_values(tensor);
        tensor.external_data = entries;
        tensor.data_location = Some(DataLocation::External.into());
    }
}

/// Every way to write a model with every way to refer to a file.
pub fn seeds(_models: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let hows = [
        "in-place keep",
        "beside keep",
        "elsewhere keep",
        "elsewhere inline",
        "in-place inline",
        "beside new.data",
    ];
    let names = [
        "elsewhere weights",
        "beside ../outside/secret",
        "beside door/secret",
        "in-place sub/more",
        "beside /etc/passwd",
    ];
    let locations = [
        "location=weights",
        "location=weights\noffset=16\nlength=16",
        "location=./sub/../sub/more\noffset=32\nchecksum=0badc0de",
        "location=weights\noffset=60\nlength=16",
        "location=weights\noffset=-1",
        "location=weights\noffset=18446744073709551615\nlength=16",
        "location=sub/more\nlength=15\nbasepath=../outside",
        "location=../outside/secret",
        "location=sub/../../outside/secret",
        "location=/etc/passwd",
        "location=link",
        "location=door/secret",
        "location=inner\noffset=16",
        "location=model.onnx",
        "location=.",
        "location=weights/",
        "checksum=0",
    ];
    let mut seeds = Vec::new();
    for how in hows.into_iter().chain(names) {
        for (index, first) in locations.iter().enumerate() {
            let second = locations[(index * 5 + 1) % locations.len()];
            seeds.push(format!("{how}\n{first}\n").into_bytes());
            seeds.push(
                format!("{how}\nlocation=weights\n\nlocation=weights\noffset=16\n\n{first}")
                    .into_bytes(),
            );
            seeds.push(format!("{how}\n{first}\n\n{second}\n\nlocation=weights").into_bytes());
        }
    }
    seeds
}
