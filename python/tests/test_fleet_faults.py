"""Fleets in which names, sources, disks and threads are not as they should be."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
from concurrent.futures import ALL_COMPLETED
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from conftest import chain, rows

from onnx_recast import fleet
from onnx_recast.fleet import listing, local, manifest, storage
from onnx_recast.fleet.__main__ import main
from onnx_recast.fleet.child import Bounds, Child

MODEL = chain(3).SerializeToString()
untyped: Any = storage
UNPLAIN = ("Debug source", "Traceback", "Generic {")
"""What the errors of the storage's client and of Python have in them, and messages must not."""


def test_each_name_has_a_row_whatever_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    zoo = tmp_path / "zoo"
    (zoo / "deep").mkdir(parents=True)
    for name in (b"ok.onnx", b"a\tb.onnx", b"d\x7f.onnx", b"\xff.onnx", rb"\xff.onnx", b"deep/e.onnx", b"w\n.onnx"):
        Path(os.fsdecode(os.fsencode(zoo) + b"/" + name)).write_bytes(MODEL)
    Path(os.fsdecode(os.fsencode(zoo) + b"/\xe9")).mkdir()
    Path(os.fsdecode(os.fsencode(zoo) + b"/\xe9/in.onnx")).write_bytes(MODEL)
    (zoo / "itself.onnx").symlink_to("itself.onnx")
    (zoo / "dangling.onnx").symlink_to("nowhere.onnx")
    (zoo / "linked.onnx").symlink_to("ok.onnx")
    (zoo / "itself").symlink_to("itself")
    (zoo / "deep" / "parent").symlink_to("..")
    (zoo / "deep" / "here").symlink_to(".")
    os.mkfifo(zoo / "pipe.onnx")
    command = ["inspect", str(zoo), "--manifest", str(tmp_path / "manifest"), "--workers", "1", "--quiet"]
    for _ in range(2):
        assert main(command) == 2
        found = [(row.uri.removeprefix(f"file://{zoo}/"), row.outcome, row.code) for row in rows(tmp_path / "manifest")]
        assert sorted(found, key=str) == [
            ("\\xe9/in.onnx", "failed", "bad-name"),
            ("\\xff.onnx", "failed", "bad-name"),
            ("\\xff.onnx", "ok", None),
            ("a\tb.onnx", "failed", "bad-name"),
            ("d\x7f.onnx", "failed", "bad-name"),
            ("dangling.onnx", "failed", "not-readable"),
            ("deep/e.onnx", "ok", None),
            ("itself.onnx", "failed", "not-readable"),
            ("linked.onnx", "ok", None),
            ("ok.onnx", "ok", None),
            ("pipe.onnx", "failed", "not-a-file"),
            ("w\n.onnx", "failed", "bad-name"),
        ]
        printed = capsys.readouterr()
        assert "12 models" in printed.out
        assert "2 links to a folder that contains them, not followed" in printed.out
        assert "itself.onnx: failed (not-readable): is a link to itself" in printed.err
        assert "a\\x09b.onnx: failed (bad-name): the name has a control character" in printed.err
        assert not any(text in printed.out + printed.err for text in UNPLAIN)
    assert main(["summary", str(tmp_path / "manifest")]) == 0


