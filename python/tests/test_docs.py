"""The examples of the pages about Python and fleets, of README.md and of the docstrings give what they show."""

from __future__ import annotations

import doctest
import importlib
import shutil
from pathlib import Path

import pytest
from conftest import MODELS

from onnx_recast import _operations

ROOT = MODELS.parent
OPERATIONS = [f"._operations.{path.stem}" for path in sorted(Path(_operations.__path__[0]).glob("[!_]*.py"))]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enter a folder with a copy of the example models."""
    shutil.copytree(MODELS, tmp_path / "models", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["", *OPERATIONS, ".float16", ".version_converter"])
def test_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"onnx_recast{name}"), optionflags=doctest.ELLIPSIS)
    assert result.attempted
    assert not result.failed


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "page",
    [
        "docs/python.md",
        "docs/python-reference.md",
        "docs/precision-tools.md",
        "docs/float16-model.md",
        "docs/fleets.md",
    ],
)
def test_pages(page: str) -> None:
    text = (ROOT / page).read_text().replace("```\n", "\n")  # The end of a block is not output.
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
    assert result.attempted
    assert not result.failed


def test_the_readme_of_the_package(folder: Path) -> None:
    shutil.copy(folder / "models" / "fp8_qdq.onnx", folder / "model.onnx")
    readme = (ROOT / "python" / "README.md").read_text()
    code = readme.split("```python\n")[1].split("```")[0]
    exec(code, {})
    assert (folder / "folded.onnx").exists()
    assert (folder / "model21.onnx").exists()
