"""Fleets of models on this machine, in files."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from conftest import MODELS, cast_model, chain, files, rows
from onnx import TensorProto

import onnx_recast
from onnx_recast import fleet
from onnx_recast.fleet import header, manifest
from onnx_recast.fleet.__main__ import main
from onnx_recast.fleet.inputs import location_problem

POISON = """
import os, onnx_recast.fleet.processing as processing
original = processing.process
def process(job, task, limits=None):
    if "poison" in task.uri:
        os.kill(os.getpid(), 9)
    return original(job, task, limits)
processing.process = process
"""
"""A model whose name has this word ends the worker: processes of Python execute it when they start."""


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    """Make a folder of models: some that convert to opset 17, some that do not, and one that is not a model."""
    folder = tmp_path / "zoo"
    (folder / "deep" / "er").mkdir(parents=True)
    for name in ("transformer_fp16", "control_flow", "fp8_qdq"):
        (folder / f"{name}.onnx").write_bytes((MODELS / f"{name}.onnx").read_bytes())
    (folder / "deep" / "er" / "a b#%é.onnx").write_bytes(chain(20).SerializeToString())
    (folder / "deep" / "junk.onnx").write_text("not a model")
    (folder / "deep" / "readme.md").write_text("not listed")
    return folder


def rows_by_name(folder: Path, run: int = -1) -> dict[str, fleet.Row]:
    """Return the rows of a run by the names of the models, each of which has one."""
    found = rows(folder, run)
    by_name = {row.uri.rpartition("/")[2]: row for row in found}
    assert len(by_name) == len(found)
    return by_name


def test_a_job_has_the_options_of_conversions(zoo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    job = fleet.Job(fleet.convert(15, expand="function", contested="runtime"), str(zoo), str(out))
    fleet.run(job, str(tmp_path / "manifest"), workers=1)
    functions = onnx.load(out / "transformer_fp16.onnx").functions
    assert [(one.domain, one.name) for one in functions] == [("recast.expanded", "LayerNormalization")]
    with pytest.raises(ValueError, match="contested"):
        fleet.convert(15, contested="maybe")


def test_each_model_has_a_row_and_outputs_are_those_of_the_module(zoo: Path, tmp_path: Path) -> None:
    out, table = tmp_path / "out", tmp_path / "manifest"
    job = fleet.Job([fleet.lint(select=["ALL"]), fleet.convert(17)], str(zoo), str(out))
    totals = fleet.run(job, str(table), workers=2)
    assert totals.to_dict() == {
        "models": 5,
        "skipped": 0,
        "outcomes": {"findings": 2, "refused": 1, "invalid": 1, "ok": 1},
    }
    assert totals.exit_code == 2
    found = rows_by_name(table)
    for path in sorted(zoo.rglob("*.onnx")):
        row, target = found[path.name], out / path.relative_to(zoo)
        assert expected_of(path) == (
            row.outcome,
            row.code,
            row.nearest,
            target.read_bytes() if target.exists() else None,
        )
        if row.outcome != "invalid":
            findings = [(one.code, one.place, one.message) for one in onnx_recast.lint(path, select=["ALL"])]
            assert [(one["code"], one["place"], one["message"]) for one in row.findings] == findings
    assert found["a b#%é.onnx"].output == f"file://{out}/deep/er/a b#%é.onnx"
    assert (
        found["junk.onnx"].message
        == f"file://{zoo}/deep/junk.onnx: is a text file, not an ONNX model; pass the .onnx file"
    )
    assert found["fp8_qdq.onnx"].blockers[0]["op"] == "Cast"


def expected_of(path: Path) -> tuple[str, str | None, int | None, bytes | None]:
    """Return the outcome, code, nearest opset and bytes of a conversion by the module."""
    has_findings = False
    try:
        has_findings = bool(onnx_recast.lint(path, select=["ALL"]))
        model = onnx_recast.convert_version(path, 17).model
    except onnx_recast.ConversionError as error:
        return "refused", "not-convertible", error.nearest, None
    except onnx_recast.InvalidModelError as error:
        return "invalid", error.kind, None, None
    return "findings" if has_findings else "ok", None, None, model


def test_the_precision_of_each_model_is_changed(zoo: Path, tmp_path: Path) -> None:
    out, table = tmp_path / "out", tmp_path / "manifest"
    ranges = tmp_path / "ranges.json"
    ranges.write_text('{"after_attention": [0, 1e6]}')
    step = fleet.precision(np.float16, io={"y": np.float32}, ranges=ranges)
    ranges.unlink()  # Workers may be on other machines.
    (zoo / "deep" / "er" / "a b#%é.onnx").unlink()  # It has no output of this name.
    totals = fleet.run(fleet.Job([fleet.lint(), step], str(zoo), str(out)), str(table), workers=1)
    found = rows_by_name(table)
    for name in ("transformer_fp16", "control_flow", "fp8_qdq"):
        options: dict[str, Any] = {"io": ["y=FLOAT"], "ranges": {"after_attention": [0, 1e6]}}
        expected = onnx_recast.convert_precision(zoo / f"{name}.onnx", "FLOAT16", **options)
        row = found[f"{name}.onnx"]
        assert (out / f"{name}.onnx").read_bytes() == expected.model
        assert (row.outcome in ("ok", "findings"), row.casts_added) == (True, len(expected.casts_added))
        assert (row.narrowed, row.kept, row.overflowed) == (len(expected.tensors), len(expected.kept), 0)
    assert found["junk.onnx"].outcome == "invalid"
    again = fleet.run(fleet.Job([fleet.lint(), step], str(zoo), str(out)), str(table), workers=1)
    assert again.to_dict() == {**totals.to_dict(), "skipped": 4}


def test_a_model_whose_constants_are_refused(tmp_path: Path) -> None:
    (tmp_path / "zoo").mkdir()
    path = tmp_path / "zoo" / "m.onnx"
    text = """<ir_version: 8, opset_import: ["": 13]> g (float[2] x) => (float[2] y)
    <float[2] w = {1e6, 1}> { a = Mul (x, w) y = Tanh (a) }"""
    onnx.save(onnx.parser.parse_model(text), path)

    def process(keep_failed: bool = False, **options: Any) -> fleet.Row:
        step = fleet.precision(**options)
        return fleet.process(
            fleet.Job(step, str(path.parent), str(tmp_path / "out"), keep_failed=keep_failed, overwrite=True), str(path)
        )

    row = process(on_overflow="refuse")
    assert (row.outcome, row.code, row.output) == ("refused", "cannot-cast", None)
    assert row.message is not None
    assert row.message.startswith(f"file://{path}: ")
    assert process(on_overflow="refuse", keep_failed=True).outcome == "refused"
    assert (tmp_path / "out" / "m.onnx").read_bytes() == path.read_bytes()
    row = process(on_overflow="saturate", opset=22)
    assert (row.outcome, row.overflowed, row.from_version, row.to_version) == ("ok", 1, 13, 22)


def test_the_command_changes_precision(zoo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (zoo / "deep" / "junk.onnx").unlink()
    out, table = tmp_path / "out", tmp_path / "manifest"
    arguments = [
        "precision",
        str(zoo),
        "--to",
        str(out),
        "--type",
        "bfloat16",
        "--manifest",
        str(table),
        "--workers",
        "1",
    ]
    for option in ("keep_op=Softmax", "keep_op=MatMul", "policy=all"):
        arguments += ["--option", f"precision.{option}"]
    assert main([*arguments, "--quiet"]) == 0
    assert capsys.readouterr().out == "4 models: 4 ok\n"
    expected = onnx_recast.convert_precision(
        zoo / "transformer_fp16.onnx", "BFLOAT16", policy="all", keep_op=["Softmax", "MatMul"]
    )
    assert (out / "transformer_fp16.onnx").read_bytes() == expected.model
    assert main(["summary", str(table)]) == 0
    assert "steps: precision(to=BFLOAT16, keep_op=['Softmax', 'MatMul'], policy=all)" in capsys.readouterr().out


def test_nothing_is_done_twice_and_changes_are_noticed(zoo: Path, tmp_path: Path) -> None:
    out, table = tmp_path / "out", tmp_path / "manifest"

    def run(opset: int) -> dict[str, Any]:
        return fleet.run(fleet.Job(fleet.convert(opset), str(zoo), str(out)), str(table), workers=1).to_dict()

    first = run(17)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.onnx")}
    assert len(before) == first["outcomes"]["ok"] == 3
    assert run(17) == {**first, "skipped": 5}
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.onnx")} == before
    results = [{name: row.result() for name, row in rows_by_name(table, index).items()} for index in (0, 1)]
    assert results[0] == results[1]
    # A model has changed, the output of another was removed.
    (zoo / "control_flow.onnx").write_bytes(chain(5).SerializeToString())
    (out / "transformer_fp16.onnx").unlink()
    assert run(17) == {**first, "skipped": 3}
    assert (out / "control_flow.onnx").read_bytes() == onnx_recast.convert_version(zoo / "control_flow.onnx", 17).model
    # Outputs of another job in the same manifest are replaced.
    assert run(18)["outcomes"] == first["outcomes"]
    assert (out / "control_flow.onnx").read_bytes() == onnx_recast.convert_version(zoo / "control_flow.onnx", 18).model


def test_an_output_of_something_else_is_not_replaced(zoo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "control_flow.onnx").write_text("mine")
    job = fleet.Job(fleet.convert(17), str(zoo), str(out))
    fleet.run(job, str(tmp_path / "manifest"))
    row = rows_by_name(tmp_path / "manifest")["control_flow.onnx"]
    assert (row.outcome, row.code) == ("failed", "output-exists")
    assert (out / "control_flow.onnx").read_text() == "mine"
    replacing = fleet.Job(fleet.convert(17), str(zoo), str(out), overwrite=True)
    assert fleet.process(replacing, str(zoo / "control_flow.onnx")).outcome == "ok"
    assert (out / "control_flow.onnx").read_bytes() == onnx_recast.convert_version(zoo / "control_flow.onnx", 17).model


def test_a_refused_model_can_be_kept(zoo: Path, tmp_path: Path) -> None:
    job = fleet.Job(fleet.convert(17), str(zoo), str(tmp_path / "out"), keep_failed=True)
    row = fleet.process(job, str(zoo / "fp8_qdq.onnx"))
    assert (row.outcome, row.output) == ("refused", f"file://{tmp_path}/out/fp8_qdq.onnx")
    assert (tmp_path / "out" / "fp8_qdq.onnx").read_bytes() == (zoo / "fp8_qdq.onnx").read_bytes()


def test_steps_are_applied_to_one_model(zoo: Path, tmp_path: Path) -> None:
    """The second inspection sees what the fold has done."""
    job = fleet.Job([fleet.fold(), fleet.lint(select=["RC401"]), fleet.convert(22)], str(zoo), str(tmp_path / "out"))
    row = fleet.process(job, str(zoo / "fp8_qdq.onnx"))
    assert (row.outcome, row.folded, row.to_version, row.findings) == ("ok", 3, 22, [])
    folded = onnx_recast.fold(zoo / "fp8_qdq.onnx").model
    assert (tmp_path / "out" / "fp8_qdq.onnx").read_bytes() == onnx_recast.convert_version(folded, 22).model


def test_data_files_are_stored_under_names_of_their_own(external: Callable[[], Path], tmp_path: Path) -> None:
    model, out = external(), tmp_path / "out"

    def process(step: fleet.Step) -> fleet.Row:
        job = fleet.Job(step, str(model.parent), str(out), overwrite=True)
        return fleet.process(job, str(model))

    row = process(fleet.fold())
    assert row.key is not None
    assert [file["location"] for file in row.data] == ["m.data"]
    name = f"m.{row.key[:16]}.data"
    assert set(files(out)) == {"m.onnx", name}
    (tmp_path / "folded").mkdir()
    onnx_recast.fold(model, tmp_path / "folded" / "m.onnx", external_data=name)
    assert files(out) == files(tmp_path / "folded")
    # Other work on the same model has another file, so that a reader of the old model has the old data.
    converted = process(fleet.convert(22))
    assert converted.output_data not in (None, row.output_data)
    assert len(files(out)) == 3
    expected = onnx_recast.convert_version(model, 22).model
    differences = onnx_recast.diff(out / "m.onnx", expected, right_base_dir=model.parent)
    assert [one.kind for one in differences] == ["stored"]


@pytest.mark.parametrize(
    ("location", "is_allowed"),
    [
        ("w.data", True),
        ("sub/w.data", True),
        ("./w.data", True),
        ("../w.data", False),
        ("sub/../../w.data", False),
        ("/etc/passwd", False),
        ("c:\\w.data", False),
        (".hidden", False),
        ("sub/.git/w.data", False),
        ("a//b", False),
        ("", False),
        ("w\u202e.data", False),
    ],
)
def test_names_of_data_files(location: str, is_allowed: bool) -> None:
    assert (location_problem(location) is None) == is_allowed


def test_a_data_file_outside_of_the_folder_is_not_read(external: Callable[[], Path], tmp_path: Path) -> None:
    model = external()
    proto = onnx.load(model, load_external_data=False)
    proto.graph.initializer[0].external_data[0].value = "../secret.data"
    model.write_bytes(proto.SerializeToString())
    (tmp_path / "secret.data").write_bytes(bytes(4 * 4096))
    for job in (
        fleet.Job(fleet.fold(), str(model.parent), str(tmp_path / "out")),
        fleet.Job(fleet.inspect(), str(model.parent)),
    ):
        row = fleet.process(job, str(model))
        assert (row.outcome, row.code) == ("invalid", "bad-external-data")
        assert "outside of the folder" in str(row.message)
    assert not (tmp_path / "out").exists()


def large_model(folder: Path, elements: int) -> Path:
    model = cast_model(np.full(elements, 1000, np.float32), TensorProto.FLOAT8E4M3FN)
    path = folder / "large.onnx"
    onnx.save(model, path)
    return path


def test_weights_are_not_read_without_need(tmp_path: Path, external: Callable[[], Path]) -> None:
    model = large_model(tmp_path, 1 << 20)
    inspected = fleet.process(fleet.Job(fleet.inspect(), str(tmp_path)), str(model))
    assert json.loads(str(inspected.inspection))["inspection"]["initializers"]["bytes"] == 4 << 20
    linted = fleet.process(fleet.Job(fleet.lint(select=["ALL"]), str(tmp_path), weights=False), str(model))
    assert [one["code"] for one in linted.findings] == ["RC101"]
    assert max(inspected.read_bytes, linted.read_bytes) < 16 << 10
    whole = fleet.process(fleet.Job(fleet.lint(select=["ALL"]), str(tmp_path)), str(model))
    assert [one["code"] for one in whole.findings] == [one.code for one in onnx_recast.lint(model, select=["ALL"])]
    assert whole.read_bytes == model.stat().st_size
    # Data files are only looked at.
    with_data = external()
    found = fleet.process(fleet.Job(fleet.lint(select=["ALL"]), str(with_data.parent), weights=False), str(with_data))
    assert (found.read_bytes, found.data[0]["size"]) == (with_data.stat().st_size, 4 * 4096)
    assert "RC207" not in [one["code"] for one in found.findings]
    (with_data.parent / "m.data").unlink()
    missing = fleet.process(fleet.Job(fleet.lint(select=["ALL"]), str(with_data.parent), weights=False), str(with_data))
    assert "RC207" in [one["code"] for one in missing.findings]


def test_a_header_is_a_model_without_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors of all scopes are left out, and everything else is there, however little is read at a time."""
    monkeypatch.setattr(header, "SMALL_MODEL", 0)
    monkeypatch.setattr(header, "SMALL_TENSOR", 64)
    helper = onnx.helper
    weights = helper.make_tensor("w", TensorProto.FLOAT, [100], np.arange(100, dtype=np.float32).tobytes(), raw=True)
    floats = helper.make_tensor("f", TensorProto.FLOAT, [100], [1.0] * 100)
    small = helper.make_tensor("s", TensorProto.FLOAT, [1], b"abcd", raw=True)
    constant = helper.make_node("Constant", [], ["c"], value=weights, doc_string="d" * 200)
    branch = helper.make_graph([constant], "b", [], [helper.make_tensor_value_info("c", 1, [100])], [weights])
    node = helper.make_node("If", ["x"], ["y"], then_branch=branch, else_branch=branch)
    graph = helper.make_graph([node], "g", [], [], [weights, floats, small])
    encoded: bytes = helper.make_model(graph, doc_string="x" * 300).SerializeToString()
    reads: list[tuple[int, int]] = []

    def read(start: int, end: int) -> bytes:
        reads.append((start, end))
        return encoded[start:end]

    stripped = onnx.load_from_string(header.without_weights(read, len(encoded)))
    whole = onnx.load_from_string(encoded)

    def forget(graph: onnx.GraphProto) -> int:
        count = 0
        tensors = [
            *graph.initializer,
            *(one.t for node in graph.node for one in node.attribute if one.type == one.TENSOR),
        ]
        for tensor in tensors:
            if tensor.name != "s":
                count += 1
                for field in ("raw_data", "float_data", "external_data", "data_location"):
                    tensor.ClearField(field)
        return count + sum(forget(one.g) for node in graph.node for one in node.attribute if one.type == one.GRAPH)

    assert {entry.key: entry.value for entry in stripped.graph.initializer[0].external_data} == {
        "location": header.ABSENT,
        "offset": "0",
        "length": "400",
    }
    assert forget(stripped.graph) == forget(whole.graph) == 6
    assert stripped == whole
    for end in range(1, len(encoded), 7):
        # A part of a model ends between two fields, or is an error.
        with contextlib.suppress(ValueError):
            assert len(header.without_weights(read, end)) <= end
        with pytest.raises(ValueError, match=r"."):
            header.without_weights(lambda start, stop: bytes([0xFF]) * (stop - start), end)


