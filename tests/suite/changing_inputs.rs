//! Files that another program changes while they are read.

use std::fs;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(target_os = "linux")]
use onnx_recast::internals::files::DataFolder;
use onnx_recast::internals::files::{SaveTarget, open_with_data};
use onnx_recast::internals::graph::with_data;
use onnx_recast::internals::storage::plan_of;
use onnx_recast::internals::tensor::{Reference, moved_to_file};
use onnx_recast::proto::ModelProto;
use onnx_recast::{Model, Placement, SaveOptions as Options, SavePlan};
use prost::Message;

use crate::support::{expect_no_failures, model};

const BYTES: usize = 8000;

/// A model whose initializer is the file `location`.
fn external(location: &str) -> ModelProto {
    let mut proto = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float[2000] y) <float[2000] w = {0}> { y = Neg (w) }"#,
    );
    let tensor = &mut proto.graph.as_mut().unwrap().initializer[0];
    let reference = Reference {
        location: location.to_owned(),
        offset: 0,
        length: Some(BYTES as u64),
    };
    *tensor = moved_to_file(tensor, &reference);
    proto
}

/// Puts `m.onnx` and its data file `w.bin` into a folder.
fn write_model(folder: &Path) {
    fs::write(folder.join("m.onnx"), external("w.bin").encode_to_vec()).unwrap();
    fs::write(folder.join("w.bin"), vec![1; BYTES]).unwrap();
}

fn plan(folder: &Path, target: &SaveTarget, placement: &Placement) -> SavePlan {
    let path = folder.join("m.onnx");
    let (input, data) = open_with_data(&path).unwrap();
    let model = Model::new(ModelProto::from_bytes(input.bytes).unwrap()).unwrap();
    let model = with_data(model, data);
    plan_of(
        model,
        &path,
        target,
        &Options::default().placement(placement.clone()),
    )
    .unwrap()
}

#[test]
fn nothing_is_written_if_an_input_changed_between_its_first_and_its_last_byte() {
    type Change<'c> = (&'c str, &'c dyn Fn(&Path));
    let changes: [Change; 5] = [
        ("data cut by 100 bytes", &|folder| {
            cut(&folder.join("w.bin"), BYTES as u64 - 100)
        }),
        ("data longer", &|folder| {
            cut(&folder.join("w.bin"), BYTES as u64 + 1)
        }),
        ("data replaced", &|folder| {
            fs::write(folder.join("other"), vec![2; BYTES]).unwrap();
            fs::rename(folder.join("other"), folder.join("w.bin")).unwrap();
        }),
        ("data removed", &|folder| {
            fs::remove_file(folder.join("w.bin")).unwrap()
        }),
        ("model longer", &|folder| cut(&folder.join("m.onnx"), 4096)),
    ];
    let mut failures = Vec::new();
    for placement in [
        Placement::Keep,
        Placement::Inline,
        Placement::File("new.data".to_owned()),
    ] {
        for (name, change) in &changes {
            let folder = tempfile::tempdir().unwrap();
            let (inside, out) = (folder.path().join("in"), folder.path().join("out"));
            fs::create_dir(&inside).unwrap();
            fs::create_dir(&out).unwrap();
            write_model(&inside);
            let plan = plan(&inside, &SaveTarget::File(out.join("m.onnx")), &placement);
            change(&inside);
            let result = plan.execute();
            let left = fs::read_dir(&out).unwrap().count();
            match result {
                Err(error)
                    if left == 0 && error.to_string().contains("changed while it was read") => {}
                other => failures.push(format!(
                    "{placement:?}, {name}: {left} files written, {other:?}"
                )),
            }
        }
    }
    expect_no_failures(failures);
}

fn cut(path: &Path, bytes: u64) {
    fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_len(bytes)
        .unwrap();
}

#[cfg(target_os = "linux")]
fn exchange(folder: &Path, link: &Path) {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    renameat_with(CWD, folder, CWD, link, RenameFlags::EXCHANGE).unwrap();
}

/// Calls `read` while another thread exchanges the names of a folder and of a link to a folder
/// outside.
#[cfg(target_os = "linux")]
fn while_swapped(folder: &Path, link: &Path, mut read: impl FnMut()) {
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                exchange(folder, link);
            }
        });
        (0..5000).for_each(|_| read());
        is_done.store(true, Ordering::Relaxed);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_is_swapped_with_a_link_does_not_lead_outside() {
    use std::os::unix::fs::symlink;

    let place = tempfile::tempdir().unwrap();
    let (inside, outside) = (place.path().join("inside"), place.path().join("outside"));
    fs::create_dir_all(inside.join("sub")).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(inside.join("sub/w"), "inside").unwrap();
    fs::write(outside.join("w"), "secret").unwrap();
    symlink(&outside, inside.join("link")).unwrap();
    let open = || DataFolder::of_model(&inside.join("m.onnx")).open("sub/w");
    assert_eq!(open().unwrap().bytes.to_bytes(), "inside");
    while_swapped(&inside.join("sub"), &inside.join("link"), || {
        if let Ok(file) = open() {
            assert_eq!(file.bytes.to_bytes(), "inside");
        }
    });
    // One of the two states, or the other after one more exchange, is the link.
    let is_link = || {
        fs::symlink_metadata(inside.join("sub"))
            .unwrap()
            .is_symlink()
    };
    if !is_link() {
        exchange(&inside.join("sub"), &inside.join("link"));
    }
    assert!(is_link() && open().is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn a_model_and_its_data_come_from_one_folder() {
    use std::os::unix::fs::symlink;

    let place = tempfile::tempdir().unwrap();
    let (inside, outside) = (place.path().join("inside"), place.path().join("outside"));
    for (folder, bytes) in [(&inside, 1), (&outside, 2)] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("w.bin"), vec![bytes; BYTES]).unwrap();
    }
    fs::write(inside.join("m.onnx"), external("w.bin").encode_to_vec()).unwrap();
    symlink(&outside, place.path().join("link")).unwrap();
    let read = || {
        open_with_data(&inside.join("m.onnx"))
            .ok()
            .and_then(|(_, data)| data.open("w.bin").ok())
    };
    assert!(read().is_some());
    while_swapped(&inside, &place.path().join("link"), || {
        if let Some(file) = read() {
            assert!(file.bytes.to_bytes().iter().all(|&byte| byte == 1));
        }
    });
}
