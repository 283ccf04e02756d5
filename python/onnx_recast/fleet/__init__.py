"""Thousands of models: jobs over object storage, on this machine or on Ray. Needs ``onnx-recast[fleet]``.

.. code-block:: python

    from onnx_recast import fleet

    job = fleet.Job(fleet.convert(17), "s3://zoo/", "s3://zoo-opset17/")
    totals = fleet.run(job, "s3://zoo-manifest/")
"""

from onnx_recast.fleet.child import Bounds, isolated
from onnx_recast.fleet.job import Job, Step, convert, fold, inspect, lint, precision
from onnx_recast.fleet.processing import Limits, process
from onnx_recast.fleet.rows import OUTCOMES, Row, Task
from onnx_recast.fleet.runner import RowsLost, Totals, run
from onnx_recast.fleet.storage import DiskFull
from onnx_recast.fleet.summaries import Summary, summary

__all__ = [
    "OUTCOMES",
    "Bounds",
    "DiskFull",
    "Job",
    "Limits",
    "Row",
    "RowsLost",
    "Step",
    "Summary",
    "Task",
    "Totals",
    "convert",
    "fold",
    "inspect",
    "isolated",
    "lint",
    "precision",
    "process",
    "run",
    "summary",
]
