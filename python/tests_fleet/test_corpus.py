"""The models of the onnx wheel, converted and linted: by the engines and by the command on their files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from conftest import objects, rows, upload
from storage_server import Server

from onnx_recast import fleet

RECAST = Path(sysconfig.get_path("scripts")) / "recast"
DATA = Path(os.environ.get("ONNX_WHEEL", ""))
"""The unpacked wheel onnx 1.22.0."""
BATCH = 400


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the models into one folder, under flat names."""
    data = DATA / "onnx" / "backend" / "test" / "data"
    folder = tmp_path_factory.mktemp("corpus")
    for path in data.rglob("*.onnx"):
        shutil.copyfile(path, folder / "__".join(path.relative_to(data).parts))
    assert len(list(folder.iterdir())) > 1900
    return folder


def of_command(corpus: Path, folder: Path) -> dict[str, dict[str, Any]]:
    """Return what the command says about each model."""
    names = sorted(path.name for path in corpus.iterdir())
    results: dict[str, dict[str, Any]] = {name: {"findings": [], "blockers": [], "code": None} for name in names}
    for begin in range(0, len(names), BATCH):
        batch = names[begin : begin + BATCH]
        linted = recast("lint", *batch, "--format", "json", cwd=corpus)
        for found in linted["findings"]:
            place = found["node"] or found["value"] or "model"
            facts = {"code": found["code"], "severity": found["severity"], "place": place, "message": found["message"]}
            results[found["path"]]["findings"].append(facts)
        report = recast("convert", *batch, "--opset", "17", "--dry-run", "--format", "json", cwd=corpus)
        for model in report["models"]:
            for one in model["blockers"]:
                facts = {name: one[name] for name in ("node", "op", "code", "reason")}
                results[model["path"]]["blockers"].append({**facts, "step": one["opset_step"]})
                results[model["path"]]["code"] = "not-convertible"
        for error in [*report["errors"], *linted["errors"]]:
            results[error["path"]]["code"] = error["code"]
        good = [name for name in batch if results[name]["code"] is None]
        if good:
            recast("convert", *good, "--opset", "17", "--out-dir", str(folder), "--format", "json", cwd=corpus)
    return results


def recast(*arguments: str, cwd: Path) -> Any:
    done = subprocess.run([RECAST, *arguments], capture_output=True, text=True, check=False, cwd=cwd)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_rows_and_outputs_are_those_of_the_command(server: Server, corpus: Path, tmp_path: Path, engine: str) -> None:
    zoo, out, table = server.bucket(), server.bucket(), server.bucket()
    upload(zoo, {path.name: path.read_bytes() for path in corpus.iterdir()})
    (tmp_path / "out").mkdir()
    expected = of_command(corpus, tmp_path / "out")
    job = fleet.Job([fleet.lint(), fleet.convert(17)], zoo, out)
    totals = fleet.run(job, table, engine=engine)  # type: ignore[arg-type]
    assert totals.models == len(expected)
    found = rows(table)
    seen = {name: of_row(found[zoo + name]) for name in expected}
    different = {name: (seen[name], expected[name]) for name in expected if seen[name] != expected[name]}
    assert not different
    outputs = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert len(outputs) > 1000
    stored = objects(out)
    assert sorted(stored) == sorted(outputs)
    assert [name for name in outputs if stored[name] != outputs[name]] == []
    # Once more, nothing is left to do.
    again = fleet.run(job, table, engine=engine)  # type: ignore[arg-type]
    assert (again.models, again.skipped, again.outcomes) == (totals.models, totals.models, totals.outcomes)


def of_row(row: fleet.Row) -> dict[str, Any]:
    blockers = [{name: one[name] for name in ("node", "op", "code", "reason", "step")} for one in row.blockers]
    return {"findings": row.findings, "blockers": blockers, "code": row.code}
