"""What arrays of callers must be."""

from __future__ import annotations

import sys
from typing import Any


def check_unmasked(name: str, array: object) -> None:
    """Raise an error that names an argument which is a masked array, or a list with one: numpy would drop the mask.

    An array of which no element is masked is accepted.
    """
    numpy: Any = sys.modules.get("numpy")
    masked = None if numpy is None else sys.modules.get("numpy.ma")
    if masked is None:
        return  # Nothing can be masked.
    items = array if isinstance(array, list | tuple) else [array]
    if any(isinstance(item, masked.MaskedArray) and masked.is_masked(item) for item in items):
        raise TypeError(f"{name}: the array has masked elements; fill them (numpy.ma.filled) or drop them (compressed)")
