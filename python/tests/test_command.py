"""The command `recast` of the wheel, and runs in processes of their own."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from conftest import RECAST, recast, save_large


def script(code: str, *arguments: str | Path, cwd: Path) -> str:
    """Run Python code in a new process, and return what it prints."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=cwd, check=True)
    return done.stdout


def test_version_and_exit_codes(fp8: Path, tmp_path: Path) -> None:
    assert recast("--version").stdout.startswith("recast ")
    assert recast("fold", fp8, "-o", tmp_path / "out.onnx").returncode == 0
    assert recast("lint", fp8, "--select", "RC101").returncode == 1
    assert recast("diff", fp8, tmp_path / "out.onnx").returncode == 1
    missing = recast("fold", tmp_path / "none.onnx", "-o", tmp_path / "out.onnx")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr == f"recast: {tmp_path}/none.onnx: does not exist\n"
    usage = recast("fold", "--unknown")
    assert usage.returncode == 2
    assert "Usage: recast fold" in usage.stderr
    module = subprocess.run(
        [sys.executable, "-m", "onnx_recast", "--version"], capture_output=True, cwd=tmp_path, check=True
    )
    assert module.stdout == recast("--version").stdout.encode()


def test_fleet_is_a_command(fp8: Path, tmp_path: Path) -> None:
    folder = tmp_path / "zoo"
    folder.mkdir()
    (folder / "m.onnx").write_bytes(fp8.read_bytes())
    done = recast("fleet", "inspect", folder, "--manifest", tmp_path / "manifest", "--quiet")
    assert (done.returncode, done.stdout) == (0, "1 models: 1 ok\n")
    assert recast("fleet", "summary", tmp_path / "manifest").stdout.startswith("run: ")
    assert "usage: recast fleet" in recast("fleet", "--help").stdout
    # Without the packages of the extra, the command names them.
    without = "import sys; sys.modules['obstore'] = None; sys.argv = ['recast', 'fleet']"
    code = f"{without}; from onnx_recast.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (
        2,
        "fleet: obstore is not installed; pip install 'onnx-recast[fleet]'\n",
    )


def test_a_broken_pipe_is_silent(fp8: Path) -> None:
    command = f"'{RECAST}' lint '{fp8}' --select ALL --format json | head -c 1 > /dev/null; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_models_are_read_from_and_written_to_pipes(fp8: Path) -> None:
    done = subprocess.run([RECAST, "fold", "-", "-o", "-"], input=fp8.read_bytes(), capture_output=True, check=True)
    assert len(onnx.load_from_string(done.stdout).graph.node) == 9


def test_a_memory_limit_ends_the_command(tmp_path: Path) -> None:
    nodes = [onnx.helper.make_node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(50_000)]
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", [], [])), tmp_path / "m.onnx")
    done = recast("inspect", tmp_path / "m.onnx", "--max-memory", "5M")
    assert done.returncode == 2
    assert "needs more memory than the limit of 5 MiB" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="the system has no signals")
def test_an_interrupt_ends_the_command_and_leaves_no_file(tmp_path: Path) -> None:
    """The command waits for the end of its input: it runs as soon as it has read more than a pipe holds."""
    command: list[str | Path] = [RECAST, "fold", "-", "-o", tmp_path / "out.onnx"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(bytes(4 << 20))
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        process.wait()
        assert process.returncode == -signal.SIGINT
        assert process.stderr.read() == b""
    assert list(tmp_path.iterdir()) == []


def test_importing_the_package_imports_no_other(tmp_path: Path) -> None:
    """Modules of the standard library that take long are not imported either."""
    code = """
import sys
before = set(sys.modules)
import onnx_recast
modules = set(sys.modules) - before
slow = {"asyncio", "email", "http", "importlib.metadata", "logging", "multiprocessing", "subprocess", "unittest", "xml"}
print(sorted(name for name in modules if name.partition(".")[0] not in sys.stdlib_module_names | {"onnx_recast"}))
print(sorted(slow & modules))
"""
    assert script(code, cwd=tmp_path) == "[]\n[]\n"


def test_four_gibibytes_of_weights_do_not_pass_through_memory(tmp_path: Path) -> None:
    model = save_large(tmp_path)
    code = """
import resource, sys, onnx_recast
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
onnx_recast.convert_version(sys.argv[1], 23, sys.argv[2])
result = onnx_recast.fold(sys.argv[2], sys.argv[3])
print(peak() - before, result.saved.data_file.bytes, len(result.folded))
"""
    paths = (model, tmp_path / "m23.onnx", tmp_path / "folded.onnx")
    kibibytes, written, folded = map(int, script(code, *paths, cwd=tmp_path).split())
    for path in tmp_path.iterdir():
        path.unlink()
    assert (written, folded) == (2 << 30, 1)
    assert kibibytes < 100_000
