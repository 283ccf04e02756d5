"""Helpers for tests of models.

.. code-block:: python

    from onnx_recast.testing import assert_no_findings

    def test_export():
        assert_no_findings("model.onnx", ignore=["RC103"])
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from onnx_recast._operations.lint import lint


def assert_no_findings(
    model: object,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    config: str | os.PathLike[str] | None = None,
    base_dir: str | os.PathLike[str] | None = None,
) -> None:
    """Raise an AssertionError that lists the findings of a model, if there are any.

    Parameters
    ----------
    model, select, ignore, config, base_dir
        See :func:`onnx_recast.lint`.

    Raises
    ------
    AssertionError
        The model has findings.
    """
    found = lint(model, select=select, ignore=ignore, config=config, base_dir=base_dir)
    if found:
        lines = "\n".join(f"  {finding}" for finding in found)
        raise AssertionError(f"{len(found)} {'finding' if len(found) == 1 else 'findings'}:\n{lines}")
