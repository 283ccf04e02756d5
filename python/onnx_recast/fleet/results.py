"""Reports of the native module, as rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any

from onnx_recast.fleet.job import Job
from onnx_recast.fleet.rows import Row
from onnx_recast.fleet.storage import DiskFull, is_disk_full

INVALID = {
    *("not-a-model", "malformed-protobuf", "invalid-model", "bad-tensor", "bad-external-data", "memory-limit"),
}
"""Codes of errors that are those of the model."""

REFUSED = {"not-convertible", "cannot-cast"}
"""Codes of errors of models that cannot be changed as the job demands."""


def take(row: Row, job: Job, report: Any, named: Callable[[str], str], unread: Collection[str]) -> None:
    """Put the results of the steps of a job into the row of the model.

    Parameters
    ----------
    row, job, report
        The row, the job, and what the native module has returned for it.
    named
        Returns a message with URIs instead of temporary files.
    unread
        Names of data files that exist, but were not read.
    """
    for step, result in zip(job.steps, report["steps"], strict=False):
        if step.name == "fold":
            row.folded = (row.folded or 0) + len(result["folded"])
        elif step.name == "convert":
            row.from_version, row.to_version = (result[key].get("ai.onnx") for key in ("from", "to"))
            row.changed, row.expanded = len(result["changes"]), len(result["expansions"])
        elif step.name == "precision":
            _take_precision(row, result)
        elif step.name == "lint":
            row.findings += [_finding(found) for found in result if not _is_about(found, unread)]
        else:
            row.inspection = json.dumps(result, sort_keys=True)
            if result["errors"]:
                row.outcome, row.code, row.message = "invalid", "invalid-model", named(result["errors"][0])
    if row.findings and row.outcome == "ok":
        row.outcome = "findings"
    if report["error"] is not None:
        _take_error(row, report["error"], named)


def _take_precision(row: Row, result: Any) -> None:
    row.narrowed, row.kept = len(result["tensors"]), len(result["kept"])
    row.overflowed = sum(tensor["overflowed"] for tensor in result["tensors"])
    row.casts_added = len(result["casts_added"])
    if result["opset"] is not None:
        row.from_version, row.to_version = result["opset"]["from"], result["opset"]["to"]


def _take_error(row: Row, error: Any, named: Callable[[str], str]) -> None:
    row.code, row.message, row.nearest = error["kind"], named(error["text"]), error["nearest"]
    if is_disk_full(OSError(error["errno"], "")):
        row.code = DiskFull.code
    if error["kind"] in REFUSED:
        row.outcome = "refused"
    else:
        row.outcome = "invalid" if error["kind"] in INVALID else "failed"
    names = {"node": "node", "op": "op", "opset_step": "step", "code": "code", "reason": "reason"}
    for blocker in error["blockers"] or ():
        row.blockers.append({ours: blocker[theirs] for theirs, ours in names.items()})


def _finding(found: Any) -> dict[str, Any]:
    place = found["node"] or found["value"] or "model"
    return {"code": found["code"], "severity": found["severity"], "place": place, "message": found["message"]}


def _is_about(found: Any, unread: Collection[str]) -> bool:
    """Whether a finding is only that one of these data files is not there."""
    messages = (f"data file '{name}': No such file" for name in unread)
    return found["code"] == "RC207" and str(found["message"]).startswith(tuple(messages))
