"""Listings of folders that have names which obstore refuses, by the client of pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from onnx_recast.fleet.files import Entry


def listed_otherwise(folder: str, last: str | None, problem: str) -> Iterator[Entry]:
    """Return the objects of a folder that come after the last one that was listed; the client holds all in memory.

    Raises
    ------
    ValueError
        There is no other client for the storage.
    """
    scheme, _, rest = folder.partition("://")
    if scheme not in ("s3", "s3a"):
        raise ValueError(
            f"{folder} cannot be listed ({problem}); rename the object, or pass a .txt or .parquet file with the URIs"
        )
    from pyarrow import fs

    bucket, _, prefix = rest.partition("/")
    selector = fs.FileSelector(f"{bucket}/{prefix}".rstrip("/"), recursive=True)
    found = (one for one in _s3(fs).get_file_info(selector) if one.type == fs.FileType.File)
    entries = (Entry(one.path.removeprefix(f"{bucket}/"), one.size) for one in found)
    # The order of S3, which is that of the bytes.
    for entry in sorted(entries, key=lambda one: one.path.encode()):
        if last is None or entry.path.encode() > last.encode():
            yield entry


def _s3(fs: Any) -> Any:
    """Return the client, with the address that obstore takes from the environment."""
    endpoint = urlsplit(os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or "")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    given = {"region": region, "endpoint_override": endpoint.netloc, "scheme": endpoint.scheme}
    return fs.S3FileSystem(**{name: value for name, value in given.items() if value})