def poisoned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(POISON)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "site"), *sys.path]))


def test_a_model_that_ends_the_worker_is_a_row(zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    poisoned(monkeypatch, tmp_path)
    (zoo / "poison.onnx").write_bytes(chain(3).SerializeToString())
    totals = fleet.run(
        fleet.Job(fleet.convert(17), str(zoo), str(tmp_path / "out")), str(tmp_path / "manifest"), workers=2
    )
    assert totals.to_dict()["outcomes"] == {"ok": 3, "refused": 1, "invalid": 1, "killed": 1}
    row = rows_by_name(tmp_path / "manifest")["poison.onnx"]
    assert (row.outcome, row.attempts) == ("killed", 2)
    assert "SIGKILL" in str(row.message)


def many_nodes(count: int) -> bytes:
    """Return a model of equal nodes, made quickly: in memory, a node takes more than twenty times its 13 bytes."""

    def message(field: int, content: bytes) -> bytes:
        return bytes([field << 3 | 2]) + varint(len(content)) + content

    def varint(number: int) -> bytes:
        return bytes([number]) if number < 0x80 else bytes([number & 0x7F | 0x80]) + varint(number >> 7)

    rest = chain(0)
    rest.ClearField("graph")
    node = onnx.helper.make_node("Relu", ["x"], [""]).SerializeToString()
    return bytes(rest.SerializeToString()) + message(7, count * message(1, node))


def test_a_model_that_needs_too_much_memory_is_a_row(zoo: Path, tmp_path: Path) -> None:
    (zoo / "many.onnx").write_bytes(many_nodes(6 << 20))
    job = fleet.Job(fleet.convert(17), str(zoo), str(tmp_path / "out"))
    fleet.run(job, str(tmp_path / "manifest"), workers=1, memory=1 << 30)
    found = rows_by_name(tmp_path / "manifest")
    row = found.pop("many.onnx")
    assert (row.outcome, row.code, row.attempts) == ("out-of-memory", "out-of-memory", 2)
    assert {row.outcome for row in found.values()} == {"ok", "refused", "invalid"}


def test_a_model_that_takes_too_long_is_a_row(tmp_path: Path) -> None:
    """The time is over before the worker has started."""
    (tmp_path / "zoo").mkdir()
    (tmp_path / "zoo" / "m.onnx").write_bytes(chain(3).SerializeToString())
    fleet.run(fleet.Job(fleet.inspect(), str(tmp_path / "zoo")), str(tmp_path / "manifest"), timeout=0.0)
    row = rows_by_name(tmp_path / "manifest")["m.onnx"]
    assert (row.outcome, row.code, row.attempts) == ("timeout", "timeout", 2)


def test_temporary_files_are_bounded_and_removed(external: Callable[[], Path], tmp_path: Path) -> None:
    model, scratch = external(), tmp_path / "scratch"
    scratch.mkdir()
    job = fleet.Job(fleet.fold(), str(model.parent), str(tmp_path / "out"))
    row = fleet.process(job, str(model), fleet.Limits(str(scratch), scratch_bytes=1000))
    assert (row.outcome, row.code) == ("failed", "scratch-exceeded")
    # Half is too little; alone, the model has all.
    need = 2 * (model.stat().st_size + 4 * 4096)
    totals = fleet.run(job, str(tmp_path / "manifest"), workers=2, scratch=str(scratch), scratch_bytes=need)
    assert totals.to_dict()["outcomes"] == {"ok": 1}
    assert rows_by_name(tmp_path / "manifest")["m.onnx"].attempts == 2
    assert list(scratch.iterdir()) == []


def test_lists_of_models(zoo: Path, tmp_path: Path) -> None:
    """A model that is listed twice has one row; one that does not exist has one too."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    uris = [
        f"file://{zoo}/control_flow.onnx",
        str(zoo / "fp8_qdq.onnx"),
        str(zoo / "control_flow.onnx"),
        str(zoo / "none.onnx"),
    ]
    (tmp_path / "list.txt").write_text("\n".join(uris) + "\n")
    pq.write_table(pa.table({"uri": uris}), tmp_path / "list.parquet")
    for name in ("list.txt", "list.parquet"):
        folder = tmp_path / f"manifest of {name}"
        totals = fleet.run(fleet.Job(fleet.inspect(), str(zoo)), str(folder), source=str(tmp_path / name))
        assert totals.to_dict()["outcomes"] == {"ok": 2, "failed": 1}
        assert rows_by_name(folder)["none.onnx"].code == "not-found"


def test_outputs_and_manifests_are_not_listed(zoo: Path) -> None:
    job = fleet.Job(fleet.convert(17), str(zoo), str(zoo / "out"))
    assert fleet.run(job, str(zoo / "manifest")).models == 5
    assert fleet.run(job, str(zoo / "manifest")).models == 5


def test_lost_rows_are_noticed(zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from onnx_recast.fleet import local

    original, calls = local.run, []

    def losing(job: fleet.Job, tasks: Any, workers: int, bounds: fleet.Bounds) -> Any:
        calls.append(workers)
        found = list(original(job, tasks, workers, bounds))
        yield from found[1:] if len(calls) == 1 else found

    monkeypatch.setattr(local, "run", losing)
    assert fleet.run(fleet.Job(fleet.inspect(), str(zoo)), str(tmp_path / "manifest"), workers=2).models == 5
    monkeypatch.setattr(local, "run", lambda *given: (row for row in list(original(*given))[1:]))
    with pytest.raises(fleet.RowsLost, match="1 of 5"):
        fleet.run(fleet.Job(fleet.inspect(), str(zoo)), str(tmp_path / "other"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fleet.Job([], "zoo"), "empty"),
        (lambda: fleet.Job(fleet.convert(17), "zoo"), "output folder"),
        (lambda: fleet.Job(fleet.lint(), "zoo", "out"), "writes no models"),
        (lambda: fleet.Job(fleet.fold(), "zoo", "./zoo/"), "is that of the models"),
        (lambda: fleet.convert(99), "opset"),
        (lambda: fleet.Step("fix"), "expected fold, convert, precision, lint or inspect"),
        (lambda: fleet.precision("INT8"), "INT8"),
        (lambda: fleet.precision(io={"x": "FLOAT17"}), "io: "),
        (lambda: fleet.precision(io={"x": "FLOAT16"}, keep_node=["[a"]), "invalid pattern"),
        (lambda: fleet.precision(on_overflow="maybe"), "on_overflow"),
        (lambda: fleet.fold(undefined="maybe"), "undefined"),
    ],
)
def test_invalid_jobs(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_the_command(zoo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, page = str(tmp_path / "manifest"), tmp_path / "night.html"
    convert = ["lint,convert", str(zoo), "--to", str(tmp_path / "out"), "--opset", "17", "--manifest", table]
    assert main([*convert, "--quiet", "--workers", "1"]) == 2
    assert capsys.readouterr().out == "5 models: 3 ok, 1 refused, 1 invalid\n"
    (zoo / "deep" / "junk.onnx").unlink()
    assert main([*convert, "--quiet", "--workers", "1"]) == 1
    (zoo / "fp8_qdq.onnx").unlink()
    assert main([*convert, "--quiet", "--workers", "1"]) == 0
    assert "3 models (3 skipped): 3 ok" in capsys.readouterr().out
    assert main(["summary", table, "--html", str(page), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["outcomes"] == {"ok": 3}
    assert page.read_text().startswith("<!doctype html>")
    assert main(["summary", str(tmp_path / "none")]) == 2
    assert main(["fold", str(zoo), "--manifest", table]) == 2
    with pytest.raises(SystemExit) as usage:
        main(["convert", str(zoo), "--memory", "much", "--manifest", table])
    assert usage.value.code == 2


def test_a_summary_shows_names_safely() -> None:
    from onnx_recast.fleet.summaries import summarised

    name = "file:///zoo/\x1b[2J<script>alert(1)</script>\u202e.onnx"
    blocker = {"node": "n", "op": "<b>Op\x07", "step": [19, 18], "code": "type-unsupported", "reason": "r"}
    bad = [fleet.Row(name, "refused", blockers=[blocker, blocker]), fleet.Row("b", "invalid", message="<i>\r\n")]
    found = summarised("run", True, [["convert", {"opset": 17}]], [*bad, fleet.Row("ok", seconds=2.0, size=10)])
    page, text = found.to_html(), found.to_text()
    for shown in (page, text):
        assert all(char.isprintable() or char == "\n" for char in shown)
    assert "<script>" not in page
    assert "<b>" not in page
    assert "<i>" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert "type-unsupported  2      1" in text
    assert found.to_dict()["blockers"] == [
        {"op": "<b>Op\x07", "step": "19 to 18", "code": "type-unsupported", "nodes": 2, "models": 1}
    ]
    assert found.to_dict()["slowest"][0] == {"uri": "ok", "seconds": 2.0}


def test_a_summary_begins_with_failed_and_refused_models() -> None:
    from onnx_recast.fleet.summaries import summarised

    blocker = {"node": "graph/norm", "op": "LayerNormalization", "step": [17, 16], "code": "operator-too-new"}
    blockers = [{**blocker, "reason": "it is new in opset 17"}, {**blocker, "reason": "another"}]
    rows = [
        fleet.Row("z", "refused", blockers=blockers),
        fleet.Row("a", "refused", code="cannot-cast", message="a: 300 is out of the range"),
        fleet.Row("m", "timeout", message="m: timed out"),
        fleet.Row("ok"),
    ]
    found = summarised("run", True, [["convert", {"opset": 16}]], rows)
    assert [title for title, *_ in found.tables()][:3] == ["Failed models", "Refused models", "Outcomes"]
    assert [rows for _, _, rows in found.tables()][:2] == [
        [("m", "timeout", "timed out")],
        [
            ("a", "300 is out of the range"),
            ("z", "graph/norm (LayerNormalization): it is new in opset 17, and 1 more"),
        ],
    ]
    assert found.to_dict()["refused"][0] == {"uri": "a", "reason": "300 is out of the range"}


def test_a_summary_does_not_depend_on_the_order_of_rows() -> None:
    from onnx_recast.fleet.summaries import summarised

    def row(index: int) -> fleet.Row:
        blocker = {"node": "n", "op": f"Op{index}", "step": [19, 18], "code": "c", "reason": "r"}
        finding = {"code": f"RC{index}", "severity": "info", "place": "p", "message": "m"}
        return fleet.Row(f"u{index}", "invalid", code=f"e{index}", blockers=[blocker], findings=[finding])

    rows = [row(index) for index in range(40)]
    one, other = (summarised("run", True, [], some) for some in (rows, rows[::-1]))
    assert one.to_json() == other.to_json()
    assert one.to_text() == other.to_text()
    assert one.to_html() == other.to_html()
    # Lists are short, and say so.
    for text in (one.to_text(), one.to_html()):
        assert all(f"{title} (20 of 40)" in text for title in ("Errors", "Blockers", "Findings", "Failed models"))


def test_keys_depend_on_the_job_and_the_data() -> None:
    def key(step: fleet.Step, model: str = "m", data: str = "d", **options: Any) -> str:
        return fleet.Job(step, "zoo", "out", **options).key(model, [("w.data", data)])

    keys = [
        key(fleet.convert(17)),
        key(fleet.convert(18)),
        key(fleet.fold()),
        key(fleet.convert(17), "other"),
        key(fleet.convert(17), data="other"),
        key(fleet.convert(17), keep_failed=True),
    ]
    assert len(set(keys)) == len(keys)
    assert key(fleet.convert(17)) == fleet.Job(fleet.convert(17), "elsewhere", "there").key("m", [("w.data", "d")])


def test_rows_survive_json_and_parquet(tmp_path: Path) -> None:
    row = fleet.Row(
        "u", "refused", blockers=[{"node": "n", "op": "o", "step": [2, 1], "code": "c", "reason": "r"}], size=3
    )
    assert fleet.Row.from_json(row.to_json()) == row
    writer = manifest.Writer(str(tmp_path), "r", fleet.Job(fleet.inspect(), "zoo"))
    writer.add(row)
    writer.finish({})
    assert list(manifest.rows_of(manifest.runs(str(tmp_path))["r"])) == [row]
    packed = row.packed(10_000)
    assert packed is not None
    other = fleet.Row.unpacked("v", packed)
    assert other is not None
    assert other.result() == row.result()
    assert row.packed(10) is None
    without_checksum = base64.urlsafe_b64encode(base64.urlsafe_b64decode(packed)[:-4]).decode()
    for bad in ("", "x", "eNo=", "é", packed[:-8], without_checksum):
        assert fleet.Row.unpacked("v", bad) is None
