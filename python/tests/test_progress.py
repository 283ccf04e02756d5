"""Progress and interruption of long work."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from conftest import cast_model, chain, save_large
from onnx import TensorProto

import onnx_recast
from onnx_recast._progress import Progress

CALLS: dict[str, Callable[[Path, Progress], Any]] = {
    "fold": lambda path, progress: onnx_recast.fold(path, progress=progress),
    "fold-file": lambda path, progress: onnx_recast.fold(path, path.with_name("folded.onnx"), progress=progress),
    "convert": lambda path, progress: onnx_recast.convert_version(path, 23, progress=progress),
    "precision": lambda path, progress: onnx_recast.convert_precision(path, progress=progress),
    "lint": lambda path, progress: onnx_recast.lint(path, progress=progress),
    "fix": lambda path, progress: onnx_recast.fix(path, progress=progress),
    "cast": lambda _, progress: onnx_recast.cast(np.zeros(1 << 20, np.float32), "FLOAT16", progress=progress),
    "cast-like": lambda _, progress: onnx_recast.cast_like([1.5], np.zeros(1, np.float16), progress=progress),
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.onnx"
    onnx.save(cast_model(np.arange(4096, dtype=np.float32), TensorProto.FLOAT16), path)
    return path


@pytest.mark.parametrize("name", CALLS)
def test_progress_is_reported_until_the_end(name: str, model: Path) -> None:
    seen: list[tuple[int, int]] = []
    expected = CALLS[name](model, False)
    result = CALLS[name](model, lambda done, total: seen.append((done, total)))
    np.testing.assert_equal(result, expected)
    assert seen
    assert seen[-1][0] == seen[-1][1]


@pytest.mark.parametrize("name", CALLS)
def test_what_the_callback_raises_is_raised(name: str, model: Path) -> None:
    error = RuntimeError("enough")

    def progress(_done: int, _total: int) -> None:
        raise error

    with pytest.raises(RuntimeError) as raised:
        CALLS[name](model, progress)
    assert raised.value is error


def test_a_bar_is_shown_if_tqdm_is_installed(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = onnx_recast.fold(model)
    assert onnx_recast.fold(model, progress=True) == expected
    assert "/s]" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert onnx_recast.fold(model, progress=True) == expected
    assert capsys.readouterr().err == ""


def test_a_bar_for_each_unit() -> None:
    from onnx_recast._progress import _Bar

    bars: list[Any] = []

    class Recorded:
        def __init__(self, **options: Any) -> None:
            self.total, self.unit, self.n, self.is_closed = options["total"], options["unit"], 0, False
            bars.append(self)

        def update(self, more: int) -> None:
            self.n += more

        def close(self) -> None:
            self.is_closed = True

    bar = _Bar(Recorded)
    for report in [(3, 10, "nodes"), (10, 10, "nodes"), (4096, 8192, "B")]:
        bar(*report)
    bar.close()
    assert [(one.unit, one.n, one.total, one.is_closed) for one in bars] == [
        ("nodes", 10, 10, True),
        ("B", 4096, 8192, True),
    ]


# Each prints a line when its work is in progress, and would work for seconds or minutes from there, also on many cores.
INTERRUPTED = {
    "cast": """
array = np.zeros(1 << 30, np.float32)
for _ in range(1000):
    onnx_recast.cast(array, "FLOAT8E4M3FN", progress=started)
""",
    "survey": """
array = np.zeros(1 << 30, np.float32)
soon()
for _ in range(1000):
    onnx_recast.cast(array, "INT8")
""",
    "strings": """
strings = np.full(10_000_000, "1.5", object)
soon()
for _ in range(1000):
    onnx_recast.cast(strings, "DOUBLE")
""",
    "fold": """
onnx_recast.fold("large.onnx", "out.onnx", progress=started)
""",
    "convert": """
for _ in range(1000):
    onnx_recast.convert_version("nodes.onnx", 28, "out/m.onnx", progress=started)
""",
    "lint": """
for _ in range(1000):
    onnx_recast.lint("nodes.onnx", select=["ALL"], progress=started)
""",
    "inspect": """
soon()
for _ in range(1000):
    onnx_recast.inspect("nodes.onnx")
""",
}

SCRIPT = """
import numpy as np
import onnx_recast

def started(done, total):
    global started_
    if not started_:
        started_ = True
        print("started", flush=True)

def soon():
    started(0, 1)

started_ = False
try:
{work}
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    print("ended", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the system has no signals")
@pytest.mark.parametrize("name", INTERRUPTED)
def test_an_interrupt_ends_work_and_leaves_no_file(name: str, tmp_path: Path) -> None:
    onnx.save(chain(50_000), tmp_path / "nodes.onnx")
    save_large(tmp_path)
    (tmp_path / "out").mkdir()
    before = sorted(tmp_path.iterdir())
    work = SCRIPT.replace("{work}", INTERRUPTED[name].replace("\n", "\n    "))
    command = [sys.executable, "-c", work]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
        finally:
            process.kill()
    assert sorted(tmp_path.iterdir()) == before


def test_interrupted_work_does_not_write_later(tmp_path: Path) -> None:
    """The work that was left to itself ends before the next work of the only thread begins."""
    onnx.save(chain(200_000), tmp_path / "m.onnx")
    script = """
import onnx_recast
def stop(done, total): raise RuntimeError
for _ in range(3):
    try: onnx_recast.convert_version("m.onnx", 28, "out.onnx", progress=stop)
    except RuntimeError: pass
onnx_recast.inspect("m.onnx")
"""
    environment = {"RAYON_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, env=environment)
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]
