"""Passes for ``onnx_ir.passes``; this module needs the package onnx_ir.

.. code-block:: python

    import onnx_ir as ir
    from onnx_recast.ir_passes import FoldCasts

    result = ir.passes.Sequential(FoldCasts())(model)
"""

from __future__ import annotations

from typing import Literal

import onnx_ir as ir

from onnx_recast._operations.fold import fold


class FoldCasts(ir.passes.FunctionalPass):
    """Replaces casts of constants by their results; see :func:`onnx_recast.fold`.

    Parameters
    ----------
    undefined, contested
        See :func:`onnx_recast.fold`.
    """

    def __init__(
        self,
        *,
        undefined: Literal["skip", "fold"] = "skip",
        contested: Literal["skip", "text", "runtime"] = "skip",
    ) -> None:
        super().__init__()
        self._undefined: Literal["skip", "fold"] = undefined
        self._contested: Literal["skip", "text", "runtime"] = contested

    def call(self, model: ir.Model) -> ir.passes.PassResult:
        """Return the folded model; the given one is not changed."""
        result = fold(model, undefined=self._undefined, contested=self._contested)
        modified = bool(result.folded or result.computed or result.changes or result.removed)
        return ir.passes.PassResult(result.model, modified=modified)
