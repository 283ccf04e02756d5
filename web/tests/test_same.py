"""Each task writes the files that the command writes, byte for byte: models, data files and the page about the run."""

import os
import pathlib
import shlex
import shutil

import pytest
from conftest import ROOT, recast

# MODELS names another folder with models.
FOLDER = pathlib.Path(os.environ.get("MODELS", ROOT / "models"))
MODELS = sorted(FOLDER.glob("**/*.onnx"))
# A task, and the values of its fields.
TASKS = [
    ("look", {}),
    ("lint", {}),
    ("lint", {"select": "ALL", "target": "onnxruntime@1.17"}),
    ("lint", {"fix": True, "unsafe_fixes": True}),
    ("fold", {}),
    ("fold", {"passes": "exact", "verify": True, "external_data": "inline"}),
    ("convert", {"opset": "11"}),
    ("convert", {"opset": "28", "explicit": "all", "verify": True}),
    ("convert", {"target": "onnxruntime@1.17", "lowest": True}),
    ("precision", {}),
    ("precision", {"to": "BFLOAT16", "policy": "all", "io": "convert", "verify": True}),
    ("precision", {"to": "FLOAT"}),
]


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_files_are_those_of_the_command(opened, tmp_path, path):
    files = [path, *data_files(path)]
    page = opened()
    page.open(*files)
    failures = []
    for number, (job, values) in enumerate(TASKS):
        page.go(job, **values)
        try:
            expect_same(page, tmp_path / str(number), files, page.run())
        except AssertionError as error:
            failures.append(f"{job} {values}: {error}")
    assert failures == []


def test_differences_are_those_of_the_command(opened, tmp_path):
    files = [ROOT / "models/fp8_qdq.onnx", ROOT / "models/transformer_fp16.onnx"]
    page = opened()
    page.open(*files)
    page.choose("diff")
    page.set(other="fp8_qdq.onnx")
    code = page.run()
    expect_same(page, tmp_path, files, code)
    assert "differences" in page.text()


def test_errors_are_those_of_the_command(opened, tmp_path):
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"\x3a\xff\xff\xff\x0fmodel")
    for job in ["look", "lint", "fold"]:
        page = opened()
        page.open(broken)
        page.choose(job)
        code = page.run()
        with_message = expect_same(page, tmp_path / job, [broken], code)
        assert with_message.stderr.splitlines()[-1].split(": ")[-1] in page.page.inner_text("main")


def data_files(path):
    return sorted(path.parent.glob(f"{path.stem}*.data"))


def expect_same(page, folder, files, code):
    """Runs the command that the page shows, in a folder with the same files."""
    folder = folder / "command"
    folder.mkdir(parents=True)
    for file in files:
        shutil.copy(file, folder)
    before = {file.name: file.read_bytes() for file in files}
    line = shlex.split(page.page.inner_text("#command"))
    assert line[0] == "recast"
    done = recast(folder, *line[1:])
    written = {file.name: file.read_bytes() for file in folder.iterdir() if before.get(file.name) != file.read_bytes()}
    saved = page.saved()
    assert (code, sorted(saved)) == (done.returncode, sorted(written)), done.stderr
    assert [name for name in written if saved[name] != written[name]] == []
    return done