def test_a_folder_that_cannot_be_listed_has_a_row(zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (zoo / "secret").mkdir()
    original = os.scandir

    def scandir(path: Any) -> Any:
        if str(path).endswith("secret"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return original(path)

    monkeypatch.setattr(os, "scandir", scandir)
    totals = fleet.run(fleet.Job(fleet.inspect(), str(zoo)), str(tmp_path / "manifest"), workers=1)
    assert (totals.models, totals.exit_code) == (7, 2)
    assert [(row.uri, row.code) for row in totals.failed] == [(f"file://{zoo}/secret/", "not-readable")]


def test_the_models_that_failed_are_named(zoo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for index in range(25):
        (zoo / f"bad{index:02}.onnx").write_text("not a model")
    assert main(["inspect", str(zoo), "--manifest", str(tmp_path / "manifest"), "--workers", "1"]) == 2
    printed = capsys.readouterr()
    named = [line for line in printed.err.splitlines() if line.startswith("fleet: file://")]
    uris = [f"file://{zoo}/bad{index:02}.onnx" for index in range(20)]
    assert [line.split(": ")[1] for line in named] == uris
    assert named[0].endswith("invalid (not-a-model): is a text file, not an ONNX model; pass the .onnx file")
    assert "and 5 more" in printed.err
    assert printed.out == "31 models: 6 ok, 25 invalid\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["inspect", "none"], "none/ does not exist"),
        (["inspect", "none.txt"], "none.txt not found"),
        (["inspect", "none.parquet"], "none.parquet not found"),
        (["inspect", "zoo/readme"], "readme/ is not a folder"),
        (["inspect", "empty"], "empty has no models: no object ends in .onnx"),
        (["inspect", "empty.txt"], "empty.txt lists no models"),
        (["inspect", "other.parquet"], "has no column 'uri'"),
        (["inspect", "numbers.parquet"], "the column 'uri' has int64, not strings"),
        (["fold", "zoo", "--to", "."], "to: the folder of the outputs contains that of the models, zoo"),
        (["fold", "link/zoo", "--to", "."], "to: the folder of the outputs contains that of the models"),
        (["fold", "zoo", "--to", "zoo"], "to: the folder of the outputs is that of the models"),
        (["fold", "zoo", "--to", "link/zoo"], "to: the folder of the outputs is that of the models"),
        (["fold", "zoo"], "to: fold, convert and precision need an output folder"),
        (["inspect", "zoo", "--manifest", "."], "manifest: the folder of the manifest contains that of the models"),
        (["inspect", "zoo", "--manifest", "zoo"], "manifest: the folder of the manifest contains that of the models"),
        (["inspect", "s3://zo\to/"], "s3://zo\\x09o/: the name has a control character"),
        (["inspect", "file:///none/"], "file:///none/ does not exist"),
        (["fold", "file:///", "--to", "/"], "to: the folder of the outputs is that of the models"),
        (["inspect", "zoo\t1"], "zoo\\x091/: the name has a control character"),
        (["convert", "zoo", "--to", "out"], "convert needs --opset N or --target RUNTIME"),
        (["convert", "zoo", "--to", "out", "--opset", "new"], "expected an opset such as 21, or latest, not 'new'"),
        (["convert", "zoo", "--to", "out", "--opset", "99"], "opset: expected an integer between 1 and"),
        (["convert", "zoo", "--to", "out", "--target", "x@1"], "unknown runtime 'x'"),
        (["fold", "zoo", "--to", "out", "--opset", "17"], "--opset is for convert, which is not a step"),
        (["fold", "zoo", "--to", "out", "--type", "FLOAT16"], "--type is for precision, which is not a step"),
        (["fold", "zoo", "--to", "out", "--keep-failed"], "--keep-failed is for convert and precision, which are not"),
        (["precision", "zoo", "--to", "out"], "precision needs --type TYPE"),
        (["precision", "zoo", "--to", "out", "--type", "INT8"], "INT8"),
        (["precision", "zoo", "--type", "FLOAT16"], "to: fold, convert and precision need an output folder"),
        (
            ["precision", "zoo", "--to", "out", "--type", "FLOAT16", "--option", "precision.policy=none"],
            "policy: expected 'stable' or 'all', not 'none'",
        ),
        (
            ["precision", "zoo", "--to", "out", "--type", "FLOAT16", "--option", "precision.ranges=none.json"],
            "none.json",
        ),
        (["fold", "zoo", "--to", "out", "--option", "lint.x=1"], "lint is not a step"),
        (["fold", "zoo", "--to", "out", "--option", "fold.x=1"], "fold has no option 'x'; it has passes, undefined"),
        (["fold", "zoo", "--to", "out", "--option", "fold.max_growth=x"], "max_growth: expected an integer, not str"),
        (["repair", "zoo"], "expected fold, convert, precision, lint or inspect, not 'repair'"),
        (["inspect", "unknown://zoo/"], "unknown"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(
    arguments: list[str],
    message: str,
    zoo: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = zoo.parent
    monkeypatch.chdir(folder)
    (zoo / "readme").write_text("text")
    (folder / "empty").mkdir()
    (folder / "empty.txt").write_text("\n")
    (folder / "link").symlink_to(".")
    pq.write_table(pa.table({"url": ["a"]}), "other.parquet")
    pq.write_table(pa.table({"uri": [1]}), "numbers.parquet")
    given = arguments if "--manifest" in arguments else [*arguments, "--manifest", "manifest"]
    try:
        code = main(given)
    except SystemExit as usage:
        code = usage.code  # type: ignore[assignment]
    printed = capsys.readouterr()
    assert code == 2
    assert message in printed.err
    assert printed.out == ""
    assert not any(text in printed.err for text in UNPLAIN)
    assert not (folder / "out").exists()


FULL = """
import errno, onnx_recast.fleet.storage as storage
from obstore.exceptions import GenericError
from pathlib import Path
def full(uri, *given, **others):
    if Path({flag!r}).exists() and {name!r} in uri:
        raise {error}
    return original(uri, *given, **others)
original, storage.{function} = storage.{function}, full
"""
"""A disk that is full from a model on, while a file exists: processes of Python execute it when they start."""


@pytest.mark.parametrize(
    ("function", "error"),
    [
        ("read_small", "OSError(errno.ENOSPC, 'No space left on device')"),
        ("upload_model", "OSError(errno.EDQUOT, 'Disk quota exceeded')"),
        (
            "upload_model",
            "GenericError('Unable to copy data: No space left on device (os error 28)\\n\\nDebug source: x')",
        ),
    ],
)
def test_a_full_disk_ends_the_run_which_can_be_resumed(
    function: str, error: str, zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "full").touch()
    patch = FULL.format(flag=str(tmp_path / "full"), name="3.onnx", function=function, error=error)
    (tmp_path / "site" / "sitecustomize.py").write_text(patch)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "site"), *sys.path]))
    table = tmp_path / "manifest"
    command = ["convert", str(zoo), "--to", str(tmp_path / "out"), "--opset", "17", "--manifest", str(table)]
    command += ["--workers", "1", "--quiet"]
    assert main(command) == 2
    printed = capsys.readouterr()
    assert "3.onnx: the disk is full (disk-full): " in printed.err
    assert "run the same command again to resume" in printed.err
    assert printed.out == ""
    assert not any(text in printed.err for text in UNPLAIN)
    # What was done has rows, and what was not done has none.
    assert [(row.uri[-6:], row.outcome) for row in rows(table)] == [(f"{index}.onnx", "ok") for index in range(3)]
    (tmp_path / "full").unlink()
    assert main(command) == 0
    # A model whose output was written just before the run ended has no row, and is skipped, too.
    assert re.fullmatch(r"6 models \([3-5] skipped\): 6 ok\n", capsys.readouterr().out)


def test_rows_that_come_together_are_in_the_order_of_their_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that ends at a row, as with a full disk, has the rows of all models before it that are done."""
    monkeypatch.setattr(local, "FIRST_COMPLETED", ALL_COMPLETED)
    monkeypatch.setattr(Child, "run", lambda _, task: fleet.Row(task.uri))
    uris = [f"{index}.onnx" for index in range(20)]
    job = fleet.Job(fleet.inspect(), "zoo")
    found = local.run(job, [fleet.Task(uri) for uri in uris], 4, Bounds())
    assert [row.uri for row in found] == uris


@pytest.mark.parametrize("part", ["job.json", "part-", "complete.json"])
def test_a_full_disk_of_the_manifest_ends_the_run(
    part: str, zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = storage.put_bytes

    def put_bytes(uri: str, content: bytes) -> None:
        if part in uri:
            raise OSError(errno.ENOSPC, "No space left on device")
        original(uri, content)

    monkeypatch.setattr(manifest, "put_bytes", put_bytes)
    job = fleet.Job(fleet.inspect(), str(zoo))
    with pytest.raises(fleet.DiskFull, match="No space left"):
        fleet.run(job, str(tmp_path / "manifest"), workers=1)
    monkeypatch.undo()
    assert fleet.run(job, str(tmp_path / "manifest"), workers=1).outcomes == {"ok": 6}


def test_the_native_module_tells_that_a_disk_is_full() -> None:
    """The model is opened from a file that a full disk has no room for, so its error has the number of the system."""
    from onnx_recast.fleet import results

    facts = {"kind": "io", "text": "m.onnx: No space left", "errno": errno.ENOSPC, "nearest": None, "blockers": None}
    row = fleet.Row("m.onnx")
    job = fleet.Job(fleet.inspect(), "zoo")
    results.take(row, job, {"steps": [], "error": facts}, str, [])
    assert (row.outcome, row.code) == ("failed", "disk-full")


def test_the_environment_is_read_and_not_edited(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"AWS_ALLOW_HTTP": "true", "AWS_CONNECT_TIMEOUT": "7s", "AWS_REGION": "us-east-1"}
    cases: list[tuple[dict[str, str], str]] = [({}, "90s"), ({"AWS_TIMEOUT": "11s"}, "11s")]
    for more, timeout in cases:
        monkeypatch.setattr(os, "environ", MappingProxyType({**os.environ, **given, **more}))
        storage._store.cache_clear()
        store: Any = storage.locate("s3://zoo/m.onnx", 3 * storage.PART)[0]
        options = {"timeout": timeout, "allow_http": "true", "connect_timeout": "7s"}
        assert options.items() <= dict(store.client_options).items()
        monkeypatch.undo()
    storage._store.cache_clear()


def test_the_client_knows_each_of_its_options() -> None:
    def accepts(option: str) -> bool:
        for value in ("true", "7s", "7", "http://localhost"):
            with contextlib.suppress(Exception):
                untyped.from_url("s3://zoo", client_options={option: value})
                return True
        return False

    assert [option for option in storage._CLIENT_OPTIONS if not accepts(option)] == []
    assert not accepts("none_of_them")


@pytest.mark.parametrize(
    ("path", "is_refused"),
    [
        ("a/b.onnx", False),
        ("é #[%41]~^\\.onnx", False),
        ("w//a.onnx", True),
        ("/a.onnx", True),
        ("a/./b", True),
        ("a/../b", True),
        ("a\tb", True),
        ("a\x7fb", True),
        ("a\udcffb", True),
    ],
)
def test_names_that_the_client_refuses(path: str, is_refused: bool) -> None:
    for folder in ("s3://zoo/", "file:///"):
        if is_refused:
            with pytest.raises(storage.BadName):
                storage.locate(folder + path)
        else:
            assert storage.locate(folder + path)[1] == path


def test_a_listing_is_in_the_same_order(zoo: Path) -> None:
    assert [task.uri[-6:] for task in listing.models(str(zoo))] == [f"{index}.onnx" for index in range(6)]
