"""The models to process: a folder, or a table of paths."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby

from onnx_recast.fleet.rows import Task
from onnx_recast.fleet.storage import folder_uri, get_bytes, listed, locate, object_uri


def models(source: str, *, without: Iterable[str | None] = ()) -> Iterator[Task]:
    """Return the models of a source, as they are listed.

    Parameters
    ----------
    source : str
        The URI or path of a folder with objects ending in ``.onnx``, of one such object, of a text file (``.txt``) with
        a URI on each line, or of a Parquet file with a column ``uri``.
    without : iterable of str
        Folders beneath ``source`` whose objects are left out.
    """
    if source.endswith(".onnx"):
        yield Task(object_uri(source))
    elif source.endswith(".txt"):
        lines = get_bytes(object_uri(source)).decode().splitlines()
        yield from (Task(object_uri(line.strip())) for line in lines if line.strip())
    elif source.endswith(".parquet"):
        yield from _of_parquet(object_uri(source))
    else:
        yield from _of_folder(folder_uri(source), [uri for uri in without if uri is not None])


def _of_parquet(uri: str) -> Iterator[Task]:
    import pyarrow.parquet as pq

    with tempfile.TemporaryFile() as file:
        file.write(get_bytes(uri))
        file.seek(0)
        for batch in pq.ParquetFile(file).iter_batches(columns=["uri"]):
            yield from (Task(object_uri(one)) for one in batch.column("uri").to_pylist())


def _of_folder(source: str, without: list[str]) -> Iterator[Task]:
    prefix = locate(source)[1]
    root = source.removesuffix(prefix + "/") if prefix else source
    for _, group in groupby(listed(source), lambda one: one["path"].rpartition("/")[0]):
        folder = [(root + one["path"], one["size"]) for one in group]
        folder = [(uri, size) for uri, size in folder if not any(uri.startswith(other) for other in without)]
        beside = sum(size for uri, size in folder if not uri.endswith(".onnx"))
        yield from (Task(uri, size, beside) for uri, size in folder if uri.endswith(".onnx"))
