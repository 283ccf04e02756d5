"""What the interface of a runtime in Python gives in the place of results."""

from typing import NamedTuple


class Interface(NamedTuple):
    """The types that it gives in the place of others; whether it gives None in the place of results without elements; the least rank of its
    arrays: others have axes of length 1 behind theirs."""

    read_as: dict = {}
    empty_is_none: bool = False
    least_rank: int = 0
