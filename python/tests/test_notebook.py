"""The notebook of the manual gives what it shows. RECAST_BLESS=1 writes what it gives."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from conftest import MODELS

NOTEBOOK = MODELS.parent / "docs" / "notebook.ipynb"


def outputs_of(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Run a cell, and return its outputs as Jupyter does: what it prints, and the value of its last expression."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if isinstance(last, ast.Expr) else None
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue()})
    if value is not None:
        # The text of a value that has a table is not shown, and would repeat the bytes of the model.
        data = {"text/html": value._repr_html_()} if hasattr(value, "_repr_html_") else {"text/plain": repr(value)}
        outputs.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def test_the_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(NOTEBOOK.parent)
    text = NOTEBOOK.read_text()
    notebook = json.loads(text)
    names: dict[str, Any] = {}
    codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, cell in enumerate(codes, 1):
        cell["execution_count"] = count
        cell["outputs"] = outputs_of(cell["source"], names, count)
    nbformat.validate(nbformat.from_dict(notebook))  # type: ignore[no-untyped-call]
    executed = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("RECAST_BLESS"):
        NOTEBOOK.write_text(executed)
    else:
        assert executed == text
    assert len(executed) < 50_000
    tables = [output for cell in codes for output in cell["outputs"] if "text/html" in output.get("data", {})]
    assert len(tables) >= 4
    assert Path("python.md").exists()
